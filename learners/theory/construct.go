package theory

import (
	"fmt"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// The most weights that a network may have: a slip in a theory is no reason to
// run out of memory.
const mostWeights = 1 << 26

// built is a network and what its units stand for: the gates of a theory, then
// hidden units.
type built struct {
	*inputs
	*plan
	net    *network
	hidden int
}

// build makes the network of a theory, with all weights 0 (Mitchell 1997, table
// 12.2, steps 1 to 3): a unit for each gate, the links of its literals, and
// further ones that training may use, from every unit to those one level up and
// from every input to the first level, or to all.
func build(theory *rule.Theory, schema *table.Schema, target int, found []savedInput, s *settings) (*built, error) {
	b := &built{inputs: newInputs(schema, target, found)}
	var err error
	if b.plan, err = planFor(theory, b.inputs, target, s.After == afterFu); err != nil {
		return nil, err
	}
	if err := b.settle(b.plan); err != nil {
		return nil, err
	}
	gates := len(b.gates)
	b.hidden = s.hidden(len(theory.Rules) > 0)
	if size := float64(b.width+1) * float64(gates+b.hidden); size > mostWeights {
		return nil, fmt.Errorf("a network of %d inputs and %d units is too large; expected at most %d weights", b.width, gates+b.hidden, mostWeights)
	}
	// Hidden units come first, so that all others may read them.
	b.net = newNetwork(b.width, b.hidden+gates)
	for i := range b.hidden {
		b.net.units[i].level = 1
		b.linkInputs(i)
	}
	for i := range b.gates {
		b.link(i, s)
	}
	return b, nil
}

// unitOf is the unit of a gate.
func (b *built) unitOf(gate int) int { return b.hidden + gate }

// linkInputs links every input to a unit.
func (b *built) linkInputs(unit int) {
	for i := range b.width {
		b.net.linked[b.net.fromInput(i, unit)] = true
	}
}

// link adds the links of a gate.
func (b *built) link(i int, s *settings) {
	n, at := b.net, b.unitOf(i)
	g := &b.gates[i]
	level := 0
	reads := map[int]bool{}
	for _, l := range g.literals {
		for _, input := range l.inputs {
			n.linked[n.fromInput(int(input), at)] = true
		}
		if l.unit != none {
			unit := b.unitOf(int(l.unit))
			reads[unit], level = true, max(level, n.units[unit].level)
		}
	}
	if len(g.literals) == 0 && b.hidden > 0 {
		level = 1
	}
	n.units[at].level = level + 1
	var from []int32
	for unit := range at {
		if reads[unit] || unit < b.hidden && level > 0 || n.units[unit].level == level && s.Links != linksNone {
			from = append(from, int32(unit))
		}
	}
	n.join(at, from)
	if s.Links == linksAll || s.Links == linksNext && level == 0 {
		b.linkInputs(at)
	}
}

// initialise gives links small random weights, and those of the theory what makes
// a unit the gate that it stands for (table 12.2, step 2; exercise 12.2 for any
// number of literals): W for a literal, −W for a negated one, of which there are
// q, and a bias of −(count − q − ½)W.
func (b *built) initialise(w float64, s *settings, seed uint64) []float64 {
	n := b.net
	weights := make([]float64, len(n.weights))
	random := rand.New(rand.NewPCG(seed, 0x6b62616e6e))
	for i := range weights {
		size := s.Near
		if at := i % len(n.units); b.hidden > 0 && at < b.hidden && i < len(n.linked) || i >= len(n.linked)+len(n.units) && len(b.gates[0].literals) == 0 {
			size = max(size, 0.3)
		}
		if isBias := i >= len(n.linked) && i < len(n.linked)+len(n.units); !isBias && (i >= len(n.linked) || n.linked[i]) {
			weights[i] = size * (2*random.Float64() - 1)
		}
	}
	for i := range b.gates {
		g, at := &b.gates[i], b.unitOf(i)
		n.setLiterals(weights, b, g, at, w)
	}
	return weights
}

func (n *network) setLiterals(weights []float64, b *built, g *gate, at int, w float64) {
	if len(g.literals) == 0 && g.closed {
		return // without a theory
	}
	set := map[int]float64{}
	negated := 0
	for _, l := range g.literals {
		sign := w
		if l.negated {
			sign = -w
			negated++
		}
		for _, input := range l.inputs {
			set[n.fromInput(int(input), at)] += sign
		}
		if l.unit != none {
			set[n.fromUnit(b.unitOf(int(l.unit)), at)] += sign
		}
	}
	for place, x := range set {
		weights[place] = x
	}
	weights[n.bias(at)] = -(float64(g.count-negated) - 0.5) * w
}

// fromUnit is the place of the weight of a link between units.
func (n *network) fromUnit(from, to int) int {
	u := &n.units[to]
	for k, f := range u.from {
		if int(f) == from {
			return u.at + k
		}
	}
	return -1
}

// holds computes what the theory says of a row: which gates hold.
func (b *built) holds(e *example, truth []bool) {
	for i := range b.gates {
		g := &b.gates[i]
		count := 0
		for _, l := range g.literals {
			is := l.unit != none && truth[l.unit]
			for _, input := range l.inputs {
				for k, at := range e.at {
					is = is || at == input && e.x[k] > 0.5
				}
			}
			if is != l.negated {
				count++
			}
		}
		truth[i] = count >= g.count
	}
}

// says returns the class that the theory concludes for a row, none if it leaves
// it open.
func (b *built) says(truth []bool) int {
	said, without, open := none, none, 0
	for c, g := range b.classes {
		switch {
		case g == none:
			without, open = c, open+1
		case truth[g] && said != none:
			return none // two of them
		case truth[g]:
			said = c
		}
	}
	if said == none && open == 1 {
		return without
	}
	return said
}

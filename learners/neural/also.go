package neural

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A network may have several targets at once (Mitchell 1997, section 4.2: steering
// and acceleration): their outputs share the hidden units, which learn what all of
// them need (Caruana 1997). It is trained as one network; afterwards each target has
// a model of its own, whose hidden layers are the same memory.

// Companions returns the models of the further targets.
func (m *Model) Companions() []learn.Model {
	all := make([]learn.Model, len(m.also))
	for i, other := range m.also {
		all[i] = other
	}
	return all
}

// addTargets makes models of the columns of also=, which are inputs no longer.
func (m *Model) addTargets(t *table.Table) error {
	if m.settings.Also == "" {
		return nil
	}
	for name := range strings.SplitSeq(m.settings.Also, ",") {
		name = strings.TrimSpace(name)
		column := m.schema.Index(name)
		switch {
		case column < 0:
			return fmt.Errorf("setting also=%s: no column %q that could be learnt%s", m.settings.Also, name, spell.Hint(name, m.schema.Names()))
		case column == m.target || slices.ContainsFunc(m.also, func(other *Model) bool { return other.target == column }):
			return fmt.Errorf("setting also=%s: %q is a target already", m.settings.Also, name)
		}
		other := m.newCompanion(column)
		if err := checkTask(t, column); err != nil {
			return err
		}
		if other.known(t) == 0 {
			return fmt.Errorf("setting also=%s: all cells of %q are missing; there is nothing to learn", m.settings.Also, name)
		}
		other.fitTarget(t)
		m.also = append(m.also, other)
	}
	m.matrix.Inputs = slices.DeleteFunc(m.matrix.Inputs, func(in encode.Input) bool { return m.predicts(in.Column) })
	return nil
}

// newCompanion returns a model of another column, without networks.
func (m *Model) newCompanion(column int) *Model {
	other := &Model{settings: m.settings, encoded: m.encoded}
	other.target, other.rows, other.counts, other.scale = column, 0, nil, encode.Scale{}
	return other
}

// predicts reports whether a column is one of the further targets.
func (m *Model) predicts(column int) bool {
	return slices.ContainsFunc(m.also, func(other *Model) bool { return other.target == column })
}

// known is the weight of the rows in which the target is.
func (m *encoded) known(t *table.Table) float64 {
	sum := 0.0
	for r := range t.Rows() {
		if !isMissing(&t.Columns[m.target], r) {
			sum += t.Weight(r)
		}
	}
	return sum
}

// missing reports whether the target of a row is.
func (a *aim) missing(row int32) bool {
	if a.class != nil {
		return a.class[row] < 0
	}
	return a.number[row] != a.number[row]
}

// worth makes errors of one kind: those of numbers are squared, twice what is
// descended, those of classes are what is.
func (a *aim) worth(beside *aim) float64 {
	switch {
	case (a.class == nil) == (beside.class == nil):
		return 1
	case a.class == nil:
		return 0.5
	}
	return 2
}

// calibrate makes the i-th member of a model, and of its companions, of a trained
// network.
func (m *Model) calibrate(i int, net *dense, x *sample, d division) {
	from := 0
	for k, of := range append([]*Model{m}, m.also...) {
		part, rows := x, d
		if len(m.also) > 0 {
			own := *x
			if own.others = nil; k > 0 {
				own.aim = x.others[k-1]
			}
			part, rows = &own, own.with(d)
		}
		of.members[i] = calibrate(net.part(from, of.outputs()), part, rows)
		from += of.outputs()
	}
}

// with returns the division without the rows in which the target is missing.
func (a *aim) with(d division) division {
	without := func(weights []float64) []float64 {
		weights = slices.Clone(weights)
		judging := false
		for r := range weights {
			if a.missing(int32(r)) {
				weights[r] = 0
			}
			judging = judging || weights[r] > 0
		}
		if !judging {
			return nil
		}
		return weights
	}
	return division{trained: without(d.trained), judging: without(d.judging)}
}

// part returns the network of some of the outputs, all of them being itself.
func (d *dense) part(from, outputs int) *dense {
	last := d.last()
	if from == 0 && outputs == last.out {
		return d
	}
	l := layer{in: last.in, out: outputs, stride: strideOf(outputs)}
	l.w, l.b = make([]float32, l.in*l.stride), make([]float32, l.stride)
	for i := range l.in {
		copy(l.w[i*l.stride:], last.w[i*last.stride+from:][:outputs])
	}
	copy(l.b, last.b[from:][:outputs])
	p := &dense{inputs: d.inputs, activation: d.activation, layers: slices.Clone(d.layers)}
	*p.last() = l
	return p
}

// whole puts the outputs of a member and of its companions side by side again.
func (m *Model) whole(nets []*dense) *dense {
	if len(nets) == 1 {
		return nets[0]
	}
	outputs := 0
	for _, net := range nets {
		outputs += net.last().out
	}
	in := nets[0].last().in
	l := layer{in: in, out: outputs, stride: strideOf(outputs)}
	l.w, l.b = make([]float32, in*l.stride), make([]float32, l.stride)
	at := 0
	for _, net := range nets {
		from := net.last()
		for i := range in {
			copy(l.w[i*l.stride+at:], from.w[i*from.stride:][:from.out])
		}
		copy(l.b[at:], from.b[:from.out])
		at += from.out
	}
	d := &dense{inputs: nets[0].inputs, activation: nets[0].activation, layers: slices.Clone(nets[0].layers)}
	*d.last() = l
	return d
}

// networks returns the i-th member's network and those of its companions.
func (m *Model) networks(i int) []*dense {
	nets := []*dense{m.members[i].net}
	for _, other := range m.also {
		nets = append(nets, other.members[i].net)
	}
	return nets
}

// allOutputs counts the outputs of all targets.
func (m *Model) allOutputs() int {
	n := m.outputs()
	for _, other := range m.also {
		n += other.outputs()
	}
	return n
}

// AlsoPredicts says how a network does on a further target.
type AlsoPredicts struct {
	Column      string  `json:"column"`
	Deviation   float64 `json:"deviation,omitempty"`   // of a number from the answer, on rows held out
	Temperature float64 `json:"temperature,omitempty"` // of classes: what outputs are divided by
}

// String returns it as a line.
func (a AlsoPredicts) String() string {
	if a.Temperature > 0 {
		return fmt.Sprintf("predicts %s, too, from the same hidden units: ask for it", a.Column)
	}
	return fmt.Sprintf("predicts %s, too, from the same hidden units, give or take %.3g on rows held out: ask for it", a.Column, a.Deviation)
}

// alsoPredicts returns a remark on each further target.
func (m *Model) alsoPredicts() []fmt.Stringer {
	var all []fmt.Stringer
	for _, other := range m.also {
		a := AlsoPredicts{Column: m.schema.Attributes[other.target].Name}
		for _, member := range other.members {
			if other.regression() {
				a.Deviation += member.spread / float64(len(other.members))
				continue
			}
			a.Temperature += member.temperature / float64(len(other.members))
		}
		if other.regression() && other.scale.Factor > 0 {
			a.Deviation /= other.scale.Factor
		}
		all = append(all, a)
	}
	return all
}

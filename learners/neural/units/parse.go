package units

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Graph is a network that was written down: the names of its units, and which
// weights stay as they were written.
type Graph struct {
	*Network
	Names  []string       // of the units
	Fixed  []bool         // of each weight: written as a number, and not to be trained
	Shared map[int]string // names of weights, by their number
}

// Parse reads an acyclic graph of units, a line or a part between semicolons
// for each unit, which reads inputs and units before it:
//
//	h1 = sigmoid(a, b)            its weights and bias are to be learnt
//	h2 = tanh(a*0.5, 1*-0.2)      a weight of ½ and a bias of −0.2, which stay
//	h3 = sigmoid(a*w, b*w)        both weights are one, called w
//	h4 = sigmoid(a*v=0.1, h3)     v begins at 0.1
//	h5 = and(a, -b)               a threshold unit of m-of-n weights over −1 and
//	                              1; likewise or, nand, nor, atleast(2, a, b, c)
//
// Functions are sigmoid, tanh, linear, relu, softmax and sign. Names with other
// signs than letters, digits and _ stand in double quotes. Units that no other
// reads are the outputs. Weights that are to be learnt and have no number begin
// at random between ±½.
func Parse(text string, inputs []string, random *rand.Rand) (*Graph, error) {
	g := &Graph{Network: &Network{Inputs: len(inputs)}, Shared: map[int]string{}}
	p := &graphParser{Graph: g, inputs: inputs, named: map[string]int{}, random: random}
	written := strings.Split(text, "\n")
	for i, line := range written {
		line, _, _ = strings.Cut(line, "#")
		written[i] = line
		for name := range strings.SplitSeq(line, ";") {
			name, _, _ = cutOutside(name, '=')
			p.written = append(p.written, unquoted(name))
		}
	}
	for i, line := range written {
		for unit := range strings.SplitSeq(line, ";") {
			if unit = strings.TrimSpace(unit); unit == "" {
				continue
			}
			if err := p.unit(unit); err != nil {
				return nil, fmt.Errorf("line %d of the graph, %q: %w", i+1, unit, err)
			}
		}
	}
	if len(g.Units) == 0 {
		return nil, fmt.Errorf("the graph has no units; expected lines such as out = sigmoid(%s)", strings.Join(inputs[:min(2, len(inputs))], ", "))
	}
	read := make([]bool, len(g.Units))
	for _, u := range g.Units {
		for _, from := range u.From {
			if from >= g.Inputs {
				read[from-g.Inputs] = true
			}
		}
	}
	for i := range read {
		if !read[i] {
			g.Outputs = append(g.Outputs, i)
		}
	}
	return g, g.Check()
}

// graphParser is a graph in the making.
type graphParser struct {
	*Graph
	inputs  []string
	written []string       // names of all units, those to come among them
	named   map[string]int // shared weights
	random  *rand.Rand
}

var functionNames = map[string]Function{"sigmoid": Sigmoid, "tanh": Tanh, "linear": Linear, "relu": Rectifier, "softmax": Softmax, "sign": Sign}

// String returns the function's name, as Parse reads it.
func (f Function) String() string {
	for name, function := range functionNames {
		if function == f {
			return name
		}
	}
	return "unknown"
}

// booleans say how many of n inputs, and whether the answer is turned round.
var booleans = map[string]struct {
	count func(n int) int
	not   bool
}{
	"and": {func(n int) int { return n }, false}, "or": {func(int) int { return 1 }, false},
	"nand": {func(n int) int { return n }, true}, "nor": {func(int) int { return 1 }, true}, "atleast": {nil, false},
}

// unit reads name = function(term, …).
func (p *graphParser) unit(line string) error {
	name, rest, ok := cutOutside(line, '=')
	open := strings.IndexByte(rest, '(')
	if !ok || open < 0 || !strings.HasSuffix(rest, ")") {
		return fmt.Errorf("expected name = function(inputs)")
	}
	if name = unquoted(name); name == "" || slices.Contains(p.Names, name) || slices.Contains(p.inputs, name) {
		return fmt.Errorf("expected a new name, which no input or unit has, before the =")
	}
	word := strings.TrimSpace(rest[:open])
	terms := splitOutside(rest[open+1:len(rest)-1], ',')
	b, boolean := booleans[word]
	f, known := functionNames[word]
	switch {
	case boolean:
		if err := p.boolean(word, terms, b.count, b.not); err != nil {
			return err
		}
	case known:
		if err := p.weighted(f, terms); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown function %q%s", word, spell.Hint(word, []string{"sigmoid", "tanh", "linear", "relu", "softmax", "sign", "and", "or", "nand", "nor", "atleast"}))
	}
	p.Names = append(p.Names, name)
	return nil
}

// weighted adds a unit of a function over terms such as a, a*0.5, a*w, 1*b=0.1.
func (p *graphParser) weighted(f Function, terms []string) error {
	u := Unit{Function: f, Bias: None}
	for _, term := range terms {
		from, weight, given := cutOutside(term, '*')
		at, err := p.weight(weight, given)
		if err != nil {
			return err
		}
		if strings.TrimSpace(from) == "1" {
			u.Bias = at
			continue
		}
		value, err := p.value(from)
		if err != nil {
			return err
		}
		u.From, u.Weights = append(u.From, value), append(u.Weights, at)
	}
	if u.Bias == None {
		u.Bias, _ = p.weight("", false)
	}
	p.Units = append(p.Units, u)
	return nil
}

// weight returns the number of a weight: a new one, or one that has the name
// already.
func (p *graphParser) weight(text string, given bool) (int, error) {
	text = strings.TrimSpace(text)
	if !given {
		return p.newWeight(p.random.Float64()-0.5, false), nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if x-x != 0 {
			return 0, fmt.Errorf("the weight %s; expected a finite number", text)
		}
		return p.newWeight(x, true), nil
	}
	name, number, starts := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); name == "" {
		return 0, fmt.Errorf("the weight %q; expected a number, a name, or name=number", text)
	}
	at, known := p.named[name]
	if !known {
		at = p.newWeight(p.random.Float64()-0.5, false)
		p.named[name], p.Shared[at] = at, name
	}
	if starts {
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || x-x != 0 {
			return 0, fmt.Errorf("the weight %s begins at %q; expected a finite number", name, number)
		}
		p.Weights[at] = x
	}
	return at, nil
}

func (p *graphParser) newWeight(x float64, fixed bool) int {
	p.Weights, p.Fixed = append(p.Weights, x), append(p.Fixed, fixed)
	return len(p.Weights) - 1
}

// boolean adds a threshold unit with the weights of an m-of-n test.
func (p *graphParser) boolean(word string, terms []string, count func(n int) int, not bool) error {
	m := 0
	if count == nil {
		var err error
		if m, err = strconv.Atoi(strings.TrimSpace(terms[0])); err != nil || m < 1 || m >= len(terms) {
			return fmt.Errorf("%s(%s); expected a number of inputs and then as many or more of them, as in atleast(2, a, b, c)", word, strings.Join(terms, ","))
		}
		terms = terms[1:]
	} else {
		m = count(len(terms))
	}
	w := MOfN(m, len(terms), true)
	if not {
		w = w.Not()
	}
	u := Unit{Function: Sign, Bias: p.newWeight(w[0], true)}
	for i, term := range terms {
		term, negated := strings.CutPrefix(strings.TrimSpace(term), "-")
		value, err := p.value(term)
		if err != nil {
			return err
		}
		if negated {
			w[i+1] = -w[i+1]
		}
		u.From, u.Weights = append(u.From, value), append(u.Weights, p.newWeight(w[i+1], true))
	}
	p.Units = append(p.Units, u)
	return nil
}

// value returns the number of an input or unit.
func (p *graphParser) value(name string) (int, error) {
	name = unquoted(name)
	if i := slices.Index(p.inputs, name); i >= 0 {
		return i, nil
	}
	if i := slices.Index(p.Names, name); i >= 0 {
		return len(p.inputs) + i, nil
	}
	if slices.Contains(p.written, name) {
		return 0, fmt.Errorf("it reads %q, which is not computed before it; a graph has no cycles, and units stand behind those that they read", name)
	}
	return 0, fmt.Errorf("no input or unit before it is called %q%s", name, spell.Hint(name, append(slices.Clone(p.inputs), p.Names...)))
}

func unquoted(name string) string {
	name = strings.TrimSpace(name)
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		return name[1 : len(name)-1]
	}
	return name
}

// cutOutside cuts at the first such sign outside of double quotes.
func cutOutside(text string, sign byte) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == sign && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// splitOutside splits at a sign outside of double quotes.
func splitOutside(text string, sign byte) []string {
	var parts []string
	for {
		before, after, found := cutOutside(text, sign)
		parts = append(parts, before)
		if !found {
			return parts
		}
		text = after
	}
}

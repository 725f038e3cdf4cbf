package portable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// most bounds what a program may have, so that reading one from strangers costs no
// more than its bytes say.
const (
	mostWidth = 1 << 16
	mostDepth = 100
)

// Check returns what is wrong with a program, or nil. One that passes can be run and
// printed.
func (p *Program) Check() error {
	if p.Format != formatName {
		return fmt.Errorf("the format is %q, expected %q", p.Format, formatName)
	}
	if p.Version != Version {
		return fmt.Errorf("the program has format version %d; this release reads version %d", p.Version, Version)
	}
	if err := p.checkNames(); err != nil {
		return err
	}
	for i := range p.Steps {
		if err := p.checkStep(Ref(i)); err != nil {
			return fmt.Errorf("step %d (%s): %w", i, p.Steps[i].Op, err)
		}
	}
	return p.checkAnswer()
}

func (p *Program) checkNames() error {
	names := []string{p.Target.Name}
	for i := range p.Columns {
		c := &p.Columns[i]
		if !slices.Contains([]string{"nominal", "numeric", "date", "time"}, c.Kind) {
			return fmt.Errorf("column %q is %q; expected nominal, numeric, date or time", c.Name, c.Kind)
		}
		if !c.Nominal() && len(c.Values) > 0 {
			return fmt.Errorf("column %q is %s and has values", c.Name, c.Kind)
		}
		if err := distinct(c.Values); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		names = append(names, c.Name)
	}
	if err := distinct(names); err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	if err := distinct(p.Target.Classes); err != nil {
		return fmt.Errorf("classes: %w", err)
	}
	return nil
}

func distinct(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		switch {
		case n == "":
			return fmt.Errorf("a name is empty")
		case !utf8.ValidString(n) || bytes.ContainsRune([]byte(n), 0):
			return fmt.Errorf("the name %q cannot be written elsewhere", n)
		case seen[n]:
			return fmt.Errorf("%q stands twice", n)
		}
		seen[n] = true
	}
	return nil
}

func (p *Program) checkAnswer() error {
	a := &p.Answer
	for _, r := range a.refs() {
		if *r < 0 || int(*r) >= len(p.Steps) {
			return fmt.Errorf("the answer is step %d of %d", *r, len(p.Steps))
		}
	}
	width := func(r *Ref, want int) bool { return r != nil && p.Steps[*r].Width == want }
	if n := len(p.Target.Classes); n > 0 {
		if !width(a.Probabilities, n) || len(a.refs()) != 1 {
			return fmt.Errorf("the answer is not the probabilities of the %d classes", n)
		}
		return nil
	}
	if !width(a.Number, 1) || a.Probabilities != nil || (a.Low == nil) != (a.High == nil) || a.Low != nil && (!width(a.Low, 1) || !width(a.High, 1)) {
		return fmt.Errorf("the answer is not a number, with both or none of the ends of its interval")
	}
	return nil
}

func (p *Program) checkStep(at Ref) error {
	s := &p.Steps[at]
	if s.Width < 1 || s.Width > mostWidth {
		return fmt.Errorf("the width is %d, expected 1 to %d", s.Width, mostWidth)
	}
	for _, x := range s.Numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v is no number that every target has", x)
		}
	}
	for _, of := range s.Of {
		if of < 0 || of >= at {
			return fmt.Errorf("it is made of step %d, which is not before it", of)
		}
	}
	for i := range s.Tests {
		if err := p.checkTest(&s.Tests[i], at, 0); err != nil {
			return err
		}
	}
	if !p.fits(s) {
		return fmt.Errorf("%d numbers a row, %d numbers, %d tests and %d steps do not go together", s.Width, len(s.Numbers), len(s.Tests), len(s.Of))
	}
	if s.Op == Walk {
		return p.checkNodes(s, at)
	}
	return nil
}

// fits reports whether what a step has goes together.
func (p *Program) fits(s *Step) bool {
	column := func(nominal bool) bool {
		return s.Column >= 0 && s.Column < len(p.Columns) && p.Columns[s.Column].Nominal() == nominal
	}
	whole := len(s.Numbers)%s.Width == 0
	of := func(i int) int { return p.Steps[s.Of[i]].Width }
	switch s.Op {
	case Constant:
		return len(s.Numbers) == s.Width
	case Cell:
		return column(false) && s.Width == 1 && len(s.Numbers) == 1
	case Lookup:
		return column(true) && whole && s.rows() >= 2 && s.rows() <= len(p.Columns[s.Column].Values)+2
	case First, Sum:
		return whole && s.rows() == len(s.Tests)+1
	case Walk:
		return whole && len(s.Nodes) > 0
	case Affine:
		return len(s.Of) == 1 && len(s.Numbers) == s.Width*(of(0)+1)
	case Join:
		width := 0
		for i := range s.Of {
			width += of(i)
		}
		return len(s.Of) > 0 && width == s.Width
	case Take:
		return len(s.Of) == 1 && s.Width == 1 && s.Index >= 0 && s.Index < of(0)
	case Choose:
		return len(s.Of) == 2 && len(s.Tests) == 1 && of(0) == s.Width && of(1) == s.Width
	case Softmax:
		return len(s.Of) == 1 && of(0) == s.Width && (len(s.Numbers) == 0 || len(s.Numbers) == 1 && s.Numbers[0] < 0)
	case Best:
		order := slices.Sorted(slices.Values(s.Order))
		for i, at := range order {
			if i != at {
				return false
			}
		}
		return len(s.Of) == 1 && of(0) == s.Width && len(order) == s.Width
	case Exp, Log, Sqrt, Tanh, Logistic, Rectify:
		return len(s.Of) == 1 && of(0) == s.Width
	case Add, Subtract, Multiply, Divide, Least, Greatest:
		return len(s.Of) == 2 && max(of(0), of(1)) == s.Width && (of(0) == of(1) || min(of(0), of(1)) == 1)
	}
	return false
}

// checkNodes refuses trees that are none: a node that two lead to, one that leads
// back, or one without end.
func (p *Program) checkNodes(s *Step, at Ref) error {
	depth := make([]int, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if i > 0 && depth[i] == 0 {
			return fmt.Errorf("no branch leads to node %d", i)
		}
		if depth[i] > mostDepth {
			return fmt.Errorf("the tree is deeper than %d, which targets do not take", mostDepth)
		}
		if len(n.Branches) == 0 && (n.Row < 0 || n.Row >= s.rows()) {
			return fmt.Errorf("node %d says row %d of %d", i, n.Row, s.rows())
		}
		for k := range n.Branches {
			b := &n.Branches[k]
			if b.To <= i || b.To >= len(s.Nodes) || depth[b.To] != 0 || !(b.Share >= 0 && b.Share <= 1) {
				return fmt.Errorf("node %d has a branch to node %d with a share of %v", i, b.To, b.Share)
			}
			depth[b.To] = depth[i] + 1
			if err := p.checkTest(&b.Test, at, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Program) checkTest(t *Test, before Ref, depth int) error {
	finite := func(x *float64) bool { return x == nil || !math.IsNaN(*x) && !math.IsInf(*x, 0) }
	ok := finite(t.Low) && finite(t.High)
	inside := t.Column >= 0 && t.Column < len(p.Columns)
	switch t.Op {
	case Between, Among:
		ok = ok && inside && !p.Columns[t.Column].Nominal()
		for i := range t.Points {
			ok = ok && finite(&t.Points[i])
		}
	case In, NotIn:
		ok = ok && inside && p.Columns[t.Column].Nominal()
		for _, v := range t.Values {
			ok = ok && v >= 0 && v < len(p.Columns[t.Column].Values)
		}
	case Missing, Known:
		ok = ok && inside
	case Above:
		ok = ok && t.Of >= 0 && t.Of < before && p.Steps[t.Of].Width == 1 && t.Low != nil
	case AtMost:
		ok = ok && t.Of >= 0 && t.Of < before && p.Steps[t.Of].Width == 1 && t.High != nil
	case AtLeast, All:
	case Not:
		ok = ok && len(t.Tests) == 1
	default:
		return fmt.Errorf("unknown test %q", t.Op)
	}
	if !ok {
		return fmt.Errorf("the test %q does not fit what it looks at", t.Op)
	}
	if depth > mostDepth {
		return fmt.Errorf("tests within tests are deeper than %d", mostDepth)
	}
	for i := range t.Tests {
		if err := p.checkTest(&t.Tests[i], before, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Decode reads a program that JSON wrote: any bytes give a sound one or an error.
func Decode(text []byte) (*Program, error) {
	p := &Program{}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("it is no program: %w", err)
	}
	return p, p.Check()
}

// JSON writes the program.
func (p *Program) JSON() ([]byte, error) {
	written := *p
	written.Columns = append([]Column{}, p.Columns...) // none is [], not null
	text, err := json.MarshalIndent(&written, "", " ")
	return append(text, '\n'), err
}

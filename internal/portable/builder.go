package portable

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Builder adds steps to a program. It speaks of columns and codes as a model's
// schema does.
type Builder struct {
	program *Program
	schema  *table.Schema
	target  int
	columns []int // of the schema: that of the program; -1 if no step looks at it yet
}

// Of returns a builder of the same program for a model of other columns, as a
// member of a committee may be: columns and values are found by their names.
func (b *Builder) Of(schema *table.Schema, target int) *Builder {
	to := &Builder{program: b.program, schema: schema, target: target, columns: make([]int, len(schema.Attributes))}
	for j := range to.columns {
		to.columns[j] = -1
	}
	return to
}

// Target is the column that the model answers.
func (b *Builder) Target() *table.Attribute { return &b.schema.Attributes[b.target] }

// Note says something that readers of the program should know.
func (b *Builder) Note(text string) {
	if !slices.Contains(b.program.Notes, text) {
		b.program.Notes = append(b.program.Notes, text)
	}
}

// Texts returns an error if the model reads texts, which no target can.
func (b *Builder) Texts() error {
	for j := range b.schema.Attributes {
		if a := &b.schema.Attributes[j]; a.Kind == table.Text {
			return fmt.Errorf("column %q is text, whose words no target can count", a.Name)
		}
	}
	return nil
}

// column returns the program's column of one of the schema's.
func (b *Builder) column(j int) int {
	a := &b.schema.Attributes[j]
	if b.columns[j] >= 0 {
		return b.columns[j]
	}
	at := slices.IndexFunc(b.program.Columns, func(c Column) bool { return c.Name == a.Name })
	if at < 0 {
		at = len(b.program.Columns)
		b.program.Columns = append(b.program.Columns, Column{Name: a.Name, Kind: a.Shown(), Style: string(a.Style)})
	}
	c := &b.program.Columns[at]
	for _, v := range a.Values {
		if a.Kind == table.Nominal && !slices.Contains(c.Values, v) {
			c.Values = append(c.Values, v)
		}
	}
	b.columns[j] = at
	return at
}

// code returns the program's code of a value of a column of the schema.
func (b *Builder) code(j, code int) int {
	c := &b.program.Columns[b.column(j)]
	v := b.schema.Attributes[j].Values[code]
	if code < len(c.Values) && c.Values[code] == v {
		return code
	}
	return slices.Index(c.Values, v)
}

func (b *Builder) add(s Step) Ref {
	b.program.Steps = append(b.program.Steps, s)
	return Ref(len(b.program.Steps) - 1)
}

func (b *Builder) width(r Ref) int { return b.program.Steps[r].Width }

// Constant gives numbers.
func (b *Builder) Constant(x ...float64) Ref {
	return b.add(Step{Op: Constant, Width: len(x), Numbers: slices.Clone(x)})
}

// Cell gives a numeric cell, and a number in its stead where it is missing.
func (b *Builder) Cell(column int, missing float64) Ref {
	return b.add(Step{Op: Cell, Width: 1, Column: b.column(column), Numbers: []float64{missing}})
}

// Lookup gives a row of numbers for a nominal cell: the first for an unseen one, the
// second for a missing one, then those of the codes.
func (b *Builder) Lookup(column, width int, rows []float64) Ref {
	at := b.column(column)
	to := slices.Clone(rows[:2*width])
	for range b.program.Columns[at].Values {
		to = append(to, rows[:width]...)
	}
	for code := 0; (code+3)*width <= len(rows); code++ {
		copy(to[(b.code(column, code)+2)*width:], rows[(code+2)*width:(code+3)*width])
	}
	return b.add(Step{Op: Lookup, Width: width, Column: at, Numbers: to})
}

// First gives the row of the first test that holds; the last row if none does.
func (b *Builder) First(tests []Test, width int, rows []float64) Ref {
	return b.add(Step{Op: First, Width: width, Tests: tests, Numbers: rows})
}

// Sum adds to row 0 the rows behind it of tests that hold.
func (b *Builder) Sum(tests []Test, width int, rows []float64) Ref {
	return b.add(Step{Op: Sum, Width: width, Tests: tests, Numbers: rows})
}

// Walk gives what the leaves of a tree say that a row comes to.
func (b *Builder) Walk(nodes []Node, width int, rows []float64) Ref {
	return b.add(Step{Op: Walk, Width: width, Nodes: nodes, Numbers: rows})
}

// Affine gives sums: for each a start, and a factor for each number of x.
func (b *Builder) Affine(x Ref, start, factors []float64) Ref {
	in, out := b.width(x), len(start)
	s := Step{Op: Affine, Width: out, Of: []Ref{x}}
	for k := range out {
		s.Numbers = append(append(s.Numbers, start[k]), factors[k*in:(k+1)*in]...)
	}
	return b.add(s)
}

// Join puts vectors behind one another.
func (b *Builder) Join(of ...Ref) Ref {
	s := Step{Op: Join, Of: of}
	for _, r := range of {
		s.Width += b.width(r)
	}
	return b.add(s)
}

// Take gives one number of a vector.
func (b *Builder) Take(x Ref, i int) Ref {
	return b.add(Step{Op: Take, Width: 1, Of: []Ref{x}, Index: i})
}

// Choose gives x where a test holds, else y.
func (b *Builder) Choose(t Test, x, y Ref) Ref {
	return b.add(Step{Op: Choose, Width: b.width(x), Tests: []Test{t}, Of: []Ref{x, y}})
}

// Softmax turns logarithms into shares.
func (b *Builder) Softmax(x Ref) Ref {
	return b.add(Step{Op: Softmax, Width: b.width(x), Of: []Ref{x}})
}

// SoftmaxWithin is Softmax, in which what lies further below the greatest has no
// share.
func (b *Builder) SoftmaxWithin(x Ref, below float64) Ref {
	return b.add(Step{Op: Softmax, Width: b.width(x), Of: []Ref{x}, Numbers: []float64{below}})
}

// Best gives 1 at the greatest number, the first by name of equals, and 0 elsewhere.
func (b *Builder) Best(x Ref, names []string) Ref {
	return b.add(Step{Op: Best, Width: b.width(x), Of: []Ref{x}, Order: nameOrder(names)})
}

// Map applies a function to each number.
func (b *Builder) Map(op Op, x Ref) Ref { return b.add(Step{Op: op, Width: b.width(x), Of: []Ref{x}}) }

// Zip applies a function of two, one of which may be a single number.
func (b *Builder) Zip(op Op, x, y Ref) Ref {
	return b.add(Step{Op: op, Width: max(b.width(x), b.width(y)), Of: []Ref{x, y}})
}

// Scale multiplies by a number and adds one.
func (b *Builder) Scale(x Ref, factor, plus float64) Ref {
	if factor != 1 {
		x = b.Zip(Multiply, x, b.Constant(factor))
	}
	if plus != 0 {
		x = b.Zip(Add, x, b.Constant(plus))
	}
	return x
}

// Total adds up vectors of one width.
func (b *Builder) Total(of ...Ref) Ref {
	for i := 1; i < len(of); i++ {
		of[0] = b.Zip(Add, of[0], of[i])
	}
	return of[0]
}

// Together adds up the numbers of a vector.
func (b *Builder) Together(x Ref) Ref {
	return b.Affine(x, []float64{0}, slices.Repeat([]float64{1}, b.width(x)))
}

// Place puts numbers where they stand among more, which are start.
func (b *Builder) Place(x Ref, at []int, start []float64) Ref {
	in := b.width(x)
	if in == len(start) && slices.IsSorted(at) {
		return x
	}
	factors := make([]float64, in*len(start))
	for i, to := range at {
		factors[to*in+i] = 1
	}
	return b.Affine(x, start, factors)
}

// The tests, which speak of columns as the schema does.

// Between: low ≤ number ≤ high; infinities are no limits.
func (b *Builder) Between(column int, low, high float64) Test {
	t := Test{Op: Between, Column: b.column(column)}
	if !math.IsInf(low, -1) {
		t.Low = &low
	}
	if !math.IsInf(high, 1) {
		t.High = &high
	}
	if t.Low == nil && t.High == nil {
		t.Op = Known
	}
	return t
}

// Among: the number is one of these.
func (b *Builder) Among(column int, points []float64) Test {
	return Test{Op: Among, Column: b.column(column), Points: points}
}

// Values holds for a nominal cell as allowed says: for an unseen one, a missing one,
// then the codes.
func (b *Builder) Values(column int, allowed []bool) Test {
	t := Test{Op: In, Column: b.column(column)}
	if allowed[0] {
		t.Op = NotIn
	}
	for code, yes := range allowed[2:] {
		if yes != allowed[0] {
			t.Values = append(t.Values, b.code(column, code))
		}
	}
	if t.Op == NotIn && len(t.Values) == 0 {
		t = b.Known(column)
	}
	if !allowed[1] {
		return t
	}
	if t.Op == In && len(t.Values) == 0 {
		return b.Missing(column)
	}
	return Any(t, b.Missing(column))
}

// Missing holds for a missing cell.
func (b *Builder) Missing(column int) Test { return Test{Op: Missing, Column: b.column(column)} }

// Known holds for a known cell.
func (b *Builder) Known(column int) Test { return Test{Op: Known, Column: b.column(column)} }

// IsAbove holds where the one number of a step is above x.
func IsAbove(of Ref, x float64) Test { return Test{Op: Above, Of: of, Low: &x} }

// IsAtMost holds where it is not.
func IsAtMost(of Ref, x float64) Test { return Test{Op: AtMost, Of: of, High: &x} }

// Any holds where one of the tests does.
func Any(tests ...Test) Test { return Test{Op: AtLeast, Count: 1, Tests: tests} }

// Every holds where all tests do.
func Every(tests ...Test) Test {
	if len(tests) == 1 {
		return tests[0]
	}
	return Test{Op: All, Tests: tests}
}

// None holds where the test does not.
func None(t Test) Test { return Test{Op: Not, Tests: []Test{t}} }

// sweep drops steps and columns that the answer does not need.
func (p *Program) sweep() {
	needed := make([]bool, len(p.Steps))
	columns := make([]bool, len(p.Columns))
	var need func(r Ref)
	var needTests func(tests []Test)
	needTests = func(tests []Test) {
		for i := range tests {
			t := &tests[i]
			switch {
			case t.onColumn():
				columns[t.Column] = true
			case t.Op == Above || t.Op == AtMost:
				need(t.Of)
			}
			needTests(t.Tests)
		}
	}
	need = func(r Ref) {
		if needed[r] {
			return
		}
		needed[r] = true
		s := &p.Steps[r]
		if s.Op == Cell || s.Op == Lookup {
			columns[s.Column] = true
		}
		for _, of := range s.Of {
			need(of)
		}
		needTests(s.Tests)
		for i := range s.Nodes {
			for k := range s.Nodes[i].Branches {
				needTests([]Test{s.Nodes[i].Branches[k].Test})
			}
		}
	}
	for _, r := range p.Answer.refs() {
		need(*r)
	}
	p.renumber(needed, columns)
}

// refs are the steps of the answer.
func (a *Answer) refs() []*Ref {
	return slices.DeleteFunc([]*Ref{a.Probabilities, a.Number, a.Low, a.High}, func(r *Ref) bool { return r == nil })
}

// renumber leaves out what is not needed.
func (p *Program) renumber(steps, columns []bool) {
	refs, places := make([]Ref, len(steps)), make([]int, len(columns))
	var left []Step
	for i, s := range p.Steps {
		if refs[i] = Ref(len(left)); steps[i] {
			left = append(left, s)
		}
	}
	var seen []Column
	for i, c := range p.Columns {
		if places[i] = len(seen); columns[i] {
			seen = append(seen, c)
		}
	}
	var renew func(tests []Test) []Test
	renew = func(tests []Test) []Test {
		tests = slices.Clone(tests)
		for i := range tests {
			t := &tests[i]
			switch {
			case t.onColumn():
				t.Column = places[t.Column]
			case t.Op == Above || t.Op == AtMost:
				t.Of = refs[t.Of]
			}
			t.Tests = renew(t.Tests)
		}
		return tests
	}
	for i := range left {
		s := &left[i]
		if s.Op == Cell || s.Op == Lookup {
			s.Column = places[s.Column]
		}
		s.Of = slices.Clone(s.Of)
		for k := range s.Of {
			s.Of[k] = refs[s.Of[k]]
		}
		s.Tests = renew(s.Tests)
		s.Nodes = slices.Clone(s.Nodes)
		for n := range s.Nodes {
			s.Nodes[n].Branches = slices.Clone(s.Nodes[n].Branches)
			for k := range s.Nodes[n].Branches {
				br := &s.Nodes[n].Branches[k]
				br.Test = renew([]Test{br.Test})[0]
			}
		}
	}
	a := Answer{}
	for _, of := range []struct{ to, from **Ref }{{&a.Probabilities, &p.Answer.Probabilities}, {&a.Number, &p.Answer.Number}, {&a.Low, &p.Answer.Low}, {&a.High, &p.Answer.High}} {
		if *of.from != nil {
			r := refs[**of.from]
			*of.to = &r
		}
	}
	p.Steps, p.Columns, p.Answer = left, seen, a
}

// Classes answers with the probabilities of classes.
func Classes(p Ref) (Answer, error) { return Answer{Probabilities: &p}, nil }

// Number answers with a number, of which no interval is known.
func Number(mean Ref) (Answer, error) { return Answer{Number: &mean}, nil }

// Interval answers with a number and the ends of its interval.
func Interval(mean, low, high Ref) (Answer, error) {
	return Answer{Number: &mean, Low: &low, High: &high}, nil
}

// Program adds all steps of another program, whose columns are those of the schema, in
// their order.
func (b *Builder) Program(p *Program) (Answer, error) {
	first := Ref(len(b.program.Steps))
	columns := make([]int, len(p.Columns))
	for i := range p.Columns {
		columns[i] = b.column(i)
		if b.program.Columns[columns[i]].Nominal() && !slices.Equal(b.program.Columns[columns[i]].Values, p.Columns[i].Values) {
			return Answer{}, fmt.Errorf("the values of column %q are others here; export the model alone", p.Columns[i].Name)
		}
	}
	var moved func(tests []Test) []Test
	moved = func(tests []Test) []Test {
		tests = slices.Clone(tests)
		for i := range tests {
			t := &tests[i]
			switch {
			case t.onColumn():
				t.Column = columns[t.Column]
			case t.Op == Above || t.Op == AtMost:
				t.Of += first
			}
			t.Tests = moved(t.Tests)
		}
		return tests
	}
	for _, s := range p.Steps {
		if s.Op == Cell || s.Op == Lookup {
			s.Column = columns[s.Column]
		}
		s.Of = slices.Clone(s.Of)
		for k := range s.Of {
			s.Of[k] += first
		}
		s.Tests, s.Nodes = moved(s.Tests), slices.Clone(s.Nodes)
		for n := range s.Nodes {
			s.Nodes[n].Branches = slices.Clone(s.Nodes[n].Branches)
			for k := range s.Nodes[n].Branches {
				s.Nodes[n].Branches[k].Test = moved([]Test{s.Nodes[n].Branches[k].Test})[0]
			}
		}
		b.add(s)
	}
	for _, note := range p.Notes {
		b.Note(note)
	}
	shift := func(r *Ref) *Ref {
		if r == nil {
			return nil
		}
		to := *r + first
		return &to
	}
	a := &p.Answer
	return Answer{shift(a.Probabilities), shift(a.Number), shift(a.Low), shift(a.High)}, nil
}

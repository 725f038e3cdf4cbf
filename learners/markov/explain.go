package markov

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Explain shares the answer for a row out: how frequent each state is, what the
// rows before say of it, each cell, and the rows after. What rows before and
// after say is the sum over all their paths, or the best of them, as the answers
// are. Each step adds what it does to the weight of a class, so that all add up.
func (m *Model) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	seen, err := m.read(t)
	if err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	from, to := row, row+1
	for t.Sequence != nil && from > 0 && t.Sequence[from-1] == t.Sequence[row] {
		from--
	}
	for t.Sequence != nil && to < t.Rows() && t.Sequence[to] == t.Sequence[row] {
		to++
	}
	x := newReasons(m, seen, from, to, row)
	x.add(m.stateName()+" before", x.before, x.ahead)
	for j := range x.e.columns {
		x.cell(seen, j, row)
	}
	if row+1 < to {
		x.add(m.stateName()+" after", x.after, x.behind)
	}
	return x.finish(), nil
}

// reasons is an explanation in the making.
type reasons struct {
	m             *Model
	e             *estimates
	explanation   *learn.Explanation
	logs          []float64 // of each state, so far
	sums          []float64 // of each class
	ahead, behind []float64 // what the rows before and after say of each state
	before, after string    // the most probable states there
	from          int       // the first row of the sequence
	to            int
	missing       []int
}

// newReasons looks at the sequence of a row from both ends.
func newReasons(m *Model, t *reading, from, to, row int) *reasons {
	e := m.estimate()
	n := e.n
	x := &reasons{m: m, e: e, from: from, to: to, ahead: make([]float64, n), behind: make([]float64, n), before: "none", after: "none"}
	var r trellis
	e.decode(&r, t, from, to)
	if row > from {
		x.before = x.likeliest(r.ahead[(row-1-from)*n:][:n])
	}
	if row+1 < to {
		x.after = x.likeliest(r.ahead[(row+1-from)*n:][:n])
	}
	best := e.settings.Decode == "viterbi" && !e.settings.Whole
	join := logsum.Of
	if best {
		join = logsum.Most
		e.bestAhead(&r, nil)
	} else {
		e.forwardLogs(&r)
	}
	at := row - from
	terms := make([]float64, n)
	for s := range x.ahead {
		if x.ahead[s] = e.logStart[s]; at > 0 {
			for i, l := range r.ahead[(at-1)*n:][:n] {
				terms[i] = l + e.logMove[i*n+s]
			}
			x.ahead[s] = join(terms)
		}
	}
	after := make([]float64, n)
	for k := to - from - 1; k > at; k-- {
		for i := range after {
			for s := range terms {
				terms[s] = e.logMove[i*n+s] + r.logs[k*n+s] + x.behind[s]
			}
			after[i] = join(terms)
		}
		copy(x.behind, after)
	}
	x.explanation = &learn.Explanation{Prior: make([]float64, len(m.States())), Additive: true}
	x.logs = append([]float64(nil), e.prior...)
	x.sums = x.classes(x.logs)
	return x
}

// likeliest names the class of the most probable state.
func (x *reasons) likeliest(p []float64) string {
	sums := make([]float64, len(x.m.States()))
	for s, q := range p {
		sums[x.e.name(s)] += q
	}
	return x.m.States()[learn.Best(sums, x.m.States())]
}

// classes adds up the states of each class.
func (x *reasons) classes(logs []float64) []float64 {
	sums := make([]float64, len(x.m.States()))
	var of []float64
	for c := range sums {
		of = of[:0]
		for s, l := range logs {
			if int(x.e.name(s)) == c {
				of = append(of, l)
			}
		}
		sums[c] = logsum.Of(of)
	}
	return sums
}

// add takes in what something says of each state. The rows before say what the
// frequencies of states said already, and more.
func (x *reasons) add(column, value string, logs []float64) {
	if x.explanation.Evidence == nil {
		clear(x.logs)
	}
	for s, l := range logs {
		x.logs[s] += l
	}
	sums := x.classes(x.logs)
	// Weights are told from what the evidence would be by chance, which is the
	// same for all classes.
	chance := make([]float64, 0, len(sums))
	for c, l := range sums {
		if !math.IsInf(l, -1) {
			chance = append(chance, l-x.sums[c]+x.share(c))
		}
	}
	by := logsum.Of(chance)
	text := rule.Test{Op: rule.Eq, Column: column, Value: value}.String()
	for c, l := range sums {
		if !math.IsInf(l, -1) {
			x.explanation.Evidence = append(x.explanation.Evidence, learn.Evidence{Text: text, Class: c, Weight: l - x.sums[c] - by})
			sums[c] = l
		}
	}
	for s := range x.logs {
		x.logs[s] -= by
	}
	for c := range sums {
		sums[c] -= by
	}
	x.sums = sums
}

// share is the log frequency of a class.
func (x *reasons) share(class int) float64 { return x.classes(x.e.prior)[class] }

// cell takes in what a cell of the row says.
func (x *reasons) cell(t *reading, j, row int) {
	c := &x.e.columns[j]
	a := &x.m.schema.Attributes[j]
	if c.letters == nil && c.normals == nil || j == x.m.target {
		return
	}
	if a.Kind == table.Nominal && t.Columns[j].Codes[row] == table.Missing || a.Kind == table.Numeric && table.IsMissing(t.Columns[j].Floats[row]) {
		x.missing = append(x.missing, j)
		return
	}
	logs := make([]float64, (x.to-x.from)*x.e.n)
	c.show(t, j, x.from, x.to, x.e.n, logs)
	says := logs[(row-x.from)*x.e.n:][:x.e.n]
	if a.Kind == table.Nominal && c.letters.symbolOf(t.Columns[j].Codes[row], t.extra[j]) == nothing || a.Kind == table.Numeric && math.IsInf(t.Columns[j].Floats[row], 0) {
		return
	}
	x.add(a.Name, t.Text(row, j), says)
}

// finish fills in the prior, what all add up to, and the missing cells.
func (x *reasons) finish() *learn.Explanation {
	e := x.explanation
	prior := x.classes(x.e.prior)
	p := append([]float64(nil), x.sums...)
	most, total := logsum.Normalise(p)
	e.Normaliser = most + math.Log(total)
	for c := range prior {
		if e.Prior[c] = prior[c]; math.IsInf(prior[c], -1) {
			e.Prior[c] = zero + min(0, e.Normaliser) // no row is of this class
		}
	}
	best := learn.Best(p, x.m.States())
	for _, j := range x.missing {
		e.Missing = append(e.Missing, learn.MissingCell{Column: x.m.schema.Attributes[j].Name, CouldMove: x.couldMove(j, p[best], best)})
	}
	return e
}

// couldMove returns how far knowing a missing cell could move the probability p
// of a class at most: over the column's symbols or, for a number, over a grid of
// three deviations to both sides of each state's mean in steps of a tenth.
func (x *reasons) couldMove(j int, p float64, class int) float64 {
	c := &x.e.columns[j]
	most := 0.0
	moved := make([]float64, x.e.n)
	try := func(says []float64) {
		for s := range moved {
			moved[s] = x.logs[s] + says[s]
		}
		sums := x.classes(moved)
		logsum.Normalise(sums)
		most = max(most, math.Abs(sums[class]-p))
	}
	if c.letters != nil {
		for symbol := range c.letters.size() {
			try(c.letters.of(int32(symbol)))
		}
		return most
	}
	says := make([]float64, x.e.n)
	for i := range c.normals {
		for step := -30; step <= 30; step++ {
			at := c.normals[i].mean + float64(step)/10*c.normals[i].deviation
			for s := range says {
				says[s] = c.normals[s].log(at)
			}
			try(says)
		}
	}
	return most
}

package evolve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// answer is a formula, and how it is judged.
type answer struct {
	Tree    formula.Tree `cbor:"tree"`
	Front   []point      `cbor:"front"`
	Error   float64      `cbor:"error"`  // root of the mean squared error on rows held out
	Margin  float64      `cbor:"margin"` // of 95 % of these rows
	Shift   float64      `cbor:"shift,omitempty"`
	Slope   float64      `cbor:"slope,omitempty"` // of a class: the log odds are Shift + Slope · formula
	History []step       `cbor:"history"`
	Stopped string       `cbor:"stopped"`
}

// point is a formula of the front.
type point struct {
	Tree  formula.Tree `cbor:"tree"`
	Error float64      `cbor:"error"`
}

// Formula is an evolved formula; of more than two classes, one for each. It is
// immutable.
type Formula struct {
	lesson    kept.Lesson[gpSettings]
	rows      *kept.Rows // nil: not kept
	schema    *table.Schema
	target    int
	inputs    []input
	answers   []answer
	rowWeight float64
	// What is answered where a formula has no value: the mean and the range of
	// the rows, or the shares of the classes.
	mean, low, high float64
	prior           []float64
	asides          asides
	rooms           sync.Pool
}

var (
	_ learn.Updater   = (*Formula)(nil)
	_ learn.Explainer = (*Formula)(nil)
	_ learn.Merger    = (*Formula)(nil)
	_ learn.Forgetter = (*Formula)(nil)
	_ learn.Drawer    = (*Formula)(nil)
	_ learn.Keeper    = (*Formula)(nil)
	_ learn.Grower    = (*Formula)(nil)
	_ learn.Remarker  = (*Formula)(nil)
	_ formula.Fronted = (*Formula)(nil)
)

// answer runs the search and chooses: each formula of the front is fitted to all
// rows that are learnt from, and judged on those held out.
func (s *search) answer(evolving, ctx context.Context) (*answer, error) {
	stopped, err := s.run(evolving)
	if err := ended(ctx, err); err != nil {
		return nil, err
	}
	a := &answer{History: s.history, Stopped: stopped}
	lengths := make([]int, 0, len(s.front))
	for n := range s.front {
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	m := &formula.Machine{}
	var errors []float64
	var deviations []float64
	for _, n := range lengths {
		t := s.front[n].tree
		if s.front[n].left > exact {
			if fit := formula.Simplify(formula.Snap(s.all.refine(t, m, 30), 1e-9)); s.safe(fit) {
				t = fit
			}
		}
		if tidy := s.all.tidy(t, m); s.safe(tidy) {
			t = tidy
		}
		mean, deviation := s.judges.squares(t, m)
		if k := len(a.Front); math.IsInf(mean, 0) || k > 0 && !(len(t) > len(a.Front[k-1].Tree) && math.Sqrt(mean) < a.Front[k-1].Error) {
			continue
		}
		a.Front = append(a.Front, point{t, math.Sqrt(mean)})
		errors, deviations = append(errors, mean), append(deviations, deviation)
	}
	if len(a.Front) == 0 {
		t := formula.Number(s.all.mean)
		mean, deviation := s.judges.squares(t, m)
		a.Front, errors, deviations = []point{{t, math.Sqrt(mean)}}, []float64{mean}, []float64{deviation}
	}
	least := 0
	for i, e := range errors {
		if e < errors[least] {
			least = i
		}
	}
	slack := 1e-18 // of the variance; of a class, where odds are made of the formula, a hundredth
	if s.d.table.Schema.Attributes[s.d.target].Kind == table.Nominal {
		slack = 0.01
	}
	floor := slack * max(s.judges.spread, s.all.spread) / float64(len(s.judges.y))
	chosen := max(0, slices.IndexFunc(errors, func(e float64) bool { return e <= errors[least]+deviations[least]+floor }))
	a.Tree, a.Error = a.Front[chosen].Tree, a.Front[chosen].Error
	a.Margin = s.judges.margin(a.Tree, m)
	return a, nil
}

// tidy takes constants away, or digits from them, where that costs nothing that
// matters: a ten thousandth of the error, or what rounding leaves.
func (s *sample) tidy(t formula.Tree, m *formula.Machine) formula.Tree {
	most := max(s.left(t, m)*1.0001, 1e-16)
	for _, at := range freeConstants(t) {
		x := t[at].Value
		for digits := 0; digits <= 6; digits++ {
			near := 0.0
			if digits > 0 {
				near, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
			}
			trial := slices.Clone(t)
			if trial[at].Value = near; s.left(trial, m) <= most {
				t = trial
				break
			}
		}
	}
	simple := formula.Simplify(formula.Snap(formula.Simplify(t), 1e-14)) // 0.9999999999999999 is 1
	if s.left(simple, m) <= most && simple.Sound(len(s.x)) {
		return simple
	}
	return t
}

// squares returns the mean of the squared errors, and its standard error.
func (s *sample) squares(t formula.Tree, m *formula.Machine) (mean, deviation float64) {
	out := make([]float64, len(s.y))
	m.Eval(t, s.x, out)
	total, square := 0.0, 0.0
	for i, v := range out {
		e := (v - s.y[i]) * (v - s.y[i])
		mean += s.w[i] * e
		square += s.w[i] * e * e
		total += s.w[i]
	}
	mean /= total
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return math.Inf(1), 0
	}
	if deviation = math.Sqrt(max(0, square/total-mean*mean) / max(1, total-1)); math.IsNaN(deviation) || math.IsInf(deviation, 0) {
		deviation = 0 // it is too large to be reckoned with
	}
	return mean, deviation
}

// margin returns what 95 % of the rows err by at most.
func (s *sample) margin(t formula.Tree, m *formula.Machine) float64 {
	out := make([]float64, len(s.y))
	m.Eval(t, s.x, out)
	order := make([]int, len(out))
	for i := range out {
		order[i] = i
		if out[i] = math.Abs(out[i] - s.y[i]); math.IsNaN(out[i]) {
			out[i] = math.Sqrt(s.spread)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case out[a] < out[b]:
			return -1
		case out[a] > out[b]:
			return 1
		}
		return a - b
	})
	total := 0.0
	for _, w := range s.w {
		total += w
	}
	sum := 0.0
	for _, i := range order {
		if sum += s.w[i]; sum >= 0.95*total {
			return out[i]
		}
	}
	return out[order[len(order)-1]]
}

// summarise keeps what is answered where formulas have no value, and calibrates
// those of classes.
func (m *Formula) summarise(d *data) {
	m.asides = d.asides
	if d.units != nil && !slices.ContainsFunc(m.answers, func(a answer) bool {
		return slices.ContainsFunc(a.Front, func(p point) bool {
			return slices.ContainsFunc(p.Tree, func(n formula.Node) bool { return n.Op == formula.Var })
		})
	}) {
		m.asides.Unit = m.schema.Attributes[m.target].Name
	}
	targets := d.targets()
	if m.schema.Attributes[m.target].Kind == table.Numeric {
		y := targets[0]
		m.low, m.high = slices.Min(y), slices.Max(y)
		for r, v := range y {
			m.mean += v * (d.weight[r] / d.total)
		}
		return
	}
	k := len(m.schema.Attributes[m.target].Values)
	m.prior = make([]float64, k)
	for r, c := range d.table.Columns[d.target].Codes {
		m.prior[c] += d.weight[r]
	}
	for c := range m.prior {
		m.prior[c] = (m.prior[c] + 1) / (d.total + float64(k))
	}
	machine := &formula.Machine{}
	for i := range m.answers {
		a := &m.answers[i]
		out := make([]float64, len(targets[i]))
		machine.Eval(a.Tree, d.x, out)
		a.Shift, a.Slope = calibrate(out, targets[i], d.weight, d.total)
	}
}

// calibrate fits the log odds of a class as a line over a formula's values
// (Platt 1999): Newton's steps, with a case of each class more, so that nothing
// is certain.
func calibrate(f, y, w []float64, total float64) (shift, slope float64) {
	positives := 0.0
	for i := range y {
		positives += w[i] * y[i]
	}
	high, low := (positives+1)/(positives+2), 1/(total-positives+2)
	rate := (positives + 1) / (total + 2)
	shift = math.Log(rate / (1 - rate))
	scale := 0.0
	for _, v := range f {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			scale = max(scale, math.Abs(v))
		}
	}
	if scale == 0 || scale > 1e100 {
		return shift, 0
	}
	b := 0.0
	for range 50 {
		g0, g1, h00, h01, h11 := 0.0, 0.0, 1e-9, 0.0, 1e-9
		for i, v := range f {
			v /= scale
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			want := low
			if y[i] == 1 {
				want = high
			}
			p := 1 / (1 + math.Exp(-(shift + b*v)))
			e, s := w[i]*(want-p), w[i]*p*(1-p)
			g0, g1 = g0+e, g1+e*v
			h00, h01, h11 = h00+s, h01+s*v, h11+s*v*v
		}
		det := h00*h11 - h01*h01
		if !(det > 1e-300) {
			break
		}
		d0, d1 := (h11*g0-h01*g1)/det, (h00*g1-h01*g0)/det
		if far := max(math.Abs(d0), math.Abs(d1)); far > 10 {
			d0, d1 = d0*10/far, d1*10/far
		}
		if math.IsNaN(d0+d1) || math.Abs(shift+d0) > 500 || math.Abs(b+d1) > 500 {
			break
		}
		shift, b = shift+d0, b+d1
		if math.Abs(d0)+math.Abs(d1) < 1e-12 {
			break
		}
	}
	return shift, b / scale
}

// Learner returns "gp".
func (m *Formula) Learner() string { return Formulas }

// Schema returns the attributes, values in canonical order.
func (m *Formula) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *Formula) Target() int { return m.target }

// Size counts the formulas as rules, and their nodes as units.
func (m *Formula) Size() learn.Size {
	nodes := 0
	for i := range m.answers {
		nodes += len(m.answers[i].Tree)
	}
	return learn.Size{Rows: m.rowWeight, Units: nodes}
}

// room is what one goroutine needs to answer.
type room struct {
	machine formula.Machine
	x       [][]float64
	out     []float64
}

// answered is how many rows are answered at once.
const answered = 512

func (m *Formula) newRoom() *room {
	if r, ok := m.rooms.Get().(*room); ok {
		return r
	}
	r := &room{x: make([][]float64, len(m.inputs)), out: make([]float64, answered)}
	for j := range r.x {
		r.x[j] = make([]float64, answered)
	}
	return r
}

// Predict answers for the table's rows. Where a formula has no value, because it
// divides by zero or overflows, the answer is that of the rows it was learnt
// from: their mean and range, or the shares of their classes.
func (m *Formula) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, k := t.Rows(), len(m.prior)
	if out.Classes != k || len(out.P) < rows*k || k == 0 && min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("room for %d classes and %d answers, expected %d and %d", out.Classes, max(len(out.P), len(out.Mean)), k, rows*max(1, k))
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		r := m.newRoom()
		defer m.rooms.Put(r)
		for ; lo < hi; lo += answered {
			m.block(r, t, lo, min(lo+answered, hi), out)
		}
	})
}

// block answers some rows.
func (m *Formula) block(r *room, t *table.Table, lo, hi int, out *learn.Predictions) {
	n := hi - lo
	for j := range m.inputs {
		column := &t.Columns[m.inputs[j].Column]
		for i := range n {
			r.x[j][i] = m.inputs[j].value(column, lo+i)
		}
	}
	for a := range m.answers {
		r.machine.Eval(m.answers[a].Tree, r.x, r.out[:n])
		for i, v := range r.out[:n] {
			if m.prior == nil {
				out.Mean[lo+i], out.Low[lo+i], out.High[lo+i] = m.number(v)
			} else {
				m.odds(a, v, out.Row(lo+i))
			}
		}
	}
	if m.prior != nil && len(m.answers) > 1 {
		for i := range n {
			normalise(out.Row(lo + i))
		}
	}
}

// number is the answer to a formula's value.
func (m *Formula) number(v float64) (mean, low, high float64) {
	low, high = v-m.answers[0].Margin, v+m.answers[0].Margin
	if void(v) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return m.mean, m.low, m.high
	}
	return v, low, high
}

// void reports whether a formula's value is none, or so far that the difference of
// two such overflows.
func void(v float64) bool { return math.IsNaN(v) || math.Abs(v) > math.MaxFloat64/4 }

// odds writes the probability of the class that a formula speaks for, and of
// the other one of two.
func (m *Formula) odds(a int, v float64, p []float64) {
	class := a
	if len(m.answers) == 1 {
		class = len(p) - 1
	}
	f := &m.answers[a]
	z := f.Shift + f.Slope*v
	if p[class] = 1 / (1 + math.Exp(-z)); math.IsNaN(z) || void(v) {
		p[class] = m.prior[class]
	}
	if p[class] = min(1-1e-9, max(1e-9, p[class])); len(p) == 2 {
		p[1-class] = 1 - p[class]
	} else if len(p) == 1 {
		p[0] = 1
	}
}

func normalise(p []float64) {
	total := sum(p)
	for c := range p {
		p[c] /= total
	}
}

// Undefined counts the rows for which a formula has no value.
func (m *Formula) Undefined(t *table.Table) int {
	r := m.newRoom()
	defer m.rooms.Put(r)
	count := 0
	for lo := 0; lo < t.Rows(); lo += answered {
		n := min(answered, t.Rows()-lo)
		for j := range m.inputs {
			for i := range n {
				r.x[j][i] = m.inputs[j].value(&t.Columns[m.inputs[j].Column], lo+i)
			}
		}
		none := make([]bool, n)
		for a := range m.answers {
			r.machine.Eval(m.answers[a].Tree, r.x, r.out[:n])
			for i, v := range r.out[:n] {
				none[i] = none[i] || void(v)
			}
		}
		for _, is := range none {
			if is {
				count++
			}
		}
	}
	return count
}

// at answers for the values of the variables: a number, or the logarithms of
// probabilities.
func (m *Formula) at(r *room, x []float64) []float64 {
	for j := range x {
		r.x[j][0] = x[j]
	}
	if m.prior == nil {
		r.machine.Eval(m.answers[0].Tree, r.x, r.out[:1])
		mean, _, _ := m.number(r.out[0])
		return []float64{mean}
	}
	p := make([]float64, len(m.prior))
	for a := range m.answers {
		r.machine.Eval(m.answers[a].Tree, r.x, r.out[:1])
		m.odds(a, r.out[0], p)
	}
	if len(m.answers) > 1 {
		normalise(p)
	}
	for c := range p {
		p[c] = math.Log(p[c])
	}
	return p
}

// used reports which columns the formulas speak of.
func (m *Formula) used() []int {
	var columns []int
	for i := range m.answers {
		for _, n := range m.answers[i].Tree {
			if n.Op == formula.Var {
				if c := m.inputs[n.Index].Column; !slices.Contains(columns, c) {
					columns = append(columns, c)
				}
			}
		}
	}
	slices.Sort(columns)
	return columns
}

// Explain takes the columns that the formula speaks of from their means to the
// row's cells, one after the other, and says by how much each step moves the
// answer.
func (m *Formula) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	if m.prior == nil && m.Undefined(t.Slice(row, row+1)) > 0 {
		return &learn.Explanation{Prior: []float64{m.mean}, Additive: true}, nil // no cell has a part in it
	}
	r := m.newRoom()
	defer m.rooms.Put(r)
	x := make([]float64, len(m.inputs))
	for j := range m.inputs {
		x[j] = m.inputs[j].Mean
	}
	now := m.at(r, x)
	e := &learn.Explanation{Prior: now, Additive: true}
	total := slices.Clone(now)
	var unknown []int
	for _, column := range m.used() {
		a := &m.schema.Attributes[column]
		if t.Text(row, column) == "" {
			unknown = append(unknown, column)
			continue
		}
		for j := range m.inputs {
			if m.inputs[j].Column == column {
				x[j] = m.inputs[j].value(&t.Columns[column], row)
			}
		}
		test := rule.Test{Op: rule.Eq, Column: a.Name, Value: t.Text(row, column)}
		if c := &t.Columns[column]; c.Floats != nil && math.IsInf(c.Floats[row], 0) || c.Codes != nil && c.Codes[row] < 0 {
			test = rule.Test{Op: rule.IsKnown, Column: a.Name}
		}
		next := m.at(r, x)
		for c := range next {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: test.String(), Class: c, Weight: next[c] - now[c]})
			total[c] += next[c] - now[c]
		}
		now = next
	}
	for c := range now { // steps that take digits from the sum do not add up
		if !(math.Abs(total[c]-now[c]) <= 1e-13*math.Abs(now[c])) {
			e.Additive = false
		}
	}
	for _, column := range unknown {
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.schema.Attributes[column].Name, CouldMove: m.couldMove(r, x, column, now)})
	}
	return e, nil
}

// couldMove tries the ends and the middle of a column's range.
func (m *Formula) couldMove(r *room, x []float64, column int, now []float64) float64 {
	moves := 0.0
	best := slices.Index(now, slices.Max(now))
	for j := range m.inputs {
		if in := &m.inputs[j]; in.Column == column {
			for _, v := range []float64{in.Low, in.High} {
				y := slices.Clone(x)
				y[j] = v
				there := m.at(r, y)
				d := math.Abs(there[best] - now[best])
				if m.prior != nil {
					d = math.Abs(math.Exp(there[best]) - math.Exp(now[best]))
				}
				moves = max(moves, min(d, math.MaxFloat64/2))
			}
		}
	}
	return moves
}

// Formulas returns the formulas as they are written, each with its front.
func (m *Formula) Formulas() []formula.Front {
	names, ranges := inputNames(m.inputs, m.schema), rangesOf(m.inputs)
	var all []formula.Front
	for i := range m.answers {
		a := &m.answers[i]
		f := formula.Front{Formula: a.Tree.Text(names, -1), Text: a.Tree.Text(names, 6), Error: a.Error, Length: len(a.Tree)}
		if r, ok := a.Tree.Range(ranges); ok {
			f.Range = &r
		}
		if m.prior != nil {
			f.Class = m.schema.Attributes[m.target].Values[i+len(m.prior)-len(m.answers)]
		}
		for _, p := range a.Front {
			f.Others = append(f.Others, formula.Point{Formula: p.Tree.Text(names, -1), Text: p.Tree.Text(names, 6), Error: p.Error, Length: len(p.Tree)})
		}
		all = append(all, f)
	}
	return all
}

// Remarks says what formulas are not made of.
func (m *Formula) Remarks() ([]fmt.Stringer, error) {
	if m.asides == (asides{}) {
		return nil, nil
	}
	return []fmt.Stringer{m.asides}, nil
}

// Grown returns the generations that brought a better formula.
func (m *Formula) Grown() ([]fmt.Stringer, string) {
	var grown []fmt.Stringer
	for i := range m.answers {
		for _, s := range m.answers[i].History {
			grown = append(grown, s)
		}
	}
	return grown, m.answers[0].Stopped
}

// GrowthChart draws the front: error against length.
func (m *Formula) GrowthChart() *draw.Chart {
	chart := &draw.Chart{Title: "formulas: error against length", XLabel: "nodes", YLabel: "error on rows held out"}
	for i, f := range m.Formulas() {
		s := draw.Series{Name: "front", Kind: draw.Steps}
		if f.Class != "" {
			s.Name = f.Class
		}
		for _, p := range f.Others {
			s.X, s.Y = append(s.X, float64(p.Length)), append(s.Y, p.Error)
		}
		chosen := draw.Series{Name: "chosen", Kind: draw.Points, X: []float64{float64(f.Length)}, Y: []float64{f.Error}}
		if i > 0 {
			chosen.Name = "chosen, " + s.Name
		}
		chart.Series = append(chart.Series, s, chosen)
	}
	return chart
}

// Graph draws the trees of the formulas.
func (m *Formula) Graph() (*draw.Graph, error) {
	names := inputNames(m.inputs, m.schema)
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	for i := range m.answers {
		t := m.answers[i].Tree
		var stack []string
		id := func(k int) string { return strconv.Itoa(i) + " " + strconv.Itoa(k) }
		for k, n := range t {
			node := draw.Node{ID: id(k), Leaf: n.Op.Arity() == 0}
			switch n.Op {
			case formula.Const:
				node.Lines = []string{strconv.FormatFloat(n.Value, 'g', 6, 64)}
			case formula.Var:
				node.Lines = []string{names[n.Index]}
			case formula.Neg:
				node.Lines = []string{"−"}
			default:
				node.Lines = []string{n.Op.String()}
			}
			g.Nodes = append(g.Nodes, node)
			arity := n.Op.Arity()
			for _, from := range stack[len(stack)-arity:] {
				g.Edges = append(g.Edges, draw.Edge{From: id(k), To: from})
			}
			stack = append(stack[:len(stack)-arity], id(k))
		}
		if len(m.answers) > 1 {
			class := m.schema.Attributes[m.target].Values[i]
			root := draw.Node{ID: "class " + strconv.Itoa(i), Lines: []string{class}, Class: class}
			g.Nodes = append(g.Nodes, root)
			g.Edges = append(g.Edges, draw.Edge{From: root.ID, To: id(len(t) - 1)})
		}
	}
	return g, nil
}

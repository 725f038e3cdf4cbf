package bayes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/exact"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model is a naive Bayes classifier.
type Model struct {
	settings settings
	blocks   []*block      // in the order in which the sources came
	schema   *table.Schema // the union of theirs
	target   int
	written  *bundle.Shelf[*block] // the saved form of blocks, for the models that come from this one too

	base        *tally   // what blocks add up to that were added up before; nil if none were
	plus, minus []*block // those that it lacks, and that it has too much
	sum         atomic.Pointer[tally]

	once sync.Once // for the estimates, which the first to ask for them makes
	estimates
}

// estimates are what is computed from the blocks. A model
// that goes on learning row by row may never be asked for them.
type estimates struct {
	total    *block    // the sum of the blocks, in the union of their schemas
	logPrior []float64 // of each class; -Inf for a class without rows
	columns  []estimate
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Ruler     = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
)

// estimate is P(cell | class) of one column, ready to be looked up. The
// target's is empty, and so is that of a numeric column that never varies.
type estimate struct {
	// weights of evidence, ln P(v|c)/P(v), of value v and class c at
	// (v+2)·classes + c: the first two rows, all 0, are those of
	// table.Unseen and table.Missing.
	weights  []float64
	marginal []float64 // ln P(v)
	gapped   bool      // cells are missing, and that counts
	here     []float64 // then: ln P(the cell is known|c)
	gone     []float64 // of numbers: weights of evidence of a missing cell

	// Of a text weights are those of words, for each time that one counts;
	// absent is what a known text says besides, and chosen which words do.
	chosen []bool
	words  words
	absent []float64

	normals   []normal // of each class
	scale     float64  // of cells, into the unit of the normals
	low, high float64  // cells beyond are taken for these, or squares could overflow
}

// normal is a normal density, ln = peak − ½((x − mean)·precision)².
type normal struct {
	mean, precision, peak float64
	deviation             float64
}

const (
	// zero is the logarithm of an estimate that is 0: its exponential is 0,
	// but sums of it can still be compared.
	zero = -1000
	// leastVariance bounds the variance of a class from below, relative to
	// that of the column: a class of equal numbers is not infinitely sure.
	leastVariance = 1e-9
	// farthest is the number of deviations from which cells lie equally far.
	farthest = 1e140
)

// newModel returns the model of the blocks. Their schemas' union is computed
// unless the caller knows it.
func newModel(s settings, blocks []*block, union *table.Schema, written *bundle.Shelf[*block]) (*Model, error) {
	if err := load(blocks...); err != nil {
		return nil, err
	}
	m := &Model{settings: s, blocks: blocks, schema: union, written: written}
	if len(blocks) == 1 {
		m.schema = blocks[0].schema
	}
	if m.schema == nil {
		schemas := make([]*table.Schema, 0, len(blocks))
		known := map[*table.Schema]bool{}
		for _, b := range blocks {
			if !known[b.schema] {
				known[b.schema] = true
				schemas = append(schemas, b.schema)
			}
		}
		var err error
		if m.schema, err = table.Union(schemas...); err != nil {
			return nil, err
		}
	}
	m.target = m.schema.IndexNear(blocks[0].className(), blocks[0].target)
	rows := 0.0
	for _, b := range blocks {
		rows += sum(b.classes)
	}
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	return m, checkRoom(m.schema, m.target)
}

// checkRows refuses rows that are none, or weigh too much.
func checkRows(rows float64) error {
	if !(rows > 0) {
		return fmt.Errorf("no row with a class is left to learn from")
	} else if rows > moment.MaxWeight {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", rows, float64(moment.MaxWeight))
	}
	return nil
}

// with returns the model with a source's block replaced, or added if its place
// is after the others. If the union of the schemas is known, and what the
// others add up to, nobody looks at the others.
func (m *Model) with(at int, own *block, union *table.Schema) (*Model, error) {
	blocks := make([]*block, max(len(m.blocks), at+1))
	copy(blocks, m.blocks)
	blocks[at] = own
	base, plus, minus := m.base, m.plus, m.minus
	if t := m.sum.Load(); t != nil {
		base, plus, minus = t, nil, nil
	}
	if base == nil {
		return newModel(m.settings, blocks, union, m.written)
	}
	if at < len(m.blocks) {
		if i := slices.Index(plus, m.blocks[at]); i >= 0 {
			plus = slices.Delete(slices.Clone(plus), i, i+1)
		} else {
			minus = append(slices.Clip(minus), m.blocks[at])
		}
	}
	next := &Model{settings: m.settings, blocks: blocks, schema: union, target: m.target, written: m.written, base: base, plus: append(slices.Clip(plus), own), minus: minus}
	if union == nil {
		of, err := newModel(m.settings, blocks, nil, m.written)
		if err != nil {
			return nil, err
		}
		next.schema, next.target = of.schema, of.target
	}
	if err := checkRows(sum(next.weights())); err != nil {
		return nil, err
	}
	return next, nil
}

// tally returns what the blocks add up to.
func (m *Model) tally() *tally {
	if t := m.sum.Load(); t != nil {
		return t
	}
	var t *tally
	var r reader
	if m.base != nil {
		t = m.base.in(m.schema, m.target)
		for _, b := range m.plus {
			t.add(r.open(b), 1)
		}
		for _, b := range m.minus {
			t.add(r.open(b), -1)
		}
	} else {
		t = newTally(m.schema, m.target)
		for _, b := range m.blocks {
			t.add(r.open(b), 1)
		}
	}
	m.sum.Store(t)
	return t
}

// estimate fills in the probabilities unless they are there. Every method
// that looks at them calls it first.
func (m *Model) estimate() {
	m.once.Do(func() {
		m.add()
		rows, k := sum(m.total.classes), float64(len(m.total.classes))
		m.logPrior = make([]float64, len(m.total.classes))
		for c, n := range m.total.classes {
			m.logPrior[c] = logRatio(n+m.settings.PriorM/k, rows+m.settings.PriorM)
		}
		m.columns = make([]estimate, len(m.total.columns))
		for j := range m.total.columns {
			switch c := &m.total.columns[j]; {
			case c.text != nil:
				m.columns[j] = m.estimateWords(j)
			case c.counts != nil:
				m.columns[j] = m.estimateNominal(j, c.counts)
			case c.moments != nil:
				m.columns[j] = m.estimateNumeric(j, c)
			}
		}
	})
}

// add adds up the blocks, so that the sum does not depend on the order in which
// the sources came: without rounding, or where there are texts in the order of
// their identifiers.
func (m *Model) add() {
	switch {
	case len(m.blocks) == 1:
		m.total = m.blocks[0].open()
	case hasText(m.schema):
		m.total = newBlock(learn.Source{}, m.schema, m.target)
		var r reader
		for _, b := range slices.SortedFunc(slices.Values(m.blocks), func(a, b *block) int { return cmp.Compare(a.source.ID, b.source.ID) }) {
			m.total.absorb(r.open(b))
		}
	default:
		m.total = m.tally().block()
	}
}

// estimateNominal turns counts into m-estimates. A class of which no cell of
// the column is known gets the uniform estimate.
func (m *Model) estimateNominal(j int, counts []float64) estimate {
	classes := len(m.logPrior)
	values := len(counts) / classes
	e := estimate{weights: make([]float64, (values+2)*classes), marginal: make([]float64, values)}
	known := m.known(j)
	here, gone := m.gaps(known)
	if gone != nil && values > 0 {
		e.gapped, e.here = true, here
		m.relate(gone)
		copy(e.value(-1, classes), gone)
	}
	logKnown := make([]float64, classes) // of the estimates' denominators
	for c, n := range known {
		logKnown[c] = math.Log(n + m.settings.M)
	}
	p := 1 / float64(values)
	for v := range values {
		weights := e.weights[(v+2)*classes:][:classes]
		for c := range weights {
			n := counts[v*classes+c]
			switch {
			case known[c] == 0:
				weights[c] = math.Log(p)
			case n == 0 && m.settings.M == 0:
				weights[c] = zero
			default:
				weights[c] = math.Log(n+m.settings.M*p) - logKnown[c]
			}
			if e.gapped {
				weights[c] += here[c]
			}
		}
		e.marginal[v] = m.relate(weights)
	}
	return e
}

// relate sets logarithms of P(cell|class) against that of P(cell), which it returns.
func (m *Model) relate(logs []float64) float64 {
	all := mixture(m.logPrior, logs)
	for c := range logs {
		logs[c] -= all
	}
	return all
}

// mixture returns ln Σ P(c)·P(cell|c) from the logarithms.
func mixture(logPrior, logs []float64) float64 {
	joint := make([]float64, len(logs))
	for c, l := range logs {
		joint[c] = logPrior[c] + l
	}
	return logsum.Of(joint)
}

// estimateNumeric turns moments into normal densities. The variance is an
// m-estimate too: m rows' worth of the variance of the whole column go into
// that of each class. A class of which no cell of the column is known gets
// the density of the whole column.
func (m *Model) estimateNumeric(j int, c *column) estimate {
	var all moment.Moment
	for _, of := range c.moments {
		all = moment.Join(all, of)
	}
	variance := all.Variance()
	if variance == 0 {
		return estimate{}
	}
	deviation := math.Sqrt(variance)
	e := estimate{
		normals: make([]normal, len(c.moments)),
		scale:   c.level.Scale(),
		low:     all.Mean - farthest*deviation,
		high:    all.Mean + farthest*deviation,
	}
	for i, of := range c.moments {
		if of.N == 0 {
			of = all
		}
		d := math.Sqrt(max((of.M2+m.settings.M*variance)/(of.N+m.settings.M), leastVariance*variance))
		e.normals[i] = normal{
			mean:      of.Mean,
			deviation: d,
			precision: 1 / d,
			peak:      -math.Log(d) - 0.5*math.Log(2*math.Pi),
		}
	}
	if here, gone := m.gaps(m.known(j)); gone != nil {
		e.gapped, e.here, e.gone = true, here, gone
		m.relate(gone)
		for i := range e.normals {
			e.normals[i].peak += here[i]
		}
	}
	return e
}

// Learner returns "bayes".
func (m *Model) Learner() string { return Name }

// Schema returns the attributes that the model knows.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target returns the index of the class.
func (m *Model) Target() int { return m.target }

// class returns the attribute to predict.
func (m *Model) class() *table.Attribute { return &m.schema.Attributes[m.target] }

// active reports whether a class can be predicted at all.
func (m *Model) active(class int) bool { return !math.IsInf(m.logPrior[class], -1) }

// Predict fills in the class probabilities of the table's rows.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	m.estimate()
	if len(out.P) < t.Rows()*len(m.logPrior) {
		return fmt.Errorf("room for %d probabilities, expected %d rows of %d", len(out.P), t.Rows(), len(m.logPrior))
	}
	if t.Rows() <= stripe {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.predict(t, out.P, 0, t.Rows())
		return nil
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) { m.predict(t, out.P, lo, hi) })
}

// stripe is the number of rows that are predicted at a time: their
// probabilities stay in the nearest cache while the columns pass by.
const stripe = 256

// predict adds up the logarithms in the caller's room, column by column, and
// turns them into probabilities at the end.
func (m *Model) predict(t *table.Table, p []float64, lo, hi int) {
	classes := len(m.logPrior)
	for ; lo < hi; lo += stripe {
		end := min(lo+stripe, hi)
		logs := p[lo*classes : end*classes]
		for at := 0; at < len(logs); at += classes {
			copy(logs[at:at+classes], m.logPrior)
		}
		for j := range m.columns {
			switch e := &m.columns[j]; {
			case e.chosen != nil:
				e.addWords(logs, t.Columns[j].Words, lo, end, classes)
			case e.weights != nil:
				e.addNominal(logs, t.Columns[j].Codes[lo:end], classes)
			case e.normals != nil:
				e.addNumeric(logs, t.Columns[j].Floats[lo:end])
			}
		}
		for at := 0; at < len(logs); at += classes {
			logsum.Normalise(logs[at : at+classes])
		}
	}
}

// addNominal adds the weights of nominal cells to the logarithms of rows.
func (e *estimate) addNominal(logs []float64, codes []int32, classes int) {
	if classes == 2 {
		for i, code := range codes {
			w := e.weights[2*(int(code)+2):][:2]
			l := logs[2*i:][:2]
			l[0] += w[0]
			l[1] += w[1]
		}
		return
	}
	for i, code := range codes {
		w := e.weights[(int(code)+2)*classes:][:classes]
		l := logs[i*classes:][:len(w)]
		for c := range w {
			l[c] += w[c]
		}
	}
}

// addNumeric adds the log densities of numeric cells.
func (e *estimate) addNumeric(logs []float64, cells []float64) {
	normals := e.normals
	for i, x := range cells {
		l := logs[i*len(normals):][:len(normals)]
		if x-x != 0 { // missing or infinite
			if table.IsMissing(x) {
				for c, w := range e.gone {
					l[c] += w
				}
			}
			continue
		}
		x = e.unit(x)
		for c := range normals {
			l[c] += normals[c].log(x)
		}
	}
}

// unit returns a finite cell in the unit of the normals.
func (e *estimate) unit(x float64) float64 {
	x *= e.scale
	if x < e.low {
		return e.low
	}
	if x > e.high {
		return e.high
	}
	return x
}

// log returns the logarithm of the density.
func (n *normal) log(x float64) float64 {
	z := (x - n.mean) * n.precision
	return n.peak - float64(0.5*z*z)
}

// Size counts the rows, the rules, and a unit for each class with a normal. It
// asks for no estimates: a model that is saved after each update needs no others.
func (m *Model) Size() learn.Size {
	total := m.weights()
	size, classes := learn.Size{Rows: sum(total)}, 0
	for _, n := range total {
		if n > 0 || m.settings.PriorM > 0 {
			classes++
		}
	}
	if hasText(m.schema) {
		m.estimate()
		return learn.Size{Rows: size.Rows, Rules: m.ruleCount(classes)}
	}
	size.Rules = classes
	if m.settings.Missing == countMissing {
		m.estimate()
		for j := range m.columns {
			if m.columns[j].gapped {
				size.Rules += classes
			}
		}
	}
	for j := range m.schema.Attributes {
		switch a := &m.schema.Attributes[j]; {
		case j == m.target:
		case a.Kind == table.Nominal:
			size.Rules += len(a.Values) * classes
		default:
			return learn.Size{Rows: size.Rows, Rules: classes, Units: classes}
		}
	}
	return size
}

// weights returns the classes' weights, as tally adds them up.
func (m *Model) weights() []float64 {
	all := make([]exact.Sum, len(m.class().Values))
	var of *table.Attribute // whose codes are known
	var codes []int32
	add := func(schema *table.Schema, target int, class int, w float64) {
		if a := &schema.Attributes[target]; a != of {
			of, codes = a, table.AppendRecoding(codes[:0], a, m.class())
		}
		all[codes[class]] = all[codes[class]].Add(w)
	}
	plus := m.blocks
	if t := m.base; t != nil {
		for c, s := range t.classes {
			for _, w := range s {
				add(t.schema, t.target, c, w)
			}
		}
		for _, b := range m.minus {
			for c, w := range b.classes {
				add(b.schema, b.target, c, -w)
			}
		}
		plus = m.plus
	}
	for _, b := range plus {
		for c, w := range b.classes {
			add(b.schema, b.target, c, w)
		}
	}
	total := make([]float64, len(all))
	for c := range all {
		total[c] = all[c].Float64()
	}
	return total
}

// numeric reports whether the model has numeric columns.
func (m *Model) numeric() bool {
	return slices.ContainsFunc(m.total.columns, func(c column) bool { return c.moments != nil })
}

// Adds fills in what the cells of a column add to the logarithm of each class,
// row by row; of column −1, where the sums start.
func (m *Model) Adds(t *table.Table, col int, out []float64) {
	m.estimate()
	classes := len(m.logPrior)
	if col < 0 {
		for r := range t.Rows() {
			copy(out[r*classes:], m.logPrior)
		}
		return
	}
	switch e := &m.columns[col]; {
	case e.chosen != nil:
		e.addWords(out, t.Columns[col].Words, 0, t.Rows(), classes)
	case e.weights != nil:
		e.addNominal(out, t.Columns[col].Codes, classes)
	case e.normals != nil:
		e.addNumeric(out, t.Columns[col].Floats)
	}
}

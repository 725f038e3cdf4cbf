package rulenet

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Living is a network that learns rows as they come. It is immutable.
type Living struct {
	s      *living   // which may owe slopes of its last rows
	answer []float64 // weights that it answers by, the bias first

	summing sync.Once
	summed  *living // the same state, owing none

	writing sync.Once
	network *Model // the same, to be read
	failed  error
}

var (
	_ learn.Updater   = (*Living)(nil)
	_ learn.Ruler     = (*Living)(nil)
	_ learn.Explainer = (*Living)(nil)
	_ learn.Merger    = (*Living)(nil)
	_ learn.Reweigher = (*Living)(nil)
	_ learn.Drawer    = (*Living)(nil)
	_ learn.Keeper    = (*Living)(nil)
)

// state returns the state with the slopes of all rows added up, which is done when it is
// asked for: whoever only answers goes without.
func (m *Living) state() *living {
	m.summing.Do(func() {
		if m.summed = m.s; m.s.owing() > 0 {
			u := &livingUpdate{living: m.s.copy(), drew: true}
			u.drawn = slices.Clone(u.drawn)
			u.pay(false)
			m.summed = u.living
		}
	})
	return m.summed
}

// Learner returns the name of the learner.
func (m *Living) Learner() string { return Name }

// Schema returns the attributes; values that came later stand behind the others.
func (m *Living) Schema() *table.Schema { return m.s.schema }

// Target returns the index of the predicted attribute.
func (m *Living) Target() int { return m.s.target }

// Size counts the rows that ever came, rules as they are printed, and
// conjunctions as units.
func (m *Living) Size() learn.Size {
	net := m.unwritten()
	rules := 0
	for _, n := range net.counts {
		if n > 0 {
			rules++ // the prior
		}
	}
	if net.together() {
		rules = 1
	}
	for i := range net.units {
		rules += net.linesOf(&net.units[i])
	}
	return learn.Size{Rows: m.s.ever, Rules: rules, Units: len(net.units)}
}

// atoms returns a conjunction as tests on cells, by the codes of a schema.
func (of *coding) atoms(c conjunction, schema *table.Schema) []atom {
	var tests []atom
	for i := 0; i < len(c); i++ {
		t := c[i]
		a := atom{col: t.col, orMissing: t.form&orMissing != 0}
		switch {
		case t.hi < t.lo && t.form&negated == 0:
			a.kind, a.orMissing = isMissing, true
		case of.ordered(int(t.col)):
			a.low, _ = of.cuts[t.col].Interval(t.lo)
			_, a.high = of.cuts[t.col].Interval(t.hi)
			if math.IsInf(a.low, -1) {
				a.low = math.NaN()
			}
		default:
			code := func(v int32) int32 {
				return schema.Attributes[t.col].Code(of.schema.Attributes[t.col].Values[v])
			}
			a.kind = isOne
			if t.form&negated != 0 {
				a.kind = isNone
			}
			if t.hi >= t.lo {
				a.values = append(a.values, code(t.lo))
			}
			for a.kind == isNone && i+1 < len(c) && c[i+1].col == t.col {
				i++
				a.values = append(a.values, code(c[i].lo))
			}
			slices.Sort(a.values)
		}
		tests = append(tests, a)
	}
	return tests
}

// conjunction returns tests on cells as tests on codes.
func (c *coding) conjunction(tests []atom) conjunction {
	var all conjunction
	for _, a := range tests {
		t := test{col: a.col}
		if a.orMissing {
			t.form = orMissing
		}
		switch a.kind {
		case isMissing:
			t.lo, t.hi = 0, -1
		case between:
			t.lo, t.hi = 0, int32(c.levels(int(a.col))-1)
			if !math.IsNaN(a.low) {
				t.lo = c.cuts[a.col].Code(a.low) + 1
			}
			if !math.IsInf(a.high, 1) {
				t.hi = c.cuts[a.col].Code(a.high)
			}
		case isOne:
			t.lo, t.hi = a.values[0], a.values[0]
		case isNone:
			t.form |= negated
			if len(a.values) == 0 {
				t.lo, t.hi = 0, -1
			}
			for _, v := range a.values {
				t.lo, t.hi = v, v
				all = append(all, t)
			}
			if len(a.values) > 0 {
				continue
			}
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(x, y test) int { return int(x.col - y.col) })
	return all
}

// cutsOf returns the cuts that tests make.
func (s *living) cutsOf(rules [][]atom) []*encode.Cuts {
	cuts := noCuts(s.schema, s.target)
	for _, tests := range rules {
		for _, a := range tests {
			if a.kind != between {
				continue
			}
			for _, x := range []float64{a.low, a.high} {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					cuts[a.col].At = append(cuts[a.col].At, x)
				}
			}
		}
	}
	for _, c := range cuts {
		if c != nil {
			slices.Sort(c.At)
			c.At = slices.Compact(c.At)
		}
	}
	return cuts
}

// written returns the network to be read, which is made once.
func (m *Living) written() (*Model, error) {
	m.writing.Do(func() { m.network, m.failed = m.write() })
	return m.network, m.failed
}

// write makes the network to be read.
func (m *Living) write() (*Model, error) {
	net := m.unwritten()
	return net, net.compile(context.Background())
}

// unwritten is the network to be read, without its rules in words.
func (m *Living) unwritten() *Model {
	s := m.state()
	set := s.settings
	net := &Model{taught: true, settings: set, seed: s.seed, coding: coding{s.schema, s.target, s.cutsOf(s.rules)}, counts: s.counts, steps: s.steps, stopped: s.stopped}
	k, classes := s.k, s.classes()
	net.bias = slices.Repeat([]float64{math.Inf(-1)}, classes)
	wide := make([]float64, classes)
	spread := func(w []float64, bias bool) {
		clear(wide)
		switch {
		case k > 1:
			copy(wide, w)
		case classes < 2:
		case w[0] > 0 || bias:
			wide[1] = w[0]
		default:
			wide[0] = -w[0]
		}
	}
	spread(m.answer[:k], true)
	norm := math.Inf(-1)
	for c, n := range s.counts {
		if n > 0 {
			norm = logAdd(norm, wide[c])
		}
	}
	for c, n := range s.counts {
		if n > 0 {
			net.bias[c] = wide[c] - norm
		}
	}
	for r, tests := range s.rules {
		spread(m.answer[(r+1)*k:(r+2)*k], false)
		u := unit{rule: net.coding.conjunction(tests), class: everyClass, weights: slices.Clone(wide), counts: make([]float64, classes), round: s.round[r], removed: s.removed[r]}
		some := false
		for c, n := range s.counts {
			u.counts[c] = min(s.covers[r*classes+c], n)
			if n == 0 {
				u.weights[c] = 0
			}
			some = some || u.weights[c] != 0
		}
		if len(u.rule) > 0 && some && sum(u.counts) > 0 {
			net.units = append(net.units, u)
		}
	}
	return net
}

// logAdd returns ln(eˣ + eʸ).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}

const predictRows = sieveRows

// Predict answers for the table's rows.
func (m *Living) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	c := coding{schema: m.s.schema, target: m.s.target}
	if err := c.fits(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if out.Classes != m.s.classes() {
		return fmt.Errorf("room for probabilities of %d classes, expected %d", out.Classes, m.s.classes())
	}
	if len(out.P) < t.Rows()*out.Classes {
		return fmt.Errorf("room for %d probabilities, expected %d", len(out.P), t.Rows()*out.Classes)
	}
	switch {
	case t.Rows() == 1:
		m.replyOne(t, out.Row(0))
		return nil
	case t.Rows() <= predictRows:
		m.reply(t, 0, t.Rows(), out)
		return nil
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) { m.reply(t, lo, hi, out) })
}

// replying is room for answers, which rows that come one by one use in turn.
type replying struct {
	cells  grid
	rows   []int32
	scores []float64
	sets   sifting
	fired  []uint64
}

var replies = sync.Pool{New: func() any { return &replying{} }}

// reply answers for some of a table's rows.
func (m *Living) reply(t *table.Table, lo, hi int, out *learn.Predictions) {
	room := replies.Get().(*replying)
	defer replies.Put(room)
	room.cells.read(t)
	defer room.cells.clear()
	for k := m.s.k; lo < hi; lo += predictRows {
		room.rows = room.rows[:0]
		for r := lo; r < min(lo+predictRows, hi); r++ {
			room.rows = append(room.rows, int32(r))
		}
		room.scores = zeroed(room.scores, len(room.rows)*k)
		m.s.score(&room.cells, room.rows, m.answer, &room.sets, room.scores)
		for i := range room.rows {
			m.s.posterior(room.scores[i*k:(i+1)*k], out.Row(lo+i))
		}
	}
}

// replyOne answers for a table's only row.
func (m *Living) replyOne(t *table.Table, p []float64) {
	room := replies.Get().(*replying)
	defer replies.Put(room)
	room.cells.read(t)
	defer room.cells.clear()
	s, k := m.s, m.s.k
	room.fired = s.sieve().fired(&room.cells, 0, room.fired)
	room.scores = append(room.scores[:0], m.answer[:k]...)
	for word, x := range room.fired {
		for ; x != 0; x &= x - 1 {
			r := 64*word + bits.TrailingZeros64(x)
			for c, w := range m.answer[(r+1)*k : (r+2)*k] {
				room.scores[c] += w
			}
		}
	}
	s.posterior(room.scores, p)
}

// score fills in what weights say of rows.
func (s *living) score(g *grid, rows []int32, w []float64, room *sifting, scores []float64) {
	k, sieve := s.k, s.sieve()
	for lo := 0; lo < len(rows); lo += sieveRows {
		rows := rows[lo:min(lo+sieveRows, len(rows))]
		own := scores[lo*k : (lo+len(rows))*k]
		for i := range rows {
			copy(own[i*k:(i+1)*k], w[:k])
		}
		sieve.sift(g, rows, room)
		for r := range s.rules {
			add := w[(r+1)*k : (r+2)*k]
			switch {
			case room.words > 1 && some(add):
				addTo(own, add, sieve.cover(r, room))
			case room.words == 1:
				if set := [1]uint64{sieve.coverWord(r, room)}; set[0] != 0 {
					addTo(own, add, set[:])
				}
			}
		}
	}
}

// addTo adds weights to the scores of the rows of a bitmap.
func addTo(scores, w []float64, set []uint64) {
	if len(w) == 1 {
		for word, x := range set {
			for own := scores[64*word:]; x != 0; x &= x - 1 {
				own[bits.TrailingZeros64(x)] += w[0]
			}
		}
		return
	}
	k := len(w)
	for word, x := range set {
		for ; x != 0; x &= x - 1 {
			at := 64*word + bits.TrailingZeros64(x)
			to := scores[at*k : at*k+k]
			for c, x := range w {
				to[c] += x
			}
		}
	}
}

// addRows adds the values of the rows of a bitmap up.
func addRows(sums, of []float64, set []uint64) {
	k := len(sums)
	for word, x := range set {
		for ; x != 0; x &= x - 1 {
			at := 64*word + bits.TrailingZeros64(x)
			if k == 1 {
				sums[0] += of[at]
				continue
			}
			for c, v := range of[at*k : at*k+k] {
				sums[c] += v
			}
		}
	}
}

// posterior turns the scores of a row into probabilities of all classes; those
// without rows have none.
func (s *living) posterior(scores, p []float64) {
	switch {
	case len(p) == 1:
		p[0] = 1
		return
	case s.k == 1 && s.counts[0] > 0 && s.counts[1] > 0:
		e := math.Exp(-math.Abs(scores[0]))
		p[1] = 1 / (1 + e)
		if scores[0] < 0 {
			p[1] = e / (1 + e)
		}
		p[0] = 1 - p[1]
		if scores[0] > 0 {
			p[0] = e / (1 + e)
		}
		return
	case s.k == 1:
		p[0], p[1] = 0, 1
		if s.counts[0] > 0 {
			p[0], p[1] = 1, 0
		}
		return
	}
	top, norm := math.Inf(-1), 0.0
	for c, n := range s.counts {
		if n > 0 {
			top = max(top, scores[c])
		}
	}
	for c, n := range s.counts {
		if p[c] = 0; n > 0 {
			p[c] = math.Exp(scores[c] - top)
			norm += p[c]
		}
	}
	for c := range p {
		p[c] /= norm
	}
}

// Rules returns the network as a weighed base.
func (m *Living) Rules() (*rule.Base, error) {
	net, err := m.written()
	if err != nil {
		return nil, err
	}
	return net.Rules()
}

// Explain returns the prior of each class and the weight of each rule that fires.
func (m *Living) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	net, err := m.written()
	if err != nil {
		return nil, err
	}
	return net.Explain(t, row)
}

// Graph returns the network as a picture.
func (m *Living) Graph() (*draw.Graph, error) {
	net, err := m.written()
	if err != nil {
		return nil, err
	}
	return net.Graph()
}

// Lit returns the nodes of the picture that a row goes through.
func (m *Living) Lit(t *table.Table, row int) ([]string, error) {
	net, err := m.written()
	if err != nil {
		return nil, err
	}
	return net.Lit(t, row)
}

// GrowthChart shows how rows held out judged the sizes that were tried when rules
// were last learnt from all rows; nil if none were.
func (m *Living) GrowthChart() *draw.Chart {
	net, err := m.written()
	if err != nil {
		return nil
	}
	return net.GrowthChart()
}

// Alike are settings by which other rows are learnt to a network of the same size.
func (m *Living) Alike() map[string]string {
	return map[string]string{"teacher": "trees", "rules": strconv.Itoa(max(len(m.s.rules), 1))}
}

// Excerpt cuts the network to a budget, by the rows of the reservoir.
func (m *Living) Excerpt(ctx context.Context, b rule.Budget) (*rule.Excerpt, error) {
	with, err := m.withRows(ctx)
	if err != nil {
		return nil, err
	}
	return with.Excerpt(ctx, b)
}

// withRows is the network to be read, with the rows of the reservoir.
func (m *Living) withRows(ctx context.Context) (*Model, error) {
	rows, err := m.state().keptWith(ctx, nil)
	if err != nil {
		return nil, err
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	of := m
	if !table.SameCodes(t.Schema, m.s.schema) { // values came late, and stand behind the others
		of = m.recoded(t.Schema)
	}
	net, err := of.written()
	if err != nil {
		return nil, err
	}
	return &Model{taught: true, settings: net.settings, seed: net.seed, rows: rows, coding: net.coding, counts: net.counts, bias: net.bias, units: net.units, base: net.base, lines: net.lines, predictor: net.predictor, matchers: net.matchers}, nil
}

// recoded returns the network, to be read, by a schema of the same columns whose
// values are those of the network's in another order.
func (m *Living) recoded(schema *table.Schema) *Living {
	s, class := m.state().recoded(schema)
	return &Living{s: s, answer: scoresIn(m.answer, class)}
}

// recoded returns a copy whose rules and weights are by the codes of a schema that has
// its columns and values, and the place of each class there. Its rows stay as they are.
func (s *living) recoded(schema *table.Schema) (to *living, class []int32) {
	to = s.copy()
	to.schema, to.target, to.firing = schema, schema.Index(s.schema.Attributes[s.target].Name), nil
	to.blocks, to.saving = nil, nil
	place := make([][]int32, len(s.schema.Attributes)) // of the values of each column
	column := make([]int32, len(place))
	for col := range place {
		a := &s.schema.Attributes[col]
		column[col] = int32(schema.IndexNear(a.Name, col))
		place[col] = table.Recoding(a, &schema.Attributes[column[col]])
	}
	for r, tests := range to.rules {
		to.rules[r] = slices.Clone(tests)
		for i := range tests {
			t := &to.rules[r][i]
			t.values = slices.Clone(t.values)
			for v, code := range t.values {
				t.values[v] = place[t.col][code]
			}
			slices.Sort(t.values)
			t.col = column[t.col]
		}
	}
	class = place[s.target]
	to.counts, to.covers = permuted(s.counts, class), permuted(s.covers, class)
	to.w, to.slope, to.anchor = scoresIn(s.w, class), scoresIn(s.slope, class), scoresIn(s.anchor, class)
	return to, class
}

// scoresIn returns what rules say of scores, the classes being in another order.
func scoresIn(x []float64, class []int32) []float64 {
	to := slices.Clone(x)
	switch {
	case len(class) > 2:
		to = permuted(x, class)
	case len(class) == 2 && class[0] == 1:
		for i := range to {
			to[i] = -to[i]
		}
	}
	return to
}

// permuted returns numbers of classes, as many in a row, in another order.
func permuted(x []float64, place []int32) []float64 {
	to := make([]float64, len(x))
	for i, v := range x {
		to[i-i%len(place)+int(place[i%len(place)])] = v
	}
	return to
}

// Grown returns the certificates, and why growth stopped.
func (m *Living) Grown() (certificates []fmt.Stringer, stopped string) {
	net, err := m.written()
	if err != nil {
		return nil, err.Error()
	}
	return net.Grown()
}

// Heeds returns the priors if experts' rules are to be units of the network.
func (m *Living) Heeds() []float64 {
	net, err := m.written()
	if err != nil {
		return nil
	}
	return net.Heeds()
}

// Sources lists the sources in the order in which they came.
func (m *Living) Sources() []learn.Source {
	var all []learn.Source
	for _, o := range m.s.origins {
		all = append(all, o.Source)
	}
	return all
}

// Kept returns the rows that the network was learnt from while its reservoir has
// all of them, else nil.
func (m *Living) Kept(ctx context.Context) ([]learn.Learnt, error) {
	if !m.state().whole {
		return nil, nil
	}
	rows, err := m.state().keptRows(ctx)
	if err != nil {
		return nil, err
	}
	return rows.Learnt(ctx, m.s.schema)
}

// LearntAtOnce reports whether the network is what learning all its rows at once gives:
// the reservoir has every one, and rules and weights were learnt from them since the last
// one came.
func (m *Living) LearntAtOnce() bool {
	s := m.state()
	return s.whole && s.last == s.n && s.stepped == s.n && s.stage == decided
}

// Promise is bounded, until rows were forgotten because later ones said something
// else: what is learnt from all of them at once then answers something else, too.
func (m *Living) Promise() learn.Promise {
	if m.s.alarms > 0 {
		return learn.Promise{}
	}
	return livingPromise
}

// livingBound is by how many nats a row updates may be worse than learning
// everything at once, on the rows learnt: a choice above the means that were
// measured (docs/learners.md), not a derived bound.
const livingBound = 0.03

var livingPromise = learn.Promise{Contract: learn.Bounded, Measure: learn.LogLoss, Bound: livingBound}

// Shed returns the network without the rows that it was learnt from.
func (m *Living) Shed() (learn.Model, bool, error) {
	net, err := m.written()
	if err != nil {
		return nil, false, err
	}
	set := m.s.settings
	set.Update = "none"
	shed := &Model{taught: true, settings: set, seed: net.seed, coding: net.coding, counts: net.counts, bias: net.bias, units: net.units, steps: net.steps, stopped: net.stopped, base: net.base, lines: net.lines, predictor: net.predictor, matchers: net.matchers}
	return shed, true, nil
}

package rulenet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Numbers is a network that answers with a number: where its sum starts, and
// what the rules that fire add. It is immutable.
type Numbers struct {
	settings settings
	seed     uint64
	rows     *kept.Rows
	coding   coding
	weight   float64  // of the rows
	start    float64  // of the sum
	units    []addend // that add most first
	steps    []Step
	stopped  string
	interval interval

	base      *rule.Base
	predictor *rule.Predictor
	matchers  []*rule.Matcher
}

// addend is a rule that adds.
type addend struct {
	rule    conjunction
	adds    float64
	error   float64 // standard error of what it adds
	covered float64
	line    *along  // that what it adds is times of; nil: 1
	removed float64 // share of the squares that the rules leave, by which they would grow without it
	round   int
}

// along is a column of numbers less one of them, as far as its limits go.
type along struct {
	col               int32
	centre, low, high float64
	spread            float64 // deviation, over all rows, of how far they lie along it
}

// interval says how far answers are off.
type interval struct {
	// Deviation is such that 95 % of the rows held out, or the share asked for, are
	// within as many of it as 95 % of a normal distribution (conformal: Lei et al., Distribution-free
	// predictive inference, 2018). It is printed, so that the printed rules
	// have the same intervals.
	Deviation float64 `cbor:"deviation"`
	Off       float64 `cbor:"off"` // root of the mean square on rows held out
}

// narrow takes account of how much closer the network is to its rows than those that
// were rehearsed were to theirs: it has more rows, and rules that were dropped again.
func (v *interval) narrow(by float64) {
	if by = max(by, 0.5); by < 1 {
		v.Deviation, v.Off = v.Deviation*by, v.Off*by
	}
}

// around returns the ends of an answer's interval.
func (v *interval) around(mean float64) (low, high float64) {
	half := mixed.Normal95 * v.Deviation
	return max(mean-half, -math.MaxFloat64), min(mean+half, math.MaxFloat64)
}

var (
	_ learn.Updater   = (*Numbers)(nil)
	_ learn.Ruler     = (*Numbers)(nil)
	_ learn.Explainer = (*Numbers)(nil)
	_ learn.Merger    = (*Numbers)(nil)
	_ learn.Reweigher = (*Numbers)(nil)
	_ learn.Drawer    = (*Numbers)(nil)
	_ learn.Keeper    = (*Numbers)(nil)
)

// extent is the greatest size of numbers that rules add up to.
const extent = 1e150

// learnNumbers makes the network of a numeric target.
func learnNumbers(ctx context.Context, rows *kept.Rows, t *table.Table, target int, seed uint64, s settings) (*Numbers, error) {
	if s.climbs() {
		return nil, fmt.Errorf("rulenet predicts numbers by rules that are taught, but for target %q these settings ask for climbs by information or for the published update; leave them out, or read the column as nominal", t.Schema.Attributes[target].Name)
	}
	if s.Censored == "" {
		return learnSums(ctx, rows, t, target, seed, s)
	}
	of, err := newTimes(t, target, s.Censored)
	if err != nil {
		return nil, err
	}
	return of.learn(ctx, rows, seed, s)
}

// learnSums makes the network of numbers that are all known.
func learnSums(ctx context.Context, rows *kept.Rows, t *table.Table, target int, seed uint64, s settings) (*Numbers, error) {
	h, err := newSchool(ctx, t, target, seed, s)
	if err != nil {
		return nil, err
	}
	m := &Numbers{settings: s, seed: seed, rows: rows, coding: h.coding, weight: sum(h.weights)}
	if s.Update == "none" {
		m.rows = nil
	}
	most := 0.0
	for _, y := range t.Columns[target].Floats {
		most = max(most, math.Abs(y))
		if math.IsInf(y, 0) {
			return nil, fmt.Errorf("target %q: it is infinite in some rows; leave them out or empty the cells", t.Schema.Attributes[target].Name)
		}
	}
	mean, unit := h.standardise(t.Columns[target].Floats, max(most, math.SmallestNonzeroFloat64))
	m.start, h.zero, h.unit = mean, mean, unit
	if err := checkCounts(t.Columns[target].Floats, s, t.Schema.Attributes[target].Name); err != nil {
		return nil, err
	}
	m.interval = interval{Deviation: unit, Off: unit}
	if most > extent || !(unit > most*1e-13) || unit < 1/extent {
		m.stopped = "the numbers are all the same, or too large or small to add up"
		h.report(ctx, 1)
		return m, m.compile(ctx)
	}
	if err := h.layTracks(ctx); err != nil {
		return nil, err
	}
	if err := h.teachNumbers(ctx, m, unit); err != nil {
		return nil, err
	}
	return m, m.compile(ctx)
}

// standardise lays out the target in deviations, and returns its mean and the
// deviation.
func (h *school) standardise(y []float64, most float64) (mean, deviation float64) {
	total := sum(h.weights)
	for r, x := range y {
		mean += h.weights[r] / total * (x / most)
	}
	square := 0.0
	for r, x := range y {
		square += h.weights[r] / total * (x/most - mean) * (x/most - mean)
	}
	deviation = math.Sqrt(square)
	h.x.Number = make([]float64, len(y))
	for r, x := range y {
		if deviation > 0 {
			h.x.Number[r] = (x/most - mean) / deviation
		}
	}
	return mean * most, deviation * most
}

// numberSizes is how many of the sizes are rehearsed at least, and at most.
const leastNumberSizes, mostNumberSizes = 8, 16

// teachNumbers learns the rules that add.
func (h *school) teachNumbers(ctx context.Context, m *Numbers, unit float64) error {
	parts := h.holdOut()
	if len(h.columns) == 0 || len(parts) == 0 {
		m.stopped = "no columns, or too few rows to hold any out"
		h.report(ctx, 1)
		return nil
	}
	once := len(h.weights) >= learnOnce
	all, err := h.rehearseTeacher(ctx, parts)
	if err != nil {
		return err
	}
	m.coding = h.coding // bins may be finer now
	f, held := all[len(all)-1], 0.0
	for _, p := range parts {
		held += sum(p.held)
	}
	r := rehearsed{options: f.options, trees: f.trees, noise: 2 * f.least / held}
	lessons := make([]*lesson, len(parts))
	for i, p := range parts {
		p.teacher = f.teachers[i]
		if lessons[i], err = h.firstLesson(ctx, p, r, once); err != nil {
			return err
		}
	}
	adders, within, err := h.rehearseLines(ctx, m, parts, lessons, &r, unit)
	if err != nil {
		return err
	}
	var a *adder
	switch {
	case once:
		a, err = h.settle(ctx, m, parts[0], adders[0], &r, unit)
	case len(parts) > 1:
		a, err = h.unitedAdders(ctx, m, r, within)
	default:
		a, err = h.onceMore(ctx, r, within)
	}
	if err != nil {
		return err
	}
	h.report(ctx, 0.9)
	if err := h.reweigh(ctx, a); err != nil {
		return err
	}
	if !once {
		m.interval.narrow(a.off() / r.off)
	}
	a.moved += r.shift
	if err := h.addends(ctx, m, a, unit); err != nil {
		return err
	}
	h.report(ctx, 1)
	return nil
}

// onceMore picks rules from a teacher of all rows, and drops some.
func (h *school) onceMore(ctx context.Context, r rehearsed, within bool) (*adder, error) {
	l, err := h.lastLesson(ctx, r)
	if err != nil {
		return nil, err
	}
	a := l.newAdder()
	a.within = within
	return a, errors.Join(a.forward(ctx, startSize(r.size)), a.backward(ctx, r.size))
}

// settle takes the first rules of the rehearsed student and drops some, judges by
// the rows held out how far the answers of those left are off, and then solves them
// on all rows.
func (h *school) settle(ctx context.Context, m *Numbers, p *part, from *adder, r *rehearsed, unit float64) (*adder, error) {
	if err := from.forward(ctx, startSize(r.size)); err != nil {
		return nil, err
	}
	rules := from.rules[:min(len(from.rules), startSize(r.size))]
	a, err := h.addOn(ctx, p, r, rules, p.learn)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(a.backward(ctx, r.size), h.reweigh(ctx, a)); err != nil {
		return nil, err
	}
	answers, _ := a.judge()
	one, of := []*adder{a}, [][]float64{answers}
	r.shift = h.quantileShift(one, of)
	m.interval = h.conformal(one, of, unit)
	return h.addOn(ctx, p, r, a.rules, h.weights)
}

// addOn solves rules on the rows of some weight among those that the teacher knows.
func (h *school) addOn(ctx context.Context, p *part, r *rehearsed, rules []addition, weights []float64) (*adder, error) {
	remembered := h.fitted(p)
	places := slices.DeleteFunc(count(len(remembered)), func(at int32) bool { return weights[remembered[at]] == 0 })
	l, err := h.lesson(ctx, p.teacher, *r, remembered, places, weights)
	if err != nil {
		return nil, err
	}
	a := l.newAdder()
	a.held = h.judges(p)
	for _, rule := range rules {
		a.batch = rule.found
		a.include(rule.tests, rule.track)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	a.solve()
	return a, nil
}

// trial is students of numbers that were rehearsed, one for each part.
type trial struct {
	adders  []*adder
	steps   []Step
	tried   []int
	answers [][][]float64 // of the rows held out, by size
	least   float64
}

// rehearseLines rehearses students whose lines run over all rows. Where rows are
// many, those whose lines run within nodes too are heard as well, and taken where
// they clearly win: few targets need them, and they take more reading.
func (h *school) rehearseLines(ctx context.Context, m *Numbers, parts []*part, lessons []*lesson, r *rehearsed, unit float64) ([]*adder, bool, error) {
	seat := func(within bool) *trial {
		t := &trial{}
		for i, p := range parts {
			a := lessons[i].newAdder()
			a.held, a.within = h.judges(p), within
			t.adders = append(t.adders, a)
		}
		return t
	}
	best, within := seat(false), false
	if err := h.rehearseNumbers(ctx, best, nil); err != nil {
		return nil, false, err
	}
	if sum(h.weights) >= linesFrom && h.ways == nil && len(h.tracks) > 0 { // a line within a node may break the way along its tests
		other := seat(true)
		if err := h.rehearseNumbers(ctx, other, best); err != nil {
			return nil, false, err
		}
		if other.least < linesWin*best.least {
			best, within = other, true
		}
	}
	at := slices.IndexFunc(best.steps, func(s Step) bool { return s.Loss <= withinLeast*best.least })
	r.size, r.least, m.steps = best.tried[at], best.least, best.steps
	m.stopped = fmt.Sprintf("%d rules: the fewest whose mean square error on rows held out is within 1 %% of the least (%.4g of the variance)", r.size, best.least)
	answers, off := best.answers[at], 0.0
	for i, a := range best.adders {
		of := a.first(r.size)
		if err := h.reweigh(ctx, of); err != nil {
			return nil, false, err
		}
		if h.s.Loss != "" {
			answers[i], _ = of.judge()
		}
		off += of.off() / float64(len(best.adders))
	}
	r.off = off
	r.shift = h.quantileShift(best.adders, answers)
	m.interval = h.conformal(best.adders, answers, unit)
	return best.adders, within, nil
}

// rehearseNumbers picks rules size by size, until more bring nothing or, beside
// another trial, it is plain that they do not win.
func (h *school) rehearseNumbers(ctx context.Context, t *trial, beside *trial) error {
	held := 0.0
	for _, a := range t.adders {
		held += sum(a.held.weight)
	}
	last, stale := math.Inf(1), 0
	t.least = math.Inf(1)
	for at, size := range sizes[:mostNumberSizes] {
		if h.s.Rules > 0 && size > h.s.Rules {
			if at > 0 && sizes[at-1] >= h.s.Rules {
				break
			}
			size = h.s.Rules
		}
		errs, answers, squares := make([]error, len(t.adders)), make([][]float64, len(t.adders)), make([]float64, len(t.adders))
		err := learn.Each(ctx, len(t.adders), func(i int) {
			errs[i] = t.adders[i].forward(ctx, size)
			answers[i], squares[i] = t.adders[i].judge()
		})
		if err = errors.Join(append(errs, err)...); err != nil {
			return err
		}
		step := Step{Round: at, Loss: sum(squares) / held}
		reached := false
		for _, a := range t.adders {
			step.Rules += float64(len(a.rules)) / float64(len(t.adders))
			reached = reached || len(a.rules) >= size
		}
		t.steps, t.answers, t.tried = append(t.steps, step), append(t.answers, answers), append(t.tried, size)
		t.least = min(t.least, step.Loss)
		if stale++; step.Loss < last*(1-sizeGain) {
			last, stale = step.Loss, 0
		}
		h.report(ctx, 0.3+0.3*float64(at+1)/mostNumberSizes)
		if !reached || stale >= sizePatience && at >= leastNumberSizes-1 {
			break
		}
		if beside != nil && at >= linesSize && at < len(beside.steps) && step.Loss > linesWin*beside.steps[at].Loss {
			break
		}
	}
	return nil
}

// conformal finds how wide intervals are that cover as many of the rows held out. A
// width that grows with the distance from the mean answer scores 6 % better, but
// could not be read from the rules.
func (h *school) conformal(adders []*adder, answers [][]float64, unit float64) interval {
	type row struct{ off, weight float64 }
	var rows []row
	var n, squares float64
	for a, of := range adders {
		for at, i := range of.held.rows {
			w, off := of.held.weight[at], math.Abs(h.x.Number[i]-answers[a][at])
			rows = append(rows, row{off, w})
			n, squares = n+w, squares+w*off*off
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.off, b.off) })
	need, half := cmp.Or(h.s.Cover, 0.95)*(n+1), rows[len(rows)-1].off
	for _, r := range rows {
		if need -= r.weight; need <= 0 {
			half = r.off
			break
		}
	}
	return interval{Deviation: half / mixed.Normal95 * unit, Off: math.Sqrt(squares/n) * unit}
}

// addends makes the model's units of a student.
func (h *school) addends(ctx context.Context, m *Numbers, a *adder, unit float64) error {
	diagonal, err := a.inverse(ctx)
	if err != nil {
		return err
	}
	m.start += a.bias() * unit
	left := 0.0
	for i, r := range a.rest {
		left += a.weight[i] * r * r
	}
	for j := range a.rules { // what is usual goes without saying, and holds where a cell is missing
		r := &a.rules[j]
		if tests, ok := h.otherwise(r.tests); ok && r.track == nil && r.n > a.total/2 {
			m.start += r.adds * unit
			r.tests, r.adds = tests, -r.adds
		}
	}
	units := make([]addend, len(a.rules))
	err = learn.Each(ctx, len(units), func(j int) {
		r := &a.rules[j]
		u := addend{rule: h.conjunction(r.tests), adds: r.adds * unit, error: m.interval.Off * math.Sqrt(diagonal[j]), round: r.found}
		u.removed = a.removal(j, diagonal) / max(left, 1e-12)
		rows := covered(h.x, r.tests, count(len(h.weights)))
		for _, i := range rows {
			u.covered += h.weights[i]
		}
		if t := r.track; t != nil {
			u.adds, u.error = u.adds/t.unit, u.error/t.unit
			u.line = &along{col: int32(t.col), centre: t.mean + r.shift*t.unit, low: t.low, high: t.high}
			u.line.spread = t.spread(rows, h.weights, r.shift)
		}
		units[j] = u
	})
	m.units = slices.DeleteFunc(units, func(u addend) bool {
		return len(u.rule) == 0 && u.line == nil || u.covered == 0 || u.adds == 0 || !finite([]float64{u.adds, u.error})
	})
	return err
}

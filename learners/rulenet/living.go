package rulenet

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Living networks (update=living) learn rows as they come, at a cost of the new
// rows and in memory that does not grow with the old ones.
//
// The loss of all rows is known to a network of given rules by its slope and its
// curvature. The slope is kept by adding up: each new row brings its own. The
// curvature comes from a reservoir of rows drawn by hash (Jordan, Lee and Yang
// 2018, over time). So weights move as if all rows were there (living_fitting.go). Which
// rules there are is decided when the rows have grown by a quarter, or less while they are few:
//
//	while the reservoir holds every row   the network is taught anew from them,
//	                                      as learning at once does: exact
//	while the last rows are half of all   from these, and the reservoir for those
//	                                      before, where rows are alike
//	beyond                                candidates that were on probation since
//	                                      the last time join if their slope over
//	                                      all rows says so, rules without weight
//	                                      leave, others go on probation
//
// (living_consolidate.go, living_probation.go). What changed lately is told by shadows and
// alarms (living_shadow.go, living_alarm.go).

const (
	defaultReservoir = 16_384
	leastReservoir   = 100
	mostReservoir    = 1_000_000
	windowRows       = 3_200 // last rows that are kept besides
	stepRows         = 100   // after which weights move
	stepGrowth       = 0.01  // of the rows, after which they also do
	stepShare        = 0.002 // of the rows, before which they do not
	mostStepRows     = 1_000 // after which they do whatever the rows are
	mostNew          = 0.2   // of the rows, that came since rules were decided, before they are again: growth by a quarter
	leastNew         = 0.1   // while there are few: each teaches more, and learning all of them costs little
	manyRows         = 2_500
	curveRows        = 2_048 // of the reservoir, that steps take the curvature from
	clampRows        = 256   // of the reservoir, whose scores do not move far in a step
	farScore         = 1.0
	mostLivingRules  = 400
	ghostRows        = 0.5 // of each class, that fire nothing
	startingPenalty  = 0.1
)

// living is the state of a living network. Once it is frozen it does not change:
// an update works on a copy, which shares the log, whose end alone grows.
type living struct {
	settings settings
	seed     uint64
	schema   *table.Schema
	target   int

	log     rowLog
	drawn   reservoir // places in the log
	recent  int       // rows at the log's end that are the last ones that came
	origins []origin
	whole   bool      // the reservoir has every row that ever came
	n       float64   // weight of the rows that are learnt from
	rows    float64   // their number
	ever    float64   // weight of all rows that ever came
	counts  []float64 // of these, by class

	k       int
	rules   [][]atom
	w       []float64 // by rule and score, the bias first
	slope   []float64 // of the loss of all rows
	anchor  []float64 // where weights are drawn to
	taught  []bool    // of each rule: its weights were taught, and cost nothing where they are
	age     []float64 // rows of noise in each rule's slope
	covers  []float64 // weight of its rows by rule and class
	owed    []float64 // slopes of the last rows by score, yet to be added to those of all; grows at its end alone, as the log does
	round   []int     // in which it came
	removed []float64 // bits that it took off the loss when rules were last decided

	probation probation
	s         float64 // penalty: times the root of the rows
	last      float64 // n at the last consolidation
	stepped   float64 // n at the last step
	pending   int     // rows since
	rounds    int     // consolidations
	stage     stage   // of one that is not done yet
	staged    float64 // n when its last part was done
	steps     []Step
	stopped   string
	drift     *drift // forget=auto
	alarms    int
	moved     []Moved
	notes     []string   // what there is to say of the last change
	blocks    []rowBlock // that rows of the log were saved in, unless saving knows later ones
	saving    *saving
	curve     *fitting // rows of the reservoir that steps take the curvature from; a cache
	firing    *sieve   // of the rules; a cache
}

// classes returns the number of classes, present or not.
func (s *living) classes() int { return len(s.schema.Attributes[s.target].Values) }

// learnLiving makes the network of rows that came, which are those of a table. It
// is taught from all of them, as one that does not live is, and keeps as many as its
// reservoir has room for.
func learnLiving(ctx context.Context, t *table.Table, target int, came []learn.Learnt, seed uint64, set settings) (learn.Model, error) {
	s := newLiving(t.Schema, target, seed, set)
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, came); err != nil {
		return nil, err
	}
	if err := s.teach(ctx, t); err != nil {
		return nil, err
	}
	if !s.whole {
		s.stage, s.staged = toSearch, s.n
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.frozen(), nil
}

func newLiving(schema *table.Schema, target int, seed uint64, set settings) *living {
	s := &living{settings: set, seed: seed, schema: schema, target: target, whole: true, s: startingPenalty}
	s.log = newRowLog(schema, target)
	s.k = scoresOf(s.classes())
	s.counts = make([]float64, s.classes())
	s.w, s.slope, s.anchor = make([]float64, s.k), make([]float64, s.k), make([]float64, s.k)
	if set.Forget != "never" {
		s.drift = newDrift(s.k)
	}
	return s
}

// check refuses tables that a network cannot learn from.
func (s *living) check() error {
	c := coding{schema: s.schema, target: s.target, cuts: noCuts(s.schema, s.target)}
	return c.check()
}

// most is the number of rows that the reservoir has at most.
func (s *living) most() int { return s.settings.Reservoir }

// originOf returns the place of a source, which is new if it is not known.
func (s *living) originOf(source learn.Source) int32 {
	i := slices.IndexFunc(s.origins, func(o origin) bool { return o.ID == source.ID })
	if i < 0 {
		i = len(s.origins)
		s.origins = append(s.origins, newOrigin(source))
	}
	return int32(i)
}

// copy returns a state that can be changed.
func (s *living) copy() *living {
	to := *s
	to.log = s.log.clip()
	to.drawn, to.origins = slices.Clone(s.drawn), slices.Clone(s.origins)
	to.owed = slices.Clip(s.owed)
	to.curve = nil
	to.own()
	to.ownSums()
	to.ownRules()
	return &to
}

// own gives a state, of what each row changes, numbers that nobody else reads.
func (s *living) own() {
	s.counts = slices.Clone(s.counts)
	if s.drift != nil {
		s.drift = s.drift.copy()
	}
}

// ownSums does so with the sums over rows.
func (s *living) ownSums() {
	for _, of := range []*[]float64{&s.slope, &s.age, &s.covers} {
		*of = slices.Clone(*of)
	}
	s.probation.own()
}

// ownRules does so with what changes when rules do, which is seldom: where rows come one
// by one, most of what is frozen after each is shared.
func (s *living) ownRules() {
	for _, of := range []*[]float64{&s.w, &s.anchor, &s.removed} {
		*of = slices.Clone(*of)
	}
	s.taught, s.round, s.rules = slices.Clone(s.taught), slices.Clone(s.round), slices.Clone(s.rules)
	s.steps, s.moved, s.notes = slices.Clip(s.steps), slices.Clip(s.moved), slices.Clip(s.notes)
}

// room makes room for classes that are new.
func (s *living) room(classes int) {
	s.ownRules()
	k, old := scoresOf(classes), len(s.counts)
	s.counts = append(s.counts, make([]float64, classes-old)...)
	s.covers = widen(s.covers, old, classes)
	if k == s.k {
		return
	}
	for _, of := range []*[]float64{&s.w, &s.slope, &s.anchor} {
		*of = respread(*of, s.k, k)
	}
	for _, of := range []*[]float64{&s.probation.slope, &s.probation.rules} {
		*of = respread(*of, s.k, k)
	}
	if s.drift != nil {
		s.drift.room(s.k, k)
	}
	// The slope of one score is that of the second class, and minus that of the first.
	if s.k == 1 {
		for _, of := range [][]float64{s.slope, s.probation.slope, s.probation.rules} {
			for i := range of {
				of[i] *= 2
			}
		}
	}
	s.k, s.curve = k, nil
	s.greet(old)
	soon := s.n + newcomers
	s.last = min(s.last, soon*(1-s.newShare(soon)))
}

// newShare is how many of so many rows must be new for rules to be decided anew. Beyond the
// reservoir it is the rows since that tell candidates apart, so few of them decide nothing.
func (s *living) newShare(n float64) float64 {
	if s.beyond() {
		return mostNew
	}
	return min(max(leastNew, mostNew*n/manyRows), mostNew)
}

// beyond reports whether more rows are learnt from than the reservoir has, of those that
// it was shown.
func (s *living) beyond() bool { return int(s.rows)-s.owing() > len(s.drawn) }

// newcomers are the rows after which rules are decided anew that know a new class.
const newcomers = 10

// greet gives classes from one on, of which no row has come, what a ghost of each says:
// next to no probability, and the slopes that go with it.
func (s *living) greet(first int) {
	k, classes := s.k, len(s.counts)
	norm := math.Inf(-1)
	for c := range first {
		norm = logAdd(norm, s.w[c])
	}
	for c := first; c < k; c++ {
		s.w[c] = norm + math.Log(ghostRows/(s.n+1))
		s.anchor[c], s.slope[c] = s.w[c], ghostRows
		for r := range s.rules {
			s.slope[(r+1)*k+c] = ghostRows * sum(s.covers[r*classes:(r+1)*classes]) / max(s.n, 1)
		}
	}
}

// widen makes rows of numbers wider, with zeros.
func widen(x []float64, from, to int) []float64 {
	if from == 0 || from == to {
		return x
	}
	wide := make([]float64, len(x)/from*to)
	for r := range len(x) / from {
		copy(wide[r*to:], x[r*from:(r+1)*from])
	}
	return wide
}

// respread spreads weights of scores over more of them: that of the second of two
// classes is half for it, and half against the first.
func respread(x []float64, from, to int) []float64 {
	if from > 1 {
		return widen(x, from, to)
	}
	wide := make([]float64, len(x)*to)
	for r, v := range x {
		wide[r*to], wide[r*to+1] = -v/2, v/2
	}
	return wide
}

// sieve returns the sieve of the rules.
func (s *living) sieve() *sieve {
	if s.firing == nil {
		s.firing = newSieve(s.rules)
	}
	return s.firing
}

// frozen returns the network that a state is, which does not change any more.
func (s *living) frozen() *Living {
	s.sieve()
	if s.saving == nil {
		s.saving = &saving{}
	}
	return &Living{s: s, answer: s.answering()}
}

// reservoirRows returns the rows of the reservoir, in the order of their keys.
func (s *living) reservoirRows() []int32 { return s.drawn.inOrder(&s.log) }

// nearRows returns the rows of the reservoir, in the order of their keys, and then those
// of the last rows that are not among them.
func (s *living) nearRows() []int32 {
	rows := s.reservoirRows()
	in := make([]bool, s.log.rows())
	for _, r := range rows {
		in[r] = true
	}
	for r := s.log.rows() - s.recent; r < s.log.rows(); r++ {
		if !in[r] {
			rows = append(rows, int32(r))
		}
	}
	return rows
}

// compact leaves out rows of the log that nobody needs any more.
func (s *living) compact() {
	rows := s.log.rows()
	first := rows - s.recent
	if rows <= len(s.drawn)+s.recent+4*windowRows {
		return
	}
	place := make([]int32, rows)
	var stay []int32
	for _, r := range s.drawn {
		place[r] = 1
	}
	for r := range rows {
		if r >= first || place[r] == 1 {
			place[r] = int32(len(stay))
			stay = append(stay, int32(r))
		} else {
			place[r] = -1
		}
	}
	s.relocate(place)
	s.log = s.log.pick(stay, 4*windowRows)
	s.drawn = slices.Clone(s.drawn)
	for i, r := range s.drawn {
		s.drawn[i] = place[r]
	}
}

// teachAnew learns the network anew from the rows of the reservoir: what learning
// them at once gives.
func (s *living) teachAnew(ctx context.Context) error {
	rows := s.reservoirRows()
	return s.teachFrom(ctx, rows, pickFrom(s.log.weight, rows, 0))
}

// teachFrom learns the network anew from rows of the log, that count so much.
func (s *living) teachFrom(ctx context.Context, of []int32, weight []float64) error {
	rows, err := s.keptOf(ctx, of, weight, s.schema)
	if err != nil {
		return err
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return err
	}
	return s.teach(ctx, t)
}

// teach learns the network from the rows of a table.
func (s *living) teach(ctx context.Context, t *table.Table) error {
	set := s.settings
	set.Update = "none"
	m, err := learnWell(ctx, nil, t, t.Schema.Index(s.schema.Attributes[s.target].Name), s.seed, set)
	if err != nil {
		return err
	}
	s.take(m)
	return ctx.Err()
}

// keptRows returns the rows of the reservoir, source by source, without values that
// none of them has.
func (s *living) keptRows(ctx context.Context) (*kept.Rows, error) {
	return s.keptWith(ctx, s.schema)
}

// keptWith returns the rows of the reservoir, source by source. Values of a schema
// that none of them has are left out.
func (s *living) keptWith(ctx context.Context, idle *table.Schema) (*kept.Rows, error) {
	rows := s.reservoirRows()
	return s.keptOf(ctx, rows, pickFrom(s.log.weight, rows, 0), idle)
}

// keptOf returns rows of the log that count so much, source by source.
func (s *living) keptOf(ctx context.Context, all []int32, weight []float64, idle *table.Schema) (*kept.Rows, error) {
	rows := &kept.Rows{}
	of, counts := make([][]int32, len(s.origins)), make([][]float64, len(s.origins))
	for i, r := range all {
		from := s.log.source[r]
		of[from], counts[from] = append(of[from], r), append(counts[from], weight[i])
	}
	for i, own := range of {
		if len(own) == 0 && s.origins[i].rows == 0 {
			continue
		}
		t, err := s.log.table(s.schema, s.target, own)
		if err != nil {
			return nil, err
		}
		if t, err = table.New(t.Schema, t.Columns, counts[i]); err != nil {
			return nil, err
		}
		gathering := rows.Gather(s.origins[i].Source, s.target, idle)
		if err := gathering.Add(ctx, t); err != nil {
			return nil, err
		}
		if rows, err = gathering.Rows(ctx); err != nil {
			return nil, err
		}
	}
	if len(rows.Sources()) == 0 {
		return nil, errors.New("there are no rows to learn from")
	}
	return rows, nil
}

// take makes the state's rules those of a network that was taught. Where it stands
// its teacher's probabilities are met, so the slope is none. Rows that it was taught
// from stand for all.
func (s *living) take(m *Model) {
	names := &m.coding.schema.Attributes[m.coding.target]
	class := table.Recoding(names, &s.schema.Attributes[s.target])
	bias := slices.Repeat([]float64{math.Log(ghostRows / (s.n + 1))}, s.classes())
	for c, b := range m.bias {
		if !math.IsInf(b, -1) {
			bias[class[c]] = b
		}
	}
	s.rules, s.round, s.taught, s.removed, s.firing = nil, nil, nil, nil, nil
	s.w = s.w[:0:0]
	spread := func(of []float64) {
		if s.k > 1 {
			s.w = append(s.w, of...)
		} else {
			s.w = append(s.w, of[len(of)-1]-of[0])
		}
	}
	if s.classes() < 2 {
		bias = append(bias, bias...)
	}
	spread(bias)
	wide := make([]float64, max(2, s.classes()))
	s.covers = make([]float64, len(m.units)*s.classes())
	scale := s.n / sum(m.counts)
	for i := range m.units {
		u := &m.units[i]
		clear(wide)
		for c, w := range u.weights {
			wide[class[c]] = w
			s.covers[i*s.classes()+int(class[c])] = scale * u.counts[c]
		}
		spread(wide)
		s.rules = append(s.rules, m.coding.atoms(u.rule, s.schema))
		s.round, s.removed = append(s.round, u.round), append(s.removed, u.removed)
		s.taught = append(s.taught, true)
	}
	s.anchor = slices.Clone(s.w)
	s.slope = make([]float64, len(s.w))
	s.age = slices.Repeat([]float64{s.n}, len(s.rules))
	s.steps, s.stopped = m.steps, m.stopped
	s.settle()
}

// settle begins a new time of probation.
func (s *living) settle() {
	s.curve = nil
	s.last, s.stepped, s.pending = s.n, s.n, 0
	s.stage = decided
	s.rounds++
	s.probation.clear(len(s.w))
	s.drift.renew(len(s.w))
}

// recount counts the rows of the reservoir that each rule covers, by class, as
// many as they stand for.
func (s *living) recount() {
	rows := s.reservoirRows()
	classes := s.classes()
	s.covers = make([]float64, len(s.rules)*classes)
	weight := 0.0
	for _, r := range rows {
		weight += s.log.weight[r]
	}
	scale := s.n / max(weight, 1e-300)
	if s.whole {
		scale = 1
	}
	for i, found := range s.sieve().covers(&s.log.grid, rows) {
		for _, at := range found {
			r := rows[at]
			s.covers[i*classes+int(s.log.class[r])] += scale * s.log.weight[r]
		}
	}
}

// noCuts are the cuts of columns whose numbers are one interval.
func noCuts(schema *table.Schema, target int) []*encode.Cuts {
	cuts := make([]*encode.Cuts, len(schema.Attributes))
	for col := range cuts {
		if schema.Attributes[col].Kind == table.Numeric && col != target {
			cuts[col] = &encode.Cuts{}
		}
	}
	return cuts
}

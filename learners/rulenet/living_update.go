package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// livingUpdate is a living network that learns.
type livingUpdate struct {
	*living
	vocabulary *table.Vocabulary
	source     int32
	shared     bool // with a frozen model
	drew       bool // since the last frozen model: it has places in the reservoir of its own

	rows, flat []int32 // room
	ends       []int
	sets       sifting
	weights    []float64
	scores, p  []float64
	said       []float64 // by the weights that answer
	shadowed   []float64
	row        []float64
}

// Begin returns a private copy to add rows of one source to.
func (m *Living) Begin(source learn.Source) (learn.Update, error) {
	s := m.s.copy()
	s.moved = nil
	u := &livingUpdate{living: s, vocabulary: table.NewVocabulary(s.schema, nil)}
	u.source = s.originOf(source)
	return u, nil
}

// Add learns the table's rows.
func (u *livingUpdate) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.fit(t.Schema); err != nil {
		return err
	}
	u.unshare()
	for lo := 0; lo < t.Rows(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := u.log.rows()
		for ; lo < t.Rows() && u.log.rows()-first < u.atOnce(); lo++ {
			u.enterRow(t, lo)
		}
		if err := u.arrive(ctx, first); err != nil {
			return err
		}
		if full := int(u.living.rows) >= u.most(); full {
			if err := u.decide(ctx); err != nil {
				return err
			}
		}
	}
	return u.decide(ctx)
}

// decide decides anew which rules there are, or looks for candidates, when it is
// time.
func (u *livingUpdate) decide(ctx context.Context) error {
	switch {
	case u.n >= growthFactor*u.last:
		return u.consolidate(ctx)
	case u.stage != decided && u.n >= u.staged+min(stageRows, stageGrowth*u.staged):
		return u.goOn(ctx)
	}
	return nil
}

// atOnce is the number of rows that can be taken at once, until something is to be
// fitted again.
func (u *livingUpdate) atOnce() int {
	n := min(u.stepDue()-u.pending, sieveRows)
	if room := u.most() - int(u.living.rows); room > 0 {
		n = min(n, room) // all rows are known once more, before some are not
	}
	if u.drift != nil {
		n = min(n, u.drift.due(), stepRows-u.drift.Alarm.Rows)
	}
	return max(1, n)
}

// stepDue is the number of rows after which weights move.
func (s *living) stepDue() int {
	return min(max(stepRows, int(stepShare*s.rows)), mostStepRows)
}

// unshare gives the update what no frozen model reads.
func (u *livingUpdate) unshare() {
	if !u.shared {
		return
	}
	u.origins = slices.Clone(u.origins)
	u.own()
	u.shared = false
}

// fit takes in what is new in a table's schema.
func (u *livingUpdate) fit(schema *table.Schema) error {
	if u.vocabulary.Same(schema) {
		return nil
	}
	if err := u.vocabulary.Check(schema); err != nil {
		return err
	}
	u.vocabulary.Admit(schema)
	if !u.vocabulary.Same(schema) {
		return fmt.Errorf("values of the table's columns are coded otherwise than the model's; conform it to the model's schema first")
	}
	u.schema = u.vocabulary.Schema()
	u.log.admit(u.schema, u.target)
	if classes := u.classes(); classes > len(u.counts) {
		u.unshare()
		u.room(classes)
	}
	return u.check()
}

// enterRow appends a row to the log, if it has a class.
func (u *livingUpdate) enterRow(t *table.Table, row int) {
	o := &u.origins[u.source]
	o.rows++
	class, weight := t.Columns[u.target].Codes[row], t.Weight(row)
	if class < 0 || weight == 0 {
		return
	}
	o.weight += weight
	u.log.add(t, row, class, o, u.source)
}

// arrive learns the rows of the log from one on: each is answered, its slopes are
// added to those of all rows, and weights move when enough have come.
func (u *livingUpdate) arrive(ctx context.Context, first int) error {
	s := u.living
	rows := u.rows[:0]
	for r := first; r < s.log.rows(); r++ {
		rows = append(rows, int32(r))
	}
	u.rows = rows
	if len(rows) == 0 {
		return nil
	}
	u.answer(rows)
	if s.drift != nil {
		u.follow(rows)
	}
	u.addSlopes(rows)
	for _, r := range rows {
		s.rows++
		if !u.drew && s.drawn.moves(&s.log, r, s.most()) {
			s.drawn, u.drew = slices.Clone(s.drawn), true
		}
		if !s.drawn.take(&s.log, r, s.most()) || len(s.drawn) < int(s.rows) {
			if s.whole {
				s.stage, s.staged = toSearch, s.n
			}
			s.whole = false
		}
	}
	s.recent = min(s.recent+len(rows), windowRows)
	s.pending += len(rows)
	if s.pending >= s.stepDue() || s.n >= s.stepped*(1+stepGrowth) {
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	s.compact()
	if s.drift == nil {
		return nil
	}
	if s.drift.Alarm.Rows += len(rows); s.drift.Alarm.Rows >= stepRows {
		if which := s.drift.look(s.rows, min(len(s.drawn), steadyRows)); which >= 0 {
			return s.start(ctx, which)
		}
	}
	return s.refit(ctx)
}

// answer finds the rules that fire, and what the network says of the rows.
func (u *livingUpdate) answer(rows []int32) {
	s, k := u.living, u.k
	u.scores, u.p = zeroed(u.scores, len(rows)*k), zeroed(u.p, len(rows)*k)
	u.flat, u.ends = u.flat[:0], u.ends[:0]
	said := s.w // by the weights that answer
	if s.drift != nil {
		said = s.answering()
		u.said = zeroed(u.said, len(rows)*k)
	}
	for i := range rows {
		copy(u.scores[i*k:(i+1)*k], s.w[:k])
		if s.drift != nil {
			copy(u.said[i*k:(i+1)*k], said[:k])
		}
	}
	sieve := s.sieve()
	sieve.sift(&s.log.grid, rows, &u.sets)
	for r := range s.rules {
		set := sieve.cover(r, &u.sets)
		u.flat = places(set, 0, u.flat)
		u.ends = append(u.ends, len(u.flat))
		addTo(u.scores, s.w[(r+1)*k:(r+2)*k], set)
		if s.drift != nil {
			addTo(u.said, said[(r+1)*k:(r+2)*k], set)
		}
	}
	u.judge(rows)
}

// mostLoss is the greatest loss of an answer that is noted.
const mostLoss = 40.0

// judge notes how well the rows were answered.
func (u *livingUpdate) judge(rows []int32) {
	k, said := u.k, u.scores
	if u.drift != nil {
		said = u.said
	}
	for i, r := range rows {
		own, class, loss := said[i*k:(i+1)*k], int(u.log.class[r]), 0.0
		switch {
		case k > 1:
			loss = softmaxLoss(own, u.p[i*k:(i+1)*k], class)
		case class == 1:
			loss = softplus(-own[0])
		default:
			loss = softplus(own[0])
		}
		u.log.loss[r] = math.Round(1000*min(loss, mostLoss)) / 1000
	}
}

// addSlopes adds the slopes of rows to those of all, and counts them.
func (u *livingUpdate) addSlopes(rows []int32) {
	s, k := u.living, u.k
	classes := s.classes()
	residual := u.p
	for i, r := range rows {
		own, class, w := residual[i*k:(i+1)*k], s.log.class[r], s.log.weight[r]
		if k == 1 {
			own[0] = w * (1/(1+expNeg(u.scores[i])) - float64(class))
		} else {
			softmaxLoss(u.scores[i*k:(i+1)*k], own, int(class))
			own[class]--
			for c := range own {
				own[c] *= w
			}
		}
		for c, g := range own {
			s.slope[c] += g
			s.probation.rules[c] += g
		}
		s.n += w
		s.ever += w
		s.counts[class] += w
		s.probation.weight += w
	}
	from := 0
	for r, to := range u.ends {
		weight := 0.0
		for _, at := range u.flat[from:to] {
			for c, g := range residual[int(at)*k : int(at)*k+k] {
				s.slope[(r+1)*k+c] += g
				s.probation.rules[(r+1)*k+c] += g
			}
			row := rows[at]
			s.covers[r*classes+int(s.log.class[row])] += s.log.weight[row]
			weight += s.log.weight[row]
		}
		from = to
	}
	for r := range s.age {
		s.age[r] += float64(len(rows))
	}
	u.try(rows, residual)
}

// try adds the slopes of rows to those of the candidates that cover them.
func (u *livingUpdate) try(rows []int32, residual []float64) {
	k, p := u.k, &u.probation
	if len(p.tests) == 0 {
		return
	}
	u.weights = u.weights[:0]
	for _, r := range rows {
		u.weights = append(u.weights, u.log.weight[r])
	}
	sieve := p.sieve()
	sieve.sift(&u.log.grid, rows, &u.sets)
	for i := range p.tests {
		set := bits.Set(sieve.cover(i, &u.sets))
		addRows(p.slope[i*k:(i+1)*k], residual, set)
		fires := 0.0
		for at := range set.All {
			fires += u.weights[at]
		}
		p.fires[i] += fires
	}
}

// begin counts the rows that a network begins with, and draws some of them. Cells of
// the others are not copied.
func (s *living) begin(ctx context.Context, came []learn.Learnt) error {
	var all rowLog
	var places []place
	var drawn reservoir
	for i, part := range came {
		if err := ctx.Err(); err != nil {
			return err
		}
		source := s.originOf(part.Source)
		o := &s.origins[source]
		for r := range part.Table.Rows() {
			o.rows++
			class, weight := part.Table.Columns[s.target].Codes[r], part.Table.Weight(r)
			if class < 0 || weight == 0 {
				continue
			}
			o.weight += weight
			s.counts[class] += weight
			s.n += weight
			s.ever += weight
			s.rows++
			all.note(class, weight, o, source)
			places = append(places, place{int32(i), int32(r)})
			drawn.take(&all, int32(len(places)-1), s.most())
		}
	}
	rows := slices.Clone(drawn) // as they came
	slices.Sort(rows)
	s.log = all.pick(rows, 0)
	if err := s.log.fill(ctx, s.schema, s.target, came, pickFrom(places, rows, 0)); err != nil {
		return err
	}
	for r := range rows {
		s.drawn.take(&s.log, int32(r), s.most())
	}
	if s.whole = len(rows) == len(places); s.whole {
		s.recent = min(windowRows, len(rows))
	}
	return nil
}

// Freeze returns the network of all rows so far.
func (u *livingUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u.sieve()
	u.blocks, u.saving = u.known(), &saving{}
	s := *u.living
	u.drew = false
	s.log.codes, s.log.floats = slices.Clone(s.log.codes), slices.Clone(s.log.floats)
	s.curve = nil
	u.shared = true
	return s.frozen(), nil
}

// Consolidate learns the rules anew from the rows of the reservoir, as learning at
// once does while it has all of them.
func (u *livingUpdate) Consolidate(ctx context.Context) error {
	u.unshare()
	if u.drift != nil { // what answers is what is learnt
		was := u.drift.Alarm
		u.drift = newDrift(u.k)
		u.drift.Alarm = was
		u.drift.renew(len(u.w))
	}
	if u.last < u.n {
		if err := u.living.consolidate(ctx); err != nil {
			return err
		}
	}
	return u.goOnToEnd(ctx)
}

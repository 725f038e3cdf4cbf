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
	shared     bool // with a frozen model: what each row changes
	sharedSums bool // with a frozen model: what rows change once their slopes are added
	drew       bool // since the last frozen model: it has places in the reservoir of its own

	rows, flat []int32 // room
	ends       []int
	found      int // rows that flat and ends are of
	fired      []uint64
	sets       sifting
	weights    []float64
	scores, p  []float64
	said       []float64 // by the weights that answer
	shadowed   []float64
	row        []float64
}

// Begin returns a private copy to add rows of one source to.
func (m *Living) Begin(source learn.Source) (learn.Update, error) {
	s := m.state().copy()
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
	case u.last <= u.n*(1-u.newShare(u.n)):
		u.pay(false)
		return u.consolidate(ctx)
	case u.stage != decided && u.n >= u.staged+min(stageRows, stageGrowth*u.staged):
		u.pay(false)
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

// unshare gives the update what each row changes and no frozen model reads.
func (u *livingUpdate) unshare() {
	if !u.shared {
		return
	}
	u.origins = slices.Clone(u.origins)
	u.own()
	u.shared = false
}

// unshareSums gives it the sums over rows.
func (u *livingUpdate) unshareSums() {
	if !u.sharedSums {
		return
	}
	u.ownSums()
	u.sharedSums = false
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
		u.pay(false)
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

// owedRows are the rows at most whose slopes are yet to be added: as many as a word of a
// bitmap has, so that looking candidates up for all of them takes as long as for one.
const owedRows = 64

// arrive learns the rows of the log from one on: each is answered, its slopes are
// added to those of all rows, and weights move when enough have come. Rows that come
// one by one owe their slopes until there are some of them, or somebody asks.
func (u *livingUpdate) arrive(ctx context.Context, first int) error {
	s := u.living
	rows := u.since(first)
	if len(rows) == 0 {
		return nil
	}
	u.answer(rows)
	if s.drift != nil {
		u.follow(rows)
	}
	u.owe(rows)
	s.recent = min(s.recent+len(rows), windowRows)
	s.pending += len(rows)
	step := s.pending >= s.stepDue() || s.n >= s.stepped*(1+stepGrowth)
	full := int(s.rows) >= s.most() && !s.beyond() // some do not fit any more, which is to be known at once
	if step || full || len(rows) > 1 || s.owing() >= owedRows {
		u.pay(s.owing() == len(rows))
	}
	if step {
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	s.compact()
	if s.drift == nil {
		return nil
	}
	s.drift.Alarm.Rows += len(rows)
	if s.drift.Alarm.Rows >= stepRows || s.drift.late() {
		u.pay(false)
	}
	if s.drift.Alarm.Rows >= stepRows {
		if which := s.drift.look(s.rows, min(len(s.drawn), steadyRows)); which >= 0 {
			return s.start(ctx, which)
		}
	}
	return s.refit(ctx)
}

// since returns the rows of the log from one on.
func (u *livingUpdate) since(first int) []int32 {
	u.rows = u.rows[:0]
	for r := first; r < u.log.rows(); r++ {
		u.rows = append(u.rows, int32(r))
	}
	return u.rows
}

// answer finds the rules that fire, and what the network says of the rows.
func (u *livingUpdate) answer(rows []int32) {
	s, k := u.living, u.k
	u.find(rows)
	u.scores = u.scoresBy(s.w, u.scores)
	u.p = zeroed(u.p, len(rows)*k)
	if s.drift != nil { // by the weights that answer
		u.said = u.scoresBy(s.answering(), u.said)
	}
	u.judge(rows)
}

// find finds the rows that each rule covers: places in the list of rows.
func (u *livingUpdate) find(rows []int32) {
	s := u.living
	sieve := s.sieve()
	u.flat, u.ends, u.found = u.flat[:0], u.ends[:0], len(rows)
	if len(rows) == 1 {
		u.fired = sieve.fired(&s.log.grid, rows[0], u.fired)
		for r := range s.rules {
			if u.fired[r/64]>>(r%64)&1 != 0 {
				u.flat = append(u.flat, 0)
			}
			u.ends = append(u.ends, len(u.flat))
		}
		return
	}
	sieve.sift(&s.log.grid, rows, &u.sets)
	for r := range s.rules {
		u.flat = places(sieve.cover(r, &u.sets), 0, u.flat)
		u.ends = append(u.ends, len(u.flat))
	}
}

// scoresBy returns what weights say of the rows that were looked up last.
func (u *livingUpdate) scoresBy(w, scores []float64) []float64 {
	k := u.k
	scores = zeroed(scores, u.found*k)
	for i := range u.found {
		copy(scores[i*k:(i+1)*k], w[:k])
	}
	from := 0
	for r, to := range u.ends {
		own := w[(r+1)*k : (r+2)*k]
		for _, at := range u.flat[from:to] {
			for c, x := range own {
				scores[int(at)*k+c] += x
			}
		}
		from = to
	}
	return scores
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

// owe counts rows, and notes the slopes that they bring.
func (u *livingUpdate) owe(rows []int32) {
	s, k := u.living, u.k
	for i, r := range rows {
		own, class, w := u.p[i*k:(i+1)*k], s.log.class[r], s.log.weight[r]
		if k == 1 {
			own[0] = w * (1/(1+expNeg(u.scores[i])) - float64(class))
		} else {
			softmaxLoss(u.scores[i*k:(i+1)*k], own, int(class))
			own[class]--
			for c := range own {
				own[c] *= w
			}
		}
		s.n += w
		s.ever += w
		s.rows++
		s.counts[class] += w
		s.probation.weight += w
	}
	if s.owed == nil {
		s.owed = make([]float64, 0, max(owedRows, len(rows))*k)
	}
	s.owed = append(s.owed, u.p[:len(rows)*k]...)
}

// owing is the number of rows, the last that came, whose slopes are yet to be added.
func (s *living) owing() int { return len(s.owed) / s.k }

// pay adds the slopes that are owed to those of all rows, and draws these rows. Which of
// them each rule covers may have been found already.
func (u *livingUpdate) pay(found bool) {
	s, k := u.living, u.k
	u.unshareSums()
	owing := s.owing()
	if owing == 0 {
		return
	}
	rows, owed := u.since(s.log.rows()-owing), s.owed
	s.owed = nil
	if !found {
		u.find(rows)
	}
	classes := s.classes()
	add := func(to int, at int) {
		for c, g := range owed[at*k : at*k+k] {
			s.slope[to*k+c] += g
			s.probation.rules[to*k+c] += g
		}
	}
	for at := range rows {
		add(0, at)
	}
	from := 0
	for r, to := range u.ends {
		for _, at := range u.flat[from:to] {
			add(r+1, int(at))
			row := rows[at]
			s.covers[r*classes+int(s.log.class[row])] += s.log.weight[row]
		}
		from = to
	}
	for r := range s.age {
		s.age[r] += float64(owing)
	}
	u.try(rows, owed)
	u.draw(rows)
}

// draw has the reservoir take rows whose keys are small.
func (u *livingUpdate) draw(rows []int32) {
	s := u.living
	before := int(s.rows) - len(rows)
	for i, r := range rows {
		if !u.drew && s.drawn.moves(&s.log, r, s.most()) {
			s.drawn, u.drew = slices.Clone(s.drawn), true
		}
		if !s.drawn.take(&s.log, r, s.most()) || len(s.drawn) < before+i+1 {
			if s.whole {
				s.stage, s.staged = toSearch, s.n
			}
			s.whole = false
		}
	}
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
	u.shared, u.sharedSums = true, true
	return s.frozen(), nil
}

// Consolidate learns the rules anew from the rows of the reservoir, as learning at
// once does while it has all of them.
func (u *livingUpdate) Consolidate(ctx context.Context) error {
	u.unshare()
	u.pay(false)
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

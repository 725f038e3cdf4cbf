package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// consolidate decides anew which rules there are.
func (s *living) consolidate(ctx context.Context) error {
	s.ownRules()
	var err error
	near, weight := s.nearly()
	switch {
	case s.whole:
		err = s.teachAnew(ctx)
	case near != nil:
		err = s.teachNear(ctx, near, weight)
	case int(s.rows) <= len(s.drawn):
		err = s.regrow(ctx)
	default:
		err = s.grow(ctx)
	}
	return err
}

// nearly returns the rows of the reservoir and of the window, where these are most of all
// rows alike, and what each counts: those before the window stand for those of its time
// that are gone. It returns none where more are gone; then slopes know more than rows do.
func (s *living) nearly() (rows []int32, weight []float64) {
	if s.drift != nil || s.rows > 2*float64(s.recent) {
		return nil, nil
	}
	rows = reservoir(s.nearRows()).inOrder(&s.log)
	weight = pickFrom(s.log.weight, rows, 0)
	first, before, since := int32(s.log.rows()-s.recent), 0.0, 0.0
	for i, r := range rows {
		if r < first {
			before += weight[i]
		} else {
			since += weight[i]
		}
	}
	if gone := len(rows) < int(s.rows); gone && before == 0 {
		return nil, nil
	} else if gone {
		for i, r := range rows {
			if r < first {
				weight[i] *= max(0, s.n-since) / before
			}
		}
	}
	return rows, weight
}

// teachNear learns the network anew from such rows, and then looks for candidates, which
// will be wanted when it can no more.
func (s *living) teachNear(ctx context.Context, rows []int32, weight []float64) error {
	if err := s.teachFrom(ctx, rows, weight); err != nil {
		return err
	}
	s.stage, s.staged = toSearch, s.n
	return nil
}

// fitOn returns a fitting of the rules over rows of the log.
func (s *living) fitOn(rows []int32) *fitting {
	f := &fitting{k: s.k, classes: s.classes(), ridge: studentRidge, ghost: ghostRows}
	f.class, f.weight = pickFrom(s.log.class, rows, 0), pickFrom(s.log.weight, rows, 0)
	f.cover = s.sieve().covers(&s.log.grid, rows)
	f.w = slices.Clone(s.w)
	return f
}

// aim makes a fitting's slope that of all rows, of whose weight it has a share.
func (s *living) aim(f *fitting) {
	scale := s.n / max(sum(f.weight), 1e-300)
	if f.summed && slices.Equal(f.w, s.w) {
		f.rescale(scale)
	} else {
		f.scale, f.w = scale, slices.Clone(s.w)
		f.begin()
	}
	own := f.rowSlopes()
	f.slope = make([]float64, len(f.w))
	for i := range own {
		f.slope[i] = s.slope[i] - own[i]
	}
	s.price(f)
}

// price says what it costs to move weights. Those that were taught are nearly right,
// and free where the reservoir has every row or many for each weight; where it has few,
// its curvature tells little of them, and they stay unless the slope is more than chance.
// Every test of a rule costs the same: what few rows are left after a change, or say of
// a candidate, is better told by short rules (docs/learners.md).
func (s *living) price(f *fitting) {
	stay := min(1, float64(len(s.w))/float64(max(1, len(s.drawn))))
	if s.whole {
		stay = 0
	}
	f.anchor = s.anchor
	f.lambda = make([]float64, len(s.rules))
	for r := range f.lambda {
		f.lambda[r] = s.s * math.Sqrt(max(s.n, s.age[r])) * float64(len(s.rules[r]))
		if s.taught[r] {
			f.lambda[r] *= stay
		}
	}
}

// settleOn takes a fitting's weights and slopes over.
func (s *living) settleOn(f *fitting) {
	own := f.rowSlopes()
	s.w = slices.Clone(f.w)
	for i := range own {
		s.slope[i] = f.slope[i] + own[i]
	}
}

// step moves the weights to where the loss of all rows is least, as far as its
// slope and the curvature of some rows of the reservoir tell.
func (s *living) step(ctx context.Context) error {
	if s.curve == nil {
		rows := s.reservoirRows()
		s.curve = s.fitOn(rows[:min(len(rows), curveRows)])
	}
	f := s.curve
	s.aim(f)
	before, scores := f.w, f.scores
	if _, err := f.newton(ctx, 2); err != nil {
		return err
	}
	far := 0.0
	for i := range f.scores {
		far = max(far, math.Abs(f.scores[i]-scores[i]))
	}
	far = max(far, s.movesLately(before, f.w))
	if far > farScore {
		w := make([]float64, len(f.w))
		for i := range w {
			w[i] = before[i] + (f.w[i]-before[i])*farScore/far
		}
		f.w = w
		clear(f.scores)
		f.addScores(w, f.scores)
		f.loss, f.summed = f.measure(f.scores), false
	}
	s.settleOn(f)
	s.stepped, s.pending = s.n, 0
	return nil
}

// movesLately returns how far the scores of the last rows move with the weights.
func (s *living) movesLately(from, to []float64) float64 {
	d := make([]float64, len(to))
	for i := range d {
		d[i] = to[i] - from[i]
	}
	rows := s.lastRows(stepRows)
	scores := make([]float64, len(rows)*s.k)
	s.score(&s.log.grid, rows, d, new(sifting), scores)
	far := 0.0
	for _, x := range scores {
		far = max(far, math.Abs(x))
	}
	return far
}

const (
	growSteps   = 8
	growSweeps  = 3
	enoughFall  = 0.01  // nats that a step must bring
	heldOutPart = 5     // one of so many rows chooses the penalty
	refitRows   = 4_096 // of the reservoir, that weights are fitted by
)

// penalties are tried on rows held out, where the reservoir has all rows.
var penalties = [...]float64{0.4, 0.2, 0.1, 0.05}

// stage is what is left to do of a consolidation. Where there are more rows than the
// reservoir has, it is done in three parts, one after some further rows each, so
// that no update waits for all of them.
type stage uint8

const (
	decided  stage = iota
	toFit          // candidates have joined, and have no weight yet
	toSearch       // candidates are to be looked for
)

const (
	stageRows   = 1_000 // after which the next part is done
	stageGrowth = 0.01  // of the rows, after which it also is
)

// grow lets candidates join.
func (s *living) grow(ctx context.Context) error {
	err := s.join(ctx)
	s.last, s.staged, s.stage = s.n, s.n, toFit
	s.probation.clear(len(s.w))
	s.curve = nil
	return err
}

// goOn does the next part of a consolidation.
func (s *living) goOn(ctx context.Context) error {
	s.ownRules()
	at := s.stage
	s.staged = s.n
	if at == toSearch {
		s.stage = decided
		return s.propose(ctx)
	}
	if err := s.refitAll(ctx); err != nil {
		return err
	}
	s.stage = toSearch
	return nil
}

// goOnToEnd does all that is left of a consolidation.
func (s *living) goOnToEnd(ctx context.Context) error {
	for s.stage != decided {
		if err := s.goOn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// refitAll fits all weights, and lets rules without any leave.
func (s *living) refitAll(ctx context.Context) error {
	rows := s.reservoirRows()
	f := s.fitOn(rows[:min(len(rows), refitRows)])
	s.aim(f)
	if err := f.fit(ctx, growSteps, growSweeps, enoughFall); err != nil {
		return err
	}
	if err := s.guard(ctx, f); err != nil {
		return err
	}
	last := s.last
	s.settleOn(f)
	s.certify(f)
	s.leave()
	s.settle()
	s.last = last
	return nil
}

// guard halves what the rows that are gone say against the reservoir while that
// costs the rows of the reservoir more than chance would.
func (s *living) guard(ctx context.Context, f *fitting) error {
	own := *f
	own.slope = make([]float64, len(f.slope))
	if err := own.fit(ctx, 3, 2, enoughFall); err != nil {
		return err
	}
	f.loss = f.measure(f.scores) // the probabilities of these scores
	m := sum(f.weight)
	some := 0
	for _, w := range f.w {
		if w != 0 {
			some++
		}
	}
	mean := func(loss float64) float64 { return loss / f.scale / m }
	for tries := 0; mean(f.loss) > mean(own.loss)+4*float64(some)/(2*m)+0.001 && tries < 6; tries++ {
		for i := range f.slope {
			if f.slope[i] /= 2; tries == 5 {
				f.slope[i] = 0
			}
		}
		if err := f.fit(ctx, 3, 2, enoughFall); err != nil {
			return err
		}
	}
	return nil
}

// regrow learns rules anew from the rows of the reservoir, which has all that
// count, beside those that are there.
func (s *living) regrow(ctx context.Context) error {
	rows := s.reservoirRows()
	found, err := s.generate(ctx, rows, nil)
	if err != nil {
		return err
	}
	for r := range s.taught {
		s.taught[r] = false
	}
	clear(s.anchor)
	known := map[uint64]bool{}
	for _, own := range s.sieve().covers(&s.log.grid, rows) {
		known[s.coverKey(own, rows)] = true
	}
	for i, own := range newSieve(found).covers(&s.log.grid, rows) {
		if id := s.coverKey(own, rows); !known[id] {
			known[id] = true
			s.enter(found[i], make([]float64, s.k), s.n)
		}
	}
	f := s.fitOn(rows)
	if err := s.choosePenalty(ctx, f, rows); err != nil {
		return err
	}
	f.scale, f.slope = 1, make([]float64, len(s.w))
	f.w = slices.Clone(s.w)
	f.begin()
	for i := range s.age {
		s.age[i] = s.n
	}
	f.ridge = 0.01
	s.price(f)
	if err := f.fit(ctx, growSteps, growSweeps, enoughFall); err != nil {
		return err
	}
	s.settleOn(f)
	s.certify(f)
	s.recount()
	s.leave()
	s.settle()
	return nil
}

// coverKey identifies rows that a rule covers.
func (s *living) coverKey(covered, rows []int32) uint64 {
	id := uint64(0)
	for _, at := range covered {
		id += scramble(s.log.key[rows[at]])
	}
	return id
}

// choosePenalty fits with a part of the rows held out, and takes the penalty
// under which it is answered best.
func (s *living) choosePenalty(ctx context.Context, f *fitting, rows []int32) error {
	held := make([]bool, len(rows))
	part := *f
	part.weight = slices.Clone(f.weight)
	kept := 0.0
	for i, r := range rows {
		if held[i] = scramble(s.log.key[r]^0x4e1d)%heldOutPart == 0; held[i] {
			part.weight[i] = 0
		}
		kept += part.weight[i]
	}
	if kept == 0 || kept == sum(f.weight) {
		return nil
	}
	part.scale, part.slope, part.ridge = 1, make([]float64, len(s.w)), 0.01
	part.w = slices.Clone(s.w)
	part.begin()
	best := math.Inf(1)
	was := s.s
	chosen := was
	n := s.n
	for _, x := range penalties {
		s.s, s.n = x, kept
		s.price(&part)
		for r := range part.lambda {
			part.lambda[r] = x * math.Sqrt(kept) * float64(len(s.rules[r]))
		}
		err := part.fit(ctx, growSteps/2, growSweeps, enoughFall)
		s.s, s.n = was, n
		if err != nil {
			return err
		}
		loss := 0.0
		for i := range rows {
			if held[i] {
				loss += f.weight[i] * part.lossOf(i)
			}
		}
		if loss < best {
			best, chosen = loss, x
		}
	}
	s.s = chosen
	return nil
}

// lossOf returns the loss of a row.
func (f *fitting) lossOf(i int) float64 {
	if f.k == 1 {
		s := f.scores[i]
		if f.class[i] == 1 {
			s = -s
		}
		return softplus(s)
	}
	return softmaxLoss(f.scores[i*f.k:(i+1)*f.k], make([]float64, f.k), int(f.class[i]))
}

// leave drops rules without weight, and those that move least if there are too
// many: more than were taught.
func (s *living) leave() {
	k, classes := s.k, s.classes()
	strength := make([]float64, len(s.rules))
	var stay []int
	for r := range s.rules {
		for _, w := range s.w[(r+1)*k : (r+2)*k] {
			strength[r] = max(strength[r], math.Abs(w))
		}
		covers := sum(s.covers[r*classes : (r+1)*classes])
		strength[r] *= math.Sqrt(covers)
		if strength[r] > 0 {
			stay = append(stay, r)
		}
	}
	taught := 0
	for _, t := range s.taught {
		if t {
			taught++
		}
	}
	most := max(mostLivingRules, taught)
	if s.settings.Rules > 0 {
		most = s.settings.Rules
	}
	if len(stay) > most {
		slices.SortStableFunc(stay, func(a, b int) int { return -cmp.Compare(strength[a], strength[b]) })
		stay = stay[:most]
		slices.Sort(stay)
	}
	s.retain(stay)
}

// retain keeps some of the rules.
func (s *living) retain(stay []int) {
	if len(stay) == len(s.rules) {
		return
	}
	k := s.k
	if len(s.probation.rules) == len(s.w) { // else probation ends, and begins anew
		s.probation.rules = retained(s.probation.rules, stay, k)
	}
	s.w, s.slope, s.anchor = retained(s.w, stay, k), retained(s.slope, stay, k), retained(s.anchor, stay, k)
	covers := make([]float64, 0, len(stay)*s.classes())
	rules, taught := make([][]atom, len(stay)), make([]bool, len(stay))
	age, round, removed := make([]float64, len(stay)), make([]int, len(stay)), make([]float64, len(stay))
	for to, from := range stay {
		rules[to], taught[to], age[to], round[to], removed[to] = s.rules[from], s.taught[from], s.age[from], s.round[from], s.removed[from]
		covers = append(covers, s.covers[from*s.classes():(from+1)*s.classes()]...)
	}
	s.rules, s.taught, s.age, s.round, s.removed, s.covers = rules, taught, age, round, removed, covers
	s.curve, s.firing = nil, nil
}

// retained returns the numbers of the bias and of some rules.
func retained(x []float64, stay []int, k int) []float64 {
	to := slices.Clone(x[:k])
	for _, r := range stay {
		to = append(to, x[(r+1)*k:(r+2)*k]...)
	}
	return to
}

// certify says what each rule takes off the loss of the rows, in bits, the others
// as they are.
func (s *living) certify(f *fitting) {
	k := f.k
	for r, rows := range f.cover {
		own, nats := f.w[(r+1)*k:(r+2)*k], 0.0
		for _, i := range rows {
			p, class := f.p[int(i)*k:int(i)*k+k], int(f.class[i])
			without := 0.0
			if k == 1 {
				without = math.Log(p[0]*math.Exp(-own[0])+1-p[0]) + float64(class)*own[0]
			} else {
				for c, w := range own {
					without += p[c] * math.Exp(-w)
				}
				without = math.Log(without) + own[class]
			}
			nats += f.scale * f.weight[i] * without
		}
		s.removed[r] = nats / math.Ln2
	}
}

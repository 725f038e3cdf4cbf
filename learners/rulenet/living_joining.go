package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/crew"
)

const (
	leastFires   = 5.0
	ownCurvature = 0.02 // of a candidate, that no others stand in for
	mostJoining  = 200
	joinRows     = 8 * sieveRows // of the reservoir, that tell how far rules stand in for a candidate
	weighPlanes  = 3             // bits of their weights there
)

// joining is candidates on their way in. How far the rules stand in for one is a
// matter of rows that both cover, each weighed by its curvature. Weights are rounded
// to a few bits, up or down by the row's hash so that they are right on average; a sum
// of them is then a count of bits in a few bitmaps.
type joining struct {
	*living
	weight     float64    // of the reservoir
	rules      []float64  // slopes of the rules of these rows alone, the bias first
	candidates []float64  // and of the candidates
	fires      []int      // rows of these that each candidate covers
	sets       []bits.Set // of the first rows, that each covers
	planes     []bits.Set // of these rows' weights
	unit       float64

	cover  []bits.Set  // of the rules, and those that joined
	factor [][]float64 // Cholesky's, of their curvatures
	exact  [][]float64 // of each score: what the rules' slopes over all rows are beyond those that the known rows tell, by the curvatures solved
}

// join lets candidates in whose slope over all rows, as far as it is known, is
// more than chance and the penalty. What similar rules know exactly counts: the
// slope is that of the candidate's regression on the rules, and the rest of it,
// which the reservoir and the rows since know, times as many as they stand for.
func (s *living) join(ctx context.Context) error {
	if len(s.probation.tests) == 0 {
		return nil
	}
	rows := s.reservoirRows()
	j, err := s.newJoining(ctx, rows)
	if err != nil {
		return err
	}
	return j.admit(ctx, rows)
}

// newJoining finds what rows of the reservoir say of the rules and of the candidates.
func (s *living) newJoining(ctx context.Context, rows []int32) (*joining, error) {
	j := &joining{living: s}
	f := &fitting{k: s.k, classes: s.classes(), scale: 1, w: s.w, class: pickFrom(s.log.class, rows, 0), weight: pickFrom(s.log.weight, rows, 0)}
	f.begin()
	rules := s.sieve().sets(&s.log.grid, rows)
	for r, set := range rules {
		addTo(f.scores, s.w[(r+1)*s.k:(r+2)*s.k], set)
	}
	f.measure(f.scores)
	f.derive()
	j.weight = sum(f.weight)
	j.weigh(f, rows[:min(len(rows), joinRows)])
	j.rules = make([]float64, len(s.w))
	for i, x := range f.residual {
		j.rules[i%s.k] += x
	}
	j.cover = j.shown(rules, f.residual, j.rules[s.k:])
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	candidates := s.probation.sieve().sets(&s.log.grid, rows)
	j.candidates = make([]float64, len(candidates)*s.k)
	j.sets = j.shown(candidates, f.residual, j.candidates)
	for _, set := range candidates {
		j.fires = append(j.fires, set.Count())
	}
	if err := j.factorise(ctx); err != nil {
		return nil, err
	}
	j.solve()
	return j, nil
}

// shown adds values of rows up by conjunction, and returns which of the first rows each
// covers.
func (j *joining) shown(sets []bits.Set, of, sums []float64) []bits.Set {
	first := make([]bits.Set, len(sets))
	for i, set := range sets {
		addRows(sums[i*j.k:(i+1)*j.k], of, set)
		first[i] = set[:min(len(set), joinRows/64)]
	}
	return first
}

// weigh rounds the curvatures of the first rows.
func (j *joining) weigh(f *fitting, rows []int32) {
	weights := make([]float64, len(rows))
	most := 0.0
	for i := range weights {
		for _, x := range f.curve[i*j.k : (i+1)*j.k] {
			weights[i] += x
		}
		most = max(most, weights[i])
	}
	levels := float64(int(1)<<weighPlanes - 1)
	j.unit = max(most, 1e-300) / levels
	for range weighPlanes {
		j.planes = append(j.planes, bits.New(len(rows)))
	}
	for i, w := range weights {
		chance := float64(scramble(j.log.key[rows[i]]^0x6a09e667)>>11) / (1 << 53)
		level := int(min(w/j.unit+chance, levels))
		for b, plane := range j.planes {
			if level>>b&1 != 0 {
				plane.Put(i)
			}
		}
	}
}

// crossed returns the weight of the rows that a conjunction shares with all, and
// with each rule.
func (j *joining) crossed(set bits.Set) []float64 {
	words := len(set)
	own := make(bits.Set, weighPlanes*words)
	cross := make([]float64, 1+len(j.cover), 2+len(j.cover))
	for b, plane := range j.planes {
		part := own[b*words : (b+1)*words]
		bits.And(part, set, plane)
		cross[0] += j.unit * float64(part.Count()<<b)
	}
	for r, other := range j.cover {
		n := 0
		for b := range j.planes {
			n += bits.AndCount(own[b*words:(b+1)*words], other) << b
		}
		cross[r+1] = j.unit * float64(n)
	}
	return cross
}

// factorise makes Cholesky's factor of the rules' curvatures, row by row.
func (j *joining) factorise(ctx context.Context) error {
	total := 0.0
	for b, plane := range j.planes {
		total += j.unit * float64(plane.Count()<<b)
	}
	j.factor = [][]float64{{math.Sqrt(total + 1)}}
	all := j.cover
	j.cover = nil
	for _, set := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		cross := j.crossed(set)
		j.append(cross[0]+1, j.forward(cross), set)
	}
	return nil
}

// forward solves the factor's equations for a right side.
func (j *joining) forward(cross []float64) []float64 {
	y := make([]float64, len(j.factor), len(j.factor)+1)
	for r, row := range j.factor {
		y[r] = (cross[r] - inner(row[:r], y)) / row[r]
	}
	return y
}

// inner is the inner product of numbers and as many others; four sums at once, none of
// which waits for another.
func inner(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + (c + d)
}

// append takes a further row into the factor.
func (j *joining) append(own float64, y []float64, set bits.Set) {
	rest := own
	for _, x := range y {
		rest -= x * x
	}
	j.factor = append(j.factor, append(y, math.Sqrt(max(rest, 1e-9))))
	j.cover = append(j.cover, set)
}

// known is how many rows of all each known one stands for: those of the reservoir, and
// those since the candidates were proposed.
func (j *joining) known() float64 { return j.n / (j.weight + j.probation.weight) }

// backward solves the transposed factor's equations for a right side, which it uses up.
func (j *joining) backward(of []float64) []float64 {
	for r := len(j.factor) - 1; r >= 0; r-- {
		row := j.factor[r]
		of[r] /= row[r]
		for q, x := range row[:r] {
			of[q] -= x * of[r]
		}
	}
	return of
}

// solve prepares what is the same for all candidates. The coefficients of a candidate's
// regression on the rules are its crossings, solved; their product with slopes of the
// rules is that of the crossings with the slopes, solved, which is done once.
func (j *joining) solve() {
	k, times := j.k, j.known()
	of := make([]float64, len(j.factor))
	for c := range k {
		for r := range of {
			at := r*k + c
			of[r] = j.slope[at] - times*(j.rules[at]+j.probation.rules[at])
		}
		j.exact = append(j.exact, j.backward(j.forward(of)))
	}
}

// applicant is a candidate that may join.
type applicant struct {
	at    int
	slope []float64
	gain  float64
}

// stands returns crossings of a candidate, half solved, and whether enough of its
// curvature is its own.
func (j *joining) stands(cross []float64) (y []float64, ok bool) {
	y = j.forward(cross)
	left := cross[0]
	for _, x := range y {
		left -= x * x
	}
	return y, left > ownCurvature*cross[0]
}

// estimate returns the slope of a candidate over all rows: what the known rows tell of
// it, as many times, and what the rules that stand in for it know beyond these.
func (j *joining) estimate(i int, cross []float64) []float64 {
	slope, times := make([]float64, j.k), j.known()
	for c := range slope {
		at := i*j.k + c
		slope[c] = times*(j.candidates[at]+j.probation.slope[at]) + inner(j.exact[c], cross)
	}
	return slope
}

// judge estimates the slope of a candidate over all rows; nil if it is no more than
// chance and the penalty, or others say the same.
func (j *joining) judge(i int, deviation float64) *applicant {
	s, p := j.living, &j.living.probation
	if p.fires[i] < leastFires && p.weight > 0 || j.fires[i] == 0 {
		return nil
	}
	cross := j.crossed(j.sets[i])
	a := &applicant{at: i, slope: j.estimate(i, cross)}
	best := 0.0
	for _, g := range a.slope {
		best = max(best, math.Abs(g))
		a.gain += g * g / (cross[0] + 1)
	}
	if best <= s.s*deviation*float64(len(p.tests[i])) {
		return nil
	}
	if _, ok := j.stands(cross); !ok {
		return nil
	}
	return a
}

// admit judges the candidates, and lets those in that have most to say.
func (j *joining) admit(ctx context.Context, rows []int32) error {
	s, p := j.living, &j.living.probation
	variance := s.n * j.known()
	judged := make([]*applicant, len(p.tests))
	if err := crew.Each(ctx, len(judged), func(i int) { judged[i] = j.judge(i, math.Sqrt(variance)) }); err != nil {
		return err
	}
	all := slices.DeleteFunc(judged, func(a *applicant) bool { return a == nil })
	slices.SortStableFunc(all, func(a, b *applicant) int { return -cmp.Compare(a.gain, b.gain) })
	joined := 0
	for _, a := range all {
		if err := ctx.Err(); err != nil || joined == mostJoining {
			return err
		}
		cross := j.crossed(j.sets[a.at])
		y, ok := j.stands(cross)
		if !ok {
			continue
		}
		j.append(cross[0]+1, y, j.sets[a.at])
		s.enter(p.tests[a.at], a.slope, variance)
		j.count(rows, j.sets[a.at])
		joined++
	}
	return nil
}

// count estimates what rows the rule that joined last has covered.
func (j *joining) count(rows []int32, set bits.Set) {
	s := j.living
	weight := 0.0
	for _, r := range rows[:min(len(rows), joinRows)] {
		weight += s.log.weight[r]
	}
	covers := s.covers[len(s.covers)-s.classes():]
	for i := range set.All {
		r := rows[i]
		covers[s.log.class[r]] += s.n / weight * s.log.weight[r]
	}
}

// enter makes a rule of a candidate, as yet without weight.
func (s *living) enter(tests []atom, slope []float64, variance float64) {
	s.rules, s.firing = append(s.rules, tests), nil
	s.w = append(s.w, make([]float64, s.k)...)
	s.anchor = append(s.anchor, make([]float64, s.k)...)
	s.slope = append(s.slope, slope...)
	s.taught, s.age, s.removed = append(s.taught, false), append(s.age, variance), append(s.removed, 0)
	s.round = append(s.round, s.rounds)
	s.covers = append(s.covers, make([]float64, s.classes())...)
	s.drift.widen(s.k)
}

package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
)

// probation is candidates for rules, and what the rows since they were proposed
// say of them.
type probation struct {
	tests  [][]atom
	slope  []float64 // by candidate and score, over the rows since
	rules  []float64 // slopes of the rules and the bias over the same rows
	fires  []float64 // weight of the rows since that each covers
	weight float64   // of the rows since
}

const (
	mostCandidates = 600
	candidateTrees = 40
	leastFires     = 5.0
	ownCurvature   = 0.02 // of a candidate, that no others stand in for
	mostJoining    = 200
	joinRows       = 4_096 // of the reservoir, that tell how far rules stand in for a candidate
)

func (p *probation) own() {
	for _, of := range []*[]float64{&p.slope, &p.rules, &p.fires} {
		*of = slices.Clone(*of)
	}
	p.tests = slices.Clip(p.tests)
}

// clear ends probation.
func (p *probation) clear(weights int) {
	*p = probation{rules: make([]float64, weights)}
}

// propose puts candidates on probation: nodes of small trees, grown on the rows
// of the reservoir and the last ones from the present scores on.
func (s *living) propose(ctx context.Context) error {
	s.probation.clear(len(s.w))
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
	scores := make([]float64, len(rows)*s.k)
	s.score(&s.log.grid, rows, s.w, nil, scores)
	found, err := s.generate(ctx, rows, scores)
	if err != nil {
		return err
	}
	s.probation.tests = found
	s.probation.slope, s.probation.fires = make([]float64, len(found)*s.k), make([]float64, len(found))
	return nil
}

// generate returns conjunctions that are worth trying given rows and their
// present scores, nil being those of the prior.
func (s *living) generate(ctx context.Context, rows []int32, scores []float64) ([][]atom, error) {
	t, err := s.log.table(s.schema, s.target, rows)
	if err != nil {
		return nil, err
	}
	h, err := newSchool(ctx, t, s.target, s.seed, s.settings)
	if err != nil {
		return nil, err
	}
	if len(h.present) < 2 || len(h.columns) == 0 {
		return nil, nil
	}
	o := boost.Options{Leaves: 8, Depth: 3, Rate: 0.3, RowShare: 0.7, ColumnShare: 1, Seed: scramble(s.seed ^ uint64(s.rounds)<<20 ^ 0x11f1)}
	if len(h.columns) > 8 {
		o.ColumnShare = columnShare
	}
	if s.k > 1 {
		o.Leaves, o.Depth = 12, 4
	}
	teacher := boost.New(h.x, h.weights, nil, nil, o)
	if scores != nil {
		own := make([]float64, h.x.Scores)
		for i := range rows {
			of := scores[i*s.k : (i+1)*s.k]
			switch {
			case s.k == 1:
				own[0] = of[0]
			case len(own) == 1:
				own[0] = of[h.present[1]] - of[h.present[0]]
			default:
				for c, class := range h.present {
					own[c] = of[class]
				}
			}
			teacher.From(i, own)
		}
	}
	if err := teacher.Grow(ctx, candidateTrees); err != nil {
		return nil, err
	}
	return s.distinctNodes(ctx, h, teacher)
}

// distinctNodes returns the nodes of trees that cover rows which no other, nor a
// rule that is there, covers, nor all but these.
func (s *living) distinctNodes(ctx context.Context, h *school, teacher *boost.Teacher) ([][]atom, error) {
	all := count(len(h.weights))
	total := uint64(0)
	own := make([]uint64, len(all))
	for i := range all {
		own[i] = scramble(uint64(i) ^ 0x51ed)
		total += own[i]
	}
	known := map[uint64]bool{0: true, total: true}
	var conjunctions [][]atom
	for i := range teacher.Trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree := &teacher.Trees[i]
		for node := int32(1); int(node) < len(tree.Nodes); node++ {
			tests := tree.Tests(h.x.Columns, node)
			id := uint64(0)
			for _, at := range covered(h.x, tests, all) {
				id += own[at]
			}
			if known[id] || known[total-id] {
				continue
			}
			known[id] = true
			if c := h.conjunction(tests); len(c) > 0 {
				conjunctions = append(conjunctions, h.coding.atoms(c, s.schema))
			}
			if len(conjunctions) == mostCandidates {
				return conjunctions, nil
			}
		}
	}
	return conjunctions, nil
}

// joining is candidates on their way in.
type joining struct {
	*living
	f      *fitting // of the rules over the reservoir
	weigh  []float64
	factor [][]float64 // Cholesky's, of the curvatures of rules and those that joined
	cover  [][]int32
	slopes []float64 // of the rules, of the reservoir's rows alone
	marks  []float64
}

// join lets candidates in whose slope over all rows, as far as it is known, is
// more than chance and the penalty. What similar rules know exactly counts: the
// slope is that of the candidate's regression on the rules, and the rest of it,
// which the reservoir and the rows since know, times as many as they stand for.
func (s *living) join(ctx context.Context, f *fitting, rows []int32) error {
	p := &s.probation
	if len(p.tests) == 0 {
		return nil
	}
	j := &joining{living: s, f: f}
	f.derive()
	m := 0.0
	j.weigh = make([]float64, min(len(rows), joinRows))
	for i, w := range f.weight {
		m += w
		for c := 0; c < s.k && i < len(j.weigh); c++ {
			j.weigh[i] += f.curve[i*s.k+c] / f.scale
		}
	}
	j.slopes = make([]float64, len(s.w))
	f.sums(f.residual, j.slopes)
	for i := range j.slopes {
		j.slopes[i] /= f.scale
	}
	if err := j.factorise(ctx); err != nil {
		return err
	}
	return j.admit(ctx, rows, m)
}

// some returns those of a list of rows, in their order, that are weighed.
func (j *joining) some(rows []int32) []int32 {
	n, _ := slices.BinarySearch(rows, int32(len(j.weigh)))
	return rows[:n]
}

// crossedWith returns the weighed number of rows that a candidate shares with the
// bias and each rule.
func (j *joining) crossedWith(rows []int32) []float64 {
	j.marks = zeroed(j.marks, len(j.weigh))
	all := 0.0
	for _, i := range rows {
		j.marks[i] = j.weigh[i]
		all += j.weigh[i]
	}
	cross := make([]float64, 1+len(j.cover), 2+len(j.cover))
	cross[0] = all
	for r, of := range j.cover {
		sum := 0.0
		for _, i := range of {
			sum += j.marks[i]
		}
		cross[r+1] = sum
	}
	return cross
}

// factorise makes Cholesky's factor of the rules' curvatures, row by row.
func (j *joining) factorise(ctx context.Context) error {
	total := sum(j.weigh)
	j.factor = [][]float64{{math.Sqrt(total + 1)}}
	for _, rows := range j.f.cover {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = j.some(rows)
		cross := j.crossedWith(rows)
		j.append(cross[0]+1, j.forward(cross), rows)
	}
	return nil
}

// forward solves the factor's equations for a right side.
func (j *joining) forward(cross []float64) []float64 {
	y := make([]float64, len(j.factor), len(j.factor)+1)
	for r, row := range j.factor {
		x := cross[r]
		for c, l := range row[:r] {
			x -= l * y[c]
		}
		y[r] = x / row[r]
	}
	return y
}

// append takes a further row into the factor.
func (j *joining) append(own float64, y []float64, rows []int32) {
	rest := own
	for _, x := range y {
		rest -= x * x
	}
	j.factor = append(j.factor, append(y, math.Sqrt(max(rest, 1e-9))))
	j.cover = append(j.cover, rows)
}

// regression returns the coefficients of a candidate on the rules, of which there
// are so many.
func (j *joining) regression(y []float64, rules int) []float64 {
	c := slices.Clone(y[:rules])
	for r := rules - 1; r >= 0; r-- {
		c[r] /= j.factor[r][r]
		for q, l := range j.factor[r][:r] {
			c[q] -= l * c[r]
		}
	}
	return c
}

// promiseOf is a candidate that may join.
type applicant struct {
	at    int
	rows  []int32
	slope []float64
	gain  float64
}

// admit judges the candidates, and lets those in that have most to say.
func (j *joining) admit(ctx context.Context, rows []int32, m float64) error {
	s, p := j.living, &j.living.probation
	k, old := s.k, len(s.rules)+1
	variance := s.n * s.n / (m + p.weight)
	var all []applicant
	for i, tests := range p.tests {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.fires[i] < leastFires && p.weight > 0 {
			continue
		}
		a := applicant{at: i, rows: s.log.match(tests, rows, nil), slope: make([]float64, k)}
		if len(a.rows) == 0 {
			continue
		}
		own := make([]float64, k)
		for _, r := range a.rows {
			for c := range k {
				own[c] += j.f.residual[int(r)*k+c] / j.f.scale
			}
		}
		cross := j.crossedWith(j.some(a.rows))
		y := j.forward(cross)
		left := cross[0]
		for _, x := range y {
			left -= x * x
		}
		if left <= ownCurvature*cross[0] {
			continue
		}
		of := j.regression(y, old)
		best := 0.0
		for c := range k {
			exact, rest := 0.0, own[c]+p.slope[i*k+c]
			for r, x := range of {
				exact += x * s.slope[r*k+c]
				rest -= x * (j.slopes[r*k+c] + p.rules[r*k+c])
			}
			a.slope[c] = exact + s.n*rest/(m+p.weight)
			best = max(best, math.Abs(a.slope[c]))
			a.gain += a.slope[c] * a.slope[c] / (cross[0] + 1)
		}
		if best > s.s*math.Sqrt(variance) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b applicant) int { return -cmp.Compare(a.gain, b.gain) })
	joined := 0
	for _, a := range all {
		if joined == mostJoining {
			break
		}
		cross := j.crossedWith(j.some(a.rows))
		y := j.forward(cross)
		left := cross[0]
		for _, x := range y {
			left -= x * x
		}
		if left <= ownCurvature*cross[0] {
			continue
		}
		j.append(cross[0]+1, y, j.some(a.rows))
		joined++
		s.enter(p.tests[a.at], a.slope, variance)
		j.f.cover = append(j.f.cover, a.rows)
	}
	return nil
}

// enter makes a rule of a candidate, as yet without weight.
func (s *living) enter(tests []atom, slope []float64, variance float64) {
	s.rules = append(s.rules, tests)
	s.w = append(s.w, make([]float64, s.k)...)
	s.anchor = append(s.anchor, make([]float64, s.k)...)
	s.slope = append(s.slope, slope...)
	s.taught, s.age, s.removed = append(s.taught, false), append(s.age, variance), append(s.removed, 0)
	s.round = append(s.round, s.rounds)
	s.covers = append(s.covers, make([]float64, s.classes())...)
}

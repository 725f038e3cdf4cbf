package rulenet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// Living networks of rows that are gone are merged by what each knows of its own: the
// slopes of its rules over all of them, and their curvature by its reservoir. These
// losses add up, over the rules of all networks; what a network does not know, the
// slopes of the others' rules over its rows, is told by its own rules as far as these
// cover the same rows, and else by its reservoir (living_joining.go). The penalty then
// says which rules stay.

// unite gives a network the rules and weights of several, each of which brought some
// of its rows, and leaves as many rows as its reservoir may have.
func (s *living) unite(ctx context.Context, all []*living, rows [][]int32) error {
	voices := make([]*living, len(all))
	for i, of := range all {
		voices[i] = of.in(s.schema)
	}
	place, taught := s.pool(voices)
	f := s.fitOn(slices.Concat(rows...))
	f.scale, f.slope = s.n/max(sum(f.weight), 1e-300), make([]float64, len(s.w))
	at := 0
	for i, v := range voices {
		mine := f.weight[at : at+len(rows[i])]
		at += len(rows[i])
		own := sum(mine)
		if own == 0 {
			continue
		}
		for r := range mine { // each reservoir stands for the rows of its network
			mine[r] *= v.n / own / f.scale
		}
		if err := s.hear(ctx, v, rows[i], place, f.slope); err != nil {
			return err
		}
	}
	f.w = slices.Clone(s.w)
	if err := s.decideUnion(ctx, f, taught); err != nil {
		return err
	}
	n, counted := s.n, s.rows
	s.trim()
	s.n, s.rows = n, counted
	s.recent = min(windowRows, s.log.rows())
	s.recount()
	s.leave()
	s.settle()
	s.stage, s.staged = toSearch, s.n
	return ctx.Err()
}

// pool takes over the rules of all networks, as yet without weight. It returns the
// place of each, from 1, and which were taught.
func (s *living) pool(voices []*living) (place map[string]int, taught []bool) {
	s.n, s.rows, s.s = 0, 0, 0
	place = map[string]int{}
	for _, v := range voices {
		s.n, s.rows, s.s, s.alarms = s.n+v.n, s.rows+v.rows, s.s+v.n*v.s, s.alarms+v.alarms
		for _, tests := range v.rules {
			if id := fmt.Sprint(tests); place[id] == 0 {
				s.rules = append(s.rules, tests)
				place[id] = len(s.rules)
			}
		}
	}
	s.s /= max(s.n, 1e-300)
	slices.SortFunc(s.rules, func(a, b []atom) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for r, tests := range s.rules {
		place[fmt.Sprint(tests)] = r + 1
	}
	taught = make([]bool, len(s.rules))
	for _, v := range voices {
		for r, tests := range v.rules {
			at := place[fmt.Sprint(tests)] - 1
			taught[at] = taught[at] || v.taught[r]
		}
	}
	s.firing = nil
	s.w = make([]float64, (len(s.rules)+1)*s.k)
	s.slope, s.anchor = make([]float64, len(s.w)), make([]float64, len(s.w))
	s.taught, s.round, s.removed = make([]bool, len(s.rules)), make([]int, len(s.rules)), make([]float64, len(s.rules))
	s.age = slices.Repeat([]float64{s.n}, len(s.rules))
	return place, taught
}

// decideUnion lets the penalty say which rules stay. Those that were taught then cost
// nothing any more (Meinshausen, Relaxed lasso, 2007).
func (s *living) decideUnion(ctx context.Context, f *fitting, taught []bool) error {
	s.price(f)
	f.begin()
	if err := f.fit(ctx, 2*growSteps, growSweeps, enoughFall); err != nil {
		return err
	}
	of := func(x []float64, r int) []float64 { return x[(r+1)*s.k : (r+2)*s.k] }
	for r := range s.taught {
		if s.taught[r] = taught[r] && some(of(f.w, r)); s.taught[r] {
			f.lambda[r] = 0
		}
	}
	if err := f.fit(ctx, growSteps, growSweeps, enoughFall); err != nil {
		return err
	}
	if err := s.guard(ctx, f); err != nil {
		return err
	}
	s.settleOn(f)
	for r, t := range s.taught {
		if t {
			copy(of(s.anchor, r), of(s.w, r))
		}
	}
	s.certify(f)
	return nil
}

// in returns what a network knows in the codes of a schema that has its columns,
// values and classes, and maybe more.
func (s *living) in(schema *table.Schema) *living {
	classes := &schema.Attributes[schema.Index(s.schema.Attributes[s.target].Name)]
	if len(classes.Values) > s.classes() {
		s = s.copy()
		s.schema = table.CopySchema(s.schema)
		own := &s.schema.Attributes[s.target]
		for _, name := range classes.Values {
			if own.Code(name) < 0 {
				own.Values = append(own.Values, name)
			}
		}
		s.room(len(own.Values))
	}
	to, _ := s.recoded(schema)
	return to
}

// hear adds what a network knows of its rows beyond those of its reservoir: the slopes
// of all rules over all of them, less those of the reservoir, where its weights are.
func (s *living) hear(ctx context.Context, v *living, rows []int32, place map[string]int, slope []float64) error {
	k := s.k
	if len(v.rules) == 0 && v.whole {
		return nil // its rows are all there is to know
	}
	weights, known := make([]float64, len(s.w)), make([]bool, len(s.rules)+1)
	exact := make([]float64, len(s.w))
	move := func(to, from int) {
		known[to] = true
		copy(weights[to*k:(to+1)*k], v.w[from*k:(from+1)*k])
		copy(exact[to*k:(to+1)*k], v.slope[from*k:(from+1)*k])
	}
	move(0, 0)
	for r, tests := range v.rules {
		move(place[fmt.Sprint(tests)], r+1)
	}
	f := s.fitOn(rows)
	f.w, f.scale = weights, v.n/sum(f.weight)
	f.begin()
	own := f.rowSlopes()
	for i, w := range weights {
		s.w[i] += v.n / s.n * w
	}
	v.log, v.drawn, v.firing = s.log, rows, nil
	v.probation = probation{rules: make([]float64, len(v.w))}
	var foreign []int
	for r, tests := range s.rules {
		if !known[r+1] {
			v.probation.tests = append(v.probation.tests, tests)
			foreign = append(foreign, r+1)
		}
	}
	v.probation.slope, v.probation.fires = make([]float64, len(foreign)*k), make([]float64, len(foreign))
	j, err := v.newJoining(ctx, rows)
	if err != nil {
		return err
	}
	for i, r := range foreign {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.whole { // every row of the network is in its reservoir
			copy(exact[r*k:(r+1)*k], own[r*k:(r+1)*k])
			continue
		}
		copy(exact[r*k:(r+1)*k], j.estimate(i, j.crossed(j.sets[i])))
	}
	for i := range slope {
		slope[i] += exact[i] - own[i]
	}
	return nil
}

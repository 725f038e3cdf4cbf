package nearest

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
)

// The factors that are tried for an axis, and on how many rows that are left
// out, in how many rounds at most.
var (
	triedFactors = []float64{0, 0.25, 0.5, 1, 2, 4}
	inOrOut      = []float64{0, 1}
)

const (
	mostStretched = 300
	mostRounds    = 3
	mostModest    = 2000 // cases
)

// stretched returns a factor for each column, by coordinate search: column after
// column gets the factor with which rows that are left out are answered best,
// until a round changes nothing. nil if axes are to be left as they are.
func stretched(ctx context.Context, l lesson, c *cases) ([]float64, error) {
	factors := map[string][]float64{"eliminate": inOrOut, modest: inOrOut, "global": triedFactors}[l.Settings.Stretch]
	if factors == nil || l.Settings.Stretch == modest && c.count() > mostModest {
		return nil, nil
	}
	t, err := newTrials(ctx, l, c)
	if err != nil {
		return nil, err
	}
	z := make([]float64, len(c.schema.Attributes))
	for j := range z {
		z[j] = 1
	}
	now, err := t.fares(ctx, z)
	if err != nil {
		return nil, err
	}
	if l.Settings.Stretch == "eliminate" {
		if some, then, err := t.forward(ctx); err != nil {
			return nil, err
		} else if then.better(now) {
			z, now = some, then
		}
	}
	for range mostRounds {
		changed := false
		for _, j := range t.columns {
			best := z[j]
			for _, factor := range factors {
				if factor == best {
					continue
				}
				then, err := t.with(ctx, z, j, factor)
				if err != nil {
					return nil, err
				}
				if then.better(now) {
					now, best, changed = then, factor, true
				}
			}
			z[j] = best
		}
		if !changed {
			break
		}
	}
	return z, nil
}

// forward begins with no column and adds the one that serves best, as long as one
// does. Where few of many columns count, leaving out one at a time shows little.
func (t *trials) forward(ctx context.Context) ([]float64, fare, error) {
	z := make([]float64, len(t.m.cases.schema.Attributes))
	now := fare{math.Inf(1), math.Inf(1)}
	for {
		best := -1
		for _, j := range t.columns {
			if z[j] != 0 {
				continue
			}
			then, err := t.with(ctx, z, j, 1)
			if err != nil {
				return nil, now, err
			}
			if then.better(now) {
				now, best = then, j
			}
		}
		if best < 0 {
			return z, now, nil
		}
		z[best] = 1
	}
}

// trials are the cases with which factors are tried. Where those that are left out
// and all others are few, the distances of all pairs are kept, so that another
// factor of one column costs one term each, and not all columns again.
type trials struct {
	m       *Model // with all axes as they are
	columns []int  // that have a say
	of      []int  // of each column: its place in the metric, names behind numbers; -1: it has no say
	ks      []float64
	asked   []int
	at      []float64 // the factors that the sums are for; nil: none yet
	sums    []float64 // of each case that is asked about, with every case; nil: too many
}

// mostPaired bounds the pairs whose distances are kept.
const mostPaired = 1 << 22

func newTrials(ctx context.Context, l lesson, c *cases) (*trials, error) {
	t := &trials{m: &Model{lesson: l, cases: c}, of: make([]int, len(c.schema.Attributes))}
	if err := t.m.lay(ctx, nil); err != nil {
		return nil, err
	}
	given := c.weight
	if k, err := strconv.Atoi(l.Settings.K); err == nil {
		given = float64(k)
	}
	t.ks = t.m.trials(given)
	for j := range t.of {
		t.of[j] = -1
	}
	for d := range t.m.metric.numbers {
		t.of[t.m.metric.numbers[d].column] = d
	}
	for d := range t.m.metric.names {
		t.of[t.m.metric.names[d].column] = len(t.m.metric.numbers) + d
	}
	for _, j := range c.inputs() {
		if t.of[j] >= 0 {
			t.columns = append(t.columns, j)
		}
	}
	var err error
	if t.asked, err = sampled(ctx, c, mostStretched); err != nil {
		return nil, err
	}
	if len(t.asked)*c.count() <= mostPaired {
		t.sums = make([]float64, len(t.asked)*c.count())
	}
	return t, nil
}

// fares leaves rows out with axes stretched.
func (t *trials) fares(ctx context.Context, z []float64) (fare, error) {
	if t.sums == nil {
		return fares(ctx, t.m.lesson, t.m.cases, z)
	}
	if err := t.move(ctx, z); err != nil {
		return fare{}, err
	}
	return t.judged(ctx, nil)
}

// with is fares with another factor for one column.
func (t *trials) with(ctx context.Context, z []float64, j int, factor float64) (fare, error) {
	if t.sums == nil {
		z = slices.Clone(z)
		z[j] = factor
		return t.fares(ctx, z)
	}
	if err := t.move(ctx, z); err != nil {
		return fare{}, err
	}
	more := t.m.metric.contribution(factor) - t.m.metric.contribution(z[j])
	return t.judged(ctx, func(s *search, sums, out []float64) {
		for i, x := range t.terms(s, t.of[j], out) {
			was, term := sums[i], more*x
			if out[i] = was + term; !(out[i] > 1e-13*was) {
				out[i] = 0 // what is left is rounding
			}
		}
	})
}

// terms writes what a column contributes to the distances of a question to all
// cases.
func (t *trials) terms(s *search, d int, out []float64) []float64 {
	m := t.m.metric
	width, names := len(m.numbers), len(m.names)
	if d >= width {
		d -= width
		for i := range out {
			out[i] = s.near[d][m.codes[i*names+d]]
		}
		return out
	}
	for i := range out {
		e := s.point[d] - m.points[i*width+d]
		if out[i] = float64(e * e); e != e {
			out[i] = m.numbers[d].missing
		}
	}
	return out
}

// move adds all distances up anew, if the factors are others.
func (t *trials) move(ctx context.Context, z []float64) error {
	if t.at != nil && slices.Equal(t.at, z) {
		return nil
	}
	t.at = slices.Clone(z)
	count := t.m.cases.count()
	return learn.Each(ctx, len(t.asked), func(at int) {
		s := t.m.room()
		defer t.m.rooms.Put(s)
		s.askCase(t.asked[at], 1)
		sums, out := t.sums[at*count:(at+1)*count], make([]float64, count)
		clear(sums)
		for _, j := range t.columns {
			if z[j] == 0 || ctx.Err() != nil {
				continue
			}
			factor := t.m.metric.contribution(z[j])
			for i, x := range t.terms(s, t.of[j], out) {
				sums[i] += float64(factor * x)
			}
		}
	})
}

// judged leaves the rows out by the distances as they are, or changed.
func (t *trials) judged(ctx context.Context, change func(s *search, sums, out []float64)) (fare, error) {
	m, count := t.m, t.m.cases.count()
	parts := make([]*leftOut, (len(t.asked)+few-1)/few)
	err := learn.Each(ctx, len(parts), func(chunk int) {
		s := m.room()
		defer m.rooms.Put(s)
		part, out := newLeftOut(t.ks), make([]float64, count)
		for at := chunk * few; at < min((chunk+1)*few, len(t.asked)) && ctx.Err() == nil; at++ {
			s.askCase(t.asked[at], slices.Max(t.ks)+1)
			sums := t.sums[at*count : (at+1)*count]
			if change != nil {
				change(s, sums, out)
				sums = out
			}
			for i, sum := range sums {
				if sum <= s.limit {
					s.take(neighbour{sum: sum, near: digits(sum), at: int32(i), used: m.cases.worth[i]})
				}
			}
			m.judge(s, t.asked[at], t.ks, part)
		}
		parts[chunk] = part
	})
	if err != nil {
		return fare{}, err
	}
	all := newLeftOut(t.ks)
	for _, part := range parts {
		all.add(part)
	}
	best := all.best()
	return fare{all.errors[best], slices.Min(all.loss[best])}, nil
}

// fare is how a metric fares: its errors and its loss, with the best k.
type fare struct{ errors, loss float64 }

func (a fare) better(b fare) bool {
	return a.errors < b.errors*(1-rounding) || a.errors <= b.errors && a.loss < b.loss*(1-rounding)
}

// fares leaves rows out with axes stretched.
func fares(ctx context.Context, l lesson, c *cases, z []float64) (fare, error) {
	m := &Model{lesson: l, cases: c}
	if err := m.measure(ctx, z); err != nil {
		return fare{}, err
	}
	given := c.weight
	if k, err := strconv.Atoi(l.Settings.K); err == nil {
		given = float64(k)
	}
	found, err := m.leaveOut(ctx, m.trials(given), mostStretched)
	if err != nil {
		return fare{}, err
	}
	best := found.best()
	return fare{found.errors[best], slices.Min(found.loss[best])}, nil
}

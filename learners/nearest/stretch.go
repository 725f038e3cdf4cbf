package nearest

import (
	"context"
	"math"
	"slices"
	"strconv"
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
	z := make([]float64, len(c.schema.Attributes))
	for j := range z {
		z[j] = 1
	}
	now, err := fares(ctx, l, c, z)
	if err != nil {
		return nil, err
	}
	if l.Settings.Stretch == "eliminate" {
		if some, then, err := forward(ctx, l, c); err != nil {
			return nil, err
		} else if then.better(now) {
			z, now = some, then
		}
	}
	for range mostRounds {
		changed := false
		for _, j := range c.inputs() {
			best := z[j]
			for _, factor := range factors {
				if z[j] = factor; factor == best {
					continue
				}
				then, err := fares(ctx, l, c, z)
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
func forward(ctx context.Context, l lesson, c *cases) ([]float64, fare, error) {
	z := make([]float64, len(c.schema.Attributes))
	now := fare{math.Inf(1), math.Inf(1)}
	for {
		best := -1
		for _, j := range c.inputs() {
			if z[j] != 0 {
				continue
			}
			z[j] = 1
			then, err := fares(ctx, l, c, z)
			if err != nil {
				return nil, now, err
			}
			if z[j] = 0; then.better(now) {
				now, best = then, j
			}
		}
		if best < 0 {
			return z, now, nil
		}
		z[best] = 1
	}
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

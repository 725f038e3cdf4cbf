// Package mixed answers from mixtures: given how probable each of some units
// is, and what each expects of a column, it says what is expected of the column
// (Tresp, Hollatz & Ahmad 1997, equations 11 and 12), how far it may lie from
// that, where its density has its peaks, and makes up rows.
//
// Learners that find units (gaussian) and bases of rules that state them
// (rulebase) answer by it, so that what was learnt and what was printed agree.
package mixed

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Column is what units expect of one column, side by side.
type Column struct {
	// Of a number: mean and deviation by unit, which are Scale times those in
	// the column's own unit.
	Scale           float64
	Mean, Deviation []float64
	// Of a name: the probability of value v in unit u of K at v·K + u.
	Share []float64
	// Silent columns never vary, and say nothing of units.
	Silent bool
}

// Normal95 is how many deviations hold 95 % of a normal density, to each side.
const Normal95 = 1.959963984540054

// Classes fills in the probabilities of values, given those of the units.
func (c *Column) Classes(units, p []float64) {
	k, total := len(units), 0.0
	for v := range p {
		sum := 0.0
		for i, share := range c.Share[v*k:][:k] {
			sum += units[i] * share
		}
		p[v] = sum
		total += sum
	}
	for v := range p {
		p[v] = min(p[v]/total, 1)
	}
}

// Number returns the mean, and an interval of 1.96 deviations of the mixture to
// both sides, given the probabilities of the units.
func (c *Column) Number(units []float64) (mean, low, high float64) {
	for i, r := range units {
		mean += r * c.Mean[i]
	}
	variance := 0.0
	for i, r := range units {
		d := c.Mean[i] - mean
		variance += r * (d*d + c.Deviation[i]*c.Deviation[i])
	}
	reach := Normal95 * math.Sqrt(variance)
	return c.Own(mean), c.Own(mean - reach), c.Own(mean + reach)
}

// Own returns a number in the column's own unit, the largest there is if it is
// too large.
func (c *Column) Own(x float64) float64 {
	return min(max(x/c.Scale, -math.MaxFloat64), math.MaxFloat64)
}

// Spread returns the median and the 2.5 % and 97.5 % quantiles.
func (c *Column) Spread(units []float64) (median, low, high float64) {
	return c.Own(c.quantile(units, 0.5)), c.Own(c.quantile(units, 0.025)), c.Own(c.quantile(units, 0.975))
}

// below returns the probability of a number below x.
func (c *Column) below(units []float64, x float64) float64 {
	p := 0.0
	for i, r := range units {
		switch {
		case r == 0:
		case c.Deviation[i] > 0:
			p += r * 0.5 * math.Erfc((c.Mean[i]-x)/c.Deviation[i]/math.Sqrt2)
		case c.Mean[i] <= x:
			p += r
		}
	}
	return p
}

// quantile returns the number below which a share of the probability lies, by
// halving an interval that has it inside.
func (c *Column) quantile(units []float64, p float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for i, r := range units {
		if r > 0 {
			low, high = min(low, c.Mean[i]-40*c.Deviation[i]), max(high, c.Mean[i]+40*c.Deviation[i])
		}
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if c.below(units, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// leastMode is the height, relative to the highest, from which a peak counts.
const leastMode = 0.05

// Modes returns the peaks of the density of a column, the highest first. Each
// is found uphill from a unit's centre by the fixed point of the derivative's
// zero, x = Σ g_i c_i/σ_i² / Σ g_i/σ_i² (Carreira-Perpiñán 2000), which every
// peak of a mixture can be reached by.
func (c *Column) Modes(units []float64) []float64 {
	type peak struct{ x, height float64 }
	var peaks []peak
	for i, r := range units {
		if r < 1e-6 {
			continue
		}
		x := c.Mean[i]
		if !(c.Deviation[i] > 0) {
			return []float64{c.Own(x)}
		}
		height := 0.0
		for range 1000 {
			up, down := 0.0, 0.0
			height = 0
			for k, s := range units {
				z := (x - c.Mean[k]) / c.Deviation[k]
				g := s * math.Exp(-0.5*z*z) / c.Deviation[k]
				height += g
				up += g / c.Deviation[k] * (c.Mean[k] / c.Deviation[k])
				down += g / c.Deviation[k] / c.Deviation[k]
			}
			next := up / down
			if next-next != 0 || math.Abs(next-x) <= 1e-9*c.Deviation[i] {
				break
			}
			x = next
		}
		if !slices.ContainsFunc(peaks, func(p peak) bool { return math.Abs(p.x-x) < 1e-3*c.Deviation[i] }) {
			peaks = append(peaks, peak{x, height})
		}
	}
	slices.SortStableFunc(peaks, func(a, b peak) int { return cmp.Compare(b.height, a.height) })
	var modes []float64
	for _, p := range peaks {
		if p.height >= leastMode*peaks[0].height {
			modes = append(modes, c.Own(p.x))
		}
	}
	return modes
}

// Probes is the number of made-up rows that a question is compared with.
const Probes = 2000

// Seeded returns the random numbers that such rows are made up with.
func Seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Experience returns the share of made-up rows, given the logs of their
// densities, that are no denser than a question. Rows of the same names are
// equally dense, up to the order in which logs were added, and count: a value
// that a third of the rows have is not outside experience because the other
// values are no rarer.
func Experience(densities []float64, question float64) float64 {
	const rounding = 1e-9
	asRare := 0
	for _, l := range densities {
		if l <= question+rounding {
			asRare++
		}
	}
	return float64(asRare) / float64(len(densities))
}

// Draw returns an index in proportion to its weight.
func Draw(weights []float64, random *rand.Rand) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	x, last := random.Float64()*total, 0
	for r, w := range weights {
		if w <= 0 {
			continue
		}
		last = r
		if x -= w; x < 0 {
			return r
		}
	}
	return last
}

// Units draws the units of rows by their priors.
func Units(rows int, priors []float64, random *rand.Rand) []int {
	units := make([]int, rows)
	for r := range units {
		units[r] = Draw(priors, random)
	}
	return units
}

// Make makes up the cells of rows of units; they are missing if the column is
// not wanted, or has nothing to say.
func (c *Column) Make(units []int, k int, wanted bool, random *rand.Rand) table.Column {
	if c.Share != nil {
		codes := make([]int32, len(units))
		p := make([]float64, len(c.Share)/k)
		for r, u := range units {
			codes[r] = table.Missing
			if wanted && len(p) > 0 {
				for v := range p {
					p[v] = c.Share[v*k+u]
				}
				codes[r] = int32(Draw(p, random))
			}
		}
		return table.Column{Codes: codes}
	}
	floats := make([]float64, len(units))
	for r, u := range units {
		if floats[r] = table.NA; wanted && !c.Silent {
			floats[r] = c.Own(c.Mean[u] + c.Deviation[u]*random.NormFloat64())
		}
	}
	return table.Column{Floats: floats}
}

package tree

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Entropy returns the bits needed to say the class of a row drawn from a
// collection with these weights per class (Mitchell 1997, eq. 3.3).
func Entropy(counts []float64) float64 { return perRow(gain, counts) }

// Gini returns the chance that two rows drawn from the collection differ in
// class (Breiman et al. 1984).
func Gini(counts []float64) float64 { return perRow(gini, counts) }

// KearnsMansour returns the impurity 2·sqrt(p(1-p)) of Kearns and Mansour
// (1996); for more than two classes the sum of sqrt(p(1-p)) over them.
func KearnsMansour(counts []float64) float64 { return perRow(kearns, counts) }

func perRow(m measure, counts []float64) float64 {
	n := sum(counts)
	if n == 0 {
		return 0
	}
	return m.mass(counts, n) / n
}

// measure is how splits are compared.
type measure uint8

const (
	gain     measure = iota // information gain (Quinlan 1986)
	ratio                   // gain ratio, among splits of at least average gain
	distance                // López de Mántaras 1991
	gini
	kearns
	variance // of a numeric target
)

var measures = map[string]measure{"gain": gain, "ratio": ratio, "distance": distance, "gini": gini, "kearns": kearns}

// mass returns n times the impurity of a collection. What it is computed from
// is additive: class weights, or for a numeric target the moments of its rows
// (weight, sum, sum of squares).
func (m measure) mass(stat []float64, n float64) float64 {
	if n <= 0 {
		return 0
	}
	mass := 0.0
	switch m {
	case gini:
		for _, c := range stat {
			mass += c * (n - c)
		}
		mass /= n
	case kearns:
		for _, c := range stat {
			mass += math.Sqrt(c * max(n-c, 0))
		}
	case variance:
		mass = stat[2] - stat[1]*stat[1]/n
	default:
		mass = xlogx(n)
		for _, c := range stat {
			mass -= xlogx(c)
		}
	}
	return max(mass, 0)
}

// additive reports whether a collection's mass follows from its weight and a
// sum over its classes.
func (m measure) additive() bool { return m != kearns && m != variance }

// term is what a class adds to that sum.
func (m measure) term(c float64) float64 {
	if m == gini {
		return c * c
	}
	return xlogx(c)
}

// massOf is mass, given the sum.
func (m measure) massOf(terms, n float64) float64 {
	if n <= 0 {
		return 0
	}
	if m == gini {
		return max(n-terms/n, 0)
	}
	return max(xlogx(n)-terms, 0)
}

// weight returns the weight of the rows that a statistic was computed from.
func (m measure) weight(stat []float64) float64 {
	if m == variance {
		return stat[0]
	}
	return sum(stat)
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// xlogx returns x·log2(x), 0 at 0. Most weights are small whole numbers.
func xlogx(x float64) float64 {
	if i := int(x); float64(i) == x && uint(i) < uint(len(smallXLogX)) {
		return smallXLogX[i]
	}
	if x <= 0 {
		return 0
	}
	return x * math.Log2(x)
}

var smallXLogX = tabulate(1 << 12)

func tabulate(n int) []float64 {
	t := make([]float64, n)
	for i := 2; i < n; i++ {
		t[i] = float64(i) * math.Log2(float64(i))
	}
	return t
}

// Split is what a test does to a collection: for each branch the weight of
// its rows per class.
type Split [][]float64

// total returns the weights per class before the split.
func (s Split) total() []float64 {
	var total []float64
	for _, branch := range s {
		if total == nil {
			total = make([]float64, len(branch))
		}
		for c, w := range branch {
			total[c] += w
		}
	}
	return total
}

// drop returns how much lower the impurity is after the split.
func (s Split) drop(m measure) float64 {
	total := s.total()
	n := m.weight(total)
	if n == 0 {
		return 0
	}
	mass := m.mass(total, n)
	for _, branch := range s {
		mass -= m.mass(branch, m.weight(branch))
	}
	return mass / n
}

// Gain is the information gain: the entropy that the split takes away
// (eq. 3.4).
func (s Split) Gain() float64 { return s.drop(gain) }

// GiniGain is the same for the Gini impurity.
func (s Split) GiniGain() float64 { return s.drop(gini) }

// SplitInformation is the entropy of the branches' sizes (eq. 3.5).
func (s Split) SplitInformation() float64 {
	sizes := make([]float64, len(s))
	for b := range s {
		sizes[b] = sum(s[b])
	}
	return Entropy(sizes)
}

// GainRatio is Gain over SplitInformation (eq. 3.6); 0 where all rows go one
// way.
func (s Split) GainRatio() float64 { return over(s.Gain(), s.SplitInformation()) }

// JointEntropy is the entropy of branch and class together.
func (s Split) JointEntropy() float64 {
	var cells []float64
	for _, branch := range s {
		cells = append(cells, branch...)
	}
	return Entropy(cells)
}

// Distance is the distance between the partition by branches and the one by
// classes, from 0 to 1 (López de Mántaras 1991): the smaller the better.
func (s Split) Distance() float64 { return 1 - over(s.Gain(), s.JointEntropy()) }

func over(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// ChiSquare is Pearson's test of branch against class (Quinlan 1986): the
// statistic, its degrees of freedom, and the chance of one as large if they
// had nothing to do with each other. Branches and classes without rows do not
// count.
func (s Split) ChiSquare() (x2 float64, df int, p float64) {
	total := s.total()
	n := sum(total)
	branches, classes := 0, 0
	for _, t := range total {
		if t > 0 {
			classes++
		}
	}
	for _, branch := range s {
		size := sum(branch)
		if size <= 0 {
			continue
		}
		branches++
		for c, have := range branch {
			if expected := size * total[c] / n; expected > 0 {
				x2 += (have - expected) * (have - expected) / expected
			}
		}
	}
	df = max(branches-1, 0) * max(classes-1, 0)
	if df == 0 {
		return 0, 0, 1
	}
	return x2, df, mathext.GammaIncRegComp(float64(df)/2, x2/2)
}

// costing is how what a test costs to make enters the choice (Mitchell 1997,
// §3.7.5).
type costing struct {
	method string    // ratio, tan or nunez; "" where tests are free
	of     []float64 // by column
	weight float64   // Nunez's w
}

// score returns what a gain is worth at the test's cost.
func (c *costing) score(gain float64, col int) float64 {
	switch c.method {
	case "ratio":
		return GainPerCost(gain, c.of[col])
	case "tan":
		return TanSchlimmer(gain, c.of[col])
	case "nunez":
		return Nunez(gain, c.of[col], c.weight)
	}
	return gain
}

// GainPerCost is gain over cost.
func GainPerCost(gain, cost float64) float64 { return gain / cost }

// TanSchlimmer is gain² over cost (Tan and Schlimmer 1990).
func TanSchlimmer(gain, cost float64) float64 { return gain * gain / cost }

// Nunez is (2^gain - 1)/(cost+1)^w, where w from 0 to 1 says how much cost
// matters (Nunez 1988).
func Nunez(gain, cost, w float64) float64 { return (math.Exp2(gain) - 1) / math.Pow(cost+1, w) }

// NormalBound returns the lower end of the normal interval around an accuracy
// seen on n rows, z standard errors below it.
func NormalBound(accuracy, n, z float64) float64 {
	if n <= 0 {
		return 0
	}
	return accuracy - z*math.Sqrt(accuracy*(1-accuracy)/n)
}

// UpperError returns C4.5's pessimistic error rate U_CF(e, n): the rate at
// which e errors or fewer in n rows would be seen with probability cf only
// (Quinlan 1993). Weights need not be whole.
func UpperError(e, n, cf float64) float64 {
	switch {
	case n <= 0 || e >= n:
		return 1
	case e <= 0:
		return 1 - math.Pow(cf, 1/n)
	}
	return mathext.InvRegIncBeta(e+1, n-e, 1-cf)
}

// upperErrors is UpperError at one confidence, which remembers what it
// computed: most leaves have few rows.
func upperErrors(cf float64) func(e, n float64) float64 {
	seen := map[[2]float64]float64{}
	return func(e, n float64) float64 {
		key := [2]float64{e, n}
		u, ok := seen[key]
		if !ok {
			u = UpperError(e, n, cf)
			seen[key] = u
		}
		return u
	}
}

// leafBits returns what it costs in bits to state a leaf and the classes of
// its rows: a bit that it is a leaf, its class, how many rows are exceptions
// and which (Quinlan and Rivest 1989).
func leafBits(errors, n float64, classes int) float64 {
	return 1 + math.Log2(float64(classes)) + math.Log2(n+1) + log2Choose(n, errors)
}

// testBits returns what it costs to state a test: a bit that it is one, and
// which of the attributes that can still be tested.
func testBits(attributes int) float64 { return 1 + math.Log2(float64(max(attributes, 1))) }

func log2Choose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return (a - b - c) / math.Ln2
}

package linear

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// What becomes of a term.
type fate uint8

const (
	used      fate = iota
	reference      // the value that the others of its column are measured from
	constant       // it never varies
	dependent      // a linear combination of terms before it
)

// choice is the terms that can be told apart, standardised.
type choice struct {
	fates     []fate
	deviation []float64 // of each term, 1 where it never varies
	terms     []int     // those in use, in canonical order
	factor    []float64 // Cholesky factor of their correlations, lower triangle
}

const (
	// leastDeviation is what rounding can make of a constant, relative to it.
	leastDeviation = 1e-12
	// leastOwn is the share of a term's variance that terms before it must
	// leave to it. The co-moments are good to some 1e-15, so that a weight is
	// then good to 1e-10 of what it moves.
	leastOwn = 1e-10
)

// choose finds the terms that can be told apart: Cholesky's factor of the
// correlations is grown a term at a time, in the order of the columns and of
// their values' names, and a term of which nothing is left is passed over.
func (b *block) choose(ctx context.Context) (*choice, error) {
	c := &choice{fates: make([]fate, b.terms), deviation: make([]float64, b.terms)}
	var rows [][]float64 // of the factor
	for j := range b.frames {
		for _, i := range b.inOrder(j) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c.deviation[i] = math.Sqrt(b.moment(i, i) / b.weight)
			if !(c.deviation[i] > leastDeviation*math.Abs(b.mean[i])) || c.deviation[i] < 0x1p-500 {
				c.fates[i], c.deviation[i] = constant, 1
				continue
			}
			row := make([]float64, len(c.terms)+1)
			for k, term := range c.terms {
				row[k] = (b.correlation(c, i, term) - floats.Dot(row[:k], rows[k][:k])) / rows[k][k]
			}
			own := 1 - floats.Dot(row[:len(c.terms)], row[:len(c.terms)])
			if own < leastOwn {
				c.fates[i] = dependent
				continue
			}
			row[len(c.terms)] = math.Sqrt(own)
			rows, c.terms = append(rows, row), append(c.terms, i)
		}
	}
	n := len(rows)
	c.factor = make([]float64, n*n)
	for i, row := range rows {
		copy(c.factor[i*n:], row)
	}
	b.markReferences(c)
	return c, nil
}

// markReferences names the first of a nominal column's dependent terms: its
// indicators add up to 1, so that one of them follows from the others.
func (b *block) markReferences(c *choice) {
	for j := range b.frames {
		if b.count(j) == 0 || b.numeric(j) {
			continue
		}
		order := b.inOrder(j)
		if !slices.ContainsFunc(order, func(i int) bool { return c.fates[i] == used }) {
			continue
		}
		if k := slices.IndexFunc(order, func(i int) bool { return c.fates[i] == dependent }); k >= 0 {
			c.fates[order[k]] = reference
		}
	}
}

// correlation returns that of two terms that vary.
func (b *block) correlation(c *choice, i, j int) float64 {
	if i == j {
		return 1
	}
	return b.moment(i, j) / c.deviation[i] / c.deviation[j] / b.weight
}

// inOrder returns a column's terms in canonical order.
func (l *layout) inOrder(j int) []int {
	order := make([]int, l.count(j))
	for i := range order {
		order[i] = l.first[j] + i
	}
	if a := &l.schema.Attributes[j]; a.Kind == table.Nominal && len(order) > 1 {
		sorted := slices.Clone(a.Values)
		table.SortValues(sorted)
		codes := make(map[string]int, len(sorted))
		for v, value := range a.Values {
			codes[value] = v
		}
		for i, value := range sorted {
			order[i] = l.first[j] + codes[value]
		}
	}
	return order
}

// fit is a least squares fit of standardised terms to a standardised target.
type fit struct {
	terms   []int
	weights []float64 // of standardised terms
	ridge   float64   // in rows
	rest    float64   // share of the target's variance that is left
	freedom float64   // terms' worth that the fit took, without the constant
	// inverse is that of the Cholesky factor of correlations + ridge, lower
	// triangle: the leverage of a row is the squared length of inverse·row.
	inverse []float64
}

// least fits the chosen terms by least squares with a ridge.
func (b *block) least(ctx context.Context, c *choice, s settings) (*fit, error) {
	f := &fit{terms: c.terms, ridge: s.Ridge, rest: 1}
	y := math.Sqrt(b.moment(b.terms, b.terms) / b.weight)
	if len(c.terms) == 0 || !(y > leastDeviation*math.Abs(b.mean[b.terms])) || y < 0x1p-500 {
		f.terms, f.rest = nil, 0
		if y > 0 && len(c.terms) == 0 {
			f.rest = 1
		}
		return f, nil
	}
	all := c.varying(b)
	correlations, with := b.correlations(c, all), b.correlationsWith(c, all, y)
	if s.Auto {
		spectrum, err := decompose(ctx, correlations, len(all))
		if err != nil {
			return nil, err
		}
		f.ridge = spectrum.ridge(with, b.weight, slices.Contains(c.fates, dependent))
	}
	n, nu := len(c.terms), f.ridge/b.weight
	factor := c.factor
	if nu > 0 {
		f.terms, n = all, len(all)
		factor = slices.Clone(correlations)
		for i := range n {
			factor[i*n+i] += nu
		}
		cholesky(factor, n)
	} else if len(all) > n {
		correlations, with = b.correlations(c, c.terms), b.correlationsWith(c, c.terms, y)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.inverse = invert(factor, n)
	f.solve(correlations, with, nu)
	return f, nil
}

// solve finds the weights, and what they leave.
func (f *fit) solve(correlations, with []float64, nu float64) {
	n := len(f.terms)
	half := make([]float64, n)
	f.weights = make([]float64, n)
	for i := range n {
		half[i] = floats.Dot(f.inverse[i*n:i*n+i+1], with[:i+1])
	}
	for i := range n {
		for k := i; k < n; k++ {
			f.weights[i] += f.inverse[k*n+i] * half[k]
		}
	}
	f.rest, f.freedom = 1, float64(n)
	for i, w := range f.weights {
		row := floats.Dot(correlations[i*n:i*n+n], f.weights)
		f.rest += w * (row - 2*with[i])
		if nu > 0 { // the trace of ν·(correlations + ν)⁻¹
			for k := i; k < n; k++ {
				f.freedom -= nu * f.inverse[k*n+i] * f.inverse[k*n+i]
			}
		}
	}
	if f.rest < exactly {
		f.rest = 0
	}
}

// exactly is what rounding leaves of a target that follows from the terms.
const exactly = 1e-13

// varying returns all terms that vary, in canonical order: with a ridge there
// is no need to leave out what follows from others, which then share its weight.
func (c *choice) varying(b *block) []int {
	var all []int
	for j := range b.frames {
		for _, i := range b.inOrder(j) {
			if c.fates[i] != constant {
				all = append(all, i)
			}
		}
	}
	return all
}

func (b *block) correlations(c *choice, terms []int) []float64 {
	n := len(terms)
	all := make([]float64, n*n)
	for i, of := range terms {
		for j, other := range terms {
			all[i*n+j] = b.correlation(c, of, other)
		}
	}
	return all
}

// correlationsWith returns the correlations of terms with the target.
func (b *block) correlationsWith(c *choice, terms []int, y float64) []float64 {
	with := make([]float64, len(terms))
	for k, i := range terms {
		with[k] = b.moment(b.terms, i) / c.deviation[i] / y / b.weight
	}
	return with
}

// cholesky turns the lower triangle of a positive definite matrix into its
// factor.
func cholesky(a []float64, n int) {
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j] - floats.Dot(a[i*n:i*n+j], a[j*n:j*n+j])
			if i == j {
				a[i*n+i] = math.Sqrt(max(sum, math.SmallestNonzeroFloat64))
			} else {
				a[i*n+j] = sum / a[j*n+j]
			}
		}
	}
}

// invert returns the inverse of a lower triangle.
func invert(factor []float64, n int) []float64 {
	inverse := make([]float64, n*n)
	for i := range n {
		row := inverse[i*n : i*n+i+1]
		row[i] = 1
		for k := range i {
			floats.AddScaled(row[:k+1], -factor[i*n+k], inverse[k*n:k*n+k+1])
		}
		floats.Scale(1/factor[i*n+i], row)
	}
	return inverse
}

// spectrum is the eigenvalues of correlations, and their vectors in columns.
type spectrum struct {
	values  []float64
	vectors mat.Dense
}

// decompose returns the spectrum of correlations. It takes n³ steps that do not
// listen to the context, so they are waited for aside.
func decompose(ctx context.Context, correlations []float64, n int) (*spectrum, error) {
	var s spectrum
	var eigen mat.EigenSym
	done := crew.Go(func() error {
		eigen.Factorize(mat.NewSymDense(n, slices.Clone(correlations)), true)
		eigen.VectorsTo(&s.vectors)
		return nil
	})
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.values = eigen.Values(nil)
	return &s, nil
}

// ridge returns the ridge of least generalised cross-validation (Golub, Heath
// and Wahba 1979): of those that are a power of √2 of the rows, so that what
// rounding does to the statistics does not move it. Of equally good ones the
// largest is taken, and none at all where the target follows exactly. Where terms
// follow from others it is large enough to settle who of them has which weight.
func (s *spectrum) ridge(with []float64, rows float64, dependent bool) float64 {
	steps := 60
	if dependent {
		steps = 40
	}
	n := len(s.values)
	along := make([]float64, n) // squared correlation of the target with each eigenvector
	rest, rank := 1.0, 0.0
	for k := range n {
		if s.values[k] < leastOwn {
			continue
		}
		rank++
		sum := 0.0
		for i := range n {
			sum += s.vectors.At(i, k) * with[i]
		}
		along[k] = sum * sum / s.values[k]
		rest -= along[k]
	}
	left := func(df float64) float64 { return (rows - 1 - df) / rows }
	if rest < exactly && rows-1-rank >= 1 {
		return 0
	}
	rest = max(rest, 0)
	best, least := -1.0, math.Inf(1)
	for step := range steps {
		nu, df, error := 8*math.Pow(2, -float64(step)/2), 0.0, rest
		for k := range n {
			if s.values[k] >= leastOwn {
				df += s.values[k] / (s.values[k] + nu)
				error += along[k] * nu / (s.values[k] + nu) * nu / (s.values[k] + nu)
			}
		}
		if share := left(df); share > 0.02 {
			if g := error / share / share; g < least*(1-1e-9) {
				best, least = nu*rows, g
			}
		}
	}
	if share := left(rank); share > 0.02 && rest/share/share < least*(1-1e-9) {
		return 0
	}
	if best < 0 {
		return 8 * rows
	}
	return best
}

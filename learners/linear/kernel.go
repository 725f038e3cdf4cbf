package linear

import "math"

// The inner loops of learning, four columns at a time. With vector
// instructions they round as they do without: products and sums are separate
// steps, and sums have four lanes.
const lanes = 4

// four are columns of equal length.
type four [lanes]*float64

// addFour adds a times each of four columns to sum.
func addFour(sum []float64, x *[lanes][]float64, a *[lanes]float64) {
	whole := 0
	if vectors && len(sum) >= lanes {
		whole = len(sum) / lanes * lanes
		addFourVector(whole, &sum[0], &four{&x[0][:whole][0], &x[1][:whole][0], &x[2][:whole][0], &x[3][:whole][0]}, a)
	}
	for r := whole; r < len(sum); r++ {
		sum[r] = sum[r] + a[0]*x[0][r] + a[1]*x[1][r] + a[2]*x[2][r] + a[3]*x[3][r]
	}
}

// dotFour adds the products of y with each of four columns to out.
func dotFour(y []float64, x *[lanes][]float64, out *[lanes]float64) {
	whole := len(y) / lanes * lanes
	if whole > 0 {
		if vectors {
			dotFourVector(whole, &y[0], &four{&x[0][:whole][0], &x[1][:whole][0], &x[2][:whole][0], &x[3][:whole][0]}, out)
		} else {
			for k := range lanes {
				var sums [lanes]float64
				for r := 0; r < whole; r += lanes {
					for lane := range lanes {
						sums[lane] += y[r+lane] * x[k][r+lane]
					}
				}
				out[k] += (sums[0] + sums[2]) + (sums[1] + sums[3])
			}
		}
	}
	for k := range lanes {
		for r := whole; r < len(y); r++ {
			out[k] += y[r] * x[k][r]
		}
	}
}

// logistic turns log odds into the slopes of the loss of rows that are of the
// second class (1) or of the first (0), writes the curvatures to bent, and
// returns the loss. Which side odds lie on cannot be foreseen, so nothing
// branches on it.
func logistic(odds, is, bent []float64) float64 {
	losses, products := [lanes]float64{}, [lanes]float64{1, 1, 1, 1} // a product is at most 2 to the number of rows: one logarithm for all
	whole := 0
	if vectors && len(odds) >= lanes {
		whole = len(odds) / lanes * lanes
		logisticVector(whole, &odds[0], &is[:whole][0], &bent[:whole][0], &losses, &products)
	}
	for r := whole; r < len(odds); r++ {
		x, lane := odds[r], r%lanes
		size := math.Abs(x)
		e := expMinus(size)
		p := 1 / (1 + e)
		products[lane] *= 1 + e
		losses[lane] += (x+size)*0.5 - is[r]*x
		bent[r] = e * p * p
		odds[r] = math.Copysign(p-0.5, x) + 0.5 - is[r]
	}
	loss := 0.0
	for lane := range lanes {
		loss += losses[lane] + math.Log(products[lane])
	}
	return loss
}

// What exp is made of: ln 2 in two parts, and Taylor's coefficients, highest
// first, which leave less than 2e-16 of the result on ±ln 2/2.
var expParts = [...]float64{
	708, math.Log2E, 6.93147180369123816490e-01, 1.90821492927058770002e-10,
	1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1,
}

// expMinus returns exp(−x) for x from 0 on, and that of 708 for more.
func expMinus(x float64) float64 {
	if !(x < expParts[0]) {
		x = expParts[0]
	}
	k := math.RoundToEven(x * expParts[1])
	rest := k*expParts[2] - x + k*expParts[3]
	sum := expParts[4]
	for _, c := range expParts[5:] {
		sum = sum*rest + c
	}
	return math.Float64frombits(math.Float64bits(sum) - uint64(int64(k))<<52)
}

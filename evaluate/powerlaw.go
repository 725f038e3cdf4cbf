package evaluate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// PowerLaw is the usual shape of learning curves: after m rows the error is
// Floor + Scale · m^(−Rate) (Cortes et al. 1994). It is what a curve that was
// measured says of rows that are not there yet.
type PowerLaw struct {
	Floor, Scale, Rate float64
}

// At returns the error after this many rows.
func (p PowerLaw) At(rows float64) float64 { return p.Floor + p.Scale*math.Pow(rows, -p.Rate) }

// RowsFor returns how many rows bring the error down to this; +Inf if none do.
func (p PowerLaw) RowsFor(target float64) float64 {
	switch {
	case target <= p.Floor:
		return math.Inf(1)
	case p.Scale <= 0:
		return 0
	}
	return math.Pow(p.Scale/(target-p.Floor), 1/p.Rate)
}

// ErrorPoint is an error that was measured, with the standard error of the
// measurement.
type ErrorPoint struct {
	Rows, Error, Deviation float64
}

// errFewPoints says what a curve needs.
var errFewPoints = errors.New("a curve needs the error at three numbers of rows at least; more rows would give them")

// FitPowerLaw returns the law that is nearest to the points, in squares over
// their variances, among those that do not rise and have no floor below 0.
func FitPowerLaw(points []ErrorPoint) (PowerLaw, error) {
	if len(points) < 3 {
		return PowerLaw{}, errFewPoints
	}
	best, least := PowerLaw{}, math.Inf(1)
	try := func(rate float64) {
		law := fitAt(points, rate)
		if loss := lossOf(law, points); loss < least {
			best, least = law, loss
		}
	}
	for step := range 80 {
		try(0.02 * math.Pow(1.07, float64(step))) // 0.02 to 4.2
	}
	for width := 0.035; width > 1e-6; width /= 2 {
		at := best.Rate
		try(at * (1 + width))
		try(at * (1 - width))
	}
	return best, nil
}

// fitAt is the weighted least squares of floor and scale at a given rate,
// neither below 0.
func fitAt(points []ErrorPoint, rate float64) PowerLaw {
	var n, x, y, xx, xy float64
	for _, p := range points {
		w, u := weightOf(p), math.Pow(p.Rows, -rate)
		n += w
		x += w * u
		y += w * p.Error
		xx += w * u * u
		xy += w * u * p.Error
	}
	law := PowerLaw{Rate: rate, Floor: y / n}
	if determinant := n*xx - x*x; determinant > 1e-12*n*xx {
		law.Scale = (n*xy - x*y) / determinant
		law.Floor = (y - law.Scale*x) / n
	}
	if law.Scale < 0 {
		return PowerLaw{Rate: rate, Floor: y / n}
	}
	if law.Floor < 0 {
		return PowerLaw{Rate: rate, Scale: xy / xx}
	}
	return law
}

// leastDeviation keeps a point that seems exact from deciding alone: half of
// what one row in a thousand changes.
const leastDeviation = 0.0005

func weightOf(p ErrorPoint) float64 {
	s := max(p.Deviation, leastDeviation)
	return 1 / (s * s)
}

func lossOf(law PowerLaw, points []ErrorPoint) float64 {
	loss := 0.0
	for _, p := range points {
		d := law.At(p.Rows) - p.Error
		loss += weightOf(p) * d * d
	}
	return loss
}

// Forecast is how many rows an error needs by a curve that was measured.
type Forecast struct {
	Law       PowerLaw
	Rows      float64 // +Inf: more rows alone will not do
	Low, High float64 // where 95 % of curves drawn within the points' deviations lie
}

// ForecastRows fits a law to the points and asks it for the rows that an error
// needs. The interval is that of laws fitted to points drawn again (a
// parametric bootstrap of 400, from the seed).
func ForecastRows(points []ErrorPoint, target float64, seed uint64) (Forecast, error) {
	law, err := FitPowerLaw(points)
	if err != nil {
		return Forecast{}, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	const draws = 400
	rows := make([]float64, draws)
	for i := range rows {
		drawn := slices.Clone(points)
		for j := range drawn {
			drawn[j].Error = max(0, drawn[j].Error+random.NormFloat64()*drawn[j].Deviation)
		}
		again, err := FitPowerLaw(drawn)
		if err != nil {
			return Forecast{}, err
		}
		rows[i] = again.RowsFor(target)
	}
	slices.Sort(rows)
	return Forecast{Law: law, Rows: law.RowsFor(target), Low: rows[draws/40], High: rows[draws-1-draws/40]}, nil
}

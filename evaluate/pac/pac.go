// Package pac says how many rows are enough: the bounds of computational
// learning theory (Valiant 1984; Haussler 1988; Blumer, Ehrenfeucht, Haussler
// & Warmuth 1989; Littlestone 1987; Mitchell 1997, chapter 7).
//
// A learner that always finds a hypothesis consistent with its rows, in a
// class H that has one, is probably (with confidence 1 − δ) approximately
// (with error at most ε) correct after a number of rows that depends on the
// size of H (Rows) or, where H is infinite, on its Vapnik–Chervonenkis
// dimension (RowsByVC). One that just finds the best of H, whatever the truth
// is, needs more (RowsAgnostic). File class.go has the sizes of well-known
// classes; concepts.go has small classes written out, of which everything can
// be computed by search: what they shatter, and how many mistakes the best
// possible learner makes. The bounds know nothing of distributions or of
// margins and so ask for far more rows than practice needs; package evaluate
// measures what practice needs.
package pac

import (
	"errors"
	"fmt"
	"math"
)

// Demand is what is asked of a learner: error at most Error, with at least
// this Confidence.
type Demand struct {
	Error      float64 // ε, between 0 and 1
	Confidence float64 // 1 − δ, between 0 and 1
}

// Check returns what is wrong with a demand, or nil.
func (d Demand) Check() error {
	switch {
	case !(d.Error > 0 && d.Error < 1):
		return fmt.Errorf("an error of %v cannot be asked for; expected a number between 0 and 1, such as 0.05", d.Error)
	case !(d.Confidence > 0 && d.Confidence < 1):
		return fmt.Errorf("a confidence of %v cannot be asked for; expected a number between 0 and 1, such as 0.95", d.Confidence)
	}
	return nil
}

// delta is δ, the probability of a failure. It is rounded to 15 digits, so
// that a confidence of 0.95 fails in 0.05 of all cases.
func (d Demand) delta() float64 {
	const digits = 1e15
	return math.Round((1-d.Confidence)*digits) / digits
}

// Rows is how many rows make every hypothesis that is consistent with them
// good enough (eq. 7.2): (ln |H| + ln 1/δ) / ε, from the natural logarithm of
// the number of hypotheses.
func (d Demand) Rows(logSize float64) float64 {
	return (logSize - math.Log(d.delta())) / d.Error
}

// RowsAgnostic is how many rows bring the error of every hypothesis on the
// rows within Error of the truth, so that the best on the rows is near the
// best there is (Hoeffding 1963): (ln |H| + ln 1/δ) / 2ε².
func (d Demand) RowsAgnostic(logSize float64) float64 {
	return (logSize - math.Log(d.delta())) / (2 * d.Error * d.Error)
}

// RowsByVC is how many rows are enough by the class's dimension (Blumer et
// al. 1989, eq. 7.7): (4 log₂ 2/δ + 8 VC log₂ 13/ε) / ε.
func (d Demand) RowsByVC(vc float64) float64 {
	return (4*math.Log2(2/d.delta()) + 8*vc*math.Log2(13/d.Error)) / d.Error
}

// RowsNeeded is how many rows every learner needs at least for some
// distribution and some concept (Ehrenfeucht et al. 1989, theorem 7.3). The
// theorem speaks of VC ≥ 2, ε < 1/8 and δ < 1/100 alone; elsewhere ok is
// false.
func (d Demand) RowsNeeded(vc float64) (rows float64, ok bool) {
	if vc < 2 || d.Error >= 1./8 || d.delta() >= 1./100 {
		return 0, false
	}
	return max(-math.Log(d.delta())/d.Error, (vc-1)/(32*d.Error)), true
}

// NotExhausted bounds the probability that a hypothesis with an error of at
// least ε is still consistent with m rows (theorem 7.1): |H| e^(−εm), at most 1.
func NotExhausted(logSize, epsilon, m float64) float64 {
	return min(1, math.Exp(logSize-epsilon*m))
}

// ErrorAfter is the error that m rows promise a consistent learner with this
// confidence: eq. 7.2 solved for ε, at most 1.
func ErrorAfter(logSize, confidence, m float64) (float64, error) {
	d := Demand{Error: 0.5, Confidence: confidence}
	if err := d.Check(); err != nil {
		return 0, err
	}
	if !(m > 0) {
		return 0, errors.New("nothing is promised without rows")
	}
	return min(1, (logSize-math.Log(d.delta()))/m), nil
}

// Hoeffding bounds the probability that a frequency over m rows is more than
// epsilon below the true rate: e^(−2mε²).
func Hoeffding(m, epsilon float64) float64 { return math.Exp(-2 * m * epsilon * epsilon) }

// Chernoff bounds the probabilities that a frequency over m rows is more than
// a share gamma above, and below, a true rate of p (exercise 7.3).
func Chernoff(m, p, gamma float64) (above, below float64) {
	return math.Exp(-m * p * gamma * gamma / 3), math.Exp(-m * p * gamma * gamma / 2)
}

// RowsRelative is how many rows keep every true error of at least p within a
// share gamma of the one on the rows (exercise 7.3).
func RowsRelative(logSize, p, gamma, confidence float64) float64 {
	d := Demand{Confidence: confidence}
	return 2 * (1 + gamma) * (1 + gamma) / (gamma * gamma * p) * (logSize - math.Log(d.delta()))
}

// Mistakes bounds those of Weighted-Majority with the factor beta, of n
// predictors the best of which makes k (theorem 7.5):
// (k log₂ 1/β + log₂ n) / log₂ (2/(1+β)).
func Mistakes(k, n, beta float64) float64 {
	return (k*math.Log2(1/beta) + math.Log2(n)) / math.Log2(2/(1+beta))
}

// RowsExactly is Rows by (1 − ε)^m itself, which e^(−εm) only bounds.
func (d Demand) RowsExactly(logSize float64) float64 {
	return (logSize - math.Log(d.delta())) / -math.Log1p(-d.Error)
}

// RowsAgnosticByVC is RowsAgnostic by the class's dimension (Vapnik &
// Chervonenkis 1971; Vapnik 1982): the least m with
// ε ≥ √((VC (ln 2m/VC + 1) + ln 4/δ) / m).
func (d Demand) RowsAgnosticByVC(vc float64) float64 {
	enough := func(m float64) bool {
		return m*d.Error*d.Error >= vc*(math.Log(max(2*m/vc, 1))+1)+math.Log(4/d.delta())
	}
	high := vc
	for !enough(high) {
		high *= 2
	}
	low := high / 2
	for range 60 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

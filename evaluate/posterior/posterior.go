// Package posterior is Bayes' theorem over a finite set of hypotheses
// (Mitchell 1997, chapter 6): how probable each is once data were seen
// (equations 6.1 and 6.5), the most probable one (MAP), the one under which the
// data were most probable (ML), the optimal classification by all of them
// (6.18), Gibbs' draw of one (6.8), the shortest description (6.17), and EM for
// the means of k normal densities (6.29 and 6.31).
//
// These are the principles by themselves, for spaces that can be listed: the
// learners that rest on them have their own ways. Costs are linear in the
// number of hypotheses.
package posterior

import (
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// Of returns P(h|D) of each hypothesis from P(h) and ln P(D|h), and ln P(D),
// the logarithm of how probable the data were before they were seen. Priors
// need not sum to one. Data that are impossible under every hypothesis are an
// error.
func Of(prior, logLikelihood []float64) (posterior []float64, logData float64, err error) {
	if len(prior) == 0 || len(prior) != len(logLikelihood) {
		return nil, 0, fmt.Errorf("%d priors for %d likelihoods; expected as many, and at least one", len(prior), len(logLikelihood))
	}
	posterior = make([]float64, len(prior))
	mass := 0.0
	for h, p := range prior {
		if !(p >= 0) || math.IsInf(p, 1) || math.IsNaN(logLikelihood[h]) || math.IsInf(logLikelihood[h], 1) {
			return nil, 0, fmt.Errorf("hypothesis %d has the prior %v and the log likelihood %v; expected a number from 0 and one below infinity", h+1, p, logLikelihood[h])
		}
		mass += p
		posterior[h] = math.Log(p) + logLikelihood[h]
	}
	if logData = logsum.Of(posterior); math.IsInf(logData, -1) {
		return nil, 0, errors.New("the data are impossible under every hypothesis; allow for noise, or for more hypotheses")
	}
	logsum.Normalise(posterior)
	return posterior, logData - math.Log(mass), nil
}

// Best returns the first of the greatest numbers: the MAP hypothesis of
// posteriors, the ML one of likelihoods.
func Best(xs []float64) int {
	best := 0
	for i, x := range xs {
		if x > xs[best] {
			best = i
		}
	}
	return best
}

// Consistent returns ln P(D|h) for data without noise, which a hypothesis
// explains or not (equation 6.4); with noise, each wrong one of the rows has
// the probability η and each right one 1 − η.
func Consistent(wrong, rows int, noise float64) float64 {
	if noise == 0 {
		if wrong == 0 {
			return 0
		}
		return math.Inf(-1)
	}
	return float64(wrong)*math.Log(noise) + float64(rows-wrong)*math.Log1p(-noise)
}

// Optimal returns the Bayes optimal class probabilities: those that each
// hypothesis gives, weighed by its posterior (equation 6.18).
func Optimal(posterior []float64, given [][]float64) []float64 {
	var p []float64
	for h, classes := range given {
		if p == nil {
			p = make([]float64, len(classes))
		}
		for c, q := range classes {
			p[c] += posterior[h] * q
		}
	}
	return p
}

// Gibbs returns the hypothesis that a number from 0 to 1 draws by the
// posterior (section 6.8).
func Gibbs(posterior []float64, u float64) int {
	for h, p := range posterior {
		if u -= p; u < 0 {
			return h
		}
	}
	return Best(posterior)
}

// Exceptions returns the bits that say which rows a hypothesis gets wrong, and
// what they are instead: log₂ of the rows and of the classes for each (section
// 6.6).
func Exceptions(wrong, rows float64, classes int) float64 {
	if wrong == 0 {
		return 0
	}
	return wrong * (math.Log2(rows) + math.Log2(float64(classes)))
}

// Means is EM for the means of k normal densities of one known variance, which
// rows are drawn from equally often: steps of expecting which density each row
// came from, and of taking the mean of what it is expected to have brought.
// Each step makes the rows more probable, until the means stop.
func Means(xs, means []float64, variance float64, steps int) (last []float64, logLikelihood float64) {
	means = append([]float64(nil), means...)
	for range steps {
		sums, weights := make([]float64, len(means)), make([]float64, len(means))
		for _, x := range xs {
			for j, z := range Expected(x, means, variance) {
				sums[j] += z * x
				weights[j] += z
			}
		}
		still := true
		for j := range means {
			if weights[j] > 0 {
				next := sums[j] / weights[j]
				still = still && next == means[j]
				means[j] = next
			}
		}
		if still {
			break
		}
	}
	for _, x := range xs {
		logs := make([]float64, len(means))
		for j, mean := range means {
			logs[j] = -(x-mean)*(x-mean)/(2*variance) - math.Log(2*math.Pi*variance)/2 - math.Log(float64(len(means)))
		}
		logLikelihood += logsum.Of(logs)
	}
	return means, logLikelihood
}

// Expected returns E[z] of a row: how probably it came from each density
// (equation 6.29).
func Expected(x float64, means []float64, variance float64) []float64 {
	z := make([]float64, len(means))
	for j, mean := range means {
		z[j] = -(x - mean) * (x - mean) / (2 * variance)
	}
	logsum.Normalise(z)
	return z
}

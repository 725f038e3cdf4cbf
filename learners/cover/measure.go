package cover

import (
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
)

// The measures of a rule (Mitchell 1997, section 10.3).
const (
	entropyName   = "entropy"
	laplaceName   = "laplace"
	mName         = "m"
	frequencyName = "frequency"
)

// Frequency returns n_c/n, the relative frequency of a class among the rows
// that a rule covers (AQ).
func Frequency(correct, covered float64) float64 {
	if covered <= 0 {
		return 0
	}
	return correct / covered
}

// MEstimate returns (n_c + m·p)/(n + m), with the prior probability p of the
// class (Cestnik and Bratko 1991).
func MEstimate(correct, covered, m, prior float64) float64 {
	if covered+m <= 0 {
		return 0
	}
	return (correct + m*prior) / (covered + m)
}

// Laplace returns (n_c + 1)/(n + k), for k classes (Clark and Boswell 1991).
func Laplace(correct, covered float64, classes int) float64 {
	return (correct + 1) / (covered + float64(classes))
}

// NegativeEntropy returns Σ p log₂ p over the classes (CN2): 0 where all rows
// are of one.
func NegativeEntropy(counts []float64) float64 {
	n, h := sum(counts), 0.0
	for _, w := range counts {
		if w > 0 && w < n {
			h += w * math.Log2(w/n)
		}
	}
	if n <= 0 {
		return 0
	}
	return h / n
}

// LikelihoodRatio returns 2 Σ fᵢ ln(fᵢ/eᵢ), with eᵢ the frequencies that as
// many rows would have if they were drawn from all (CN2): of a rule that tells
// nothing it is distributed as χ² with a degree of freedom less than classes.
func LikelihoodRatio(counts, all []float64) float64 {
	n, total, ratio := sum(counts), sum(all), 0.0
	for c, f := range counts {
		if f > 0 {
			ratio += f * math.Log(f*total/(n*all[c]))
		}
	}
	return 2 * ratio
}

// performance measures rules by the labels of the rows that they cover.
type performance struct {
	measure string
	m       float64
	classes int       // of the target, for Laplace
	prior   []float64 // of each label
	label   int       // that rules conclude, -1: the most frequent among their rows
}

// of returns the performance of a rule that covers rows with these labels.
func (p *performance) of(counts []float64) float64 {
	if p.measure == entropyName {
		if p.label >= 0 && p.majority(counts) != p.label {
			return math.Inf(-1) // entropy alone would praise rules of other classes
		}
		return NegativeEntropy(counts)
	}
	return p.ofLabel(p.conclusion(counts), counts)
}

func (p *performance) ofLabel(label int, counts []float64) float64 {
	correct, covered := counts[label], sum(counts)
	switch p.measure {
	case laplaceName:
		return Laplace(correct, covered, p.classes)
	case mName:
		return MEstimate(correct, covered, p.m, p.prior[label])
	}
	return Frequency(correct, covered)
}

// goal returns what performance is made of, where rules conclude label 1 of two
// and it is a share.
func (p *performance) goal(labels int, rows float64) goal {
	g := goal{set: labels == 2 && p.label == 1, rows: rows}
	switch p.measure {
	case laplaceName:
		g.a, g.b = 1, float64(p.classes)
	case mName:
		g.a, g.b = p.m*p.prior[1], p.m
	case entropyName:
		g.set = false
	}
	return g
}

// conclusion returns the label that a rule concludes.
func (p *performance) conclusion(counts []float64) int {
	if p.label >= 0 {
		return p.label
	}
	return p.majority(counts)
}

// majority returns the most frequent label; of equally frequent ones the one
// that is more frequent among all rows, then the first.
func (p *performance) majority(counts []float64) int {
	best := 0
	for l, w := range counts {
		if w > counts[best] || w == counts[best] && p.prior[l] > p.prior[best] {
			best = l
		}
	}
	return best
}

// bound returns the most that any specialisation of a rule can reach: if it
// kept all rows of one label and no others.
func (p *performance) bound(counts []float64) float64 {
	if p.measure == entropyName {
		return 0
	}
	most := math.Inf(-1)
	for l, w := range counts {
		if w <= 0 || p.label >= 0 && l != p.label {
			continue
		}
		switch p.measure {
		case laplaceName:
			most = max(most, Laplace(w, w, p.classes))
		case mName:
			most = max(most, MEstimate(w, w, p.m, p.prior[l]))
		default:
			most = max(most, 1)
		}
	}
	return most
}

// significant reports whether rows with these labels would rarely be drawn
// from all by chance.
func significant(counts, all []float64, level float64) bool {
	if level >= 1 {
		return true
	}
	kinds := 0.0
	for _, w := range all {
		if w > 0 {
			kinds++
		}
	}
	return kinds > 1 && stat.ChiSquareTail(LikelihoodRatio(counts, all), kinds-1) <= level
}

package nearest

import (
	"math"
	"slices"
)

// With stretch=local axes are stretched for each question anew (section 8.2.2;
// after Friedman 1994 and Domeniconi, Peng and Gunopulos 2002): among the nearest cases by the plain metric, a column
// counts the more, the more of its spread their targets tell. It can fit chance: the book says that it is rarely used.
const (
	localCases  = 30 // that are looked at, at least, and
	localTimes  = 3  // times as many as are wanted
	localWeight = 6  // the log of what a column counts that tells all, where one that tells nothing counts 1
)

// find finds the nearest cases of a question.
func (m *Model) find(s *search) {
	if m.lesson.Settings.Stretch != locally || s.k >= m.cases.weight {
		m.index.find(s)
		return
	}
	k := s.k
	s.begin(min(max(localTimes*k, localCases), m.cases.weight))
	m.index.find(s)
	near := slices.Clone(s.found())
	factors := m.relevance(s, near)
	s.begin(k)
	s.stretch = factors
	for _, n := range near {
		sum := 0.0
		m.contributions(s, n.at, func(d int, x float64) { sum += factors[d] * x })
		s.take(neighbour{sum: sum, near: digits(sum), at: n.at, used: m.cases.worth[n.at]})
	}
}

// contributions calls add with what each column contributes to a distance.
func (m *Model) contributions(s *search, at int32, add func(d int, x float64)) {
	width, names := len(m.metric.numbers), len(m.metric.names)
	for d := range m.metric.numbers {
		e := s.point[d] - m.metric.points[int(at)*width+d]
		if e != e {
			add(d, m.metric.numbers[d].missing)
		} else {
			add(d, float64(e*e))
		}
	}
	for d := range m.metric.names {
		add(width+d, s.near[d][m.metric.codes[int(at)*names+d]])
	}
}

// relevance returns a factor for each column: by how much of its spread among
// some cases is between their targets, or goes along with them.
func (m *Model) relevance(s *search, near []neighbour) []float64 {
	width, names := len(m.metric.numbers), len(m.metric.names)
	factors, values := make([]float64, width+names), make([]float64, len(near))
	for d := range factors {
		for i, n := range near {
			if d >= width {
				values[i] = s.near[d-width][m.metric.codes[int(n.at)*names+d-width]]
				continue
			}
			if values[i] = min(max(m.metric.points[int(n.at)*width+d], -1e70), 1e70); values[i] != values[i] {
				values[i] = s.point[d]
			}
			if values[i] != values[i] {
				values[i] = 0
			}
		}
		factors[d] = math.Exp(localWeight * m.told(near, values))
	}
	return factors
}

// told returns the share of the spread of values that the targets of cases tell.
func (m *Model) told(near []neighbour, values []float64) float64 {
	c, n := m.cases, float64(len(near))
	mean, total := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		total += (v - mean) * (v - mean)
	}
	if !(total > 1e-12*mean*mean*n) {
		return 0
	}
	if c.classes == nil {
		target, spread, product := 0.0, 0.0, 0.0
		for _, near := range near {
			target += c.means[near.at] / n
		}
		for i, near := range near {
			e := c.means[near.at] - target
			spread += e * e
			product += e * (values[i] - mean)
		}
		if !(spread > 0) {
			return 0
		}
		return min(product*product/(spread*total), 1)
	}
	sums, counts := make([]float64, c.classCount()), make([]float64, c.classCount())
	for i, near := range near {
		class := c.classes[c.starts[near.at]]
		sums[class] += values[i] - mean
		counts[class]++
	}
	between := 0.0
	for class, count := range counts {
		if count > 0 {
			between += sums[class] * sums[class] / count
		}
	}
	return min(between/total, 1)
}

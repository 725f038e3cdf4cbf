package genetic

import "math"

// Schema is a pattern of bits: '0', '1' or '*' for either (Holland 1975; section
// 9.4.1).
type Schema string

// Matches reports whether a string is an instance of the schema.
func (s Schema) Matches(b Bits) bool {
	if len(s) != len(b) {
		return false
	}
	for i := range s {
		if s[i] != '*' && s[i]-'0' != b[i] {
			return false
		}
	}
	return true
}

// Order is o(s), the number of defined bits.
func (s Schema) Order() int {
	n := 0
	for i := range s {
		if s[i] != '*' {
			n++
		}
	}
	return n
}

// Span is d(s), the distance between the outermost defined bits.
func (s Schema) Span() int {
	first, last := -1, 0
	for i := range s {
		if s[i] != '*' {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	return last - max(first, 0)
}

// Count returns m(s,t), the instances of a schema in a population, and û(s,t),
// their mean fitness.
func (s Schema) Count(p *Population[Bits]) (instances, fitness float64) {
	for i, b := range p.Members {
		if s.Matches(b) {
			instances++
			fitness += p.Fitness[i]
		}
	}
	return instances, fitness / math.Max(instances, 1)
}

// Expected is E[m(s,t+1)] under selection alone, equation 9.3.
func (s Schema) Expected(p *Population[Bits]) float64 {
	m, u := s.Count(p)
	return u / p.Mean() * m
}

// Bound is what the schema theorem (equation 9.4) says of E[m(s,t+1)] at least,
// with single-point crossover of probability crossover for each member and
// mutation of each bit.
func (s Schema) Bound(p *Population[Bits], crossover, mutation float64) float64 {
	torn := 0.0
	if len(s) > 1 {
		torn = crossover * float64(s.Span()) / float64(len(s)-1)
	}
	return s.Expected(p) * (1 - torn) * math.Pow(1-mutation, float64(s.Order()))
}

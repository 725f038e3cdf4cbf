package linear

import (
	"math"

	"github.com/accrete-ml/accrete/internal/portable"
)

var (
	_ portable.Compiler = (*Model)(nil)
	_ portable.Compiler = (*Classes)(nil)
)

// Portable compiles the sums, and their softmax.
func (m *Classes) Portable(b *portable.Builder) (portable.Answer, error) {
	if err := b.Texts(); err != nil {
		return portable.Answer{}, err
	}
	p := b.Softmax(m.plane.portable(b))
	return portable.Classes(b.Place(p, m.seen, make([]float64, len(m.classes()))))
}

// mostLeverage is the number of terms up to which the interval is compiled: it costs
// the square of them.
const mostLeverage = 100

// Portable compiles the sum and, where the terms are not too many, the interval.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	if err := b.Texts(); err != nil {
		return portable.Answer{}, err
	}
	mean := m.plane.portable(b)
	n := len(m.fit.terms)
	if n > mostLeverage {
		b.Note("the interval is left out: it takes the square of many terms")
		return portable.Number(mean)
	}
	if m.sigma == 0 {
		return portable.Interval(mean, mean, mean)
	}
	leverage := b.Constant(0)
	if n > 0 {
		terms := m.plane.portableTerms(b)
		factors := make([]float64, n*m.total.terms)
		for i := range n {
			for k, term := range m.fit.terms[:i+1] {
				factors[i*m.total.terms+term] = m.fit.inverse[i*n+k] / m.choice.deviation[term]
			}
		}
		x := b.Affine(terms, make([]float64, n), factors)
		leverage = b.Together(b.Zip(portable.Multiply, x, x))
	}
	root := b.Map(portable.Sqrt, b.Scale(leverage, 1/m.total.weight, 1+1/m.total.weight))
	wide := b.Scale(root, m.reach*m.sigma*m.plane.unit, 0)
	return portable.Interval(mean, b.Zip(portable.Subtract, mean, wide), b.Zip(portable.Add, mean, wide))
}

// portable compiles the sums of a row: what each column adds.
func (p *plane) portable(b *portable.Builder) portable.Ref {
	scores := b.Constant(p.prior...)
	for j := range p.frames {
		if p.count(j) == 0 {
			continue
		}
		says := func(term int, to []float64) {
			for k := range to {
				if p.mean[term] > 0 {
					to[k] = (p.weights[term*p.outputs+k] - p.middle[j*p.outputs+k]) * p.unit
				}
			}
		}
		if part, ok := p.portableCell(b, j, p.outputs, says, func(powers portable.Ref) portable.Ref {
			start, factors := make([]float64, p.outputs), make([]float64, p.outputs*p.degree)
			for k := range p.outputs {
				start[k] = -p.middle[j*p.outputs+k] * p.unit
				for i := range p.degree {
					factors[k*p.degree+i] = p.weights[(p.first[j]+i)*p.outputs+k] * p.unit
				}
			}
			return b.Affine(powers, start, factors)
		}); ok {
			scores = b.Zip(portable.Add, scores, part)
		}
	}
	return scores
}

// portableTerms compiles the terms of a row, less their means.
func (p *plane) portableTerms(b *portable.Builder) portable.Ref {
	var all []portable.Ref
	for j := range p.frames {
		count, first := p.count(j), p.first[j]
		if count == 0 {
			continue
		}
		says := func(term int, to []float64) {
			if !(p.mean[term] > 0) {
				return
			}
			for i := range to {
				to[i] = -p.mean[first+i]
			}
			to[term-first]++
		}
		part, ok := p.portableCell(b, j, count, says, func(powers portable.Ref) portable.Ref {
			start, factors := make([]float64, count), make([]float64, count*p.degree)
			for i := range count {
				if start[i] = -p.mean[first+i]; i < p.degree {
					factors[i*p.degree+i] = 1
				}
			}
			return b.Affine(powers, start, factors)
		})
		if !ok {
			part = b.Constant(make([]float64, count)...)
		}
		all = append(all, part)
	}
	return b.Join(all...)
}

// portableCell compiles what a cell gives: says of the term of a name or of a missing
// cell, and number of the powers of a number; false if it never gives anything.
func (p *plane) portableCell(b *portable.Builder, j, width int, says func(term int, to []float64), number func(powers portable.Ref) portable.Ref) (portable.Ref, bool) {
	gone := make([]float64, width)
	says(p.missing(j), gone)
	if !p.numeric(j) {
		rows := append(make([]float64, width), gone...)
		for code := range p.count(j) - 1 {
			row := make([]float64, width)
			says(p.first[j]+code, row)
			rows = append(rows, row...)
		}
		return b.Lookup(j, width, rows), true
	}
	missing := b.Constant(gone...)
	if !p.frames[j].Set {
		return b.Choose(b.Missing(j), missing, b.Constant(make([]float64, width)...)), true
	}
	z := b.Scale(b.Cell(j, 0), p.frames[j].scale(), -p.frames[j].Shift)
	if p.degree > 4 {
		limit := math.Ldexp(1, 480/p.degree)
		z = b.Zip(portable.Least, b.Zip(portable.Greatest, z, b.Constant(-limit)), b.Constant(limit))
	}
	powers := []portable.Ref{z}
	for i := 1; i < p.degree; i++ {
		powers = append(powers, b.Zip(portable.Multiply, powers[i-1], z))
	}
	return b.Choose(b.Known(j), number(b.Join(powers...)), missing), true
}

package linear

import "math"

// measure is how terms are told from columns that are read as they are: a
// term is by times the column's cell, less off. Sums over the cells become those
// over the terms.
type measure struct{ by, off []float64 }

// newMeasure returns the measure of terms that are as they should be.
func newMeasure(terms int) *measure {
	m := &measure{make([]float64, terms), make([]float64, terms)}
	for i := range m.by {
		m.by[i] = 1
	}
	return m
}

// mostOff is how far from 0, in deviations, the mean of cells may lie: what
// sums over them lose by it is its square, in units of the last place.
const mostOff = 8

// mild says whether products of the frame's numbers are far from the ends of
// what a float64 can hold.
func (f frame) mild() bool { return f.Exp > -200 && f.Exp < 200 && math.Abs(f.Shift) < 0x1p100 }

// weights returns what cells are weighed with so that the sum is that of the
// terms: of term i for output k at i·outputs + k, then the constants.
func (m *measure) weights(at []float64, outputs int) []float64 {
	bare := make([]float64, len(at))
	constants := bare[len(m.by)*outputs:]
	copy(constants, at[len(m.by)*outputs:])
	for i := range m.by {
		for k := range outputs {
			w := at[i*outputs+k]
			bare[i*outputs+k] = w * m.by[i]
			constants[k] -= w * m.off[i]
		}
	}
	return bare
}

// slopes turns sums of slopes times cells, at the places of weights, into
// those of slopes times terms.
func (m *measure) slopes(sums []float64, outputs int) {
	constants := sums[len(m.by)*outputs:]
	for i := range m.by {
		for k := range outputs {
			sums[i*outputs+k] = m.by[i]*sums[i*outputs+k] - m.off[i]*constants[k]
		}
	}
}

// products turns sums of products of two cells, at i·stride + j for j ≤ i,
// into those of terms, given the sums of the cells and of the rows' weights.
func (m *measure) products(products, sums []float64, weight float64, stride int) {
	for i := range m.by {
		for j := range i + 1 {
			p := &products[i*stride+j]
			*p = m.by[i]*m.by[j]**p - m.by[i]*m.off[j]*sums[i] - m.off[i]*m.by[j]*sums[j] + m.off[i]*m.off[j]*weight
		}
	}
}

// sums turns sums of cells into those of terms.
func (m *measure) sums(sums []float64, weight float64) {
	for i := range m.by {
		sums[i] = m.by[i]*sums[i] - m.off[i]*weight
	}
}

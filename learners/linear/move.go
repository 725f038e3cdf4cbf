package linear

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// affine is a term as it follows from others: constant + Σ factor·term.
type affine struct {
	constant float64
	terms    []int
	factors  []float64
}

func (a *affine) add(term int, factor float64) {
	if factor != 0 {
		a.terms, a.factors = append(a.terms, term), append(a.factors, factor)
	}
}

// absorb adds the statistics of another block. Columns and values are matched
// by name; rows of a source that lacks a column have it missing. A column that
// has no frame yet takes the other's.
func (b *block) absorb(o *block) {
	if o.weight == 0 {
		b.adopt(o)
		return
	}
	if b.adopt(o); b.same(o) {
		b.join(o.weight, o.mean, o.moments)
		return
	}
	n, m := b.size(), o.size()
	from := b.from(o)
	mean, half, moments := make([]float64, n), make([]float64, n*m), make([]float64, n*n)
	for i := range from {
		a := &from[i]
		mean[i] = a.constant
		row := half[i*m : (i+1)*m]
		for k, term := range a.terms {
			mean[i] += a.factors[k] * o.mean[term]
			for j := range row {
				row[j] += a.factors[k] * o.moment(term, j)
			}
		}
	}
	for i := range from {
		row := half[i*m : (i+1)*m]
		for j := range i + 1 {
			sum := 0.0
			for k, term := range from[j].terms {
				sum += from[j].factors[k] * row[term]
			}
			moments[i*n+j] = sum
		}
		moments[i*n+i] = max(0, moments[i*n+i])
	}
	b.join(o.weight, mean, moments)
}

// adopt takes over the frames of another block where there are none, and raises
// the units of the others to its units.
func (b *block) adopt(o *block) {
	frames := make([]frame, len(b.frames))
	higher := false
	for j, f := range b.frames {
		frames[j] = f
		k := o.column(b.schema, j)
		if k < 0 || !o.frames[k].Set {
			continue
		}
		switch of := o.frames[k]; {
		case !f.Set:
			frames[j] = of
		case of.Exp > f.Exp:
			frames[j], higher = f.raised(of.Exp), true
		}
	}
	if higher && b.weight > 0 {
		moved := newBlock(b.source, b.layout)
		moved.frames = frames
		moved.absorb(b)
		*b = *moved
	}
	b.frames = frames
}

// column returns the index of a column of another schema, -1 if the block has
// none of that name.
func (b *block) column(schema *table.Schema, j int) int {
	if name := schema.Attributes[j].Name; j >= len(b.schema.Attributes) || b.schema.Attributes[j].Name != name {
		return b.schema.Index(name)
	}
	return j
}

// same reports whether the terms of two blocks are the same.
func (b *block) same(o *block) bool {
	if b.layout != o.layout && (b.target != o.target || !table.SameCodes(b.schema, o.schema)) {
		return false
	}
	for j, f := range b.frames {
		if f != o.frames[j] {
			return false
		}
	}
	return true
}

// from returns how the block's terms follow from another's.
func (b *block) from(o *block) []affine {
	from := make([]affine, b.size())
	for j := range b.frames {
		k := o.column(b.schema, j)
		switch {
		case j == b.target && b.hasNumber():
			a := &from[b.terms]
			ratio := math.Ldexp(1, o.frames[k].Exp-b.frames[j].Exp)
			a.constant = o.frames[k].Shift*ratio - b.frames[j].Shift
			a.add(o.terms, ratio)
		case b.count(j) == 0:
		case k < 0:
			from[b.missing(j)].constant = 1
		default:
			from[b.missing(j)].add(o.missing(k), 1)
			switch {
			case o.numeric(k) && b.numeric(j):
				b.powers(from[b.first[j]:], o, j, k)
			case !o.numeric(k) && !b.numeric(j):
				for v, code := range table.Recoding(&o.schema.Attributes[k], &b.schema.Attributes[j]) {
					if code >= 0 {
						from[b.first[j]+int(code)].add(o.first[k]+v, 1)
					}
				}
			}
		}
	}
	return from
}

// powers moves the powers of a column to another frame, z' = ratio·z + shift:
// by the binomial theorem, the 0th power being 1 − missing.
func (b *block) powers(from []affine, o *block, j, k int) {
	if !o.frames[k].Set {
		return // all cells are missing
	}
	ratio := math.Ldexp(1, o.frames[k].Exp-b.frames[j].Exp)
	shift := o.frames[k].Shift*ratio - b.frames[j].Shift
	for power := 1; power <= b.degree; power++ {
		a := &from[power-1]
		choose := 1.0
		for i := 0; i <= power; i++ {
			factor := choose * math.Pow(ratio, float64(i)) * math.Pow(shift, float64(power-i))
			if i == 0 {
				a.constant = factor
				a.add(o.missing(k), -factor)
			} else {
				a.add(o.first[k]+i-1, factor)
			}
			choose = choose * float64(power-i) / float64(i+1)
		}
	}
}

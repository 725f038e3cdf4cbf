package tree

import (
	"math"

	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/rule"
)

var _ portable.Compiler = (*Model)(nil)

// Portable compiles the tree as it walks, missing cells included, or the list.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	if m.list != nil {
		base, err := m.Rules()
		if err != nil {
			return portable.Answer{}, err
		}
		p, err := rule.NewPredictor(base, m.schema, m.target)
		if err != nil {
			return portable.Answer{}, err
		}
		return p.Portable(b)
	}
	c := m.tree
	if c.classes > 0 {
		return portable.Classes(c.portable(b, c.classes, c.probabilities))
	}
	// Of a row in several leaves the mean and what varies around it are those of
	// the mixture, in which z is a leaf's mean in the scale of the target.
	moments := c.portable(b, 3, func(i int, to []float64) {
		z, s := (c.answer[2*i]/2-c.center/2)/c.scale*2, c.answer[2*i+1]/c.scale
		to[0], to[1], to[2] = c.answer[2*i], z, z*z+s*s
	})
	mean, z := b.Take(moments, 0), b.Take(moments, 1)
	variance := b.Zip(portable.Subtract, b.Take(moments, 2), b.Zip(portable.Multiply, z, z))
	half := b.Scale(b.Map(portable.Sqrt, b.Map(portable.Rectify, variance)), quantile*c.scale, 0)
	return portable.Interval(mean, b.Zip(portable.Subtract, mean, half), b.Zip(portable.Add, mean, half))
}

// portable compiles the nodes in their order, which is that of levels.
func (c *compact) portable(b *portable.Builder, width int, answer func(i int, to []float64)) portable.Ref {
	nodes := make([]portable.Node, len(c.nodes))
	var rows []float64
	for i := range c.nodes {
		st := &c.nodes[i]
		if st.col == leaf {
			nodes[i].Row = len(rows) / width
			rows = append(rows, make([]float64, width)...)
			answer(i, rows[len(rows)-width:])
			continue
		}
		for k := range int(st.kids) {
			to := int(st.kid) + k
			nodes[i].Branches = append(nodes[i].Branches, portable.Branch{Test: c.portableTest(b, st, k), To: to, Share: c.share[to]})
		}
	}
	return b.Walk(nodes, width, rows)
}

// portableTest holds for rows that go to the k-th child.
func (c *compact) portableTest(b *portable.Builder, st *step, k int) portable.Test {
	switch {
	case st.values > 0:
		allowed := make([]bool, 2+st.values)
		for v, to := range c.branch[st.first : st.first+st.values] {
			allowed[2+v] = int(to) == k
		}
		return b.Values(int(st.col), allowed)
	case st.values == absent && k == 0:
		return b.Missing(int(st.col))
	case st.values == absent:
		return b.Known(int(st.col))
	case st.values < 0:
		sum := c.planes[st.first].portable(b)
		if k == 0 {
			return portable.IsAtMost(sum, st.threshold)
		}
		return portable.IsAbove(sum, st.threshold)
	case k == 0:
		return b.Between(int(st.col), math.Inf(-1), st.threshold)
	}
	return b.Between(int(st.col), math.Nextafter(st.threshold, math.Inf(1)), math.Inf(1))
}

// portable compiles the sum of an oblique test.
func (p *plane) portable(b *portable.Builder) portable.Ref {
	var cells []portable.Ref
	var factors []float64
	for _, t := range p.terms {
		cells, factors = append(cells, b.Cell(int(t.col), t.mean)), append(factors, t.factor)
	}
	return b.Affine(b.Join(cells...), []float64{0}, factors)
}

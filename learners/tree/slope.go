package tree

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Columns whose answer goes one way (slope=age:+,income:-). A test of such a column
// is made only if its branches differ that way, and then parts the answers: those of
// the branch that should be lower stay below the middle of both branches, those of
// the other above it (as boosted trees do it: Chen and Guestrin, XGBoost, 2016). So
// answers go one way whatever the rows say, also where other cells are missing and a
// row goes down several branches.

// ways returns which way the answer goes along each column, nil if any.
func (s *settings) ways(schema *table.Schema, target int) ([]int8, error) {
	names, ways, err := setting.Ways(s.Slope)
	if err != nil || names == nil {
		return nil, err
	}
	if a := &schema.Attributes[target]; a.Kind == table.Nominal && len(a.Values) > 2 {
		return nil, fmt.Errorf("setting slope=%s: it is for numbers and two classes, and column %q has %d", s.Slope, a.Name, len(a.Values))
	}
	of := make([]int8, len(schema.Attributes))
	for i, name := range names {
		col := schema.Index(name)
		if col < 0 || col == target || schema.Attributes[col].Kind != table.Numeric {
			return nil, fmt.Errorf("setting slope=%s: %q is no column of numbers to predict from", s.Slope, name)
		}
		of[col] = ways[i]
	}
	return of, nil
}

// against reports whether branches of a numeric test differ the other way than its
// column goes.
func (g *grower) against(col int32, below, above []float64) bool {
	if g.ways == nil || g.ways[col] == 0 {
		return false
	}
	share := func(stat []float64) float64 { return over(stat[1], g.measure.weight(stat)) } // of the second class; or the mean
	return float64(g.ways[col])*(share(above)-share(below)) < 0
}

// lean makes answers go one way along columns.
func (c *compact) lean(ways []int8, labels []string) {
	if ways == nil || c.classes == 1 {
		return
	}
	low, high := make([]float64, len(c.nodes)), make([]float64, len(c.nodes))
	low[0], high[0] = c.value(0), c.value(0)
	for i := range c.nodes {
		low[0], high[0] = min(low[0], c.value(i)), max(high[0], c.value(i))
	}
	for i := range c.nodes {
		c.hold(i, low[i], high[i], labels)
		kids := c.kids(i)
		for k := kids.from; k < kids.to; k++ {
			low[k], high[k] = low[i], high[i]
		}
		st := &c.nodes[i]
		if st.col == leaf || st.values != 0 || ways[st.col] == 0 {
			continue
		}
		under, over := kids.from, kids.from+1
		if ways[st.col] < 0 {
			under, over = over, under
		}
		middle := held(c.value(under), low[i], high[i])/2 + held(c.value(over), low[i], high[i])/2
		high[under], low[over] = middle, middle
	}
}

// value is what a node's answer is judged by: the number, or the probability of the
// second class.
func (c *compact) value(i int) float64 {
	if c.classes == 0 {
		return c.answer[2*i]
	}
	return c.answer[2*i+1]
}

// hold keeps a node's answer between limits.
func (c *compact) hold(i int, low, high float64, labels []string) {
	x := c.value(i)
	if x = held(x, low, high); c.classes == 0 {
		c.answer[2*i] = x
		return
	}
	if x != c.value(i) {
		p := c.answer[2*i : 2*i+2]
		p[0], p[1] = 1-x, x
		c.nodes[i].label = int32(learn.Best(p, labels))
	}
}

func held(x, low, high float64) float64 { return min(max(x, low), high) }

// slopeNotes says in the printed rules which way columns go.
func (m *Model) slopeNotes() []string {
	a := &m.schema.Attributes[m.target]
	answer := a.Name
	if a.Kind == table.Nominal {
		if len(a.Values) < 2 {
			return nil
		}
		answer = "the probability of " + a.Values[1]
	}
	return setting.WayNotes(m.settings.Slope, answer)
}

package nearest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/table"
)

// mostCells is how many cases are drawn with their cells.
const mostCells = 600

// Ovals draws the Voronoi diagram of the cases over two columns of numbers (Mitchell
// 1997, figure 8.1): the borders between the places that are nearest to one case
// and to another, those where the answer of the nearest one changes apart. Other
// columns are left out of it. The rows that it is given need not be drawn: the
// cases are.
func (m *Model) Ovals(x, y int, _ *table.Table) (*draw.Chart, error) {
	c := m.cases
	unit := func(column int) (*numberColumn, error) {
		for d := range m.metric.numbers {
			if m.metric.numbers[d].column == column {
				return &m.metric.numbers[d], nil
			}
		}
		return nil, fmt.Errorf("column %q has no say in how far cases are from each other as numbers; choose two that have", c.schema.Attributes[column].Name)
	}
	across, err := unit(x)
	if err != nil {
		return nil, err
	}
	up, err := unit(y)
	if err != nil {
		return nil, err
	}
	if c.count() > mostCells {
		return nil, fmt.Errorf("%d cases are too many to draw, %d the most; learn with prototypes=condense to draw those that are needed", c.count(), mostCells)
	}
	name := func(j int) string { return c.schema.Attributes[j].Name }
	chart := &draw.Chart{Title: name(c.target) + ", the nearest case", XLabel: name(x), YLabel: name(y)}
	var points []site
	for i := range c.count() {
		row := int(c.starts[i])
		at := site{corner{across.point(c.table.Columns[x].Floats[row]), up.point(c.table.Columns[y].Floats[row])}, c.table.Text(row, c.target)}
		if !math.IsNaN(at.x) && !math.IsNaN(at.y) {
			points = append(points, at)
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("no case has a number in both columns")
	}
	same, change := borders(points, c.classes != nil)
	add := func(name string, kind draw.Kind, of []corner) {
		s := draw.Series{Name: name, Kind: kind}
		for _, p := range of {
			s.X, s.Y = append(s.X, p.x*across.unit+across.low), append(s.Y, p.y*up.unit+up.low)
		}
		if len(of) > 0 {
			chart.Series = append(chart.Series, s)
		}
	}
	of := map[string][]corner{}
	for _, p := range points {
		class := p.class
		if c.classes == nil {
			class = "cases"
		}
		of[class] = append(of[class], p.corner)
	}
	// Classes first, by name: they have the colours of other pictures of them.
	for _, class := range slices.Sorted(maps.Keys(of)) {
		add(class, draw.Points, of[class])
	}
	add("the nearest changes", draw.Dashed, same)
	add("the answer changes", draw.Line, change)
	return chart, nil
}

// corner is a place in the plane; site one of a case.
type (
	corner struct{ x, y float64 }
	site   struct {
		corner
		class string
	}
)

// borders returns the edges of all Voronoi cells within a box around the sites, two
// ends and a gap each: those between sites of one class, and those between two.
func borders(sites []site, classes bool) (same, change []corner) {
	low, high := sites[0].corner, sites[0].corner
	for _, s := range sites {
		low, high = corner{min(low.x, s.x), min(low.y, s.y)}, corner{max(high.x, s.x), max(high.y, s.y)}
	}
	margin := 0.05*max(high.x-low.x, high.y-low.y) + 1e-9
	low, high = corner{low.x - margin, low.y - margin}, corner{high.x + margin, high.y + margin}
	gap := corner{math.NaN(), math.NaN()}
	for i, s := range sites {
		for _, e := range cell(sites, i, low, high) {
			if e.beyond <= i || math.Hypot(e.to.x-e.from.x, e.to.y-e.from.y) < 1e-9*margin {
				continue // the frame, drawn from the other side, or a point
			}
			if classes && sites[e.beyond].class != s.class {
				change = append(change, e.from, e.to, gap)
			} else {
				same = append(same, e.from, e.to, gap)
			}
		}
	}
	return same, change
}

// side is an edge of a cell, and which site is beyond it; -1: none.
type side struct {
	from, to corner
	beyond   int
}

// cell cuts the half-planes that are nearer to others off a box.
func cell(sites []site, i int, low, high corner) []side {
	s := sites[i]
	at := []corner{low, {high.x, low.y}, high, {low.x, high.y}}
	var sides []side
	for k := range at {
		sides = append(sides, side{at[k], at[(k+1)%4], -1})
	}
	for j, o := range sites {
		dx, dy := o.x-s.x, o.y-s.y
		if dx == 0 && dy == 0 {
			continue
		}
		// Above 0 it is nearer to the other.
		beyond := func(p corner) float64 { return dx*(p.x-(s.x+o.x)/2) + dy*(p.y-(s.y+o.y)/2) }
		var kept []side
		var cuts []corner // where the line leaves the cell and comes back
		for _, e := range sides {
			a, b := beyond(e.from), beyond(e.to)
			cross := func() corner {
				t := a / (a - b)
				return corner{e.from.x + t*(e.to.x-e.from.x), e.from.y + t*(e.to.y-e.from.y)}
			}
			switch {
			case a <= 0 && b <= 0:
				kept = append(kept, e)
			case a <= 0:
				p := cross()
				kept, cuts = append(kept, side{e.from, p, e.beyond}, side{from: p, beyond: j}), append(cuts, p)
			case b <= 0:
				p := cross()
				kept, cuts = append(kept, side{p, e.to, e.beyond}), append(cuts, p)
			}
		}
		if len(cuts) == 2 {
			for k := range kept {
				if kept[k].beyond == j {
					kept[k].to = cuts[0]
					if kept[k].from == cuts[0] {
						kept[k].to = cuts[1]
					}
				}
			}
		}
		sides = kept
	}
	return sides
}

package act

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// clusters is a world whose states of numbers are taken for the nearest of some that
// were met in random episodes: states that are near each other share what they are
// worth (after Mahadevan and Connell 1991). The nearest is found among all.
type clusters struct {
	Environment
	schema  *table.Schema
	centres [][]float64 // scaled
	low     []float64
	span    []float64
	cells   []float64
}

// clusterEpisodes and clusterRounds are what clusters are found by.
const (
	clusterEpisodes = 50
	clusterRounds   = 10
)

// clustered finds clusters by k-means (MacQueen 1967), beginning with states that
// are spread over what was met. Chance has no part in it but that of the episodes.
func clustered(e Environment, k int) (Environment, error) {
	c := &clusters{Environment: e, cells: make([]float64, len(e.Schema().Attributes))}
	for _, a := range e.Schema().Attributes {
		if a.Kind != table.Numeric {
			return nil, fmt.Errorf("clusters=%d: column %q is not a number", k, a.Name)
		}
	}
	log, err := Log(context.Background(), e, clusterEpisodes, 500, 1, nil)
	if err != nil {
		return nil, err
	}
	var states [][]float64
	for row := range log.Rows() {
		x := make([]float64, len(c.cells))
		for i := range x {
			x[i] = log.Columns[i].Floats[row]
		}
		states = append(states, x)
	}
	for i := range c.cells {
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range states {
			low, high = min(low, x[i]), max(high, x[i])
		}
		if r, ok := e.(Ranged); ok {
			low, high = r.Ranges()[i][0], r.Ranges()[i][1]
		}
		c.low, c.span = append(c.low, low), append(c.span, max(high-low, 1e-9))
	}
	for _, x := range states {
		c.scale(x)
	}
	k = min(k, len(states))
	for i := range k {
		c.centres = append(c.centres, slices.Clone(states[i*len(states)/k]))
	}
	for range clusterRounds {
		c.improve(states)
	}
	values := make([]string, k)
	for i := range values {
		values[i] = c.name(i)
	}
	c.schema = &table.Schema{Attributes: []table.Attribute{{Name: "near", Kind: table.Nominal, Values: values}}}
	for i := range values { // names that fall together
		if slices.Index(values, values[i]) < i {
			values[i] += fmt.Sprintf(" (%d)", i+1)
		}
	}
	return c, nil
}

// name is a centre in the world's own numbers.
func (c *clusters) name(i int) (name string) {
	for j, x := range c.centres[i] {
		if j > 0 {
			name += "/"
		}
		name += fmt.Sprintf("%.3g", c.low[j]+x*c.span[j])
	}
	return name
}

func (c *clusters) scale(x []float64) {
	for i := range x {
		x[i] = (x[i] - c.low[i]) / c.span[i]
	}
}

// improve moves centres to the means of the states nearest to them.
func (c *clusters) improve(states [][]float64) {
	sums, counts := make([][]float64, len(c.centres)), make([]float64, len(c.centres))
	for _, x := range states {
		k := c.nearest(x)
		if sums[k] == nil {
			sums[k] = make([]float64, len(x))
		}
		counts[k]++
		for i := range x {
			sums[k][i] += x[i]
		}
	}
	for k := range sums {
		for i := range sums[k] {
			c.centres[k][i] = sums[k][i] / counts[k]
		}
	}
}

func (c *clusters) nearest(x []float64) int {
	best, least := 0, math.Inf(1)
	for k, centre := range c.centres {
		d := 0.0
		for i := range centre {
			d += (x[i] - centre[i]) * (x[i] - centre[i])
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

func (c *clusters) Schema() *table.Schema { return c.schema }

func (c *clusters) State(cells []float64) {
	c.Environment.State(c.cells)
	c.scale(c.cells)
	cells[0] = float64(c.nearest(c.cells))
}

// Cut reports whether the world cut an episode.
func (c *clusters) Cut() bool { return cut(c.Environment) }

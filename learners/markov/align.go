package markov

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// Models that found their hidden states apart number them apart: state 1 of one
// may be what the other calls state 2. Before counts are added up, the states of the
// other model are given the numbers of those that they are most like: the assignment
// of the largest sum of ln ∫√(p·q) over what both show and how they stay
// (Bhattacharyya 1943; the assignment after Kuhn 1955).

// aligned returns another model's blocks, their hidden states numbered as m's.
func (m *Model) aligned(o *Model) ([]*block, error) {
	schema, err := table.Union(m.schema, o.schema)
	if err != nil {
		return nil, err
	}
	ours, theirs := m.sum().empty(schema), m.sum().empty(schema)
	ours.absorb(m.sum())
	theirs.absorb(o.sum())
	n, sub := ours.states(), ours.sub
	place := make([]int, n) // of each of their states among ours
	for from := 0; from < n; from += sub {
		cost := make([][]float64, sub)
		for k := range cost {
			cost[k] = make([]float64, sub)
			for h := range cost[k] {
				cost[k][h] = -ours.likeness(from+h, theirs, from+k)
			}
		}
		for k, h := range assignment(cost) {
			place[from+k] = from + h
		}
	}
	blocks := make([]*block, len(o.blocks))
	for i, b := range o.blocks {
		in := theirs.stateCodes(b) // of b's states, in the schema of both
		order := make([]int, b.states())
		for s := range order {
			class := s / sub * sub
			order[class+place[in[s]]%sub] = s
		}
		blocks[i] = b.clone()
		blocks[i].reorder(order)
	}
	return blocks, nil
}

// likeness is ln of how far what a state shows overlaps with what another's
// does, over all columns, and how long both stay.
func (b *block) likeness(s int, o *block, t int) float64 {
	n := b.states()
	p, q := ratio(b.moves[s*n+s], b.visits[s], 1, .5), ratio(o.moves[t*n+t], o.visits[t], 1, .5)
	log := math.Log(math.Sqrt(p*q) + math.Sqrt(max(0, 1-p)*max(0, 1-q)))
	for j := range b.columns {
		c, d := &b.columns[j], &o.columns[j]
		if values := len(c.counts) / n; values > 0 {
			var of, to, both float64
			for v := range values {
				of, to = of+c.counts[v*n+s], to+d.counts[v*n+t]
			}
			for v := range values {
				even := 1 / float64(values)
				both += math.Sqrt(ratio(c.counts[v*n+s], of, 1, even) * ratio(d.counts[v*n+t], to, 1, even))
			}
			log += math.Log(both)
		}
		if c.moments != nil {
			level := max(c.level, d.level)
			x, y := c.moments[s].Move(c.level, level), d.moments[t].Move(d.level, level)
			if x.N > 0 && y.N > 0 {
				v := (x.Variance() + y.Variance()) / 2
				least := leastVariance * (v + (x.Mean-y.Mean)*(x.Mean-y.Mean))
				if v += least; v > 0 {
					log -= (x.Mean-y.Mean)*(x.Mean-y.Mean)/(8*v) + 0.5*math.Log(v) - 0.25*(math.Log(x.Variance()+least)+math.Log(y.Variance()+least))
				}
			}
		}
	}
	return max(log, -1e9)
}

// assignment gives each row a column of its own so that the costs sum to the
// least (the Hungarian method with potentials, O(n³)).
func assignment(cost [][]float64) []int {
	n := len(cost)
	row, column := make([]float64, n+1), make([]float64, n+1) // potentials
	of, way := make([]int, n+1), make([]int, n+1)             // the row of a column, from 1; 0 is none
	for i := 1; i <= n; i++ {
		of[0] = i
		least, used := slices.Repeat([]float64{math.Inf(1)}, n+1), make([]bool, n+1)
		at := 0
		for of[at] != 0 {
			used[at] = true
			next, delta := 0, math.Inf(1)
			for j := 1; j <= n; j++ {
				if used[j] {
					continue
				}
				if c := cost[of[at]-1][j-1] - row[of[at]] - column[j]; c < least[j] {
					least[j], way[j] = c, at
				}
				if least[j] < delta {
					next, delta = j, least[j]
				}
			}
			for j := range used {
				if used[j] {
					row[of[j]] += delta
					column[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			of[at], at = of[way[at]], way[at]
		}
	}
	columns := make([]int, n)
	for j := 1; j <= n; j++ {
		columns[of[j]-1] = j - 1
	}
	return columns
}

package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Lines: beside the nodes of trees, columns of numbers themselves are candidates,
// over all rows and over those of a node. A step is a poor likeness of a slope, of
// which it takes many.

const (
	slopeTrees  = 16  // trees of a batch in whose nodes lines are looked for
	slopeTracks = 16  // columns that are looked at there, drawn anew for each batch
	slopeRows   = 50  // weight of the rows that a line within a node needs
	mostTracks  = 128 // columns that lines may run along, those that say most by themselves
	tailShare   = 0.01
	linesFrom   = 2000 // weight of rows from which lines within nodes are rehearsed
	linesSize   = 6    // of the sizes: where they must win to be rehearsed further
	linesWin    = 0.9  // of the squares without them, that they must bring these to
)

// track is a column that lines may run along: its numbers, those of the tails as
// their ends, in deviations from the mean.
type track struct {
	col       int       // of the table
	place     int       // of the columns in bins
	z         []float64 // by row; NaN where the cell is missing
	mean      float64
	unit      float64
	low, high float64
}

// layTracks lays out the columns that lines may run along.
func (h *school) layTracks(ctx context.Context) error {
	all := make([]*track, len(h.column))
	says := make([]float64, len(h.column))
	err := learn.Each(ctx, len(h.column), func(i int) {
		if h.table.Schema.Attributes[h.column[i]].Kind != table.Numeric {
			return
		}
		t := newTrack(h.table.Columns[h.column[i]].Floats, h.weights)
		if t == nil {
			return
		}
		t.col, t.place = h.column[i], i
		for r, z := range t.z {
			if z == z {
				says[i] += h.weights[r] * z * h.x.Number[r]
			}
		}
		if all[i] = t; len(h.column) > mostTracks {
			t.z = nil // laid out again if it stays
		}
	})
	if err != nil {
		return err
	}
	h.tracks = slices.DeleteFunc(all, func(t *track) bool { return t == nil })
	if len(h.column) <= mostTracks {
		return nil
	}
	slices.SortStableFunc(h.tracks, func(a, b *track) int {
		return -cmp.Compare(math.Abs(says[a.place]), math.Abs(says[b.place]))
	})
	h.tracks = h.tracks[:min(mostTracks, len(h.tracks))]
	slices.SortFunc(h.tracks, func(a, b *track) int { return cmp.Compare(a.place, b.place) })
	return learn.Each(ctx, len(h.tracks), func(i int) {
		h.tracks[i].z = newTrack(h.table.Columns[h.tracks[i].col].Floats, h.weights).z
	})
}

// newTrack returns nil for a column that no line can run along.
func newTrack(x, weights []float64) *track {
	var order []int32
	total := 0.0
	for r, v := range x {
		if !table.IsMissing(v) {
			order = append(order, int32(r))
			total += weights[r]
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
	t := &track{low: x[order[0]], high: x[order[len(order)-1]]}
	below := 0.0
	for i, r := range order {
		if below += weights[r]; below <= tailShare*total {
			t.low = x[order[min(i+1, len(order)-1)]]
		}
		if below >= (1-tailShare)*total {
			t.high = x[r]
			break
		}
	}
	if math.Abs(t.low) > extent || math.Abs(t.high) > extent || !(t.high > t.low) {
		return nil
	}
	square := 0.0
	for _, r := range order {
		t.mean += weights[r] / total * min(max(x[r], t.low), t.high)
	}
	for _, r := range order {
		d := min(max(x[r], t.low), t.high) - t.mean
		square += weights[r] / total * d * d
	}
	if t.unit = math.Sqrt(square); !(t.unit > (math.Abs(t.low)+math.Abs(t.high))*1e-9) {
		return nil
	}
	t.z = make([]float64, len(x))
	for r, v := range x {
		if t.z[r] = math.NaN(); !table.IsMissing(v) {
			t.z[r] = (min(max(v, t.low), t.high) - t.mean) / t.unit
		}
	}
	return t
}

// middle is the mean of some rows, given as places among others.
func (t *track) middle(of, places []int32, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for at, i := range places {
		if z := t.z[of[i]]; z == z {
			sum += weights[at] * z
			total += weights[at]
		}
	}
	return sum / max(total, math.SmallestNonzeroFloat64)
}

// along returns how far such rows lie along a track from there. Those whose cells
// are missing lie there.
func (t *track) along(of, places []int32, middle float64) []float64 {
	v := make([]float64, len(places))
	for at, i := range places {
		if z := t.z[of[i]]; z == z {
			v[at] = z - middle
		}
	}
	return v
}

// spread is the deviation, over all rows, of how far those given lie along a track
// from there, in the units of the column.
func (t *track) spread(rows []int32, weights []float64, middle float64) float64 {
	mean, square, total := 0.0, 0.0, sum(weights)
	for _, r := range rows {
		if z := t.z[r] - middle; z == z {
			mean += weights[r] * z / total
			square += weights[r] * z * z / total
		}
	}
	return t.unit * math.Sqrt(max(0, square-mean*mean))
}

// drawTracks returns the numbers of some tracks, from 1 on.
func (l *lesson) drawTracks(batch, most int) []int {
	drawn := make([]int, len(l.tracks))
	for t := range drawn {
		drawn[t] = t + 1
	}
	if len(drawn) <= most {
		return drawn
	}
	key := func(t int) uint64 { return scramble(scramble(l.seed^uint64(batch)<<32^0x11e) ^ uint64(t)) }
	slices.SortFunc(drawn, func(a, b int) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) })
	return drawn[:most]
}

// promisingLines returns the lines that promise most: over all rows, and within the
// nodes of some trees.
func (a *adder) promisingLines(ctx context.Context, trees []int) ([]promise, error) {
	whole := a.drawTracks(a.batch, treesLookedAt)
	found := make([][]promise, len(whole))
	err := crew.Each(ctx, len(whole), func(at int) {
		if p := (promise{tree: -1, line: int32(whole[at])}); !a.lined[p] {
			var s lineSums
			z := a.tracks[p.line-1].z
			for i, r := range a.rows {
				s.add(z[r], a.weight[i], a.rest[i])
			}
			found[at] = a.lines(found[at], p, &s, 1)
		}
	})
	if err != nil || !a.within {
		return slices.Concat(found...), err
	}
	within := a.drawTracks(a.batch, slopeTracks)
	trees = trees[:min(slopeTrees, len(trees))]
	inside := make([][]promise, len(trees))
	err = crew.Each(ctx, len(trees), func(at int) { inside[at] = a.lineGains(trees[at], within) })
	return slices.Concat(append(found, inside...)...), err
}

// lineSums are what the gain of a line is made of: sums over rows whose cell is known.
type lineSums struct{ n, z, zz, rest, restZ float64 }

func (s *lineSums) add(z, weight, rest float64) {
	if z == z {
		s.n += weight
		s.z += weight * z
		s.zz += weight * z * z
		s.rest += weight * rest
		s.restZ += weight * rest * z
	}
}

// lines appends the line if it promises enough.
func (a *adder) lines(found []promise, p promise, s *lineSums, price float64) []promise {
	if s.n < slopeRows && p.tree >= 0 {
		return found
	}
	mean := s.z / s.n
	slope, curve := keeps(a.lineWay(a.tracks[p.line-1]), s.restZ-mean*s.rest), max(0, s.zz-mean*s.z)
	if p.gain = slope * slope / (curve + a.adderRidge) / math.Sqrt(price); p.gain > a.worth {
		found = append(found, p)
	}
	return found
}

// lineGains returns what lines within the nodes of a tree promise.
func (a *adder) lineGains(tree int, tracks []int) []promise {
	nodes := a.trees[tree].Nodes
	sums := make([]lineSums, len(nodes))
	var found []promise
	for _, t := range tracks {
		clear(sums)
		z := a.tracks[t-1].z
		for i, leaf := range a.leafOf[tree] {
			sums[leaf].add(z[a.rows[i]], a.weight[i], a.rest[i])
		}
		for node := len(nodes) - 1; node > 0; node-- {
			s, up := &sums[node], &sums[nodes[node].Parent]
			up.n, up.z, up.zz, up.rest, up.restZ = up.n+s.n, up.z+s.z, up.zz+s.zz, up.rest+s.rest, up.restZ+s.restZ
			p := promise{tree: int32(tree), node: int32(node), line: int32(t)}
			if price := a.price[tree][node]; price > 0 && !a.lined[p] {
				found = a.lines(found, p, s, price+1)
			}
		}
	}
	return found
}

// lineWay is which way a line may go; 0: both.
func (l *lesson) lineWay(t *track) int8 {
	if l.ways == nil {
		return 0
	}
	return l.ways[t.place]
}

// testsOf returns the tests of what was promised.
func (a *adder) testsOf(p promise) []boost.Test {
	if p.tree < 0 {
		return nil
	}
	return a.trees[p.tree].Tests(a.x.Columns, p.node)
}

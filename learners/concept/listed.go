package concept

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// hypothesis is a disjunction of terms; one term is a conjunction, none the
// empty concept.
type hypothesis []term

func (l *language) satisfies(h hypothesis, x []value) bool {
	return slices.ContainsFunc(h, func(t term) bool { return l.covers(t, x) })
}

// listed is a version space written out: LIST-THEN-ELIMINATE, table 2.4. Two
// hypotheses that hold for the same rows are one; every hypothesis is known
// by the rows, of all that there can be, which it holds for.
type listed struct {
	language *language
	rows     [][]value // all that there can be
	members  []hypothesis
	extent   [][]uint64 // of each member, a bit a row
	errors   []float64  // weight of the examples that each member gets wrong
}

// Limits of what is written out.
const (
	mostListed = 2_000_000 // hypotheses
	mostRows   = 1 << 16   // rows that there can be
	mostWords  = 1 << 25   // of 64 rows, over all hypotheses
)

// list writes out all disjunctions of up to terms terms.
func list(ctx context.Context, l *language, terms int) (*listed, error) {
	rows, err := l.instances()
	if err != nil {
		return nil, err
	}
	single, err := l.terms()
	if err != nil {
		return nil, err
	}
	if n := choices(len(single), terms); n > mostListed {
		return nil, fmt.Errorf("there are %.3g hypotheses of up to %d terms to write out, more than %d; leave columns out, or learn by candidate elimination over conjunctions", n, terms, mostListed)
	}
	if n := choices(len(single), terms) * float64((len(rows)+63)/64); n > mostWords {
		return nil, fmt.Errorf("there are %d conjunctions over %d different rows, too much to write out; leave columns out, or learn by candidate elimination over conjunctions", len(single), len(rows))
	}
	v := &listed{language: l, rows: rows}
	extents := make([][]uint64, len(single))
	for i, t := range single {
		extents[i] = v.extentOf(t)
	}
	seen := map[string]struct{}{}
	add := func(h hypothesis, extent []uint64) {
		key := keyOf(extent)
		if _, ok := seen[key]; !ok {
			seen[key] = struct{}{}
			v.members, v.extent = append(v.members, h), append(v.extent, extent)
		}
	}
	add(nil, make([]uint64, (len(rows)+63)/64))
	var extend func(h hypothesis, extent []uint64, from, length int) error
	extend = func(h hypothesis, extent []uint64, from, length int) error {
		for i := from; i < len(single); i++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			wider := slices.Clone(extents[i])
			for w := range extent {
				wider[w] |= extent[w]
			}
			longer := append(slices.Clip(h), single[i])
			if len(longer) == length {
				add(longer, wider)
			} else if err := extend(longer, wider, i+1, length); err != nil {
				return err
			}
		}
		return nil
	}
	// Shorter hypotheses come first, and give equal ones their form.
	for length := 1; length <= terms; length++ {
		if err := extend(nil, nil, 0, length); err != nil {
			return nil, err
		}
	}
	v.errors = make([]float64, len(v.members))
	return v, nil
}

// keyOf names an extent.
func keyOf(extent []uint64) string {
	b := make([]byte, 0, 8*len(extent))
	for _, w := range extent {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

// choices counts the sets of 1 to k of n things.
func choices(n, k int) float64 {
	sum, c := 0.0, 1.0
	for j := 1; j <= k; j++ {
		c *= float64(n-j+1) / float64(j)
		sum += max(c, 0)
	}
	return sum
}

// instances returns all rows that there can be: X.
func (l *language) instances() ([][]value, error) {
	n := 1.0
	cells := make([][]value, len(l.columns))
	for i := range l.columns {
		c := &l.columns[i]
		cells[i] = c.cells()
		if c.missing {
			cells[i] = append(cells[i], value{missing: true})
		}
		n *= float64(len(cells[i]))
	}
	if n > mostRows {
		return nil, fmt.Errorf("there are %.3g different rows, more than the %d for which hypotheses can be written out; leave columns out, or learn by candidate elimination over conjunctions", n, mostRows)
	}
	rows := [][]value{{}}
	for i := range cells {
		var longer [][]value
		for _, r := range rows {
			for _, v := range cells[i] {
				longer = append(longer, append(slices.Clip(r), v))
			}
		}
		rows = longer
	}
	return rows, nil
}

// terms returns every conjunction of the language but the empty one.
func (l *language) terms() ([]term, error) {
	n := 1.0
	of := make([][]constraint, len(l.columns))
	for i := range l.columns {
		of[i] = l.columns[i].constraints()
		n *= float64(len(of[i]))
	}
	if n > mostListed {
		return nil, fmt.Errorf("there are %.3g conjunctions, more than the %d that can be written out; leave columns out, or learn by candidate elimination", n, mostListed)
	}
	all := []term{{}}
	for i := range of {
		longer := make([]term, 0, len(all)*len(of[i]))
		for _, t := range all {
			for _, k := range of[i] {
				longer = append(longer, append(slices.Clip(t), k))
			}
		}
		all = longer
	}
	return all, nil
}

// constraints returns all constraints of a column.
func (c *column) constraints() []constraint {
	if !c.numeric {
		all := make([]constraint, len(c.parent))
		for n := range all {
			all[n].node = int32(n)
		}
		return all
	}
	all := []constraint{c.top()}
	for i := range c.ends {
		for j := i; j < len(c.ends); j++ {
			k := constraint{low: c.ends[i], high: c.ends[j]}
			if i == 0 {
				k.low = math.Inf(-1)
			}
			if j == len(c.ends)-1 {
				k.high = math.Inf(1)
			}
			if full := i == 0 && j == len(c.ends)-1; !full || c.missing {
				all = append(all, k)
			}
		}
	}
	return all
}

func (v *listed) extentOf(t term) []uint64 {
	extent := make([]uint64, (len(v.rows)+63)/64)
	for i, x := range v.rows {
		if v.language.covers(t, x) {
			extent[i/64] |= 1 << (i % 64)
		}
	}
	return extent
}

// eliminate counts an example against the members that get it wrong.
func (v *listed) eliminate(d example, weight float64) {
	for i, h := range v.members {
		if v.language.satisfies(h, d.x) != d.positive {
			v.errors[i] += weight
		}
	}
}

// consistent leaves the members that get at most noise weight of the examples
// wrong (Mitchell 1979), and reports how much that was.
func (v *listed) consistent(noise float64) {
	left := listed{language: v.language, rows: v.rows}
	for i := range v.members {
		if v.errors[i] <= noise {
			left.members = append(left.members, v.members[i])
			left.extent = append(left.extent, v.extent[i])
			left.errors = append(left.errors, v.errors[i])
		}
	}
	*v = left
}

// boundary returns the most specific members, or the most general ones.
func (v *listed) boundary(general bool) []hypothesis {
	order := make([]int, len(v.members))
	size := make([]int, len(v.members))
	for i := range order {
		order[i] = i
		for _, w := range v.extent[i] {
			size[i] += bits.OnesCount64(w)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if general {
			return size[b] - size[a]
		}
		return size[a] - size[b]
	})
	var found []int
	for _, i := range order {
		beyond := slices.ContainsFunc(found, func(j int) bool {
			if general {
				return within(v.extent[i], v.extent[j])
			}
			return within(v.extent[j], v.extent[i])
		})
		if !beyond {
			found = append(found, i)
		}
	}
	members := make([]hypothesis, len(found))
	for i, f := range found {
		members[i] = v.members[f]
	}
	return members
}

// within reports whether every row of one extent is in another.
func within(a, b []uint64) bool {
	for w := range a {
		if a[w]&^b[w] != 0 {
			return false
		}
	}
	return true
}

// votes counts the members that a row satisfies.
func (v *listed) votes(x []value) int {
	n := 0
	for _, h := range v.members {
		if v.language.satisfies(h, x) {
			n++
		}
	}
	return n
}

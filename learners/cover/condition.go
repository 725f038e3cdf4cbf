package cover

import (
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

// form is what a condition asks of a cell.
type form uint8

const (
	is     form = iota // the value with a code
	in                 // one of a set of values
	atMost             // a number at or below the threshold
	above              // a number above it
	forms
)

// condition is one test of a rule. A cell that is not known satisfies none.
type condition struct {
	col       int32
	form      form
	code      int32   // of is; while learning, the rank of the last number at or below the threshold
	in        []bool  // of in, for each value
	threshold float64 // of atMost and above
}

// holds reports whether a row of a table satisfies the condition.
func (c *condition) holds(columns []table.Column, row int) bool {
	switch c.form {
	case is:
		return columns[c.col].Codes[row] == c.code
	case in:
		code := columns[c.col].Codes[row]
		return uint32(code) < uint32(len(c.in)) && c.in[code]
	case atMost:
		return columns[c.col].Floats[row] <= c.threshold
	}
	return columns[c.col].Floats[row] > c.threshold
}

// covers reports whether a cell of the examples satisfies the condition.
func (c *condition) covers(code int32) bool {
	switch c.form {
	case is:
		return code == c.code
	case in:
		return code >= 0 && c.in[code]
	case atMost:
		return code >= 0 && code <= c.code
	}
	return code > c.code && code >= 0
}

func (c *condition) equal(d *condition) bool {
	return c.col == d.col && c.form == d.form && c.code == d.code && c.threshold == d.threshold && slices.Equal(c.in, d.in)
}

// and adds a condition to a conjunction. One that it makes superfluous goes: on
// the same names, or on the same side of the same number.
func and(tests []condition, c condition) []condition {
	all := make([]condition, 0, len(tests)+1)
	for _, t := range tests {
		if t.col != c.col || t.form != c.form && c.form >= atMost {
			all = append(all, t)
		}
	}
	return append(all, c)
}

// sameTests reports whether two conjunctions have the same conditions.
func sameTests(a, b []condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.ContainsFunc(b, func(c condition) bool { return a[i].equal(&c) }) {
			return false
		}
	}
	return true
}

// filter returns the rows that satisfy a condition.
func (x *examples) filter(rows []int32, c *condition) []int32 {
	codes := x.columns[c.col].codes
	kept := make([]int32, 0, len(rows)/2)
	for _, r := range rows {
		if c.covers(codes[r]) {
			kept = append(kept, r)
		}
	}
	return kept
}

// cover returns the rows that satisfy all conditions: bitmaps first, then those
// that have to look at the rows left.
func (x *examples) cover(tests []condition) bits.Set {
	set := bits.Fill(x.rows)
	for i := range tests {
		if c := &x.columns[tests[i].col]; tests[i].form == is && c.sets != nil {
			bits.And(set, set, c.sets[tests[i].code])
		}
	}
	for i := range tests {
		c := &x.columns[tests[i].col]
		if tests[i].form == is && c.sets != nil {
			continue
		}
		for w, word := range set {
			for rest := word; rest != 0; rest &= rest - 1 {
				if b := trailing(rest); !tests[i].covers(c.codes[w*64+b]) {
					word &^= 1 << b
				}
			}
			set[w] = word
		}
	}
	return set
}

func trailing(word uint64) int { return mathbits.TrailingZeros64(word) }

// mostSubsets is how many values a column may have for all sets of them to be
// tried; of more, those are that begin the values in the order of a label's
// share.
const mostSubsets = 8

// specialise calls visit for each condition on a column that some of the rows
// counted satisfy, with the weight of each label among these. What it passes
// is good until visit returns, and for these rows only: see settled.
func (x *examples) specialise(t *tally, col int, labels int, sets bool, seed int32, visit func(c condition, counts []float64)) {
	c := &x.columns[col]
	if seed >= 0 && c.codes[seed] < 0 {
		return
	}
	if len(t.left) < labels {
		t.left, t.right = make([]float64, labels), make([]float64, labels)
	}
	switch {
	case c.values != nil:
		x.thresholds(t, col, labels, seed, visit)
	case sets:
		x.subsets(t, col, labels, seed, visit)
	default:
		for i, code := range t.codes {
			if seed < 0 || c.codes[seed] == code {
				visit(condition{col: int32(col), form: is, code: code}, t.counts[i*labels:(i+1)*labels])
			}
		}
	}
}

// settled returns a condition that can be kept, and asked of any row: numbers
// that none of the rows counted has may lie on either side of its threshold.
func (x *examples) settled(c condition) condition {
	c.in = slices.Clone(c.in)
	if c.form >= atMost {
		c.code = x.columns[c.col].last(c.threshold)
	}
	return c
}

// thresholds are midway between neighbouring numbers whose rows differ in
// class (Mitchell 1997, exercise 10.2).
func (x *examples) thresholds(t *tally, col int, labels int, seed int32, visit func(c condition, counts []float64)) {
	c := &x.columns[col]
	if labels == 2 && t.goal.set {
		x.thresholdsOfTwo(t, col, seed, visit)
		return
	}
	left, right := t.left[:labels], t.right[:labels]
	clear(left)
	clear(right)
	for i := range t.codes {
		for l, w := range t.counts[i*labels : (i+1)*labels] {
			right[l] += w
		}
	}
	before := -2
	for i := range t.codes {
		of := t.counts[i*labels : (i+1)*labels]
		only := single(of)
		if i > 0 && (only < 0 || only != before) {
			if cut, ok := between(c.values[t.codes[i-1]], c.values[t.codes[i]]); ok {
				k := condition{col: int32(col), form: atMost, code: t.codes[i-1], threshold: cut}
				if seed < 0 || k.covers(c.codes[seed]) {
					visit(k, left)
				}
				if k.form = above; seed < 0 || k.covers(c.codes[seed]) {
					visit(k, right)
				}
			}
		}
		before = only
		for l, w := range of {
			left[l] += w
			right[l] = max(right[l]-w, 0)
		}
	}
}

// thresholdsOfTwo does the same for two labels, and passes on only what reaches
// the goal.
func (x *examples) thresholdsOfTwo(t *tally, col int, seed int32, visit func(c condition, counts []float64)) {
	c := &x.columns[col]
	left, right := [2]float64{}, [2]float64{}
	for i := 0; i < len(t.counts); i += 2 {
		right[0] += t.counts[i]
		right[1] += t.counts[i+1]
	}
	own := int32(-1)
	if seed >= 0 {
		own = c.codes[seed]
	}
	pass := func(k condition, counts [2]float64) {
		copy(t.left, counts[:])
		visit(k, t.left[:2])
	}
	for i, code := range t.codes {
		no, yes := t.counts[2*i], t.counts[2*i+1]
		if i > 0 && !(no == 0 && t.counts[2*i-2] == 0 || yes == 0 && t.counts[2*i-1] == 0) {
			below := t.codes[i-1]
			lower := t.goal.reached(left[1], left[0]+left[1]) && (seed < 0 || own <= below)
			upper := t.goal.reached(right[1], right[0]+right[1]) && (seed < 0 || own > below)
			if lower || upper {
				if cut, ok := between(c.values[below], c.values[code]); ok {
					k := condition{col: int32(col), form: atMost, code: below, threshold: cut}
					if lower {
						pass(k, left)
					}
					if k.form = above; upper && t.goal.reached(right[1], right[0]+right[1]) {
						pass(k, right)
					}
				}
			}
		}
		left[0], left[1] = left[0]+no, left[1]+yes
		right[0], right[1] = max(right[0]-no, 0), max(right[1]-yes, 0)
	}
}

// single returns the only label that has weight, -1 if there are several.
func single(counts []float64) int {
	only := -1
	for l, w := range counts {
		if w > 0 {
			if only >= 0 {
				return -1
			}
			only = l
		}
	}
	return only
}

// subsets are sets of values (Mitchell 1997, exercise 10.3): of few values all
// that are neither empty nor whole, of many those that a label is most
// frequent in.
func (x *examples) subsets(t *tally, col int, labels int, seed int32, visit func(c condition, counts []float64)) {
	c := &x.columns[col]
	n := len(t.codes)
	if len(t.in) < c.size {
		t.in = make([]bool, c.size)
	}
	members := t.in[:c.size]
	counts := t.left[:labels]
	try := func() {
		if seed >= 0 && !members[c.codes[seed]] {
			return
		}
		k := condition{col: int32(col), form: in, in: members}
		if first := slices.Index(members, true); !slices.Contains(members[first+1:], true) {
			k = condition{col: int32(col), form: is, code: int32(first)}
		}
		visit(k, counts)
	}
	add := func(i int) {
		members[t.codes[i]] = true
		for l := range counts {
			counts[l] += t.counts[i*labels+l]
		}
	}
	if n <= mostSubsets {
		for pick := 1; pick < 1<<n-1; pick++ {
			clear(members)
			clear(counts)
			for i := range n {
				if pick>>i&1 == 1 {
					add(i)
				}
			}
			try()
		}
		return
	}
	order := make([]int, n)
	for l := range labels {
		share := func(i int) float64 { return t.counts[i*labels+l] / sum(t.counts[i*labels:(i+1)*labels]) }
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return compare(share(b), share(a)) })
		clear(members)
		clear(counts)
		for _, i := range order[:n-1] {
			add(i)
			try()
		}
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// tie is how little a measure may differ to count as the same.
const tie = 1e-12

func better(a, b float64) bool { return a > b+tie*max(1, math.Abs(b)) }

package neuraltree

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/pocket"
	"github.com/accrete-ml/accrete/learn"
)

// node is a unit of the tree, or a leaf where none was needed. Offspring come
// behind their parents.
type node struct {
	unit        *perceptron // nil for a leaf
	left, right int32
	parent      int32 // -1 for the root
	depth       int32
	counts      []float64 // weight of its rows by class
	patterns    int
	stop        Stop // of a leaf: why growth stopped there

	// Of a unit: how it came about.
	positive []bool // classes on its positive side
	value    float64
	method   Method
}

// growth grows one tree.
type growth struct {
	*sample
	*labels
	criterion     pocket.Criterion
	presentations int // 0: by the number of rows
	restarts      int
	maxDepth      int // 0: no limit
	seed          uint64
}

// opening is a node of the level that is being grown, with its patterns.
type opening struct {
	at       int32
	patterns []int32
	path     uint64 // a number of its own, from the turns that lead to it

	positive, negative []int32
	problem            *pocket.Problem
	tries              []try
	perfect            atomic.Int32 // first run that found a plane without errors
}

// try is what one run of the pocket algorithm found.
type try struct {
	weights []float64
	unit    *perceptron
	value   float64
}

// grow grows the tree level by level. The units of a level, and the runs for
// each, are independent and share the cores.
func (g *growth) grow(ctx context.Context, report func(fraction float64)) ([]node, error) {
	all := make([]int32, g.sample.patterns())
	for i := range all {
		all[i] = int32(i)
	}
	nodes := []node{{parent: -1, counts: g.countsOf(all), patterns: len(all)}}
	level := []*opening{{patterns: all, path: 1}}
	settled := 0
	for {
		units := level[:0]
		for _, o := range level {
			if g.open(&nodes[o.at], o) {
				units = append(units, o)
			} else {
				settled += len(o.patterns)
			}
		}
		report(float64(settled) / float64(len(all)))
		if len(units) == 0 {
			return nodes, ctx.Err()
		}
		if err := g.train(ctx, units); err != nil {
			return nil, err
		}
		found := make([]try, len(units))
		how := make([]Method, len(units))
		err := learn.Each(ctx, len(units), func(i int) { found[i], how[i] = g.choose(units[i]) })
		if err != nil {
			return nil, err
		}
		level = nil
		for i, o := range units {
			n := &nodes[o.at]
			if found[i].unit == nil {
				n.stop = Inseparable
				settled += len(o.patterns)
				continue
			}
			n.unit, n.value, n.method = found[i].unit, found[i].value, how[i]
			var sides [2][]int32
			for _, p := range o.patterns {
				side := 0
				if n.unit.right(g.table.Columns, int(g.row[p])) {
					side = 1
				}
				sides[side] = append(sides[side], p)
			}
			n.left, n.right = int32(len(nodes)), int32(len(nodes)+1)
			depth := n.depth + 1
			for side, patterns := range sides {
				level = append(level, &opening{at: int32(len(nodes)), patterns: patterns, path: turn(o.path, side)})
				nodes = append(nodes, node{parent: o.at, depth: depth, counts: g.countsOf(patterns), patterns: len(patterns)})
			}
		}
	}
}

// turn numbers the side of a node so that no two nodes share a number.
func turn(path uint64, side int) uint64 {
	path = (path + uint64(side) + 1) * 0x9e3779b97f4a7c15
	return path ^ path>>29
}

func (g *growth) countsOf(patterns []int32) []float64 {
	counts := make([]float64, len(g.classes))
	for _, p := range patterns {
		for c, w := range g.counts[int(p)*len(counts) : (int(p)+1)*len(counts)] {
			counts[c] += w
		}
	}
	return counts
}

// open parts the patterns of a node by their targets. It returns false, and
// the node stays a leaf, if no unit is needed or allowed.
func (g *growth) open(n *node, o *opening) bool {
	seen := make([]bool, len(g.classes))
	var present []int32
	for _, p := range o.patterns {
		if g.lead[p] > 0 {
			seen[g.class[p]] = true
		}
	}
	held := 0
	for c, w := range n.counts {
		if w > 0 {
			held++
		}
		if seen[c] {
			present = append(present, int32(c))
		}
	}
	switch {
	case len(present) < 2 && held < 2:
		n.stop = Pure
		return false
	case len(present) < 2:
		n.stop = Contradictory
		return false
	case g.maxDepth > 0 && int(n.depth) >= g.maxDepth:
		n.stop = TooDeep
		return false
	}
	n.positive = g.dichotomy(g.labels, o.patterns, present)
	for _, p := range o.patterns {
		switch {
		case g.lead[p] <= 0:
		case n.positive[g.class[p]]:
			o.positive = append(o.positive, p)
		default:
			o.negative = append(o.negative, p)
		}
	}
	return true
}

// train runs the pocket algorithm for the units of a level.
func (g *growth) train(ctx context.Context, level []*opening) error {
	for _, o := range level {
		o.problem = pocket.New(g.width, g.x, o.positive, o.negative, g.lead)
		o.tries = make([]try, g.restarts)
		o.perfect.Store(math.MaxInt32)
	}
	return learn.Each(ctx, len(level)*g.restarts, func(i int) {
		o, run := level[i/g.restarts], i%g.restarts
		// What later runs would find is not needed. Earlier ones are
		// never left out, so that the result does not depend on timing.
		if o.perfect.Load() < int32(run) {
			return
		}
		o.tries[run] = g.try(o, run)
		if o.tries[run].unit != nil && o.tries[run].value == 0 {
			for {
				first := o.perfect.Load()
				if first <= int32(run) || o.perfect.CompareAndSwap(first, int32(run)) {
					break
				}
			}
		}
	})
}

// The default number of presentations grows with the rows between these two;
// of more rows, each is shown once.
const (
	presentationsPerRow = 20
	fewestPresentations = 1000
	mostByDefault       = 10000
)

// noProgress is the value of a plane that is no better than none, less what
// rounding may add.
const noProgress = 1 - 1e-12

// try runs the pocket algorithm once, and puts the plane that it found in the
// best place.
func (g *growth) try(o *opening, run int) try {
	shown := g.presentations
	if shown == 0 {
		shown = max(min(presentationsPerRow*o.problem.Rows, mostByDefault), fewestPresentations, o.problem.Rows)
	}
	random := rand.New(rand.NewPCG(g.seed^o.path, uint64(run)))
	w, _ := pocket.Train(o.problem, g.criterion, shown, random)
	if w == nil {
		return try{}
	}
	return g.plane(o, w)
}

// plane puts the plane with these weights in the best place.
func (g *growth) plane(o *opening, w []float64) try {
	u := g.perceptron(w)
	if u == nil {
		return try{}
	}
	return try{w, u, u.place(g.sample, o.positive, o.negative, g.lead, g.criterion)}
}

// choose takes the best of the runs. If none made progress, a vertex is cut
// off, or, where numbers are too large or too small for sums, a plane across
// one column is taken.
func (g *growth) choose(o *opening) (try, Method) {
	best, method := try{value: math.Inf(1)}, ByPocket
	for _, t := range o.tries {
		if t.unit != nil && t.value < best.value {
			best = t
		}
	}
	if !(best.value < noProgress) {
		best, method = g.plane(o, o.problem.Vertex()), ByVertex
	}
	if best.unit != nil && method == ByPocket {
		if u, value := g.round(best.weights, best.value, o.problem.Slack(best.value), o.positive, o.negative, g.lead, g.criterion); u != nil {
			best.unit, best.value = u, value
		}
		best.unit, best.value = best.unit.tidy(g.sample, best.value, o.positive, o.negative, g.lead, g.criterion)
	}
	if best.unit == nil || !best.unit.parts(g.sample, o.positive, o.negative) {
		method = ByColumn
		best.unit, best.value = g.along(o.positive, o.negative, g.lead, g.criterion)
	}
	o.problem, o.tries = nil, nil
	return best, method
}

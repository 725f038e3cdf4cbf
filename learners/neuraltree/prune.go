package neuraltree

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// label returns the most frequent class of a node's rows.
func (n *node) label(classes []string) int { return learn.Best(n.counts, classes) }

// wrong returns the weight of the rows of other classes.
func (n *node) wrong(classes []string) float64 {
	label := n.label(classes)
	w := 0.0
	for c, count := range n.counts {
		if c != label {
			w += count
		}
	}
	return w
}

// link is a unit with the price at which it is given up: the errors that its
// sub-tree saves for each leaf that it has more than one.
type link struct {
	price float64
	at    int32
	round int32 // of the node when the price was right
}

type links []link

func (l links) Len() int      { return len(l) }
func (l links) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l links) Less(i, j int) bool {
	return l[i].price < l[j].price || l[i].price == l[j].price && l[i].at < l[j].at
}
func (l *links) Push(x any) { *l = append(*l, x.(link)) }
func (l *links) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// prices returns for each unit the price of a leaf, as a share of all rows,
// from which on the unit is not worth its while: weakest-link pruning (Breiman
// et al. 1984, section 3.3). No unit is cheaper than those below it. Leaves
// cost nothing.
func prices(nodes []node, classes []string) []float64 {
	n := len(nodes)
	own, below := make([]float64, n), make([]float64, n) // errors as a leaf, and of the leaves below
	leaves := make([]float64, n)
	round := make([]int32, n)
	gone := make([]bool, n)
	price := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		own[i] = nodes[i].wrong(classes)
		below[i], leaves[i] = own[i], 1
		if u := &nodes[i]; u.unit != nil {
			below[i] = below[u.left] + below[u.right]
			leaves[i] = leaves[u.left] + leaves[u.right]
		}
	}
	at := func(i int32) link { return link{(own[i] - below[i]) / (leaves[i] - 1), i, round[i]} }
	var queue links
	for i := range nodes {
		if nodes[i].unit != nil {
			queue = append(queue, at(int32(i)))
		}
	}
	heap.Init(&queue)
	total := sum(nodes[0].counts)
	now := 0.0
	for len(queue) > 0 {
		weakest := heap.Pop(&queue).(link)
		i := weakest.at
		if gone[i] || weakest.round != round[i] {
			continue
		}
		now = max(now, weakest.price/total)
		for todo := []int32{i}; len(todo) > 0; {
			k := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if nodes[k].unit == nil || gone[k] {
				continue
			}
			gone[k], price[k] = true, now
			todo = append(todo, nodes[k].left, nodes[k].right)
		}
		worse, fewer := own[i]-below[i], leaves[i]-1
		for a := nodes[i].parent; a >= 0; a = nodes[a].parent {
			below[a] += worse
			leaves[a] -= fewer
			round[a]++
			heap.Push(&queue, at(a))
		}
	}
	return price
}

// prune turns units that cost no more than a price into leaves.
func prune(nodes []node, price []float64, limit float64) []node {
	kept := make([]node, 0, len(nodes))
	to := make([]int32, len(nodes))
	for i := range nodes {
		n := nodes[i]
		if n.parent >= 0 {
			parent := to[n.parent]
			if parent < 0 || kept[parent].unit == nil {
				to[i] = -1
				continue
			}
			n.parent = parent
		}
		if n.unit != nil && price[i] <= limit {
			n.unit, n.positive, n.stop, n.value, n.method = nil, nil, Pruned, 0, 0
			n.left, n.right = 0, 0
		}
		to[i] = int32(len(kept))
		kept = append(kept, n)
	}
	for i := range kept {
		if kept[i].unit != nil {
			kept[i].left, kept[i].right = to[kept[i].left], to[kept[i].right]
		}
	}
	return kept
}

// candidates returns prices between those at which a tree changes, beginning
// with 0, which gives up what saves nothing, and ending with one at which the
// whole tree is given up.
func candidates(price []float64) []float64 {
	steps := slices.Clone(price)
	slices.Sort(steps)
	steps = slices.Compact(steps)
	all := []float64{0}
	for i := range steps {
		switch {
		case steps[i] == 0:
		case i+1 < len(steps):
			all = append(all, math.Sqrt(steps[i]*steps[i+1]))
		default:
			all = append(all, math.Inf(1))
		}
	}
	return all
}

// fold is rows to grow from, and rows to judge by.
type fold struct{ grow, judge []float64 }

// folds divides the rows, by their hashes: each part is held out once. With
// one fold, a third is. Folds with nothing to grow from or to judge by are left
// out.
func (m *Model) folds(ctx context.Context, t *table.Table, n int) ([]fold, error) {
	hashes, err := kept.HashRows(ctx, t)
	if err != nil {
		return nil, err
	}
	left := make([]float64, t.Rows()) // not held out so far
	for r := range left {
		left[r] = t.Weight(r)
	}
	var all []fold
	for i := range n {
		f := fold{make([]float64, t.Rows()), make([]float64, t.Rows())}
		share := 1 / float64(n-i)
		if n == 1 {
			share = thirdHeldOut
		}
		for r, h := range hashes {
			f.judge[r] = left[r]
			if share < 1 {
				f.judge[r] = kept.HoldOut(h, m.seed+uint64(i), left[r], share)
			}
			left[r] -= f.judge[r]
			f.grow[r] = t.Weight(r) - f.judge[r]
		}
		if sum(f.judge) > 0 && sum(f.grow) > 0 {
			all = append(all, f)
		}
	}
	return all, nil
}

// tally adds to each candidate price the weight of the held-out rows that a
// tree, pruned at that price, gets wrong.
func tally(nodes []node, s *sample, heldOut *labels, prices []float64, limits []float64, wrong []float64) {
	k := len(s.classes)
	label := make([]int, len(nodes))
	for i := range nodes {
		label[i] = nodes[i].label(s.classes)
	}
	change := make([]float64, len(limits)+1)
	for p := range s.patterns() {
		counts := heldOut.counts[p*k : (p+1)*k]
		held := sum(counts)
		if held == 0 {
			continue
		}
		// From the first candidate that gives up node i on, node i answers
		// itself, until one gives up its parent.
		i, to := int32(0), len(limits)
		for {
			from := 0
			if nodes[i].unit != nil {
				from = min(sort.SearchFloat64s(limits, prices[i]), to)
			}
			missed := held - counts[label[i]]
			change[from] += missed
			change[to] -= missed
			if nodes[i].unit == nil || from == 0 {
				break
			}
			to = from
			if nodes[i].unit.right(s.table.Columns, int(s.row[p])) {
				i = nodes[i].right
			} else {
				i = nodes[i].left
			}
		}
	}
	now := 0.0
	for i := range limits {
		now += change[i]
		wrong[i] += now
	}
}

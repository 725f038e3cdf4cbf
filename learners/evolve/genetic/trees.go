package genetic

import (
	"math/rand/v2"
	"slices"
)

// A tree is its nodes in postfix order, arguments before what is applied to
// them: a subtree is a stretch of it (section 9.5.1).

// Subtree returns where the subtree that ends at a node begins.
func Subtree[N any](t []N, arity func(N) int, end int) int {
	need := 1
	for i := end; ; i-- {
		if need += arity(t[i]) - 1; need == 0 {
			return i
		}
	}
}

// SwapSubtrees exchanges the subtrees that end at two nodes.
func SwapSubtrees[N any](a, b []N, arity func(N) int, atA, atB int) ([]N, []N) {
	startA, startB := Subtree(a, arity, atA), Subtree(b, arity, atB)
	return slices.Concat(a[:startA], b[startB:atB+1], a[atA+1:]), slices.Concat(b[:startB], a[startA:atA+1], b[atB+1:])
}

// CrossTrees exchanges random subtrees of two trees, unless one of the offspring
// has more than so many nodes: then it is its parent.
func CrossTrees[N any](r *rand.Rand, a, b []N, arity func(N) int, most int) ([]N, []N) {
	c, d := SwapSubtrees(a, b, arity, r.IntN(len(a)), r.IntN(len(b)))
	if len(c) > most {
		c = a
	}
	if len(d) > most {
		d = b
	}
	return c, d
}

package belief

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// pc finds the graph by tests of independence (Spirtes, Glymour & Scheines
// 1993): every two columns are linked at first; a link goes when they are
// independent given some neighbours, by G² at the level alpha, of sets that grow.
// Neighbours are those before each size of sets, so that the order of columns
// has no say (PC-stable, Colombo & Maathuis 2014). Links of two columns that are
// both linked to a third, which did not make them independent, point at it; the
// others are turned so that no further such meeting and no circle arises. Numbers
// are tested by the likelihood of lines and normals; a link of a name and a number
// points at the number, and numbers do not make names independent.
func (g *graph) pc(ctx context.Context) error {
	g.said = fmt.Sprintf("dependent given every set tried, at the level %v", g.settings.Alpha)
	n := len(g.parents)
	linked := make([][]bool, n)
	apart := map[[2]int][]int{}
	for a := range n {
		linked[a] = make([]bool, n)
		for b := range n {
			linked[a][b] = a != b && g.there(a) && g.there(b)
		}
	}
	for size := 0; size <= g.settings.Parents; size++ {
		if err := g.thin(ctx, linked, apart, size); err != nil {
			return err
		}
		learn.Report(ctx, 0.05+0.8*float64(size+1)/float64(g.settings.Parents+1))
	}
	g.point(linked, apart)
	return nil
}

// thin tests the links given sets of one size of neighbours.
func (g *graph) thin(ctx context.Context, linked [][]bool, apart map[[2]int][]int, size int) error {
	near := make([][]int, len(linked))
	for a := range linked {
		for b, yes := range linked[a] {
			if yes {
				near[a] = append(near[a], b)
			}
		}
	}
	for a := range linked {
		for _, b := range near[a] {
			if !linked[a][b] || g.required[[2]int{a, b}] || g.required[[2]int{b, a}] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			others := slices.DeleteFunc(slices.Clone(near[a]), func(c int) bool { return c == b })
			subsets(others, size, func(given []int) bool {
				if !g.independent(a, b, given) {
					return true
				}
				linked[a][b], linked[b][a] = false, false
				apart[[2]int{min(a, b), max(a, b)}] = slices.Clone(given)
				return false
			})
		}
	}
	return nil
}

// subsets calls a function for each subset of a size until it returns false.
func subsets(of []int, size int, each func([]int) bool) {
	var walk func(from int, chosen []int) bool
	walk = func(from int, chosen []int) bool {
		if len(chosen) == size {
			return each(chosen)
		}
		for i := from; i <= len(of)-(size-len(chosen)); i++ {
			if !walk(i+1, append(slices.Clip(chosen), of[i])) {
				return false
			}
		}
		return true
	}
	walk(0, nil)
}

// independent tests two columns given others. Where the rows are fewer than ten
// for each degree of freedom they cannot tell, and the columns are taken to be
// independent, as Spirtes et al. have it.
func (g *graph) independent(a, b int, given []int) bool {
	if g.isNominal(a) && g.isNominal(b) && slices.ContainsFunc(given, func(c int) bool { return !g.isNominal(c) }) {
		return false
	}
	g2, freedom, n, ok := g.deviance(append(slices.Clone(given), a, b))
	if !ok || len(given) > 0 && n < 10*freedom {
		return true
	}
	return freedom == 0 || stat.ChiSquareTail(g2, freedom) > g.settings.Alpha
}

// point gives the links their directions, and takes them as arcs.
func (g *graph) point(linked [][]bool, apart map[[2]int][]int) {
	n := len(linked)
	arrow := make([][]bool, n) // and not the other way
	for a := range arrow {
		arrow[a] = make([]bool, n)
	}
	set := func(a, b int) {
		if linked[a][b] && !arrow[b][a] {
			arrow[a][b] = true
		}
	}
	for a := range g.required {
		set(a[0], a[1])
	}
	for a := range g.forbidden {
		set(a[1], a[0])
	}
	for a := range n {
		for b := range n {
			if g.isNominal(a) && !g.isNominal(b) {
				set(a, b)
			}
		}
	}
	for c := range n {
		for a := range n {
			for b := range a {
				if linked[a][c] && linked[b][c] && !linked[a][b] && !slices.Contains(apart[[2]int{b, a}], c) {
					set(a, c)
					set(b, c)
				}
			}
		}
	}
	g.meek(linked, arrow)
	g.extend(linked, arrow)
}

// meek turns links that have no choice left: the rules of the book's appendix,
// in the form of Meek (1995).
func (g *graph) meek(linked, arrow [][]bool) {
	n := len(linked)
	loose := func(a, b int) bool { return linked[a][b] && !arrow[a][b] && !arrow[b][a] }
	for changed := true; changed; {
		changed = false
		for i := range n {
			for j := range n {
				if !loose(i, j) {
					continue
				}
				turn := false
				for k := range n {
					if arrow[k][i] && !linked[k][j] && k != j || arrow[i][k] && arrow[k][j] {
						turn = true
					}
					for l := range k {
						if loose(i, k) && loose(i, l) && arrow[k][j] && arrow[l][j] && !linked[k][l] {
							turn = true
						}
					}
				}
				if turn {
					arrow[i][j], changed = true, true
				}
			}
		}
	}
}

// extend makes a graph without circles of the arrows and links: again and again
// a column without outgoing arrows, whose linked neighbours are neighbours of all
// others (Dor & Tarsi 1992), or else the one with the fewest arrows, takes in its
// links and is put aside.
func (g *graph) extend(linked, arrow [][]bool) {
	n := len(linked)
	gone := make([]bool, n)
	for range n {
		best, least := -1, 0
		for v := range n {
			if gone[v] {
				continue
			}
			cost := 0
			for u := range n {
				if gone[u] || !linked[u][v] {
					continue
				}
				if arrow[v][u] {
					cost += n
				}
				if arrow[u][v] || arrow[v][u] {
					continue
				}
				for w := range n {
					if !gone[w] && w != u && linked[w][v] && !linked[w][u] {
						cost++
					}
				}
			}
			if best < 0 || cost < least {
				best, least = v, cost
			}
		}
		gone[best] = true
		for u := range n {
			if !gone[u] && linked[u][best] {
				g.add(u, best, 0)
			}
		}
	}
}

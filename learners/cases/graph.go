package cases

import (
	"fmt"
	"slices"
	"strings"
)

// arc says how one quantity follows another: with + the head rises with the
// tail, with - it falls. Any other word is a label like any other.
type arc struct {
	from, to int32
	label    string
}

// graph is a function: quantities, and the arcs between them.
type graph struct {
	nodes []string
	arcs  []arc
}

// mostArcs is how many arcs a graph may have: a set of them is one word.
const mostArcs = 64

// kind is what a node is of: the capital letters that its name begins with,
// such as Q for Q1 and Qc.
func kind(name string) string {
	return name[:len(name)-len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
}

func (g *graph) node(name string) int32 {
	i := slices.Index(g.nodes, name)
	if i < 0 {
		i = len(g.nodes)
		g.nodes = append(g.nodes, name)
	}
	return int32(i)
}

// add reads arcs, three words each, separated by commas: Qc + Qm, Qh + Qm, or
// without spaces where the label is a sign.
func (g *graph) add(text string) error {
	for _, part := range strings.Split(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 { // Qc+Qm
			if i := strings.IndexAny(words[0], "+-"); i > 0 && i < len(words[0])-1 {
				words = []string{words[0][:i], words[0][i : i+1], words[0][i+1:]}
			}
		}
		if len(words) != 3 {
			return fmt.Errorf("%q: expected an arc of three words, as in Qc + Qm", strings.TrimSpace(part))
		}
		a := arc{g.node(words[0]), g.node(words[2]), words[1]}
		if slices.Contains(g.arcs, a) {
			return fmt.Errorf("%q: the arc is there twice", strings.TrimSpace(part))
		}
		if g.arcs = append(g.arcs, a); len(g.arcs) > mostArcs {
			return fmt.Errorf("more than %d arcs; split the function into parts", mostArcs)
		}
	}
	return nil
}

// say writes an arc.
func (g *graph) say(i int) string {
	a := g.arcs[i]
	return g.nodes[a.from] + " " + a.label + " " + g.nodes[a.to]
}

// elaborate returns the graph with an arc replaced by two that do the same,
// through a quantity of which nothing is said yet: + is + and +, or - and -;
// - is + and -, or - and +.
func (g *graph) elaborate(i int, first, second string) *graph {
	e := &graph{nodes: slices.Clone(g.nodes), arcs: slices.Clone(g.arcs)}
	name := ""
	for n := 1; name == "" || slices.Contains(e.nodes, name); n++ {
		name = fmt.Sprintf("x%d", n)
	}
	x := e.node(name)
	old := e.arcs[i]
	e.arcs[i] = arc{old.from, x, first}
	e.arcs = slices.Insert(e.arcs, i+1, arc{x, old.to, second})
	return e
}

// ways are the pairs of labels that an arc may be elaborated to.
func ways(label string) [][2]string {
	switch label {
	case "+":
		return [][2]string{{"+", "+"}, {"-", "-"}}
	case "-":
		return [][2]string{{"+", "-"}, {"-", "+"}}
	}
	return nil
}

// matching looks for one graph in another, within so many steps.
type matching struct {
	typed bool // kinds must agree; a node whose name begins with no capital fits any
	steps int  // that are left
}

// fits reports whether two nodes may stand for each other.
func (m *matching) fits(a, b string) bool {
	x, y := kind(a), kind(b)
	return !m.typed || x == y || x == "" || y == ""
}

// embeddings calls found with each way to put all arcs of a pattern onto arcs of
// a graph, different nodes onto different nodes: the node of the graph for each
// of the pattern's, and the arcs that are used.
func (m *matching) embeddings(pattern, g *graph, found func(nodes []int32, used uint64)) {
	m.match(pattern, g, len(pattern.arcs), func(nodes []int32, used uint64, _ int) { found(nodes, used) })
}

// shared returns the size of the largest common subgraph, in arcs.
func (m *matching) shared(a, b *graph) int {
	most := 0
	for want := min(len(a.arcs), len(b.arcs)); want > most && m.steps > 0; want-- {
		m.match(a, b, want, func(_ []int32, _ uint64, arcs int) { most = max(most, arcs) })
	}
	return most
}

// match puts at least so many arcs of a pattern onto arcs of a graph.
func (m *matching) match(pattern, g *graph, atLeast int, found func(nodes []int32, used uint64, arcs int)) {
	nodes := slices.Repeat([]int32{-1}, len(pattern.nodes))
	taken := make([]bool, len(g.nodes))
	order := connected(pattern)
	var place func(i int, used uint64, arcs int)
	bind := func(a, b int32) (ok, isNew bool) {
		if nodes[a] >= 0 || taken[b] {
			return nodes[a] == b, false
		}
		if !m.fits(pattern.nodes[a], g.nodes[b]) {
			return false, false
		}
		nodes[a], taken[b] = b, true
		return true, true
	}
	free := func(a int32, isNew bool) {
		if isNew {
			taken[nodes[a]], nodes[a] = false, -1
		}
	}
	place = func(i int, used uint64, arcs int) {
		if m.steps--; m.steps <= 0 || arcs+len(order)-i < atLeast {
			return
		}
		if i == len(order) {
			found(nodes, used, arcs)
			return
		}
		p := pattern.arcs[order[i]]
		for j, a := range g.arcs {
			if used>>j&1 == 1 || a.label != p.label || (p.from == p.to) != (a.from == a.to) {
				continue
			}
			ok, first := bind(p.from, a.from)
			if ok {
				ok, second := bind(p.to, a.to)
				if ok {
					place(i+1, used|1<<j, arcs+1)
				}
				free(p.to, second)
			}
			free(p.from, first)
		}
		if arcs+len(order)-i > atLeast {
			place(i+1, used, arcs)
		}
	}
	place(0, 0, 0)
}

// connected returns the arcs in an order in which each, where it can be, hangs
// on one before it.
func connected(g *graph) []int {
	order := make([]int, 0, len(g.arcs))
	seen := make([]bool, len(g.nodes))
	for len(order) < len(g.arcs) {
		next := -1
		for i, a := range g.arcs {
			if slices.Contains(order, i) {
				continue
			}
			if next < 0 || seen[a.from] || seen[a.to] {
				if next = i; seen[a.from] || seen[a.to] {
					break
				}
			}
		}
		seen[g.arcs[next].from], seen[g.arcs[next].to] = true, true
		order = append(order, next)
	}
	return order
}

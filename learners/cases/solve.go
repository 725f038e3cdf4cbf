package cases

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Fragment is a case that implements a part of what was asked for.
type Fragment struct {
	Case      string            `json:"case"`
	Structure string            `json:"structure"`
	Nodes     map[string]string `json:"nodes"` // of the case: what they are in the question
	Arcs      []string          `json:"arcs"`  // of the question that it implements
}

// Retrieved is a case, and how much it is like what was asked for.
type Retrieved struct {
	Case string `json:"case"`
	// Matches counts the ways in which the whole case is a part of the
	// question; 0 if it is not.
	Matches int `json:"matches"`
	// Shared is the size of the largest common subgraph in arcs, Similarity
	// its share of the larger of the two.
	Shared     int     `json:"shared"`
	Similarity float64 `json:"similarity"`
	Rejected   bool    `json:"rejected,omitempty"` // it was found not to fit such a question
}

// Solution is what a library says to a function.
type Solution struct {
	Exact     bool        `json:"exact"`    // one case has the very function
	Complete  bool        `json:"complete"` // every arc is implemented
	Fragments []Fragment  `json:"fragments"`
	Rewrites  []string    `json:"rewrites,omitempty"`
	Uncovered []string    `json:"uncovered,omitempty"`
	Retrieved []Retrieved `json:"retrieved"`
	// Limited says that the search was broken off: there may be more.
	Limited bool `json:"limited,omitempty"`
}

// String says the solution to people.
func (s *Solution) String() string {
	var b strings.Builder
	switch {
	case s.Exact:
		b.WriteString("one case has this very function\n")
	case s.Complete:
		fmt.Fprintf(&b, "all arcs are implemented, by %d cases together\n", len(s.Fragments))
	case len(s.Fragments) > 0:
		fmt.Fprintf(&b, "a part is implemented; nothing is known for: %s\n", strings.Join(s.Uncovered, ", "))
	default:
		b.WriteString("no case is a part of this function\n")
	}
	for _, r := range s.Rewrites {
		fmt.Fprintf(&b, "rewritten: %s\n", r)
	}
	for _, f := range s.Fragments {
		pairs := make([]string, 0, len(f.Nodes))
		for node, of := range f.Nodes {
			pairs = append(pairs, node+" is "+of)
		}
		slices.Sort(pairs)
		fmt.Fprintf(&b, "%s: %s\n  implements %s\n  where %s\n", f.Case, f.Structure, strings.Join(f.Arcs, ", "), strings.Join(pairs, ", "))
	}
	b.WriteString("similarity  case\n")
	for _, r := range s.Retrieved {
		fmt.Fprintf(&b, "%10.2f  %s: %d arcs shared, %d ways to be a part", r.Similarity, r.Case, r.Shared, r.Matches)
		if r.Rejected {
			b.WriteString("; rejected, it did not fit such a function before")
		}
		b.WriteString("\n")
	}
	if s.Limited {
		b.WriteString("the search was broken off at its limit; there may be more\n")
	}
	return b.String()
}

// The most that a question may take, in steps of the search, and how many arcs
// are elaborated at a time.
const (
	mostSteps    = 500_000
	mostRewrites = 2
	mostParts    = 8
	mostPieces   = 200 // of a case
)

// piece is a case that is a part of a graph.
type piece struct {
	of    *Case
	nodes []int32
	arcs  uint64
}

// Solve returns the structure for a function, after CADET (Sycara et al. 1992):
// the case that has it exactly; else cases whose graphs are parts of it and
// cover it together; else the same after arcs that no case covers are
// elaborated; else what can be covered.
func (l *Library) Solve(question string) (fmt.Stringer, error) {
	s, err := l.solve(question)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (l *Library) solve(question string) (*Solution, error) {
	spec := &graph{}
	if err := spec.add(question); err != nil {
		return nil, err
	}
	if len(spec.arcs) == 0 {
		return nil, fmt.Errorf("the question has no arcs; expected a function, as in 'Ct - Qc, Qc + Qm'")
	}
	m := &matching{typed: l.typed, steps: mostSteps}
	s := &Solution{Fragments: []Fragment{}, Retrieved: l.retrieve(m, spec)}
	pieces := l.pieces(m, spec)
	if i := slices.IndexFunc(pieces, func(p piece) bool {
		return len(p.of.graph.arcs) == len(spec.arcs) && len(p.of.graph.nodes) == len(spec.nodes)
	}); i >= 0 {
		s.Exact = true
		s.fill(spec, pieces[i:i+1])
		return s, nil
	}
	best := &design{spec, cover(m, pieces, len(spec.arcs)), nil}
	if best.left() > 0 {
		l.rewrite(m, spec, pieces, nil, best)
	}
	s.Rewrites, s.Limited = best.rewrites, m.steps <= 0
	s.fill(best.graph, best.parts)
	return s, nil
}

// design is parts that cover a graph, as far as they do, and how it was
// rewritten for that.
type design struct {
	graph    *graph
	parts    []piece
	rewrites []string
}

// left counts the arcs that no part covers.
func (d *design) left() int {
	open := all(len(d.graph.arcs))
	for _, p := range d.parts {
		open &^= p.arcs
	}
	return bits.OnesCount64(open)
}

// fill writes the parts of a solution.
func (s *Solution) fill(g *graph, parts []piece) {
	left := all(len(g.arcs))
	for _, p := range parts {
		f := Fragment{Case: p.of.Name, Structure: p.of.Structure, Nodes: map[string]string{}}
		for i, name := range p.of.graph.nodes {
			f.Nodes[name] = g.nodes[p.nodes[i]]
		}
		for i := range g.arcs {
			if p.arcs>>i&1 == 1 {
				f.Arcs = append(f.Arcs, g.say(i))
			}
		}
		s.Fragments = append(s.Fragments, f)
		left &^= p.arcs
	}
	for i := range g.arcs {
		if left>>i&1 == 1 {
			s.Uncovered = append(s.Uncovered, g.say(i))
		}
	}
	s.Complete = left == 0
}

func all(n int) uint64 { return ^uint64(0) >> (64 - n) }

// retrieve ranks the cases by the size of what they share with a function.
func (l *Library) retrieve(m *matching, spec *graph) []Retrieved {
	found := make([]Retrieved, len(l.cases))
	common := matching{m.typed, mostSteps}
	for i := range l.cases {
		c := &l.cases[i]
		r := &found[i]
		r.Case, r.Rejected = c.Name, l.rejects(m, c, spec)
		m.embeddings(&c.graph, spec, func([]int32, uint64) { r.Matches++ })
		if r.Shared = len(c.graph.arcs); r.Matches == 0 {
			r.Shared = common.shared(&c.graph, spec)
		}
		r.Similarity = float64(r.Shared) / float64(max(len(c.graph.arcs), len(spec.arcs)))
	}
	slices.SortStableFunc(found, func(a, b Retrieved) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return found
}

// rejects reports whether a case was found not to fit a function that is a part
// of this one: what was learnt from failure.
func (l *Library) rejects(m *matching, c *Case, spec *graph) bool {
	for i := range c.failures {
		fits := false
		m.embeddings(&c.failures[i], spec, func([]int32, uint64) { fits = true })
		if fits {
			return true
		}
	}
	return false
}

// pieces returns the cases that are parts of a graph, one for each set of arcs,
// the largest first.
func (l *Library) pieces(m *matching, g *graph) []piece {
	var found []piece
	for i := range l.cases {
		c := &l.cases[i]
		if l.rejects(m, c, g) {
			continue
		}
		first := len(found)
		m.embeddings(&c.graph, g, func(nodes []int32, used uint64) {
			if len(found)-first < mostPieces && !slices.ContainsFunc(found[first:], func(p piece) bool { return p.arcs == used }) {
				found = append(found, piece{c, slices.Clone(nodes), used})
			}
		})
	}
	slices.SortStableFunc(found, func(a, b piece) int { return cmp.Compare(bits.OnesCount64(b.arcs), bits.OnesCount64(a.arcs)) })
	return found
}

// cover merges pieces: it returns those that cover most arcs, of these the
// fewest, of these such as overlap least. Where a piece leads nowhere it takes
// it back and tries the next.
func cover(m *matching, pieces []piece, arcs int) []piece {
	var best, taken []piece
	covered, overlap := 0, 0
	var try func(left, dead uint64, twice int)
	try = func(left, dead uint64, twice int) {
		if m.steps--; m.steps <= 0 || len(taken) > mostParts {
			return
		}
		n := arcs - bits.OnesCount64(left)
		if n > covered || n == covered && (len(taken) < len(best) || len(taken) == len(best) && twice < overlap) {
			best, covered, overlap = slices.Clone(taken), n, twice
		}
		open := left &^ dead
		if open == 0 {
			return
		}
		next := open & -open
		for _, p := range pieces {
			if p.arcs&next != 0 && !slices.ContainsFunc(taken, func(other piece) bool { return m.clash(p, other) }) {
				taken = append(taken, p)
				try(left&^p.arcs, dead, twice+bits.OnesCount64(p.arcs&^left))
				taken = taken[:len(taken)-1]
			}
		}
		try(left, dead|next, twice) // nothing may cover this arc
	}
	try(all(arcs), 0, 0)
	return best
}

// clash reports whether two pieces do not go together: they take a quantity of
// which nothing is said for different kinds.
func (m *matching) clash(a, b piece) bool {
	for i, x := range a.nodes {
		for j, y := range b.nodes {
			if x == y && !m.fits(a.of.graph.nodes[i], b.of.graph.nodes[j]) {
				return true
			}
		}
	}
	return false
}

// rewrite elaborates arcs that no piece covers, one and then another, and keeps
// the best design: the first that leaves nothing, else the one that leaves
// least.
func (l *Library) rewrite(m *matching, g *graph, pieces []piece, before []string, best *design) {
	if len(before) == mostRewrites || len(g.arcs) == mostArcs {
		return
	}
	open := all(len(g.arcs))
	for _, p := range pieces {
		open &^= p.arcs
	}
	if open == 0 {
		open = all(len(g.arcs))
	}
	type branch struct {
		graph  *graph
		pieces []piece
		said   []string
	}
	var branches []branch
	for i, a := range g.arcs {
		if open>>i&1 == 0 {
			continue
		}
		for _, w := range ways(a.label) {
			e := g.elaborate(i, w[0], w[1])
			said := append(slices.Clone(before), fmt.Sprintf("%s becomes %s, %s", g.say(i), e.say(i), e.say(i+1)))
			parts := l.pieces(m, e)
			if d := (&design{e, cover(m, parts, len(e.arcs)), said}); d.left() < best.left() {
				*best = *d
			}
			if best.left() == 0 || m.steps <= 0 {
				return
			}
			branches = append(branches, branch{e, parts, said})
		}
	}
	for _, b := range branches {
		if l.rewrite(m, b.graph, b.pieces, b.said, best); best.left() == 0 || m.steps <= 0 {
			return
		}
	}
}

package belief

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/learn"
)

// climber is hill climbing over graphs: in each step the arc that is added,
// dropped or turned is the one that raises the score most. Past a peak it goes
// on for a while, down the gentlest slope and without undoing what it did last
// (Glover 1989), and then begins again from its best graph, shaken. What an arc
// adds to the score of its child depends on the child's parents alone, and is
// counted again only when these change.
type climber struct {
	*graph
	worth  [][]float64 // of the arc from a column to another: what it adds, or has added, less its price
	prices []float64   // of an arc into each column
	able   [][]bool    // its table is not too large
	above  [][]uint64  // ancestors
	tabu   map[[2]int]int
	step   int
	total  float64             // of the score, since the start
	known  []map[string]arcsTo // of each column, by its parents
}

// arcsTo is what the arcs from all columns to one add, given its parents.
type arcsTo struct {
	worth []float64
	able  []bool
}

// mostKnown bounds what is remembered of a column.
const mostKnown = 4096

// tenure is how many steps an arc that changed is left alone, and patience how
// many steps a climb goes on without a new peak.
const (
	tenure   = 10
	patience = 100
	shaken   = 3    // columns
	least    = 1e-7 // nats that a step has to gain
)

// move is a step: the arc from → to is added, dropped or turned.
type move struct {
	kind     uint8
	from, to int
	gain     float64
}

const (
	none uint8 = iota
	addArc
	dropArc
	turnArc
)

func (g *graph) climb(ctx context.Context, seed uint64) error {
	g.said = "climb"
	n := len(g.parents)
	c := &climber{graph: g, worth: make([][]float64, n), able: make([][]bool, n), above: make([][]uint64, n), tabu: map[[2]int]int{}, known: make([]map[string]arcsTo, n), prices: make([]float64, n)}
	all := make([]int, n)
	for v := range all {
		all[v] = v
	}
	for v := range n {
		c.prices[v] = g.price(v, all, 2)
		c.known[v] = map[string]arcsTo{}
		c.worth[v], c.able[v], c.above[v] = make([]float64, n), make([]bool, n), make([]uint64, (n+63)/64)
	}
	if err := c.recount(ctx, all); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0xbe11ef))
	best, most := c.snapshot(), 0.0
	for round := 0; round <= max(0, g.settings.Restarts); round++ {
		if round > 0 {
			if err := c.restore(ctx, best, most); err != nil {
				return err
			}
			if err := c.shake(ctx, random); err != nil {
				return err
			}
		}
		peak, height, err := c.ascend(ctx)
		if err != nil {
			return err
		}
		if height > most+least {
			best, most = peak, height
		}
		learn.Report(ctx, 0.05+0.85*float64(round+1)/float64(max(0, g.settings.Restarts)+1))
	}
	if err := c.restore(ctx, best, most); err != nil {
		return err
	}
	for v, ps := range c.parents {
		slices.Sort(ps)
		g.gains[v] = map[int]float64{}
		for _, p := range ps {
			g.gains[v][p] = c.worth[p][v] + c.prices[v]
		}
	}
	return nil
}

// ascend climbs to a peak and looks a little beyond. It returns the best graph
// on the way.
func (c *climber) ascend(ctx context.Context) (best [][]int, most float64, err error) {
	best, most = c.snapshot(), c.total
	for idle := 0; idle < patience; {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		c.ancestors()
		m := c.best()
		if m.kind == none {
			break
		}
		if err := c.take(ctx, m); err != nil {
			return nil, 0, err
		}
		if idle++; c.total > most+least {
			best, most, idle = c.snapshot(), c.total, 0
		}
	}
	return best, most, nil
}

// best returns the step of the greatest gain that is not tabu.
func (c *climber) best() move {
	var best move
	try := func(m move) {
		if (best.kind == none || m.gain > best.gain) && c.tabu[[2]int{min(m.from, m.to), max(m.from, m.to)}] <= c.step {
			best = m
		}
	}
	for to := range c.parents {
		for from := range c.parents {
			if !c.able[from][to] {
				continue
			}
			switch has := slices.Contains(c.parents[to], from); {
			case has && c.required[[2]int{from, to}]:
			case has:
				try(move{dropArc, from, to, -c.worth[from][to]})
				if c.able[to][from] && len(c.parents[from]) < c.settings.Parents && !c.turns(from, to) {
					try(move{turnArc, from, to, c.worth[to][from] - c.worth[from][to]})
				}
			case len(c.parents[to]) < c.settings.Parents && !c.isAbove(to, from):
				try(move{addArc, from, to, c.worth[from][to]})
			}
		}
	}
	return best
}

// turns reports whether turning an arc would close a circle: its parent is an
// ancestor of its child by another way.
func (c *climber) turns(from, to int) bool {
	return slices.ContainsFunc(c.parents[to], func(p int) bool { return p != from && (p == from || c.isAbove(from, p)) })
}

func (c *climber) isAbove(a, v int) bool { return a == v || c.above[v][a/64]>>(a%64)&1 == 1 }

// ancestors finds those of each column.
func (c *climber) ancestors() {
	for _, v := range topological(c.parents) {
		clear(c.above[v])
		for _, p := range c.parents[v] {
			c.above[v][p/64] |= 1 << (p % 64)
			for w, set := range c.above[p] {
				c.above[v][w] |= set
			}
		}
	}
}

// take makes a step.
func (c *climber) take(ctx context.Context, m move) error {
	c.step++
	c.total += m.gain
	c.tabu[[2]int{min(m.from, m.to), max(m.from, m.to)}] = c.step + tenure
	drop := func(from, to int) {
		c.parents[to] = slices.DeleteFunc(slices.Clone(c.parents[to]), func(p int) bool { return p == from })
	}
	insert := func(from, to int) {
		c.parents[to] = append(slices.Clip(c.parents[to]), from)
		slices.Sort(c.parents[to])
	}
	changed := []int{m.to}
	switch m.kind {
	case addArc:
		insert(m.from, m.to)
	case dropArc:
		drop(m.from, m.to)
	case turnArc:
		drop(m.from, m.to)
		insert(m.to, m.from)
		changed = append(changed, m.from)
	}
	return c.recount(ctx, changed)
}

// recount finds what each arc to some columns adds, or has added: as it is
// remembered, or counted anew on all cores.
func (c *climber) recount(ctx context.Context, changed []int) error {
	n := len(c.parents)
	keys := make([]string, n)
	unknown := slices.DeleteFunc(slices.Clone(changed), func(v int) bool {
		keys[v] = fmt.Sprint(c.parents[v])
		was, ok := c.known[v][keys[v]]
		for p := range was.worth {
			c.worth[p][v], c.able[p][v] = was.worth[p], was.able[p]
		}
		return ok
	})
	err := crew.Each(ctx, len(unknown)*n, func(i int) {
		v, p := unknown[i/n], i%n
		if !c.may(p, v) || c.forbidden[[2]int{p, v}] {
			return
		}
		others := slices.DeleteFunc(slices.Clone(c.parents[v]), func(q int) bool { return q == p })
		c.worth[p][v], c.able[p][v] = c.gain(v, others, p)
		c.worth[p][v] -= c.prices[v]
	})
	if err != nil {
		return err
	}
	for _, v := range unknown {
		if len(c.known[v]) >= mostKnown {
			clear(c.known[v])
		}
		now := arcsTo{make([]float64, n), make([]bool, n)}
		for p := range n {
			now.worth[p], now.able[p] = c.worth[p][v], c.able[p][v]
		}
		c.known[v][keys[v]] = now
	}
	return nil
}

func (c *climber) snapshot() [][]int { return slices.Clone(c.parents) }

// restore goes back to a graph.
func (c *climber) restore(ctx context.Context, to [][]int, total float64) error {
	var changed []int
	for v := range to {
		if !slices.Equal(c.parents[v], to[v]) {
			changed = append(changed, v)
		}
	}
	copy(c.parents, to)
	c.total = total
	clear(c.tabu)
	return c.recount(ctx, changed)
}

// shake takes away all arcs from and to a few columns drawn at random, so that
// they may come back otherwise.
func (c *climber) shake(ctx context.Context, random *rand.Rand) error {
	n := len(c.parents)
	for range shaken {
		v := random.IntN(n)
		for to := range c.parents {
			for _, from := range slices.Clone(c.parents[to]) {
				if (from == v || to == v) && !c.required[[2]int{from, to}] {
					if err := c.take(ctx, move{dropArc, from, to, -c.worth[from][to]}); err != nil {
						return err
					}
				}
			}
		}
	}
	clear(c.tabu)
	return nil
}

package evolve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
)

// member is a rule set of a population: its bits and, at the end of the string,
// the two that say which operators are for it (section 9.3.1).
type member struct {
	rules           genetic.Bits
	addAlternatives bool
	dropConditions  bool
}

// breeding is how rule sets evolve.
type breeding struct {
	*instances
	settings *gabilSettings
	history  []progress
	stopped  string
}

// progress is a generation whose best was better than all before.
type progress struct {
	Generation int     `cbor:"generation"`
	Correct    float64 `cbor:"correct"` // share of rows
	Rules      int     `cbor:"rules"`
}

// String says it in a line.
func (p progress) String() string {
	return fmt.Sprintf("generation %d: %.1f %% of the rows right, %d rules", p.Generation, 100*p.Correct, p.Rules)
}

// species says how rule sets are made, judged and bred.
func (g *breeding) species() genetic.Species[member] {
	desks := sync.Pool{New: func() any { return g.newDesk() }}
	return genetic.Species[member]{
		Random: g.random,
		Fitness: func(m member) float64 { // (percent correct)²
			d := desks.Get().(*desk)
			defer desks.Put(d)
			percent := 100 * g.correct(m.rules, d)
			return percent * percent
		},
		Cross:    g.cross,
		Mutate:   g.mutate,
		Distance: func(a, b member) float64 { return genetic.Hamming(a.rules, b.rules) },
	}
}

// evolve searches for the rule set that gets most rows right, of equal ones that
// with the fewest rules and conditions. When evolving ends before ctx it is the
// best so far.
func (g *breeding) evolve(evolving, ctx context.Context, seed uint64) (member, error) {
	s := g.settings
	species := g.species()
	const perfect = 100*100 - 1e-9
	var r *genetic.Result[member]
	var err error
	switch tries := s.Population * s.Generations; s.Search {
	case "climb":
		r, err = genetic.Climb(evolving, &species, tries, 20*s.Population, perfect, seed)
	case "anneal":
		r, err = genetic.Anneal(evolving, &species, tries, 100, 0.1, perfect, seed)
	default:
		ga := &genetic.GA[member]{
			Species: species, Size: s.Population, Replaced: s.Crossover, Mutation: 1, Threshold: perfect, Settle: s.Settle, Generations: s.Generations, Stall: s.Stall,
			Selection: genetic.Selection{Method: methods[s.Selection]}, Elite: s.Elite, Niche: genetic.Niche{Sharing: s.Sharing},
			Islands: genetic.Islands{Count: s.Islands}, Better: g.shorter, First: g.first(),
			Watch: func(generation int, p *genetic.Population[member]) { g.watch(ctx, generation, p) },
		}
		r, err = ga.Evolve(evolving, seed)
	}
	if err := ended(ctx, err); err != nil {
		return member{}, err
	}
	if r == nil || r.Best.rules == nil {
		return member{rules: g.constant()}, nil // stopped before anything was judged
	}
	if g.stopped = r.Stopped; err != nil {
		g.stopped = "it was told to be done"
	}
	if s.Search != "genetic" || s.Islands > 1 {
		g.history = []progress{{r.Generations, g.correct(r.Best.rules, g.newDesk()), len(r.Best.rules) / g.length}}
	}
	return r.Best, nil
}

// watch notes progress.
func (g *breeding) watch(ctx context.Context, generation int, p *genetic.Population[member]) {
	best := p.Members[p.Fittest()].rules
	correct := g.correct(best, g.newDesk())
	if n := len(g.history); n == 0 || correct > g.history[n-1].Correct {
		g.history = append(g.history, progress{generation, correct, len(best) / g.length})
	}
	learn.Report(ctx, 0.98*float64(generation)/float64(g.settings.Generations))
}

// first returns members of the first generation that have an expert's rules.
func (g *breeding) first() []member {
	if len(g.told) == 0 {
		return nil
	}
	m := member{g.told, true, true}
	return slices.Repeat([]member{m}, max(1, g.settings.Population/10))
}

// constant is the rule set that never answers otherwise than the usual class.
func (g *breeding) constant() genetic.Bits {
	one := slices.Repeat(genetic.Bits{1}, g.length)
	g.conclude(one, g.usual)
	return one
}

// random returns one to six rules: random bits, or rows made more general.
func (g *breeding) random(r *rand.Rand) member {
	n := 1 + r.IntN(min(6, g.settings.MaxRules))
	m := member{rules: genetic.RandomBits(r, n*g.length), addAlternatives: r.IntN(2) == 1, dropConditions: r.IntN(2) == 1}
	if g.settings.First == "rows" {
		for i := range n {
			g.generalised(r.IntN, r.IntN(g.rows), m.rules[i*g.length:(i+1)*g.length])
		}
	}
	return m
}

// cross crosses the rules at points that lie alike, and swaps the operators'
// bits by coins.
func (g *breeding) cross(r *rand.Rand, a, b member) (member, member) {
	c, d := a, b
	c.rules, d.rules = genetic.CrossRules(r, a.rules, b.rules, g.length, g.settings.MaxRules)
	if r.IntN(2) == 1 {
		c.addAlternatives, d.addAlternatives = d.addAlternatives, c.addAlternatives
	}
	if r.IntN(2) == 1 {
		c.dropConditions, d.dropConditions = d.dropConditions, c.dropConditions
	}
	return c, d
}

// mutate flips bits, adds alternatives and drops conditions.
func (g *breeding) mutate(r *rand.Rand, m member) member {
	s := g.settings
	m.rules = genetic.FlipEach(s.Mutation)(r, m.rules)
	if s.Adaptive && r.Float64() < s.Mutation {
		m.addAlternatives = !m.addAlternatives
	}
	if s.Adaptive && r.Float64() < s.Mutation {
		m.dropConditions = !m.dropConditions
	}
	if len(g.segments) == 0 {
		return m
	}
	if chance := r.Float64(); chance < s.Alternatives && (!s.Adaptive || m.addAlternatives) {
		AddAlternative(g.someCondition(r, m.rules), r)
	}
	if chance := r.Float64(); chance < s.Drops && (!s.Adaptive || m.dropConditions) {
		DropCondition(g.someCondition(r, m.rules))
	}
	return m
}

// someCondition returns the bits of a column in a rule, both chosen at random.
func (g *breeding) someCondition(r *rand.Rand, rules genetic.Bits) genetic.Bits {
	from := r.IntN(len(rules)/g.length) * g.length
	s := &g.segments[r.IntN(len(g.segments))]
	return rules[from+s.from : from+s.from+s.size]
}

// AddAlternative allows one value more: a random 0 of a condition becomes 1.
func AddAlternative(condition genetic.Bits, r *rand.Rand) {
	zeros := 0
	for _, b := range condition {
		zeros += 1 - int(b)
	}
	if zeros == 0 {
		return
	}
	nth := r.IntN(zeros)
	for i, b := range condition {
		if b == 1 {
			continue
		}
		if nth == 0 {
			condition[i] = 1
			return
		}
		nth--
	}
}

// DropCondition allows all values.
func DropCondition(condition genetic.Bits) {
	for i := range condition {
		condition[i] = 1
	}
}

// shorter reports whether a rule set says the same with less: fewer rules, then
// fewer conditions.
func (g *breeding) shorter(a, b member) bool {
	if len(a.rules) != len(b.rules) {
		return len(a.rules) < len(b.rules)
	}
	return g.conditions(a.rules) < g.conditions(b.rules)
}

func (g *breeding) conditions(rules genetic.Bits) int {
	n := 0
	for ; len(rules) >= g.length; rules = rules[g.length:] {
		for i := range g.segments {
			if s := &g.segments[i]; slices.Contains(rules[s.from:s.from+s.size], 0) {
				n++
			}
		}
	}
	return n
}

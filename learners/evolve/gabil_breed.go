package evolve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
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
	if s.Search != "genetic" {
		species.Mutate = g.vary
	}
	var r *genetic.Result[member]
	var err error
	switch tries := s.Population * s.Generations; s.Search {
	case "climb":
		r, err = genetic.Climb(evolving, &species, tries, 20*s.Population, perfect, seed)
	case "anneal":
		r, err = genetic.Anneal(evolving, &species, tries, 100, 0.1, perfect, seed)
	case "program":
		r, err = genetic.Program(evolving, &species, s.Population, s.Generations, perfect, seed)
	case "michigan":
		r, err = g.classify(evolving, seed)
	default:
		r, err = g.algorithm(ctx, species, perfect).Evolve(evolving, seed)
	}
	if err := ended(ctx, err); err != nil {
		return member{}, err
	}
	if r == nil || r.Best.rules == nil {
		return member{rules: g.always(bits.New(g.rows))}, nil // stopped before anything was judged
	}
	if g.stopped = r.Stopped; err != nil {
		g.stopped = "it was told to be done"
	}
	if s.Search != "genetic" {
		g.history = []progress{{r.Generations, g.correct(r.Best.rules, g.newDesk()), len(r.Best.rules) / g.length}}
	}
	return r.Best, nil
}

// algorithm is the genetic algorithm that the settings ask for.
func (g *breeding) algorithm(ctx context.Context, species genetic.Species[member], perfect float64) *genetic.GA[member] {
	s := g.settings
	ga := &genetic.GA[member]{
		Species: species, Size: s.Population, Replaced: s.Crossover, Mutation: 1, Threshold: perfect, Settle: s.Settle, Generations: s.Generations, Stall: s.Stall,
		Selection: genetic.Selection{Method: methods[s.Selection]}, Elite: s.Elite, Niche: genetic.Niche{Sharing: s.Sharing},
		Islands: genetic.Islands{Count: s.Islands}, Better: g.shorter, First: g.first(),
		Watch: func(generation int, p *genetic.Population[member]) { g.watch(ctx, generation, p) },
	}
	switch s.Niche {
	case "crowding":
		ga.Niche.Crowding = true
	case "mating":
		ga.Niche.Mating = 5
	case "grid":
		ga.Niche.Grid = int(math.Sqrt(float64(s.Population)))
	}
	if s.Learning == "lamarck" || s.Learning == "baldwin" {
		ga.Learn, ga.Lamarckian = g.live(species), s.Learning == "lamarck"
	}
	return ga
}

// lessons is how many changes a member tries in its life.
const lessons = 10

// live is a life in which a member tries changes, one after the other, and keeps
// those that make it no less fit.
func (g *breeding) live(species genetic.Species[member]) func(r *rand.Rand, m member) member {
	return func(r *rand.Rand, m member) member {
		fitness := species.Fitness(m)
		for range lessons {
			other := g.changed(r, m)
			if f := species.Fitness(other); f >= fitness {
				m, fitness = other, f
			}
		}
		return m
	}
}

// vary is how rule sets change where none are crossed: in one condition, or by a
// rule more, a rule less, or two that change places.
func (g *breeding) vary(r *rand.Rand, m member) member {
	n := len(m.rules) / g.length
	at := r.IntN(n) * g.length
	one := m.rules[at : at+g.length]
	switch rest := slices.Concat(m.rules[:at], m.rules[at+g.length:]); r.IntN(6) {
	case 0:
		if n < g.settings.MaxRules {
			more := genetic.RandomBits(r, g.length)
			if g.settings.First == "rows" {
				g.generalised(r.IntN, r.IntN(g.rows), more)
			}
			m.rules = slices.Concat(m.rules[:at], more, m.rules[at:])
		}
	case 1:
		if n > 1 {
			m.rules = rest
		}
	case 2:
		to := r.IntN(n) * g.length
		m.rules = slices.Concat(rest[:to], one, rest[to:])
	default:
		return g.changed(r, m)
	}
	return m
}

// changed is a member with one condition that allows a value more or less, or is
// dropped.
func (g *breeding) changed(r *rand.Rand, m member) member {
	m.rules = slices.Clone(m.rules)
	if len(g.segments) == 0 {
		return m
	}
	condition := g.someCondition(r, m.rules)
	if r.IntN(4) == 0 {
		DropCondition(condition)
	} else {
		condition[r.IntN(len(condition))] ^= 1
	}
	return m
}

// watch notes progress.
func (g *breeding) watch(ctx context.Context, generation int, p *genetic.Population[member]) {
	best := p.Grown(p.Fittest()).rules
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

// cross crosses the rules as the settings say, and swaps the operators' bits by
// coins.
func (g *breeding) cross(r *rand.Rand, a, b member) (member, member) {
	c, d := a, b
	switch g.settings.Cross {
	case "one-point":
		c.rules, d.rules = genetic.CrossTails(r, a.rules, b.rules, g.length, g.settings.MaxRules)
	case "uniform":
		c.rules, d.rules = genetic.CrossEach(r, a.rules, b.rules)
	default:
		c.rules, d.rules = genetic.CrossRules(r, a.rules, b.rules, g.length, g.settings.MaxRules)
	}
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

package evolve

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
)

// Michigan-style (Holland 1986; Mitchell 1997, section 9.8), a member of the
// population is one rule and the population is the rule set. Rows are situations,
// classes actions, and who says the right class is rewarded.

// michiganRules is how many rules bid for each member of a population of rule
// sets, and michiganReward what the right class pays.
const (
	michiganRules  = 4
	michiganReward = 1000
)

// classify lets a classifier system meet rows, drawn by lot, and returns the list
// of rules that it came to.
func (g *breeding) classify(ctx context.Context, seed uint64) (*genetic.Result[member], error) {
	s := g.settings
	situations := g.situations()
	system := genetic.NewClassifierSystem(michiganRules*s.Population, len(situations[0]), len(g.class), seed)
	random := rand.New(rand.NewPCG(seed, 0x6d6963686967616e))
	var err error
	met := 0
	for ; met < s.Population*s.Generations; met++ {
		if err = ctx.Err(); err != nil {
			break
		}
		row := random.IntN(g.rows)
		class, actors := system.Act(situations[row], nil, false)
		reward := 0.0
		if int(class) == g.classAt(row) {
			reward = michiganReward
		}
		system.Reward(actors, reward)
	}
	best := member{rules: g.listed(system)}
	return &genetic.Result[member]{Best: best, Generations: met / s.Population, Stopped: "as many rows were met as were asked for"}, err
}

// situations writes rows as bits: whether a column of names has each of its
// values (of two, the second), whether a number is above each of its cuts. What is
// not known is neither 0 nor 1, and no condition about it holds.
func (g *breeding) situations() []genetic.Bits {
	all := make([]genetic.Bits, g.rows)
	for row := range all {
		b := genetic.Bits{0} // so that there is one where no column tells rows apart
		for i := range g.segments {
			code := g.codes[i][row]
			for v := range g.segments[i].questions() {
				switch yes := g.segments[i].answers(v); {
				case code < 0:
					b = append(b, 2)
				case yes(int(code)):
					b = append(b, 1)
				default:
					b = append(b, 0)
				}
			}
		}
		all[row] = b
	}
	return all
}

// questions is how many bits of a situation are about a column.
func (s *segment) questions() int {
	if s.cuts != nil || s.size == 2 {
		return s.size - 1
	}
	return s.size
}

// answers tells which values of a column make a bit of a situation 1.
func (s *segment) answers(question int) func(code int) bool {
	switch {
	case s.cuts != nil:
		return func(code int) bool { return code > question }
	case s.size == 2:
		return func(code int) bool { return code == 1 }
	}
	return func(code int) bool { return code == question }
}

// rewritten is a classifier as a rule of a rule set.
func (g *breeding) rewritten(c *genetic.Classifier) genetic.Bits {
	one := slices.Repeat(genetic.Bits{1}, g.length)
	at := 1
	for i := range g.segments {
		s := &g.segments[i]
		for v := range s.questions() {
			asked := c.If[at]
			at++
			for code := 0; asked != '#' && code < s.size; code++ {
				if s.answers(v)(code) != (asked == '1') {
					one[s.from+code] = 0
				}
			}
		}
	}
	g.conclude(one, int(c.Then))
	return one
}

// listed reads a population as a list: of its rules, the stronger before the
// weaker, that which is right most often on the rows that are left (m-estimate)
// stands next, until none is better than the class that is usual there.
func (g *breeding) listed(system *genetic.ClassifierSystem) genetic.Bits {
	order := slices.Clone(system.Rules)
	slices.SortStableFunc(order, func(a, b genetic.Classifier) int { return cmp.Compare(b.Strength, a.Strength) })
	var candidates []genetic.Bits
	for i := range order {
		if one := g.rewritten(&order[i]); !slices.ContainsFunc(candidates, func(c genetic.Bits) bool { return slices.Equal(c, one) }) {
			candidates = append(candidates, one)
		}
	}
	var list genetic.Bits
	d := g.newDesk()
	d.left.Fill(g.rows)
	for n := 1; n < g.settings.MaxRules && d.left.Any(); n++ {
		next, best := -1, (g.weighBoth(d.left, g.class[g.usualOf(d.left)])+1)/(g.weigh(d.left)+2)
		for i, one := range candidates {
			if !g.cover(one, d.left, d.of, d.room) {
				continue
			}
			if right := (g.weighBoth(d.of, g.class[g.classOf(one)]) + 1) / (g.weigh(d.of) + 2); right > best {
				next, best = i, right
			}
		}
		if next < 0 {
			break
		}
		g.cover(candidates[next], d.left, d.of, d.room)
		bits.AndNot(d.left, d.left, d.of)
		list = append(list, candidates[next]...)
	}
	return append(list, g.always(d.left)...)
}

// usualOf is the most frequent class of some rows, that of all where there are
// none.
func (g *breeding) usualOf(rows bits.Set) int {
	usual := g.usual
	for c := range g.class {
		if g.weighBoth(rows, g.class[c]) > g.weighBoth(rows, g.class[usual]) {
			usual = c
		}
	}
	return usual
}

// always is the rule without conditions that says the usual class of some rows.
func (g *breeding) always(rows bits.Set) genetic.Bits {
	one := slices.Repeat(genetic.Bits{1}, g.length)
	g.conclude(one, g.usualOf(rows))
	return one
}

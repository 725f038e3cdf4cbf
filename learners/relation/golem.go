package relation

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// GolemName is what learning by least general generalisation is registered as.
const GolemName = "golem"

func init() {
	learn.Register(learn.Info{
		Name:     GolemName,
		Summary:  "clauses from the specific to the general: what pairs of examples have in common",
		Source:   "Muggleton & Feng 1990; Mitchell 1997, §10.3",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the rows and the tables or facts around them, by source",
		New:      func() learn.Learner { return &Golem{} },
		Decode:   decode,
	})
}

// Golem is Muggleton and Feng's (1990) algorithm. The least general generalisation of two
// positive examples relative to the background is the clause of all that both have in
// common; of several pairs the one whose clause covers most, and no negative example, is
// generalised with further examples as long as it covers more. What is not needed to keep
// negative examples out is then dropped.
//
// That clause has a literal for every pair of facts. Literals here are ij-determinate: up
// to i links away, and each new variable is the only one for those, at most j, that are
// known (Muggleton & Feng 1992), so that it is found by following both examples side by
// side.
//
// Of linked tables, what numbers have in common is the interval between them, and a clause may
// be wrong: what does not make it right more often is dropped of each pair's clause, its cuts
// are moved, and it is taken if it saves more bits than it takes.
//
// A clause costs the generalisations of its pairs (28 of 8 examples) and of what is
// then added, each of which follows the links of two examples, and one query of the
// examples for each.
type Golem struct {
	Depth int `set:"depth" default:"5" doc:"links between an example and what its clause speaks of (i)"`
	Known int `set:"known" default:"2" doc:"variables that may decide new ones together, 1 or 2 (j)"`
	Pairs int `set:"pairs" default:"8" doc:"positive examples of which pairs are tried"`
}

// Check refuses settings that make no sense.
func (l *Golem) Check() error {
	for key, n := range map[string]int{"depth": l.Depth, "pairs": l.Pairs} {
		if n < 0 || n > 100 {
			return fmt.Errorf("%s=%d: expected a number from 1 to 100", key, n)
		}
	}
	if l.Known < 0 || l.Known > 2 {
		return fmt.Errorf("known=%d: expected 1 or 2", l.Known)
	}
	return nil
}

// Learn learns clauses of the task's rows.
func (l *Golem) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return learnTask(ctx, task, settings{Algorithm: GolemName, Recursion: "auto", Lookahead: cmp.Or(l.Depth, 5), New: cmp.Or(l.Known, 2), Beam: cmp.Or(l.Pairs, 8), M: 1})
}

// common is the clause of what examples have in common, in the making. A variable is the
// things that it stands for in each of them.
type common struct {
	f        *search
	examples []int32
	known    int // that may decide new variables together
	body     []literal
	things   [][]int32
	places   []place
	find     map[string]int // variables, by their things
	down     state          // the ways down on which the relation itself may be called
}

// mostCommon bounds the literals of such a clause, and mostThings its variables.
const mostCommon, mostThings = 300, 120

// generalised returns the clause of what examples have in common.
func (f *search) generalised(examples []int32, depth, known int) []literal {
	c := &common{f: f, examples: examples, known: known, find: map[string]int{}, down: state{below: map[int][]descent{}}}
	for k, column := range f.examples.columns {
		things := make([]int32, len(examples))
		for i, e := range examples {
			if things[i] = column[e]; things[i] < 0 || things[i] == unknown {
				return nil
			}
		}
		if v, ok := c.find[key(things)]; ok && c.places[v].joins(f.examples.places[k]) {
			c.body = append(c.body, literal{args: []int{v, k}})
		} else {
			c.find[key(things)] = k
		}
		c.things, c.places = append(c.things, things), append(c.places, f.examples.places[k])
	}
	from := 0
	for range depth {
		to := len(c.things)
		for _, r := range f.db.relations {
			c.follow(r, from, to)
		}
		if f.target != nil {
			c.follow(f.target, from, to)
		}
		from = to
	}
	return c.body
}

func key(things []int32) string {
	b := make([]byte, 0, 4*len(things))
	for _, t := range things {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return string(b)
}

// follow adds the literals of a relation that the variables before to decide, at least
// one of which is not before from.
func (c *common) follow(r *relation, from, to int) {
	if r.hidden || r.arity() == 0 {
		return
	}
	if r.numeric() {
		for v := from; v < to && c.f.db.linked; v++ {
			if r.arity() == 2 && c.places[v].joins(r.places[0]) {
				c.between(r, v)
			}
		}
		return
	}
	for k, p := range r.places {
		for v := range to {
			if !c.places[v].joins(p) {
				continue
			}
			if v >= from {
				c.mention(r, []int{k}, []int{v})
			}
			if c.known < 2 || r.arity() < 2 {
				continue
			}
			for j := k + 1; j < len(r.places); j++ {
				for w := range to {
					if (v >= from || w >= from) && c.places[w].joins(r.places[j]) {
						c.mention(r, []int{k, j}, []int{v, w})
					}
				}
			}
		}
	}
}

// mention adds the literal that known variables in some places decide, if there is one
// tuple for each example.
func (c *common) mention(r *relation, places, variables []int) {
	if len(c.body) >= mostCommon {
		return
	}
	tuples := make([]int32, len(c.examples))
	for i := range c.examples {
		found := int32(-1)
		c.f.work++
		for _, tuple := range r.with(places[0], c.things[variables[0]][i]) {
			c.f.work++
			if len(places) > 1 && r.columns[places[1]][tuple] != c.things[variables[1]][i] {
				continue
			}
			if found >= 0 {
				return
			}
			found = tuple
		}
		if found < 0 {
			return
		}
		tuples[i] = found
	}
	l := literal{relation: r, args: make([]int, len(r.places))}
	var fresh [][]int32
	for k := range r.places {
		things := make([]int32, len(tuples))
		same := true
		for i, tuple := range tuples {
			if things[i] = r.columns[k][tuple]; things[i] < 0 || things[i] == unknown {
				return
			}
			same = same && things[i] == things[0]
		}
		v, ok := c.find[key(things)]
		switch {
		case slices.Contains(places, k):
			l.args[k] = variables[slices.Index(places, k)]
		case ok && c.places[v].joins(r.places[k]):
			l.args[k] = v
		case same && r.constants[k]:
			l.args[k] = constantArg(things[0])
		case r.constants[k] && c.f.db.program == nil: // values that differ say nothing
			return
		default:
			at := slices.IndexFunc(fresh, func(f []int32) bool { return slices.Equal(f, things) })
			if at < 0 {
				at = len(fresh)
				fresh = append(fresh, things)
			}
			l.args[k] = len(c.things) + at
		}
	}
	if r == c.f.target && (c.isHead(l.args) || c.f.descending(&c.down, l.args) == nil) || len(c.things)+len(fresh) > mostThings || slices.ContainsFunc(c.body, func(have literal) bool { return have.relation == r && slices.Equal(have.args, l.args) }) {
		return
	}
	for _, things := range fresh {
		v := len(c.things)
		c.find[key(things)] = v
		c.things, c.places = append(c.things, things), append(c.places, r.places[slices.Index(l.args, v)])
	}
	c.body = append(c.body, l)
	c.f.follow(&c.down, &l)
}

// between adds the literals that bound a number of a variable: what numbers have in common
// is that they lie between the least and the greatest of them.
func (c *common) between(r *relation, v int) {
	least, most := math.Inf(1), math.Inf(-1)
	for i := range c.examples {
		tuples := r.with(0, c.things[v][i])
		if len(tuples) != 1 {
			return
		}
		x := r.numbers[tuples[0]]
		least, most = min(least, x), max(most, x)
	}
	_, distinct := r.ranked()
	if at, ok := slices.BinarySearch(distinct, least); ok && at > 0 && len(c.body) < mostCommon {
		c.body = append(c.body, literal{relation: r, args: []int{v}, op: above, cut: distinct[at-1]})
	}
	if len(distinct) > 0 && most < distinct[len(distinct)-1] && len(c.body) < mostCommon {
		c.body = append(c.body, literal{relation: r, args: []int{v}, op: atMost, cut: most})
	}
}

// isHead reports whether a literal says what is to be shown: of an example itself.
func (c *common) isHead(args []int) bool {
	for i := range c.examples {
		same := true
		for k, v := range args {
			same = same && v >= 0 && v < len(c.things) && c.things[v][i] == c.things[k][i]
		}
		if same {
			return true
		}
	}
	return false
}

// golem covers the positive examples with what they have in common, as long as the work
// that the settings allow lasts.
func (f *search) golem(active []int32, s settings) []*found {
	var set []*found
	left := slices.Clone(active)
	f.work = 0
	f.against = f.weighs(active)
	for len(set) < mostClauses && f.err == nil {
		c := f.commonClause(left, s)
		if f.err = f.ctx.Err(); c == nil || f.err != nil || !f.tells(f.tallyOf(left, c.body), c.bits, left) {
			break
		}
		set = append(set, c)
		covers := f.coverage(c.body, len(left))
		left = slices.DeleteFunc(left, func(e int32) bool { return f.positive[e] && covers(e) })
	}
	return set
}

// commonClause returns the clause of the pair that covers most, generalised on; nil if
// none covers two examples and no negative one.
func (f *search) commonClause(left []int32, s settings) *found {
	positives := slices.DeleteFunc(slices.Clone(left), func(e int32) bool { return !f.positive[e] })
	step := max(1, len(positives)/s.Beam)
	var seeds []int32
	for i := 0; i < len(positives) && len(seeds) < s.Beam; i += step {
		seeds = append(seeds, positives[i])
	}
	var best []literal
	var of []int32
	var choices int // literals of the clause that it comes of
	most := 1.0     // one example says nothing of others
	try := func(examples []int32) {
		if f.ctx.Err() != nil || s.Nodes > 0 && f.work > s.Nodes {
			return
		}
		body := f.generalised(examples, s.Lookahead, s.New)
		if len(body) == 0 {
			return
		}
		f.work += len(left) * len(body)
		whole := len(body)
		if f.db.linked { // numbers that two examples have in common are hardly those of others
			body = f.reduced(body, left)
		}
		if n := f.tallyOf(left, body); f.right(n) > most {
			best, of, most, choices = body, examples, f.right(n), whole
		}
	}
	for i, a := range seeds {
		for _, b := range seeds[:i] {
			try([]int32{b, a})
		}
	}
	if best == nil && f.target != nil { // a clause that ends may be of one example alone
		most = 0
		for _, a := range seeds {
			try([]int32{a})
		}
	}
	for best != nil && f.ctx.Err() == nil { // generalise on, with what is not covered yet
		before := most
		covers := f.coverage(best, len(left))
		from := of
		for _, e := range seeds {
			if !covers(e) {
				try(append(slices.Clone(from), e))
			}
		}
		if most == before {
			break
		}
	}
	if best == nil {
		return nil
	}
	body := best
	if f.db.linked {
		body = f.recut(body, left, f.right)
	}
	body = f.reduced(body, left)
	bits := 0.0
	for _, l := range body {
		if bits += math.Log2(float64(choices + 1)); l.op != none {
			_, distinct := l.relation.ranked()
			bits += math.Log2(float64(len(distinct)))
		}
	}
	return &found{body: body, bits: bits}
}

// right is how many more positive examples than negative ones a clause covers; of programs
// it covers no negative one.
func (f *search) right(n counts) float64 {
	if !f.db.linked && n.en > 0 {
		return math.Inf(-1)
	}
	return n.ep - f.against*n.en
}

// reduced drops literals, the last first, as long as no negative example is covered; of
// tables, as long as the clause is right as often.
func (f *search) reduced(body []literal, left []int32) []literal {
	if f.db.linked {
		return f.reducedOfTables(body, left)
	}
	negatives := slices.DeleteFunc(slices.Clone(left), func(e int32) bool { return f.positive[e] })
	for i := len(body) - 1; i >= 0 && len(body) > 1; i-- {
		if f.ctx.Err() != nil {
			break
		}
		less, ok := without(body, i, len(f.examples.places))
		if !ok {
			continue
		}
		covers := f.coverage(less, len(negatives))
		at := slices.IndexFunc(negatives, covers)
		if at < 0 {
			body = less
			continue
		}
		// The one that showed it comes first the next time.
		negatives[0], negatives[at] = negatives[at], negatives[0]
	}
	return body
}

func (f *search) reducedOfTables(body []literal, left []int32) []literal {
	best := f.right(f.tallyOf(left, body))
	for i := len(body) - 1; i >= 0 && len(body) > 1 && f.ctx.Err() == nil; i-- {
		less, ok := without(body, i, len(f.examples.places))
		if !ok {
			continue
		}
		if n := f.right(f.tallyOf(left, less)); n >= best {
			body, best = less, n
		}
	}
	return body
}

package relation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// ProgolName is what learning by most specific clauses is registered as.
const ProgolName = "progol"

func init() {
	learn.Register(learn.Info{
		Name:     ProgolName,
		Summary:  "clauses between the empty body and the most specific clause of an example, by compression",
		Source:   "Muggleton 1995; Mitchell 1997, §10.7.5",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the rows and the tables or facts around them, by source",
		New:      func() learn.Learner { return &Progol{} },
		Decode:   decode,
	})
}

// Progol is Muggleton's (1995) algorithm. For each positive example that is left, all
// that the background says of it, up to a depth of links, is its most specific clause
// ⊥. Between the empty body and ⊥ bodies are searched, the most promising first, for
// the one that compresses best: positives less negatives less literals covered.
// Branches that cannot beat the best so far are cut. Of linked tables a literal comes with
// those that lead to it, as a link alone tells nothing, the cuts of a clause that was found
// are moved to where it compresses best, and negatives count as many times more as there are
// fewer of them.
//
// A clause costs up to 300 bodies, of linked tables 2000 (nodes), each of which is asked of the examples
// that its parent covers.
type Progol struct {
	Depth    int `set:"depth" default:"2; 4 of linked tables" doc:"links between an example and what its most specific clause speaks of"`
	Literals int `set:"literals" default:"6" doc:"literals of one clause"`
	Nodes    int `set:"nodes" default:"300; 2000 of linked tables" doc:"clauses that are looked at for one example"`
	Forms
}

// Check refuses settings that make no sense.
func (l *Progol) Check() error {
	for key, n := range map[string]int{"depth": l.Depth, "literals": l.Literals, "nodes": l.Nodes} {
		if n < 0 || n > 100_000 {
			return fmt.Errorf("%s=%d: expected a number from 1 to 100000", key, n)
		}
	}
	return nil
}

// Learn learns clauses of the task's rows.
func (l *Progol) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	s := settings{Algorithm: ProgolName, Lookahead: l.Depth, Literals: cmp.Or(l.Literals, 6), Nodes: l.Nodes, M: 1}
	l.bound(&s)
	return learnTask(ctx, task, s)
}

// bottom is the most specific clause of an example: literals over variables, each of
// which stands for one thing.
type bottom struct {
	body   []literal
	things []thing // that the variables stand for
	by     []int   // the literal that each of them comes from, -1 for those of the head
}

type thing struct {
	code  int32
	place place
}

// mostBottom bounds the literals of a most specific clause, and mostRecall those of
// one relation for one thing.
const mostBottom, mostRecall = 400, 20

// saturate returns the most specific clause of an example.
func (f *search) saturate(e int32, depth int) *bottom {
	b := &bottom{}
	variable := func(code int32, p place, fresh bool) int {
		for v, t := range b.things {
			if t.code == code && t.place.joins(p) {
				return v
			}
		}
		if !fresh {
			return -1
		}
		b.things = append(b.things, thing{code, p})
		return len(b.things) - 1
	}
	for k, c := range f.examples.columns {
		b.things = append(b.things, thing{c[e], f.examples.places[k]})
	}
	known := 0
	for range depth {
		from, to := known, len(b.things)
		known = to
		for _, r := range f.db.relations {
			if r.numeric() && !r.hidden && f.db.linked {
				f.measure(b, r, from, to)
			}
			if r.hidden || r.numeric() || r.derived != "" {
				continue
			}
			for v := from; v < to && len(b.body) < mostBottom; v++ {
				f.mention(b, r, v, variable)
			}
		}
	}
	b.by = make([]int, len(b.things))
	for v := range b.by {
		b.by[v] = slices.IndexFunc(b.body, func(l literal) bool { return v >= len(f.examples.places) && slices.Contains(l.args, v) })
	}
	return b
}

// reach returns chosen literals with one more behind them, and those that lead to it.
func (b *bottom) reach(chosen []int, i int) []int {
	var ways []int
	for at := i; ; { // a literal is about one thing that was there before it
		ways = append(ways, at)
		from := slices.IndexFunc(b.body[at].args, func(a int) bool { return a >= 0 && b.by[a] != at })
		if from < 0 || b.by[b.body[at].args[from]] < 0 || slices.Contains(ways, b.by[b.body[at].args[from]]) {
			break
		}
		at = b.by[b.body[at].args[from]]
	}
	all := slices.Clone(chosen)
	for _, at := range slices.Backward(ways) {
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// mention adds the tuples of a relation that name a thing.
func (f *search) mention(b *bottom, r *relation, v int, variable func(int32, place, bool) int) {
	var directions []string
	if f.db.bias != nil {
		directions = f.db.bias.Directions[r.name]
	}
	for k, p := range r.places {
		if !p.joins(b.things[v].place) || k < len(directions) && directions[k] != "in" && directions[k] != "either" {
			continue
		}
		for i, tuple := range r.with(k, b.things[v].code) {
			if i == mostRecall {
				break
			}
			l := literal{relation: r, args: make([]int, len(r.places))}
			for j := range r.places {
				code := r.columns[j][tuple]
				switch {
				case code < 0 || code == unknown:
					l.args = nil
				case f.db.bias != nil && f.db.bias.Fixed(r.name, j), r.constants[j] && j != k && variable(code, r.places[j], false) < 0:
					l.args[j] = constantArg(code)
				default:
					l.args[j] = variable(code, r.places[j], true)
				}
				if l.args == nil {
					break
				}
			}
			if l.args != nil && !slices.ContainsFunc(b.body, func(have literal) bool { return have.relation == r && slices.Equal(have.args, l.args) }) {
				b.body = append(b.body, l)
			}
		}
	}
}

// mostCutsBelow is at how many numbers the values of a relation are cut in ⊥.
const mostCutsBelow = 8

// measure adds what the numbers of things are above, and what they are at most: the cuts
// are an eighth of the different numbers apart.
func (f *search) measure(b *bottom, r *relation, from, to int) {
	_, distinct := r.ranked()
	if r.arity() != 2 || len(distinct) < 2 {
		return
	}
	for v := from; v < to; v++ {
		if !r.places[0].joins(b.things[v].place) || r.derived != "" && v >= len(f.examples.places) {
			continue
		}
		x := r.number(b.things[v].code)
		if table.IsMissing(x) {
			continue
		}
		cuts := min(len(distinct)-1, mostCutsBelow)
		for k := range cuts {
			l := literal{relation: r, args: []int{v}, op: atMost, cut: distinct[k*(len(distinct)-1)/cuts]}
			if x > l.cut {
				l.op = above
			}
			if len(b.body) < mostBottom {
				b.body = append(b.body, l)
			}
		}
	}
}

// between is a body on the way from the empty one to ⊥: literals of ⊥, and what it
// covers.
type between struct {
	chosen  []int // in order
	body    []literal
	covered bits.Set
	p, n    float64
}

// ordered returns chosen literals of ⊥ so that each begins with a variable that is
// there, with variables numbered as they come; false if one hangs in the air.
func (b *bottom) ordered(chosen []int, heads int) ([]literal, bool) {
	number := make([]int, len(b.things))
	for v := range number {
		number[v] = -1
		if v < heads {
			number[v] = v
		}
	}
	next := heads
	var body []literal
	left := slices.Clone(chosen)
	for len(left) > 0 {
		at := slices.IndexFunc(left, func(i int) bool {
			return slices.ContainsFunc(b.body[i].args, func(a int) bool { return a >= 0 && number[a] >= 0 })
		})
		if at < 0 {
			return nil, false
		}
		l := b.body[left[at]]
		l.args = slices.Clone(l.args)
		for k, a := range l.args {
			if a < 0 {
				continue
			}
			if number[a] < 0 {
				number[a] = next
				next++
			}
			l.args[k] = number[a]
		}
		body = append(body, l)
		left = slices.Delete(left, at, at+1)
	}
	return body, true
}

// compress is the search between the empty body and ⊥, best first.
func (f *search) compress(b *bottom, active []int32, nodes int) *found {
	heads := len(f.examples.places)
	all := bits.New(len(active))
	for i := range active {
		all.Put(i)
	}
	open := []*between{{covered: all}}
	var best *between
	score := func(x *between) float64 { return x.p - f.against*x.n - float64(len(x.chosen)) }
	seen := map[string]bool{}
	for looked := 0; len(open) > 0 && looked < nodes; {
		if f.err = f.ctx.Err(); f.err != nil {
			return nil
		}
		at := 0
		for i := range open {
			if score(open[i]) > score(open[at]) {
				at = i
			}
		}
		x := open[at]
		open = slices.Delete(open, at, at+1)
		for i := 0; i < len(b.body) && len(x.chosen) < f.options.literals && looked < nodes; i++ {
			if slices.Contains(x.chosen, i) {
				continue
			}
			chosen := append(slices.Clip(x.chosen), i)
			if f.db.linked {
				chosen = b.reach(x.chosen, i)
			}
			body, ok := b.ordered(chosen, heads)
			if !ok || len(chosen) > f.options.literals || !f.language.begins(body) {
				continue
			}
			if f.db.linked {
				if key := fmt.Sprint(f.db.named(body)); seen[key] {
					continue
				} else {
					seen[key] = true
				}
			} else if len(x.chosen) > 0 && i < x.chosen[len(x.chosen)-1] && f.language == nil && f.commutes(b, x.chosen, i, heads) {
				continue
			}
			looked++
			y := f.among(active, x.covered, body)
			y.chosen = chosen
			if y.p <= 0 || best != nil && y.p-float64(len(chosen)) <= score(best) && y.n > 0 {
				continue // nothing below it is better
			}
			if (y.n == 0 || !f.options.exact) && score(y) > 0 && (best == nil || score(y) > score(best)) && f.language.is(body) {
				best = y
			}
			if y.n > 0 {
				open = append(open, y)
			}
		}
	}
	if best == nil {
		return nil
	}
	c := &found{body: best.body, bits: float64(len(best.body)) * math.Log2(float64(len(b.body)+1))}
	if f.db.linked {
		c.body = f.recut(c.body, active, func(c counts) float64 { return c.ep - f.against*c.en })
	}
	return c
}

// among returns what a body covers of examples.
func (f *search) among(active []int32, of bits.Set, body []literal) *between {
	y := &between{body: body, covered: bits.New(len(active))}
	covers := f.coverage(body, of.Count())
	for k := range of.All {
		if e := active[k]; covers(e) {
			y.covered.Put(k)
			if f.positive[e] {
				y.p += f.weight[e]
			} else {
				y.n += f.weight[e]
			}
		}
	}
	return y
}

// commutes reports whether the last literal could have been chosen before the one
// behind which it comes, so that the same body is found once.
func (f *search) commutes(b *bottom, chosen []int, i, heads int) bool {
	_, ok := b.ordered(append(slices.Clone(chosen[:len(chosen)-1]), i), heads)
	return ok
}

// mostSkipped is how many examples may have no clause that compresses before the rest
// is left alone.
const mostSkipped = 10

// tells reports whether a clause of tables saves more bits than it takes: of many rows some
// are alike by chance.
func (f *search) tells(of counts, bits float64, active []int32) bool {
	if !f.db.linked || len(active) < fewExamples {
		return true
	}
	all := f.tallyOf(active, nil)
	return saves(all.ep, all.en, of.ep, of.en) > bits
}

// weighs is how many times a negative example counts: that a class of tables is frequent is
// no clause.
func (f *search) weighs(active []int32) float64 {
	if all := f.tallyOf(active, nil); f.db.linked && all.en > 0 {
		return max(1, all.ep/all.en)
	}
	return 1
}

// progol covers the positive examples one after another.
func (f *search) progol(active []int32, s settings) []*found {
	var set []*found
	f.options = options{literals: s.Literals}
	left := slices.Clone(active)
	f.against = f.weighs(active)
	if s.Nodes == 0 {
		if s.Nodes = 300; f.db.linked {
			s.Nodes = 2000 // numbers have many cuts
		}
	}
	if s.Lookahead == 0 {
		if s.Lookahead = 2; f.db.linked {
			s.Lookahead = 4 // links between tables are links, too
		}
	}
	skipped := map[int32]bool{}
	for len(set) < mostClauses && len(skipped) < mostSkipped {
		seed := slices.IndexFunc(left, func(e int32) bool { return f.positive[e] && !skipped[e] })
		if seed < 0 || f.err != nil {
			break
		}
		e := left[seed]
		c := f.compress(f.saturate(e, s.Lookahead), left, s.Nodes)
		if c == nil || !f.tells(f.tallyOf(left, c.body), c.bits, left) {
			skipped[e] = true
			continue
		}
		set = append(set, c)
		left = slices.DeleteFunc(left, func(e int32) bool { return f.positive[e] && f.covers(c.body, e) })
	}
	return set
}

package relation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// FoclName is what FOIL with a domain theory is registered as.
const FoclName = "focl"

func init() {
	learn.Register(learn.Info{
		Name:     FoclName,
		Summary:  "foil, to which a domain theory proposes conditions, right or wrong",
		Source:   "Pazzani & Kibler 1992; Mitchell 1997, §12.5",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true, Theory: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the rows and the tables or facts around them, by source",
		New:      func() learn.Learner { return &Focl{} },
		Decode:   decode,
	})
}

// Focl is FOIL whose clauses may take in, at any step, a whole condition that the theory
// proves the class by, or one of its concepts alone, unfolded to what rows have and
// pruned: literals are dropped from it as long as that raises its gain. Of a condition
// that no positive example meets, as in theories that ask for too much, those literals
// are taken that tell most, one by one. It competes with single literals by gain, so that
// a theory that is wrong costs nothing but the look at it.
//
// A step costs what one of FOIL costs, and a look at each condition of the theory.
type Focl struct {
	Theory string `set:"theory" default:"none" doc:"file of Prolog clauses that say what the class follows from" file:"true"`
	Noise  string `set:"noise" default:"auto: mdl for tables; of programs, what describes the examples best" oneof:"auto|none|mdl" doc:"clauses cover no example of another class (none), or save bits (mdl)"`
}

func (l *Focl) settings() settings {
	_, text := written(l.Theory)
	s := (&Learner{Noise: l.Noise}).settings()
	s.Algorithm, s.Theory = FoclName, text
	return s
}

// Check refuses a theory that cannot be read.
func (l *Focl) Check() error {
	_, err := logic.Read(written(l.Theory))
	return err
}

// Learn learns the clauses of the task's rows.
func (l *Focl) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return learnTask(ctx, task, l.settings())
}

// mostProposed bounds the conditions that a theory proposes, and mostUnfolded the clauses
// that one goes through.
const mostProposed, mostUnfolded = 400, 20

// proposals are the conditions under which a theory concludes a class, over the relations
// of the database, and then those of its concepts alone. One that speaks of what rows do
// not have is left out.
func (m *Model) proposals(db *database, class int) []proposal {
	s := m.lesson.Settings
	theory, err := s.theory()
	if s.Algorithm != FoclName || err != nil || len(theory.Clauses) == 0 {
		return nil
	}
	facts := logic.NewProgram(nil)
	if db.program != nil {
		facts = db.program
	}
	name, value := m.head(class)
	args := make([]logic.Term, m.arity, m.arity+1)
	for i := range args {
		args[i] = logic.Var(i)
	}
	targets := []logic.Term{compound(name, args), logic.Atom(name)}
	if value != "" {
		if slices.ContainsFunc(m.classes(), func(c string) bool { return says(m.classes(), c) }) {
			targets = nil // the name alone is the other class
		}
		targets = append(targets, compound(name, append(args, constantTerm(value))), compound(value, args), logic.Atom(value))
	}
	var all []proposal
	for _, parts := range []bool{false, true} {
		th := logic.NewTheory(db.frontiers(theory, parts), facts, nil)
		for _, target := range targets {
			of, _ := logic.Literal{Atom: target}.Predicate()
			if len(th.Of(of)) == 0 {
				continue
			}
			for _, c := range th.Lemmas(target, mostUnfolded, mostProposed) {
				body, ok := db.condition(c, m.arity)
				if ok && !slices.ContainsFunc(all, func(have proposal) bool {
					return slices.EqualFunc(have.body, body, func(a, b literal) bool { return a.equals(&b) })
				}) {
					all = append(all, proposal{body, parts})
				}
			}
		}
	}
	return all
}

// unheard says that a theory proposes nothing, of whatever class.
func (m *Model) unheard(ctx context.Context) ([]fmt.Stringer, error) {
	if m.rows == nil || m.lesson.Settings.Theory == "" {
		return nil, nil
	}
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	db, _ := m.base(m.linked).over(t, m.target)
	for class := range m.classes() {
		if len(m.proposals(db, class)) > 0 {
			return nil, nil
		}
	}
	return []fmt.Stringer{remark("the theory proposes no condition: it concludes the same of every row, or of nothing that rows have; clauses were found without it")}, nil
}

// proposal is a condition of a theory, or a part of one.
type proposal struct {
	body []literal
	part bool
}

// condition returns the body of a clause over the relations of a database.
func (db *database) condition(c *logic.Clause, arity int) ([]literal, bool) {
	number := map[logic.Var]int{}
	next := arity
	var body []literal
	for i, a := range c.Arguments() {
		if v, ok := a.(logic.Var); ok && i < arity {
			if same, known := number[v]; known {
				body = append(body, literal{args: []int{same, i}})
				continue
			}
			number[v] = i
		}
	}
	cuts := comparisons(c.Body)
	for _, l := range c.Body {
		if _, _, isCut := comparison(l.Atom); isCut && !l.Negated {
			continue // a part of the literal whose number it compares
		}
		if pair, ok := l.Atom.(*logic.Compound); ok && l.Negated && pair.Functor == "," && len(pair.Args) == 2 {
			cuts = append(cuts, comparisons([]logic.Literal{{Atom: pair.Args[1]}})...)
			l.Atom = pair.Args[0]
		}
		of, ok := l.Predicate()
		r := db.byName[of.Name]
		if !ok || r == nil {
			return nil, false
		}
		var args []logic.Term
		if t, ok := l.Atom.(*logic.Compound); ok {
			args = t.Args
		}
		if n := db.byName[of.Name+numberMark]; n != nil && len(args) > 0 {
			if _, _, isCut := cuts.of(args[len(args)-1]); isCut {
				r = n
			}
		}
		made := literal{relation: r, negated: l.Negated}
		if r.numeric() && len(args) == r.arity() {
			if made.op, made.cut, ok = cuts.of(args[len(args)-1]); !ok {
				return nil, false
			}
			args = args[:len(args)-1]
		}
		if len(args) == 0 && arity == 1 { // of the row
			made.args = []int{0}
		}
		for k, a := range args {
			v, isVariable := a.(logic.Var)
			if !isVariable {
				code := db.domains[max(r.places[min(k, len(r.places)-1)].domain, 0)].find(logic.Format(a, nil))
				made.args = append(made.args, constantArg(code))
				continue
			}
			at, known := number[v]
			if !known {
				if l.Negated {
					at = anything
				} else {
					at = next
					number[v] = next
					next++
				}
			}
			made.args = append(made.args, at)
		}
		if len(made.args) == r.arity()-1 && made.op == none && !r.says(db, &made) || len(made.args) != r.arity() && made.op == none || slices.ContainsFunc(made.args, func(a int) bool { return a == constantArg(unknown) }) {
			return nil, false
		}
		body = append(body, made)
	}
	return body, len(body) > 0
}

// says completes a literal about a column of two values: that it says yes.
func (r *relation) says(db *database, l *literal) bool {
	if r.numeric() {
		_, distinct := r.ranked()
		if len(distinct) != 2 {
			return false
		}
		if l.op, l.cut = above, distinct[0]; l.negated {
			l.op, l.negated = atMost, false
		}
		return true
	}
	for _, yes := range []string{"1", "yes", "true", "y", "t", "+"} {
		if code := db.domains[r.places[len(r.places)-1].domain].find(yes); code != unknown {
			l.args = append(l.args, constantArg(code))
			return true
		}
	}
	return false
}

// propose offers the conditions of the theory as steps; a part of one only where it tells
// more than all that are whole.
func (f *search) propose(s *state, c *chosen) {
	whole := 0.0
	c.lead = f.lead(c.tried)
	for _, p := range f.proposed {
		shift := len(s.columns) - len(f.examples.places)
		block := make([]literal, 0, len(p.body))
		for _, l := range p.body {
			l.args, l.told = slices.Clone(l.args), true
			for k, a := range l.args {
				if a >= len(f.examples.places) {
					l.args[k] = a + shift
				}
			}
			if !slices.ContainsFunc(s.body, func(have literal) bool { return l.equals(&have) }) {
				block = append(block, l)
			}
		}
		kept, n := f.pruned(s, block)
		switch gain := f.gain(s, n); {
		case len(kept) == 0 || n.ep <= 0:
			f.grown(s, block, c)
		case p.part && gain <= whole+tie:
		default:
			c.offer(kept, n)
			if !p.part {
				whole = max(whole, gain)
			}
		}
	}
}

// lead is how many bits less it takes to name a literal of the theory than one of so many
// that the data have: by that much single literals have to tell more.
func (f *search) lead(literals float64) float64 {
	var known []literal
	for _, p := range f.proposed {
		for _, l := range p.body {
			if !slices.ContainsFunc(known, func(have literal) bool { return l.equals(&have) }) {
				known = append(known, l)
			}
		}
	}
	if len(known) == 0 || literals <= float64(len(known)) {
		return 0
	}
	return math.Log2(literals / float64(len(known)))
}

// grown offers what of a condition that no positive example meets tells most, a literal
// at a time. One that brings new variables needs its others, and is not taken apart.
func (f *search) grown(s *state, block []literal, c *chosen) {
	for i := range block {
		if block[i].news(len(s.columns)) > 0 && !block[i].negated {
			return
		}
	}
	to, left := s, slices.Clone(block)
	var taken []literal
	for len(left) > 0 && to.en > 0 && f.ctx.Err() == nil {
		best, gain := -1, tie
		var with *state
		for i, l := range left {
			next := f.extend(to, l, len(taken) > 0)
			if g := f.gain(to, next.counts); g > gain {
				best, gain, with = i, g, next
			}
		}
		if best < 0 {
			return
		}
		taken, to = append(taken, left[best]), with
		left = slices.Delete(left, best, best+1)
		c.offer(taken, to.counts)
	}
}

func (l *literal) equals(o *literal) bool {
	return l.relation == o.relation && l.op == o.op && l.cut == o.cut && l.negated == o.negated && slices.Equal(l.args, o.args)
}

// pruned drops from a condition the literal without which its gain is greatest, as long
// as it grows.
func (f *search) pruned(s *state, block []literal) ([]literal, counts) {
	count := func(block []literal) (counts, bool) {
		to := s
		for i, l := range block {
			if l.relation != nil && !l.negated && l.news(len(to.columns)) > 0 && to.fanOut(&l) > mostBindings {
				return counts{}, false
			}
			to = f.extend(to, l, i > 0)
		}
		return to.counts, true
	}
	n, ok := count(block)
	if !ok {
		return nil, n
	}
	for len(block) > 1 && f.ctx.Err() == nil {
		best, gain := -1, f.gain(s, n)+tie
		var kept []literal
		var with counts
		for i := range block {
			less, ok := without(slices.Concat(s.body, block), len(s.body)+i, len(f.examples.places))
			if !ok {
				continue
			}
			if m, ok := count(less[len(s.body):]); ok && f.gain(s, m) > gain {
				best, gain, kept, with = i, f.gain(s, m), less[len(s.body):], m
			}
		}
		if best < 0 {
			break
		}
		block, n = kept, with
	}
	return block, n
}

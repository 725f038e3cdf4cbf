package relation

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/logic"
)

// mostPlaces is how many arguments the relations of whole programs may have.
const mostPlaces = 8

// tuple is the codes of a relation's arguments, free where they are not known.
type tuple [mostPlaces]int32

const free = -1

// world answers for the background while programs are tried: relations by their
// columns, and predicates that have no end, such as those of lists, by proving what is
// asked of them, once.
type world struct {
	ctx        context.Context
	program    *logic.Program
	names      *domain
	terms      []logic.Term // of the codes, as far as they were needed
	predicates []*predicate
}

// predicate is what a literal of a program may be about.
type predicate struct {
	name     string
	places   []place
	in       []bool    // places that must be known when it is asked
	gives    bool      // something out of nothing, such as zero(X)
	relation *relation // nil: it is proved when it is asked
	answers  map[tuple][]tuple
}

// newWorld returns the background of a search; nil if it is too wide.
func newWorld(f *search) *world {
	all := f.db.domains[0]
	w := &world{ctx: f.ctx, program: f.db.program, names: &domain{all.name, map[string]int32{}, slices.Clone(all.names)}}
	for name, c := range all.codes {
		w.names.codes[name] = c
	}
	for _, of := range f.db.program.Predicates() {
		if of == f.db.bias.Head || f.db.bias.Body != nil && !slices.Contains(f.db.bias.Body, of) {
			continue
		}
		if of.Arity > mostPlaces || of.Arity == 0 {
			continue
		}
		p := &predicate{name: of.Name, places: make([]place, of.Arity), in: inputs(f.db.bias, of), relation: f.db.byName[of.Name], answers: map[tuple][]tuple{}}
		directed := slices.Contains(f.db.bias.Directions[of.Name], "in")
		p.gives = len(f.db.bias.Directions[of.Name]) > 0 && !slices.ContainsFunc(f.db.bias.Directions[of.Name], func(way string) bool { return way != "out" })
		if facts := finite(f.db.program, of); p.relation != nil && p.relation.arity() == of.Arity && (facts || !directed) {
			p.places = p.relation.places
			p.in = make([]bool, of.Arity) // they are found from any side
		} else {
			p.relation = nil
			for k, kind := range f.db.bias.Types[of.Name] {
				if k < len(p.places) {
					p.places[k].kind = kind
				}
			}
		}
		w.predicates = append(w.predicates, p)
	}
	return w
}

// finite reports whether a predicate is facts alone.
func finite(p *logic.Program, of logic.Predicate) bool {
	return !slices.ContainsFunc(p.Of(of), func(c *logic.Clause) bool { return len(c.Body) > 0 || !logic.IsGround(c.Head) })
}

// inputs are the places that a bias says must be known; without one, all but the last.
func inputs(b *logic.Bias, of logic.Predicate) []bool {
	in := make([]bool, of.Arity)
	directions := b.Directions[of.Name]
	for k := range in {
		if k < len(directions) {
			in[k] = directions[k] == "in"
		} else {
			in[k] = k+1 < of.Arity
		}
	}
	return in
}

// mostCallSteps bounds the proof of one question to the background.
const mostCallSteps = 2000

// each visits the answers to a question until one is enough.
func (w *world) each(p *predicate, asked *tuple, visit func(*tuple) bool) {
	if p.relation == nil {
		answers, ok := p.answers[*asked]
		if !ok {
			answers = w.prove(p, asked)
			p.answers[*asked] = answers
		}
		for i := range answers {
			if !visit(&answers[i]) {
				return
			}
		}
		return
	}
	best := -1
	for k := range p.places {
		if asked[k] != free && (best < 0 || p.relation.indexed(k).most < p.relation.indexed(best).most) {
			best = k
		}
	}
	columns := p.relation.columns
	fits := func(row int32) bool {
		var t tuple
		for k, c := range columns {
			if t[k] = c[row]; asked[k] != free && asked[k] != t[k] {
				return true
			}
		}
		return visit(&t)
	}
	if best >= 0 {
		for _, row := range p.relation.with(best, asked[best]) {
			if !fits(row) {
				return
			}
		}
		return
	}
	for row := range int32(p.relation.size()) {
		if !fits(row) {
			return
		}
	}
}

// prove asks the program. What is not found within limits, or not ground, is no answer.
func (w *world) prove(p *predicate, asked *tuple) []tuple {
	args := make([]logic.Term, len(p.places))
	for k := range args {
		args[k] = logic.Var(k)
		if asked[k] != free {
			args[k] = w.term(asked[k])
		}
	}
	var answers []tuple
	goal := []logic.Literal{{Atom: compound(p.name, args)}}
	_ = w.program.Prove(w.ctx, goal, logic.Limits{Steps: mostCallSteps}, func(a logic.Answer) bool {
		t := *asked
		for k := range args {
			if t[k] == free {
				to := a.Bindings[logic.Var(k)]
				if to == nil || !logic.IsGround(to) {
					return true
				}
				t[k] = w.code(to)
			}
		}
		if !slices.Contains(answers, t) {
			answers = append(answers, t)
		}
		return len(answers) < mostRecall
	})
	return answers
}

// code returns the code of a term that was found.
func (w *world) code(t logic.Term) int32 {
	code := w.names.code(logic.Format(t, nil))
	w.room(code)
	w.terms[code] = t
	return code
}

func (w *world) room(code int32) {
	for int(code) >= len(w.terms) {
		w.terms = append(w.terms, nil)
	}
}

func (w *world) term(code int32) logic.Term {
	w.room(code)
	if w.terms[code] == nil {
		w.terms[code] = constantTerm(w.names.names[code])
	}
	return w.terms[code]
}

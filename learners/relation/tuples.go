package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/logic"
)

// Tuples are what is learnt: constants in the places of a relation's arguments.
type Tuples struct {
	Of                   logic.Predicate
	Positives, Negatives [][]logic.Term
}

// FoilOptions say where the search looks. Zero values are the defaults.
type FoilOptions struct {
	Negation     bool // negated literals, of variables that are there
	Recursion    bool // literals of the relation itself
	NewVariables int  // of one literal; default 1
	Literals     int  // of one body; default 8
}

// FoilStep is a literal that was taken, or could have been.
type FoilStep struct {
	Literal  logic.Literal
	Gain     float64
	Positive int // bindings, with the literal
	Negative int
}

// Learnt is a clause with the steps that led to it, and the tuples it covers that
// belong to the relation and that do not.
type Learnt struct {
	Clause             *logic.Clause
	Steps              []FoilStep
	Positive, Negative int
}

// Foil learns clauses for a relation from the facts of a program, as the book has it
// (Mitchell 1997, table 10.4): a literal at a time, no clause covers a negative tuple,
// and nothing is pruned.
func Foil(ctx context.Context, facts *logic.Program, tuples Tuples, o FoilOptions) ([]Learnt, error) {
	f, err := plain(ctx, facts, tuples, o)
	if err != nil {
		return nil, err
	}
	var learnt []Learnt
	for _, c := range f.learnSet(everything(len(f.positive))) {
		l := Learnt{Clause: f.written(tuples.Of, c.body)}
		for _, s := range c.path {
			l.Steps = append(l.Steps, f.step(&s))
		}
		n := f.tallyOf(everything(len(f.positive)), c.body)
		l.Positive, l.Negative = int(n.ep), int(n.en)
		learnt = append(learnt, l)
	}
	return learnt, f.err
}

// Candidates returns the literals that may begin a clause, or come after some that are
// written as they are here, with their gains, the greatest first.
func Candidates(facts *logic.Program, tuples Tuples, o FoilOptions, after ...string) ([]FoilStep, error) {
	f, err := plain(context.Background(), facts, tuples, o)
	if err != nil {
		return nil, err
	}
	from := f.begin(everything(len(f.positive)))
	for body := 0; ; body++ {
		c := &chosen{search: f, from: from, most: 1 << 16, all: true}
		f.literals(from, nil, c)
		var steps []FoilStep
		for i := range c.steps {
			steps = append(steps, f.step(&c.steps[i]))
		}
		if body == len(after) || f.err != nil {
			return steps, f.err
		}
		at := slices.IndexFunc(steps, func(s FoilStep) bool { return s.Literal.Format(letters) == after[body] })
		if at < 0 {
			return nil, fmt.Errorf("%s is no candidate", after[body])
		}
		from = f.extend(from, c.steps[at].literals[0], false)
	}
}

// letters are what variables are called where nobody calls them otherwise.
var letters = strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "")

func (f *search) step(s *step) FoilStep {
	body := (&writer{}).body(f.db.named(s.literals), len(s.from.columns))
	return FoilStep{body[0], s.gain, int(s.counts.p), int(s.counts.n)}
}

func (f *search) written(of logic.Predicate, body []literal) *logic.Clause {
	return (&writer{}).clause(of.Name, of.Arity, "", f.db.named(body))
}

// plain is a search over tuples.
func plain(ctx context.Context, facts *logic.Program, tuples Tuples, o FoilOptions) (*search, error) {
	if len(tuples.Positives) == 0 {
		return nil, fmt.Errorf("no tuple belongs to %v; there is nothing to learn from", tuples.Of)
	}
	db := &database{of: -1, program: facts, bias: &logic.Bias{Head: tuples.Of}}
	all := db.domain("term")
	for _, of := range facts.Predicates() {
		if of == tuples.Of {
			continue
		}
		for _, c := range facts.Of(of) {
			if len(c.Body) > 0 || slices.ContainsFunc(c.Arguments(), func(a logic.Term) bool { return !isConstant(a) }) {
				return nil, fmt.Errorf("line %d: %v is not a fact of names and numbers; expected such facts of every relation", c.Line, c)
			}
		}
		db.relations = append(db.relations, db.ofPredicate(of, all))
	}
	f := &search{ctx: ctx, db: db.finish(), examples: &examples{columns: make([][]int32, tuples.Of.Arity), places: make([]place, tuples.Of.Arity)}}
	f.options = options{bindings: true, negation: o.Negation, lookahead: 1, news: max(o.NewVariables, 1), literals: o.Literals, variables: 64, beam: 1, exact: true, unpruned: true}
	if o.Literals == 0 {
		f.options.literals = 8
	}
	for i, t := range slices.Concat(tuples.Positives, tuples.Negatives) {
		if len(t) != tuples.Of.Arity {
			return nil, fmt.Errorf("a tuple of %d terms; %v has %d", len(t), tuples.Of, tuples.Of.Arity)
		}
		for k, term := range t {
			if !isConstant(term) {
				return nil, fmt.Errorf("%s is not a name or a number; expected tuples of those", logic.Format(term, nil))
			}
			f.examples.columns[k] = append(f.examples.columns[k], db.domains[all].code(logic.Format(term, nil)))
		}
		f.positive = append(f.positive, i < len(tuples.Positives))
		f.weight = append(f.weight, 1)
	}
	if o.Recursion {
		f.target = f.extension(tuples.Of.Name)
	}
	return f, nil
}

// extension is the positive examples as a relation.
func (f *search) extension(name string) *relation {
	columns := make([][]int32, len(f.examples.columns))
	for k, c := range f.examples.columns {
		for e, positive := range f.positive {
			if positive {
				columns[k] = append(columns[k], c[e])
			}
		}
	}
	return newRelation(name, f.examples.places, columns)
}

func isConstant(t logic.Term) bool {
	switch t.(type) {
	case logic.Atom, logic.Int, logic.Float:
		return true
	}
	return false
}

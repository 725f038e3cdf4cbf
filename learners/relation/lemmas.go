package relation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/logic"
)

// mostUnfoldedClauses is how many clauses deep lemmas go: theories that call themselves have lemmas
// without end.
const mostUnfoldedClauses = 10

// Lemmas are all that a theory says of a goal such as safe_to_stack(X, Y) without any
// example (LEMMA-ENUMERATOR; Mitchell 1997, §11.3.4): a rule over operational predicates
// for each way to conclude it, up to a number of them. What a program has only facts of, or
// does not speak of, is operational.
func (p *Program) Lemmas(goal string, most int) ([]*logic.Clause, error) {
	var theory, facts []*logic.Clause
	known := concluded(p.program)
	for _, c := range p.program.Clauses {
		if of, _ := (logic.Literal{Atom: c.Head}).Predicate(); slices.Contains(known, of) {
			theory = append(theory, c)
		} else {
			facts = append(facts, c)
		}
	}
	return lemmas(logic.NewProgram(theory), logic.NewProgram(facts), nil, goal, most)
}

// Lemmas are those of the theory that the examples were explained by.
func (m *Model) Lemmas(goal string, most int) ([]*logic.Clause, error) {
	s := m.lesson.Settings
	theory, err := s.theory()
	if err != nil {
		return nil, err
	}
	if len(theory.Clauses) == 0 {
		return nil, remedy.Misusef("%s was learnt without a theory; lemmas are what a theory says: import it as a program, or learn with ebg or focl", m.Learner())
	}
	operational, err := predicates(s.Operational)
	if err != nil {
		return nil, err
	}
	background := m.base(m.linked).program
	if background == nil {
		background = logic.NewProgram(nil)
	}
	return lemmas(theory, background, operational, goal, most)
}

func lemmas(theory, background *logic.Program, operational []logic.Predicate, goal string, most int) ([]*logic.Clause, error) {
	parsed, _, err := logic.ReadGoal(goal)
	if err != nil {
		return nil, err
	}
	if len(parsed) != 1 || parsed[0].Negated {
		return nil, remedy.Misuse(errors.New("expected one goal, such as safe_to_stack(X, Y)"))
	}
	of, ok := parsed[0].Predicate()
	if !ok || len(theory.Of(of)) == 0 {
		var named []string
		for _, p := range concluded(theory) {
			named = append(named, p.String())
		}
		return nil, remedy.Misuse(fmt.Errorf("the theory does not conclude %v; it concludes %s", of, strings.Join(named, ", ")))
	}
	return logic.NewTheory(theory, background, operational).Lemmas(parsed[0].Atom, mostUnfoldedClauses, most), nil
}

// concluded are the predicates that a theory has rules for.
func concluded(theory *logic.Program) []logic.Predicate {
	var all []logic.Predicate
	for _, of := range theory.Predicates() {
		if slices.ContainsFunc(theory.Of(of), func(c *logic.Clause) bool { return len(c.Body) > 0 }) {
			all = append(all, of)
		}
	}
	return all
}

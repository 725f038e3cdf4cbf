package relation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// EBGName is what explanation-based learning is registered as.
const EBGName = "ebg"

func init() {
	learn.Register(learn.Info{
		Name:     EBGName,
		Summary:  "rules by explaining examples with a domain theory (PROLOG-EBG)",
		Source:   "Mitchell et al. 1986; Kedar-Cabelli & McCarty 1987; Mitchell 1997, §11.2",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the examples and the facts around them, by source",
		New:      func() learn.Learner { return &EBG{} },
		Decode:   decode,
	})
}

// EBG is PROLOG-EBG (Mitchell 1997, table 11.2): each positive example that no rule
// covers yet is explained by its first proof from the domain theory, and the target is
// regressed through the explanation to its weakest preimage, which is a rule over
// operational predicates. One example is enough for a rule. What the theory cannot
// explain, and what it proves that is not so, is remarked.
//
// Learning costs one proof for each positive example that is not covered yet, and
// one walk along it; trying the rules costs one query of each example.
type EBG struct {
	Theory      string `set:"theory" default:"none" doc:"file of Prolog clauses that explain the examples" file:"true"`
	Operational string `set:"operational" default:"what the theory has no clauses for, and what only computes" doc:"predicates at which explanations end, such as volume/2,type/2"`
	Assume      string `set:"assume" default:"nothing" doc:"predicates, such as sound/1, that explanations take for granted until a negative example is covered by it (lazy explanation)"`
	Negation    string `set:"negation" default:"no" oneof:"no|yes" doc:"explanations may stand on what cannot be proved"`
	Generalise  string `set:"generalise" default:"regression" oneof:"regression|leaves" doc:"what becomes of an explanation: the weakest condition under which it holds, or the facts that it stands on, with variables for the example's own things"`
}

// Check refuses a theory that cannot be read.
func (l *EBG) Check() error {
	if _, err := logic.Read(written(l.Theory)); err != nil {
		return err
	}
	if _, err := predicates(l.Assume); err != nil {
		return err
	}
	_, err := predicates(l.Operational)
	return err
}

func (l *EBG) settings() settings {
	_, text := written(l.Theory)
	return settings{Algorithm: EBGName, Theory: text, Operational: l.Operational, Assume: l.Assume, Negation: l.Negation, Collect: l.Generalise == "leaves", M: 1}
}

// written takes a theory apart into its file's name, which stands before it, and
// its text.
func written(theory string) (file, text string) {
	file, text, _ = strings.Cut(theory, "\n")
	return file, text
}

// theory reads the theory of settings.
func (s *settings) theory() (*logic.Program, error) { return logic.Read("theory", s.Theory) }

// predicates reads a list such as volume/2,type/2; nil if it is empty.
func predicates(text string) ([]logic.Predicate, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	all := []logic.Predicate{}
	for _, part := range strings.Split(text, ",") {
		name, arity, _ := strings.Cut(strings.TrimSpace(part), "/")
		n, err := strconv.Atoi(arity)
		if name == "" || err != nil || n < 0 {
			return nil, fmt.Errorf("operational=%s: expected predicates such as volume/2,type/2", text)
		}
		all = append(all, logic.Predicate{Name: name, Arity: n})
	}
	return all, nil
}

// Learn explains the task's positive examples.
func (l *EBG) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	s := l.settings()
	if s.Theory == "" && task.Table != nil && task.Table.Linked != nil {
		return nil, errors.New("ebg explains examples by a domain theory; give one as a file of clauses (theory=FILE)")
	}
	if s.Theory != "" && task.Table != nil && task.Table.Linked == nil {
		return nil, errors.New("ebg explains examples by facts about them, as linked tables and programs have them; to learn from rows alone beside a theory, take focl or kbann")
	}
	return learnTask(ctx, task, s)
}

// explainAll is PROLOG-EBG.
func (m *Model) explainAll(ctx context.Context, db *database, t *table.Table) error {
	s := m.lesson.Settings
	theory, err := s.theory()
	if err != nil {
		return err
	}
	class := slices.Index(m.classes(), logic.Belongs)
	if db.program == nil || class < 0 || len(theory.Clauses) == 0 {
		return m.assemble(ctx, t)
	}
	operational, err := predicates(s.Operational)
	if err != nil {
		return err
	}
	th := logic.NewTheory(theory, db.program, operational)
	a := &asked{table: t, target: m.target}
	name, _ := m.head(class)
	args := make([]logic.Term, m.arity)
	for i := range args {
		args[i] = logic.Var(i)
	}
	target := compound(name, args)
	own := logic.NewProgram(slices.Concat(db.program.Clauses, m.computing()))
	for r, c := range t.Columns[m.target].Codes {
		if err := ctx.Err(); err != nil {
			return err
		}
		goal := compound(name, a.tuple(r))
		covered, err := own.Holds(ctx, []logic.Literal{{Atom: goal}}, logic.Limits{Steps: mostProofSteps})
		if int(c) != class || err == nil && covered {
			continue
		}
		rule, err := m.lazily(ctx, target, goal, theory, own, func(program *logic.Program) *logic.Theory {
			if program == theory {
				return th
			}
			return logic.NewTheory(program, db.program, operational)
		}, a)
		if err != nil {
			return err
		}
		if rule != nil { // what is not explained is remarked
			own.Add(rule)
			m.list = append(m.list, listed{Class: class, Text: rule.String(), First: make([]float64, len(m.all))})
		}
	}
	return m.assemble(ctx, t)
}

// lazily explains an example with as much taken for granted as may be (Tadepalli 1990;
// Chien 1993): where the rule covers a negative example, one assumption less is made, and
// the explanation elaborated. It returns nil if there is no explanation.
func (m *Model) lazily(ctx context.Context, target, goal logic.Term, theory, own *logic.Program, join func(*logic.Program) *logic.Theory, a *asked) (*logic.Clause, error) {
	s := m.lesson.Settings
	assumed, err := predicates(s.Assume)
	if err != nil {
		return nil, err
	}
	for {
		th := join(granted(theory, assumed))
		proof, err := th.Explain(ctx, goal, s.Negation == "yes", logic.Limits{Steps: mostProofSteps})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var rule *logic.Clause
		if err == nil && proof != nil {
			if r, _, ok := th.Preimage(target, proof); ok && len(r.Arguments()) == m.arity {
				rule = r
			}
			if s.Collect {
				rule = th.Collected(target, goal, proof)
			}
		}
		if len(assumed) == 0 || rule == nil {
			return rule, nil
		}
		wrong, err := m.coversNegative(ctx, own, rule, a)
		if err != nil || !wrong {
			return rule, err
		}
		assumed = assumed[1:]
	}
}

// granted is a theory in which some predicates always hold.
func granted(theory *logic.Program, assumed []logic.Predicate) *logic.Program {
	if len(assumed) == 0 {
		return theory
	}
	clauses := slices.DeleteFunc(slices.Clone(theory.Clauses), func(c *logic.Clause) bool {
		of, _ := logic.Literal{Atom: c.Head}.Predicate()
		return slices.Contains(assumed, of)
	})
	for _, of := range assumed {
		args := make([]logic.Term, of.Arity)
		for i := range args {
			args[i] = logic.Var(i)
		}
		clauses = append(clauses, logic.NewClause(compound(of.Name, args), nil))
	}
	return logic.NewProgram(clauses)
}

// coversNegative reports whether a rule covers an example of another class.
func (m *Model) coversNegative(ctx context.Context, own *logic.Program, rule *logic.Clause, a *asked) (bool, error) {
	class := slices.Index(m.classes(), logic.Belongs)
	for r, c := range a.table.Columns[m.target].Codes {
		if int(c) == class || c < 0 {
			continue
		}
		body, ok := rule.Instance(a.tuple(r))
		if !ok {
			continue
		}
		holds, err := own.Holds(ctx, body, logic.Limits{Steps: mostProofSteps})
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err == nil && holds {
			return true, nil
		}
	}
	return false, nil
}

// computing is the clauses of the theory that rules may call: all but those of the
// target itself.
func (m *Model) computing() []*logic.Clause {
	theory, err := m.lesson.Settings.theory()
	if err != nil || m.lesson.Settings.Theory == "" || m.lesson.Settings.Algorithm != EBGName {
		return nil
	}
	name, _ := m.head(0)
	return slices.DeleteFunc(slices.Clone(theory.Clauses), func(c *logic.Clause) bool {
		of, _ := logic.Literal{Atom: c.Head}.Predicate()
		return of.Name == name
	})
}

// Remark is what an explanation-based learner has to say of its theory.
type Remark struct {
	Example string `json:"example"`
	What    string `json:"what"` // unexplained or wrong
	Why     string `json:"why,omitempty"`
}

func (r Remark) String() string {
	if r.What == "wrong" {
		return "the theory proves " + r.Example + ", which is not so"
	}
	if r.Why != "" {
		return "the theory cannot explain " + r.Example + ": " + r.Why
	}
	return "the theory cannot explain " + r.Example
}

// mostRemarks is how many examples are remarked on.
const mostRemarks = 20

// elsewhere says what else may be tried where clauses do not tell all.
func (m *Model) elsewhere() string {
	tables := len(m.linked.Tables) > 0
	switch {
	case m.Learner() == FoilName && tables:
		return "another learner (progol) looks elsewhere, lookahead=4 for longer steps"
	case m.Learner() == FoilName:
		return "other learners (golem, progol) look elsewhere, noise=none asks for exact clauses, lookahead=3 for longer steps"
	case m.Learner() == ProgolName:
		return "other learners (foil, golem) look elsewhere, depth=3 at what is further away, nodes=3000 at more clauses"
	case m.Learner() == GolemName && tables:
		return "other learners (foil, progol) follow links from one row to many"
	case m.Learner() == GolemName:
		return "other learners (foil, progol) look elsewhere, pairs=20 at more examples"
	}
	return "other learners (foil, golem, progol) look elsewhere"
}

// unsolved says what clauses do not tell of a program's examples, and why.
func (m *Model) unsolved() []fmt.Stringer {
	class := slices.Index(m.classes(), logic.Belongs)
	if m.linked != nil && len(m.linked.Tables) > 0 && len(m.list) == 0 {
		return []fmt.Stringer{remark("no clause was found that tells the classes apart better than how frequent they are; " + m.elsewhere())}
	}
	if m.linked == nil || len(m.linked.Tables) > 0 || class < 0 || len(m.classes()) != 2 {
		return nil
	}
	missed, wrong := m.rest[class], 0.0
	for i := range m.list {
		wrong += m.list[i].First[1-class]
	}
	elsewhere := m.elsewhere()
	positives, negatives := m.all[class], m.all[1-class]
	switch {
	case missed == 0 && wrong == 0:
		return nil
	case len(m.list) == 0:
		return []fmt.Stringer{remark(fmt.Sprintf("no clause was found: none tells enough of the %.4g positive examples from the %.4g negative ones to be shorter than naming them; %s", positives, negatives, elsewhere))}
	}
	return []fmt.Stringer{remark(fmt.Sprintf("not all is told: clauses leave out %.4g of %.4g positive examples and cover %.4g of %.4g negative ones, as noise does or what the background does not say; no clause was found that says more than it takes to write; %s", missed, positives, wrong, negatives, elsewhere))}
}

// Remarks names the positive examples that the theory cannot explain, and the negative
// ones that it proves: it is incomplete there, or wrong; and says where one has nothing
// to propose.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	s := m.lesson.Settings
	if s.Algorithm == PlanName && len(m.list) > 0 {
		return []fmt.Stringer{remark(m.list[0].Note)}, nil
	}
	if s.Algorithm != EBGName {
		unheard, err := m.unheard(context.Background())
		return append(unheard, m.unsolved()...), err
	}
	if m.linked == nil || s.Theory == "" {
		return nil, nil
	}
	theory, err := s.theory()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	db := compiled(m.linked)
	if db.program == nil {
		return nil, nil
	}
	th := logic.NewTheory(theory, db.program, nil)
	a := &asked{table: t, target: m.target}
	class := slices.Index(m.classes(), logic.Belongs)
	name, _ := m.head(max(class, 0))
	var all []fmt.Stringer
	for r, c := range t.Columns[m.target].Codes {
		goal := compound(name, a.tuple(r))
		proof, err := th.Explain(ctx, goal, s.Negation == "yes", logic.Limits{Steps: mostProofSteps})
		switch proved := err == nil && proof != nil; {
		case len(all) == mostRemarks:
			return all, nil
		case int(c) == class && !proved:
			r := Remark{Example: logic.Format(goal, nil), What: "unexplained"}
			switch {
			case err != nil:
				r.Why = err.Error()
			case s.Negation != "yes":
				if proof, err := th.Explain(ctx, goal, true, logic.Limits{Steps: mostProofSteps}); err == nil && proof != nil {
					r.Why = "it stands on what cannot be proved, which negation=yes allows"
				}
			}
			all = append(all, r)
		case int(c) != class && proved:
			all = append(all, Remark{Example: logic.Format(goal, nil), What: "wrong"})
		}
	}
	return all, nil
}

package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/logic/plan"
	"github.com/accrete-ml/accrete/table"
)

// PlanName is what learning to plan is registered as.
const PlanName = "plan"

func init() {
	learn.Register(learn.Info{
		Name:     PlanName,
		Summary:  "problems solved by operators, and rules that make the search for it shorter (PRODIGY, SOAR, STRIPS)",
		Source:   "Minton 1988; Laird, Rosenbloom & Newell 1986; Fikes, Hart & Nilsson 1972; Mitchell 1997, §11.4",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "the problems and the operators, by source",
		New:      func() learn.Learner { return &Plan{} },
		Decode:   decode,
	})
}

// Plan solves problems by operators (package plan). A problem is an example of two
// places, the situation and what is to hold, both lists of facts: pos if there is a plan,
// neg if there is none. It learns from the search for the plans of those that have one,
// and keeps rules that save more of it than they cost.
//
// Learning costs the search for each plan, which can be exponential in its length, and
// a second search with each rule on trial.
type Plan struct {
	Method string `set:"learn" default:"rules" oneof:"rules|chunks|macros|all|none" doc:"what is learnt: rules from failures (PRODIGY), chunks from choices that were resolved (SOAR), macros of acts (STRIPS), all, or none"`
	Keep   string `set:"keep" default:"useful" oneof:"useful|all" doc:"only rules that save more of the search than they cost (useful), or all"`
	Work   int    `set:"work" default:"2000000" doc:"tests that the search for one plan may take"`
}

// Check refuses settings that make no sense.
func (l *Plan) Check() error {
	if l.Work < 0 || l.Work > 1e12 {
		return fmt.Errorf("work=%d: expected a number of tests from 1", l.Work)
	}
	return nil
}

// Learn learns from the task's problems.
func (l *Plan) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	s := settings{Algorithm: PlanName, Operational: l.Method, Negation: l.Keep, Nodes: l.Work, M: 1}
	return learnTask(ctx, task, s)
}

// planner is what solves the problems of a model.
type planner struct {
	domain  *plan.Domain
	control *plan.Control
	limits  plan.Limits
}

// planner returns what the operators of a program and rules of control make of one.
func (m *Model) planner(program *logic.Program) (*planner, error) {
	domain, err := plan.NewDomain(program)
	if err != nil {
		return nil, err
	}
	var rules []*logic.Clause
	for i := 1; i < len(m.list); i++ {
		rules = append(rules, m.clause(nil, i))
	}
	control, err := plan.NewControl(rules)
	return &planner{domain, control, m.planLimits()}, err
}

func (m *Model) planLimits() plan.Limits { return plan.Limits{Work: m.lesson.Settings.Nodes} }

// isPlanned reports whether problems are solved for rows: they stand in two lists.
func (m *Model) isPlanned(db *database) bool {
	return m.lesson.Settings.Algorithm == PlanName && db.program != nil && m.arity == 2
}

// planAll learns from the problems that have a plan.
func (m *Model) planAll(ctx context.Context, db *database, t *table.Table) error {
	class := slices.Index(m.classes(), logic.Belongs)
	if m.linked != nil && !m.isPlanned(db) {
		return fmt.Errorf("%s: a problem is an example of two places, pos(name([facts],[goals])), beside operators in bk.pl", PlanName)
	}
	if m.linked == nil || class < 0 {
		return m.assemble(ctx, t)
	}
	domain, err := plan.NewDomain(db.program)
	if err != nil {
		return err
	}
	a := &asked{table: t, target: m.target}
	var problems []*plan.Problem
	for r, c := range t.Columns[m.target].Codes {
		if int(c) != class {
			continue
		}
		args := a.tuple(r)
		p, err := plan.NewProblem(args[0], args[1])
		if err != nil {
			return err
		}
		problems = append(problems, p)
	}
	s := m.lesson.Settings
	method := plan.Method(s.Operational)
	if method == "" {
		method = plan.Rules
	}
	learnt, err := domain.Learn(ctx, problems, method, s.Negation != "all", m.planLimits())
	if err != nil {
		return err
	}
	name, _ := m.head(class)
	none := make([]float64, len(m.all))
	m.list = append(m.list, listed{Class: class, First: slices.Clone(none), Note: learnt.String(), Text: name + "(A,B) :- plan(A,B,C)."})
	for i, c := range learnt.Control.Rules() {
		m.list = append(m.list, listed{Class: class, First: slices.Clone(none), Text: c.String(), Note: fmt.Sprintf("saves %d tests", learnt.Saves[i])})
	}
	return m.assemble(ctx, t)
}

// solve returns the plan for a problem; nil acts and false if none was found.
func (p *planner) solve(ctx context.Context, args []logic.Term) (acts []logic.Term, solved bool, err error) {
	problem, err := plan.NewProblem(args[0], args[1])
	if err != nil {
		return nil, false, err
	}
	result, err := p.domain.Solve(ctx, problem, p.control, p.limits)
	if err != nil {
		return nil, false, err
	}
	return result.Plan, result.Solved, nil
}

// plans finds for each row whether there is a plan: the first clause answers then.
func (a *asked) plans(ctx context.Context, first []int, clauses int) error {
	for r := range first {
		_, solved, err := a.planner.solve(ctx, a.tuple(r))
		if err != nil {
			return fmt.Errorf("row %d: %w", r+1, err)
		}
		if first[r] = clauses; solved {
			first[r] = 0
		}
	}
	return nil
}

// Planned answers what a model that plans is asked: name([facts],[goals]) whether there
// is a plan, plan([facts],[goals],Plan) for the plan.
func (m *Model) Planned(ctx context.Context, question string) (s *logic.Solution, is bool, err error) {
	base := m.base(nil)
	if !m.isPlanned(base) {
		return nil, false, nil
	}
	goal, names, err := logic.ReadGoal(question)
	if err != nil {
		return nil, true, err
	}
	name, _ := m.head(0)
	var c *logic.Compound
	if len(goal) == 1 && !goal[0].Negated {
		c, _ = goal[0].Atom.(*logic.Compound)
	}
	if c == nil || !(c.Functor == name && len(c.Args) == 2 || c.Functor == PlanName && len(c.Args) == 3) || len(names) > len(c.Args)-2 {
		return nil, true, fmt.Errorf("a planner is asked %s([facts],[goals]) or plan([facts],[goals],Plan)", name)
	}
	p, err := m.planner(base.program)
	if err != nil {
		return nil, true, err
	}
	acts, solved, err := p.solve(ctx, c.Args)
	if err != nil || !solved {
		return logic.NewSolution(nil), true, err
	}
	return logic.NewSolution(names, logic.Found{Values: []string{plan.Format(acts)}, Why: steps(acts)}), true, nil
}

// steps writes acts line by line.
func steps(acts []logic.Term) string {
	var b strings.Builder
	for i, a := range acts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, logic.Format(a, nil))
	}
	if len(acts) == 0 {
		b.WriteString("all goals hold already\n")
	}
	return b.String()
}

// remark is a line about what was learnt.
type remark string

func (r remark) String() string { return string(r) }

package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Proposal is the condition of a theory that tells most of a class, its literals by the
// columns that they test.
type Proposal struct {
	Columns            []string
	Gain               float64
	Positive, Negative float64 // rows that it covers, of the class and of others
	Wins               bool    // over every literal alone
}

// Propose returns what FOCL takes from a theory for a clause that concludes a class,
// pruned: for one without conditions, or for one that begins with columns of zeros and
// ones which are 0.
func Propose(ctx context.Context, l *Focl, task learn.Task, value string, zero ...string) (Proposal, error) {
	if err := l.Check(); err != nil {
		return Proposal{}, err
	}
	rows := task.Table
	m := &Model{lesson: lesson{Settings: l.settings(), Target: task.Target}, arity: 1}
	if err := m.prepare(rows.Schema, nil); err != nil {
		return Proposal{}, err
	}
	class := slices.Index(m.classes(), value)
	if class < 0 {
		return Proposal{}, fmt.Errorf("no class %q; expected one of %q", value, m.classes())
	}
	f := m.proposing(ctx, rows, class)
	from := f.begin(everything(rows.Rows()))
	for _, column := range zero {
		r := f.db.byName[column]
		if r == nil || !r.numeric() {
			return Proposal{}, fmt.Errorf("no column %q of numbers", column)
		}
		from = f.extend(from, literal{relation: r, args: []int{0}, op: atMost}, false)
	}
	c := &chosen{search: f, from: from, most: 1}
	if f.propose(from, c); len(c.steps) == 0 {
		return Proposal{}, fmt.Errorf("the theory proposes no condition of %s = %s", task.Target, value)
	}
	best := &c.steps[0]
	p := Proposal{Gain: best.gain, Positive: best.counts.ep, Negative: best.counts.en}
	for _, l := range best.literals {
		p.Columns = append(p.Columns, l.relation.name)
	}
	steps, _ := f.steps(from, 1)
	p.Wins = slices.EqualFunc(steps[0].literals, best.literals, func(a, b literal) bool { return a.equals(&b) })
	return p, f.err
}

// proposing is a search for a class, to which the theory proposes.
func (m *Model) proposing(ctx context.Context, rows *table.Table, class int) *search {
	db, x := alone().over(rows, m.target)
	f := &search{ctx: ctx, db: db, examples: x, options: options{lookahead: 1, news: 1, literals: 12, variables: 64, beam: 1, negation: true, exact: true}}
	for r, c := range rows.Columns[m.target].Codes {
		f.positive, f.weight = append(f.positive, int(c) == class), append(f.weight, rows.Weight(r))
	}
	f.proposed = m.proposals(db, class)
	return f
}

package relation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// FoilName is what the learner is registered as.
const FoilName = "foil"

func init() {
	learn.Register(learn.Info{
		Name:    FoilName,
		Summary: "clauses over linked tables or a logic program, one by one, each covering what the others leave",
		Source:  "Quinlan 1990; Quinlan & Cameron-Jones 1993; Mitchell 1997, §10.5",
		Takes:   learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Relations: true},
		Can:     learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true, Draw: true, Question: true},
		// Clauses are a function of all rows and facts, which are kept.
		Contract: learn.Exact,
		Keeps:    "the rows and the tables or facts around them, by source",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner is FOIL (Quinlan 1990; Mitchell 1997, table 10.4). Clauses for a class are
// learnt one by one until they cover its examples; each begins without a body and
// gets, as long as it covers examples of other classes, the literals of the greatest
// gain,
//
//	t·( log₂ p₁/(p₁+n₁) − log₂ p₀/(p₀+n₀) ),
//
// where p and n count the bindings of the clause's variables, or the examples that it
// covers, before and after, and t those positive ones that are left. Literals that only
// lead on are tried together with what may follow them. Of the clauses on the way the
// one is taken that saves most bits, and its literals are pruned.
//
// A literal of the relation itself is allowed where one of its arguments is reached
// from the same argument of the head through literals of one relation that leads
// nowhere back, the same in all clauses, so that what is learnt ends. Before that whole
// programs are tried (programs).
//
// Of tables with many rows a clause is looked for among 4,096 that are to be covered and
// 8,192 that are not, evenly chosen, and must be worth it over all.
//
// The cost of a step is that of the bindings, times the relations.
type Learner struct {
	Negation    string   `set:"negation" default:"auto: of tables; of programs, if nothing else does" oneof:"auto|yes|no" doc:"negated literals"`
	Recursion   string   `set:"recursion" default:"auto: if the bias says so" oneof:"auto|yes|no" doc:"literals of the relation that is learnt, guarded so that they end"`
	Count       string   `set:"count" default:"auto: examples of tables, bindings of programs" oneof:"auto|examples|bindings" doc:"what the gain of a literal counts"`
	Noise       string   `set:"noise" default:"auto: mdl for tables; of programs, what describes the examples best" oneof:"auto|none|mdl" doc:"clauses cover no example of another class (none), or save bits (mdl)"`
	Lookahead   int      `set:"lookahead" default:"3 of tables, 2 of programs" doc:"literals that may be added at once, all but the last with new variables"`
	New         int      `set:"new" default:"2 of programs, 1 of tables" doc:"new variables of one literal"`
	Literals    int      `set:"literals" default:"12" doc:"literals of one clause"`
	Beam        int      `set:"beam" default:"1, and one to other rows beside it; 8 of few examples" doc:"clauses that are followed at once"`
	M           *float64 `set:"m" default:"1" doc:"rows more, of all classes as they are frequent, that a probability counts"`
	Determinate string   `set:"determinate" default:"off" doc:"new variables have one value for each binding, are at most i links from the head, and decided by at most j variables: i,j, as in 2,1"`
	Forms
	Weigh string `set:"weigh" default:"first" oneof:"first|calibrated" doc:"the first clause that covers a row answers, or all that do together, weighed by a rule network and tempered by rows that were left out"`
}

// Check refuses settings that make no sense.
func (l *Learner) Check() error {
	for key, n := range map[string]int{"lookahead": l.Lookahead, "new": l.New, "literals": l.Literals, "beam": l.Beam} {
		if n < 0 || n > 100 {
			return fmt.Errorf("%s=%d: expected a number from 1 to 100", key, n)
		}
	}
	if l.M != nil && !(*l.M >= 0 && *l.M <= 1e9) {
		return fmt.Errorf("m=%v: expected a number from 0", *l.M)
	}
	_, err := readDeterminacy(l.Determinate)
	return err
}

// settings are those of a learner, comparable and saved.
type settings struct {
	Negation  string  `cbor:"negation"`
	Recursion string  `cbor:"recursion"`
	Count     string  `cbor:"count"`
	Noise     string  `cbor:"noise"`
	Lookahead int     `cbor:"lookahead"`
	New       int     `cbor:"new"`
	Literals  int     `cbor:"literals"`
	Beam      int     `cbor:"beam"`
	M         float64 `cbor:"m"`

	Algorithm   string `cbor:"algorithm,omitempty"` // "" is foil
	Theory      string `cbor:"theory,omitempty"`
	Operational string `cbor:"operational,omitempty"`
	Collect     bool   `cbor:"collect,omitempty"`
	Nodes       int    `cbor:"nodes,omitempty"`
	Weigh       string `cbor:"weigh,omitempty"`
	Assume      string `cbor:"assume,omitempty"`
	Told        string `cbor:"told,omitempty"` // clauses, see told
	Schemata    string `cbor:"schemata,omitempty"`
	Grammar     string `cbor:"grammar,omitempty"`
	Determinate string `cbor:"determinate,omitempty"`
}

func (l *Learner) settings() settings {
	s := settings{
		Negation: cmp.Or(l.Negation, "auto"), Recursion: cmp.Or(l.Recursion, "auto"), Count: cmp.Or(l.Count, "auto"), Noise: cmp.Or(l.Noise, "auto"),
		Lookahead: l.Lookahead, New: l.New, Literals: cmp.Or(l.Literals, 12), Beam: l.Beam, M: 1,
	}
	l.bound(&s)
	s.Determinate = l.Determinate
	if l.M != nil {
		s.M = *l.M
	}
	if l.Weigh == calibrated {
		s.Weigh = calibrated
	}
	return s
}

// keeps checks settings that were saved; rows are always kept.
func (s *settings) keeps() (bool, error) {
	l := Learner{Lookahead: s.Lookahead, New: s.New, Literals: s.Literals, Beam: s.Beam, M: &s.M}
	if !slices.Contains([]string{"", EBGName, ProgolName, GolemName, FoclName, PlanName, CigolName}, s.Algorithm) || s.Nodes < 0 {
		return false, fmt.Errorf("no learner is called %q", s.Algorithm)
	}
	if _, err := s.theory(); err != nil {
		return false, err
	}
	if _, err := s.told(); err != nil {
		return false, err
	}
	return true, l.Check()
}

// Learn learns the clauses of the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return learnTask(ctx, task, l.settings())
}

// learnTask learns a task's rows, with what they point at.
func learnTask(ctx context.Context, task learn.Task, s settings) (learn.Model, error) {
	rows, err := kept.Gather(ctx, task, cmp.Or(s.Algorithm, FoilName), table.Nominal)
	if err != nil {
		return nil, err
	}
	if s, err = s.advised(task.Advice.Theory, task.Table.Schema, task.Target); err != nil {
		return nil, err
	}
	theory, err := s.theory()
	if err != nil {
		return nil, err
	}
	if err := theory.Understood(); err != nil {
		return nil, fmt.Errorf("theory: %w", err)
	}
	around, err := (&surroundings{}).with(ctx, task.Source, task.Table.Linked)
	if err != nil {
		return nil, err
	}
	return learned(learnRows(ctx, rows, around, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target}))
}

// learned is a model or an error, never both.
func learned(m *Model, err error) (learn.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// learnRows is the algorithm: a function of the rows, what is around them, and the
// settings.
func learnRows(ctx context.Context, rows *kept.Rows, around *surroundings, l lesson) (*Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	linked, err := around.linked(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, around: around}
	if err := m.prepare(t.Schema, linked); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(t.Columns[m.target].Codes, func(c int32) bool { return c >= 0 }) {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", l.Target)
	}
	if err := m.learn(ctx, t); err != nil {
		return nil, err
	}
	if err := m.weigh(ctx, t); err != nil {
		return nil, err
	}
	return m, nil
}

// prepare sets what follows from the rows and what is around them.
func (m *Model) prepare(schema *table.Schema, linked *table.Linked) error {
	m.schema = &table.Schema{Attributes: schema.Attributes}
	if linked != nil {
		m.schema.Linked, m.schema.Keys = linked.Of, linked.Keys()
	}
	m.linked = linked
	if m.target = m.schema.Index(m.lesson.Target); m.target < 0 || m.schema.Attributes[m.target].Kind != table.Nominal {
		return fmt.Errorf("the rows have no classes %q", m.lesson.Target)
	}
	return nil
}

// base is the database around the rows.
func (m *Model) base(l *table.Linked) *database {
	if l == nil {
		l = m.linked
	}
	if l == nil {
		return alone()
	}
	return compiled(l)
}

// learn learns clauses for all classes but the last, in the order of how rare they
// are, each from the rows that no clause covers so far; where another order may do, that
// which takes the fewest bits.
func (m *Model) learn(ctx context.Context, t *table.Table) error {
	db, x := m.base(m.linked).over(t, m.target)
	m.degrees(db, x)
	classes := t.Columns[m.target].Codes
	f := &search{ctx: ctx, db: db, examples: x, positive: make([]bool, t.Rows()), weight: make([]float64, t.Rows())}
	m.all = make([]float64, len(m.classes()))
	for r := range f.weight {
		f.weight[r] = t.Weight(r)
		if c := classes[r]; c >= 0 {
			m.all[c] += f.weight[r]
		}
	}
	m.writer = newWriter(db)
	m.arity = len(x.places)
	switch m.lesson.Settings.Algorithm {
	case EBGName:
		return m.explainAll(ctx, db, t)
	case PlanName:
		return m.planAll(ctx, db, t)
	}
	left := everything(t.Rows())
	left = slices.DeleteFunc(left, func(e int32) bool { return classes[e] < 0 || f.weight[e] <= 0 })
	err := m.bounded(f)
	if err != nil {
		return err
	}
	if left, err = m.hear(f, left); err != nil {
		return err
	}
	told, least := m.list, math.Inf(1)
	for _, order := range m.orders() {
		list, bits, wrong := m.cover(f, order, left, classes, told)
		if f.err != nil {
			return f.err
		}
		if bits < least {
			m.list, least = list, bits
		}
		if wrong == 0 {
			break
		}
	}
	learn.Report(ctx, 1)
	return m.assemble(ctx, t)
}

// cover learns clauses for classes, one after another, behind those that were told. It
// returns them, the bits that say them and what they get wrong, and how much that is.
func (m *Model) cover(f *search, order []int, left, classes []int32, told []listed) (list []listed, bits, wrong float64) {
	db := f.db
	list = slices.Clip(told)
	for _, class := range order {
		for r := range f.positive {
			f.positive[r] = classes[r] == int32(class)
		}
		f.target, f.proposed = nil, m.proposals(db, class)
		f.showDegrees(left)
		if db.program != nil && m.recursive(db) {
			f.target = f.extension(db.bias.Head.Name)
		}
		set, whole := m.clauses(f, left)
		if f.err != nil {
			return nil, 0, 0
		}
		b, w := f.description(set, left)
		bits, wrong = bits+b, wrong+w
		said := list
		for _, c := range set {
			named := db.named(shortest(c.body))
			if slices.ContainsFunc(said, func(l listed) bool { return l.Class == class && slices.EqualFunc(l.Body, named, Condition.equal) }) {
				continue // it was told
			}
			list = append(list, listed{Class: class, Body: named, First: make([]float64, len(m.all))})
			if whole {
				continue
			}
			left = slices.DeleteFunc(slices.Clone(left), f.coverage(c.body, len(left)))
		}
	}
	return list, bits, wrong
}

// clauses learns those of one class by the algorithm of the settings; whole ones answer
// together, by the prover.
func (m *Model) clauses(f *search, left []int32) (set []*found, whole bool) {
	switch s := m.lesson.Settings; s.Algorithm {
	case ProgolName:
		return f.progol(left, s), false
	case CigolName:
		return f.cigol(left, s), false
	case GolemName:
		return f.golem(left, s), false
	default:
		return f.either(left, s, func() []options { return m.ways(f.db, len(left)) })
	}
}

// assemble counts what each clause is the first to cover.
func (m *Model) assemble(ctx context.Context, t *table.Table) error {
	m.rest = make([]float64, len(m.all))
	a, err := m.ask(t)
	if err != nil {
		return err
	}
	first := make([]int, t.Rows())
	if err := a.matches(ctx, first); err != nil {
		return err
	}
	for r, class := range t.Columns[m.target].Codes {
		switch {
		case class < 0:
		case first[r] < len(m.list):
			m.list[first[r]].First[class] += t.Weight(r)
		default:
			m.rest[class] += t.Weight(r)
		}
	}
	m.derive()
	return nil
}

// orders are the classes that clauses may be learnt for: of a program's examples those
// that belong, else all but the most frequent one, the rarest first. Of two classes of
// rows either may be the one that clauses can say: that all orders are small is no clause,
// and that one of them is large is.
func (m *Model) orders() [][]int {
	var order []int
	for c, w := range m.all {
		if w > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.all[a], m.all[b]) })
	if len(order) == 0 {
		return nil
	}
	if m.linked != nil && len(m.linked.Tables) == 0 {
		if c := slices.Index(m.classes(), "pos"); c >= 0 && len(m.classes()) == 2 {
			return [][]int{{c}}
		}
	}
	if a := m.lesson.Settings.Algorithm; len(order) == 2 && (a == "" || a == ProgolName || a == GolemName) {
		return [][]int{order[:1], order[1:]}
	}
	return [][]int{order[:len(order)-1]}
}

func (m *Model) recursive(db *database) bool {
	switch m.lesson.Settings.Recursion {
	case "yes":
		return true
	case "no":
		return false
	}
	return db.bias.Recursion
}

// manyExamples is from where on only one way is tried.
const manyExamples = 20000

// fewExamples is below which clauses of tables may cover next to nothing: bits are too
// few there to say much.
const fewExamples = 200

// ways are the options that the settings leave open, in the order in which they are
// tried.
func (m *Model) ways(db *database, examples int) []options {
	s := m.lesson.Settings
	o := options{lookahead: s.Lookahead, news: s.New, literals: s.Literals, beam: cmp.Or(s.Beam, 1), variables: 64}
	if s.Beam == 0 && (examples < 50 || db.program != nil && examples < fewExamples) {
		o.beam = 8
	}
	program := db.program != nil
	o.paths = s.Beam == 0 && !program && m.linked != nil
	if program {
		o.lookahead, o.news, o.bindings = cmp.Or(o.lookahead, 2), cmp.Or(o.news, 2), s.Count != "examples"
		if n := db.bias.MaxVars; n > 0 {
			o.variables = n
		}
		if n := db.bias.MaxBody; n > 0 {
			o.literals = min(o.literals, n)
		}
	} else {
		o.lookahead, o.news, o.bindings = cmp.Or(o.lookahead, 3), cmp.Or(o.news, 1), s.Count == "bindings"
	}
	o.negation = s.Negation == "yes" || s.Negation == "auto" && !program
	o.exact = s.Noise == "none" || s.Noise == "auto" && examples < fewExamples
	if !program {
		o.share, o.few, o.last = 0.25, 2, true
		ways := []options{o}
		if o.exact && s.Noise == "auto" {
			o.exact = false
			ways = append(ways, o)
		}
		return ways
	}
	o.exact, o.share = s.Noise == "none" || s.Noise == "auto" && examples < manyExamples, 0.6
	o.few = 1
	// What is so comes first, then what is not; where no clause is exact, what saves
	// bits.
	o.stepwise = s.Lookahead == 0
	var ways []options
	for _, negation := range []bool{false, true} {
		if s.Negation != "auto" && o.negation != negation {
			continue
		}
		w := o
		w.negation, w.last = negation, !m.recursive(db)
		if ways = append(ways, w); !w.last {
			w.loose, w.last = true, true
			ways = append(ways, w)
		}
	}
	if o.exact && s.Noise == "auto" {
		w := ways[len(ways)-1]
		w.exact, w.loose, w.stepwise, w.beam = false, false, false, 1
		ways = append(ways, w)
		if w.negation && s.Negation == "auto" {
			w.negation = false
			ways = append(ways, w)
		}
	}
	if slices.ContainsFunc(db.relations, func(r *relation) bool { return r.cutOnly }) {
		for _, w := range slices.Clone(ways) { // numbers are cut where nothing else tells all
			w.cuts = true
			ways = append(ways, w)
		}
	}
	return ways
}

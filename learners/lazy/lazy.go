// Package lazy learns when it is asked: rows are kept, and generalised anew for
// every row that wants an answer (Mitchell, Machine Learning, 1997, section
// 8.6). An eager learner must commit itself to one hypothesis before it knows
// what will be asked; a lazy one that draws on the same hypotheses has many
// local ones to choose from.
//
// Two ways are a setting away (base):
//
//   - id3, the default, is lazy ID3 (exercise 8.3): of the tree only the path
//     is grown that the row follows, and nothing of it is kept. With
//     choose=gain each test is the one that ID3 would take (Quinlan 1986), so
//     the answers are those of the whole tree; with choose=query it is the one
//     whose branch for this row has the least entropy (LazyDT: Friedman,
//     Kohavi and Yun 1996), and no test is spent on telling other rows apart.
//     A cell that the row does not know is never asked for. Of a number the
//     threshold of largest gain is tried; a numeric target takes variance for
//     entropy.
//   - any learner of the registry is learnt from the k rows nearest to the one
//     asked for, each with the weight that the kernel gives to its distance:
//     base=mlp is lazy BACKPROPAGATION, a network a question. Where these rows
//     are all of one class there is nothing to learn, and they answer.
//
// Distances are Euclid's over columns (HEOM, Wilson and Martinez 1997): a number
// counts |a−b|/4σ, at most 1, names that differ and cells that are missing 1.
//
// Updates are exact because rows are all there is: learning is keeping them. An
// answer costs a pass over all cells (id3: one for each test on the path, over
// the rows left, unless rows before it took the same branches; else one to find the nearest, and what the base takes for k
// rows). Its neighbours are nearest, which answers by the cases themselves, and
// tree, which grows the whole.
package lazy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "lazy"

// pathBase is the base that is built in.
const pathBase = "id3"

// Learner keeps rows, and learns when asked. Its zero value is ready to use.
type Learner struct {
	Base   string            `set:"base" default:"id3" doc:"what is learnt for each row that is asked for: id3 grows the row's own path; any other learner is learnt from the nearest rows"`
	Choose string            `set:"choose" default:"gain" oneof:"gain|query" doc:"for base=id3: the test of largest gain, as in the whole tree, or the one that leaves this row's branch with the least entropy"`
	K      int               `set:"k" default:"50" doc:"for other bases: how many of the nearest distinct rows are learnt from; all if there are fewer"`
	Kernel string            `set:"kernel" default:"tricube" oneof:"tricube|uniform" doc:"for other bases: the weight of a row falls with its distance, (1−d³)³, or not"`
	M      *float64          `set:"m" default:"2" doc:"rows of all classes in equal parts that are added where the last rows of a path, or k rows of one class, answer"`
	OfBase map[string]string `set:"base.KEY" default:"the base's own" doc:"a setting of the base, as in base.hidden=20"`
}

// settings are a learner's parameters with nothing left open.
type settings struct {
	Base   string      `cbor:"base"`
	Choose string      `cbor:"choose"`
	K      int         `cbor:"k"`
	Kernel string      `cbor:"kernel"`
	M      float64     `cbor:"m"`
	OfBase kept.Nested `cbor:"of-base,omitempty"`
}

const mostK = 100_000

// resolve fills in the defaults and checks what is left.
func (l *Learner) resolve() (settings, error) {
	s := settings{Base: cmp.Or(l.Base, pathBase), Choose: cmp.Or(l.Choose, "gain"), K: cmp.Or(l.K, 50), Kernel: cmp.Or(l.Kernel, "tricube"), M: 2}
	if l.M != nil {
		s.M = *l.M
	}
	own, err := kept.NestedOf(l.OfBase, "base", "the base")
	if err != nil {
		return s, err
	}
	s.OfBase = own
	return s, s.check()
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	switch {
	case s.Choose != "gain" && s.Choose != "query":
		return fmt.Errorf("setting choose=%s: expected gain or query", s.Choose)
	case s.Kernel != "tricube" && s.Kernel != "uniform":
		return fmt.Errorf("setting kernel=%s: expected tricube or uniform", s.Kernel)
	case s.K < 1 || s.K > mostK:
		return fmt.Errorf("setting k=%d: expected 1 to %d", s.K, mostK)
	case !(s.M > 0 && s.M <= 1e9):
		return fmt.Errorf("setting m=%v: expected a number above 0, of at most 1e9", s.M)
	}
	_, err := s.learner(true, true)
	return err
}

// learner returns a new learner of the base, nil if it is the path, for a kind
// of target.
func (s *settings) learner(classes, numbers bool) (learn.Learner, error) {
	if s.Base == pathBase {
		if s.OfBase != "" {
			return nil, fmt.Errorf("base=%s has no settings of its own, but %s is given", pathBase, strings.Split(string(s.OfBase), "\n")[0])
		}
		return nil, nil
	}
	if s.Base == Name {
		return nil, fmt.Errorf("base=%s: it would put off learning for ever; name another learner, or %s", Name, pathBase)
	}
	if _, err := learn.Lookup(s.Base); err != nil {
		return nil, fmt.Errorf("base=%s: %w (or %s, which is built in)", s.Base, err, pathBase)
	}
	return s.OfBase.Base(s.Base, classes, numbers)
}

// Check tells settings that do not go together.
func (l *Learner) Check() error {
	_, err := l.resolve()
	return err
}

// lesson is what a model is made by, besides its rows.
type lesson = kept.Lesson[settings]

// Learn keeps the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal, table.Numeric)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target})
}

// learnRows lays rows out for questions.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, table: t, schema: t.Schema, target: t.Schema.Index(l.Target)}
	if m.target < 0 || t.Schema.Attributes[m.target].Kind == table.Text {
		return nil, fmt.Errorf("no source has the target %q", l.Target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", l.Target)
	}
	if err := checkTarget(t, m.target); err != nil {
		return nil, err
	}
	isNominal := t.Schema.Attributes[m.target].Kind == table.Nominal
	if _, err := l.Settings.learner(isNominal, !isNominal); err != nil {
		return nil, err
	}
	if err := m.layOut(ctx); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// checkTarget refuses rows that cannot answer.
func checkTarget(t *table.Table, target int) error {
	name := t.Schema.Attributes[target].Name
	if slices.ContainsFunc(t.Columns[target].Codes, func(code int32) bool { return code < 0 }) || slices.ContainsFunc(t.Columns[target].Floats, table.IsMissing) {
		return fmt.Errorf("a row without a target %q was kept", name)
	}
	if i := slices.IndexFunc(t.Columns[target].Floats, func(y float64) bool { return math.IsInf(y, 0) }); i >= 0 {
		return fmt.Errorf("target %q: it is infinite in some rows (%v); leave them out or empty the cells", name, t.Columns[target].Floats[i])
	}
	return nil
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "learns when asked: the row's own path of a tree, or any learner from the nearest rows",
		Source:   "Mitchell 1997, §8.6 and exercise 8.3; Friedman, Kohavi & Yun 1996",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

package evolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Formulas is what the learner of formulas is registered as.
const Formulas = "gp"

// GP evolves formulas. Its zero value is ready to use.
//
// A hypothesis is a weighted sum of a few expressions, the weights found by least
// squares. The first generation is not left to chance alone: all short
// expressions are tried first, each value once, alone, in products of two, and
// in sums of a few (gp_short.go), then forms whose constants stand deeper: powers,
// quotients of sums, and waves (gp_forms.go). Evolution goes on from there:
// expressions are crossed and mutated, and their constants fitted by their slopes. What is kept
// is the front of error against length; the formula that answers is the
// shortest whose error on rows held out is within one standard error of the
// least.
//
// A generation costs a pass over the rows for each node of the expressions that are
// new, and a few more where constants are fitted.
type GP struct {
	Functions   string  `set:"functions" default:"+,-,*,/,^,sqrt,exp,log,sin,cos" doc:"operators and functions that formulas may have, with commas between them; also square, tan, tanh, abs, asin, acos, atan, inv"`
	Operators   string  `set:"operators" default:"plain" oneof:"plain|protected|interval" doc:"what is done against formulas that have no value for new rows: it is said (plain), they are made of operators that have one for every number, pinv, psqrt and plog in place of /, sqrt and log (protected), or interval arithmetic shows that they have one throughout the ranges of the rows (interval)"`
	Population  int     `set:"population" default:"300" doc:"formulas in a generation"`
	Generations *int    `set:"generations" default:"40" most:"1000000" doc:"generations at most; 0 tries short formulas alone"`
	Seconds     float64 `set:"seconds" default:"none" doc:"end after so many seconds with the best so far; what is learnt then depends on the machine"`
	Length      int     `set:"length" default:"40" doc:"nodes of a formula at most"`
	Terms       int     `set:"terms" default:"5" doc:"expressions of a sum at most"`
	Short       int     `set:"short" default:"60000" most:"1000000" doc:"short expressions to try before evolution, each value once"`
	Nested      bool    `set:"nested" default:"false" doc:"functions such as exp, log and sin may stand within each other, as in sin(exp(x))"`
	Units       string  `set:"units" default:"none" doc:"units of measure of columns, the target among them, as 'm:kg, s:m, t:s, F:kg*m/s^2'; columns that are not named have none. Formulas then respect them: constants are pure numbers"`
	Selection   string  `set:"selection" default:"tournament" oneof:"proportionate|tournament|rank" doc:"how formulas are chosen to breed"`
	Islands     int     `set:"islands" default:"1" doc:"populations that evolve apart, on all cores, and exchange their best every ten generations"`
	Search      string  `set:"search" default:"genetic" oneof:"genetic|program|climb|anneal" doc:"how formulas are searched: by evolution, by evolutionary programming, mutants alone, or by hill climbing or annealing with as many trials"`
	Learning    string  `set:"learning" default:"lamarck" oneof:"lamarck|baldwin|none" doc:"whether constants are fitted in a formula's life, and inherited (lamarck) or only judged (baldwin)"`
	Keep        string  `set:"keep" default:"rows" oneof:"rows|nothing" doc:"keep the rows, for update, merge and forget"`
}

// gpSettings are a learner's parameters with nothing left open.
type gpSettings struct {
	Functions   string  `cbor:"functions"`
	Operators   string  `cbor:"operators,omitempty"`
	Population  int     `cbor:"population"`
	Generations int     `cbor:"generations"`
	Seconds     float64 `cbor:"seconds,omitempty"`
	Length      int     `cbor:"length"`
	Terms       int     `cbor:"terms"`
	Short       int     `cbor:"short"`
	Nested      bool    `cbor:"nested,omitempty"`
	Units       string  `cbor:"units,omitempty"`
	Selection   string  `cbor:"selection,omitempty"`
	Islands     int     `cbor:"islands,omitempty"`
	Search      string  `cbor:"search,omitempty"`
	Learning    string  `cbor:"learning,omitempty"`
	Keep        string  `cbor:"keep"`
}

// resolve fills in the defaults and checks what is left.
func (l *GP) resolve() (gpSettings, error) {
	s := gpSettings{
		Population: cmp.Or(l.Population, 300), Generations: setting.Or(l.Generations, 40), Seconds: l.Seconds, Length: cmp.Or(l.Length, 40), Terms: cmp.Or(l.Terms, 5),
		Short: cmp.Or(l.Short, 60000), Nested: l.Nested, Units: l.Units, Keep: cmp.Or(l.Keep, "rows"),
		Selection: l.Selection, Islands: l.Islands, Search: l.Search, Learning: l.Learning, Operators: l.Operators,
	}
	s.Functions = cmp.Or(l.Functions, "+,-,*,/,^,sqrt,exp,log,sin,cos")
	return s, s.check()
}

// functions reads the operators and functions that formulas may have.
func (s *gpSettings) functions() ([]formula.Op, error) {
	known := strings.Split("+,-,*,/,^,sqrt,exp,log,sin,cos,square,tan,tanh,abs,asin,acos,atan,inv", ",")
	var all []formula.Op
	for _, name := range strings.Split(s.Functions, ",") {
		name = strings.TrimSpace(name)
		o, ok := formula.Named(name)
		if !ok {
			return nil, fmt.Errorf("setting functions: %q is no function%s; known are %s", name, spell.Hint(name, known), strings.Join(known, " "))
		}
		if s.Operators == protected {
			if o, ok = protectedForm(o); !ok {
				return nil, fmt.Errorf("setting functions: %s has no value for some numbers, and no protected form; leave it out, or take operators=interval", name)
			}
		}
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Check refuses settings that make no sense.
func (l *GP) Check() error {
	_, err := l.resolve()
	return err
}

func (s *gpSettings) check() error {
	for key, value := range map[string]string{"keep": s.Keep, "selection": cmp.Or(s.Selection, "tournament"), "search": cmp.Or(s.Search, "genetic"), "learning": cmp.Or(s.Learning, "lamarck"), "operators": cmp.Or(s.Operators, "plain")} {
		if err := learn.Set(&GP{}, key, value); err != nil {
			return err
		}
	}
	if s.rivalled() && (s.Islands > 1 || cmp.Or(s.Selection, s.Learning) != "") {
		return fmt.Errorf("setting search=%s: selection, islands and learning are for search=genetic", s.Search)
	}
	for _, w := range []struct {
		key          string
		x, low, high float64
	}{
		{"population", float64(s.Population), 4, mostPopulation}, {"generations", float64(s.Generations), 0, mostGenerations}, {"seconds", s.Seconds, 0, 1e6},
		{"length", float64(s.Length), 3, 1000}, {"terms", float64(s.Terms), 1, 20}, {"short", float64(s.Short), 1, 1_000_000},
		{"islands", float64(max(1, s.Islands)), 1, mostIslands}, // models of before have none
	} {
		if err := within(w.key, w.x, w.low, w.high); err != nil {
			return err
		}
	}
	if nodes := s.Population * s.Length * max(1, s.Islands); nodes > 20_000_000 {
		return fmt.Errorf("settings population=%d and length=%d make %d nodes on all islands; expected at most 20000000", s.Population, s.Length, nodes)
	}
	if _, err := readUnits(s.Units); err != nil {
		return err
	}
	if _, err := s.functions(); err != nil {
		return err
	}
	return nil
}

// rivalled reports whether a rival of evolution searches.
func (s *gpSettings) rivalled() bool { return s.Search != "" && s.Search != "genetic" }

func (s *gpSettings) keeps() (bool, error) { return s.Keep == "rows", s.check() }

// Learn evolves formulas from the task's rows.
func (l *GP) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := kept.Gather(ctx, task, Formulas, table.Nominal, table.Numeric)
	if err != nil {
		return nil, err
	}
	return learnFormulas(ctx, rows, kept.Lesson[gpSettings]{Format: gpFormat, Settings: s, Seed: task.Seed, Target: task.Target})
}

// learnFormulas evolves formulas from rows that were gathered: one of a number
// or of two classes, one for each of more.
func learnFormulas(ctx context.Context, rows *kept.Rows, lesson kept.Lesson[gpSettings]) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	target := t.Schema.Index(lesson.Target)
	if target < 0 {
		return nil, fmt.Errorf("no source has the target %q", lesson.Target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", lesson.Target)
	}
	d, err := newData(ctx, t, target, &lesson)
	if err != nil {
		return nil, err
	}
	m := &Formula{lesson: lesson, rows: rows, schema: t.Schema, target: target, inputs: d.inputs, rowWeight: d.total}
	evolving, release := enough.Heed(ctx, lesson.Settings.Seconds)
	defer release()
	targets := d.targets()
	for i, y := range targets {
		s := newSearch(d, y, &lesson.Settings, lesson.Seed+uint64(i)*7919, func(f float64) {
			learn.Report(ctx, 0.98*(float64(i)+f)/float64(len(targets)))
		})
		a, err := s.answer(evolving, ctx)
		if err != nil {
			return nil, err
		}
		m.answers = append(m.answers, *a)
	}
	m.summarise(d)
	if lesson.Settings.Keep == "nothing" {
		m.rows = nil
	}
	learn.Report(ctx, 1)
	return m, ctx.Err()
}

func init() {
	learn.Register(learn.Info{
		Name:     Formulas,
		Summary:  "formulas that evolve (genetic programming): a front of error against length, constants fitted, units respected",
		Source:   "Koza 1992; Keijzer 2003; Mitchell 1997, section 9.5",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Draw: true, Keep: true, Grow: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (keep=nothing: only the formulas)",
		New:      func() learn.Learner { return &GP{} },
		Decode:   decodeFormulas,
	})
}

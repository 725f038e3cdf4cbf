package life_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

func newHome(t testing.TB) *life.Home {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &life.Home{Store: s, Seed: 1}
}

// kindOfTable is what a random table is made for.
type kindOfTable struct{ numericTarget, numericColumns, missing bool }

// randomCSV draws a table of a few columns, the last of which is y.
func randomCSV(t *rapid.T, k kindOfTable) string {
	rows := rapid.IntRange(20, 60).Draw(t, "rows")
	var b strings.Builder
	b.WriteString("a,b,c,y\n")
	names := []string{"red", "green", "<=50K", "it's \"\"odd\"\""}
	for range rows {
		var cells []string
		for j := range 3 {
			switch {
			case k.missing && rapid.IntRange(0, 9).Draw(t, "gone") == 0:
				cells = append(cells, "?")
			case k.numericColumns && j > 0:
				cells = append(cells, fmt.Sprint(rapid.IntRange(-20, 20).Draw(t, "x")))
			default:
				cells = append(cells, `"`+names[rapid.IntRange(0, len(names)-1).Draw(t, "name")]+`"`)
			}
		}
		if k.numericTarget {
			cells = append(cells, fmt.Sprintf("%.3f", rapid.Float64Range(-5, 5).Draw(t, "y")))
		} else {
			cells = append(cells, []string{"no", "yes", "may be"}[rapid.IntRange(0, 2).Draw(t, "class")])
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.String()
}

// summaries are the learners whose rules are a summary, whatever the rows.
var summaries = []string{"learnpp", "belief", "markov", "kbann", "q"}

// TestPrintedBasesAnswerAgain: what a model prints with its schema, imported,
// answers as the model does to 1e-12, for every learner whose rules are exact:
// classes, numbers with their intervals, and questions for any column where the
// model can be asked, also without a target, and with rules that an expert told.
func TestPrintedBasesAnswerAgain(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		was := flag.Lookup("rapid.checks").Value.String()
		_ = flag.Set("rapid.checks", "20")
		defer flag.Set("rapid.checks", was)
	}
	dir := t.TempDir()
	data, text := filepath.Join(dir, "d.csv"), filepath.Join(dir, "m.rules")
	for _, info := range learn.All() {
		if !info.Can.Rules || slices.Contains(summaries, info.Name) {
			continue
		}
		for i, takes := range []bool{info.Takes.Classes, info.Takes.Regression, info.Takes.Density} {
			numeric, density := i == 1, i == 2
			if !takes || info.Name == "linear" && numeric { // no rule says how its intervals widen
				continue
			}
			name := []string{"false", "true", "density"}[i]
			t.Run(info.Name+"/"+name, func(t *testing.T) {
				h := newHome(t)
				rapid.Check(t, func(r *rapid.T) {
					k := kindOfTable{numericTarget: numeric, numericColumns: info.Takes.Numeric && rapid.Bool().Draw(r, "numbers"), missing: rapid.Bool().Draw(r, "missing")}
					if err := os.WriteFile(data, []byte(randomCSV(r, k)), 0o600); err != nil {
						r.Fatal(err)
					}
					target := "y"
					if density {
						target = ""
					}
					p := learnt(r, h, data, info.Name, target)
					if !numeric && !density && rapid.Bool().Draw(r, "told") {
						rules := "IF a = red THEN y = yes WITH 0.8 WORTH 7.5\nIF a IN {red, green} THEN y = no WORTH 3\nIF b IS KNOWN THEN y = no WITH 0.6 WORTH 2"
						var err error
						if p, err = h.TellInMemory(context.Background(), p, life.Rules{File: "expert", Text: []byte(rules)}); err != nil {
							r.Skip(err) // a table may lack one of the names
						}
					}
					answersAgain(r, h, p, data, text)
				})
			})
		}
	}
}

func learnt(t *rapid.T, h *life.Home, file, learner, target string) *life.Part {
	d, err := h.Find(file, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: d, Target: target, Choice: life.Choice{Learner: learner}})
	if err != nil {
		t.Fatal(learner, err)
	}
	return p
}

// answersAgain prints, imports and compares the answers for the rows of a file.
func answersAgain(t *rapid.T, h *life.Home, p *life.Part, file, text string) {
	ctx := context.Background()
	base, err := life.ReadRules(ctx, p, life.RulesOptions{Formal: true})
	if err != nil {
		t.Fatal(err)
	}
	if base == nil || slices.ContainsFunc(base.Notes, func(n string) bool { return strings.HasPrefix(n, "summary:") }) {
		t.Skip("the rules do not say all")
	}
	if err := os.WriteFile(text, []byte(base.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := h.Import(ctx, text, "again", nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, base)
	}
	d, err := h.Find(file, life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := h.ReadAs(ctx, d, p.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err = table.Conform(rows, p.Schema(), false); err != nil {
		t.Fatal(err)
	}
	want, got := learn.NewPredictions(p, rows.Rows()), learn.NewPredictions(l.Part, rows.Rows())
	if err := p.Predict(ctx, rows, want); err != nil {
		t.Fatal(err)
	}
	if err := l.Part.Predict(ctx, rows, got); err != nil {
		t.Fatal(err)
	}
	k := max(want.Classes, 1)
	for n, pair := range [][2][]float64{{want.P, got.P}, {want.Mean, got.Mean}, {want.Low, got.Low}, {want.High, got.High}} {
		for i, x := range pair[0] {
			y := pair[1][i]
			if base.CompleteOnly && !complete(rows, i/k) || vanishing(got, i/k) {
				continue
			}
			if math.Abs(x-y) > 1e-12*max(1, math.Abs(x)) {
				t.Fatalf("row %d: %v, the model printed from says %v (%s)\n%s", i/k+1, y, x, []string{"probability", "mean", "low", "high"}[n], base)
			}
		}
	}
	if asked, ok := learn.Ability[learn.Asker](p.Model); ok {
		again, ok := learn.Ability[learn.Asker](l.Part.Model)
		if !ok {
			t.Fatalf("the model can be asked, and what was printed of it cannot")
		}
		answersQuestions(t, asked, again, rows)
	}
	if e, ok := learn.Ability[learn.Explainer](l.Part.Model); ok && got.Classes > 0 {
		explainsAgain(t, e, rows, got)
	}
}

// answersQuestions: every column is told from the others by the imported base as
// by the model. Where a density is flat, modes and the share of made-up rows that
// are as rare hang on the last bits.
func answersQuestions(t *rapid.T, model, again learn.Asker, rows *table.Table) {
	for row := range min(rows.Rows(), 3) {
		for j := range rows.Columns {
			a := &model.Schema().Attributes[j]
			want, err := model.Ask(rows, row, j)
			if err != nil {
				t.Fatal(err)
			}
			if a.Open() {
				continue // nothing was ever known of it
			}
			got, err := again.Ask(rows, row, j)
			if err != nil {
				t.Fatal(err)
			}
			x := slices.Concat([]float64{want.LogDensity, want.Mean, want.Median, want.Low, want.High}, want.P)
			for i, y := range slices.Concat([]float64{got.LogDensity, got.Mean, got.Median, got.Low, got.High}, got.P) {
				if math.Abs(x[i]-y) > 1e-9*max(1, math.Abs(x[i])) {
					t.Fatalf("row %d, column %q: %+v, the model printed from says %+v", row+1, a.Name, got, want)
				}
			}
			if len(got.Modes) != len(want.Modes) || math.Abs(got.Experience-want.Experience) > 0.002 {
				t.Fatalf("row %d, column %q: %+v, the model printed from says %+v", row+1, a.Name, got, want)
			}
		}
	}
}

// vanishing reports whether a class has a probability that one way of summing
// rounds to 0 and another does not: told rules share out what they leave in the
// proportions of such.
func vanishing(p *learn.Predictions, row int) bool {
	return p.Classes > 0 && slices.ContainsFunc(p.Row(row), func(x float64) bool { return x < 1e-100 })
}

// explainsAgain: prior and evidence of an imported base add up to its answer.
func explainsAgain(t *rapid.T, m learn.Explainer, rows *table.Table, got *learn.Predictions) {
	for row := range rows.Rows() {
		e, err := m.Explain(rows, row)
		if err != nil {
			t.Fatal(err)
		}
		sums := slices.Clone(e.Prior)
		for _, v := range e.Evidence {
			sums[v.Class] += v.Weight
		}
		for c, p := range got.Row(row) {
			if math.Abs(math.Exp(sums[c]-e.Normaliser)-p) > 1e-12 {
				t.Fatalf("row %d, class %d: reasons add up to %v, the answer is %v", row+1, c, math.Exp(sums[c]-e.Normaliser), p)
			}
		}
	}
}

// complete reports whether all cells of a row but the last are known.
func complete(t *table.Table, row int) bool {
	for j := range len(t.Columns) - 1 {
		if t.Text(row, j) == "" {
			return false
		}
	}
	return true
}

// A file that is not an export says what else is imported, and by which endings.
func TestImportSaysWhatItReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.txt")
	if err := os.WriteFile(path, []byte("a -> b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newHome(t).Import(t.Context(), path, "net", nil)
	if err == nil || !strings.Contains(err.Error(), "networks (.bif, .xml, .xmlbif, .net, .arcs)") {
		t.Errorf("imported net.txt: %v", err)
	}
}

package evaluate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/bayes"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// coins is a stream of rows for many rules: the column rule says which of them
// covers a row, and right whether it is right on it.
func coins(random *rand.Rand, rules, rows int, truth func(rule, row int) float64) (*rule.Base, *table.Table) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "rule"},
		{Name: "right", Values: []string{"no", "yes"}},
	}}
	base := &rule.Base{Kind: rule.Ordered}
	for i := range rules {
		name := fmt.Sprint("r", i)
		schema.Attributes[0].Values = append(schema.Attributes[0].Values, name)
		base.Rules = append(base.Rules, rule.Rule{
			If:   []rule.Test{{Column: "rule", Op: rule.Eq, Value: name}},
			Then: rule.Conclusion{Column: "right", Value: "yes"},
		})
	}
	columns := []table.Column{{Codes: make([]int32, rows)}, {Codes: make([]int32, rows)}}
	for row := range rows {
		i := random.IntN(rules)
		columns[0].Codes[row] = int32(i)
		if random.Float64() < truth(i, row) {
			columns[1].Codes[row] = 1
		}
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return base, t
}

// runs is how often a random experiment is repeated.
func runs(normal, long int) int {
	if os.Getenv("ACCRETE_LONG") != "" {
		return long
	}
	return normal
}

// TestDriftFalseAlarms: on stable streams of 100,000 rows at most 5 % of the
// models may give any alarm. With 100 models in long mode, more than 11 alarms
// would come about with a probability below 0.5 % if the rate were 5 %; of 10
// more than 3 with 0.1 %.
func TestDriftFalseAlarms(t *testing.T) {
	models, most := runs(10, 100), runs(3, 11)
	alarms := 0
	for seed := range models {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		rates := make([]float64, 10)
		for i := range rates {
			rates[i] = random.Float64()
		}
		base, rows := coins(random, len(rates), 100_000, func(rule, _ int) float64 { return rates[rule] })
		w := NewWatch(0)
		w.Follow(base, "right", false)
		for lo := 0; lo < rows.Rows(); lo += 1000 {
			w.Add(rows.Slice(lo, lo+1000))
		}
		if len(w.Drifts()) > 0 {
			alarms++
			t.Logf("seed %d: %+v", seed, w.Drifts())
		}
	}
	if alarms > most {
		t.Errorf("%d of %d stable streams gave an alarm", alarms, models)
	}
}

// TestDriftPower: a rule that covers a tenth of the rows and goes from 0.9 to
// 0.1 is named within 2,000 rows in at least 95 of 100 runs, and no other is.
func TestDriftPower(t *testing.T) {
	n := runs(10, 100)
	late, others := 0, 0
	for seed := range n {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		change := 5000 + random.IntN(20_000)
		base, rows := coins(random, 10, change+2000, func(rule, row int) float64 {
			if rule == 3 && row >= change {
				return 0.1
			}
			return 0.9
		})
		w := NewWatch(0)
		w.Follow(base, "right", false)
		for lo := 0; lo < rows.Rows(); lo += 500 {
			w.Add(rows.Slice(lo, min(lo+500, rows.Rows())))
		}
		named := false
		for _, d := range w.Drifts() {
			if d.ID != base.Rules[3].ID() {
				others++
				continue
			}
			// It is named after a dozen covered rows or so, whose share of
			// right ones varies.
			if named = true; d.From < 0.8 || d.To > 0.6 || d.Since < change-300 || d.Since > change+400 {
				t.Errorf("seed %d, change at %d: %+v", seed, change, d)
			}
		}
		if !named {
			late++
		}
	}
	if late > n/20 || others > n/10 {
		t.Errorf("of %d runs %d were not named within 2,000 rows; %d named a rule that had not moved", n, late, others)
	}
}

// TestDriftFromEvidence: a batch that differs from what a rule was learnt from
// as a whole is seen too, from its first row on.
func TestDriftFromEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	base, rows := coins(random, 2, 400, func(rule, _ int) float64 { return []float64{0.9, 0.2}[rule] })
	covered, correct := 500.0, 450.0
	for i := range base.Rules {
		base.Rules[i].Evidence = rule.Evidence{Covered: &covered, Correct: &correct}
	}
	w := NewWatch(0)
	w.Follow(base, "right", true)
	w.Add(rows)
	d := w.Drifts()
	if len(d) != 1 || d[0].ID != base.Rules[1].ID() || d[0].From != 0.9 || d[0].Since != 1 {
		t.Errorf("named %+v", d)
	}
}

// TestDriftAfterLearning: rules that were chosen because they look good on the
// rows they were learnt from give no more false alarms when those rows count as
// evidence. Of 3 models more than 1 alarm would come about with a probability of
// 0.7 % if the rate were 5 %; for 100 see TestDriftFalseAlarms.
func TestDriftAfterLearning(t *testing.T) {
	models, most := runs(3, 100), runs(1, 11)
	for _, settings := range []map[string]string{nil, {"prune": "none"}} {
		alarms := 0
		for seed := range models {
			random := rand.New(rand.NewPCG(uint64(seed), 6))
			const rows = 100_000
			schema := &table.Schema{}
			columns := make([]table.Column, 7)
			for j := range 6 {
				schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprint("x", j), Kind: table.Numeric})
			}
			schema.Attributes = append(schema.Attributes, table.Attribute{Name: "c", Values: []string{"no", "yes"}})
			for range rows {
				for j := range 6 {
					columns[j].Floats = append(columns[j].Floats, random.Float64())
				}
				class := int32(0)
				if (columns[0].Floats[len(columns[0].Floats)-1] > 0.5) != (random.Float64() < 0.3) {
					class = 1
				}
				columns[6].Codes = append(columns[6].Codes, class)
			}
			tab, err := table.New(schema, columns, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := learn.New("tree", settings)
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Learn(t.Context(), learn.Task{Table: tab.Slice(0, 3000)}.At(6))
			if err != nil {
				t.Fatal(err)
			}
			base, err := m.(learn.Ruler).Rules()
			if err != nil {
				t.Fatal(err)
			}
			w := NewWatch(0)
			w.Follow(base, "c", true)
			w.Add(tab.Slice(3000, rows))
			if len(w.Drifts()) > 0 {
				alarms++
				t.Logf("%v, seed %d: %d rules, %+v", settings, seed, len(base.Rules), w.Drifts()[0])
			}
		}
		if alarms > most {
			t.Errorf("%v: %d of %d stable streams gave an alarm", settings, alarms, models)
		}
	}
}

// TestPrequentialDrift: rules that learners find are named when the world
// turns round, with from, to and since when, and not while it is stable.
func TestPrequentialDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	const rows, change = 12_000, 8_000
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Values: []string{"x", "y", "z"}}, {Name: "b", Kind: table.Numeric}, {Name: "c", Values: []string{"no", "yes"}},
	}}
	stable, turned := make([]table.Column, 3), make([]table.Column, 3)
	for row := range rows {
		a, b := int32(random.IntN(3)), random.Float64()
		class := int32(0)
		if (a == 0) != (random.Float64() < 0.1) {
			class = 1
		}
		stable[0].Codes, stable[1].Floats, stable[2].Codes = append(stable[0].Codes, a), append(stable[1].Floats, b), append(stable[2].Codes, class)
		if row >= change && a == 0 {
			class = 1 - class
		}
		turned[2].Codes = append(turned[2].Codes, class)
	}
	turned[0], turned[1] = stable[0], stable[1]
	for _, learner := range []string{"bayes", "tree"} {
		for _, columns := range [][]table.Column{stable, turned} {
			tab, err := table.New(schema, columns, nil)
			if err != nil {
				t.Fatal(err)
			}
			nominal := tab
			if learner == "bayes" { // whose rules are mixtures where there are numbers
				if nominal, err = table.New(&table.Schema{Attributes: []table.Attribute{schema.Attributes[0], schema.Attributes[2]}}, []table.Column{columns[0], columns[2]}, nil); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Prequential(t.Context(), Spec{
				Data: "turned", Table: nominal, Target: len(nominal.Columns) - 1, Learner: learner,
				New: func() (learn.Learner, error) { return learn.New(learner, nil) },
			}, PrequentialOptions{Batch: 500})
			if err != nil {
				t.Fatal(err)
			}
			drifts := r.Prequential.Drifts
			if &columns[0].Codes[0] == &stable[0].Codes[0] && &columns[2].Codes[0] == &stable[2].Codes[0] {
				if len(drifts) > 0 {
					t.Errorf("%s, stable: %+v", learner, drifts)
				}
				continue
			}
			named := false
			for _, d := range drifts {
				named = named || d.From > 0.8 && d.To < 0.5 && d.Since > change-300 && d.Since < change+300 && d.Seen < change+2000
			}
			if !named {
				t.Errorf("%s, turned round at %d: %+v", learner, change, drifts)
			}
		}
	}
}

func BenchmarkWatch(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 4))
	base, rows := coins(random, 100, 10_000, func(int, int) float64 { return 0.8 })
	b.ReportAllocs()
	for b.Loop() {
		w := NewWatch(0)
		w.Follow(base, "right", false)
		w.Add(rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/row·rule")
}

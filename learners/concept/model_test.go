package concept_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/concept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// learnt learns a built-in set.
func learnt(t *testing.T, name string, l *concept.Learner) (*concept.Model, *table.Table) {
	t.Helper()
	rows, set, err := datasets.Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: set.Target})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*concept.Model), rows
}

// everyDay is all 96 days.
func everyDay(t *testing.T, m *concept.Model) *table.Table {
	t.Helper()
	schema := m.Schema()
	columns := make([]table.Column, len(schema.Attributes))
	n := 1
	for i := range schema.Attributes {
		if i != m.Target() {
			n *= len(schema.Attributes[i].Values)
		}
	}
	for i := range schema.Attributes {
		columns[i].Codes = make([]int32, n)
	}
	for r := range n {
		left := r
		for i := range schema.Attributes {
			if i == m.Target() {
				columns[i].Codes[r] = table.Missing
				continue
			}
			k := len(schema.Attributes[i].Values)
			columns[i].Codes[r] = int32(left % k)
			left /= k
		}
	}
	days, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return days
}

// The ladder of biases (section 2.7.3): of the 96 days ROTE decides 4,
// candidate elimination 40 and FIND-S all.
func TestBiasLadder(t *testing.T) {
	for algorithm, want := range map[string]int{"rote": 4, "candidate": 40, "list": 40, "find-s": 96} {
		m, _ := learnt(t, "enjoy-sport", &concept.Learner{Algorithm: algorithm})
		days := everyDay(t, m)
		decided := 0
		for r := range days.Rows() {
			if m.Decides(days, r) {
				decided++
			}
		}
		if days.Rows() != 96 || decided != want {
			t.Errorf("%s decides %d of %d days, want %d of 96", algorithm, decided, days.Rows(), want)
		}
	}
}

// The query of section 2.6.2 is one of the eight days that divide the six
// hypotheses three to three: all are sunny and warm with a weak wind.
func TestQuestions(t *testing.T) {
	m, _ := learnt(t, "enjoy-sport", &concept.Learner{})
	questions, err := m.Questions(context.Background(), 9)
	if err != nil || len(questions) != 9 {
		t.Fatal(questions, err)
	}
	asked := map[string]bool{}
	for i, q := range questions {
		var cells []string
		for c := range q.Row.Columns {
			if c != m.Target() {
				cells = append(cells, q.Row.Text(0, c))
			}
		}
		day := strings.Join(cells, " ")
		asked[day] = true
		if even := q.Yes == 3 && q.No == 3; even != (i < 8) || even && (cells[0] != "Sunny" || cells[1] != "Warm" || cells[3] != "Weak") {
			t.Errorf("question %d: %s: %v against %v", i+1, day, q.Yes, q.No)
		}
	}
	if !asked["Sunny Warm Normal Weak Warm Same"] || len(asked) != 9 {
		t.Errorf("asked %v", asked)
	}
}

// The printed boundaries answer as the model does, for every day.
func TestRulesAnswerAsTheSpace(t *testing.T) {
	for _, l := range []concept.Learner{{}, {Algorithm: "find-s"}, {Algorithm: "find-g"}, {Answer: "map"}, {Algorithm: "list"}} {
		m, _ := learnt(t, "enjoy-sport", &l)
		base, err := m.Rules()
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := rule.Parse("rules", []byte(base.String()))
		if err != nil {
			t.Fatal(err)
		}
		predictor, err := rule.NewPredictor(parsed, m.Schema(), m.Target())
		if err != nil {
			t.Fatal(err)
		}
		days := everyDay(t, m)
		want, got := learn.NewPredictions(m, days.Rows()), learn.NewPredictions(m, days.Rows())
		if err := m.Predict(context.Background(), days, want); err != nil {
			t.Fatal(err)
		}
		if err := predictor.Predict(days, got.P, nil); err != nil {
			t.Fatal(err)
		}
		for i := range want.P {
			if math.Abs(want.P[i]-got.P[i]) > 1e-12 {
				t.Fatalf("%+v: day %d: the rules say %v, the space %v\n%s", l, i/2+1, got.P[i], want.P[i], base)
			}
		}
	}
}

// A space that has collapsed names the row and what to do.
func TestCollapse(t *testing.T) {
	m, _ := learnt(t, "play-tennis", &concept.Learner{})
	remarks, err := m.Remarks()
	if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0].String(), "no hypothesis of the language agrees with all rows") {
		t.Fatalf("%v, %v", remarks, err)
	}
	for settings, want := range map[concept.Learner]string{
		{Taxonomy: "outlook:a=Sunny|b,b=Rain|a"}: "above itself",
		{Taxonomy: "outlook:a=Sunny,b=Sunny"}:    "both",
		{Taxonomy: "outlook:a=Sunni"}:            `did you mean "Sunny"`,
		{Taxonomy: "outlok:a=Sunny"}:             `did you mean "outlook"`,
		{Domains: "outlook"}:                     "expected a column and its values",
		{Space: "rectangles"}:                    "has names",
		{Concept: "maybe"}:                       "no class",
		{K: 99}:                                  "expected 1 to",
		{Noise: 1, Algorithm: "find-s"}:          "written out",
		{Space: "kcnf", Algorithm: "list"}:       "cannot be written out",
		{Space: "disjunctions", K: 4}:            "hypotheses",
		{Space: "nothing"}:                       "expected one of",
	} {
		rows, set, err := datasets.Load(context.Background(), "play-tennis")
		if err != nil {
			t.Fatal(err)
		}
		_, err = settings.Learn(context.Background(), learn.Task{Table: rows, Target: set.Target})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", settings, err, want)
		}
	}
}

// A taxonomy is climbed: rainy and cloudy days are wet ones.
func TestTaxonomy(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Kind: table.Nominal, Values: []string{"Sunny", "Cloudy", "Rainy"}},
		{Name: "class", Kind: table.Nominal, Values: []string{"yes", "no"}},
	}}
	rows, err := table.New(schema, []table.Column{{Codes: []int32{1, 2, 0}}, {Codes: []int32{0, 0, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &concept.Learner{Taxonomy: "sky:wet=Rainy|Cloudy,dry=Sunny"}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "class"})
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.(learn.Ruler).Rules()
	if err != nil {
		t.Fatal(err)
	}
	if len(base.Rules) != 1 || !strings.HasPrefix(base.Rules[0].String(), "IF sky IN {Cloudy, Rainy} THEN") {
		t.Errorf("learnt %s", base)
	}
}

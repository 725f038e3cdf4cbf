package portable_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// subject is a model, its program, and rows with the model's answers.
type subject struct {
	name    string
	model   learn.Model
	program *portable.Program
	probe   *table.Table // in the model's schema
	want    *learn.Predictions
}

// kinds are the models that are tried.
var kinds = []struct {
	learner, settings, told string
	sets                    string
}{
	{learner: "tree", sets: "votes labor iris penguins heart-c boston"},
	{learner: "tree", settings: "missing=common", sets: "labor"},
	{learner: "tree", settings: "prune=rules", sets: "votes iris"},
	{learner: "rulenet", sets: "votes labor iris penguins heart-c boston"},
	{learner: "rulenet", sets: "votes", told: "IF physician-fee-freeze = n AND mx-missile = y THEN class = republican WITH 0.9 WORTH 30\nIF crime = n THEN class = independent WITH 0.8 WORTH 5"},
	{learner: "cover", sets: "votes labor iris penguins heart-c"},
	{learner: "bayes", sets: "votes labor iris penguins heart-c"},
	{learner: "linear", sets: "votes labor iris penguins heart-c boston"},
	{learner: "linear", settings: "degree=3", sets: "boston"},
	{learner: "prior", sets: "iris boston"},
	{learner: "gaussian", sets: "iris penguins"},
	{learner: "mlp", settings: "hidden=8 epochs=20", sets: "votes iris penguins boston"},
	{learner: "committee", settings: "members=tree,bayes,rulenet", sets: "penguins"},
	{learner: "committee", settings: "members=tree,linear", sets: "boston"},
	{learner: "majority", settings: "members=tree,bayes,cover", sets: "votes"},
	{learner: "learnpp", settings: "base=tree members=5", sets: "iris"},
	{learner: "tree", sets: "visits"},
	{learner: "linear", sets: "visits"},
}

var (
	once     sync.Once
	subjects []*subject
	failed   error
)

// models learns all of them, once.
func models(t testing.TB) []*subject {
	t.Helper()
	once.Do(func() {
		for _, k := range kinds {
			for _, set := range strings.Fields(k.sets) {
				s, err := learnt(k.learner, k.settings, k.told, set)
				if err != nil {
					failed = fmt.Errorf("%s %s of %s: %w", k.learner, k.settings, set, err)
					return
				}
				subjects = append(subjects, s)
			}
		}
	})
	if failed != nil {
		t.Fatal(failed)
	}
	return subjects
}

func learnt(learner, settings, told, set string) (*subject, error) {
	ctx := context.Background()
	load := datasets.Load
	if set == "visits" {
		load = visits
	}
	t, of, err := load(ctx, set)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, pair := range strings.Fields(settings) {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	l, err := learn.New(learner, values)
	if err != nil {
		return nil, err
	}
	task := learn.Task{Table: t, Target: of.Target, Source: learn.Source{ID: "a", Name: set}, Seed: 1}
	m, err := l.Learn(ctx, task)
	if err != nil {
		return nil, err
	}
	if told != "" {
		rules, err := rule.Parse("told", []byte(told))
		if err != nil {
			return nil, err
		}
		fitted, _, err := table.Conform(t, m.Schema(), false)
		if err != nil {
			return nil, err
		}
		if m, err = expert.Tell(ctx, m, learn.Advice{Rules: rules, Expert: learn.Source{ID: "e", Name: "expert"}}, learn.Learnt{Source: task.Source, Table: fitted}); err != nil {
			return nil, err
		}
	}
	s := &subject{name: strings.Join(strings.Fields(learner+" "+settings+" "+set), " "), model: m}
	if told != "" {
		s.name += " told"
	}
	if s.program, err = expert.Compile(m); err != nil {
		return nil, err
	}
	if s.probe, err = probe(t, m.Schema()); err != nil {
		return nil, err
	}
	s.want = learn.NewPredictions(m, s.probe.Rows())
	return s, m.Predict(ctx, s.probe, s.want)
}

// visits is a set with dates, times, and times of day.
func visits(ctx context.Context, _ string) (*table.Table, datasets.Set, error) {
	random := rand.New(rand.NewPCG(3, 4))
	text := "day,at,opens,came\n"
	for range 300 {
		day := time.Date(2019, 11, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, random.IntN(400))
		at := time.Date(1969, 1, 1, 0, 0, random.IntN(1e8), 0, time.UTC)
		opens := time.Date(2000, 1, 1, 0, 0, random.IntN(86400), 0, time.UTC)
		came := "no"
		if (day.Month() > 6) != (at.Year() < 1971) || opens.Hour() < 5 {
			came = "yes"
		}
		text += day.Format(time.DateOnly) + "," + at.Format(time.DateTime) + "," + opens.Format(time.TimeOnly) + "," + came + "\n"
	}
	t, _, err := table.Read(ctx, strings.NewReader(text), table.Options{})
	return t, datasets.Set{Target: "came"}, err
}

// probe returns the rows of a set, and half as many again in which cells are
// missing, or of values that nobody has seen.
func probe(t *table.Table, schema *table.Schema) (*table.Table, error) {
	fitted, _, err := table.Conform(t, schema, false)
	if err != nil {
		return nil, err
	}
	rows := make([]int, 0, t.Rows()*3/2)
	for r := range t.Rows() {
		rows = append(rows, r)
	}
	for r := 0; r < t.Rows(); r += 2 {
		rows = append(rows, r)
	}
	p := fitted.Select(rows)
	random := rand.New(rand.NewPCG(1, 2))
	for j := range p.Columns {
		for r := t.Rows(); r < p.Rows(); r++ {
			switch c := &p.Columns[j]; {
			case random.IntN(5) > 0:
			case c.Codes == nil:
				c.Floats[r] = math.NaN()
			case random.IntN(3) == 0:
				c.Codes[r] = table.Unseen
			default:
				c.Codes[r] = table.Missing
			}
		}
	}
	return p, nil
}

// cell returns a cell as others are given it: nil if it is missing.
func (s *subject) cell(c *portable.Column, row int) any {
	j := s.probe.Schema.Index(c.Name)
	column := &s.probe.Columns[j]
	switch {
	case column.Codes == nil && math.IsNaN(column.Floats[row]):
		return nil
	case column.Codes == nil:
		return column.Floats[row]
	case column.Codes[row] == table.Missing:
		return nil
	case column.Codes[row] < 0:
		return "it's a \"value\" that nobody\\has\nseen"
	}
	return s.probe.Schema.Attributes[j].Values[column.Codes[row]]
}

// answer is what the model says of a row.
func (s *subject) answer(row int) []float64 {
	if s.want.Classes > 0 {
		return s.want.Row(row)
	}
	if s.program.Answer.Low == nil {
		return []float64{s.want.Mean[row]}
	}
	return []float64{s.want.Mean[row], s.want.Low[row], s.want.High[row]}
}

// compare checks what another program said of all rows: its numbers, and the class
// where it is not a draw.
func (s *subject) compare(t *testing.T, tolerance float64, got [][]float64, said []string) {
	t.Helper()
	if len(got) != s.probe.Rows() {
		t.Fatalf("%s: %d answers for %d rows", s.name, len(got), s.probe.Rows())
	}
	worst := 0.0
	for r := range got {
		want := s.answer(r)
		if len(got[r]) != len(want) {
			t.Fatalf("%s: row %d is answered with %v, expected %v", s.name, r+1, got[r], want)
		}
		for k, x := range want {
			if d := math.Abs(got[r][k]-x) / max(1, math.Abs(x)); !(d <= tolerance) {
				t.Fatalf("%s: row %d is answered with %v, expected %v (a difference of %g)", s.name, r+1, got[r], want, d)
			} else {
				worst = max(worst, d)
			}
		}
		if said == nil || s.want.Classes < 2 {
			continue
		}
		sorted := slices.Sorted(slices.Values(want))
		classes := s.program.Target.Classes
		if best := classes[learn.Best(want, classes)]; sorted[len(sorted)-1]-sorted[len(sorted)-2] > 2*tolerance && said[r] != best {
			t.Fatalf("%s: row %d is %s, expected %s", s.name, r+1, said[r], best)
		}
	}
	t.Logf("%s: %d rows, largest difference %.2g", s.name, len(got), worst)
}

// table lays the probe out in the columns of the program.
func (s *subject) table() *table.Table {
	schema := &table.Schema{}
	var columns []table.Column
	for i := range s.program.Columns {
		c := &s.program.Columns[i]
		a := table.Attribute{Name: c.Name, Values: c.Values, Kind: table.Numeric}
		if !c.Nominal() {
			schema.Attributes = append(schema.Attributes, a)
			columns = append(columns, s.probe.Columns[s.probe.Schema.Index(c.Name)])
			continue
		}
		a.Kind = table.Nominal
		codes := make([]int32, s.probe.Rows())
		for r := range codes {
			if v, known := s.cell(c, r).(string); !known {
				codes[r] = table.Missing
			} else {
				codes[r] = a.Code(v)
			}
		}
		schema.Attributes = append(schema.Attributes, a)
		columns = append(columns, table.Column{Codes: codes})
	}
	return &table.Table{Schema: schema, Columns: columns}
}

// run computes the program here.
func (s *subject) run() (got [][]float64) {
	runner := portable.NewRunner(s.program)
	rows := s.table()
	for r := range s.probe.Rows() {
		runner.Row(rows, r)
		var answer []float64
		a := &s.program.Answer
		for _, of := range []*portable.Ref{a.Probabilities, a.Number, a.Low, a.High} {
			if of != nil {
				answer = append(answer, runner.Value(*of)...)
			}
		}
		got = append(got, answer)
	}
	return got
}

// A program is what its model predicts, on all rows of these sets, whatever is
// missing or was never seen.
func TestProgramsAreTheirModels(t *testing.T) {
	for _, s := range models(t) {
		s.compare(t, 1e-12, s.run(), nil)
	}
}

// What is written as JSON reads back, and computes the same to the bit.
func TestJSONReadsBack(t *testing.T) {
	for _, s := range models(t) {
		text, err := s.program.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := portable.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		other := *s
		other.program = again
		if got, want := other.run(), s.run(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: the program that was read back computes something else", s.name)
		}
	}
}

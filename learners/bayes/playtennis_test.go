package bayes

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// playTennis is table 3.2 of Mitchell 1997.
const playTennis = `Sunny Hot High Weak No
Sunny Hot High Strong No
Overcast Hot High Weak Yes
Rain Mild High Weak Yes
Rain Cool Normal Weak Yes
Rain Cool Normal Strong No
Overcast Cool Normal Strong Yes
Sunny Mild High Weak No
Sunny Cool Normal Weak Yes
Rain Mild Normal Weak Yes
Sunny Mild Normal Strong Yes
Overcast Mild High Strong Yes
Overcast Hot Normal Weak Yes
Rain Mild High Strong No`

// nominal reads rows of words; "?" is missing. Dictionaries begin with the
// given values.
func nominal(t testing.TB, names string, rows string, known *table.Schema) *table.Table {
	t.Helper()
	schema := &table.Schema{}
	for i, name := range strings.Fields(names) {
		a := table.Attribute{Name: name}
		if known != nil {
			a.Values = slices.Clone(known.Attributes[i].Values)
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	columns := make([]table.Column, len(schema.Attributes))
	for i := range columns {
		columns[i].Codes = []int32{}
	}
	for line := range strings.Lines(rows) {
		for i, word := range strings.Fields(line) {
			a := &schema.Attributes[i]
			code := table.Missing
			if word != "?" {
				if code = a.Code(word); code < 0 {
					code = int32(len(a.Values))
					a.Values = append(a.Values, word)
				}
			}
			columns[i].Codes = append(columns[i].Codes, code)
		}
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

const tennisNames = "Outlook Temperature Humidity Wind PlayTennis"

func tennis(t testing.TB) *table.Table { return nominal(t, tennisNames, playTennis, nil) }

// fit learns the last column.
func fit(t testing.TB, tab *table.Table, worth float64) *Model {
	t.Helper()
	l := &Learner{M: &worth}
	model, err := l.Learn(context.Background(), learn.Task{Table: tab, Source: learn.Source{ID: "a"}}.At(len(tab.Columns)-1))
	if err != nil {
		t.Fatal(err)
	}
	m := model.(*Model)
	m.estimate() // which tests look at without asking
	return m
}

// ask returns the probability of a class for a row of words.
func ask(t testing.TB, m *Model, row, class string) float64 {
	t.Helper()
	tab := nominal(t, strings.Join(m.Schema().Names(), " "), row, m.Schema())
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(context.Background(), tab, out); err != nil {
		t.Fatal(err)
	}
	return out.P[m.class().Code(class)]
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %g", what, got, want, tolerance)
	}
}

// likelihood returns P̂(value | class) of the model.
func likelihood(m *Model, column, value, class string) float64 {
	j := m.Schema().Index(column)
	v, c := m.Schema().Attributes[j].Code(value), m.class().Code(class)
	e := &m.columns[j]
	return math.Exp(e.value(int(v), len(m.logPrior))[c] + e.marginal[v])
}

// The estimates of section 6.9.1.
func TestPlayTennisEstimates(t *testing.T) {
	m := fit(t, tennis(t), 0)
	near(t, "P(Yes)", math.Exp(m.logPrior[m.class().Code("Yes")]), 9.0/14, 1e-15)
	near(t, "P(No)", math.Exp(m.logPrior[m.class().Code("No")]), 5.0/14, 1e-15)
	for _, f := range []struct {
		column, value string
		yes, no       float64
	}{
		{"Outlook", "Sunny", 2. / 9, 3. / 5}, {"Outlook", "Overcast", 4. / 9, 0}, {"Outlook", "Rain", 3. / 9, 2. / 5},
		{"Temperature", "Hot", 2. / 9, 2. / 5}, {"Temperature", "Mild", 4. / 9, 2. / 5}, {"Temperature", "Cool", 3. / 9, 1. / 5},
		{"Humidity", "High", 3. / 9, 4. / 5}, {"Humidity", "Normal", 6. / 9, 1. / 5},
		{"Wind", "Strong", 3. / 9, 3. / 5}, {"Wind", "Weak", 6. / 9, 2. / 5},
	} {
		near(t, "P("+f.value+"|Yes)", likelihood(m, f.column, f.value, "Yes"), f.yes, 1e-15)
		near(t, "P("+f.value+"|No)", likelihood(m, f.column, f.value, "No"), f.no, 1e-15)
	}
}

// The query of section 6.9.1, and its variants.
func TestPlayTennisQueries(t *testing.T) {
	const query = "Sunny Cool High Strong ?"
	m := fit(t, tennis(t), 0)
	near(t, "P(No | Sunny Cool High Strong)", ask(t, m, query, "No"), 18./875/(18./875+1./189), 1e-15)
	near(t, "… as printed", ask(t, m, query, "No"), 0.795417349, 5e-10)
	near(t, "P(No), Wind missing", ask(t, m, "Sunny Cool High ? ?", "No"), 0.683544, 5e-7)
	if p := ask(t, m, "Overcast Cool High Strong ?", "No"); p != 0 {
		t.Errorf("P(No | Overcast …) = %v, want 0", p)
	}
	near(t, "P(Yes | Overcast …), m=1", ask(t, fit(t, tennis(t), 1), "Overcast Cool High Strong ?", "Yes"), 0.855005, 5e-7)
	for m, p := range map[float64]float64{1: .759002, 2: .725776, 3: .696203, 5: .647188, 14: .527279} {
		near(t, "P(No) with m-estimates", ask(t, fit(t, tennis(t), m), query, "No"), p, 5e-7)
	}
	yes, no := 49./8000, 25./1296
	near(t, "P(No), m=1", ask(t, fit(t, tennis(t), 1), query, "No"), no/(yes+no), 1e-15)
}

// The probabilities of the training rows, and leaving each out.
func TestPlayTennisRows(t *testing.T) {
	rows := strings.Split(playTennis, "\n")
	probabilities := []float64{.2046, .0790, 1, .5365, .9328, .8224, 1, .3397, .8606, .9025, .5784, 1, 1, .2784}
	m := fit(t, tennis(t), 0)
	for i, want := range probabilities {
		near(t, "P(Yes) of D"+rows[i], ask(t, m, rows[i], "Yes"), want, 5e-5)
	}
	for _, mass := range []float64{0, 1} {
		m := fit(t, tennis(t), mass)
		for i, row := range rows {
			right := (ask(t, m, row, "Yes") > 0.5) == strings.HasSuffix(row, "Yes")
			if right == (i == 5) {
				t.Errorf("m=%v, D%d: right is %v; only D6 should be wrong", mass, i+1, right)
			}
		}
	}

	leaveOneOut := []float64{.516068, .256246, .688214, .355600, .816902, .984612, .935424, .664482, .640885, .784580, .321113, .641791, .935767, .615327}
	for _, mass := range []float64{0, 1, 2} {
		var wrong []int
		for i, row := range rows {
			others := slices.Concat(rows[:i], rows[i+1:])
			// The dictionary is that of all rows.
			m := fit(t, nominal(t, tennisNames, strings.Join(others, "\n"), tennis(t).Schema), mass)
			p := ask(t, m, row, "Yes")
			if mass == 1 {
				near(t, "leave-one-out P(Yes)", p, leaveOneOut[i], 5e-7)
			}
			if (p > 0.5) != strings.HasSuffix(row, "Yes") {
				wrong = append(wrong, i+1)
			}
		}
		if want := []int{1, 4, 6, 8, 11, 14}; !slices.Equal(wrong, want) {
			t.Errorf("m=%v: leave-one-out errors %v, want %v", mass, wrong, want)
		}
	}
}

// The m-estimates of section 6.9.1.1: Wind has two values, n = 5.
func TestMEstimates(t *testing.T) {
	for m, want := range map[float64]float64{0: .6, 1: .583333, 2: .571429, 5: .55, 10: .533333, 100: .504762} {
		near(t, "P(Strong|No)", likelihood(fit(t, tennis(t), m), "Wind", "Strong", "No"), want, 5e-7)
	}
	windless := strings.ReplaceAll(playTennis, "Strong No", "Weak No")
	for m, want := range map[float64]float64{1: .083333, 2: .142857, 5: .25} {
		near(t, "P(Strong|No), n_c=0", likelihood(fit(t, nominal(t, tennisNames, windless, nil), m), "Wind", "Strong", "No"), want, 5e-7)
	}
	// k = 2 and m = 2 is Laplace's rule of succession.
	near(t, "Laplace", likelihood(fit(t, tennis(t), 2), "Wind", "Strong", "No"), (3.+1)/(5+2), 1e-15)
}

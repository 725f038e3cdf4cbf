package rulebase

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

const play = `SCHEMA outlook nominal {sunny, rain}, humid numeric, play nominal {no, yes}; TARGET play
RULES ordered
IF outlook = sunny AND humid > 70 THEN play = no WITH 0.75
ELSE play = yes WITH 0.8
IF-TOLD`

func parsed(t testing.TB, text string) learn.Model {
	t.Helper()
	base, err := rule.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func oneRow(t testing.TB, m learn.Model, outlook int32, humid float64) *table.Table {
	t.Helper()
	row, err := table.New(m.Schema(), []table.Column{{Codes: []int32{outlook}}, {Floats: []float64{humid}}, {Codes: []int32{table.Missing}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func probability(t testing.TB, m learn.Model, row *table.Table) float64 {
	t.Helper()
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(context.Background(), row, out); err != nil {
		t.Fatal(err)
	}
	return out.P[1]
}

// TestToldRules: P(x) = (N·P + n·p)/(N + n), with N the least that a rule which
// fires covers.
func TestToldRules(t *testing.T) {
	text := strings.Replace(play, "ELSE play = yes WITH 0.8\nIF-TOLD", `IF outlook = rain THEN play = no WITH 0.9 WORTH 10 [covered 30]
IF humid > 90 THEN play = no WITH 0.5 WORTH 5 [covered 12]
IF outlook = rain AND humid > 90 THEN play = no WITH 0.5 WORTH 0 [covered 4]
ELSE play = yes WITH 0.8`, 1)
	m := parsed(t, text)
	for _, c := range []struct {
		outlook int32
		humid   float64
		want    float64
	}{
		{0, 60, 0.8},
		{0, 80, 0.25},
		{1, 60, (30*0.8 + 10*0.1) / 40},
		{0, 95, (12*0.25 + 5*0.5) / 17},
		{1, 95, (4*0.8 + 10*0.1 + 5*0.5) / 19},
	} {
		if got := probability(t, m, oneRow(t, m, c.outlook, c.humid)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("outlook %d, humid %v: %v, expected %v", c.outlook, c.humid, got, c.want)
		}
	}
}

// TestSavedAndConcurrent: a saved base answers as before, from many goroutines.
func TestSavedAndConcurrent(t *testing.T) {
	m := parsed(t, strings.TrimSuffix(play, "IF-TOLD"))
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	row := oneRow(t, m, 0, 80)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got := probability(t, again, row); got != 0.25 {
					t.Errorf("%v, expected 0.25", got)
				}
			}
		})
	}
	group.Wait()
}

// TestRefused: what no model can be made of is said in one line.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"RULES ordered\nELSE y = a":                                                             "no SCHEMA line",
		"SCHEMA y nominal {a, b}\nRULES ordered\nELSE y = a":                                    "no TARGET",
		"SCHEMA x numeric, y nominal {a}; TARGET y\nIF x > 1 THEN y = a":                        "how its rules are read",
		"SCHEMA x numeric, y numeric; TARGET y\nRULES ordered\nIF x > 1 THEN y ~ 1 ± 1 WORTH 3": "number",
	} {
		base, err := rule.Parse("test", []byte(text))
		if err == nil {
			_, err = New(base)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(strings.TrimSuffix(play, "IF-TOLD")))
	f.Add([]byte("SCHEMA x numeric ~ 1 ± 2, y nominal {a 0.5, b 0.5}; TARGET y\nRULES mixture\nWHEN u (1) EXPECT x NORMAL AND y = {a 1}"))
	f.Add([]byte("SCHEMA x numeric, y numeric; TARGET y\nRULES weighed\nIF x > 1 THEN y += 2\nELSE y ~ 1 ± 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		m, err := decode([]learn.Part{{Name: basePart, Data: text}})
		if err != nil || m.Target() == learn.NoTarget {
			return
		}
		columns := make([]table.Column, len(m.Schema().Attributes))
		for j := range columns {
			switch m.Schema().Attributes[j].Kind {
			case table.Nominal:
				columns[j].Codes = []int32{table.Missing}
			case table.Numeric:
				columns[j].Floats = []float64{1}
			default:
				return
			}
		}
		row, err := table.New(m.Schema(), columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Predict(context.Background(), row, learn.NewPredictions(m, 1)); err != nil {
			t.Fatal(err)
		}
		if e, ok := m.(learn.Explainer); ok {
			if _, err := e.Explain(row, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

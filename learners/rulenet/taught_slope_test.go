package rulenet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// uphill returns rows whose answer follows a up and down again, and b downwards,
// so that without a slope a network would turn.
func uphill(t *testing.T, rows int, classes bool, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	a, b, c := make([]float64, rows), make([]float64, rows), make([]int32, rows)
	y, class := make([]float64, rows), make([]int32, rows)
	for i := range rows {
		a[i], b[i], c[i] = rng.Float64(), rng.Float64(), int32(rng.IntN(3))
		if rng.IntN(10) == 0 {
			a[i] = math.NaN()
		}
		y[i] = math.Sin(4*a[i]) - b[i] + float64(c[i])*a[i]/2 + rng.NormFloat64()/3
		if math.IsNaN(y[i]) {
			y[i] = rng.NormFloat64()
		}
		if y[i] > 0.4 {
			class[i] = 1
		}
	}
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric},
		{Name: "c", Kind: table.Nominal, Values: []string{"x", "y", "z"}}, {Name: "t", Kind: table.Numeric},
	}}
	columns := []table.Column{{Floats: a}, {Floats: b}, {Codes: c}, {Floats: y}}
	if classes {
		schema.Attributes[3] = table.Attribute{Name: "t", Kind: table.Nominal, Values: []string{"no", "yes"}}
		columns[3] = table.Column{Codes: class}
	}
	made, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Along a column with a slope answers go one way, whatever the rows say.
func TestSlopeIsKept(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		for _, classes := range []bool{true, false} {
			rows := uphill(t, 150+40*int(seed), classes, seed)
			l := &Learner{Slope: "a:+,b:-"}
			m, err := l.Learn(ctx, learn.Task{Table: rows, Source: learn.Source{ID: "1"}, Seed: seed, Target: "t"})
			if err != nil {
				t.Fatal(err)
			}
			for _, col := range []int{0, 1} {
				for base := range 10 {
					grid := rows.Select(repeat(base, 60))
					for i := range 60 {
						grid.Columns[col].Floats[i] = float64(i)/50 - 0.1
					}
					out := learn.NewPredictions(m, 60)
					if err := m.Predict(ctx, grid, out); err != nil {
						t.Fatal(err)
					}
					for i := 1; i < 60; i++ {
						now, before := 0.0, 0.0
						if classes {
							now, before = out.Row(i)[1], out.Row(i - 1)[1]
						} else {
							now, before = out.Mean[i], out.Mean[i-1]
						}
						if rises := now - before; col == 0 && rises < -1e-12 || col == 1 && rises > 1e-12 {
							t.Fatalf("seed %d, classes %v, column %d: %v follows %v", seed, classes, col, now, before)
						}
					}
				}
			}
			base, err := m.(learn.Ruler).Rules()
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(base.Notes); !strings.Contains(text, "a: a greater one never lowers") || !strings.Contains(text, "b: a greater one never raises") {
				t.Errorf("notes %q", text)
			}
			if len(base.Rules) < 5 {
				t.Errorf("seed %d, classes %v: %d rules", seed, classes, len(base.Rules))
			}
		}
	}
}

func repeat(row, n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = row
	}
	return rows
}

func TestSlopesThatMakeNoSense(t *testing.T) {
	rows := uphill(t, 60, true, 1)
	for slope, want := range map[string]string{"a": "as in age:+", "a:+,b:up": "as in age:+", "c:+": "no column of numbers", "d:-": "no column of numbers", "t:+": "no column of numbers"} {
		_, err := (&Learner{Slope: slope}).Learn(context.Background(), learn.Task{Table: rows, Source: learn.Source{ID: "1"}, Target: "t"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("slope=%s: error %v, expected %q", slope, err, want)
		}
	}
	if _, err := (&Learner{Slope: "a:+", Teacher: "none"}).settings(); err == nil || !strings.Contains(err.Error(), "teacher=trees") {
		t.Errorf("error %v", err)
	}
}

package tree

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// drawLeaning draws rows of two columns of numbers and one of names, cells missing
// here and there, whose target is a number or one of two classes.
func drawLeaning(t *rapid.T, classes bool) *table.Table {
	n := rapid.IntRange(4, 80).Draw(t, "rows")
	x, y := make([]float64, n), make([]float64, n)
	c, target := make([]int32, n), make([]float64, n)
	names := make([]int32, n)
	for r := range n {
		x[r], y[r] = float64(rapid.IntRange(0, 12).Draw(t, "x")), float64(rapid.IntRange(0, 4).Draw(t, "y"))
		if y[r] == 4 {
			y[r] = table.NA
		}
		c[r] = int32(rapid.IntRange(-1, 2).Draw(t, "c"))
		target[r] = float64(rapid.IntRange(0, 9).Draw(t, "target"))
		names[r] = int32(target[r]) % 2
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "c", Kind: table.Nominal, Values: []string{"p", "q", "r"}}, {Name: "t", Kind: table.Numeric}}}
	columns := []table.Column{{Floats: x}, {Floats: y}, {Codes: c}, {Floats: target}}
	if classes {
		schema.Attributes[3] = table.Attribute{Name: "t", Kind: table.Nominal, Values: []string{"no", "yes"}}
		columns[3] = table.Column{Codes: names}
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Along a column that raises or lowers the answer it never goes the other way,
// whatever the rows say, which cells are missing and how the tree is pruned; also
// when it was saved and read.
func TestAnswersGoOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.Bool().Draw(t, "classes")
		rows := drawLeaning(t, classes)
		way := rapid.SampledFrom([]string{"+", "-"}).Draw(t, "way")
		l, err := learn.New("tree", map[string]string{
			"slope": "x:" + way, "prune": rapid.SampledFrom([]string{"auto", "none", "error"}).Draw(t, "prune"),
			"missing": rapid.SampledFrom([]string{"fractions", "common"}).Draw(t, "missing"), "m": rapid.SampledFrom([]string{"0", "2"}).Draw(t, "m"),
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Source: learn.Source{ID: "a"}, Target: "t", Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		if m, err = learn.DecodeParts("tree", parts); err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, rows.Rows()-1).Draw(t, "row")
		asked := rows.Select([]int{at, at, at, at, at, at, at})
		for i := range asked.Rows() {
			asked.Columns[0].Floats[i] = float64(2*i) + 0.5
		}
		out := learn.NewPredictions(m, asked.Rows())
		if err := m.Predict(t.Context(), asked, out); err != nil {
			t.Fatal(err)
		}
		last := math.Inf(-1)
		for i := range asked.Rows() {
			answer := 0.0
			if classes {
				if len(m.Schema().Attributes[3].Values) < 2 {
					return
				}
				answer = out.Row(i)[1]
			} else {
				answer = out.Mean[i]
			}
			if way == "-" {
				answer = -answer
			}
			if answer < last-1e-9 {
				t.Fatalf("%v after %v along x", answer, last)
			}
			last = answer
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil || !strings.Contains(strings.Join(base.Notes, "\n"), "x: a greater one never ") {
			t.Fatalf("%v, %v", base, err)
		}
	})
}

func TestSlopesThatAreNone(t *testing.T) {
	for settings, said := range map[string]string{"x": "as in age:+", "c:+": "no column of numbers", "z:-": "no column of numbers"} {
		l, err := learn.New("tree", map[string]string{"slope": settings})
		if err != nil {
			t.Fatal(err)
		}
		rows := rapid.Custom(func(t *rapid.T) *table.Table { return drawLeaning(t, true) }).Example(1)
		if _, err = l.Learn(t.Context(), learn.Task{Table: rows, Target: "t"}); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("slope=%s: %v", settings, err)
		}
	}
}

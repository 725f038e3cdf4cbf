package tree

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// tested returns rows of people of whom the ill were seldom asked for their diet, and
// the well seldom had their blood taken: what the cells hold says nothing.
func tested(t *testing.T, rows int, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "blood", Kind: table.Numeric}, {Name: "diet", Values: []string{"fish", "meat", "none"}},
		{Name: "age", Kind: table.Numeric}, {Name: "state", Values: []string{"ill", "well"}},
	}}
	columns := []table.Column{{}, {}, {}, {}}
	for range rows {
		state := int32(rng.IntN(2))
		blood, diet := rng.NormFloat64(), int32(rng.IntN(3))
		if rng.Float64() < 0.1+0.8*float64(state) {
			blood = table.NA
		}
		if rng.Float64() < 0.8-0.6*float64(state) {
			diet = table.Missing
		}
		columns[0].Floats, columns[1].Codes = append(columns[0].Floats, blood), append(columns[1].Codes, diet)
		columns[2].Floats, columns[3].Codes = append(columns[2].Floats, 20+60*rng.Float64()), append(columns[3].Codes, state)
	}
	all, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rightShare is the share of rows that are answered right.
func rightShare(t *testing.T, m *Model, rows *table.Table) float64 {
	t.Helper()
	right := 0.0
	for r, p := range predict(t, m, rows) {
		if learn.Best(p, m.schema.Attributes[m.target].Values) == int(rows.Columns[m.target].Codes[r]) {
			right++
		}
	}
	return right / float64(rows.Rows())
}

// Where cells are missing tells, trees and lists ask for it, print it and say so of a
// row. One cell is right of 90 % of the rows; 2,000 new ones show that with an error
// of 0.7 points.
func TestMissingTells(t *testing.T) {
	learnt, others := tested(t, 2000, 1), tested(t, 2000, 2)
	if right := rightShare(t, learnTable(t, learnt, Learner{}), others); right > 0.6 {
		t.Errorf("in fractions alone %.3f are right, though no value tells", right)
	}
	for name, l := range map[string]Learner{
		"default": {}, "many branches": {Binary: ptr(false)}, "held out": {Prune: "cost"}, "list": {Preset: "c4.5"}, "planes": {Splits: "oblique"},
	} {
		l.Missing = "count"
		m := learnTable(t, learnt, l)
		if right := rightShare(t, m, others); right < 0.88 {
			t.Errorf("%s: %.3f are right", name, right)
		}
		base, err := m.Rules()
		if err != nil || !strings.Contains(base.String(), "blood IS MISSING") {
			t.Errorf("%s: %v in\n%v", name, err, base)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(parts)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := rightShare(t, m, others), rightShare(t, again.(*Model), others); a != b {
			t.Errorf("%s: %.4f are right, %.4f when read back", name, a, b)
		}
	}
	m := learnTable(t, learnt, Learner{Missing: "count", MaxDepth: 1})
	if got := m.Outline(); got != "blood{missing→well, known→ill}" {
		t.Error(got)
	}
	one := learnt.Slice(0, 1)
	one.Columns[0].Floats = []float64{table.NA}
	e, err := m.Explain(one, 0)
	if err != nil || len(e.Evidence) == 0 || e.Evidence[0].Text != "blood IS MISSING" || len(e.Missing) != 1 || e.Missing[0].CouldMove < 0.7 {
		t.Errorf("%+v, %v", e, err)
	}
}

// Numbers: those of rows whose cell is missing are 3 higher, which is all there is.
func TestMissingTellsNumbers(t *testing.T) {
	rows := tested(t, 600, 3)
	rng, floats := rand.New(rand.NewPCG(3, 3)), make([]float64, 600)
	for r := range floats {
		floats[r] = rng.NormFloat64()
		if rows.Columns[1].Codes[r] == table.Missing {
			floats[r] += 3
		}
	}
	schema := table.CopySchema(rows.Schema)
	schema.Attributes[3] = table.Attribute{Name: "pain", Kind: table.Numeric}
	rows, err := table.New(schema, append(rows.Columns[:3:3], table.Column{Floats: floats}), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := learnTable(t, rows, Learner{Missing: "count"})
	if got := m.Outline(); !strings.HasPrefix(got, "diet{missing→") {
		t.Error(got)
	}
	out := learn.NewPredictions(m, 600)
	if err := m.Predict(context.Background(), rows, out); err != nil {
		t.Fatal(err)
	}
	for r, code := range rows.Columns[1].Codes {
		if (out.Mean[r] > 1.5) != (code == table.Missing) {
			t.Fatalf("row %d: %.2f", r+1, out.Mean[r])
		}
	}
}

// No path asks of one cell both for its value and whether it is missing, or for its
// value where it is missing: no row could take it.
func TestMissingIsAskedOnce(t *testing.T) {
	rows := mixed(3000)
	for i, c := range rows.Columns[:20] {
		for r := range rows.Rows() {
			if (r*7+i*13)%11 < 3 {
				if c.Codes != nil {
					c.Codes[r] = table.Missing
				} else {
					c.Floats[r] = table.NA
				}
			}
		}
	}
	for _, splits := range []string{"axis", "oblique"} {
		m, asked := learnTable(t, rows, Learner{Prune: "none", Missing: "count", MaxDepth: 5, Splits: splits}), 0
		m.eachLeaf(func(_ int, path []condition) {
			for k := range path {
				if !path[k].absent {
					continue
				}
				asked++
				for _, d := range path[:k] {
					for _, col := range d.columns() {
						if col == path[k].col {
							t.Errorf("%v is asked for missing below a test of it", m.tests(path))
						}
					}
				}
			}
		})
		if asked == 0 {
			t.Errorf("%s: nothing is asked for missing", splits)
		}
		agreeWithRules(t, m, rows)
	}
}

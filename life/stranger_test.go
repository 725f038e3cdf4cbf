package life_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// TestVerifyAsAStranger: a column that looks like an id in the first of many
// sources, and not over all of them, is one that a stranger who learns
// everything at once has; verify says so, and counts the difference. One that
// the user left out, or that looks like an id over all sources too, is not.
func TestVerifyAsAStranger(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for part := range 5 {
		var text strings.Builder
		text.WriteString("town,key,wind,play\n")
		for r := range 60 { // the town says what the answer is
			fmt.Fprintf(&text, "town%d,k%d,%s,%s\n", r, 60*part+r, []string{"low", "high"}[(r/2+part)%2], []string{"yes", "no"}[r%2])
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part%d.csv", part)), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ignore []string
		holds  bool
	}{{nil, false}, {[]string{"town"}, true}} {
		h := newHome(t)
		d, err := h.Find(filepath.Join(dir, "part0.csv"), life.Reading{Ignore: c.ignore})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Learn(ctx, life.LearnOptions{Data: d, Target: "play", Choice: life.Choice{Learner: "bayes"}, Name: "m"}); err != nil {
			t.Fatal(err)
		}
		for part := 1; part < 5; part++ {
			if _, err := h.Update(ctx, "m", find(t, h, filepath.Join(dir, fmt.Sprintf("part%d.csv", part))), false); err != nil {
				t.Fatal(err)
			}
		}
		v, err := h.Verify(ctx, "m", nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Holds != c.holds || (v.MaxDifference > 0.3) == c.holds || (v.RulesDiffer > 0) == c.holds {
			t.Errorf("without %q: %+v", c.ignore, v)
		}
		if notes := strings.Join(v.Notes, "\n"); strings.Contains(notes, `column "town" looked like an id in`) == c.holds || strings.Contains(notes, `"key"`) {
			t.Errorf("without %q: notes %q", c.ignore, notes)
		}
	}
}

// TestColumnsThatBeginEmpty: of a table in 21 parts, two columns have no known
// cell in the first. A model that learnt it, and then the others, knows them:
// verify compares with what learns all parts at once, and so does this test, by
// itself. What an update may cost by the learner's promise is all that is lost,
// and most of it without the columns, which say most of the answer.
func TestColumnsThatBeginEmpty(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(5, 21))
	header, all, parts := "a,x,z,b,class,number\n", strings.Builder{}, make([]strings.Builder, 21)
	all.WriteString(header)
	for part := range parts {
		parts[part].WriteString(header)
		for range 30 {
			a, b := random.IntN(3), random.IntN(2)
			x, z := random.NormFloat64(), random.NormFloat64()
			y := float64(a) + x + 3*z + 4*float64(b) + 0.5*random.NormFloat64()
			row := fmt.Sprintf("%s,%.3f,%.3f,%s,%v,%.3f\n", []string{"red", "green", "blue"}[a], x, z, []string{"u", "v"}[b], y > 3, y)
			if part == 0 {
				row = fmt.Sprintf("%s,%.3f,?,?,%v,%.3f\n", []string{"red", "green", "blue"}[a], x, y > 3, y)
			}
			parts[part].WriteString(row)
			all.WriteString(row)
		}
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := write("all.csv", all.String())
	var files []string
	for part := range parts {
		files = append(files, write(fmt.Sprintf("part%02d.csv", part), parts[part].String()))
	}
	for _, c := range []struct{ learner, target, other string }{
		{"gaussian", "class", "number"}, {"gaussian", "number", "class"}, {"gaussian", "", ""},
		{"bayes", "class", "number"}, {"tree", "number", "class"}, {"tree", "class", "number"},
		{"committee", "class", "number"}, {"mlp", "class", "number"},
	} {
		t.Run(c.learner+" "+c.target, func(t *testing.T) {
			h := newHome(t)
			learnt := func(file, name string) *life.Part {
				d, err := h.Find(file, life.Reading{Ignore: []string{c.other}})
				if err != nil {
					t.Fatal(err)
				}
				l, err := h.Learn(ctx, life.LearnOptions{Data: d, Target: c.target, Choice: life.Choice{Learner: c.learner}, Name: name})
				if err != nil {
					t.Fatal(err)
				}
				return l.Part
			}
			learnt(files[0], "m")
			for _, file := range files[1:] {
				if _, err := h.Update(ctx, "m", find(t, h, file), false); err != nil {
					t.Fatal(err)
				}
			}
			v, err := h.Verify(ctx, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Holds || v.Contract == "exact" && v.RulesDiffer > 0 {
				t.Errorf("%+v", v)
			}
			if schema := v.Part.Schema(); schema.HasOpen() || schema.Index("z") < 0 || schema.Attributes[schema.Index("z")].Kind != table.Numeric {
				t.Fatalf("the model has the columns %v", schema.Attributes)
			}
			bound := 1.2 * learn.PromiseOf(v.Part.Model).Bound // verify allows for two standard errors
			switch learn.PromiseOf(v.Part.Model).Contract {
			case learn.None:
				return
			case learn.Exact:
				bound = 1e-9
			}
			if lost := lossOf(t, h, v.Part, whole) - lossOf(t, h, learnt(whole, "w"), whole); lost > bound {
				t.Errorf("the updated model loses %.3f nats a row on one that learnt everything at once, more than %.3f", lost, bound)
			}
		})
	}
}

// lossOf returns the mean log loss of a model on a file: of its density, its
// classes, or the numbers that it takes for normal.
func lossOf(t *testing.T, h *life.Home, m *life.Part, file string) float64 {
	t.Helper()
	ctx := context.Background()
	rows, err := h.ReadAs(ctx, find(t, h, file), m.Schema())
	if err != nil {
		t.Fatal(err)
	}
	loss := 0.0
	if m.Target() == learn.NoTarget {
		density, _ := learn.Ability[learn.Density](m.Model)
		logs := make([]float64, rows.Rows())
		if err := density.LogDensity(ctx, rows, logs); err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			loss -= l
		}
		return loss / float64(rows.Rows())
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(ctx, rows, out); err != nil {
		t.Fatal(err)
	}
	for r := range rows.Rows() {
		if out.Classes > 0 {
			loss -= math.Log(max(out.Row(r)[rows.Columns[m.Target()].Codes[r]], 1e-9))
			continue
		}
		width := max((out.High[r]-out.Low[r])/4, 1e-3)
		z := (rows.Columns[m.Target()].Floats[r] - out.Mean[r]) / width
		loss += math.Log(width) + z*z/2
	}
	return loss / float64(rows.Rows())
}

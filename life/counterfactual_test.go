package life_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// gridRow is a row of a table that has every row there can be.
type gridRow struct {
	a, b int
	c, d string
}

// grid writes all rows of four columns with a class and a number, and lists them.
func grid(t *testing.T, target string) (path string, rows []gridRow) {
	t.Helper()
	var text strings.Builder
	text.WriteString("a,b,c,d," + target + "\n")
	for k := range 8 * 5 * 3 * 2 {
		r := gridRow{a: k % 8, b: k / 8 % 5, c: string("pqr"[k/40%3]), d: string("xy"[k/120])}
		y := float64(r.a) + 0.8*float64(r.b*r.b) + map[string]float64{"p": 4, "q": float64(r.a) / 2}[r.c] + map[string]float64{"x": -3}[r.d]
		answer := fmt.Sprintf("%.1f", y+float64(k*7%11)/10)
		if target == "class" {
			answer = map[bool]string{true: "good", false: "bad"}[y+float64(k*7%11)/5 > 12]
		}
		fmt.Fprintf(&text, "%d,%d,%s,%s,%s\n", r.a, r.b, r.c, r.d, answer)
		rows = append(rows, r)
	}
	path = filepath.Join(t.TempDir(), "grid.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, rows
}

// apart is in how many cells two rows differ, and what the change costs.
func (r gridRow) apart(to gridRow) (cells int, cost float64) {
	for _, c := range []struct {
		differ bool
		cost   float64
	}{
		{r.a != to.a, math.Abs(float64(r.a-to.a)) / 7},
		{r.b != to.b, math.Abs(float64(r.b-to.b)) / 4},
		{r.c != to.c, 1}, {r.d != to.d, 1},
	} {
		if c.differ {
			cells++
			cost += c.cost
		}
	}
	return cells, cost
}

// Where a model is made of rules, lines along numbers and rules that were told
// among them, no change is smaller than the one that is given: of a table of all
// rows that there can be, every row with the answer has been looked at.
func TestChangesAreTheSmallest(t *testing.T) {
	told := "IF a < 3 AND c = q THEN class = good WITH 0.9 WORTH 30\nIF a = 5 THEN class = bad WITH 0.9 WORTH 30\n"
	for _, of := range []struct{ target, learner, rules, to string }{
		{"y", "rulenet", "", ">14"}, {"y", "tree", "", ">14"}, {"class", "rulenet", "", ""}, {"class", "tree", "", "good"}, {"class", "rulenet", told, ""},
	} {
		path, rows := grid(t, of.target)
		h := &life.Home{Seed: 1}
		find := func() *life.Data {
			d, err := h.Find(path, life.Reading{})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: find(), Target: of.target, Choice: life.Choice{Learner: of.learner}})
		if err != nil {
			t.Fatal(err)
		}
		if of.rules != "" {
			if p, err = h.TellInMemory(context.Background(), p, life.Rules{File: "told", Text: []byte(of.rules)}); err != nil {
				t.Fatal(err)
			}
		}
		answers := make([]any, 0, len(rows))
		if _, err = h.Predict(context.Background(), p, find(), func(row int, batch *table.Table, out *learn.Predictions) error {
			for i := range batch.Rows() {
				answers = append(answers, life.NewPredicted(p.Model, row+i, batch, out, i).Prediction)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		flipped := 0
		err = h.Change(context.Background(), p, find(), nil, life.Wish{To: of.to, Limit: 1}, func(c *life.Changed) error {
			cells, cost := len(rows), math.Inf(1)
			for i, to := range rows {
				x, isNumber := answers[i].(float64)
				if isNumber && x > 14 || !isNumber && (answers[i] == of.to || of.to == "" && answers[i] != c.Prediction) {
					if n, price := rows[c.Row-1].apart(to); n < cells || n == cells && price < cost {
						cells, cost = n, price
					}
				}
			}
			switch {
			case c.Already:
				return nil
			case len(c.Changes) != 1 || !c.Exact:
				t.Errorf("%+v, row %d: %v, expected an exact change", of, c.Row, c)
			case len(c.Changes[0].Set) != cells || math.Abs(c.Changes[0].Cost-cost) > 1e-9:
				t.Errorf("%+v, row %d: %v costs %v, but %d cells for %v do", of, c.Row, c, c.Changes[0].Cost, cells, cost)
			}
			flipped++
			return nil
		})
		if err != nil || flipped < len(rows)/4 {
			t.Errorf("%+v: %d rows, %v", of, flipped, err)
		}
	}
}

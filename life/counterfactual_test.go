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

// Along lines every number counts: of three columns with hundreds of numbers, the
// smallest changes of two cells and more are found without trying all of them.
func TestChangesAlongLinesAreTheSmallest(t *testing.T) {
	const n = 150
	known := func(col, i int) float64 { return math.Round(1000*math.Pow(float64(i)/n, 1+0.3*float64(col))) / 10 }
	y := func(a, b, c float64) float64 { return a/4 - b/7 + 15*math.Sin(c/20) + a*c/900 }
	var text, all strings.Builder
	text.WriteString("a,b,c,y\n")
	all.WriteString("a,b,c\n")
	var rows [][3]float64
	for k := range 6 * n {
		i, j, l := k%n, (k*37+k/n*11)%n, (k*91+k/n*53)%n
		a, b, c := known(0, i), known(1, j), known(2, l)
		fmt.Fprintf(&text, "%v,%v,%v,%.2f\n", a, b, c, y(a, b, c)+float64(k*7%13)/4)
		if k%97 == 0 {
			rows = append(rows, [3]float64{a, b, c})
		}
	}
	var grid [][3]float64
	for _, row := range rows { // every other value of two cells beside each row
		for i := range n {
			for j := range n {
				for _, to := range [][3]float64{{known(0, i), known(1, j), row[2]}, {known(0, i), row[1], known(2, j)}, {row[0], known(1, i), known(2, j)}} {
					grid = append(grid, to)
					fmt.Fprintf(&all, "%v,%v,%v\n", to[0], to[1], to[2])
				}
			}
		}
	}
	folder := t.TempDir()
	h := &life.Home{Seed: 1}
	find := func(name, text string) *life.Data {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := h.Find(path, life.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: find("rows.csv", text.String()), Target: "y", Choice: life.Choice{Learner: "rulenet"}})
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]float64, 0, len(grid))
	if _, err = h.Predict(context.Background(), p, find("all.csv", all.String()), func(_ int, batch *table.Table, out *learn.Predictions) error {
		answers = append(answers, out.Mean[:batch.Rows()]...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var some strings.Builder
	some.WriteString("a,b,c\n")
	for _, row := range rows {
		fmt.Fprintf(&some, "%v,%v,%v\n", row[0], row[1], row[2])
	}
	var scale [3]float64
	for col := range scale {
		scale[col] = known(col, n-1)
	}
	flips := map[int]int{} // by the number of cells
	for _, limit := range []float64{15, 30, 42} {
		at := 0
		err = h.Change(context.Background(), p, find("some.csv", some.String()), nil, life.Wish{To: fmt.Sprintf(">%v", limit), Limit: 1}, func(c *life.Changed) error {
			row := rows[c.Row-1]
			least, cheapest := 4, math.Inf(1)
			for range 3 * n * n {
				cells, cost := 0, 0.0
				for col := range scale {
					if grid[at][col] != row[col] {
						cells++
						cost += math.Abs(grid[at][col]-row[col]) / scale[col]
					}
				}
				if answers[at] > limit && (cells < least || cells == least && cost < cheapest) {
					least, cheapest = cells, cost
				}
				at++
			}
			switch {
			case c.Already || least == 4: // with the third cell it may be found
			case len(c.Changes) != 1 || !c.Exact || len(c.Changes[0].Set) != least || math.Abs(c.Changes[0].Cost-cheapest) > 1e-9:
				t.Errorf(">%v, row %v: %v costs %v, but %d cells for %v do", limit, row, c, c.Changes, least, cheapest)
			default:
				flips[least]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if flips[1] == 0 || flips[2] == 0 {
		t.Errorf("of one cell and of two: %v", flips)
	}
	t.Log(flips)
}

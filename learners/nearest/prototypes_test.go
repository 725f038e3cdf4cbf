package nearest

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// noisy is two clusters with some rows of the wrong class amid them.
func noisy(t testing.TB, rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 9))
	var points [][2]float64
	var classes []string
	for i := range rows {
		class := i % 2
		points = append(points, [2]float64{4*float64(class) + random.NormFloat64(), random.NormFloat64()})
		if random.IntN(10) == 0 {
			class = 1 - class
		}
		classes = append(classes, []string{"a", "b"}[class])
	}
	return plane(t, points, classes...)
}

// Editing takes noise away, condensing what lies inside: fewer rows answer, and
// it is said what that costs.
func TestPrototypes(t *testing.T) {
	rows := noisy(t, 400, 1)
	clean := plane(t, [][2]float64{{0, 0}, {4, 0}, {-1, 1}, {5, -1}}, "a", "b", "a", "b")
	for prototypes, most := range map[string]float64{"edit": 375, "condense": 200, "both": 60} {
		m := learnt(t, Name, rows, "k=1", "scale=sd", "prototypes="+prototypes).(*Model)
		if m.cases.weight > most || m.cases.weight < 2 {
			t.Errorf("%s: %v rows are kept", prototypes, m.cases.weight)
		}
		c := m.chosen.Condensed
		if c == nil || c.Rows != 400 || c.Kept != m.cases.weight || !(c.Before > 0.7 && c.Before < 1) || !(c.After > 0.5) {
			t.Fatalf("%s: %+v", prototypes, c)
		}
		if remarks, err := m.Remarks(); err != nil || len(remarks) != 1 || !strings.Contains(remarks[0].String(), "prototypes") {
			t.Errorf("%s: %v, %v", prototypes, remarks, err)
		}
		if prototypes != "condense" {
			p := answer(t, m, clean)
			for r := range clean.Rows() {
				if learn.Best(p.Row(r), m.classes()) != int(clean.Columns[2].Codes[r]) {
					t.Errorf("%s: row %d is wrong", prototypes, r+1)
				}
			}
			if c.After < c.Before {
				t.Errorf("%s: noise was not taken away: %+v", prototypes, c)
			}
		}
		if learn.PromiseOf(m).Contract != learn.None {
			t.Errorf("%s promises %v", prototypes, learn.PromiseOf(m).Contract)
		}
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(parts)
		if err != nil || again.Size() != m.Size() {
			t.Errorf("%s: read back: %v, %v", prototypes, again, err)
		}
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		more, _, err := table.Conform(noisy(t, 50, 2), m.Schema(), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(context.Background(), more); err != nil {
			t.Fatal(err)
		}
		if n, err := u.Freeze(context.Background()); err != nil || n.Size().Rows > m.cases.weight+50 {
			t.Errorf("%s: updated: %v", prototypes, err)
		}
	}
	// Hart's law: the nearest prototype of each row is of its class.
	m := learnt(t, Name, rows, "k=1", "scale=sd", "prototypes=condense").(*Model)
	full := learnt(t, Name, rows, "k=1", "scale=sd").(*Model)
	keep := make([]bool, full.cases.count())
	for i := range keep {
		keep[i] = true
	}
	if err := full.condense(context.Background(), keep); err != nil {
		t.Fatal(err)
	}
	s := newSearch(full.metric)
	for i := range keep {
		s.askCase(i, 1)
		for j := range keep {
			if keep[j] {
				s.look(j)
			}
		}
		if near := s.found(); full.cases.classes[near[0].at] != full.cases.classes[i] {
			t.Fatalf("row %d is not answered by its prototypes", i+1)
		}
	}
	if m.Size().Rows >= full.Size().Rows {
		t.Error("nothing was condensed")
	}
	if _, err := learning(Name, line(t, 1, 2, 3, 4), "prototypes=edit"); err == nil || !strings.Contains(err.Error(), "prototypes are of classes") {
		t.Error(err)
	}
}

// Axes that are stretched for each question: a column that hides the class counts
// for less where it does, and distances are still the sum of their columns.
func TestStretchLocally(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	draw := func(rows int) *table.Table {
		var points [][2]float64
		var classes []string
		for range rows {
			x := random.Float64()
			points = append(points, [2]float64{x, 9 * random.Float64()})
			classes = append(classes, map[bool]string{true: "a", false: "b"}[x < 0.5])
		}
		return plane(t, points, classes...)
	}
	rows, asked := draw(200), draw(300)
	right := func(stretch string) (n int) {
		m := learnt(t, Name, rows, "k=3", "scale=none", "stretch="+stretch).(*Model)
		p := answer(t, m, asked)
		for r := range asked.Rows() {
			if m.classes()[learn.Best(p.Row(r), m.classes())] == asked.Text(r, 2) {
				n++
			}
		}
		q, _, err := table.Conform(asked, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Explain(q, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Cases {
			squares := 0.0
			for _, column := range c.Columns {
				squares += column.Distance * column.Distance
			}
			if math.Abs(math.Sqrt(squares)-c.Distance) > 1e-9 {
				t.Errorf("%s: columns add up to %v, the distance is %v", stretch, math.Sqrt(squares), c.Distance)
			}
		}
		return n
	}
	if plain, locally := right("none"), right("local"); locally <= plain {
		t.Errorf("%d of 300 are right with axes stretched for each question, %d without", locally, plain)
	}
}

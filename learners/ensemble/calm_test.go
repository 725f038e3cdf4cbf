package ensemble

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/table"
)

// noisy is a number that decides the class in so many of a hundred rows, and one that
// says nothing.
func noisy(rows, sure int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 9))
	s := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "z", Kind: table.Numeric}, {Name: "class", Values: []string{"no", "yes"}}}}
	c := make([]table.Column, 3)
	for range rows {
		x, is := random.Float64(), int32(0)
		if (x > 0.3) == (random.IntN(100) < sure) {
			is = 1
		}
		c[0].Floats, c[1].Floats, c[2].Codes = append(c[0].Floats, x), append(c[1].Floats, random.Float64()), append(c[2].Codes, is)
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Where classes are noise, members are not boosted, and are right about as often as the
// base alone: of 2,000 rows at 75 %, two that are as good differ by less than 4 points
// in all but three of a thousand draws (three deviations of a difference).
func TestNoiseIsNotBoosted(t *testing.T) {
	rows, fresh := noisy(600, 75, 1), noisy(2000, 75, 2)
	right := func(name string, settings map[string]string) float64 {
		l, err := learn.New(name, settings)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Seed: 1}.At(2))
		if err != nil {
			t.Fatal(err)
		}
		said, err := say(t.Context(), m, fresh)
		if err != nil {
			t.Fatal(err)
		}
		n := 0.0
		for r, class := range fresh.Columns[2].Codes {
			if said[r] == class {
				n++
			}
		}
		return n / float64(len(said))
	}
	alone := right("tree", nil)
	boosted := right(Name, map[string]string{"base": "tree", "boost": "always"})
	got := right(Name, map[string]string{"base": "tree"})
	if t.Logf("%.3f alone, %.3f boosted, %.3f by default", alone, boosted, got); got < alone-0.04 || got < boosted {
		t.Errorf("%.3f, alone %.3f, boosted %.3f", got, alone, boosted)
	}
}

package genetic

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every order is a schedule: machines do one operation at a time, operations of a
// job follow each other, offspring have the jobs of their parents, and nothing ends
// before the longest job or the busiest machine could.
func TestOrdersAreSchedules(t *testing.T) {
	shop := FisherThompson6()
	species, err := JobShop(shop)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a, b := species.Random(r), species.Random(r)
		c, d := species.Cross(r, a, b)
		for _, order := range []Order{a, c, d, species.Mutate(r, a)} {
			if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, slices.Sorted(slices.Values(a))) {
				t.Fatalf("%v has other jobs than %v", order, a)
			}
			plan, makespan := shop.Schedule(order)
			for i, x := range plan {
				if x.To-x.From != shop[x.Job][x.Operation].Time || x.From < 0 || x.To > makespan {
					t.Fatalf("%+v of %d", x, makespan)
				}
				for _, y := range plan[:i] {
					if (x.Machine == y.Machine || x.Job == y.Job) && x.From < y.To && y.From < x.To {
						t.Fatalf("%+v and %+v overlap", x, y)
					}
					if x.Job == y.Job && (x.Operation > y.Operation) != (x.From >= y.To) {
						t.Fatalf("%+v and %+v are in the wrong order", x, y)
					}
				}
			}
			if makespan < 55 {
				t.Fatalf("a schedule of %d, and the shortest takes 55", makespan)
			}
		}
	})
}

func TestJobShopRefusesNothingToDo(t *testing.T) {
	for _, s := range []Shop{nil, {{{0, 5}}}, {{{0, 0}, {1, 0}}}, {{{0, -1}, {1, 2}}}} {
		if _, err := JobShop(s); err == nil {
			t.Errorf("%v is scheduled", s)
		}
	}
}

// The shortest schedule of six jobs on six machines is found.
func TestJobShopIsSolved(t *testing.T) {
	species, err := JobShop(FisherThompson6())
	if err != nil {
		t.Fatal(err)
	}
	ga := &GA[Order]{Species: species, Size: 200, Replaced: .8, Mutation: .3, Elite: 2, Generations: 200, Threshold: 197. / 55, Selection: Selection{Method: Tournament}}
	r, err := ga.Evolve(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, makespan := FisherThompson6().Schedule(r.Best); makespan > 55 {
		t.Errorf("the best takes %d, expected 55 (%s)", makespan, r.Stopped)
	}
}

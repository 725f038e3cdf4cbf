package cover

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

// The four overcast days of fourteen, nine of which were played on, are all
// played on: 4/14·log₂(14/9).
func TestJ(t *testing.T) {
	if j, want := J(4, 4, 9, 14), 4./14*math.Log2(14./9); math.Abs(j-want) > 1e-12 {
		t.Errorf("J = %v, expected %v", j, want)
	}
	if j := J(3, 6, 7, 14); math.Abs(j) > 1e-12 {
		t.Errorf("a rule that says what is known tells %v bits", j)
	}
}

// What the bound leaves out is never better than what is kept: the best rules are
// those that looking at every conjunction finds.
func TestBoundLeavesNothingOut(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 20 {
		x := randomExamples(t, random)
		c := newCovering(x, settings{Algorithm: itruleName, MinRows: 1, MaxTests: 3}, 1)
		if err := c.index(context.Background()); err != nil {
			t.Fatal(err)
		}
		s := &itrule{covering: c, ctx: context.Background(), literals: c.literals(), class: 1, of: bits.New(x.rows), all: float64(x.rows)}
		for r, class := range x.class {
			if class == 1 {
				s.of.Put(r)
			}
		}
		s.total = c.weigh(s.of)
		if err := s.extend(nil, bits.Fill(x.rows)); err != nil {
			t.Fatal(err)
		}
		var every []float64
		s.everything(nil, bits.Fill(x.rows), &every)
		slices.SortFunc(every, func(a, b float64) int { return -cmp.Compare(a, b) })
		for i := range s.kept {
			if math.Abs(s.kept[i].measure-every[i]) > 1e-12 {
				t.Fatalf("the rule kept as number %d tells %v bits, there is one of %v", i+1, s.kept[i].measure, every[i])
			}
		}
		if len(s.kept) != min(itruleKept, len(every)) {
			t.Errorf("%d of %d rules are kept", len(s.kept), len(every))
		}
	}
}

// everything adds what each conjunction tells that speaks for the class.
func (s *itrule) everything(places []int, rows bits.Set, tells *[]float64) {
	first := 0
	if len(places) > 0 {
		first = places[len(places)-1] + 1
	}
	for i := first; i < len(s.literals); i++ {
		if slices.ContainsFunc(places, func(p int) bool { return s.clash(p, i) }) {
			continue
		}
		covered, right := bits.New(s.rowCount()), bits.New(s.rowCount())
		bits.And(covered, rows, s.literals[i].rows)
		bits.And(right, covered, s.of)
		n, k := s.weigh(covered), s.weigh(right)
		if k >= 1 && k/n > s.total/s.all {
			*tells = append(*tells, J(k, n, s.total, s.all))
		}
		if n >= 1 && len(places) < 2 {
			s.everything(append(slices.Clone(places), i), covered, tells)
		}
	}
}

func randomExamples(t *testing.T, random *rand.Rand) *examples {
	const rows = 60
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "a", Values: []string{"p", "q", "r"}}, {Name: "b", Values: []string{"s", "t"}}, {Name: "c", Values: []string{"u", "v", "w"}},
		{Name: "x", Kind: table.Numeric}, {Name: "y", Values: []string{"no", "yes"}},
	}}
	columns := make([]table.Column, 5)
	for range rows {
		for j, n := range []int{3, 2, 3, 0, 0} {
			if n > 0 {
				columns[j].Codes = append(columns[j].Codes, int32(random.IntN(n)))
			}
		}
		columns[3].Floats = append(columns[3].Floats, float64(random.IntN(12)))
		columns[4].Codes = append(columns[4].Codes, int32(random.IntN(2)))
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := newExamples(context.Background(), tab, 4)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

package bits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	sunny, windy := New(100), New(100)
	for _, day := range []int{1, 2, 8, 9, 70} {
		sunny.Put(day)
	}
	for _, day := range []int{2, 6, 9, 70, 99} {
		windy.Put(day)
	}
	fmt.Println(AndCount(sunny, windy))
	both := New(100)
	And(both, sunny, windy)
	fmt.Println(slices.Collect(both.All))
	// Output:
	// 3
	// [2 9 70]
}

// set draws a set over n rows together with the same set as a slice of bools.
func set(t *rapid.T, n int, name string) (Set, []bool) {
	plain := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, name)
	s := New(n)
	for i, in := range plain {
		if in {
			s.Put(i)
		}
	}
	return s, plain
}

func TestSetsAgreeWithBools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1300).Draw(t, "rows")
		a, pa := set(t, n, "a")
		b, pb := set(t, n, "b")
		and, or, without := New(n), New(n), New(n)
		And(and, a, b)
		Or(or, a, b)
		AndNot(without, a, b)
		count, both := 0, 0
		var rows []int
		for i := range n {
			if and.Get(i) != (pa[i] && pb[i]) || or.Get(i) != (pa[i] || pb[i]) || without.Get(i) != (pa[i] && !pb[i]) {
				t.Fatalf("row %d: and %v, or %v, and not %v of %v and %v", i, and.Get(i), or.Get(i), without.Get(i), pa[i], pb[i])
			}
			if pa[i] {
				count++
				rows = append(rows, i)
			}
			if pa[i] && pb[i] {
				both++
			}
		}
		if a.Count() != count || AndCount(a, b) != both || a.Any() != (count > 0) {
			t.Fatalf("Count %d, AndCount %d, Any %v; expected %d, %d", a.Count(), AndCount(a, b), a.Any(), count, both)
		}
		if got := slices.Collect(a.All); !slices.Equal(got, rows) {
			t.Fatalf("All = %v, expected %v", got, rows)
		}
		And(a, a, b)
		if !slices.Equal(a, and) {
			t.Fatal("And in place differs")
		}
	})
}

func TestFill(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128, 1000} {
		s := Fill(n)
		if s.Count() != n || len(s) != Words(n) {
			t.Errorf("Fill(%d) has %d rows in %d words", n, s.Count(), len(s))
		}
	}
	s := Fill(200)
	s.Fill(70)
	if s.Count() != 70 || s.Get(70) {
		t.Errorf("refilled with 70 rows, has %d", s.Count())
	}
	for row := range s.All {
		if row == 3 {
			break
		}
	}
}

func random(n int) Set {
	r := rand.New(rand.NewPCG(1, 2))
	s := New(n)
	for i := range s {
		s[i] = r.Uint64()
	}
	return s
}

func BenchmarkAndCount(b *testing.B) {
	x, y := random(1<<20), random(1<<20)
	b.SetBytes(1 << 18)
	b.ReportAllocs()
	for b.Loop() {
		AndCount(x, y)
	}
}

func BenchmarkAnd(b *testing.B) {
	x, y, z := random(1<<20), random(1<<20), New(1<<20)
	b.SetBytes(1 << 18)
	b.ReportAllocs()
	for b.Loop() {
		And(z, x, y)
	}
}

func BenchmarkCount(b *testing.B) {
	x := random(1 << 20)
	b.SetBytes(1 << 17)
	b.ReportAllocs()
	for b.Loop() {
		x.Count()
	}
}

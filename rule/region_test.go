package rule

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bits"
)

func parsed(src string) *Rule {
	b, err := Parse("test", []byte(src))
	if err != nil {
		panic(err)
	}
	return &b.Rules[0]
}

func ExampleCanonical() {
	r := parsed("IF x > 3 AND outlook NOT IN {rain} AND x <= 5 AND outlook IN {sunny, rain, overcast} THEN play = yes")
	c := r.Canonical()
	fmt.Println(&c)
	fmt.Println(c.ID() == r.ID())
	// Output:
	// IF outlook IN {overcast, sunny} AND 3 < x <= 5 THEN play = yes
	// true
}

func ExampleContradict() {
	a := parsed("IF fever > 38 AND cough = yes THEN flu = yes WITH 0.9")
	b := parsed("IF fever <= 39 THEN flu = no WITH 0.8")
	region, ok := Contradict(a, b, nil)
	fmt.Println(region, ok)
	// Output: [cough = yes 38 < fever <= 39] true
}

func rows(t interface{ Fatal(...any) }, tests []Test) bits.Set {
	m, err := NewMatcher(tests, every.Schema)
	if err != nil {
		t.Fatal(tests, err)
	}
	set := bits.New(every.Rows())
	m.Match(every, set)
	return set
}

var every = everyRow()

// within reports whether a is a subset of b.
func within(a, b bits.Set) bool { return bits.AndCount(a, b) == a.Count() }

// TestRegionsAreExact compares subsumption, overlap and the normal form with
// an enumeration of every distinguishable row.
func TestRegionsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(smallTest(), 0, 4).Draw(t, "a")
		b := rapid.SliceOfN(smallTest(), 0, 4).Draw(t, "b")
		ra, rb := rows(t, a), rows(t, b)
		if got, want := Subsumes(a, b, every.Schema), within(rb, ra); got != want {
			t.Fatalf("%v subsumes %v: %v, expected %v", a, b, got, want)
		}
		region, ok := Overlap(a, b, every.Schema)
		if want := bits.AndCount(ra, rb) > 0; ok != want {
			t.Fatalf("%v overlaps %v: %v, expected %v", a, b, ok, want)
		}
		if ok {
			both := bits.New(every.Rows())
			bits.And(both, ra, rb)
			if got := rows(t, region); !slices.Equal(got, both) {
				t.Fatalf("%v and %v overlap in %v", a, b, region)
			}
			again, _ := Overlap(b, a, every.Schema)
			if !slices.EqualFunc(region, again, func(x, y Test) bool { return equalTests(&x, &y) }) {
				t.Fatalf("%v and %v overlap in %v, or %v the other way round", a, b, region, again)
			}
		}
	})
}

// TestRegionsAreSound checks the same for tests on several columns, where
// only one direction is promised.
func TestRegionsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(wideTest(1), 0, 3).Draw(t, "a")
		b := rapid.SliceOfN(wideTest(1), 0, 3).Draw(t, "b")
		ra, rb := rows(t, a), rows(t, b)
		if Subsumes(a, b, every.Schema) && !within(rb, ra) {
			t.Fatalf("%v does not subsume %v", a, b)
		}
		region, ok := Overlap(a, b, every.Schema)
		if !ok && bits.AndCount(ra, rb) > 0 {
			t.Fatalf("%v and %v overlap", a, b)
		}
		if ok {
			both := bits.New(every.Rows())
			bits.And(both, ra, rb)
			if got := rows(t, region); !slices.Equal(got, both) {
				t.Fatalf("%v and %v overlap in %v", a, b, region)
			}
		}
		if !Subsumes(a, a, every.Schema) {
			t.Fatalf("%v does not subsume itself", a)
		}
	})
}

// TestCanonicalIsSound: without a schema, too, the normal form is satisfied by
// the same rows, is its own normal form, and does not depend on the order.
func TestCanonicalIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(wideTest(1), 0, 4).Draw(t, "a")
		normal := Canonical(a)
		if !slices.Equal(rows(t, a), rows(t, normal)) {
			t.Fatalf("%v is not %v", a, normal)
		}
		text := fmt.Sprint(normal)
		if again := fmt.Sprint(Canonical(normal)); again != text {
			t.Fatalf("%v becomes %v and then %v", a, text, again)
		}
		slices.Reverse(a)
		if other := fmt.Sprint(Canonical(a)); other != text {
			t.Fatalf("%v becomes %v, or %v in another order", a, text, other)
		}
	})
}

func TestSubsumesCases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"ALWAYS", "x = 1", true},
		{"x = 1", "ALWAYS", false},
		{"x > 3", "x > 3.5 AND y = 1", true},
		{"x >= 3", "x > 3", true},
		{"x > 3", "x >= 3", false},
		{"x IS KNOWN", "x != a", true},
		{"x IN {a, b}", "x = a", true},
		{"x != c", "x IN {a, b}", true},
		{"x IN {a, b}", "x != c", false},
		{"z > 1", "x = a AND x = b", true}, // no row satisfies the second
		{"1*x + 1*y > 3", "x > 2 AND y >= 1", true},
		{"1*x + 1*y > 3", "x > 2 AND y > 0", false},
		{"1*x + 1*y <= 3", "x < 2 AND y <= 1", true},
		{"x IS KNOWN", "1*x > 3", true},
		{"1*x > 3", "1*x > 3", true},
		{"AT LEAST 2 OF {x > 1, y > 1, z > 1}", "x > 1 AND z > 2", true},
		{"AT LEAST 2 OF {x > 1, y > 1, z > 1}", "x > 1", false},
		{"AT LEAST 2 OF {z > 1, x > 1, y > 1}", "AT LEAST 2 OF {x > 1, y > 1, z > 1}", true},
		{"x > 1 AND y > 1", "AT LEAST 2 OF {x > 1, y > 1}", true},
		{"x = 1.0", "x = 1", false}, // the column may be nominal
		{"x = 1.0", "x = 1 AND x > 0", true},
		{"x = 1.0 AND x = 1", "x = 1 AND x = 1.0", true},
	} {
		a, b := parsed("IF "+c.a+" THEN y = 1").If, parsed("IF "+c.b+" THEN y = 1").If
		if got := Subsumes(a, b, nil); got != c.want {
			t.Errorf("%s subsumes %s: %v", c.a, c.b, got)
		}
	}
}

func TestOverlapCases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"x <= 3", "x > 3", false},
		{"x <= 3", "x >= 3", true},
		{"x IS MISSING", "x != 3", false},
		{"x IS MISSING", "1*x > 3", false},
		{"x < 1 AND y < 1", "1*x + 1*y > 2", false},
		{"x < 1 AND y < 1", "1*x - 1*y > 2", true},
		{"x > 1", "AT LEAST 2 OF {x < 0, x < 0.5, y > 1}", false},
		{"x > 1", "AT LEAST 1 OF {x < 0, x < 0.5, y > 1}", true},
		{"x IN {1, 2}", "x != 1.0", true}, // the column may be nominal
	} {
		a, b := parsed("IF "+c.a+" THEN y = 1").If, parsed("IF "+c.b+" THEN y = 1").If
		if _, got := Overlap(a, b, nil); got != c.want {
			t.Errorf("%s overlaps %s: %v", c.a, c.b, got)
		}
	}
}

// TestNeighbouringNumbers: intervals hold float64 numbers, not reals.
func TestNeighbouringNumbers(t *testing.T) {
	one := []Test{{Op: Between, Column: "x", Low: 1, High: after(after(1)), HighOpen: true}}
	list := []Test{{Op: In, Column: "x", Values: []string{"1", "1.0000000000000002"}}}
	if !Subsumes(list, one, nil) || !Subsumes([]Test{{Op: In, Column: "x", Values: []string{"1.0000000000000002", "5"}}}, one, nil) {
		t.Error("an interval of one number lies in the list")
	}
	two := []Test{{Op: Between, Column: "x", Low: 1, High: after(1), LowClosed: true}}
	if !Subsumes(list, two, nil) || Subsumes(list[:1], []Test{{Op: Ge, Column: "x", Number: 1}}, nil) {
		t.Error("an interval of two numbers lies in the list, a half-line does not")
	}
	if _, ok := Overlap(two, []Test{{Op: NotIn, Column: "x", Values: list[0].Values}}, nil); ok {
		t.Error("nothing is left of the interval")
	}
	for _, c := range []struct{ in, out string }{
		{"x > 1.7976931348623157e308", "x > 1.7976931348623157e308"},
		{"x >= -1.7976931348623157e308", "x >= -1.7976931348623157e308"},
		{"x < 1.7976931348623157e308 AND x > 2.9999999999999996", "3 <= x <= 1.7976931348623155e308"},
		{"x >= 3 AND x <= 3", "x = 3"},
		{"x < 3 AND x != 2 AND x NOT IN {1, 5}", "x < 3 AND x NOT IN {1, 2}"},
		{"x >= 3 AND x != 3", "x > 3"},
		{"x <= 3 AND x != 3", "x < 3"},
		{"x IS KNOWN AND 1*x > 3", "1*x > 3"},
		{"x = a AND x = b", "x = a AND x = b"},
		{"AT LEAST 1 OF {y IN {b, a, b}, x IN {1}}", "AT LEAST 1 OF {x = 1, y IN {a, b}}"},
		{"x = 1 AND x IN {1.0, 2}", "x = 1 AND x IN {1.0, 2}"},
	} {
		r := parsed("IF " + c.in + " THEN y = 1")
		r.If = Canonical(r.If)
		if want := "IF " + c.out + " THEN y = 1"; r.String() != want {
			t.Errorf("%s becomes %v", c.in, r)
		}
	}
}

func TestContradict(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"IF x = 1 THEN y = a", "IF z = 1 THEN y = b", true},
		{"IF x = 1 THEN y = a", "IF x = 2 THEN y = b", false},
		{"IF x = 1 THEN y = a", "IF x = 1 THEN y = a WITH 0.9", false},
		{"IF x = 1 THEN y = a", "IF x = 1 THEN z = b", false},
		{"IF x = 1 THEN y = a WITH 0.3", "IF x = 1 THEN y = b WITH 0.6", false},
		{"IF x = 1 THEN y = a WITH 0.5", "IF x = 1 THEN y = b WITH 0.6", true},
		{"IF x = 1 THEN y = a WITH 0.2", "IF x = 1 THEN y = a WITH 0.6", true},
		{"IF x = 1 THEN y = a", "IF x = 1 THEN y = {a 0.3, b 0.7}", true},
		{"IF x = 1 THEN y ~ 1 ± 0.5", "IF x = 1 THEN y ~ 2 ± 0.4", true},
		{"IF x = 1 THEN y ~ 1 ± 0.5", "IF x = 1 THEN y ~ 2 ± 0.5", false},
	} {
		a, b := parsed(c.a), parsed(c.b)
		_, one := Contradict(a, b, nil)
		_, other := Contradict(b, a, nil)
		if one != c.want || other != c.want {
			t.Errorf("%s and %s: %v and %v", c.a, c.b, one, other)
		}
	}
}

func TestID(t *testing.T) {
	base := parsed("IF a = 1 AND 3 < x <= 5 THEN y = b WITH 0.5 [covered 3]")
	for src, same := range map[string]bool{
		"IF x > 3 AND x <= 5 AND a IN {1} THEN y = b":             true,
		"IF x > 3 AND x <= 5 AND a = 1 THEN y = {a 0.2, b 0.8}":   true,
		"IF x > 3 AND x <= 5 AND a = 1 THEN y = b WORTH 5":        true,
		"IF x > 3 AND x <= 5 AND a = 1 THEN y = c":                false,
		"IF x > 3 AND x <= 5.1 AND a = 1 THEN y = b":              false,
		"IF x > 3 AND x <= 5 AND a = 1 AND b = 1 THEN y = b":      false,
		"IF x > 3 AND x <= 5 AND a = 1 THEN y ~ 3 ± 1":            false,
		"IF x > 3 AND x <= 5 AND a = 1 AND a IS KNOWN THEN y = b": true,
	} {
		if r := parsed(src); (r.ID() == base.ID()) != same {
			t.Errorf("%s has id %s, the base %s", src, r.ID(), base.ID())
		}
	}
	// The id is a promise to files that quote it: it must never change.
	if got := base.ID(); got != identify([]byte("IF a = 1 AND 3 < x <= 5 THEN y = b")) || len(got) != 8 {
		t.Errorf("id %s", got)
	}
	u := Unit{Name: "u", Prior: 0.5, Expect: []Expectation{{Column: "a", Normal: true}}}
	v := u
	v.Prior = 0.7
	if u.ID() != v.ID() || len(u.ID()) != 8 {
		t.Error("a unit's id depends on its prior")
	}
}

package pac

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Class is a hypothesis class as the bounds see it.
type Class struct {
	Name    string
	LogSize float64 // natural logarithm of its size; +Inf if it is infinite
	VC      float64 // its dimension, or a bound on it from above
	Exact   bool    // VC is the dimension itself
	// Small is the class written out, where it is small enough to play the
	// game of mistakes to its end.
	Small *Concepts
}

// mostPlayed is how many concepts a class may have for that.
const mostPlayed = 40

// small returns a class that is written out.
func small(name string, c *Concepts) Class {
	vc, _ := c.VC()
	k := Class{Name: name, LogSize: math.Log(float64(c.Size())), VC: float64(vc), Exact: true}
	if c.Size() <= mostPlayed {
		k.Small = c
	}
	return k
}

// Finite is a class of this many hypotheses, of which nothing else is known.
func Finite(hypotheses float64) Class {
	return Class{Name: fmt.Sprintf("%.6g hypotheses", hypotheses), LogSize: math.Log(hypotheses), VC: math.Log2(hypotheses)}
}

// Conjunctions are conjunctions of literals over n Boolean columns: each
// column, its negation, or neither (section 7.3.2).
func Conjunctions(n int) Class {
	return Class{Name: fmt.Sprintf("conjunctions over %d Boolean columns", n), LogSize: float64(n) * math.Log(3), VC: float64(n), Exact: true}
}

// Unbiased is every concept over n Boolean columns (section 7.3.3).
func Unbiased(n int) Class {
	instances := math.Exp2(float64(n))
	return Class{Name: fmt.Sprintf("all concepts over %d Boolean columns", n), LogSize: instances * math.Ln2, VC: instances, Exact: true}
}

// KTermDNF are disjunctions of k conjunctions over n Boolean columns, which
// can be learnt as KCNF, though not as themselves, in polynomial time.
func KTermDNF(n, k int) Class {
	size := float64(n) * float64(k)
	return Class{Name: fmt.Sprintf("disjunctions of %d terms over %d Boolean columns", k, n), LogSize: size * math.Log(3), VC: size * math.Log2(3)}
}

// KCNF are conjunctions of any number of clauses of at most k literals over n
// Boolean columns.
func KCNF(n, k int) Class {
	clauses := Clauses(n, k)
	return Class{Name: fmt.Sprintf("conjunctions of clauses of up to %d literals over %d Boolean columns", k, n), LogSize: clauses * math.Ln2, VC: clauses}
}

// Clauses counts the disjunctions of 1 to k literals over distinct ones of n
// Boolean columns.
func Clauses(n, k int) float64 {
	sum, choose := 0.0, 1.0
	for j := 1; j <= min(k, n); j++ {
		choose *= float64(n-j+1) / float64(j)
		sum += choose * math.Exp2(float64(j))
	}
	return math.Round(sum)
}

// Rectangles are boxes in r numeric columns (exercise 7.5: 4 in the plane).
func Rectangles(r int) Class {
	return Class{Name: fmt.Sprintf("boxes in %d numeric columns", r), LogSize: math.Inf(1), VC: float64(2 * r), Exact: true}
}

// Perceptron are half-spaces of n numeric columns.
func Perceptron(n int) Class {
	return Class{Name: fmt.Sprintf("half-spaces of %d numeric columns", n), LogSize: math.Inf(1), VC: float64(n + 1), Exact: true}
}

// Layered are acyclic networks of s ≥ 2 perceptrons with r inputs each: their
// dimension is at most 2(r+1)s log₂(es) (theorem 7.4).
func Layered(r, s int) Class {
	vc := 2 * float64(r+1) * float64(s) * math.Log2(math.E*float64(s))
	return Class{Name: fmt.Sprintf("networks of %d perceptrons with %d inputs", s, r), LogSize: math.Inf(1), VC: vc}
}

// DepthTwoTrees are regular decision trees of depth two over n Boolean columns
// (exercise 7.7): 16 n (n−1) of them.
func DepthTwoTrees(n int) Class {
	c := Finite(16 * float64(n) * float64(n-1))
	c.Name = fmt.Sprintf("regular trees of depth 2 over %d Boolean columns", n)
	return c
}

// known are the classes by the name that ParseClass knows them by, with their
// parameters, each with the least value that makes sense.
var known = []struct {
	name  string
	takes []parameter
	make  func(p []int) Class
}{
	{"conjunctions", []parameter{{"n", 1, 0}}, func(p []int) Class {
		c := Conjunctions(p[0])
		if p[0] <= 3 {
			c.Small = ConjunctionsOf(p[0])
		}
		return c
	}},
	{"unbiased", []parameter{{"n", 1, 0}}, func(p []int) Class { return Unbiased(p[0]) }},
	{"kterm", []parameter{{"n", 1, 0}, {"k", 1, 0}}, func(p []int) Class { return KTermDNF(p[0], p[1]) }},
	{"kcnf", []parameter{{"n", 1, 0}, {"k", 1, 0}}, func(p []int) Class { return KCNF(p[0], p[1]) }},
	{"rectangles", []parameter{{"r", 1, 0}}, func(p []int) Class { return Rectangles(p[0]) }},
	{"perceptron", []parameter{{"n", 1, 0}}, func(p []int) Class { return Perceptron(p[0]) }},
	{"layered", []parameter{{"r", 1, 0}, {"s", 2, 0}}, func(p []int) Class { return Layered(p[0], p[1]) }},
	{"trees2", []parameter{{"n", 2, 0}}, func(p []int) Class { return DepthTwoTrees(p[0]) }},
	{"thresholds", onPoints, func(p []int) Class { return small(fmt.Sprintf("thresholds on %d points", p[0]), Thresholds(p[0])) }},
	{"singletons", onPoints, func(p []int) Class { return small(fmt.Sprintf("single ones of %d points", p[0]), Singletons(p[0])) }},
	{"intervals", onPoints, func(p []int) Class { return small(fmt.Sprintf("intervals on %d points", p[0]), IntervalsOn(p[0])) }},
	{"grid", []parameter{{"points", 1, 6}}, func(p []int) Class {
		return small(fmt.Sprintf("rectangles on a grid of %d by %d points", p[0], p[0]), RectanglesOn(p[0]))
	}},
	{"sets", []parameter{{"points", 1, 10}}, func(p []int) Class { return small(fmt.Sprintf("all sets of %d points", p[0]), PowerSet(p[0])) }},
}

// onPoints is the parameter of classes that are written out.
var onPoints = []parameter{{"points", 1, 40}}

type parameter struct {
	name        string
	least, most int // most 0 is mostOfAll
}

// mostOfAll is the largest parameter of a class: beyond it no bound is of use.
const mostOfAll = 1_000_000

// ParseClass reads a class as people write it: "conjunctions:n=10",
// "kcnf:n=10,k=3".
func ParseClass(text string) (Class, error) {
	name, rest, _ := strings.Cut(text, ":")
	var names []string
	for _, c := range known {
		names = append(names, c.name)
		if c.name != name {
			continue
		}
		values, err := parameters(name, rest, c.takes)
		if err != nil {
			return Class{}, err
		}
		return c.make(values), nil
	}
	return Class{}, fmt.Errorf("there is no class %q%s; known are %s", name, spell.Hint(name, names), strings.Join(names, ", "))
}

func parameters(class, text string, takes []parameter) ([]int, error) {
	values := make([]int, len(takes))
	var form []string
	for _, p := range takes {
		form = append(form, p.name+"=…")
	}
	expected := fmt.Sprintf("expected %s:%s", class, strings.Join(form, ","))
	for _, given := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(given, "=")
		i := slices.IndexFunc(takes, func(p parameter) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("%s has no parameter %q; %s", class, name, expected)
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if most := cmp.Or(takes[i].most, mostOfAll); err != nil || n < takes[i].least || n > most {
			return nil, fmt.Errorf("%s=%s is not a whole number from %d to %d; %s", name, value, takes[i].least, most, expected)
		}
		values[i] = n
	}
	for i, v := range values {
		if v == 0 {
			return nil, fmt.Errorf("%s needs %s; %s", class, takes[i].name, expected)
		}
	}
	return values, nil
}

package cases

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

const (
	junction = "Q1 + Q3, Q2 + Q3, T1 + T3, T2 + T3"
	faucet   = "Ct - Qc, Ct + Qh, Cf + Qc, Cf + Qh, Qc + Qm, Qh + Qm, Tc + Tm, Th + Tm"
)

func graphOf(t testing.TB, text string) *graph {
	t.Helper()
	g := &graph{}
	if err := g.add(text); err != nil {
		t.Fatal(err)
	}
	return g
}

// CADET's T-junction in the faucet: so many ways to put every arc onto one, with
// kinds and without; and where how flows mix decides the temperature.
func TestJunctionInFaucet(t *testing.T) {
	const mixing, mixed = ", Q1 - T3, Q2 + T3", ", Qc - Tm, Qh + Tm"
	for _, w := range []struct {
		pattern, graph string
		typed, untyped int
	}{
		{junction, faucet, 4, 16},
		{junction + mixing, faucet + mixed, 2, 2},
		{junction + mixing, faucet, 0, 0},
	} {
		for typed, want := range map[bool]int{true: w.typed, false: w.untyped} {
			m, ways := &matching{typed, mostSteps}, 0
			m.embeddings(graphOf(t, w.pattern), graphOf(t, w.graph), func([]int32, uint64) { ways++ })
			if ways != want {
				t.Errorf("%s in %s, typed %v: %d ways, want %d", w.pattern, w.graph, typed, ways, want)
			}
		}
	}
}

func library(t testing.TB, text string) *Library {
	t.Helper()
	l, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func solve(t testing.TB, l *Library, question string) *Solution {
	t.Helper()
	s, err := l.solve(question)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// names lists the cases of a solution.
func names(s *Solution) (all []string) {
	for _, f := range s.Fragments {
		all = append(all, f.Case)
	}
	slices.Sort(all)
	return all
}

func TestSolve(t *testing.T) {
	l := library(t, "CASE T-junction: a pipe that two run into\n"+junction+"\nCASE cross valve\nC1 - Q1, C1 + Q2\nCASE double valve\nC1 + Q1, C1 + Q2\n")
	if s := solve(t, l, strings.NewReplacer("1", "a", "2", "b", "3", "c").Replace(junction)); !s.Exact || s.Fragments[0].Structure != "a pipe that two run into" || s.Fragments[0].Nodes["Q3"] != "Qc" {
		t.Errorf("the junction itself: %+v", s)
	}
	s := solve(t, l, faucet)
	if !s.Complete || s.Exact || !slices.Equal(names(s), []string{"T-junction", "cross valve", "double valve"}) || len(s.Rewrites) != 0 {
		t.Errorf("the faucet: %+v", s)
	}
	if s.Retrieved[0].Case != "T-junction" || s.Retrieved[0].Matches != 4 || s.Retrieved[0].Similarity != .5 {
		t.Errorf("retrieved: %+v", s.Retrieved)
	}
	// Without the double valve, a second cross valve and something that turns
	// its one outlet around would do: what is missing is said.
	s = solve(t, library(t, "CASE T-junction\n"+junction+"\nCASE cross valve\nC1 - Q1, C1 + Q2\n"), faucet)
	if s.Complete || !slices.Equal(s.Uncovered, []string{"x1 - Qc"}) || !slices.Equal(s.Rewrites, []string{"Cf + Qc becomes Cf - x1, x1 - Qc"}) {
		t.Errorf("without a double valve: %+v", s)
	}
}

// Each rule that keeps what a function does, and two in turn.
func TestRewrites(t *testing.T) {
	for _, w := range []struct{ library, question, becomes string }{
		{"CASE lever\nA + x, x + B", "A + B", "A + B becomes A + x1, x1 + B"},
		{"CASE lever\nA - x, x - B", "A + B", "A + B becomes A - x1, x1 - B"},
		{"CASE lever\nA + x, x - B", "A - B", "A - B becomes A + x1, x1 - B"},
		{"CASE lever\nA - x, x + B", "A - B", "A - B becomes A - x1, x1 + B"},
		{"CASE pump\nA + Y\nCASE valve\nY - B", "A - B", "A - B becomes A + x1, x1 - B"},
		{"CASE pump\nA + Y\nCASE valve\nZ - B", "A - B", ""}, // what the pump gives is not what the valve takes
		{"CASE lever\nA - x, x - B", "A + B, B + C", ""},
		{"CASE train\nA - x, x + y, y - B", "A + B", "A + B becomes A + x1, x1 + B"},
	} {
		s := solve(t, library(t, w.library), w.question)
		if w.becomes == "" {
			if s.Complete {
				t.Errorf("%s in %s: %+v", w.question, w.library, s)
			}
			continue
		}
		if !s.Complete || len(s.Rewrites) == 0 {
			t.Errorf("%s in %s: %+v", w.question, w.library, s)
			continue
		}
		if len(s.Rewrites) == 1 && s.Rewrites[0] != w.becomes {
			t.Errorf("%s in %s: %q, want %q", w.question, w.library, s.Rewrites, w.becomes)
		}
	}
}

// A case that failed is passed over for like questions, and only for these.
func TestFailures(t *testing.T) {
	const text = "CASE joint\nQ1 + Q2\nCASE pipe\nQ1 + Q2, Q2 + Q3\n"
	if s := solve(t, library(t, text), "Qa + Qb, Qz - Qb"); !slices.Equal(names(s), []string{"joint"}) {
		t.Fatalf("%+v", s)
	}
	l := library(t, text+"REJECT joint\nQ1 + Q2, Q3 - Q2\n")
	s := solve(t, l, "Qa + Qb, Qz - Qb, Qb + Qd")
	if slices.Contains(names(s), "joint") || !slices.ContainsFunc(s.Retrieved, func(r Retrieved) bool { return r.Case == "joint" && r.Rejected }) {
		t.Errorf("a like question: %+v", s)
	}
	if s := solve(t, l, "Qa + Qb, Qc + Qb"); !slices.Equal(names(s), []string{"joint", "joint"}) {
		t.Errorf("another question: %+v", s)
	}
}

// The largest common subgraph, by hand.
func TestShared(t *testing.T) {
	for _, w := range []struct {
		a, b string
		arcs int
	}{
		{junction, faucet, 4}, {"A + B, B + C", "A + B, C + B", 1}, {"A + B, B - C", "X + Y, Y - Z, Z + X", 2}, {"A + B", "A - B", 0},
	} {
		m := &matching{false, mostSteps}
		if got := m.shared(graphOf(t, w.a), graphOf(t, w.b)); got != w.arcs {
			t.Errorf("%s and %s share %d arcs, want %d", w.a, w.b, got, w.arcs)
		}
	}
}

// The library that is shipped has a few of CADET's cases, and designs a faucet.
func TestCadet(t *testing.T) {
	text, err := os.ReadFile("testdata/cadet.cases")
	if err != nil {
		t.Fatal(err)
	}
	l := library(t, string(text))
	if s := solve(t, l, faucet); !s.Complete || !slices.Contains(names(s), "T-junction") {
		t.Errorf("%v", s)
	}
}

func TestBadLibraries(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no cases",
		"Q1 + Q2":                       "line 1: expected CASE",
		"CASE":                          "line 1: CASE: expected the name",
		"CASE a\nQ1 +":                  "line 2: \"Q1 +\": expected an arc of three words",
		"CASE a\nCASE b\nQ1 + Q2":       "line 1: it has no arcs",
		"CASE a\nQ1 + Q2\nCASE a\n":     "line 3: CASE a: there is such a case already",
		"CASE a\nQ1 + Q2\nREJECT b\n":   "line 3: REJECT b: there is no such case",
		"CASE a\nQ1 + Q2, Q1 + Q2":      "the arc is there twice",
		"KINDS some\nCASE a\nQ1 + Q2\n": "line 1: KINDS some: expected capitals or none",
		"CASE \xff":                     "not UTF-8",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	l := library(t, "CASE a\nQ1 + Q2")
	for _, question := range []string{"", "Q1 +", "Q1=3"} {
		if _, err := l.solve(question); err == nil {
			t.Errorf("%q is answered", question)
		}
	}
}

func FuzzLibrary(f *testing.F) {
	f.Add([]byte("CASE a: b\nQ1 + Q2\nREJECT a\nQ1 - Q2\n"), "Q1 + Q2, Q2 - Q3")
	f.Add([]byte("KINDS none\nCASE a\nA + B, B + A, A + A\n"), faucet)
	f.Fuzz(func(t *testing.T, text []byte, question string) {
		defer bounded.Start(t, len(text)+len(question))()
		l, err := Parse(text)
		if err != nil {
			return
		}
		s, err := l.solve(question)
		if err != nil {
			return
		}
		if s.Complete != (len(s.Uncovered) == 0) || s.String() == "" {
			t.Fatalf("%+v", s)
		}
		parts, err := l.Parts()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(parts[0].Data); err != nil || len(again.cases) != len(l.cases) {
			t.Fatal("the saved library is another", err)
		}
	})
}

// Reading a library takes time in proportion to it.
func TestGrowth(t *testing.T) {
	for name, line := range map[string]func(i int) string{
		"cases":    func(i int) string { return fmt.Sprintf("CASE c%d\nA + B\n", i) },
		"failures": func(i int) string { return strings.Repeat("CASE a\nA + B\n", max(0, 1-i)) + "REJECT a\nA + B\n" },
		"comments": func(int) string { return "# # #\n" },
	} {
		t.Run("cases.Parse/"+name, func(t *testing.T) {
			bounded.Worst(t, func(size int) []byte {
				var b []byte
				for i := 0; len(b) < size; i++ {
					b = append(b, line(i)...)
				}
				return b
			}, func(b []byte) { _, _ = Parse(b) })
		})
	}
}

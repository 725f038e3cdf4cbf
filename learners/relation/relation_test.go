package relation_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/relation"
)

const family = `
parent(ann, bea). parent(bea, cid). parent(cid, dot).
female(ann). female(bea).
grandmother(X, Y) :- parent(X, Z), parent(Z, Y), female(X).
ancestor(X, Y) :- ancestor(X, Z), ancestor(Z, Y).
ancestor(X, Y) :- parent(X, Y).
`

func TestProgramAnswers(t *testing.T) {
	p, err := relation.Parse([]byte(family))
	if err != nil {
		t.Fatal(err)
	}
	for goal, want := range map[string][]string{
		"grandmother(X, dot)":           {"bea"},
		"ancestor(X, dot)":              {"ann", "bea", "cid"},
		"parent(X, _)":                  {"ann", "bea", "cid"}, // each once
		"grandmother(X, Y), X = bea":    {"bea"},
		`female(X), \+ parent(X, cid).`: {"ann"},
	} {
		s, err := p.Program().Solve(context.Background(), goal)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range s.Bindings {
			got = append(got, b["X"])
		}
		if slices.Sort(got); !slices.Equal(got, want) || len(s.Proofs) != len(want) {
			t.Errorf("%s: %q, expected %q", goal, got, want)
		}
	}
	if s, err := p.Program().Solve(context.Background(), "grandmother(ann, cid)"); err != nil || len(s.Bindings) != 1 || len(s.Bindings[0]) != 0 || !strings.Contains(s.String(), "  grandmother(ann,cid)\n    parent(ann,bea)\n") {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := p.Program().Solve(context.Background(), "grandmother(cid, X)"); err != nil || s.String() != "no\n" {
		t.Errorf("%v, %v", s, err)
	}
	for goal, want := range map[string]string{
		"grandfather(X, dot)": "says nothing of grandfather/2; it has ancestor/2, female/1, grandmother/2, parent/2",
		"parent(X)":           "says nothing of parent/1; it has parent/2",
		"parent(X":            "goal:1:10: expected ), found the full stop",
	} {
		if _, err := p.Program().Solve(context.Background(), goal); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", goal, err)
		}
	}
}

func TestSavedProgram(t *testing.T) {
	p, err := relation.Parse([]byte(family))
	if err != nil {
		t.Fatal(err)
	}
	data, err := learn.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil || again.Learner() != relation.Name || again.Size() != p.Size() {
		t.Errorf("%v, %v", again, err)
	}
	for _, text := range []string{"", "p(a", "% nothing"} {
		if _, err := relation.Parse([]byte(text)); err == nil {
			t.Errorf("%q is no program", text)
		}
	}
}

// A program is read in time and memory in proportion to its size.
func TestParsingGrowsInProportion(t *testing.T) {
	bounded.Worst(t, func(size int) []byte { return []byte(strings.Repeat("p(a, X) :- q(X, X). ", size/20)) }, func(b []byte) {
		_, _ = relation.Parse(b)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(family))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		if len(text) > 1<<14 {
			return
		}
		p, err := relation.Parse(text)
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = p.Program().Solve(ctx, "X = 1")
	})
}

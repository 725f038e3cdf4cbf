package relation_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learners/relation"
	"github.com/accrete-ml/accrete/logic"
)

// closed returns the tuples of a relation over all constants: those that are
// named, and all others.
func closed(of string, arity int, positives [][]string, constants ...[]string) relation.Tuples {
	t := relation.Tuples{Of: logic.Predicate{Name: of, Arity: arity}}
	var fill func(tuple []string)
	fill = func(tuple []string) {
		if len(tuple) < arity {
			for _, c := range constants[min(len(tuple), len(constants)-1)] {
				fill(append(slices.Clone(tuple), c))
			}
			return
		}
		terms := make([]logic.Term, arity)
		for i, name := range tuple {
			terms[i] = logic.Atom(name)
		}
		if slices.ContainsFunc(positives, func(p []string) bool { return slices.Equal(p, tuple) }) {
			t.Positives = append(t.Positives, terms)
		} else {
			t.Negatives = append(t.Negatives, terms)
		}
	}
	fill(nil)
	return t
}

func facts(t *testing.T, text string) *logic.Program {
	t.Helper()
	p, err := logic.Read("facts.pl", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var granddaughter = closed("granddaughter", 2, [][]string{{"victor", "sharon"}}, []string{"victor", "sharon", "bob", "tom"})

const grandfather = "father(sharon, bob). father(tom, bob). father(bob, victor). female(sharon)."

// Mitchell 1997, section 10.5.1 and 10.5.2, as worked out: 16 bindings, one of them
// positive.
func TestFoilGains(t *testing.T) {
	steps, err := relation.Candidates(facts(t, grandfather), granddaughter, relation.FoilOptions{Negation: true})
	if err != nil {
		t.Fatal(err)
	}
	gains := map[string]relation.FoilStep{}
	for _, s := range steps {
		gains[s.Literal.Format([]string{"X", "Y", "Z"})] = s
	}
	for literal, want := range map[string]struct {
		gain               float64
		positive, negative int
	}{
		"female(Y)": {2, 1, 3}, "father(Y,Z)": {0.415037, 1, 11}, "father(Z,X)": {0.415037, 1, 11},
		`\+ female(X)`: {0.415037, 1, 11}, `\+ X = Y`: {0.415037, 1, 11}, `\+ father(X,Y)`: {0.299560, 1, 12}, `\+ father(Y,X)`: {0.299560, 1, 12},
		"X = Y": {0, 0, 4}, "female(X)": {0, 0, 4}, "father(X,Y)": {0, 0, 3}, "father(Y,X)": {0, 0, 3}, "father(X,Z)": {0, 0, 12}, "father(Z,Y)": {0, 0, 12},
	} {
		got, ok := gains[literal]
		if !ok || math.Abs(got.Gain-want.gain) > 1e-6 || got.Positive != want.positive || got.Negative != want.negative {
			t.Errorf("%s: %+v, expected %+v", literal, got, want)
		}
	}
}

// written is clauses as text, with the gains of their literals.
func learnt(t *testing.T, program string, tuples relation.Tuples, o relation.FoilOptions) []string {
	t.Helper()
	all, err := relation.Foil(context.Background(), facts(t, program), tuples, o)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range all {
		line := c.Clause.String()
		for _, s := range c.Steps {
			line += fmt.Sprintf(" %.4f (%d,%d)", s.Gain, s.Positive, s.Negative)
		}
		lines = append(lines, line)
	}
	return lines
}

// The worked runs of FOIL: the book's three literals in the order of their gains,
// and two recursive relations, which end because of the guard.
func TestFoilRuns(t *testing.T) {
	if got := learnt(t, grandfather, granddaughter, relation.FoilOptions{}); !slices.Equal(got, []string{
		"granddaughter(A,B) :- female(B), father(C,A), father(B,C). 2.0000 (1,3) 0.4150 (1,2) 1.5850 (1,0)",
	}) {
		t.Errorf("%q", got)
	}
	people := []string{"ann", "bea", "bob", "cid", "dot", "eve"}
	ancestors := closed("ancestor", 2, [][]string{
		{"ann", "bea"}, {"ann", "bob"}, {"ann", "cid"}, {"ann", "dot"}, {"ann", "eve"}, {"bea", "cid"}, {"bea", "dot"}, {"cid", "dot"}, {"bob", "eve"},
	}, people)
	if got := learnt(t, "parent(ann,bea). parent(ann,bob). parent(bea,cid). parent(cid,dot). parent(bob,eve).", ancestors, relation.FoilOptions{Recursion: true}); !slices.Equal(got, []string{
		"ancestor(A,B) :- parent(A,B). 10.0000 (5,0)",
		"ancestor(A,B) :- parent(A,C), ancestor(C,B). 4.9520 (7,16) 6.8648 (4,0)",
	}) {
		t.Errorf("%q", got)
	}
	program, members := lists(3)
	if got := learnt(t, program, members, relation.FoilOptions{Recursion: true, NewVariables: 2}); !slices.Equal(got, []string{
		"member(A,B) :- components(B,A,C). 6.2644 (14,0)",
		"member(A,B) :- components(B,C,D), member(A,D). 1.5412 (8,6) 6.4588 (8,0)",
	}) {
		t.Errorf("%q", got)
	}
}

// lists are the lists over 1 and 2 up to a length, as names, with their components,
// and which of 1 and 2 are members.
func lists(length int) (program string, members relation.Tuples) {
	all := []string{""}
	var b strings.Builder
	for i := 0; i < len(all); i++ {
		if len(all[i]) == length {
			continue
		}
		for _, head := range []string{"1", "2"} {
			all = append(all, head+all[i])
			fmt.Fprintf(&b, "components(l%s, e%s, l%s).\n", head+all[i], head, all[i])
		}
	}
	var positives [][]string
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = "l" + l
		for _, e := range []string{"1", "2"} {
			if strings.Contains(l, e) {
				positives = append(positives, []string{"e" + e, "l" + l})
			}
		}
	}
	return b.String(), closed("member", 2, positives, []string{"e1", "e2"}, names)
}

// What was learnt proves what belongs, and nothing else.
func TestFoilClausesProve(t *testing.T) {
	program, members := lists(3)
	all, err := relation.Foil(context.Background(), facts(t, program), members, relation.FoilOptions{Recursion: true, NewVariables: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := facts(t, program)
	for _, c := range all {
		p.Add(c.Clause)
	}
	for want, tuples := range map[bool][][]logic.Term{true: members.Positives, false: members.Negatives} {
		for _, args := range tuples {
			holds, err := p.Holds(context.Background(), []logic.Literal{{Atom: &logic.Compound{Functor: "member", Args: args}}}, logic.Limits{})
			if err != nil || holds != want {
				t.Errorf("%v: %v, %v", args, holds, err)
			}
		}
	}
}

func TestFoilRefuses(t *testing.T) {
	one := relation.Tuples{Of: logic.Predicate{Name: "p", Arity: 1}, Positives: [][]logic.Term{{logic.Atom("a")}}}
	for text, tuples := range map[string]relation.Tuples{
		"q(X) :- r(X).\nr(a).": one, "q([a]).": one, "q(a).": {Of: one.Of}, "r(a).": {Of: one.Of, Positives: [][]logic.Term{{logic.Atom("a"), logic.Atom("b")}}},
	} {
		if _, err := relation.Foil(context.Background(), facts(t, text), tuples, relation.FoilOptions{}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := relation.Foil(ctx, facts(t, grandfather), granddaughter, relation.FoilOptions{}); err == nil {
		t.Error("it was not stopped")
	}
}

package logic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Modes say what Popper's facts do in Progol's and Aleph's words (Muggleton 1995):
//
//	:- modeh(1, grandchild(+person,+person)).
//	:- modeb(*, father(+person,-person)).
//	:- modeb(*, eyes(+person,#colour)).
//	:- determination(grandchild/2, father/2).
//
// An argument with + is known when the predicate is asked, one with - is found by it, and
// one with # is a constant. How often a predicate may answer (1, *) is read and not needed.
// Without modes of bodies, determinations say which predicates these have.

// The directions of an argument; either is of predicates that have several modes.
const in, out, either, fixed = "in", "out", "either", "constant"

var modeMarks = map[byte]string{'+': in, '-': out, '#': fixed}

// isDeclaration reports whether a directive says what may be used.
func isDeclaration(directive string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(directive), "(")
	return slices.Contains([]string{"modeh", "modeb", "determination"}, strings.TrimSpace(name))
}

// declarations returns the modes and determinations among a program's directives, as text.
func declarations(p *Program) string {
	var b strings.Builder
	for _, d := range p.Directives {
		if text := Format(d, nil); isDeclaration(text) {
			b.WriteString("\n:- " + text + ".")
		}
	}
	return b.String()
}

// mode takes in modeh or modeb, whose words are the recall, if there is one, a predicate
// and its arguments.
func (b *Bias) mode(fact string, words []string) error {
	if len(words) > 0 {
		if _, err := strconv.Atoi(words[0]); err == nil || words[0] == "*" {
			words = words[1:]
		}
	}
	var args []string
	for i := 1; i < len(words); i++ {
		if len(words[i]) == 1 && modeMarks[words[i][0]] != "" && i+1 < len(words) { // a mark that stands apart
			i++
			words[i] = words[i-1] + words[i]
		}
		args = append(args, words[i])
	}
	if len(words) == 0 || modeMarks[words[0][0]] != "" {
		return fmt.Errorf("%s: expected a predicate with its arguments, as in modeb(*,father(+person,-person))", fact)
	}
	var types, directions []string
	for _, a := range args {
		if modeMarks[a[0]] == "" || len(a) == 1 {
			return fmt.Errorf("%s: argument %q has no mode; expected +type, -type or #type", fact, a)
		}
		types, directions = append(types, strings.Trim(a[1:], "'")), append(directions, modeMarks[a[0]])
	}
	of := Predicate{words[0], len(args)}
	if strings.HasPrefix(fact, "modeh") {
		if b.Head.Name != "" && b.Head != of {
			return fmt.Errorf("%s: clauses of %v are to be learnt already; expected one head", fact, b.Head)
		}
		b.Head, b.Types[of.Name], b.Directions[of.Name] = of, types, directions
		return nil
	}
	if known := b.Types[of.Name]; known != nil && !slices.Equal(known, types) {
		return fmt.Errorf("%s: the arguments of %s are %s elsewhere; expected the same types", fact, of.Name, strings.Join(known, ", "))
	}
	if !slices.Contains(b.Body, of) {
		b.Body = append(b.Body, of)
	}
	if of == b.Head {
		return nil // it calls itself as it is asked
	}
	if b.Directions[of.Name] == nil {
		b.Types[of.Name], b.Directions[of.Name] = types, directions
		return nil
	}
	before := b.Directions[of.Name]
	for k := range min(len(directions), len(before)) {
		if before[k] != directions[k] {
			before[k] = either
		}
	}
	return nil
}

// determination takes in a predicate that bodies may have.
func (b *Bias) determination(fact string) error {
	_, rest, _ := strings.Cut(fact, "(")
	words := strings.Split(strings.TrimSuffix(strings.ReplaceAll(rest, " ", ""), ")"), ",")
	var of [2]Predicate
	ok := len(words) == len(of)
	for i := 0; ok && i < len(of); i++ {
		name, arity, _ := strings.Cut(words[i], "/")
		n, err := strconv.Atoi(arity)
		of[i], ok = Predicate{strings.Trim(name, "'"), n}, err == nil && n >= 0 && name != ""
	}
	if !ok {
		return fmt.Errorf("%s: expected two predicates, as in determination(grandchild/2,father/2)", fact)
	}
	if b.Head.Name == "" {
		b.Head = of[0]
	}
	if !slices.Contains(b.Body, of[1]) {
		b.Body = append(b.Body, of[1])
	}
	return nil
}

// Fixed reports whether an argument of a predicate is a constant, by its mode.
func (b *Bias) Fixed(name string, argument int) bool {
	d := b.Directions[name]
	return argument < len(d) && d[argument] == fixed
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

// mostConflicts is how many are printed for people.
const mostConflicts = 5

// bothDecide is what decides where an expert's rules disagree.
const bothDecide = "where both hold, worths and rows decide together"

// printConflicts prints where rules, and units of mixtures, disagree, and what
// decides there. Rules of one model (first and second are empty) are told apart
// by their origin.
func (a *app) printConflicts(conflicts []life.Conflict, first, second, decides string) {
	if len(conflicts) == 0 {
		return
	}
	rules := slices.DeleteFunc(slices.Clone(conflicts), func(c life.Conflict) bool { return c.Rules == nil || c.Idle() })
	units := slices.DeleteFunc(slices.Clone(conflicts), func(c life.Conflict) bool { return c.Units == nil })
	if len(rules) > 0 {
		fmt.Fprintf(a.out, "\n%s; %s:\n", plural(len(rules), "conflict"), decides)
	}
	life.WriteConflicts(a.out, rules, mostConflicts, first, second)
	printMore(a.out, len(rules)-mostConflicts)
	if len(units) > 0 {
		fmt.Fprintf(a.out, "\n%s; both count, by the cases behind them:\n", plural(len(units), "conflict"))
	}
	for _, c := range units[:min(len(units), mostConflicts)] {
		one, other := rule.Unit{Expect: []rule.Expectation{c.Units.Says}}, rule.Unit{Expect: []rule.Expectation{c.Units.Other}}
		life.RoundUnit(&one)
		life.RoundUnit(&other)
		fmt.Fprintf(a.out, "  where %s\n    %s says %s\n    %s says %s\n", c.Region, c.Units.A.Name, one.Expect[0], c.Units.B.Name, other.Expect[0])
	}
	printMore(a.out, len(units)-mostConflicts)
}

// printMore says how many were left out.
func printMore(w io.Writer, more int) {
	if more > 0 {
		fmt.Fprintf(w, "  and %d more: --json lists them\n", more)
	}
}

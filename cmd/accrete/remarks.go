package main

import "fmt"

// mostRemarks is how many are printed for people.
const mostRemarks = 20

// printRemarks prints what a model says of what it learnt last, a line each.
func (a *app) printRemarks(all []fmt.Stringer) {
	if len(all) > 0 {
		fmt.Fprintln(a.out)
	}
	for _, r := range all[:min(len(all), mostRemarks)] {
		fmt.Fprintln(a.out, r)
	}
	if more := len(all) - mostRemarks; more > 0 {
		fmt.Fprintf(a.out, "and %d more: --json lists them\n", more)
	}
}

package main

import (
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

// remarks returns what a model has to say of the rows that it learnt last.
func remarks(m learn.Model) ([]fmt.Stringer, error) {
	if r, ok := plain(m).(learn.Remarker); ok {
		return r.Remarks()
	}
	return nil, nil
}

// mostRemarks is how many are printed for people.
const mostRemarks = 20

// printRemarks prints them, a line each.
func (a *app) printRemarks(m learn.Model) error {
	all, err := remarks(m)
	if len(all) > 0 {
		fmt.Fprintln(a.out)
	}
	for _, r := range all[:min(len(all), mostRemarks)] {
		fmt.Fprintln(a.out, r)
	}
	if more := len(all) - mostRemarks; more > 0 {
		fmt.Fprintf(a.out, "and %d more: --json lists them\n", more)
	}
	return err
}

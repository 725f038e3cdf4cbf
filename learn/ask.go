package learn

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Asker is a model of the joint distribution of all columns, which can be
// asked for any of them.
type Asker interface {
	Model
	// Ask returns the distribution of one column given the known cells of
	// a row; those of the column itself are not looked at.
	Ask(t *table.Table, row, column int) (*Answer, error)
}

// Answer is the distribution of a column given what is known.
type Answer struct {
	// Of a numeric column: the mean, the median, the 2.5 % and 97.5 %
	// quantiles, and the peaks of the density, the highest first.
	Mean, Median, Low, High float64
	Modes                   []float64
	// Of a nominal column: the probability of each value, by code.
	P []float64
	// LogDensity is the natural log of the density of what is known,
	// numbers in deviations of their columns.
	LogDensity float64
	// Experience is the share of rows that the model expects to be no
	// denser than what is known, in the same columns. Near 0 the question
	// lies outside of what the model has seen.
	Experience float64
}

// Imputer is a model that can fill in missing cells.
type Imputer interface {
	Model
	// Impute returns the table with each missing cell replaced by what is
	// expected given the known cells of its row: the mean of a number, the
	// most probable name. A cell of which nothing can be expected, in a
	// column without a known cell, stays missing.
	Impute(ctx context.Context, t *table.Table) (*table.Table, error)
}

// Teller is a model that takes WHEN … EXPECT rules in by itself, as Task.Rules
// does when it is learnt.
type Teller interface {
	Model
	// Tell returns the model with an expert's rules, each worth the cases
	// that it states. A Forgetter forgets them by the expert's ID.
	Tell(ctx context.Context, rules *rule.Base, expert Source) (Model, error)
	// UnitStandings returns how each rule fares, in the order in which they
	// were told, while learning or since.
	UnitStandings() []UnitStanding
}

// UnitStanding is how an expert's WHEN … EXPECT rule fares against the rows.
type UnitStanding struct {
	Unit   string // the name in its WHEN
	Expert Source
	State  State
	Worth  float64 // cases that the rule counts as: its prior times its WORTH
	Rows   float64 // weight of the rows that are like it, rather than like the expert's other rules
	Of     float64 // weight of all rows
	// Moved is how far these rows lie from what the rule expects, in its
	// widths: the root mean square over the numeric columns of which it
	// speaks. Column is where they lie farthest, in which it expects
	// Expected, and the rows are around Found; "" if no row is like it.
	Moved           float64
	Column          string
	Expected, Found float64
}

// String says it in one line.
func (s UnitStanding) String() string {
	text := fmt.Sprintf("%s of %s: worth %.4g cases; ", s.Unit, s.Expert.Name, s.Worth)
	if s.State == Unmet || s.Rows < leastRows {
		text += fmt.Sprintf("none of %.6g rows is like it", s.Of)
	} else {
		text += fmt.Sprintf("%.4g of %.6g rows are like it", s.Rows, s.Of)
	}
	if s.Column != "" {
		text += fmt.Sprintf(", %.2g widths away, most in %s (%.4g, not %.4g)", s.Moved, s.Column, s.Found, s.Expected)
	}
	return text + ": " + string(s.State)
}

// leastRows is the weight of rows below which there are none to speak of.
const leastRows = 0.5

package learn

import (
	"context"

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

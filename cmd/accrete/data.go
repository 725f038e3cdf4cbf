package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// dataFlags say how to read DATA.
type dataFlags struct{ life.Reading }

func (d *dataFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&d.Nominal, "nominal", nil, "columns to read as names")
	f.StringSliceVar(&d.Numeric, "numeric", nil, "columns to read as numbers")
	f.StringSliceVar(&d.Ignore, "ignore", nil, "columns to leave out")
	f.StringSliceVar(&d.Text, "text", nil, "columns of text, whose words are counted")
	console.CountVar(f, &d.Grams, "grams", 1, 1, table.MostGrams, "runs of up to so many words of a text are counted as words too")
	f.StringVar(&d.Sequence, "sequence", "", "column that says which rows belong together, in order")
	f.StringVar(&d.Weight, "weight", "", "column with the weight of each row")
	console.TextsVar(f, &d.Missing, "missing", "texts that mean a missing cell, besides the usual ones; COLUMN=TEXT: in one column; an empty one: the usual ones do not")
	console.LinesVar(f, &d.Decimal, "decimal", "what divides decimals, . or ,; COLUMN=, for one column (default: each tells)")
	console.LinesVar(f, &d.Date, "date", "order of dates: dmy, mdy, ymd, or a pattern such as dd.mm.yyyy; iso for no other; COLUMN=dmy for one column (default: each tells)")
	f.StringVar(&d.Delimiter, "delimiter", "", "what divides the cells of a line: a character, or tab (default: the file tells)")
	f.StringVar(&d.Encoding, "encoding", "", "how letters are written in a text that is no UTF-8, as in windows-1250, koi8-r or gbk (default: the letters tell)")
	console.OpenVar(f, &d.NoHeader, "no-header", "the first line is a row; =false: it names the columns (default: the file tells)")
}

// sourceFlags say where sources are that are no longer where they were.
type sourceFlags struct{ at []string }

func (f *sourceFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.at, "source", nil, "where a recorded source is now, as NAME=PATH")
}

func (f *sourceFlags) elsewhere() (life.Elsewhere, error) {
	at := life.Elsewhere{}
	for _, given := range f.at {
		name, path, ok := strings.Cut(given, "=")
		if !ok {
			return nil, usagef("--source %s: expected NAME=PATH", given)
		}
		at[name] = path
	}
	return at, nil
}

const (
	targetUsage  = "column to predict (a built-in set has one of its own)"
	rulesUsage   = "what an expert knows: a file of rules"
	withoutUsage = "answer as if this source had never been learnt or told"
	worthUsage   = "cases that a rule is worth which does not say so itself"
	outUsage     = "file to write (default: standard output)"
	costsUsage   = "what wrong answers cost, as SAID:TRUE=COST,…; those not named cost 1"
	keepUsage    = "keep a copy of the data in the store, so that it can be read again"
)

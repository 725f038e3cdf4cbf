package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) describeCommand() *cobra.Command {
	var (
		flags            dataFlags
		target, pictures string
	)
	c := &cobra.Command{
		Use:   "describe DATA [--target COL] [--pictures FILE.html]",
		Short: "Show the columns of a table: types, missing cells, values",
		Long: `Describe shows what each column of DATA was read as, and what is worth a look
before learning: ids, constants, columns that give the answer away, copies of
rows, rare answers, missing cells, rows in the order of time. With --pictures it
writes one page with the distributions by class, which cells are missing, and
which columns go together.`,
		Example: `  accrete describe people.csv
  accrete describe people.csv --target income --pictures people.html
  accrete describe iris --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if pictures != "" && pictures != "-" && !strings.HasPrefix(filepath.Ext(pictures), ".htm") {
				return usagef("--pictures %s: expected a file that ends in .html", pictures)
			}
			d, err := h.Find(args[0], flags.Reading)
			if err != nil {
				return err
			}
			x, err := h.DescribeFor(c.Context(), d, target)
			if err != nil {
				return err
			}
			x.Warnings = life.Said(x.Warnings, inFlags)
			if pictures != "" {
				if err := a.output(pictures, x.WriteHTML, d.File()); err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(x)
			}
			fmt.Fprintf(a.out, "%s: %s, %s (%s)\n\n", d.Arg, plural(x.Rows, "row"), plural(len(x.Columns), "column"), x.Format)
			var rows [][]string
			for _, s := range x.Summaries {
				rows = append(rows, []string{s.Name, s.Shown(), strconv.Itoa(s.Missing), strconv.Itoa(s.Distinct), values(s)})
			}
			printTable(a.out, []string{"column", "type", "missing", "distinct", "values"}, rows)
			if x.Reachable != nil && *x.Reachable < 0.9995 {
				fmt.Fprintf(a.out, "\nrows that are alike in all other columns differ in %s: nothing can be right on more than %s of them\n", x.Target, percent(*x.Reachable))
			}
			printWarnings(a.out, x.Warnings)
			if x.Target != "" && d.Arg != "-" { // what came by a pipe is gone
				fmt.Fprintf(a.out, "\nnext: accrete learn %s --target %s\n", word(d.Arg), word(x.Target))
			}
			return nil
		}),
	}
	flags.register(c)
	c.Flags().StringVar(&target, "target", "", "column that is to be predicted (default: the one that looks so)")
	c.Flags().StringVar(&pictures, "pictures", "", "file to write a page with pictures to")
	return c
}

// printWarnings lists what is worth a look, but for what was said when the data
// were read.
func printWarnings(w io.Writer, warnings []life.Warning) {
	title := "\nworth a look first:\n"
	for _, x := range warnings {
		if x.Kind == "id" || x.Kind == "odd" || x.Kind == "style" {
			continue
		}
		fmt.Fprintf(w, "%s  %s\n", title, shown(x.String(), console.LongestLast))
		title = ""
	}
}

// values shows a column's range, or its most frequent values.
func values(s table.Summary) string {
	if s.Kind == table.Numeric {
		a := table.Attribute{Kind: table.Numeric, Date: s.Date, Time: s.Time, Style: s.Style}
		if s.Date || s.Time {
			return fmt.Sprintf("%s to %s", a.Format(s.Min), a.Format(s.Max))
		}
		return fmt.Sprintf("%s to %s, mean %s", number(s.Min), number(s.Max), number(s.Mean))
	}
	var top []string
	for _, f := range s.Top {
		top = append(top, fmt.Sprintf("%s %d", f.Value, f.Count))
	}
	text := strings.Join(top, ", ")
	if s.Distinct > len(top) {
		text += ", …"
	}
	return text
}

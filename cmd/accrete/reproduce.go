package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/reproduce"
)

func (a *app) reproduceCommand() *cobra.Command {
	var seeds int
	var folder, pictures string
	c := &cobra.Command{
		Use:   "reproduce [NAME…]",
		Short: "Run published experiments again, published values beside ours",
		Long: `Reproduce re-runs experiments of the literature and sets the published value
beside ours. NAME is an experiment, the beginning of several, a chapter of
Mitchell's textbook (ch05) or the first author of a source (higgins).

A figure is met if ours is better or if it lies inside our 95 % interval; near
if ours is within 2 points of a rate, 5 % of any other figure. A reference is a
figure that the source does not print: an independent program found it, or it
was worked out. The exit status is 1 if a figure is not met and it is not known
why. Random experiments begin with --seed.

Some experiments read larger data sets, which come with the source code and
not with the program. Where their folder is not found they are left out, which
is said.`,
		Example: `  accrete reproduce
  accrete reproduce play-tennis
  accrete reproduce ch05 higgins
  accrete reproduce networks-faces --data ~/accrete/bench/data`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			bar, done := a.progress("reproducing")
			var missing []leftOut
			outcomes, err := reproduce.Run(learn.WithProgress(c.Context(), bar), args, reproduce.Options{
				Seed: a.seed, Seeds: seeds, Data: folder,
				Missing: func(name string, err *reproduce.MissingData) {
					missing = append(missing, leftOut{name, err.Error() + " (--data DIR)"})
				},
			})
			var undrawn error // which is no reason to lose what was measured
			if err == nil && pictures != "" {
				undrawn = reproduce.Pictures(c.Context(), args, reproduce.Options{Seed: a.seed, Seeds: seeds}, outcomes,
					func(name string, c *draw.Chart) error { return a.picture(pictures, name, c) })
			}
			done()
			if err != nil {
				return err
			}
			if len(outcomes) == 0 && len(missing) > 0 {
				return fmt.Errorf("experiment %s: %s", missing[0].Name, missing[0].Why)
			}
			for _, m := range missing {
				a.notes([]string{m.Name + " is left out: " + m.Why})
			}
			return cmp.Or(undrawn, a.printOutcomes(outcomes, missing))
		},
	}
	console.CountVar(c.Flags(), &seeds, "seeds", 0, 0, 100_000, "seeds of each experiment (default: its own)")
	c.Flags().StringVar(&folder, "data", reproduce.Folder, "folder with the larger data sets of the source code")
	c.Flags().StringVar(&pictures, "pictures", "", "folder for pictures: what is published beside ours, as curves and columns (SVG)")
	return c
}

// leftOut is an experiment that could not be run for want of data.
type leftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// printOutcomes prints what was run. What is not met and unexplained is an
// error.
func (a *app) printOutcomes(outcomes []reproduce.Outcome, missing []leftOut) error {
	counts := map[reproduce.Verdict]int{}
	unexplained := 0
	var rows [][]string
	var reasons []string
	for _, o := range outcomes {
		counts[o.Verdict]++
		published, reference := number(o.Known()), ""
		if o.Published == nil {
			published, reference = reference, published
		}
		rows = append(rows, []string{o.Name, published, reference, number(o.Ours), number(o.Low), number(o.High), strconv.Itoa(o.Seeds), string(o.Verdict), o.Source})
		if o.Verdict == reproduce.NotMet {
			reasons = append(reasons, fmt.Sprintf("%s is not met: %s", o.Name, o.Why))
			if !o.Explained {
				unexplained++
			}
		}
	}
	if a.json {
		err := a.printJSON(struct {
			Experiments []reproduce.Outcome `json:"experiments"`
			LeftOut     []leftOut           `json:"left_out,omitempty"`
		}{outcomes, missing})
		if err != nil {
			return err
		}
	} else {
		printTable(a.out, []string{"experiment", "published", "reference", "ours", "from", "to", "seeds", "verdict", "source"}, rows)
		fmt.Fprintf(a.out, "\n%d met, %d near, %d not met\n", counts[reproduce.Met], counts[reproduce.Near], counts[reproduce.NotMet])
		if printed := reproduce.Printed(outcomes); printed != "" {
			fmt.Fprintln(a.out, printed)
		}
		for _, reason := range reasons {
			fmt.Fprintln(a.out, reason)
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("%d of %d figures are not met, and it is not known why", unexplained, len(outcomes))
	}
	return nil
}

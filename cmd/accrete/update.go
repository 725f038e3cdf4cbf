package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

func (a *app) updateCommand() *cobra.Command {
	var (
		flags  dataFlags
		as     life.Updating
		follow life.Following
	)
	c := &cobra.Command{
		Use:   "update MODEL DATA [--every 1000rows] [--follow] [--rejects FILE]",
		Short: "Learn more rows, without the old ones",
		Long: `Update folds the rows of DATA into a model and keeps the result as a new
version. DATA is read in batches, so it may be larger than memory. What the
result is worth compared with learning everything at once is the learner's
contract: see accrete learners. A policy learns on in its environment, for as
many episodes as it was learnt with. Rules whose truth moved with the new rows are
named, with from, to and since when. With --every rows become a version as they
come, so many at a time, from a pipe or a file; --follow waits at the end of a file
for more. Which bytes of a file were learnt is kept with the version: whoever goes
on, also after a crash, learns every row once. Lines that cannot be read are an
error, or with --rejects put aside.`,
		Example: `  accrete update people more.csv
  accrete update gridworld gridworld
  accrete update people visits.csv --follow --every 1000rows --rejects bad.csv
  tail -F visits.csv | accrete update people - --every 500rows`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			if w, err := h.World(c.Context(), args[1]); err != nil || w != nil {
				if err != nil {
					return err
				}
				defer w.Close()
				l, failed := h.UpdateActing(c.Context(), name, w)
				return a.printActed(c.Context(), w, l, failed, "learnt on in")
			}
			d, err := h.Find(args[1], flags.Reading)
			if err != nil {
				return err
			}
			if follow.Every != "" || follow.Wait || follow.Rejects != "" {
				return a.follow(c.Context(), h, name, d, follow)
			}
			u, err := h.UpdateAs(c.Context(), name, d, as)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(u)
			}
			fmt.Fprintf(a.out, "model %s, version %d: learnt %s from %s, %s in all%s\n",
				u.Model, u.Version, cmp.Or(u.Around(), plural(int(u.New), "row")+" more"), d.Arg, count(u.Rows), sizeNote(u.Part.Size()))
			if line := scoreLine(u.Score); line != "" {
				fmt.Fprintf(a.out, "before learning them, version %d %s\n", u.Before.Number, line)
			}
			printDrifts(a.out, u.Drifts, " of "+d.Arg, evaluate.DriftRate, life.InWords(c.Context(), u.Part))
			a.printRemarks(u.Remarks)
			a.next(u.Part, "rules", "log")
			return nil
		}),
	}
	flags.register(c)
	c.Flags().BoolVar(&as.Keep, "keep", false, keepUsage)
	c.Flags().BoolVar(&follow.Wait, "follow", false, "wait at the end of the file for more rows")
	c.Flags().StringVar(&follow.Every, "every", "", "rows that make a version, or how long they wait for one, as in 1000rows,1m (default with --follow: 1000rows)")
	c.Flags().StringVar(&follow.Rejects, "rejects", "", "file to which lines are added that cannot be read")
	c.Flags().BoolVar(&as.Consolidate, "consolidate", false, "then learn the rules anew from the rows that a living model keeps (rulenet of classes from 500 rows on)")
	for _, other := range []string{"every", "follow", "rejects"} {
		c.MarkFlagsMutuallyExclusive("keep", other)
		c.MarkFlagsMutuallyExclusive("consolidate", other)
	}
	return c
}

// follow learns rows as they come, and says what became of them.
func (a *app) follow(ctx context.Context, h *life.Home, name string, d *life.Data, o life.Following) error {
	o.Version = func(u *life.Updated, words string) error {
		if a.json {
			return a.printJSON(u)
		}
		fmt.Fprintln(a.out, words)
		printDrifts(a.out, u.Drifts, " of these", evaluate.DriftRate, life.InWords(ctx, u.Part))
		return nil
	}
	done, err := h.Follow(ctx, name, d, o)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(done)
	}
	fmt.Fprintln(a.out, done)
	return nil
}

// scoreLine says how answers went, or nothing if none was known.
func scoreLine(s *life.Score) string {
	switch {
	case s.Known == 0:
		return ""
	case s.Numeric():
		return fmt.Sprintf("had an RMSE of %s on them", number(s.RMSE()))
	}
	return fmt.Sprintf("was right on %s of them", percent(s.Accuracy()))
}

// mostDrifts is how many are printed for people.
const mostDrifts = 10

// printDrifts names the rules whose truth moved.
func printDrifts(w io.Writer, drifts []evaluate.Drift, in string, rate float64, words func(*rule.Rule) string) {
	if len(drifts) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s moved (false alarms: %s of models in 100,000 rows)\n", plural(len(drifts), "rule"), percent(rate))
	for _, d := range drifts[:min(len(drifts), mostDrifts)] {
		r := d.Rule
		r.Evidence, r.With = rule.Evidence{}, nil
		fmt.Fprintf(w, "  true of %s, now %s, since row %d%s: %s\n", percent(d.From), percent(d.To), d.Since, in, words(&r))
	}
	printMore(w, len(drifts)-mostDrifts)
}

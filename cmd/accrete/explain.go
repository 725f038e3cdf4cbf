package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

// explaining is what explain was asked for.
type explaining struct {
	flags       dataFlags
	only        []int
	without     string
	change      string
	fixed       []string
	wrong       bool
	top         int
	should      string
	because     []string
	calibration bool
}

func (a *app) explainCommand() *cobra.Command {
	var x explaining
	c := &cobra.Command{
		Use:   "explain MODEL DATA [--row N]… [--calibration | --change to=CLASS [--fixed A,B] | --wrong [--top N] | --should CLASS [--because A,B]] [--without SOURCE]",
		Short: "Say why: the evidence for and against each answer",
		Long:  help("explain"),
		Example: `  accrete explain votes votes --row 1
  accrete explain credit-a credit-a --row 7 --change to=+ --fixed A2
  accrete explain heart-c heart-c --wrong --top 3
  accrete explain heart-c heart-c --row 24 --should '<50' --because ca,oldpeak > draft.rules
  accrete explain people new.csv --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			h, p, d, err := a.modelAndData(c.Context(), args, &x.flags, x.without)
			if err != nil {
				return err
			}
			if x.change != "" && !c.Flags().Changed("top") {
				x.top = 0 // as many as are usual
			}
			return a.explain(c.Context(), h, p, d, &x)
		},
	}
	x.flags.register(c)
	f := c.Flags()
	f.StringVar(&x.without, "without", "", withoutUsage)
	console.CountsVar(f, &x.only, "row", "only these rows, counted from 1")
	f.BoolVar(&x.calibration, "calibration", false, "how often it was right on unseen rows when it was as sure (learns kept rows again)")
	f.StringVar(&x.change, "change", "", "to=CLASS: the smallest changes of the row that give this answer; to=any for any other")
	f.StringSliceVar(&x.fixed, "fixed", nil, "columns that may not be changed")
	f.BoolVar(&x.wrong, "wrong", false, "the rows that the model gets wrong, most confident first, and a rule for a group of them")
	console.CountVar(f, &x.top, "top", 5, 0, console.MostCount, "how many wrong rows, or how many changes")
	f.StringVar(&x.should, "should", "", "the class that would have been right for the row: drafts a rule to tell")
	f.StringSliceVar(&x.because, "because", nil, "the columns that should have decided")
	c.MarkFlagsMutuallyExclusive("change", "wrong", "should", "calibration")
	c.MarkFlagsMutuallyExclusive("wrong", "row")
	return c
}

func (a *app) explain(ctx context.Context, h *life.Home, p *life.Part, d *life.Data, x *explaining) error {
	switch {
	case x.fixed != nil && x.change == "":
		return usagef("--fixed says what --change may not change: add --change to=CLASS")
	case x.because != nil && x.should == "":
		return usagef("--because says why an answer should be another: add --should CLASS")
	case x.change != "":
		return a.printChanges(ctx, h, p, d, x)
	case x.wrong:
		w, err := h.Wrong(ctx, p, d, x.top)
		if err != nil {
			return err
		}
		return a.printOr(w, w)
	case x.should != "":
		if len(x.only) != 1 {
			return usagef("--should is about one row: add --row N")
		}
		draft, err := h.Draft(ctx, p, d, x.only[0], life.Drafting{Should: x.should, Because: x.because})
		if err != nil {
			return err
		}
		return a.printOr(draft, draft)
	}
	var calibration *life.Calibration
	if x.calibration {
		var err error
		if calibration, err = h.Calibration(ctx, p); err != nil {
			return err
		}
	}
	first := true
	return h.Explain(ctx, p, d, x.only, func(e *life.Explained) error {
		e.Calibrate(calibration)
		if a.json {
			return a.printJSON(e)
		}
		if !first {
			fmt.Fprintln(a.out)
		}
		first = false
		e.Write(a.out)
		return nil
	})
}

// printOr prints a value as JSON, or its text.
func (a *app) printOr(v any, text fmt.Stringer) error {
	if a.json {
		return a.printJSON(v)
	}
	fmt.Fprintln(a.out, text)
	return nil
}

func (a *app) printChanges(ctx context.Context, h *life.Home, p *life.Part, d *life.Data, x *explaining) error {
	to, ok := strings.CutPrefix(x.change, "to=")
	if !ok {
		return usagef("--change %s: expected to=CLASS", x.change)
	}
	if to == "any" {
		to = ""
	}
	wish := life.Wish{To: to, Fixed: x.fixed, Limit: x.top}
	return h.Change(ctx, p, d, x.only, wish, func(c *life.Changed) error { return a.printOr(c, c) })
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) verifyCommand() *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use:   "verify MODEL [--source NAME=PATH]…",
		Short: "Learn again from the recorded sources, and compare",
		Long: `Verify learns everything that a model has learnt once more, all at once and
without touching the store, and prints the largest difference in predictions and
rules next to what the learner promises. It reads the rows that the model keeps,
else the copies that learn --keep made, else the recorded files if they are
unchanged, else what --source names. It fails if the promise is broken, or if
the rows cannot be had.`,
		Example: `  accrete verify votes
  accrete verify people --source march.csv=archive/march.csv`,
		Args: cobra.ExactArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			at, err := flags.elsewhere()
			if err != nil {
				return err
			}
			v, err := h.Verify(c.Context(), args[0], at)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(v)
			} else {
				a.printVerified(args[0], v)
			}
			if err == nil && !v.Holds {
				return errors.New(args[0] + " is not what its sources make: the contract is broken")
			}
			return err
		}),
	}
	flags.register(c)
	return c
}

func (a *app) printVerified(ref string, v *life.Verified) {
	fmt.Fprintf(a.out, "%s against %s of %s learnt at once:\n", ref, v.Part.Version.Learner, plural(v.Sources, "source"))
	fmt.Fprintf(a.out, "  largest difference in predictions  %s\n", number(v.MaxDifference))
	fmt.Fprintf(a.out, "  rules that differ                  %d\n", v.RulesDiffer)
	if v.Contract == "bounded" {
		fmt.Fprintf(a.out, "  log loss above it, nats a row      %s ± %s (bound %s)\n", number(*v.Value), number(*v.SE), number(*v.Bound))
		if v.Estimate != nil {
			fmt.Fprintf(a.out, "  as its last %s tell%s%s ± %s (indicative)\n", plural(v.EstimateRows, "row"), strings.Repeat(" ", max(1, 17-len(plural(v.EstimateRows, "row")))), number(*v.Estimate), number(*v.EstimateSE))
		}
	}
	for _, note := range v.Notes {
		fmt.Fprintln(a.out, "  note: "+note)
	}
	promise := map[string]string{
		"exact":   "equal to learning everything at once",
		"bounded": "close to learning everything at once",
		"none":    "nothing is promised",
	}[v.Contract]
	verdict := "holds"
	if !v.Holds {
		verdict = "is broken"
	}
	fmt.Fprintf(a.out, "contract: %v (%s): %s\n", v.Contract, promise, verdict)
}

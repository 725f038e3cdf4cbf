package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// errDamaged is said after what is damaged was listed.
var errDamaged = errors.New("the store is damaged; what is not recoverable has to come from an export, or be learnt again")

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Read the whole store, and say what is damaged",
		Long: `Check reads every version of every model, and every copy of a source that was
kept, and says which are not as they were saved, and whether anything of worth
is lost. It changes nothing. It fails if something is damaged.`,
		Example: `  accrete check`,
		Args:    cobra.NoArgs,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, _ []string) error {
			found, err := h.Store.Check(c.Context())
			if err != nil {
				return err
			}
			return a.printHealth(found)
		}),
	}
}

func (a *app) printHealth(found []store.Health) error {
	var rows [][]string
	versions := 0
	for _, h := range found {
		versions += h.Versions
		for _, d := range h.Damaged {
			version, lost := "", "lost"
			if d.Version > 0 {
				version = strconv.Itoa(d.Version)
			}
			if d.Recoverable {
				lost = "recoverable"
			}
			rows = append(rows, []string{h.Model, version, lost, d.What})
		}
	}
	if a.json {
		if err := a.printJSON(struct {
			Whole  bool           `json:"whole"`
			Models []store.Health `json:"models"`
		}{len(rows) == 0, append([]store.Health{}, found...)}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "%s, %s can be read\n", plural(len(found), "model"), plural(versions, "version"))
		if len(rows) > 0 {
			fmt.Fprintln(a.out)
			printTable(a.out, []string{"model", "version", "", "what"}, rows)
		}
	}
	if len(rows) > 0 {
		return errDamaged
	}
	return nil
}

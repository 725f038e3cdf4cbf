package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) modelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "models",
		Short:   "List the models in the store",
		Example: `  accrete models`,
		Args:    cobra.NoArgs,
		RunE: a.atHome(func(_ *cobra.Command, h *life.Home, _ []string) error {
			list, err := h.List()
			if err != nil && len(list.Models) == 0 {
				return err
			}
			return errors.Join(a.printModels(list), err) // a damaged model hides no other
		}),
	}
}

func (a *app) printModels(list *life.Models) error {
	if a.json {
		return a.printJSON(list)
	}
	if len(list.Models) == 0 {
		fmt.Fprintf(a.out, "no models in %s yet; start with: accrete learn votes\n", a.store)
		return nil
	}
	var rows [][]string
	for _, m := range list.Models {
		target := ""
		if m.Target != nil {
			target = *m.Target
		}
		rows = append(rows, []string{m.Model, strconv.Itoa(m.Versions), m.Learner, target, count(m.Rows), m.At})
	}
	printTable(a.out, []string{"model", "versions", "learner", "target", "rows", "last change"}, rows)
	return nil
}

// headOnly refuses MODEL@N where only the newest version can be changed.
func headOnly(ref string) (string, error) {
	if name, _, found := strings.Cut(ref, "@"); found {
		return "", usagef("only the newest version can be changed; to go on from %s: accrete restore %s, then say it again of %s", ref, ref, name)
	}
	return ref, nil
}

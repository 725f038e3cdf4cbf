package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) conflictsCommand() *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use:   "conflicts MODEL",
		Short: "Show where people and rows disagree about a model",
		Long: `Conflicts lists the rules that were told and that the rows dispute or have
outvoted, and those that contradict each other: what each side says, how sure it
is, which answers the rule decides, and how many would be right if it were worth
more or less. What decides most answers comes first. To settle one: accrete tell
--replaces ID with another strength, accrete strike, or let it stand.`,
		Example:           `  accrete conflicts votes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			at, err := flags.elsewhere()
			if err != nil {
				return err
			}
			court, err := h.Conflicts(c.Context(), args[0], at)
			if err != nil || a.json {
				return a.orJSON(court, err)
			}
			court.Write(a.out)
			return nil
		}),
	}
	flags.register(c)
	return c
}

func (a *app) approveCommand() *cobra.Command {
	var by, note string
	c := &cobra.Command{
		Use:   "approve MODEL@N --by NAME [--note WHY]",
		Short: "Mark the version that somebody answers for",
		Long: `Approve marks a version as the one that NAME answers for. Later versions are not
approved by that; where a server is told to, it answers from the approved one.
accrete report MODEL@N is what there is to read before.`,
		Example:           `  accrete approve votes@3 --by "Dr. Ann Lee"`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			approved, err := h.Approve(c.Context(), args[0], by, note)
			if err != nil || a.json {
				return a.orJSON(approved, err)
			}
			fmt.Fprintf(a.out, "%s@%d is approved by %s\n", approved.Model, approved.Version, approved.By)
			return nil
		}),
	}
	c.Flags().StringVar(&by, "by", "", "who answers for it")
	c.Flags().StringVar(&note, "note", "", "why, for the record")
	return c
}

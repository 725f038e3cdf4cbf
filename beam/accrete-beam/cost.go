package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/beam/shards"
)

func costCommand() *cobra.Command {
	var m shards.Cost
	var asJSON bool
	c := &cobra.Command{
		Use: "cost --rows N --columns C --shards S --workers W", Short: "What a job would take: seconds and money", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := m.Estimate()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(e)
			}
			fmt.Fprintln(c.OutOrStdout(), e)
			return nil
		},
	}
	m.Register(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

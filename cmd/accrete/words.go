package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

func (a *app) wordsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "words MODEL [FILE]",
		Short: "Name columns, values and rows as people do",
		Long:  help("words"),
		Example: `  accrete words heart > words.json
  accrete words heart words.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			if len(args) == 1 {
				p, err := h.Load(args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(p.Words)
				}
				e := json.NewEncoder(a.out)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(p.Words.Template(p.Schema()))
			}
			text, err := h.ReadText(c.Context(), args[1])
			if err != nil {
				return err
			}
			w, err := h.SetWords(c.Context(), args[0], text)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(w)
			}
			fmt.Fprintf(a.out, "%s: words for %s\n", args[0], plural(len(w.Columns), "column"))
			return nil
		}),
	}
}

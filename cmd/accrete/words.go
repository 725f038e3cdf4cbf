package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

const wordsLong = `Words gives names to what a model speaks of, which every sentence about any of
its versions uses from then on: what a row is, what columns and values are called,
units. FILE ("-" is standard input) is JSON:

  {"row": "patient",
   "columns": {
     "oldpeak": {"label": "ST depression", "unit": "mm"},
     "ca":      {"label": "coloured vessels", "count": true},
     "exang":   {"label": "angina on exercise"},
     "num":     {"values": {"<50": "healthy", ">50_1": "disease"}}}}

A column of yes and no that has a label loses its value: "no angina on exercise".
count says that the number counts what the label names. Without FILE the words are
printed, with a place for every column and value: edit them and give them back.
An empty object, {}, takes all words away.`

func (a *app) wordsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "words MODEL [FILE]",
		Short: "Name columns, values and rows as people do",
		Long:  wordsLong,
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

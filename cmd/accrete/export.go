package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) exportCommand() *cobra.Command {
	var o store.ExportOptions
	var e life.Form
	c := &cobra.Command{
		Use:   "export MODEL[@N] FILE",
		Short: "Write a model to one self-contained file",
		Long: `Export writes a model with its history to one file that accrete import, or a
Go program (store.ReadFile), reads on any machine, and says what the file tells
of your data: the history has the paths of sources, and some models keep rows.
With --as the model alone is written so that it runs without Accrete: one SELECT
of SQL, one function of Go or JavaScript, an ONNX file, or JSON that accrete
import reads back; a belief network also as bif.`,
		Example: `  accrete export votes votes.accrete
  accrete export votes votes.sql --as sql --dialect postgres --table members
  accrete export alarm alarm.bif --as bif
  accrete export votes votes.accrete --without-paths --without-rows`,
		Args: cobra.ExactArgs(2),
		RunE: a.atHome(func(_ *cobra.Command, h *life.Home, args []string) error {
			if e.As != "" {
				return a.exportAs(h, args[0], args[1], e)
			}
			carried, err := h.Store.ExportWith(a.ctx, args[0], args[1], o)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Model   string        `json:"model"`
					File    string        `json:"file"`
					Carries store.Carried `json:"carries"`
				}{args[0], args[1], carried})
			}
			fmt.Fprintf(a.out, "%s is in %s; read it with: accrete import %s\n", args[0], args[1], args[1])
			fmt.Fprintf(a.out, "it carries the model, %s of what was done%s%s%s\n", plural(carried.Versions, "record"),
				with(carried.Paths > 0, ", "+plural(carried.Paths, "path")+" of files"), with(carried.Words, ", its words"), with(carried.Rows, ", and the rows it keeps"))
			return nil
		}),
	}
	c.Flags().StringVar(&e.As, "as", "", "write another program's format: "+strings.Join(life.Forms, ", "))
	c.Flags().StringVar(&e.Dialect, "dialect", "", "of sql: sqlite (default), postgres or duckdb")
	c.Flags().StringVar(&e.ID, "id", "", "of sql: a column to give beside each answer, which says what row it is of")
	c.Flags().StringVar(&e.Table, "table", "", "of sql: the table that is asked (default: rows)")
	c.Flags().BoolVar(&o.WithoutPaths, "without-paths", false, "leave out where sources were")
	c.Flags().BoolVar(&o.WithoutRows, "without-rows", false, "leave out the rows that the model keeps")
	_ = c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(life.Forms, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions([]string{"sqlite", "postgres", "duckdb"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// exportAs writes a model for another program.
func (a *app) exportAs(h *life.Home, model, file string, e life.Form) error {
	written, err := h.WriteAs(a.ctx, model, file, e)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(written)
	}
	fmt.Fprintf(a.out, "%s is in %s as %s%s\n", model, file, e.As, with(len(written.Columns) > 0, "; it looks at "+strings.Join(written.Columns, ", ")))
	for _, note := range written.Notes {
		fmt.Fprintln(a.out, note)
	}
	return nil
}

// with is a text if it applies.
func with(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

// formattedFile is a rule file and whether formatting changes it.
type formattedFile struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
}

func (a *app) fmtCommand() *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "fmt FILE.rules…",
		Short: "Write rule files as convention has it",
		Long: `Fmt writes rule files as models print theirs: a statement begins a line, words
stand one space apart. Comments and the breaks inside a statement stay, and so
does what the rules say. It prints the names of files that it changed; "-" is
read from standard input and written to standard output.`,
		Example: `  accrete fmt advice.rules
  accrete fmt --check *.rules`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.atHome(func(c *cobra.Command, h *life.Home, args []string) error {
			files, changed := make([]formattedFile, len(args)), 0
			for i, file := range args {
				text, err := h.ReadText(c.Context(), file)
				if err != nil {
					return err
				}
				made, err := rule.Format(file, text)
				if err != nil {
					return err
				}
				files[i] = formattedFile{file, !bytes.Equal(made, text)}
				if !check && (files[i].Changed || file == "-") {
					err = a.output(file, func(w io.Writer) error { _, err := w.Write(made); return err })
				}
				if err != nil {
					return err
				}
				if files[i].Changed {
					changed++
					if !a.json && (check || file != "-") {
						fmt.Fprintln(a.out, shown(file, console.LongestError))
					}
				}
			}
			if a.json && (check || args[0] != "-") {
				if err := a.printJSON(map[string]any{"files": files}); err != nil {
					return err
				}
			}
			if check && changed > 0 {
				return fmt.Errorf("%s not as convention has it; accrete fmt writes them so", plural(changed, "file"))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; list the files that would change, and fail if there are any")
	return c
}

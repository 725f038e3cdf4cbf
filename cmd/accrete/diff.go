package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) diffCommand() *cobra.Command {
	var (
		flags  dataFlags
		on     string
		out    string
		by     string
		top    int
		formal bool
	)
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER [--on DATA [--by COL]] [--formal] [--out FILE]",
		Short: "Say what changed from one version or model to another, as rules",
		Long: `Diff compares what two models know: rules added, dropped, stronger, weaker, and
moved (the same but for their cuts), most important first. BEFORE and AFTER are
models, versions, exported models or rule files. With --on DATA it lists the
rows whose answer flips, which of them became right, and the rules that did it;
--by COL says how each value of a column fares. --out writes a page to send
around, HTML or SVG by the file's name. Equal models give nothing. Files of rules
are compared in their own language, models as sentences unless --formal is given.`,
		Example: `  accrete diff votes@1 votes@3
  accrete diff votes@1 votes --on votes --out changes.html
  accrete diff mine.rules yours.rules`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			d, reads, err := a.diff(c.Context(), args, on, by, &flags)
			if err != nil {
				return err
			}
			d.Formal = formal
			if err := a.writePage(d, max(top, 0), out, reads...); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(d.Entry())
			case out == "":
				return d.Write(a.out, max(top, 0), moreLines)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&on, "on", "", "data whose answers are compared")
	c.Flags().StringVar(&by, "by", "", "with --on: column by whose values answers are judged too")
	c.Flags().BoolVar(&formal, "formal", false, "rules in the rule language, not as sentences")
	c.Flags().StringVar(&out, "out", "", "file to write, .html or .svg")
	console.CountVar(c.Flags(), &top, "top", 10, 0, console.MostCount, "lines of each kind; 0 for none")
	return c
}

// diff compares, and says which files were read for it.
func (a *app) diff(ctx context.Context, args []string, on, by string, flags *dataFlags) (*life.Difference, []string, error) {
	h, err := a.home()
	if err != nil {
		return nil, nil, err
	}
	var data *life.Data
	reads := args
	if on != "" {
		if data, err = h.Find(on, flags.Reading); err != nil {
			return nil, nil, err
		}
		reads = append(reads[:len(reads):len(reads)], data.File())
	}
	d, err := h.Diff(ctx, args[0], args[1], data, by)
	return d, reads, err
}

// moreLines says how all lines of a kind can be seen.
func moreLines(left, all int) string {
	return fmt.Sprintf("… and %d more: --top %d shows all", left, all)
}

// writePage writes the page as a file that browsers show.
func (a *app) writePage(d *life.Difference, top int, path string, reads ...string) error {
	if path == "" {
		return nil
	}
	var text strings.Builder
	if err := d.Write(&text, top, moreLines); err != nil {
		return err
	}
	title := d.From + " → " + d.To
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return a.output(path, func(w io.Writer) error { return draw.TextHTML(w, title, text.String()) }, reads...)
	case ".svg":
		return a.output(path, func(w io.Writer) error { return draw.TextSVG(w, title, text.String()) }, reads...)
	}
	return usagef("--out %s: expected a file that ends in .html or .svg", path)
}

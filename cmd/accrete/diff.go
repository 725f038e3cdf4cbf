package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule"
)

func (a *app) diffCommand() *cobra.Command {
	var (
		flags dataFlags
		on    string
		out   string
		top   int
	)
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER [--on DATA] [--out FILE]",
		Short: "Say what changed from one version or model to another, as rules",
		Long: `Diff compares what two models know: rules added, dropped, stronger, weaker, and
moved (the same but for their cuts), most important first. BEFORE and AFTER are
models, versions, exported models or rule files. With --on DATA it lists the
rows whose answer flips, and the rules that did it. --out writes a page to send
around, HTML or SVG by the file's name. Equal models give nothing.`,
		Example: `  accrete diff votes@1 votes@3
  accrete diff votes@1 votes --on votes --out changes.html
  accrete diff mine.rules yours.rules`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			d, reads, err := a.diff(c.Context(), args, on, &flags)
			if err != nil {
				return err
			}
			if err := a.writePage(d, max(top, 0), out, reads...); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(d.Entry())
			case out == "":
				return writeDiff(a.out, d, max(top, 0))
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&on, "on", "", "data whose answers are compared")
	c.Flags().StringVar(&out, "out", "", "file to write, .html or .svg")
	console.CountVar(c.Flags(), &top, "top", 10, 0, console.MostCount, "lines of each kind; 0 for none")
	return c
}

// diff compares, and says which files were read for it.
func (a *app) diff(ctx context.Context, args []string, on string, flags *dataFlags) (*life.Difference, []string, error) {
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
	d, err := h.Diff(ctx, args[0], args[1], data)
	return d, reads, err
}

// write prints the page for people, most important first.
func writeDiff(w io.Writer, d *life.Difference, top int) error {
	var page bytes.Buffer
	fmt.Fprintf(&page, "%s → %s: %d added, %d dropped, %d stronger, %d weaker, %d moved\n",
		d.From, d.To, len(d.Added), len(d.Dropped), len(d.Stronger), len(d.Weaker), len(d.Moved))
	if d.Empty() {
		page.Reset()
		fmt.Fprintf(&page, "%s and %s know the same\n", d.From, d.To)
	}
	if d.Diff.Before != d.Diff.After {
		fmt.Fprintf(&page, "rules are read as %v, before as %v\n", d.Diff.After, d.Diff.Before)
	}
	if d.Reordered {
		fmt.Fprintln(&page, "rules that stayed are in another order")
	}
	if d.On != "" {
		fmt.Fprintf(&page, "on %s %d of %d answers flip (%s)\n", d.On, len(d.Flips), d.Rows, percent(float64(len(d.Flips))/float64(max(d.Rows, 1))))
	}
	section := func(title string, n int, line func(i int)) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&page, "\n%s\n", title)
		show := min(n, top)
		for i := range show {
			line(i)
		}
		if show < n {
			fmt.Fprintf(&page, "  … and %d more: --top %d shows all\n", n-show, n)
		}
	}
	section("flips", len(d.Flips), func(i int) {
		f := &d.Flips[i]
		fmt.Fprintf(&page, "  row %d: %s%s → %s%s\n", f.Row+1, f.Before, inBrackets(f.P), f.After, inBrackets(f.Q))
		for _, r := range f.Because {
			is := "now"
			if r.Was {
				is = "was"
			}
			fmt.Fprintf(&page, "    %s  %s\n", is, life.Brief(r.Rule))
		}
	})
	statements := func(title string, list []rule.Statement) {
		section(title, len(list), func(i int) { fmt.Fprintf(&page, "  %s\n", life.Brief(list[i])) })
	}
	changes := func(title string, list []rule.Change) {
		section(title, len(list), func(i int) {
			fmt.Fprintf(&page, "  %s\n    was  %s\n", life.Brief(list[i].After), life.Brief(list[i].Before))
		})
	}
	statements("added", d.Added)
	statements("dropped", d.Dropped)
	changes("stronger", d.Stronger)
	changes("weaker", d.Weaker)
	changes("moved", d.Moved)
	_, err := page.WriteTo(w)
	return err
}

func inBrackets(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return fmt.Sprintf(" (%s)", percent(p))
}

// writePage writes the page as a file that browsers show.
func (a *app) writePage(d *life.Difference, top int, path string, reads ...string) error {
	if path == "" {
		return nil
	}
	var text strings.Builder
	if err := writeDiff(&text, d, top); err != nil {
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

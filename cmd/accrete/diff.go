package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
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
			before, err := a.knower(args[0])
			if err != nil {
				return err
			}
			after, err := a.knower(args[1])
			if err != nil {
				return err
			}
			d := &difference{
				before: args[0], after: args[1], top: top,
				Diff: knowledge.CompareRules(before.learnt, before.told, after.learnt, after.told),
			}
			if on != "" {
				if err := a.flips(c.Context(), d, before, after, on, &flags); err != nil {
					return err
				}
			}
			if err := a.writePage(d, out); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(newDiffEntry(d))
			case out == "":
				return d.write(a.out)
			}
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&on, "on", "", "data whose answers are compared")
	c.Flags().StringVar(&out, "out", "", "file to write, .html or .svg")
	c.Flags().IntVar(&top, "top", 10, "lines of each kind; 0 for all")
	return c
}

// knower is one side of a comparison.
type knower struct {
	model        learn.Model // nil: a rule file
	learnt, told *rule.Base
}

// knower resolves a model of the store, an exported model or a rule file.
func (a *app) knower(arg string) (*knower, error) {
	s, err := a.openStore()
	if err != nil {
		return nil, err
	}
	m, _, err := s.Load(arg)
	if info, statErr := os.Stat(arg); err != nil && statErr == nil && !info.IsDir() {
		var exportErr error
		if m, _, exportErr = store.ReadFile(arg); exportErr != nil {
			src, err := os.ReadFile(arg)
			if err != nil {
				return nil, err
			}
			base, err := rule.Parse(arg, src)
			if err != nil {
				return nil, fmt.Errorf("%s is no exported model (%w), nor a rule file: %w", arg, exportErr, err)
			}
			return &knower{learnt: base}, nil
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	k := &knower{model: m}
	k.learnt, k.told, err = knowledge.Of(m)
	return k, err
}

// difference is what diff shows.
type difference struct {
	before, after string
	*rule.Diff
	on    string
	rows  int
	flips []knowledge.Flip
	top   int
}

func (a *app) flips(ctx context.Context, d *difference, before, after *knower, on string, flags *dataFlags) error {
	if before.model == nil || after.model == nil {
		return usagef("--on needs two models; a rule file alone does not answer")
	}
	data, err := a.find(on, flags)
	if err != nil {
		return err
	}
	o := data.options()
	if o.Schema, err = table.Union(before.model.Schema(), after.model.Schema()); err != nil {
		return err
	}
	t, report, err := data.read(ctx, o)
	if err != nil {
		return err
	}
	a.notes(report.Notes)
	d.on, d.rows = on, t.Rows()
	d.flips, err = knowledge.Flips(ctx, before.model, after.model, t)
	return err
}

// write prints the page for people, most important first.
func (d *difference) write(w io.Writer) error {
	var page bytes.Buffer
	fmt.Fprintf(&page, "%s → %s: %d added, %d dropped, %d stronger, %d weaker, %d moved\n",
		d.before, d.after, len(d.Added), len(d.Dropped), len(d.Stronger), len(d.Weaker), len(d.Moved))
	if d.Empty() {
		page.Reset()
		fmt.Fprintf(&page, "%s and %s know the same\n", d.before, d.after)
	}
	if d.Before != d.After {
		fmt.Fprintf(&page, "rules are read as %v, before as %v\n", d.After, d.Before)
	}
	if d.Reordered {
		fmt.Fprintln(&page, "rules that stayed are in another order")
	}
	if d.on != "" {
		fmt.Fprintf(&page, "on %s %d of %d answers flip (%s)\n", d.on, len(d.flips), d.rows, percent(float64(len(d.flips))/float64(max(d.rows, 1))))
	}
	section := func(title string, n int, line func(i int)) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&page, "\n%s\n", title)
		show := n
		if d.top > 0 {
			show = min(n, d.top)
		}
		for i := range show {
			line(i)
		}
		if show < n {
			fmt.Fprintf(&page, "  … and %d more: --top 0 shows all\n", n-show)
		}
	}
	section("flips", len(d.flips), func(i int) {
		f := &d.flips[i]
		fmt.Fprintf(&page, "  row %d: %s%s → %s%s\n", f.Row+1, f.Before, inBrackets(f.P), f.After, inBrackets(f.Q))
		for _, r := range f.Because {
			is := "now"
			if r.Was {
				is = "was"
			}
			fmt.Fprintf(&page, "    %s  %s\n", is, brief(r.Rule))
		}
	})
	statements := func(title string, list []rule.Statement) {
		section(title, len(list), func(i int) { fmt.Fprintf(&page, "  %s\n", brief(list[i])) })
	}
	changes := func(title string, list []rule.Change) {
		section(title, len(list), func(i int) {
			fmt.Fprintf(&page, "  %s\n    was  %s\n", brief(list[i].After), brief(list[i].Before))
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

// brief is a statement with rounded figures.
func brief(s rule.Statement) string {
	if s.Unit != nil {
		u := *s.Unit
		roundUnit(&u)
		return u.String()
	}
	r := *s.Rule
	roundRule(&r, true)
	return rule.Statement{Rule: &r, Else: s.Else}.String()
}

// writePage writes the page as a file that browsers show.
func (a *app) writePage(d *difference, path string) error {
	if path == "" {
		return nil
	}
	var text strings.Builder
	if err := d.write(&text); err != nil {
		return err
	}
	title := html.EscapeString(d.before + " → " + d.after)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return a.output(path, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>body{font:15px/1.5 sans-serif;margin:2em;max-width:70em}li{margin:.3em 0}.was{color:#777}code{font-size:14px}</style>\n%s</html>\n", title, pageHTML(text.String()))
			return err
		})
	case ".svg":
		return a.output(path, func(w io.Writer) error { return pageSVG(w, title, text.String()) })
	}
	return usagef("--out %s: expected a file that ends in .html or .svg", path)
}

// pageHTML marks up the text page: its first lines, then a list a section.
func pageHTML(text string) string {
	var b strings.Builder
	list := false
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case plain == "":
			continue
		case indent == 4:
			fmt.Fprintf(&b, "<br><code class=\"was\">%s</code>\n", html.EscapeString(plain))
			continue
		case indent == 2:
			fmt.Fprintf(&b, "<li><code>%s</code>\n", html.EscapeString(plain))
			continue
		case list:
			b.WriteString("</ul>\n")
		}
		if list = !strings.ContainsAny(plain, " "); list {
			fmt.Fprintf(&b, "<h2>%s</h2>\n<ul>\n", plain)
		} else {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(plain))
		}
	}
	if list {
		b.WriteString("</ul>\n")
	}
	return b.String()
}

// pageSVG writes the text page as a picture.
func pageSVG(w io.Writer, title, text string) error {
	const size, leading = 14, 20
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, l := range lines {
		widest = max(widest, len([]rune(l)))
	}
	width, height := 40+widest*size*61/100, 40+leading*len(lines)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<g font-family=\"monospace\" font-size=\"%d\" xml:space=\"preserve\">\n", width, height, width, height, title, size)
	for i, l := range lines {
		fmt.Fprintf(&b, "<text x=\"20\" y=\"%d\">%s</text>\n", 30+leading*i, html.EscapeString(l))
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := b.WriteTo(w)
	return err
}

// diffEntry is a difference as programs read it.
type diffEntry struct {
	Before   string        `json:"before"`
	After    string        `json:"after"`
	Added    []ruleEntry   `json:"added"`
	Dropped  []ruleEntry   `json:"dropped"`
	Stronger []changeEntry `json:"stronger"`
	Weaker   []changeEntry `json:"weaker"`
	Moved    []changeEntry `json:"moved"`
	Flips    []flipEntry   `json:"flips"`
	Rows     *int          `json:"rows,omitempty"`
}

type changeEntry struct {
	Before ruleEntry `json:"before"`
	After  ruleEntry `json:"after"`
}

type flipEntry struct {
	Row    int           `json:"row"`
	Before string        `json:"before"`
	After  string        `json:"after"`
	P      *float64      `json:"probability_before,omitempty"`
	Q      *float64      `json:"probability_after,omitempty"`
	Rules  []reasonEntry `json:"rules"`
}

type reasonEntry struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	In   string `json:"in"`
}

func newDiffEntry(d *difference) diffEntry {
	entry := func(s rule.Statement) ruleEntry {
		switch {
		case s.Unit != nil:
			return unitEntry(s.Unit)
		}
		return newRuleEntry(s.Rule, s.String())
	}
	statements := func(list []rule.Statement) []ruleEntry {
		entries := make([]ruleEntry, len(list))
		for i, s := range list {
			entries[i] = entry(s)
		}
		return entries
	}
	changes := func(list []rule.Change) []changeEntry {
		entries := make([]changeEntry, len(list))
		for i, c := range list {
			entries[i] = changeEntry{entry(c.Before), entry(c.After)}
		}
		return entries
	}
	e := diffEntry{
		Before: d.before, After: d.after, Added: statements(d.Added), Dropped: statements(d.Dropped),
		Stronger: changes(d.Stronger), Weaker: changes(d.Weaker), Moved: changes(d.Moved), Flips: []flipEntry{},
	}
	if d.on != "" {
		e.Rows = &d.rows
	}
	for i := range d.flips {
		f := &d.flips[i]
		flip := flipEntry{Row: f.Row + 1, Before: f.Before, After: f.After, Rules: []reasonEntry{}}
		if !math.IsNaN(f.P) {
			flip.P, flip.Q = &f.P, &f.Q
		}
		for _, r := range f.Because {
			in := "after"
			if r.Was {
				in = "before"
			}
			flip.Rules = append(flip.Rules, reasonEntry{r.Rule.ID(), r.Rule.String(), in})
		}
		e.Flips = append(e.Flips, flip)
	}
	return e
}

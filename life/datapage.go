package life

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/table"
)

// WriteHTML writes the description as one page that needs nothing else: what is
// worth a look, each column by class, which cells are missing, and which columns
// go together. One class stands above the line, the other below it, so that it
// reads without colour.
func (x *Description) WriteHTML(w io.Writer) error {
	p := &dataPage{x: x}
	p.say("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>%s</title>\n<style>%s</style>\n<main>\n", x.Data, verbatim(pageStyle))
	p.say("<h1>%s: %s, %s</h1>\n", x.Data, console.Plural(x.Rows, "row"), console.Plural(len(x.Columns), "column"))
	p.state()
	p.warnings()
	p.columns()
	p.missing()
	p.together()
	p.say("</main>\n</html>\n")
	_, err := p.WriteTo(w)
	return err
}

// dataPage is a page in the making.
type dataPage struct {
	bytes.Buffer
	x *Description
}

// verbatim is text that is markup already.
type verbatim string

// say writes a format, its texts escaped.
func (p *dataPage) say(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(s)
		}
	}
	fmt.Fprintf(p, format, args...)
}

// classes are the groups that distributions are shown by.
func (p *dataPage) classes() []string { return p.x.Classes }

// glyph is the mark of a class, never its colour alone.
func (p *dataPage) glyph(class int) (glyph, colour string) {
	if len(p.classes()) > 4 || len(p.classes()) == 1 {
		return "●", "k3"
	}
	return []string{"●", "◆", "▲", "■"}[class], fmt.Sprintf("k%d", class)
}

// state says what is to be predicted.
func (p *dataPage) state() {
	x := p.x
	i := slices.IndexFunc(x.Columns, func(c ColumnEntry) bool { return c.Name == x.Target })
	switch {
	case x.Target == "" || i < 0:
		p.say("<p class=\"state\">%s</p>\n", x.Format)
		return
	case len(p.classes()) < 2:
		p.say("<p class=\"state\"><b>%s</b> is taken as what is to be predicted, a number from %s to %s.</p>\n", x.Target, shownNumber(&x.Summaries[i], x.Summaries[i].Min), shownNumber(&x.Summaries[i], x.Summaries[i].Max))
		return
	}
	p.say("<p class=\"state\"><b>%s</b> is taken as what is to be predicted: ", x.Target)
	for c, class := range p.classes()[:min(8, len(p.classes()))] {
		if c > 0 {
			p.say(", ")
		}
		glyph, colour := p.glyph(c)
		p.say("<span class=\"%s\">%s</span> %s in %d rows", colour, glyph, class, x.ClassRows[c])
	}
	if len(p.classes()) > 8 {
		p.say(", … %d answers", len(p.classes()))
	}
	if none := x.Columns[i].Missing; none > 0 {
		p.say("; %d without an answer", none)
	}
	p.say(".</p>\n")
}

func (p *dataPage) warnings() {
	if len(p.x.Warnings) == 0 {
		p.say("<h2>Nothing needs a look first</h2>\n")
		return
	}
	p.say("<h2>Worth a look first</h2>\n<ul class=\"warnings\">\n")
	for _, w := range p.x.Warnings {
		p.say("<li>")
		if w.Column != "" {
			p.say("<b>%s</b> ", w.Column)
		}
		p.say("%s", w.What)
		if !strings.HasSuffix(w.What, "?") {
			p.say(".")
		}
		if w.Do != "" {
			p.say(" <span class=\"do\">%s</span>", w.Do)
		}
		p.say("</li>\n")
	}
	p.say("</ul>\n")
}

// columns shows the columns, those that tell most of the target first.
func (p *dataPage) columns() {
	x := p.x
	order := make([]int, len(x.Columns))
	for i := range order {
		order[i] = i
	}
	bits := func(i int) float64 {
		if b := x.Columns[i].Bits; b != nil {
			return *b
		}
		return -1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case bits(a) > bits(b):
			return -1
		case bits(a) < bits(b):
			return 1
		}
		return 0
	})
	title := "Columns"
	if x.Target != "" {
		title = "Columns, by what each alone tells of " + x.Target
	}
	p.say("<h2>%s</h2>\n", title)
	if len(p.classes()) == 2 {
		_, a := p.glyph(0)
		_, b := p.glyph(1)
		p.say("<p class=\"key\"><span class=\"%s\">●</span> %s above the line, <span class=\"%s\">◆</span> %s below it; each class is a whole.</p>\n", a, p.classes()[0], b, p.classes()[1])
	}
	p.say("<div class=\"columns\">\n")
	for _, i := range order {
		if x.Columns[i].Name == x.Target && len(p.classes()) > 1 {
			continue // which is what the others are shown by
		}
		p.column(&x.Columns[i], &x.Summaries[i])
	}
	p.say("</div>\n")
}

// column shows one column: what it is, what it tells, and its distribution.
func (p *dataPage) column(c *ColumnEntry, s *table.Summary) {
	p.say("<section><h3>%s</h3><p class=\"meta\">%s, %s", c.Name, c.Kind, console.Plural(c.Distinct, "value"))
	if c.Missing > 0 {
		p.say(", <span class=\"amber\">%d missing (%s)</span>", c.Missing, console.Percent(float64(c.Missing)/float64(max(1, p.x.Rows))))
	}
	if c.Bits != nil {
		p.say(", tells %.2f bits", *c.Bits)
	}
	p.say("</p>\n")
	names, shares, counts := p.bars(c, s)
	if len(names) > 0 {
		p.distribution(c.Name, names, shares, counts, c.Histogram != nil)
	}
	p.say("</section>\n")
}

// bars returns what a column's bars are called, and for each class how much of it
// each bar has.
func (p *dataPage) bars(c *ColumnEntry, s *table.Summary) (names []string, shares [][]float64, counts [][]int) {
	classes := p.classes()
	counts, shares = make([][]int, len(classes)), make([][]float64, len(classes))
	switch {
	case c.Histogram != nil:
		for _, edge := range c.Histogram.Edges {
			names = append(names, shownNumber(s, edge))
		}
		for k, class := range classes {
			counts[k] = c.Histogram.Counts[class]
		}
	case len(c.Values) > 0:
		const most, shown = 12, 8
		list := c.Values
		if len(list) > most {
			list = list[:shown]
		}
		for _, v := range list {
			names = append(names, v.Value)
			for k, class := range classes {
				counts[k] = append(counts[k], v.Counts[class])
			}
		}
		if rest := c.Values[len(list):]; len(rest) > 0 {
			names = append(names, "others")
			for k, class := range classes {
				n := 0
				for _, v := range rest {
					n += v.Counts[class]
				}
				counts[k] = append(counts[k], n)
			}
		}
	}
	for k := range classes {
		total := 0
		for _, n := range counts[k] {
			total += n
		}
		shares[k] = make([]float64, len(counts[k]))
		for i, n := range counts[k] {
			shares[k][i] = float64(n) / float64(max(1, total))
		}
	}
	return names, shares, counts
}

// The picture of a distribution.
const (
	pictureWidth = 400
	barHeight    = 44
	rowHeight    = 26
	nameHeight   = 18
)

// distribution draws bars: two classes mirrored about a line, more of them in rows.
func (p *dataPage) distribution(column string, names []string, shares [][]float64, counts [][]int, edges bool) {
	classes := p.classes()
	n := len(names)
	if edges {
		n--
	}
	highest := 0.0
	for _, s := range shares {
		highest = max(highest, slices.Max(append(s, 1e-9)))
	}
	rows := len(classes)
	mirrored := rows == 2
	const mostRows = 6
	rows = min(rows, mostRows)
	height := nameHeight + barHeight + 12
	if mirrored {
		height = nameHeight + 2*barHeight + 24
	} else if rows > 1 {
		height = nameHeight + rows*rowHeight
	}
	left := 0.0
	if rows > 2 {
		left = 90
	}
	step := (pictureWidth - left) / float64(n)
	p.say("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s by %s\">\n", pictureWidth, height, column, p.x.Target)
	for k := range rows {
		base, tall, down := float64(height-nameHeight), float64(barHeight), false
		switch {
		case mirrored:
			base, down = 12+barHeight, k == 1
		case rows > 1:
			base, tall = float64((k+1)*rowHeight), rowHeight-6
			glyph, colour := p.glyph(k)
			p.say("<text class=\"label\" x=\"0\" y=\"%.0f\"><tspan class=\"%s\">%s</tspan> %s</text>\n", base-3, colour, glyph, clipped(classes[k], 11))
		}
		p.classBars(k, base, tall, left, step, highest, down, shares[k], counts[k], names, edges)
		p.say("<line class=\"base\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", left, base, pictureWidth, base)
	}
	p.names(names, left, step, float64(height)-4, edges)
	p.say("</svg>\n")
	if len(classes) > mostRows {
		p.say("<p class=\"meta\">and %d answers more</p>\n", len(classes)-mostRows)
	}
}

// classBars draws the bars of one class, and labels the highest.
func (p *dataPage) classBars(class int, base, tall, left, step, highest float64, down bool, shares []float64, counts []int, names []string, edges bool) {
	_, colour := p.glyph(class)
	top := 0
	for i, s := range shares {
		if s > shares[top] {
			top = i
		}
	}
	for i, s := range shares {
		if counts[i] == 0 {
			continue
		}
		size := max(1, s/highest*tall)
		y := base - size
		if down {
			y = base
		}
		name := names[i]
		if edges {
			name += " to " + names[i+1]
		}
		x := left + float64(i)*step
		p.say("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s: %s, %d rows (%s)</title></rect>\n", colour, x+1, y, max(1, step-2), size, p.classes()[class], name, counts[i], console.Percent(s))
		if i == top {
			at := y - 2
			if down {
				at = y + size + 11
			}
			if tall >= barHeight {
				p.say("<text class=\"share\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x+step/2, at, wholePercent(s))
			}
		}
	}
}

// names writes what bars are called: each name, or a few of the edges.
func (p *dataPage) names(names []string, left, step, y float64, edges bool) {
	if edges {
		every := max(1, (len(names)+2)/4)
		for i := 0; i < len(names); i += every {
			anchor := "middle"
			if i == 0 {
				anchor = "start"
			} else if i == len(names)-1 {
				anchor = "end"
			}
			p.say("<text class=\"name\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", anchor, left+float64(i)*step, y, names[i])
		}
		return
	}
	for i, name := range names {
		p.say("<text class=\"name\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s<title>%s</title></text>\n", left+(float64(i)+.5)*step, y, clipped(name, max(2, int(step/6.6))), name)
	}
}

// missing shows where cells are missing, from the first row to the last.
func (p *dataPage) missing() {
	var any []int
	for i, c := range p.x.Columns {
		if c.Missing > 0 {
			any = append(any, i)
		}
	}
	if len(any) == 0 {
		p.say("<h2>No cell is missing</h2>\n")
		return
	}
	slices.SortStableFunc(any, func(a, b int) int { return p.x.Columns[b].Missing - p.x.Columns[a].Missing })
	p.say("<h2>Missing cells, from the first row to the last</h2>\n<p class=\"key\">The stronger a mark, the more of the cells there are missing.</p>\n<table class=\"gaps\">\n")
	const most = 40
	for _, i := range any[:min(most, len(any))] {
		c := &p.x.Columns[i]
		p.say("<tr><th>%s</th><td>%d<td>%s<td><svg viewBox=\"0 0 400 14\" role=\"img\" aria-label=\"where %s is missing\"><rect class=\"sunken\" width=\"400\" height=\"14\"/>", c.Name, c.Missing, console.Percent(float64(c.Missing)/float64(max(1, p.x.Rows))), c.Name)
		gaps := p.x.gaps[i]
		for k, share := range gaps {
			if share > 0 {
				wide := 400 / float64(len(gaps))
				p.say("<rect class=\"gap\" x=\"%.2f\" width=\"%.2f\" height=\"14\" opacity=\"%.2f\"/>", float64(k)*wide, wide, 0.25+0.75*share)
			}
		}
		p.say("</svg></tr>\n")
	}
	p.say("</table>\n")
	if len(any) > most {
		p.say("<p class=\"meta\">and %d columns more</p>\n", len(any)-most)
	}
}

// together shows which columns go together.
func (p *dataPage) together() {
	all := p.x.Associations
	if len(all) == 0 {
		return
	}
	const most, weakest = 15, 0.02
	p.say("<h2>Columns that go together</h2>\n<p class=\"key\">How much of what is uncertain in one column the other takes away; of two, the one that is less uncertain.</p>\n<table class=\"pairs\">\n")
	for _, a := range all[:min(most, len(all))] {
		if a.Strength < weakest {
			break
		}
		p.say("<tr><th>%s <span class=\"and\">and</span> %s</th><td>%s<td><svg viewBox=\"0 0 200 14\" aria-hidden=\"true\"><rect class=\"ink\" y=\"2\" height=\"10\" width=\"%.1f\"/></svg></tr>\n", a.A, a.B, wholePercent(a.Strength), 200*a.Strength)
	}
	p.say("</table>\n")
}

// shownNumber writes a number of a column.
func shownNumber(s *table.Summary, x float64) string {
	if s.Date || s.Time {
		return dayOf(&table.Attribute{Kind: table.Numeric, Date: s.Date, Time: s.Time, Style: s.Style}, x)
	}
	return console.Number(x)
}

// dayOf writes a day, a moment or a time of day.
func dayOf(a *table.Attribute, x float64) string {
	if a.Date && !a.Time {
		x = math.Floor(x)
	}
	if a.Style == table.Clock && x == 86400 {
		return "24:00"
	}
	return strings.TrimSuffix(strings.Replace(a.Format(x), "T", " ", 1), " 00:00:00")
}

// wholePercent writes a share as people read it.
func wholePercent(s float64) string {
	switch {
	case s > 0 && s < 0.005:
		return "under 1\u00a0%"
	}
	return fmt.Sprintf("%.0f\u00a0%%", 100*s)
}

// clipped is a text of so many characters at most.
func clipped(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:max(1, most-1)]) + "…"
}

// pageStyle is how the page looks, in light and dark.
//
//go:embed datapage.css
var pageStyle string

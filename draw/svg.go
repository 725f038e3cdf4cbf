package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/console"
)

// picture is an SVG document in the making. It is written by hand: the
// pictures here are boxes, lines and text, and a plotting library would bring
// fonts and rasterisers into the program for them.
type picture struct {
	body bytes.Buffer
}

const (
	fontFamily = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
	fontSize   = 12.0
	lineHeight = 15.0
	ink        = "#222222" // text and axes
	soft       = "#6b6b6b" // lines that should not shout
	faint      = "#e4e4e4" // grids
)

// palette is that of Okabe & Ito 2008, which people with colour-blindness
// tell apart, without its yellow (too light for lines) and with a grey for its
// black; for more things than those, hues that stand between.
var palette = [...]rgb{
	{0x00, 0x72, 0xb2}, // blue
	{0xe6, 0x9f, 0x00}, // orange
	{0x00, 0x9e, 0x73}, // green
	{0xcc, 0x79, 0xa7}, // purple
	{0x56, 0xb4, 0xe9}, // sky
	{0xd5, 0x5e, 0x00}, // vermilion
	{0x44, 0x44, 0x44}, // grey
	{0x99, 0x99, 0x33}, // olive
	{0x88, 0x22, 0x55}, // wine
	{0x33, 0x22, 0x88}, // indigo
	{0x8c, 0x51, 0x0a}, // brown
	{0x88, 0xcc, 0x44}, // lime
}

var (
	positive = palette[0]
	negative = palette[5]
	neutral  = rgb{0x99, 0x99, 0x99}
	white    = rgb{0xff, 0xff, 0xff}
)

type rgb [3]uint8

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// mix returns the colour that lies between c and another, at a share from 0
// to 1 of the other.
func (c rgb) mix(other rgb, share float64) rgb {
	var m rgb
	for i := range c {
		m[i] = uint8(math.Round(float64(c[i]) + share*(float64(other[i])-float64(c[i]))))
	}
	return m
}

// colour returns the colour of the i-th of several things. When the palette
// is used up it comes again, paler each time.
func colour(i int) rgb {
	round := min(i/len(palette), 2)
	return palette[i%len(palette)].mix(white, 0.3*float64(round))
}

// dotColour is that of Dots, which no line has.
var dotColour = rgb{0x8a, 0x8a, 0x8a}

// num writes a coordinate: a tenth of a pixel is enough.
func num(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0"
	}
	text := strconv.FormatFloat(x, 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// escape returns text as XML writes it; characters that would not show are
// written as on a page.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(console.Escaped(s, ""))); err != nil {
		return ""
	}
	return b.String()
}

// add writes an element. Attributes are pairs of a name and a value, which is
// a string or a float64.
func (p *picture) add(element string, attributes ...any) {
	p.open(element, attributes...)
	p.body.Truncate(p.body.Len() - 1)
	p.body.WriteString("/>\n")
}

// open writes the start of an element that has others inside.
func (p *picture) open(element string, attributes ...any) {
	p.body.WriteString("<" + element)
	for i := 0; i+1 < len(attributes); i += 2 {
		var value string
		switch v := attributes[i+1].(type) {
		case float64:
			value = num(v)
		case rgb:
			value = v.String()
		default:
			value = escape(fmt.Sprint(v))
		}
		fmt.Fprintf(&p.body, ` %s="%s"`, attributes[i], value)
	}
	p.body.WriteString(">")
}

func (p *picture) close(element string) { p.body.WriteString("</" + element + ">\n") }

// tooltip says something when a mouse rests on the element around it.
func (p *picture) tooltip(s string) {
	p.body.WriteString("<title>" + escape(s) + "</title>")
}

// text writes one line. Anchor is start, middle or end.
func (p *picture) text(x, y float64, anchor, s string, attributes ...any) {
	if s == "" {
		return
	}
	all := []any{"x", x, "y", y}
	if anchor != "start" {
		all = append(all, "text-anchor", anchor)
	}
	p.open("text", append(all, attributes...)...)
	p.body.WriteString(escape(s))
	p.close("text")
}

// titleSize is the size of a title's letters, titleGrowth how much wider than
// plain text they are, being larger and bold.
const (
	titleSize   = 15.0
	titleGrowth = titleSize / fontSize * 1.08
)

// title writes a title at the top of a picture that is so wide, in two lines if
// it must be and shortened to fit, and returns its height.
func (p *picture) title(wide float64, s string) float64 {
	if s == "" {
		return 0
	}
	room := (wide-2*margin)/titleGrowth + 1e-6 // what titleWidth asked for is enough
	lines := inTwo(s, room)
	for i, line := range lines {
		p.text(margin, margin+12+float64(i)*(titleSize+4), "start", shorten(line, room), "font-size", titleSize, "font-weight", "bold")
	}
	return titleHeight + float64(len(lines)-1)*(titleSize+4)
}

// inTwo cuts a title that is too wide for one line after the last word that fits.
func inTwo(s string, room float64) []string {
	if width(s) <= room {
		return []string{s}
	}
	at := -1
	for i, r := range s {
		if r == ' ' && width(s[:i]) <= room {
			at = i
		}
	}
	if bracket := strings.LastIndex(s, " ("); bracket > 0 && bracket < at && strings.HasSuffix(s, ")") {
		at = bracket // what it says stays together
	}
	if at <= 0 {
		return []string{s}
	}
	return []string{s[:at], s[at+1:]}
}

// balanced cuts text that is too wide for one line into two that are about as
// wide, lest a word stand alone.
func balanced(s string, room float64) []string {
	lines := inTwo(s, room)
	if len(lines) == 1 {
		return lines
	}
	best := max(width(lines[0]), width(lines[1]))
	for i, r := range s {
		if r == ' ' && i > 0 {
			if wide := max(width(s[:i]), width(s[i+1:])); wide < best {
				best, lines = wide, []string{s[:i], s[i+1:]}
			}
		}
	}
	return lines
}

// titleWidth is how wide a picture is wished for its title, at most so wide.
func titleWidth(s string, most float64) float64 {
	return min(width(s)*titleGrowth+2*margin, most)
}

// upright writes text that runs upwards, its middle at a point.
func (p *picture) upright(x, y float64, s string, attributes ...any) {
	p.text(x, y, "middle", s, append(attributes, "transform", fmt.Sprintf("rotate(-90 %s %s)", num(x), num(y)))...)
}

// label writes small text on top of lines, on white ground so that they do
// not run through it.
func (p *picture) label(x, y float64, anchor, s string) {
	const size = 11.0
	w := width(s) * size / fontSize
	left := x - w/2
	switch anchor {
	case "start":
		left = x
	case "end":
		left = x - w
	}
	if s != "" {
		p.add("rect", "x", left-1, "y", y-size+1, "width", w+2, "height", size+2, "fill", white, "fill-opacity", "0.9")
	}
	p.text(x, y, anchor, s, "font-size", size)
}

// writeTo writes the document, white behind all of it.
func (p *picture) writeTo(w io.Writer, title string, width, height float64) error {
	width, height = math.Ceil(width), math.Ceil(height)
	var head picture
	head.open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %s %s", num(width), num(height)),
		"width", width, "height", height, "role", "img", "font-family", fontFamily, "font-size", fontSize, "fill", ink)
	head.body.WriteByte('\n')
	if title != "" {
		head.tooltip(title)
		head.body.WriteByte('\n')
	}
	head.add("rect", "width", width, "height", height, "fill", white)
	for _, part := range [][]byte{head.body.Bytes(), p.body.Bytes(), []byte("</svg>\n")} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
	}
	return nil
}

// advance has the widths of Helvetica's characters from space to tilde, in
// thousandths of the font's size.
var advance = [95]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// width returns how wide a line of text is at most. The reader's font may be
// wider than Helvetica (DejaVu and Verdana are, by up to an eighth).
func width(s string) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			sum += float64(advance[r-' '])
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100:
			sum += 1000
		default:
			sum += 620
		}
	}
	return sum / 1000 * fontSize * 1.13
}

// shorten returns text that is at most so wide, cut with an ellipsis.
func shorten(s string, most float64) string {
	s = strings.Map(spaced, s)
	if width(s) <= most {
		return s
	}
	runes := []rune(s)
	n, sum := 0, width("…")
	for n < len(runes) {
		sum += width(string(runes[n]))
		if sum > most {
			break
		}
		n++
	}
	return strings.TrimRight(string(runes[:n]), " ") + "…"
}

// clip returns text that is at most so wide, cut within: names that differ at
// their end stay apart, and of a test the value stays. The longest words are cut
// first, since a short one says how the others belong together.
func clip(s string, most float64) string {
	const least = 9 // letters: a shorter word stays whole
	words := strings.Split(strings.Map(spaced, s), " ")
	for {
		s = strings.Join(words, " ")
		excess := width(s) - most
		longest := 0
		for i := range words {
			if utf8.RuneCountInString(words[i]) > utf8.RuneCountInString(words[longest]) {
				longest = i
			}
		}
		runes := []rune(words[longest])
		if excess <= 0 || len(runes) <= least {
			return shorten(s, most)
		}
		keep := len(runes) - max(1, len(runes)/16)
		if slices.Contains(runes, '…') {
			keep--
		}
		words[longest] = string(runes[:(keep+1)/2]) + "…" + string(runes[len(runes)-keep/2:])
	}
}

// spaced is a letter as a line can hold it.
func spaced(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// An item of a legend.
type item struct {
	name   string
	colour rgb
	kind   Kind
	swatch bool // a filled square instead of a sign for the kind
}

// legend writes items in lines that are at most so wide and returns its
// height.
func (p *picture) legend(x, y, most float64, items []item) float64 {
	const sign, gap = 18.0, 16.0
	left, top := x, y
	for _, it := range items {
		name := clip(it.name, 180)
		w := sign + 6 + width(name) + gap
		if left > x && left+w-gap > x+most {
			left, top = x, top+lineHeight+3
		}
		middle := top + lineHeight/2
		switch {
		case it.swatch || it.kind == Bars:
			p.add("rect", "x", left+3, "y", middle-6, "width", 12.0, "height", 12.0, "rx", 2.0, "fill", it.colour.mix(white, 0.25), "stroke", it.colour.mix(rgb{}, 0.15))
		case it.kind == Points || it.kind == Dots:
			p.add("circle", "cx", left+sign/2, "cy", middle, "r", 3.5, "fill", it.colour)
		default:
			attributes := []any{"x1", left, "y1", middle, "x2", left + sign, "y2", middle, "stroke", it.colour, "stroke-width", 2.0}
			if it.kind == Dashed {
				attributes = append(attributes, "stroke-dasharray", "5 4")
			}
			p.add("line", attributes...)
		}
		p.text(left+sign+6, middle+4, "start", name)
		left += w
	}
	if len(items) == 0 {
		return 0
	}
	return top - y + lineHeight + 3
}

// classColours gives each class a colour, by the order of their names, so
// that the pictures of two models of one target agree.
func classColours(nodes []Node) (map[string]rgb, []item) {
	var names []string
	for _, n := range nodes {
		if n.Class != "" {
			names = append(names, n.Class)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	colours := make(map[string]rgb, len(names))
	items := make([]item, len(names))
	for i, name := range names {
		colours[name] = colour(i)
		items[i] = item{name: name, colour: colours[name], swatch: true}
	}
	return colours, items
}

package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
)

// family is experiments that differ in a number or in a word of their names:
// the points of one curve, or the bars of one figure.
type family struct {
	name  string
	of    []*Outcome
	at    []float64 // by number
	words []string  // otherwise
}

// numbered is a name with a number in it: what stands before the last one, the
// number, and what stands behind.
var numbered = regexp.MustCompile(`^(.*?)(\d+(?:\.\d+)?)((?:-[a-z-]*)?)$`)

// familiesOf are those of two experiments or more, in the order of the first of
// each.
func familiesOf(outcomes []Outcome) []*family {
	names := map[string]bool{}
	for i := range outcomes {
		names[outcomes[i].Name] = true
	}
	known := map[string]*family{}
	var all []*family
	for i := range outcomes {
		o := &outcomes[i]
		name, number, word, ok := place(o, names)
		if !ok {
			continue
		}
		f := known[name]
		if f == nil {
			f = &family{name: name}
			known[name], all = f, append(all, f)
		}
		if f.of = append(f.of, o); word == "" {
			f.at = append(f.at, number)
		} else {
			f.words = append(f.words, word)
		}
	}
	return slices.DeleteFunc(all, func(f *family) bool {
		mixed := len(f.at) > 0 && len(f.words) > 0 || slices.ContainsFunc(f.of, func(o *Outcome) bool { return o.scale != f.of[0].scale })
		return len(f.of) < 2 || mixed || f.words == nil && f.alike() == 0 // numbers of different things, as of exercises, are no curve
	})
}

// place returns the family of an experiment and what tells it from others:
// a number, or of rates a word.
func place(o *Outcome, names map[string]bool) (name string, number float64, word string, ok bool) {
	if m := numbered.FindStringSubmatch(o.Name); m != nil {
		number, err := strconv.ParseFloat(m[2], 64)
		return strings.TrimSuffix(m[1], "-") + m[3], number, "", err == nil
	}
	cut := strings.LastIndexByte(o.Name, '-')
	for cut > 0 && names[o.Name[:cut]] { // a variant of one that has a family
		cut = strings.LastIndexByte(o.Name[:cut], '-')
	}
	if cut <= 0 || o.scale == Number {
		return "", 0, "", false
	}
	return o.Name[:cut], 0, o.Name[cut+1:], true
}

// chart draws ours with its interval, and what is known beside it.
func (f *family) chart() *draw.Chart {
	c := &draw.Chart{Title: f.title(), Categories: f.words, YLabel: [...]string{Percent: "%", Fraction: "share", Number: ""}[f.of[0].scale]}
	kind := draw.Line
	if f.words != nil {
		kind = draw.Bars
	}
	order := make([]int, len(f.of))
	for i := range order {
		order[i] = i
	}
	x := func(i int) float64 {
		if f.words != nil {
			return float64(i)
		}
		return f.at[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x(a), x(b)) })
	last := len(order) - 1
	switch {
	case f.words != nil:
	case f.at[order[last]]-f.at[order[0]] == float64(last): // one, two, three: nothing lies between
		kind = draw.Bars
		for _, i := range order {
			c.Categories = append(c.Categories, fmt.Sprint(f.at[i]))
		}
		least := f.at[order[0]]
		x = func(i int) float64 { return f.at[i] - least }
	default:
		room := 0.03 * (f.at[order[last]] - f.at[order[0]]) // so that no point lies on the frame
		c.XRange = [2]float64{f.at[order[0]] - room, f.at[order[last]] + room}
	}
	if f.words == nil {
		c.XLabel = unknownNumber
	}
	low, high := math.Inf(-1), math.Inf(1)
	if share := [...]float64{Percent: 100, Fraction: 1, Number: 0}[f.of[0].scale]; share > 0 && !slices.ContainsFunc(f.of, func(o *Outcome) bool { return min(o.Ours, o.Known()) < 0 || max(o.Ours, o.Known()) > share }) {
		low, high = 0, share // which no rate leaves, though intervals of few seeds may
	}
	ours, published, reference := draw.Series{Name: "ours", Kind: kind}, draw.Series{Name: "published", Kind: draw.Points}, draw.Series{Name: "reference, not printed", Kind: draw.Points}
	for _, i := range order {
		o := f.of[i]
		ours.X, ours.Y = append(ours.X, x(i)), append(ours.Y, o.Ours)
		ours.Low, ours.High = append(ours.Low, max(o.Low, low)), append(ours.High, min(o.High, high))
		s := &published
		if o.Published == nil {
			s = &reference
		}
		s.X, s.Y = append(s.X, x(i)), append(s.Y, o.Known())
	}
	for _, s := range []draw.Series{ours, published, reference} {
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// alike is how many words all measures begin with alike.
func (f *family) alike() int {
	first := strings.Fields(f.of[0].Measure)
	n := len(first)
	for _, o := range f.of[1:] {
		other := strings.Fields(o.Measure)
		same := 0
		for same < min(n, len(other)) && first[same] == other[same] {
			same++
		}
		n = same
	}
	return n
}

// unknownNumber stands in a title for the number in which experiments differ, and
// is the name of the axis on which it is drawn.
const unknownNumber = "n"

// title is the family's name and what the measures have in common: of curves, the
// first one's words with n for its number, as in "test accuracy after n examples".
func (f *family) title() string {
	const most = 120 // letters that are read
	first, n := strings.Fields(f.of[0].Measure), f.alike()
	text := strings.Join(first[:n], " ")
	if f.words == nil && n < len(first) {
		end := strings.TrimLeft(first[n], "0123456789.")
		cardinal, ordinal := slices.Contains(cardinals, first[n]), slices.Contains(ordinals, first[n])
		if end != first[n] || cardinal || ordinal {
			switch {
			case cardinal:
				end = ""
			case ordinal:
				end = "-th"
			}
			common := true // up to where measures differ again
			for i := n + 1; i < len(first) && common; i++ {
				for _, o := range f.of {
					words := strings.Fields(o.Measure)
					common = common && i < len(words) && words[i] == first[i]
				}
				if common {
					end += " " + first[i]
				}
			}
			text += " " + unknownNumber + end
		} else {
			text += " …"
		}
	}
	if text = strings.TrimRight(f.name+": "+text, " ,;:("); len(text) > most {
		text = strings.TrimRight(text[:strings.LastIndexByte(text[:most], ' ')], " ,;:(") + " …"
	}
	return text
}

// cardinals and ordinals are numbers as measures write them.
var (
	cardinals = strings.Fields("one two three four five six seven eight nine ten")
	ordinals  = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")
)

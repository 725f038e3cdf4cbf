package draw

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	titleText = regexp.MustCompile(`<text x="16"[^>]*font-weight="bold">([^<]*)</text>`)
	svgWidth  = regexp.MustCompile(`<svg [^>]*width="([0-9.]+)"`)
)

// A title never leaves its picture, however long it is, and what it says
// cannot become markup.
func TestTitlesFit(t *testing.T) {
	const long = `<b>"accuracy" & 'error'</b> of a rule network on the votes of the House of Representatives in the year 1984, five times over, with every learner that there is and every setting that it has`
	name := []string{"a<b>", `c"d&e`}
	cells := [][]float64{{1, 2}, {3, 4}}
	for what, d := range map[string]drawing{
		"chart":   &Chart{Title: long, XLabel: long, YLabel: long, Series: []Series{{Name: long, X: []float64{1, 2}, Y: []float64{1, 2}}}},
		"matrix":  &Matrix{Title: long, Rows: name, Columns: name, RowLabel: long, ColumnLabel: "said", Cells: cells},
		"shades":  &Shades{Title: long, Panels: []Panel{{Name: long, Rows: name, Columns: name, Cells: cells}}},
		"tree":    &Graph{Title: long, Nodes: []Node{{ID: "a", Lines: name}, {ID: "b", Lines: name}}, Edges: []Edge{{From: "a", To: "b", Label: name[0]}}},
		"network": &Graph{Title: long, Nodes: []Node{{ID: "a", Lines: name}, {ID: "b", Lines: name, Layer: 1}}, Edges: []Edge{{From: "a", To: "b", Label: name[1], Weight: 1}}},
	} {
		svg := render(t, d)
		if strings.Contains(svg, "<b>") {
			t.Errorf("%s: text became markup", what)
		}
		lines := titleText.FindAllStringSubmatch(svg, -1)
		if len(lines) != 2 {
			t.Errorf("%s has a title of %d lines", what, len(lines))
			continue
		}
		wide, err := strconv.ParseFloat(svgWidth.FindStringSubmatch(svg)[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			said := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&amp;", "&", "&#39;", "'").Replace(line[1])
			if need := width(said)*15/12*1.08 + 2*margin; need > wide+1 {
				t.Errorf("%s: a title of %.0f in a picture of %.0f: %s", what, need, wide, said)
			}
			if strings.HasSuffix(said, "…") != (i == 1) || len(said) < 20 {
				t.Errorf("%s: title %q", what, said)
			}
		}
	}
}

// Without a title nothing is written and no room is taken.
func TestNoTitle(t *testing.T) {
	var p picture
	if h := p.title(300, ""); h != 0 || !bytes.Equal(p.body.Bytes(), nil) {
		t.Errorf("height %v, %q", h, p.body.String())
	}
}

// What would not show is written out: pictures are opened by terminals too.
func TestControlsAreWrittenOut(t *testing.T) {
	const name = "a\x1b[31m\u009b\u202e"
	svg := render(t, &Graph{Title: name, Nodes: []Node{{ID: "a", Lines: []string{name}}, {ID: "b", Lines: []string{name}, Layer: 1}}, Edges: []Edge{{From: "a", To: "b", Label: name, Weight: 1}}})
	if strings.ContainsAny(svg, "\x1b\u009b\u202e\ufffd") || !strings.Contains(svg, `a\x1b[31m\u009b\u202e`) {
		t.Error(svg)
	}
}

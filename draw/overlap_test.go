package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown is a picture taken apart: where its texts are, and the points of its
// lines.
type shown struct {
	texts  []area
	words  []string // of each text
	labels []area   // of texts, those of lines
	lines  [][][2]float64
}

// takeApart reads a picture as a viewer would.
func takeApart(t tester, svg string) shown {
	t.Helper()
	var s shown
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		has := map[string]string{}
		for _, a := range e.Attr {
			has[a.Name.Local] = a.Value
		}
		switch {
		case e.Name.Local == "path" && has["fill"] == "none":
			s.lines = append(s.lines, pointsOf(t, has["d"]))
		case e.Name.Local == "text" && has["transform"] == "":
			inside, err := decoder.Token()
			words, ok := inside.(xml.CharData)
			if err != nil || !ok {
				t.Fatalf("a text without words: %v", err)
			}
			size := fontSize
			if v := has["font-size"]; v != "" {
				size = value(t, v)
			}
			a := extentOf(string(words), value(t, has["x"]), value(t, has["y"]), size, has["text-anchor"])
			s.texts, s.words = append(s.texts, a), append(s.words, string(words))
			if size == 11 {
				s.labels = append(s.labels, a)
			}
		}
	}
}

func value(t tester, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// extentOf is where a text in Helvetica is.
func extentOf(words string, x, y, size float64, anchor string) area {
	w := width(words) / 1.13 * size / fontSize
	switch anchor {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return area{x, y - 0.72*size, x + w, y + 0.2*size}
}

var step = regexp.MustCompile(`([MLHVC])([^MLHVC]*)`)

// pointsOf follows a path.
func pointsOf(t tester, d string) (points [][2]float64) {
	var x, y float64
	for _, m := range step.FindAllStringSubmatch(d, -1) {
		var v []float64
		for _, word := range strings.Fields(m[2]) {
			v = append(v, value(t, word))
		}
		switch m[1] {
		case "H":
			x = v[0]
		case "V":
			y = v[0]
		case "C":
			curve := stretch{[4]float64{x, v[0], v[2], v[4]}, [4]float64{y, v[1], v[3], v[5]}}
			for i := range 60 {
				px, py := curve.at(float64(i) / 60)
				points = append(points, [2]float64{px, py})
			}
			x, y = v[4], v[5]
		default:
			x, y = v[0], v[1]
		}
		points = append(points, [2]float64{x, y})
	}
	return points
}

// through reports whether a line runs through an area.
func through(points [][2]float64, a area) bool {
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		pieces := max(1, math.Ceil(math.Hypot(q[0]-p[0], q[1]-p[1])))
		for k := range int(pieces) + 1 {
			at := float64(k) / pieces
			x, y := p[0]+at*(q[0]-p[0]), p[1]+at*(q[1]-p[1])
			if x > a.left && x < a.right && y > a.top && y < a.bottom {
				return true
			}
		}
	}
	return false
}

// No text lies on another one, and no line runs through a label, except its own,
// or behind a box.
func checkLegible(t tester, svg string) {
	t.Helper()
	s := takeApart(t, svg)
	for i, a := range s.texts {
		for j, b := range s.texts[:i] {
			if a.meets(b) {
				t.Fatalf("%q at %v lies on %q at %v", s.words[i], a, s.words[j], b)
			}
		}
	}
	for _, a := range s.labels {
		crossed := 0
		for _, line := range s.lines {
			if through(line, a) {
				crossed++
			}
		}
		if crossed > 1 {
			t.Fatalf("%d lines run through the label at %v", crossed, a)
		}
	}
	for _, b := range boxesIn(svg) {
		inside := area{b.left + 1, b.top + 1, b.right - 1, b.bottom - 1}
		for _, line := range s.lines {
			if through(line, inside) {
				t.Fatalf("a line runs behind the box at %v", b)
			}
		}
	}
}

// word draws what people call things.
func word(t *rapid.T, name string) string {
	return rapid.StringMatching(`[A-Za-z][a-z0-9 =%−.-]{0,60}`).Draw(t, name)
}

// Labels, titles, boxes and lines of networks keep apart.
func TestNetworksAreLegible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Graph{Title: word(t, "title")}
		layers := rapid.IntRange(2, 4).Draw(t, "layers")
		n := rapid.IntRange(2, 24).Draw(t, "nodes")
		for i := range n {
			var lines []string
			for range rapid.IntRange(1, 3).Draw(t, "lines") {
				lines = append(lines, word(t, "line"))
			}
			g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(i), Lines: lines, Layer: rapid.IntRange(0, layers-1).Draw(t, "layer"), Class: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "class")})
		}
		linked := map[[2]int]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			if g.Nodes[a].Layer == g.Nodes[b].Layer || linked[[2]int{a, b}] || linked[[2]int{b, a}] {
				continue
			}
			linked[[2]int{a, b}] = true
			g.Edges = append(g.Edges, Edge{From: strconv.Itoa(a), To: strconv.Itoa(b), Label: rapid.SampledFrom([]string{"", "0.5", "−12.25", "3 or more"}).Draw(t, "label"), Weight: rapid.Float64Range(-3, 3).Draw(t, "weight")})
		}
		if !g.Layered() {
			t.Skip("a tree")
		}
		checkLegible(t, render(t, g))
	})
}

// The same of trees.
func TestTreesAreLegible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Graph{Title: word(t, "title")}
		n := rapid.IntRange(1, 60).Draw(t, "nodes")
		for i := range n {
			g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(i), Lines: []string{word(t, "line")}, Class: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "class")})
			if i > 0 {
				parent := rapid.IntRange(max(0, i-6), i-1).Draw(t, "parent")
				g.Edges = append(g.Edges, Edge{From: strconv.Itoa(parent), To: strconv.Itoa(i), Label: word(t, "label")})
			}
		}
		checkLegible(t, render(t, g))
	})
}

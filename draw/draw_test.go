package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type drawing interface{ SVG(io.Writer) error }

type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// render draws, checks that what comes out is well-formed XML with finite
// numbers inside its view box, and returns it.
func render(t tester, d drawing) string {
	t.Helper()
	var b, again bytes.Buffer
	if err := d.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if err := d.SVG(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatalf("drawn again it differs: %v", err)
	}
	text := b.String()
	var width, height float64
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
			}
			v, err := strconv.ParseFloat(a.Value, 64)
			if err != nil {
				continue
			}
			switch {
			case e.Name.Local == "svg" && a.Name.Local == "width":
				width = v
			case e.Name.Local == "svg" && a.Name.Local == "height":
				height = v
			case a.Name.Local == "x" && (v < -1 || v > width+1), a.Name.Local == "y" && (v < -1 || v > height+1):
				t.Errorf("<%s %s=%q> lies outside of %g × %g", e.Name.Local, a.Name.Local, a.Value, width, height)
			case (a.Name.Local == "width" || a.Name.Local == "height") && v < 0:
				t.Errorf("<%s %s=%q> is negative", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	if !strings.Contains(text, `viewBox="0 0 `) {
		t.Errorf("no viewBox: %.200s", text)
	}
	return text
}

func tennis() *Graph {
	return &Graph{
		Title: "play-tennis",
		Nodes: []Node{
			{ID: "0", Lines: []string{"outlook"}},
			{ID: "1", Lines: []string{"humidity"}},
			{ID: "2", Lines: []string{"Yes", "4 rows"}, Class: "Yes", Leaf: true},
			{ID: "3", Lines: []string{"wind"}},
			{ID: "4", Lines: []string{"No", "3 rows"}, Class: "No", Leaf: true},
			{ID: "5", Lines: []string{"Yes", "2 rows"}, Class: "Yes", Leaf: true},
			{ID: "6", Lines: []string{"No", "2 rows"}, Class: "No", Leaf: true},
			{ID: "7", Lines: []string{"Yes", "3 rows"}, Class: "Yes", Leaf: true},
		},
		Edges: []Edge{
			{From: "0", To: "1", Label: "Sunny"}, {From: "0", To: "2", Label: "Overcast"}, {From: "0", To: "3", Label: "Rain"},
			{From: "1", To: "4", Label: "High"}, {From: "1", To: "5", Label: "Normal"},
			{From: "3", To: "6", Label: "Strong"}, {From: "3", To: "7", Label: "Weak"},
		},
	}
}

func TestTreeShowsEverything(t *testing.T) {
	svg := render(t, tennis())
	for _, text := range []string{"play-tennis", "outlook", "humidity", "4 rows", ">Overcast<", ">Strong<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("%q is not drawn", text)
		}
	}
	if n := strings.Count(svg, "<path"); n != 7 {
		t.Errorf("%d edges are drawn, expected 7", n)
	}
}

// randomTree returns a tree in which each node after the first has a parent
// before it.
func randomTree(t *rapid.T, most int) *Graph {
	g := &Graph{Title: rapid.String().Draw(t, "title")}
	n := rapid.IntRange(1, most).Draw(t, "nodes")
	for i := range n {
		g.Nodes = append(g.Nodes, Node{
			ID: strconv.Itoa(i), Lines: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "lines"),
			Class: rapid.SampledFrom([]string{"", "a", "b<&>", "c"}).Draw(t, "class"), Leaf: rapid.Bool().Draw(t, "leaf"),
		})
		if i > 0 {
			parent := rapid.IntRange(max(0, i-6), i-1).Draw(t, "parent")
			g.Edges = append(g.Edges, Edge{From: strconv.Itoa(parent), To: strconv.Itoa(i), Label: rapid.String().Draw(t, "label"), Weight: rapid.Float64().Draw(t, "weight")})
		}
	}
	return g
}

var boxPattern = regexp.MustCompile(`<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)" rx="[\d.]+" fill="#[0-9a-f]+" stroke="#[0-9a-f]+" stroke-width`)

// boxesIn returns where a picture's boxes are.
func boxesIn(svg string) []area {
	var boxes []area
	for _, m := range boxPattern.FindAllStringSubmatch(svg, -1) {
		var v [4]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(m[i+1], 64)
		}
		boxes = append(boxes, area{v[0], v[1], v[0] + v[2], v[1] + v[3]})
	}
	return boxes
}

func TestBoxesNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomTree(t, 60)
		if rapid.Bool().Draw(t, "layered") {
			for i := range g.Nodes {
				g.Nodes[i].Layer = rapid.IntRange(-2, 5).Draw(t, "layer")
			}
		}
		boxes := boxesIn(render(t, g))
		if len(boxes) != len(g.Nodes) {
			t.Fatalf("%d boxes for %d nodes", len(boxes), len(g.Nodes))
		}
		for i, a := range boxes {
			for _, b := range boxes[:i] {
				if a.meets(b) {
					t.Fatalf("%v overlaps %v", a, b)
				}
			}
		}
	})
}

// Vertices of a level keep their order and a gap, and parents stand over the
// middle of their children.
func TestArrange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "nodes")
		var links []link
		for i := 1; i < n; i++ {
			links = append(links, link{from: rapid.IntRange(0, i-1).Draw(t, "parent"), to: i})
		}
		roots, extra, shown := grow(n, links)
		if len(extra) != 0 || shown != n || len(roots) != 1 {
			t.Fatalf("%d roots, %d shown, %d extra", len(roots), shown, len(extra))
		}
		var levels [][]*vertex
		collect(roots, &levels)
		for _, level := range levels {
			for _, v := range level {
				v.breadth = rapid.Float64Range(5, 200).Draw(t, "breadth")
			}
		}
		spread := arrange(roots)
		for _, level := range levels {
			for i, v := range level {
				if v.place-v.breadth/2 < -1e-6 || v.place+v.breadth/2 > spread+1e-6 {
					t.Fatalf("%g ± %g is outside of 0 … %g", v.place, v.breadth/2, spread)
				}
				if i > 0 {
					if gap := v.place - v.breadth/2 - level[i-1].place - level[i-1].breadth/2; gap < siblingGap-1e-6 {
						t.Fatalf("gap of %g", gap)
					}
				}
				if c := v.children; len(c) > 0 {
					if middle := (c[0].place + c[len(c)-1].place) / 2; math.Abs(middle-v.place) > 1e-6 {
						t.Fatalf("children around %g, parent at %g", middle, v.place)
					}
				}
			}
		}
	})
}

// A mirrored tree is drawn as the mirror image.
func TestArrangeIsSymmetric(t *testing.T) {
	build := func(mirror bool) []*vertex {
		leaf := func(b float64) *vertex { return &vertex{breadth: b} }
		children := []*vertex{
			{breadth: 20, children: []*vertex{leaf(50), leaf(60), leaf(70)}},
			leaf(10), leaf(15), leaf(10),
			{breadth: 30, children: []*vertex{leaf(80), leaf(40)}},
		}
		if mirror {
			for _, v := range append([]*vertex{{children: children}}, children...) {
				c := v.children
				for i := range len(c) / 2 {
					c[i], c[len(c)-1-i] = c[len(c)-1-i], c[i]
				}
			}
		}
		return []*vertex{{breadth: 40, children: children}}
	}
	a, b := build(false), build(true)
	spread := arrange(a)
	arrange(b)
	for i, v := range a[0].children {
		m := b[0].children[len(b[0].children)-1-i]
		if math.Abs(v.place-(spread-m.place)) > 1e-9 {
			t.Errorf("child %d at %g, its image at %g of %g", i, v.place, m.place, spread)
		}
	}
}

func TestWideTreeGrowsSideways(t *testing.T) {
	g := &Graph{Nodes: []Node{{ID: "root", Lines: []string{"root"}}}}
	for i := range 300 {
		id := fmt.Sprint(i)
		g.Nodes = append(g.Nodes, Node{ID: id, Lines: []string{"leaf " + id}, Leaf: true})
		g.Edges = append(g.Edges, Edge{From: "root", To: id, Label: "= " + id})
	}
	boxes := boxesIn(render(t, g))
	if len(boxes) != 301 || boxes[1].left != boxes[300].left {
		t.Errorf("%d boxes; leaves at %g and %g", len(boxes), boxes[1].left, boxes[300].left)
	}
}

func TestHugeTreeIsCut(t *testing.T) {
	for _, chain := range []bool{false, true} {
		g := &Graph{Title: "huge", Nodes: []Node{{ID: "0"}}}
		for i := 1; i < 20_000; i++ {
			g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Lines: []string{fmt.Sprint("n", i)}})
			parent := (i - 1) / 2
			if chain {
				parent = i - 1
			}
			g.Edges = append(g.Edges, Edge{From: fmt.Sprint(parent), To: fmt.Sprint(i)})
		}
		svg := render(t, g)
		if n := len(boxesIn(svg)); n != mostNodes {
			t.Errorf("%d boxes", n)
		}
		if !strings.Contains(svg, "the 1000 nodes nearest to the root, of 20000") {
			t.Errorf("the title does not say that it is cut: %.300s", svg)
		}
		if chain && !strings.Contains(svg, ">+19000<") {
			t.Error("the last node does not say how many are hidden")
		}
	}
}

func TestGraphsThatAreNoTrees(t *testing.T) {
	for _, g := range []*Graph{
		{},
		{Title: "empty"},
		{Nodes: []Node{{ID: "a"}}},
		{Nodes: []Node{{ID: "a"}, {ID: "b"}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "a", To: "a"}}},
		{Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Edges: []Edge{{From: "a", To: "c"}, {From: "b", To: "c"}}},
		{Nodes: []Node{{ID: "a", Layer: 7}, {ID: "b", Layer: 7}, {ID: "c", Layer: 9}}, Edges: []Edge{{From: "a", To: "b", Label: "beside"}, {From: "c", To: "a", Weight: math.NaN()}, {From: "b", To: "c", Weight: math.Inf(1)}, {From: "b", To: "b"}}},
	} {
		render(t, g)
	}
}

func TestGraphErrors(t *testing.T) {
	for want, g := range map[string]*Graph{
		`draw: two nodes have the ID "a"; expected different ones`: {Nodes: []Node{{ID: "a"}, {ID: "a"}}},
		`draw: edge 1 starts at "x", which is no node's ID`:        {Nodes: []Node{{ID: "a"}}, Edges: []Edge{{From: "x", To: "a"}}},
		`draw: edge 2 ends at "y", which is no node's ID`:          {Nodes: []Node{{ID: "a"}}, Edges: []Edge{{From: "a", To: "a"}, {From: "a", To: "y"}}},
	} {
		if err := g.SVG(io.Discard); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, d := range []drawing{tennis(), &Chart{}, &Matrix{}, rules(3, 2)} {
		if err := d.SVG(full{}); !errors.Is(err, errFull) {
			t.Errorf("%T: %v", d, err)
		}
	}
}

// rules is a network of inputs, rules over two of them each, and classes.
func rules(inputs, count int) *Graph {
	g := &Graph{Title: "rules"}
	for i := range inputs {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("i", i), Lines: []string{fmt.Sprintf("attribute-%d = y", i)}})
	}
	for i := range count {
		id := fmt.Sprint("r", i)
		g.Nodes = append(g.Nodes, Node{ID: id, Lines: []string{"and"}, Layer: 1})
		g.Edges = append(g.Edges,
			Edge{From: fmt.Sprint("i", i%inputs), To: id}, Edge{From: fmt.Sprint("i", (i*7+3)%inputs), To: id},
			Edge{From: id, To: fmt.Sprint("c", i%2), Weight: float64(i%5) - 2, Label: fmt.Sprint(i)})
	}
	for i := range 2 {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("c", i), Lines: []string{fmt.Sprint("class ", i)}, Layer: 2, Class: fmt.Sprint(i)})
	}
	g.Edges = append(g.Edges, Edge{From: "i0", To: "c1", Weight: 1, Label: "past"})
	return g
}

func TestNetworkSigns(t *testing.T) {
	svg := render(t, rules(8, 60))
	for _, want := range []string{positive.String(), negative.String(), ">for<", ">against<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
	if n := len(boxesIn(svg)); n != 70 {
		t.Errorf("%d boxes, expected 70", n)
	}
}

func TestHugeNetworkIsCut(t *testing.T) {
	svg := render(t, rules(500, 10))
	if n := len(boxesIn(svg)); n != mostInRow+12 || !strings.Contains(svg, "100 of 512 nodes are not drawn") {
		t.Errorf("%d boxes", n)
	}
}

// The Fenwick tree counts what looking at all pairs of edges counts, and
// ordering never adds crossings.
func TestCrossings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, right := rapid.IntRange(1, 8).Draw(t, "left"), rapid.IntRange(1, 8).Draw(t, "right")
		stops := make([]stop, left+right)
		layers := [][]int{nil, nil}
		for s := range stops {
			layer := 0
			if s >= left {
				layer = 1
			}
			stops[s].layer = layer
			layers[layer] = append(layers[layer], s)
		}
		type edge struct{ a, b int }
		var edges []edge
		for range rapid.IntRange(0, 25).Draw(t, "edges") {
			e := edge{rapid.IntRange(0, left-1).Draw(t, "a"), left + rapid.IntRange(0, right-1).Draw(t, "b")}
			edges = append(edges, e)
			stops[e.a].near[1] = append(stops[e.a].near[1], e.b)
			stops[e.b].near[0] = append(stops[e.b].near[0], e.a)
		}
		pairs := 0
		for i, e := range edges {
			for _, f := range edges[:i] {
				if (e.a-f.a)*(e.b-f.b) < 0 {
					pairs++
				}
			}
		}
		if got := crossings(stops, layers); got != pairs {
			t.Fatalf("%d crossings, expected %d", got, pairs)
		}
		untangle(stops, layers)
		if after := crossings(stops, layers); after > pairs {
			t.Fatalf("%d crossings became %d", pairs, after)
		}
	})
}

func TestUntangle(t *testing.T) {
	// A permutation has an order without crossings.
	stops := make([]stop, 20)
	layers := [][]int{nil, nil}
	for i := range 10 {
		j := 10 + (i*7)%10
		stops[i].near[1], stops[j].near[0] = []int{j}, []int{i}
		layers[0], layers[1] = append(layers[0], i), append(layers[1], 10+i)
	}
	if untangle(stops, layers); crossings(stops, layers) != 0 {
		t.Errorf("%d crossings remain", crossings(stops, layers))
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in, want string
		most     float64
	}{
		{"short", "short", 100},
		{"a line\nwith a break", "a line with a break", 400},
		{"something long", "someth…", 60},
		{"日本語日本語", "日本…", 45},
		{"", "", 10},
	} {
		if got := shorten(c.in, c.most); got != c.want {
			t.Errorf("shorten(%q, %g) = %q, expected %q", c.in, c.most, got, c.want)
		}
	}
	if width("e\u0301") != width("e") {
		t.Error("an accent takes room")
	}
}

// What a test asks for stays where its column's name is too long, and so does the
// end in which two names differ.
func TestClip(t *testing.T) {
	const name = "measured_quantity_of_the_instrument_in_the_northern_wing_of_house_"
	for _, text := range []string{name + "1 is 9.5 or more", name + "2 = " + name + "3", name + "4", strings.Repeat("long", 5000) + " < 5"} {
		got := clip(text, 260)
		if width(got) > 260 || !strings.Contains(got, "…") || got[len(got)-1] != text[len(text)-1] {
			t.Errorf("clip(%.80q) = %q, %g wide", text, got, width(got))
		}
		if _, value, is := strings.Cut(text, " "); is && len(value) < 20 && !strings.HasSuffix(got, " "+value) {
			t.Errorf("clip(%.80q) = %q: what is asked for is cut away", text, got)
		}
	}
	if got := clip("short\nenough", 200); got != "short enough" {
		t.Errorf("%q", got)
	}
	if got := clip("many short words that nobody can leave any letter of out", 100); !strings.HasSuffix(got, "…") || width(got) > 100 {
		t.Errorf("%q", got)
	}
}

func TestSigned(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{36200, "+36,200"}, {-2.27e4, "−22,700"}, {0.02541, "+0.0254"}, {0, "+0"}, {-109.94, "−110"}, {1e12, "+1e+12"}} {
		if got := Signed(c.v); got != c.want {
			t.Errorf("Signed(%g) = %q, expected %q", c.v, got, c.want)
		}
	}
}

func TestColoursDiffer(t *testing.T) {
	seen := map[rgb]int{}
	for i := range 3 * len(palette) {
		c := colour(i)
		if j, twice := seen[c]; twice {
			t.Errorf("colours %d and %d are both %v", i, j, c)
		}
		seen[c] = i
	}
}

func BenchmarkTree(b *testing.B) {
	g := &Graph{Nodes: []Node{{ID: "0"}}}
	for i := 1; i < 500; i++ {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Lines: []string{"attribute", "10 rows"}})
		g.Edges = append(g.Edges, Edge{From: fmt.Sprint((i - 1) / 2), To: fmt.Sprint(i), Label: "<= 3"})
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := g.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNetwork(b *testing.B) {
	g := rules(32, 60)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleGraph_SVG() {
	g := Graph{
		Nodes: []Node{
			{ID: "wind", Lines: []string{"wind"}},
			{ID: "yes", Lines: []string{"Yes"}, Class: "Yes", Leaf: true},
			{ID: "no", Lines: []string{"No"}, Class: "No", Leaf: true},
		},
		Edges: []Edge{{From: "wind", To: "yes", Label: "Weak"}, {From: "wind", To: "no", Label: "Strong"}},
	}
	var svg strings.Builder
	if err := g.SVG(&svg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(svg.String(), "<path"), "edges,", strings.Contains(svg.String(), ">Strong<"))
	// Output: 2 edges, true
}

// What says most is kept: of a tree what is near the root, of a network the
// units with the heaviest edges onward and what they read.
func TestTop(t *testing.T) {
	network := &Graph{Title: "n", Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "u", Layer: 1}, {ID: "v", Layer: 1}, {ID: "y", Layer: 2}},
		Edges: []Edge{{From: "a", To: "u"}, {From: "b", To: "v"}, {From: "u", To: "y", Weight: 1}, {From: "v", To: "y", Weight: -2}}}
	fan := &Graph{Title: "f", Nodes: []Node{{ID: "y"}, {ID: "a", Layer: 1}, {ID: "b", Layer: 1}}, Edges: []Edge{{From: "y", To: "a", Weight: 1}, {From: "y", To: "b", Weight: 2}}}
	sum := &Graph{Title: "s", Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "y", Layer: 1}}, Edges: []Edge{{From: "a", To: "y", Weight: -3}, {From: "b", To: "y", Weight: 2}}}
	tree := &Graph{Title: "t", Nodes: []Node{{ID: "r"}, {ID: "l"}, {ID: "m"}, {ID: "ll"}}, Edges: []Edge{{From: "r", To: "l"}, {From: "r", To: "m"}, {From: "l", To: "ll"}}}
	for _, c := range []struct {
		g     *Graph
		most  int
		want  string
		edges int
		title string
	}{{network, 1, "b v y", 2, "n (1 of 2)"}, {network, 2, "a b u v y", 4, "n"}, {fan, 1, "y b", 1, "f (1 of 2)"}, {sum, 1, "a y", 1, "s (1 of 2)"}, {tree, 3, "r l m", 2, "t (3 of 4)"}, {tree, 9, "r l m ll", 3, "t"}} {
		top := c.g.Top(c.most)
		var ids []string
		for _, n := range top.Nodes {
			ids = append(ids, n.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || len(top.Edges) != c.edges || top.Title != c.title {
			t.Errorf("top %d: %s, %d edges, %q", c.most, got, len(top.Edges), top.Title)
		}
	}
}

// A page to zoom has the picture and asks for nothing from elsewhere.
func TestZoomHTML(t *testing.T) {
	var page bytes.Buffer
	g := &Graph{Title: "a <title>", Nodes: []Node{{ID: "a", Lines: []string{"box"}}}}
	if err := ZoomHTML(&page, g.Title, g.SVG); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	if !strings.Contains(text, "<title>a &lt;title&gt;</title>") || !strings.Contains(text, ">box<") || strings.Contains(text, "src=") || strings.Contains(text, "%!") || strings.Count(text, "http") != 1 {
		t.Error(text)
	}
}

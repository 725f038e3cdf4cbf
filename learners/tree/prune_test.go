package tree

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

func TestErrorBounds(t *testing.T) {
	near(t, "normal, 100 rows", NormalBound(0.9, 100, 1.96), 0.8412, 5.1e-5)
	near(t, "normal, 10 rows", NormalBound(0.9, 10, 1.96), 0.7141, 5.1e-5)
	for _, c := range []struct{ e, n, want float64 }{
		{0, 1, 0.75}, {0, 2, 0.5}, {0, 3, 0.3700}, {0, 4, 0.2929}, {0, 6, 0.2063}, {0, 9, 0.1428},
		{1, 7, 0.3407}, {1, 16, 0.1596}, {2, 5, 0.6406}, {2, 8, 0.4332}, {3, 7, 0.6212}, {3, 3, 1}, {0, 0, 1},
	} {
		near(t, fmt.Sprintf("U(%v, %v)", c.e, c.n), UpperError(c.e, c.n, 0.25), c.want, 5.1e-5)
	}
	for _, c := range []struct{ correct, n, want float64 }{
		{4, 7, 0.2048}, {3, 5, 0.1706}, {6, 7, 0.5979}, {6, 8, 0.4499}, {3, 6, 0.0999}, {9, 14, 0.3919}, {3, 3, 1}, {0, 0, 0},
	} {
		near(t, fmt.Sprintf("normal %v of %v", c.correct, c.n), NormalBound(over(c.correct, c.n), c.n, 1.96), c.want, 5.1e-5)
	}
}

// shape is a tree to be filled with rows: a column with a shape for each
// value, or nothing for a leaf.
type shape struct {
	col  string
	kids map[string]shape
}

// fill makes the tree of a shape with the statistics of rows.
func (s shape) fill(t *table.Table, rows []int, parent int32) *node {
	target := len(t.Columns) - 1
	labels := t.Schema.Attributes[target].Values
	nd := &node{col: leaf, stat: make([]float64, len(labels)), n: float64(len(rows)), known: float64(len(rows))}
	for _, r := range rows {
		nd.stat[t.Columns[target].Codes[r]]++
	}
	nd.elect(parent, labels)
	if s.col == "" {
		return nd
	}
	nd.col = int32(t.Schema.Index(s.col))
	for v, name := range t.Schema.Attributes[nd.col].Values {
		var there []int
		for _, r := range rows {
			if t.Columns[nd.col].Codes[r] == int32(v) {
				there = append(there, r)
			}
		}
		nd.branch = append(nd.branch, int32(v))
		nd.kids = append(nd.kids, s.kids[name].fill(t, there, nd.label))
	}
	return nd
}

func count1(nd *node) int {
	n := 1
	for _, kid := range nd.kids {
		n += count1(kid)
	}
	return n
}

// byFigure31 returns the 36 combinations, labelled by figure 3.1.
func byFigure31(t *testing.T, like *table.Table) (*table.Table, []float64) {
	all := combinations(like)
	for r, p := range predict(t, learnTable(t, playTennis(), Learner{Preset: "id3"}), all) {
		class := "No"
		if p[1] > 0.5 {
			class = "Yes"
		}
		all.Columns[4].Codes[r] = like.Schema.Attributes[4].Code(class)
	}
	ones := make([]float64, all.Rows())
	for r := range ones {
		ones[r] = 1
	}
	return all, ones
}

func TestReducedErrorPruning(t *testing.T) {
	tbl := pt15()
	rows := make([]int, 15)
	for r := range rows {
		rows[r] = r
	}
	wind := shape{"Wind", nil}
	warmth := shape{"Temperature", nil}
	s := resolved(t, Learner{Preset: "id3"})
	validation, ones := byFigure31(t, tbl)
	x, err := layOut(context.Background(), kept.ViewOf(validation), 4)
	if err != nil {
		t.Fatal(err)
	}
	errors := learningErrors(2)

	extended := shape{"Outlook", map[string]shape{
		"Sunny": {"Humidity", map[string]shape{"Normal": warmth}}, "Rain": wind,
	}}.fill(tbl, rows, -1)
	top := review(extended, x, ones, &s)
	if count1(extended) != 11 || top.asTree != 2 {
		t.Errorf("%d nodes, %v errors before", count1(extended), top.asTree)
	}
	reducedError(top, errors)
	if count1(extended) != 8 || top.asTree != 0 || top.size != 8 {
		t.Errorf("%d nodes, %v errors after", count1(extended), top.asTree)
	}

	grown := shape{"Outlook", map[string]shape{
		"Sunny": {"Temperature", map[string]shape{"Mild": {"Humidity", nil}}}, "Rain": wind,
	}}.fill(tbl, rows, -1)
	top = review(grown, x, ones, &s)
	if top.asTree != 4 {
		t.Errorf("%v errors of ID3's tree", top.asTree)
	}
	without := map[string]float64{}
	var visit func(h *heldNode)
	visit = func(h *heldNode) {
		if !h.isLeaf() {
			without[tbl.Schema.Attributes[h.col].Name] = 36 - (top.asTree - h.gain())
		}
		for _, child := range h.children {
			visit(child)
		}
	}
	visit(top)
	if without["Outlook"] != 24 || without["Temperature"] != 30 || without["Humidity"] != 30 || without["Wind"] != 26 {
		t.Errorf("right without each test: %v", without)
	}
	reducedError(top, errors)
	if count1(grown) != 11 {
		t.Errorf("%d nodes are left", count1(grown))
	}
}

// The greedy order of the book against a plain reading of it: look at every
// test, lose the best, begin again.
func TestReducedErrorPruningByHand(t *testing.T) {
	tbl := mixed(600)
	s := resolved(t, Learner{Prune: "none"})
	grown := func() (*node, *examples, []float64) {
		m := &Model{seed: 3, target: 20}
		v := kept.ViewOf(tbl)
		weights, heldOut, err := m.holdOut(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		g, err := newGrower(context.Background(), v, 20, s, m.seed)
		if err != nil {
			t.Fatal(err)
		}
		root, err := g.grow(context.Background(), weights)
		if err != nil {
			t.Fatal(err)
		}
		return root, g.examples, heldOut
	}
	fast, x, heldOut := grown()
	reducedError(review(fast, x, heldOut, &s), learningErrors(2))

	plain, x, heldOut := grown()
	for {
		top := review(plain, x, heldOut, &s)
		var best *heldNode
		var visit func(h *heldNode)
		visit = func(h *heldNode) {
			if !h.isLeaf() && (best == nil || h.gain() > best.gain() || h.gain() == best.gain() && h.size > best.size) {
				best = h
			}
			for _, child := range h.children {
				visit(child)
			}
		}
		visit(top)
		if best == nil || best.gain() < 0 {
			break
		}
		best.cut()
	}
	a := flatten(fast, x, &s, []string{"no", "yes"}, nil)
	b := flatten(plain, x, &s, []string{"no", "yes"}, nil)
	if count1(fast) < 5 || !slices.Equal(a.nodes, b.nodes) {
		t.Errorf("%d nodes, by hand %d", count1(fast), count1(plain))
	}
}

// texts returns the rules of a model without evidence, sorted.
func texts(t *testing.T, m *Model) []string {
	t.Helper()
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range base.Rules {
		var tests []string
		for i := range r.If {
			tests = append(tests, strings.TrimSpace(r.If[i].Value))
		}
		slices.Sort(tests)
		lines = append(lines, fmt.Sprintf("%s→%s %v/%v", strings.Join(tests, "∧"), r.Then.Value, *r.Evidence.Correct, *r.Evidence.Covered))
	}
	slices.Sort(lines)
	return lines
}

func TestRulePostPruning(t *testing.T) {
	l := Learner{Preset: "id3", Prune: "rules", Estimate: "normal"}
	m := learnTable(t, playTennis(), l)
	want := []string{"High∧Sunny→No 3/3", "Normal∧Sunny→Yes 2/2", "Overcast→Yes 4/4", "Rain∧Strong→No 2/2", "Rain∧Weak→Yes 3/3"}
	if got := texts(t, m); !slices.Equal(got, want) {
		t.Errorf("PlayTennis: %v", got)
	}
	if m.Size() != (learn.Size{Rows: 14, Rules: 6, Units: 9}) || m.Depth() != 2 || m.Nodes() != 0 || m.Outline() != "" {
		t.Errorf("size %+v", m.Size())
	}
	want = []string{"Cool∧Sunny→Yes 1/1", "High∧Sunny→No 3/3", "Hot∧Sunny→No 3/3", "Mild∧Normal→Yes 2/2", "Overcast→Yes 4/4", "Rain∧Strong→No 2/2", "Rain∧Weak→Yes 3/3"}
	if got := texts(t, learnTable(t, pt15(), l)); !slices.Equal(got, want) {
		t.Errorf("15 rows: %v", got)
	}
	base, err := m.Rules()
	if err != nil || base.Else == nil || base.CompleteOnly {
		t.Errorf("%+v, %v", base, err)
	}
	// Sorted by estimated accuracy; all are 1 here, so by how much they cover.
	if *base.Rules[0].Evidence.Covered != 4 || *base.Rules[4].Evidence.Covered != 2 {
		t.Errorf("order: %v", base.Rules)
	}
	for _, estimate := range []string{"ucf", "m", "validation"} {
		l := Learner{Preset: "c4.5", Estimate: estimate}
		m := learnTable(t, mixed(2000), l)
		right := 0
		for r, p := range predict(t, m, mixed(2000)) {
			if learn.Best(p, []string{"no", "yes"}) == int(mixed2000.Columns[20].Codes[r]) {
				right++
			}
		}
		if right < 1300 {
			t.Errorf("%s: %d of 2000 right", estimate, right)
		}
	}
}

var mixed2000 = mixed(2000)

func TestStopping(t *testing.T) {
	if got := learnTable(t, playTennis(), Learner{Preset: "id3", Stop: "chi2"}).Outline(); got != "Yes" {
		t.Errorf("at 5 %% no column is significant, the tree is %s", got)
	}
	if got := learnTable(t, playTennis(), Learner{Preset: "id3", Stop: "chi2", Significance: 0.2}).Outline(); got != figure31 {
		t.Errorf("at 20 %%: %s", got)
	}
	// A leaf for all of PlayTennis: a bit, a class, how many of 14 and which 5.
	near(t, "leaf", leafBits(5, 14, 2), 2+math.Log2(15)+math.Log2(2002), 1e-9)
	// Figure 3.1: three tests among 4, 3 and 3 columns, five leaves without
	// exceptions.
	bits := testBits(4) + 2*testBits(3)
	for _, n := range []float64{3, 2, 4, 3, 2} {
		bits += leafBits(0, n, 2)
	}
	near(t, "figure 3.1", bits, 3+2+2*math.Log2(3)+10+math.Log2(720), 1e-9)
	for _, l := range []Learner{{Preset: "id3", Stop: "mdl"}, {Preset: "id3", Prune: "mdl"}} {
		if got := learnTable(t, playTennis(), l).Outline(); got != "Yes" {
			t.Errorf("shortest description: %s", got)
		}
	}
	if got := learnTable(t, playTennis(), Learner{Preset: "id3", MaxDepth: 1}).Depth(); got != 1 {
		t.Errorf("depth %d", got)
	}
	if got := learnTable(t, playTennis(), Learner{Preset: "id3", MinGain: 0.3}).Outline(); got != "Yes" {
		t.Errorf("min-gain: %s", got)
	}
	if got := learnTable(t, playTennis(), Learner{Preset: "id3", MinRows: ptr(8.0)}).Outline(); got != "Yes" {
		t.Errorf("min-rows: %s", got)
	}
}

// Noise that no column explains: what is grown is pruned away again.
func TestPruningRemovesNoise(t *testing.T) {
	tbl := mixed(3000)
	for r := range tbl.Rows() {
		// One in five is Yes, whatever the columns say.
		h := uint64(r) * 0x9e3779b97f4a7c15
		tbl.Columns[20].Codes[r] = 0
		if h>>32%5 == 0 {
			tbl.Columns[20].Codes[r] = 1
		}
	}
	full := learnTable(t, tbl, Learner{Prune: "none"}).Nodes()
	for _, l := range []Learner{{}, {Prune: "error"}, {Prune: "cost"}, {Prune: "mdl"}, {Preset: "cart"}} {
		m := learnTable(t, tbl, l)
		if m.Nodes() > full/2 {
			t.Errorf("%+v: %d nodes of %d are left", l, m.Nodes(), full)
		}
	}
}

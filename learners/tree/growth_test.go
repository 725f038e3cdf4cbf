package tree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Each test of the tree of PlayTennis says what it removed; together they
// remove all five errors of a single leaf.
func TestCertificates(t *testing.T) {
	m := learnTable(t, playTennis(), Learner{Preset: "id3"})
	certificates, stopped := m.Grown()
	if len(certificates) != 3 || !strings.Contains(stopped, "of 5 leaves 5 are right on all their rows") {
		t.Fatalf("%d tests, %s", len(certificates), stopped)
	}
	removed := 0.0
	for _, c := range certificates {
		removed += c.(Certificate).Removed
	}
	root := certificates[0].(Certificate)
	if root.Test != "Outlook" || root.Rows != 14 || root.Errors != 5 || math.Abs(root.Bits-0.2467) > 5e-5 || removed != 5 {
		t.Errorf("%v; removed in all %v", root, removed)
	}
	if got := certificates[1].String(); !strings.Contains(got, "IF Outlook = ") || !strings.Contains(got, "gain 0.97") {
		t.Errorf("certificate %q", got)
	}
	pruned := learnTable(t, load(t, "votes"), Learner{})
	if _, stopped := pruned.Grown(); !strings.Contains(stopped, "pruning took back") {
		t.Errorf("growth stopped: %s", stopped)
	}
	parts, err := pruned.Parts()
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(parts)
	if err != nil {
		t.Fatal(err)
	}
	if _, again := read.(*Model).Grown(); again != func() string { _, s := pruned.Grown(); return s }() {
		t.Errorf("after reading growth stopped otherwise: %s", again)
	}
	numbers := learnTable(t, load(t, "boston"), Learner{})
	certificates, _ = numbers.Grown()
	before := math.Inf(1)
	for _, c := range certificates[:1] {
		if c := c.(Certificate); c.Removed <= 0 || c.Removed > c.Errors || c.Errors > before || c.Bits != 0 {
			t.Errorf("certificate %v", c)
		}
	}
}

func load(t testing.TB, name string) *table.Table {
	t.Helper()
	rows, _, err := datasets.Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// From simple to complex: the tree of A XOR B, which greedy growth may begin
// with any column, has no test of C.
func TestBreadthFirst(t *testing.T) {
	var lines []string
	for i := range 8 {
		a, b, c := i>>2&1, i>>1&1, i&1
		lines = append(lines, fmt.Sprintf("n%d n%d n%d %v", a, b, c, map[bool]string{true: "yes", false: "no"}[a != b]))
	}
	xor := tableOf("C A B y\n" + strings.Join(lines, "\n"))
	m := learnTable(t, xor, Learner{Search: "bfs"})
	if m.Nodes() != 7 || m.Depth() != 2 {
		t.Errorf("%s has %d nodes", m.Outline(), m.Nodes())
	}
	_, nodes, outlines, err := Smallest(xor, 3)
	if err != nil || nodes != m.Nodes() || !slices.Contains(outlines, m.Outline()) {
		t.Errorf("%s is none of %q, %v", m.Outline(), outlines, err)
	}
	// Rows that contradict each other count as the most of them say.
	noisy := tableOf("a y\nu p\nu p\nu n\nv n")
	if got := learnTable(t, noisy, Learner{Search: "bfs"}).Outline(); got != "a{u→p, v→n}" {
		t.Errorf("contradicting rows give %s", got)
	}
	for says, c := range map[string]struct {
		rows *table.Table
		l    Learner
	}{
		"is numeric, expected nominal": {tableOf("x y\n1 a\n2 b"), Learner{Search: "bfs"}},
		"has missing cells":            {tableOf("x z y\nu a a\n? a b\nv b a"), Learner{Search: "bfs"}},
		"expected greedy or bfs":       {noisy, Learner{Search: "dfs"}},
		"can be pruned by":             {noisy, Learner{Search: "bfs", Prune: "cost"}},
		"folds=1":                      {noisy, Learner{Prune: "cv", Folds: 1}},
	} {
		_, err := c.l.Learn(context.Background(), learn.Task{Table: c.rows}.At(len(c.rows.Columns)-1))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	many := &table.Schema{}
	columns := make([]table.Column, 31)
	random := rand.New(rand.NewPCG(1, 1))
	for j := range columns {
		many.Attributes = append(many.Attributes, table.Attribute{Name: fmt.Sprint("c", j), Values: []string{"0", "1"}})
		for range 200 {
			columns[j].Codes = append(columns[j].Codes, random.Int32N(2))
		}
	}
	rows, err := table.New(many, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Learner{Search: "bfs"}).Learn(context.Background(), learn.Task{Table: rows}.At(30)); err == nil || !strings.Contains(err.Error(), "too many deeper ones") {
		t.Errorf("a search without end: %v", err)
	}
}

// Of rows without any pattern cross-validated pruning leaves a single leaf, or
// next to nothing; of rows with one it keeps what is there. With one standard
// error the tree is no larger than with none.
func TestCrossValidatedPruning(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "noise", Kind: table.Numeric}, {Name: "y", Values: []string{"a", "b"}}}}
	columns := make([]table.Column, 3)
	for range 400 {
		x := random.Float64()
		columns[0].Floats = append(columns[0].Floats, x)
		columns[1].Floats = append(columns[1].Floats, random.Float64())
		y := int32(0)
		if (x > 0.5) != (random.Float64() < 0.15) {
			y = 1
		}
		columns[2].Codes = append(columns[2].Codes, y)
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := learnTable(t, rows, Learner{Prune: "cv"})
	best := learnTable(t, rows, Learner{Prune: "cv", SE: ptr(0.0)})
	if one.Nodes() != 3 || best.Nodes() < one.Nodes() || best.grown < 20 {
		t.Errorf("%d nodes with one standard error, %d with none, %d tests grown", one.Nodes(), best.Nodes(), best.grown)
	}
	nothing := rows.Select(slices.Collect(func(yield func(int) bool) {
		for r := range rows.Rows() {
			if !yield(r) {
				return
			}
		}
	}))
	nothing.Columns[0] = nothing.Columns[1]
	if got := learnTable(t, nothing, Learner{Prune: "cv"}).Nodes(); got != 1 {
		t.Errorf("noise makes %d nodes", got)
	}
	numbers := learnTable(t, load(t, "boston"), Learner{Prune: "cv"})
	full := learnTable(t, load(t, "boston"), Learner{Prune: "none"})
	if numbers.Nodes() < 5 || numbers.Nodes() > full.Nodes()/4 {
		t.Errorf("boston: %d of %d nodes", numbers.Nodes(), full.Nodes())
	}
}

// Figure 3.6: as a tree grows, rows learnt from are answered better and better,
// unseen ones are not.
func TestNodesCurve(t *testing.T) {
	rows := load(t, "pima")
	chart, err := (&Learner{}).CurveInFolds(context.Background(), "nodes", learn.Task{Table: rows, Seed: 1}.At(len(rows.Columns)-1), 5)
	if err != nil {
		t.Fatal(err)
	}
	if len(chart.Series) != 3 {
		t.Fatalf("%d series", len(chart.Series))
	}
	learnt, unseen, pruned := chart.Series[0].Y, chart.Series[1].Y, chart.Series[2].Y
	last := len(learnt) - 1
	if !slices.IsSorted(learnt) || learnt[last] < 0.9 {
		t.Errorf("rows learnt from: %.3f", learnt)
	}
	if most := slices.Max(unseen); unseen[last] > most-0.01 || unseen[last] > learnt[last]-0.1 {
		t.Errorf("unseen rows: %.3f at most, %.3f at last", most, unseen[last])
	}
	if len(pruned) == 0 || slices.Max(pruned) > 1 || slices.Min(pruned) < 0.5 {
		t.Errorf("pruned: %.3f", pruned)
	}
	if _, err := (&Learner{}).CurveInFolds(context.Background(), "node", learn.Task{Table: rows}.At(len(rows.Columns)-1), 5); err == nil || !strings.Contains(err.Error(), "nodes") {
		t.Errorf("an unknown curve: %v", err)
	}
}

package tree

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// judgeColumn returns what growing a tree would find out about one column.
func judgeColumn(t *testing.T, tbl *table.Table, col int, s settings) candidate {
	t.Helper()
	x, err := layOut(context.Background(), kept.ViewOf(tbl), len(tbl.Columns)-1)
	if err == nil {
		err = x.weigh(tbl.Weights)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &grower{examples: x, settings: s, measure: measures[s.Measure], labels: tbl.Schema.Attributes[x.target].Values, ctx: context.Background()}
	p := &part{node: &node{col: leaf, stat: make([]float64, x.size)}, live: []int32{int32(col)}, sorted: make([][]uint64, 1)}
	for r := range int32(x.rows) {
		p.rows = append(p.rows, r)
		x.add(p.node.stat, nil, r, x.weight(int(r)))
	}
	g.finish(p.node, -1)
	if tbl.Schema.Attributes[col].Kind == table.Numeric {
		p.sorted[0] = x.sort(col, p.rows, &scratch{})
	}
	return g.judge(p, 0, x.weights, &scratch{})
}

func resolved(t *testing.T, l Learner) settings {
	t.Helper()
	s, err := l.resolve()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Mitchell's three strategies, and C4.5's, with one cell of PlayTennis taken
// away.
func TestMissingCells(t *testing.T) {
	d1 := tableOf(strings.Replace(playTennisText, "Sunny Hot High Weak No", "Sunny Hot ? Weak No", 1))
	d12 := tableOf(strings.Replace(playTennisText, "Overcast Mild High Strong Yes", "? Mild High Strong Yes", 1))
	for _, c := range []struct {
		name    string
		table   *table.Table
		col     int
		missing string
		gain    float64
		info    float64 // split information, where it is given
	}{
		{"D1", d1, 2, "common", 0.048127, math.NaN()},
		{"D1", d1, 2, "class", 0.151836, math.NaN()},
		{"D1", d1, 2, "fractions", 0.087362, math.NaN()},
		{"D1", d1, 2, "known", 0.102477, 1.295836},
		{"D12", d12, 0, "fractions", 0.193240, math.NaN()},
		{"D12", d12, 0, "known", 0.199041, 1.809200},
	} {
		got := judgeColumn(t, c.table, c.col, resolved(t, Learner{Preset: "id3", Measure: "ratio", Missing: c.missing}))
		near(t, c.name+" "+c.missing, got.gain, c.gain, digit)
		if !math.IsNaN(c.info) {
			near(t, c.name+" split information", got.by, c.info, digit)
		}
		if c.missing != "known" {
			s, err := Partition(c.table, 4, c.col, c.missing)
			if err != nil {
				t.Fatal(err)
			}
			near(t, c.name+" partition "+c.missing, s.Gain(), c.gain, digit)
		}
	}
	high := func(s Split) float64 { return sum(s[d1.Schema.Attributes[2].Code("High")]) - 6 }
	s, _ := Partition(d1, 4, 2, "fractions")
	near(t, "D1's part in High", high(s), 6.0/13, 1e-12)
	s, _ = Partition(d1, 4, 2, "common")
	near(t, "D1 is Normal by majority", high(s), 0, 1e-12)
	s, _ = Partition(d1, 4, 2, "class")
	near(t, "D1 is High as No is", high(s), 1, 1e-12)
	if _, err := Partition(tableOf("x y\n1 a\n2 b"), 1, 0, "known"); err == nil {
		t.Error("a numeric column has no values to split by")
	}
}

func TestClassifyMissing(t *testing.T) {
	m := learnTable(t, playTennis(), Learner{Preset: "id3"})
	rows := tableOf("Outlook Temperature Humidity Wind PlayTennis\n? Hot High Weak ?\nSunny Hot ? Weak ?\nFoggy Hot High Weak No")
	p := predict(t, m, rows)
	near(t, "outlook unknown", p[0][1], 9.0/14, 1e-12)
	near(t, "humidity unknown", p[1][0], 0.6, 1e-12)
	near(t, "outlook never seen", p[2][1], 9.0/14, 1e-12)

	common := learnTable(t, playTennis(), Learner{Preset: "id3", Missing: "common"})
	if p := predict(t, common, rows); p[1][0] != 1 {
		t.Errorf("most days that are sunny are humid, the answer is %v", p[1])
	}
	base, err := common.Rules()
	if err != nil || !base.CompleteOnly || !strings.Contains(base.Notes[0], "most rows") {
		t.Errorf("%+v, %v", base, err)
	}
}

// Six rows of which A is 1 and four of which it is 0: a row without A goes .6
// and .4.
func TestFractions(t *testing.T) {
	text := "A B y\n" + strings.Repeat("one b p\n", 6) + strings.Repeat("zero b n\n", 4)
	m := learnTable(t, tableOf(text), Learner{Preset: "id3"})
	p := predict(t, m, tableOf("A B y\n? b ?"))
	near(t, "p", p[0][1], 0.6, 1e-12)
}

// With fractions the weights of all leaves add up to the weight of all rows,
// however many cells are missing, and to that of the known rows' shares.
func TestFractionsConserveWeight(t *testing.T) {
	for _, missing := range []string{"fractions", "count", "known", "common", "class"} {
		tbl := mixed(3000)
		for i, c := range tbl.Columns[:20] {
			for r := range tbl.Rows() {
				if (r*7+i*13)%11 < 3 {
					if c.Codes != nil {
						c.Codes[r] = table.Missing
					} else {
						c.Floats[r] = table.NA
					}
				}
			}
		}
		m := learnTable(t, tbl, Learner{Prune: "none", Missing: missing, MaxDepth: 6})
		c := m.tree
		leaves := 0.0
		for i := range c.nodes {
			if c.nodes[i].col == leaf {
				leaves += sum(c.stat[i*c.size : (i+1)*c.size])
			}
		}
		near(t, missing, leaves, 3000, 1e-6)
		right := 0
		for r, p := range predict(t, m, tbl) {
			if learn.Best(p, []string{"no", "yes"}) == int(tbl.Columns[20].Codes[r]) {
				right++
			}
		}
		if right < 1950 { // 65 %; always answering the common class gives about 52 %
			t.Errorf("%s: %d of 3000 right", missing, right)
		}
	}
}

func TestThresholds(t *testing.T) {
	days := tableOf("Temperature PlayTennis\n40 No\n48 No\n60 Yes\n72 Yes\n80 Yes\n90 No")
	cuts := Cuts(days, 1, 0)
	if len(cuts) != 2 || cuts[0].Threshold != 54 || cuts[1].Threshold != 85 {
		t.Fatalf("cuts %v", cuts)
	}
	near(t, "54", cuts[0].Gain, 0.459148, digit)
	near(t, "85", cuts[1].Gain, 0.190875, digit)
	near(t, "44", Split{{1, 0}, {2, 3}}.Gain(), 0.190875, digit)
	near(t, "66", Split{{2, 1}, {1, 2}}.Gain(), 0.081704, digit)
	near(t, "76", Split{{2, 2}, {1, 1}}.Gain(), 0, digit)
	c := judgeColumn(t, days, 0, resolved(t, Learner{Preset: "id3", Measure: "gini"}))
	if c.left != 2 {
		t.Errorf("gini cuts above %d rows", c.left)
	}
	m := learnTable(t, days, Learner{Preset: "id3"})
	if got := m.Outline(); got != "Temperature{≤ 54→No, > 54→Temperature{≤ 85→Yes, > 85→No}}" {
		t.Error(got)
	}
	base, err := m.Rules()
	if err != nil || base.Rules[1].If[0].String() != "54 < Temperature <= 85" {
		t.Errorf("%v %v", base.Rules, err)
	}
	// Equal numbers with different classes have no cut between them, but on
	// both sides.
	if cuts := Cuts(tableOf("x y\n1 a\n2 a\n2 b\n3 b\n4 b"), 1, 0); len(cuts) != 2 || cuts[0].Threshold != 1.5 || cuts[1].Threshold != 2.5 {
		t.Errorf("cuts %v", cuts)
	}
}

// A threshold separates its neighbours, however close or far apart.
func TestBetween(t *testing.T) {
	inf := math.Inf(1)
	numbers := []float64{-inf, -math.MaxFloat64, math.Nextafter(-math.MaxFloat64, 0), -1, -5e-324, 0, 5e-324, 1, math.Nextafter(1, 2), 1e308, math.MaxFloat64, inf}
	for i, lo := range numbers {
		for _, hi := range numbers[i+1:] {
			if mid := encode.Between(lo, hi); !(lo <= mid && mid < hi) {
				t.Errorf("between %v and %v: %v", lo, hi, mid)
			}
		}
	}
	if encode.Between(48, 60) != 54 || encode.Between(-inf, inf) != 0 {
		t.Error("midpoints")
	}
}

// Infinite cells are numbers like others; rules, which cannot speak of
// infinity, still say what the tree does.
func TestInfiniteCells(t *testing.T) {
	m := learnTable(t, tableOf("x y\n-Inf a\n-1.7976931348623157e308 b\n0 b\n1 c\n+Inf a"), Learner{Preset: "id3"})
	p := predict(t, m, tableOf("x y\n-Inf a\n-1.7976931348623157e308 b\n0 b\n1 c\n+Inf a"))
	for r, class := range []int{0, 1, 1, 2, 0} {
		if p[r][class] != 1 {
			t.Errorf("row %d: %v", r+1, p[r])
		}
	}
	agreeWithRules(t, m, tableOf("x y\n-Inf a\n-1.7976931348623157e308 b\n0 b\n1 c\n+Inf a"))
}

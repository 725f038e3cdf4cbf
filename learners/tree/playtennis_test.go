package tree

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// tableOf makes a table of text, cells separated by blanks, the first line
// being the header. "?" is missing; a column whose cells are all numbers is
// numeric. Values are declared in order of appearance.
func tableOf(text string) *table.Table {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	names := strings.Fields(lines[0])
	schema := &table.Schema{}
	columns := make([]table.Column, len(names))
	for i, name := range names {
		a := table.Attribute{Name: name, Kind: table.Numeric}
		for _, line := range lines[1:] {
			if cell := strings.Fields(line)[i]; cell != "?" && !isNumber(cell) {
				a.Kind = table.Nominal
			}
		}
		for _, line := range lines[1:] {
			cell := strings.Fields(line)[i]
			if a.Kind == table.Numeric {
				columns[i].Floats = append(columns[i].Floats, toNumber(cell))
				continue
			}
			if cell == "?" {
				columns[i].Codes = append(columns[i].Codes, table.Missing)
				continue
			}
			if !slices.Contains(a.Values, cell) {
				a.Values = append(a.Values, cell)
			}
			columns[i].Codes = append(columns[i].Codes, a.Code(cell))
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

const playTennisText = `
Outlook Temperature Humidity Wind PlayTennis
Sunny Hot High Weak No
Sunny Hot High Strong No
Overcast Hot High Weak Yes
Rain Mild High Weak Yes
Rain Cool Normal Weak Yes
Rain Cool Normal Strong No
Overcast Cool Normal Strong Yes
Sunny Mild High Weak No
Sunny Cool Normal Weak Yes
Rain Mild Normal Weak Yes
Sunny Mild Normal Strong Yes
Overcast Mild High Strong Yes
Overcast Hot Normal Weak Yes
Rain Mild High Strong No`

// playTennis is Mitchell's table 3.2, pt15 the same with the noisy row.
func playTennis() *table.Table { return tableOf(playTennisText) }
func pt15() *table.Table       { return tableOf(playTennisText + "\nSunny Hot Normal Strong No") }

const figure31 = "Outlook{Overcast→Yes, Rain→Wind{Strong→No, Weak→Yes}, Sunny→Humidity{High→No, Normal→Yes}}"

const enjoySportText = `
Sky AirTemp Humidity Wind Water Forecast EnjoySport
Sunny Warm Normal Strong Warm Same Yes
Sunny Warm High Strong Warm Same Yes
Rainy Cold High Strong Warm Change No
Sunny Warm High Strong Cool Change Yes`

func enjoySport(more string) *table.Table {
	t := tableOf(enjoySportText + more)
	sky := &t.Schema.Attributes[0]
	sky.Values = append(sky.Values, "Cloudy") // declared, but no row has it
	return t
}

func learnTable(t testing.TB, tbl *table.Table, l Learner) *Model {
	t.Helper()
	m, err := l.Learn(context.Background(), learn.Task{Table: tbl, Seed: 1}.At(len(tbl.Columns)-1))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// conform returns the table as the model wants it.
func conform(t failer, tbl *table.Table, m learn.Model) *table.Table {
	t.Helper()
	c, _, err := table.Conform(tbl, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %.6f, want %.6f", what, got, want)
	}
}

// Figures given to six digits.
const digit = 5.1e-7

func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		counts []float64
		want   float64
	}{
		{[]float64{9, 5}, 0.940286}, {[]float64{6, 2}, 0.811278}, {[]float64{3, 3}, 1}, {[]float64{3, 4}, 0.985228},
		{[]float64{6, 1}, 0.591673}, {[]float64{2, 3}, 0.970951}, {[]float64{8, 2}, 0.721928}, {[]float64{7, 0}, 0},
		{[]float64{0, 0}, 0}, {[]float64{1, 1, 1, 1}, 2},
	} {
		near(t, "entropy", Entropy(c.counts), c.want, digit)
	}
	near(t, "gini", Gini([]float64{9, 5}), 1-(81.0+25)/196, 1e-12)
	near(t, "kearns", KearnsMansour([]float64{9, 5}), 2*math.Sqrt(9.0/14*5/14), 1e-12)
}

func TestGains(t *testing.T) {
	pt := playTennis()
	sunny := pt.Select([]int{0, 1, 7, 8, 10})
	rain := pt.Select([]int{3, 4, 5, 9, 13})
	overcast := pt.Select([]int{2, 6, 11, 12})
	for _, c := range []struct {
		name  string
		table *table.Table
		want  [4]float64
	}{
		{"root", pt, [4]float64{0.246750, 0.029223, 0.151836, 0.048127}},
		{"sunny", sunny, [4]float64{0, 0.570951, 0.970951, 0.019973}},
		{"rain", rain, [4]float64{0, 0.019973, 0.019973, 0.970951}},
		{"overcast", overcast, [4]float64{}},
		{"15 rows", pt15(), [4]float64{0.279982, 0.063641, 0.078496, 0.078496}},
		{"15 rows, sunny", pt15().Select([]int{0, 1, 7, 8, 10, 14}), [4]float64{0, 0.584963, 0.459148, 0}},
	} {
		for col, want := range c.want {
			near(t, c.name+" "+pt.Schema.Attributes[col].Name, Gain(c.table, 4, col), want, digit)
		}
	}
	if got := Gain(tableOf("x y\n1 a\n2 b"), 1, 0); got != 0 {
		t.Errorf("gain of a numeric column: %v", got)
	}
	ex32 := tableOf("a1 a2 class\nT T +\nT T +\nT F -\nF F +\nF T -\nF T -")
	near(t, "ex. 3.2 a1", Gain(ex32, 2, 0), 0.081704, digit)
	near(t, "ex. 3.2 a2", Gain(ex32, 2, 1), 0, digit)
	for col, want := range []float64{0.811278, 0.811278, 0.122556, 0, 0.122556, 0.311278} {
		near(t, "enjoy sport", Gain(enjoySport(""), 6, col), want, digit)
	}
	five := enjoySport("\nSunny Warm Normal Weak Warm Same No")
	for col, want := range []float64{0.321928, 0.321928, 0.019973, 0.321928, 0.170951, 0.019973} {
		near(t, "enjoy sport, five rows", Gain(five, 6, col), want, digit)
	}
	for col, want := range []float64{0, 0, 0.311278, 0.811278, 0.122556, 0.122556} {
		near(t, "enjoy sport, sunny", Gain(five.Select([]int{0, 1, 3, 4}), 6, col), want, digit)
	}
}

func TestMeasures(t *testing.T) {
	pt := playTennis()
	dates := make(Split, 14)
	for r := range dates {
		dates[r] = make([]float64, 2)
		dates[r][pt.Columns[4].Codes[r]] = 1
	}
	splits := []Split{}
	for col := range 4 {
		s, err := Partition(pt, 4, col, "known")
		if err != nil {
			t.Fatal(err)
		}
		splits = append(splits, s)
	}
	splits = append(splits, dates)
	for i, want := range [][6]float64{
		{0.246750, 1.577406, 0.156428, 0.116327, 2.270942, 0.891345},
		{0.029223, 1.556657, 0.018773, 0.018707, 2.467720, 0.988158},
		{0.151836, 1.000000, 0.151836, 0.091837, 1.788450, 0.915102},
		{0.048127, 0.985228, 0.048849, 0.030612, 1.877387, 0.974365},
		{0.940286, 3.807355, 0.246966, 0.459184, 3.807355, 0.753034},
	} {
		s := splits[i]
		for k, got := range []float64{s.Gain(), s.SplitInformation(), s.GainRatio(), s.GiniGain(), s.JointEntropy(), s.Distance()} {
			near(t, "measure", got, want[k], digit)
		}
	}
	// A split into n single rows has information log2 n, one in halves 1.
	near(t, "singletons", dates.SplitInformation(), math.Log2(14), 1e-12)
	near(t, "halves", Split{{3, 4}, {5, 2}}.SplitInformation(), 1, 1e-12)
	// Of equal gains the even split in two beats the one into n.
	two, many := Split{{4, 0}, {0, 4}}, Split{{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}
	near(t, "equal gains", two.Gain(), many.Gain(), 1e-12)
	if two.GainRatio() <= many.GainRatio() || two.Distance() >= many.Distance() {
		t.Error("gain ratio and distance prefer many branches")
	}
	for col, want := range []struct {
		x2 float64
		df int
		p  float64
	}{{3.5467, 2, 0.1698}, {0.5704, 2, math.NaN()}, {2.8, 1, 0.0943}, {0.9333, 1, math.NaN()}} {
		x2, df, p := splits[col].ChiSquare()
		near(t, "chi square", x2, want.x2, 5.1e-5)
		if df != want.df {
			t.Errorf("degrees of freedom %d, want %d", df, want.df)
		}
		if !math.IsNaN(want.p) {
			near(t, "p", p, want.p, 5.1e-5)
		}
	}
	if _, df, p := (Split{{3, 0}, {2, 0}}).ChiSquare(); df != 0 || p != 1 {
		t.Errorf("one class: df %d, p %v", df, p)
	}
}

func TestCosts(t *testing.T) {
	pt := playTennis()
	costs := []float64{10, 2, 2, 1}
	for col, want := range [][6]float64{
		{0.024675, 0.006089, 0.016957, 0.056241, 0.186531, 0.060885},
		{0.014611, 0.000427, 0.006821, 0.011814, 0.020462, 0.000854},
		{0.075918, 0.011527, 0.036994, 0.064076, 0.110982, 0.023054},
		{0.048127, 0.002316, 0.016961, 0.023986, 0.033922, 0.002316},
	} {
		g := Gain(pt, 4, col)
		for k, got := range []float64{
			GainPerCost(g, costs[col]), TanSchlimmer(g, costs[col]),
			Nunez(g, costs[col], 1), Nunez(g, costs[col], 0.5), Nunez(g, costs[col], 0), TanSchlimmer(g, 1),
		} {
			near(t, "cost", got, want[k], digit)
		}
	}
	root := func(l Learner) string {
		l.Preset, l.Costs = "id3", "Outlook:10, Temperature:2,Humidity:2,Wind:1"
		o, _, _ := strings.Cut(learnTable(t, pt, l).Outline(), "{")
		return o
	}
	for _, method := range []string{"ratio", "tan", "nunez"} {
		if got := root(Learner{Cost: method}); got != "Humidity" {
			t.Errorf("cost=%s tests %s first", method, got)
		}
	}
	if got := root(Learner{Cost: "nunez", CostWeight: ptr(0.5)}); got != "Humidity" {
		t.Errorf("w = 0.5 tests %s first", got)
	}
	if got := root(Learner{Cost: "nunez", CostWeight: ptr(0.0)}); got != "Outlook" {
		t.Errorf("w = 0 tests %s first", got)
	}
}

func TestID3(t *testing.T) {
	id3 := Learner{Preset: "id3"}
	m := learnTable(t, playTennis(), id3)
	if got := m.Outline(); got != figure31 {
		t.Errorf("PlayTennis: %s", got)
	}
	if m.Nodes() != 8 || m.Depth() != 2 {
		t.Errorf("%d nodes, depth %d", m.Nodes(), m.Depth())
	}
	if s := m.Size(); s != (learn.Size{Rows: 14, Rules: 5, Units: 3}) {
		t.Errorf("size %+v", s)
	}
	dnf, err := m.DNF("Yes")
	if want := "(Outlook = Overcast) ∨ (Outlook = Rain ∧ Wind = Weak) ∨ (Outlook = Sunny ∧ Humidity = Normal)"; err != nil || dnf != want {
		t.Errorf("DNF %s, %v", dnf, err)
	}
	yes := 0
	for _, p := range predict(t, m, combinations(playTennis())) {
		if p[1] > 0.5 {
			yes++
		}
	}
	if yes != 24 {
		t.Errorf("Yes for %d of 36", yes)
	}

	m = learnTable(t, pt15(), id3)
	if want := "Outlook{Overcast→Yes, Rain→Wind{Strong→No, Weak→Yes}, Sunny→Temperature{Cool→Yes, Hot→No, Mild→Humidity{High→No, Normal→Yes}}}"; m.Outline() != want || m.Nodes() != 11 {
		t.Errorf("15 rows: %d nodes: %s", m.Nodes(), m.Outline())
	}
	if got := learnTable(t, enjoySport(""), id3).Outline(); got != "Sky{Rainy→No, Sunny→Yes, Cloudy→Yes}" {
		t.Errorf("EnjoySport: %s", got)
	}
	five := enjoySport("\nSunny Warm Normal Weak Warm Same No")
	if got := learnTable(t, five, id3).Outline(); got != "Sky{Rainy→No, Sunny→Wind{Strong→Yes, Weak→No}, Cloudy→Yes}" {
		t.Errorf("EnjoySport, five rows: %s", got)
	}
}

// combinations returns every combination of the values of all columns but the
// last, which is missing.
func combinations(t *table.Table) *table.Table {
	last := len(t.Columns) - 1
	columns := make([]table.Column, last+1)
	n := 1
	for i := range last {
		n *= len(t.Schema.Attributes[i].Values)
	}
	for r := range n {
		rest := r
		for i := range last {
			k := len(t.Schema.Attributes[i].Values)
			columns[i].Codes = append(columns[i].Codes, int32(rest%k))
			rest /= k
		}
		columns[last].Codes = append(columns[last].Codes, table.Missing)
	}
	out, err := table.New(t.Schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return out
}

// predict returns a row of probabilities for each row of the table.
func predict(t testing.TB, m *Model, tbl *table.Table) [][]float64 {
	t.Helper()
	c := conform(t, tbl, m)
	out := learn.NewPredictions(m, c.Rows())
	if err := m.Predict(context.Background(), c, out); err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for r := range c.Rows() {
		rows = append(rows, out.Row(r))
	}
	return rows
}

func TestSmallest(t *testing.T) {
	for _, c := range []struct {
		name         string
		table        *table.Table
		depth, nodes int
		count        int
		first        string
	}{
		{"PlayTennis", playTennis(), 2, 8, 1, "Outlook{Sunny→Humidity{High→No, Normal→Yes}, Overcast→Yes, Rain→Wind{Weak→Yes, Strong→No}}"},
		{"EnjoySport", enjoySport(""), 1, 3, 1, "AirTemp{Warm→Yes, Cold→No}"},
		{"five rows", enjoySport("\nSunny Warm Normal Weak Warm Same No"), 2, 5, 2, "AirTemp{Warm→Wind{Strong→Yes, Weak→No}, Cold→No}"},
		{"15 rows", pt15(), 3, 11, 3, "Outlook{Sunny→Temperature{Hot→No, Mild→Humidity{High→No, Normal→Yes}, Cool→Yes}, Overcast→Yes, Rain→Wind{Weak→Yes, Strong→No}}"},
	} {
		depth, nodes, outlines, err := Smallest(c.table, len(c.table.Columns)-1)
		if err != nil || depth != c.depth || nodes != c.nodes || len(outlines) != c.count || outlines[0] != c.first {
			t.Errorf("%s: depth %d, %d nodes, %v, %v", c.name, depth, nodes, outlines, err)
		}
	}
	if _, _, _, err := Smallest(tableOf("a y\nT p\nT n"), 1); err == nil {
		t.Error("no tree is consistent with contradicting rows")
	}
	if _, _, _, err := Smallest(tableOf("a y\nT 1\nT 2"), 1); err == nil {
		t.Error("a numeric target has no classes")
	}
}

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil
}

func toNumber(cell string) float64 {
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// The trees of exercise 3.1, found from their truth tables: greedily and by
// exhaustion.
func TestBooleanFunctions(t *testing.T) {
	for _, c := range []struct {
		name  string
		vars  int
		f     func(v []bool) bool
		nodes int
	}{
		{"A and not B", 2, func(v []bool) bool { return v[0] && !v[1] }, 5},
		{"A or B and C", 3, func(v []bool) bool { return v[0] || v[1] && v[2] }, 7},
		{"A xor B", 2, func(v []bool) bool { return v[0] != v[1] }, 7},
		{"A and B or C and D", 4, func(v []bool) bool { return v[0] && v[1] || v[2] && v[3] }, 13},
	} {
		text := strings.Join([]string{"A", "B", "C", "D"}[:c.vars], " ") + " y\n"
		for bits := range 1 << c.vars {
			v := make([]bool, c.vars)
			for i := range v {
				v[i] = bits>>i&1 == 1
				text += map[bool]string{true: "T ", false: "F "}[v[i]]
			}
			text += map[bool]string{true: "Yes\n", false: "No\n"}[c.f(v)]
		}
		truth := tableOf(text)
		m := learnTable(t, truth, Learner{Preset: "id3"})
		if m.Nodes() != c.nodes {
			t.Errorf("%s: ID3 takes %d nodes: %s", c.name, m.Nodes(), m.Outline())
		}
		for r, p := range predict(t, m, truth) {
			if m.Schema().Attributes[c.vars].Values[learn.Best(p, []string{"No", "Yes"})] != truth.Text(r, c.vars) {
				t.Errorf("%s: row %d is answered wrongly", c.name, r+1)
			}
		}
		if _, nodes, _, err := Smallest(truth, c.vars); err != nil || nodes != c.nodes {
			t.Errorf("%s: the smallest tree has %d nodes, %v", c.name, nodes, err)
		}
	}
}

package evolve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func TestFormulasKeepTheContract(t *testing.T) { contract(t, "gp") }

// made is a table of numbers whose last column is a formula of the others.
func made(t testing.TB, rows int, noise float64, names []string, law string, low, high float64) *table.Table {
	t.Helper()
	f, err := formula.Parse(law, names[:len(names)-1])
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	columns := make([]table.Column, len(names))
	schema := &table.Schema{}
	var x [][]float64
	for j, name := range names {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
		if j < len(names)-1 {
			for i := range rows {
				columns[j].Floats[i] = low + (high-low)*r.Float64()
			}
			x = append(x, columns[j].Floats)
		}
	}
	y := columns[len(names)-1].Floats
	(&formula.Machine{}).Eval(f, x, y)
	for i := range y {
		y[i] += noise * r.NormFloat64()
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func evolved(t testing.TB, tab *table.Table, settings map[string]string) *Formula {
	t.Helper()
	l, err := learn.New("gp", settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: tab.Schema.Attributes[len(tab.Columns)-1].Name, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Formula)
}

// Laws are found and written as people write them.
func TestLawsAreFound(t *testing.T) {
	few := map[string]string{"short": "3000", "population": "40", "generations": "5"}
	for _, w := range []struct{ law, want string }{
		{"x*y/2", "x*y/2"}, {"sin(x)+sin(y^2)", "sin(x) + sin(y^2)"}, {"x/sqrt(1+y^2)", "x/sqrt(y^2 + 1)"}, {"3*x^3-x*y", "3*x^3 - x*y"},
	} {
		m := evolved(t, made(t, 60, 0, []string{"x", "y", "z"}, w.law, .5, 2), few)
		if got := m.Formulas()[0].Text; got != w.want {
			t.Errorf("%s is found as %s", w.law, got)
		}
	}
}

// Constants are found where they stand within quotients, exponents and waves.
func TestFormsAreFound(t *testing.T) {
	for _, w := range []struct{ law, want string }{
		{"x^(1/3)*y", "x^0.333333*y"}, {"2+3*x/(1-x*y/7)", ""}, {"(x^3+y)/(x*y+2*x^2+1)", ""}, {"0.3*x*sin(5.5*y+1)", ""},
	} {
		tab := made(t, 90, 0, []string{"x", "y", "z"}, w.law, .5, 2)
		f := evolved(t, tab, map[string]string{"short": "2000", "generations": "0"}).Formulas()[0]
		if w.want != "" && f.Text != w.want || f.Error > 1e-7 {
			t.Errorf("%s is found as %s, which errs by %v", w.law, f.Text, f.Error)
		}
	}
}

// Of many columns those are looked at that tell most, wherever they stand; what is
// left aside is said.
func TestWideTablesAreLookedAtWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	schema, columns := &table.Schema{}, make([]table.Column, 152)
	for j := range columns {
		a := table.Attribute{Name: fmt.Sprintf("x%d", j), Kind: table.Numeric}
		if j == 150 {
			a.Kind = table.Nominal
			for v := range 20 {
				a.Values = append(a.Values, fmt.Sprint(v+100))
			}
		}
		schema.Attributes = append(schema.Attributes, a)
		for range 80 {
			if j == 150 {
				columns[j].Codes = append(columns[j].Codes, int32(r.IntN(20)))
			} else {
				columns[j].Floats = append(columns[j].Floats, r.Float64())
			}
		}
	}
	for i := range 80 {
		columns[151].Floats[i] = 3 * columns[149].Floats[i]
	}
	tab, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := evolved(t, tab, map[string]string{"short": "500", "generations": "0"})
	remarks, _ := m.Remarks()
	if got := m.Formulas()[0].Text; got != "3*x149" || len(remarks) != 1 || !strings.Contains(remarks[0].String(), "90 are left aside") || !strings.Contains(remarks[0].String(), "1 is left aside") {
		t.Errorf("found %s, said %v", got, remarks)
	}
}

// With noise the knee is short, and near the law.
func TestTheKneeIsShort(t *testing.T) {
	m := evolved(t, made(t, 300, .1, []string{"x", "y", "z"}, "2*x*y", 0, 2), map[string]string{"short": "2000", "population": "40", "generations": "5"})
	f := m.Formulas()[0]
	if f.Length > 7 || f.Error > .13 {
		t.Errorf("%s errs by %v", f.Text, f.Error)
	}
	for i := 1; i < len(f.Others); i++ {
		if f.Others[i].Length <= f.Others[i-1].Length {
			t.Errorf("the front is not in the order of lengths: %+v", f.Others)
		}
	}
}

// A number is not made smaller for its formula to have a value; where that
// overflows, it has none.
func TestFarNumbersOverflow(t *testing.T) {
	m := evolved(t, made(t, 60, 0, []string{"a", "b", "y"}, "a/b", 1, 3), map[string]string{"short": "500", "generations": "0"})
	cells := []table.Column{{Floats: []float64{1e200, 1e308, math.Inf(1)}}, {Floats: []float64{1e50, 1e-10, 2}}, {Floats: []float64{0, 0, 0}}}
	far, err := table.New(m.Schema(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := learn.NewPredictions(m, 3)
	if err := m.Predict(context.Background(), far, p); err != nil {
		t.Fatal(err)
	}
	if math.Abs(p.Mean[0]/1e150-1) > 1e-9 || p.Mean[1] != m.mean || p.Mean[2] != m.mean || m.Undefined(far) != 2 {
		t.Errorf("answers %v, %d without a value", p.Mean, m.Undefined(far))
	}
}

// Where a formula has no value, the rows' own mean and range answer.
func TestNoValueFallsBack(t *testing.T) {
	tab := made(t, 80, 0, []string{"x", "z"}, "1/x", .5, 2)
	m := evolved(t, tab, map[string]string{"short": "500", "generations": "0"})
	zero, err := table.New(m.Schema(), []table.Column{{Floats: []float64{0, 1}}, {Floats: []float64{table.NA, table.NA}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, 2)
	if err := m.Predict(context.Background(), zero, out); err != nil {
		t.Fatal(err)
	}
	if e, err := m.Explain(zero, 0); err != nil || len(e.Evidence) > 0 || e.Prior[0] != m.mean {
		t.Errorf("explained as %+v, %v", e, err)
	}
	if m.Undefined(zero) != 1 || out.Mean[0] != m.mean || out.Low[0] != m.low || out.High[0] != m.high || math.Abs(out.Mean[1]-1) > 1e-9 {
		t.Errorf("%s answers %+v", m.Formulas()[0].Text, out)
	}
}

// Formulas are plain, or have a value wherever cells lie within the ranges of the
// rows, or have one everywhere.
func TestOperatorsHaveValues(t *testing.T) {
	tab := made(t, 80, .3, []string{"x", "y", "z"}, "1/(x*x+0.1)+y", -1, 2)
	for operators, ops := range map[string][]formula.Op{
		"plain": nil, "interval": nil, "protected": {formula.Div, formula.Inverse, formula.Sqrt, formula.Log},
	} {
		for _, search := range []string{"genetic", "climb"} {
			m := evolved(t, tab, map[string]string{"operators": operators, "search": search, "short": "800", "population": "30", "generations": "4", "functions": "+,-,*,/,sqrt,log,sin"})
			for _, p := range m.answers[0].Front {
				text := p.Tree.Text([]string{"x", "y"}, 6)
				if _, ok := p.Tree.Range(rangesOf(m.inputs)); operators == "interval" && !ok {
					t.Errorf("%s may have no value", text)
				}
				for i, n := range p.Tree {
					if slices.Contains(ops, n.Op) && p.Tree[i-1].Op != formula.Const {
						t.Errorf("%s is not protected", text)
					}
				}
			}
			if f := m.Formulas()[0]; operators == "interval" && (f.Range == nil || f.Range.High > 1e6) {
				t.Errorf("%s has the range %v", f.Text, f.Range)
			}
		}
	}
	if _, err := learn.New("gp", map[string]string{"operators": "protected", "functions": "+,asin"}); err == nil || !strings.Contains(err.Error(), "asin") {
		t.Errorf("asin is taken for protected: %v", err)
	}
	m := evolved(t, made(t, 60, 0, []string{"x", "y", "z"}, "x/y", .5, 2), map[string]string{"functions": "+,*", "short": "500", "generations": "1", "population": "20"})
	for _, p := range m.answers[0].Front {
		for i, n := range p.Tree {
			if n.Op == formula.Div && p.Tree[i-1].Op != formula.Const {
				t.Errorf("%s divides, which was not allowed", p.Tree.Text([]string{"x", "y"}, 6))
			}
		}
	}
}

// Units rule sums of different things out.
func TestUnitsAreRespected(t *testing.T) {
	tab := made(t, 80, 0, []string{"m", "v", "E"}, "0.5*m*v^2", 1, 3)
	m := evolved(t, tab, map[string]string{"units": "m:kg, v:m/s, E:kg*m^2/s^2", "short": "2000", "generations": "2", "population": "20"})
	if got := m.Formulas()[0].Text; got != "m*v^2/2" {
		t.Errorf("found %s", got)
	}
	for _, p := range m.Formulas()[0].Others {
		f, err := formula.Parse(p.Formula, []string{"m", "v"})
		if err != nil {
			t.Fatal(err)
		}
		u, ok := unitOf(f, []unit{{"kg": 1}, {"m": 1, "s": -1}})
		if !ok || !sameUnit(u, unit{"kg": 1, "m": 2, "s": -2}) {
			t.Errorf("%s has the unit %v", p.Formula, u)
		}
	}
	none := evolved(t, tab, map[string]string{"units": "m:kg, v:m/s, E:mol", "short": "500", "generations": "1", "population": "20"})
	if remarks, err := none.Remarks(); err != nil || !strings.Contains(fmt.Sprint(remarks), `has the unit of "E", so the answer is a number`) {
		t.Errorf("moles of kilograms and metres: %v, %v", remarks, err)
	}
	for _, wrong := range []string{"m", "m:kg^x", "m:kg**s"} {
		if _, err := learn.New("gp", map[string]string{"units": wrong}); err == nil {
			t.Errorf("units %q are taken", wrong)
		}
	}
	l, _ := learn.New("gp", map[string]string{"units": "mass:kg"})
	if _, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: "E"}); err == nil || !strings.Contains(err.Error(), "mass") {
		t.Errorf("a column that is not there: %v", err)
	}
}

func TestFormulaSettingsAreChecked(t *testing.T) {
	for _, set := range [][2]string{{"functions", "+,sine"}, {"population", "2"}, {"length", "2"}, {"terms", "50"}, {"seconds", "-1"}} {
		if _, err := learn.New("gp", map[string]string{set[0]: set[1]}); err == nil || !strings.Contains(err.Error(), set[0]) {
			t.Errorf("%s=%s: %v", set[0], set[1], err)
		}
	}
	if _, err := learn.New("gp", map[string]string{"population": "100000", "length": "1000"}); err == nil {
		t.Error("a hundred million nodes are taken")
	}
}

func FuzzDecodeFormulas(f *testing.F) {
	tab := made(f, 40, .1, []string{"x", "y", "z"}, "x*y", 0, 1)
	parts, err := evolved(f, tab, map[string]string{"keep": "nothing", "short": "50", "generations": "1", "population": "10"}).Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, head, body []byte) {
		defer bounded.Start(t, len(head)+len(body))()
		m, err := decodeFormulas([]learn.Part{{Name: gpPart, Data: head}, {Name: formulasPart, Data: body}})
		if err != nil {
			return
		}
		probe, _, err := table.Conform(tab, m.Schema(), false)
		if err != nil {
			return
		}
		if err := m.Predict(context.Background(), probe, learn.NewPredictions(m, probe.Rows())); err != nil {
			t.Error(err)
		}
	})
}

// Every way to search formulas finds a law that short expressions alone do not
// have, or comes near it.
func TestEveryWayToSearchFormulas(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}
	cells := make([]table.Column, 2)
	for i := range 60 {
		x := 0.5 + float64(i)/20
		cells[0].Floats, cells[1].Floats = append(cells[0].Floats, x), append(cells[1].Floats, 3*x/(x+1.7)+0.2*math.Sin(2.3*x))
	}
	rows, err := table.New(schema, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"search=genetic", "search=program", "search=climb", "search=anneal", "islands=3", "selection=rank", "selection=proportionate", "learning=baldwin", "learning=none"} {
		key, value, _ := strings.Cut(setting, "=")
		l, err := learn.New(Formulas, map[string]string{key: value, "population": "30", "generations": "4", "short": "50"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "y", Seed: 2})
		if err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
		steps, _ := m.(learn.Grower).Grown()
		if last := steps[len(steps)-1].(step); last.R2 < 0.98 {
			t.Errorf("%s: R² %v", setting, last.R2)
		}
	}
}

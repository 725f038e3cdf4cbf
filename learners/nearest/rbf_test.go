package nearest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

func TestRadialContract(t *testing.T) { learntest.Run(t, "rbf") }

func pairs(t testing.TB, points ...[2]float64) *table.Table {
	t.Helper()
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "f", Kind: table.Numeric}}})
	for _, p := range points {
		b.Float(0, p[0])
		b.Float(1, p[1])
		b.End()
	}
	return built(t, b)
}

// One unit at each row goes through all of them.
func TestRadialAtEachRow(t *testing.T) {
	rows := pairs(t, [2]float64{0, 0}, [2]float64{1, 1}, [2]float64{2, 0}, [2]float64{3, -1})
	m := learnt(t, RBF, rows, "centres=each", "width=1", "bias=no", "ridge=0", "scale=none").(*RadialModel)
	for i, want := range []float64{-1.3258924704, 2.3653945584, -0.7332209131, -0.8606710435} {
		if got := m.Weights[1+i] * m.cases.scale; math.Abs(got-want) > 1e-9 {
			t.Errorf("weight %d: %v, want %v", i+1, got, want)
		}
	}
	asked := pairs(t, [2]float64{0, 0}, [2]float64{1, 0}, [2]float64{2, 0}, [2]float64{3, 0}, [2]float64{0.5, 0}, [2]float64{1.5, 0})
	for i, want := range []float64{0, 1, 0, -1, 0.6415001478, 0.7305149466} {
		if got := answer(t, m, asked).Mean[i]; math.Abs(got-want) > 1e-9 {
			t.Errorf("answer %d: %v, want %v", i+1, got, want)
		}
	}
}

// Two units on a grid, weighed by least squares.
func TestRadialLeastSquares(t *testing.T) {
	tbl := line(t, 1, 2, 3, 4, 5)
	m := learnt(t, RBF, tbl, "centres=grid", "units=2", "width=1", "ridge=0", "scale=none").(*RadialModel)
	m.Centres = []float64{1, 3} // of the grid's 1 and 5, from the least on: 2 and 4
	if err := m.weigh(t.Context(), m.lot([]int{0, 1, 2, 3, 4}), 0); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{16.858683967, -17.397300494, 4.982233607} {
		if got := m.Weights[i] * m.cases.scale; math.Abs(got-want) > 1e-8 {
			t.Errorf("weight %d: %v, want %v", i, got, want)
		}
	}
	sum := 0.0
	p := answer(t, m, line(t, 1, 2, 3, 4, 5, 2.5)).Mean
	for i, want := range []float64{6.362035, 0.135655, 9.328565, 19.486449, 19.687295, 3.123115} {
		if math.Abs(p[i]-want) > 1e-6 {
			t.Errorf("answer %d: %v, want %v", i+1, p[i], want)
		}
		if i < 5 {
			e := p[i] - tbl.Columns[1].Floats[i]
			sum += e * e / 2
		}
	}
	if math.Abs(sum-42.086350) > 1e-6 {
		t.Errorf("error %v", sum)
	}
}

// Every way to choose centres learns a wave, and units that grow say what they
// took away.
func TestRadialCentres(t *testing.T) {
	var points [][2]float64
	for i := range 120 {
		x := float64(i) / 20
		points = append(points, [2]float64{x, math.Sin(2 * x)})
	}
	asked := pairs(t, [2]float64{1.234, 0}, [2]float64{4.321, 0})
	for _, way := range []string{"grow", "each", "grid", "sample", "cluster", "mixture", "each normalised", "grid normalised", "sample normalised", "cluster normalised", "mixture normalised"} {
		centres, basis, _ := strings.Cut(way, " ")
		m := learnt(t, RBF, pairs(t, points...), "centres="+centres, "basis="+cmp.Or(basis, "plain")).(*RadialModel)
		p, most := answer(t, m, asked).Mean, 0.02
		if basis != "" || centres == "mixture" { // a mean of 12 weights, or as wide as heaps of rows are
			most = 0.1
		}
		if math.Abs(p[0]-math.Sin(2.468)) > most || math.Abs(p[1]-math.Sin(8.642)) > most {
			t.Errorf("%s, %d units: %v, want %v and %v", way, len(m.Sigma), p, math.Sin(2.468), math.Sin(8.642))
		}
		grown, why := m.Grown()
		if why == "" || centres == "grow" && len(grown) != len(m.Sigma) {
			t.Errorf("%s: %d certificates of %d units, %q", centres, len(grown), len(m.Sigma), why)
		}
		left := 1.0
		for _, a := range m.Added {
			if left -= a.Removed; math.Abs(left-a.Left) > 1e-9 || a.Removed <= 0 {
				t.Errorf("unit %d: %v, and %v was left", a.Unit, a, left)
			}
		}
	}
}

// Classes that no plane parts.
func TestRadialClasses(t *testing.T) {
	var points [][2]float64
	var classes []string
	for i := range 80 {
		a := 2 * math.Pi * float64(i) / 80
		points = append(points, [2]float64{math.Cos(a), math.Sin(a)}, [2]float64{3 * math.Cos(a), 3 * math.Sin(a)})
		classes = append(classes, "in", "out")
	}
	m := learnt(t, RBF, plane(t, points, classes...))
	p := answer(t, m, plane(t, [][2]float64{{0.7, 0.7}, {-2, 2}}))
	in := m.Schema().Attributes[2].Code("in")
	if p.Row(0)[in] < 0.9 || p.Row(1)[in] > 0.1 {
		t.Errorf("P(in) = %v and %v", p.Row(0)[in], p.Row(1)[in])
	}
}

func TestRadialRefusals(t *testing.T) {
	for setting, want := range map[string]string{
		"units=-1": "from 1 to", "width=-1": "above 0", "ridge=-2": "0 or more", "centres=x": "expected one of", "basis=x": "expected one of", "bias=maybe": "expected one of",
	} {
		if _, err := learning(RBF, line(t, 1, 2, 3), setting); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
	if _, err := learning(RBF, random(t, 1, 50, 9, 0, true), "centres=grid"); err == nil || !strings.Contains(err.Error(), "choose centres=cluster") {
		t.Error(err)
	}
	for want, settings := range map[string][]string{
		"one more unit changes all": {"basis=normalised", "centres=grow"},
		"which is a bias already":   {"basis=normalised", "bias=yes"},
		"as wide as its part":       {"centres=mixture", "width=1"},
	} {
		if _, err := learning(RBF, line(t, 1, 2, 3), settings...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", settings, err, want)
		}
	}
	var _ learn.Grower = (*RadialModel)(nil)
}

// Figure 1 of Tresp, Hollatz and Ahmad 1997: two units with the weights 1 and 2. Of the
// plain network what is said between them is more than both, and far away nothing; of the
// normalised one it is a mean of the weights, and far away the nearer unit's.
func TestRadialNormalised(t *testing.T) {
	n := network{Centres: []float64{-1, 1}, Sigma: []float64{1, 1}, Weights: []float64{0, 1, 2}}
	say := func(x float64) float64 {
		m := &RadialModel{network: n, cases: &cases{}}
		y := make([]float64, 1)
		m.say([]float64{x}, make([]float64, 3), y)
		return y[0]
	}
	if got, want := say(0), 3*math.Exp(-.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("plain, in the middle: %v, want %v", got, want)
	}
	if got := say(60); got > 1e-12 {
		t.Errorf("plain, far away: %v, want 0", got)
	}
	n.normalised = true
	for x, want := range map[float64]float64{0: 1.5, -60: 1, 60: 2} {
		if got := say(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("normalised, at %v: %v, want %v", x, got, want)
		}
	}
}

// A mixture has its units where the rows are, as wide as they lie: two heaps.
func TestRadialMixture(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var points [][2]float64
	for range 400 {
		points = append(points, [2]float64{random.NormFloat64(), 1}, [2]float64{20 + 3*random.NormFloat64(), 5})
	}
	m := learnt(t, RBF, pairs(t, points...), "centres=mixture", "units=2", "basis=normalised", "distance=euclid", "scale=none").(*RadialModel)
	view, err := m.AsNetwork()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range view.Units[:2] {
		centre, width := *u.From[0].Centre, *u.From[0].Width
		if near := math.Abs(centre) < .3 && math.Abs(width-1) < .15; !near && !(math.Abs(centre-20) < .6 && math.Abs(width-3) < .4) {
			t.Errorf("a unit at %.3f ± %.3f, want 0 ± 1 or 20 ± 3", centre, width)
		}
	}
	if out := view.Units[2]; out.Function != "normalised" || math.Abs(*out.From[0].Weight+*out.From[1].Weight-6) > .2 {
		t.Errorf("output %+v, want weights of 1 and 5", out)
	}
}

package belief

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func open(t testing.TB, name string) *Model {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".bif"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := fromFile(name+"\n"+string(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// row returns a table of one row in a model's schema.
func row(t testing.TB, m *Model, known map[string]string) *table.Table {
	t.Helper()
	b := table.NewBuilder(m.schema)
	b.Closed = true
	for name, value := range known {
		if err := b.String(m.schema.Index(name), value); err != nil {
			t.Fatal(err)
		}
	}
	b.End()
	tab, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

type query struct {
	Query     string            `json:"query"`
	Evidence  map[string]string `json:"evidence"`
	P         float64           `json:"p_evidence"`
	Posterior []float64         `json:"posterior"`
}

func queries(t testing.TB) map[string][]query {
	text, err := os.ReadFile("testdata/queries.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Networks map[string][]query }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Networks
}

// Answers are those of an elimination by somebody else, to 1e-9, by the junction
// tree and by elimination.
func TestQueries(t *testing.T) {
	for name, list := range queries(t) {
		m := open(t, name)
		for _, q := range list {
			tab, column := row(t, m, q.Evidence), m.schema.Index(q.Query)
			a, err := m.Ask(tab, 0, column)
			if err != nil {
				t.Fatalf("%s, %s given %v: %v", name, q.Query, q.Evidence, err)
			}
			f := newFindings(len(m.net.nodes))
			f.read(tab, 0, column)
			p := make([]float64, len(a.P))
			log, err := (&elimination{net: m.net, findings: f}).sum(p, column)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, x := range p {
				sum += x
			}
			for s, want := range q.Posterior {
				if math.Abs(a.P[s]-want) > 1e-9 || math.Abs(p[s]/sum-want) > 1e-9 {
					t.Errorf("%s: P(%s | %v)[%d] = %v and %v, expected %v", name, q.Query, q.Evidence, s, a.P[s], p[s]/sum, want)
				}
			}
			if math.Abs(math.Exp(a.LogDensity)/q.P-1) > 1e-9 || math.Abs(math.Exp(log)/q.P-1) > 1e-9 {
				t.Errorf("%s: P(%v) = %v and %v, expected %v", name, q.Evidence, math.Exp(a.LogDensity), math.Exp(log), q.P)
			}
		}
	}
}

// The figures of the Storm network: Mitchell's table of Campfire, the other
// numbers made up.
func TestStorm(t *testing.T) {
	m := open(t, "mitchell_storm")
	for _, q := range []struct {
		what  string
		given map[string]string
		want  float64
	}{
		{"Campfire", nil, .45}, {"ForestFire", nil, .23441}, {"Thunder", nil, .2598},
		{"ForestFire", map[string]string{"Thunder": "true", "BusTourGroup": "true"}, 79594. / 162375},
		{"Storm", map[string]string{"Campfire": "true"}, 1. / 9}, {"BusTourGroup", map[string]string{"Campfire": "true"}, .8},
		{"Storm", map[string]string{"ForestFire": "true"}, 975. / 2131}, {"Campfire", map[string]string{"Storm": "true", "BusTourGroup": "true", "Lightning": "true"}, .4},
		{"Campfire", map[string]string{"Storm": "true"}, .25}, {"ForestFire", map[string]string{"Storm": "true", "BusTourGroup": "false"}, .4965},
		{"Lightning", map[string]string{"Thunder": "true"}, 893. / 1299},
	} {
		a, err := m.Ask(row(t, m, q.given), 0, m.schema.Index(q.what))
		if err != nil || math.Abs(a.P[0]-q.want) > 1e-12 {
			t.Errorf("P(%s | %v) = %v, %v; expected %v", q.what, q.given, a.P, err, q.want)
		}
	}
	all := map[string]string{}
	for _, a := range m.schema.Attributes {
		all[a.Name] = "true"
	}
	out := make([]float64, 1)
	if err := m.LogDensity(t.Context(), row(t, m, all), out); err != nil || math.Abs(math.Exp(out[0])-.02565) > 1e-15 {
		t.Errorf("all true: %v, %v", math.Exp(out[0]), err)
	}
	if s := m.Separated; !s(0, 1, nil) || s(0, 1, []int{3}) || s(2, 3, nil) || !s(2, 3, []int{0}) || s(0, 4, nil) || !s(0, 4, []int{2}) {
		t.Error("d-separation is wrong")
	}
	// Storm and Campfire: P(S) = .2, P(C) = .45, P(S, C) = .05.
	want := .05*math.Log2(.05/(.2*.45)) + .15*math.Log2(.15/(.2*.55)) + .4*math.Log2(.4/(.8*.45)) + .4*math.Log2(.4/(.8*.55))
	if bits, ok := m.Shared(0, 3, nil); !ok || math.Abs(bits-want) > 1e-12 {
		t.Errorf("Storm and Campfire share %v bits, expected %v", bits, want)
	}
	for _, c := range []struct {
		a, b  int
		given []int
		none  bool
	}{{0, 1, nil, true}, {0, 1, []int{3}, false}, {2, 3, nil, false}, {2, 3, []int{0}, true}, {0, 4, []int{2}, true}} {
		if bits, ok := m.Shared(c.a, c.b, c.given); !ok || (bits < 1e-12) != c.none {
			t.Errorf("%+v: share %v bits", c, bits)
		}
	}
	if _, ok := m.Shared(0, 0, nil); ok {
		t.Error("Storm shares something with itself")
	}
	codes, p, err := m.MostProbable(row(t, m, map[string]string{"Thunder": "true"}), 0, []int{0, 1, 2, 3, 5})
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for bits := range 32 { // by enumeration
		known := map[string]string{"Thunder": "true"}
		for i, v := range []int{0, 1, 2, 3, 5} {
			known[m.schema.Attributes[v].Name] = m.schema.Attributes[v].Values[bits>>i&1]
		}
		if err := m.LogDensity(t.Context(), row(t, m, known), out); err != nil {
			t.Fatal(err)
		}
		best = max(best, math.Exp(out[0])/.2598)
	}
	if math.Abs(p-best) > 1e-12 {
		t.Errorf("the most probable explanation %v has %v, expected %v", codes, p, best)
	}
}

// The most probable explanation of everything that is not known is found also
// where a table of all columns would have 10^16 cells: no cell of it can be changed
// for a more probable one, nor two.
func TestMostProbableOfAll(t *testing.T) {
	m := open(t, "alarm")
	given := map[string]string{"HRBP": "HIGH", "PRESS": "LOW", "CVP": "NORMAL", "EXPCO2": "LOW"}
	var wanted []int
	for v, a := range m.schema.Attributes {
		if _, known := given[a.Name]; !known {
			wanted = append(wanted, v)
		}
	}
	codes, p, err := m.MostProbable(row(t, m, given), 0, wanted)
	if err != nil {
		t.Fatal(err)
	}
	f := newFindings(len(m.net.nodes))
	f.read(row(t, m, given), 0, -1)
	all, err := (&elimination{net: m.net, findings: f}).sum(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range wanted {
		f.codes[v] = codes[i]
	}
	log := func() (sum float64) {
		for v := range m.net.nodes {
			n := &m.net.nodes[v]
			sum += math.Log(n.table[n.row(f.codes)*n.states+int(f.codes[v])])
		}
		return sum
	}
	best := log()
	if math.Abs(math.Exp(best-all)/p-1) > 1e-9 {
		t.Errorf("said to have the probability %v, but has %v", p, math.Exp(best-all))
	}
	change := func(v int, then func()) {
		was := f.codes[v]
		for k := range m.net.nodes[v].states {
			f.codes[v] = int32(k)
			then()
		}
		f.codes[v] = was
	}
	for i, v := range wanted {
		for _, u := range wanted[:i] {
			change(v, func() {
				change(u, func() {
					if log() > best+1e-9 {
						t.Fatalf("%s and %s can be changed for something more probable", m.schema.Attributes[v].Name, m.schema.Attributes[u].Name)
					}
				})
			})
		}
	}
}

// A network that is wider than allowed is answered by elimination, and by sampling
// where that is too wide as well.
func TestWidth(t *testing.T) {
	m := open(t, "alarm")
	given := row(t, m, map[string]string{"HRBP": "HIGH", "CVP": "NORMAL"})
	column := m.schema.Index("LVFAILURE")
	want, err := m.Ask(given, 0, column)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		width     int
		inference string
		most      float64
	}{{600, "", 1e-12}, {0, "elimination", 1e-12}, {8, "", .05}} {
		m := open(t, "alarm")
		m.lesson.Settings.Width, m.lesson.Settings.Inference = c.width, c.inference
		got, err := m.Ask(given, 0, column)
		if err != nil || !(math.Abs(got.P[0]-want.P[0]) <= c.most) || (m.tree == nil) != (c.width > 0) {
			t.Errorf("width %d, inference %q: %v, %v; expected %v", c.width, c.inference, got, err, want.P)
		}
		if c.most == .05 && got.P[0] == want.P[0] {
			t.Errorf("width %d: the answer is exact, expected a sampled one", c.width)
		}
		codes, _, err := m.MostProbable(given, 0, []int{column, column + 1})
		if err != nil || (codes == nil) != (c.most == .05) {
			t.Errorf("width %d: together %v, %v", c.width, codes, err)
		}
	}
}

// Sampling agrees within four standard errors; soft evidence is Bayes' rule.
func TestSampling(t *testing.T) {
	m := open(t, "mitchell_storm")
	f := newFindings(6)
	f.codes[4], f.codes[1] = 0, 0
	const n = 40000
	for name, sample := range map[string]func(*findings, *rand.Rand, int, func(*findings, float64)) float64{"weighting": m.net.weighting, "gibbs": m.net.gibbs} {
		fire, total := 0.0, 0.0
		sample(f, rand.New(rand.NewPCG(1, 2)), n, func(at *findings, w float64) {
			total += w
			if at.codes[5] == 0 {
				fire += w
			}
		})
		// Weights from .1 to .95 and steps that depend on each other leave
		// less than a tenth of n independent samples: 4·√(.25/(n/10)) = .03.
		if got := fire / total; math.Abs(got-.490186297) > .03 {
			t.Errorf("%s: P(fire | thunder, bus) = %v", name, got)
		}
	}
	// Thunder that was heard with likelihoods .6 and .2
	a, err := m.AskWith(row(t, m, nil), 0, 2, map[int][]float64{4: {.6, .2}})
	pl := .2*.9 + .8*.01
	want := pl * (.95*.6 + .05*.2) / (pl*(.95*.6+.05*.2) + (1-pl)*(.1*.6+.9*.2))
	if err != nil || math.Abs(a.P[0]-want) > 1e-12 {
		t.Errorf("P(lightning | soft thunder) = %v, %v; expected %v", a.P, err, want)
	}
}

// Zeros of the tables do not hold Gibbs sampling in a corner: either is lung or tub, so that
// neither could move alone. Of 10,000 samples at least a tenth are worth an independent
// one: 4·√(.25/1000) = .063.
func TestGibbsAmongZeros(t *testing.T) {
	for _, known := range []map[string]string{{"xray": "yes", "dysp": "yes"}, {"either": "yes"}, {"xray": "yes", "tub": "no"}} {
		m := open(t, "asia")
		asked := row(t, m, known)
		for _, name := range []string{"lung", "tub", "smoke"} {
			column := m.schema.Index(name)
			if _, is := known[name]; is {
				continue
			}
			m.lesson.Settings.Inference = ""
			want, err := m.Ask(asked, 0, column)
			if err != nil {
				t.Fatal(err)
			}
			m.lesson.Settings.Inference = "gibbs"
			got, err := m.Ask(asked, 0, column)
			if err != nil || math.Abs(got.P[0]-want.P[0]) > .063 || math.Abs(got.LogDensity-want.LogDensity) > .2 {
				t.Errorf("%v: %s is %v, %v; expected %v", known, name, got, err, want)
			}
		}
	}
}

// Evidence of probability 0 is an error.
func TestImpossible(t *testing.T) {
	m := open(t, "asia")
	_, err := m.Ask(row(t, m, map[string]string{"lung": "yes", "either": "no"}), 0, 0)
	if _, is := err.(ErrImpossible); !is {
		t.Errorf("error %v, expected that it cannot be", err)
	}
	for either, want := range map[string]int{"no": 1, "yes": 0} {
		if rows := m.Impossible(row(t, m, map[string]string{"lung": "yes", "either": either}), learn.NoTarget); len(rows) != want {
			t.Errorf("lung = yes, either = %s: rows %v cannot be, expected %d", either, rows, want)
		}
	}
}

// What is exported reads back.
func TestBIF(t *testing.T) {
	for _, name := range []string{"asia", "child", "insurance"} {
		m := open(t, name)
		text, err := m.BIF()
		if err != nil {
			t.Fatal(err)
		}
		n, err := netfile.Parse(name, text)
		if err != nil || len(n.Variables) != len(m.net.nodes) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkAskAlarm(b *testing.B) {
	m := open(b, "alarm")
	tab, column := row(b, m, map[string]string{"HRBP": "HIGH", "PRESS": "LOW", "CVP": "NORMAL", "EXPCO2": "LOW"}), m.schema.Index("LVFAILURE")
	b.ReportMetric(float64(m.compiled().size), "cells")
	for b.Loop() {
		if _, err := m.Ask(tab, 0, column); err != nil {
			b.Fatal(err)
		}
	}
}

// A network that speaks of other columns than the rows is refused; one that has
// columns besides is not, but for those that are spelt nearly as the rows spell them.
func TestNetworkOfOtherColumns(t *testing.T) {
	rows := &table.Schema{Attributes: []table.Attribute{{Name: "rain", Values: []string{"no", "yes"}}, {Name: "wet", Values: []string{"no", "yes"}}}}
	for network, want := range map[string]string{
		"rain -> wet":         "",
		"rain, cloud -> wet":  "",
		"cloud -> sky":        `the network:1: no variable of the network (cloud, sky) is a column of the rows (rain, wet); expected a network of these columns`,
		"Rain -> wet":         `the network:1: the network has a variable "Rain", and the rows a column "rain"; expected them to be spelt alike`,
		"rain -> Rain -> wet": "",
	} {
		file, err := netfile.Parse("the network", []byte(network))
		if err != nil {
			t.Fatal(err)
		}
		switch err := speakOf(file, rows); {
		case err == nil && want == "":
		case err == nil || err.Error() != want:
			t.Errorf("%s: %v, want %s", network, err, want)
		}
	}
}

// What is wrong with a network beside the rows is said with the file's name and line,
// although a model keeps the network in a form of its own; a circle of arcs that are
// required is named.
func TestNetworkBesideRows(t *testing.T) {
	rows, _, err := table.Read(t.Context(), strings.NewReader("rain,wet,mm\nno,no,0.5\nyes,yes,7\nno,yes,1.5\n"), table.Options{Name: "rows.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, want string }{
		{"network", "wet.txt\n\n# what is wet\nrain -> wet\nrain -> wett\n", `wet.txt:4: the network has a variable "wett" without states, which is no column either; expected a line such as  wett: yes, no; did you mean "wet"?`},
		{"network", "wet.txt\n\nRain -> wet\n", `wet.txt:2: the network has a variable "Rain", and the rows a column "rain"; expected them to be spelt alike`},
		{"network", "wet.txt\nrain -> wet\nmm: low, high\n", `wet.txt:2: column "mm" is numeric, but the network gives it the states low, high; read it as nominal`},
		{"require", "rain->wet,wet->mm,wet->rain", `the arcs of require= go in a circle: wet->rain->wet; expected a graph without`},
	} {
		l, err := learn.New(Name, map[string]string{c.key: c.value})
		if err == nil {
			_, err = l.Learn(t.Context(), learn.Task{Table: rows, NoTarget: true})
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

package belief

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// mixed is a network of names a, b and numbers w → x → y ← z, some of which hang on
// the names, with parameters of a seed.
func mixed(seed uint64) *Model {
	s := &table.Schema{}
	for _, name := range []string{"a", "b"} {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Values: []string{"a", "b", "c"}[:2+len(s.Attributes)]})
	}
	for _, name := range []string{"w", "x", "y", "z"} {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
	}
	parents := [][]int{{}, {0}, {0}, {2, 1}, {3, 5, 0}, {1}}
	m := &Model{schema: s, target: 0, net: newNetwork(s, parents), lesson: lesson{Target: "a", Settings: settings{Samples: 60000}}}
	random := rand.New(rand.NewPCG(seed, 1))
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		rows := n.rows(m.net.nodes)
		for range rows {
			if n.numeric {
				n.mean, n.deviation = append(n.mean, 3*random.NormFloat64()), append(n.deviation, .3+random.Float64())
				for range n.lines {
					n.slope = append(n.slope, .5+math.Abs(random.NormFloat64())) // of one sign: PC looks at pairs alone first
				}
				n.unit = 1
				continue
			}
			sum := 0.0
			for range n.states {
				n.table = append(n.table, .1+random.Float64())
				sum += n.table[len(n.table)-1]
			}
			for k := len(n.table) - n.states; k < len(n.table); k++ {
				n.table[k] /= sum
			}
		}
		for range n.lines {
			n.at = append(n.at, random.NormFloat64())
		}
	}
	m.net.reaches()
	return m
}

// by brute force: for each combination of names the numbers are jointly normal, with
// the covariance (I − B)⁻¹ D (I − B)⁻ᵀ; what is known is conditioned on by solving.
type brute struct {
	p, log, mean, variance []float64 // by combination of a and b: of the wanted number
}

func force(m *Model, floats []float64, wanted int) brute {
	var out brute
	for at := range 6 {
		codes := []int32{int32(at / 3), int32(at % 3), 0, 0, 0, 0}
		na, nb := &m.net.nodes[0], &m.net.nodes[1]
		p := na.table[codes[0]] * nb.table[int(codes[0])*3+int(codes[1])]
		// mean and covariance of all four numbers, as sums over paths
		var mean [6]float64
		var cov [6][6]float64
		for _, v := range m.net.order {
			n := &m.net.nodes[v]
			if !n.numeric {
				continue
			}
			row := n.row(codes)
			mean[v] = n.mean[row]
			for l, q := range n.lines {
				mean[v] += n.slope[row*len(n.lines)+l] * (mean[q] - n.at[l])
			}
			for u := 2; u < 6; u++ {
				for l, q := range n.lines {
					if u != v {
						cov[v][u] += n.slope[row*len(n.lines)+l] * cov[q][u]
						cov[u][v] = cov[v][u]
					}
				}
			}
			for l, q := range n.lines {
				cov[v][v] += n.slope[row*len(n.lines)+l] * cov[q][v]
			}
			cov[v][v] += n.deviation[row] * n.deviation[row]
		}
		var known []int
		for v := 2; v < 6; v++ {
			if floats[v] == floats[v] {
				known = append(known, v)
			}
		}
		log := math.Log(p)
		mu, variance := 0.0, 1.0
		if wanted >= 0 {
			mu, variance = mean[wanted], cov[wanted][wanted]
		}
		for i, v := range known { // one after the other
			r, s := floats[v]-mean[v], cov[v][v]
			log += -.5*r*r/s - .5*math.Log(2*math.Pi*s)
			old, was := cov, mean
			for _, u := range append(slices.Clone(known[i:]), max(wanted, 2)) {
				mean[u] = was[u] + old[u][v]/s*r
				for _, t := range append(slices.Clone(known[i:]), max(wanted, 2)) {
					cov[u][t] = old[u][t] - old[u][v]*old[v][t]/s
				}
			}
			if wanted >= 0 {
				mu, variance = mean[wanted], cov[wanted][wanted]
			}
		}
		out.p, out.log, out.mean, out.variance = append(out.p, p), append(out.log, log), append(out.mean, mu), append(out.variance, variance)
	}
	return out
}

// Whatever numbers are known, answers are those of brute force: how probable the row
// is, the names, and the mean and deviation of each number that is not known.
func TestNumbersAmongNumbersAreExact(t *testing.T) {
	for seed := range uint64(5) {
		m := mixed(seed)
		m.compiled()
		random := rand.New(rand.NewPCG(seed, 2))
		for pattern := range 16 {
			d := m.desk()
			for v := 2; v < 6; v++ {
				if pattern>>(v-2)&1 == 1 {
					d.floats[v] = 3 * random.NormFloat64()
				}
			}
			for wanted := -1; wanted < 6; wanted++ {
				if wanted >= 0 && (wanted < 2 || d.floats[wanted] == d.floats[wanted]) {
					continue
				}
				want := force(m, d.floats, wanted)
				all := slices.Clone(want.log)
				log := normaliseLogs(all)
				if wanted < 0 {
					p := make([]float64, 2)
					got := m.posterior(d, 0, p)
					if math.Abs(got-log) > 1e-9 || math.Abs(p[0]-all[0]-all[1]-all[2]) > 1e-9 {
						t.Errorf("seed %d, pattern %b: log %v and P(a) %v, expected %v and %v", seed, pattern, got, p[0], log, all[0]+all[1]+all[2])
					}
					continue
				}
				x, got := m.normal(d, wanted)
				mean, square, wantMean, wantSquare := 0.0, 0.0, 0.0, 0.0
				for k, p := range x.p {
					mean, square = mean+p*x.mean[k], square+p*(x.mean[k]*x.mean[k]+x.deviation[k]*x.deviation[k])
				}
				for k, p := range all {
					wantMean, wantSquare = wantMean+p*want.mean[k], wantSquare+p*(want.mean[k]*want.mean[k]+want.variance[k])
				}
				if math.Abs(got-log) > 1e-9 || math.Abs(mean-wantMean) > 1e-9 || math.Abs(square-wantSquare) > 1e-8 {
					t.Errorf("seed %d, pattern %b, column %d: %v, %v and %v, expected %v, %v and %v", seed, pattern, wanted, got, mean, square, log, wantMean, wantSquare)
				}
			}
		}
	}
}

// Elimination agrees with the junction tree, and so do samples.
func TestNumbersAmongNumbersBySampling(t *testing.T) {
	m := mixed(7)
	m.compiled()
	d := m.desk()
	d.floats[4], d.floats[5] = 1, -.5 // y and z; x and w are not known
	exact := make([]float64, 2)
	log := m.posterior(d, 0, exact)
	e := &elimination{net: m.net, findings: d.findings}
	if got, err := e.sum(nil); err != nil || math.Abs(got-log) > 1e-9 {
		t.Errorf("by elimination the log is %v (%v), expected %v", got, err, log)
	}
	x, _ := m.normal(d, 3)
	for _, how := range []string{"weighting", "gibbs"} {
		m.lesson.Settings.Inference = how
		p := make([]float64, 2)
		m.sampled(d.findings, 0, p)
		s, _ := m.sampledNormal(d.findings, 3)
		// 60,000 samples, a twentieth of which are worth an independent one: 4·√(.25/3000) = .037
		if math.Abs(p[0]-exact[0]) > .037 || math.Abs(s.centre()-x.centre()) > .1 {
			t.Errorf("%s: P(a) = %v and x = %v, expected %v and %v", how, p[0], s.centre(), exact[0], x.centre())
		}
	}
}

// learnTable learns a network from a table's rows.
func learnTable(t *testing.T, tab *table.Table, target string, set map[string]string) *Model {
	t.Helper()
	l, err := learn.New(Name, set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: target, NoTarget: target == "", Source: learn.Source{ID: "s"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// Every search finds the arcs between numbers of rows that such a network made, in
// the skeleton; parameters are found within four standard errors (deviations are about
// 1 and each row of a table has about 500 rows or more: .2).
func TestNumbersAmongNumbersAreLearnt(t *testing.T) {
	from := mixed(3)
	rows, err := from.Sample(4000, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := learnTable(t, rows, "", map[string]string{"structure": "given", "require": "a->b,a->w,w->x,b->x,x->y,z->y,a->y,b->z"})
	for v := range m.net.nodes {
		n, want := &m.net.nodes[v], &from.net.nodes[v]
		for row := range n.mean {
			for l := range n.lines {
				at := slices.Index(want.lines, n.lines[l])
				if got := n.slope[row*len(n.lines)+l]; math.Abs(got-want.slope[row*len(n.lines)+at]) > .2 {
					t.Errorf("the slope of %d is %v, expected %v", v, got, want.slope[row*len(n.lines)+at])
				}
			}
			if math.Abs(n.deviation[row]-want.deviation[row]) > .2 {
				t.Errorf("the deviation of %d is %v, expected %v", v, n.deviation[row], want.deviation[row])
			}
		}
	}
	for _, structure := range []string{"climb", "pc", "k2", "tan"} {
		m := learnTable(t, rows, "", map[string]string{"structure": structure})
		found := ""
		for v := range m.net.nodes {
			for _, p := range m.net.nodes[v].lines {
				found += fmt.Sprint(min(v, p), max(v, p), " ")
			}
		}
		if structure == "tan" && len(m.net.nodes[4].lines)+len(m.net.nodes[3].lines) > 2 || structure != "tan" && (!strings.Contains(found, "2 3") || !strings.Contains(found, "3 4") || !strings.Contains(found, "4 5")) {
			t.Errorf("%s found arcs between the numbers %s", structure, found)
		}
	}
}

// EM with missing numbers never lowers the likelihood, and is nearer to the slopes
// that made the rows than leaving incomplete families out can be worse.
func TestNumbersAmongNumbersByEM(t *testing.T) {
	from := mixed(4)
	rows, err := from.Sample(600, 5)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for v := 2; v < 6; v++ {
		for r := range rows.Rows() {
			if random.Float64() < .3 {
				rows.Columns[v].Floats[r] = table.NA
			}
		}
	}
	last := math.Inf(-1)
	for _, iterations := range []string{"1", "3", "10", "100"} {
		m := learnTable(t, rows, "", map[string]string{"structure": "given", "require": "a->b,a->w,w->x,b->x,x->y,z->y,a->y,b->z", "missing": "em", "iterations": iterations, "m": "0"})
		logs, sum := make([]float64, rows.Rows()), 0.0
		if err := m.LogDensity(context.Background(), rows, logs); err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			sum += log
		}
		if sum < last-1e-6 {
			t.Errorf("after %s iterations the log likelihood is %v, below %v", iterations, sum, last)
		}
		last = sum
	}
}

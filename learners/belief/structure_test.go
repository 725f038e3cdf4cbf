package belief

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// relearn learns a graph from rows drawn from a network, and returns which arcs
// are missing, and which are there that should not be; as links, without their
// directions, if skeleton.
func relearn(t testing.TB, from *Model, rows int, seed uint64, skeleton bool, set map[string]string) (missing, extra []string, m *Model) {
	t.Helper()
	tab, err := from.Sample(rows, seed)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn.New(Name, set)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	learnt, err := l.Learn(context.Background(), learn.Task{Table: tab, NoTarget: true, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	m = learnt.(*Model)
	missing, extra = compareArcs(m, from, skeleton)
	if testing.Verbose() {
		t.Logf("seed %d: %v, missing %v, extra %v", seed, took, missing, extra)
	}
	return missing, extra, m
}

func compareArcs(m, from *Model, skeleton bool) (missing, extra []string) {
	arcs := func(m *Model) map[string]bool {
		set := map[string]bool{}
		for v := range m.net.nodes {
			for _, p := range m.net.nodes[v].parents {
				a, b := m.schema.Attributes[p].Name, m.schema.Attributes[v].Name
				if skeleton && b < a {
					a, b = b, a
				}
				set[a+"→"+b] = true
			}
		}
		return set
	}
	got, want := arcs(m), arcs(from)
	for a := range want {
		if !got[a] {
			missing = append(missing, a)
		}
	}
	for a := range got {
		if !want[a] {
			extra = append(extra, a)
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return missing, extra
}

// order is one that is consistent with a network.
func order(m *Model) string {
	var names []string
	for _, v := range m.net.order {
		names = append(names, m.schema.Attributes[v].Name)
	}
	return strings.Join(names, ",")
}

func seeds(few, many int) int {
	if os.Getenv("ACCRETE_LONG") != "" {
		return many
	}
	return few
}

// K2 on 3,000 rows of Alarm with an order that is consistent with it: published,
// of one sample, one arc lost and one added (Cooper & Herskovits 1992).
func TestK2Alarm(t *testing.T) {
	alarm := open(t, "alarm")
	wrong, n := 0, seeds(3, 10)
	for seed := range n {
		missing, extra, _ := relearn(t, alarm, 3000, uint64(seed+1), false, map[string]string{"structure": "k2", "order": order(alarm)})
		wrong += len(missing) + len(extra)
	}
	if mean := float64(wrong) / float64(n); mean > 3 {
		t.Errorf("%.1f arcs wrong on average, expected at most 3", mean)
	}
}

// Climbing without an order, on 10,000 rows.
func TestClimbAlarm(t *testing.T) {
	alarm := open(t, "alarm")
	wrong, n := 0, seeds(1, 10)
	for seed := range n {
		missing, extra, _ := relearn(t, alarm, 10000, uint64(seed+1), true, nil)
		wrong += len(missing) + len(extra)
	}
	if mean := float64(wrong) / float64(n); mean > 6 {
		t.Errorf("%.1f links wrong on average, expected at most 6", mean)
	}
}

func TestSmallNetworks(t *testing.T) {
	for _, name := range []string{"asia", "survey"} {
		from := open(t, name)
		for _, set := range []map[string]string{{"structure": "k2", "order": order(from)}, {"structure": "climb"}} {
			wrong, n := 0, 10
			for seed := range n {
				missing, extra, _ := relearn(t, from, 10000, uint64(seed+1), true, set)
				wrong += len(missing) + len(extra)
			}
			if mean := float64(wrong) / float64(n); mean > 1 {
				t.Errorf("%s by %s: %.1f links wrong on average, expected at most 1", name, set["structure"], mean)
			}
		}
	}
}

// ten are the ten cases of three binary columns of Cooper & Herskovits.
func ten(t testing.TB) *table.Table {
	t.Helper()
	codes := make([][]int32, 3)
	for _, r := range strings.Fields("100 111 001 111 000 011 111 000 111 000") {
		for j := range codes {
			codes[j] = append(codes[j], int32(r[j]-'0'))
		}
	}
	s := &table.Schema{}
	columns := make([]table.Column, 3)
	for j := range codes {
		s.Attributes = append(s.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", j+1), Values: []string{"absent", "present"}})
		columns[j].Codes = codes[j]
	}
	tab, err := table.New(s, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestTenCases(t *testing.T) {
	d := &data{settings: &settings{Score: "k2"}, schema: ten(t).Schema, rows: 10, gapped: make([]bool, 3), numbers: make([]numbers, 3)}
	for j := range 3 {
		var codes []uint16
		for _, c := range ten(t).Columns[j].Codes {
			codes = append(codes, uint16(c))
		}
		d.codes = append(d.codes, codes)
	}
	g := func(columns ...int) float64 {
		size, _ := d.size(columns)
		counts := make([]float64, size)
		d.count(columns, counts)
		return math.Exp(d.score(counts, 2, 10))
	}
	for _, f := range []struct {
		columns []int
		want    float64
	}{
		{[]int{0}, 1. / 2772}, {[]int{1}, 1. / 2772}, {[]int{0, 1}, 1. / 900}, {[]int{2}, 1. / 2310},
		{[]int{0, 2}, 1. / 1800}, {[]int{1, 2}, 1. / 180}, {[]int{0, 1, 2}, 1. / 400},
	} {
		if got := g(f.columns...); math.Abs(got/f.want-1) > 1e-12 {
			t.Errorf("g(%v) = %v, expected %v", f.columns, got, f.want)
		}
	}
	for _, f := range []struct {
		columns       []int
		want, freedom float64
	}{{[]int{0, 1}, 3.854895, 1}, {[]int{1, 2}, 8.456209, 1}, {[]int{0, 2}, 1.726092, 1}, {[]int{1, 0, 2}, .505343, 2}} {
		if g2, freedom, _, _ := d.deviance(f.columns); math.Abs(g2-f.want) > 5e-7 || freedom != f.freedom {
			t.Errorf("G²(%v) = %v with %v, expected %v with %v", f.columns, g2, freedom, f.want, f.freedom)
		}
	}
	l, err := learn.New(Name, map[string]string{"structure": "k2", "order": "x1,x2,x3"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: ten(t), NoTarget: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*Model).net.nodes; len(got[0].parents) != 0 || !slices.Equal(got[1].parents, []int{0}) || !slices.Equal(got[2].parents, []int{1}) {
		t.Errorf("K2 finds %v", m.(*Model).grown)
	}
}

// Lines with little noise around them are found, also where cells are missing: a case
// for each row of a table would hide them, and a parent that stands at its mean where it
// is not known would be noise.
func TestLinesWithLittleNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	var text strings.Builder
	text.WriteString("weather,promo,visitors,sales\n")
	for range 900 {
		weather, promo := random.IntN(3), random.IntN(2)
		visitors := []float64{200, 90, 140}[weather] + 80*float64(promo) + 20*random.NormFloat64()
		cells := []string{[]string{"sun", "rain", "cloud"}[weather], []string{"no", "yes"}[promo], fmt.Sprintf("%.1f", visitors), fmt.Sprintf("%.1f", 3.2*visitors+50+40*random.NormFloat64())}
		for j := range cells {
			if random.IntN(25) == 0 {
				cells[j] = ""
			}
		}
		text.WriteString(strings.Join(cells, ",") + "\n")
	}
	rows, _, err := table.Read(t.Context(), strings.NewReader(text.String()), table.Options{Name: "shop.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for _, structure := range []string{"climb", "k2", "pc"} {
		m, err := (&Learner{Structure: structure}).Learn(t.Context(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var arcs []string
		for _, a := range m.(*Model).grown {
			arcs = append(arcs, a.Parent+"->"+a.Child)
		}
		slices.Sort(arcs)
		if got, want := strings.Join(arcs, " "), "promo->visitors visitors->sales weather->visitors"; got != want {
			t.Errorf("%s finds %s, want %s", structure, got, want)
		}
	}
}

package belief

import (
	"fmt"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// campfire is the fragment Storm, BusTourGroup → Campfire of Mitchell's figure
// 6.3, with his table; Storm and BusTourGroup are even and held fixed.
func campfire() *network {
	s := &table.Schema{}
	for _, name := range []string{"S", "B", "C"} {
		s.Attributes = append(s.Attributes, table.Attribute{Name: name, Values: []string{"1", "0"}})
	}
	n := newNetwork(s, [][]int{nil, nil, {0, 1}})
	n.nodes[0].table, n.nodes[1].table = []float64{.5, .5}, []float64{.5, .5}
	n.nodes[2].table = []float64{.4, .6, .1, .9, .8, .2, .2, .8}
	return n
}

// expect takes the three rows of the fixture: ¬S ¬B C, C, S ¬C.
func expect(t *testing.T, n *network) *expecting {
	t.Helper()
	e, desk := newExpecting(n), newDesk(3)
	for _, codes := range [][]int32{{1, 1, 0}, {-1, -1, 0}, {0, -1, 1}} {
		copy(desk.codes, codes)
		if err := e.take(desk, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// A step of gradient ascent (equation 6.25) and one of EM, to the digit.
func TestGradientAndEM(t *testing.T) {
	n := campfire()
	e := expect(t, n)
	if math.Abs(e.log+4.9573908) > 5e-8 {
		t.Errorf("ln P(D) = %v, expected −4.9573908", e.log)
	}
	for k, want := range []float64{2. / 3, 2. / 3, 2. / 3, 2. / 3, 2. / 3, 0, 17. / 3, 0} {
		if got := e.counts[2][k] / n.nodes[2].table[k]; math.Abs(got-want) > 1e-12 {
			t.Errorf("gradient %d is %v, expected %v", k, got, want)
		}
	}
	for row, want := range []float64{.4, .1, 1, 1} {
		p := estimate(e.counts[2], 2, &prior{table: []float64{.5, .5, .5, .5, .5, .5, .5, .5}})
		if math.Abs(p[2*row]-want) > 1e-12 {
			t.Errorf("EM: row %d is %v, expected %v", row, p[2*row], want)
		}
	}
	even := n.nodes[0].table
	e.ascend(.01)
	n.nodes[0].table, n.nodes[1].table = even, even
	for row, want := range []float64{61. / 152, 2. / 19, 121. / 151, 77. / 317} {
		if got := n.nodes[2].table[2*row]; math.Abs(got-want) > 1e-12 {
			t.Errorf("gradient: row %d is %v, expected %v", row, got, want)
		}
	}
	if after := expect(t, n); math.Abs(after.log+4.7341354) > 5e-8 {
		t.Errorf("ln P(D) = %v afterwards, expected −4.7341354", after.log)
	}
}

// gapped returns the network of the storm, rows of it in which one of so many cells is
// not known, and its file as a setting.
func gapped(t *testing.T, rows, one int) (storm *Model, tab *table.Table, file string) {
	t.Helper()
	storm = open(t, "mitchell_storm")
	tab, err := storm.Sample(rows, 7)
	if err != nil {
		t.Fatal(err)
	}
	for j := range tab.Columns {
		for r := range tab.Columns[j].Codes {
			if (r*7+j*3)%one == 0 {
				tab.Columns[j].Codes[r] = table.Missing
			}
		}
	}
	text, err := storm.BIF()
	if err != nil {
		t.Fatal(err)
	}
	return storm, tab, "storm\n" + string(text)
}

// Rows with gaps teach EM and the gradient what whole rows would have: of 4,000
// rows of Storm with a fifth of the cells gone, every table is within .08 of the
// network's, where the rarest row of a table has about 40 rows whose deviation
// is √(.25/40) = .08 at most.
func TestGapsAndHidden(t *testing.T) {
	storm, tab, file := gapped(t, 4000, 5)
	for _, how := range []string{"em", "gradient"} {
		m := learnTable(t, tab, "", map[string]string{"network": file, "missing": how})
		for v := range storm.net.nodes {
			at := m.Schema().Index(storm.schema.Attributes[v].Name)
			got := m.net.nodes[at].table
			for k, want := range storm.net.nodes[v].table {
				if rare := v == 5; math.Abs(got[k]-want) > .08 && !rare {
					t.Errorf("%s: %s has %v, expected about %v", how, fmt.Sprint(storm.schema.Attributes[v].Name, k), got[k], want)
				}
			}
		}
	}
}

// EM and the gradient climb the same hill, on which an expert's tables are worth cases:
// they end at the same probabilities, to a thousandth.
func TestWorthOfGaps(t *testing.T) {
	storm, tab, file := gapped(t, 300, 4)
	tables := map[string]*network{}
	for _, how := range []string{"em", "gradient"} {
		tables[how] = learnTable(t, tab, "", map[string]string{"network": file, "worth": "40", "missing": how, "iterations": "1000"}).net
	}
	for v := range tables["em"].nodes {
		for k, want := range tables["em"].nodes[v].table {
			if got := tables["gradient"].nodes[v].table[k]; math.Abs(got-want) > .001 {
				t.Errorf("%s: the gradient has %v, EM %v", fmt.Sprint(storm.schema.Attributes[v].Name, k), got, want)
			}
		}
	}
}

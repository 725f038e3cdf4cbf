package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Where columns are correlated, units are, too; where they are not, units stay rules;
// and what is said is not chosen.
func TestUnitsAreChosenOnRowsHeldOut(t *testing.T) {
	made := func(correlated bool) *table.Table {
		random := rand.New(rand.NewPCG(3, 4))
		a, b, y := make([]float64, 900), make([]float64, 900), make([]float64, 900)
		for r := range a {
			a[r], b[r] = random.NormFloat64(), random.NormFloat64()
			if y[r] = 0.1 * random.NormFloat64(); correlated {
				y[r] += a[r] - 2*b[r]
			} else if a[r] > 0 {
				y[r]++
			}
		}
		rows, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}},
			[]table.Column{{Floats: a}, {Floats: b}, {Floats: y}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	learnt := func(l *Learner, rows *table.Table) *Model {
		m, err := l.Learn(t.Context(), learn.Task{Table: rows, Target: "y", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Model)
	}
	m := learnt(&Learner{Covariance: "auto"}, made(true))
	if m.settings.Covariance != "full" {
		t.Errorf("of correlated columns covariance=%s was chosen", m.settings.Covariance)
	}
	if off, err := m.lossOn(t.Context(), made(true)); err != nil || math.Sqrt(off) > 0.2 {
		t.Errorf("off by %v, %v", math.Sqrt(off), err)
	}
	if m := learnt(&Learner{Covariance: "auto"}, made(false)); m.settings.Covariance != "diagonal" {
		t.Errorf("of columns that are not correlated covariance=%s was chosen", m.settings.Covariance)
	}
	if m := learnt(&Learner{Units: 7, Covariance: "auto"}, made(true)); m.settings.Covariance != "diagonal" || m.settings.Units != 7 {
		t.Errorf("units=7 became %d with covariance=%s", m.settings.Units, m.settings.Covariance)
	}
}

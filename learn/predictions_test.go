package learn

import (
	"testing"

	"github.com/accrete-ml/accrete/table"
)

func TestNewPredictions(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "class", Values: []string{"a", "b", "c"}},
		{Name: "number", Kind: table.Numeric},
	}}
	p := NewPredictions(&echoModel{schema: schema, target: 0}, 4)
	if p.Classes != 3 || len(p.P) != 12 || p.Mean != nil {
		t.Errorf("for classes: %+v", p)
	}
	p.P[5] = 0.5
	if row := p.Row(1); len(row) != 3 || row[2] != 0.5 {
		t.Errorf("row 1 is %v", row)
	}
	p = NewPredictions(&echoModel{schema: schema, target: 1}, 4)
	if p.Classes != 0 || p.P != nil || len(p.Mean) != 4 || len(p.Low) != 4 || len(p.High) != 4 {
		t.Errorf("for numbers: %+v", p)
	}
	// The columns do not run into each other.
	p.Mean = append(p.Mean, 9)
	p.Low = append(p.Low, 9)
	if p.Low[0] == 9 || p.High[0] == 9 {
		t.Error("appending to one column changes another")
	}
	if p = NewPredictions(&echoModel{schema: schema, target: NoTarget}, 4); p.P != nil || p.Mean != nil {
		t.Errorf("for a density: %+v", p)
	}
}

func TestBest(t *testing.T) {
	for _, c := range []struct {
		p       []float64
		classes []string
		want    int
	}{
		{[]float64{0.2, 0.5, 0.3}, []string{"a", "b", "c"}, 1},
		{[]float64{0.4, 0.2, 0.4}, []string{"c", "b", "a"}, 2}, // the first by name
		{[]float64{0.4, 0.2, 0.4}, []string{"a", "b", "c"}, 0},
		{[]float64{1}, []string{"only"}, 0},
	} {
		if got := Best(c.p, c.classes); got != c.want {
			t.Errorf("best of %v for %q is %d, want %d", c.p, c.classes, got, c.want)
		}
	}
}

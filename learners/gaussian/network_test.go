package gaussian

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"gonum.org/v1/gonum/floats"
)

// fire computes the outputs of a written-out network for a row, by its own
// text alone.
func fire(net *draw.Units, t *table.Table, row int) map[string]float64 {
	inputs := map[string]float64{}
	for j, a := range t.Schema.Attributes {
		if a.Kind == table.Numeric {
			inputs[a.Name] = t.Columns[j].Floats[row]
			continue
		}
		for v, value := range a.Values {
			if t.Columns[j].Codes[row] == int32(v) {
				inputs[a.Name+" = "+value] = 1
			}
		}
	}
	units, total, outputs := map[string]float64{}, 0.0, map[string]float64{}
	for _, u := range net.Units {
		if u.Output {
			for _, l := range u.From {
				outputs[u.Name] += *l.Weight * units[l.From] / total
			}
			continue
		}
		log := *u.Bias
		for _, l := range u.From {
			if l.Centre != nil {
				z := (inputs[l.From] - *l.Centre) / *l.Width
				log -= z * z / 2
			} else {
				log += *l.Weight * inputs[l.From]
			}
		}
		units[u.Name] = math.Exp(log)
		total += units[u.Name]
	}
	return outputs
}

// The network of normalised basis functions answers as the mixture does, for
// numbers and for classes.
func TestNetworkOfBasisFunctions(t *testing.T) {
	rows := mixedTable(t)
	for target, a := range rows.Schema.Attributes {
		m, err := (&Learner{Units: 6, Iterations: 30}).Learn(context.Background(), learn.Task{Table: rows, Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		net, err := m.(*Model).AsNetwork()
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(context.Background(), rows, out); err != nil {
			t.Fatal(err)
		}
		for r := range rows.Rows() {
			complete := true
			for j := range rows.Columns {
				if c := &rows.Columns[j]; j != target && (c.Codes != nil && c.Codes[r] < 0 || c.Codes == nil && table.IsMissing(c.Floats[r])) {
					complete = false
				}
			}
			if !complete {
				continue
			}
			got := fire(net, rows, r)
			if a.Kind == table.Numeric {
				if math.Abs(got[a.Name]-out.Mean[r]) > 1e-12*max(1, math.Abs(out.Mean[r])) {
					t.Fatalf("row %d: the network says %v of %s, the mixture %v", r+1, got[a.Name], a.Name, out.Mean[r])
				}
				continue
			}
			for v, value := range a.Values {
				if p := got[a.Name+" = "+value]; math.Abs(p-out.Row(r)[v]) > 1e-12 {
					t.Fatalf("row %d: the network says %v of %s = %s, the mixture %v", r+1, p, a.Name, value, out.Row(r)[v])
				}
			}
		}
	}
}

// Gates are shares of a row, and what the units expect, mixed by them, is the answer,
// also where cells are missing.
func TestGates(t *testing.T) {
	rows := mixedTable(t)
	for target, a := range rows.Schema.Attributes {
		m, err := (&Learner{Units: 6, Iterations: 30}).Learn(t.Context(), learn.Task{Table: rows, Seed: 1}.At(target))
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.(*Model).InternalRepresentation(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(t.Context(), rows, out); err != nil {
			t.Fatal(err)
		}
		c := &m.(*Model).columns[target]
		for r, row := range s.Rows {
			sum, answer := 0.0, 0.0
			for i, g := range row.States {
				sum += g
				if c.share == nil {
					answer += g * c.number64(c.mean[i])
				} else {
					answer += g * c.share[i]
				}
			}
			var want float64
			if c.share == nil {
				want = out.Mean[r]
			} else {
				want = out.Row(r)[0]
			}
			if math.Abs(sum-1) > 1e-9 || math.Abs(answer-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("%s, row %d: gates add up to %v and answer %v, want %v", a.Name, r+1, sum, answer, want)
			}
		}
	}
	m, err := (&Learner{Units: 2}).Learn(t.Context(), learn.Task{Table: rows, Seed: 1, NoTarget: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.(*Model).InternalRepresentation(t.Context(), rows)
	if err != nil || len(s.Rows) != rows.Rows() {
		t.Fatalf("the clusters of %d rows: %v, %v", rows.Rows(), s, err)
	}
	for _, r := range s.Rows { // the cluster that has most of a row
		if k := slices.Index(s.Units, r.Answer); k < 0 || r.States[k] != slices.Max(r.States) || math.Abs(floats.Sum(r.States)-1) > 1e-9 {
			t.Errorf("row %d: %v, %s", r.Row, r.States, r.Answer)
		}
	}
}

package experts

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// gate is where an expert is heard: its share of the rows, and their density, a
// Gaussian for each number and frequencies for each name. Columns that tell
// nothing have neither.
type gate struct {
	Log     float64   `cbor:"log"` // ln π
	Columns []density `cbor:"columns"`
}

// density is that of one column.
type density struct {
	Centre float64   `cbor:"centre,omitempty"`
	Width  float64   `cbor:"width,omitempty"` // 0: no number
	Logs   []float64 `cbor:"logs,omitempty"`  // of each name; the last is of names that no row had
}

// scale is what widths are measured in: the deviation of a column in all rows, 0
// where there is none.
type scale []float64

// scales measures the columns of a table; the target has no say in a gate.
func scales(t *table.Table, target int) scale {
	s := make(scale, len(t.Columns))
	for j := range t.Columns {
		if j == target || t.Columns[j].Floats == nil {
			continue
		}
		_, s[j] = moments(t.Columns[j].Floats, t.Weight)
	}
	return s
}

// moments returns the weighted mean and deviation of the known, finite cells: 0 of
// none, and of deviations that are beyond what numbers hold.
func moments(cells []float64, weight func(row int) float64) (mean, deviation float64) {
	total := 0.0
	for r, x := range cells {
		if w := weight(r); known(x) && w > 0 {
			total += w
			mean += float64(w / total * (x - mean))
		}
	}
	if !(total > 0) || !known(mean) {
		return 0, 0
	}
	squares := 0.0
	for r, x := range cells {
		if known(x) {
			d := x - mean
			squares += float64(weight(r) / total * d * d)
		}
	}
	if deviation = math.Sqrt(squares); !known(deviation) {
		deviation = 0
	}
	return mean, deviation
}

func known(x float64) bool { return x-x == 0 }

// fitGate is the M step of a gate: the weighted means of the rows.
func fitGate(t *table.Table, target int, of scale, floor, share float64, weight func(row int) float64) gate {
	g := gate{Log: math.Log(max(share, least)), Columns: make([]density, len(t.Columns))}
	for j := range t.Columns {
		cells, d := &t.Columns[j], &g.Columns[j]
		switch {
		case j == target:
		case of[j] > 0:
			centre, width := moments(cells.Floats, weight)
			*d = density{Centre: centre, Width: max(width, floor*of[j])}
		case cells.Codes != nil && len(t.Schema.Attributes[j].Values) > 0:
			d.Logs = frequencies(cells.Codes, len(t.Schema.Attributes[j].Values), weight)
		}
	}
	return g
}

// frequencies returns the logs of the shares of values among the known cells, with
// one case in equal parts for each and for those that no row has had (m-estimate).
func frequencies(codes []int32, values int, weight func(row int) float64) []float64 {
	n := make([]float64, values+1)
	total := 1.0
	for v := range n {
		n[v] = 1 / float64(len(n))
	}
	for r, code := range codes {
		if code >= 0 {
			n[code] += weight(r)
			total += weight(r)
		}
	}
	for v := range n {
		n[v] = math.Log(n[v] / total)
	}
	return n
}

// logDensity is ln π·G of a row, in deviations of the columns, so that columns
// measured in small units weigh no more than others.
func (g *gate) logDensity(columns []table.Column, of scale, row int) float64 {
	log := g.Log
	for j := range g.Columns {
		switch d := &g.Columns[j]; {
		case d.Width > 0:
			if x := columns[j].Floats[row]; known(x) {
				z := (x - d.Centre) / d.Width
				log -= math.Log(d.Width/of[j]) + min(float64(z*z/2), 1e12)
			}
		case d.Logs != nil:
			switch code := columns[j].Codes[row]; {
			case code >= 0:
				log += d.Logs[code]
			case code == table.Unseen:
				log += d.Logs[len(d.Logs)-1]
			}
		}
	}
	return log
}

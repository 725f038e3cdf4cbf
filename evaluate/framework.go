package evaluate

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Framework is what learning means here (Mitchell 1997, chapter 1): a program
// learns from experience E with respect to a task T and a performance measure P
// if its performance at T, as measured by P, improves with E.
type Framework struct {
	Task        string `json:"task"`
	Performance string `json:"performance"`
	Experience  string `json:"experience"`
}

// String is the framework in one line.
func (f Framework) String() string {
	return fmt.Sprintf("task T: %s; performance P: %s; experience E: %s", f.Task, f.Performance, f.Experience)
}

func framework(schema *table.Schema, target int) Framework {
	if target == learn.NoTarget {
		return Framework{Task: fmt.Sprintf("the density of %s", columns(len(schema.Attributes))), Performance: "nats a row on unseen rows"}
	}
	a := &schema.Attributes[target]
	from := columns(len(schema.Attributes) - 1)
	if a.Kind == table.Numeric {
		return Framework{Task: fmt.Sprintf("predict the number %s from %s", a.Name, from), Performance: "root mean squared error on unseen rows"}
	}
	return Framework{Task: fmt.Sprintf("tell %s of %s from %s", counted(len(a.Values), "class", "classes"), a.Name, from), Performance: "share of unseen rows that are right"}
}

func columns(n int) string { return counted(n, "column", "columns") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func experience(rows int, data string) string {
	if data == "" {
		return fmt.Sprintf("%d rows", rows)
	}
	return fmt.Sprintf("%d rows of %s", rows, data)
}

// setBaseline notes what always the same answer, the best for the rows learnt
// from, gets on some test rows.
func (r *Result) setBaseline(learnt *table.Table, learntTarget int, test *table.Table, target int, rows []int) {
	switch {
	case target == learn.NoTarget || learntTarget == learn.NoTarget:
	case test.Columns[target].Floats != nil:
		mean := middle(learnt, learntTarget)
		var square stat.Moments
		for _, row := range rows {
			e := test.Columns[target].Floats[row] - mean
			square.Add(e*e, test.Weight(row))
		}
		setNumber(&r.Baseline, math.Sqrt(square.Mean))
	default:
		class := mostFrequent(learnt, learntTarget)
		if class == "" {
			return
		}
		code := test.Schema.Attributes[target].Code(class)
		all, right := 0.0, 0.0
		for _, row := range rows {
			w := test.Weight(row)
			all += w
			if c := test.Columns[target].Codes[row]; c == code && code >= 0 {
				right += w
			}
		}
		r.BaselineClass = class
		setNumber(&r.Baseline, right/all)
	}
}

// constantInHindsight notes what the best constant answer gets on the tested
// rows, which are not at hand any more.
func (r *Result) constantInHindsight(t *tally) {
	if t.kind == numbers {
		shift := t.y[1] / t.y[0]
		setNumber(&r.Baseline, math.Sqrt(max(t.y[2]/t.y[0]-shift*shift, 0)))
		return
	}
	for c, name := range t.names {
		is := 0.0
		for o := range t.names {
			is += t.counts[c*len(t.names)+o]
		}
		if share := is / t.weight; r.Baseline == nil || share > *r.Baseline {
			r.Baseline, r.BaselineClass = &share, name
		}
	}
}

// mostFrequent returns the class with the greatest weight, as learn.Best does;
// "" if no row has one.
func mostFrequent(t *table.Table, target int) string {
	values := t.Schema.Attributes[target].Values
	counts := make([]float64, len(values))
	for r, code := range t.Columns[target].Codes {
		if code >= 0 {
			counts[code] += t.Weight(r)
		}
	}
	if len(values) == 0 {
		return ""
	}
	best := learn.Best(counts, values)
	if counts[best] == 0 {
		return ""
	}
	return values[best]
}

// RowsForWidth returns how many test rows make the two-sided interval of an
// error between low and high narrower than width, whatever the error turns out
// to be (Mitchell 1997, exercise 5.4).
func RowsForWidth(low, high, width, level float64) (int, error) {
	switch {
	case !(low >= 0 && low <= high && high <= 1):
		return 0, fmt.Errorf("evaluate: an error between %v and %v; expected fractions, the lower one first", low, high)
	case !(width > 0 && width < 1):
		return 0, fmt.Errorf("evaluate: an interval %v wide; expected a fraction between 0 and 1, such as 0.02 for two points", width)
	case !(level > 0 && level < 1):
		return 0, fmt.Errorf("evaluate: confidence level %v; expected a fraction between 0 and 1, such as 0.95", level)
	}
	n := stat.MinTestSize(low, high, width, stat.Z(level))
	if !(n <= 1e15) {
		return 0, fmt.Errorf("evaluate: no number of rows makes an interval %v wide", width)
	}
	return int(n), nil
}

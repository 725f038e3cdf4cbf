package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Importances is how much a model needs each column on rows of their own.
type Importances struct {
	Data    string  `json:"data,omitempty"`
	Target  *string `json:"target"`
	Learner string  `json:"learner"`
	// Measure is what importance is lost of: "accuracy", or of how much "rmse"
	// rises.
	Measure string `json:"measure"`
	// Value is the measure on the rows as they are.
	Value   float64      `json:"value"`
	Rows    int          `json:"rows"`
	Level   float64      `json:"level"`
	Columns []Importance `json:"columns"` // the most important first
	Notes   []string     `json:"notes,omitempty"`
}

// Importance is how much worse a model does when a column's cells are handed to
// other rows, so that they tell nothing any more (Breiman 2001): on average over
// all permutations where Exact, else over a few random ones.
type Importance struct {
	Column     string  `json:"column"`
	Importance float64 `json:"importance"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// LogLoss is the same of the log loss, which also tells columns apart that
	// change no answer.
	LogLoss *float64 `json:"log_loss,omitempty"`
	Exact   bool     `json:"exact"`
}

const (
	mostAnswers  = 200_000   // answers that the exact mean over all permutations may take, a column
	mostOfRules  = 2_000_000 // the same of a model that is rules, which are quick
	permutations = 10
)

// ImportanceOf returns how much a model needs each of its columns on the rows
// of a table. The mean over all permutations of a column is that of handing each
// of its values to each row, by how frequent they are (Fisher, Rudin and
// Dominici 2019, equation 3.5); values that the tests of a model that is rules or
// a tree do not tell apart count as one. Where values times rows are too many it is computed
// from what columns add (additive models), else some permutations are drawn. The
// interval is that of the mean over the rows.
func ImportanceOf(ctx context.Context, m learn.Model, t *table.Table, spec Spec) (*Importances, error) {
	rows, err := conform(t, m)
	if err != nil {
		return nil, err
	}
	target := m.Target()
	if target == learn.NoTarget {
		return nil, fmt.Errorf("evaluate: columns are important to a prediction, and %s predicts none", m.Learner())
	}
	known := labelled(rows, target)
	if len(known) < 2 {
		return nil, fmt.Errorf("evaluate: %d rows with a known %q; expected at least 2", len(known), m.Schema().Attributes[target].Name)
	}
	rows = rows.Select(known)
	plain, plainLog, err := rowLosses(ctx, m, rows)
	if err != nil {
		return nil, err
	}
	x := &Importances{Data: spec.Data, Target: targetName(m.Schema(), target), Learner: m.Learner(), Rows: len(known), Level: spec.level(), Measure: "accuracy"}
	numeric := m.Schema().Attributes[target].Kind == table.Numeric
	x.Value = 1 - mean(rows, plain)
	if numeric {
		x.Measure, x.Value = "rmse", math.Sqrt(mean(rows, plain))
	}
	for col := range rows.Columns {
		if col == target || rows.Schema.Attributes[col].Kind == table.Text {
			continue
		}
		lost, lostLog, exact, err := permuted(part(ctx, col, len(rows.Columns)), m, rows, col, derive(spec.Seed, col))
		if err != nil {
			return nil, err
		}
		i := Importance{Column: rows.Schema.Attributes[col].Name, Exact: exact}
		i.set(rows, plain, lost, x.Level, numeric)
		if !numeric {
			more := mean(rows, lostLog) - mean(rows, plainLog)
			if math.Abs(more) < 1e-12 { // what sums in another order differ by
				more = 0
			}
			setNumber(&i.LogLoss, more)
		}
		x.Columns = append(x.Columns, i)
	}
	slices.SortStableFunc(x.Columns, func(a, b Importance) int {
		order := cmp.Compare(b.Importance, a.Importance)
		if a.LogLoss != nil && b.LogLoss != nil {
			order = cmp.Or(order, cmp.Compare(*b.LogLoss, *a.LogLoss))
		}
		return order
	})
	return x, nil
}

// set fills in the mean rise of the loss and its interval. Of squared errors the
// rise of the root is told, its interval by the delta method.
func (i *Importance) set(t *table.Table, plain, lost []float64, level float64, numeric bool) {
	var rise stat.Moments
	before, after := math.Sqrt(mean(t, plain)), math.Sqrt(mean(t, lost))
	for r := range plain {
		d := lost[r] - plain[r]
		if numeric {
			d = divided(lost[r], 2*after) - divided(plain[r], 2*before)
		}
		rise.Add(d, t.Weight(r))
	}
	e := rise.Estimate()
	between := e.Interval(level, stat.TwoSided)
	i.Importance, i.Low, i.High = e.Value, between.Low, between.High
	if numeric { // the interval lies around the rise itself
		shift := (after - before) - e.Value
		i.Importance, i.Low, i.High = after-before, between.Low+shift, between.High+shift
	}
	if most := max(math.Abs(i.Low), math.Abs(i.High)); most < 1e-12*max(before, after, 1) { // sums in another order
		i.Importance, i.Low, i.High = 0, 0, 0
	}
}

func divided(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func mean(t *table.Table, x []float64) float64 {
	sum, weight := 0.0, 0.0
	for r, v := range x {
		sum += t.Weight(r) * v
		weight += t.Weight(r)
	}
	return sum / weight
}

// rowLosses returns whether each answer is wrong, or its squared error, and for
// classes the log loss. The table has the model's columns, and known targets.
func rowLosses(ctx context.Context, m learn.Model, t *table.Table) (losses, logs []float64, err error) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, nil, err
	}
	target := m.Target()
	losses, logs = make([]float64, t.Rows()), make([]float64, t.Rows())
	if floats := t.Columns[target].Floats; floats != nil {
		for r, y := range floats {
			losses[r] = (y - out.Mean[r]) * (y - out.Mean[r])
		}
		return losses, logs, nil
	}
	classes := m.Schema().Attributes[target].Values
	for r, class := range t.Columns[target].Codes {
		p := out.Row(r)
		truth := 0.0
		if class >= 0 {
			truth = p[class]
		}
		logs[r] = -math.Log(min(max(truth, leastProbability), 1))
		if learn.Best(p, classes) != int(class) {
			losses[r] = 1
		}
	}
	return losses, logs, nil
}

// permuted returns the losses of rows whose cells of one column are those of
// other rows, on average.
func permuted(ctx context.Context, m learn.Model, t *table.Table, col int, seed uint64) (losses, logs []float64, exact bool, err error) {
	losses, logs = make([]float64, t.Rows()), make([]float64, t.Rows())
	add := func(from func(row int) int, share float64) error {
		l, g, err := rowLosses(ctx, m, handed(t, col, from))
		for r := range l {
			losses[r] += share * l[r]
			logs[r] += share * g[r]
		}
		return err
	}
	values, total := valuesOf(t, col)
	most := mostAnswers
	if len(values)*t.Rows() > most {
		together, rules, err := alike(ctx, m, t, col, values)
		if err != nil {
			return nil, nil, false, err
		}
		if values = together; rules {
			most = mostOfRules
		}
	}
	if len(values)*t.Rows() <= most {
		for i, v := range values {
			if err := add(func(int) int { return v.row }, v.weight/total); err != nil {
				return nil, nil, false, err
			}
			learn.Report(ctx, float64(i+1)/float64(len(values)))
		}
		return losses, logs, true, nil
	}
	if l, g, err := summed(ctx, m, t, col, values, total); l != nil || err != nil {
		return l, g, true, err
	}
	for k := range permutations {
		order := random(seed, uint64(k)).Perm(t.Rows())
		if err := add(func(row int) int { return order[row] }, 1./permutations); err != nil {
			return nil, nil, false, err
		}
		learn.Report(ctx, float64(k+1)/permutations)
	}
	return losses, logs, false, nil
}

// handed returns a table whose cells of one column are those of other rows.
func handed(t *table.Table, col int, from func(row int) int) *table.Table {
	rows := make([]int, t.Rows())
	for r := range rows {
		rows[r] = from(r)
	}
	c := *t
	c.Columns = slices.Clone(t.Columns)
	c.Columns[col] = t.Project([]int{col}).Select(rows).Columns[0]
	return &c
}

// frequent is a row that has a value, and the weight of all that have it.
type frequent struct {
	row    int
	weight float64
}

// valuesOf returns the values of a column, missing included, in the order in
// which they come.
func valuesOf(t *table.Table, col int) (values []frequent, total float64) {
	at := map[any]int{}
	c := &t.Columns[col]
	for r := range t.Rows() {
		var key any
		switch {
		case c.Codes != nil:
			key = c.Codes[r]
		case !math.IsNaN(c.Floats[r]):
			key = c.Floats[r]
		}
		i, ok := at[key]
		if !ok {
			i = len(values)
			at[key] = i
			values = append(values, frequent{row: r})
		}
		values[i].weight += t.Weight(r)
		total += t.Weight(r)
	}
	return values, total
}

// Write writes the columns that matter most, so many of them.
func (x *Importances) Write(w io.Writer, most int) {
	numeric := x.Measure != "accuracy"
	what := "accuracy lost if its cells were those of other rows"
	if numeric {
		what = "rise of the RMSE if its cells were those of other rows"
	}
	fmt.Fprintf(w, "%s on %s%s: %s %s on %s\n\n", x.Learner, x.Data, OfTarget(x.Target), x.Measure, inUnits(x.Measure)(x.Value), console.Plural(x.Rows, "row"))
	var rows [][]string
	for _, c := range x.Columns[:min(len(x.Columns), most)] {
		sure := ""
		if c.Low <= 0 && c.High >= 0 {
			sure = "may be none"
		}
		row := []string{c.Column, gap(c.Importance, numeric), gap(c.Low, numeric) + " to " + gap(c.High, numeric)}
		if !numeric {
			row = append(row, maybe(c.LogLoss))
		}
		rows = append(rows, append(row, sure))
	}
	head := []string{"column", "importance", Confidence(x.Level) + " interval"}
	if !numeric {
		head = append(head, "log loss")
	}
	console.Table(w, append(head, ""), rows)
	if more := len(x.Columns) - most; more > 0 {
		fmt.Fprintf(w, "and %s less important\n", console.Plural(more, "column"))
	}
	fmt.Fprintf(w, "\nimportance: %s\n", what)
	for _, note := range x.Notes {
		fmt.Fprintln(w, note)
	}
}

// Chart draws the columns that matter most.
func (x *Importances) Chart(most int) Picture {
	bars := &draw.Ranked{Title: heading("importance", x.Learner, x.Data), Label: "points of accuracy lost without the column", Points: true}
	if x.Measure != "accuracy" {
		bars.Label, bars.Points = "rise of the RMSE without the column", false
	}
	for _, c := range x.Columns[:min(len(x.Columns), most)] {
		bars.Bars = append(bars.Bars, draw.Bar{Name: c.Column, Value: c.Importance, Low: c.Low, High: c.High})
	}
	return bars
}

package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/evaluate/posterior"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/formula"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// What a model can spare somebody from being sent of each row: its class, its
// number or, where it predicts no column, all of it.
const (
	sendClasses = "classes"
	sendNumbers = "numbers"
	sendRows    = "rows"
)

// Account is what a model saves somebody who is to be sent the classes, the
// numbers or all cells of rows (minimum description length, Mitchell 1997, section
// 6.6): its rules and what they leave open, against the cells as they are.
type Account struct {
	Model   string  `json:"model"`
	Version int     `json:"version"`
	Sends   string  `json:"sends"` // classes, numbers or rows
	Rows    float64 `json:"rows"`
	Rules   int     `json:"rules"`
	// Of sending the rules, and of what they leave open: the classes of the rows
	// that they get wrong; how far each number is off, errors being normal; or the
	// rows by the model's density.
	ModelBits     float64 `json:"model_bits"`
	Errors        float64 `json:"errors"`
	ExceptionBits float64 `json:"exception_bits"`
	TotalBits     float64 `json:"total_bits"`
	// Of the classes by the model's probabilities or the numbers by its intervals,
	// in place of exceptions.
	SurpriseBits float64 `json:"surprise_bits"`
	// Of sending the cells plainly: each one of them, and as short as their
	// frequencies allow, or a normal density for each column of numbers.
	PlainBits   float64 `json:"plain_bits"`
	EntropyBits float64 `json:"entropy_bits"`
	// Off is how far numbers are off (root mean square), and Step what they are
	// told to: the least difference of two of them.
	Off   *float64 `json:"off,omitempty"`
	Step  *float64 `json:"step,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Account reckons up a model that prints rules, clauses or a formula: on the rows
// that it keeps or can read again, or on those of data.
func (h *Home) Account(ctx context.Context, p *Part, d *Data) (*Account, error) {
	a := &Account{Model: p.Version.Model, Version: p.Version.Number, Sends: sendRows}
	if p.Target() != learn.NoTarget {
		if a.Sends = sendNumbers; p.Schema().Attributes[p.Target()].Kind == table.Nominal {
			a.Sends = sendClasses
		}
	}
	var of reckoning
	switch a.Sends {
	case sendClasses:
		of = &reckonedClasses{}
	case sendNumbers:
		of = &reckonedNumbers{}
	default:
		density, ok := learn.Ability[learn.Density](p.Model)
		if !ok {
			return nil, remedy.Misusef("%s predicts no column and has no density; descriptions are reckoned up for models that have", p.Name)
		}
		of = &reckonedRows{density: density}
	}
	length, err := a.describe(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := h.accounted(ctx, p, d, func(t *table.Table) error { return of.add(ctx, p.Model, t) }); err != nil {
		return nil, err
	}
	if of.reckon(a, p.Model); a.Rows == 0 {
		return nil, errors.New("no row has what is to be sent; there is nothing to reckon up")
	}
	a.ModelBits += length(a.Rows)
	a.TotalBits = a.ModelBits + a.ExceptionBits
	return a, nil
}

// briefer is a model that is sent as what it is more briefly than as its rules.
type briefer interface{ Bits(rows float64) float64 }

// describe fills in what a model is made of, and returns how many bits it takes to
// send it, whose numbers so many rows stand behind.
func (a *Account) describe(ctx context.Context, p *Part) (length func(rows float64) float64, err error) {
	schema := p.Schema()
	if m, ok := learn.Ability[formula.Fronted](p.Model); ok {
		fronts := m.Formulas()
		a.Rules = len(fronts)
		return func(rows float64) float64 {
			bits := 0.0
			for _, f := range fronts {
				if t, err := formula.Parse(f.Formula, schema.Names()); err == nil { // as it was written
					bits += t.Bits(len(schema.Attributes), perNumber(rows))
				}
			}
			return bits
		}, nil
	}
	if clauses := Clauses(p, nil); clauses != nil {
		a.Rules = len(clauses.Rules)
		program := make([]string, len(clauses.Rules))
		for i := range clauses.Rules {
			program[i] = clauses.Rules[i].Text
		}
		read, err := logic.Read(p.Name, strings.Join(program, "\n")+"\n")
		if err != nil {
			return nil, err
		}
		things := 0
		for j := range schema.Attributes {
			things += len(schema.Attributes[j].Values)
		}
		return func(rows float64) float64 { return read.Bits(len(schema.Attributes), things, perNumber(rows)) }, nil
	}
	base, err := ReadRules(ctx, p, RulesOptions{})
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("%s has no rules but those that it was told", p.Name)
	}
	a.Rules, a.Notes = len(base.Rules)+len(base.Units), base.Notes
	if base.Else != nil {
		a.Rules++
	}
	bits := func(rows float64) float64 { return base.Bits(schema, rows) }
	if b, ok := learn.Ability[briefer](p.Model); ok {
		bits = b.Bits
	}
	if base.Agrees == nil || a.Sends != sendClasses {
		return bits, nil
	}
	// Who has the rules does not have the model yet, but for where they differ.
	classes := len(schema.Attributes[p.Target()].Values)
	return func(rows float64) float64 {
		return bits(rows) + posterior.Exceptions((1-*base.Agrees)*rows, rows, classes)
	}, nil
}

// perNumber is the bits of a number that so many rows stand behind: as exact as
// they can make it.
func perNumber(rows float64) float64 { return math.Log2(max(rows, 2)) / 2 }

// accounted calls each with the rows to send.
func (h *Home) accounted(ctx context.Context, p *Part, d *Data, each func(*table.Table) error) error {
	if d != nil {
		return h.batches(ctx, p.Model, d, nil, each)
	}
	quiet := *h
	quiet.Note = nil
	rows, err := quiet.LearntRows(ctx, p, nil)
	if err != nil {
		return fmt.Errorf("there are no rows to send (%w); name data that has them", err)
	}
	if len(rows) == 0 {
		return remedy.Misusef("%s has learnt no rows to send; name data that has them", p.Name)
	}
	for i := range rows {
		if err == nil {
			err = each(rows[i].Table)
		}
	}
	return err
}

// reckoning adds up what is to be sent.
type reckoning interface {
	add(ctx context.Context, m learn.Model, t *table.Table) error
	reckon(a *Account, m learn.Model)
}

// reckonedClasses are the classes of rows.
type reckonedClasses struct {
	plain                  plainly
	rows, errors, surprise float64
}

func (k *reckonedClasses) add(ctx context.Context, m learn.Model, t *table.Table) error {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	for r, class := range t.Columns[m.Target()].Codes {
		w := t.Weight(r)
		if class == table.Missing || w == 0 {
			continue
		}
		k.rows += w
		p := 0.0
		if class >= 0 {
			k.plain.value(class, w)
			p = out.Row(r)[class]
		}
		if learn.Best(out.Row(r), classes) != int(class) {
			k.errors += w
		}
		k.surprise -= w * math.Log2(max(p, math.SmallestNonzeroFloat64))
	}
	return nil
}

func (k *reckonedClasses) reckon(a *Account, m learn.Model) {
	classes := len(m.Schema().Attributes[m.Target()].Values)
	a.Rows, a.Errors, a.SurpriseBits = k.rows, k.errors, k.surprise
	a.ExceptionBits = posterior.Exceptions(a.Errors, a.Rows, classes)
	_, a.EntropyBits = k.plain.bits(classes)
	a.PlainBits = a.Rows * math.Log2(float64(classes))
}

// reckonedNumbers are the numbers of rows, beside what the model answers.
type reckonedNumbers struct {
	plain           plainly
	off, deviations []float64
}

func (k *reckonedNumbers) add(ctx context.Context, m learn.Model, t *table.Table) error {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return err
	}
	for r, y := range t.Columns[m.Target()].Floats {
		if w := t.Weight(r); !table.IsMissing(y) && w > 0 {
			k.plain.number(y, w)
			k.off = append(k.off, y-out.Mean[r])
			k.deviations = append(k.deviations, (out.High[r]-out.Low[r])/2/stat.Z(0.95))
		}
	}
	return nil
}

func (k *reckonedNumbers) reckon(a *Account, _ learn.Model) {
	square := 0.0
	for i, w := range k.plain.weights {
		a.Rows += w
		square += w * k.off[i] * k.off[i]
	}
	if a.Rows == 0 {
		return
	}
	off, step := math.Sqrt(square/a.Rows), k.plain.step()
	a.Off, a.Step = &off, &step
	a.ModelBits = perNumber(a.Rows) // how far numbers are off
	for i, w := range k.plain.weights {
		a.ExceptionBits += w * posterior.Number(k.off[i], off, step)
		// A model that is surer than numbers are told knows them to half a step.
		a.SurpriseBits += w * posterior.Number(k.off[i], max(k.deviations[i], step/2), step)
	}
	a.PlainBits, a.EntropyBits = k.plain.bits(0)
}

// reckonedRows are all cells of rows, beside how dense they are to the model.
type reckonedRows struct {
	density learn.Density
	columns []plainly
	rows    float64
	nats    float64 // by the density, numbers in the model's units
}

func (k *reckonedRows) add(ctx context.Context, m learn.Model, t *table.Table) error {
	logs := make([]float64, t.Rows())
	if err := k.density.LogDensity(ctx, t, logs); err != nil {
		return err
	}
	if k.columns == nil {
		k.columns = make([]plainly, len(t.Columns))
	}
	for r, log := range logs {
		w := t.Weight(r)
		k.rows += w
		k.nats -= w * log
		for j := range t.Columns {
			c := &t.Columns[j]
			switch {
			case c.Codes != nil && c.Codes[r] >= 0:
				k.columns[j].value(c.Codes[r], w)
			case c.Floats != nil && !table.IsMissing(c.Floats[r]):
				k.columns[j].number(c.Floats[r], w)
			}
		}
	}
	return nil
}

func (k *reckonedRows) reckon(a *Account, m learn.Model) {
	units, _ := learn.Ability[interface{ Units() []float64 }](m)
	a.Rows, a.ExceptionBits = k.rows, k.nats*math.Log2E
	for j := range k.columns {
		c := &k.columns[j]
		uniform, frequent := c.bits(len(m.Schema().Attributes[j].Values))
		a.PlainBits += uniform
		a.EntropyBits += frequent
		if len(c.numbers) == 0 {
			continue
		}
		unit := 1.0 // that the density is told in
		if units != nil {
			if unit = units.Units()[j]; !(unit > 0) {
				continue // it never varies, and is not in the density
			}
		}
		for _, w := range c.weights {
			a.ExceptionBits -= w * math.Log2(c.step()/unit)
		}
	}
	a.SurpriseBits = a.ExceptionBits
}

// plainly is cells of a column, to be sent as they are.
type plainly struct {
	counts           []float64 // of names
	numbers, weights []float64
	least            float64 // step, once it was found
}

func (c *plainly) value(code int32, weight float64) {
	for len(c.counts) <= int(code) {
		c.counts = append(c.counts, 0)
	}
	c.counts[code] += weight
}

func (c *plainly) number(x, weight float64) {
	c.numbers, c.weights = append(c.numbers, x), append(c.weights, weight)
}

// step is the least difference of two numbers that is more than rounding.
func (c *plainly) step() float64 {
	if c.least > 0 {
		return c.least
	}
	sorted := slices.Sorted(slices.Values(c.numbers))
	for i := 1; i < len(sorted); i++ {
		gap := sorted[i] - sorted[i-1]
		if rounding := 1e-12 * max(math.Abs(sorted[i]), math.Abs(sorted[i-1])); gap > rounding && (c.least == 0 || gap < c.least) {
			c.least = gap
		}
	}
	if c.least == 0 {
		c.least = 1
	}
	return c.least
}

// bits returns the bits of the cells, each as long as any other of so many values
// (or of the steps between the least number and the greatest), and as short as
// their frequencies or one normal density allow.
func (c *plainly) bits(values int) (uniform, frequent float64) {
	total := 0.0
	for _, n := range c.counts {
		total += n
	}
	for _, n := range c.counts {
		if n > 0 {
			frequent -= n * math.Log2(n/total)
		}
	}
	uniform = total * math.Log2(float64(max(1, values)))
	if len(c.numbers) == 0 {
		return uniform, frequent
	}
	var weight, sum, square float64
	for i, x := range c.numbers {
		weight += c.weights[i]
		sum += c.weights[i] * x
	}
	mean := sum / weight
	for i, x := range c.numbers {
		square += c.weights[i] * (x - mean) * (x - mean)
	}
	deviation, step := math.Sqrt(square/weight), c.step()
	for i, x := range c.numbers {
		frequent += c.weights[i] * posterior.Number(x-mean, deviation, step)
	}
	return uniform + weight*math.Log2((slices.Max(c.numbers)-slices.Min(c.numbers))/step+1), frequent
}

// Write writes an account for people.
func (a *Account) Write(w io.Writer) {
	number := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	model := fmt.Sprintf("the model, %s", plural(a.Rules, "rule"))
	exceptions, surprise := fmt.Sprintf("the exceptions, %s rows that it gets wrong", console.Number(a.Errors)), "the classes by the model's probabilities, in place of exceptions"
	if a.Errors == 1 {
		exceptions = "the exceptions, 1 row that it gets wrong"
	}
	frequent, uniform := "as short as their frequencies allow", "each as long as any other"
	switch a.Sends {
	case sendNumbers:
		exceptions = fmt.Sprintf("how far off each is, %.4g at the root of the mean square, told to %.4g", *a.Off, *a.Step)
		surprise = "the numbers by the model's intervals, in place of how far they are off"
		frequent = "as short as one normal density allows"
	case sendRows:
		exceptions, surprise = "the rows by the model's density", ""
		frequent = "each column as short as its frequencies or a normal density allow"
		uniform = "each cell as long as any other of its column"
	}
	rows := [][]string{{number(a.ModelBits), model}, {number(a.ExceptionBits), exceptions}, {number(a.TotalBits), "both: the model's description of the " + a.Sends}}
	if surprise != "" {
		rows = append(rows, []string{number(a.SurpriseBits), surprise})
	}
	rows = append(rows, []string{number(a.EntropyBits), "the " + a.Sends + " plainly, " + frequent}, []string{number(a.PlainBits), "the " + a.Sends + " plainly, " + uniform})
	what := "the " + a.Sends + " of " + console.Number(a.Rows) + " rows"
	if a.Sends == sendRows {
		what = console.Number(a.Rows) + " rows"
	}
	fmt.Fprintf(w, "sending %s:\n", what)
	console.Table(w, []string{"bits", "of"}, rows)
	for _, note := range a.Notes {
		fmt.Fprintln(w, strings.TrimPrefix(note, "summary: "))
	}
	if a.TotalBits < a.EntropyBits {
		fmt.Fprintf(w, "the model is shorter than what it describes, by %.1f %%\n", 100*(1-a.TotalBits/a.EntropyBits))
	} else {
		fmt.Fprintln(w, "the model is longer than what it describes: fewer or shorter rules would say as much, or more rows are needed")
	}
}

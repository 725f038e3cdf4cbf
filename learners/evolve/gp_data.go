package evolve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// input is a variable of formulas: a number, or whether a column has a value,
// as 1 or 0. A cell that is not known counts as the mean.
type input struct {
	Column int     `cbor:"column"`
	Code   int32   `cbor:"code"` // of the value; -1 for a number
	Mean   float64 `cbor:"mean"`
	Low    float64 `cbor:"low"` // of the training rows
	High   float64 `cbor:"high"`
}

// mostIndicators is how many values a nominal column may have to be variables
// each; mostInputs how many variables there are at most.
const (
	mostIndicators = 12
	mostInputs     = 60
)

// farthest is the largest number that formulas are learnt from; what is farther
// counts as that. Answers are of numbers as they are.
const farthest = 1e100

func clamp(x float64) float64 { return max(-farthest, min(farthest, x)) }

// value returns a variable's value in a row.
func (in *input) value(c *table.Column, row int) float64 {
	if in.Code >= 0 {
		switch c.Codes[row] {
		case in.Code:
			return 1
		case table.Missing:
			return in.Mean
		}
		return 0
	}
	if x := c.Floats[row]; !table.IsMissing(x) {
		return x
	}
	return in.Mean
}

// name is how a variable is called in formulas.
func (in *input) name(s *table.Schema) string {
	a := &s.Attributes[in.Column]
	if in.Code >= 0 {
		return a.Name + " = " + a.Values[in.Code]
	}
	return a.Name
}

func inputNames(inputs []input, s *table.Schema) []string {
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].name(s)
	}
	return names
}

// data is the rows, laid out for formulas: rows to learn from first, then those
// held out.
type data struct {
	table  *table.Table
	target int
	inputs []input
	x      [][]float64
	weight []float64
	train  int // rows that are learnt from; the others judge
	total  float64
	units  []unit // of the inputs, then of the target; nil for none
	asides asides
}

// asides are what formulas are not made of.
type asides struct {
	Variables int    `cbor:"variables,omitempty"` // that tell less of the answer than others
	Columns   int    `cbor:"columns,omitempty"`   // of too many names
	Unit      string `cbor:"unit,omitempty"`      // the target, whose unit no formula has
}

// String says it in a line.
func (a asides) String() string {
	var all []string
	if a.Variables > 0 {
		all = append(all, fmt.Sprintf("formulas are made of the %d variables that tell most of the answer by themselves; %s left aside", mostInputs, plural(a.Variables, "is", "are")))
	}
	if a.Columns > 0 {
		all = append(all, fmt.Sprintf("a column of more than %d names is no variable; %s left aside", mostIndicators, plural(a.Columns, "is", "are")))
	}
	if a.Unit != "" {
		all = append(all, fmt.Sprintf("no formula of these columns that was tried has the unit of %q, so the answer is a number; check the units, or give a column for what is missing", a.Unit))
	}
	return strings.Join(all, "; ")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// heldOut is the share of rows that judge formulas.
const heldOut = 0.25

// newData lays a table out. Which rows are held out is a function of the rows.
func newData(ctx context.Context, t *table.Table, target int, lesson *kept.Lesson[gpSettings]) (*data, error) {
	d := &data{table: t, target: target}
	hashes, err := kept.HashRows(ctx, t)
	if err != nil {
		return nil, err
	}
	order := make([]int, t.Rows())
	for r := range order {
		order[r] = r
	}
	out := func(r int) bool { return kept.HoldOut(hashes[r], lesson.Seed, 1, heldOut) > 0.5 }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case out(a) == out(b):
			return 0
		case out(b):
			return -1
		}
		return 1
	})
	for d.train < len(order) && !out(order[d.train]) {
		d.train++
	}
	if few := len(order) - d.train; few < 5 || d.train < 5 {
		d.train = len(order) // too few to hold some out
	}
	d.table = t.Select(order)
	d.weight = make([]float64, len(order))
	for r := range d.weight {
		d.weight[r] = d.table.Weight(r)
		d.total += d.weight[r]
	}
	var targets [][]float64
	for j := range t.Schema.Attributes {
		if j == target {
			continue
		}
		if d.addColumn(j); len(d.inputs) >= 2*mostInputs {
			d.keepTelling(&targets)
		}
	}
	d.keepTelling(&targets)
	return d, d.readUnits(lesson.Settings.Units)
}

// addColumn makes variables of a column that varies.
func (d *data) addColumn(j int) {
	a := &d.table.Schema.Attributes[j]
	add := func(in input) {
		x := make([]float64, d.table.Rows())
		sum, weight := 0.0, 0.0
		in.Low, in.High = math.Inf(1), math.Inf(-1)
		in.Mean = math.NaN()
		for r := range x {
			if v := clamp(in.value(&d.table.Columns[j], r)); !math.IsNaN(v) {
				sum += v * d.weight[r]
				weight += d.weight[r]
				in.Low, in.High = min(in.Low, v), max(in.High, v)
			}
		}
		if !(in.High > in.Low) {
			return
		}
		if in.Mean = sum / weight; math.IsInf(in.Mean, 0) {
			in.Mean = in.Low/2 + in.High/2
		}
		for r := range x {
			x[r] = clamp(in.value(&d.table.Columns[j], r))
		}
		d.inputs = append(d.inputs, in)
		d.x = append(d.x, x)
	}
	switch {
	case a.Kind == table.Numeric:
		add(input{Column: j, Code: -1})
	case a.Kind == table.Nominal && len(a.Values) > mostIndicators:
		d.asides.Columns++
	case a.Kind == table.Nominal:
		from := 0
		if len(a.Values) == 2 {
			from = 1 // the one tells the other
		}
		for v := from; v < len(a.Values); v++ {
			add(input{Column: j, Code: int32(v)})
		}
	}
}

// keepTelling keeps those of too many variables that correlate most with what is
// to be learnt, of classes with any.
func (d *data) keepTelling(targets *[][]float64) {
	if len(d.inputs) <= mostInputs {
		return
	}
	if *targets == nil {
		*targets = d.targets()
	}
	told := make([]float64, len(d.inputs))
	order := make([]int, len(d.inputs))
	for i, x := range d.x {
		order[i] = i
		for _, y := range *targets {
			if c := correlation(x[:d.train], y[:d.train]); c > told[i] {
				told[i] = c
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(told[b], told[a]) })
	order = order[:mostInputs]
	slices.Sort(order)
	d.asides.Variables += len(d.inputs) - mostInputs
	for to, from := range order {
		d.inputs[to], d.x[to] = d.inputs[from], d.x[from]
	}
	d.inputs, d.x = d.inputs[:mostInputs], d.x[:mostInputs:mostInputs]
}

// targets returns the numbers to be learnt: of a class, 1 for its rows and 0
// for others.
func (d *data) targets() [][]float64 {
	a := &d.table.Schema.Attributes[d.target]
	c := &d.table.Columns[d.target]
	if a.Kind == table.Numeric {
		y := make([]float64, len(c.Floats))
		for r, v := range c.Floats {
			y[r] = clamp(v)
		}
		return [][]float64{y}
	}
	first, last := 0, len(a.Values)
	if last == 2 {
		first = 1
	}
	var all [][]float64
	for class := first; class < last; class++ {
		y := make([]float64, len(c.Codes))
		for r, code := range c.Codes {
			if code == int32(class) {
				y[r] = 1
			}
		}
		all = append(all, y)
	}
	return all
}

// unit is a unit of measure: the power of each base unit.
type unit map[string]float64

// readUnits reads 'm:kg, F:kg*m/s^2'.
func readUnits(text string) (map[string]unit, error) {
	all := map[string]unit{}
	if strings.TrimSpace(text) == "" {
		return all, nil
	}
	for _, part := range strings.Split(text, ",") {
		at := strings.LastIndex(part, ":")
		if at < 0 {
			return nil, fmt.Errorf("setting units: %q: expected a column, a colon and its unit, as in F:kg*m/s^2", strings.TrimSpace(part))
		}
		u, err := parseUnit(part[at+1:])
		if err != nil {
			return nil, err
		}
		all[strings.TrimSpace(part[:at])] = u
	}
	return all, nil
}

// parseUnit reads powers of base units, with * and / between them; 1 is none.
func parseUnit(text string) (unit, error) {
	u := unit{}
	sign := 1.0
	for text = strings.TrimSpace(text); text != ""; {
		end := strings.IndexAny(text, "*/")
		piece := text
		next := ""
		nextSign := 1.0
		if end >= 0 {
			piece, next = text[:end], text[end+1:]
			if text[end] == '/' {
				nextSign = -1
			}
		}
		name, power, has := strings.Cut(strings.TrimSpace(piece), "^")
		exponent := 1.0
		if has {
			if _, err := fmt.Sscanf(power, "%g", &exponent); err != nil || math.IsNaN(exponent) || math.Abs(exponent) > 100 {
				return nil, fmt.Errorf("setting units: %q is no power of a unit", piece)
			}
		}
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("setting units: a unit is missing in %q", text)
		}
		if name != "1" {
			if u[name] += sign * exponent; u[name] == 0 {
				delete(u, name)
			}
		}
		text, sign = strings.TrimSpace(next), nextSign
	}
	return u, nil
}

// readUnits gives each variable its unit.
func (d *data) readUnits(text string) error {
	all, err := readUnits(text)
	if err != nil || len(all) == 0 {
		return err
	}
	names := d.table.Schema.Names()
	for name := range all {
		if !slices.Contains(names, name) {
			return fmt.Errorf("setting units: there is no column %q; columns are %s", name, strings.Join(names, ", "))
		}
	}
	for i := range d.inputs {
		u := unit{}
		if in := &d.inputs[i]; in.Code < 0 {
			u = all[names[in.Column]]
		}
		d.units = append(d.units, u)
	}
	d.units = append(d.units, all[names[d.target]])
	return nil
}

package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// data is the rows in columns as families are counted from.
type data struct {
	settings   *settings
	file       *netfile.Network // nil if none was given
	schema     *table.Schema    // of the model: the rows' columns, and those of the file alone
	target     int
	rows       int
	codes      [][]uint16 // of nominal columns
	numbers    []numbers  // of numeric ones
	hidden     bool       // some column of the file is in no row
	gaps       bool       // some nominal cell is missing
	numberGaps bool       // some number is missing
	gapped     []bool     // of a column, in some row
	weights    []float64  // nil: all 1
	weight     float64
	families   []*data // of each column, where counts are kept in place of rows
}

// numbers is a numeric column in deviations from its mean, NaN where unknown.
type numbers struct {
	z               []float64
	mean, deviation float64 // in the unit of scale
	scale           float64 // a power of two that brings all numbers below 1
}

// unknown is the code of a missing cell.
const unknown = 0xffff

// maxStates bounds the values of a column.
const maxStates = netfile.MaxStates

// read lays out the rows.
func read(ctx context.Context, v *kept.View, l *lesson) (*data, error) {
	d, err := layOut(l, v.Schema)
	if err != nil {
		return nil, err
	}
	d.rows, d.weights = v.Rows(), v.Weights
	d.leaveOut(v)
	d.weight = float64(d.rows)
	if d.weights != nil {
		d.weight = 0
		for _, w := range d.weights {
			d.weight += w
		}
	}
	if !(d.weight > 0 && d.weight <= 1e15) && !(d.rows == 0 && d.file != nil && l.Target == "") {
		return nil, fmt.Errorf("there are no rows to learn from, or they weigh too much (%v)", d.weight)
	}
	return d, d.columns(ctx, v)
}

// layOut returns room for rows of a schema's columns, without any.
func layOut(l *lesson, rows *table.Schema) (*data, error) {
	var err error
	d := &data{settings: &l.Settings, target: learn.NoTarget}
	if l.Settings.Network != "" {
		if d.file, err = netfile.Parse("the network", []byte(l.Settings.Network)); err != nil {
			return nil, err
		}
	}
	if err = speakOf(d.file, rows); err != nil {
		return nil, err
	}
	if d.schema, err = union(rows, d.file); err != nil {
		return nil, err
	}
	if l.Target != "" {
		if d.target = d.schema.Index(l.Target); d.target < 0 || d.schema.Attributes[d.target].Kind != table.Nominal {
			return nil, fmt.Errorf("the target %q is no column with classes", l.Target)
		}
	}
	d.makeRoom()
	return d, nil
}

// speakOf refuses a network that speaks of other columns than the rows: a variable
// that is no column is hidden, but not if all are, or if a column is spelt nearly so.
func speakOf(file *netfile.Network, rows *table.Schema) error {
	if file == nil || len(rows.Attributes) == 0 {
		return nil
	}
	var names []string
	shared := false
	for i := range file.Variables {
		name := file.Variables[i].Name
		names = append(names, name)
		if rows.Index(name) >= 0 {
			shared = true
			continue
		}
		for j := range rows.Attributes {
			if column := rows.Attributes[j].Name; strings.EqualFold(column, name) && !slices.ContainsFunc(file.Variables, func(v netfile.Variable) bool { return v.Name == column }) {
				return file.Wrong(i, "the network has a variable %q, and the rows a column %q; expected them to be spelt alike", name, column)
			}
		}
	}
	if !shared {
		return file.Wrong(0, "no variable of the network (%s) is a column of the rows (%s); expected a network of these columns", first(names), first(rows.Names()))
	}
	return nil
}

// first names the first few.
func first(names []string) string {
	if len(names) > 8 {
		names = append(slices.Clone(names[:8]), "…")
	}
	return strings.Join(names, ", ")
}

func (d *data) makeRoom() {
	n := len(d.schema.Attributes)
	d.codes, d.numbers, d.gapped = make([][]uint16, n), make([]numbers, n), make([]bool, n)
}

// leaveOut gives rows without a class no weight, where there is a target.
func (d *data) leaveOut(v *kept.View) {
	if d.target == learn.NoTarget {
		return
	}
	at, own := v.Schema.Index(d.schema.Attributes[d.target].Name), false
	for r := 0; r < d.rows && at >= 0; r++ {
		if v.Code(at, r) >= 0 {
			continue
		}
		if !own {
			weights := make([]float64, d.rows)
			for i := range weights {
				weights[i] = v.Weight(i)
			}
			d.weights, own = weights, true
		}
		d.weights[r] = 0
	}
}

// view returns the rows, or a table of none for a network that is a file alone.
func view(ctx context.Context, rows *kept.Rows) (*kept.View, error) {
	if len(rows.Sources()) > 0 {
		return rows.View(ctx)
	}
	t, err := table.New(&table.Schema{}, nil, nil)
	if err != nil {
		return nil, err
	}
	return kept.ViewOf(t), nil
}

// columns copies the cells.
func (d *data) columns(ctx context.Context, v *kept.View) error {
	for j := range d.schema.Attributes {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, from := &d.schema.Attributes[j], v.Schema.Index(d.schema.Attributes[j].Name)
		switch {
		case from < 0 && a.Kind == table.Numeric: // not of this family
		case a.Kind == table.Numeric:
			z := make([]float64, d.rows)
			for r := range z {
				if z[r] = v.Float(from, r); math.IsInf(z[r], 0) {
					z[r] = math.NaN()
				}
				if z[r] != z[r] {
					d.numberGaps, d.gapped[j] = true, true
				}
			}
			d.numbers[j] = standardise(z, d.weights)
		case len(a.Values) > maxStates:
			return fmt.Errorf("column %q has %d values, at most %d can have a table; ignore it", a.Name, len(a.Values), maxStates)
		default:
			codes := make([]uint16, d.rows)
			for r := range codes {
				codes[r] = unknown
			}
			if from >= 0 {
				recode := table.AppendRecoding(nil, &v.Schema.Attributes[from], a)
				for r, c := range v.Codes(from) {
					if c >= 0 && recode[c] >= 0 {
						codes[r] = uint16(recode[c])
					} else {
						d.gaps, d.gapped[j] = true, true
					}
				}
			} else {
				d.hidden, d.gapped[j] = true, true
			}
			d.codes[j] = codes
		}
	}
	return nil
}

// union returns the columns of rows, and after them those that only the file
// has; values of the file first.
func union(rows *table.Schema, file *netfile.Network) (*table.Schema, error) {
	s := table.CopySchema(rows)
	for j := range s.Attributes {
		if a := &s.Attributes[j]; a.Kind != table.Nominal && a.Kind != table.Numeric {
			return nil, fmt.Errorf("column %q is neither nominal nor numeric; ignore it", a.Name)
		}
	}
	if file == nil {
		return s, nil
	}
	for i := range file.Variables {
		v := &file.Variables[i]
		j := s.Index(v.Name)
		if v.States == nil { // the rows bring them
			if j < 0 {
				return nil, file.Wrong(i, "the network has a variable %q without states, which is no column either; expected a line such as  %s: yes, no%s", v.Name, v.Name, spell.Hint(v.Name, s.Names()))
			}
			continue
		}
		if j < 0 {
			s.Attributes = append(s.Attributes, table.Attribute{Name: v.Name, Values: v.States})
			continue
		}
		a := &s.Attributes[j]
		if a.Kind == table.Numeric {
			return nil, file.Wrong(i, "column %q is numeric, but the network gives it the states %s; read it as nominal", a.Name, strings.Join(v.States, ", "))
		}
		of := table.Attribute{Name: a.Name, Values: v.States}
		values := append([]string(nil), v.States...)
		for _, value := range a.Values {
			if of.Code(value) < 0 {
				values = append(values, value)
			}
		}
		a.Values = values
	}
	return s, nil
}

// standardise turns numbers into deviations from their mean.
func standardise(x, weights []float64) numbers {
	most := 0.0
	for _, v := range x {
		if v == v {
			most = max(most, math.Abs(v))
		}
	}
	n := numbers{z: x, scale: 1, deviation: 1}
	if most > 0 {
		_, e := math.Frexp(most)
		n.scale = math.Ldexp(1, min(-e, 1000))
	}
	var w, sum float64
	weigh := func(r int) float64 {
		if weights == nil {
			return 1
		}
		return weights[r]
	}
	for r, v := range x {
		if v == v {
			x[r] = v * n.scale
			w += weigh(r)
			sum += weigh(r) * x[r]
		}
	}
	if w == 0 {
		n.deviation = 0 // nothing is known of it
		return n
	}
	n.mean = sum / w
	squares := 0.0
	for r, v := range x {
		if v == v {
			squares += weigh(r) * (v - n.mean) * (v - n.mean)
		}
	}
	n.deviation = max(math.Sqrt(squares/w), 1e-6*math.Abs(n.mean), 1e-9)
	for r := range x {
		x[r] = (x[r] - n.mean) / n.deviation
	}
	return n
}

// chunk is the number of rows whose places in a table are worked out at a time.
const chunk = 4096

// count adds up the rows of each combination of some nominal columns' values,
// the last of which changes fastest, into a table of the right size. Rows that
// do not know all of them are left out.
func (d *data) count(columns []int, into []float64) { d.tally(columns, len(columns), into) }

// tally is count with columns up to a place that are only required to be known
// from there on: before it, not being known is a value of its own, the last one.
func (d *data) tally(columns []int, required int, into []float64) {
	var room [chunk]int32
	for lo := 0; lo < d.rows; lo += chunk {
		n := min(chunk, d.rows-lo)
		places := room[:n]
		clear(places)
		stride := int32(1)
		for k := len(columns) - 1; k >= 0; k-- {
			states := int32(d.states(columns[k], k < len(columns)-required))
			gaps := int32(math.MinInt32) / 2
			own := (states - 1) * stride
			for i, code := range d.codes[columns[k]][lo : lo+n] {
				switch {
				case code != unknown:
					places[i] += int32(code) * stride
				case k < len(columns)-required:
					places[i] += own
				default:
					places[i] |= gaps
				}
			}
			stride *= states
		}
		if d.weights == nil {
			for _, at := range places {
				if at >= 0 {
					into[at]++
				}
			}
			continue
		}
		for i, at := range places {
			if at >= 0 {
				into[at] += d.weights[lo+i]
			}
		}
	}
}

// states returns the number of a column's values, with one more for not being
// known where that is asked for and occurs.
func (d *data) states(column int, gaps bool) int {
	n := len(d.schema.Attributes[column].Values)
	if !d.isNominal(column) {
		n = 1
	}
	if gaps && d.gapped[column] {
		n++
	}
	return n
}

// size returns the number of combinations of columns' values, or false if they
// are too many for a table.
func (d *data) size(columns []int) (int, bool) { return d.sizeWith(columns, false) }

func (d *data) sizeWith(columns []int, gaps bool) (int, bool) {
	size := 1
	for _, c := range columns {
		if size *= d.states(c, gaps); size > netfile.MaxTable {
			return 0, false
		}
	}
	return size, true
}

// there reports whether a column can be in the graph: nominal columns with a
// value, and numeric ones with a number.
func (d *data) there(column int) bool { return d.named(column) || d.numbers[column].deviation > 0 }

// named reports whether a column has names for values.
func (d *data) named(column int) bool { return len(d.schema.Attributes[column].Values) > 0 }

// may reports whether there can be an arc: not from a number to a name, and between
// numbers if their slopes are neither too small nor too large to be told.
func (d *data) may(from, to int) bool {
	if from == to || !d.there(from) || !d.there(to) || d.named(from) {
		return from != to && d.there(from) && d.there(to)
	}
	unit := func(v int) float64 { return d.numbers[v].deviation / d.numbers[v].scale }
	return !d.named(to) && within(unit(from)) && within(unit(to))
}

// within reports whether a column's numbers are of a size that lines can have.
func within(unit float64) bool { return unit >= 1e-60 && unit <= 1e60 }

// arcs reads a->b, c->b.
func (d *data) arcs(key, text string) ([][2]int, error) {
	var arcs [][2]int
	for _, part := range strings.Split(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		from, to, ok := strings.Cut(part, "->")
		if !ok {
			return nil, fmt.Errorf("setting %s: %q is no arc; expected parent->child", key, strings.TrimSpace(part))
		}
		var arc [2]int
		for i, name := range []string{strings.TrimSpace(from), strings.TrimSpace(to)} {
			if arc[i] = d.schema.Index(name); arc[i] < 0 {
				return nil, fmt.Errorf("setting %s: there is no column %q%s", key, name, spell.Hint(name, d.schema.Names()))
			}
		}
		err := d.fits(arc[0], arc[1])
		switch {
		case arc[0] == arc[1]:
			return nil, fmt.Errorf("setting %s: %s: expected two columns", key, strings.TrimSpace(part))
		case key == "require" && err != nil:
			return nil, fmt.Errorf("setting %s: %s: %w", key, strings.TrimSpace(part), err)
		}
		arcs = append(arcs, arc)
	}
	return arcs, nil
}

// fits refuses arcs from numbers to names.
func (d *data) fits(from, to int) error {
	if a, b := d.schema.Attributes[from], d.schema.Attributes[to]; a.Kind == table.Numeric && b.Kind == table.Nominal {
		return fmt.Errorf("numbers depend on names and on numbers, but names on names alone (conditional Gaussians); turn the arc, or read %q as nominal", a.Name)
	}
	return nil
}

// worths reads alarm=50,burglary=5.
func (s *settings) worths() (map[string]float64, error) {
	of := map[string]float64{}
	for _, part := range strings.Split(s.Worths, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, text, _ := strings.Cut(part, "=")
		w, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(w >= 0 && w <= 1e12) {
			return nil, fmt.Errorf("setting worths: %q: expected column=cases", strings.TrimSpace(part))
		}
		of[strings.TrimSpace(name)] = w
	}
	return of, nil
}

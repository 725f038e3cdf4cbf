package rulenet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart        = "rule network"
	incrementalPart = "examples"
	networkPart     = "network"
)

const format = 1

// savedHead is what a network is learnt by.
type savedHead struct {
	Format   int      `cbor:"format"`
	Settings settings `cbor:"settings"`
	Seed     uint64   `cbor:"seed"`
	Target   string   `cbor:"target"`
	Numbers  bool     `cbor:"numbers,omitempty"` // the target is a number
}

// savedCoding is the columns and their cuts.
type savedCoding struct {
	Columns []savedColumn `cbor:"columns"`
}

type savedColumn struct {
	Name    string    `cbor:"name"`
	Numeric bool      `cbor:"numeric,omitempty"`
	Date    bool      `cbor:"date,omitempty"`
	Time    bool      `cbor:"time,omitempty"`
	Values  []string  `cbor:"values,omitempty"`
	Cuts    []float64 `cbor:"cuts,omitempty"`

	Style table.Style `cbor:"style,omitempty"`
}

// savedNetwork is what was learnt. It can be learnt again from the rows.
type savedNetwork struct {
	Coding  savedCoding `cbor:"coding"`
	Counts  []float64   `cbor:"counts"`
	Bias    []float64   `cbor:"bias"`
	Units   []savedUnit `cbor:"units"`
	Steps   []Step      `cbor:"steps,omitempty"`
	Stopped string      `cbor:"stopped,omitempty"`
	Share   float64     `cbor:"share,omitempty"`
	Taught  bool        `cbor:"taught,omitempty"`

	Repeats *savedRepeats `cbor:"repeats,omitempty"`
}

type savedUnit struct {
	Tests     [][3]int32 `cbor:"tests"`           // column, first and last code
	Forms     []form     `cbor:"forms,omitempty"` // of each test, if any has one
	Class     int        `cbor:"class"`
	Templates float64    `cbor:"templates"`
	Counts    []float64  `cbor:"counts"`
	Weights   []float64  `cbor:"weights"`
	Round     int        `cbor:"round,omitempty"`
	Removed   float64    `cbor:"removed,omitempty"`
}

// savedIncremental is the state of the published incremental search.
type savedIncremental struct {
	Coding  savedCoding           `cbor:"coding"`
	Codes   [][]int32             `cbor:"codes"`
	Class   []int32               `cbor:"class"`
	Weights []float64             `cbor:"weights"`
	Rules   [][]savedTemplateRule `cbor:"rules"`
	Limit   uint64                `cbor:"limit"`
	Origin  [][]float64           `cbor:"origin,omitempty"`
	Cells   *savedCells           `cbor:"cells,omitempty"`
	Recut   []Drift               `cbor:"recut,omitempty"`
}

// savedCells are the numbers behind the codes.
type savedCells struct {
	Row     []int32     `cbor:"row"`
	Weights []float64   `cbor:"weights"`
	Numbers [][]float64 `cbor:"numbers"`
}

// load checks that the numbers are those of a state's rows.
func (c *savedCells) load(s *incremental) error {
	if len(c.Row) != len(c.Weights) || len(c.Numbers) != len(s.codes) || !amounts(c.Weights) {
		return fmt.Errorf("%d numbers do not fit their rows", len(c.Row))
	}
	left := slices.Clone(s.weights)
	for r, row := range c.Row {
		if row < 0 || int(row) >= len(left) {
			return fmt.Errorf("numbers of row %d, which is not there", row+1)
		}
		left[row] -= c.Weights[r]
	}
	for row, w := range left {
		if math.Abs(w) > 1e-6*s.weights[row] {
			return fmt.Errorf("numbers of row %d do not weigh as much as it does", row+1)
		}
	}
	for col, numbers := range c.Numbers {
		if !s.ordered(col) && len(numbers) == 0 {
			continue
		}
		if !s.ordered(col) || len(numbers) != len(c.Row) {
			return fmt.Errorf("column %d has %d numbers", col+1, len(numbers))
		}
		for r, x := range numbers {
			if s.cuts[col].Code(x) != s.codes[col][c.Row[r]] {
				return fmt.Errorf("column %d: the number %v is not in its interval", col+1, x)
			}
		}
	}
	s.cells = cells{c.Row, c.Weights, c.Numbers}
	return nil
}

type savedTemplateRule struct {
	Tests  [][3]int32 `cbor:"tests"`
	Weight float64    `cbor:"weight"`
}

// Parts returns the settings, the rows of each source or the examples of the
// published search, and the network, which can be made again from them.
func (m *Model) Parts() ([]learn.Part, error) {
	var parts []learn.Part
	var failed error
	add := func(name string, derived bool, v any) {
		data, err := learn.Marshal(v)
		failed = errors.Join(failed, err)
		parts = append(parts, learn.Part{Name: name, Derived: derived, Data: data})
	}
	add(headPart, false, savedHead{Format: format, Settings: m.settings, Seed: m.seed, Target: m.conclusion(0).Column})
	if m.incremental != nil {
		s := m.incremental
		to := savedIncremental{Coding: s.coding.save(), Codes: s.codes, Class: s.class, Weights: s.weights, Rules: make([][]savedTemplateRule, len(s.rules)), Limit: s.limit, Origin: s.cutFor, Recut: s.recut}
		if s.cells.row != nil {
			to.Cells = &savedCells{s.cells.row, s.cells.weights, s.cells.numbers}
		}
		for row, lines := range s.rules {
			for _, l := range lines {
				to.Rules[row] = append(to.Rules[row], savedTemplateRule{saveTests(l.rule), l.weight})
			}
		}
		add(incrementalPart, false, to)
	} else if m.rows != nil {
		rows, err := m.rows.Parts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, rows...)
	}
	net := savedNetwork{Coding: m.coding.save(), Counts: m.counts, Bias: make([]float64, len(m.bias)), Steps: m.steps, Stopped: m.stopped, Share: m.share, Taught: m.taught, Repeats: m.repeats.save(m.rows != nil)}
	for c, b := range m.bias {
		if !math.IsInf(b, -1) {
			net.Bias[c] = b
		}
	}
	for i := range m.units {
		u := &m.units[i]
		net.Units = append(net.Units, savedUnit{saveTests(u.rule), saveForms(u.rule), u.class, u.templates, u.counts, u.weights, u.round, u.removed})
	}
	add(networkPart, m.settings.Update != "none", net)
	return parts, failed
}

// Shed returns the network without the rows that it was learnt from.
func (m *Model) Shed() (learn.Model, bool, error) {
	if m.repeats != nil {
		if err := m.recall(); err != nil {
			return nil, false, err
		}
	}
	bare := &Model{
		settings: m.settings, seed: m.seed, coding: m.coding, counts: m.counts, bias: m.bias, units: m.units,
		steps: m.steps, stopped: m.stopped, share: m.share, taught: m.taught, repeats: m.repeats, reweighed: m.reweighed,
		base: m.base, lines: m.lines, predictor: m.predictor, matchers: m.matchers,
	}
	bare.settings.Update = "none"
	return bare, m.rows != nil || m.incremental != nil, nil
}

func (c *coding) save() savedCoding {
	var s savedCoding
	for col, a := range c.schema.Attributes {
		to := savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: a.Date, Time: a.Time, Values: a.Values, Style: a.Style}
		if c.cuts[col] != nil {
			to.Cuts = c.cuts[col].At
		}
		s.Columns = append(s.Columns, to)
	}
	return s
}

func saveTests(c conjunction) [][3]int32 {
	tests := make([][3]int32, len(c))
	for i, t := range c {
		tests[i] = [3]int32{t.col, t.lo, t.hi}
	}
	return tests
}

func saveForms(c conjunction) []form {
	if !slices.ContainsFunc(c, func(t test) bool { return t.form != 0 }) {
		return nil
	}
	forms := make([]form, len(c))
	for i, t := range c {
		forms[i] = t.form
	}
	return forms
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var head savedHead
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &head); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("the network is saved in format %d, this program reads %d", head.Format, format)
	}
	if err := head.Settings.check(); err != nil {
		return nil, err
	}
	if head.Settings.Update == "living" || learn.FindPart(parts, livingPart) != nil || learn.FindPart(parts, statePart) != nil {
		return decodeLiving(&head, parts)
	}
	if data := learn.FindPart(parts, numbersPart); data != nil || head.Numbers {
		return decodeNumbers(&head, parts)
	}
	m := &Model{settings: head.Settings, seed: head.Seed}
	if head.Settings.Update == "published" {
		var from savedIncremental
		if err := learn.Unmarshal(learn.FindPart(parts, incrementalPart), &from); err != nil {
			return nil, fmt.Errorf("part %q: %v", incrementalPart, err)
		}
		var err error
		if m.incremental, err = from.load(head.Target); err != nil {
			return nil, fmt.Errorf("part %q: %v", incrementalPart, err)
		}
	} else if head.Settings.exact() {
		rows, err := kept.DecodeRows(parts)
		if err != nil {
			return nil, err
		}
		if len(rows.Sources()) == 0 {
			return nil, errors.New("the rows of the network are not there")
		}
		m.rows = rows
	}
	if data := learn.FindPart(parts, networkPart); data != nil {
		var net savedNetwork
		if err := learn.Unmarshal(data, &net); err != nil {
			return nil, fmt.Errorf("part %q: %v", networkPart, err)
		}
		if err := net.restore(m, head.Target); err != nil {
			return nil, fmt.Errorf("part %q: %v", networkPart, err)
		}
		if m.incremental != nil && !m.coding.same(&m.incremental.coding) {
			return nil, fmt.Errorf("part %q is not about the columns of part %q", networkPart, incrementalPart)
		}
		return m, nil
	}
	ctx := context.Background()
	if head.Settings.Update == "none" {
		return nil, fmt.Errorf("part %q is not there", networkPart)
	}
	if m.incremental == nil {
		return learnRows(ctx, m.rows, head.Target, head.Seed, head.Settings)
	}
	m.coding, m.counts = m.incremental.coding, m.incremental.count()
	return m, m.weighIncremental(ctx)
}

// restore checks what was saved and puts it to use.
func (n *savedNetwork) restore(m *Model, target string) error {
	var err error
	if m.coding, err = n.Coding.loadClasses(target); err != nil {
		return err
	}
	classes := m.coding.classes()
	if len(n.Counts) != classes || len(n.Bias) != classes || !amounts(n.Counts) || sum(n.Counts) == 0 || !finite(n.Bias) {
		return fmt.Errorf("%d counts and %d biases of %d classes, or not numbers of rows", len(n.Counts), len(n.Bias), classes)
	}
	if !(n.Share >= 0 && n.Share <= 1) {
		return fmt.Errorf("%v is no share of a penalty", n.Share)
	}
	m.counts, m.bias, m.steps, m.stopped, m.share = n.Counts, n.Bias, n.Steps, n.Stopped, n.Share
	m.taught = n.Taught
	if m.repeats, err = n.Repeats.load(classes, m.rows != nil); err != nil {
		return err
	}
	for c, count := range m.counts {
		if count == 0 {
			m.bias[c] = math.Inf(-1)
		}
	}
	for i, u := range n.Units {
		rule, err := m.coding.loadTests(u.Tests, u.Forms)
		if err != nil {
			return fmt.Errorf("unit %d: %v", i+1, err)
		}
		if len(rule) == 0 || u.Class < everyClass || u.Class >= classes || len(u.Counts) != classes || len(u.Weights) != classes || !amounts(u.Counts) || !finite(u.Weights) {
			return fmt.Errorf("unit %d does not fit its %d classes", i+1, classes)
		}
		if !(sum(u.Counts) > 0) || !amounts([]float64{u.Templates}) || !finite([]float64{u.Removed}) || u.Round < 0 {
			return fmt.Errorf("unit %d covers no rows, or its numbers are not sound", i+1)
		}
		for c, w := range u.Weights {
			if m.counts[c] == 0 && w != 0 || u.Counts[c] > m.counts[c]*(1+1e-9) || math.Abs(w) > mostWeight {
				return fmt.Errorf("unit %d speaks of a class without rows, covers more rows than there are, or weighs too much", i+1)
			}
		}
		m.units = append(m.units, unit{rule, u.Class, u.Templates, u.Counts, u.Weights, u.Round, u.Removed})
	}
	if len(m.units) > 0 && mostWeight/float64(len(m.units)) < 1 {
		return fmt.Errorf("%d units are too many", len(m.units))
	}
	return m.compile(context.Background())
}

// mostWeight is more than any weight that rows can give.
const mostWeight = 1e300

func amounts(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !(x >= 0 && x <= 1e15) })
}

func finite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func (s *savedCoding) load(target string) (coding, error) {
	c := coding{schema: &table.Schema{}, cuts: make([]*encode.Cuts, len(s.Columns))}
	for col, from := range s.Columns {
		a := table.Attribute{Name: from.Name, Values: from.Values, Date: from.Date, Time: from.Time, Style: from.Style}
		if from.Numeric {
			a.Kind = table.Numeric
			c.cuts[col] = &encode.Cuts{At: from.Cuts}
			if err := c.cuts[col].Check(); err != nil {
				return c, fmt.Errorf("column %q: %v", from.Name, err)
			}
		}
		if from.Numeric && len(from.Values) > 0 || !from.Numeric && len(from.Cuts) > 0 {
			return c, fmt.Errorf("column %q has values or cuts that do not fit its kind", from.Name)
		}
		c.schema.Attributes = append(c.schema.Attributes, a)
	}
	if err := table.Distinct(c.schema); err != nil {
		return c, err
	}
	c.target = c.schema.Index(target)
	if c.target < 0 {
		return c, fmt.Errorf("the target %q is no column", target)
	}
	return c, nil
}

// loadClasses loads a coding whose target is a column of classes.
func (s *savedCoding) loadClasses(target string) (coding, error) {
	c, err := s.load(target)
	if err == nil && (c.schema.Attributes[c.target].Kind != table.Nominal || c.classes() == 0) {
		err = fmt.Errorf("the target %q is no column of classes", target)
	}
	return c, err
}

// same reports whether two codings give the same codes.
func (c *coding) same(d *coding) bool {
	return c.target == d.target && slices.EqualFunc(c.cuts, d.cuts, func(x, y *encode.Cuts) bool {
		return (x == nil) == (y == nil) && (x == nil || slices.Equal(x.At, y.At))
	}) && sameSchema(c.schema, d.schema)
}

func sameSchema(a, b *table.Schema) bool {
	return slices.EqualFunc(a.Attributes, b.Attributes, func(x, y table.Attribute) bool {
		return x.Name == y.Name && x.Kind == y.Kind && slices.Equal(x.Values, y.Values)
	})
}

// loadTests checks tests and their forms, if they have any.
func (c *coding) loadTests(from [][3]int32, forms []form) (conjunction, error) {
	if len(forms) != 0 && len(forms) != len(from) {
		return nil, fmt.Errorf("%d forms of %d tests", len(forms), len(from))
	}
	tests := make(conjunction, len(from))
	for i, f := range from {
		t := test{col: f[0], lo: f[1], hi: f[2]}
		if len(forms) > 0 {
			t.form = forms[i]
		}
		if t.col < 0 || int(t.col) >= len(c.schema.Attributes) || int(t.col) == c.target || c.schema.Attributes[t.col].Kind == table.Text || !c.sound(t) {
			return nil, fmt.Errorf("test %d is not one of a value or interval of its column", i+1)
		}
		if i > 0 {
			before := tests[i-1]
			others := before.form&negated != 0 && before.form == t.form && before.hi >= before.lo && t.hi >= t.lo && before.lo < t.lo
			if before.col > t.col || before.col == t.col && !others {
				return nil, fmt.Errorf("test %d is of a column that was tested before", i+1)
			}
		}
		tests[i] = t
	}
	return tests, nil
}

// sound reports whether a test is one that its column can have.
func (c *coding) sound(t test) bool {
	ordered := c.ordered(int(t.col))
	if t.lo == 0 && t.hi == -1 { // missing, or known
		return t.form == orMissing || t.form == negated && !ordered
	}
	return t.lo >= 0 && t.lo <= t.hi && int(t.hi) < c.levels(int(t.col)) && t.form <= negated|orMissing && (ordered && t.form&negated == 0 || !ordered && t.lo == t.hi)
}

func (s *savedIncremental) load(target string) (*incremental, error) {
	c, err := s.Coding.loadClasses(target)
	if err != nil {
		return nil, err
	}
	rows := len(s.Class)
	if len(s.Codes) != len(c.schema.Attributes) || len(s.Weights) != rows || len(s.Rules) != rows || rows == 0 || !amounts(s.Weights) {
		return nil, fmt.Errorf("%d rows do not fit what is said of them", rows)
	}
	for col, codes := range s.Codes {
		if col == c.target {
			if codes != nil {
				return nil, fmt.Errorf("the target's codes are there twice")
			}
			continue
		}
		if len(codes) != rows {
			return nil, fmt.Errorf("column %d has %d codes of %d", col+1, len(codes), rows)
		}
		for _, code := range codes {
			if code < table.Missing || int(code) >= c.levels(col) {
				return nil, fmt.Errorf("column %d has the code %d", col+1, code)
			}
		}
		if codes == nil {
			s.Codes[col] = []int32{}
		}
	}
	if len(s.Origin) != 0 && len(s.Origin) != len(s.Codes) || slices.ContainsFunc(s.Origin, func(of []float64) bool { return !amounts(of) }) {
		return nil, fmt.Errorf("what the cuts were made for does not fit the columns")
	}
	to := &incremental{coding: c, codes: s.Codes, class: s.Class, weights: s.Weights, rules: make([][]templateRule, rows), limit: s.Limit, cutFor: s.Origin, recut: s.Recut}
	if s.Cells != nil {
		if err := s.Cells.load(to); err != nil {
			return nil, err
		}
	}
	for row, class := range s.Class {
		if class < 0 || int(class) >= c.classes() || s.Weights[row] == 0 {
			return nil, fmt.Errorf("row %d has no class or no weight", row+1)
		}
		for _, l := range s.Rules[row] {
			tests, err := c.loadTests(l.Tests, nil)
			if err != nil {
				return nil, fmt.Errorf("row %d: %v", row+1, err)
			}
			for _, t := range tests {
				if !t.holds(s.Codes[t.col][row]) {
					return nil, fmt.Errorf("row %d does not satisfy its own rule", row+1)
				}
			}
			if !(l.Weight > 0) || !amounts([]float64{l.Weight}) {
				return nil, fmt.Errorf("row %d has a rule of no weight", row+1)
			}
			to.rules[row] = append(to.rules[row], templateRule{tests, l.Weight})
		}
	}
	return to, nil
}

// Package tree learns decision trees: ID3 and its descendants.
//
// A tree asks about one column at each node and follows the branch of the
// answer; a leaf answers. Growing one is a search without backtracking: at
// each node take the test that tells most about the target, by information
// gain (Quinlan 1986) or another measure, and go on with the rows of each
// branch until they are of one class. Such a tree fits the noise too, so it is
// pruned afterwards: by the rows that were held out, by a pessimistic estimate
// of its errors, or path by path as a list of rules (Quinlan 1993).
//
// Numeric columns are tested against thresholds, midpoints between
// neighbouring numbers. A row whose tested cell is missing, or has a value
// that was never seen, goes down every branch, in fractions as large as the
// branches' shares of the known rows. Numeric targets give regression trees,
// which lower the variance instead (Breiman et al. 1984).
//
// With splits=oblique a node may also compare a weighted sum of numeric columns
// with a threshold, a plane, found as OC1 finds it (Murthy, Kasif and Salzberg
// 1994); its terms are few, and its rules are half-spaces.
//
// The text followed is Mitchell, Machine Learning (1997), chapter 3.
//
// Updates are exact because the model keeps its rows, counted (kept.Rows),
// and learns again: an update costs what learning all its rows at once does,
// however many updates they came in. What is learnt depends on the multiset of rows alone. Cost
// of growing, with n rows and k columns: each numeric column is sorted once,
// then each level of the tree goes once through all cells.
package tree

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Learner grows trees. Its zero value is ready to use.
type Learner struct {
	Preset string `set:"preset" default:"none" oneof:"none|id3|c4.5|cart|assistant" doc:"settings of a named system, for those not given"`

	Measure      string   `set:"measure" default:"gain" oneof:"gain|ratio|distance|gini|kearns|variance" doc:"what the best test is best in; a numeric target always takes variance"`
	Binary       *bool    `set:"binary" default:"true" doc:"split the values of a nominal column in two; false gives each a branch"`
	Splits       string   `set:"splits" default:"axis" oneof:"axis|oblique" doc:"test one column at a node, or also a weighted sum of numeric ones where that saves more bits than it takes to state (OC1); in a sum a missing cell counts as the mean"`
	Search       string   `set:"search" default:"greedy" oneof:"greedy|bfs" doc:"grow test by test, or take the smallest tree that is right on all rows, found from simple to complex (BFS-ID3; for small tables of nominal columns)"`
	MinRows      *float64 `set:"min-rows" default:"2" doc:"rows that at least two branches of a test must have"`
	MaxDepth     int      `set:"max-depth" default:"none" doc:"tests on a path at most"`
	MinGain      float64  `set:"min-gain" default:"0" doc:"least gain of a test, in the measure's unit; for a numeric target as a fraction of its variance"`
	Stop         string   `set:"stop" default:"none" oneof:"none|chi2|mdl" doc:"make a test only if it is significant (chi2) or shortens the description (mdl)"`
	Significance float64  `set:"significance" default:"0.05" doc:"for stop=chi2: the chance of so large a statistic if nothing is there"`

	Prune    string   `set:"prune" default:"auto" oneof:"auto|none|error|pessimistic|cost|cv|mdl|rules" doc:"reduced-error on a third of the rows, pessimistic estimate, cost-complexity by a third of the rows or cross-validated, description length, or rule post-pruning; auto is cost for numbers and for 20000 rows or more, else pessimistic"`
	Folds    int      `set:"folds" default:"10" doc:"for prune=cv: parts of the rows, each answered by a tree of the others"`
	SE       *float64 `set:"se" default:"1" doc:"for prune=cv: the smallest tree within so many standard errors of the best"`
	Estimate string   `set:"estimate" default:"ucf" oneof:"ucf|normal|m|validation" doc:"errors for prune=pessimistic and rules: C4.5's binomial limit, normal limit, m-estimate, or a third of the rows"`
	CF       float64  `set:"cf" default:"0.05" doc:"for estimate=ucf: confidence factor; smaller prunes more"`
	Z        float64  `set:"z" default:"1.96" doc:"for estimate=normal: standard errors below the accuracy"`

	Missing    string   `set:"missing" default:"fractions" oneof:"fractions|count|known|common|class" doc:"rows whose tested cell is missing: split in fractions (count: and tests may ask whether a cell is missing), split but left out of gains (C4.5), most common value, most common value of their class"`
	M          *float64 `set:"m" default:"2" doc:"cases that the parent's distribution is worth in a node's probabilities"`
	Costs      string   `set:"costs" default:"" doc:"what it costs to know a column, as Outlook:10,Wind:1; others cost 1"`
	Cost       string   `set:"cost" default:"ratio" oneof:"ratio|tan|nunez" doc:"with costs: gain/cost, gain²/cost, or (2^gain-1)/(cost+1)^w"`
	CostWeight *float64 `set:"cost-weight" default:"1" doc:"w of cost=nunez, 0 to 1"`

	Slope string `set:"slope" doc:"columns of numbers that only raise (+) or lower (-) the answer, as in age:+,income:-; of two classes the probability of the second by name"`

	Keep string `set:"keep" default:"rows" oneof:"rows|nothing" doc:"keep the rows, for update, merge and forget"`
}

// The defaults were chosen by cross-validation over 33 sets with classes and 11
// with numbers, of 57 to 45,211 rows. The figures are from other folds of the
// same sets than the choice was made on. With classes: mean accuracy, its
// difference from the first line with standard error over sets, mean log loss,
// geometric mean of the leaves; what is not named is at its default.
//
//	prune=pessimistic   0.848                     0.511   22
//	  binary=false      0.838   -0.009 ± 0.005    0.525   21
//	  cf=0.25           0.847   -0.001 ± 0.002    0.532   34
//	  cf=0.02           0.845   -0.002 ± 0.001    0.510   18
//	  measure=ratio     0.843   -0.005 ± 0.003    0.518   21
//	  measure=gini      0.844   -0.004 ± 0.002    0.520   21
//	  m=1               0.848   +0.000 ± 0.001    0.542   22
//	  m=3               0.848   -0.000 ± 0.001    0.496   22
//	prune=cost          0.836   -0.012 ± 0.003    0.505   14
//	prune=error         0.828   -0.020 ± 0.005    0.516   14
//	prune=none          0.838   -0.010 ± 0.004    0.621   68
//
// Most differences are within twice their error: the measure matters less than
// pruning does, as Mingers (1989) found. With numbers, mean R² and leaves: cost
// 0.70 with 29, error 0.67 with 37, pessimistic 0.61 with 324; 93 % of new rows
// lay in the 95 % intervals. On 40,000 rows of the set mixed, in which one class
// in ten is wrong, the pessimistic estimate leaves 1,196 leaves, 80.5 % right on
// 20,000 other rows, and cost-complexity 174, 81.1 % right (means of three
// seeds): with many rows the third that it holds out is not missed.
//
// What splits=oblique changes, as mean accuracy and leaves of ten folds with
// five seeds: diagonal is 500 points parted by x + y = 1, noisy 1,000 of them
// with a tenth of the classes turned.
//
//	               axis           oblique        columns in a plane
//	diagonal       0.962   13.2   0.998    2.0   2.0
//	noisy          0.871   14.6   0.909    2.2   2.0
//	balance-scale  0.771   22.3   0.910   11.5   3.2
//	breast-cancer  0.947    8.4   0.956    2.1   3.7
//	glass          0.687   20.2   0.694   17.2   2.2
//	ionosphere     0.897   11.5   0.900    6.6   2.5
//	iris           0.941    4.0   0.949    3.0   2.4
//	pima           0.751   30.6   0.743   21.9   2.5
//	seeds          0.932    6.2   0.937    4.2   2.4
//	wdbc           0.934    9.6   0.958    3.8   3.7
//	wine           0.930    5.2   0.940    3.3   2.5

// settings are a learner's parameters with nothing left open.
type settings struct {
	Measure      string  `cbor:"measure"`
	Binary       bool    `cbor:"binary"`
	MinRows      float64 `cbor:"min-rows"`
	MaxDepth     int     `cbor:"max-depth"`
	MinGain      float64 `cbor:"min-gain"`
	Stop         string  `cbor:"stop"`
	Significance float64 `cbor:"significance"`
	Prune        string  `cbor:"prune"`
	Estimate     string  `cbor:"estimate"`
	CF           float64 `cbor:"cf"`
	Z            float64 `cbor:"z"`
	Missing      string  `cbor:"missing"`
	M            float64 `cbor:"m"`
	Costs        string  `cbor:"costs"`
	Cost         string  `cbor:"cost"`
	CostWeight   float64 `cbor:"cost-weight"`
	Keep         string  `cbor:"keep"`
	Search       string  `cbor:"search,omitempty"` // "" is greedy
	Folds        int     `cbor:"folds,omitempty"`  // of prune=cv
	SE           float64 `cbor:"se,omitempty"`     // of prune=cv
	Splits       string  `cbor:"splits,omitempty"` // "" is axis
	Slope        string  `cbor:"slope,omitempty"`
}

// What becomes of rows whose tested cell is missing.
const (
	missingFractions = "fractions"
	missingCount     = "count" // in fractions, too
	missingKnown     = "known"
	missingCommon    = "common"
	missingClass     = "class"
)

// presets are the named systems. What they leave open keeps its default.
var presets = map[string]Learner{
	"":     {},
	"none": {},
	// Quinlan 1986, as in Mitchell's table 3.1.
	"id3": {Measure: "gain", Binary: ptr(false), MinRows: ptr(1.0), Prune: "none", M: ptr(0.0)},
	// Quinlan 1993.
	"c4.5": {Measure: "ratio", Binary: ptr(false), MinRows: ptr(2.0), Prune: "rules", Estimate: "ucf", CF: 0.25, Missing: missingKnown},
	// Breiman et al. 1984: ten folds, the smallest tree within a standard error.
	"cart": {Measure: "gini", Binary: ptr(true), Prune: "cv"},
	// Cestnik, Kononenko and Bratko 1987: two branches, m-estimates for
	// pruning and in the leaves.
	"assistant": {Measure: "gain", Binary: ptr(true), Prune: "pessimistic", Estimate: "m"},
}

func ptr[T any](x T) *T { return &x }

// resolve fills in the preset and the defaults, and checks what is left.
func (l *Learner) resolve() (settings, error) {
	p, ok := presets[l.Preset]
	if !ok {
		return settings{}, fmt.Errorf("setting preset=%s: expected none, id3, c4.5, cart or assistant", l.Preset)
	}
	s := settings{
		Measure:      first(l.Measure, p.Measure, "gain"),
		Binary:       *firstOf(l.Binary, p.Binary, ptr(true)),
		MinRows:      *firstOf(l.MinRows, p.MinRows, ptr(2.0)),
		MaxDepth:     l.MaxDepth,
		MinGain:      l.MinGain,
		Stop:         first(l.Stop, p.Stop, "none"),
		Significance: first(l.Significance, 0.05),
		Prune:        first(l.Prune, p.Prune, "auto"),
		Estimate:     first(l.Estimate, p.Estimate, "ucf"),
		CF:           first(l.CF, p.CF, 0.05),
		Z:            first(l.Z, 1.96),
		Missing:      first(l.Missing, p.Missing, missingFractions),
		M:            *firstOf(l.M, p.M, ptr(2.0)),
		Costs:        l.Costs,
		Cost:         first(l.Cost, "ratio"),
		CostWeight:   *firstOf(l.CostWeight, ptr(1.0)),
		Keep:         first(l.Keep, "rows"),
		Slope:        l.Slope,
	}
	if s.Prune == "cv" {
		s.Folds, s.SE = first(l.Folds, 10), *firstOf(l.SE, ptr(1.0))
	}
	if l.Splits == "oblique" {
		s.Splits = l.Splits
	} else if l.Splits != "" && l.Splits != "axis" {
		return s, fmt.Errorf("setting splits=%s: expected axis or oblique", l.Splits)
	}
	if l.Search == "bfs" {
		s.Search = l.Search
	} else if l.Search != "" && l.Search != "greedy" {
		return s, fmt.Errorf("setting search=%s: expected greedy or bfs", l.Search)
	}
	return s, s.check()
}

// first returns the first value that is set.
func first[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

func firstOf[T any](values ...*T) *T {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		value, isChoice := map[string]string{
			"measure": s.Measure, "stop": s.Stop, "prune": s.Prune, "estimate": s.Estimate,
			"missing": s.Missing, "cost": s.Cost, "keep": s.Keep,
		}[o.Key]
		if isChoice && !slices.Contains(o.Choices, value) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	switch {
	case !(s.MinRows > 0 && s.MinRows <= 1e300):
		return fmt.Errorf("setting min-rows=%v: expected a number above 0", s.MinRows)
	case s.MaxDepth < 0:
		return fmt.Errorf("setting max-depth=%d: expected 0 (no limit) or more", s.MaxDepth)
	case !(s.MinGain >= 0 && s.MinGain <= 1e300):
		return fmt.Errorf("setting min-gain=%v: expected 0 or more", s.MinGain)
	case !(s.Significance > 0 && s.Significance < 1):
		return fmt.Errorf("setting significance=%v: expected a number between 0 and 1", s.Significance)
	case !(s.CF > 0 && s.CF < 1):
		return fmt.Errorf("setting cf=%v: expected a number between 0 and 1", s.CF)
	case !(s.Z >= 0 && s.Z <= 1e3):
		return fmt.Errorf("setting z=%v: expected 0 to 1000", s.Z)
	case !(s.M >= 0 && s.M <= 1e300):
		return fmt.Errorf("setting m=%v: expected 0 or more", s.M)
	case !(s.CostWeight >= 0 && s.CostWeight <= 1):
		return fmt.Errorf("setting cost-weight=%v: expected 0 to 1", s.CostWeight)
	case s.Prune == "cv" && (s.Folds < 2 || s.Folds > 1000):
		return fmt.Errorf("setting folds=%d: expected 2 to 1000", s.Folds)
	case s.Prune == "cv" && !(s.SE >= 0 && s.SE <= 1e3):
		return fmt.Errorf("setting se=%v: expected 0 to 1000", s.SE)
	case s.Search != "" && s.Search != "bfs":
		return fmt.Errorf("setting search=%s: expected greedy or bfs", s.Search)
	case s.Splits != "" && s.Splits != "oblique":
		return fmt.Errorf("setting splits=%s: expected axis or oblique", s.Splits)
	case s.Splits == "oblique" && s.Search == "bfs":
		return fmt.Errorf("settings splits=oblique and search=bfs: the search from simple to complex tests nominal columns; grow with search=greedy")
	case s.Splits == "oblique" && s.Costs != "":
		return fmt.Errorf("settings splits=oblique and costs: a sum asks for several columns at once, and costs are of one; use splits=axis")
	case s.Search == "bfs" && !slices.Contains([]string{"auto", "none", "pessimistic", "mdl"}, s.Prune):
		return fmt.Errorf("settings search=bfs and prune=%s: the smallest tree that is right on all rows can be pruned by pessimistic, mdl or none", s.Prune)
	case s.Slope != "" && (s.Prune == "rules" || s.Splits == "oblique" || s.Search == "bfs"):
		return fmt.Errorf("setting slope=%s: a tree of tests of one column goes one way along it; leave out prune=rules, splits=oblique and search=bfs", s.Slope)
	case s.Prune == "pessimistic" && s.Estimate == "validation":
		return fmt.Errorf("settings prune=pessimistic and estimate=validation: a tree is pruned on held-out rows by prune=error")
	}
	return nil
}

// costing reads the costs of columns.
func (s *settings) costing(schema *table.Schema) (costing, error) {
	if s.Costs == "" {
		return costing{}, nil
	}
	c := costing{method: s.Cost, weight: s.CostWeight, of: make([]float64, len(schema.Attributes))}
	for i := range c.of {
		c.of[i] = 1
	}
	for _, item := range strings.Split(s.Costs, ",") {
		colon := strings.LastIndex(item, ":")
		if colon < 0 {
			return c, fmt.Errorf("setting costs: %q has no cost; write COLUMN:COST,COLUMN:COST", item)
		}
		name := strings.TrimSpace(item[:colon])
		col := schema.Index(name)
		if col < 0 {
			return c, fmt.Errorf("setting costs: unknown column %q%s", name, spell.Hint(name, schema.Names()))
		}
		cost, err := strconv.ParseFloat(strings.TrimSpace(item[colon+1:]), 64)
		if err != nil || !(cost > 0 && cost < 1e300) {
			return c, fmt.Errorf("setting costs: cost of %q is %q, expected a number above 0", name, item[colon+1:])
		}
		c.of[col] = cost
	}
	return c, nil
}

// Learn grows a tree from the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	column, err := task.Column()
	if err != nil {
		return nil, err
	}
	if column == learn.NoTarget {
		return nil, fmt.Errorf("tree needs a column to predict; name one of %s", strings.Join(task.Table.Schema.Names(), ", "))
	}
	if s.Keep == "nothing" {
		t, err := learnable(task.Table, column)
		if err != nil {
			return nil, err
		}
		m, err := modelOf(ctx, kept.ViewOf(t), task.Target, task.Seed, s)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	v, keep, err := kept.Survey(ctx, task.Table, task.Source, column)
	if err != nil {
		return nil, err
	}
	m, err := modelOf(ctx, v, task.Target, task.Seed, s)
	if err != nil {
		return nil, err
	}
	if m.rows, err = keep(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// learnable returns the rows that have a target and weigh something, with
// values in canonical order. Cells are shared where nothing has to change, so
// that a tree that keeps no rows needs no copy of them.
func learnable(t *table.Table, target int) (*table.Table, error) {
	column := t.Columns[target]
	var kept []int
	for r := range t.Rows() {
		known := column.Codes != nil && column.Codes[r] >= 0 || column.Floats != nil && !table.IsMissing(column.Floats[r])
		if known && t.Weight(r) > 0 {
			kept = append(kept, r)
		}
	}
	if len(kept) < t.Rows() {
		t = t.Select(kept)
	}
	schema := table.CopySchema(t.Schema)
	for i := range schema.Attributes {
		table.SortValues(schema.Attributes[i].Values)
	}
	t, _, err := table.Conform(t, schema, false)
	return t, err
}

// learnRows grows a tree from rows that were gathered.
func learnRows(ctx context.Context, rows *kept.Rows, target string, seed uint64, s settings) (learn.Model, error) {
	v, err := rows.View(ctx)
	if err != nil {
		return nil, err
	}
	m, err := modelOf(ctx, v, target, seed, s)
	if err != nil {
		return nil, err
	}
	m.rows = rows
	return m, nil
}

// modelOf grows a tree from a view of rows.
func modelOf(ctx context.Context, v *kept.View, target string, seed uint64, s settings) (*Model, error) {
	m := &Model{settings: s, seed: seed, schema: v.Schema, target: v.Schema.Index(target)}
	if m.target < 0 {
		return nil, fmt.Errorf("no source has the target %q any more", target)
	}
	a := &v.Schema.Attributes[m.target]
	if v.Rows() == 0 || a.Kind == table.Nominal && len(a.Values) == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	if a.Kind == table.Numeric && (s.Stop != "none" || s.Prune == "mdl" || s.Prune == "rules") {
		return nil, fmt.Errorf("settings stop=%s, prune=%s: target %q is numeric, and chi2, mdl and rules are for classes; use prune=pessimistic, error, cost or none", s.Stop, s.Prune, target)
	}
	if a.Kind == table.Nominal && s.Measure == "variance" {
		return nil, fmt.Errorf("setting measure=variance: target %q is nominal; use gain, ratio, distance, gini or kearns", target)
	}
	if _, err := s.ways(v.Schema, m.target); err != nil {
		return nil, err
	}
	if err := m.grow(ctx, v); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

// manyRows is the weight of rows from which on a third can be held out.
const manyRows = 20_000

// pruning returns how a tree of these rows is pruned.
func (s *settings) pruning(v *kept.View, target int) string {
	if s.Prune != "auto" {
		return s.Prune
	}
	if s.Search == "bfs" {
		return "none"
	}
	rows := 0.0
	for r := range v.Rows() {
		rows += v.Weight(r)
	}
	if rows >= manyRows || v.Schema.Attributes[target].Kind == table.Numeric {
		return "cost"
	}
	return "pessimistic"
}

func init() {
	learn.Register(learn.Info{
		Name:     "tree",
		Summary:  "decision and regression trees: ID3, C4.5, CART",
		Source:   "Quinlan 1986, 1993; Breiman et al. 1984; Mitchell 1997, ch. 3",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Curve: true, Keep: true, Grow: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (keep=nothing: only the tree)",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

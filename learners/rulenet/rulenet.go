package rulenet

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "rulenet"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "rule networks: IF-THEN rules found by information, weighed into posterior probabilities",
		Source:   "Higgins & Goodman 1991; J-measure: Smyth & Goodman 1992",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (update=published: coded rows and the rule of each, contract none)",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes rule networks. Its zero value is ready to use.
type Learner struct {
	Weights   string  `set:"weights" default:"calibrated" oneof:"published|all|calibrated" doc:"what a rule adds: ln p(x|y)/p(x) to its class, that to every class, or weights refitted by penalised logistic regression"`
	Grow      string  `set:"grow" default:"residual (with weights=calibrated and not update=published; else none)" oneof:"none|residual" doc:"add rules where the network is wrong, in rounds, stopped on validation"`
	Ties      string  `set:"ties" default:"information" oneof:"information|random|first" doc:"which of equally good rules a climb goes on with: drop the test that says least of the class, any, or the first column's"`
	Update    string  `set:"update" default:"exact" oneof:"exact|published|none" doc:"learning more rows: equal to learning all at once, the published incremental search, or not at all, and no rows are kept"`
	Templates string  `set:"templates" default:"auto (all up to 4000 distinct rows, else a sample of 2000)" doc:"examples to climb from: auto, all or a number"`
	Cuts      string  `set:"cuts" default:"both" oneof:"mdl|frequency|both" doc:"cuts of numeric columns: supervised (Fayyad & Irani 1993), 16 intervals of equal frequency, or both where there are few rows or no supervised cuts"`
	Penalty   float64 `set:"penalty" default:"0.1" doc:"for weights=calibrated: penalty on a unit of weight, times the square root of the rows"`
	Knowledge string  `set:"knowledge" default:"blend" oneof:"blend|units" doc:"an expert's rules: blended into the answers, as for every learner, or taken in as units of the network"`
	Rounds    int     `set:"rounds" default:"30" doc:"for grow=residual: rounds at most"`
}

var _ learn.Learner = (*Learner)(nil)

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	Weights   string  `cbor:"weights"`
	Grow      string  `cbor:"grow"`
	Ties      string  `cbor:"ties"`
	Update    string  `cbor:"update"`
	Templates int     `cbor:"templates"` // 0: all; automatic
	Cuts      string  `cbor:"cuts"`
	Penalty   float64 `cbor:"penalty"`
	Rounds    int     `cbor:"rounds"`
	Knowledge string  `cbor:"knowledge,omitempty"`
}

// automatic climbs from all examples where that is quick, and else from as
// many as are enough: over eight sets of 5,000 to 50,000 rows, 1,000 to 4,000
// gave networks as accurate as each other.
const (
	automatic = -1
	quickly   = 4000
	enough    = 2000
)

func (l *Learner) settings() (settings, error) {
	s := settings{Weights: l.Weights, Grow: l.Grow, Ties: l.Ties, Update: l.Update, Cuts: l.Cuts, Penalty: l.Penalty, Rounds: l.Rounds, Knowledge: l.Knowledge}
	for _, o := range []struct {
		field *string
		word  string
	}{{&s.Weights, "calibrated"}, {&s.Ties, "information"}, {&s.Update, "exact"}, {&s.Cuts, "both"}, {&s.Knowledge, "blend"}} {
		if *o.field == "" {
			*o.field = o.word
		}
	}
	if s.Grow == "" {
		s.Grow = "none"
		if s.Weights == "calibrated" && s.Update != "published" {
			s.Grow = "residual"
		}
	}
	if s.Penalty == 0 {
		s.Penalty = 0.1
	}
	if s.Rounds == 0 {
		s.Rounds = 30
	}
	switch l.Templates {
	case "", "auto":
		s.Templates = automatic
	case "all":
	default:
		n, err := strconv.Atoi(l.Templates)
		if err != nil || n < 1 {
			return s, fmt.Errorf("setting templates=%s: expected auto, all or a whole number above 0", l.Templates)
		}
		s.Templates = n
	}
	return s, s.check()
}

// check refuses settings that make no sense, read from anywhere.
func (s settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		word, isChoice := map[string]string{"weights": s.Weights, "grow": s.Grow, "ties": s.Ties, "update": s.Update, "cuts": s.Cuts, "knowledge": cmp.Or(s.Knowledge, "blend")}[o.Key]
		known := !isChoice
		for _, choice := range o.Choices {
			known = known || choice == word
		}
		if !known {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, word, strings.Join(o.Choices, ", "))
		}
	}
	switch {
	case s.Grow == "residual" && s.Weights != "calibrated":
		return fmt.Errorf("setting grow=residual: it grows where a calibrated network is wrong; use weights=calibrated")
	case s.Grow == "residual" && s.Update == "published":
		return fmt.Errorf("setting grow=residual: the published update does not grow by residuals; use update=exact or grow=none")
	case !(s.Penalty > 0 && s.Penalty <= 1e6):
		return fmt.Errorf("setting penalty=%v: expected a number above 0", s.Penalty)
	case s.Rounds < 1 || s.Rounds > 10000:
		return fmt.Errorf("setting rounds=%d: expected 1 to 10000", s.Rounds)
	case s.Templates < automatic:
		return fmt.Errorf("setting templates=%d: expected a number above 0", s.Templates)
	}
	return nil
}

func (s settings) ties() tieBreak {
	switch s.Ties {
	case "random":
		return byChance
	case "first":
		return byPosition
	}
	return byInformation
}

// Learn returns the network of the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	attributes := task.Table.Schema.Attributes
	switch {
	case task.Target < 0 || task.Target >= len(attributes):
		return nil, fmt.Errorf("rulenet predicts a class and needs a column to predict; name one of %s", strings.Join(task.Table.Schema.Names(), ", "))
	case attributes[task.Target].Kind != table.Nominal:
		return nil, fmt.Errorf("rulenet predicts classes, but target %q is numeric; read it as nominal, or use a learner for numbers", attributes[task.Target].Name)
	}
	gathering := (&learn.Rows{}).Gather(task.Source, task.Target, nil)
	if err := gathering.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := gathering.Rows(ctx)
	if err != nil {
		return nil, err
	}
	m, err := learnRows(ctx, rows, attributes[task.Target].Name, task.Seed, s)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// learnRows makes the network of rows that were gathered: a function of the
// multiset of rows, the seed and the settings.
func learnRows(ctx context.Context, rows *learn.Rows, target string, seed uint64, s settings) (*Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	at := t.Schema.Index(target)
	if at < 0 {
		return nil, fmt.Errorf("no source has the target %q any more", target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	w, err := newWorkshop(ctx, t, at, seed, s)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: seed, rows: rows, coding: w.coding, counts: w.classWeights(w.weights)}
	if s.Update == "published" {
		if m.stream, err = w.stream(ctx); err != nil {
			return nil, err
		}
		m.rows = nil
		return m, m.weighStream(ctx)
	}
	if s.Update == "none" {
		m.rows = nil
	}
	if s.Grow == "residual" {
		err = w.grow(ctx, m)
	} else {
		err = w.weigh(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	return m, m.settle(ctx)
}

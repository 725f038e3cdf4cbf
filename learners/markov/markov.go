// Package markov learns from sequences: rows that belong together, in order,
// such as the words of a sentence or the days of a diary.
//
// A hidden Markov model takes each row to have a state, which depends on the
// state of the row before, and cells that depend on the state alone:
//
//	P(states, cells) = P(s₁)·P(o₁|s₁) · Π P(sₜ|sₜ₋₁)·P(oₜ|sₜ)
//
// (Baum & Petrie 1966; Rabiner 1989). Where the states are the target, learning
// is counting: starts, moves from state to state, and what each state shows.
// Nominal cells are m-estimates, (n + m·p)/(N + m) with p uniform, numeric cells
// normal densities whose variance is one too, as in naive Bayes, which this model
// is for sequences of one row. Several columns are independent given the state; a
// missing cell is a factor of 1; there is no end state.
//
// What each source brought is kept as a block of counts of its own: learning more
// is adding to a block, merging is putting blocks side by side, forgetting is
// dropping one, and each equals learning from the rows themselves.
//
// Asked for a row, the model looks at the whole sequence: at all paths, by the
// forward and backward sums (decode=posterior), or at the best path through each
// state (decode=viterbi, Viterbi 1967), so that the answers of a sequence are its
// most probable path. Sums are scaled row by row, and taken in logarithms where
// that would leave the range of numbers.
//
// With order=k a nominal cell depends on the k cells before it too: with one
// state that is a Markov chain of order k. Longer contexts are m-estimates whose
// p is the estimate of the shorter one. With whole=true the target is of the
// sequence: each class has a model of its own, and a sequence gets the class
// under which it is most probable. With states=n each class, or without a target
// the whole, has n hidden states, found by Baum–Welch (see baumwelch.go).
//
// A symbol of which no row is known gets its probability from those that were
// seen once (see alphabet.go).
//
// Learning costs one pass over the cells; answering n² additions a row for n
// states. Memory is one number for each state and symbol in each source.
package markov

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "markov"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "sequences: hidden Markov models and Markov chains, by counts or by Baum–Welch",
		Source:   "Rabiner 1989; Viterbi 1967; Baum et al. 1970; unknown words: Brants 2000",
		Takes:    learn.Takes{Nominal: true, Missing: true, Classes: true, Density: true, Sequences: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Density: true},
		Contract: learn.Exact,
		Keeps:    "counts per source: starts, moves and symbols by state, moments of numbers by state",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes Markov models. Its zero value is ready to use.
type Learner struct {
	// States is how many hidden states each class has or, without a target,
	// there are. More than one are found by Baum–Welch.
	States   *int     `set:"states" default:"1" doc:"hidden states of each class or, without a target, in all; more than one are found by Baum-Welch"`
	Emission string   `set:"emission" default:"symbols" oneof:"symbols|gaussian|mixed" doc:"what a state shows: names, numbers (a normal density each), or each column by its kind"`
	Decode   string   `set:"decode" default:"viterbi" oneof:"viterbi|posterior" doc:"answer by the most probable path, or by the most probable state of each row"`
	Unknown  string   `set:"unknown" default:"shape, where 100 or more were seen once; else one" oneof:"one|shape" doc:"symbols seen once or never: all are one, or classes by capitals, digits and the last letters"`
	Order    int      `set:"order" default:"0" doc:"how many cells before it a nominal cell depends on, besides the state"`
	Whole    bool     `set:"whole" default:"false" doc:"the target is of whole sequences: a model for each class"`
	M        *float64 `set:"m" default:"1" doc:"rows that each estimate is given besides its own, spread evenly (m-estimate)"`
	// The rest is of Baum–Welch.
	Restarts   int     `set:"restarts" default:"10" doc:"with states: random beginnings, of which the best is carried on"`
	Iterations int     `set:"iterations" default:"500" doc:"with states: passes over the rows at most"`
	Tolerance  float64 `set:"tolerance" default:"1e-7" doc:"with states: gain of log likelihood a row that is worth another pass"`
}

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	States     int     `cbor:"states"`
	Emission   string  `cbor:"emission"`
	Decode     string  `cbor:"decode"`
	Unknown    string  `cbor:"unknown"`
	Order      int     `cbor:"order"`
	Whole      bool    `cbor:"whole"`
	M          float64 `cbor:"m"`
	Restarts   int     `cbor:"restarts"`
	Iterations int     `cbor:"iterations"`
	Tolerance  float64 `cbor:"tolerance"`
}

const (
	maxOrder  = 4
	maxStates = 1000
)

func (l *Learner) settings() (settings, error) {
	s := settings{
		States: 1, Emission: cmp.Or(l.Emission, "symbols"), Decode: cmp.Or(l.Decode, "viterbi"), Unknown: l.Unknown, Order: l.Order, Whole: l.Whole,
		M: 1, Restarts: cmp.Or(l.Restarts, 10), Iterations: cmp.Or(l.Iterations, 500), Tolerance: cmp.Or(l.Tolerance, 1e-7),
	}
	if l.States != nil {
		s.States = *l.States
	}
	if l.M != nil {
		s.M = *l.M
	}
	return s, s.check()
}

func (s *settings) check() error {
	among := func(key, value string, words ...string) error {
		for _, w := range words {
			if value == w {
				return nil
			}
		}
		return fmt.Errorf("setting %s=%s: expected one of %s", key, value, strings.Join(words, ", "))
	}
	for _, err := range []error{
		among("emission", s.Emission, "symbols", "gaussian", "mixed"), among("decode", s.Decode, "viterbi", "posterior"), among("unknown", s.Unknown, "", "one", "shape"),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case s.States < 1 || s.States > maxStates:
		return fmt.Errorf("setting states=%d: expected 1 to %d hidden states", s.States, maxStates)
	case s.Order < 0 || s.Order > maxOrder:
		return fmt.Errorf("setting order=%d: expected 0 to %d cells", s.Order, maxOrder)
	case s.Order > 0 && s.States > 1:
		return fmt.Errorf("settings order=%d and states=%d: cells that depend on those before them need states that are known; leave one of the two out", s.Order, s.States)
	case !(s.M >= 0 && s.M <= moment.MaxWeight):
		return fmt.Errorf("setting m=%v: expected a number from 0 to %g", s.M, float64(moment.MaxWeight))
	case s.Restarts < 1 || s.Restarts > 10000:
		return fmt.Errorf("setting restarts=%d: expected 1 to 10000", s.Restarts)
	case s.Iterations < 1 || s.Iterations > 100000:
		return fmt.Errorf("setting iterations=%d: expected 1 to 100000", s.Iterations)
	case !(s.Tolerance > 0 && s.Tolerance < math.MaxFloat64):
		return fmt.Errorf("setting tolerance=%v: expected a number above 0", s.Tolerance)
	}
	return nil
}

// Check tells settings that do not go together before any row is read.
func (l *Learner) Check() error {
	_, err := l.settings()
	return err
}

// Promise says what updates are worth: counts of states that are known are exact,
// hidden ones go on from what was found before.
func (l *Learner) Promise() learn.Promise {
	if s, err := l.settings(); err == nil && s.States > 1 {
		return learn.Promise{}
	}
	return learn.Promise{Contract: learn.Exact}
}

// Learn returns the model of the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	rows, target := task.Table.WithoutText(target)
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	if err := s.checkColumns(rows.Schema, target); err != nil {
		return nil, err
	}
	if err := table.Distinct(rows.Schema); err != nil {
		return nil, err
	}
	if s.States > 1 && rows.Rows() > 0 && s.States > rows.Rows() {
		return nil, fmt.Errorf("setting states=%d: there are %d rows; expected fewer states than rows", s.States, rows.Rows())
	}
	schema := table.CopySchema(rows.Schema)
	m := &Model{settings: s, schema: schema, target: target, seed: task.Seed, written: &bundle.Shelf[*block]{}}
	u := m.begin(newBlock(task.Source, schema, target, &s), table.NewVocabulary(schema, schema))
	if err := u.Add(ctx, rows); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}

// checkColumns refuses a target that is no class, and columns of another kind
// than the settings say.
func (s *settings) checkColumns(schema *table.Schema, target int) error {
	if target != learn.NoTarget && schema.Attributes[target].Kind != table.Nominal {
		return fmt.Errorf("markov predicts states, which have names, but target %q is numeric; read it as nominal", schema.Attributes[target].Name)
	}
	if s.Whole && target == learn.NoTarget {
		return fmt.Errorf("setting whole=true: the class of a sequence is a target; name it")
	}
	for j := range schema.Attributes {
		a := &schema.Attributes[j]
		if j == target || a.Open() {
			continue
		}
		switch {
		case a.Kind == table.Numeric && s.Emission == "symbols":
			return remedy.New(remedy.Remedy{Kind: remedy.ChooseColumns}, "column %q holds numbers, and states show names (emission=symbols): read it as nominal, leave it out, or have emission=gaussian or mixed", a.Name)
		case a.Kind == table.Nominal && s.Emission == "gaussian":
			return remedy.New(remedy.Remedy{Kind: remedy.ChooseColumns}, "column %q holds names, and states show numbers (emission=gaussian): leave it out, or have emission=symbols or mixed", a.Name)
		}
	}
	return nil
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}

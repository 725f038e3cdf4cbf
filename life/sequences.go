package life

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// sequencer is a model of whole sequences: each of their rows is in one of some
// states.
type sequencer interface {
	learn.Model
	// States names what rows are answered with: classes or, without a target,
	// hidden states.
	States() []string
	// Decode fills in the probability of each state for each row.
	Decode(ctx context.Context, t *table.Table, p []float64) error
	// Wholes calls each for every sequence, in order.
	Wholes(ctx context.Context, t *table.Table, each func(from, to int, logLikelihood float64, path []int32, logProbability float64)) error
}

// Answerer returns what predicts: a model that has a target or, where rows are in
// hidden states, the model with these as its target.
func Answerer(p *Part) (learn.Model, error) {
	if p.Target() != learn.NoTarget {
		return p.Model, nil
	}
	if s, ok := learn.Ability[sequencer](p.Model); ok && len(s.States()) > 1 {
		return newHidden(s), nil
	}
	if _, ok := p.Model.(interface{ Program() *logic.Program }); ok {
		return nil, fmt.Errorf("%s is a logic program and has no rows to answer for: ask it a goal, as in accrete ask %s 'parent(X, ann)'", p.Name, p.Name)
	}
	return nil, fmt.Errorf("%s is a density of all columns and has no target to predict", p.Name)
}

// hidden is a model with its hidden states as the target. Tables have the model's
// columns alone.
type hidden struct {
	sequencer
	schema *table.Schema
}

func newHidden(s sequencer) *hidden {
	columns := s.Schema().Attributes
	state := table.Attribute{Name: "state", Values: s.States()}
	return &hidden{s, &table.Schema{Attributes: append(columns[:len(columns):len(columns)], state), Sequence: s.Schema().Sequence}}
}

func (h *hidden) Schema() *table.Schema { return h.schema }
func (h *hidden) Target() int           { return len(h.schema.Attributes) - 1 }
func (h *hidden) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	return h.Decode(ctx, t, out.P)
}

// reading is how rows are read for a model to answer: its columns, and which of
// them is the target, "" if none.
func reading(m learn.Model) (schema *table.Schema, target string) {
	if h, ok := m.(*hidden); ok {
		return h.sequencer.Schema(), ""
	}
	if m.Target() == learn.NoTarget {
		return m.Schema(), ""
	}
	schema, target = m.Schema(), m.Schema().Attributes[m.Target()].Name
	if schema.Sequence != "" && AnswersAlone(m) {
		schema = &table.Schema{Attributes: schema.Attributes, Linked: schema.Linked}
	}
	return schema, target
}

// AnswersAlone reports whether a model answers for a row whatever stands before
// it, though it may have learnt from sequences: what to do in a state is the same in
// every episode.
func AnswersAlone(m learn.Model) bool {
	_, acts := learn.Ability[policy](m)
	return acts || m.Schema().Sequence == ""
}

// whole hands batches on so that no sequence is cut: the last one waits for the
// next batch, or the end.
type whole struct {
	use  func(t *table.Table) error
	rest *table.Table
}

func (w *whole) add(t *table.Table) (err error) {
	if t.Sequence == nil {
		return w.use(t)
	}
	if w.rest != nil {
		if t, err = table.Concat(w.rest, t); err != nil {
			return err
		}
	}
	cut := t.Rows()
	for cut > 0 && t.Sequence[cut-1] == t.Sequence[t.Rows()-1] {
		cut--
	}
	w.rest = t.Slice(cut, t.Rows())
	if cut == 0 {
		return nil
	}
	return w.use(t.Slice(0, cut))
}

func (w *whole) end() error {
	if w.rest == nil {
		return nil
	}
	return w.use(w.rest)
}

// Sequence is the answer for a whole sequence.
type Sequence struct {
	Sequence       string             `json:"sequence"`
	LogLikelihood  float64            `json:"log_likelihood"`
	Path           []string           `json:"path"`
	LogProbability float64            `json:"path_log_probability"`
	Prediction     string             `json:"prediction,omitempty"`
	Probabilities  map[string]float64 `json:"probabilities,omitempty"`
}

// Sequences answers for each sequence of data, in its order. Where the model says
// that sequences have one class, that is its prediction.
func (h *Home) Sequences(ctx context.Context, p *Part, d *Data, each func(Sequence) error) error {
	m, ok := learn.Ability[sequencer](p.Model)
	if !ok {
		return fmt.Errorf("%s answers row by row; models of sequences (markov) answer for whole ones", p.Name)
	}
	one, _ := learn.Ability[interface{ OfWholes() bool }](p.Model)
	bar, done := h.progress("predicting")
	defer done()
	return h.batches(ctx, m, d, bar, func(t *table.Table) (err error) {
		states := m.States()
		probabilities := make([]float64, t.Rows()*len(states))
		if one.OfWholes() {
			if err := m.Decode(ctx, t, probabilities); err != nil {
				return err
			}
		}
		failed := m.Wholes(ctx, t, func(from, to int, logLikelihood float64, path []int32, logProbability float64) {
			s := Sequence{Sequence: fmt.Sprint(from + 1), LogLikelihood: logLikelihood, LogProbability: logProbability}
			if t.Sequence != nil {
				s.Sequence = t.SequenceNames[t.Sequence[from]]
			}
			for _, state := range path {
				s.Path = append(s.Path, states[state])
			}
			if one.OfWholes() {
				p := probabilities[from*len(states):][:len(states)]
				s.Prediction, s.Probabilities = states[learn.Best(p, states)], byClass(&table.Attribute{Values: states}, p)
			}
			if err == nil {
				err = each(s)
			}
		})
		if failed != nil {
			return failed
		}
		return err
	})
}

// JSONSequences writes answers for sequences as lines of JSON.
func JSONSequences(w io.Writer) (write func(Sequence) error, flush func() error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return func(s Sequence) error { return e.Encode(s) }, func() error { return nil }
}

// CSVSequences writes answers for sequences as CSV; flush writes what is still
// buffered.
func CSVSequences(w io.Writer) (write func(Sequence) error, flush func() error) {
	cw := csv.NewWriter(w)
	_ = cw.Write([]string{"sequence", "log_likelihood", "path_log_probability", "path"}) // an error stays with the writer until flush
	write = func(s Sequence) error {
		path := strings.Join(s.Path, " ")
		if s.Prediction != "" {
			path = s.Prediction
		}
		return cw.Write([]string{s.Sequence, decimal(s.LogLikelihood), decimal(s.LogProbability), path})
	}
	flush = func() error {
		cw.Flush()
		return cw.Error()
	}
	return write, flush
}

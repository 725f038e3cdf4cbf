// Package accrete is learning that you can read, correct and keep, in five
// lines of Go:
//
//	m, err := accrete.LearnFile(ctx, "people.csv", "income")
//	answer, err := m.Ask(map[string]any{"age": 54, "education": "Masters"})
//	fmt.Println(answer.Class, answer.Probability, answer.Reasons[0].Text)
//	m, err = m.Update(ctx, "more.csv")
//	err = m.Save("people.accrete")
//
// A Model is immutable and safe for concurrent use: learning more or being told
// something returns another one. What is saved here the command line imports,
// and the other way round.
//
// This is the doorstep of the house. Behind it are life (what happens to a
// model), learn (the contract of learners and models) and table (rows); see the
// map in README.md.
package accrete

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all" // every kind of model can be learnt and read
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Model is what was learnt. It is immutable and safe for concurrent use.
type Model struct {
	part      *life.Part
	home      *life.Home
	target    *table.Attribute
	explainer learn.Explainer // nil if the model cannot explain
	desks     sync.Pool       // of *desk
}

// Option says how to learn.
type Option func(*life.LearnOptions, *life.Home)

// Learner chooses how to learn by name, as listed by the command line; without
// it the learner fits the target.
func Learner(name string) Option {
	return func(o *life.LearnOptions, _ *life.Home) { o.Choice.Learner = name }
}

// Set gives the learner's parameter a value.
func Set(key, value string) Option {
	return func(o *life.LearnOptions, _ *life.Home) {
		if o.Choice.Settings == nil {
			o.Choice.Settings = map[string]string{}
		}
		o.Choice.Settings[key] = value
	}
}

// Seed is that of everything random; 1 without it.
func Seed(seed uint64) Option {
	return func(_ *life.LearnOptions, h *life.Home) { h.Seed = seed }
}

// Nominal, Numeric and Ignore overrule how columns are read.
func Nominal(columns ...string) Option {
	return func(o *life.LearnOptions, _ *life.Home) { o.Data.Reading.Nominal = columns }
}

// Numeric names columns to read as numbers.
func Numeric(columns ...string) Option {
	return func(o *life.LearnOptions, _ *life.Home) { o.Data.Reading.Numeric = columns }
}

// Ignore names columns to leave out.
func Ignore(columns ...string) Option {
	return func(o *life.LearnOptions, _ *life.Home) { o.Data.Reading.Ignore = columns }
}

// Weight names the column with the weight of each row.
func Weight(column string) Option {
	return func(o *life.LearnOptions, _ *life.Home) { o.Data.Reading.Weight = column }
}

// Rules are what an expert knows beforehand, in the rule language; each says
// with WORTH how many cases it is worth.
func Rules(text string) Option {
	return func(o *life.LearnOptions, _ *life.Home) {
		o.Rules = &life.Rules{File: "rules", Text: []byte(text)}
	}
}

// LearnFile learns to predict the target from the other columns of a file (CSV,
// TSV, ARFF, Parquet, JSON lines, also packed) or of a built-in set. Without a
// target, a built-in set's own is taken.
func LearnFile(ctx context.Context, path, target string, opts ...Option) (*Model, error) {
	h := &life.Home{Now: time.Now, Seed: 1}
	d, err := h.Find(path, life.Reading{})
	if err != nil {
		return nil, err
	}
	o := life.LearnOptions{Data: d, Target: target}
	for _, set := range opts {
		set(&o, h)
	}
	p, err := h.LearnInMemory(ctx, o)
	if err != nil {
		return nil, err
	}
	return newModel(h, p), nil
}

// Load reads a model that Save or the command line's export wrote.
func Load(path string) (*Model, error) {
	m, history, err := store.ReadFile(path)
	if err != nil {
		return nil, err
	}
	last := history.Versions[len(history.Versions)-1]
	return newModel(&life.Home{Now: time.Now, Seed: last.Seed}, &life.Part{Model: m, Name: history.Model, Version: last, Versions: history.Versions}), nil
}

func newModel(h *life.Home, p *life.Part) *Model {
	m := &Model{part: p, home: h}
	if p.Target() != learn.NoTarget {
		m.target = &p.Schema().Attributes[p.Target()]
		m.explainer, _ = learn.Ability[learn.Explainer](p.Model)
	}
	m.desks.New = func() any { return newDesk(p.Model) }
	return m
}

// Save writes the model to a file that Load and the command line's import read.
// The file is there whole or not at all.
func (m *Model) Save(path string) error {
	dir, err := os.MkdirTemp("", "accrete-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	v := m.part.Version
	v.Parent = 0
	if before := m.part.Versions[:len(m.part.Versions)-1]; len(before) > 0 {
		v.History = append(slices.Clone(before), v.History...)
	}
	if _, err := s.Save(context.Background(), m.part.Name, m.part.Model, v); err != nil {
		return err
	}
	return s.Export(m.part.Name, path)
}

// Update returns the model that has learnt the rows of another file too,
// without the old ones.
func (m *Model) Update(ctx context.Context, path string) (*Model, error) {
	d, err := m.home.Find(path, life.Reading{})
	if err != nil {
		return nil, err
	}
	p, err := m.home.UpdateInMemory(ctx, m.part, d)
	if err != nil {
		return nil, err
	}
	return newModel(m.home, p), nil
}

// Tell returns the model that was told what an expert knows, in the rule
// language: IF fever = high THEN illness = flu WITH 0.9 WORTH 50. The rules are
// weighed against the rows that the model learnt from, which it must keep, or
// which must still be where they were.
func (m *Model) Tell(ctx context.Context, rules string) (*Model, error) {
	p, err := m.home.TellInMemory(ctx, m.part, life.Rules{File: "rules", Text: []byte(rules)})
	if err != nil {
		return nil, err
	}
	return newModel(m.home, p), nil
}

// Rule is a rule with its evidence; its JSON is that of the command line.
type Rule = life.RuleEntry

// Rules returns what the model knows as rules, none if it cannot be read as
// rules.
func (m *Model) Rules() []Rule {
	list, err := life.RuleEntries(context.Background(), m.part, life.RulesOptions{})
	if err != nil {
		return nil
	}
	return list.Rules
}

// Answer is what a model says of a row. Of a number there are Number and the
// ends of a 95 % interval, of a class its name and its probability.
type Answer struct {
	Class             string
	Number, Low, High float64
	Probability       float64
	Probabilities     map[string]float64
	// Reasons speak for and against the answer, the strongest first; their
	// weights add up to the logarithm of its probability, or to the number,
	// together with what is the same for every row.
	Reasons []Reason
}

// Reason is a piece of evidence.
type Reason struct {
	Rule   string // the rule's id, "" if it is none
	Text   string // in the rule language
	Class  string
	Weight float64
}

// Ask answers for a row: a map from names of columns to cells (numbers,
// strings, bools, times), or a struct, whose fields are columns of the same
// name or of the name in the tag `accrete:"name"`. Columns that are not given
// are missing; names of columns that the model does not know are an error.
func (m *Model) Ask(row any) (Answer, error) {
	if m.target == nil {
		return Answer{}, fmt.Errorf("%s is a density of all columns and has no target to ask for", m.part.Name)
	}
	d := m.desks.Get().(*desk)
	defer m.desks.Put(d)
	t, err := d.builder.Only(row)
	if err != nil {
		return Answer{}, err
	}
	if err := m.part.Predict(context.Background(), t, d.out); err != nil {
		return Answer{}, err
	}
	var a Answer
	class := 0
	if m.target.Kind == table.Numeric {
		a.Number, a.Low, a.High = d.out.Mean[0], d.out.Low[0], d.out.High[0]
	} else {
		p := d.out.Row(0)
		class = learn.Best(p, m.target.Values)
		a.Class, a.Probability = m.target.Values[class], p[class]
		a.Probabilities = make(map[string]float64, len(p))
		for c, x := range p {
			a.Probabilities[m.target.Values[c]] = x
		}
	}
	if m.explainer == nil {
		return a, nil
	}
	a.Reasons, err = m.reasons(t, class)
	return a, err
}

// reasons returns the evidence on one class, strongest first.
func (m *Model) reasons(t *table.Table, class int) ([]Reason, error) {
	x, err := m.explainer.Explain(t, 0)
	if err != nil {
		return nil, err
	}
	var all []Reason
	for _, e := range x.Evidence {
		if e.Class != class {
			continue
		}
		r := Reason{Rule: e.ID, Text: e.Text, Weight: e.Weight}
		if m.target.Kind == table.Nominal {
			r.Class = m.target.Values[class]
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return all, nil
}

// desk is where one row at a time is made ready for a model.
type desk struct {
	builder *table.Builder
	out     *learn.Predictions
}

func newDesk(m learn.Model) *desk {
	return &desk{table.NewBuilder(m.Schema()), learn.NewPredictions(m, 1)}
}

// Package theory learns from rows and from what is already believed of them: a
// domain theory that may be incomplete and partly wrong.
//
// Learner kbann (Shavlik & Towell 1989; Towell & Shavlik 1994; Mitchell 1997,
// section 12.3) makes the theory the start. Each rule of a propositional theory
// becomes a unit of a network with weights and a threshold such that the network
// answers, before it has seen a row, exactly as the theory does (construct.go).
// Links of almost no weight lead from every unit to those of the next level:
// what the theory does not speak of can be learnt. Then the weights descend the
// error on the rows.
//
// After Fu (1989, 1993) the network is a rule base drawn: each concept is a unit of
// its own over all that concludes it, be it one rule or several; the body of a rule
// is a conjunction unit below it unless it is a single test, which the concept reads
// directly; and there are the links of the rules alone, whose weights descend.
//
// Here they descend to the most probable weights a posteriori: the error is the
// cross entropy of all rows, and beside it stands half of trust times the squared
// distance from where the theory put the weights, which is the logarithm of a
// normal prior around the theory. Its deviation is W unless told otherwise, trust
// being 1/W²: it is no surprise that a link of the theory should not be there, or
// that one should be there, as strong as the others, that it does not have. So a few rows change little, data outvotes the
// theory as it grows, and there is no number of epochs to find. Before that, answers
// are made as certain as the rows bear out (sharpen), so that rows which the theory
// answers right ask for little change, and a perfect theory stays perfect.
//
// What was learnt is given back as rules (extract.go): units are read as so many of
// some literals (M-of-N, Towell & Shavlik 1993), limits of numbers are moved to
// where they came to lie (limits.go), and of all that training moved a little that
// is told which makes a difference, in few changes of the theory (revise.go). Each
// of its rules is said to be kept, changed or dropped.
//
// With both a theory and earlier models that explain the rows (explained) the
// network begins as the one and learns the slopes of the others (joined.go).
//
// Without a theory there are hidden units, and the learner is an ordinary network.
// Its neighbours are rule, which reads and orders theories, and learn/kept, which
// keeps the rows, so that an update is exact.
package theory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "kbann"

// Learner makes a theory a network and trains it. Its zero value is ready to use.
//
// An epoch costs a multiplication and an addition, twice, for each row, unit and
// column; memory is a float for each input and unit.
type Learner struct {
	Weight    *float64 `set:"weight" default:"4" doc:"W, the weight of the theory's links to begin with; it is raised until the network answers as the theory on all rows"`
	After     string   `set:"after" default:"towell" oneof:"towell|fu" doc:"whose network a theory becomes: that of Towell and Shavlik, which has further links, or that of Fu, a concept unit over a conjunction unit for each rule of several tests, with the links of the rules alone"`
	Near      *float64 `set:"near" default:"0.05" doc:"greatest weight of the links that the theory does not have, to begin with"`
	Links     string   `set:"links" default:"next" oneof:"next|all|none" doc:"links that the theory does not have: from each level to the next, from the inputs to all levels too, or none"`
	Hidden    *int     `set:"hidden" default:"0, 10 without a theory" doc:"units more, which read all inputs"`
	Trust     *float64 `set:"trust" default:"1/W²" doc:"how firmly the weights are held to where the theory put them: half of this times the squared distance is added to the error of the rows"`
	Choose    string   `set:"criterion" default:"none" doc:"kD:kB, as in 1:0.5: of networks held to the theory by several trusts, that with the least kD × share of unseen rows answered wrongly + kB × share of random rows answered other than by the theory"`
	From      string   `set:"from" model:"true" default:"none" doc:"an earlier network of kbann, perhaps of another target, to begin as: what both have by name"`
	Explained string   `set:"explained" model:"true" default:"none" doc:"earlier models that explain the rows, as in stable,cup: the network, which begins as the theory, learns how their answers change with each cell beside the classes (ebnn's error)"`
	Mu        *float64 `set:"mu" default:"1" doc:"for explained: how much slopes count, times how far each explanation is trusted"`
	Epochs    *int     `set:"epochs" default:"100" doc:"times that the rows are gone through at most; 0 leaves the network as the theory made it"`
}

// settings are a learner's parameters with nothing left open, and the theory.
type settings struct {
	Weight    float64 `cbor:"weight"`
	After     string  `cbor:"after,omitempty"`
	Near      float64 `cbor:"near"`
	Links     string  `cbor:"links"`
	Hidden    int     `cbor:"hidden"` // -1: what suits the theory
	Trust     float64 `cbor:"trust"`  // -1: what W says
	Choose    string  `cbor:"criterion,omitempty"`
	Epochs    int     `cbor:"epochs"`
	Theory    string  `cbor:"theory,omitempty"`    // in the rule language
	From      string  `cbor:"from,omitempty"`      // names and models, see transfer
	Explained string  `cbor:"explained,omitempty"` // likewise
	Mu        float64 `cbor:"mu,omitempty"`
}

// The links that a theory does not have.
const (
	linksNext = "next"
	linksAll  = "all"
	linksNone = "none"
)

// afterFu is the network of rules and concepts.
const afterFu = "fu"

// withoutTheory is how many units there are if nobody says.
const withoutTheory = 10

func (s *settings) hidden(theory bool) int {
	switch {
	case s.Hidden >= 0:
		return s.Hidden
	case theory:
		return 0
	}
	return withoutTheory
}

// resolve fills in the defaults and checks what is left.
func (l *Learner) resolve() (settings, error) {
	s := settings{
		Weight: setting.Or(l.Weight, 4), Near: setting.Or(l.Near, 0.05), Links: l.Links, Hidden: setting.Or(l.Hidden, -1),
		Trust: setting.Or(l.Trust, -1), Choose: l.Choose, Epochs: setting.Or(l.Epochs, 100), From: l.From,
		Explained: l.Explained,
	}
	if s.Explained != "" {
		s.Mu = setting.Or(l.Mu, 1)
	}
	if l.After == afterFu {
		if l.Links != "" && l.Links != linksNone || l.Near != nil {
			return s, errors.New("setting after=fu: its network has the links of the rules alone; leave out links and near")
		}
		s.After, s.Links = afterFu, linksNone
	}
	if l.Trust != nil && s.Trust < 0 {
		return s, fmt.Errorf("setting trust=%v: expected a number from 0", s.Trust)
	}
	if l.Trust != nil && s.Choose != "" {
		return s, errors.New("setting trust: the criterion chooses it; give one of the two")
	}
	if s.Links == "" {
		s.Links = linksNext
	}
	if l.Hidden != nil && s.Hidden < 0 {
		return s, fmt.Errorf("setting hidden=%d: expected 0 or more", s.Hidden)
	}
	return s, s.check()
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	switch {
	case !(s.Weight > 0 && s.Weight <= mostWeight):
		return fmt.Errorf("setting weight=%v: expected a number above 0, at most %v", s.Weight, mostWeight)
	case !(s.Near >= 0 && s.Near <= 1):
		return fmt.Errorf("setting near=%v: expected a number from 0 to 1", s.Near)
	case !slices.Contains([]string{"", afterFu}, s.After):
		return fmt.Errorf("setting after=%s: expected towell or fu", s.After)
	case !slices.Contains([]string{linksNext, linksAll, linksNone}, s.Links):
		return fmt.Errorf("setting links=%s: expected next, all or none", s.Links)
	case s.Hidden < -1 || s.Hidden > 10_000:
		return fmt.Errorf("setting hidden=%d: expected 0 to 10000", s.Hidden)
	case s.Trust != -1 && !(s.Trust >= 0 && s.Trust <= 1e12):
		return fmt.Errorf("setting trust=%v: expected a number from 0", s.Trust)
	case !(s.Mu >= 0 && s.Mu <= 1e9):
		return fmt.Errorf("setting mu=%v: expected a number from 0", s.Mu)
	case s.From != "" && s.Explained != "":
		return errors.New("settings from and explained: give one of the two; earlier models either begin a network or explain its rows")
	case s.Epochs < 0 || s.Epochs > 1_000_000:
		return fmt.Errorf("setting epochs=%d: expected 0 to 1000000", s.Epochs)
	}
	_, err := s.criterion()
	return err
}

// Learn builds the network of the task's theory and trains it on its rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	if theory := task.Advice.Theory; theory != nil {
		bare := &rule.Base{}
		for _, r := range theory.Rules {
			bare.Rules = append(bare.Rules, rule.Rule{If: r.If, Then: r.Then})
		}
		bare.Else, bare.Units = theory.Else, theory.Units
		s.Theory = bare.String()
	}
	from, err := s.earlierNetwork()
	if err != nil {
		return nil, err
	}
	if err := s.inherit(from, task.Target); err != nil {
		return nil, err
	}
	if s.After == afterFu && s.Theory == "" {
		return nil, errors.New("setting after=fu: there is no theory to make a network of; give one, or leave the setting out")
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target})
}

// theoryFor reads the theory of a model about the columns of its rows.
func (s *settings) theoryFor(schema *table.Schema) (*rule.Theory, error) {
	if s.Theory == "" {
		return &rule.Theory{Schema: schema}, nil
	}
	base, err := rule.Parse("theory", []byte(s.Theory))
	if err != nil {
		return nil, err
	}
	theory, err := rule.NewTheory(base, schema)
	if err != nil {
		return nil, err
	}
	if len(theory.Contradictions) > 0 {
		var all []string
		for _, c := range theory.Contradictions {
			all = append(all, c.String())
		}
		return nil, errors.New(strings.Join(all, "; ") + "; take one of the two out")
	}
	return theory, nil
}

// learnRows makes the network and trains it: a function of the rows, the settings
// and the seed.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, schema: t.Schema, target: t.Schema.Index(l.Target)}
	if m.target < 0 || t.Schema.Attributes[m.target].Kind != table.Nominal {
		return nil, fmt.Errorf("no source has the target %q with classes", l.Target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", l.Target)
	}
	m.found = lookAt(t, m.target)
	if err := m.build(); err != nil {
		return nil, err
	}
	examples, err := m.examples(ctx, t)
	if err != nil {
		return nil, err
	}
	m.counts = make([]float64, len(t.Schema.Attributes[m.target].Values))
	for i := range examples {
		m.counts[examples[i].class] += examples[i].times
	}
	if m.fared, err = m.explained(ctx, t, examples); err != nil {
		return nil, err
	}
	m.raise(examples)
	m.net.weights = m.initialise(m.w, &m.lesson.Settings, l.Seed)
	from, err := l.Settings.earlierNetwork()
	if err != nil {
		return nil, err
	}
	if from != nil {
		m.transfer(from, m.net.weights)
	}
	if err := m.settleTrust(ctx, t, examples); err != nil {
		return nil, err
	}
	if len(m.theory.Rules) > 0 && l.Settings.Epochs > 0 {
		m.sharpen(examples)
	}
	if err := m.train(ctx, examples); err != nil {
		return nil, err
	}
	m.compare(examples)
	m.fared.Astray = m.astray(examples)
	m.base = m.extract(t, examples)
	learn.Report(ctx, 1)
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "a theory's rules as a network, corrected by the rows",
		Source:   "Shavlik & Towell 1989; Towell & Shavlik 1994; Mitchell 1997, section 12.3",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Theory: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Keep: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source, and the theory",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

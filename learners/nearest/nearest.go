// Package nearest is instance-based learning: cases are kept, and generalised
// only when a question comes (Mitchell, Machine Learning, 1997, chapter 8).
//
// The learner nearest answers by the k cases nearest to the row (Cover and
// Hart 1967): the majority of their classes, or the mean of their numbers.
// With weight=distance each counts by 1/d² (equations 8.2 to 8.4); with k=all
// as well, that is Shepard's method. A case at distance 0 then decides alone.
//
// How near is near is the metric's affair (metric.go). HVDM, the default, is
// the heterogeneous distance of Wilson and Martinez (1997): numbers |a−b|/4σ,
// names by how differently the classes share them out, missing cells 1. Of a
// numeric target, names differ by their means of it, over 4σ. Euclid's counts
// names that differ as 1 and a missing number as the √2 σ that two rows drawn
// at random are apart; Hamming's counts cells that differ. A column that never
// varies, or has no known cell, has no say; where none has, all rows are
// equally near and the answer is their distribution.
//
// Where the k-th and the next row are equally far, the first in row order counts:
// source after source, each in the order of its rows. Learning more, merging and
// forgetting are exact: the answers are those of all sources learnt at once in
// that order. With ties=cells the order is that of the cells, column by column,
// rows with equal inputs being one case with the distribution of their targets:
// then answers do not depend on the order in which rows came. A row of weight w
// counts as w rows. Of equally frequent classes the one with the smaller sum of
// distances is answered.
//
// One row more costs its own place, amortised O(log² n): what is chosen is settled
// by the first rows, all but less than a 32nd part, and anew when they have grown by
// that (grow.go). Of 10,000 rows one costs a quarter of a millisecond instead of
// half a second, of 100,000 as much.
//
// With k=auto, k is what errs least when each row in turn is left out, which
// costs no learning again; from 2000 rows on, a sample of them is left out.
// So are chosen m, which smooths probabilities (votes + m/classes)/(k + m), and
// the width of the interval around a number.
//
// Axes can be stretched (section 8.2.2): with stretch=eliminate columns are left
// out, or taken in one by one if that serves better, with stretch=global each gets a factor, as long as fewer rows that are
// left out are answered wrongly, or as many with less loss. That costs a search
// for each column, a few times over; where k and distance are given, or there are
// over 2000 cases, it is done only if it is asked for. On ten small sets leaving
// columns out took the mean accuracy of 5 folds from 86.7 % to 90.3 %; factors,
// which have more to choose from, did no better on most.
//
// Search is exact, by brute force, by a kd-tree (Bentley 1975; Friedman et al.
// 1977) or by a ball tree (Omohundro 1989): the same cases, whichever is used.
package nearest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// Name is what the learner is registered as.
const Name = "nearest"

// Learner answers by the nearest cases. Its zero value is ready to use.
type Learner struct {
	K          string   `set:"k" default:"auto" doc:"how many of the nearest rows answer: a number, auto (what errs least when rows are left out one by one) or all"`
	Distance   string   `set:"distance" default:"hvdm, or euclid where scale is given" oneof:"euclid|hvdm|hamming" doc:"how far rows are from each other"`
	Weight     string   `set:"weight" default:"uniform" oneof:"uniform|distance" doc:"each of the k rows counts alike, or by 1/d²"`
	Scale      string   `set:"scale" default:"sd" oneof:"sd|range|none" doc:"the unit of each number with distance=euclid: its standard deviation, its range, or as it stands"`
	Index      string   `set:"index" default:"auto" oneof:"auto|brute|kd|ball|graph" doc:"how the nearest are found: by looking at all, by a kd-tree or a tree of balls, which is exact, or by a graph, which finds nearly all"`
	Stretch    string   `set:"stretch" default:"none where k and distance are given or over 2000 cases are kept, else eliminate" oneof:"none|eliminate|global|local" doc:"stretch axes by what errs least when rows are left out: none, leave columns out, or give each a factor; local: anew for each question"`
	Prototypes string   `set:"prototypes" default:"none" oneof:"none|edit|condense|both" doc:"keep some rows only: without those that their neighbours outvote, only those that are needed to answer the others, or both"`
	Ties       string   `set:"ties" default:"row" oneof:"row|cells" doc:"which of equally far rows count: the first to come, or the first by its cells, whatever the order in which rows came"`
	Recall     *float64 `set:"recall" default:"0.99" doc:"share of the nearest rows that a graph is to find, measured with rows held out"`
	M          *float64 `set:"m" default:"what serves best when rows are left out" doc:"rows of all classes in equal parts that are added to the k for probabilities"`
}

// settings are a learner's parameters with the words filled in.
type settings struct {
	K          string  `cbor:"k"`
	Distance   string  `cbor:"distance"`
	Weight     string  `cbor:"weight"`
	Scale      string  `cbor:"scale"`
	Index      string  `cbor:"index"`
	Stretch    string  `cbor:"stretch"`
	M          float64 `cbor:"m"` // below 0: by leave-one-out
	Recall     float64 `cbor:"recall,omitempty"`
	Ties       string  `cbor:"ties,omitempty"`
	Prototypes string  `cbor:"prototypes,omitempty"`
}

// What decides between equally far rows. The first models said nothing of it and
// went by cells.
const (
	byRow   = "row"
	byCells = "cells"
)

// defaultRecall is the share of the nearest rows that a graph is to find.
const defaultRecall = 0.99

// The words of k that are no numbers.
const (
	auto = "auto"
	all  = "all"
)

// What is done to axes besides what can be set: none is to leave them as they
// are, modest to eliminate where that takes little time, and locally to do it
// for each question anew.
const (
	none    = "none"
	locally = "local"
	modest  = "modest"
)

// mostM bounds m, so that sums stay finite.
const mostM = 1e9

func (l *Learner) resolve() (settings, error) {
	s := settings{K: l.K, Distance: l.Distance, Weight: l.Weight, Scale: l.Scale, Index: l.Index, Stretch: l.Stretch, M: -1, Recall: defaultRecall, Ties: l.Ties, Prototypes: l.Prototypes}
	if l.Recall != nil {
		s.Recall = *l.Recall
	}
	if l.M != nil {
		if s.M = *l.M; !(s.M > 0 && s.M <= mostM) {
			return s, fmt.Errorf("setting m=%v: expected a number above 0, of at most %v", *l.M, mostM)
		}
	}
	if s.Distance == "" {
		if s.Distance = "hvdm"; s.Scale != "" {
			s.Distance = "euclid"
		}
	}
	if given := s.K != "" && s.K != auto && (l.Distance != "" || l.Scale != ""); s.Stretch == "" {
		if s.Stretch = modest; given {
			s.Stretch = none
		}
	}
	if s.Scale != "" && s.Distance != "euclid" {
		return s, fmt.Errorf("setting scale=%s: distance=%s has its own scale; leave one of the two out", s.Scale, s.Distance)
	}
	for field, word := range map[*string]string{&s.K: auto, &s.Weight: "uniform", &s.Scale: "sd", &s.Index: "auto", &s.Ties: byRow, &s.Prototypes: none} {
		if *field == "" {
			*field = word
		}
	}
	return s, s.check()
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		value, isChoice := map[string]string{"distance": s.Distance, "weight": s.Weight, "scale": s.Scale, "index": s.Index, "stretch": s.Stretch, "ties": s.Ties, "prototypes": s.Prototypes}[o.Key]
		if isChoice && !slices.Contains(o.Choices, value) && value != modest {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	if s.K != auto && s.K != all {
		if k, err := strconv.Atoi(s.K); err != nil || k < 1 || strconv.Itoa(k) != s.K {
			return fmt.Errorf("setting k=%s: expected a whole number from 1, auto or all", s.K)
		}
	}
	if !(s.Recall > 0 && s.Recall <= 1) {
		return fmt.Errorf("setting recall=%v: expected a share above 0, of at most 1", s.Recall)
	}
	if !(s.M <= mostM) {
		return fmt.Errorf("setting m=%v: expected at most %v", s.M, mostM)
	}
	return nil
}

// keeps checks the settings; rows are always kept. The first models did not
// stretch axes and say nothing of it.
func (s *settings) keeps() (bool, error) {
	if s.Stretch == "" {
		s.Stretch = none
	}
	if s.Recall == 0 {
		s.Recall = defaultRecall
	}
	if s.Ties == "" {
		s.Ties = byCells
	}
	if s.Prototypes == "" {
		s.Prototypes = none
	}
	return true, s.check()
}

// Check tells settings that do not go together.
func (l *Learner) Check() error {
	_, err := l.resolve()
	return err
}

// Learn keeps the task's rows, and chooses what is to be chosen by them.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := gather(ctx, task, Name)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, lesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target}, nil)
}

// lesson is what a model is learnt by, besides its rows.
type lesson = kept.Lesson[settings]

// learnRows makes a model of rows that were gathered. What was chosen when
// they were learnt before need not be chosen again.
func learnRows(ctx context.Context, rows *kept.Rows, l lesson, chosen *chosen) (learn.Model, error) {
	return learnKept(ctx, rows, l, chosen, false)
}

// learnKept is learnRows; again says that the rows are prototypes already.
func learnKept(ctx context.Context, rows *kept.Rows, l lesson, chosen *chosen, again bool) (learn.Model, error) {
	cases, err := casesOf(ctx, rows, l.Target, l.Settings.Ties)
	if err != nil {
		return nil, err
	}
	if k, err := strconv.Atoi(l.Settings.K); err == nil && float64(k) > cases.weight {
		return nil, fmt.Errorf("setting k=%d: there are %.6g rows; choose a k up to that, auto or all", k, cases.weight)
	}
	settled, seen := cases.settled(&l.Settings)
	by := settled
	if chosen != nil {
		if err := chosen.check(cases); err != nil {
			return nil, err
		}
		if by = chosen.Settled; by == 0 {
			by = cases.table.Rows()
		}
	}
	first := cases.first(by)
	m, err := settle(ctx, l, first, chosen)
	if err != nil {
		return nil, err
	}
	m.settled = first.weight
	m.rows = &holding{rows: rows, first: cases.table.Rows()}
	if seen != nil {
		m.chosen.Settled = by
	}
	if by < cases.table.Rows() {
		all, err := m.grown(ctx, cases, false)
		if err != nil {
			return nil, err
		}
		m = all.(*Model)
	}
	if by == settled {
		m.seen = seen
	}
	if chosen != nil {
		return m, nil
	}
	if l.Settings.Prototypes != none && !again {
		return m.reduced(ctx)
	}
	learn.Report(ctx, 1)
	return m, nil
}

// settle makes a model of the cases that all choices are made by.
func settle(ctx context.Context, l lesson, cases *cases, chosen *chosen) (*Model, error) {
	m := &Model{lesson: l, cases: cases}
	if chosen != nil {
		m.chosen = *chosen
		err := m.measure(ctx, m.chosen.Stretch)
		m.chosen.graph = nil
		return m, err
	}
	z, err := stretched(ctx, l, cases)
	if err != nil {
		return nil, err
	}
	if err := m.measure(ctx, z); err != nil {
		return nil, err
	}
	if m.chosen, err = m.choose(ctx); err != nil {
		return nil, err
	}
	m.chosen.Stretch = z
	return m, nil
}

// grown returns the model with more cases behind its own.
func (m *Model) grown(ctx context.Context, c *cases, copied bool) (grower, error) {
	g := &Model{lesson: m.lesson, rows: m.rows.next(), cases: c, metric: m.metric.grown(c, copied), chosen: m.chosen, seen: m.seen, settled: m.settled, rooms: m.rooms}
	if k, err := strconv.Atoi(m.lesson.Settings.K); err == nil {
		g.chosen.K = min(float64(k), c.weight)
	} else if m.lesson.Settings.K == all || len(m.metric.numbers)+len(m.metric.names) == 0 {
		g.chosen.K = c.weight // all answer
	}
	var err error
	g.index, err = m.index.grown(ctx, g.metric, m.cases.count(), c.count())
	return g, err
}

func (m *Model) novelty() *seen            { return m.seen }
func (m *Model) settledBy() (int, float64) { return m.chosen.Settled, m.settled }

// reduced returns the model of a model's prototypes.
func (m *Model) reduced(ctx context.Context) (learn.Model, error) {
	if m.cases.classes == nil {
		return nil, fmt.Errorf("setting prototypes=%s: the target %q has numbers, and prototypes are of classes; leave it out", m.lesson.Settings.Prototypes, m.lesson.Target)
	}
	rows, err := m.condensed(ctx)
	if err != nil {
		return nil, err
	}
	l := m.lesson
	if k, err := strconv.Atoi(l.Settings.K); err == nil && float64(k) > rows.Weight() {
		return nil, fmt.Errorf("setting k=%d: %.6g prototypes are left; choose a k up to that, or auto", k, rows.Weight())
	}
	// What was chosen by all rows holds for their prototypes: those stand where
	// classes meet, and left out one by one they would mislead. A condensed set
	// is made for the nearest one.
	was := m.chosen
	was.K = min(was.K, rows.Weight())
	if l.Settings.K == auto && l.Settings.Prototypes != "edit" {
		was.K = 1
	}
	fewer, err := learnKept(ctx, rows, l, &was, true)
	if err != nil {
		return nil, err
	}
	small := fewer.(*Model)
	if small.chosen.Condensed, err = small.price(ctx, m); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return small, nil
}

// lay lays the cases out with their axes stretched.
func (m *Model) lay(ctx context.Context, z []float64) (err error) {
	if m.metric, err = newMetric(ctx, m.cases, &m.lesson.Settings, z); err != nil {
		return err
	}
	m.rooms = &sync.Pool{New: func() any { return newSearch(m.metric) }}
	return nil
}

// measure lays the cases out, and makes an index of them.
func (m *Model) measure(ctx context.Context, z []float64) error {
	if err := m.lay(ctx, z); err != nil {
		return err
	}
	in, err := newIndex(ctx, m.metric, &m.lesson.Settings, m.chosen.graph)
	m.index = &forest{index: in}
	return err
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "the k nearest cases: the majority of their classes, the mean of their numbers",
		Source:   "Cover & Hart 1967; Mitchell 1997, ch. 8; HVDM: Wilson & Martinez 1997",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "all rows, with their places in their sources",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

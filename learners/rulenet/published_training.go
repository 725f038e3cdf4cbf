package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// training is a table being learnt.
type training struct {
	*examples
	settings settings
	seed     uint64
	table    *table.Table
}

const (
	mostLevels  = 1 << 20 // codes must fit the hash that tells tests apart
	mostClasses = 1 << 16 // classes are the first bits by which rows are sorted
)

// check refuses more values than can be told apart.
func (c *coding) check() error {
	if n := c.classes(); n > mostClasses {
		return fmt.Errorf("target %q has %d classes; a rule network tells at most %d apart: is it a column of names or numbers?", c.schema.Attributes[c.target].Name, n, mostClasses)
	}
	for col, a := range c.schema.Attributes {
		if n := c.levels(col); n > mostLevels {
			return fmt.Errorf("column %q has %d values; at most %d can be told apart: ignore the column", a.Name, n, mostLevels)
		}
	}
	return nil
}

func newTraining(ctx context.Context, t *table.Table, target int, seed uint64, s settings) (*training, error) {
	weight := 0.0
	for r := range t.Rows() {
		weight += t.Weight(r)
	}
	cuts, err := findCuts(ctx, t, target, s.Cuts, weight < fewRows)
	if err != nil {
		return nil, err
	}
	c := coding{t.Schema, target, cuts}
	if err := c.check(); err != nil {
		return nil, err
	}
	x, err := newExamples(ctx, c, t)
	if err != nil {
		return nil, err
	}
	return &training{examples: x, settings: s, seed: seed, table: t}, nil
}

// sampled returns a training of so many rows at most, chosen by a hash of the
// row, with the same cuts.
func (w *training) sampled(ctx context.Context, most int) (*training, error) {
	if len(w.class) <= most {
		return w, nil
	}
	if w.table == nil {
		return w.sampledRows(ctx, most)
	}
	hashes, err := kept.HashRows(ctx, w.table)
	if err != nil {
		return nil, err
	}
	limit := uint64(float64(most) / float64(len(hashes)) * math.MaxUint64)
	var rows []int
	for r, h := range hashes {
		if scramble(h^w.seed) <= limit {
			rows = append(rows, r)
		}
	}
	part := &training{settings: w.settings, seed: w.seed, table: w.table.Select(rows)}
	part.examples, err = newExamples(ctx, w.coding, part.table)
	return part, err
}

// sampledRows does so with distinct rows alone, where there is no table.
func (w *training) sampledRows(ctx context.Context, most int) (*training, error) {
	limit := uint64(float64(most) / float64(len(w.class)) * math.MaxUint64)
	part := &incremental{coding: w.coding, codes: make([][]int32, len(w.codes))}
	for row, class := range w.class {
		if w.hash(row) > limit {
			continue
		}
		part.class, part.weights = append(part.class, class), append(part.weights, w.weights[row])
		for col, codes := range w.codes {
			if codes != nil {
				part.codes[col] = append(part.codes[col], codes[row])
			}
		}
	}
	x, err := part.layOut(ctx)
	return &training{examples: x, settings: w.settings, seed: w.seed}, err
}

// classWeights adds up the weights of the distinct rows by class.
func (s *examples) classWeights(weights []float64) []float64 {
	sums := make([]float64, s.classes())
	for i, c := range s.class {
		sums[c] += weights[i]
	}
	return sums
}

// searches returns a search for each class that has rows of some weight.
func (w *training) searches(l *counter) []*search {
	all := make([]*search, w.classes())
	for c := range all {
		if l.class[c] > 0 {
			all[c] = newSearch(w.examples, l, c, w.settings.ties(), w.seed)
		}
	}
	return all
}

// templates returns the examples to climb from among the rows of some weight: all
// of them, or as many as the settings say, chosen by a hash of the row. Their
// weights add up to that of all rows. It also returns the greatest hash that
// was chosen.
func (w *training) templates(weights []float64) ([]template, uint64) {
	var all []template
	total := 0.0
	for i, x := range weights {
		if x > 0 {
			all = append(all, template{i, int(w.class[i]), x})
			total += x
		}
	}
	n := w.settings.Templates
	if n == automatic {
		if n = sampledTemplates; len(all) <= mostTemplates {
			n = 0
		}
	}
	if n == 0 || len(all) <= n {
		return all, math.MaxUint64
	}
	hashes, order := make([]uint64, len(all)), make([]int32, len(all))
	for i, t := range all {
		hashes[i], order[i] = w.hash(t.row), int32(i)
	}
	radix.Sort(hashes, order)
	limit := hashes[n-1]
	chosen := order[:n]
	slices.Sort(chosen)
	for i, at := range chosen {
		all[i] = all[at]
	}
	all = all[:n]
	part := 0.0
	for _, t := range all {
		part += t.weight
	}
	for i := range all {
		all[i].weight *= total / part
	}
	return all, limit
}

// hash returns a hash of a distinct row.
func (w *training) hash(row int) uint64 { return hashRow(w.seed, w.class, w.codes, row) }

// hashRow returns a hash of a row's codes, its class and the seed.
func hashRow(seed uint64, class []int32, codes [][]int32, row int) uint64 {
	h := scramble(seed ^ uint64(class[row]))
	for col, codes := range codes {
		if codes != nil {
			h += scramble(uint64(col)<<32 ^ uint64(uint32(codes[row])))
		}
	}
	return scramble(h)
}

// findRules runs the published search on rows of some weight.
func (w *training) findRules(ctx context.Context, weights []float64) ([]foundRule, error) {
	templates, _ := w.templates(weights)
	rules, err := climbAll(ctx, w.searches(newCounter(w.examples, weights)), templates)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rules, func(f foundRule) bool { return len(f.rule) == 0 }), nil
}

// folds deals the weight of each row of the table out to so many parts, by a
// hash of the row: each case goes to a part of its own, as if equal rows had
// never been put together.
func (w *training) folds(ctx context.Context, parts int) ([][]float64, error) {
	hashes, err := kept.HashRows(ctx, w.table)
	if err != nil {
		return nil, err
	}
	dealt := make([][]float64, parts)
	for p := range dealt {
		dealt[p] = make([]float64, len(hashes))
	}
	for r, h := range hashes {
		left := w.table.Weight(r)
		for p := range dealt {
			dealt[p][r] = left
			if p < parts-1 {
				dealt[p][r] = kept.HoldOut(h, scramble(w.seed)+uint64(p), left, 1/float64(parts-p))
			}
			left -= dealt[p][r]
		}
	}
	return dealt, nil
}

// withWeights returns the same rows coded by cuts that only rows of some
// weight have a say in, so that rows held out stay unseen.
func (w *training) withWeights(ctx context.Context, weights []float64) (*training, error) {
	if !slices.ContainsFunc(w.cuts, func(c *encode.Cuts) bool { return c != nil }) {
		return w, nil
	}
	var rows []int
	var some []float64
	for r, weight := range weights {
		if weight > 0 {
			rows, some = append(rows, r), append(some, weight)
		}
	}
	chosen, err := table.New(w.table.Schema, w.table.Select(rows).Columns, some)
	if err != nil {
		return nil, err
	}
	c := coding{w.schema, w.target, nil}
	if c.cuts, err = findCuts(ctx, chosen, w.target, w.settings.Cuts, w.fine()); err != nil {
		return nil, err
	}
	x, err := newExamples(ctx, c, w.table)
	return &training{examples: x, settings: w.settings, seed: w.seed, table: w.table}, err
}

// fine reports whether there are so few rows that numbers are cut finely.
func (w *training) fine() bool { return sum(w.weights) < fewRows }

// distinctWeights adds up weights of the table's rows by distinct row.
func (w *training) distinctWeights(weights []float64) []float64 {
	sums := make([]float64, len(w.class))
	for r, i := range w.distinct {
		sums[i] += weights[r]
	}
	return sums
}

package rulenet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Rows that are counted elsewhere. Where there are more rows than one machine
// holds, rules are found in some of them, and counted over all: rows that fire
// the same units are one pattern, and the classes of each pattern are all that
// the weights are fitted to. Patterns of parts add up.

// Tally is the rows of a part as the units of a network see them. Tallies of
// parts add up to that of all, in any order.
type Tally struct {
	Classes  []string  `cbor:"classes"`
	Counts   []float64 `cbor:"counts"`   // weight of the rows by class
	Units    []float64 `cbor:"units"`    // of each unit and class
	Patterns []Pattern `cbor:"patterns"` // by key, ascending
	// Below is what keys of the patterns that are there are at most: all are, or
	// where they are too many those of the lowest keys.
	Below uint64 `cbor:"below"`
}

// Pattern is the rows that fire the same units.
type Pattern struct {
	Key    uint64    `cbor:"key"`
	Fires  []int32   `cbor:"fires"` // ascending
	Counts []float64 `cbor:"counts"`
}

// mostPatterns is how many weights are fitted to at most: as fitRows, of which
// each is at least one.
const mostPatterns = fitRows

// Tally counts a table whose columns are the model's. Rows without a class are
// left out. A class that the network does not know is an error.
func (m *Model) Tally(ctx context.Context, t *table.Table) (*Tally, error) {
	if err := m.fits(t); err != nil {
		return nil, err
	}
	classes := m.coding.classes()
	tally := &Tally{Classes: m.coding.schema.Attributes[m.coding.target].Values, Counts: make([]float64, classes), Units: make([]float64, classes*len(m.units)), Below: math.MaxUint64}
	rows, of := t.Rows(), t.Columns[m.coding.target].Codes
	for r, c := range of {
		if int(c) >= classes || c == table.Unseen {
			return nil, fmt.Errorf("row %d has a class that none of the rows has that rules were found in", r+1)
		}
		if c >= 0 {
			tally.Counts[c] += t.Weight(r)
		}
	}
	fired := make([]bits.Set, len(m.units))
	if err := learn.Each(ctx, len(m.units), func(u int) {
		fired[u] = make(bits.Set, bits.Words(rows))
		m.matchers[u].Match(t, fired[u])
	}); err != nil {
		return nil, err
	}
	keys := make([]uint64, rows)
	for u, set := range fired {
		h := scramble(uint64(u) + 1)
		for r := range set.All {
			keys[r] += h
			if c := of[r]; c >= 0 {
				tally.Units[u*classes+int(c)] += t.Weight(r)
			}
		}
	}
	index := map[uint64]int{}
	for r, c := range of {
		if c < 0 {
			continue
		}
		k := scramble(keys[r])
		at, known := index[k]
		if !known {
			at = len(tally.Patterns)
			index[k] = at
			p := Pattern{Key: k, Counts: make([]float64, classes)}
			for u, set := range fired {
				if set.Get(r) {
					p.Fires = append(p.Fires, int32(u))
				}
			}
			tally.Patterns = append(tally.Patterns, p)
		}
		tally.Patterns[at].Counts[c] += t.Weight(r)
	}
	slices.SortFunc(tally.Patterns, byKey)
	tally.cut()
	return tally, nil
}

func byKey(a, b Pattern) int {
	switch {
	case a.Key < b.Key:
		return -1
	case a.Key > b.Key:
		return 1
	}
	return 0
}

// cut leaves the patterns of the lowest keys, if there are too many.
func (a *Tally) cut() {
	if len(a.Patterns) > mostPatterns {
		a.Below = min(a.Below, a.Patterns[mostPatterns-1].Key)
	}
	n := len(a.Patterns)
	for n > 0 && a.Patterns[n-1].Key > a.Below {
		n--
	}
	a.Patterns = a.Patterns[:n]
}

// Add adds the rows of another part, counted by the same network.
func (a *Tally) Add(b *Tally) error {
	if len(a.Counts) != len(b.Counts) || len(a.Units) != len(b.Units) || !slices.Equal(a.Classes, b.Classes) {
		return errors.New("rows that were counted by different networks cannot be added up")
	}
	plus(a.Counts, b.Counts)
	plus(a.Units, b.Units)
	all := make([]Pattern, 0, len(a.Patterns)+len(b.Patterns))
	for i, j := 0, 0; i < len(a.Patterns) || j < len(b.Patterns); {
		switch {
		case j == len(b.Patterns) || i < len(a.Patterns) && a.Patterns[i].Key < b.Patterns[j].Key:
			all = append(all, a.Patterns[i])
			i++
		case i == len(a.Patterns) || b.Patterns[j].Key < a.Patterns[i].Key:
			all = append(all, b.Patterns[j])
			j++
		default:
			p := a.Patterns[i]
			if len(p.Counts) != len(b.Patterns[j].Counts) {
				return errors.New("rows that were counted by different networks cannot be added up")
			}
			p.Counts = slices.Clone(p.Counts)
			plus(p.Counts, b.Patterns[j].Counts)
			all = append(all, p)
			i, j = i+1, j+1
		}
	}
	a.Patterns, a.Below = all, min(a.Below, b.Below)
	a.cut()
	return nil
}

func plus(to, from []float64) {
	for i, x := range from {
		to[i] += x
	}
}

// Counted returns the network's own rules, counted over the rows of a tally
// instead of its own, and with weights that are fitted to them. Rules that cover
// no row, and those whose weight comes to nothing, leave. It keeps no rows.
func (m *Model) Counted(ctx context.Context, tally *Tally) (*Model, error) {
	classes := m.coding.classes()
	if len(tally.Counts) != classes || len(tally.Units) != classes*len(m.units) {
		return nil, errors.New("the rows were counted by another network")
	}
	if m.settings.Weights != "calibrated" {
		return nil, fmt.Errorf("setting weights=%s: weights are fitted to counts with weights=calibrated only", m.settings.Weights)
	}
	d := &design{units: len(m.units), classes: classes}
	var counts []float64
	for _, p := range tally.Patterns {
		d.start = append(d.start, int32(len(d.active)))
		d.active = append(d.active, p.Fires...)
		counts = append(counts, p.Counts...)
	}
	d.start = append(d.start, int32(len(d.active)))
	n := &Model{settings: m.settings, seed: m.seed, coding: m.coding, counts: slices.Clone(tally.Counts), steps: m.steps, stopped: m.stopped, taught: m.taught, share: m.share}
	n.settings.Update = "none"
	if sum(n.counts) == 0 {
		return nil, errors.New("no row has a class; there is nothing to learn from")
	}
	units := make([]*unit, len(m.units))
	rules := make([]foundRule, len(m.units))
	cover := make([][]float64, len(m.units))
	for u := range m.units {
		of := &m.units[u]
		units[u] = of
		rules[u] = foundRule{class: of.class, rule: of.rule, templates: of.templates, round: of.round}
		cover[u] = tally.Units[u*classes : (u+1)*classes]
	}
	r := newRegression(d, counts)
	r.startFrom(units, m.bias)
	share := m.share
	if share == 0 {
		share = 1
	}
	if err := r.fit(ctx, share*m.settings.Penalty*math.Sqrt(r.total), fitPrecision); err != nil {
		return nil, err
	}
	n.takeWeights(rules, r, func(u int) []float64 { return slices.Clone(cover[u]) })
	for c, x := range n.counts { // whose rows fire patterns that are not there
		if x > 0 && math.IsInf(n.bias[c], -1) {
			n.bias[c] = math.Log(x / sum(n.counts))
		}
	}
	n.units = slices.DeleteFunc(n.units, func(u unit) bool { return sum(u.counts) == 0 })
	return n, n.compile(ctx)
}

package expert

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// tally is what one source's rows say of the rules that a model was told: the
// weight of each class among the rows that fired the same rules together.
// Rows that fired none say nothing, and rows without a class count for
// nothing. Rules are marked by bits: rule i is bit i%8 of byte i/8.
type tally struct {
	source learn.Source
	cells  map[string]map[string]float64 // by the rules that fired, then by class
}

func newTally(source learn.Source) *tally { return &tally{source, map[string]map[string]float64{}} }

func (t *tally) clone() *tally {
	c := newTally(t.source)
	c.absorb(t, func(fired string) string { return fired })
	return c
}

// add counts a table's rows.
func (t *tally) add(ctx context.Context, fires []*rule.Matcher, rows *table.Table, target int) error {
	fired := make([]byte, (len(fires)+7)/8)
	names := rows.Schema.Attributes[target].Values
	for row, class := range rows.Columns[target].Codes {
		if row%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		w := rows.Weight(row)
		if class < 0 || w == 0 || !fire(fires, rows, row, fired) {
			continue
		}
		t.cell(string(fired))[names[class]] += w
	}
	return nil
}

// cell returns the classes of the rows that fired these rules.
func (t *tally) cell(fired string) map[string]float64 {
	classes := t.cells[fired]
	if classes == nil {
		classes = map[string]float64{}
		t.cells[fired] = classes
	}
	return classes
}

// absorb adds another tally, whose rules may stand at other places.
func (t *tally) absorb(o *tally, place func(fired string) string) {
	for _, fired := range o.fired() {
		to := place(fired)
		if strings.Trim(to, "\x00") == "" {
			continue
		}
		classes := t.cell(to)
		for class, w := range o.cells[fired] {
			classes[class] += w
		}
	}
}

// fired lists which rules fired together, in a fixed order.
func (t *tally) fired() []string {
	all := make([]string, 0, len(t.cells))
	for fired := range t.cells {
		all = append(all, fired)
	}
	slices.Sort(all)
	return all
}

// behind returns what the source says of one rule.
func (t *tally) behind(i int, class string) Behind {
	b := Behind{Source: t.source}
	for _, fired := range t.fired() {
		if !has([]byte(fired), i) {
			continue
		}
		for _, name := range sortedKeys(t.cells[fired]) {
			w := t.cells[fired][name]
			b.Covered += w
			if name == class {
				b.Correct += w
			}
		}
	}
	return b
}

// pattern is rules that fired together, with the weight of the rows.
type pattern struct {
	fired   string
	weight  float64
	classes []float64
}

// patterns returns the tally over a dictionary of classes.
func (t *tally) patterns(names []string) []pattern {
	var all []pattern
	for _, fired := range t.fired() {
		p := pattern{fired: fired, classes: make([]float64, len(names))}
		for c, name := range names {
			p.classes[c] = t.cells[fired][name]
			p.weight += p.classes[c]
		}
		all = append(all, p)
	}
	return all
}

// The saved form: what the experts said in one part, and a part for the tally
// of each source.
const (
	toldPart  = "told"
	tallyPart = "told/"
)

type savedExpert struct {
	ID    string `cbor:"id"`
	Name  string `cbor:"name"`
	Rules string `cbor:"rules"`
}

type savedTally struct {
	ID      string    `cbor:"id"`
	Name    string    `cbor:"name"`
	Fired   [][]byte  `cbor:"fired"`
	Class   []string  `cbor:"class"`
	Weights []float64 `cbor:"weights"`
}

// Parts returns the model's parts, as they would be without rules, and the
// rules'.
func (m *Told) Parts() ([]learn.Part, error) {
	parts, err := m.inner.Parts()
	if err != nil {
		return nil, err
	}
	experts, rules := m.Experts()
	saved := make([]savedExpert, len(experts))
	for i, e := range experts {
		saved[i] = savedExpert{e.ID, e.Name, rules[i].String()}
	}
	data, err := learn.Marshal(saved)
	if err != nil {
		return nil, err
	}
	parts = append(slices.Clip(parts), learn.Part{Name: toldPart, Data: data})
	for _, t := range m.tallies {
		s := savedTally{ID: t.source.ID, Name: t.source.Name}
		for _, fired := range t.fired() {
			for _, class := range sortedKeys(t.cells[fired]) {
				s.Fired, s.Class, s.Weights = append(s.Fired, []byte(fired)), append(s.Class, class), append(s.Weights, t.cells[fired][class])
			}
		}
		data, err := learn.Marshal(s)
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: tallyPart + t.source.ID, Data: data})
	}
	return parts, nil
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// decodeTold puts the rules that it was told back on top of a model.
func decodeTold(inner learn.Model, parts []learn.Part) (learn.Model, error) {
	m := &Told{inner: inner}
	if inner.Target() == learn.NoTarget || inner.Schema().Attributes[inner.Target()].Kind != table.Nominal {
		return nil, fmt.Errorf("rules about classes on a model without classes")
	}
	for _, p := range parts {
		if p.Name == toldPart {
			if m.rules != nil {
				return nil, fmt.Errorf("two lists of rules")
			}
			if err := m.decodeRules(p.Data); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range parts {
		if p.Name != toldPart {
			if err := m.decodeTally(p.Data); err != nil {
				return nil, err
			}
		}
	}
	return m.ready(), nil
}

func (m *Told) decodeRules(data []byte) error {
	var experts []savedExpert
	if err := learn.Unmarshal(data, &experts); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range experts {
		base, err := rule.Parse("rules of "+e.Name, []byte(e.Rules))
		if err != nil {
			return err
		}
		if known[e.ID] || len(base.Rules) == 0 {
			return fmt.Errorf("an expert twice, or without rules")
		}
		known[e.ID] = true
		target := m.inner.Schema().Attributes[m.inner.Target()].Name
		for _, r := range base.Rules {
			if r.With == nil || r.Worth == nil || *r.Worth > mostWorth || r.Then.Numeric || len(r.Then.Classes)+len(r.Then.By) > 0 || r.Then.Column != target || testsColumn(r.If, target) {
				return fmt.Errorf("a rule that cannot have been told")
			}
			r.Evidence = rule.Evidence{}
			m.rules = append(m.rules, toldRule{r, learn.Source{ID: e.ID, Name: e.Name}})
		}
	}
	if len(m.rules) == 0 {
		return fmt.Errorf("an empty list of rules")
	}
	return nil
}

func (m *Told) decodeTally(data []byte) error {
	var s savedTally
	if err := learn.Unmarshal(data, &s); err != nil {
		return err
	}
	if len(s.Fired) != len(s.Class) || len(s.Fired) != len(s.Weights) {
		return fmt.Errorf("a tally whose columns differ in length")
	}
	t := newTally(learn.Source{ID: s.ID, Name: s.Name})
	if slices.ContainsFunc(m.tallies, func(have *tally) bool { return have.source.ID == s.ID }) {
		return fmt.Errorf("two tallies of one source")
	}
	for i, fired := range s.Fired {
		w := s.Weights[i]
		if len(fired) != m.width() || !(w > 0 && w <= math.MaxFloat64/1e6) {
			return fmt.Errorf("a tally that does not fit the rules")
		}
		some := false
		for bit := range 8 * len(fired) {
			if has(fired, bit) {
				some = true
				if bit >= len(m.rules) {
					return fmt.Errorf("a tally of a rule that is not there")
				}
			}
		}
		cell := t.cell(string(fired))
		if _, twice := cell[s.Class[i]]; twice || !some {
			return fmt.Errorf("a tally that counts rows twice, or no rule")
		}
		cell[s.Class[i]] = w
	}
	m.tallies = append(m.tallies, t)
	return nil
}

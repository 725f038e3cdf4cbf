package evolve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// RuleSet is an evolved list of rules, of which the first that matches answers.
// It is immutable.
type RuleSet struct {
	lesson  kept.Lesson[gabilSettings]
	rows    *kept.Rows // nil: not kept
	schema  *table.Schema
	target  int
	history []progress
	stopped string

	base    *rule.Base
	all     []float64 // class weights of all rows
	answers *rule.Predictor
	match   []*rule.Matcher
	p       [][]float64 // class probabilities of each rule, and of the default
}

var (
	_ learn.Updater   = (*RuleSet)(nil)
	_ learn.Ruler     = (*RuleSet)(nil)
	_ learn.Explainer = (*RuleSet)(nil)
	_ learn.Merger    = (*RuleSet)(nil)
	_ learn.Forgetter = (*RuleSet)(nil)
	_ learn.Drawer    = (*RuleSet)(nil)
	_ learn.Keeper    = (*RuleSet)(nil)
	_ learn.Grower    = (*RuleSet)(nil)
)

// assemble writes a rule set in the rule language, each rule with what it is the
// first to cover. Rules that are the first nowhere have nothing to say.
func (m *RuleSet) assemble(x *instances, best member) error {
	m.all = make([]float64, len(x.class))
	for c := range m.all {
		m.all[c] = x.weigh(x.class[c])
	}
	m.base = &rule.Base{Kind: rule.Ordered}
	d := x.newDesk()
	d.left.Fill(x.rows)
	count := func(of bits.Set) []float64 {
		counts := make([]float64, len(x.class))
		for c := range counts {
			counts[c] = x.weighBoth(of, x.class[c])
		}
		return counts
	}
	for rules := best.rules; len(rules) >= x.length; rules = rules[x.length:] {
		one := rules[:x.length]
		tests := x.tests(one)
		if len(tests) == 0 {
			break // it answers for all rows that are left, as the default does
		}
		if !x.cover(one, d.left, d.of, d.room) {
			continue
		}
		m.base.Rules = append(m.base.Rules, m.rule(tests, count(d.of)))
		bits.AndNot(d.left, d.left, d.of)
	}
	rest := count(d.left)
	last := m.rule(nil, rest)
	if sum(rest) == 0 { // as over all rows
		last = m.rule(nil, m.all)
		covered, correct, information := 0.0, 0.0, 0.0
		last.Evidence = rule.Evidence{Covered: &covered, Correct: &correct, Bits: &information}
	}
	m.base.Else = &last
	return m.ready()
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// rule writes a rule with its evidence: the frequencies of the classes, m rows
// added in equal parts.
func (m *RuleSet) rule(tests []rule.Test, counts []float64) rule.Rule {
	a := &m.schema.Attributes[m.target]
	p := make([]float64, len(counts))
	for c, w := range counts {
		p[c] = (w + m.lesson.Settings.M/float64(len(counts))) / (sum(counts) + m.lesson.Settings.M)
	}
	best := learn.Best(p, a.Values)
	covered, correct := sum(counts), counts[best]
	information := rule.JMeasure(covered, correct, m.all[best], sum(m.all))
	r := rule.Rule{If: tests, Then: rule.Conclusion{Column: a.Name}, Evidence: rule.Evidence{Covered: &covered, Correct: &correct, Bits: &information}}
	if len(p) <= 2 {
		r.Then.Value, r.With = a.Values[best], &p[best]
		return r
	}
	for c, q := range p {
		r.Then.Classes = append(r.Then.Classes, rule.Share{Value: a.Values[c], P: q})
	}
	return r
}

// ready compiles the rules.
func (m *RuleSet) ready() (err error) {
	if m.answers, err = rule.NewPredictor(m.base, m.schema, m.target); err != nil {
		return err
	}
	for i := range m.base.Rules {
		matcher, err := rule.NewMatcher(m.base.Rules[i].If, m.schema)
		if err != nil {
			return err
		}
		m.match = append(m.match, matcher)
		m.p = append(m.p, m.probabilities(&m.base.Rules[i]))
	}
	m.p = append(m.p, m.probabilities(m.base.Else))
	return nil
}

// probabilities returns what a rule says of each class.
func (m *RuleSet) probabilities(r *rule.Rule) []float64 {
	classes := m.schema.Attributes[m.target].Values
	p := make([]float64, len(classes))
	for _, s := range r.Then.Classes {
		if c := slices.Index(classes, s.Value); c >= 0 {
			p[c] = s.P
		}
	}
	if r.Then.Value != "" {
		for c, value := range classes {
			if p[c] = (1 - *r.With) / math.Max(1, float64(len(classes)-1)); value == r.Then.Value {
				p[c] = *r.With
			}
		}
	}
	return p
}

// Learner returns "gabil".
func (m *RuleSet) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *RuleSet) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *RuleSet) Target() int { return m.target }

// Size counts the rules, the default among them.
func (m *RuleSet) Size() learn.Size {
	return learn.Size{Rows: sum(m.all), Rules: len(m.base.Rules) + 1}
}

// Predict answers for the table's rows.
func (m *RuleSet) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	if k := len(m.all); out.Classes != k || len(out.P) < t.Rows()*k {
		return fmt.Errorf("room for %d probabilities of %d classes, expected %d of %d", len(out.P), out.Classes, t.Rows()*k, k)
	}
	if err := m.answers.Predict(t, out.P, nil); err != nil {
		return err
	}
	return ctx.Err()
}

// Rules returns the list, the default as its ELSE.
func (m *RuleSet) Rules() (*rule.Base, error) { return m.base, nil }

// first returns the rule that answers for a row; the number of rules for the
// default.
func (m *RuleSet) first(t *table.Table, row int) int {
	i := slices.IndexFunc(m.match, func(r *rule.Matcher) bool { return r.MatchRow(t, row) })
	if i < 0 {
		return len(m.match)
	}
	return i
}

// Explain names the rule that answers: it moves the log probabilities from
// those of all rows to its own.
func (m *RuleSet) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d of %d", row+1, t.Rows())
	}
	answer := m.first(t, row)
	id, text := "", "ALWAYS"
	if answer < len(m.match) {
		r := &m.base.Rules[answer]
		words := make([]string, len(r.If))
		for i := range r.If {
			words[i] = r.If[i].String()
		}
		id, text = r.ID(), strings.Join(words, " AND ")
	}
	e := &learn.Explanation{Additive: true}
	usual := m.rule(nil, m.all)
	for c, p := range m.probabilities(&usual) {
		prior := logOf(p)
		e.Prior = append(e.Prior, prior)
		e.Evidence = append(e.Evidence, learn.Evidence{ID: id, Text: text, Class: c, Weight: logOf(m.p[answer][c]) - prior})
	}
	best := learn.Best(m.p[answer], m.schema.Attributes[m.target].Values)
	for _, name := range m.unknown(t, row, answer) {
		e.Missing = append(e.Missing, learn.MissingCell{Column: name, CouldMove: m.couldMove(best, answer)})
	}
	return e, nil
}

// impossible stands for the logarithm of 0, so that sums stay finite.
const impossible = -1000

func logOf(p float64) float64 {
	if p > 0 {
		return math.Log(p)
	}
	return impossible
}

// unknown returns the columns whose cells are missing in a row and are tested
// by rules before the one that answers.
func (m *RuleSet) unknown(t *table.Table, row, answer int) []string {
	var missing []string
	note := func(column string) {
		j := m.schema.Index(column)
		if j < 0 || slices.Contains(missing, column) {
			return
		}
		c := &t.Columns[j]
		if c.Codes != nil && c.Codes[row] == table.Missing || c.Floats != nil && table.IsMissing(c.Floats[row]) {
			missing = append(missing, column)
		}
	}
	for i := range m.base.Rules[:answer] {
		for _, test := range m.base.Rules[i].If {
			note(test.Column)
			for _, one := range test.Of {
				note(one.Column)
			}
		}
	}
	return missing
}

// couldMove bounds how far an earlier rule could move the probability of a
// class.
func (m *RuleSet) couldMove(class, answer int) float64 {
	moves := 0.0
	for _, p := range m.p[:answer] {
		moves = max(moves, math.Abs(p[class]-m.p[answer][class]))
	}
	return moves
}

// Grown returns the generations that brought a better rule set.
func (m *RuleSet) Grown() ([]fmt.Stringer, string) {
	grown := make([]fmt.Stringer, len(m.history))
	for i, p := range m.history {
		grown[i] = p
	}
	return grown, m.stopped
}

// GrowthChart draws the best rule set of the generations.
func (m *RuleSet) GrowthChart() *draw.Chart {
	chart := &draw.Chart{Title: "the best rule set so far", XLabel: "generation", YLabel: "% of rows right"}
	s := draw.Series{Name: "best"}
	for _, p := range m.history {
		s.X, s.Y = append(s.X, float64(p.Generation)), append(s.Y, 100*p.Correct)
	}
	chart.Series = []draw.Series{s}
	return chart
}

// Graph draws the rules in the order in which they are tried.
func (m *RuleSet) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Title: m.schema.Attributes[m.target].Name}
	classes := m.schema.Attributes[m.target].Values
	answer := func(i int, r *rule.Rule) draw.Node {
		best := learn.Best(m.p[i], classes)
		return draw.Node{
			ID: "answer " + strconv.Itoa(i), Leaf: true, Class: classes[best],
			Lines: []string{classes[best], strconv.FormatFloat(100*m.p[i][best], 'f', 1, 64) + " %", "n = " + strconv.FormatFloat(*r.Evidence.Covered, 'g', 6, 64)},
		}
	}
	last := len(m.base.Rules)
	for i := range m.base.Rules {
		n := draw.Node{ID: "rule " + strconv.Itoa(i), Of: m.base.Rules[i].If}
		for _, t := range m.base.Rules[i].If {
			n.Lines = append(n.Lines, t.String())
		}
		then, next := answer(i, &m.base.Rules[i]), "rule "+strconv.Itoa(i+1)
		if i == last-1 {
			next = "answer " + strconv.Itoa(last)
		}
		g.Nodes = append(g.Nodes, n, then)
		g.Edges = append(g.Edges, draw.Edge{From: n.ID, To: then.ID, Label: "then"}, draw.Edge{From: n.ID, To: next, Label: "else"})
	}
	g.Nodes = append(g.Nodes, answer(last, m.base.Else))
	return g, nil
}

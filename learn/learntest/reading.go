package learntest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// rulesAgree: the rules, printed and parsed back, predict as the model does,
// to 1e-12, for the rows of which they speak.
func rulesAgree(s *subject) error {
	if !s.info.Can.Rules {
		return nil
	}
	return each(s.predicted(), func(v variant) error {
		t := s.table(v, 250, 80)
		m, err := s.learn(v, t, "a")
		if err != nil {
			return err
		}
		base, err := m.(learn.Ruler).Rules()
		if err != nil {
			return err
		}
		if count := len(base.Rules) + len(base.Units); m.Size().Rules != count && (base.Else == nil || m.Size().Rules != count+1) {
			return fmt.Errorf("the model counts %d rules and gives %d", m.Size().Rules, count)
		}
		if slices.ContainsFunc(base.Notes, func(note string) bool { return strings.HasPrefix(note, "summary:") }) {
			return nil // the rules say that they do not say all
		}
		var text strings.Builder
		if err := base.Write(&text); err != nil {
			return err
		}
		parsed, err := rule.Parse("rules", []byte(text.String()))
		if err != nil {
			return fmt.Errorf("the printed rules do not parse: %w", err)
		}
		predictor, err := rule.NewPredictor(parsed, m.Schema(), m.Target(), rule.OverallOf(recode(t, m.Schema()))...)
		if err != nil {
			return err
		}
		probe := s.table(v, 200, 81)
		if base.CompleteOnly {
			probe = filter(probe, func(row int) bool { return complete(probe, row) })
		}
		fitted := recode(probe, m.Schema())
		want, err := askFitted(m, fitted)
		if err != nil {
			return err
		}
		got := &answers{Predictions: learn.NewPredictions(m, probe.Rows()), classes: want.classes, rows: want.rows}
		if err := predictor.Predict(fitted, got.P, got.Mean); err != nil {
			return err
		}
		copy(got.Low, want.Low) // rules state no intervals
		copy(got.High, want.High)
		return differ(got, want, 1e-12)
	})
}

// complete reports whether all cells of a row but the target are known.
func complete(t *table.Table, row int) bool {
	for j := range t.Columns {
		if t.Schema.Attributes[j].Name != targetName && t.Text(row, j) == "" {
			return false
		}
	}
	return true
}

// sameRules compares two models' rules: same conditions and conclusions,
// numbers to 1e-9. The order counts where it means something.
func sameRules(got, want learn.Model) error {
	a, err := got.(learn.Ruler).Rules()
	if err != nil {
		return err
	}
	b, err := want.(learn.Ruler).Rules()
	if err != nil {
		return err
	}
	x, y := statements(a), statements(b)
	if len(x) != len(y) || a.Kind != b.Kind {
		return fmt.Errorf("%d %v rules, expected %d %v ones", len(x), a.Kind, len(y), b.Kind)
	}
	for i := range y {
		if x[i].text != y[i].text || !slices.EqualFunc(x[i].numbers, y[i].numbers, func(p, q float64) bool { return same(p, q, 1e-9) }) {
			return fmt.Errorf("rule %q with %v, expected %q with %v", x[i].text, x[i].numbers, y[i].text, y[i].numbers)
		}
	}
	return nil
}

// statement is a rule or unit: what it says, and with what numbers.
type statement struct {
	text    string
	numbers []float64
}

func statements(b *rule.Base) []statement {
	var all []statement
	number := func(s *statement, xs ...*float64) {
		for _, x := range xs {
			if x != nil {
				s.numbers = append(s.numbers, *x)
			}
		}
	}
	one := func(r *rule.Rule) {
		var s statement
		for _, t := range r.If {
			s.text += t.String() + " AND "
		}
		s.text += "THEN " + r.Then.Column + " = " + r.Then.Value
		number(&s, r.With, r.Worth, r.Evidence.Covered, r.Evidence.Correct, r.Evidence.Bits, r.Evidence.Weight, &r.Then.Mean, &r.Then.Deviation)
		shares(&s, r.Then.Classes)
		all = append(all, s)
	}
	for i := range b.Rules {
		one(&b.Rules[i])
	}
	for i := range b.Units {
		u := &b.Units[i]
		s := statement{text: u.Name}
		number(&s, &u.Prior, u.Worth)
		for _, e := range u.Expect {
			s.text += " AND " + e.Column
			number(&s, &e.Mean, &e.Deviation)
			shares(&s, e.Shares)
		}
		all = append(all, s)
	}
	if b.Kind != rule.Ordered {
		slices.SortFunc(all, func(a, b statement) int { return strings.Compare(a.text, b.text) })
	}
	if b.Else != nil {
		one(b.Else)
	}
	return all
}

// shares appends a distribution, by name: the order of values depends on the
// order of sources.
func shares(s *statement, of []rule.Share) {
	sorted := slices.SortedFunc(slices.Values(of), func(a, b rule.Share) int { return strings.Compare(a.Value, b.Value) })
	for _, share := range sorted {
		s.text += " " + share.Value
		s.numbers = append(s.numbers, share.P)
	}
}

// explanations: prior, evidence and normaliser add up to the log posterior or
// the predicted number, to 1e-12, if the explanation says so. Texts are tests
// in the rule language; cells that are listed as missing are.
func explanations(s *subject) error {
	if !s.info.Can.Explain {
		return nil
	}
	return each(s.predicted(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 250, 82), "a")
		if err != nil {
			return err
		}
		probe := recode(s.table(v, 60, 83), m.Schema())
		a, err := askFitted(m, probe)
		if err != nil {
			return err
		}
		for r := range probe.Rows() {
			e, err := m.(learn.Explainer).Explain(probe, r)
			if err != nil {
				return err
			}
			if err := explained(m, probe, r, e, a); err != nil {
				return fmt.Errorf("row %d: %w", r+1, err)
			}
		}
		for _, row := range []int{-1, probe.Rows()} {
			if _, err := m.(learn.Explainer).Explain(probe, row); err == nil {
				return fmt.Errorf("row %d of %d is explained", row, probe.Rows())
			}
		}
		return nil
	})
}

func explained(m learn.Model, t *table.Table, row int, e *learn.Explanation, a *answers) error {
	sums := slices.Clone(e.Prior)
	if len(sums) != max(1, a.Classes) {
		return fmt.Errorf("%d priors, expected %d", len(sums), max(1, a.Classes))
	}
	for _, reason := range e.Evidence {
		if reason.Class < 0 || reason.Class >= len(sums) {
			return fmt.Errorf("evidence %q is about class %d of %d", reason.Text, reason.Class, len(sums))
		}
		sums[reason.Class] += reason.Weight
		if _, err := rule.Parse("evidence", []byte("IF "+reason.Text+" THEN x = y")); err != nil {
			return fmt.Errorf("evidence %q is not a test in the rule language: %w", reason.Text, err)
		}
	}
	for _, sum := range append(sums, e.Normaliser) {
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return errors.New("a prior, weight or normaliser is not finite")
		}
	}
	for _, cell := range e.Missing {
		j := m.Schema().Index(cell.Column)
		if j < 0 || t.Text(row, j) != "" {
			return fmt.Errorf("column %q is listed as missing", cell.Column)
		}
		if !(cell.CouldMove >= 0) || math.IsInf(cell.CouldMove, 0) || a.Classes > 0 && cell.CouldMove > 1 {
			return fmt.Errorf("the missing column %q could move the answer by %v", cell.Column, cell.CouldMove)
		}
	}
	if !e.Additive {
		return nil
	}
	if a.Classes == 0 {
		if sum := sums[0] - e.Normaliser; !same(sum, a.Mean[row], 1e-12) {
			return fmt.Errorf("the explanation adds up to %v, the prediction is %v", sum, a.Mean[row])
		}
		return nil
	}
	for c, p := range a.Row(row) {
		posterior := sums[c] - e.Normaliser
		if !same(math.Exp(posterior), p, 1e-12) || p > 1e-300 && !same(posterior, math.Log(p), 1e-12) {
			return fmt.Errorf("the explanation of class %d adds up to %v, the log posterior is %v", c, posterior, math.Log(p))
		}
	}
	return nil
}

// graphs: nodes have names of their own, and edges join nodes.
func graphs(s *subject) error {
	if !s.info.Can.Draw {
		return nil
	}
	return each(s.variants(), func(v variant) error {
		m, err := s.learn(v, s.table(v, 200, 84), "a")
		if err != nil {
			return err
		}
		g, err := m.(learn.Drawer).Graph()
		if err != nil {
			return err
		}
		nodes := map[string]bool{}
		for _, n := range g.Nodes {
			if n.ID == "" || nodes[n.ID] || n.Layer < 0 {
				return fmt.Errorf("node %q has no name of its own, or no layer", n.ID)
			}
			nodes[n.ID] = true
		}
		if len(nodes) == 0 {
			return errors.New("the graph is empty")
		}
		for _, e := range g.Edges {
			if !nodes[e.From] || !nodes[e.To] || math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) {
				return fmt.Errorf("edge from %q to %q with weight %v does not join two nodes", e.From, e.To, e.Weight)
			}
		}
		return nil
	})
}

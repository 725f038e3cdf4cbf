package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// ruled is an ensemble all of whose members can be read as rules.
type ruled struct {
	*Model
	once     sync.Once
	readings map[*member]*reading
	base     *rule.Base
	err      error
}

var _ learn.Ruler = (*ruled)(nil)

// reading is the rules of one member, ready to be tried on rows.
type reading struct {
	ordered  bool
	rules    []rule.Rule
	matchers []*rule.Matcher
	classes  []int // the member's, -1 where a rule concludes none
	weights  []float64
}

// able returns the model with the abilities that its members give it.
func (m *Model) able() learn.Model {
	some := false
	for _, s := range m.sessions {
		for i := range s.members {
			if _, ok := learn.Ability[learn.Ruler](s.members[i].model); !ok {
				return m
			}
			some = true
		}
	}
	if !some {
		return m
	}
	return &ruled{Model: m}
}

// Size counts the rules, too.
func (m *ruled) Size() learn.Size {
	size := m.Model.Size()
	if base, err := m.Rules(); err == nil {
		size.Rules = len(base.Rules)
	}
	return size
}

// Explain gives the rules of the members that apply as the reasons of their
// votes.
func (m *ruled) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if _, err := m.Rules(); err != nil {
		return nil, err
	}
	return m.explain(t, row, func(of *member, one *table.Table, class int) []reason {
		return m.readings[of].reasons(one, class)
	})
}

// reasons returns the rules of a member that apply to a row and conclude what
// it says: the first of an ordered base, all of a weighed one that speak for
// the class.
func (r *reading) reasons(one *table.Table, class int) []reason {
	var all []reason
	total := 0.0
	for i, m := range r.matchers {
		if !m.MatchRow(one, 0) {
			continue
		}
		if r.ordered && r.classes[i] != class {
			return nil // the vote came about otherwise, by a missing cell say
		}
		if r.classes[i] == class && r.weights[i] > 0 {
			all = append(all, reason{r.rules[i].ID(), conditions(&r.rules[i]), r.weights[i]})
			total += r.weights[i]
		}
		if r.ordered {
			break
		}
	}
	for i := range all {
		all[i].share /= total
	}
	return all
}

// conditions writes the IF part of a rule.
func conditions(r *rule.Rule) string {
	if len(r.If) == 0 {
		return "ALWAYS"
	}
	texts := make([]string, len(r.If))
	for i, t := range r.If {
		texts[i] = t.String()
	}
	return strings.Join(texts, " AND ")
}

// Rules returns the rules of all members as one weighed base. A rule of an
// ordered base weighs what its member's vote adds to the log of the class's
// probability; one of a weighed base that times its share of the weights.
// Rules that several members have are one, with the sum of their weights. If
// the rules of each member exclude each other, as paths of trees do, the base
// answers as the ensemble does for rows without missing cells; in any case it
// says how often.
func (m *ruled) Rules() (*rule.Base, error) {
	m.once.Do(func() { m.base, m.err = m.collect() })
	return m.base, m.err
}

func (m *ruled) collect() (*rule.Base, error) {
	m.readings = map[*member]*reading{}
	at := map[string]int{}
	base := &rule.Base{Kind: rule.Weighed, CompleteOnly: true}
	name, names := m.schema.Attributes[m.target].Name, m.classes()
	add := func(tests []rule.Test, class string, weight float64) {
		r := rule.Rule{If: tests, Then: rule.Conclusion{Column: name, Value: class}}
		i, known := at[r.ID()]
		if !known {
			i = len(base.Rules)
			at[r.ID()] = i
			r.Evidence.Weight = new(float64)
			base.Rules = append(base.Rules, r)
		}
		*base.Rules[i].Evidence.Weight += weight
	}
	for c, class := range names {
		add(nil, class, m.prior[c])
	}
	for _, g := range m.groups {
		for _, of := range g.members {
			r, err := read(of.model)
			if err != nil {
				return nil, err
			}
			m.readings[of] = r
			total := 0.0
			for i, w := range r.weights {
				if !r.ordered && len(r.rules[i].If) > 0 {
					total += math.Abs(w)
				}
			}
			for i := range r.rules {
				class := r.classes[i]
				if class < 0 || !r.ordered && len(r.rules[i].If) == 0 {
					continue
				}
				to := g.classes[class]
				weight := m.sharpness * share(of.vote, m.seen[to])
				if !r.ordered {
					weight *= share(r.weights[i], total)
				}
				add(r.rules[i].If, names[to], weight)
			}
		}
	}
	kept, err := m.keptRows()
	if err != nil {
		return nil, err
	}
	if base, err = rule.Measure(base, kept, m.target); err != nil {
		return nil, err
	}
	slices.SortStableFunc(base.Rules, func(a, b rule.Rule) int {
		return cmp.Or(cmp.Compare(min(len(a.If), 1), min(len(b.If), 1)), cmp.Compare(math.Abs(*b.Evidence.Weight), math.Abs(*a.Evidence.Weight)))
	})
	agrees, err := m.agreement(base, kept)
	if err != nil {
		return nil, err
	}
	base.Agrees = &agrees
	base.Notes = append(base.Notes, fmt.Sprintf("summary: agrees with the model on %.1f %% of the kept rows, by which rules are counted", 100*agrees))
	return base, nil
}

// keptRows returns the kept rows of all sessions in the model's schema.
func (m *Model) keptRows() (*table.Table, error) {
	tables := make([]*table.Table, len(m.sessions))
	for i, s := range m.sessions {
		tables[i] = s.rows
	}
	t, err := stack(tables...)
	if err != nil {
		return nil, err
	}
	fitted := *t
	fitted.Schema = m.schema // the same: both are sorted
	return &fitted, nil
}

// agreement is the share of rows that a base answers as the model does.
func (m *Model) agreement(base *rule.Base, t *table.Table) (float64, error) {
	predictor, err := rule.NewPredictor(base, m.schema, m.target)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := predictor.Predict(t, out.P, nil); err != nil {
		return 0, err
	}
	said, err := say(context.Background(), m, t)
	if err != nil {
		return 0, err
	}
	same := make([]bool, t.Rows())
	for r := range same {
		same[r] = learn.Best(out.Row(r), m.classes()) == int(said[r])
	}
	return share(weightOf(t, same), weightOf(t, nil)), nil
}

// read takes a member's rules apart.
func read(m learn.Model) (*reading, error) {
	ruler, _ := learn.Ability[learn.Ruler](m)
	base, err := ruler.Rules()
	if err != nil {
		return nil, err
	}
	names := m.Schema().Attributes[m.Target()].Values
	r := &reading{ordered: base.Kind == rule.Ordered}
	for _, of := range base.Rules {
		matcher, err := rule.NewMatcher(of.If, m.Schema())
		if err != nil {
			return nil, err
		}
		class := slices.Index(names, of.Then.Value)
		if n := len(of.Then.Classes); n > 0 {
			p := make([]float64, len(names))
			for _, s := range of.Then.Classes {
				if c := slices.Index(names, s.Value); c >= 0 {
					p[c] = s.P
				}
			}
			class = learn.Best(p, names)
		}
		weight := 1.0
		if !r.ordered && of.Evidence.Weight != nil {
			weight = *of.Evidence.Weight
		}
		r.rules, r.matchers, r.classes, r.weights = append(r.rules, of), append(r.matchers, matcher), append(r.classes, class), append(r.weights, weight)
	}
	return r, nil
}

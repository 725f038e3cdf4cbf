package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/concept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// moreConcepts are the exercises of chapter 2, and the extensions of section 2.8.
func moreConcepts() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "concept-" + name, Tags: chapter(2), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	add("more-days", "exercise 2.1", "days with a column of three values more", reference(288), wider(func(s concept.Sizes) int { return s.Rows }))
	add("more-hypotheses", "exercise 2.1", "hypotheses with that column", reference(3889), wider(func(s concept.Sizes) int { return s.Concepts }))
	add("power-set", "section 2.7.2", "concepts over 96 days, to the power of ten that is printed", printed(28), func(context.Context) (float64, error) { return math.Floor(96 * math.Log10(2)), nil })
	add("biased", "section 2.7.1", "hypotheses left of the biased space after three days", printed(0), func(ctx context.Context) (float64, error) {
		return leftOfDays(ctx, []string{"Sunny", "Cloudy", "Rainy"}, "Warm Normal Strong Cool Change", []int32{0, 0, 1})
	})
	add("merged", "section 2.8 (Hirsh 1990)", "hypotheses of four spaces, each of one day, merged", reference(6), mergedDays)
	add("factors", "section 2.8 (Subramanian & Feigenbaum 1986)", "independent factors of EnjoySport's space", reference(2), func(ctx context.Context) (float64, error) {
		state, err := stateOf(ctx, nil)
		return float64(len(state.Factors)), err
	})
	add("questions", "section 2.6.2", "questions that find each of six hypotheses, on average", reference(2.667).digits(3), questionsOnAverage)
	add("branches", "section 2.4; exercise 2.3", "days for which the most specific disjunction of two holds, found by FIND-S with branches", reference(3), func(ctx context.Context) (float64, error) {
		return daysSaidYes(ctx, map[string]string{"algorithm": "find-s", "space": "disjunctions"})
	})
	add("taught", "exercise 2.4", "rectangles left after the six points that teach one", reference(1), taughtRectangle)
	return append(experiments, Experiment{
		Name: "concept-disjunctive", Tags: chapter(2), Source: mitchell("section 2.8 (Sebag 1996)"), Seeds: 1,
		Measure: "points by which a disjunctive version space is right more often than a tree, ten folds of iris and wine",
		Figure:  reference(0).percent().higher(), Run: Fixed(disjunctiveAgainstTree),
	})
}

func wider(of func(concept.Sizes) int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		s, err := loadSport(ctx)
		if err != nil {
			return 0, err
		}
		schema := table.CopySchema(s.Schema)
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "current", Values: []string{"Light", "Moderate", "Strong"}})
		sizes, err := concept.SizesOf(ctx, schema, s.target, 1)
		return float64(of(sizes)), err
	}
}

// leftOfDays counts the hypotheses that agree with days which differ in the sky.
func leftOfDays(ctx context.Context, skies []string, rest string, labels []int32) (float64, error) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Values: skies}, {Name: "rest", Values: []string{rest, "other"}}, {Name: "enjoysport", Values: []string{"Yes", "No"}},
	}}
	columns := make([]table.Column, 3)
	for i, label := range labels {
		columns[0].Codes, columns[1].Codes, columns[2].Codes = append(columns[0].Codes, int32(i)), append(columns[1].Codes, 0), append(columns[2].Codes, label)
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		return 0, err
	}
	m, err := learnConcept(ctx, t, 2, nil)
	if err != nil {
		return 0, err
	}
	state, err := stateOfModel(m)
	if err != nil || state.Collapsed {
		return 0, err
	}
	return left(m)
}

func stateOfModel(m *concept.Model) (concept.State, error) {
	remarks, err := m.Remarks()
	if err != nil {
		return concept.State{}, err
	}
	return remarks[0].(concept.State), nil
}

// stateOf is what is left of EnjoySport.
func stateOf(ctx context.Context, settings map[string]string) (concept.State, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return concept.State{}, err
	}
	m, err := s.learn(ctx, settings, fourDays...)
	if err != nil {
		return concept.State{}, err
	}
	return stateOfModel(m)
}

// mergedDays learns each day apart, and merges.
func mergedDays(ctx context.Context) (float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return 0, err
	}
	var models []learn.Model
	for day := range 4 {
		l, err := learn.New(concept.Name, map[string]string{"concept": "Yes", "domains": s.domains()})
		if err != nil {
			return 0, err
		}
		m, err := l.Learn(ctx, learn.Task{Table: s.Select([]int{day}), Source: learn.Source{ID: fmt.Sprint("day ", day)}, Seed: 1}.At(s.target))
		if err != nil {
			return 0, err
		}
		models = append(models, m)
	}
	merged, err := models[0].(learn.Merger).Merge(ctx, models[1:]...)
	if err != nil {
		return 0, err
	}
	return left(merged.(*concept.Model))
}

// questionsOnAverage answers the space's questions as each of its members would.
func questionsOnAverage(ctx context.Context) (float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return 0, err
	}
	first, err := s.learn(ctx, nil, fourDays...)
	if err != nil {
		return 0, err
	}
	asked := 0.0
	for truth := range 6 {
		m := first
		for {
			if n, err := left(m); err != nil {
				return 0, err
			} else if n <= 1 {
				break
			}
			if m, err = s.answered(ctx, m, first, truth); err != nil {
				return 0, err
			}
			asked++
		}
	}
	return asked / 6, nil
}

// answered asks a model's best question, and lets one of the first model's
// members answer it.
func (s *sport) answered(ctx context.Context, m, first *concept.Model, truth int) (*concept.Model, error) {
	questions, err := m.Questions(ctx, 1)
	if err != nil {
		return nil, err
	}
	row := questions[0].Row
	yes, err := saysYes(first.Members()[truth], row)
	if err != nil {
		return nil, err
	}
	answer := "No"
	if yes {
		answer = "Yes"
	}
	row.Columns[m.Target()].Codes[0] = row.Schema.Attributes[m.Target()].Code(answer)
	update, err := m.Begin(learn.Source{ID: "answers"})
	if err != nil {
		return nil, err
	}
	if err := update.Add(ctx, row); err != nil {
		return nil, err
	}
	next, err := update.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	return next.(*concept.Model), nil
}

// daysSaidYes counts the days that a model says yes to.
func daysSaidYes(ctx context.Context, settings map[string]string) (float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return 0, err
	}
	m, err := s.learn(ctx, settings, fourDays...)
	if err != nil {
		return 0, err
	}
	days, err := s.everyDayOf(m)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, days.Rows())
	if err := m.Predict(ctx, days, out); err != nil {
		return 0, err
	}
	yes := m.Schema().Attributes[m.Target()].Code("Yes")
	n := 0.0
	for r := range days.Rows() {
		if out.Row(r)[yes] == 1 {
			n++
		}
	}
	return n, nil
}

// taughtRectangle learns 3 ≤ x ≤ 5, 2 ≤ y ≤ 9 from two corners and a point just
// outside each side.
func taughtRectangle(ctx context.Context) (float64, error) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "in", Values: []string{"yes", "no"}},
	}}
	t, err := table.New(schema, []table.Column{
		{Floats: []float64{3, 5, 2, 6, 4, 4}}, {Floats: []float64{2, 9, 5, 5, 1, 10}}, {Codes: []int32{0, 0, 1, 1, 1, 1}},
	}, nil)
	if err != nil {
		return 0, err
	}
	m, err := learnConcept(ctx, t, 2, map[string]string{"space": "rectangles"})
	if err != nil {
		return 0, err
	}
	return left(m)
}

// disjunctiveAgainstTree compares the two on the same folds.
func disjunctiveAgainstTree(ctx context.Context) (float64, error) {
	points, sets := 0.0, []string{"iris", "wine"}
	for _, name := range sets {
		rows, set, err := datasets.Load(ctx, name)
		if err != nil {
			return 0, err
		}
		for learner, sign := range map[string]float64{concept.Name: 1, "tree": -1} {
			var settings map[string]string
			if learner == concept.Name {
				settings = map[string]string{"algorithm": "disjunctive"}
			}
			r, err := evaluate.CrossValidate(ctx, evaluate.Spec{Data: name, Table: rows, Target: rows.Schema.Index(set.Target), Learner: learner, New: evaluate.Registered(learner, settings), Seed: 1}, 10)
			if err != nil {
				return 0, err
			}
			points += sign * 100 * *r.Accuracy / float64(len(sets))
		}
	}
	return points, nil
}

// saysYes reports whether one of a hypothesis's rules holds for a row.
func saysYes(member []rule.Rule, row *table.Table) (bool, error) {
	for _, r := range member {
		matcher, err := rule.NewMatcher(r.If, row.Schema)
		if err != nil {
			return false, err
		}
		if matcher.MatchRow(row, 0) {
			return true, nil
		}
	}
	return false, nil
}

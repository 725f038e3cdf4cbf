package life

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Calibrated is how often a model was right on rows that it had not seen, when
// it gave its answer a probability between two bounds. The interval is of 95 %.
type Calibrated struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Rows  float64 `json:"rows"`
	Right float64 `json:"right"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (c *Calibrated) sentence(s *say.Speaker) string {
	return fmt.Sprintf("Of %s not seen before to which it gave %s, it was right on %s (%s).", s.Rows(c.Rows), say.Between(c.From, c.To), say.Count(c.Right), say.Between(c.Low, c.High))
}

// Calibration is what a model's learner answered for rows that it kept, each
// learnt without: how probable the answer was, and whether it was right.
type Calibration struct{ answers []honest }

type honest struct {
	p, weight float64
	right     bool
}

// calibrationFolds is in how many folds rows are answered without being learnt.
const calibrationFolds = 5

// fewestAlike is how many answers a bound is widened to.
const fewestAlike = 15

// Calibration learns the rows that a model keeps again, in folds, and answers
// each without having learnt it.
func (h *Home) Calibration(ctx context.Context, p *Part) (*Calibration, error) {
	if p.Target() == learn.NoTarget || p.Schema().Attributes[p.Target()].Kind != table.Nominal {
		return nil, fmt.Errorf("only answers that are classes are right or wrong")
	}
	rows, err := h.again(ctx, p, nil, mostJudged)
	if err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, fmt.Errorf("the rows that %s learnt are not there, or too many to learn again", p.Name)
	}
	c := &Calibration{}
	err = h.inFolds(ctx, p, rows, learnerSettings(p.Version), func(m learn.Model, _, test *table.Table) error {
		out := learn.NewPredictions(m, test.Rows())
		if err := m.Predict(ctx, test, out); err != nil {
			return err
		}
		classes := m.Schema().Attributes[m.Target()].Values
		for row, truth := range test.Columns[m.Target()].Codes {
			if truth >= 0 {
				best := learn.Best(out.Row(row), classes)
				c.answers = append(c.answers, honest{out.Row(row)[best], test.Weight(row), int(truth) == best})
			}
		}
		return nil
	})
	return c, err
}

// inFolds learns all rows but those of a fold, in turn, and hands over the model,
// what it learnt and the rows of the fold.
func (h *Home) inFolds(ctx context.Context, p *Part, rows *onceMore, settings map[string]string, use func(m learn.Model, train, test *table.Table) error) error {
	l, err := newLearner(p.Version.Learner, settings)
	if err != nil {
		return err
	}
	splits, err := rows.splits(p, min(calibrationFolds, rows.table.Rows()))
	if err != nil {
		return err
	}
	bar, done := h.progress("learning again")
	defer done()
	for k, s := range splits {
		train, test := s.Rows()
		learnt := rows.table.Select(train)
		m, err := l.Learn(ctx, learn.Task{Table: learnt, Seed: s.Seed}.At(p.Target()))
		if err != nil {
			return err
		}
		fitted, _, err := table.Conform(rows.table.Select(test), m.Schema(), false)
		if err != nil {
			return err
		}
		if err := use(m, learnt, fitted); err != nil {
			return err
		}
		bar(float64(k+1) / float64(len(splits)))
	}
	return nil
}

// At returns how often the model was right when its answer was about as
// probable as this, nil if nothing was.
func (c *Calibration) At(p float64) *Calibrated {
	if c == nil || len(c.answers) == 0 {
		return nil
	}
	for width := 0.025; ; width *= 1.5 {
		at := &Calibrated{From: max(p-width, 0), To: min(p+width, 1)}
		n := 0
		for _, a := range c.answers {
			if a.p >= at.From && a.p <= at.To {
				n++
				at.Rows += a.weight
				if a.right {
					at.Right += a.weight
				}
			}
		}
		if n >= min(fewestAlike, len(c.answers)) {
			i := stat.ErrorRate{Errors: at.Right, Cases: at.Rows}.Wilson(0.95, stat.TwoSided)
			at.Low, at.High = i.Low, i.High
			return at
		}
		if width > 2 || math.IsNaN(p) {
			return nil
		}
	}
}

// Calibrate says beside an answer how often the model was right when it was as
// sure; nil says nothing.
func (answer *Explained) Calibrate(c *Calibration) {
	if class, ok := answer.Prediction.(string); ok && c != nil {
		answer.Calibration = c.At(answer.Probabilities[class])
	}
}

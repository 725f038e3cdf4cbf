package learntest

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// answers are a model's predictions with the names of its classes.
type answers struct {
	*learn.Predictions
	classes []string
	rows    int
}

// ask predicts the rows of a table of this package, after fitting it to the
// model's schema.
func ask(m learn.Model, t *table.Table) (*answers, error) {
	return askFitted(m, recode(t, m.Schema()))
}

// askFitted predicts the rows of a table that has the model's schema.
func askFitted(m learn.Model, t *table.Table) (*answers, error) {
	a := &answers{Predictions: learn.NewPredictions(m, t.Rows()), rows: t.Rows()}
	if m.Target() >= 0 {
		a.classes = m.Schema().Attributes[m.Target()].Values
	}
	// What was in the room before must not matter.
	for _, room := range [][]float64{a.P, a.Mean, a.Low, a.High} {
		for i := range room {
			room[i] = math.NaN()
		}
	}
	return a, m.Predict(context.Background(), t, a.Predictions)
}

// sound returns an error unless all probabilities and numbers make sense.
func (a *answers) sound() error {
	for r := range a.rows {
		if a.Classes > 0 {
			sum := 0.0
			for c, p := range a.Row(r) {
				if !(p >= 0 && p <= 1) {
					return fmt.Errorf("row %d: P(%s) = %v", r+1, a.classes[c], p)
				}
				sum += p
			}
			if !(math.Abs(sum-1) <= 1e-9) {
				return fmt.Errorf("row %d: probabilities add up to %v", r+1, sum)
			}
		}
		if a.Mean != nil {
			low, mean, high := a.Low[r], a.Mean[r], a.High[r]
			if !(low <= mean && mean <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
				return fmt.Errorf("row %d: mean %v in [%v, %v], expected finite numbers in order", r+1, mean, low, high)
			}
		}
	}
	return nil
}

// differ returns an error that names the first row where two answers differ
// by more than a tolerance; 0 asks for the same bits. Classes are matched by
// name; one that only one side knows must have the probability 0.
func differ(got, want *answers, tolerance float64) error {
	if got.rows != want.rows {
		return fmt.Errorf("%d rows of answers, expected %d", got.rows, want.rows)
	}
	for r := range want.rows {
		if err := differInRow(got, r, want, r, tolerance); err != nil {
			return err
		}
	}
	return nil
}

func differInRow(got *answers, at int, want *answers, row int, tolerance float64) error {
	if (got.Classes > 0) != (want.Classes > 0) {
		return fmt.Errorf("%d classes, expected %d", got.Classes, want.Classes)
	}
	if want.Classes > 0 {
		p, q := byName(got, at), byName(want, row)
		for class := range merged(p, q) {
			if !same(p[class], q[class], tolerance) {
				return fmt.Errorf("row %d: P(%s) = %v, expected %v", row+1, class, p[class], q[class])
			}
		}
	}
	if want.Mean != nil {
		for i, x := range [...]float64{got.Mean[at], got.Low[at], got.High[at]} {
			y := [...]float64{want.Mean[row], want.Low[row], want.High[row]}[i]
			if !same(x, y, tolerance) {
				return fmt.Errorf("row %d: %s = %v, expected %v", row+1, [...]string{"mean", "low", "high"}[i], x, y)
			}
		}
	}
	return nil
}

func byName(a *answers, row int) map[string]float64 {
	p := make(map[string]float64, a.Classes)
	for c, name := range a.classes {
		p[name] = a.Row(row)[c]
	}
	return p
}

func merged(a, b map[string]float64) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// same compares numbers: bits if the tolerance is 0, else relative to their
// size if it is above 1.
func same(x, y, tolerance float64) bool {
	if tolerance == 0 {
		return math.Float64bits(x) == math.Float64bits(y)
	}
	return math.Abs(x-y) <= tolerance*max(1, math.Abs(y))
}

// agree asks two models about the same rows.
func agree(got, want learn.Model, t *table.Table, tolerance float64) error {
	a, err := ask(got, t)
	if err != nil {
		return err
	}
	b, err := ask(want, t)
	if err != nil {
		return err
	}
	return differ(a, b, tolerance)
}

// soundOn asks a model about rows and checks its answers.
func soundOn(m learn.Model, t *table.Table) error {
	a, err := ask(m, t)
	if err != nil {
		return err
	}
	return a.sound()
}

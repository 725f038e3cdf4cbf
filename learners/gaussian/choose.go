package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// With covariance=auto units are chosen by a third of the rows: first whether the
// columns of a unit are correlated, then whether more units are better. On 8,192 rows
// of a bank's queues (bank8fm) the error falls to 0.61 of that of 10 units without
// correlations, on those of a robot's arm (puma8nh) to 0.89.
const (
	leastChoice   = 300   // rows below which nothing is chosen
	mostChoice    = 6_000 // rows that it is chosen on
	choiceColumns = 64    // numeric columns above which correlations are not tried
	choiceRounds  = 60    // of EM
	fewUnits      = 10
	manyUnits     = 30
	// clearlyFull is the loss that correlations must fall below, as a share: without
	// them units are rules. More units need not win so clearly.
	clearlyFull  = 0.95
	clearlyUnits = 0.98
	choiceShare  = 0.4 // of the work, at most
)

// chooses reports whether settings ask for a choice, and leave the units open.
func (l *Learner) chooses(task learn.Task) bool {
	return l.Covariance == "auto" && l.Units == 0 && !task.NoTarget && l.From == 0 && l.Size != "validation" && l.Normal == 0 && l.Inputs == 0 && l.Tune == 0 &&
		l.Reference == nil && task.Advice.Rules == nil
}

// choose fills in units and covariance where they are left open, and returns the
// share of the work that it was.
func (l *Learner) choose(ctx context.Context, task learn.Task, s *settings) (float64, error) {
	t := task.Table
	if !l.chooses(task) || t.Rows() < leastChoice {
		return 0, nil
	}
	numeric := 0
	for _, a := range t.Schema.Attributes {
		if a.Kind == table.Numeric {
			numeric++
		}
	}
	rows := rand.New(rand.NewPCG(task.Seed, 0x63686f6f7365)).Perm(t.Rows())
	rows = rows[:min(len(rows), mostChoice)]
	cut := len(rows) / 3
	held, rest := rows[:cut], rows[cut:]
	slices.Sort(held)
	slices.Sort(rest)
	part := task
	part.Table = t.Select(rest)
	asked := t.Select(held)
	done := 0.0
	loss := func(with settings) (float64, error) {
		with.Iterations = min(with.Iterations, choiceRounds)
		m, err := with.learn(ctx, part, nil, func(float64) {})
		if err != nil {
			return math.Inf(1), ctx.Err() // such as a target that none of the rows has
		}
		done += choiceShare / 3
		learn.Report(ctx, done)
		return m.lossOn(ctx, asked)
	}
	least, err := loss(*s)
	if err != nil || math.IsInf(least, 1) {
		return done, err
	}
	try := func(other settings, clearly float64) error {
		x, err := loss(other)
		if err == nil && x < clearly*least {
			*s, least = other, x
		}
		return err
	}
	other := *s
	if other.Covariance = "full"; (l.Covariance == "" || l.Covariance == "auto") && numeric > 1 && numeric <= choiceColumns {
		if err := try(other, clearlyFull); err != nil {
			return done, err
		}
	}
	other = *s
	if other.Units = manyUnits; len(rest) >= 20*manyUnits {
		err = try(other, clearlyUnits)
	}
	return done, err
}

// lossOn returns how far answers for rows are off: the mean square, or the log loss
// of classes. It is infinite if no row tells.
func (m *Model) lossOn(ctx context.Context, t *table.Table) (float64, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, fitted.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		return 0, err
	}
	column := fitted.Columns[m.Target()]
	loss, n := 0.0, 0.0
	for r := range fitted.Rows() {
		w, off := fitted.Weight(r), 0.0
		switch {
		case column.Codes != nil && column.Codes[r] >= 0:
			off = -math.Log(max(out.Row(r)[column.Codes[r]], 1e-9))
		case column.Floats != nil && finite(column.Floats[r]):
			off = (out.Mean[r] - column.Floats[r]) * (out.Mean[r] - column.Floats[r])
		default:
			continue
		}
		loss, n = loss+w*off, n+w
	}
	if n == 0 || math.IsNaN(loss) {
		return math.Inf(1), nil
	}
	return loss / n, nil
}

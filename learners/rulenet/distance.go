package rulenet

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
)

// Distance is how many nats a row a living network is behind one that learns all
// rows at once, as far as the rows that it keeps tell. The last rows were answered
// before they were learnt; a network that learns the other rows of the reservoir at
// once answers them too. It has fewer rows than came, and what the others would
// bring is taken from what the second half of its own brings, as far as rows are
// missing.
type Distance struct {
	Nats  float64 // below 0: it is ahead
	Error float64 // standard error, of the last rows alone
	Rows  int     // that were answered
	Learn int     // that were learnt at once
}

// leastJudges is the number of rows below which nothing is said.
const leastJudges = 100

// Distance returns the estimate; nil if too few rows came in updates.
func (m *Living) Distance(ctx context.Context) (*Distance, error) {
	s := m.s
	var judges []int32
	last := make([]bool, s.log.rows())
	for _, r := range s.lastRows(windowRows) {
		if loss := s.log.loss[r]; loss == loss {
			judges, last[r] = append(judges, r), true
		}
	}
	var rows []int32 // by their keys, so that the first half is drawn by chance
	for _, r := range s.reservoirRows() {
		if !last[r] {
			rows = append(rows, r)
		}
	}
	if len(judges) < leastJudges || len(rows) < leastJudges {
		return nil, nil
	}
	all, err := s.lossesOf(ctx, rows, judges)
	if err != nil {
		return nil, err
	}
	half, err := s.lossesOf(ctx, rows[:len(rows)/2], judges)
	if err != nil {
		return nil, err
	}
	d := &Distance{Rows: len(judges), Learn: len(rows)}
	n, squares, more := 0.0, 0.0, 0.0
	for i, r := range judges {
		w, by := s.log.weight[r], s.log.loss[r]-all[i]
		n += w
		d.Nats += w * by
		squares += w * by * by
		more += w * (half[i] - all[i])
	}
	d.Nats /= n
	d.Error = math.Sqrt(max(0, squares/n-d.Nats*d.Nats) / float64(len(judges)))
	d.Nats += more / n * max(0, 1-float64(len(rows))/(s.rows-float64(len(judges))))
	return d, nil
}

// lossesOf learns some rows at once, and returns the losses of its answers for
// others.
func (s *living) lossesOf(ctx context.Context, rows, judges []int32) ([]float64, error) {
	t, err := s.log.table(s.schema, s.target, rows)
	if err != nil {
		return nil, err
	}
	set := s.settings
	set.Update = "none"
	m, err := learnTaught(ctx, nil, t, s.target, s.seed, set)
	if err != nil {
		return nil, err
	}
	asked, err := s.log.table(s.schema, s.target, judges)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, len(judges))
	if err := m.Predict(ctx, asked, out); err != nil {
		return nil, err
	}
	losses := make([]float64, len(judges))
	for i, r := range judges {
		losses[i] = min(mostLoss, -math.Log(max(out.Row(i)[s.log.class[r]], 1e-300)))
	}
	return losses, nil
}

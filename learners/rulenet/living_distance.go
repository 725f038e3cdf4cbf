package rulenet

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
)

// leastJudges is the number of rows below which nothing is said.
const leastJudges = 100

// Distance returns how many nats a row a living network is behind one that learns
// all rows at once, below 0 if it is ahead, as far as the rows that it keeps tell;
// its standard error; and the number of rows that tell, 0 if too few came in updates.
//
// The last rows were answered before they were learnt; a network that learns the
// other rows of the reservoir at once answers them too. It has fewer rows than
// came, and what the others would bring is taken from what the second half of its
// own brings, as far as rows are missing. The standard error is that of the last
// rows alone. Rows of classes that only the last rows have tell nothing: whoever does
// not know them cannot answer.
func (m *Living) Distance(ctx context.Context) (nats, deviation float64, told int, err error) {
	s := m.state()
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
	known := make([]bool, s.classes())
	for _, r := range rows[:len(rows)/2] {
		known[s.log.class[r]] = true
	}
	judges = slices.DeleteFunc(judges, func(r int32) bool { return !known[s.log.class[r]] })
	if len(judges) < leastJudges || len(rows) < leastJudges {
		return 0, 0, 0, nil
	}
	all, err := s.lossesOf(ctx, rows, judges)
	if err != nil {
		return 0, 0, 0, err
	}
	half, err := s.lossesOf(ctx, rows[:len(rows)/2], judges)
	if err != nil {
		return 0, 0, 0, err
	}
	n, squares, more := 0.0, 0.0, 0.0
	for i, r := range judges {
		w, by := s.log.weight[r], s.log.loss[r]-all[i]
		n += w
		nats += w * by
		squares += w * by * by
		more += w * (half[i] - all[i])
	}
	nats /= n
	deviation = math.Sqrt(max(0, squares/n-nats*nats) / float64(len(judges)))
	nats += more / n * max(0, 1-float64(len(rows))/(s.rows-float64(len(judges))))
	return nats, deviation, len(judges), nil
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

package neural

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/accrete-ml/accrete/table"
)

const (
	mostNudging = 32  // rows, at most, that nudge
	nudges      = 200 // steps of the walk if the new rows were all
	mostGained  = 0.2 // part of the rows' error that a step may remove
)

// nudge fills the model's committee with networks that have seen a few rows
// more, none of which is held out, as no one of them could judge. They walk
// down the gradient itself: Adam's steps, with one gradient at all of them,
// would be as long for weights that hardly matter as for those that do, and a
// row that was answered well would change as much as one that was not.
func (m *Model) nudge(ctx context.Context, t *table.Table, x *sample, nets []*dense, share float64) error {
	for i, y := range x.number {
		x.number[i] = min(max(y, -farthest), farthest)
	}
	rows := division{trained: weightsOfRows(t)}
	m.members = make([]member, len(nets))
	for i, net := range nets {
		net = net.clone()
		if err := net.nudge(ctx, x, rows.trained, m.settings, share); err != nil {
			return err
		}
		m.members[i] = calibrate(net, x, rows)
	}
	return nil
}

// nudge walks down the gradient of the rows' mean error, by their share of all
// rows. A step is shorter where it would remove more than a part of the error
// if the slope stayed as it is (after Polyak 1987), so that neither wide
// networks nor rows far out make it leap.
func (d *dense) nudge(ctx context.Context, s *sample, weights []float64, o *settings, share float64) error {
	judge := newJudge(d, s, weights, o.Loss == "squared", 1)
	all := make([]shown, len(judge.rows))
	for i, r := range judge.rows {
		all[i] = shown{r, float32(judge.weight[i])}
	}
	slope := newDescent(d, s, o, min(wholeBatch, len(all)))
	slope.adam, slope.still, slope.share = false, true, float32(1/judge.total)
	var mask [][]float32
	if o.Prune > 0 {
		mask = d.mask()
	}
	w := d.weights()
	gradient := make([]float64, len(w))
	steps := math.Max(1, math.Ceil(nudges*share))
	for range int(steps) {
		if err := ctx.Err(); err != nil {
			return err
		}
		slope.gradient(all, 0, mask, gradient)
		loss, squares := judge.loss(d), floats.Dot(gradient, gradient)
		if s.class == nil {
			loss /= 2 // what blame descends is half the squared error
		}
		if !(squares > 0 && squares <= math.MaxFloat64 && loss <= math.MaxFloat64) {
			return nil // nothing to learn, or weights that grew beyond all bounds
		}
		floats.AddScaled(w, -min(share/steps, mostGained*loss/squares), gradient)
		d.take(w)
	}
	return nil
}

package neural

import (
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// outcome is a trained network and how good it is.
type outcome struct {
	net   *dense
	epoch int     // after which it was as it is; 0 for the start
	loss  float64 // mean on the rows that judge
}

// earlyStopping keeps the best network of a training.
type earlyStopping struct {
	best     outcome
	judge    *judge
	stopping bool // there are rows to stop by
	patience int
	since    int // epochs without improvement
	watch    func(net *dense, epoch int)
}

func newEarlyStopping(net *dense, s *sample, rows division, o *settings, patience, cores int) *earlyStopping {
	r := &earlyStopping{best: outcome{net: net.clone(), loss: math.Inf(1)}, stopping: rows.judging != nil, patience: patience, watch: rows.watch}
	if !r.stopping {
		rows.judging = rows.trained
	}
	r.judge = newJudge(net, s, rows.judging, o.Loss == "squared", cores)
	if r.stopping {
		r.best.loss = r.judge.loss(net)
	}
	return r
}

// enough looks at the network after an epoch, the last one of all or not, and
// reports whether to stop.
func (r *earlyStopping) enough(net *dense, epoch int, last bool) bool {
	if r.watch != nil {
		r.watch(net, epoch)
	}
	if !r.stopping && !last {
		return false
	}
	loss := r.judge.loss(net)
	r.since++
	if loss < r.best.loss {
		if loss < r.best.loss*(1-1e-4) {
			r.since = 0
		}
		r.best.loss, r.best.epoch = loss, epoch
		r.best.net.copyFrom(net)
	}
	return r.since >= r.patience
}

// judge measures networks on the same rows again and again.
type judge struct {
	sample  *sample
	squared bool
	rows    []int32
	weight  []float64
	total   float64
	losses  []float64
	state   *signals
	cores   int
}

const judged = 512 // rows at a time

func newJudge(net *dense, s *sample, weights []float64, squared bool, cores int) *judge {
	j := &judge{sample: s, squared: squared, cores: cores}
	for r, w := range weights {
		if w > 0 {
			j.rows = append(j.rows, int32(r))
			j.weight = append(j.weight, w)
			j.total += w
		}
	}
	j.losses = make([]float64, len(j.rows))
	j.state = net.newSignals(min(judged, len(j.rows)))
	return j
}

// each calls visit with the outputs for each judging row, in any order and
// from any core.
func (j *judge) each(net *dense, visit func(i int, out []float32)) {
	s := j.state
	for start := 0; start < len(j.rows); start += judged {
		rows := j.rows[start:min(start+judged, len(j.rows))]
		spread(j.cores, len(rows), rowGrain, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				copy(s.values[0][r*s.stride:(r+1)*s.stride], j.sample.x[int(rows[r])*j.sample.stride:])
			}
			net.forward(s, lo, hi)
			for r := lo; r < hi; r++ {
				visit(start+r, s.row(net, r))
			}
		})
	}
}

// loss returns the mean cross entropy, or the mean squared error: of classes
// half the sum over their probabilities. Further targets add theirs.
func (j *judge) loss(net *dense) float64 {
	j.each(net, func(i int, out []float32) {
		row, n := j.rows[i], j.sample.outputs
		j.losses[i] = j.sample.loss(out[:n], row, j.squared)
		for k := range j.sample.others {
			a := &j.sample.others[k]
			out = out[n:]
			n = a.outputs
			j.losses[i] += a.worth(&j.sample.aim) * a.loss(out[:n], row, j.squared)
		}
	})
	sum := 0.0
	for i, l := range j.losses {
		sum += l * j.weight[i]
	}
	if loss := sum / j.total; !math.IsNaN(loss) {
		return loss
	}
	return math.Inf(1) // of weights that grew beyond all bounds
}

// loss is the error of one target's outputs for a row; of a cell that is missing
// there is none.
func (a *aim) loss(out []float32, row int32, squared bool) float64 {
	switch {
	case a.missing(row):
		return 0
	case a.class == nil:
		e := float64(out[0] - a.number[row])
		return e * e
	case squared:
		return squaredError(out, a.class[row])
	}
	return logsum.Surprise(out, int(a.class[row]), 1)
}

// squaredError is ½Σ(t−p)² of a softmax.
func squaredError(out []float32, class int32) float64 {
	var room [64]float64
	p := room[:min(len(out), len(room))]
	if len(out) > len(room) {
		p = make([]float64, len(out))
	}
	logsum.Softmax(out, 1, p)
	squares := 0.0
	for _, q := range p {
		squares += q * q
	}
	return (squares - 2*p[class] + 1) / 2
}

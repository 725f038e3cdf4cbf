package neural

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// train fills the model's committee: each member the best of some starts,
// which start returns for a member and a seed. Networks are trained on all
// cores at a time.
func (m *Model) train(ctx context.Context, t *table.Table, x *sample, s *settings, start func(member, seed uint64) *dense) error {
	if !(m.rows <= moment.MaxWeight) {
		return fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", m.rows, float64(moment.MaxWeight))
	}
	var hashes []uint64 // not needed if nothing is held out
	if s.Validation > 0 || s.Folds > 0 {
		var err error
		if hashes, err = kept.HashRows(ctx, t); err != nil {
			return err
		}
	}
	// Each round trains a network with some rows held out: those of a
	// restart, or of a fold.
	rounds := max(s.Restarts, s.Folds)
	divisions := make([][]division, s.Committee)
	for i := range divisions {
		divisions[i] = divide(t, hashes, m.seed+uint64(i), s)
	}
	outcomes := make([]outcome, s.Committee*rounds)
	errs := make([]error, len(outcomes))
	parts := len(outcomes)
	if s.Folds > 0 {
		parts += s.Committee
	}
	progress := newProgress(ctx, parts)
	work := func(n int, do func(i int)) error {
		spread(runtime.GOMAXPROCS(0), n, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				do(i)
			}
		})
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	seedOf := func(member, round int) uint64 { return (m.seed+uint64(member))*0x9e3779b97f4a7c15 + uint64(round) }
	err := work(len(outcomes), func(i int) {
		member, round := i/rounds, i%rounds
		seed := seedOf(member, round)
		outcomes[i], errs[i] = train(progress.of(i), start(uint64(member), seed), x, divisions[member][round%len(divisions[member])], s, seed)
	})
	if err != nil {
		return err
	}
	for _, of := range append([]*Model{m}, m.also...) {
		of.members = make([]member, s.Committee)
	}
	if s.Folds == 0 {
		for i := range m.members {
			best := outcomes[i*rounds]
			for _, o := range outcomes[i*rounds : (i+1)*rounds] {
				if o.loss < best.loss {
					best = o
				}
			}
			m.calibrate(i, best.net, x, divisions[i][0])
		}
	} else if err := work(s.Committee, func(i int) {
		folds := outcomes[i*rounds : (i+1)*rounds]
		m.members[i], errs[i] = trainOnAll(progress.of(len(outcomes)+i), start(uint64(i), seedOf(i, rounds)), t, x, divisions[i], folds, s, seedOf(i, rounds))
	}); err != nil {
		return err
	}
	learn.Report(ctx, 1)
	return nil
}

// trainOnAll trains on all rows for as many epochs as were best on the folds
// in the mean (Mitchell 1997, section 4.6.5). How far its answers can be
// trusted is what the folds' networks say in the mean.
func trainOnAll(ctx context.Context, net *dense, t *table.Table, x *sample, divisions []division, folds []outcome, s *settings, seed uint64) (member, error) {
	all := *s
	epochs, log, squares := 0.0, 0.0, 0.0
	for i, o := range folds {
		part := calibrate(o.net, x, divisions[i%len(divisions)])
		epochs += float64(o.epoch)
		log += math.Log(part.temperature)
		squares += part.spread * part.spread
	}
	n := float64(len(folds))
	all.Epochs, all.Patience = max(1, int(math.Round(epochs/n))), math.MaxInt
	o, err := train(ctx, net, x, division{trained: weightsOfRows(t)}, &all, seed)
	return member{o.net, math.Exp(log / n), math.Sqrt(squares / n)}, err
}

// progress adds up how far networks that are trained at a time have come.
type progress struct {
	ctx  context.Context
	lock sync.Mutex
	done []float64
	sum  float64
}

func newProgress(ctx context.Context, parts int) *progress {
	return &progress{ctx: ctx, done: make([]float64, parts)}
}

// of returns a context whose progress is one part's.
func (p *progress) of(part int) context.Context {
	return learn.WithProgress(p.ctx, func(fraction float64) {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.sum += max(0, fraction-p.done[part])
		p.done[part] = max(p.done[part], fraction)
		learn.Report(p.ctx, min(1, p.sum/float64(len(p.done))))
	})
}

// division is the rows' weights for training and for judging; nil if none
// judge. Watch, if not nil, sees the network after every epoch.
type division struct {
	trained, judging []float64
	watch            func(net *dense, epoch int)
}

// divide splits the rows by their hashes: once, or into folds that judge in
// turn. Where there are too few rows for both, or nothing is to be held out,
// none judge.
func divide(t *table.Table, hashes []uint64, seed uint64, s *settings) []division {
	var all []division
	left := weightsOfRows(t) // not held out so far
	for i := range max(s.Folds, 1) {
		share := s.Validation
		if s.Folds > 0 {
			share = 1 / float64(s.Folds-i)
		}
		d := division{trained: weightsOfRows(t), judging: make([]float64, t.Rows())}
		trained, held := 0.0, 0.0
		for r, h := range hashes {
			d.judging[r] = left[r]
			if share < 1 {
				d.judging[r] = kept.HoldOut(h, seed+uint64(i)<<32, left[r], share)
			}
			left[r] -= d.judging[r]
			d.trained[r] -= d.judging[r]
			trained += d.trained[r]
			held += d.judging[r]
		}
		if trained > 0 && held > 0 {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		all = []division{{trained: weightsOfRows(t)}}
	}
	return all
}

func weightsOfRows(t *table.Table) []float64 {
	weights := make([]float64, t.Rows())
	for r := range weights {
		weights[r] = t.Weight(r)
	}
	return weights
}

// train runs epochs over the shown rows until the error on the judging rows
// has not improved for a while, and returns the best network of all epochs,
// the first included. Without judging rows it runs all epochs and returns the
// last network. Then weights are dropped, if that is asked for.
func train(ctx context.Context, net *dense, s *sample, rows division, o *settings, seed uint64) (outcome, error) {
	method := trainInBatches
	if o.Optimiser == "lbfgs" || o.Optimiser == "cg" {
		method = trainOnAllAtOnce
	}
	if o.Prune > 0 {
		return trainAndPrune(ctx, net, s, rows, o, seed, method)
	}
	return method(ctx, net, s, rows, o, seed, nil)
}

// trainInBatches descends by batches, in a new order in each epoch.
func trainInBatches(ctx context.Context, net *dense, s *sample, rows division, o *settings, seed uint64, mask [][]float32) (outcome, error) {
	random := rand.New(rand.NewPCG(seed, 0x6d6c70))
	order := show(rows.trained)
	size := min(o.Batch, len(order))
	d := newDescent(net, s, o, size)
	d.mask = mask
	epochs, patience := o.endurance((len(order) + size - 1) / size)
	r := newEarlyStopping(net, s, rows, o, patience, d.cores)
	for epoch := range epochs {
		d.rate = float32(o.rate(epoch, epochs))
		random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for lo, n := 0, 0; lo < len(order); lo, n = lo+size, n+1 {
			if n%16 == 0 {
				if err := ctx.Err(); err != nil {
					return outcome{}, err
				}
			}
			d.learn(order[lo:min(lo+size, len(order))])
		}
		enough := r.enough(net, epoch+1, epoch == epochs-1)
		learn.Report(ctx, float64(epoch+1)/float64(epochs))
		if enough {
			break
		}
	}
	return r.best, ctx.Err()
}

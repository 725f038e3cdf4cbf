package theory

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
)

// mostWeight is how far W is raised.
const mostWeight = 1000.0

// raise finds the least W, from that of the settings on, with which the network
// answers as the theory does, on all rows of which it says something.
func (m *Model) raise(examples []example) {
	s := &m.lesson.Settings
	truth, room := make([]bool, len(m.gates)), m.newRoom()
	said := make([]int, len(examples))
	for i := range examples {
		m.holds(&examples[i], truth)
		said[i] = m.says(truth)
	}
	for m.w = s.Weight; m.w < mostWeight; m.w *= 1.25 {
		weights, same := m.initialise(m.w, s, m.lesson.Seed), true
		for i := 0; i < len(examples) && same; i++ {
			same = said[i] == none || m.answer(weights, &examples[i], room) == said[i]
		}
		if same {
			return
		}
	}
}

// room is what one goroutine needs to answer and to learn.
type room struct {
	example
	net, value, delta, blame []float64
	scores, p                []float64
	gradient                 []float64

	moved            example // for slopes
	here, push, pull []float64
}

func (m *Model) newRoom() *room {
	units := make([]float64, 4*len(m.net.units))
	n := len(m.net.units)
	k := len(m.classes)
	classes := make([]float64, 5*k)
	return &room{
		example: example{at: make([]int32, 0, m.most()), x: make([]float64, 0, m.most())},
		net:     units[:n], value: units[n : 2*n], delta: units[2*n : 3*n], blame: units[3*n:],
		scores: classes[:k], p: classes[k : 2*k], here: classes[2*k : 3*k], push: classes[3*k : 4*k], pull: classes[4*k:],
	}
}

// farthestScore keeps probabilities from being 0 or 1.
const farthestScore = 30

// score fills in the score of each class, the sum of its unit; 0 if it has none.
func (m *Model) score(weights []float64, e *example, r *room) {
	m.net.forward(weights, e, r.net, r.value)
	for c, g := range m.classes {
		if r.scores[c] = 0; g != none {
			r.scores[c] = r.net[m.unitOf(g)]
		}
	}
}

// probabilities fills in those of the classes: of two, the value of the unit that
// stands for one of them; of more, each in proportion to e to its score.
func (m *Model) probabilities(weights []float64, e *example, r *room) {
	m.score(weights, e, r)
	for c := range r.scores {
		r.scores[c] = min(max(r.scores[c], -farthestScore), farthestScore)
	}
	copy(r.p, r.scores)
	logsum.Normalise(r.p)
}

func (m *Model) answer(weights []float64, e *example, r *room) int {
	m.probabilities(weights, e, r)
	return learn.Best(r.p, m.schema.Attributes[m.target].Values)
}

// learnFrom returns the cross entropy of a row, with the error of its slopes where it
// is explained, and adds the slope of that to the gradient.
func (m *Model) learnFrom(weights []float64, e *example, r *room) float64 {
	m.score(weights, e, r)
	copy(r.p, r.scores)
	logsum.Normalise(r.p)
	clear(r.delta)
	for c, g := range m.classes {
		if g == none {
			continue
		}
		d := r.p[c]
		if int32(c) == e.class {
			d--
		}
		r.delta[m.unitOf(g)] = e.times * d
	}
	m.net.backward(weights, e, r.value, r.delta, r.blame, r.gradient)
	lost := -e.times * math.Log(max(r.p[e.class], 1e-300))
	if e.mu > 0 {
		lost += m.learnSlopes(weights, e, r)
	}
	return lost
}

// sharpen makes the answers of a network that was not trained as certain as the
// rows bear out, by a factor to the sums of its outputs, which leaves every answer
// what it is. Rows that are answered right then ask for little change: a perfect
// theory stays as it is.
func (m *Model) sharpen(examples []example) {
	r := m.newRoom()
	best, factor := math.Inf(1), 1.0
	for _, by := range []float64{1, math.Sqrt2, 2, 2 * math.Sqrt2, 4, 4 * math.Sqrt2, 8} {
		sum := 0.0
		for i := range examples {
			e := &examples[i]
			m.score(m.net.weights, e, r)
			for c := range r.scores {
				r.p[c] = by * r.scores[c]
			}
			logsum.Normalise(r.p)
			sum -= e.times * math.Log(max(r.p[e.class], 1e-300))
		}
		if sum < best {
			best, factor = sum, by
		}
	}
	w := m.net.weights
	for _, g := range m.classes {
		if g == none {
			continue
		}
		at := m.unitOf(g)
		w[m.net.bias(at)] *= factor
		for i := range m.width {
			w[m.net.fromInput(i, at)] *= factor
		}
		for k := range m.net.units[at].from {
			w[m.net.units[at].at+k] *= factor
		}
	}
}

// train descends from where the theory put the weights to the most probable ones.
func (m *Model) train(ctx context.Context, examples []example) error {
	s := &m.lesson.Settings
	if s.Epochs == 0 || len(m.net.weights) == 0 {
		return ctx.Err()
	}
	d := &descent{model: m, ctx: ctx, examples: examples, start: m.net.weights, trust: m.trust, ties: m.ties()}
	blocks := min(max(len(examples)/256, 1), 16)
	for range blocks {
		r := m.newRoom()
		r.gradient = make([]float64, len(m.net.weights))
		d.rooms = append(d.rooms, r)
	}
	d.errors = make([]float64, blocks)
	problem := optimize.Problem{
		Func: func(w []float64) float64 { d.at(w); return d.error },
		Grad: func(g, w []float64) { d.at(w); copy(g, d.slope) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		MajorIterations: s.Epochs + 1, GradientThreshold: 1e-7 * math.Sqrt(d.weight()),
		Converger: &optimize.FunctionConverge{Relative: 1e-9, Iterations: 5}, Recorder: d,
	}
	d.most = s.Epochs
	result, err := optimize.Minimize(problem, d.start, settings, &optimize.LBFGS{})
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if result == nil {
		return fmt.Errorf("training: %w", err)
	}
	m.net.weights = result.X
	return nil
}

// descent is the error of the weights on all rows, and its slope.
type descent struct {
	model    *Model
	ctx      context.Context
	examples []example
	start    []float64
	trust    float64
	ties     [][]int
	rooms    []*room
	errors   []float64

	last  []float64 // where error and slope were computed
	error float64
	slope []float64
	most  int
}

func (d *descent) weight() float64 {
	sum := 0.0
	for i := range d.examples {
		sum += d.examples[i].times
	}
	return sum
}

// at computes the error and its slope, unless that was the last point too. Rows
// are added up in blocks, whose number depends on the rows alone.
func (d *descent) at(w []float64) {
	if d.last != nil && same(d.last, w) {
		return
	}
	d.last = append(d.last[:0], w...)
	blocks := len(d.rooms)
	work := func(b int) {
		r := d.rooms[b]
		clear(r.gradient)
		sum := 0.0
		lo, hi := b*len(d.examples)/blocks, (b+1)*len(d.examples)/blocks
		for i := lo; i < hi; i++ {
			if (i-lo)%512 == 511 && d.ctx.Err() != nil {
				break
			}
			sum += d.model.learnFrom(w, &d.examples[i], r)
		}
		d.errors[b] = sum
	}
	if blocks == 1 {
		work(0)
	} else if learn.Each(d.ctx, blocks, work) != nil {
		d.error = math.Inf(1)
	}
	if d.slope == nil {
		d.slope = make([]float64, len(w))
	}
	clear(d.slope)
	d.error = 0
	for b, r := range d.rooms {
		d.error += d.errors[b]
		for i, g := range r.gradient {
			d.slope[i] += g
		}
	}
	d.model.net.unlink(d.slope)
	tie(d.ties, d.slope)
	trust := d.trust
	for i, x := range w {
		away := x - d.start[i]
		d.error += trust / 2 * away * away
		d.slope[i] += trust * away
	}
}

func same(a, b []float64) bool {
	for i, x := range a {
		if x != b[i] {
			return false
		}
	}
	return true
}

// Init does nothing.
func (d *descent) Init() error { return nil }

// Record hears of each point that ends an iteration.
func (d *descent) Record(_ *optimize.Location, op optimize.Operation, stats *optimize.Stats) error {
	if op == optimize.MajorIteration {
		learn.Report(d.ctx, 0.95*min(1, float64(stats.MajorIterations)/float64(d.most+1)))
	}
	return nil
}

// compare finds on what weight of the rows the network answers as the theory did,
// how much of it the theory had right, and how much it left open.
func (m *Model) compare(examples []example) {
	truth, r := make([]bool, len(m.gates)), m.newRoom()
	for i := range examples {
		e := &examples[i]
		m.holds(e, truth)
		said := m.says(truth)
		if said != none && said == m.answer(m.net.weights, e, r) {
			m.agreement += e.times
		}
		if said == none {
			m.open += e.times
		}
		if said == int(e.class) {
			m.right += e.times
		}
	}
}

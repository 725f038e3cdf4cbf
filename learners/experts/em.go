package experts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// least is what an expert has of any row, so that all know all values.
const least = 1e-6

// clusterSteps are the steps of EM over the inputs alone, before experts learn.
const clusterSteps = 20

// search is EM over some rows: gates and experts of the model are replaced step by
// step.
type search struct {
	*Model
	table *table.Table
}

// find begins from clusters of the inputs, and steps until no step gains.
func (s *search) find(ctx context.Context) error {
	s.scale = scales(s.table, s.target)
	shares := s.cluster()
	best, bestLog := *s.Model, math.Inf(-1)
	for step := range s.lesson.Settings.Iterations {
		if err := s.maximise(ctx, shares); err != nil {
			return err
		}
		log, err := s.expect(ctx, shares)
		if err != nil {
			return err
		}
		gain := log - bestLog
		if gain > 0 {
			best, bestLog = *s.Model, log
		}
		if !(gain >= s.lesson.Settings.Tolerance) || len(s.gates) == 1 {
			break
		}
		learn.Report(ctx, float64(step+1)/float64(s.lesson.Settings.Iterations))
	}
	*s.Model = best
	return nil
}

// cluster shares the rows out by their inputs alone: centres are rows, each drawn
// far from those before it (Arthur & Vassilvitskii 2007), from which gates climb.
func (s *search) cluster() []float64 {
	t, k := s.table, s.lesson.Settings.Experts
	random := rand.New(rand.NewPCG(s.lesson.Seed, 1))
	shares := make([]float64, t.Rows()*k)
	nearest := make([]float64, t.Rows())
	for r := range nearest {
		nearest[r] = t.Weight(r)
	}
	closest := make([]float64, t.Rows())
	for c := range k {
		centre := draw(random, nearest)
		for r := range nearest {
			d := s.distance(centre, r)
			if c == 0 || d < closest[r] {
				closest[r] = d
				clear(shares[r*k:][:k])
				shares[r*k+c] = 1
			}
			nearest[r] = closest[r] * t.Weight(r)
		}
	}
	for range clusterSteps {
		s.fitGates(shares)
		for r := range t.Rows() {
			p := shares[r*k:][:k]
			for c := range p {
				p[c] = s.gates[c].logDensity(t.Columns, s.scale, r)
			}
			logsum.Normalise(p)
		}
	}
	return shares
}

// draw returns a row with a probability in proportion to its weight, the first if
// none has any.
func draw(random *rand.Rand, weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := random.Float64() * total
	for r, w := range weights {
		if at -= w; at < 0 {
			return r
		}
	}
	return 0
}

// distance between two rows: squared deviations of numbers, 1 for names that differ.
func (s *search) distance(a, b int) float64 {
	sum := 0.0
	for j := range s.table.Columns {
		cells := &s.table.Columns[j]
		switch {
		case s.scale[j] > 0:
			if d := (cells.Floats[a] - cells.Floats[b]) / s.scale[j]; known(d) {
				sum += min(float64(d*d), 1e12)
			}
		case j != s.target && cells.Codes != nil && cells.Codes[a] != cells.Codes[b]:
			sum++
		}
	}
	return sum
}

func (s *search) fitGates(shares []float64) {
	t, k := s.table, s.lesson.Settings.Experts
	s.gates = make([]gate, k)
	for c := range s.gates {
		total := 0.0
		weight := func(row int) float64 { return max(shares[row*k+c], least) * t.Weight(row) }
		for r := range t.Rows() {
			total += weight(r)
		}
		s.gates[c] = fitGate(t, s.target, s.scale, s.lesson.Settings.Floor, total/s.weight, weight)
	}
}

// maximise is the M step: gates by means, each expert by learning the rows by its
// shares.
func (s *search) maximise(ctx context.Context, shares []float64) error {
	t, k := s.table, s.lesson.Settings.Experts
	s.fitGates(shares)
	s.experts, s.widths = make([]learn.Model, k), make([]float64, k)
	quiet := learn.WithProgress(ctx, func(float64) {})
	for c := range k {
		l, err := s.lesson.Settings.OfBase.Base(s.lesson.Settings.Base, s.classes() > 0, s.classes() == 0)
		if err != nil {
			return err
		}
		rows := *t
		rows.Weights = make([]float64, t.Rows())
		for r := range rows.Weights {
			rows.Weights[r] = max(shares[r*k+c], least) * t.Weight(r)
		}
		if s.experts[c], err = l.Learn(quiet, learn.Task{Table: &rows, Target: s.lesson.Target, Seed: s.lesson.Seed + uint64(c)}); err != nil {
			return fmt.Errorf("expert %d (%s): %w", c+1, s.lesson.Settings.Base, err)
		}
		if s.widths[c], err = s.width(ctx, c, &rows); err != nil {
			return err
		}
	}
	return nil
}

// width is how far an expert errs on its own rows, not less than a thousandth of
// the target's deviation; 0 for classes.
func (s *search) width(ctx context.Context, c int, rows *table.Table) (float64, error) {
	y := s.table.Columns[s.target].Floats
	if y == nil {
		return 0, nil
	}
	said, err := s.ask(ctx, c, s.table)
	if err != nil {
		return 0, err
	}
	total, squares := 0.0, 0.0
	for r, mean := range said.Mean {
		if d := y[r] - mean; known(d) {
			total += rows.Weight(r)
			squares += rows.Weight(r) * d * d
		}
	}
	_, deviation := moments(y, s.table.Weight)
	width := max(math.Sqrt(squares/total), 1e-3*deviation)
	if !known(width) || width == 0 {
		return 1, nil
	}
	return width, nil
}

// expect is the E step: each row's share of the experts given inputs and target,
// and the mean log likelihood.
func (s *search) expect(ctx context.Context, shares []float64) (float64, error) {
	t, k := s.table, len(s.experts)
	for c := range k {
		said, err := s.ask(ctx, c, t)
		if err != nil {
			return 0, err
		}
		for r := range t.Rows() {
			shares[r*k+c] = s.gates[c].logDensity(t.Columns, s.scale, r) + s.logTarget(c, said, r)
		}
	}
	log := 0.0
	for r := range t.Rows() {
		p := shares[r*k:][:k]
		log += float64(t.Weight(r) / s.weight * logsum.Of(p))
		logsum.Normalise(p)
	}
	return log, nil
}

// logTarget is ln p_i(y|x) of a row of the table.
func (s *search) logTarget(c int, said *learn.Predictions, row int) float64 {
	if said.Classes > 0 {
		return math.Log(max(said.Row(row)[s.table.Columns[s.target].Codes[row]], 1e-300))
	}
	z := (s.table.Columns[s.target].Floats[row] - said.Mean[row]) / s.widths[c]
	if !known(z) {
		return -1e12
	}
	return -min(float64(z*z/2), 1e12) - math.Log(s.widths[c])
}

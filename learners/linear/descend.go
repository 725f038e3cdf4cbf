package linear

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/learn"
	"gonum.org/v1/gonum/floats"
)

const (
	remembered = 12  // steps that the curvature is told from
	mostSteps  = 500 // of descent where there is no other way
)

// descend finds the weights by limited-memory BFGS (Nocedal 1980), from what
// applies the inverse of a curvature before any step. It says whether they are
// found after that many steps.
func (l *logit) descend(ctx context.Context, start func([]float64) []float64, most int) (found bool, err error) {
	n := len(l.at)
	var moves, turns [][]float64 // the last steps, and what they did to the slope
	loss, slope, _, err := l.pass(ctx, l.at, 1, false)
	for step := 0; step < most && err == nil; step++ {
		move := twoLoops(slope, moves, turns, start)
		gain := floats.Dot(move, slope)
		if !(gain > enough*l.total) {
			return true, nil
		}
		if gain < lastStep*l.total { // what would be left is rounding
			floats.AddScaled(l.at, -1, move)
			return true, nil
		}
		moved, length := make([]float64, n), 1.0
		var now float64
		var slopeNow []float64
		for ; ; length /= 2 {
			floats.AddScaledTo(moved, l.at, -length, move)
			if now, slopeNow, _, err = l.pass(ctx, moved, 1, false); err != nil {
				return false, err
			}
			if now <= loss-1e-4*length*gain || length < 1e-6 || gain < 1e-11*l.total && now <= loss+1e-12*l.total {
				break
			}
		}
		if length < 1e-6 {
			return true, nil
		}
		turn := make([]float64, n)
		floats.SubTo(turn, slopeNow, slope)
		floats.Scale(-length, move)
		if floats.Dot(turn, move) > 1e-300 {
			if moves, turns = append(moves, move), append(turns, turn); len(moves) > remembered {
				moves, turns = moves[1:], turns[1:]
			}
		}
		copy(l.at, moved)
		loss, slope = now, slopeNow
		learn.Report(ctx, almostAll)
	}
	return false, err
}

// twoLoops returns the step that the remembered steps suggest.
func twoLoops(slope []float64, moves, turns [][]float64, start func([]float64) []float64) []float64 {
	q := append([]float64(nil), slope...)
	alpha := make([]float64, len(moves))
	for i := len(moves) - 1; i >= 0; i-- {
		alpha[i] = floats.Dot(moves[i], q) / floats.Dot(moves[i], turns[i])
		floats.AddScaled(q, -alpha[i], turns[i])
	}
	q = start(q)
	for i := range moves {
		beta := floats.Dot(turns[i], q) / floats.Dot(moves[i], turns[i])
		floats.AddScaled(q, alpha[i]-beta, moves[i])
	}
	return q
}

// startCurvature returns what applies the inverse of the curvature of several
// classes at the start, as if a class moved alone: share·(1 − share)·correlations
// + ridge.
func (l *logit) startCurvature() func([]float64) []float64 {
	n, outputs := len(l.terms), l.outputs
	constants := l.at[n*outputs:]
	correlations := l.of.correlations(l.choice, l.terms)
	factors, alone := make([][]float64, outputs), make([]float64, outputs)
	for k := range outputs {
		share := math.Exp(constants[k])
		alone[k] = max(share*(1-share), 1e-6) * l.total
		factor := make([]float64, n*n)
		floats.AddScaled(factor, alone[k], correlations)
		for i := range n {
			factor[i*n+i] += l.ridge + 1e-9*l.total
		}
		cholesky(factor, n)
		factors[k] = factor
	}
	return func(slope []float64) []float64 {
		to, one := make([]float64, len(slope)), make([]float64, n)
		for k := range outputs {
			for i := range one {
				one[i] = slope[i*outputs+k]
			}
			for i, x := range solveFactor(factors[k], one, n) {
				to[i*outputs+k] = x
			}
			to[n*outputs+k] = slope[n*outputs+k] / alone[k]
		}
		return to
	}
}

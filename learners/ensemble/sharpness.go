package ensemble

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/table"
)

// sharpnesses are how sure a model may be: the factors by which shares of
// votes become logarithms of probabilities.
var sharpnesses = [...]float64{1, 1.5, 2, 3, 4, 6, 8, 12}

// usual is the sharpness of a model of which nothing is known.
const usual = 5

// judge returns, for each sharpness, how surprised the model is by the
// session's own rows, each judged by those members alone that did not learn
// from it: all of earlier sessions, and those of this one that did not draw
// it.
func (s *study) judge(ctx context.Context, before *Model, own *table.Table) (losses [len(sharpnesses)]float64, err error) {
	classes := len(s.classes)
	votes, seen := make([]float64, s.own*classes), make([]float64, s.own*classes)
	if before.schema != nil {
		if err := before.ballot(ctx, own, s.classes, votes, seen); err != nil {
			return losses, err
		}
	}
	for i, m := range s.members {
		for r := range s.own {
			if s.drew[i][r] {
				continue
			}
			votes[r*classes+int(s.said[i][r])] += m.vote
			for c, name := range s.classes {
				if s.settings.Plain || slices.Contains(m.seen, name) {
					seen[r*classes+c] += m.vote
				}
			}
		}
	}
	p := make([]float64, classes)
	for r := range s.own {
		if slices.Max(seen[r*classes:(r+1)*classes]) <= 0 {
			continue // all have learnt from it
		}
		for i, sharpness := range sharpnesses {
			for c := range p {
				p[c] = share(votes[r*classes+c], seen[r*classes+c])
			}
			softmax(p, nil, sharpness)
			losses[i] -= s.rows.Weight(r) * math.Log(max(p[s.truth[r]], 1e-9))
		}
	}
	return losses, nil
}

// share is a class's votes divided by what they could have been.
func share(votes, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return votes / of
}

// softmax makes probabilities of shares of votes.
func softmax(p, prior []float64, sharpness float64) {
	for c := range p {
		p[c] *= sharpness
		if prior != nil {
			p[c] += prior[c]
		}
	}
	logsum.Normalise(p)
}

// sharpest returns the sharpness with the least loss, the usual one being
// worth a few rows.
func sharpest(losses [len(sharpnesses)]float64) float64 {
	best, least := 0, math.Inf(1)
	for i, x := range sharpnesses {
		off := math.Log(x / usual)
		if loss := losses[i] + off*off; loss < least {
			best, least = i, loss
		}
	}
	return sharpnesses[best]
}

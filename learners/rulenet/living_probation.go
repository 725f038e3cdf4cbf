package rulenet

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
)

// probation is candidates for rules, and what the rows since they were proposed
// say of them.
type probation struct {
	tests  [][]atom
	slope  []float64 // by candidate and score, over the rows since
	rules  []float64 // slopes of the rules and the bias over the same rows
	fires  []float64 // weight of the rows since that each covers
	weight float64   // of the rows since
	tried  *sieve    // of the candidates; a cache
}

const (
	mostCandidates = 600
	candidateTrees = 40
)

func (p *probation) own() {
	for _, of := range []*[]float64{&p.slope, &p.rules, &p.fires} {
		*of = slices.Clone(*of)
	}
	p.tests = slices.Clip(p.tests)
}

// clear ends probation.
func (p *probation) clear(weights int) {
	*p = probation{rules: make([]float64, weights)}
}

// sieve returns the sieve of the candidates.
func (p *probation) sieve() *sieve {
	if p.tried == nil {
		p.tried = newSieve(p.tests)
	}
	return p.tried
}

// propose puts candidates on probation: nodes of small trees, grown on the rows
// of the reservoir and the last ones from the present scores on.
func (s *living) propose(ctx context.Context) error {
	s.probation.clear(len(s.w))
	rows := s.nearRows()
	scores := make([]float64, len(rows)*s.k)
	s.score(&s.log.grid, rows, s.w, new(sifting), scores)
	found, err := s.generate(ctx, rows, scores)
	if err != nil {
		return err
	}
	s.probation.tests = found
	s.probation.slope, s.probation.fires = make([]float64, len(found)*s.k), make([]float64, len(found))
	return nil
}

// generate returns conjunctions that are worth trying given rows and their
// present scores, nil being those of the prior.
func (s *living) generate(ctx context.Context, rows []int32, scores []float64) ([][]atom, error) {
	t, err := s.log.table(s.schema, s.target, rows)
	if err != nil {
		return nil, err
	}
	h, err := newSchool(ctx, t, s.target, s.seed, s.settings)
	if err != nil {
		return nil, err
	}
	if len(h.present) < 2 || len(h.columns) == 0 {
		return nil, nil
	}
	o := boost.Options{Leaves: 8, Depth: 3, Rate: 0.3, RowShare: 0.7, ColumnShare: 1, Seed: scramble(s.seed ^ uint64(s.rounds)<<20 ^ 0x11f1)}
	if len(h.columns) > 8 {
		o.ColumnShare = columnShare
	}
	if s.k > 1 {
		o.Leaves, o.Depth = 12, 4
	}
	teacher := boost.New(h.x, h.weights, nil, count(len(h.weights)), o)
	if scores != nil {
		own := make([]float64, h.x.Scores)
		for i := range rows {
			of := scores[i*s.k : (i+1)*s.k]
			switch {
			case s.k == 1:
				own[0] = of[0]
			case len(own) == 1:
				own[0] = of[h.present[1]] - of[h.present[0]]
			default:
				for c, class := range h.present {
					own[c] = of[class]
				}
			}
			teacher.From(i, own)
		}
	}
	if err := teacher.Grow(ctx, candidateTrees); err != nil {
		return nil, err
	}
	return s.distinctNodes(ctx, h, teacher)
}

// distinctNodes returns the nodes of trees that cover rows which no other, nor a
// rule that is there, covers, nor all but these.
func (s *living) distinctNodes(ctx context.Context, h *school, teacher *boost.Teacher) ([][]atom, error) {
	total := uint64(0)
	own := make([]uint64, len(h.weights))
	for i := range own {
		own[i] = scramble(uint64(i) ^ 0x51ed)
		total += own[i]
	}
	known := map[uint64]bool{0: true, total: true}
	var conjunctions [][]atom
	for i := range teacher.Trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree := &teacher.Trees[i]
		sums := make([]uint64, max(256, len(tree.Nodes)))
		for row, leaf := range teacher.LeafOf[i] {
			sums[leaf] += own[row]
		}
		for node := len(tree.Nodes) - 1; node > 0; node-- {
			sums[tree.Nodes[node].Parent] += sums[node]
		}
		for node := int32(1); int(node) < len(tree.Nodes); node++ {
			id := sums[node]
			if known[id] || known[total-id] {
				continue
			}
			known[id] = true
			if c := h.conjunction(tree.Tests(h.x.Columns, node)); len(c) > 0 {
				conjunctions = append(conjunctions, h.coding.atoms(c, s.schema))
			}
			if len(conjunctions) == mostCandidates {
				return conjunctions, nil
			}
		}
	}
	return conjunctions, nil
}

package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// What fits the rows and what fits the theory are weighed against each other by
//
//	argmin_h k_D · error_D(h) + k_B · error_B(h)   (Mitchell 1997, section 12.2.1),
//
// error_D being the share of rows that h answers wrongly, error_B the probability
// that h and the theory B differ on a random instance. The hypotheses are networks
// that are held to the theory by several trusts; error_D is counted on rows that
// a network did not learn from, in folds, so that k_D alone, 1:0, is nested
// validation.

// Balance is a trust and what the criterion says of it.
type Balance struct {
	Trust  float64 `json:"trust" cbor:"trust"`
	ErrorD float64 `json:"error_rows" cbor:"rows"`
	ErrorB float64 `json:"error_theory" cbor:"theory"`
	Score  float64 `json:"score" cbor:"score"`
}

// String says it in a line.
func (b Balance) String() string {
	return fmt.Sprintf("trust %.4g: %.1f %% of unseen rows answered wrongly, %.1f %% of random rows other than by the theory, together %.4f", b.Trust, 100*b.ErrorD, 100*b.ErrorB, b.Score)
}

// criterion reads k_D and k_B; nil if nothing is to be chosen.
func (s *settings) criterion() ([]float64, error) {
	if s.Choose == "" {
		return nil, nil
	}
	var k []float64
	for _, text := range strings.Split(s.Choose, ":") {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(x >= 0 && x <= 1e9) {
			k = nil
			break
		}
		k = append(k, x)
	}
	if len(k) != 2 || k[0]+k[1] == 0 {
		return nil, fmt.Errorf("setting criterion=%s: expected two numbers from 0, not both 0, as in 1:0.5: what an error on the rows and a difference from the theory cost", s.Choose)
	}
	return k, nil
}

// folds is how many parts of the rows are left out in turn; imagined how many
// random rows a network and the theory are compared on.
const folds, imagined = 5, 400

// settleTrust finds how firmly the weights are held to where the theory put them:
// as was said, by W, or by the criterion.
func (m *Model) settleTrust(ctx context.Context, t *table.Table, examples []example) error {
	s := &m.lesson.Settings
	if m.trust = s.Trust; m.trust < 0 {
		m.trust = 1 / (m.w * m.w)
	}
	k, err := s.criterion()
	if err != nil || k == nil || s.Epochs == 0 || len(m.theory.Rules) == 0 {
		return err
	}
	random, err := m.imagine(t)
	if err != nil {
		return err
	}
	start, prior := m.net.weights, m.trust
	best := math.Inf(1)
	for _, by := range []float64{1. / 16, 1. / 4, 1, 4, 16, 64} {
		b := Balance{Trust: prior * by}
		m.trust = b.Trust
		for fold := range folds {
			var rest, out []example
			for i := range examples {
				if i%folds == fold && len(examples) >= 2*folds {
					out = append(out, examples[i])
				} else {
					rest = append(rest, examples[i])
				}
			}
			m.net.weights = append([]float64(nil), start...)
			m.sharpen(rest)
			if err := m.train(ctx, rest); err != nil {
				return err
			}
			wrong, other := m.errors(out, random)
			b.ErrorD += wrong / sum(m.counts)
			b.ErrorB += other / folds
		}
		b.Score = k[0]*b.ErrorD + k[1]*b.ErrorB
		m.chosen = append(m.chosen, b)
		best = min(best, b.Score)
	}
	m.net.weights = start
	for _, b := range m.chosen { // of equals the one that the theory is changed least by
		if b.Score <= best+1e-12 {
			m.trust = b.Trust
		}
	}
	return nil
}

// errors returns the weight of rows that the network answers wrongly, and the share
// of random ones that it answers other than the theory does.
func (m *Model) errors(rows, random []example) (wrong, other float64) {
	r, truth := m.newRoom(), make([]bool, len(m.gates))
	for i := range rows {
		if m.answer(m.net.weights, &rows[i], r) != int(rows[i].class) {
			wrong += rows[i].times
		}
	}
	said := 0.0
	for i := range random {
		m.holds(&random[i], truth)
		if says := m.says(truth); says != none {
			if said++; m.answer(m.net.weights, &random[i], r) != says {
				other++
			}
		}
	}
	return wrong, other / max(said, 1)
}

// imagine draws random rows: each cell is that of any row.
func (m *Model) imagine(t *table.Table) ([]example, error) {
	random := rand.New(rand.NewPCG(m.lesson.Seed, 0x696d6167696e65))
	columns := make([]table.Column, len(t.Columns))
	for j := range t.Columns {
		for range imagined {
			if from, r := &t.Columns[j], random.IntN(t.Rows()); from.Codes != nil {
				columns[j].Codes = append(columns[j].Codes, from.Codes[r])
			} else {
				columns[j].Floats = append(columns[j].Floats, from.Floats[r])
			}
		}
	}
	made, err := table.New(t.Schema, columns, nil)
	if err != nil {
		return nil, err
	}
	all := make([]example, imagined)
	for r := range all {
		all[r].at, all[r].x = make([]int32, 0, m.most()), make([]float64, 0, m.most())
		m.read(made, r, &all[r])
	}
	return all, nil
}

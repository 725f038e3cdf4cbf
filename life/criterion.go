package life

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// imagined is how many random rows learners and a theory are compared on.
const imagined = 1000

// Weigh adds to a comparison what the criterion of rows and a theory says of each
// learner,
//
//	argmin_h k_D · error_D(h) + k_B · error_B(h)   (Mitchell 1997, section 12.2.1):
//
// error_D is the share of unseen rows that it answers wrongly, as it was compared, and
// error_B that of random rows that it answers other than the theory, having learnt
// all rows. The criterion is k_D:k_B; an empty one adds nothing.
func (h *Home) Weigh(ctx context.Context, r *evaluate.Comparison, specs []evaluate.Spec, rules *Rules, criterion string) error {
	if criterion == "" {
		return nil
	}
	kD, kB, err := bothCosts(criterion)
	if err != nil {
		return err
	}
	t, target := specs[0].Table, specs[0].Target
	switch {
	case rules.File == "":
		return remedy.Misusef("a criterion weighs rows against a theory; name the file of its rules")
	case target < 0 || t.Schema.Attributes[target].Kind != table.Nominal:
		return remedy.Misusef("a criterion of rows and a theory is for classes, which a theory concludes")
	}
	random, err := anyRows(t, imagined, h.Seed)
	if err != nil {
		return err
	}
	said, err := h.concluded(ctx, random, target, rules)
	if err != nil {
		return err
	}
	least := math.Inf(1)
	for i := range specs {
		l, err := specs[i].New()
		if err != nil {
			return err
		}
		m, err := l.Learn(ctx, learn.Task{Table: specs[i].Table, Seed: h.Seed}.At(specs[i].Target))
		if err != nil {
			return fmt.Errorf("%s: %w", specs[i].Learner, err)
		}
		answers, err := answersOf(ctx, m, random)
		if err != nil {
			return fmt.Errorf("%s: %w", specs[i].Learner, err)
		}
		w := evaluate.Weighed{Learner: specs[i].Learner, ErrorRows: 1 - *r.Learners[i].Accuracy}
		other := 0
		for row, a := range answers {
			if a != said[row] {
				other++
			}
		}
		w.ErrorTheory = float64(other) / imagined
		w.Score = kD*w.ErrorRows + kB*w.ErrorTheory
		least = min(least, w.Score)
		r.Criterion = append(r.Criterion, w)
	}
	for i := range r.Criterion {
		r.Criterion[i].Least = r.Criterion[i].Score <= least
	}
	return nil
}

// bothCosts reads k_D:k_B.
func bothCosts(text string) (kD, kB float64, err error) {
	d, b, _ := strings.Cut(text, ":")
	kD, errD := strconv.ParseFloat(strings.TrimSpace(d), 64)
	kB, errB := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if errD != nil || errB != nil || !(kD >= 0 && kB >= 0 && kD+kB > 0 && kD+kB < math.Inf(1)) {
		return 0, 0, remedy.Misusef("criterion %s: expected two numbers from 0, not both 0, as in 1:0.5: what an error on the rows and a difference from the theory cost", text)
	}
	return kD, kB, nil
}

// anyRows draws rows of which each cell is that of any row.
func anyRows(t *table.Table, n int, seed uint64) (*table.Table, error) {
	random := rand.New(rand.NewPCG(seed, 0x616e79))
	columns := make([]table.Column, len(t.Columns))
	for j := range columns {
		from := make([]int, n)
		for i := range from {
			from[i] = random.IntN(t.Rows())
		}
		columns[j] = t.Select(from).Columns[j]
	}
	return table.New(t.Schema, columns, nil)
}

// concluded is what a theory says of rows: the answers of its network before that
// learns anything.
func (h *Home) concluded(ctx context.Context, t *table.Table, target int, rules *Rules) ([]string, error) {
	base, _, err := rules.readTheory(ctx, h, t.Schema, target)
	if err != nil {
		return nil, err
	}
	l, err := learn.New("kbann", map[string]string{"near": "0", "epochs": "0"})
	if err != nil {
		return nil, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Target: t.Schema.Attributes[target].Name, Seed: h.Seed, Advice: learn.Advice{Theory: base}})
	if err != nil {
		return nil, err
	}
	return answersOf(ctx, m, t)
}

// answersOf are the names of the classes that a model answers with.
func answersOf(ctx context.Context, m learn.Model, t *table.Table) ([]string, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		return nil, err
	}
	names := m.Schema().Attributes[m.Target()].Values
	answers := make([]string, t.Rows())
	for r := range answers {
		answers[r] = names[learn.Best(out.Row(r), names)]
	}
	return answers, nil
}

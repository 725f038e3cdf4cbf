package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Scores is what a model is worth on rows of their own: the result, and for
// classes how it treats each of them and how well it ranks rows by the
// probability of one, the positive class.
type Scores struct {
	Result
	// By class; a class that is never said has no precision, one that no row
	// has no recall.
	Recall    map[string]float64 `json:"recall,omitempty"`
	Precision map[string]float64 `json:"precision,omitempty"`
	F1        map[string]float64 `json:"f1,omitempty"`
	// Confusion counts rows, by weight: what was said, then what is true.
	Confusion map[string]map[string]float64 `json:"confusion,omitempty"`

	Positive string `json:"positive,omitempty"`
	// AUC is the chance that a row of the positive class has a higher
	// probability of it than a row of another, with its interval (Hanley and
	// McNeil 1982).
	AUC     *float64 `json:"auc,omitempty"`
	AUCLow  *float64 `json:"auc_low,omitempty"`
	AUCHigh *float64 `json:"auc_high,omitempty"`
	// AveragePrecision is the mean precision over the rows of the positive
	// class, each at its own place in the ranking.
	AveragePrecision *float64 `json:"average_precision,omitempty"`
	// Threshold is the probability of the positive class from which on saying
	// it gives the greatest F1 on these rows; with costs of two classes, that
	// from which on it costs least.
	Threshold *float64 `json:"threshold,omitempty"`
	// Lift is how much denser the positive class is among the rows that are
	// ranked first than among all.
	Lift []Lift `json:"lift,omitempty"`
	// CostThreshold is what a row costs on average where the positive class is
	// said from Threshold on.
	CostThreshold *float64 `json:"cost_threshold,omitempty"`
	// LearntRows is how many of the rows the model has learnt from, as far as
	// that can be told; on the others it was right as Unseen says.
	LearntRows int      `json:"learnt_rows,omitempty"`
	Unseen     *float64 `json:"accuracy_unseen,omitempty"`

	bestF1 float64  // threshold of the greatest F1
	ranked []scored // the rows from the highest probability down, for pictures
}

// Lift is what is found among the rows that are ranked first.
type Lift struct {
	Share float64 `json:"share"` // of all rows, by weight
	Lift  float64 `json:"lift"`  // how many times as dense the positive class is there as in all rows
	Found float64 `json:"found"` // share of the positive class that is among them
}

// ScoreOptions say how a model is judged.
type ScoreOptions struct {
	// Positive is a class of the target; "" is the rarest one in the rows, the
	// last in the dictionary if there are several.
	Positive string
	// Costs of wrong answers, or nil.
	Costs *Costs
	// Learnt says which rows the model has learnt from; nil if none or unknown.
	Learnt []bool
}

// ScoreModel tests a model as TestModel does.
func ScoreModel(ctx context.Context, m learn.Model, test *table.Table, spec Spec, o ScoreOptions) (*Scores, error) {
	target := m.Target()
	if target == learn.NoTarget || m.Schema().Attributes[target].Kind != table.Nominal {
		if o.Costs != nil {
			return nil, fmt.Errorf("costs are those of wrong classes, and the model predicts none")
		}
		r, t, err := spec.testModel(ctx, m, test)
		if err != nil {
			return nil, err
		}
		s := &Scores{Result: *r}
		s.recognise(o.Learnt, t)
		return s, nil
	}
	spec.ranked, spec.positive, spec.Costs = true, o.Positive, o.Costs
	r, t, err := spec.testModel(ctx, m, test)
	if err != nil {
		return nil, err
	}
	s := &Scores{Result: *r, Positive: t.tally.watch}
	s.byClass(t.tally)
	s.rank(t.tally)
	s.price(t.tally, o.Costs)
	s.recognise(o.Learnt, t)
	return s, nil
}

// recognise says how many of the tested rows the model has learnt from, and how
// often it was right on the others.
func (s *Scores) recognise(learnt []bool, t *trial) {
	unseen, right := 0, 0.0
	for i, row := range t.test {
		if learnt != nil && learnt[row] {
			s.LearntRows++
			continue
		}
		unseen++
		right += 1 - t.losses[i]
	}
	if s.LearntRows == 0 {
		return
	}
	if s.Accuracy != nil && unseen > 0 {
		setNumber(&s.Unseen, right/float64(unseen))
	}
}

// lifts are the shares of rows that lift is told for.
var lifts = [...]float64{0.05, 0.1, 0.2, 0.3, 0.5}

// lift fills in what is found among the rows ranked first. Where rows of equal
// probability are cut by a share, they count in proportion.
func (s *Scores) lift(positives, negatives float64) {
	all := positives + negatives
	for _, share := range lifts {
		room, found := share*all, 0.0
		for lo := 0; lo < len(s.ranked) && room > 0; {
			hit, both, hi := 0.0, 0.0, lo
			for ; hi < len(s.ranked) && s.ranked[hi].p == s.ranked[lo].p; hi++ {
				both += s.ranked[hi].weight
				if s.ranked[hi].positive {
					hit += s.ranked[hi].weight
				}
			}
			if both > 0 {
				found += hit * min(room/both, 1)
			}
			room -= both
			lo = hi
		}
		s.Lift = append(s.Lift, Lift{Share: share, Lift: found / positives / share, Found: found / positives})
	}
}

// positiveClass returns the class whose probabilities are kept.
func positiveClass(asked string, names []string, t *table.Table, target int) (string, error) {
	if asked != "" {
		if !slices.Contains(names, asked) {
			return "", remedy.Misusef("%q is no class of %q%s", asked, t.Schema.Attributes[target].Name, spell.Hint(asked, names))
		}
		return asked, nil
	}
	values := t.Schema.Attributes[target].Values
	counts := make([]float64, len(values))
	for r, code := range t.Columns[target].Codes {
		if code >= 0 {
			counts[code] += t.Weight(r)
		}
	}
	rarest := -1
	for v, n := range counts {
		if n > 0 && (rarest < 0 || n <= counts[rarest]) {
			rarest = v
		}
	}
	if rarest < 0 {
		return "", nil
	}
	return values[rarest], nil
}

// byClass fills in what the counts say of each class.
func (s *Scores) byClass(t *tally) {
	s.Recall, s.Precision, s.F1, s.Confusion = map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]map[string]float64{}
	n := len(t.names)
	for c, name := range t.names {
		is, said := 0.0, 0.0
		for o, other := range t.names {
			is += t.counts[c*n+o]
			said += t.counts[o*n+c]
			if rows := t.counts[o*n+c]; rows > 0 {
				if s.Confusion[name] == nil {
					s.Confusion[name] = map[string]float64{}
				}
				s.Confusion[name][other] = rows
			}
		}
		right := t.counts[c*n+c]
		if is > 0 {
			s.Recall[name] = right / is
		}
		if said > 0 {
			s.Precision[name] = right / said
		}
		if is+said > 0 {
			s.F1[name] = 2 * right / (is + said)
		}
	}
}

// scored is a row with the probability of the positive class.
type scored struct {
	p, weight float64
	positive  bool
}

// rank fills in what the order of the rows says.
func (s *Scores) rank(t *tally) {
	if t.watch == "" {
		return
	}
	auc, precision, threshold, positives, negatives := ranking(t.scores)
	if positives > 0 {
		setNumber(&s.AveragePrecision, precision)
		setNumber(&s.Threshold, threshold)
		s.bestF1 = threshold
	}
	s.ranked = t.scores
	if positives > 0 && negatives > 0 {
		s.lift(positives, negatives)
		setNumber(&s.AUC, auc)
		i := stat.AUC(auc, positives, negatives).Interval(s.Level, stat.TwoSided)
		setInterval(&s.AUCLow, &s.AUCHigh, stat.Interval{Low: max(i.Low, 0), High: min(i.High, 1)})
	}
}

// ranking goes through the rows from the highest probability down. Rows of
// equal probability count together: a pair of them is half right.
func ranking(rows []scored) (auc, precision, threshold, positives, negatives float64) {
	slices.SortStableFunc(rows, func(a, b scored) int { return cmp.Compare(b.p, a.p) })
	for _, r := range rows {
		if r.positive {
			positives += r.weight
		} else {
			negatives += r.weight
		}
	}
	hits, misses, best := 0.0, 0.0, -1.0
	for lo := 0; lo < len(rows); {
		hit, miss, hi := 0.0, 0.0, lo
		for ; hi < len(rows) && rows[hi].p == rows[lo].p; hi++ {
			if rows[hi].positive {
				hit += rows[hi].weight
			} else {
				miss += rows[hi].weight
			}
		}
		auc += miss * (hits + hit/2)
		hits, misses = hits+hit, misses+miss
		if hits+misses > 0 {
			precision += hit * hits / (hits + misses)
		}
		if f1 := 2 * hits / (hits + misses + positives); f1 > best {
			best, threshold = f1, rows[lo].p
		}
		lo = hi
	}
	return auc / (positives * negatives), precision / positives, threshold, positives, negatives
}

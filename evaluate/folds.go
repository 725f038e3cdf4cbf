package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Folds assigns each row of a table to one of k test folds, at random but
// stratified: the folds' sizes differ by at most one row, and so do the
// counts of each class in them. Rows whose target is missing are in no fold,
// −1. A numeric target, or none, is not stratified. The rows of a sequence are
// kept together, as GroupFolds does.
func Folds(t *table.Table, target, k int, seed uint64) ([]int, error) {
	rows := labelled(t, target)
	switch {
	case k < 2:
		return nil, fmt.Errorf("evaluate: %d folds; expected at least 2", k)
	case len(rows) == 0:
		return nil, fmt.Errorf("evaluate: no row has a known %q", t.Schema.Attributes[target].Name)
	case len(rows) < k:
		return nil, remedy.Misusef("evaluate: %d folds of %d rows with a known target; expected at most one fold a row", k, len(rows))
	}
	if t.Sequence != nil {
		return groupFolds(t, target, sequences(t), k, seed, "sequence")
	}
	fold := make([]int, t.Rows())
	for r := range fold {
		fold[r] = -1
	}
	// Dealt class by class like cards, never starting over: so the hands
	// are of equal size overall and within each class.
	next := 0
	for _, class := range strata(t, target, rows) {
		shuffle(class, random(seed, uint64(next)))
		for _, r := range class {
			fold[r] = next % k
			next++
		}
	}
	return fold, nil
}

// strata returns the rows by class, in the order of the dictionary; in one
// piece if there are no classes.
func strata(t *table.Table, target int, rows []int) [][]int {
	if target == learn.NoTarget || t.Columns[target].Codes == nil {
		return [][]int{slices.Clone(rows)}
	}
	codes := t.Columns[target].Codes
	byClass := make([][]int, len(t.Schema.Attributes[target].Values)+1)
	for _, r := range rows {
		class := int(codes[r])
		if class < 0 { // unseen
			class = len(byClass) - 1
		}
		byClass[class] = append(byClass[class], r)
	}
	return byClass
}

// proportional returns the rows in a random order of which every beginning
// has the classes in nearly the proportions of the whole.
func proportional(t *table.Table, target int, rows []int, seed uint64) []int {
	type card struct {
		row   int
		place float64
	}
	cards := make([]card, 0, len(rows))
	for c, class := range strata(t, target, rows) {
		rng := random(seed, uint64(c))
		shuffle(class, rng)
		offset := rng.Float64()
		for i, r := range class {
			cards = append(cards, card{r, (float64(i) + offset) / float64(len(class))})
		}
	}
	slices.SortFunc(cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.row, b.row))
	})
	order := make([]int, len(cards))
	for i, c := range cards {
		order[i] = c.row
	}
	return order
}

func random(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

func shuffle(rows []int, r *rand.Rand) {
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// derive returns a seed for part of an evaluation (splitmix64's finaliser, so
// that neighbouring parts have unrelated seeds).
func derive(seed uint64, parts ...int) uint64 {
	for _, p := range parts {
		seed += 0x9e3779b97f4a7c15 * (uint64(p) + 1)
		seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		seed = (seed ^ seed>>27) * 0x94d049bb133111eb
		seed ^= seed >> 31
	}
	return seed
}

// split is a way to divide the rows into training and test rows. They are
// listed only when it is the split's turn: a thousand splits of a thousand
// rows are a million numbers.
type split struct {
	rows func() (train, test []int)
	seed uint64 // of the learners
}

// Split is a way to divide rows into those to learn from and those to test on,
// and the seed that learning has then.
type Split struct {
	Rows func() (train, test []int)
	Seed uint64
}

// Splits returns how CrossValidate divides the rows into so many folds.
func (s *Spec) Splits(folds int) ([]Split, error) {
	splits, err := s.crossSplits(folds)
	list := make([]Split, len(splits))
	for i := range splits {
		list[i] = Split{splits[i].rows, splits[i].seed}
	}
	return list, err
}

// crossSplits returns the k splits of each repeat.
func (s *Spec) crossSplits(folds int) ([]split, error) {
	if s.Times != nil {
		return s.timeSplits(folds)
	}
	splits := make([]split, 0, max(folds, 0)*s.repeats())
	for repeat := range s.repeats() {
		// The first repeat's folds are those of the seed itself.
		seed := s.Seed
		if repeat > 0 {
			seed = derive(s.Seed, repeat)
		}
		fold, err := s.folds(folds, seed)
		if err != nil {
			return nil, err
		}
		for k := range folds {
			splits = append(splits, split{
				rows: func() (train, test []int) {
					for r, f := range fold {
						switch {
						case f == k:
							test = append(test, r)
						case f >= 0:
							train = append(train, r)
						}
					}
					return train, test
				},
				seed: derive(s.Seed, repeat, k),
			})
		}
	}
	return splits, nil
}

// folds assigns the rows to folds, whole groups where there are groups.
func (s *Spec) folds(k int, seed uint64) ([]int, error) {
	if s.Groups != nil {
		return GroupFolds(s.Table, s.Target, s.Groups, k, seed)
	}
	return Folds(s.Table, s.Target, k, seed)
}

// holdOutSplits returns random splits with a share of the rows for testing,
// stratified.
func (s *Spec) holdOutSplits(share float64, repeats int) ([]split, error) {
	rows := labelled(s.Table, s.Target)
	testRows := int(math.Round(share * float64(len(rows))))
	switch {
	case !(share > 0 && share < 1):
		return nil, fmt.Errorf("evaluate: a test share of %v; expected a fraction between 0 and 1", share)
	case testRows == 0 || testRows == len(rows):
		return nil, fmt.Errorf("evaluate: %d rows with a known target are too few to hold out %.4g of them", len(rows), share)
	}
	if s.together() != nil || s.Times != nil {
		return s.heldOutDivided(testRows, repeats)
	}
	splits := make([]split, repeats)
	for i := range splits {
		seed := derive(s.Seed, i)
		splits[i] = split{
			rows: func() (train, test []int) {
				order := proportional(s.Table, s.Target, rows, seed)
				test, train = order[:testRows], order[testRows:]
				slices.Sort(test)
				slices.Sort(train)
				return train, test
			},
			seed: seed,
		}
	}
	return splits, nil
}

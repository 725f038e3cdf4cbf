package life

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// SilentEntry is a rule that does not apply to a row: what it would add to the
// answer as odds, and the cells that keep it from applying.
type SilentEntry struct {
	ID      string       `json:"id"`
	Say     say.Sentence `json:"say"`
	Odds    float64      `json:"odds"`
	Because []string     `json:"because"`
}

// mostSilent is how many rules that do not apply are named.
const mostSilent = 3

// silent names the rules that would have spoken most against the answer, where
// that no other rule applies is what speaks most for it: of a network of one rule
// nothing else can be said of the rows that it is not about.
func (r *explainer) silent(e *Explained, t *table.Table, row int) ([]SilentEntry, error) {
	if r.target.Kind == table.Numeric || len(r.choices.weighs) == 0 || len(e.Evidence) == 0 || e.Evidence[0].Text != silence {
		return nil, nil
	}
	best, beside := r.rivals(e)
	speaks := r.moves(&e.Evidence[0], best, beside)
	if speaks <= 0 || slices.ContainsFunc(e.Cells, func(c CellEntry) bool { return math.Abs(c.Weight) > speaks }) {
		return nil, nil
	}
	var all []SilentEntry
	at := map[string]int{} // rules of several classes with the same tests are one
	for i := range r.choices.weighs {
		one := &r.choices.weighs[i]
		moves := r.adds(one, best) - r.adds(one, beside)
		if len(one.If) == 0 || moves == 0 {
			continue
		}
		because, err := r.fails(one.If, t, row)
		if err != nil {
			return nil, err
		}
		if len(because) == 0 {
			continue
		}
		said := r.speaker.Conditions(one.If)
		k, known := at[said.String()]
		if !known {
			k = len(all)
			at[said.String()] = k
			all = append(all, SilentEntry{ID: one.ID(), Say: said, Odds: 1, Because: because})
		}
		all[k].Odds *= math.Exp(min(max(moves, -300), 300))
	}
	all = slices.DeleteFunc(all, func(v SilentEntry) bool { return v.Odds > 0.5 })
	slices.SortStableFunc(all, func(a, b SilentEntry) int { return cmp.Compare(a.Odds, b.Odds) })
	return all[:min(len(all), mostSilent)], nil
}

// adds is what a rule adds to a class where it applies.
func (r *explainer) adds(one *rule.Rule, class int) float64 {
	if class < 0 {
		return 0
	}
	name := r.target.Values[class]
	for _, share := range one.Then.By {
		if share.Value == name {
			return share.P
		}
	}
	if one.Then.Value == name && one.Evidence.Weight != nil {
		return *one.Evidence.Weight
	}
	return 0
}

// fails says which cells of a row keep tests from holding; none if they hold.
func (r *explainer) fails(tests []rule.Test, t *table.Table, row int) ([]string, error) {
	var cells []string
	for i := range tests {
		m, err := rule.NewMatcher(tests[i:i+1], t.Schema)
		if err != nil {
			return nil, err
		}
		if m.MatchRow(t, row) {
			continue
		}
		for _, name := range columnsOf(tests[i : i+1]) {
			if said := r.speaker.Cell(t, row, t.Schema.Index(name)).Text; !slices.Contains(cells, said) {
				cells = append(cells, said)
			}
		}
	}
	return cells, nil
}

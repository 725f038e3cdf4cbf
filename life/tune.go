package life

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
)

// TuneOptions say which settings are tried.
type TuneOptions struct {
	Data     *Data
	Target   string
	Choice   Choice   // its settings are the same in all trials
	Try      []string // settings with their values, as key=a,b,c: all combinations; none: what the learner's settings suggest
	Trials   int      // at most
	Folds    int      // that are judged
	FewFolds bool     // nobody asked for so many
	Inner    int      // in which the choice is made
	Division Division
	Level    float64
}

// Tune tries settings of a learner, and judges the choice on rows that had no
// say in it.
func (h *Home) Tune(ctx context.Context, o TuneOptions) (*evaluate.Tuning, error) {
	o.Data.Reading = o.Division.Reading(o.Data.Reading)
	l, err := h.Lesson(ctx, o.Data, o.Target, o.Choice)
	if err != nil {
		return nil, err
	}
	specs := []evaluate.Spec{h.Spec(o.Data.Arg, l)}
	specs[0].Level = o.Level
	h.SuggestDivision(specs[0], o.Division)
	if err := h.Divide(specs, o.Division); err != nil {
		return nil, err
	}
	all, left, err := h.candidates(l, o)
	if err != nil {
		return nil, err
	}
	if o.FewFolds {
		o.Folds, o.Inner = specs[0].FewFolds(o.Folds), max(2, specs[0].FewFolds(o.Inner+1)-1) // a fold is held out
	}
	bar, done := h.progress(fmt.Sprintf("trying %s", plural(len(all), "setting")))
	defer done()
	t, err := evaluate.Tune(learn.WithProgress(ctx, bar), specs[0], all, o.Folds, o.Inner)
	if err == nil && left > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s more were not tried", plural(left, "combination")))
	}
	return t, err
}

// candidates returns the settings to try, the default ones first, and how many
// were too many.
func (h *Home) candidates(l *Lesson, o TuneOptions) (all []evaluate.Candidate, left int, err error) {
	var tried []map[string]string
	if len(o.Try) > 0 {
		tried, left, err = grid(o.Try, o.Trials, h.Seed)
	} else {
		tried = star(learn.Options(l.Info.New()), l.Settings)
		tried, left = some(tried, o.Trials, h.Seed)
	}
	if err != nil {
		return nil, 0, err
	}
	all = append(all, evaluate.Candidate{Settings: map[string]string{}, New: l.fresh})
	for _, settings := range tried {
		full := maps.Clone(l.Settings)
		if full == nil {
			full = map[string]string{}
		}
		maps.Copy(full, settings)
		if _, err := newLearner(l.Info.Name, full); err != nil {
			if len(o.Try) > 0 {
				return nil, 0, remedy.Misuse(err)
			}
			continue // settings that do not go together
		}
		of := *l
		of.Settings = full
		all = append(all, evaluate.Candidate{Settings: settings, New: of.fresh})
	}
	if len(all) < 2 {
		return nil, 0, remedy.Misusef("%s has no settings whose values follow from their defaults; say which to try, as key=a,b,c", l.Info.Name)
	}
	return all, left, nil
}

// grid returns all combinations of the values, at most so many.
func grid(try []string, most int, seed uint64) (all []map[string]string, left int, err error) {
	all = []map[string]string{{}}
	const limit = 100_000
	for _, t := range try {
		key, values, ok := strings.Cut(t, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.TrimSpace(values) == "" {
			return nil, 0, remedy.Misusef("%s: expected key=value,value,…", t)
		}
		var more []map[string]string
		for _, settings := range all {
			for _, value := range strings.Split(values, ",") {
				with := maps.Clone(settings)
				with[key] = strings.TrimSpace(value)
				more = append(more, with)
			}
		}
		if all = more; len(all) > limit {
			return nil, 0, remedy.Misusef("more than %d combinations; try fewer values", limit)
		}
	}
	all, left = some(all, most, seed)
	return all, left, nil
}

// some returns so many of many, by chance but in their order, and how many are
// left.
func some(all []map[string]string, most int, seed uint64) ([]map[string]string, int) {
	if len(all) <= most {
		return all, 0
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:most]
	slices.Sort(order)
	chosen := make([]map[string]string, most)
	for i, at := range order {
		chosen[i] = all[at]
	}
	return chosen, len(all) - most
}

// untried are settings that are not about how well a learner does.
var untried = []string{"keep", "update", "knowledge", "preset", "seed", "forget"}

// star returns settings that differ from the default ones in one place: the
// other words of a choice, and a quarter, a half, twice and four times a number.
func star(options []learn.Option, given map[string]string) []map[string]string {
	var all []map[string]string
	for _, o := range options {
		if _, set := given[o.Key]; set || o.File || o.Model || strings.Contains(o.Key, "*") || slices.Contains(untried, o.Key) {
			continue
		}
		for _, value := range values(o) {
			all = append(all, map[string]string{o.Key: value})
		}
	}
	return all
}

// values returns what else a setting might be.
func values(o learn.Option) []string {
	otherwise, _, _ := strings.Cut(o.Default, " ")
	switch {
	case len(o.Choices) > 0:
		return slices.DeleteFunc(slices.Clone(o.Choices), func(v string) bool { return v == otherwise })
	case otherwise == "true":
		return []string{"false"}
	case otherwise == "false":
		return []string{"true"}
	}
	x, err := strconv.ParseFloat(otherwise, 64)
	if err != nil || x <= 0 {
		return nil
	}
	var texts []string
	_, whole := strconv.Atoi(otherwise)
	for _, factor := range []float64{0.25, 0.5, 2, 4} {
		v := x * factor
		if whole == nil && v < 1 {
			continue
		}
		if whole == nil {
			texts = append(texts, strconv.Itoa(int(v)))
		} else {
			texts = append(texts, strconv.FormatFloat(v, 'g', 6, 64))
		}
	}
	return slices.Compact(texts)
}

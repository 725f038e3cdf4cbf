package life

import (
	"math"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// wordsFor are the words of a text that somebody chose, else the one by which the
// model speaks most for the class that is right.
func (r *explainer) wordsFor(t *table.Table, row, column int, what Drafting) ([]string, error) {
	name, there := t.Schema.Attributes[column].Name, map[string]bool{}
	codes, _ := t.Columns[column].Words.Row(row)
	for _, code := range codes {
		there[t.Schema.Attributes[column].Values[code]] = true
	}
	for _, word := range what.Words[name] {
		if !there[word] {
			return nil, remedy.Misusef("%q is no word of %s in this row that the model knows", word, name)
		}
	}
	if len(what.Words[name]) > 0 {
		return what.Words[name], nil
	}
	word, err := r.bestWord(t, row, name, r.target.Code(what.Should))
	if err != nil {
		return nil, err
	}
	if word == "" {
		return nil, remedy.Misusef("no word of %s has a part in the answer: say which should have decided", name)
	}
	return []string{word}, nil
}

// bestWord is the word of a text that speaks most for a class beside the others,
// "" for none.
func (r *explainer) bestWord(t *table.Table, row int, column string, class int32) (string, error) {
	m, ok := learn.Ability[learn.Explainer](r.part.Model)
	if !ok {
		return "", nil
	}
	x, err := m.Explain(t, row)
	if err != nil {
		return "", err
	}
	var words []string // in the order of the reasons, so that ties are settled alike
	by := map[string][]float64{}
	for _, v := range x.Evidence {
		tests := r.testsOf(v.Text)
		if len(tests) != 1 || tests[0].Op != rule.Contains || tests[0].Column != column || v.Class >= len(r.target.Values) {
			continue
		}
		word := tests[0].Value
		if by[word] == nil {
			by[word] = make([]float64, len(r.target.Values))
			words = append(words, word)
		}
		by[word][v.Class] += v.Weight
	}
	best, most := "", math.Inf(-1)
	for _, word := range words {
		rival := math.Inf(-1)
		for c, w := range by[word] {
			if c != int(class) {
				rival = max(rival, w)
			}
		}
		if w := by[word][class] - rival; w > most {
			best, most = word, w
		}
	}
	return best, nil
}

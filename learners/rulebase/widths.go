package rulebase

import (
	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// widths give a number its interval: of an ordered base the deviation that the
// rule which answers states, of others that of the column over all rows, which
// is never too narrow.
type widths struct {
	fires   []*rule.Matcher
	half    []float64 // a rule each
	nothing float64   // where no rule answers
}

func newWidths(base *rule.Base, schema *table.Schema, overall rule.Overall) (*widths, error) {
	w := &widths{}
	if overall.Deviation > 0 {
		w.nothing = mixed.Normal95 * overall.Deviation
	}
	if base.Else != nil {
		w.nothing = mixed.Normal95 * base.Else.Then.Deviation
	}
	if base.Kind != rule.Ordered {
		return w, nil
	}
	for i := range base.Rules {
		fires, err := rule.NewMatcher(base.Rules[i].If, schema)
		if err != nil {
			return nil, err
		}
		w.fires = append(w.fires, fires)
		w.half = append(w.half, mixed.Normal95*base.Rules[i].Then.Deviation)
	}
	return w, nil
}

func (w *widths) fill(t *table.Table, out *learn.Predictions) {
	for row := range t.Rows() {
		half := w.nothing
		for i, f := range w.fires {
			if f.MatchRow(t, row) {
				half = w.half[i]
				break
			}
		}
		out.Low[row], out.High[row] = out.Mean[row]-half, out.Mean[row]+half
	}
}

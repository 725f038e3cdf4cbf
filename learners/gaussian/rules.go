package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Rules returns a unit as a rule each, in the columns' own units. Columns that
// never vary, and those of which nothing is known, are left out.
func (m *Model) Rules() (*rule.Base, error) {
	base := &rule.Base{Kind: rule.Mixture}
	if m.settings.Tune > 0 {
		base.Notes = append(base.Notes, fmt.Sprintf("fine-tuned to predict %s: centres and widths weigh the conclusions and no longer describe the rows", m.total.targetName()))
	}
	for _, s := range m.UnitStandings() {
		base.Notes = append(base.Notes, s.String())
	}
	for i := range m.total.units {
		u := &m.total.units[i]
		unit := rule.Unit{Name: u.name, Prior: min(1, math.Exp(m.logPrior[i]))}
		if u.expert {
			worth := u.n
			unit.Worth = &worth
		}
		for j := range m.columns {
			if e := m.expectation(i, j); m.speaks(j) {
				unit.Expect = append(unit.Expect, e)
			}
		}
		base.Units = append(base.Units, unit)
	}
	if !slices.ContainsFunc(base.Units, func(u rule.Unit) bool { return len(u.Expect) > 0 }) {
		base.Units = nil
		base.Notes = append(base.Notes, "no column says anything: none varies")
	}
	if m.joint != nil {
		base.Notes = append([]string{m.summary(base)}, base.Notes...)
	}
	return base, nil
}

// summary says how far rules answer as the model does whose columns are
// correlated within units, for rows as the model expects them.
func (m *Model) summary(base *rule.Base) string {
	const why = "columns are correlated within units (covariance=full), of which rules only state centres and widths"
	target := m.total.target
	predictor, err := rule.NewPredictor(base, m.total.schema, max(target, 0), m.Overall()...)
	if target < 0 || err != nil {
		return "summary: " + why
	}
	made := m.make(mixed.Probes, rand.New(rand.NewPCG(1, 4)), func(j int) bool { return j != target })
	rows, err := table.New(m.total.schema, made.Columns, nil)
	if err != nil {
		return "summary: " + why
	}
	ours, theirs := learn.NewPredictions(m, mixed.Probes), learn.NewPredictions(m, mixed.Probes)
	if m.Predict(context.Background(), rows, ours) != nil || predictor.Predict(rows, theirs.P, theirs.Mean) != nil {
		return "summary: " + why
	}
	if names := m.total.schema.Attributes[target].Values; m.columns[target].share != nil {
		agree := 0
		for r := range mixed.Probes {
			if learn.Best(ours.Row(r), names) == learn.Best(theirs.Row(r), names) {
				agree++
			}
		}
		share := float64(agree) / mixed.Probes
		base.Agrees = &share
		return fmt.Sprintf("summary: agrees with the model on %.1f %% of rows; %s", 100*share, why)
	}
	sum := 0.0
	for r := range mixed.Probes {
		d := ours.Mean[r] - theirs.Mean[r]
		sum += d * d
	}
	return fmt.Sprintf("summary: off by %.3g from the model's answers (root mean square); %s", math.Sqrt(sum/mixed.Probes), why)
}

// speaks reports whether rules have something to say of a column: it is the
// target, or differs between rows.
func (m *Model) speaks(j int) bool {
	return !m.unknown(j) && (j == m.total.target || m.columns[j].share != nil || m.columns[j].precision != nil)
}

// expectation returns what a unit expects of a column.
func (m *Model) expectation(i, j int) rule.Expectation {
	c := &m.columns[j]
	e := rule.Expectation{Column: m.total.schema.Attributes[j].Name}
	switch {
	case c.share != nil:
		k := len(m.logPrior)
		for v, value := range m.total.schema.Attributes[j].Values {
			if p := c.share[v*k+i]; p > 0 {
				e.Shares = append(e.Shares, rule.Share{Value: value, P: min(p, 1)})
			}
		}
		return e
	case m.total.units[i].normal[j] && c.precision != nil:
		e.Normal = true
		return e
	}
	e.Mean = c.number64(c.mean[i])
	e.Deviation = min(max(c.deviation[i]/c.scale, math.SmallestNonzeroFloat64), math.MaxFloat64)
	return e
}

// Overall returns what the columns are like over all rows that the model
// learnt, which is what NORMAL in its rules refers to.
func (m *Model) Overall() []rule.Overall {
	all := make([]rule.Overall, len(m.overall))
	for j := range m.overall {
		o := &m.overall[j]
		if o.counts != nil {
			total := weight(o.counts)
			for _, n := range o.counts {
				all[j].Shares = append(all[j].Shares, n/total)
			}
			continue
		}
		all[j] = rule.Overall{Mean: o.moment.Mean / o.level.Scale(), Deviation: o.deviation() / o.level.Scale()}
		if o.moment.N == 0 {
			all[j].Mean = math.NaN()
		}
	}
	return all
}

// mostDots is how many rows a picture shows; of more, some.
const mostDots = 2000

package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// combiners are the ways to learn from rows and a theory that are set beside the
// theory alone and the rows alone.
var combiners = []struct{ learner, name string }{
	{"told", "told rules (mlp)"}, {"kbann", "kbann"}, {"ebnn", "ebnn"}, {"focl", "focl"},
}

// spoilings are the shares of the theory's tests that are spoilt.
var spoilings = []float64{0, .1, .2, .3, .4}

// combining is one experiment: what a theory and rows are worth, alone and
// together, the more of the theory is wrong (Mitchell 1997, section 12.1: no
// theory should cost nothing, a perfect one should be as good as reasoning alone,
// and both together better than either).
func combining() []Experiment {
	var all []Experiment
	for _, c := range combiners {
		for _, spoilt := range spoilings {
			all = append(all, Experiment{
				Name: fmt.Sprintf("combining-%s-%.0f", c.learner, 100*spoilt), Tags: chapter(12), Source: mitchell("section 12.1"),
				Measure: fmt.Sprintf("points of error after 40 rows that %s is below mlp, with a theory of which %.0f %% of the tests are spoilt; better is above 0", c.name, 100*spoilt),
				Figure:  reference(0).percent().higher(), Seeds: 10, Why: "a theory that is mostly wrong costs rows to unlearn",
				Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
					with, err := combined(ctx, c.learner, spoilt, 40, seed)
					if err != nil {
						return 0, err
					}
					without, err := combined(ctx, "mlp", 0, 40, seed)
					return without - with, err
				}),
			})
		}
	}
	all[0].Picture, all[0].PictureName = combinedPicture, "combining"
	return all
}

// The theory that is true of the combined experiment's rows.
const combinedTheory = `
	class :- p, q.
	p :- a1, a2.
	p :- a3, \+ a4.
	q :- a5, a6.
	q :- a7, \+ a8.
`

// combinedRows draws rows of 12 attributes, labelled by the theory.
func combinedRows(random *rand.Rand, rows int) (*table.Table, error) {
	schema := &table.Schema{}
	columns := make([]table.Column, 13)
	for j := range 12 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("a%d", j+1), Kind: table.Nominal, Values: []string{"no", "yes"}})
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Kind: table.Nominal, Values: []string{"no", "yes"}})
	for range rows {
		var x [12]bool
		for j := range x {
			code := int32(random.IntN(2))
			x[j] = code == 1
			columns[j].Codes = append(columns[j].Codes, code)
		}
		class := int32(0)
		if (x[0] && x[1] || x[2] && !x[3]) && (x[4] && x[5] || x[6] && !x[7]) {
			class = 1
		}
		columns[12].Codes = append(columns[12].Codes, class)
	}
	return table.New(schema, columns, nil)
}

// spoil changes a share of a theory's tests of columns: one is turned round,
// left out, or made of another column.
func spoil(theory *rule.Base, share float64, random *rand.Rand) *rule.Base {
	spoilt := &rule.Base{}
	for _, r := range theory.Rules {
		var tests []rule.Test
		for _, t := range r.If {
			if t.Column[0] == 'a' && random.Float64() < share {
				switch random.IntN(3) {
				case 0:
					t.Op = map[rule.Op]rule.Op{rule.Eq: rule.Ne, rule.Ne: rule.Eq}[t.Op]
				case 1:
					if len(r.If) > 1 && len(tests) > 0 {
						continue
					}
				default:
					t.Column = fmt.Sprintf("a%d", random.IntN(12)+1)
				}
			}
			tests = append(tests, t)
		}
		spoilt.Rules = append(spoilt.Rules, rule.Rule{If: tests, Then: r.Then})
	}
	return spoilt
}

// combined is the percent of unseen rows that a learner answers wrongly after some
// rows, with a theory of which a share is spoilt: "theory" is the theory alone,
// "told" a network that was told its rules, each worth ten rows.
func combined(ctx context.Context, learner string, spoilt float64, size int, seed uint64) (float64, error) {
	train, err := combinedRows(rand.New(rand.NewPCG(seed, 0x747261696e)), size)
	if err != nil {
		return 0, err
	}
	test, err := combinedRows(rand.New(rand.NewPCG(seed, 0x74657374)), mostTested)
	if err != nil {
		return 0, err
	}
	base, err := clausesFor(combinedTheory, train.Schema, "class")
	if err != nil {
		return 0, err
	}
	theory := spoil(base, spoilt, rand.New(rand.NewPCG(seed, 0x73706f696c)))
	var m learn.Model
	switch learner {
	case "theory":
		m, err = reasoned(ctx, "kbann", map[string]string{"epochs": "0"}, train, "class", theory, seed)
	case "told":
		m, err = toldNetwork(ctx, train, theory, seed)
	case "focl":
		m, err = reasoned(ctx, "focl", map[string]string{"theory": "theory\n" + clausesOf(theory)}, train, "class", nil, seed)
	default:
		m, err = reasoned(ctx, learner, nil, train, "class", theory, seed)
	}
	if err != nil {
		return 0, err
	}
	return errorRate(ctx, m, test, "class")
}

// clausesOf writes a theory as clauses.
func clausesOf(theory *rule.Base) string {
	var b strings.Builder
	for _, r := range theory.Rules {
		var body []string
		for _, t := range r.If {
			if t.Op == rule.Ne {
				body = append(body, "\\+ "+t.Column)
			} else {
				body = append(body, t.Column)
			}
		}
		fmt.Fprintf(&b, "%s :- %s.\n", r.Then.Column, strings.Join(body, ", "))
	}
	return b.String()
}

// combinedPicture draws error against rows for the theory alone, rows alone and
// what combines them, a panel for each share of the theory that is spoilt.
func combinedPicture(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
	chart := &draw.Chart{Title: "A theory and rows, alone and together"}
	lines := []struct {
		name, learner string
		kind          draw.Kind
	}{{"theory alone", "theory", draw.Dashed}, {"rows alone (mlp)", "mlp", draw.Dashed}}
	for _, c := range combiners {
		lines = append(lines, struct {
			name, learner string
			kind          draw.Kind
		}{c.name, c.learner, draw.Line})
	}
	for _, spoilt := range spoilings {
		panel := draw.Chart{Title: fmt.Sprintf("%.0f %% of the theory spoilt", 100*spoilt), XLabel: "rows learnt from", YLabel: "error on unseen rows", LogX: true, Percent: true}
		for _, line := range lines {
			s := draw.Series{Name: line.name, Kind: line.kind}
			for _, size := range []int{10, 20, 40, 80, 160} {
				r, err := OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
					return combined(ctx, line.learner, spoilt, size, seed)
				})(ctx, first, seeds)
				if err != nil {
					return nil, err
				}
				s.X, s.Y = append(s.X, float64(size)), append(s.Y, r.Ours/100)
			}
			panel.Series = append(panel.Series, s)
		}
		chart.Panels = append(chart.Panels, panel)
	}
	return chart, nil
}

// toldNetwork is a network told the theory's rules, concepts written out.
func toldNetwork(ctx context.Context, train *table.Table, theory *rule.Base, seed uint64) (learn.Model, error) {
	of := map[string][][]rule.Test{}
	for _, r := range theory.Rules {
		of[r.Then.Column] = append(of[r.Then.Column], r.If)
	}
	worth, with := 10.0, 0.95
	rules := &rule.Base{}
	for _, p := range of["p"] {
		for _, q := range of["q"] {
			tests := append(append([]rule.Test(nil), p...), q...)
			rules.Rules = append(rules.Rules, rule.Rule{If: tests, Then: rule.Conclusion{Column: "class", Value: "yes"}, With: &with, Worth: &worth})
		}
	}
	info, err := learn.Lookup("mlp")
	if err != nil {
		return nil, err
	}
	l, err := expert.Advised(info, info.New(), learn.Advice{Rules: rules})
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: train, Target: "class", Seed: seed})
}

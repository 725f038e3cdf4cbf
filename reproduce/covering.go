package reproduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/cases"
	"github.com/accrete-ml/accrete/learners/cover"
	"github.com/accrete-ml/accrete/table"
)

// covering are figures of Mitchell 1997 on rules by sequential covering
// (sections 10.2 and 10.3), on learning when asked (section 8.6) and on cases
// with a structure (section 8.5). Figures that are not printed were worked out
// by hand from the text's own data; CADET's graphs are a reconstruction.
func covering() []Experiment {
	var experiments []Experiment
	add := func(of int, name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: name, Tags: chapter(of), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	for _, w := range []struct{ m, estimate float64 }{{0, .8}, {1, .686667}, {2, .605714}, {10, .346667}, {100, .152381}} {
		add(10, fmt.Sprintf("covering-m-%v", w.m), "section 10.3", fmt.Sprintf("m-estimate of 4 right of 5 for a class of 12 %% of the rows, m = %v", w.m), reference(w.estimate).digits(6),
			func(context.Context) (float64, error) { return cover.MEstimate(4, 5, w.m, .12), nil })
	}
	for _, w := range []struct {
		name   string
		counts []float64
		ratio  float64
	}{{"overcast", []float64{4, 0}, 3.534662}, {"normal", []float64{6, 1}, 1.619603}} {
		add(10, "covering-ratio-"+w.name, "section 10.3", "likelihood ratio of the rule for "+w.name+" days, not significant at 95 % (3.841)", reference(w.ratio).digits(6),
			func(context.Context) (float64, error) { return cover.LikelihoodRatio(w.counts, []float64{9, 5}), nil })
	}
	list := func(settings map[string]string) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			t, err := loadTennis(ctx)
			if err != nil {
				return 0, err
			}
			m, err := t.learn(ctx, cover.Name, settings)
			if err != nil {
				return 0, err
			}
			return float64(m.Size().Rules - 1), nil
		}
	}
	add(10, "covering-stars", "section 10.2.2", "days that the rules of AQ get right", reference(14), stars)
	add(10, "covering-one-class", "section 10.2.2", "rules for yes alone, by relative frequency", reference(4),
		list(map[string]string{"algorithm": "cn2", "class": "Yes", "measure": "frequency", "threshold": "0.9", "significance": "1"}))
	add(10, "covering-interval", "exercise 10.2", "days that one interval of temperatures, between two thresholds, gets right of six", reference(6), interval)

	const depth = 4
	add(10, "covering-sequential-rules", "exercise 10.1", "rules that sequential covering needs for a tree of depth 4, 2^d", printed(16), simultaneous(depth, func(rules, _, _ int) int { return rules }))
	add(10, "covering-sequential-choices", "exercise 10.1", "tests that it chooses one by one for them, d·2^d", printed(64), simultaneous(depth, func(_, tests, _ int) int { return tests }))
	add(10, "covering-simultaneous-choices", "exercise 10.1", "tests that ID3 chooses for the same, 2^d − 1", printed(15), simultaneous(depth, func(_, _, nodes int) int { return nodes }))

	add(8, "lazy-id3-same", "exercise 8.3", "of 36 kinds of days, those on which lazy ID3 answers as ID3's tree", reference(36), func(ctx context.Context) (float64, error) {
		n, err := disagree(ctx, "lazy", nil, "tree", map[string]string{"preset": "id3"})
		return 36 - n, err
	})
	add(8, "lazy-id3-own", "exercise 8.3", "of 36 kinds of days, those on which choosing tests for the day itself answers otherwise", reference(5), func(ctx context.Context) (float64, error) {
		return disagree(ctx, "lazy", nil, "lazy", map[string]string{"choose": "query"})
	})
	const junction, faucet = "Q1+Q3,Q2+Q3,T1+T3,T2+T3", "Ct-Qc,Ct+Qh,Cf+Qc,Cf+Qh,Qc+Qm,Qh+Qm,Tc+Tm,Th+Tm"
	for _, w := range []struct {
		name, library, question string
		ways                    float64
	}{
		{"typed", "CASE T-junction\n" + junction, faucet, 4},
		{"untyped", "KINDS none\nCASE T-junction\n" + junction, faucet, 16},
		{"mixing", "CASE T-junction\n" + junction + ",Q1-T3,Q2+T3", faucet + ",Qc-Tm,Qh+Tm", 2},
		{"mixing-plain", "CASE T-junction\n" + junction + ",Q1-T3,Q2+T3", faucet, 0},
	} {
		add(8, "cadet-"+w.name, "figure 8.3", "ways to find the T-junction's graph in the faucet's, "+w.name, reference(w.ways), func(context.Context) (float64, error) {
			l, err := cases.Parse([]byte(w.library))
			if err != nil {
				return 0, err
			}
			s, err := l.Solve(w.question)
			if err != nil {
				return 0, err
			}
			return float64(s.(*cases.Solution).Retrieved[0].Matches), nil
		})
	}
	return experiments
}

// stars counts the days that AQ's rules get right. Seeds come in an order that
// does not depend on that of the days, so the rules need not be those of the
// worked run, whose seeds are the first days in the table.
func stars(ctx context.Context) (float64, error) {
	t, err := loadTennis(ctx)
	if err != nil {
		return 0, err
	}
	m, err := t.learn(ctx, cover.Name, map[string]string{"algorithm": "aq"})
	if err != nil {
		return 0, err
	}
	said, err := saidTo(ctx, m, t.Table)
	right := 0.0
	for r, class := range said {
		if class == t.Text(r, t.target) {
			right++
		}
	}
	return right, err
}

// interval learns the six temperatures of section 3.7.2 by a rule for yes.
func interval(ctx context.Context) (float64, error) {
	t, err := table.New(
		&table.Schema{Attributes: []table.Attribute{{Name: "temperature", Kind: table.Numeric}, {Name: "play", Values: []string{"No", "Yes"}}}},
		[]table.Column{{Floats: []float64{40, 48, 60, 72, 80, 90}}, {Codes: []int32{0, 0, 1, 1, 1, 0}}}, nil)
	if err != nil {
		return 0, err
	}
	m, err := modelOf(ctx, t, "play", cover.Name, map[string]string{"algorithm": "cn2", "class": "Yes", "measure": "frequency", "significance": "1"})
	if err != nil {
		return 0, err
	}
	said, err := saidTo(ctx, m, t)
	if err != nil {
		return 0, err
	}
	right := 0.0
	for r, class := range said {
		if class == t.Text(r, 1) {
			right++
		}
	}
	if m.Size().Rules != 2 {
		return 0, errors.New("more than one interval was needed")
	}
	return right, nil
}

func modelOf(ctx context.Context, t *table.Table, target, learner string, settings map[string]string) (learn.Model, error) {
	l, err := learn.New(learner, settings)
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: t, Target: target, Seed: 1})
}

// saidTo returns the classes that a model answers.
func saidTo(ctx context.Context, m learn.Model, t *table.Table) ([]string, error) {
	var novel []int // columns in which new names count
	if n, ok := m.(interface{ Novel() []int }); ok {
		novel = n.Novel()
	}
	rows, _, err := table.ConformNovel(t, m.Schema(), novel)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(ctx, rows, out); err != nil {
		return nil, err
	}
	classes := m.Schema().Attributes[m.Target()].Values
	said := make([]string, rows.Rows())
	for r := range said {
		said[r] = classes[learn.Best(out.Row(r), classes)]
	}
	return said, nil
}

// simultaneous learns a concept that needs every test of a full tree: each
// combination of d bits is a class of its own. It returns what is wanted of the
// number of rules of sequential covering, their tests, and the nodes of ID3.
func simultaneous(d int, want func(rules, tests, nodes int) int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		schema := &table.Schema{}
		columns := make([]table.Column, d+1)
		names := make([]string, 1<<d)
		for row := range names {
			names[row] = fmt.Sprintf("leaf%02d", row)
			for j := range d {
				columns[j].Codes = append(columns[j].Codes, int32(row>>j&1))
			}
			columns[d].Codes = append(columns[d].Codes, int32(row))
		}
		for j := range d {
			schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("bit%d", j), Values: []string{"0", "1"}})
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "leaf", Values: names})
		t, err := table.New(schema, columns, nil)
		if err != nil {
			return 0, err
		}
		list, err := modelOf(ctx, t, "leaf", cover.Name, map[string]string{"algorithm": "aq"})
		if err != nil {
			return 0, err
		}
		base, err := list.(learn.Ruler).Rules()
		if err != nil {
			return 0, err
		}
		tests := 0
		for i := range base.Rules {
			tests += len(base.Rules[i].If)
		}
		tree, err := modelOf(ctx, t, "leaf", "tree", map[string]string{"preset": "id3"})
		if err != nil {
			return 0, err
		}
		return float64(want(len(base.Rules), tests, tree.Size().Units)), nil
	}
}

// disagree counts the kinds of days on which two learners answer differently.
func disagree(ctx context.Context, a string, ofA map[string]string, b string, ofB map[string]string) (float64, error) {
	t, err := loadTennis(ctx)
	if err != nil {
		return 0, err
	}
	days := table.NewBuilder(t.Schema)
	for i := range 36 {
		for j, rest := 0, i; j < len(t.Columns); j++ {
			if j == t.target {
				continue
			}
			values := t.Schema.Attributes[j].Values
			if err := days.String(j, values[rest%len(values)]); err != nil {
				return 0, err
			}
			rest /= len(values)
		}
		days.End()
	}
	all, err := days.Table()
	if err != nil {
		return 0, err
	}
	var said [2][]string
	for i, l := range []struct {
		name     string
		settings map[string]string
	}{{a, ofA}, {b, ofB}} {
		m, err := t.learn(ctx, l.name, l.settings)
		if err != nil {
			return 0, err
		}
		if said[i], err = saidTo(ctx, m, all); err != nil {
			return 0, err
		}
	}
	differ := 0.0
	for r := range said[0] {
		if said[0][r] != said[1][r] {
			differ++
		}
	}
	return differ, nil
}

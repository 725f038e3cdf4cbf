package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all" // experiments may name any learner
	"github.com/accrete-ml/accrete/learners/cover"
	"github.com/accrete-ml/accrete/learners/tree"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// playTennis are the PlayTennis figures of Mitchell 1997: information gain and
// ID3 (chapter 3), naive Bayes (section 6.9). The printed gains are cut off or
// come from rounded steps, and stand for what is within .001 of them.
func playTennis() []Experiment {
	query := map[string]string{"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
	gain := func(column string) func(context.Context, *tennis) (float64, error) {
		return func(_ context.Context, t *tennis) (float64, error) { return t.gain(column) }
	}
	product := func(class string) func(context.Context, *tennis) (float64, error) {
		return func(ctx context.Context, t *tennis) (float64, error) { return t.product(ctx, query, class) }
	}
	var experiments []Experiment
	for _, e := range []struct {
		chapter              int
		name, where, measure string
		figure               Figure
		compute              func(context.Context, *tennis) (float64, error)
	}{
		{3, "entropy", "section 3.4.1", "entropy of 9 yes and 5 no, bits", printed(.940).digits(3), func(_ context.Context, t *tennis) (float64, error) { return tree.Entropy(t.classes(nil)), nil }},
		{3, "gain-outlook", "section 3.4", "information gain of outlook at the root, bits", printed(.246).within(.001), gain("outlook")},
		{3, "gain-humidity", "section 3.4", "information gain of humidity at the root, bits", printed(.151).within(.001), gain("humidity")},
		{3, "gain-wind", "section 3.4", "information gain of wind at the root, bits", printed(.048).within(.001), gain("wind")},
		{3, "sunny-gain-humidity", "figure 3.4", "information gain of humidity on the sunny days, bits", printed(.970).within(.001), sunnyGain("humidity")},
		{3, "sunny-gain-temperature", "figure 3.4", "information gain of temperature on the sunny days, bits", printed(.570).within(.001), sunnyGain("temperature")},
		{3, "sunny-gain-wind", "figure 3.4", "information gain of wind on the sunny days, bits", printed(.019).within(.001), sunnyGain("wind")},
		{3, "gain-temperature", "section 3.4", "information gain of temperature at the root, bits", printed(.029).within(.001), gain("temperature")},
		{3, "tree", "figure 3.1", "paths of the figure's tree that ID3's has, less others that it has", printed(5), figureTree},
		{3, "threshold", "section 3.7.2", "threshold of the first test on six temperatures", printed(54).digits(6), func(ctx context.Context, _ *tennis) (float64, error) { return threshold(ctx) }},
		{6, "bayes-yes", "section 6.9", "P(yes) times the probabilities of a sunny, cool, humid and windy day's cells", printed(.0053).digits(4), product("Yes")},
		{6, "bayes-no", "section 6.9", "P(no) times the probabilities of a sunny, cool, humid and windy day's cells", printed(.0206).digits(4), product("No")},
		{6, "bayes-posterior", "section 6.9", "P(no | a sunny, cool, humid and windy day)", printed(.795).digits(3), func(ctx context.Context, t *tennis) (float64, error) { return t.posterior(ctx, query, "No") }},
		{6, "bayes-without-wind", "section 6.9", "P(no | a sunny, cool and humid day)", reference(.683544).digits(6), func(ctx context.Context, t *tennis) (float64, error) {
			return t.posterior(ctx, map[string]string{"outlook": "Sunny", "temperature": "Cool", "humidity": "High"}, "No")
		}},
		{6, "bayes-zero", "section 6.9.1.1", "P(yes | an overcast, cool, humid and windy day) with m = 1, of which without m it is certain", reference(.855005).digits(6), func(ctx context.Context, t *tennis) (float64, error) {
			return t.posteriorWith(ctx, map[string]string{"outlook": "Overcast", "temperature": "Cool", "humidity": "High", "wind": "Strong"}, "Yes", "1")
		}},
		{6, "bayes-prior-yes", "section 6.9", "P(yes), by the frequencies of the network's table", printed(.64).digits(2), tableOf("playtennis", "Yes", "")},
		{6, "bayes-prior-no", "section 6.9", "P(no), likewise", printed(.36).digits(2), tableOf("playtennis", "No", "")},
		{6, "bayes-strong-yes", "section 6.9", "P(strong wind | yes), likewise", printed(.33).digits(2), tableOf("wind", "Strong", "playtennis=Yes")},
		{6, "bayes-strong-no", "section 6.9", "P(strong wind | no), likewise", printed(.60).digits(2), tableOf("wind", "Strong", "playtennis=No")},
		{6, "bayes-leave-one-out", "section 6.9", "days that naive Bayes with m = 1 gets right by leave-one-out", reference(8), leaveOneOut},
		{10, "likelihood-ratio", "section 10.3", "likelihood ratio of the rule for sunny and humid days, which is significant at 95 %", reference(6.177717).digits(6), sunnyAndHumid},
		{10, "list", "tables 10.1 and 10.2", "days that a list of rules learnt by entropy gets right", reference(14), coverList},
	} {
		experiments = append(experiments, Experiment{
			Name: "play-tennis-" + e.name, Tags: chapter(e.chapter), Source: mitchell(e.where), Measure: e.measure, Figure: e.figure, Seeds: 1,
			Run: Fixed(func(ctx context.Context) (float64, error) {
				t, err := loadTennis(ctx)
				if err != nil {
					return 0, err
				}
				return e.compute(ctx, t)
			}),
		})
	}
	return append(experiments, enjoySportTrees()...)
}

// enjoySportTrees is exercise 3.4: what ID3 sees in four days, and in a fifth.
func enjoySportTrees() []Experiment {
	var experiments []Experiment
	for _, e := range []struct {
		column      string
		four, fifth float64
	}{{"sky", .811278, .321928}, {"airtemp", .811278, .321928}, {"forecast", .311278, .019973}, {"wind", 0, .321928}} {
		for _, fifth := range []bool{false, true} {
			name, days, known := "", "four", e.four
			if fifth {
				name, days, known = "-fifth", "five", e.fifth
			}
			experiments = append(experiments, Experiment{
				Name: "enjoysport-gain-" + e.column + name, Tags: chapter(3), Source: mitchell("exercise 3.4"), Seeds: 1,
				Measure: fmt.Sprintf("information gain of %s over %s days, bits", e.column, days), Figure: reference(known).digits(6),
				Run: Fixed(func(ctx context.Context) (float64, error) { return enjoySportGain(ctx, e.column, fifth) }),
			})
		}
	}
	return experiments
}

// enjoySportGain is the gain of a column over the four days, or with the fifth of
// the exercise, which is not enjoyed.
func enjoySportGain(ctx context.Context, column string, fifth bool) (float64, error) {
	t, set, err := datasets.Load(ctx, "enjoy-sport")
	if err != nil {
		return 0, err
	}
	days := t
	if fifth {
		b := table.NewBuilder(t.Schema)
		for r := range t.Rows() + 1 {
			cells := []string{"Sunny", "Warm", "Normal", "Weak", "Warm", "Same", "No"}
			for c, cell := range cells {
				if r < t.Rows() {
					cell = t.Text(r, c)
				}
				if err := b.String(c, cell); err != nil {
					return 0, err
				}
			}
			b.End()
		}
		if days, err = b.Table(); err != nil {
			return 0, err
		}
	}
	return (&tennis{days, days.Schema.Index(set.Target)}).gain(column)
}

// tableOf is a probability of naive Bayes as a network.
func tableOf(wanted, value, given string) func(context.Context, *tennis) (float64, error) {
	return func(ctx context.Context, _ *tennis) (float64, error) {
		m, err := tennisNetwork(ctx)
		if err != nil {
			return 0, err
		}
		return askModel(m, wanted, value, given)
	}
}

// sunnyAndHumid returns the likelihood ratio of the rule that covers the sunny
// and humid days.
func sunnyAndHumid(_ context.Context, t *tennis) (float64, error) {
	outlook, humidity := t.Schema.Index("outlook"), t.Schema.Index("humidity")
	covered := t.classes(func(row int) bool { return t.Text(row, outlook) == "Sunny" && t.Text(row, humidity) == "High" })
	return cover.LikelihoodRatio(covered, t.classes(nil)), nil
}

// coverList counts the days that a list of rules gets right.
func coverList(ctx context.Context, t *tennis) (float64, error) {
	m, err := t.learn(ctx, cover.Name, map[string]string{"algorithm": "cn2", "measure": "entropy", "significance": "1", "threshold": "-0.5"})
	if err != nil {
		return 0, err
	}
	days, _, err := table.Conform(t.Table, m.Schema(), false)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, days.Rows())
	if err := m.Predict(ctx, days, out); err != nil {
		return 0, err
	}
	right := 0.0
	for r, class := range days.Columns[m.Target()].Codes {
		if learn.Best(out.Row(r), m.Schema().Attributes[m.Target()].Values) == int(class) {
			right++
		}
	}
	return right, nil
}

// leaveOneOut counts the days that naive Bayes gets right when it has learnt
// from the others.
func leaveOneOut(ctx context.Context, t *tennis) (float64, error) {
	r, err := evaluate.CrossValidate(ctx, evaluate.Spec{
		Data: "play-tennis", Table: t.Table, Target: t.target, Seed: 1,
		Learner: "bayes", New: evaluate.Registered("bayes", map[string]string{"m": "1"}),
	}, t.Rows())
	if err != nil {
		return 0, err
	}
	return math.Round(*r.Accuracy * float64(t.Rows())), nil
}

// tennis is the fourteen days.
type tennis struct {
	*table.Table
	target int
}

func loadTennis(ctx context.Context) (*tennis, error) {
	t, set, err := datasets.Load(ctx, "play-tennis")
	if err != nil {
		return nil, err
	}
	target := t.Schema.Index(set.Target)
	if target < 0 {
		return nil, fmt.Errorf("play-tennis has no column %q", set.Target)
	}
	return &tennis{t, target}, nil
}

// classes counts the classes of the rows that are wanted; nil wants all.
func (t *tennis) classes(want func(row int) bool) []float64 {
	counts := make([]float64, len(t.Schema.Attributes[t.target].Values))
	for r, c := range t.Columns[t.target].Codes {
		if want == nil || want(r) {
			counts[c]++
		}
	}
	return counts
}

// gain returns the information gain of a column over all days.
func (t *tennis) gain(column string) (float64, error) {
	col := t.Schema.Index(column)
	if col < 0 {
		return 0, fmt.Errorf("play-tennis has no column %q", column)
	}
	var split tree.Split
	for v := range t.Schema.Attributes[col].Values {
		split = append(split, t.classes(func(row int) bool { return t.Columns[col].Codes[row] == int32(v) }))
	}
	return split.Gain(), nil
}

// sunnyGain is the gain of a column at the node of sunny days.
func sunnyGain(column string) func(context.Context, *tennis) (float64, error) {
	return func(_ context.Context, t *tennis) (float64, error) {
		outlook := t.Schema.Index("outlook")
		var sunny []int
		for r := range t.Rows() {
			if t.Text(r, outlook) == "Sunny" {
				sunny = append(sunny, r)
			}
		}
		return (&tennis{t.Select(sunny), t.target}).gain(column)
	}
}

// learn makes the model of a registered learner.
func (t *tennis) learn(ctx context.Context, name string, settings map[string]string) (learn.Model, error) {
	l, err := evaluate.Registered(name, settings)()
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: t.Table, Seed: 1}.At(t.target))
}

// day returns a table of one day with the given cells and no answer.
func (t *tennis) day(cells map[string]string) (*table.Table, error) {
	columns := make([]table.Column, len(t.Columns))
	for i := range columns {
		a := &t.Schema.Attributes[i]
		code := table.Missing
		if value, ok := cells[a.Name]; ok {
			code = a.Code(value)
		}
		columns[i].Codes = []int32{code}
	}
	return table.New(t.Schema, columns, nil)
}

// posterior returns the probability of a class by naive Bayes with plain
// frequencies.
func (t *tennis) posterior(ctx context.Context, cells map[string]string, class string) (float64, error) {
	return t.posteriorWith(ctx, cells, class, "0")
}

// posteriorWith is posterior with an m of the m-estimates.
func (t *tennis) posteriorWith(ctx context.Context, cells map[string]string, class, cases string) (float64, error) {
	m, err := t.learn(ctx, "bayes", map[string]string{"m": cases})
	if err != nil {
		return 0, err
	}
	day, err := t.day(cells)
	if err != nil {
		return 0, err
	}
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(ctx, day, out); err != nil {
		return 0, err
	}
	c := m.Schema().Attributes[t.target].Code(class)
	if c < 0 {
		return 0, fmt.Errorf("no class %q", class)
	}
	return out.Row(0)[c], nil
}

// product returns P(class) Π P(cell | class) from the model's reasons, whose
// weights are ln P(cell | class)/P(cell); P(cell) is the share of such days.
func (t *tennis) product(ctx context.Context, cells map[string]string, class string) (float64, error) {
	m, err := t.learn(ctx, "bayes", map[string]string{"m": "0"})
	if err != nil {
		return 0, err
	}
	day, err := t.day(cells)
	if err != nil {
		return 0, err
	}
	explainer, ok := m.(learn.Explainer)
	if !ok {
		return 0, errors.New("bayes does not explain itself")
	}
	e, err := explainer.Explain(day, 0)
	if err != nil {
		return 0, err
	}
	c := int(m.Schema().Attributes[t.target].Code(class))
	if c < 0 {
		return 0, fmt.Errorf("no class %q", class)
	}
	sum := e.Prior[c]
	for _, reason := range e.Evidence {
		if reason.Class == c {
			sum += reason.Weight
		}
	}
	for i := range day.Columns {
		if code := day.Columns[i].Codes[0]; code >= 0 {
			days := 0.0
			for _, other := range t.Columns[i].Codes {
				if other == code {
					days++
				}
			}
			sum += math.Log(days / float64(t.Rows()))
		}
	}
	return math.Exp(sum), nil
}

// figureTree compares ID3's tree with figure 3.1, path by path.
func figureTree(ctx context.Context, t *tennis) (float64, error) {
	m, err := t.learn(ctx, "tree", map[string]string{"preset": "id3"})
	if err != nil {
		return 0, err
	}
	paths, err := pathsOf(m)
	if err != nil {
		return 0, err
	}
	figure := []string{
		"humidity = High, outlook = Sunny: No", "humidity = Normal, outlook = Sunny: Yes", "outlook = Overcast: Yes",
		"outlook = Rain, wind = Strong: No", "outlook = Rain, wind = Weak: Yes",
	}
	score := 0.0
	for _, p := range paths {
		if slices.Contains(figure, p) {
			score++
		} else {
			score--
		}
	}
	return score, nil
}

// threshold returns the number that a tree of six temperatures tests first.
func threshold(ctx context.Context) (float64, error) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "temperature", Kind: table.Numeric},
		{Name: "playtennis", Kind: table.Nominal, Values: []string{"No", "Yes"}},
	}}
	six, err := table.New(schema, []table.Column{
		{Floats: []float64{40, 48, 60, 72, 80, 90}}, {Codes: []int32{0, 0, 1, 1, 1, 0}},
	}, nil)
	if err != nil {
		return 0, err
	}
	l, err := evaluate.Registered("tree", map[string]string{"preset": "id3", "max-depth": "1"})()
	if err != nil {
		return 0, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: six, Seed: 1}.At(1))
	if err != nil {
		return 0, err
	}
	rules, err := rulesOf(m)
	if err != nil {
		return 0, err
	}
	for _, r := range rules {
		for _, t := range r.If {
			switch t.Op {
			case rule.Le, rule.Gt, rule.Lt, rule.Ge:
				return t.Number, nil
			}
		}
	}
	return 0, errors.New("the tree has no threshold")
}

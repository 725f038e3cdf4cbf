package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/concept"
	"github.com/accrete-ml/accrete/table"
)

// concepts are the figures of Mitchell 1997, chapter 2: EnjoySport, what each
// learner must assume, and the exercises.
func concepts() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "concept-" + name, Tags: chapter(2), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	size := func(terms int, of func(concept.Sizes) int) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			d, err := loadSport(ctx)
			if err != nil {
				return 0, err
			}
			s, err := concept.SizesOf(ctx, d.Schema, d.target, terms)
			return float64(of(s)), err
		}
	}
	add("days", "section 2.3", "different days of EnjoySport", printed(96), size(1, func(s concept.Sizes) int { return s.Rows }))
	add("written", "section 2.3", "ways to write a hypothesis", printed(5120), size(1, func(s concept.Sizes) int { return s.Written }))
	add("hypotheses", "section 2.3", "hypotheses that differ in the days they hold for", printed(973), size(1, func(s concept.Sizes) int { return s.Concepts }))
	add("pairs", "exercise 2.3", "concepts that disjunctions of two hypotheses stand for", reference(409846), size(2, func(s concept.Sizes) int { return s.Concepts }))
	add("members", "figure 2.3", "hypotheses that agree with the four days", printed(6), membersOf(nil))
	add("pairs-left", "exercise 2.3", "disjunctions of two that agree with the four days", reference(4844), membersOf(map[string]string{"space": "disjunctions", "k": "2"}))
	for _, d := range []struct {
		name, day string
		votes     float64
	}{
		{"a", "Sunny Warm Normal Strong Cool Change", 6}, {"b", "Rainy Cold Normal Weak Warm Same", 0},
		{"c", "Sunny Warm Normal Weak Warm Same", 3}, {"d", "Sunny Cold Normal Strong Warm Same", 2},
	} {
		add("votes-"+d.name, "table 2.6", "of six hypotheses, those that say yes to day "+d.name, printed(d.votes), votesFor(d.day))
	}
	for _, l := range []struct {
		algorithm, assumes string
		figure             float64
	}{
		{"rote", "assumes nothing", 4},
		{"candidate", "assumes that the concept is in the language", 40},
		{"find-s", "assumes also that what is not shown to be the concept is not", 96},
	} {
		add("bias-"+l.algorithm, "section 2.7.3", "of 96 days, those that "+l.algorithm+" decides after four, which "+l.assumes, reference(l.figure), decidedBy(l.algorithm))
	}
	experiments = append(experiments, moreConcepts()...)
	add("orders", "section 2.5.4", "of 24 orders of the four days, those that end in the same S and G", reference(24), sameOrders)
	add("best-order", "exercise 2.2", "members of S and G, summed over four steps, in the best order of the days", reference(9), func(ctx context.Context) (float64, error) {
		sums, err := boundarySums(ctx)
		return slices.Min(sums), err
	})
	add("worst-order", "exercise 2.2", "the same in the worst order", reference(20), func(ctx context.Context) (float64, error) {
		sums, err := boundarySums(ctx)
		return slices.Max(sums), err
	})
	add("rectangles", "exercise 2.4", "rectangles that agree with eight points", reference(42), rectangles)
	for i, n := range []float64{256, 64, 48, 8} {
		add(fmt.Sprintf("houses-%d", i+1), "exercise 2.5", fmt.Sprintf("hypotheses about pairs in one house after %d examples of four", i+1), reference(n), houses(i+1))
	}
	return append(experiments, Experiment{
		Name: "concept-find-s-examples", Tags: chapter(2), Source: mitchell("exercise 2.10"),
		Measure: "random days until FIND-S has found a concept of two values out of six columns, mean of 400", Figure: reference(27.03),
		Seeds: 5, Run: OverSeeds(findSExamples),
	})
}

// sport is the four days.
type sport struct {
	*table.Table
	target int
}

func loadSport(ctx context.Context) (*sport, error) {
	t, set, err := datasets.Load(ctx, "enjoy-sport")
	if err != nil {
		return nil, err
	}
	return &sport{t, t.Schema.Index(set.Target)}, nil
}

// learn makes the version space of some of the days, in this order.
func (s *sport) learn(ctx context.Context, settings map[string]string, days ...int) (*concept.Model, error) {
	return learnConcept(ctx, s.Select(days), s.target, settings)
}

var fourDays = []int{0, 1, 2, 3}

func learnConcept(ctx context.Context, t *table.Table, target int, settings map[string]string) (*concept.Model, error) {
	l, err := learn.New(concept.Name, settings)
	if err != nil {
		return nil, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: t, Seed: 1}.At(target))
	if err != nil {
		return nil, err
	}
	return m.(*concept.Model), nil
}

// left is how many hypotheses a space has.
func left(m *concept.Model) (float64, error) {
	remarks, err := m.Remarks()
	if err != nil {
		return 0, err
	}
	state, ok := remarks[0].(concept.State)
	if !ok || state.Members == nil {
		return 0, errors.New("the hypotheses were not counted")
	}
	return *state.Members, nil
}

func membersOf(settings map[string]string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		s, err := loadSport(ctx)
		if err != nil {
			return 0, err
		}
		m, err := s.learn(ctx, settings, fourDays...)
		if err != nil {
			return 0, err
		}
		return left(m)
	}
}

// everyDayOf is all days that there can be, in the columns of a model.
func (s *sport) everyDayOf(m learn.Model) (*table.Table, error) {
	days, err := s.everyDay()
	if err != nil {
		return nil, err
	}
	fitted, _, err := table.Conform(days, m.Schema(), false)
	return fitted, err
}

// everyDay is all days that there can be.
func (s *sport) everyDay() (*table.Table, error) {
	columns := make([]table.Column, len(s.Columns))
	n := 1
	for i := range s.Schema.Attributes {
		if i != s.target {
			n *= len(s.Schema.Attributes[i].Values)
		}
	}
	for r := range n {
		left := r
		for i := range columns {
			code := int32(table.Missing)
			if k := len(s.Schema.Attributes[i].Values); i != s.target {
				code, left = int32(left%k), left/k
			}
			columns[i].Codes = append(columns[i].Codes, code)
		}
	}
	return table.New(s.Schema, columns, nil)
}

func votesFor(day string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		s, err := loadSport(ctx)
		if err != nil {
			return 0, err
		}
		m, err := s.learn(ctx, nil, fourDays...)
		if err != nil {
			return 0, err
		}
		days, err := s.everyDayOf(m)
		if err != nil {
			return 0, err
		}
		for r := range days.Rows() {
			if s.name(days, r) == day {
				return m.Votes(days, r)[m.Schema().Attributes[s.target].Code("Yes")], nil
			}
		}
		return 0, fmt.Errorf("there is no day %q", day)
	}
}

// name writes a day.
func (s *sport) name(days *table.Table, row int) string {
	text := ""
	for i := range days.Columns {
		if i != s.target {
			text += " " + days.Text(row, i)
		}
	}
	return text[1:]
}

func decidedBy(algorithm string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		s, err := loadSport(ctx)
		if err != nil {
			return 0, err
		}
		m, err := s.learn(ctx, map[string]string{"algorithm": algorithm}, fourDays...)
		if err != nil {
			return 0, err
		}
		days, err := s.everyDayOf(m)
		if err != nil {
			return 0, err
		}
		n := 0.0
		for r := range days.Rows() {
			if m.Decides(days, r) {
				n++
			}
		}
		return n, nil
	}
}

// orders returns all orders of the four days.
func orders() [][]int {
	all := [][]int{{}}
	for day := range 4 {
		var longer [][]int
		for _, order := range all {
			for at := range len(order) + 1 {
				longer = append(longer, slices.Insert(slices.Clone(order), at, day))
			}
		}
		all = longer
	}
	return all
}

func sameOrders(ctx context.Context) (float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return 0, err
	}
	same, first := 0.0, ""
	for _, order := range orders() {
		m, err := s.learn(ctx, nil, order...)
		if err != nil {
			return 0, err
		}
		base, err := m.Rules()
		if err != nil {
			return 0, err
		}
		if first == "" {
			first = base.String()
		}
		if base.String() == first {
			same++
		}
	}
	return same, nil
}

// boundarySums returns, for each order of the days, the members of S and G
// after each day, summed. S always has one member, be it the empty concept.
func boundarySums(ctx context.Context) ([]float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return []float64{0}, err
	}
	var sums []float64
	for _, order := range orders() {
		sum := 0.0
		for n := range order {
			m, err := s.learn(ctx, map[string]string{"concept": "Yes", "domains": s.domains()}, order[:n+1]...)
			if err != nil {
				return []float64{0}, err
			}
			base, err := m.Rules()
			if err != nil {
				return []float64{0}, err
			}
			sum++
			for _, r := range base.Rules {
				if r.Boundary == "G" {
					sum++
				}
			}
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// domains lists all values of all columns.
func (s *sport) domains() string { return domains(s.Schema) }

func domains(schema *table.Schema) string {
	text := ""
	for _, a := range schema.Attributes {
		text += a.Name + "="
		for _, v := range a.Values {
			text += v + "|"
		}
		text += ";"
	}
	return text
}

// rectangles learns the points of exercise 2.4.
func rectangles(ctx context.Context) (float64, error) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}, {Name: "in", Values: []string{"yes", "no"}},
	}}
	t, err := table.New(schema, []table.Column{
		{Floats: []float64{4, 5, 6, 1, 2, 5, 5, 9}}, {Floats: []float64{4, 3, 5, 3, 6, 1, 8, 4}}, {Codes: []int32{0, 0, 0, 1, 1, 1, 1, 1}},
	}, nil)
	if err != nil {
		return 0, err
	}
	m, err := learnConcept(ctx, t, 2, map[string]string{"space": "rectangles"})
	if err != nil {
		return 0, err
	}
	return left(m)
}

// houses learns the first of the four pairs of exercise 2.5.
func houses(pairs int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		schema := &table.Schema{}
		for _, person := range []string{"1", "2"} {
			schema.Attributes = append(schema.Attributes,
				table.Attribute{Name: "sex" + person, Values: []string{"male", "female"}},
				table.Attribute{Name: "hair" + person, Values: []string{"black", "brown", "blonde"}},
				table.Attribute{Name: "height" + person, Values: []string{"tall", "medium", "short"}},
				table.Attribute{Name: "nation" + person, Values: []string{"US", "French", "German", "Irish", "Indian", "Japanese", "Portuguese"}})
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "live", Values: []string{"yes", "no"}})
		columns := make([]table.Column, 9)
		for _, pair := range [][]int32{
			{0, 1, 0, 0, 1, 0, 2, 0, 0}, {0, 1, 2, 1, 1, 0, 2, 0, 0}, {1, 1, 0, 2, 1, 0, 2, 4, 1}, {0, 1, 0, 3, 1, 1, 2, 3, 0},
		}[:pairs] {
			for i, code := range pair {
				columns[i].Codes = append(columns[i].Codes, code)
			}
		}
		t, err := table.New(schema, columns, nil)
		if err != nil {
			return 0, err
		}
		m, err := learnConcept(ctx, t, 8, map[string]string{"domains": domains(schema)})
		if err != nil {
			return 0, err
		}
		return left(m)
	}
}

// findSExamples counts random days until FIND-S has found ⟨Sunny, Warm, ?, ?,
// ?, ?⟩: the mean of 400 times. Only days of the concept move it.
func findSExamples(ctx context.Context, seed uint64) (float64, error) {
	s, err := loadSport(ctx)
	if err != nil {
		return 0, err
	}
	days, err := s.everyDay()
	if err != nil {
		return 0, err
	}
	columns := slices.Clone(days.Columns)
	columns[s.target].Codes = make([]int32, days.Rows())
	yes, no := s.Schema.Attributes[s.target].Code("Yes"), s.Schema.Attributes[s.target].Code("No")
	sunny, warm := s.Schema.Attributes[0].Code("Sunny"), s.Schema.Attributes[1].Code("Warm")
	for r := range days.Rows() {
		columns[s.target].Codes[r] = no
		if columns[0].Codes[r] == sunny && columns[1].Codes[r] == warm {
			columns[s.target].Codes[r] = yes
		}
	}
	if days, err = table.New(s.Schema, columns, nil); err != nil {
		return 0, err
	}
	random := rand.New(rand.NewPCG(seed, 2))
	const times = 400
	seen := 0
	for range times {
		for found, rows := false, []int(nil); !found; {
			r := random.IntN(days.Rows())
			seen++
			if days.Columns[s.target].Codes[r] != yes {
				continue
			}
			rows = append(rows, r)
			m, err := learnConcept(ctx, days.Select(rows), s.target, map[string]string{"algorithm": "find-s"})
			if err != nil {
				return 0, err
			}
			base, err := m.Rules()
			if err != nil {
				return 0, err
			}
			found = len(base.Rules[0].If) == 2
		}
	}
	return float64(seen) / times, nil
}

// rightOn counts the rows of a table, which has the model's columns, that the
// model is right about.
func rightOn(ctx context.Context, m learn.Model, t *table.Table) (float64, error) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return 0, err
	}
	right := 0.0
	values := t.Schema.Attributes[m.Target()].Values
	for r, c := range t.Columns[m.Target()].Codes {
		if learn.Best(out.Row(r), values) == int(c) {
			right++
		}
	}
	return right, nil
}

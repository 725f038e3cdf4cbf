package life

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// explainer explains the answers of one model.
type explainer struct {
	part    *Part
	speaker *say.Speaker
	target  *table.Attribute
	told    map[string]string // who told a rule, by its id
	tests   map[string][]rule.Test
	choices *choices
}

func newExplainer(ctx context.Context, p *Part) (*explainer, error) {
	s, err := Speaker(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &explainer{part: p, speaker: s, target: &p.Schema().Attributes[p.Target()], told: map[string]string{}, tests: map[string][]rule.Test{}}
	if t, ok := p.Model.(*expert.Told); ok {
		by := toldBy(p)
		for _, standing := range t.Standings() {
			r.told[standing.Rule.ID()] = by(&standing)
		}
	}
	r.choices = newChoices(p, s)
	return r, nil
}

// testsOf reads the tests of a reason that is in the rule language; nil if it is
// something else.
func (r *explainer) testsOf(text string) []rule.Test {
	if tests, ok := r.tests[text]; ok {
		return tests
	}
	whole := text
	if !strings.HasPrefix(text, "IF ") {
		whole = "IF " + text + " THEN x = y"
	}
	base, err := rule.ParseFor("reason", []byte(whole), nil)
	var tests []rule.Test
	if err == nil && len(base.Rules) == 1 && r.known(base.Rules[0].If) {
		tests = base.Rules[0].If
	}
	r.tests[text] = tests
	return tests
}

// known reports whether tests are about columns of the model.
func (r *explainer) known(tests []rule.Test) bool {
	columns := columnsOf(tests)
	return len(columns) > 0 && !slices.ContainsFunc(columns, func(c string) bool { return r.part.Schema().Index(c) < 0 })
}

// columnsOf lists the columns that tests are about, each once.
func columnsOf(tests []rule.Test) []string {
	var columns []string
	add := func(c string) {
		if c != "" && !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	for i := range tests {
		add(tests[i].Column)
		for _, term := range tests[i].Terms {
			add(term.Column)
		}
		for _, c := range columnsOf(tests[i].Of) {
			add(c)
		}
	}
	return columns
}

// explain gives the reasons of an answer.
func (r *explainer) explain(ctx context.Context, m learn.Explainer, t *table.Table, row int, answer Predicted) (*Explained, error) {
	x, err := m.Explain(t, row)
	if err != nil {
		return nil, err
	}
	e := &Explained{Predicted: answer, Evidence: []EvidenceEntry{}, Missing: []MissingEntry{}, Additive: x.Additive, Explanation: x, Attribute: r.target, explainer: r}
	prior := r.priors(e, x)
	r.gather(e, x.Evidence)
	if r.target.Kind == table.Numeric {
		e.Prior = prior[0]
	} else {
		shown := map[string]float64{}
		for c, w := range prior {
			shown[r.target.Values[c]] = finite(w)
		}
		e.Prior, e.Normaliser = shown, &x.Normaliser
		best, beside := r.rivals(e)
		for i := range e.Evidence {
			e.Evidence[i].Odds = math.Exp(min(max(r.moves(&e.Evidence[i], best, beside), -700), 700))
		}
		if r.speaker.Usual != nil && best < len(r.speaker.Usual) {
			e.Usual = &r.speaker.Usual[best]
		}
	}
	r.share(e, t, row)
	if e.Silent, err = r.silent(e, t, row); err != nil {
		return nil, err
	}
	for _, v := range e.Silent {
		e.unused = slices.DeleteFunc(e.unused, func(cell string) bool { return slices.Contains(v.Because, cell) })
	}
	if truth, known := truthOf(t, r.part.Target(), row); known {
		if e.Truth = truth; r.target.Kind == table.Numeric {
			e.Truth = t.Columns[r.part.Target()].Floats[row]
		}
	}
	if err := r.missing(ctx, e, t, row); err != nil {
		return nil, err
	}
	for _, c := range x.Cases {
		entry := CaseEntry{Row: c.Row, Source: c.Source.Name, Distance: c.Distance, Target: c.Target, Columns: map[string]float64{}}
		for _, column := range c.Columns {
			entry.Columns[column.Column] = column.Distance
		}
		e.Neighbours = append(e.Neighbours, entry)
	}
	return e, nil
}

// silence is what is said of rules that do not apply: a network whose rules are
// weighed together begins elsewhere than at what is usual.
const silence = "no other rule applies"

// always is the condition of what a list of rules answers in the end.
const always = "ALWAYS"

// priors returns where an explanation begins: at how frequent the classes are.
// What lies between that and where the model begins is a reason of its own.
func (r *explainer) priors(e *Explained, x *learn.Explanation) []float64 {
	usual := r.speaker.Usual
	if r.target.Kind == table.Numeric || !x.Additive || len(usual) != len(x.Prior) || slices.Min(usual) <= 0 {
		return x.Prior
	}
	prior, by := make([]float64, len(usual)), make([]float64, len(usual))
	for c, p := range usual {
		prior[c] = math.Log(p)
		by[c] = x.Prior[c] - prior[c]
	}
	if slices.Max(by)-slices.Min(by) < 0.01 || slices.Min(x.Prior) < -500 {
		return x.Prior
	}
	if _, weighed := learn.Ability[learn.Excerpter](r.part.Model); !weighed {
		return x.Prior
	}
	e.Evidence = append(e.Evidence, EvidenceEntry{Text: silence, by: by})
	r.settle(&e.Evidence[0])
	return prior
}

// gather puts what a rule says of several classes into one entry, and so what
// rules with the same tests say.
func (r *explainer) gather(e *Explained, evidence []learn.Evidence) {
	at := map[string]int{}
	classes := max(len(r.target.Values), 1)
	if r.target.Kind == table.Numeric {
		classes = 1
	}
	for _, v := range evidence {
		by, told := r.told[v.ID]
		key := v.Text
		i, ok := at[key]
		if !ok || v.Class < classes && e.Evidence[i].by[v.Class] != 0 {
			i = len(e.Evidence)
			at[key] = i
			e.Evidence = append(e.Evidence, EvidenceEntry{ID: v.ID, Text: v.Text, Told: told, By: by, by: make([]float64, classes)})
		}
		if v.Class < classes {
			e.Evidence[i].by[v.Class] += v.Weight
		}
	}
	for i := range e.Evidence {
		r.settle(&e.Evidence[i])
		e.Evidence[i].Say = say.Sentence{{Text: e.Evidence[i].Text}}
		if e.Evidence[i].Text == always {
			e.Evidence[i].Say = say.Sentence{{Text: "none of the rules applies"}}
		}
		if tests := r.testsOf(e.Evidence[i].Text); tests != nil {
			e.Evidence[i].Say = r.speaker.Conditions(tests)
			e.Evidence[i].Columns = columnsOf(tests)
		}
	}
}

// settle says which class an entry moves most.
func (r *explainer) settle(v *EvidenceEntry) {
	if r.target.Kind == table.Numeric {
		v.Weight = finite(v.by[0])
		return
	}
	v.Weights = map[string]float64{}
	most := -1
	for c, w := range v.by {
		if w == 0 {
			continue
		}
		v.Weights[r.target.Values[c]] = finite(w)
		if most < 0 || math.Abs(w) > math.Abs(v.by[most]) {
			most = c
		}
	}
	if most >= 0 {
		v.Class, v.Weight = r.target.Values[most], finite(v.by[most])
	}
}

// rivals returns the answer, or what is likeliest, and the class next to it.
func (r *explainer) rivals(e *Explained) (best, beside int) {
	values := r.target.Values
	p := make([]float64, len(values))
	for c, v := range values {
		p[c] = e.Probabilities[v]
	}
	best = learn.Best(p, values)
	if said, ok := e.Prediction.(string); ok {
		if c := r.target.Code(said); c >= 0 {
			best = int(c)
		}
	}
	beside = -1
	for c := range p {
		if c != best && (beside < 0 || p[c] > p[beside]) {
			beside = c
		}
	}
	if beside >= 0 {
		e.Beside = values[beside]
	}
	return best, beside
}

// moves is what an entry adds to the answer beside the next class.
func (r *explainer) moves(v *EvidenceEntry, best, beside int) float64 {
	if r.target.Kind == table.Numeric {
		return v.by[0]
	}
	w := v.by[best]
	if beside >= 0 {
		w -= v.by[beside]
	}
	return w
}

// share shares each reason out among the cells that it tests, equally: the
// Shapley value of a conjunction. The parts of a reason add up to it.
func (r *explainer) share(e *Explained, t *table.Table, row int) {
	best, beside := 0, -1
	if r.target.Kind == table.Nominal {
		best, beside = r.rivals(e)
	}
	schema := r.part.Schema()
	parts := make([][]float64, len(schema.Attributes))
	for i := range e.Evidence {
		v := &e.Evidence[i]
		left := slices.Clone(v.by)
		for k, name := range v.Columns {
			j := schema.Index(name)
			if parts[j] == nil {
				parts[j] = make([]float64, len(v.by))
			}
			for c := range left {
				one := left[c] / float64(len(v.Columns)-k)
				parts[j][c] += one
				left[c] -= one
			}
		}
	}
	for j, by := range parts {
		if j == r.part.Target() {
			continue
		}
		if by == nil {
			if schema.Attributes[j].Kind != table.Text && t.Text(row, j) != "" {
				e.unused = append(e.unused, r.speaker.Cell(t, row, j).Text)
			}
			continue
		}
		cell := CellEntry{Column: schema.Attributes[j].Name, Value: t.Text(row, j), Say: r.speaker.Cell(t, row, j).Text}
		v := EvidenceEntry{by: by}
		r.settle(&v)
		cell.Weights, cell.Weight = v.Weights, finite(r.moves(&v, best, beside))
		e.Cells = append(e.Cells, cell)
		e.Used = append(e.Used, cell.Column)
	}
	slices.SortStableFunc(e.Cells, func(a, b CellEntry) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
}

// missing says how far each cell that is not known could move the answer: what
// the model answers for the values that the column could have.
func (r *explainer) missing(ctx context.Context, e *Explained, t *table.Table, row int) error {
	for _, c := range e.Explanation.Missing {
		entry := MissingEntry{Column: c.Column, CouldMove: c.CouldMove}
		if j := r.part.Schema().Index(c.Column); j >= 0 && t.Sequence == nil {
			if err := r.tryAll(ctx, e, &entry, t, row, j); err != nil {
				return err
			}
		}
		e.Missing = append(e.Missing, entry)
	}
	return nil
}

// tryAll finds the answer that a column's values move farthest.
func (r *explainer) tryAll(ctx context.Context, e *Explained, entry *MissingEntry, t *table.Table, row, column int) error {
	values := r.choices.of(column)
	if len(values) == 0 {
		return nil
	}
	trial := newTrial(t, row, len(values))
	for i, v := range values {
		trial.set(i, column, v)
	}
	out := learn.NewPredictions(r.part.Model, len(values))
	if err := r.part.Model.Predict(ctx, trial.table, out); err != nil {
		return err
	}
	if r.target.Kind == table.Numeric {
		entry.CouldMove = 0
		for _, x := range out.Mean {
			entry.CouldMove = max(entry.CouldMove, math.Abs(x-e.Prediction.(float64)))
		}
		return nil
	}
	best, _ := r.rivals(e)
	now := e.Probabilities[r.target.Values[best]]
	entry.CouldMove = 0
	for i := range values {
		p := out.Row(i)
		entry.CouldMove = max(entry.CouldMove, math.Abs(p[best]-now))
		if answer := learn.Best(p, r.target.Values); answer != best && p[answer] > entry.Probability {
			entry.To, entry.Probability = r.target.Values[answer], p[answer]
		}
	}
	return nil
}

package life

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Answers are what a model of all columns together says to a question.
type Answers struct {
	Answers []Answered `json:"answers"`
	// EvidenceProbability is that of what is given, where it has one: names
	// have, numbers have a density.
	EvidenceProbability *float64 `json:"evidence_probability,omitempty"`
	// Together are the values that are most probable together, where several
	// are asked for and the model can tell.
	Together *Together `json:"together,omitempty"`
	// Independent answers a question of the form a | b given c, d.
	Independent *bool `json:"independent,omitempty"`
	// SharedBits is what the two tell of each other, by the tables.
	SharedBits *float64 `json:"shared_bits,omitempty"`
	// Solution is what a library of cases says: its text is for people, its
	// exported fields are for programs.
	Solution fmt.Stringer `json:"solution,omitempty"`
}

// Proved is what a logic program says to a goal.
type Proved struct {
	Bindings []map[string]string `json:"bindings"`
	Proofs   []string            `json:"proofs"`
	Limited  bool                `json:"limited,omitempty"` // there are more
	Notes    []string            `json:"notes,omitempty"`   // where there is no answer: names that nothing has

	Text string `json:"-"` // for people
}

// Prove answers a goal, if the model is a logic program.
func Prove(ctx context.Context, m learn.Model, goal string) (proved *Proved, is bool, err error) {
	if p, ok := m.(planning); ok {
		if s, is, err := p.Planned(ctx, goal); is {
			return newProved(s, err)
		}
	}
	p, ok := m.(programmed)
	if !ok || asksForCell.MatchString(goal) {
		return nil, false, nil
	}
	return newProved(p.Program().Solve(ctx, goal))
}

// asksForCell tells a question such as "age=30, class=?" from a goal.
var asksForCell = regexp.MustCompile(`=\s*\?`)

func newProved(s *logic.Solution, err error) (*Proved, bool, error) {
	if err != nil {
		return nil, true, remedy.Misuse(err)
	}
	return &Proved{s.Bindings, s.Proofs, s.Limited, s.Notes, s.String()}, true, nil
}

// planning is a model that may solve problems by operators.
type planning interface {
	Planned(ctx context.Context, question string) (s *logic.Solution, is bool, err error)
}

// programmed is a model that is a logic program.
type programmed interface{ Program() *logic.Program }

// solver is a model that reads questions in a language of its own.
type solver interface {
	Solve(question string) (fmt.Stringer, error)
}

// Ask answers a question such as "lstat=5, rm=6, medv=?": what is given, and ?
// for what is wanted.
func Ask(m learn.Model, question string) (*Answers, error) {
	if s, ok := m.(solver); ok {
		found, err := s.Solve(question)
		if err != nil {
			return nil, remedy.Misuse(err)
		}
		return &Answers{Answers: []Answered{}, Solution: found}, nil
	}
	asker, ok := learn.Ability[learn.Asker](m)
	if !ok {
		return askTarget(m, question)
	}
	if strings.Contains(question, "⟂") {
		return askIndependence(m, question)
	}
	question, soft, err := softEvidence(question, m)
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	row, wanted, err := parseQuestion(question, m.Schema())
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	all := &Answers{Answers: make([]Answered, len(wanted))}
	for i, column := range wanted {
		answer, err := askWith(asker, row, column, soft)
		if err != nil {
			return nil, err
		}
		all.Answers[i] = newAnswered(&m.Schema().Attributes[column], answer)
		if namesOnly(row) && len(soft) == 0 {
			p := min(math.Exp(answer.LogDensity), 1)
			all.EvidenceProbability = &p
		}
	}
	if len(soft) == 0 {
		all.Together, err = mostProbable(m, row, wanted)
	}
	return all, err
}

// notAsked says what a model cannot be asked for, and which learners' models can.
func notAsked(name, what string) error {
	return cannot(name, what, func(c learn.Can) bool { return c.Ask })
}

// askTarget answers a question for what a model predicts; cells that are not
// given are missing.
func askTarget(m learn.Model, question string) (*Answers, error) {
	target := m.Target()
	if target == learn.NoTarget || m.Schema().Linked != "" {
		return nil, notAsked(m.Learner(), "be asked for any column")
	}
	row, wanted, err := parseQuestion(question, m.Schema())
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	all := &Answers{Answers: make([]Answered, len(wanted))}
	for i, column := range wanted {
		of := answering(m, column)
		if of == nil {
			a := &m.Schema().Attributes[column]
			return nil, notAsked(m.Learner(), fmt.Sprintf("be asked for %q, only for %s", a.Name, predicted(m)))
		}
		if all.Answers[i], err = askOne(of, row); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// companion is a model that was learnt together with models of further targets,
// which share what they learnt.
type companion interface{ Companions() []learn.Model }

// answering returns the model of a column: the model itself, or one that was learnt
// together with it.
func answering(m learn.Model, column int) learn.Model {
	if column == m.Target() {
		return m
	}
	if c, ok := learn.Ability[companion](m); ok {
		for _, other := range c.Companions() {
			if column == other.Target() {
				return other
			}
		}
	}
	return nil
}

// predicted names the columns that a model answers for.
func predicted(m learn.Model) string {
	names := []string{strconv.Quote(m.Schema().Attributes[m.Target()].Name)}
	if c, ok := learn.Ability[companion](m); ok {
		for _, other := range c.Companions() {
			names = append(names, strconv.Quote(other.Schema().Attributes[other.Target()].Name))
		}
	}
	return strings.Join(names, ", ")
}

// askOne answers for a model's target.
func askOne(m learn.Model, row *table.Table) (Answered, error) {
	out := learn.NewPredictions(m, 1)
	if err := m.Predict(context.Background(), row, out); err != nil {
		return Answered{}, err
	}
	answer := NewPredicted(m, 1, row, out, 0)
	a := &m.Schema().Attributes[m.Target()]
	x := Answered{Variable: a.Name, Attribute: a, Probabilities: answer.Probabilities, Low: answer.Low, High: answer.High}
	switch said := answer.Prediction.(type) {
	case float64:
		x.Mean = &said
	case string:
		x.Prediction = &said
	default:
		x.Undecided = true
	}
	return x, nil
}

// parseQuestion reads "name=value, name=?" into a row of known cells and the
// columns that are wanted.
func parseQuestion(question string, schema *table.Schema) (row *table.Table, wanted []int, err error) {
	cells := table.NewBuilder(schema)
	cells.Closed = true
	seen := map[int]bool{}
	for _, part := range SplitOutside(question, ',') {
		if strings.TrimSpace(part) == "" {
			continue
		}
		sides := SplitOutside(part, '=')
		if len(sides) != 2 {
			return nil, nil, fmt.Errorf("%q: expected name=value, or name=? for what is wanted", strings.TrimSpace(part))
		}
		name, err := Unquote(sides[0])
		if err != nil {
			return nil, nil, err
		}
		j := schema.Index(name)
		if j < 0 {
			return nil, nil, fmt.Errorf("the model has no column %q%s", name, spell.Hint(name, schema.Names()))
		}
		if seen[j] {
			return nil, nil, fmt.Errorf("column %q is in the question twice", name)
		}
		seen[j] = true
		if strings.TrimSpace(sides[1]) == "?" {
			wanted = append(wanted, j)
			continue
		}
		value, err := Unquote(sides[1])
		if err != nil {
			return nil, nil, err
		}
		if err := checkCell(&schema.Attributes[j], value); err != nil {
			return nil, nil, err
		}
		if err := cells.String(j, value); err != nil {
			return nil, nil, err
		}
	}
	if len(wanted) == 0 {
		return nil, nil, fmt.Errorf("nothing is wanted; write ? for a value, as in %s=?", schema.Attributes[len(schema.Attributes)-1].Name)
	}
	cells.End()
	if row, err = cells.Table(); err == nil && schema.Sequence != "" { // a sequence of its own, as nothing is said of others
		row, err = row.InSequence(schema.Sequence, []int32{0}, []string{"1"})
	}
	return row, wanted, err
}

// checkCell refuses a value that a column does not have.
func checkCell(a *table.Attribute, value string) error {
	switch a.Kind {
	case table.Text:
		return nil
	case table.Nominal:
		if a.Code(value) < 0 {
			return fmt.Errorf("column %q has no value %q%s", a.Name, value, spell.Hint(value, a.Values))
		}
		return nil
	}
	x, ok := a.Parse(value)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("column %q is numeric, but %q is not a number", a.Name, value)
	}
	return nil
}

// SplitOutside splits text at a separator that does not stand in double
// quotes.
func SplitOutside(text string, separator byte) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// Unquote returns a name or value without the spaces around it and, if it has
// any, its quotes.
func Unquote(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return "", fmt.Errorf("%s is not a name in double quotes", text)
	}
	return s, nil
}

// Answered is the answer to a question about one column.
type Answered struct {
	Variable      string             `json:"variable"`
	Mean          *float64           `json:"mean,omitempty"`
	Median        *float64           `json:"median,omitempty"`
	Low           *float64           `json:"low,omitempty"`
	High          *float64           `json:"high,omitempty"`
	Modes         []float64          `json:"modes,omitempty"`
	Prediction    *string            `json:"prediction,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	// Undecided says that the model does not know.
	Undecided bool `json:"undecided,omitempty"`
	// Density is that of what is given, numbers in deviations; models that
	// only predict their target do not know it.
	Density    *float64 `json:"density,omitempty"`
	LogDensity *float64 `json:"log_density,omitempty"`
	// Experience is the share of cases that are expected to be as unusual or more so.
	Experience *float64 `json:"experience,omitempty"`
	Outside    bool     `json:"outside"`
	// Samples is how many rows the answer was drawn from, absent where it was worked out.
	Samples int `json:"samples,omitempty"`

	Attribute *table.Attribute `json:"-"`
}

// leastExperience is the share of cases as unusual below which a question is
// outside of a model's experience.
const leastExperience = 0.01

func newAnswered(at *table.Attribute, answer *learn.Answer) Answered {
	density, log := min(math.Exp(answer.LogDensity), math.MaxFloat64), finite(answer.LogDensity)
	x := Answered{
		Variable: at.Name, Attribute: at, Density: &density, LogDensity: &log,
		Experience: &answer.Experience, Outside: answer.Experience < leastExperience, Samples: answer.Samples,
	}
	if at.Kind == table.Numeric {
		x.Mean, x.Median, x.Low, x.High, x.Modes = &answer.Mean, &answer.Median, &answer.Low, &answer.High, answer.Modes
		return x
	}
	x.Probabilities = make(map[string]float64, len(answer.P))
	for v, p := range answer.P {
		x.Probabilities[at.Values[v]] = p
	}
	if len(answer.P) > 0 {
		x.Prediction = &at.Values[learn.Best(answer.P, at.Values)]
	}
	return x
}

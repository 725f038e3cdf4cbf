package life

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Query is what a model would like to know, the best question first.
type Query struct {
	Model     string          `json:"model"`
	Version   int             `json:"version"`
	Target    string          `json:"target"`
	Use       string          `json:"use,omitempty"` // by which rows of data were ranked
	Questions []QuestionEntry `json:"questions"`
}

// QuestionEntry is a row whose answer is worth knowing.
type QuestionEntry struct {
	Row      *int           `json:"row,omitempty"` // of the data, counted from 1
	Instance map[string]any `json:"instance"`
	Gain     float64        `json:"gain"`
	// Cost is that of not knowing: the probability that the model's own
	// answer is wrong, or the deviation of its number.
	Cost   *float64   `json:"cost,omitempty"`
	Splits [2]float64 `json:"splits"`

	Cells []string `json:"-"` // of the instance, as "column = value"
}

// Write prints the questions.
func (q *Query) Write(w io.Writer) {
	if len(q.Questions) == 0 {
		fmt.Fprintln(w, "there is nothing to ask: no answer would change what the model says")
		return
	}
	head := []string{"gain", "splits", "what is " + q.Target + " of"}
	var rows [][]string
	for _, e := range q.Questions {
		row := []string{fmt.Sprintf("%.3f", e.Gain), console.Number(e.Splits[0]) + " : " + console.Number(e.Splits[1]), strings.Join(e.Cells, ", ")}
		if e.Row != nil {
			row = append([]string{strconv.Itoa(*e.Row), console.Number(*e.Cost)}, row...)
		}
		rows = append(rows, row)
	}
	if q.Questions[0].Row != nil {
		head = append([]string{"row", "cost of not knowing"}, head...)
	}
	console.Table(w, head, rows)
}

// Question returns n rows that the model itself names: those that come nearest to
// dividing its hypotheses into halves.
func (h *Home) Question(ctx context.Context, p *Part, n int) (*Query, error) {
	q, ok := learn.Ability[learn.Questioner](p.Model)
	if !ok {
		return nil, remedy.Misusef("%s cannot name rows of its own; give it data with rows to choose from", modelOf(p.Version.Learner))
	}
	questions, err := q.Questions(ctx, n)
	if err != nil {
		return nil, err
	}
	list := newQuery(p)
	for _, x := range questions {
		yes := x.Yes / (x.Yes + x.No)
		e := QuestionEntry{Gain: binaryEntropy(yes), Splits: [2]float64{x.Yes, x.No}}
		e.fill(x.Row, 0, p.Target())
		list.Questions = append(list.Questions, e)
	}
	return list, nil
}

// Answer learns the answer to a question, a value of the target, as a row of its own.
func (h *Home) Answer(ctx context.Context, p *Part, q QuestionEntry, answer string) (*Updated, error) {
	header, cells := []string{}, []string{}
	for i := range p.Schema().Attributes {
		a := &p.Schema().Attributes[i]
		switch value := q.Instance[a.Name].(type) {
		case string:
			header, cells = append(header, a.Name), append(cells, value)
		case float64:
			header, cells = append(header, a.Name), append(cells, a.Format(value))
		}
	}
	header, cells = append(header, p.Schema().Attributes[p.Target()].Name), append(cells, answer)
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if err := w.WriteAll([][]string{header, cells}); err != nil {
		return nil, err
	}
	return h.UpdateAs(ctx, p.Version.Model, &Data{Arg: "-", As: "answer", scheme: fileScheme, in: &text, memory: h.Memory}, Updating{})
}

func binaryEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// QuestionRows ranks the rows of data whose answer is missing by what it would
// be worth to the model, and returns the best n.
func (h *Home) QuestionRows(ctx context.Context, p *Part, d *Data, o knowledge.QuestionOptions) (*Query, error) {
	if p.Target() == learn.NoTarget {
		return nil, fmt.Errorf("%s is a density of all columns and has no target to ask for", p.Name)
	}
	options := d.options()
	options.Schema, options.Target = p.Schema(), p.Schema().Attributes[p.Target()].Name
	t, report, err := d.Read(ctx, options)
	if err != nil {
		return nil, err
	}
	h.note(report.Notes...)
	var rows []int
	for r := range t.Rows() {
		if c := &t.Columns[p.Target()]; c.Codes != nil && c.Codes[r] == table.Missing || c.Floats != nil && table.IsMissing(c.Floats[r]) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("every row of %s has its %s; expected rows whose answer is missing", d.called(), options.Target)
	}
	questions, err := knowledge.Questions(ctx, p.Model, t, rows, o)
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	list := newQuery(p)
	if list.Use = o.Use; o.Use == "" {
		list.Use = knowledge.BestUse(p.Model)
	}
	for _, q := range questions {
		row := q.Row + 1
		e := QuestionEntry{Row: &row, Gain: q.Gain, Cost: &q.Cost, Splits: q.Splits}
		e.fill(t, q.Row, p.Target())
		list.Questions = append(list.Questions, e)
	}
	return list, nil
}

func newQuery(p *Part) *Query {
	return &Query{Model: p.Version.Model, Version: p.Version.Number, Target: p.Schema().Attributes[p.Target()].Name, Questions: []QuestionEntry{}}
}

// fill writes the cells of a row, without the target; a missing one is nil.
func (e *QuestionEntry) fill(t *table.Table, row, target int) {
	e.Instance = map[string]any{}
	for i := range t.Schema.Attributes {
		a, c := &t.Schema.Attributes[i], &t.Columns[i]
		if i == target {
			continue
		}
		switch {
		case c.Floats != nil && !table.IsMissing(c.Floats[row]):
			e.Instance[a.Name] = c.Floats[row]
		case c.Codes != nil && c.Codes[row] >= 0 && int(c.Codes[row]) < len(a.Values):
			e.Instance[a.Name] = a.Values[c.Codes[row]]
		default:
			e.Instance[a.Name] = nil
			continue
		}
		e.Cells = append(e.Cells, fmt.Sprintf("%s = %v", a.Name, e.Instance[a.Name]))
	}
}

// QueryCurve measures what asking saves a learner, as its models ask
// (knowledge.Questions) by a use of the answers, "" for what they are best for.
func QueryCurve(ctx context.Context, spec evaluate.Spec, use string) (*evaluate.QueryCurve, error) {
	ask := func(ctx context.Context, m learn.Model, rows *table.Table, n int) ([]int, error) {
		places := make([]int, rows.Rows())
		for i := range places {
			places[i] = i
		}
		questions, err := knowledge.Questions(ctx, m, rows, places, knowledge.QuestionOptions{N: n, Use: use})
		asked := make([]int, len(questions))
		for i, q := range questions {
			asked[i] = q.Row
		}
		return asked, err
	}
	return evaluate.Query(ctx, spec, evaluate.QueryOptions{Ask: ask})
}

package life

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Answering says how answers are written.
type Answering struct {
	JSON        bool   // lines of JSON, not CSV
	WithColumns bool   // beside the columns of the data
	ID          string // beside this column of the data
	// Which class is said: the most probable one, unless Threshold is above 0,
	// from which probability on it is Positive, or wrong answers have Costs, as
	// said:true=cost.
	Positive  string
	Threshold float64
	Costs     string
	Exact     bool // numbers to the last digit, not as people read them
	// Columns are what was written, once it is.
	Columns []table.Written
}

// ByKey has answers stand beside the column that names the rows of data, if a
// database says which that is and nothing else was asked for.
func (how *Answering) ByKey(ctx context.Context, d *Data) error {
	if how.WithColumns || how.ID != "" || d.at == "" {
		return nil
	}
	f, err := table.FeedOf(ctx, d.at)
	if err != nil || f == nil {
		return err
	}
	if len(f.Keys) == 1 {
		how.ID = f.Keys[0]
	}
	return f.Close()
}

// WriteAnswers answers for each row of data, in its order, and returns how well
// the model did where the answer is known.
func (h *Home) WriteAnswers(ctx context.Context, p *Part, d *Data, to io.Writer, how *Answering) (*Score, error) {
	m, err := Answerer(p)
	if err != nil {
		return nil, err
	}
	decide, err := how.decision(m)
	if err != nil {
		return nil, err
	}
	if how.WithColumns || how.ID != "" {
		if err := d.stageRows(ctx); err != nil {
			return nil, err
		}
		defer d.Release()
	}
	beside, err := d.beside(ctx, how)
	if err != nil {
		return nil, err
	}
	defer beside.close()
	how.Columns = beside.written(how.ID, d, m)
	w := bufio.NewWriterSize(to, 1<<16)
	var print answerWriter
	var flush func() error
	if how.JSON {
		print, flush = jsonAnswers(w, m, decide, beside)
	} else {
		print, flush = csvAnswers(w, m, decide, beside, how.Exact)
	}
	score, err := h.predict(ctx, p, d, decide, func(row int, t *table.Table, out *learn.Predictions) error {
		for i := range t.Rows() {
			if err := print(row+i+1, t, out, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, acts := learn.Ability[policy](p.Model); acts {
		score = nil // what somebody did is not the truth
	}
	return score, flush()
}

// A decision says which class is answered, by probabilities.
type decision func(p []float64) int

// decision returns how classes are chosen, nil where the most probable is said.
func (how *Answering) decision(m learn.Model) (decision, error) {
	costs, err := costsOf(how.Costs, m)
	if err != nil {
		return nil, err
	}
	a := &m.Schema().Attributes[m.Target()]
	switch {
	case costs != nil && how.Threshold > 0:
		return nil, remedy.Misusef("classes are chosen by a threshold or by costs; expected one of them")
	case costs != nil:
		return costs.Least, nil
	case how.Threshold == 0 && how.Positive == "":
		return nil, nil
	case a.Kind != table.Nominal:
		return nil, remedy.Misusef("a threshold is that of a class, and %q is a number", a.Name)
	case how.Threshold == 0:
		return nil, remedy.Misusef("%q is said from which probability on? give a threshold", how.Positive)
	case how.Positive == "":
		return nil, remedy.Misusef("the threshold of which class? one of %s", remedy.List(a.Values, 20))
	}
	at := slices.Index(a.Values, how.Positive)
	if at < 0 {
		return nil, remedy.Misusef("%q is no class of %q%s", how.Positive, a.Name, spell.Hint(how.Positive, a.Values))
	}
	return threshold(at, how.Threshold), nil
}

// threshold says a class from a probability on, and else the most probable of
// the others.
func threshold(positive int, from float64) decision {
	return func(p []float64) int {
		if p[positive] >= from {
			return positive
		}
		best := -1
		for c := range p {
			if c != positive && (best < 0 || p[c] > p[best]) {
				best = c
			}
		}
		return max(best, 0)
	}
}

// says returns the class that is answered.
func (d decision) says(p []float64, classes []string) int {
	if d == nil {
		return learn.Best(p, classes)
	}
	return d(p)
}

// An answerWriter writes the answer of the i-th row of a table, which is the
// row-th of the data.
type answerWriter func(row int, t *table.Table, out *learn.Predictions, i int) error

// csvAnswers writes answers as CSV; flush writes what is still buffered.
func csvAnswers(w *bufio.Writer, m learn.Model, decide decision, beside *beside, exact bool) (print answerWriter, flush func() error) {
	number := decimal
	if exact {
		number = func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	}
	cw := csv.NewWriter(w)
	classes := m.Schema().Attributes[m.Target()].Values
	numeric := m.Schema().Attributes[m.Target()].Kind == table.Numeric
	header := append(beside.names(), "prediction", "probability")
	if numeric {
		header = append(beside.names(), "prediction", "low", "high")
	}
	_ = cw.Write(header) // an error stays with the writer until flush
	record := make([]string, len(header))
	at := len(beside.names())
	print = func(_ int, t *table.Table, out *learn.Predictions, i int) error {
		if err := beside.next(record[:at]); err != nil {
			return err
		}
		own := record[at:]
		if numeric {
			own[0], own[1], own[2] = number(out.Mean[i]), number(out.Low[i]), number(out.High[i])
		} else {
			p := out.Row(i)
			best := decide.says(p, classes)
			own[0], own[1] = classes[best], number(p[best])
			if Undecided(m, t, i) {
				own[0] = ""
			}
		}
		return cw.Write(record)
	}
	flush = func() error {
		cw.Flush()
		return errors.Join(cw.Error(), w.Flush())
	}
	return print, flush
}

// decimal writes a number with six digits, or, of a large one, with those that stand
// before its point.
func decimal(x float64) string {
	if math.Abs(x) >= 1e6 {
		return strconv.FormatFloat(x, 'g', 12, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// jsonAnswers writes answers as lines of JSON.
func jsonAnswers(w *bufio.Writer, m learn.Model, decide decision, beside *beside) (print answerWriter, flush func() error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	cells := make([]string, len(beside.names()))
	print = func(row int, t *table.Table, out *learn.Predictions, i int) error {
		answer := NewPredicted(m, row, t, out, i)
		if _, said := answer.Prediction.(string); said && decide != nil {
			answer.Prediction = m.Schema().Attributes[m.Target()].Values[decide(out.Row(i))]
		}
		if err := beside.next(cells); err != nil {
			return err
		}
		if beside != nil {
			answer.Columns = make(map[string]any, len(cells))
			for c, name := range beside.names() {
				answer.Columns[name] = beside.value(c)
			}
		}
		return e.Encode(answer)
	}
	return print, w.Flush
}

// beside reads the columns of data that answers stand beside, whatever the model
// knows of them. A nil one has none.
type beside struct {
	source  table.Source
	schema  *table.Schema // what the columns would be read as
	columns []int
	batch   *table.Table
	row     int
}

// beside begins to read the columns that were asked for.
func (d *Data) beside(ctx context.Context, how *Answering) (*beside, error) {
	if !how.WithColumns && how.ID == "" {
		return nil, nil
	}
	plain := *d
	plain.Reading = Reading{
		Nominal: d.Reading.Nominal, Numeric: d.Reading.Numeric,
		Delimiter: d.Reading.Delimiter, Encoding: d.Reading.Encoding, NoHeader: d.Reading.NoHeader, Sheet: d.Reading.Sheet,
	}
	o := plain.options()
	o.Open = true
	found, err := plain.source(ctx, o)
	if err != nil {
		return nil, err
	}
	schema := found.Schema()
	found.Close()
	o.Nominal, o.Numeric = append(schema.Names(), found.Report().IDs...), nil // as they stand in the data
	o.Missing = []string{""}                                                  // whatever stands in a cell stays there
	if found, err = plain.source(ctx, o); err != nil {
		return nil, err
	}
	b := &beside{source: found, schema: schema}
	for col, name := range found.Schema().Names() {
		if how.WithColumns || name == how.ID {
			b.columns = append(b.columns, col)
		}
	}
	if how.ID != "" && found.Schema().Index(how.ID) < 0 {
		b.close()
		return nil, remedy.Misusef("%s has no column %q%s", d.called(), how.ID, spell.Hint(how.ID, found.Schema().Names()))
	}
	return b, nil
}

func (b *beside) close() {
	if b != nil {
		b.source.Close()
	}
}

// names returns what the columns are called.
func (b *beside) names() []string {
	if b == nil {
		return nil
	}
	names := make([]string, len(b.columns))
	for i, col := range b.columns {
		names[i] = b.source.Schema().Attributes[col].Name
	}
	return names
}

// written are the columns of the answers, and those beside them.
func (b *beside) written(id string, d *Data, m learn.Model) []table.Written {
	var columns []table.Written
	for _, name := range b.names() {
		c := table.Written{Name: name, Key: name == id, Whole: d.rows != nil && slices.Contains(d.rows.Whole, name)}
		if at := b.schema.Index(name); at >= 0 {
			a := &b.schema.Attributes[at]
			c.Number = a.Kind == table.Numeric && !a.Date && !a.Time
		}
		columns = append(columns, c)
	}
	if m.Schema().Attributes[m.Target()].Kind == table.Numeric {
		return append(columns, table.Written{Name: "prediction", Number: true}, table.Written{Name: "low", Number: true}, table.Written{Name: "high", Number: true})
	}
	return append(columns, table.Written{Name: "prediction"}, table.Written{Name: "probability", Number: true})
}

// next fills in the cells of the next row.
func (b *beside) next(cells []string) error {
	if b == nil {
		return nil
	}
	b.row++
	for b.batch == nil || b.row >= b.batch.Rows() {
		t, err := b.source.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the data changed while it was read: it had more rows before")
		}
		if err != nil {
			return err
		}
		b.batch, b.row = t, 0
	}
	for i, col := range b.columns {
		cells[i] = b.batch.Text(b.row, col)
	}
	return nil
}

// value returns a cell of the current row as JSON has it; nil is missing.
func (b *beside) value(c int) any {
	col := b.columns[c]
	if b.batch.Columns[col].Codes[b.row] < 0 {
		return nil
	}
	text := b.batch.Text(b.row, col)
	if at := b.schema.Index(b.batch.Schema.Attributes[col].Name); at >= 0 {
		a := &b.schema.Attributes[at]
		x, ok := a.Parse(text)
		_, known := a.ParseCell(text)
		switch {
		case a.Kind == table.Numeric && !known, a.Kind == table.Nominal && len(a.Values) > 0 && a.Code(text) < 0:
			return nil // a text that says that nothing is known
		case ok && a.Kind == table.Numeric && !a.Date && !a.Time && !math.IsNaN(x) && !math.IsInf(x, 0) && !zeros(text):
			return x
		}
	}
	return text
}

// zeros reports whether digits begin with a 0 that a number would lose, as in a
// postal code.
func zeros(text string) bool {
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// Asked is what is to be answered: a row, or rows. Cells are numbers, names,
// true or false; null and cells that are not there are not known.
type Asked struct {
	Row  map[string]any   `json:"row,omitempty" doc:"cells by column"`
	Rows []map[string]any `json:"rows,omitempty" doc:"several of them"`
	Data string           `json:"data,omitempty" doc:"or a table by its name, which is answered in columns"`
	// Density asks of a table how dense its rows are.
	Density bool `json:"density,omitempty" doc:"of a table: how dense its rows are, instead"`
}

// Answer is what a model says of a row.
type Answer struct {
	Prediction    any                `json:"prediction" doc:"a class, or a number; null where the model says that it does not know"`
	Votes         map[string]float64 `json:"votes,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty" doc:"of each class"`
	Low           *float64           `json:"low,omitempty" doc:"of a number: a 95 % interval"`
	High          *float64           `json:"high,omitempty"`
	Model         string             `json:"model"`
	Version       int                `json:"version" doc:"the last frozen version"`
	Since         int                `json:"since,omitempty" doc:"rows learnt after it"`
	Ignored       []string           `json:"ignored,omitempty" doc:"cells that are no columns of the model"`
	ID            string             `json:"id,omitempty" doc:"of an answer that is kept"`
	Newest        *NewestAnswer      `json:"newest,omitempty" doc:"where an approved version answers: what the newest says"`
}

// NewestAnswer is what the newest version would have answered.
type NewestAnswer struct {
	Prediction    any                `json:"prediction"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Version       int                `json:"version"`
}

// Answers are what a model says of rows, in their order.
type Answers struct {
	Predictions []Answer `json:"predictions"`
	Model       string   `json:"model"`
	Version     int      `json:"version"`
	Since       int      `json:"since,omitempty"`
}

// answerer answers for rows, in memory of its own.
type answerer struct {
	model   learn.Model
	builder *table.Builder
	out     *learn.Predictions
	err     error // why it cannot
}

func newAnswerer(p *life.Part) *answerer {
	m, err := life.Answerer(p)
	if err != nil {
		return &answerer{err: err}
	}
	if m.Schema().Linked != "" {
		return &answerer{err: problemf(http.StatusUnprocessableEntity, "it is answered with the tables around it, by accrete predict "+p.Name+" FOLDER", "a row of %s cannot be answered alone", p.Name)}
	}
	if !life.AnswersAlone(m) {
		return &answerer{err: problemf(http.StatusUnprocessableEntity, "send text/csv or application/x-ndjson with whole sequences", "a row of %s cannot be answered alone", p.Name)}
	}
	return &answerer{model: m, builder: table.NewBuilder(m.Schema()), out: learn.NewPredictions(m, 1)}
}

// one answers for a row.
func (a *answerer) one(ctx context.Context, row map[string]any) (x life.Predicted, ignored []string, err error) {
	if a.err != nil {
		return x, nil, a.err
	}
	if row, ignored, err = known(row, a.model.Schema()); err != nil {
		return x, nil, err
	}
	t, err := a.builder.Only(row)
	if err != nil {
		return x, nil, cellProblem(err, row, a.model.Schema(), 0)
	}
	if err := a.model.Predict(ctx, t, a.out); err != nil {
		return x, nil, err
	}
	x = life.NewPredicted(a.model, 1, t, a.out, 0)
	if x.Low != nil { // the numbers are the next row's, too
		low, high := *x.Low, *x.High
		x.Low, x.High = &low, &high
	}
	return x, ignored, nil
}

// many answers for rows.
func (a *answerer) many(ctx context.Context, rows []map[string]any, each func(i int, x life.Predicted, ignored []string)) error {
	if a.err != nil {
		return a.err
	}
	b := table.NewBuilder(a.model.Schema())
	b.Closed = true
	ignored := make([][]string, len(rows))
	for i, row := range rows {
		cells, unknown, err := known(row, a.model.Schema())
		if err != nil {
			return inRow(err, i+1)
		}
		if err := b.Add(cells); err != nil {
			return cellProblem(err, row, a.model.Schema(), i+1)
		}
		ignored[i] = unknown
	}
	t, err := b.Table()
	if err != nil {
		return err
	}
	out := learn.NewPredictions(a.model, t.Rows())
	if err := a.model.Predict(ctx, t, out); err != nil {
		return err
	}
	for i := range rows {
		each(i, life.NewPredicted(a.model, i+1, t, out, i), ignored[i])
	}
	return nil
}

// known returns a row without the cells that are no columns; none is an error.
func known(row map[string]any, schema *table.Schema) (map[string]any, []string, error) {
	found := 0
	for key := range row {
		if schema.Index(key) >= 0 {
			found++
		}
	}
	if found == len(row) {
		return row, nil, nil
	}
	cells := make(map[string]any, found)
	var ignored []string
	for key, cell := range row {
		if schema.Index(key) >= 0 {
			cells[key] = cell
		} else {
			ignored = append(ignored, key)
		}
	}
	slices.Sort(ignored)
	if found == 0 {
		return nil, nil, &Problem{Status: http.StatusUnprocessableEntity, Column: ignored[0],
			Detail: fmt.Sprintf("none of the row's cells is a column of the model, such as %q", ignored[0]), Remedy: "the model's columns are in GET /v1/models/{m}"}
	}
	return cells, ignored, nil
}

// cellProblem says which cell of a row is wrong.
func cellProblem(err error, row map[string]any, schema *table.Schema, number int) error {
	p := &Problem{Status: http.StatusUnprocessableEntity, Detail: err.Error(), Row: number, Remedy: "correct the cell, or leave it out if it is not known"}
	b := table.NewBuilder(schema)
	for name, cell := range row {
		if b.Add(map[string]any{name: cell}) != nil {
			p.Column = name
		}
	}
	if number > 0 {
		p.Detail = fmt.Sprintf("row %d: %s", number, p.Detail)
	}
	return p
}

// inRow adds the row's number to a problem.
func inRow(err error, number int) error {
	var p *Problem
	if errors.As(err, &p) {
		numbered := *p
		numbered.Row, numbered.Detail = number, fmt.Sprintf("row %d: %s", number, p.Detail)
		return &numbered
	}
	return err
}

func (st *state) answer(x life.Predicted, ignored []string) Answer {
	return Answer{Prediction: x.Prediction, Votes: x.Votes, Probabilities: x.Probabilities, Low: x.Low, High: x.High,
		Model: st.part.Name, Version: st.part.Version.Number, Since: st.since, Ignored: ignored}
}

// answering is the version that answers: the newest, or, where approval is
// switched on, the one that was approved last; then newest is the other one.
func (c *call) answering(ref string) (st, newest *state, err error) {
	if st, err = c.held.get(ref); err != nil || !c.o.Approved || ref != st.part.Name {
		return st, nil, err
	}
	a, err := c.o.Home.Approved(ref)
	switch {
	case err != nil:
		return nil, nil, err
	case a == nil:
		return nil, nil, problemf(http.StatusConflict, "approve a version: accrete approve MODEL@N --by NAME", "no version of %s is approved, and this server answers from approved ones", ref)
	case a.Version == st.part.Version.Number && st.since == 0:
		return st, nil, nil
	}
	approved, err := c.held.get(fmt.Sprintf("%s@%d", ref, a.Version))
	return approved, st, err
}

// newestAnswers are what a version says of rows; none where it is nil.
func (st *state) newestAnswers(ctx context.Context, rows ...map[string]any) ([]*NewestAnswer, error) {
	all := make([]*NewestAnswer, len(rows))
	if st == nil {
		return all, nil
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	return all, a.many(ctx, rows, func(i int, x life.Predicted, _ []string) {
		all[i] = &NewestAnswer{x.Prediction, x.Probabilities, st.part.Version.Number}
	})
}

// predict answers for a row, for rows, or for a table that comes as it goes.
func (c *call) predict() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	keep := yes(q, "keep")
	if keep && c.o.ReadOnly {
		return problemf(http.StatusForbidden, "start the server without read-only", "this server keeps nothing: it was started read-only")
	}
	st, newest, err := c.answering(ref)
	if err != nil {
		return err
	}
	if c.streamed() {
		return c.stream(st)
	}
	if err := c.accepts("application/json", "text/csv", "application/x-ndjson"); err != nil {
		return err
	}
	var asked Asked
	if err := c.decode(&asked); err != nil {
		return err
	}
	switch {
	case asked.Data != "" && asked.Row == nil && asked.Rows == nil && !keep:
		return c.answerTable(st, &asked)
	case asked.Data != "" || (asked.Row == nil) == (asked.Rows == nil):
		return problemf(http.StatusUnprocessableEntity, `give one of "row", "rows" and "data"`, "expected a row, rows, or a table")
	case len(asked.Rows) > c.o.MostRows:
		return problemf(http.StatusRequestEntityTooLarge, "send text/csv or application/x-ndjson, which is answered as it comes", "%d rows in one document are more than %d", len(asked.Rows), c.o.MostRows)
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	if asked.Row != nil {
		x, ignored, err := a.one(c.r.Context(), asked.Row)
		if err != nil {
			return err
		}
		said := st.answer(x, ignored)
		if newest != nil {
			others, err := newest.newestAnswers(c.r.Context(), asked.Row)
			if err != nil {
				return err
			}
			said.Newest = others[0]
		}
		if keep {
			said.ID = c.newID("a")
			if err := c.truths.keep(st.part.Name, newKept(said.ID, said.Version, x, asked.Row)); err != nil {
				return err
			}
		}
		return c.answer(http.StatusOK, said)
	}
	ctx, cancel := c.limited()
	defer cancel()
	all := Answers{Predictions: make([]Answer, len(asked.Rows)), Model: st.part.Name, Version: st.part.Version.Number, Since: st.since}
	others, err := newest.newestAnswers(ctx, asked.Rows...)
	if err != nil {
		return err
	}
	var kept error
	err = a.many(ctx, asked.Rows, func(i int, x life.Predicted, ignored []string) {
		all.Predictions[i] = st.answer(x, ignored)
		all.Predictions[i].Newest = others[i]
		if keep && kept == nil {
			all.Predictions[i].ID = c.newID("a")
			kept = c.truths.keep(st.part.Name, newKept(all.Predictions[i].ID, st.part.Version.Number, x, asked.Rows[i]))
		}
	})
	if err = errors.Join(err, kept); err != nil {
		return err
	}
	return c.answer(http.StatusOK, all)
}

// streamed reports whether a table comes as lines, which are answered as they come.
func (c *call) streamed() bool {
	return slices.Contains([]string{"text/csv", "application/x-ndjson", "application/jsonl"}, c.contentType())
}

// stream answers for a table of CSV or JSON lines while it comes, in the same
// form, in memory that does not grow with it.
func (c *call) stream(st *state) error {
	_ = http.NewResponseController(c.w).EnableFullDuplex() // HTTP/2 has it anyway
	h := c.home()
	h.In = c.body()
	d, err := h.Find("-", life.Reading{})
	if err != nil {
		return err
	}
	c.w.Header().Set("Accrete-Version", st.part.Version.String())
	out := &lazyWriter{c: c, contentType: c.contentType()}
	how := life.Answering{JSON: c.contentType() != "text/csv"}
	if !how.JSON {
		out.contentType = "text/csv; charset=utf-8"
	}
	_, err = h.WriteAnswers(c.r.Context(), st.part, d, out, &how)
	if err == nil {
		_, err = out.Write(nil) // an empty answer is one, too
	}
	return err
}

// lazyWriter sends the head of an answer with its first bytes: until then a
// problem can be told instead.
type lazyWriter struct {
	c           *call
	contentType string
}

func (w *lazyWriter) Write(b []byte) (int, error) {
	c := w.c
	if c.status == 0 {
		c.status = http.StatusOK
		c.w.Header().Set("Content-Type", w.contentType)
		c.w.Header().Set("Cache-Control", "no-store")
		c.w.WriteHeader(http.StatusOK)
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := c.w.Write(b)
	if err == nil {
		_ = http.NewResponseController(c.w).Flush()
	}
	return n, err
}

var _ io.Writer = (*lazyWriter)(nil)

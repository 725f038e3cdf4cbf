package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/life"
)

// ToExplain is a row whose answer is to be explained.
type ToExplain struct {
	Row map[string]any `json:"row" doc:"cells by column"`
}

// Explanation is an answer with its reasons, and whose it is.
type Explanation struct {
	*life.Explained
	Model   string   `json:"model"`
	Version int      `json:"version"`
	Since   int      `json:"since,omitempty"`
	Ignored []string `json:"ignored,omitempty"`
}

// explain says why a model answers as it does.
func (c *call) explain() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	var in ToExplain
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Row == nil {
		return problemf(http.StatusUnprocessableEntity, `give "row"`, "expected a row")
	}
	st, err := c.held.get(ref)
	if err != nil {
		return err
	}
	if err := life.CanExplain(st.part.Model); err != nil {
		return err
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	if a.err != nil {
		return a.err
	}
	cells, ignored, err := known(in.Row, a.model.Schema())
	if err != nil {
		return err
	}
	if len(cells) == 0 { // a row of which nothing is known is one all the same
		cells = map[string]any{a.model.Schema().Attributes[0].Name: nil}
	}
	if _, err := a.builder.Only(cells); err != nil { // says which cell is wrong
		return cellProblem(err, in.Row, a.model.Schema(), 0)
	}
	line, err := json.Marshal(cells)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	h.In = bytes.NewReader(append(line, '\n'))
	d, err := h.Find("-", life.Reading{})
	if err != nil {
		return err
	}
	return h.Explain(ctx, c.worded(st.part), d, nil, func(x *life.Explained) error {
		return c.answer(http.StatusOK, Explanation{x, st.part.Name, st.part.Version.Number, st.since, ignored})
	})
}

// Question is what a model of all columns is asked.
type Question struct {
	Question string `json:"question" doc:"what is given, and ? for what is wanted: lstat=5, rm=6, medv=?"`
}

// ask asks for any column, given any others.
func (c *call) ask() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	var in Question
	if err := c.decode(&in); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	if proved, is, err := life.Prove(ctx, p.Model, in.Question); is {
		if err != nil {
			return err
		}
		return c.answer(http.StatusOK, proved)
	}
	answers, err := life.Ask(p.Model, in.Question)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, answers)
}

// ToQuery says how many questions a model may ask, and of which rows.
type ToQuery struct {
	N    int    `json:"n,omitempty" doc:"how many, 10 if none are given"`
	Data string `json:"data,omitempty" doc:"rows to choose from; none has the model name rows of its own"`
	Use  string `json:"use,omitempty" doc:"by what rows are ranked"`
}

// questions says what a model would like to know.
func (c *call) questions() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	var in ToQuery
	if err := c.decode(&in); err != nil {
		return err
	}
	n := min(cmp.Or(max(in.N, 0), 10), mostShown)
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	var list *life.Query
	if in.Data == "" {
		list, err = h.Question(ctx, p, n)
	} else {
		var find func(*life.Home) (*life.Data, error)
		if find, err = c.finder(in.Data, life.Reading{}); err != nil {
			return err
		}
		d, failed := find(h)
		if failed != nil {
			return failed
		}
		list, err = h.QuestionRows(ctx, p, d, knowledge.QuestionOptions{N: n, Use: in.Use})
	}
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, list)
}

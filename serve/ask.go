package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/life"
)

// ToExplain is a row whose answer is to be explained, or changed.
type ToExplain struct {
	Row    map[string]any `json:"row" doc:"cells by column"`
	Change *ToChange      `json:"change,omitempty" doc:"say instead what would give the row another answer"`
}

// ToChange is the answer that is wished for.
type ToChange struct {
	To    string   `json:"to,omitempty" doc:"the class that is wished for; of a number >30 or <20; none is any other"`
	Fixed []string `json:"fixed,omitempty" doc:"columns that stay as they are"`
	Limit int      `json:"limit,omitempty" doc:"how many changes are wanted, 3 if none are given"`
}

// Explanation is an answer with its reasons, and whose it is.
type Explanation struct {
	*life.Explained
	Model   string   `json:"model"`
	Version int      `json:"version"`
	Since   int      `json:"since,omitempty"`
	Ignored []string `json:"ignored,omitempty"`

	Changes []life.Change `json:"changes,omitempty"` // where they were asked for
	Exact   bool          `json:"exact,omitempty"`
	Cells   int           `json:"cells,omitempty"`
	Newest  *NewestAnswer `json:"newest,omitempty" doc:"where an approved version answers: what the newest says"`
}

// given is a row that was sent, as data of one row for a model.
type given struct {
	home    *life.Home
	state   *state
	part    *life.Part
	data    *life.Data
	ignored []string
}

// given reads a row for a model.
func (c *call) given(st *state, row map[string]any) (*given, error) {
	if row == nil {
		return nil, problemf(http.StatusUnprocessableEntity, `give "row"`, "expected a row")
	}
	a := st.rows.Get().(*answerer)
	defer st.rows.Put(a)
	if a.err != nil {
		return nil, a.err
	}
	cells, ignored, err := known(row, a.model.Schema())
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 { // a row of which nothing is known is one all the same
		cells = map[string]any{a.model.Schema().Attributes[0].Name: nil}
	}
	if _, err := a.builder.Only(cells); err != nil { // says which cell is wrong
		return nil, cellProblem(err, row, a.model.Schema(), 0)
	}
	line, err := json.Marshal(cells)
	if err != nil {
		return nil, err
	}
	h := c.home()
	h.In = bytes.NewReader(append(line, '\n'))
	d, err := h.Find("-", life.Reading{})
	return &given{h, st, c.worded(st.part), d, ignored}, err
}

// explain says why a model answers as it does, and what would change the answer.
func (c *call) explain() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	var in ToExplain
	if err := c.decode(&in); err != nil {
		return err
	}
	st, newest, err := c.answering(ref)
	if err != nil {
		return err
	}
	g, err := c.given(st, in.Row)
	if err != nil {
		return err
	}
	if err := life.CanExplain(g.part.Model); err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	changed := &life.Changed{}
	if w := in.Change; w != nil {
		wish := life.Wish{To: w.To, Fixed: w.Fixed, Limit: min(max(w.Limit, 0), mostShown)}
		err := g.home.Change(ctx, g.part, g.data, nil, wish, func(x *life.Changed) error { changed = x; return nil })
		if err != nil {
			return err
		}
		if g, err = c.given(st, in.Row); err != nil { // it was read to its end
			return err
		}
	}
	others, err := newest.newestAnswers(ctx, in.Row)
	if err != nil {
		return err
	}
	honest := c.calibration(g.state)
	return g.home.Explain(ctx, g.part, g.data, nil, func(x *life.Explained) error {
		x.Calibrate(honest)
		return c.answer(http.StatusOK, Explanation{
			Explained: x, Model: g.part.Name, Version: g.part.Version.Number, Since: g.state.since, Ignored: g.ignored,
			Changes: changed.Changes, Exact: changed.Exact, Cells: changed.Cells, Newest: others[0],
		})
	})
}

// ToDraft is a row that should have been answered otherwise.
type ToDraft struct {
	Row     map[string]any     `json:"row" doc:"cells by column"`
	Should  string             `json:"should" doc:"the class that is right"`
	Because []string           `json:"because,omitempty" doc:"the columns that should have decided; none are those that did most"`
	Cuts    map[string]float64 `json:"cuts,omitempty" doc:"where numbers are divided, by column; others are where the rows divide best"`

	Words map[string][]string `json:"words,omitempty" doc:"of texts the words that should have decided, by column; without them it is the one that speaks most for the class"`
}

// draft drafts a rule that would have answered a row otherwise.
func (c *call) draft() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	var in ToDraft
	if err := c.decode(&in); err != nil {
		return err
	}
	st, err := c.held.get(ref)
	if err != nil {
		return err
	}
	g, err := c.given(st, in.Row)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	d, err := g.home.Draft(ctx, g.part, g.data, 1, life.Drafting{Should: in.Should, Because: in.Because, Cuts: in.Cuts, Words: in.Words})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, d)
}

// budget says how accurate a model is with fewer rules.
func (c *call) budget() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	b, err := c.home().Budget(ctx, p)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, b)
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
		if find, err = c.finder(in.Data, ReadAs{}); err != nil {
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

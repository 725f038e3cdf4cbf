package serve

import (
	"context"
	"encoding/binary"
	"math"
	"net/http"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// AnswerColumns are what a model says of the rows of a table, for programs
// that keep columns of numbers: each is the bytes of its numbers, the least
// significant first, which JSON holds as base64.
type AnswerColumns struct {
	Rows          int      `json:"rows"`
	Classes       []string `json:"classes,omitempty"`
	Codes         []byte   `json:"codes,omitempty" doc:"which class is said, an int32 a row, from 0; -1 where the model says that it does not know"`
	Probabilities []byte   `json:"probabilities,omitempty" doc:"of each class, a float64 each, row after row"`
	Mean          []byte   `json:"mean,omitempty" doc:"of a number: a float64 a row, and a 95 % interval"`
	Low           []byte   `json:"low,omitempty"`
	High          []byte   `json:"high,omitempty"`
	LogDensity    []byte   `json:"log_density,omitempty" doc:"how dense rows are: the natural log, a float64 a row"`
	Model         string   `json:"model"`
	Version       int      `json:"version"`
	Since         int      `json:"since,omitempty"`
	Notes         []string `json:"notes,omitempty"`
}

// answerTable answers for a table in columns.
func (c *call) answerTable(st *state, asked *Asked) error {
	find, err := c.finder(asked.Data, ReadAs{})
	if err != nil {
		return err
	}
	h := c.home()
	d, err := find(h)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	a := &AnswerColumns{Model: st.part.Name, Version: st.part.Version.Number, Since: st.since}
	if asked.Density || st.part.Target() == learn.NoTarget {
		err = h.Densities(ctx, st.part, d, func(logs []float64) error {
			a.Rows += len(logs)
			a.LogDensity = appendFloats(a.LogDensity, logs)
			return nil
		})
	} else {
		err = a.predict(ctx, h, st.part, d)
	}
	if err != nil {
		return err
	}
	a.Notes = c.notes
	return c.answer(http.StatusOK, a)
}

// predict fills in what a model says of each row.
func (a *AnswerColumns) predict(ctx context.Context, h *life.Home, p *life.Part, d *life.Data) error {
	m, err := life.Answerer(p)
	if err != nil {
		return err
	}
	target := &m.Schema().Attributes[m.Target()]
	if target.Kind == table.Nominal {
		a.Classes = target.Values
	}
	_, err = h.Predict(ctx, p, d, func(_ int, t *table.Table, out *learn.Predictions) error {
		a.Rows += t.Rows()
		a.Mean, a.Low, a.High = appendFloats(a.Mean, out.Mean), appendFloats(a.Low, out.Low), appendFloats(a.High, out.High)
		a.Probabilities = appendFloats(a.Probabilities, out.P)
		for row := 0; target.Kind == table.Nominal && row < t.Rows(); row++ {
			class := learn.Best(out.Row(row), target.Values)
			if life.Undecided(m, t, row) {
				class = -1
			}
			a.Codes = binary.LittleEndian.AppendUint32(a.Codes, uint32(int32(class)))
		}
		return nil
	})
	return err
}

func appendFloats(to []byte, numbers []float64) []byte {
	for _, x := range numbers {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(x))
	}
	return to
}

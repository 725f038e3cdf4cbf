package life

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// AnswerWriter writes the answer of the i-th row of a table, which is the
// row-th of the data.
type AnswerWriter func(row int, t *table.Table, out *learn.Predictions, i int) error

// CSVAnswers writes answers as CSV; flush writes what is still buffered.
func CSVAnswers(w *bufio.Writer, m learn.Model) (print AnswerWriter, flush func() error) {
	cw := csv.NewWriter(w)
	classes := m.Schema().Attributes[m.Target()].Values
	numeric := m.Schema().Attributes[m.Target()].Kind == table.Numeric
	header := []string{"prediction", "probability"}
	if numeric {
		header = []string{"prediction", "low", "high"}
	}
	_ = cw.Write(header) // an error stays with the writer until flush
	record := make([]string, len(header))
	print = func(_ int, t *table.Table, out *learn.Predictions, i int) error {
		if numeric {
			record[0], record[1], record[2] = decimal(out.Mean[i]), decimal(out.Low[i]), decimal(out.High[i])
		} else {
			p := out.Row(i)
			best := learn.Best(p, classes)
			record[0], record[1] = classes[best], decimal(p[best])
			if Undecided(m, t, i) {
				record[0] = ""
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

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// JSONAnswers writes answers as lines of JSON.
func JSONAnswers(w *bufio.Writer, m learn.Model) (print AnswerWriter, flush func() error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	print = func(row int, t *table.Table, out *learn.Predictions, i int) error {
		return e.Encode(NewPredicted(m, row, t, out, i))
	}
	return print, w.Flush
}

package kept

import (
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

// Lesson is what a model that may keep its rows is learnt by: with the rows, it
// can be learnt again. S is the learner's settings.
type Lesson[S any] struct {
	Format   int    `cbor:"format"`
	Settings S      `cbor:"settings"`
	Seed     uint64 `cbor:"seed"`
	Target   string `cbor:"target"`
}

// Parts saves a lesson, the rows of each source, unless they are nil, and the
// body, which is what was learnt: derived where there are rows.
func (l *Lesson[S]) Parts(name string, rows *Rows, bodyName string, body any) ([]learn.Part, error) {
	head, err := learn.Marshal(l)
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: name, Data: head}}
	if rows != nil {
		kept, err := rows.Parts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, kept...)
	}
	data, err := learn.Marshal(body)
	if err != nil {
		return nil, err
	}
	return append(parts, learn.Part{Name: bodyName, Derived: rows != nil, Data: data}), nil
}

// Load reads what Parts wrote: the lesson, the rows, nil if none are kept, and
// the body, into what is pointed to. It reports whether there was a body; if
// not, there are rows to learn again from. Whether rows are kept is for keeps
// to tell, which also checks the settings.
func (l *Lesson[S]) Load(parts []learn.Part, name string, format int, keeps func(*S) (bool, error), bodyName string, body any) (rows *Rows, found bool, err error) {
	if err := learn.Unmarshal(learn.FindPart(parts, name), l); err != nil {
		return nil, false, fmt.Errorf("part %q: %v", name, err)
	}
	if l.Format != format {
		return nil, false, fmt.Errorf("the model is saved in format %d, this program reads %d", l.Format, format)
	}
	keep, err := keeps(&l.Settings)
	if err != nil {
		return nil, false, err
	}
	if rows, err = DecodeRows(parts); err != nil {
		return nil, false, err
	}
	if n := len(rows.Sources()); keep != (n > 0) {
		return nil, false, fmt.Errorf("the rows of %d sources do not fit a model that keeps rows (%v)", n, keep)
	}
	if !keep {
		rows = nil
	}
	data := learn.FindPart(parts, bodyName)
	if data == nil {
		if keep {
			return rows, false, nil
		}
		return nil, false, fmt.Errorf("part %q is not there", bodyName)
	}
	if err := learn.Unmarshal(data, body); err != nil {
		return nil, false, fmt.Errorf("part %q: %v", bodyName, err)
	}
	return rows, true, nil
}

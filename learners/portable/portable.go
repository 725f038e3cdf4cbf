// Package portable is the model that a JSON program is: what an export as JSON
// wrote of a model that any learner made, read back. It computes the steps of
// internal/portable and knows nothing of where they came from.
//
// It is not learnt but imported, and cannot be updated; it answers, is compared, can
// be told rules and written elsewhere again. Its neighbour is rulebase, the model
// that a text of rules is.
package portable

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Name is what models of this kind are registered as.
const Name = "portable"

func init() {
	learn.Register(learn.Info{
		Name:    Name,
		Summary: "a model as arithmetic, as it was exported for other programs",
		Takes:   learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true},
		Keeps:   "the program",
		Decode:  decode,
	})
}

// Model computes a program. It is immutable.
type Model struct {
	program *portable.Program
	schema  *table.Schema // the program's columns, then the target
}

var (
	_ learn.Model       = (*Model)(nil)
	_ portable.Compiler = (*Model)(nil)
)

// New returns the model of a program that passed its check.
func New(p *portable.Program) *Model {
	m := &Model{program: p, schema: &table.Schema{}}
	for i := range p.Columns {
		a := table.Attribute{Name: p.Columns[i].Name, Kind: table.Numeric}
		a.Show(p.Columns[i].Kind)
		a.Values, a.Style = p.Columns[i].Values, table.Style(p.Columns[i].Style)
		m.schema.Attributes = append(m.schema.Attributes, a)
	}
	target := table.Attribute{Name: p.Target.Name, Style: table.Style(p.Target.Style)}
	if !target.Show(p.Target.Kind) {
		target.Kind = table.Numeric
	}
	if p.Target.Classes != nil {
		target.Kind, target.Values = table.Nominal, p.Target.Classes
	}
	m.schema.Attributes = append(m.schema.Attributes, target)
	return m
}

// Learner is the name under which such models are registered.
func (m *Model) Learner() string { return Name }

// Schema is the program's columns and the target.
func (m *Model) Schema() *table.Schema { return m.schema }

// Target is the last column.
func (m *Model) Target() int { return len(m.program.Columns) }

// Size counts the steps.
func (m *Model) Size() learn.Size { return learn.Size{Units: len(m.program.Steps)} }

// Predict computes the program. Where it gives no interval, both ends are the number.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	rows, classes, a := t.Rows(), len(m.program.Target.Classes), &m.program.Answer
	if classes > 0 && (out.Classes != classes || len(out.P) < rows*classes) || classes == 0 && min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("there is no room for the answers of %d rows", rows)
	}
	return learn.Split(ctx, rows, func(lo, hi int) {
		r := portable.NewRunner(m.program)
		for row := lo; row < hi; row++ {
			if r.Row(t, row); classes > 0 {
				copy(out.Row(row), r.Value(*a.Probabilities))
				continue
			}
			x := r.Value(*a.Number)[0]
			out.Mean[row], out.Low[row], out.High[row] = x, x, x
			if a.Low != nil {
				out.Low[row], out.High[row] = r.Value(*a.Low)[0], r.Value(*a.High)[0]
			}
		}
	})
}

// Portable is the program again.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) { return b.Program(m.program) }

const programPart = "program"

// Parts saves the program as JSON.
func (m *Model) Parts() ([]learn.Part, error) {
	text, err := m.program.JSON()
	return []learn.Part{{Name: programPart, Data: text}}, err
}

func decode(parts []learn.Part) (learn.Model, error) {
	text := learn.FindPart(parts, programPart)
	if text == nil {
		return nil, fmt.Errorf("%w: it has no program", learn.ErrDamaged)
	}
	p, err := portable.Decode(text)
	if err != nil {
		return nil, err
	}
	return New(p), nil
}

package life

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule/say"
)

// Forms are the formats of other programs that a model is written in.
var Forms = []string{"bif", "go", "js", "json", "onnx", "sql"}

// Form says how a model is written for another program.
type Form struct {
	As      string // one of Forms
	Dialect string // of sql; "" is sqlite
	Table   string // of sql: what the rows are called; "" is rows
	ID      string // of sql: a column that says which row an answer is of; "" is none
}

// Written is what WriteAs did.
type Written struct {
	Model   string   `json:"model"`
	File    string   `json:"file"`
	As      string   `json:"as"`
	Columns []string `json:"columns,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// WriteAs writes a model in another program's format.
func (h *Home) WriteAs(ctx context.Context, model, file string, e Form) (*Written, error) {
	if !slices.Contains(Forms, e.As) {
		return nil, remedy.Misusef("the format %q is not written; expected %s", e.As, strings.Join(Forms, ", "))
	}
	if e.As != "sql" && (e.Dialect != "" || e.Table != "" || e.ID != "") {
		return nil, remedy.Misusef("a dialect, a table and its id are for sql, not for %s", e.As)
	}
	if e.Dialect != "" && !slices.Contains(portable.Dialects, e.Dialect) {
		return nil, remedy.Misusef("unknown dialect %q; expected %s", e.Dialect, strings.Join(portable.Dialects, ", "))
	}
	p, err := h.Load(model)
	if err != nil {
		return nil, err
	}
	written := &Written{Model: model, File: file, As: e.As}
	var text []byte
	if e.As == "bif" {
		text, err = bif(p)
	} else {
		text, err = e.write(p, written)
	}
	if err != nil {
		return nil, err
	}
	return written, atomicfile.Write(ctx, file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// write compiles a model and prints it.
func (e *Form) write(p *Part, written *Written) ([]byte, error) {
	program, err := expert.Compile(p.Model)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written as %s: %w; %s", p.Name, e.As, err, portables())
	}
	for i := range program.Columns {
		written.Columns = append(written.Columns, program.Columns[i].Name)
	}
	written.Notes = program.Notes
	if err := withWords(program, p); err != nil {
		return nil, err
	}
	switch e.As {
	case "sql":
		dialect, table := e.Dialect, e.Table
		if dialect == "" {
			dialect = "sqlite"
		}
		if table == "" {
			table = "rows"
		}
		if e.ID != "" {
			return program.SQL(dialect, table, e.ID)
		}
		return program.SQL(dialect, table)
	case "go":
		return program.Go("model", "Predict")
	case "js":
		return program.JS("predict")
	case "onnx":
		return program.ONNX()
	}
	return program.JSON()
}

// withWords adds what people call the columns that a program looks at and what it
// answers: for programs as an object, for people as remarks.
func withWords(program *portable.Program, p *Part) error {
	used := say.Words{Row: p.Words.Row, Columns: map[string]say.Column{}}
	names := []string{program.Target.Name}
	for i := range program.Columns {
		names = append(names, program.Columns[i].Name)
	}
	for _, name := range names {
		c, ok := p.Words.Columns[name]
		if !ok {
			continue
		}
		used.Columns[name] = c
		text := fmt.Sprintf("%s is %s", name, cmp.Or(c.Label, name))
		if c.Unit != "" {
			text += ", in " + c.Unit
		}
		var values []string
		for _, v := range slices.Sorted(maps.Keys(c.Values)) {
			values = append(values, v+" is "+c.Values[v])
		}
		if len(values) > 0 {
			text += ": " + strings.Join(values, ", ")
		}
		program.Notes = append(slices.Clip(program.Notes), text)
	}
	if len(used.Columns) == 0 && used.Row == "" {
		return nil
	}
	var err error
	program.Words, err = json.Marshal(used)
	return err
}

// Foreign are the programs whose trees are read.
var Foreign = []string{"lightgbm", "sklearn-tree", "xgboost"}

// Foreigner says how a model that another program learnt is read.
type Foreigner struct {
	As      string   `json:"-"`       // one of Foreign
	Target  string   `json:"target"`  // what is predicted; "": class or target
	Classes []string `json:"classes"` // of classes that are numbers there: their names, in order; nil: these numbers
}

// ImportAs adds a model that another program learnt, read as rules.
func (h *Home) ImportAs(ctx context.Context, path, name string, f Foreigner) (*Learnt, error) {
	if !slices.Contains(Foreign, f.As) {
		return nil, remedy.Misusef("models of %q are not read; expected %s", f.As, strings.Join(Foreign, ", "))
	}
	names, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	l, err := h.importText(ctx, path, name, written{"rules", f.As}, learn.Part{Name: "names", Data: names})
	if err != nil {
		return nil, errors.New(strings.Replace(err.Error(), learn.ErrDamaged.Error()+": ", "", 1))
	}
	return l, nil
}

// portables says which models can be written.
func portables() string {
	return "models of bayes (without texts), committee, cover, gabil, gaussian, halving, learnpp, linear, majority, mlp, prior, q, rulenet, rules and tree can be, told rules included; any model is moved whole by a plain export"
}

// bif writes a belief network.
func bif(p *Part) ([]byte, error) {
	network, ok := learn.Ability[interface{ BIF() ([]byte, error) }](p.Model)
	if !ok {
		return nil, fmt.Errorf("%s is a model of %s, which is no belief network", p.Name, p.Learner())
	}
	return network.BIF()
}

// Package relation is knowledge about things that point at each other: logic
// programs as models, and what learns their clauses.
//
// A program of facts and clauses (package logic) is imported, answers goals with
// what its variables stand for and why, and prints as the clauses that it
// is. It has no rows: what it knows is what it says, and the world is closed.
//
// FOIL (Quinlan 1990) learns clauses for the classes of rows that point at others, in
// tables with keys or in the facts of a program: Learner, and Foil for tuples alone.
//
// Its neighbours are logic, which proves, and life, which keeps and asks.
package relation

import (
	"context"
	"errors"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Name is what programs are registered as.
const Name = "program"

// textPart is the text of a program.
const textPart = "program"

func init() {
	learn.Register(learn.Info{
		Name:    Name,
		Summary: "a logic program that answers goals with proofs",
		Source:  "Kowalski 1974; Mitchell 1997, §10.4",
		Keeps:   "the clauses",
		Decode: func(parts []learn.Part) (learn.Model, error) {
			p, err := Parse(learn.FindPart(parts, textPart))
			if err != nil {
				return nil, err
			}
			return p, nil
		},
	})
}

// Program is clauses that answer. It is immutable.
type Program struct {
	text    []byte
	program *logic.Program
	schema  *table.Schema
}

// Parse reads a program.
func Parse(text []byte) (*Program, error) {
	program, err := logic.Read("program", string(text))
	if err != nil {
		return nil, err
	}
	if len(program.Clauses) == 0 {
		return nil, errors.New("the program has no clauses; write facts such as parent(ann,bea)")
	}
	p := &Program{text: slices.Clone(text), program: program}
	var names []string
	for _, of := range program.Predicates() {
		names = append(names, of.String())
	}
	p.schema = &table.Schema{Attributes: []table.Attribute{{Name: "predicate", Values: names}}}
	return p, nil
}

// Learner returns "program".
func (p *Program) Learner() string { return Name }

// Schema has one column, the predicates by name.
func (p *Program) Schema() *table.Schema { return p.schema }

// Target is none: a program answers goals, not rows.
func (p *Program) Target() int { return learn.NoTarget }

// Size counts the clauses that are rules, and all of them.
func (p *Program) Size() learn.Size {
	rules := 0
	for _, c := range p.program.Clauses {
		if len(c.Body) > 0 {
			rules++
		}
	}
	return learn.Size{Rules: rules, Units: len(p.program.Clauses)}
}

// Predict refuses: a program has no rows.
func (p *Program) Predict(context.Context, *table.Table, *learn.Predictions) error {
	return errors.New("a program answers goals, such as parent(ann, X); ask it")
}

// Parts returns the text.
func (p *Program) Parts() ([]learn.Part, error) {
	return []learn.Part{{Name: textPart, Data: p.text}}, nil
}

// Program returns the clauses, which answer goals.
func (p *Program) Program() *logic.Program { return p.program }

package life

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// readTheory reads a domain theory about a table: rules, the clauses of a
// propositional logic program, or, by the name of a built-in set, the theory that
// goes with it. What is odd about it is noted.
func (f *Rules) readTheory(ctx context.Context, h *Home, schema *table.Schema, target int) (*rule.Base, store.Source, error) {
	if text, ok := datasets.Theory(f.File); ok && f.Text == nil {
		f.Text = text
	}
	if err := f.load(ctx, h.In, h.mostText()); err != nil {
		return nil, store.Source{}, err
	}
	base, err := parseTheory(f.File, f.Text, schema, target)
	if err != nil {
		return nil, store.Source{}, err
	}
	theory, err := rule.NewTheory(base, schema)
	if err != nil {
		return nil, store.Source{}, fmt.Errorf("%s: %w", f.File, err)
	}
	h.note(theory.News...)
	return base, f.source(), nil
}

// parseTheory reads rules, or clauses if there is an arrow of one.
func parseTheory(name string, text []byte, schema *table.Schema, target int) (*rule.Base, error) {
	if !isProgram(string(text)) {
		return rule.Parse(name, text)
	}
	program, err := logic.Read(name, string(text))
	if err != nil {
		return nil, err
	}
	of := ""
	if target >= 0 {
		of = schema.Attributes[target].Name
	}
	base, err := logic.Rules(program, schema, of)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return base, nil
}

// isProgram reports whether a text is clauses: :- stands in a line that is no
// comment.
func isProgram(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "%") {
			continue
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "IF ") || strings.HasPrefix(line, "RULES") {
			return false
		}
		if strings.Contains(line, ":-") {
			return true
		}
	}
	return false
}

// reasoner is a model that keeps the theory that it was learnt with; nil is none.
type reasoner interface{ Theory() *rule.Base }

// corrected is a model that knows which of its rules were rules of its theory.
type corrected interface{ Corrected() []rule.Change }

// putTogether shows rules of a theory beside what a model made of them, where a
// comparison has both.
func putTogether(d *rule.Diff, pairs []rule.Change) {
	take := func(from *[]rule.Statement, id string) bool {
		for i, s := range *from {
			if s.ID() == id {
				*from = append((*from)[:i:i], (*from)[i+1:]...)
				return true
			}
		}
		return false
	}
	has := func(of []rule.Statement, id string) bool {
		for _, s := range of {
			if s.ID() == id {
				return true
			}
		}
		return false
	}
	for _, c := range pairs {
		if has(d.Dropped, c.Before.ID()) && has(d.Added, c.After.ID()) {
			take(&d.Dropped, c.Before.ID())
			take(&d.Added, c.After.ID())
			d.Moved = append(d.Moved, c)
		}
	}
}

package life

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
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

// parseTheory reads rules or clauses.
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

// isRules reports whether a text is rules: a line begins as one, or as a base.
func isRules(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "IF ") || strings.HasPrefix(line, "RULES") {
			return true
		}
	}
	return false
}

// fact is a line that is a clause without conditions.
var fact = regexp.MustCompile(`^[a-z]\w*(\(.*\))?\.$`)

// isProgram reports whether a text is clauses: a line that is no comment is a fact
// or has :- in it.
func isProgram(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "%") {
			continue
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "IF ") || strings.HasPrefix(line, "RULES") {
			return false
		}
		if strings.Contains(line, ":-") || fact.MatchString(line) {
			return true
		}
	}
	return false
}

// withModels returns settings whose names of models are followed by the models
// themselves, each pinned to its version: learners look into no store.
func (h *Home) withModels(learner string, settings map[string]string) (map[string]string, error) {
	info, err := learn.Lookup(learner)
	if err != nil || info.New == nil {
		return settings, nil // which is for others to say
	}
	for _, key := range modelKeys(info, settings, "") {
		names := settings[key]
		if names == "" || strings.Contains(names, "\n") {
			continue
		}
		var pinned, models []string
		for _, name := range strings.Split(names, ",") {
			name = strings.TrimSpace(name)
			m, v, err := h.Store.Load(name)
			if err == nil {
				name = fmt.Sprintf("%s@%d", v.Model, v.Number)
			} else if other, _, fileErr := store.ReadFile(name); fileErr == nil {
				m, err = other, nil
			}
			if err != nil {
				return nil, fmt.Errorf("setting %s: %w", key, err)
			}
			data, err := learn.Encode(plain(m))
			if err != nil {
				return nil, err
			}
			pinned, models = append(pinned, name), append(models, base64.StdEncoding.EncodeToString(data))
		}
		settings = maps.Clone(settings)
		settings[key] = strings.Join(pinned, ",") + "\n" + strings.Join(models, "\n")
	}
	return settings, nil
}

// modelKeys returns the settings of a learner that name models, and those of the
// learners that it is told to take for a part of its work (values=ebnn
// values.theory=M).
func modelKeys(info learn.Info, settings map[string]string, prefix string) []string {
	var keys []string
	for _, o := range learn.Options(info.New()) {
		if o.Model {
			keys = append(keys, prefix+o.Key)
		}
		part, nested := strings.CutSuffix(o.Key, ".KEY")
		if !nested {
			continue
		}
		if of, err := learn.Lookup(settings[prefix+part]); err == nil && of.New != nil {
			keys = append(keys, modelKeys(of, settings, prefix+part+".")...)
		}
	}
	return keys
}

// withoutModels returns settings with names of models alone, to be recorded.
func withoutModels(info learn.Info, settings map[string]string) map[string]string {
	for _, key := range modelKeys(info, settings, "") {
		if name, _, found := strings.Cut(settings[key], "\n"); found {
			settings = maps.Clone(settings)
			settings[key] = name
		}
	}
	return settings
}

// earlier is a model that keeps the models which explained its rows to it, or the
// file of its graph, as the setting that they came by.
type earlier interface{ Earlier() (key, value string) }

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

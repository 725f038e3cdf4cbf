package life

import (
	"context"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// What may be typed next follows from what arguments and settings are called.
// Somebody is typing: what is needed is read, and nothing is said of what cannot
// be. A word may be followed by a tab and what it means.

// columnNames are what takes a column, listNames what takes several with commas.
var (
	columnNames = []string{"target", "nominal", "numeric", "ignore", "text", "weight", "sequence", "group", "time", "id", "by", "fixed", "columns", "regions", "action", "reward", "episode"}
	listNames   = []string{"nominal", "numeric", "ignore", "text", "fixed", "columns", "regions", "learners"}
	dataNames   = []string{"DATA", "on", "test", "hidden"}
	modelNames  = []string{"MODEL", "A", "B", "BEFORE", "AFTER"}
)

// Completed reports whether there are words for what is called so.
func Completed(name string) bool {
	return slices.Contains(slices.Concat(columnNames, dataNames, modelNames, []string{"RULE", "rule", "positive", "change", "should", "learner", "learners", "set", "try"}), name)
}

// Complete returns the words for what is called so, given what stands before it
// in the line, and the beginning of it. Files says that files may stand there too.
func (h *Home) Complete(ctx context.Context, name string, args []string, typed, learner string) (words []string, files bool) {
	switch {
	case slices.Contains(modelNames, name):
		list, _ := h.List() // those that can be read
		for _, m := range list.Models {
			words = append(words, m.Model)
		}
	case slices.Contains(dataNames, name):
		for _, s := range datasets.All() {
			words = append(words, s.Name+"\t"+s.Title)
		}
		return words, true
	case slices.Contains(columnNames, name):
		words = h.typedColumns(ctx, args)
	case (name == "positive" || name == "should") && len(args) > 0:
		_, words = h.modelColumns(args[0])
	case name == "change" && len(args) > 0:
		_, words = h.modelColumns(args[0])
		for i := range words {
			words[i] = "to=" + words[i]
		}
	case (name == "RULE" || name == "rule") && len(args) > 0:
		words = h.ruleWords(args[0])
	case name == "learner" || name == "learners":
		for _, info := range learn.All() {
			words = append(words, info.Name+"\t"+info.Summary)
		}
	case name == "set" || name == "try":
		words = settingWords(learner)
	}
	if slices.Contains(listNames, name) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		for i := range words {
			words[i] = before + words[i]
		}
	}
	return words, false
}

// typedColumns returns the columns of the data in a line, or else of the model.
func (h *Home) typedColumns(ctx context.Context, args []string) []string {
	for _, arg := range slices.Backward(args) {
		if d, err := h.Find(arg, Reading{}); err == nil && arg != "-" && !d.isLinked() {
			if stream, err := d.source(ctx, d.options()); err == nil {
				defer stream.Close()
				return append(stream.Schema().Names(), stream.Report().IDs...)
			}
		}
	}
	if len(args) == 0 {
		return nil
	}
	names, _ := h.modelColumns(args[0])
	return names
}

// modelColumns returns the columns of a kept model, and its classes.
func (h *Home) modelColumns(ref string) (columns, classes []string) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, nil
	}
	if t := p.Target(); t != learn.NoTarget && p.Schema().Attributes[t].Kind == table.Nominal {
		classes = slices.Clone(p.Schema().Attributes[t].Values)
	}
	return p.Schema().Names(), classes
}

// ruleWords returns the ids of a kept model's rules, each with what it says.
func (h *Home) ruleWords(ref string) (words []string) {
	p, err := h.Load(ref)
	if err != nil {
		return nil
	}
	entries, _ := namedRules(p.Model)
	for i := range entries {
		words = append(words, entries[i].ID+"\t"+briefly(entries[i].Text))
	}
	return words
}

// settingWords returns the settings of a learner as they are typed, key=, or
// key=word where there are words to choose from.
func settingWords(learner string) (words []string) {
	if learner == "" {
		learner = DefaultForClasses
	}
	info, err := learn.Lookup(learner)
	if err != nil || info.New == nil {
		return nil
	}
	for _, o := range learn.Options(info.New()) {
		if len(o.Choices) == 0 {
			words = append(words, o.Key+"=\t"+o.Doc)
		}
		for _, c := range o.Choices {
			words = append(words, o.Key+"="+c+"\t"+o.Doc)
		}
	}
	return words
}

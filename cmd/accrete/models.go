package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) modelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "models",
		Short:   "List the models in the store",
		Example: `  accrete models`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			models, err := s.Models()
			if err != nil && len(models) == 0 {
				return err
			}
			return errors.Join(a.printModels(models), err) // a damaged model hides no other
		},
	}
}

// modelEntry is a model in the list, as programs read it.
type modelEntry struct {
	Model    string  `json:"model"`
	Versions int     `json:"versions"`
	Learner  string  `json:"learner"`
	Target   *string `json:"target"`
	Rows     float64 `json:"rows"`
	At       string  `json:"at"`
}

func (a *app) printModels(models []store.Summary) error {
	if a.json {
		entries := []modelEntry{}
		for _, m := range models {
			e := modelEntry{Model: m.Name, Versions: m.Versions, Learner: m.Latest.Learner, Rows: m.Latest.Rows, At: stamp(m.Latest.At)}
			if m.Latest.Target != "" {
				e.Target = &m.Latest.Target
			}
			entries = append(entries, e)
		}
		return a.printJSON(struct {
			Models []modelEntry `json:"models"`
		}{entries})
	}
	if len(models) == 0 {
		fmt.Fprintf(a.out, "no models in %s yet; start with: accrete learn votes\n", a.store)
		return nil
	}
	var rows [][]string
	for _, m := range models {
		rows = append(rows, []string{m.Name, strconv.Itoa(m.Versions), m.Latest.Learner, m.Latest.Target, count(m.Latest.Rows), stamp(m.Latest.At)})
	}
	printTable(a.out, []string{"model", "versions", "learner", "target", "rows", "last change"}, rows)
	return nil
}

func (a *app) openStore() (*store.Store, error) {
	return store.Open(a.store, store.Options{Warn: func(message string) { a.notes([]string{message}) }})
}

// completeModels completes the first argument with the names of models.
func (a *app) completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	s, err := a.openStore()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	models, err := s.Models()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// headOnly refuses MODEL@N where only the newest version can be changed.
func headOnly(ref string) (string, error) {
	if name, _, found := strings.Cut(ref, "@"); found {
		return "", usagef("only the newest version can be changed; to go on from %s: accrete restore %s, then say it again of %s", ref, ref, name)
	}
	return ref, nil
}

// cannot says that a learner lacks an ability, and which ones have it.
func cannot(learner, what string, can func(learn.Can) bool) error {
	var able []string
	for _, info := range learn.All() {
		if can(info.Can) {
			able = append(able, info.Name)
		}
	}
	return fmt.Errorf("a %s model cannot %s; learners whose models can: %s", learner, what, strings.Join(able, ", "))
}

// warnLearntBefore warns when a model knows the same bytes already, or was made
// to forget them.
func (a *app) warnLearntBefore(s *store.Store, name, hash, arg string) {
	versions, _ := s.Log(name) // a model that does not exist yet has learnt nothing
	note := ""
	for _, v := range versions {
		if hash == "" || v.Source.Hash != hash {
			continue
		}
		switch v.Kind {
		case store.Forget, store.Erase:
			note = fmt.Sprintf("%s has the same content as %s, which version %d was made to forget", arg, v.Source.Name, v.Number)
		default:
			note = fmt.Sprintf("%s has the same content as %s, which version %d learnt", arg, v.Source.Name, v.Number)
		}
	}
	if note != "" {
		a.notes([]string{note})
	}
}

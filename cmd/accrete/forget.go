package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
)

func (a *app) forgetCommand() *cobra.Command {
	var erase bool
	c := &cobra.Command{
		Use:   "forget MODEL SOURCE [--erase]",
		Short: "Take a source or an expert back out",
		Long: `Forget makes a new version without what SOURCE brought: a table that was
learnt, or rules that were told. SOURCE is a base name, a path, a version number
or the beginning of a hash (6 digits). Older versions stay; with --erase SOURCE
is taken out of them and of the log too, and only its name, its hash and the
date are left.`,
		Example: `  accrete forget people march.csv
  accrete forget people 3
  accrete forget people march.csv --erase`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			s, err := a.openStore()
			if err != nil {
				return err
			}
			name, err := headOnly(args[0])
			if err != nil {
				return err
			}
			return s.Write(ctx, name, func(tx *store.Tx) error {
				return a.forget(ctx, s, tx, name, args[1], erase)
			})
		},
	}
	c.Flags().BoolVar(&erase, "erase", false, "also take it out of every older version and the log")
	return c
}

func (a *app) forget(ctx context.Context, s *store.Store, tx *store.Tx, name, source string, erase bool) error {
	start := time.Now()
	m, before, err := tx.Load()
	if err != nil {
		return err
	}
	f, ok := learn.Ability[learn.Forgetter](m)
	if !ok {
		return cannot(before.Learner, "forget", func(c learn.Can) bool { return c.Forget })
	}
	versions, err := s.Log(name)
	if err != nil {
		return err
	}
	records := live(m, versions)
	if erase {
		records = everKnown(versions)
	}
	found, err := findSource(versions, records, source)
	if err != nil {
		return err
	}
	var ids []string
	rows := 0.0
	known := f.Sources()
	for _, v := range found {
		if !slices.Contains(ids, v.Source.ID) && slices.ContainsFunc(known, func(s learn.Source) bool { return s.ID == v.Source.ID }) {
			ids = append(ids, v.Source.ID)
		}
		rows += v.Source.Rows
	}
	if rows, ok := plain(m).(learn.Forgetter); ok && !slices.ContainsFunc(rows.Sources(), func(s learn.Source) bool { return !slices.Contains(ids, s.ID) }) {
		return fmt.Errorf("%s has learnt nothing but %s; to forget all: accrete delete %s", name, filepath.Base(found[0].Source.Name), name)
	}
	left := m
	if len(ids) > 0 {
		bar, done := a.progress("forgetting")
		left, err = f.Forget(learn.WithProgress(ctx, bar), ids...)
		done()
		if err != nil {
			return err
		}
	}
	gone := found[0].Source
	gone.Rows = rows
	record := store.Version{Kind: store.Forget, Source: gone, At: start, Seed: before.Seed, Settings: before.Settings}
	var v store.Version
	if erase {
		v, err = a.erase(tx, left, record, found)
	} else {
		v, err = tx.Save(left, record)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(newLearnt(left, v, time.Since(start).Seconds()))
	}
	done := "forgot"
	if erase {
		done = "erased"
	}
	what, contract := plural(int(rows), "row"), contractLine(before.Learner, "what is left equals never having learnt it")
	if found[0].Kind == store.Tell { // rules were added to what rows say, and go without a trace for any learner
		what, contract = "rules", "contract: exact: what is left equals never having been told"
	}
	fmt.Fprintf(a.out, "model %s, version %d: %s %s (%s), %s rows left%s\n", v.Model, v.Number, done, filepath.Base(gone.Name), what, count(v.Rows), sizeNote(left.Size()))
	fmt.Fprintln(a.out, contract)
	if err := a.printRemarks(left); err != nil {
		return err
	}
	if erase {
		a.noteElsewhere(s, name, found)
	}
	fmt.Fprintf(a.out, "\nnext: accrete diff %s@%d %s@%d    accrete log %s\n", v.Model, before.Number, v.Model, v.Number, v.Model)
	return nil
}

// contractLine says what a learner promises of a model that was changed.
func contractLine(learner, exactly string) string {
	info, err := learn.Lookup(learner)
	if err != nil {
		return ""
	}
	switch info.Contract {
	case learn.Exact:
		return "contract: exact: " + exactly
	case learn.Bounded:
		return "contract: bounded: close to that, not equal; accrete verify measures it"
	}
	return "contract: none: " + learner + " promises nothing; accrete verify measures it"
}

// everKnown returns the records of everything that some version learnt or was
// told.
func everKnown(versions []store.Version) []store.Version {
	var all []store.Version
	seen := map[string]bool{}
	for i := range versions {
		for _, v := range chain(versions[:i+1]) {
			if key := fmt.Sprintf("%s %d %s", v.Model, v.Number, v.Source.ID); v.Source.ID != "" && !seen[key] {
				seen[key] = true
				all = append(all, v)
			}
		}
	}
	return all
}

// erase takes sources out of every version.
func (a *app) erase(tx *store.Tx, left learn.Model, record store.Version, found []store.Version) (store.Version, error) {
	var ids []string
	for _, v := range found {
		ids = append(ids, v.Source.ID)
	}
	record.Source.Name = filepath.Base(record.Source.Name)
	return tx.Erase(left, record, ids...)
}

// noteElsewhere says which other models still hold an erased source.
func (a *app) noteElsewhere(s *store.Store, name string, found []store.Version) {
	models, _ := s.Models() // damaged ones are said by accrete models
	for _, m := range models {
		if m.Name == name {
			continue
		}
		versions, _ := s.Log(m.Name)
		for _, v := range everKnown(versions) {
			if v.Source.ID == found[0].Source.ID || v.Source.Hash != "" && v.Source.Hash == found[0].Source.Hash {
				a.notes([]string{fmt.Sprintf("the model %s has learnt from %s too; to erase it there: accrete forget %s %s --erase", m.Name, v.Source.Name, m.Name, short(v.Source.Hash))})
				break
			}
		}
	}
}

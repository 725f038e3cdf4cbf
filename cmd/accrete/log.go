package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/store"
)

func (a *app) logCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "log MODEL",
		Short:             "Show what each version of a model learnt, from where and when",
		Example:           `  accrete log votes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeModels,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			versions, err := s.Log(args[0])
			if len(versions) == 0 {
				return err
			}
			return errors.Join(a.printLog(versions), err) // damage hides no version that is left
		},
	}
}

func (a *app) printLog(versions []store.Version) error {
	if a.json {
		return a.printJSON(struct {
			Model    string          `json:"model"`
			Versions []store.Version `json:"versions"`
		}{versions[0].Model, versions})
	}
	var rows [][]string
	for _, v := range versions {
		rows = append(rows, []string{
			strconv.Itoa(v.Number), v.Kind, v.Source.Name, short(v.Source.Hash),
			count(v.Source.Rows), count(v.Rows), strconv.Itoa(v.Rules), stamp(v.At),
		})
	}
	printTable(a.out, []string{"version", "kind", "source", "hash", "new rows", "rows", "rules", "when"}, rows)
	return nil
}

// stamp writes a time for people and programs alike.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// short is the beginning of a hash, enough to name it.
func short(hash string) string { return hash[:min(len(hash), 12)] }

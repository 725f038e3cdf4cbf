package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

func (a *app) mergeCommand() *cobra.Command {
	var (
		name  string
		flags sourceFlags
	)
	c := &cobra.Command{
		Use:   "merge A B --name MODEL",
		Short: "Make one model of two that learnt apart",
		Long: `Merge joins two models of one learner, settings and target into the model of
both models' rows, and lists where their rules disagree: there the rows of both
together decide. Rules that experts told one of them are weighed against the
rows of both, for which the rows must still be there (see verify).`,
		Example: `  accrete merge north south --name country
  accrete merge north@3 south --name country --json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeModels,
		RunE: func(c *cobra.Command, args []string) error {
			if name == "" {
				return usagef("merge needs a name for the new model: --name MODEL")
			}
			return a.merge(c.Context(), args[0], args[1], name, &flags)
		},
	}
	c.Flags().StringVar(&name, "name", "", "name of the new model")
	c.Flags().StringArrayVar(&flags.at, "source", nil, sourceUsage)
	return c
}

// part is a model that goes into a merge, with what is recorded of it.
type part struct {
	learn.Model
	name     string
	version  store.Version
	versions []store.Version
}

func (a *app) loadPart(s *store.Store, ref string) (*part, error) {
	m, v, err := s.Load(ref)
	if err != nil {
		return nil, err
	}
	versions, err := s.Log(ref)
	return &part{m, v.Model, v, versions}, err
}

func (a *app) merge(ctx context.Context, first, second, name string, flags *sourceFlags) error {
	start := time.Now()
	s, err := a.openStore()
	if err != nil {
		return err
	}
	x, err := a.loadPart(s, first)
	if err != nil {
		return err
	}
	y, err := a.loadPart(s, second)
	if err != nil {
		return err
	}
	if _, ok := learn.Ability[learn.Merger](x.Model); !ok {
		return cannot(x.version.Learner, "be merged", func(c learn.Can) bool { return c.Merge })
	}
	conflicts, clashes, err := mergeConflicts(ctx, x, y)
	if err != nil {
		return err
	}
	if err := a.shareRules(ctx, s, x, y, flags); err != nil {
		return err
	}
	bar, done := a.progress("merging")
	m, err := x.Model.(learn.Merger).Merge(learn.WithProgress(ctx, bar), y.Model)
	done()
	if err != nil {
		return err
	}
	v, err := s.Save(ctx, name, m, store.Version{
		Kind: store.Merge, Source: store.Source{Name: first + " + " + second, Rows: y.version.Rows + x.version.Rows}, At: start,
		Seed: x.version.Seed, Settings: x.version.Settings,
		History: append(live(x.Model, x.versions), live(y.Model, y.versions)...),
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			learnt
			Conflicts []conflictEntry `json:"conflicts"`
		}{newLearnt(m, v, time.Since(start).Seconds()), append(conflictEntries(conflicts), clashEntries(clashes)...)})
	}
	fmt.Fprintf(a.out, "model %s, version %d: %s of %s and %s, %s rows%s\n", v.Model, v.Number, v.Learner, first, second, count(v.Rows), sizeNote(m.Size()))
	fmt.Fprintln(a.out, contractLine(v.Learner, "equal to one model of all rows"))
	a.printConflicts(conflicts, first+" says", second+" says", "the rows of both decide")
	a.printClashes(clashes)
	fmt.Fprintf(a.out, "\nnext: accrete rules %s    accrete verify %s\n", v.Model, v.Model)
	return nil
}

// mergeConflicts lists where two models, or their experts, disagree: rules, and
// units of a mixture.
func mergeConflicts(ctx context.Context, x, y *part) ([]knowledge.Conflict, []knowledge.Clash, error) {
	schema, err := table.Union(x.Schema(), y.Schema())
	if err != nil {
		return nil, nil, err
	}
	xLearnt, xTold, err := knowledge.Of(x.Model)
	if err != nil {
		return nil, nil, err
	}
	yLearnt, yTold, err := knowledge.Of(y.Model)
	if err != nil {
		return nil, nil, err
	}
	var clashes []knowledge.Clash
	if xLearnt != nil && yLearnt != nil {
		clashes = knowledge.Clashes(xLearnt.Units, yLearnt.Units)
	}
	conflicts := append(knowledge.Conflicts(xTold, yTold, schema), knowledge.Conflicts(xLearnt, yLearnt, schema)...)
	var rows []learn.Learnt
	for _, p := range []*part{x, y} {
		k, ok := learn.Ability[learn.Keeper](p.Model)
		if !ok {
			return conflicts, clashes, nil
		}
		kept, err := k.Kept(ctx)
		if err != nil {
			return nil, nil, err
		}
		if kept == nil {
			return conflicts, clashes, nil
		}
		for _, l := range kept {
			if l.Table, _, err = table.Conform(l.Table, schema, false); err != nil {
				return nil, nil, err
			}
			rows = append(rows, l)
		}
	}
	if x.Target() != learn.NoTarget {
		knowledge.Decide(conflicts, rows, schema, schema.Index(x.Schema().Attributes[x.Target()].Name))
	}
	return conflicts, clashes, nil
}

// shareRules tells each model the rules that only the other was told.
func (a *app) shareRules(ctx context.Context, s *store.Store, x, y *part, flags *sourceFlags) error {
	union, err := table.Union(x.Schema(), y.Schema())
	if err != nil {
		return err
	}
	tell := func(to, from *part) error {
		told, ok := from.Model.(*expert.Told)
		if !ok {
			return nil
		}
		var known []learn.Source
		if t, ok := to.Model.(*expert.Told); ok {
			known, _ = t.Experts()
		}
		experts, rules := told.Experts()
		for i, e := range experts {
			if hasSource(known, e.ID) {
				continue
			}
			rows, err := a.learntRows(ctx, s, to.Model, to.name, to.versions, flags)
			if err != nil {
				return fmt.Errorf("what the rows of %s say of %s's rules is not known: %w", to.name, e.Name, err)
			}
			m, err := expert.TellWithin(ctx, to.Model, rules[i], e, rows, union)
			if err != nil {
				return err
			}
			to.Model = m
		}
		return nil
	}
	if err := tell(x, y); err != nil {
		return err
	}
	return tell(y, x)
}

func hasSource(sources []learn.Source, id string) bool {
	for _, s := range sources {
		if s.ID == id {
			return true
		}
	}
	return false
}

// conflictEntry is a conflict as programs read it.
type conflictEntry struct {
	A      string             `json:"a"`
	B      string             `json:"b"`
	Region string             `json:"region"`
	Rows   map[string]float64 `json:"rows,omitempty"` // in the region, by class
}

func conflictEntries(conflicts []knowledge.Conflict) []conflictEntry {
	entries := make([]conflictEntry, len(conflicts))
	for i, c := range conflicts {
		entries[i] = conflictEntry{A: c.A.String(), B: c.B.String(), Region: regionText(c.Region), Rows: c.Rows}
	}
	return entries
}

// regionText writes a conjunction of tests.
func regionText(tests []rule.Test) string {
	if len(tests) == 0 {
		return "every row"
	}
	text := tests[0].String()
	for _, t := range tests[1:] {
		text += " AND " + t.String()
	}
	return text
}

// rowsText lists the weights of classes, the heaviest first.
func rowsText(rows map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return "none"
	}
	for i, name := range names {
		names[i] = name + " " + count(rows[name])
	}
	return strings.Join(names, ", ")
}

// mostConflicts is how many are printed for people.
const mostConflicts = 5

func (a *app) printConflicts(conflicts []knowledge.Conflict, first, second, decides string) {
	if len(conflicts) == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%s; %s:\n", plural(len(conflicts), "conflict"), decides)
	for _, c := range conflicts[:min(len(conflicts), mostConflicts)] {
		one, other := c.A, c.B
		roundRule(&one, true)
		roundRule(&other, true)
		fmt.Fprintf(a.out, "  where %s\n    %s  %s\n    %s  %s\n", regionText(c.Region), first, one.String(), second, other.String())
		if c.Rows != nil {
			fmt.Fprintf(a.out, "    the rows there  %s\n", rowsText(c.Rows))
		}
	}
	if more := len(conflicts) - mostConflicts; more > 0 {
		fmt.Fprintf(a.out, "  and %d more: --json lists them\n", more)
	}
}

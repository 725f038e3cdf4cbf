package kept

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
)

// SourcesOf lists the sources of blocks, in their order.
func SourcesOf[B any](blocks []B, source func(B) learn.Source) []learn.Source {
	sources := make([]learn.Source, len(blocks))
	for i, b := range blocks {
		sources[i] = source(b)
	}
	return sources
}

// Without returns what is left of blocks, each of one source, when some
// sources are forgotten. It refuses sources that are not there.
func Without[B any](blocks []B, source func(B) learn.Source, ids ...string) ([]B, error) {
	known := make([]string, len(blocks))
	for i, b := range blocks {
		known[i] = source(b).ID
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("unknown source %q%s", id, spell.Hint(id, known))
		}
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b B) bool { return slices.Contains(ids, source(b).ID) }), nil
}

// With returns blocks, each of one source, together with more. Two of one
// source are joined: what a source brought twice counts twice.
func With[B any](blocks []B, source func(B) learn.Source, join func(a, b B) (B, error), more ...B) ([]B, error) {
	all := slices.Clone(blocks)
	place := make(map[string]int, len(all)+len(more))
	for i, b := range all {
		place[source(b).ID] = i
	}
	for _, b := range more {
		i, known := place[source(b).ID]
		if !known {
			place[source(b).ID] = len(all)
			all = append(all, b)
			continue
		}
		joined, err := join(all[i], b)
		if err != nil {
			return nil, err
		}
		all[i] = joined
	}
	return all, nil
}

package datasets

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

func init() {
	table.RegisterScheme(table.Scheme{Name: "builtin", Knows: Known, Open: openSource, Read: Read})
}

// Known reports whether a name is that of a set, its parameters right or not.
func Known(name string) bool {
	_, err := Lookup(name)
	return !errors.Is(err, ErrUnknown)
}

// Read reads a set as a file would be read with these options, next to the
// set's own hints. The name may begin with builtin:.
func Read(ctx context.Context, name string, o table.Options) (*table.Table, *table.Report, error) {
	name = strings.TrimPrefix(name, "builtin:")
	r, set, err := Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if o.Name == "" {
		o.Name = name
	}
	o.Nominal, o.Ignore = slices.Concat(o.Nominal, set.Nominal), slices.Concat(o.Ignore, set.Ignore)
	for _, column := range set.Text {
		if !slices.Contains(o.Nominal, column) && !slices.Contains(o.Ignore, column) {
			o.Text = append(slices.Clip(o.Text), column)
		}
	}
	t, report, err := table.Read(ctx, r, o)
	if err != nil || o.Schema != nil {
		return t, report, err
	}
	t, err = set.Declare(t)
	return t, report, err
}

func openSource(ctx context.Context, name string, o table.Options) (table.Source, error) {
	t, report, err := Read(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return table.FromTable(t, report), nil
}

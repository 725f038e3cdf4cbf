// Package datasets holds small public data sets, and the generators of
// artificial data that the literature on learning uses.
//
// A set is named as in "votes" or "iris". A generator is a set with
// parameters: "led" gives its default rows, "led:rows=1000,noise=0.1,seed=3"
// gives others. The same name always gives the same rows.
//
// Collected sets are embedded as compressed CSV, each with its source and the
// terms that were stated where the copy was found. Generators write columns
// directly, so that a million rows cost no parsing.
//
// It stands on package table alone; life and reproduce look sets up by name.
package datasets

import (
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// Set is what is known of a data set besides its rows.
type Set struct {
	Name   string `json:"name"`   // as in "votes"; for a generator without its parameters
	Title  string `json:"title"`  // one line: what the rows are
	Target string `json:"target"` // the column that is usually predicted
	Source string `json:"source"` // who published it, and by what way the copy came here
	Terms  string `json:"terms"`  // as stated where the copy was found

	Rows    int `json:"rows"`
	Columns int `json:"columns"` // columns that are read: the target included, ignored ones not

	Aliases []string `json:"aliases,omitempty"` // other names for it
	Test    string   `json:"test,omitempty"`    // the set that belongs to this one as its test rows, if any

	// Hints for reading the rows as a file: columns whose numbers are names,
	// columns of which the words are counted, and columns that identify rows
	// instead of describing them.
	Nominal []string `json:"nominal,omitempty"`
	Text    []string `json:"text,omitempty"`
	Ignore  []string `json:"ignore,omitempty"`
	// Values declares the values of nominal columns, in order, where the
	// rows alone do not show them all.
	Values map[string][]string `json:"values,omitempty"`

	// Parameters are what a generator's name can carry after a colon. A
	// collected set has none.
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is a number or list that shapes a generator's rows.
type Parameter struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// ErrUnknown is wrapped by errors about names that no data set has. Other
// errors of Lookup, Load and Open speak of a generator's parameters.
var ErrUnknown = errors.New("unknown data set")

//go:embed data/*.csv.gz theories/*.pl
var files embed.FS

// Theory returns the domain theory that goes with a set: what people held to be
// true of its rows before anybody learnt from them, as clauses.
func Theory(name string) ([]byte, bool) {
	text, err := files.ReadFile("theories/" + name + ".pl")
	return text, err == nil
}

// All returns every set, sorted by name: collected ones first, then
// generators with their default parameters.
func All() []Set {
	sets := make([]Set, 0, len(collected)+len(generators))
	for i := range collected {
		sets = append(sets, collected[i].clone())
	}
	for i := range generators {
		g := &generators[i]
		set, _, err := g.configure("")
		if err != nil { // a generator's defaults are valid; tests see to it
			set = g.set
		}
		sets = append(sets, set.clone())
	}
	return sets
}

// Lookup returns the set with this name or alias. A generator's name may
// carry parameters, which are checked; Rows and the like then say what the
// parameters give.
func Lookup(name string) (Set, error) {
	set, _, err := find(name)
	return set, err
}

// Load returns the rows of a set.
func Load(ctx context.Context, name string) (*table.Table, Set, error) {
	set, generate, err := find(name)
	if err != nil {
		return nil, Set{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, Set{}, err
	}
	if generate != nil {
		t, err := generate(ctx)
		if err != nil {
			return nil, Set{}, fmt.Errorf("data set %q: %w", name, err)
		}
		return t, set, nil
	}
	r, err := set.open()
	if err != nil {
		return nil, Set{}, err
	}
	defer r.Close()
	t, _, err := table.Read(ctx, r, table.Options{Name: set.Name, Target: set.Target, Nominal: set.Nominal, Text: set.Text, Ignore: set.Ignore})
	if err != nil {
		return nil, Set{}, fmt.Errorf("data set %q: %w", name, err)
	}
	if t, err = set.Declare(t); err != nil {
		return nil, Set{}, err
	}
	return t, set, nil
}

// Open returns the rows of a set as a CSV file with a header, missing cells
// empty, to be read as any other file is. The set's hints say how: its
// Nominal, Text and Ignore columns, and after reading its Declare.
func Open(name string) (io.ReadCloser, Set, error) {
	set, generate, err := find(name)
	if err != nil {
		return nil, Set{}, err
	}
	if generate == nil {
		r, err := set.open()
		return r, set, err
	}
	t, err := generate(context.Background())
	if err != nil {
		return nil, Set{}, fmt.Errorf("data set %q: %w", name, err)
	}
	return newWritten(t), set, nil
}

// Declare returns the table with the dictionaries that the set declares:
// declared values first and in their order, others after them. Cells are
// shared where codes stay the same.
func (s Set) Declare(t *table.Table) (*table.Table, error) {
	schema := &table.Schema{Attributes: slices.Clone(t.Schema.Attributes)}
	columns := slices.Clone(t.Columns)
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		declared := s.Values[a.Name]
		if declared == nil || a.Kind != table.Nominal {
			continue
		}
		values := slices.Clone(declared)
		recode := make([]int32, len(a.Values))
		for code, v := range a.Values {
			at := slices.Index(values, v)
			if at < 0 {
				at = len(values)
				values = append(values, v)
			}
			recode[code] = int32(at)
		}
		codes := make([]int32, len(columns[i].Codes))
		for r, code := range columns[i].Codes {
			if code >= 0 {
				code = recode[code]
			}
			codes[r] = code
		}
		a.Values = values
		columns[i].Codes = codes
	}
	return table.New(schema, columns, t.Weights)
}

// find returns a set and, if it is a generator, the function that makes its
// rows.
func find(name string) (Set, generate, error) {
	base, parameters, given := strings.Cut(name, ":")
	if i := slices.IndexFunc(collected, func(s Set) bool { return s.Name == base || slices.Contains(s.Aliases, base) }); i >= 0 {
		if given {
			return Set{}, nil, fmt.Errorf("data set %q takes no parameters: leave out %q", base, ":"+parameters)
		}
		return collected[i].clone(), nil, nil
	}
	if i := slices.IndexFunc(generators, func(g generator) bool { return g.set.Name == base }); i >= 0 {
		set, make, err := generators[i].configure(parameters)
		if err != nil {
			return Set{}, nil, fmt.Errorf("data set %q: %w", name, err)
		}
		return set, make, nil
	}
	var known []string
	for _, s := range collected {
		known = append(append(known, s.Name), s.Aliases...)
	}
	for _, g := range generators {
		known = append(known, g.set.Name)
	}
	return Set{}, nil, fmt.Errorf("%w %q%s", ErrUnknown, name, spell.Hint(base, known))
}

func (s *Set) open() (io.ReadCloser, error) {
	f, err := files.Open("data/" + s.Name + ".csv.gz")
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", s.Name, err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", s.Name, err)
	}
	return z, nil
}

// clone returns a copy that callers may change.
func (s Set) clone() Set {
	s.Aliases = slices.Clone(s.Aliases)
	s.Nominal = slices.Clone(s.Nominal)
	s.Text = slices.Clone(s.Text)
	s.Ignore = slices.Clone(s.Ignore)
	s.Parameters = slices.Clone(s.Parameters)
	s.Values = maps.Clone(s.Values)
	for column, values := range s.Values {
		s.Values[column] = slices.Clone(values)
	}
	return s
}

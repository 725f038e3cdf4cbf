package datasets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// A generator is a set whose rows are made on demand.
type generator struct {
	set  Set
	plan func(a *arguments) plan
}

// A plan is what a generator's parameters come to.
type plan struct {
	attributes []table.Attribute
	rows       int
	fill       func(columns []table.Column) // columns have room for the rows
}

// generate makes the rows that were planned.
type generate func(ctx context.Context) (*table.Table, error)

// maxRows bounds what a parameter can ask for: more belongs in a file.
const maxRows = 10_000_000

// generators are sorted by name.
var generators = []generator{boolean, circles, led, mixed, parity, randomBoolean, rectangle, road}

// configure reads parameters such as "rows=1000,noise=0.1".
func (g *generator) configure(parameters string) (Set, generate, error) {
	a, err := parseArguments(parameters, g.set.Parameters)
	if err != nil {
		return Set{}, nil, err
	}
	p := g.plan(a)
	if a.err != nil {
		return Set{}, nil, a.err
	}
	set := g.set.clone()
	set.Source = "generated, " + set.Source
	set.Terms = termsMade
	set.Rows, set.Columns = p.rows, len(p.attributes)
	set.Values = map[string][]string{}
	for _, attribute := range p.attributes {
		if attribute.Kind == table.Nominal {
			set.Nominal = append(set.Nominal, attribute.Name)
			set.Values[attribute.Name] = slices.Clone(attribute.Values)
		}
	}
	return set, p.generate, nil
}

func (p plan) generate(ctx context.Context) (*table.Table, error) {
	columns := make([]table.Column, len(p.attributes))
	for i, a := range p.attributes {
		if a.Kind == table.Nominal {
			columns[i].Codes = make([]int32, p.rows)
		} else {
			columns[i].Floats = make([]float64, p.rows)
		}
	}
	p.fill(columns)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return table.New(&table.Schema{Attributes: p.attributes}, columns, nil)
}

// arguments are the values of a generator's parameters. The first value that
// cannot be used is kept as err, and zero is returned for it.
type arguments struct {
	values map[string]string
	given  map[string]bool
	err    error
}

// parseArguments reads "key=value,key=value". A piece without "=" goes on
// with the value before it, so that "classes=1,3,5" is one list.
func parseArguments(text string, parameters []Parameter) (*arguments, error) {
	a := &arguments{values: map[string]string{}, given: map[string]bool{}}
	known := make([]string, len(parameters))
	for i, p := range parameters {
		known[i] = p.Name
		a.values[p.Name] = p.Default
	}
	if text == "" {
		return a, nil
	}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(piece), "=")
		switch {
		case !found && last == "":
			return nil, fmt.Errorf("parameter %q has no value; expected name=value, as in %s=%s", piece, known[0], parameters[0].Default)
		case !found:
			a.values[last] += "," + key
			continue
		case !slices.Contains(known, key):
			return nil, fmt.Errorf("unknown parameter %q%s", key, spell.Hint(key, known))
		case a.given[key]:
			return nil, fmt.Errorf("parameter %s is given twice", key)
		}
		a.values[key], a.given[key], last = value, true, key
	}
	return a, nil
}

func (a *arguments) refuse(name, expected string) {
	if a.err == nil {
		a.err = fmt.Errorf("parameter %s=%s: expected %s", name, a.values[name], expected)
	}
}

// whole returns a whole number between bounds.
func (a *arguments) whole(name string, low, high int) int {
	n, err := strconv.Atoi(a.values[name])
	if err != nil || n < low || n > high {
		a.refuse(name, fmt.Sprintf("a whole number from %d to %d", low, high))
		return low
	}
	return n
}

// fraction returns a number between bounds.
func (a *arguments) fraction(name string, low, high float64) float64 {
	x, err := strconv.ParseFloat(a.values[name], 64)
	if err != nil || math.IsNaN(x) || x < low || x > high {
		a.refuse(name, fmt.Sprintf("a number from %g to %g", low, high))
		return low
	}
	return x
}

// wholes returns a list of distinct whole numbers between bounds, in order.
func (a *arguments) wholes(name string, low, high int) []int {
	var list []int
	for piece := range strings.SplitSeq(a.values[name], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(piece))
		if err != nil || n < low || n > high || slices.Contains(list, n) {
			a.refuse(name, fmt.Sprintf("different whole numbers from %d to %d separated by commas", low, high))
			return []int{low}
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// seed returns the seed.
func (a *arguments) seed() uint64 {
	n, err := strconv.ParseUint(a.values["seed"], 10, 64)
	if err != nil {
		a.refuse("seed", "a whole number ≥ 0")
	}
	return n
}

// Streams of random numbers that no two uses share.
const (
	streamLED = iota + 1
	streamBoolean
	streamParity
	streamRandomBoolean
	streamCircles
	streamMixed // and one more for each column
)

const (
	streamRoad = 1<<32 + iota
	streamRectangle
)

func random(seed uint64, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

var seedParameter = Parameter{"seed", "1", "other numbers give other rows"}

func noiseParameter(value, doc string) Parameter { return Parameter{"noise", value, doc} }

var bit = []string{"0", "1"}

// bitsOf returns nominal attributes with the values 0 and 1.
func bitsOf(names ...string) []table.Attribute {
	attributes := make([]table.Attribute, len(names))
	for i, name := range names {
		attributes[i] = table.Attribute{Name: name, Kind: table.Nominal, Values: bit}
	}
	return attributes
}

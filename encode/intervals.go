package encode

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/table"
)

// Method is a way to find cuts.
type Method uint8

// The methods.
const (
	ByMDL       Method = iota // looks at the classes, finds the number of cuts itself
	ByFrequency               // the same weight of rows in each interval
	ByWidth                   // the same width of each interval
)

// MostBins is how many intervals a column can be asked to have.
const MostBins = 1 << 16

// Intervals is the cuts of a table's numeric columns.
type Intervals struct {
	// Columns has the cuts of each column; nil for columns that stay as they
	// are: nominal ones, and the target.
	Columns []*Cuts `cbor:"columns"`
}

// FitIntervals finds cuts for every numeric column but the target, which may
// be -1 for none. ByMDL needs a nominal target and takes no bins; the other
// methods need the number of bins.
func FitIntervals(ctx context.Context, t *table.Table, target int, method Method, bins int) (*Intervals, error) {
	attributes := t.Schema.Attributes
	if target < -1 || target >= len(attributes) {
		return nil, fmt.Errorf("encode: target %d is no column; expected -1 to %d", target, len(attributes)-1)
	}
	var class []int32
	classes := 0
	switch {
	case method == ByMDL && target < 0:
		return nil, fmt.Errorf("encode: supervised cuts need a target; take equal frequencies without one")
	case method == ByMDL && attributes[target].Kind != table.Nominal:
		return nil, fmt.Errorf("encode: supervised cuts need a nominal target, %q is numeric; take equal frequencies", attributes[target].Name)
	case method == ByMDL:
		class, classes = t.Columns[target].Codes, len(attributes[target].Values)
	case method > ByWidth:
		return nil, fmt.Errorf("encode: unknown method %d of finding cuts", method)
	case bins < 2 || bins > MostBins:
		return nil, fmt.Errorf("encode: %d bins, expected 2 to %d", bins, MostBins)
	}
	f := &Intervals{Columns: make([]*Cuts, len(attributes))}
	err := eachColumn(ctx, len(attributes), func(c int) {
		if c == target || attributes[c].Kind != table.Numeric {
			return
		}
		var cuts Cuts
		switch x := t.Columns[c].Floats; method {
		case ByMDL:
			cuts = MDL(x, class, classes, t.Weights)
		case ByFrequency:
			cuts = EqualFrequency(x, t.Weights, bins)
		case ByWidth:
			cuts = EqualWidth(x, t.Weights, bins)
		}
		f.Columns[c] = &cuts
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// eachColumn calls work for every column, on all cores, until the context
// ends. Columns do not depend on each other, so the order changes nothing.
func eachColumn(ctx context.Context, columns int, work func(c int)) error {
	var next atomic.Int64
	var group crew.Group
	for range min(runtime.GOMAXPROCS(0), columns) {
		group.Go(func() {
			for ctx.Err() == nil {
				c := int(next.Add(1) - 1)
				if c >= columns {
					return
				}
				work(c)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// Schema returns the schema of a table after Apply: cut columns are nominal,
// with their intervals as values.
func (f *Intervals) Schema(s *table.Schema) *table.Schema {
	cut := &table.Schema{Attributes: make([]table.Attribute, len(s.Attributes))}
	for c, a := range s.Attributes {
		if cuts := f.Columns[c]; cuts != nil {
			a = table.Attribute{Name: a.Name, Kind: table.Nominal, Values: cuts.Labels(&a)}
		}
		cut.Attributes[c] = a
	}
	return cut
}

// Apply returns the table with its numeric columns as interval codes. Other
// columns are shared.
func (f *Intervals) Apply(t *table.Table) (*table.Table, error) {
	if err := f.Check(t.Schema); err != nil {
		return nil, err
	}
	columns := make([]table.Column, len(t.Columns))
	for c := range columns {
		columns[c] = t.Columns[c]
		if cuts := f.Columns[c]; cuts != nil {
			codes := make([]int32, t.Rows())
			cuts.Apply(t.Columns[c].Floats, codes)
			columns[c] = table.Column{Codes: codes}
		}
	}
	return table.New(f.Schema(t.Schema), columns, t.Weights)
}

// Check reports what is wrong with intervals that were read from somewhere:
// afterwards they can be applied to any table of the schema.
func (f *Intervals) Check(s *table.Schema) error {
	if len(f.Columns) != len(s.Attributes) {
		return fmt.Errorf("encode: cuts of %d columns for a table of %d", len(f.Columns), len(s.Attributes))
	}
	for c, cuts := range f.Columns {
		if cuts == nil {
			continue
		}
		if s.Attributes[c].Kind != table.Numeric {
			return fmt.Errorf("encode: column %q has cuts but is nominal", s.Attributes[c].Name)
		}
		if err := cuts.Check(); err != nil {
			return fmt.Errorf("%w (column %q)", err, s.Attributes[c].Name)
		}
	}
	return nil
}

package shards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A survey is what the columns of some shards are. Which columns are numbers,
// names or ids, and whether few integers are classes, is decided when all shards
// are known, as it is where one machine reads all files as one table.
type survey struct {
	First   Shard    `cbor:"first"`
	Columns []column `cbor:"columns"`
	Rows    int      `cbor:"rows"`
	Bytes   int64    `cbor:"bytes"`
	Hashes  []hashed `cbor:"hashes"`
}

type hashed struct {
	Shard int    `cbor:"n"`
	Base  string `cbor:"base"`
	Hash  string `cbor:"hash"`
}

// column is what some shards say of a column.
type column struct {
	Saved  table.SavedColumn `cbor:"saved"` // values are classes of a target
	Open   bool              `cbor:"open,omitempty"`
	Serial bool              `cbor:"serial,omitempty"` // its numbers only number rows
	Known  int               `cbor:"known,omitempty"`  // cells of a column of names
	// Lowest are the lowest hashes of its names, from which their number is told
	// (Bar-Yossef et al. 2002: k minimum values): exactly up to lowest of them.
	Lowest []uint64 `cbor:"lowest,omitempty"`
	At     string   `cbor:"at"` // a shard that has it so
}

const lowest = 1024

// distinct is about how many names a column has.
func (c *column) distinct() int {
	if len(c.Lowest) < lowest {
		return len(c.Lowest)
	}
	return int((lowest - 1) / (float64(c.Lowest[lowest-1]) / math.MaxUint64))
}

func surveyShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	o.IDs, o.Open = true, true
	source, err := open(ctx, s, o)
	if errors.Is(err, table.ErrNoRows) { // other files have some
		data, err := readFrom(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		return learn.Marshal(survey{First: s, Bytes: int64(len(data)), Hashes: []hashed{{s.Number, filepath.Base(s.Path), hex.EncodeToString(sum[:])}}})
	}
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if Disturb != nil {
		attempt, _ := ctx.Value(attemptKey{}).(int)
		if err := Disturb(s, attempt, -1); err != nil {
			return nil, err
		}
	}
	report := source.Report()
	found := survey{First: s, Rows: report.Rows, Bytes: report.Bytes, Hashes: []hashed{{s.Number, filepath.Base(s.Path), report.Hash}}}
	if len(report.Hashes) == 1 { // as one of many files, which the job has together
		found.Hashes[0].Hash = report.Hashes[0]
	}
	schema := source.Schema()
	saved := table.SaveColumns(schema)
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		c := column{Saved: saved[i], Open: a.Open() && a.Name != p.Target, At: s.Path}
		if a.Kind == table.Nominal {
			c.Known = report.Known[a.Name]
			for _, name := range a.Values {
				h := fnv.New64a()
				h.Write([]byte(name))
				c.Lowest = append(c.Lowest, mix(h.Sum64()))
			}
			slices.Sort(c.Lowest)
			c.Lowest = slices.Compact(c.Lowest)
			c.Lowest = c.Lowest[:min(len(c.Lowest), lowest)]
			if a.Name != p.Target {
				c.Saved.Values = nil
			}
		}
		found.Columns = append(found.Columns, c)
	}
	for _, name := range report.IDs {
		found.Columns = append(found.Columns, column{Saved: table.SavedColumn{Name: name, Numeric: true}, Serial: true, At: s.Path})
	}
	return learn.Marshal(found)
}

// mix is the finaliser of splitmix64 (Steele, Lea & Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func mergeSurveys(_ context.Context, p *Plan, first, second []byte) ([]byte, error) {
	var a, b survey
	if err := learn.Unmarshal(first, &a); err != nil {
		return nil, err
	}
	if err := learn.Unmarshal(second, &b); err != nil {
		return nil, err
	}
	if b.First.Number < a.First.Number {
		a, b = b, a
	}
	if a.Rows == 0 && len(a.Columns) == 0 {
		a.Columns, a.First = b.Columns, b.First
	} else if b.Rows > 0 || len(b.Columns) > 0 {
		if err := a.join(p, &b); err != nil {
			return nil, err
		}
	}
	a.Rows, a.Bytes, a.Hashes = a.Rows+b.Rows, a.Bytes+b.Bytes, append(a.Hashes, b.Hashes...)
	return learn.Marshal(a)
}

func (a *survey) find(name string) *column {
	if i := slices.IndexFunc(a.Columns, func(c column) bool { return c.Saved.Name == name }); i >= 0 {
		return &a.Columns[i]
	}
	return nil
}

// join takes in the columns of another part.
func (a *survey) join(p *Plan, b *survey) error {
	for _, pair := range [][2]*survey{{a, b}, {b, a}} {
		for _, c := range pair[0].Columns {
			if pair[1].find(c.Saved.Name) == nil {
				return fmt.Errorf("%s: has no column %q, which %s has; read files that have the same columns, or name those that do", pair[1].First.Path, c.Saved.Name, c.At)
			}
		}
	}
	for i := range a.Columns {
		if err := a.Columns[i].join(p, b.find(a.Columns[i].Saved.Name)); err != nil {
			return err
		}
	}
	return nil
}

// join takes in what other shards say of a column.
func (c *column) join(p *Plan, d *column) error {
	serial := c.Serial && d.Serial
	target := c.Saved.Name == p.Target && p.Target != ""
	switch {
	case d.Open:
		return nil
	case c.Open:
		*c = *d
		return nil
	case target && !slices.Contains(p.Nominal, c.Saved.Name) && c.integers() && d.integers():
		if c.Saved.Numeric || d.Saved.Numeric { // too many to be classes
			c.Saved.Numeric, c.Saved.Values = true, nil
			return nil
		}
		if c.Saved.Values = values(c.Saved.Values, d.Saved.Values); len(c.Saved.Values) > mostClasses {
			c.Saved.Numeric, c.Saved.Values = true, nil
		}
		return nil
	case c.Saved.Numeric != d.Saved.Numeric || c.Saved.Date != d.Saved.Date || c.Saved.Time != d.Saved.Time:
		return fmt.Errorf("column %q is %s in %s and %s in %s; correct the files, or say how to read the column", c.Saved.Name, c.kind(), c.At, d.kind(), d.At)
	}
	if target {
		c.Saved.Values = values(c.Saved.Values, d.Saved.Values)
	}
	c.Serial = serial
	c.Known += d.Known
	c.Lowest = append(c.Lowest, d.Lowest...)
	slices.Sort(c.Lowest)
	c.Lowest = slices.Compact(c.Lowest)
	c.Lowest = c.Lowest[:min(len(c.Lowest), lowest)]
	c.Saved.Style = c.Saved.Style.Joined(d.Saved.Style)
	return nil
}

// mostClasses is how many distinct integers of a target are classes at most.
const mostClasses = 20

func values(a, b []string) []string {
	all := slices.Concat(a, b)
	table.SortValues(all)
	return slices.Compact(all)
}

// integers reports whether a target's cells are whole numbers, or were numbers.
func (c *column) integers() bool {
	if c.Saved.Numeric {
		return !c.Saved.Date && !c.Saved.Time
	}
	return !slices.ContainsFunc(c.Saved.Values, func(v string) bool { _, err := strconv.ParseInt(v, 10, 64); return err != nil })
}

func (c *column) kind() string {
	switch {
	case c.Saved.Date:
		return "dates"
	case c.Saved.Time:
		return "times"
	case c.Saved.Numeric:
		return "numbers"
	}
	return "names"
}

// settle decides what the columns are, now that all shards are known.
func (s *survey) settle(p *Plan) (columns []table.SavedColumn, notes []string) {
	asked := slices.Concat(p.Nominal, p.Numeric)
	for _, c := range s.Columns {
		name := c.Saved.Name
		switch {
		case name == p.Target || slices.Contains(asked, name):
		case c.Serial:
			notes = append(notes, fmt.Sprintf("column %q is left out: its numbers only number the rows; --numeric %s keeps it", name, name))
			continue
		case c.Open:
			notes = append(notes, fmt.Sprintf("column %q is left out: it has no known cell", name))
			continue
		case !c.Saved.Numeric && table.IsID(c.distinct(), c.Known):
			notes = append(notes, fmt.Sprintf("column %q is left out: about %d of its %d values are distinct; --nominal %s keeps it", name, c.distinct(), c.Known, name))
			continue
		}
		columns = append(columns, c.Saved)
	}
	return columns, notes
}

// hash is that of all files, as of one table that they are together.
func (s *survey) hash() string {
	slices.SortFunc(s.Hashes, func(a, b hashed) int { return a.Shard - b.Shard })
	sum := sha256.New()
	for _, h := range s.Hashes {
		fmt.Fprintf(sum, "%q %s\n", h.Base, h.Hash)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

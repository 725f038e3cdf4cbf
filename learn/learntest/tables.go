package learntest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// targetName is the column to predict. It stands between others, so that a
// learner that takes the last column for it is found out.
const targetName = "out come"

// table returns random rows: a hidden class decides, with noise, what all
// columns hold. Names are odd enough to need quotes in the rule language.
func (s *subject) table(v variant, rows int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(s.options.Seed+1, seed))
	hidden := make([]int, rows)
	for r := range hidden {
		hidden[r] = random.IntN(3)
		if r < 3 {
			hidden[r] = r // every class occurs
		}
	}
	schema := &table.Schema{}
	var columns []table.Column
	nominal := func(name string, missing float64, values ...string) {
		codes := make([]int32, rows)
		for r, h := range hidden {
			codes[r] = int32((h + random.IntN(2)*random.IntN(len(values))) % len(values))
			if random.Float64() < missing {
				codes[r] = table.Missing
			}
		}
		for v := range min(rows, len(values)) {
			codes[v] = int32(v) // every value occurs
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Values: values})
		columns = append(columns, table.Column{Codes: codes})
	}
	numeric := func(name string, missing, scale float64) {
		floats := make([]float64, rows)
		for r, h := range hidden {
			// A grid makes equal numbers common.
			floats[r] = scale * math.Round(8*(float64(h)+random.NormFloat64())) / 8
			if random.Float64() < missing {
				floats[r] = table.NA
			}
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Numeric})
		columns = append(columns, table.Column{Floats: floats})
	}
	missing := 0.0
	if s.info.Takes.Missing {
		missing = 0.1
	}
	if s.info.Takes.Nominal {
		nominal("colour", missing, "red", "green", "<=50K")
		nominal("1st size", missing, "1", "2")
	}
	if s.info.Takes.Numeric {
		numeric("length (cm)", missing, 3)
	}
	if v == regression {
		numeric(targetName, missing, 10)
	} else {
		nominal(targetName, missing, "yes", "no", "may be")
	}
	if s.info.Takes.Numeric {
		numeric("width", 0, 0.01)
	}
	if s.info.Takes.Nominal {
		nominal("shape", 0, "a", "b", "c", "d", "e")
	}
	return must(table.New(schema, columns, nil))
}

// must panics on an error in the making of a table, which is this package's
// fault.
func must(t *table.Table, err error) *table.Table {
	if err != nil {
		panic(err)
	}
	return t
}

// weighted returns the table with random weights out of a few.
func weighted(t *table.Table, seed uint64, weights ...float64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 1))
	ws := make([]float64, t.Rows())
	for r := range ws {
		ws[r] = weights[random.IntN(len(weights))]
	}
	return must(table.New(t.Schema, t.Columns, ws))
}

// copyTable returns a copy that shares nothing.
func copyTable(t *table.Table) *table.Table {
	columns := make([]table.Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = table.Column{Codes: slices.Clone(c.Codes), Floats: slices.Clone(c.Floats)}
		if w := c.Words; w != nil {
			columns[i].Words = &table.Bag{Starts: slices.Clone(w.Starts), Codes: slices.Clone(w.Codes), Counts: slices.Clone(w.Counts), Gone: slices.Clone(w.Gone)}
		}
	}
	copied := must(table.New(table.CopySchema(t.Schema), columns, slices.Clone(t.Weights)))
	copied.Sequence, copied.SequenceNames = slices.Clone(t.Sequence), slices.Clone(t.SequenceNames)
	return copied
}

// equalTables reports whether two tables hold the same, bit for bit.
func equalTables(a, b *table.Table) bool {
	sameBits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	for i := range a.Columns {
		if !slices.Equal(a.Columns[i].Codes, b.Columns[i].Codes) || !slices.EqualFunc(a.Columns[i].Floats, b.Columns[i].Floats, sameBits) {
			return false
		}
		if x, y := a.Columns[i].Words, b.Columns[i].Words; x != nil && (y == nil || !slices.Equal(x.Starts, y.Starts) || !slices.Equal(x.Codes, y.Codes) || !slices.Equal(x.Counts, y.Counts) || !slices.Equal(x.Gone, y.Gone)) {
			return false
		}
	}
	return a.Rows() == b.Rows() && slices.Equal(a.Sequence, b.Sequence) && slices.EqualFunc(a.Weights, b.Weights, sameBits) && equalSchemas(a.Schema, b.Schema)
}

func equalSchemas(a, b *table.Schema) bool {
	return a.Sequence == b.Sequence && slices.EqualFunc(a.Attributes, b.Attributes, func(x, y table.Attribute) bool {
		return x.Name == y.Name && x.Kind == y.Kind && x.Shown() == y.Shown() && slices.Equal(x.Values, y.Values)
	})
}

// scramble overwrites everything in a table, its dictionaries included.
func scramble(t *table.Table) {
	for i := range t.Columns {
		clear(t.Columns[i].Codes)
		for r := range t.Columns[i].Floats {
			t.Columns[i].Floats[r] = 123456
		}
		a := &t.Schema.Attributes[i]
		for v := range a.Values {
			a.Values[v] = "scrambled"
		}
		a.Name = "scrambled"
	}
	for r := range t.Weights {
		t.Weights[r] = 1000
	}
}

// recode returns a table's rows under another schema, columns and values
// matched by name: table.Unseen where the schema has no such value, missing
// where the table has no such column.
func recode(t *table.Table, schema *table.Schema) *table.Table {
	columns := make([]table.Column, len(schema.Attributes))
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		j := t.Schema.Index(a.Name)
		if a.Kind == table.Numeric {
			columns[i].Floats = make([]float64, t.Rows())
			for r := range columns[i].Floats {
				columns[i].Floats[r] = table.NA
				if j >= 0 && t.Columns[j].Floats != nil {
					columns[i].Floats[r] = t.Columns[j].Floats[r]
				}
			}
			continue
		}
		columns[i].Codes = slices.Repeat([]int32{table.Missing}, t.Rows())
		if j < 0 {
			continue
		}
		codes := table.Recoding(&t.Schema.Attributes[j], a)
		for r, code := range t.Columns[j].Codes {
			if code >= 0 {
				code = codes[code]
			}
			columns[i].Codes[r] = code
		}
	}
	return must(table.New(schema, columns, t.Weights))
}

// extend returns a table's rows as an update wants them: the model's columns
// and values, then the values that are new.
func extend(t *table.Table, schema *table.Schema) *table.Table {
	wider := table.CopySchema(schema)
	for i := range wider.Attributes {
		a := &wider.Attributes[i]
		if j := t.Schema.Index(a.Name); j >= 0 {
			for _, value := range t.Schema.Attributes[j].Values {
				if a.Code(value) < 0 {
					a.Values = append(a.Values, value)
				}
			}
		}
	}
	return recode(t, wider)
}

// shrink returns a table whose dictionaries hold the values that occur, in
// the order in which they first do, as reading a file of these rows would.
func shrink(t *table.Table) *table.Table {
	schema := table.CopySchema(t.Schema)
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		a.Values = nil
		for _, code := range t.Columns[i].Codes {
			if code >= 0 && !slices.Contains(a.Values, t.Schema.Attributes[i].Values[code]) {
				a.Values = append(a.Values, t.Schema.Attributes[i].Values[code])
			}
		}
	}
	return recode(t, schema)
}

// join returns the rows of several tables.
func join(tables ...*table.Table) *table.Table {
	schemas := make([]*table.Schema, len(tables))
	for i, t := range tables {
		schemas[i] = t.Schema
	}
	union, err := table.Union(schemas...)
	if err != nil {
		panic(err)
	}
	columns := make([]table.Column, len(union.Attributes))
	var weights []float64
	for _, t := range tables {
		part := recode(t, union)
		for i := range columns {
			columns[i].Codes = append(columns[i].Codes, part.Columns[i].Codes...)
			columns[i].Floats = append(columns[i].Floats, part.Columns[i].Floats...)
		}
		for r := range t.Rows() {
			weights = append(weights, t.Weight(r))
		}
	}
	return must(table.New(union, columns, weights))
}

// filter returns the rows for which keep is true, coded as before.
func filter(t *table.Table, keep func(row int) bool) *table.Table {
	var rows []int
	for r := range t.Rows() {
		if keep(r) {
			rows = append(rows, r)
		}
	}
	return t.Select(rows)
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/table"
	"github.com/parquet-go/parquet-go"
)

// reader is a tool's way of reading a format.
type reader struct{ Tool, Name, Format string }

func (r reader) String() string {
	if r.Tool == accrete {
		return accrete
	}
	return r.Tool + " " + r.Name
}

var readers = []reader{
	{accrete, "-", "csv"},
	{"pandas", "read_csv", "csv"},
	{"Arrow for Go", "csv", "csv"},
	{"R", "read.csv", "csv"},
	{"Weka", "CSVLoader", "csv"},
	{accrete, "-", "parquet"},
	{"pyarrow", "read_parquet", "parquet"},
	{"Arrow for Go", "parquet", "parquet"},
	{accrete, "-", "arff"},
	{"SciPy", "loadarff", "arff"},
	{"Weka", "ArffReader", "arff"},
}

func (r reader) key(rows, round int) string {
	return fmt.Sprintf("reading, %v, %s, %d rows, round %d", r, r.Format, rows, round)
}

func (b *bench) readFile(rows int, format string) string {
	return filepath.Join(b.work, fmt.Sprintf("mixed-%d.%s", rows, format))
}

// measureReading reads the same table from files that the system has at hand.
func (b *bench) measureReading(ctx context.Context, deadline time.Time) error {
	stopped := map[reader]bool{}
	took := map[reader]float64{}
	order := slices.Clone(readers)
	for _, rows := range b.plan.Read {
		t, err := mixed(ctx, rows)
		if err != nil {
			return err
		}
		for format, write := range map[string]func(io.Writer, *table.Table) error{
			"csv": func(w io.Writer, t *table.Table) error { return t.WriteCSV(w) }, "arff": writeARFF, "parquet": writeParquet,
		} {
			if err := writeFile(b.readFile(rows, format), func(w io.Writer) error { return write(w, t) }); err != nil {
				return err
			}
		}
		// The slow ones come last, where they cost nobody else's time.
		slices.SortStableFunc(order, func(x, y reader) int { return cmp.Compare(took[x], took[y]) })
		for round := 1; round <= b.plan.Rounds; round++ {
			for _, r := range order {
				key := r.key(rows, round)
				tool := b.tools[r.Tool]
				first, _ := b.journal.get(r.key(rows, 1))
				switch {
				case ctx.Err() != nil:
					return ctx.Err()
				case tool.LeftOut != "":
					b.without(key, tool.LeftOut)
				case stopped[r]:
					b.without(key, fmt.Sprintf("stopped at %v s", b.plan.Limit.Seconds()))
				case time.Now().Add(time.Duration(first.Took * float64(time.Second))).After(deadline):
					if round == 1 {
						b.without(key, timeSpent)
					}
				default:
					o := b.measured(ctx, key, append(tool.command(b), workRead, b.readFile(rows, r.Format), r.Name, fmt.Sprintf("budget=%g", b.plan.Repeat)), nil, false)
					stopped[r] = stopped[r] || o.Stopped != ""
					took[r] = o.Took
				}
			}
		}
	}
	return nil
}

// readingFigure returns the seconds, or bytes at most, that reading took.
func (b *bench) readingFigure(r reader, rows int, name string) figure {
	var values []float64
	f := figure{}
	for round := 1; round <= b.plan.Rounds; round++ {
		o, ok := b.journal.get(r.key(rows, round))
		if !ok {
			continue
		}
		if round == 1 {
			f.Reason = firstOf(o.Failure, o.Reason)
			f.Stopped = strings.HasPrefix(o.Reason, "stopped")
		}
		switch p := o.Parts[name]; {
		case p.Bytes > 0:
			values = append(values, p.Bytes)
		case len(p.Seconds) > 0:
			values = append(values, median(p.Seconds))
		}
	}
	if f.Stopped {
		if name == partRead {
			f.Value = b.plan.Limit.Seconds()
		}
		return f
	}
	if len(values) > 0 {
		f.Processes = len(values)
		f.Value, f.Low, f.High = spread(values)
	}
	return f
}

func writeARFF(w io.Writer, t *table.Table) error {
	fmt.Fprintln(w, "@relation mixed")
	for _, a := range t.Schema.Attributes {
		kind := "numeric"
		if a.Kind == table.Nominal {
			kind = "{" + strings.Join(a.Values, ",") + "}"
		}
		fmt.Fprintf(w, "@attribute %s %s\n", a.Name, kind)
	}
	fmt.Fprintln(w, "@data")
	for r := range t.Rows() {
		for c := range t.Columns {
			end := ","
			if c == len(t.Columns)-1 {
				end = "\n"
			}
			if _, err := io.WriteString(w, firstOf(t.Text(r, c), "?")+end); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeParquet writes numbers as doubles and names as strings with a
// dictionary, as tools do.
func writeParquet(w io.Writer, t *table.Table) error {
	group := parquet.Group{}
	for _, a := range t.Schema.Attributes {
		if a.Kind == table.Numeric {
			group[a.Name] = parquet.Leaf(parquet.DoubleType)
		} else {
			group[a.Name] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
	}
	schema := parquet.NewSchema("mixed", group)
	out := parquet.NewWriter(w, schema, parquet.Compression(&parquet.Snappy))
	order := schema.Columns() // by name
	const rows = 1000
	block := make([]parquet.Row, rows)
	for low := 0; low < t.Rows(); low += rows {
		high := min(low+rows, t.Rows())
		for r := low; r < high; r++ {
			row := block[r-low][:0]
			for i, path := range order {
				c := t.Schema.Index(path[0])
				var v parquet.Value
				if a := &t.Schema.Attributes[c]; a.Kind == table.Numeric {
					v = parquet.DoubleValue(t.Columns[c].Floats[r])
				} else {
					v = parquet.ByteArrayValue([]byte(a.Values[t.Columns[c].Codes[r]]))
				}
				row = append(row, v.Level(0, 0, i))
			}
			block[r-low] = row
		}
		if _, err := out.WriteRows(block[:high-low]); err != nil {
			return err
		}
	}
	return out.Close()
}

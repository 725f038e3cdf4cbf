package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/table"
)

// A table goes to every tool in the same form, so that nobody pays for
// parsing: a folder with columns.txt, a line for each column ("numeric", or
// "nominal" and the number of values; the class is last), cells.bin, column by
// column (float64 with NaN for missing, or int32 with -1), and for
// cross-validation folds.i32, the fold of each row.
const (
	columnsFile = "columns.txt"
	cellsFile   = "cells.bin"
	foldsFile   = "folds.i32"
)

const folds = 10

// set is a data set on which accuracy is compared.
type set struct {
	Name   string
	file   string   // under bench/data; "" if it is embedded
	target string   // where file is given, and
	ignore []string // columns that identify rows
	quick  bool     // small enough for a quick run
}

// accuracySets has every kind: nominal, numeric and mixed columns, missing
// cells, many classes, few rows and some thousands. The quickest come first.
var accuracySets = []set{
	{Name: "iris", quick: true},
	{Name: "zoo"},
	{Name: "hayes-roth"},
	{Name: "labor"},
	{Name: "wine", quick: true},
	{Name: "promoters"},
	{Name: "glass", quick: true},
	{Name: "votes", quick: true},
	{Name: "heart-c"},
	{Name: "breast-cancer-ljubljana"},
	{Name: "ecoli"},
	{Name: "breast-cancer"},
	{Name: "ionosphere"},
	{Name: "sonar"},
	{Name: "pima"},
	{Name: "tic-tac-toe"},
	{Name: "credit-a", quick: true},
	{Name: "wdbc"},
	{Name: "vehicle"},
	{Name: "car"},
	{Name: "titanic", file: "titanic.csv.gz", target: "survived", ignore: []string{"name"}},
	{Name: "vowel"},
	{Name: "audiology"},
	{Name: "soybean"},
	{Name: "credit-scoring", file: "credit_scoring.csv.gz", target: "Status"},
	{Name: "splice"},
}

// load returns the rows of the set whose class is known, the class last.
func (s *set) load(ctx context.Context, dataFolder string) (*table.Table, error) {
	var t *table.Table
	target := s.target
	if s.file == "" {
		loaded, info, err := datasets.Load(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		t, target = loaded, info.Target
	} else {
		var err error
		path := filepath.Join(dataFolder, s.file)
		if t, _, err = table.ReadFile(ctx, path, table.Options{Target: target, Ignore: s.ignore}); err != nil {
			return nil, err
		}
	}
	class := t.Schema.Index(target)
	if class < 0 || t.Schema.Attributes[class].Kind != table.Nominal {
		return nil, fmt.Errorf("data set %s: no nominal column %q", s.Name, target)
	}
	return classLast(t, class)
}

// classLast moves the class to the end and leaves out rows without one.
func classLast(t *table.Table, class int) (*table.Table, error) {
	var known []int
	for r, c := range t.Columns[class].Codes {
		if c >= 0 {
			known = append(known, r)
		}
	}
	if len(known) < t.Rows() {
		t = t.Select(known)
	}
	schema := &table.Schema{}
	var columns []table.Column
	for i, a := range t.Schema.Attributes {
		if i != class {
			schema.Attributes, columns = append(schema.Attributes, a), append(columns, t.Columns[i])
		}
	}
	schema.Attributes = append(schema.Attributes, t.Schema.Attributes[class])
	return table.New(schema, append(columns, t.Columns[class]), nil)
}

// mixed is the table on which speed is measured.
func mixed(ctx context.Context, rows int) (*table.Table, error) {
	t, _, err := datasets.Load(ctx, "mixed:rows="+strconv.Itoa(rows))
	return t, err
}

// export writes a table, whose class is last, for every tool.
func export(folder string, t *table.Table) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var lines strings.Builder
	for _, a := range t.Schema.Attributes {
		if a.Kind == table.Numeric {
			lines.WriteString("numeric\n")
		} else {
			fmt.Fprintf(&lines, "nominal %d\n", len(a.Values))
		}
	}
	if err := os.WriteFile(filepath.Join(folder, columnsFile), []byte(lines.String()), 0o644); err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, cellsFile), func(w io.Writer) error {
		cells := make([]byte, 0, 8*4096)
		flush := func() error {
			_, err := w.Write(cells)
			cells = cells[:0]
			return err
		}
		for _, c := range t.Columns {
			for _, x := range c.Floats {
				if cells = binary.LittleEndian.AppendUint64(cells, math.Float64bits(x)); len(cells) == cap(cells) {
					if err := flush(); err != nil {
						return err
					}
				}
			}
			for _, v := range c.Codes {
				if cells = binary.LittleEndian.AppendUint32(cells, uint32(max(v, table.Missing))); len(cells) == cap(cells) {
					if err := flush(); err != nil {
						return err
					}
				}
			}
			if err := flush(); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportFolds writes the fold of each row, the same for every tool.
func exportFolds(folder string, t *table.Table) error {
	of, err := evaluate.Folds(t, len(t.Columns)-1, folds, 1)
	if err != nil {
		return err
	}
	data := make([]byte, 0, 4*len(of))
	for _, f := range of {
		data = binary.LittleEndian.AppendUint32(data, uint32(int32(f)))
	}
	return os.WriteFile(filepath.Join(folder, foldsFile), data, 0o644)
}

// importTable reads what export wrote; columns and values have made-up names.
func importTable(folder string) (*table.Table, error) {
	text, err := os.ReadFile(filepath.Join(folder, columnsFile))
	if err != nil {
		return nil, err
	}
	cells, err := os.ReadFile(filepath.Join(folder, cellsFile))
	if err != nil {
		return nil, err
	}
	schema := &table.Schema{}
	width := 0
	for line := range strings.Lines(string(text)) {
		kind, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		a := table.Attribute{Name: fmt.Sprintf("a%d", len(schema.Attributes)+1), Kind: table.Numeric}
		width += 8
		if kind == "nominal" {
			n, err := strconv.Atoi(count)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", folder, columnsFile, err)
			}
			a.Kind = table.Nominal
			for v := range n {
				a.Values = append(a.Values, fmt.Sprintf("v%04d", v)) // the order by name is that by code
			}
			width -= 4
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	if width == 0 || len(cells)%width != 0 {
		return nil, fmt.Errorf("%s: %d bytes are no whole number of rows of %d", folder, len(cells), width)
	}
	rows := len(cells) / width
	columns := make([]table.Column, len(schema.Attributes))
	for i, a := range schema.Attributes {
		if a.Kind == table.Numeric {
			columns[i].Floats = make([]float64, rows)
			for r := range columns[i].Floats {
				columns[i].Floats[r] = math.Float64frombits(binary.LittleEndian.Uint64(cells[8*r:]))
			}
			cells = cells[8*rows:]
		} else {
			columns[i].Codes = int32s(cells[:4*rows])
			cells = cells[4*rows:]
		}
	}
	return table.New(schema, columns, nil)
}

func int32s(data []byte) []int32 {
	out := make([]int32, len(data)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

func readInt32s(path string) ([]int32, error) {
	data, err := os.ReadFile(path)
	return int32s(data), err
}

// writeFile creates a file and fills it through a buffer.
func writeFile(path string, fill func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

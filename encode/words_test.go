package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

func documents(t *testing.T) *table.Table {
	rows, _, err := table.Read(t.Context(), strings.NewReader("doc,x\na cat a,1\nthe cat,2\n?,3\n.,4\na dog,5\n"), table.Options{Name: "x.csv", Text: []string{"doc"}})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestWords encodes the words that several rows have, alone and in a matrix
// next to a numeric column.
func TestWords(t *testing.T) {
	rows := documents(t)
	for _, test := range []struct {
		options Options
		names   string
		want    string
	}{
		{Options{Scaling: Raw, Indicators: true}, "doc CONTAINS a, doc CONTAINS cat, doc IS MISSING, x", "1 1 0 1|0 1 0 2|0 0 1 3|0 0 0 4|1 0 0 5"},
		{Options{Scaling: Raw, Counts: true, Words: 1}, "doc CONTAINS a, x", "2 1|0 2|0 3|0 4|1 5"},
	} {
		m, err := FitMatrix(t.Context(), rows, -1, test.options)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(rows.Schema); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Names(rows.Schema), ", "); got != test.names {
			t.Errorf("%s, expected %s", got, test.names)
		}
		out := make([]float64, rows.Rows()*m.Width())
		if err := m.Apply(rows, 0, rows.Rows(), out); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for row := range slices.Chunk(out, m.Width()) {
			lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
		}
		if got := strings.Join(lines, "|"); got != test.want {
			t.Errorf("%s, expected %s", got, test.want)
		}
	}
	s, err := SparseText(&rows.Schema.Attributes[0], rows.Columns[0].Words, 1, 3)
	if err != nil || s.Width != 4 || s.Starts[1]-s.Starts[0] != 2 || s.Starts[2] != s.Starts[1] {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := SparseText(&rows.Schema.Attributes[1], nil, 0, 1); err == nil {
		t.Error("numbers as text")
	}
	if _, err := SparseText(&rows.Schema.Attributes[0], rows.Columns[0].Words, 1, 9); err == nil {
		t.Error("rows beyond the end")
	}
	for _, w := range []Words{{Words: []string{"a"}}, {Words: []string{"a"}, Codes: []int32{-1}}} {
		if w.Check() == nil {
			t.Errorf("%+v is sound", w)
		}
	}
}

// TestOneHotManyValues: codes above 65,535 have floats of their own.
func TestOneHotManyValues(t *testing.T) {
	const n = 70_000
	a := &table.Attribute{Name: "v", Values: make([]string, n)}
	for i := range a.Values {
		a.Values[i] = fmt.Sprint(i)
	}
	o := FitOneHot(a, nil, false, false)
	out := make([]float32, o.Width())
	oneHot(&o, []int32{65_536 + 7}, out, o.Width())
	if out[65_536+7] != 1 || out[7] != 0 {
		t.Error("a code wraps around")
	}
}

package rule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/table"
)

func ExampleMatcher() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sunny", "rain"}},
		{Name: "humidity", Kind: table.Numeric},
	}}
	t, _ := table.New(schema, []table.Column{
		{Codes: []int32{0, 0, 1, table.Missing, 0}},
		{Floats: []float64{85, 70, 90, 95, table.NA}},
	}, nil)
	base, _ := Parse("", []byte("IF outlook = sunny AND humidity > 75 THEN play = no"))
	m, _ := NewMatcher(base.Rules[0].If, schema)
	rows := bits.New(t.Rows())
	m.Match(t, rows)
	fmt.Println(slices.Collect(rows.All), m.MatchRow(t, 4))
	// Output: [0] false
}

// naive decides a test from the texts of cells, with none of the matcher's
// tables and bounds.
func naive(x Test, t *table.Table, row int) bool {
	if x.Op == AtLeast {
		n := 0
		for _, y := range x.Of {
			if naive(y, t, row) {
				n++
			}
		}
		return n >= x.Count
	}
	if x.Op == HalfSpace {
		sum := 0.0
		for _, term := range x.Terms {
			sum += float64(term.Factor * t.Columns[t.Schema.Index(term.Column)].Floats[row])
		}
		return !x.Below && sum > x.Number || x.Below && sum <= x.Number
	}
	column := t.Schema.Index(x.Column)
	numeric := t.Schema.Attributes[column].Kind == table.Numeric
	text := t.Text(row, column)
	missing := text == ""
	switch {
	case x.Op == IsMissing:
		return missing
	case missing:
		return false
	case x.Op == IsKnown:
		return true
	}
	is := func(value string) bool {
		if numeric {
			v, _ := strconv.ParseFloat(value, 64)
			return t.Columns[column].Floats[row] == v
		}
		return text == value
	}
	var cell float64
	if numeric {
		cell = t.Columns[column].Floats[row]
	}
	switch x.Op {
	case Eq:
		return is(x.Value)
	case Ne:
		return !is(x.Value)
	case In:
		return slices.ContainsFunc(x.Values, is)
	case NotIn:
		return !slices.ContainsFunc(x.Values, is)
	case Lt:
		return cell < x.Number
	case Le:
		return cell <= x.Number
	case Gt:
		return cell > x.Number
	case Ge:
		return cell >= x.Number
	}
	return (x.Low < cell || x.LowClosed && x.Low == cell) && (cell < x.High || !x.HighOpen && cell == x.High)
}

func TestMatchAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := smallTable(t, 200)
		tests := rapid.SliceOfN(wideTest(2), 0, 3).Draw(t, "tests")
		m, err := NewMatcher(tests, rows.Schema)
		if err != nil {
			t.Fatal(err)
		}
		set := bits.Fill(rows.Rows())
		m.Match(rows, set)
		for row := range rows.Rows() {
			want := !slices.ContainsFunc(tests, func(x Test) bool { return !naive(x, rows, row) })
			if set.Get(row) != want || m.MatchRow(rows, row) != want {
				t.Fatalf("row %d: Match %v, MatchRow %v, expected %v", row, set.Get(row), m.MatchRow(rows, row), want)
			}
		}
		if n := rows.Rows(); n%64 != 0 && set[n/64]>>(n%64) != 0 {
			t.Fatal("bits beyond the last row")
		}
	})
}

// TestMatchBlocks matches tables that take more than one block of rows.
func TestMatchBlocks(t *testing.T) {
	schema := smallSchema()
	for _, rows := range []int{block - 1, block, block + 1, 3*block + 70} {
		all := bigTable(rows)
		tests := []Test{{Op: Gt, Column: "x", Number: 0}, {Op: NotIn, Column: "u", Values: []string{"a", "b"}}}
		m, err := NewMatcher(tests, schema)
		if err != nil {
			t.Fatal(err)
		}
		set := bits.New(rows)
		m.Match(all, set)
		for row := range rows {
			if set.Get(row) != m.MatchRow(all, row) {
				t.Fatalf("%d rows: row %d differs", rows, row)
			}
		}
		if n := testing.AllocsPerRun(10, func() { m.Match(all, set) }); n != 0 {
			t.Errorf("Match allocates %v times", n)
		}
	}
}

// TestMatchNewerDictionary matches values that came after the schema.
func TestMatchNewerDictionary(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "u", Values: []string{"a"}}}}
	newer := &table.Schema{Attributes: []table.Attribute{{Name: "u", Values: []string{"a", "b"}}}}
	rows, err := table.New(newer, []table.Column{{Codes: []int32{0, 1, table.Missing, table.Unseen}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMatcher([]Test{{Op: Ne, Column: "u", Value: "a"}}, schema)
	if err != nil {
		t.Fatal(err)
	}
	set := bits.New(4)
	m.Match(rows, set)
	for row, want := range []bool{false, true, false, true} {
		if set.Get(row) != want || m.MatchRow(rows, row) != want {
			t.Errorf("row %d: %v and %v, expected %v", row, set.Get(row), m.MatchRow(rows, row), want)
		}
	}
	if _, err := NewMatcher([]Test{{Op: Eq, Column: "u", Value: "b"}}, schema); err == nil {
		t.Error("unknown value accepted")
	}
}

// bigTable returns rows that run through the small cells, deterministically.
func bigTable(rows int) *table.Table {
	schema := smallSchema()
	columns := make([]table.Column, len(schema.Attributes))
	for i, a := range schema.Attributes {
		if a.Kind == table.Numeric {
			columns[i].Floats = make([]float64, rows)
			for r := range rows {
				columns[i].Floats[r] = math.Mod(float64(r*(i+7)), 13)/3 - 2
				if r%17 == i {
					columns[i].Floats[r] = table.NA
				}
			}
		} else {
			columns[i].Codes = make([]int32, rows)
			for r := range rows {
				columns[i].Codes[r] = int32((r*(i+3)/7)%(len(a.Values)+2)) - 2
			}
		}
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func BenchmarkMatch(b *testing.B) {
	t := bigTable(1 << 20)
	m, err := NewMatcher([]Test{{Op: Between, Column: "x", Low: -1, High: 1}, {Op: In, Column: "u", Values: []string{"a", "b"}}}, t.Schema)
	if err != nil {
		b.Fatal(err)
	}
	set := bits.New(t.Rows())
	b.ReportAllocs()
	for b.Loop() {
		m.Match(t, set)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(t.Rows()), "ns/row")
}

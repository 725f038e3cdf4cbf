package table

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNewChecks(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "v", Kind: Nominal, Values: []string{"a"}}, {Name: "n", Kind: Numeric}}}
	codes, floats := Column{Codes: []int32{0, Unseen, Missing}}, Column{Floats: []float64{1, NA, 3}}
	if _, err := New(schema, []Column{codes, floats}, nil); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		columns []Column
		weights []float64
	}{
		"too few columns":  {[]Column{codes}, nil},
		"wrong kind":       {[]Column{floats, codes}, nil},
		"numeric codes":    {[]Column{codes, codes}, nil},
		"different length": {[]Column{codes, {Floats: []float64{1}}}, nil},
		"code too large":   {[]Column{{Codes: []int32{1, 0, 0}}, floats}, nil},
		"code too small":   {[]Column{{Codes: []int32{-3, 0, 0}}, floats}, nil},
		"weights too few":  {[]Column{codes, floats}, []float64{1}},
		"negative weight":  {[]Column{codes, floats}, []float64{1, -1, 1}},
		"infinite weight":  {[]Column{codes, floats}, []float64{1, math.Inf(1), 1}},
		"missing weight":   {[]Column{codes, floats}, []float64{1, NA, 1}},
	} {
		if _, err := New(schema, test.columns, test.weights); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSliceAndSelect(t *testing.T) {
	all, _ := mustRead(t, "x.csv", "v,n,w\na,1,1\nb,2,0.5\nc,3,2\n", Options{Weight: "w"})
	if got := show(all.Slice(1, 3)); got != "v{a,b,c} n | b 2 ×0.5 | c 3 ×2" {
		t.Error(got)
	}
	if got := show(all.Select([]int{2, 0, 2})); got != "v{a,b,c} n | c 3 ×2 | a 1 ×1 | c 3 ×2" {
		t.Error(got)
	}
	if all.Weight(1) != 0.5 {
		t.Error("wrong weight")
	}
	all, _ = mustRead(t, "x.csv", "v,n\na,1\nb,2\n", Options{})
	if all.Weight(1) != 1 || all.Slice(0, 1).Weights != nil || all.Select([]int{1}).Weights != nil {
		t.Error("weights out of nothing")
	}
}

func TestSchemaNames(t *testing.T) {
	s := &Schema{Attributes: []Attribute{{Name: "a", Values: []string{"x", "y"}}, {Name: "b", Kind: Numeric}}}
	if s.Index("b") != 1 || s.Index("c") != -1 || strings.Join(s.Names(), " ") != "a b" {
		t.Error("wrong names")
	}
	if a := &s.Attributes[0]; a.Code("y") != 1 || a.Code("z") != Unseen || a.Kind.String()+s.Attributes[1].Kind.String() != "nominalnumeric" {
		t.Error("wrong codes")
	}
}

// anyTable draws tables with awkward names and cells. Texts that mean a
// missing cell are not among the names: in a file they are missing.
func anyTable(r *rapid.T) *Table {
	name := rapid.StringMatching(`[a-z ",;|\n\r\t'ä😀]{0,6}[a-z"]`)
	rows := rapid.IntRange(1, 20).Draw(r, "rows")
	schema := &Schema{}
	var columns []Column
	for range rapid.IntRange(1, 4).Draw(r, "columns") {
		a := Attribute{Name: name.Filter(func(s string) bool {
			return schema.Index(s) < 0 && strings.Trim(s, " \t") == s && !isMissing([]byte(s)) && !isQuantity([]byte(s))
		}).Draw(r, "name")}
		var c Column
		switch rapid.IntRange(0, 2).Draw(r, "kind") {
		case 0:
			a.Values = rapid.SliceOfNDistinct(rapid.OneOf(name, rapid.SampledFrom([]string{"1", "-2", " ", "x ", "\"", "\r"})).Filter(func(s string) bool { return !isMissing([]byte(s)) }), 1, 5, rapid.ID).Draw(r, "values")
			c.Codes = rapid.SliceOfN(rapid.Int32Range(Missing, int32(len(a.Values))-1), rows, rows).Draw(r, "codes")
		case 1:
			a.Kind = Numeric
			c.Floats = rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Just(NA), rapid.Just(math.Inf(1))), rows, rows).Draw(r, "floats")
		default:
			a.Kind, a.Date = Numeric, true
			c.Floats = rapid.SliceOfN(rapid.Custom(func(r *rapid.T) float64 {
				// To the millisecond, as far as a float64 of days goes.
				return float64(rapid.IntRange(firstDay, lastDay-1).Draw(r, "day")) + float64(rapid.SampledFrom([]int{0, 0, 1, 43200000, 86399999}).Draw(r, "time"))/86400e3
			}), rows, rows).Draw(r, "days")
		}
		schema.Attributes = append(schema.Attributes, a)
		columns = append(columns, c)
	}
	t, err := New(schema, columns, nil)
	if err != nil {
		r.Fatal(err)
	}
	return t
}

// What WriteCSV writes reads back to the same table.
func TestWriteCSVReadsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := anyTable(r)
		var out bytes.Buffer
		if err := want.WriteCSV(&out); err != nil {
			r.Fatal(err)
		}
		o := Options{Name: "x.csv", Schema: want.Schema}
		o.tuning.block = rapid.IntRange(1, 100).Draw(r, "block")
		got, report, err := Read(t.Context(), &out, o)
		if err != nil {
			r.Fatalf("%v\n%s", err, show(want))
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			r.Fatal(diff)
		}
		if len(report.Notes) > 0 {
			r.Fatal(report.Notes)
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteCSV(t *testing.T) {
	one, _ := mustRead(t, "x.csv", "a\n\"\"\n1\n", Options{})
	var out strings.Builder
	if err := one.WriteCSV(&out); err != nil || out.String() != "a\n\"\"\n1\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	unnamed, err := New(&Schema{Attributes: []Attribute{{Kind: Numeric}}}, []Column{{Floats: []float64{1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := unnamed.WriteCSV(&out); err != nil || out.String() != "\"\"\n1\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	if err := one.WriteCSV(full{}); err == nil {
		t.Error("a full disk is no error")
	}
	many, _ := mustRead(t, "x.csv", "a\n"+strings.Repeat("1\n", 1<<17), Options{})
	if err := many.WriteCSV(full{}); err == nil {
		t.Error("a full disk is no error")
	}
}

func TestAsClasses(t *testing.T) {
	from, _ := mustRead(t, "x.csv", "n,d,v\n10,2024-01-01,a\n-0,,b\n0,1970-01-01,\n,1970-01-01,a\n2.50,,a\n1000000,,a\n", Options{})
	got, err := AsClasses(from, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = AsClasses(got, 1); err != nil {
		t.Fatal(err)
	}
	if want := "n{0,2.5,10,1000000} d{1970-01-01,2024-01-01} v{a,b} | 10 2024-01-01 a | 0 - b | 0 1970-01-01 - | - 1970-01-01 a | 2.5 - a | 1000000 - a"; show(got) != want {
		t.Errorf("got  %s\nwant %s", show(got), want)
	}
	if again, err := AsClasses(got, 2); err != nil || again != got {
		t.Error("a nominal column is changed")
	}
	for _, col := range []int{-1, 3} {
		if _, err := AsClasses(from, col); err == nil {
			t.Errorf("no error for column %d", col)
		}
	}
	if from.Schema.Attributes[0].Kind != Numeric {
		t.Error("the table it was given has changed")
	}
}

func TestSummarise(t *testing.T) {
	from, _ := mustRead(t, "x.csv", "n,v,d,e\n1,a,2024-01-01,\n2,b,2024-01-03,\n2,b,,\ninf,,,1\n,c,,1\n", Options{Numeric: []string{"e"}})
	from.Columns[1].Codes[0] = Unseen
	got := Summarise(from)
	want := []Summary{
		{Name: "n", Kind: Numeric, Missing: 1, Distinct: 3, Min: 1, Mean: 5. / 3, Max: 2, Top: []Frequency{{"2", 2}, {"1", 1}, {"+Inf", 1}}},
		{Name: "v", Missing: 1, Distinct: 3, Min: NA, Mean: NA, Max: NA, Top: []Frequency{{"b", 2}, {"c", 1}, {"(unseen)", 1}}},
		{Name: "d", Kind: Numeric, Date: true, Missing: 3, Distinct: 2, Min: 19723, Mean: 19724, Max: 19725, Top: []Frequency{{"2024-01-01", 1}, {"2024-01-03", 1}}},
		{Name: "e", Kind: Numeric, Missing: 3, Distinct: 1, Min: 1, Mean: 1, Max: 1, Top: []Frequency{{"1", 2}}},
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Error(diff)
	}
	extreme, _ := mustRead(t, "x.csv", "n,i\n1.5e308,inf\n1.7e308,-inf\n", Options{})
	got = Summarise(extreme)
	if got[0].Mean != 1.6e308 || !IsMissing(got[1].Mean) {
		t.Errorf("means %v and %v", got[0].Mean, got[1].Mean)
	}
	many, _ := mustRead(t, "x.csv", "n\n1\n2\n3\n4\n5\n6\n6\n7\n7\n", Options{})
	if top := Summarise(many)[0].Top; len(top) != 5 || top[0] != (Frequency{"6", 2}) || top[1] != (Frequency{"7", 2}) || top[2] != (Frequency{"1", 1}) {
		t.Errorf("top %v", top)
	}
	if got := Summarise(&Table{Schema: &Schema{}}); len(got) != 0 {
		t.Error(got)
	}
}

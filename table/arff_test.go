package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/google/go-cmp/cmp"
)

const arffHeader = `% from the literature
@relation 'play tennis'

@ATTRIBUTE outlook {sunny, overcast, rainy}
@attribute 'the temp' real
@attribute "it\"s" integer
@attribute note string
@attribute day date "yyyy-MM-dd"
@attribute class {'no way', yes, NA}

@DATA
`

func TestARFF(t *testing.T) {
	const types = `outlook{sunny,overcast,rainy} the temp it"s note{%s} day:date class{no way,yes,NA}`
	for _, test := range []struct{ name, data, values, want string }{
		{"dense", "sunny,85,1,'a, b',2024-01-01,'no way'\n% comment\n\nrainy, 70.5 ,?,x y,?,yes % end\n", "a, b,x y", " | sunny 85 1 a, b 2024-01-01 no way | rainy 70.5 - x y - yes"},
		{"declared NA is a value", "?,?,?,s,?,NA\r\n", "s", " | - - - s - NA"},
		{"escapes", "sunny,1,2,'it\\'s\\n\\t\\r\\\\',?,\"no way\"\n", "it's\n\t\r\\", " | sunny 1 2 it's\n\t\r\\ - no way"},
		{"sparse", "{0 rainy, 3 'x', 4 ?}\n{1 5,3 y , 4 1970-01-02, 5 yes}\n", "x,y", " | rainy 0 0 x - no way | sunny 5 0 y 1970-01-02 yes"},
		{"weights", "sunny,1,1,s,?,yes, {2.5}\nsunny,1,1,s,?,yes\nrainy,1,1,s,?,yes,{0}\n", "s", " | sunny 1 1 s - yes ×2.5 | sunny 1 1 s - yes ×1 | rainy 1 1 s - yes ×0"},
		{"sparse weights", "{3 s, 4 ?} , {3}\n", "s", " | sunny 0 0 s - no way ×3"},
		{"percent", "sunny,1,1,50%,?,yes\t% more\nsunny,1,1,'% 7',?,'yes' % {2}\n", "% 7,50%", " | sunny 1 1 50% - yes | sunny 1 1 % 7 - yes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for block := range 20 {
				got, report := mustRead(t, "x.arff", arffHeader+test.data, Options{tuning: tuning{block: block, workers: 2}})
				if want := fmt.Sprintf(types, test.values) + test.want; show(got) != want {
					t.Fatalf("blocks of %d:\ngot  %q\nwant %q", block, show(got), want)
				}
				if report.Format != "arff" || len(report.Notes) > 0 {
					t.Errorf("%+v", report)
				}
			}
		})
	}
}

func TestARFFOptions(t *testing.T) {
	text := "@relation r\n@attribute a {0,1}\n@attribute b numeric\n@attribute b numeric\n@attribute e numeric\n@data\n1,2,3,?\n0,5,6,?\n"
	got, report := mustRead(t, "x.arff", text, Options{})
	if want := "a{0,1} b b.2 e | 1 2 3 - | 0 5 6 -"; show(got) != want || len(report.Notes) != 1 {
		t.Errorf("got %s, want %s, notes %q", show(got), want, report.Notes)
	}
	got, _ = mustRead(t, "x.arff", text, Options{Numeric: []string{"a"}, Nominal: []string{"b"}, Ignore: []string{"b.2", "e"}})
	if want := "a b{2,5} | 1 2 | 0 5"; show(got) != want {
		t.Errorf("got %s, want %s", show(got), want)
	}
	schema := &Schema{Attributes: []Attribute{{Name: "b", Kind: Numeric}, {Name: "a", Kind: Nominal, Values: []string{"1"}}}}
	got, _ = mustRead(t, "x.arff", text, Options{Schema: schema, Extend: true})
	if want := "b a{1,0} | 2 1 | 5 0"; show(got) != want {
		t.Errorf("got %s, want %s", show(got), want)
	}
	ids := "@relation r\n@attribute s string\n@attribute k {" + strings.TrimSuffix(rows(60, func(i int) string { return fmt.Sprintf("k%d,", i) }), ",\n") + "}\n@data\n"
	ids = strings.ReplaceAll(ids, ",\n", ",") + rows(60, func(i int) string { return fmt.Sprintf("s%d,k%d", i, i) })
	got, report = mustRead(t, "x.arff", ids, Options{})
	if len(got.Columns) != 1 || got.Schema.Attributes[0].Name != "k" || len(report.Notes) != 1 {
		t.Errorf("columns %v, notes %q: strings are ids, declared names are not", got.Schema.Names(), report.Notes)
	}
}

func TestBadARFF(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"@relation x\n@attribute a numeric\n", "x.arff:2:1: the file ends without an @data line; add it, and rows below it"},
		{"@relation x\n@data\n1\n", "x.arff:2:1: @data comes before any @attribute; declare the columns first"},
		{"@relation x\nhello\n", `x.arff:2:1: "hello" is not a line of an ARFF header; expected @relation, @attribute or @data`},
		{"@attribute a fancy\n", `x.arff:1:19: attribute "a" has the type "fancy"; expected numeric, real, integer, string, date or a list of names in braces`},
		{"@attribute a relational\n", `x.arff:1:24: attribute "a" holds tables, which are not read; write one row an example`},
		{"@attribute 'a numeric\n", `x.arff:1:12: the quote that opens here is not closed in its line; close it, or write it as \'`},
		{"@attribute\n", `x.arff:1:11: an attribute without a name in UTF-8; write @attribute name type`},
		{"@attribute a {b, c\n", `x.arff:1:19: the list of names is not closed; write {a, b, c}, with quotes around names that have spaces`},
		{"@attribute a {b, 'c\n", `x.arff:1:18: the quote that opens here is not closed in its line; close it, or write it as \'`},
		{"@attribute a {\xff}\n", `x.arff:1:16: a declared value is not UTF-8 text; name its encoding, or convert the file to UTF-8`},
		{"@attribute a {}\n@attribute b numeric\n@data\nx,1\n", `x.arff:4:1: column "a": "x" is not one of its declared values`},
		{"@attribute a {green,blue}\n@data\ngreen\ngren\n", `x.arff:4:1: column "a": "gren" is not one of its declared values; did you mean "green"?`},
		{"@attribute a numeric\n@data\nx\n", `x.arff:3:1: column "a": "x" is not a number, as the column's other cells are expected to be; correct the cell, or leave it empty if it is not known`},
		{"@attribute a date\n@data\n1.1.2024\n", `x.arff:3:1: column "a": "1.1.2024" is not a date such as 2024-03-01; correct the cell, or leave it empty if it is not known`},
		{"@attribute a numeric\n@attribute b numeric\n@data\n1\n", `x.arff:4:2: the row has 1 cell where 2 attributes are declared; add the missing cells as ?`},
		{"@attribute a numeric\n@data\n1,2\n", `x.arff:3:2: the row has more cells than the 1 attribute declared; quote text that contains a comma`},
		{"@attribute a string\n@data\n'x\n", `x.arff:3:1: the quote that opens here is not closed in its line; close it, or write it as \'`},
		{"@attribute a string\n@data\n'x' y\n", `x.arff:3:5: text follows the row; write one row a line, and commas between cells`},
		{"@attribute a numeric\n@data\n1,{x}\n", `x.arff:3:3: no weight in the braces that end a row; expected a finite number ≥ 0, as in {2}`},
		{"@attribute a numeric\n@data\n1,{-1}\n", `x.arff:3:3: no weight in the braces that end a row; expected a finite number ≥ 0, as in {2}`},
		{"@attribute a numeric\n@data\n{1 2}\n", `x.arff:3:2: no index of a cell in a sparse row; expected a number from 0 to 0 before the value`},
		{"@attribute a numeric\n@data\n{0 2, 0 3}\n", `x.arff:3:7: cell 0 comes twice in a sparse row; leave one out`},
		{"@attribute a numeric\n@data\n{0 2\n", `x.arff:3:1: the sparse row is not closed; write {index value, index value}`},
		{"@attribute a numeric\n@data\n{0 'x\n", `x.arff:3:4: the quote that opens here is not closed in its line; close it, or write it as \'`},
		{"@attribute a numeric\n@data\n{0 x}\n", `x.arff:3:1: column "a": "x" is not a number, as the column's other cells are expected to be; correct the cell, or leave it empty if it is not known`},
		{"@attribute a numeric\n@data\n", `x.arff: has a header but no rows; add rows of data`},
		{"", `x.arff: is empty; expected a header line and rows of data`},
	} {
		_, _, err := read(t, "x.arff", test.text, Options{})
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

// FuzzARFF reads anything to the same table for any size of blocks.
func FuzzARFF(f *testing.F) {
	for _, seed := range []string{"sunny,85,1,'a, b',2024-01-01,'no way'\n", "{0 rainy, 3 'x'}\n", "?,?,?,s,?,NA,{2}\n", "'"} {
		f.Add([]byte(arffHeader+seed), uint8(3))
	}
	f.Add([]byte("@attribute a {b,'c\\'d'}\n@data\nb"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		defer bounded.Start(t, len(data))()
		want, _, wantErr := read(t, "x.arff", string(data), Options{})
		got, _, err := read(t, "x.arff", string(data), Options{tuning: tuning{block: int(block) + 1, workers: 3}})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: error %v, want %v", data, err, wantErr)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

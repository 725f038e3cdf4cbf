package table

import (
	"strings"
	"testing"
)

// TestHeadings reads lines below a header that are no rows, and rows that look like
// them.
func TestHeadings(t *testing.T) {
	for name, c := range map[string]struct {
		text, names string
		rows        int
	}{
		"units":          {"t,p,s\n°C,bar,\n1,2,a\n3,4,b\n5,6,a\n", "t p s", 3},
		"brackets alone": {"t,s\n(°C),\n1,a\n3,b\n5,a\n", "t s", 3},
		"blank lines":    {"t,p,s\n\n°C,bar,\n\n1,2,a\n3,4,b\n5,6,a\n", "t p s", 3},
		"two lines":      {"P,,L,\na,s,c,b\n1,m,2,3\n2,f,3,4\n3,m,4,5\n", "P a|P s|L c|L b", 3},
		"index":          {",x,y\n1,2,3\n2,3,4\n3,4,5\n4,5,6\n", "c1 x y", 4},
		"not yet known":  {"id,a,b\nP1,pending,pending\nP2,3,4\nP3,5,6\nP4,7,8\n", "id a b", 4},
		"one odd cell":   {"a,b\nx,\n1,2\n3,4\n5,6\n", "a b", 4},
		"missing words":  {"a,b\nn/a,-\n1,2\n3,4\n5,6\n", "a b", 4},
		"too few":        {"t,p\n°C,bar\n1,2\n3,4\n", "t p", 3},
		"names below":    {"t,s\n°C,low\n1,low\n3,high\n5,low\n", "t s", 4},
	} {
		read, report, err := Read(t.Context(), strings.NewReader(c.text), Options{Name: "x.csv"})
		if err != nil {
			t.Fatal(name, err)
		}
		want := strings.Fields(c.names)
		if strings.Contains(c.names, "|") {
			want = strings.Split(c.names, "|")
		}
		got := append(read.Schema.Names(), report.IDs...)
		if read.Rows() != c.rows || strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("%s: %d rows of %q, want %d of %q", name, read.Rows(), got, c.rows, want)
		}
	}
}

// TestHeadingAgain reads a file with units, as short as it may be, for a model.
func TestHeadingAgain(t *testing.T) {
	const head = "t,p,s\n°C,bar,\n"
	learnt, _, err := Read(t.Context(), strings.NewReader(head+"1,2,a\n3,4,b\n5,6,a\n"), Options{Name: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{head + "7,8,a\n", "t,p,s\n7,8,a\n"} {
		again, _, err := Read(t.Context(), strings.NewReader(text), Options{Name: "y.csv", Schema: learnt.Schema})
		if err != nil || again.Rows() != 1 || again.Columns[0].Floats[0] != 7 {
			t.Errorf("%q: %v %v", text, again, err)
		}
	}
	_, _, err = Read(t.Context(), strings.NewReader("t,p,s\n7,bar,a\n"), Options{Name: "y.csv", Schema: learnt.Schema})
	if err == nil || !strings.Contains(err.Error(), `y.csv:2:3: column "p": "bar" is not a number`) {
		t.Error(err)
	}
}

// TestMissingCodes declares numbers missing, in one column and in the style of each.
func TestMissingCodes(t *testing.T) {
	const text = "a;b;c\n-999,0;-999;x\n1,5;2;-999.0\n2,5;-999.00;y\n"
	read, _, err := Read(t.Context(), strings.NewReader(text), Options{Name: "x.csv", Missing: []string{"a=-999", "b=-999", "d=7"}})
	if err != nil {
		t.Fatal(err)
	}
	if x := read.Columns[0].Floats; !IsMissing(x[0]) || x[1] != 1.5 {
		t.Errorf("a is %v", x)
	}
	if x := read.Columns[1].Floats; !IsMissing(x[0]) || x[1] != 2 || !IsMissing(x[2]) {
		t.Errorf("b is %v", x)
	}
	if values := read.Schema.Attributes[2].Values; len(values) != 3 {
		t.Errorf("c has %q", values)
	}
	again, _, err := Read(t.Context(), strings.NewReader("a;b\n-999;-999.0\n"), Options{Name: "y.csv", Schema: read.Schema})
	if err != nil || !IsMissing(again.Columns[0].Floats[0]) || !IsMissing(again.Columns[1].Floats[0]) {
		t.Errorf("a model reads %v, %v", again, err)
	}
}

package datasets

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

func load(t testing.TB, name string) (*table.Table, Set) {
	t.Helper()
	rows, set, err := Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return rows, set
}

func TestEverySetIsAsItSays(t *testing.T) {
	for _, set := range All() {
		rows, loaded := load(t, set.Name)
		if rows.Rows() != set.Rows || len(rows.Columns) != set.Columns {
			t.Errorf("%s: %d rows, %d columns; its entry says %d and %d", set.Name, rows.Rows(), len(rows.Columns), set.Rows, set.Columns)
		}
		if rows.Schema.Index(set.Target) < 0 {
			t.Errorf("%s: target %q is not a column", set.Name, set.Target)
		}
		if set.Title == "" || set.Source == "" || set.Terms == "" {
			t.Errorf("%s: title, source or terms are empty", set.Name)
		}
		for _, column := range set.Nominal {
			if i := rows.Schema.Index(column); i < 0 || rows.Schema.Attributes[i].Kind != table.Nominal {
				t.Errorf("%s: %q is not a nominal column", set.Name, column)
			}
		}
		for column, values := range set.Values {
			i := rows.Schema.Index(column)
			if i < 0 || !slices.Equal(rows.Schema.Attributes[i].Values, values) {
				t.Errorf("%s: %q does not have the declared values %q", set.Name, column, values)
			}
		}
		for _, column := range set.Ignore {
			if rows.Schema.Index(column) >= 0 {
				t.Errorf("%s: %q was not ignored", set.Name, column)
			}
		}
		if set.Test != "" {
			test, _ := load(t, set.Test)
			if !slices.Equal(test.Schema.Names(), rows.Schema.Names()) {
				t.Errorf("%s and %s have different columns", set.Name, set.Test)
			}
		}
		if loaded.Name != set.Name {
			t.Errorf("Load(%q) says %q", set.Name, loaded.Name)
		}
	}
}

func TestTargetsAreWhatTheyShouldBe(t *testing.T) {
	numeric := []string{"auto-mpg", "boston", "machine-cpu", "servo"}
	for _, set := range All() {
		rows, _ := load(t, set.Name)
		a := rows.Schema.Attributes[rows.Schema.Index(set.Target)]
		if (a.Kind == table.Numeric) != slices.Contains(numeric, set.Name) {
			t.Errorf("%s: target %s is %v", set.Name, set.Target, a.Kind)
		}
	}
}

func TestFilesAreSmallAndListed(t *testing.T) {
	entries, err := files.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(collected) {
		t.Errorf("%d files for %d sets", len(entries), len(collected))
	}
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() >= 100_000 {
			t.Errorf("%s has %d bytes, expected less than 100 kB", e.Name(), info.Size())
		}
		sum += info.Size()
		if !slices.ContainsFunc(collected, func(s Set) bool { return s.Name+".csv.gz" == e.Name() }) {
			t.Errorf("%s is not in the catalogue", e.Name())
		}
	}
	if sum > 1_500_000 {
		t.Errorf("embedded data has %d bytes, expected less than 1.5 MB", sum)
	}
}

func TestNamesAreSortedAndDifferent(t *testing.T) {
	seen := map[string]bool{}
	var names [2][]string
	for _, s := range All() {
		kind := 0
		if s.Parameters != nil {
			kind = 1
		}
		names[kind] = append(names[kind], s.Name)
		for _, name := range append(s.Aliases, s.Name) {
			if seen[name] {
				t.Errorf("two sets are named %q", name)
			}
			seen[name] = true
		}
	}
	for _, n := range names {
		if !slices.IsSorted(n) {
			t.Errorf("not sorted: %v", n)
		}
	}
}

func TestAliases(t *testing.T) {
	for alias, name := range map[string]string{
		"house_votes84": "votes", "mitchell_playtennis": "play-tennis", "mitchell_enjoysport": "enjoy-sport",
		"boston_housing": "boston", "monks1_train": "monks1", "monks3_test": "monks3-test", "pima_diabetes": "pima",
	} {
		if s, err := Lookup(alias); err != nil || s.Name != name {
			t.Errorf("Lookup(%q) = %q, %v; expected %q", alias, s.Name, err, name)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		unknown    bool
	}{
		{"iriss", `unknown data set "iriss"; did you mean "iris"?`, true},
		{"", `unknown data set ""; known are`, true},
		{"iris:rows=3", `data set "iris" takes no parameters: leave out ":rows=3"`, false},
		{"led:nois=0.1", `data set "led:nois=0.1": unknown parameter "nois"; did you mean "noise"?`, false},
		{"led:rows", `data set "led:rows": parameter "rows" has no value; expected name=value, as in rows=1000`, false},
		{"led:rows=ten", `data set "led:rows=ten": parameter rows=ten: expected a whole number from 1 to 10000000`, false},
		{"led:rows=10,3", `data set "led:rows=10,3": parameter rows=10,3: expected a whole number from 1 to 10000000`, false},
		{"led:rows=1,rows=2", `data set "led:rows=1,rows=2": parameter rows is given twice`, false},
		{"led:noise=1.5", `data set "led:noise=1.5": parameter noise=1.5: expected a number from 0 to 1`, false},
		{"led:noise=NaN", `data set "led:noise=NaN": parameter noise=NaN: expected a number from 0 to 1`, false},
		{"led:seed=-1", `data set "led:seed=-1": parameter seed=-1: expected a whole number ≥ 0`, false},
		{"boolean:each=2,rows=3", `data set "boolean:each=2,rows=3": parameter each=2: expected no rows beside it`, false},
		{"parity:bits=21", `data set "parity:bits=21": parameter bits=21: expected a whole number from 1 to 20`, false},
		{"circles:classes=1,6", `data set "circles:classes=1,6": parameter classes=1,6: expected different whole numbers from 1 to 5`, false},
		{"circles:classes=1,1", `data set "circles:classes=1,1": parameter classes=1,1: expected different whole numbers`, false},
	} {
		_, err := Lookup(c.name)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Lookup(%q):\n got %v\nwant %s…", c.name, err, c.want)
		}
		if errors.Is(err, ErrUnknown) != c.unknown {
			t.Errorf("Lookup(%q): errors.Is(%v, ErrUnknown) is not %v", c.name, err, c.unknown)
		}
		if _, _, err := Load(context.Background(), c.name); err == nil {
			t.Errorf("Load(%q) did not fail", c.name)
		}
		if _, _, err := Open(c.name); err == nil {
			t.Errorf("Open(%q) did not fail", c.name)
		}
	}
}

func TestCancelledLoad(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"iris", "led"} {
		if _, _, err := Load(ctx, name); !errors.Is(err, context.Canceled) {
			t.Errorf("Load(%q) of a cancelled context: %v", name, err)
		}
	}
	if _, err := (plan{rows: 1, fill: func([]table.Column) {}}).generate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("generate: %v", err)
	}
}

// What is opened and read as a file gives the same cells as what is loaded.
func TestOpenAgreesWithLoad(t *testing.T) {
	for _, name := range []string{"votes", "soybean", "enjoy-sport", "led:rows=50", "circles", "mixed:rows=200,missing=0.1", "parity:bits=3"} {
		r, set, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(r).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		rows, _ := load(t, name)
		if len(lines)-1 != rows.Rows() {
			t.Fatalf("%s: %d rows opened, %d loaded", name, len(lines)-1, rows.Rows())
		}
		at := 0
		for j, column := range lines[0] {
			if slices.Contains(set.Ignore, column) {
				continue
			}
			if rows.Schema.Attributes[at].Name != column {
				t.Fatalf("%s: column %q opened, %q loaded", name, column, rows.Schema.Attributes[at].Name)
			}
			for row := range rows.Rows() {
				if got := rows.Text(row, at); got != lines[row+1][j] {
					t.Fatalf("%s: row %d, column %q: %q opened, %q loaded", name, row+1, column, lines[row+1][j], got)
				}
			}
			at++
		}
	}
}

func TestReadingInSmallSteps(t *testing.T) {
	whole, _, _ := Open("parity:bits=2")
	text, err := io.ReadAll(whole)
	if err != nil || string(text) != "b1,b2,odd\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n" {
		t.Fatalf("%q, %v", text, err)
	}
	r, _, _ := Open("parity:bits=2")
	var got []byte
	for p := make([]byte, 1); ; {
		n, err := r.Read(p)
		got = append(got, p[:n]...)
		if err == io.EOF {
			break
		}
	}
	if string(got) != string(text) {
		t.Errorf("byte by byte: %q", got)
	}
}

// Declared values come first, undeclared ones after them, and missing cells
// stay missing.
func TestDeclare(t *testing.T) {
	rows, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Kind: table.Nominal, Values: []string{"Rainy", "Odd", "Sunny"}},
		{Name: "n", Kind: table.Numeric},
	}}, []table.Column{{Codes: []int32{0, 1, 2, table.Missing, table.Unseen}}, {Floats: []float64{1, 2, 3, 4, 5}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := Set{Values: map[string][]string{"sky": {"Sunny", "Cloudy", "Rainy"}, "n": {"1"}, "absent": {"a"}}}
	got, err := set.Declare(rows)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Sunny", "Cloudy", "Rainy", "Odd"}; !slices.Equal(got.Schema.Attributes[0].Values, want) {
		t.Errorf("values %q, expected %q", got.Schema.Attributes[0].Values, want)
	}
	if want := []int32{2, 3, 0, table.Missing, table.Unseen}; !slices.Equal(got.Columns[0].Codes, want) {
		t.Errorf("codes %v, expected %v", got.Columns[0].Codes, want)
	}
	if rows.Schema.Attributes[0].Values[0] != "Rainy" || rows.Columns[0].Codes[0] != 0 {
		t.Error("the given table was changed")
	}
}

func TestSetsAreCopies(t *testing.T) {
	s, _ := Lookup("enjoy-sport")
	s.Values["sky"][0] = "changed"
	s.Aliases[0] = "changed"
	if again, _ := Lookup("enjoy-sport"); again.Values["sky"][0] != "Sunny" || again.Aliases[0] == "changed" {
		t.Error("a caller's change reached the catalogue")
	}
}

// Any name gives a set or an error of one line.
func FuzzLookup(f *testing.F) {
	for _, name := range []string{"iris", "led:rows=1000,noise=0.1,seed=3", "circles:classes=1,3,5", "led:", "led:=", "boolean:each=", ":", "parity:bits=3,rows=0x1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		defer bounded.Start(t, len(name))()
		set, err := Lookup(name)
		if err == nil && (set.Rows < 1 || set.Rows > maxRows || set.Columns < 2) {
			t.Errorf("%d rows, %d columns", set.Rows, set.Columns)
		}
		if err != nil && !strings.Contains(name, "\n") && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	})
}

func ExampleLoad() {
	rows, set, err := Load(context.Background(), "play-tennis")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Title)
	fmt.Println(rows.Rows(), "rows:", strings.Join(rows.Schema.Names(), ", "))
	// Output:
	// Fourteen days on which somebody did or did not play tennis
	// 14 rows: outlook, temperature, humidity, wind, playtennis
}

func ExampleLookup() {
	set, _ := Lookup("circles:rows=300,classes=1,3,5")
	fmt.Println(set.Rows, set.Values["ring"])
	_, err := Lookup("circles:class=1")
	fmt.Println(err)
	// Output:
	// 300 [1 3 5]
	// data set "circles:class=1": unknown parameter "class"; did you mean "classes"?
}

package portable_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/table"
)

const small = `{"format": "accrete program", "version": 1, "target": {"name": "y", "classes": ["b", "a"]},
 "columns": [{"name": "x", "kind": "numeric"}, {"name": "c", "kind": "nominal", "values": ["u", "v"]}],
 "steps": [
  {"op": "cell", "width": 1, "numbers": [0.5]},
  {"op": "lookup", "width": 2, "column": 1, "numbers": [0, 0, 1, -1, 2, 3]},
  {"op": "walk", "width": 2, "nodes": [{"branches": [{"test": {"op": "between", "high": 2}, "to": 1, "share": 0.25}, {"test": {"op": "not in", "column": 1, "values": [0]}, "to": 2, "share": 0.75}]}, {}, {"row": 1}], "numbers": [1, 0, 0, 1]},
  {"op": "sum", "width": 2, "tests": [{"op": "at least", "count": 1, "tests": [{"op": "above", "of": 0, "low": 1}, {"op": "missing", "column": 1}]}], "numbers": [0.5, 0.25, 1, 2]},
  {"op": "add", "width": 2, "of": [1, 2]}, {"op": "multiply", "width": 2, "of": [4, 0]}, {"op": "add", "width": 2, "of": [5, 3]},
  {"op": "affine", "width": 2, "of": [6], "numbers": [0, 1, 2, 3, 4, 5]}, {"op": "softmax", "width": 2, "of": [7]}, {"op": "best", "width": 2, "of": [8], "order": [1, 0]},
  {"op": "choose", "width": 2, "of": [8, 9], "tests": [{"op": "known"}]}],
 "answer": {"probabilities": 10}}`

// Any bytes give a program that runs and is printed, or an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(strings.Replace(small, `"version": 1`, `"version": 2`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		defer bounded.Start(t, len(text))()
		p, err := portable.Decode(text)
		if err != nil {
			return
		}
		rows := &table.Table{Schema: &table.Schema{}}
		for i := range p.Columns {
			a := table.Attribute{Name: p.Columns[i].Name, Values: p.Columns[i].Values, Kind: table.Nominal}
			c := table.Column{Codes: []int32{table.Missing, table.Unseen, 0}}
			if !p.Columns[i].Nominal() {
				a.Kind, c = table.Numeric, table.Column{Floats: []float64{math.NaN(), 1, -1}}
			}
			rows.Schema.Attributes, rows.Columns = append(rows.Schema.Attributes, a), append(rows.Columns, c)
		}
		runner := portable.NewRunner(p)
		for r := range 3 {
			runner.Row(rows, r)
		}
		if len(text) > 1<<14 {
			return
		}
		if _, err := p.Go("p", "P"); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, dialect := range portable.Dialects {
			if _, err := p.SQL(dialect, "rows"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.JS("p"); err != nil {
			t.Fatal(err)
		}
	})
}

// portable.Decode takes time in proportion to the text.
func TestDecodeGrows(t *testing.T) {
	head := `{"format": "accrete program", "version": 1, "target": {"name": "y"}, "columns": [{"name": "x", "kind": "numeric"}`
	for name, part := range map[string]struct {
		head string
		each func(i int) string
		tail string
	}{
		"columns": {head, func(i int) string { return fmt.Sprintf(`,{"name": "x%d", "kind": "nominal"}`, i) }, `]}`},
		"steps":   {head + `], "steps": [{"op": "cell", "width": 1, "numbers": [0]}`, func(i int) string { return fmt.Sprintf(`,{"op": "exp", "width": 1, "of": [%d]}`, i) }, `], "answer": {"number": 1}}`},
		"wide":    {head + `], "steps": [{"op": "constant", "width": 65536, "numbers": [0`, func(i int) string { return `,1` }, `]}], "answer": {"number": 0}}`},
		"tests":   {head + `], "steps": [{"op": "sum", "width": 1, "tests": [{"op": "known"}`, func(i int) string { return `,{"op": "known"}` }, `]}], "answer": {"number": 0}}`},
		"nested":  {head + `], "steps": [{"op": "sum", "width": 1, "tests": [`, func(i int) string { return `{"op": "not", "tests": [` }, `]}], "answer": {"number": 0}}`},
		"nodes":   {head + `], "steps": [{"op": "walk", "width": 1, "numbers": [0], "nodes": [{"branches": [{"test": {"op": "known"}, "to": 1}]}`, func(i int) string { return fmt.Sprintf(`,{"branches": [{"test": {"op": "known"}, "to": %d}]}`, i+2) }, `]}], "answer": {"number": 0}}`},
	} {
		t.Run(name, func(t *testing.T) {
			bounded.Worst(t, func(size int) []byte {
				var b strings.Builder
				b.WriteString(part.head)
				for i := 0; b.Len() < size; i++ {
					b.WriteString(part.each(i))
				}
				b.WriteString(part.tail)
				return []byte(b.String())
			}, func(text []byte) { _, _ = portable.Decode(text) })
		})
	}
}

// The schema that is documented names every step and test that there is.
func TestSchemaNamesAll(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/program.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("portable.go")
	if err != nil {
		t.Fatal(err)
	}
	for kind, def := range map[string]string{"Op": "step", "TestOp": "test"} {
		_, block, _ := strings.Cut(string(source), " "+kind+" = \"")
		block, _, _ = strings.Cut(" = \""+block, "\n)")
		var ops []string
		for _, m := range regexp.MustCompile(` = "([^"]+)"`).FindAllStringSubmatch(block, -1) {
			ops = append(ops, m[1])
		}
		if got := schema.Defs[def].Properties["op"].Enum; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(ops))) {
			t.Errorf("the schema has %v, the code %v", got, ops)
		}
	}
}

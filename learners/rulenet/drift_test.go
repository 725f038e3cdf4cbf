package rulenet

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Cuts that were frozen say when the numbers have left them, and not before.
func TestMovedNumbers(t *testing.T) {
	rows, target := load(t, "pima")
	column := -1
	for i, a := range rows.Schema.Attributes {
		if a.Kind == table.Numeric && column < 0 && i != target {
			column = i
		}
	}
	name := rows.Schema.Attributes[column].Name
	grow := func(shift float64) []string {
		m := learnOrFail(t, rows.Slice(0, 400), target, map[string]string{"weights": "published", "update": "published"})
		more, _, err := table.Conform(rows.Slice(400, rows.Rows()), m.Schema(), true)
		if err != nil {
			t.Fatal(err)
		}
		floats := make([]float64, more.Rows())
		for i, x := range more.Columns[column].Floats {
			floats[i] = x + shift
		}
		columns := append([]table.Column(nil), more.Columns...)
		columns[column].Floats = floats
		if more, err = table.New(more.Schema, columns, nil); err != nil {
			t.Fatal(err)
		}
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(background, more); err != nil {
			t.Fatal(err)
		}
		grown, err := u.Freeze(background)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := grown.Parts()
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := learn.DecodeParts(Name, parts)
		if err != nil {
			t.Fatal(err)
		}
		remarks, err := loaded.(*Model).Remarks()
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, r := range remarks {
			said = append(said, r.String())
		}
		return said
	}
	if said := grow(0); len(said) > 0 {
		t.Errorf("rows of the same kind: %v", said)
	}
	if said := grow(6); len(said) != 1 || !strings.Contains(said[0], "the numbers of "+name+" have moved") {
		t.Errorf("%s is 6 more: %v", name, said)
	}
}

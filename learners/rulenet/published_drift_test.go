package rulenet

import (
	"slices"
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

// Numbers that have left the cuts are cut again, and the network is then that
// of the batch search on all rows. One that does not keep them only says so.
func TestNumbersAreCutAgain(t *testing.T) {
	rows, target := load(t, "pima")
	settings := map[string]string{"weights": "published", "update": "published"}
	column := 0
	floats := make([]float64, rows.Rows())
	for r, x := range rows.Columns[column].Floats {
		if floats[r] = x; r >= 400 {
			floats[r] += 100
		}
	}
	columns := append([]table.Column(nil), rows.Columns...)
	columns[column] = table.Column{Floats: floats}
	shifted, err := table.New(rows.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(m *Model) *Model {
		more, _, err := table.Conform(shifted.Slice(400, shifted.Rows()), m.Schema(), true)
		if err != nil {
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
		return grown.(*Model)
	}
	m := learnOrFail(t, shifted.Slice(0, 400), target, settings)
	grown := grow(m)
	remarks, err := grown.Remarks()
	if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0].String(), "cut again") {
		t.Errorf("it says %v, %v", remarks, err)
	}
	whole := learnOrFail(t, shifted, target, settings)
	if got, want := grown.coding.cuts[column].At, whole.coding.cuts[column].At; !slices.Equal(got, want) {
		t.Errorf("cut at %v, expected %v", got, want)
	}
	if a, b := grown.Size(), whole.Size(); a != b {
		t.Errorf("%+v after cutting again, %+v at once", a, b)
	}
	m.incremental.cells = cells{} // as networks were saved before numbers were kept
	grown = grow(m)
	remarks, err = grown.Remarks()
	if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0].String(), "cuts stay") {
		t.Errorf("without the numbers it says %v, %v", remarks, err)
	}
}

// A network that began with one row comes to have cuts.
func TestCutsFromOneRow(t *testing.T) {
	rows, target := load(t, "pima")
	m := learnOrFail(t, rows.Slice(0, 1), target, map[string]string{"weights": "published", "update": "published"})
	fitted, _, err := table.Conform(rows, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	var grown learn.Model
	for r := 1; r < fitted.Rows(); r += 100 {
		if err := u.Add(background, fitted.Slice(r, min(r+100, fitted.Rows()))); err != nil {
			t.Fatal(err)
		}
		if grown, err = u.Freeze(background); err != nil {
			t.Fatal(err)
		}
	}
	if got := accuracy(t, grown, rows); got < 0.7 { // always the commoner class is right in 65 %
		t.Errorf("right on %v of the rows, with %d rules", got, grown.Size().Rules)
	}
}

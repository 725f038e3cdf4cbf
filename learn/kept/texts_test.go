package kept

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// drawTexts draws a table, if wanted with a text column behind the others: texts
// are missing, without words, or of words whose dictionary is in any order, some
// of them listed with a count of 0.
func drawTexts(t *rapid.T, wanted bool) *table.Table {
	rows := drawKept(t)
	if !wanted {
		return rows
	}
	words := rapid.Permutation([]string{"fever", "cough", "10", "9", "rain"}).Draw(t, "words")
	bag := &table.Bag{Starts: []int{0}, Gone: make([]bool, rows.Rows())}
	for r := range rows.Rows() {
		if bag.Gone[r] = rapid.IntRange(0, 4).Draw(t, "gone") == 0; !bag.Gone[r] {
			for code := range words {
				if rapid.Bool().Draw(t, "has") {
					bag.Codes = append(bag.Codes, int32(code))
					bag.Counts = append(bag.Counts, rapid.SampledFrom([]float64{0, 1, 2, 0.5}).Draw(t, "count"))
				}
			}
		}
		bag.Starts = append(bag.Starts, len(bag.Codes))
	}
	schema := table.CopySchema(rows.Schema)
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "note", Kind: table.Text, Values: words})
	with, err := table.New(schema, append(slices.Clone(rows.Columns), table.Column{Words: bag}), rows.Weights)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

// notes is a table of a class and a text.
func notes(t testing.TB, texts ...string) *table.Table {
	t.Helper()
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "note", Kind: table.Text}, {Name: "class"}}})
	for i, text := range texts {
		if err := b.String(0, text); err != nil {
			t.Fatal(err)
		}
		if err := b.String(1, []string{"ill", "well"}[i%2]); err != nil {
			t.Fatal(err)
		}
		b.End()
	}
	rows, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func noted(t testing.TB, id string, texts ...string) *Rows { return (&Rows{}).and(t, id, texts...) }

// and adds a source of texts, as an update of a model of these rows does.
func (r *Rows) and(t testing.TB, id string, texts ...string) *Rows {
	t.Helper()
	ctx := context.Background()
	rows := notes(t, texts...)
	var known *table.Schema
	if len(r.blocks) > 0 {
		whole, err := r.Table(ctx)
		if err != nil {
			t.Fatal(err)
		}
		known = whole.Schema
		if rows, _, err = table.Conform(rows, known, true); err != nil {
			t.Fatal(err)
		}
	}
	g := r.Gather(learn.Source{ID: id}, 1, known).Texts()
	if err := g.Add(ctx, rows); err != nil {
		t.Fatal(err)
	}
	all, err := g.Rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTextsOfManySources: however many sources bring texts, in bundles and one by
// one, rows are read back as they were; words leave with the source that brought
// them; and a view shows what the table has.
func TestTextsOfManySources(t *testing.T) {
	ctx := context.Background()
	rows := noted(t, "0", "fever cough", "sun", "", ".")
	for i := range bundle.Fan + 2 {
		rows = rows.and(t, fmt.Sprint(i+1), fmt.Sprintf("fever word%d fever", i), "sun", ".")
	}
	want, err := rows.Table(ctx)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := rows.Parts()
	if err != nil || len(parts) > 5 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	again, err := DecodeRows(parts)
	if err != nil {
		t.Fatal(err)
	}
	view, err := again.View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := view.Table(ctx)
	if err != nil || !sameTable(got, want) {
		t.Fatalf("another table, %v", err)
	}
	if bag := view.Words(0); bag.Rows() != want.Rows() || view.Code(0, 0) != table.Missing || !table.IsMissing(view.Float(0, 0)) {
		t.Errorf("%d texts of %d, or a text has a code", bag.Rows(), want.Rows())
	}
	left, err := again.Forget("3")
	if err != nil {
		t.Fatal(err)
	}
	without, err := left.Table(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if a := &without.Schema.Attributes[0]; a.Code("word2") >= 0 || a.Code("word1") < 0 || a.Code("fever") < 0 {
		t.Errorf("words %v", a.Values)
	}
	if learnt, err := left.Learnt(ctx, want.Schema); err != nil || len(learnt) != bundle.Fan+2 || learnt[0].Table.Text(0, 0) == "" && learnt[0].Table.Text(1, 0) == "" {
		t.Errorf("%d sources, %v", len(learnt), err)
	}
}

// TestTextsAreLeftOut: a learner that does not ask for texts has rows without
// them, wherever its target stands.
func TestTextsAreLeftOut(t *testing.T) {
	ctx := context.Background()
	rows := notes(t, "fever", "sun", "")
	g := (&Rows{}).Gather(learn.Source{ID: "a"}, 1, nil)
	if err := g.Add(ctx, rows); err != nil {
		t.Fatal(err)
	}
	kept, err := g.Rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := kept.Table(ctx)
	if err != nil || len(got.Columns) != 1 || got.Schema.Attributes[0].Name != "class" || got.Rows() != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	v, _, err := Survey(ctx, rows, learn.Source{}, 1)
	if err != nil || len(v.Schema.Attributes) != 1 || v.Rows() != 2 {
		t.Errorf("%v", err)
	}
	v, _, err = SurveyTexts(ctx, rows, learn.Source{}, 1)
	if err != nil || len(v.Schema.Attributes) != 2 || v.Rows() != 3 {
		t.Errorf("%v", err)
	}
}

// TestDamagedTexts: what is not sound is refused.
func TestDamagedTexts(t *testing.T) {
	for name, bag := range map[string]*table.Bag{
		"word beyond":  {Starts: []int{0, 1}, Codes: []int32{5}, Counts: []float64{1}},
		"out of order": {Starts: []int{0, 2}, Codes: []int32{1, 0}, Counts: []float64{1, 1}},
		"no count":     {Starts: []int{0, 1}, Codes: []int32{1}, Counts: []float64{0}},
		"too many":     {Starts: []int{0, 4}, Codes: []int32{0, 1, 1, 1}, Counts: []float64{1, 1, 1, 1}},
	} {
		p := packTexts(bag)
		if _, err := p.unpack(1, 2); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	if _, err := decodeTextBundle([][]byte{nil}); err == nil {
		t.Error("a bundle of one source is read")
	}
}

package kept

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// A view shows the table to the bit, and what is surveyed is what is gathered.
func TestViewIsTheTable(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		check := func(v *View, want *table.Table) {
			if !slices.Equal(v.Weights, want.Weights) || v.Rows() != want.Rows() {
				t.Fatalf("%d rows of weights %v, want %d of %v", v.Rows(), v.Weights, want.Rows(), want.Weights)
			}
			for col, c := range want.Columns {
				if c.Codes != nil && !slices.Equal(v.Codes(col), c.Codes) {
					t.Fatalf("codes %v, want %v", v.Codes(col), c.Codes)
				}
				for row, code := range c.Codes {
					narrow := v.Narrow(col, 99)[row]
					if v.Code(col, row) != code || narrow != uint8(code) && (code >= 0 || narrow != 99) {
						t.Fatalf("row %d has code %d or %d, want %d", row, v.Code(col, row), narrow, code)
					}
				}
				for row, x := range c.Floats {
					if !sameBits(v.Float(col, row), x) {
						t.Fatalf("row %d has number %v, want %v", row, v.Float(col, row), x)
					}
				}
			}
			hashes, err := v.Hashes(ctx)
			wanted, _ := HashRows(ctx, want)
			if err != nil || !slices.Equal(hashes, wanted) {
				t.Fatalf("hashes %v, want %v, %v", hashes, wanted, err)
			}
			same, err := v.Table(ctx)
			if err != nil || !sameTable(same, want) {
				t.Fatalf("another table, %v", err)
			}
		}
		first := drawKept(t)
		v, keep, err := Survey(ctx, first, learn.Source{ID: "a"}, 2)
		if err != nil {
			t.Fatal(err)
		}
		g := (&Rows{}).Gather(learn.Source{ID: "a"}, 2, nil)
		if err := g.Add(ctx, first); err != nil {
			t.Fatal(err)
		}
		gathered, err := g.Rows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gathered.Table(ctx)
		if err != nil {
			t.Fatal(err)
		}
		check(v, want)
		check(ViewOf(want), want)
		kept, err := keep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := kept.Parts()
		wanted, _ := gathered.Parts()
		if err != nil || !reflect.DeepEqual(saved, wanted) {
			t.Fatalf("other rows are kept than gathered, %v", err)
		}

		g = kept.Gather(learn.Source{ID: "b"}, 2, nil)
		if err := g.Add(ctx, drawKept(t)); err != nil {
			t.Fatal(err)
		}
		both, err := g.Rows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if want, err = both.Table(ctx); err != nil {
			t.Fatal(err)
		}
		if v, err = both.View(ctx); err != nil {
			t.Fatal(err)
		}
		check(v, want)
	})
}

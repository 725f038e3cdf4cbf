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

// Rows of many sources come back as they were, source by source, from few
// parts; forgetting and adding go on from there as if nothing had been saved.
func TestBundlesAreTheirSources(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		rows := &Rows{}
		add := func(r *Rows, id string, tbl *table.Table) *Rows {
			g := r.Gather(learn.Source{ID: id, Name: "name of " + id}, 2, nil)
			if err := g.Add(ctx, tbl); err != nil {
				t.Fatal(err)
			}
			more, err := g.Rows(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return more
		}
		n := rapid.IntRange(1, 40).Draw(t, "sources")
		for i := range n {
			rows = add(rows, fmt.Sprint(i), drawKept(t))
		}
		again := func(r *Rows) *Rows {
			parts, err := r.Parts()
			if err != nil {
				t.Fatal(err)
			}
			if len(parts) != len(bundle.Sizes(len(r.blocks))) {
				t.Fatalf("%d sources in %d parts", len(r.blocks), len(parts))
			}
			read, err := DecodeRows(parts)
			if err != nil {
				t.Fatal(err)
			}
			// What was read is saved as it was, also by who did not read it.
			fresh, err := (&Rows{blocks: read.blocks}).Parts()
			if err != nil {
				t.Fatal(err)
			}
			for i := range parts {
				if parts[i].Name != fresh[i].Name || !slices.Equal(parts[i].Data, fresh[i].Data) {
					t.Fatalf("part %q is not what was read", parts[i].Name)
				}
			}
			return read
		}
		same := func(what string, got, want *Rows) {
			if !slices.Equal(got.Sources(), want.Sources()) {
				t.Fatalf("%s: sources %v, expected %v", what, got.Sources(), want.Sources())
			}
			pairs := [][2]*Rows{{got, want}}
			for i := range want.blocks {
				pairs = append(pairs, [2]*Rows{{blocks: got.blocks[i : i+1]}, {blocks: want.blocks[i : i+1]}})
			}
			for _, p := range pairs {
				a, err := p[0].Table(ctx)
				if err != nil {
					t.Fatal(err)
				}
				b, err := p[1].Table(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if !sameTable(a, b) {
					t.Fatalf("%s: rows differ", what)
				}
			}
		}
		read := again(rows)
		same("read", read, rows)
		last := drawKept(t)
		same("one more", again(add(read, "last", last)), add(rows, "last", last))
		same("more of one", again(add(read, "0", last)), add(rows, "0", last))
		if n > 1 {
			id := fmt.Sprint(rapid.IntRange(0, n-1).Draw(t, "forgotten"))
			a, err := read.Forget(id)
			if err != nil {
				t.Fatal(err)
			}
			b, err := rows.Forget(id)
			if err != nil {
				t.Fatal(err)
			}
			same("one less", again(a), b)
		}
	})
}

// An update writes what is new: of a thousand sources few parts change.
func TestUpdateWritesWhatIsNew(t *testing.T) {
	rows := &Rows{}
	one := kept([]string{"red", "blue"}, []int32{0, 1}, []float64{1, 2}, []int32{0, 1}, nil)
	for i := range 600 {
		rows = gather(t, rows, fmt.Sprint(i), nil, one)
	}
	before, err := rows.Parts()
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeRows(before)
	if err != nil {
		t.Fatal(err)
	}
	after, err := gather(t, read, "new", nil, one).Parts()
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, p := range after {
		if !slices.ContainsFunc(before, func(b learn.Part) bool { return b.Name == p.Name && &b.Data[0] == &p.Data[0] }) {
			changed++
		}
	}
	if len(before) > 3*bundle.Fan || changed != 1 {
		t.Errorf("%d parts, of which an update wrote %d", len(before), changed)
	}
	if got, want := len(inWholes(read.blocks)), len(before); got != want {
		t.Errorf("the rows are joined from %d blocks, expected %d", got, want)
	}
}

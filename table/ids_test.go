package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A survey does not keep the names of ids, and finds what it would find if it
// did: names that come again only later are kept after all.
func TestIDsAreNotKept(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,late,user,price,mixed,y\n")
	for i := range 3000 {
		late := fmt.Sprint(i % 7)
		if i > 1200 { // numbers first, and then ids
			late = fmt.Sprintf("k%d", i)
		}
		user, mixed := i, fmt.Sprintf("%d/b", i%1000)
		if i >= 900 {
			user = i % 900
		}
		if i == 0 {
			mixed = "17"
		}
		fmt.Fprintf(&text, "r%dx,%s,u%d,%d.%02d €,%s,%c\n", i, late, user, i, i%100, mixed, "ab"[i%2])
	}
	want, whole := mustRead(t, "x.csv", text.String(), Options{Target: "y"})
	source, err := NewSource(t.Context(), strings.NewReader(text.String()), Options{Name: "x.csv", Target: "y", tuning: tuning{block: 2000, names: 100}})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	got, err := All(source)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Schema.Names(), []string{"user", "price", "mixed", "y"}) || !slices.Equal(source.Report().IDs, whole.IDs) {
		t.Fatalf("columns %v, ids %v; expected ids %v", got.Schema.Names(), source.Report().IDs, whole.IDs)
	}
	for i, a := range got.Schema.Attributes {
		if w := want.Schema.Attributes[i]; !slices.Equal(a.Values, w.Values) || a.Kind != w.Kind || !slices.Equal(got.Columns[i].Codes, want.Columns[i].Codes) {
			t.Errorf("column %q is another one than in memory", a.Name)
		}
	}
}

// The number of distinct hashes is told to 6 % or so: four standard deviations.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 100, 4000, 5000, 100_000, 1_000_000} {
		c := &tally{}
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = r.Uint64()
		}
		for range 2 {
			for part := range slices.Chunk(hashes, 999) {
				c.add(part)
			}
		}
		if d := c.distinct(); math.Abs(d-float64(n)) > 0.0625*float64(n) || n <= lowest && d != float64(n) {
			t.Errorf("%d distinct hashes: %v", n, d)
		}
		if len(c.hashes) > 2*lowest {
			t.Errorf("%d hashes are kept", len(c.hashes))
		}
	}
}

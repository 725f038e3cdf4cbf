package nearest

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestStretchContract(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("minutes of laws; ACCRETE_LONG=1 checks them")
	}
	laws := slices.DeleteFunc(learntest.Laws(), func(law string) bool {
		return strings.HasPrefix(law, "same seed") || slices.Contains([]string{"cancellation", "progress rises from 0 to 1"}, law)
	})
	learntest.RunWith(t, Name, learntest.Options{Settings: map[string]string{"k": "3", "stretch": "eliminate"}, Laws: laws})
}

// Of two columns one tells the class and the other hides it: errors of
// leave-one-out with the nearest row, by how the axes are stretched, and that
// the right stretching is found.
func TestStretch(t *testing.T) {
	tbl := plane(t, [][2]float64{{1, 0}, {1.2, 9}, {1.4, 4}, {3, 0.5}, {3.2, 8.5}, {3.4, 4.5}}, "0", "0", "0", "1", "1", "1")
	plain := learnt(t, Name, tbl, "k=1", "scale=none").(*Model)
	for _, c := range []struct{ x, y, wrong float64 }{{1, 1, 6}, {0, 1, 6}, {3, 1, 0}, {5, 1, 0}, {10, 1, 0}, {1, 0.1, 0}, {1, 0, 0}} {
		f, err := fares(context.Background(), plain.lesson, plain.cases, []float64{c.x, c.y, 1})
		if err != nil {
			t.Fatal(err)
		}
		if f.errors != c.wrong {
			t.Errorf("stretched by (%v, %v): %v errors, want %v", c.x, c.y, f.errors, c.wrong)
		}
	}
	if m := learnt(t, Name, tbl, "k=1").(*Model); m.chosen.Stretch == nil {
		t.Errorf("without a distance given: stretched by %v", m.chosen.Stretch)
	}
	if remarks, err := plain.Remarks(); err != nil || len(remarks) != 0 {
		t.Errorf("nothing is stretched, and remarks are %v, %v", remarks, err)
	}
	if plain.chosen.Stretch != nil {
		t.Errorf("with k and scale given: stretched by %v", plain.chosen.Stretch)
	}
	for _, stretch := range []string{"eliminate", "global"} {
		m := learnt(t, Name, tbl, "k=1", "scale=none", "stretch="+stretch).(*Model)
		z := m.chosen.Stretch
		if f, err := fares(context.Background(), m.lesson, m.cases, z); err != nil || f.errors != 0 || !(z[0] > z[1]) {
			t.Errorf("%s: stretched by %v, %v errors, %v", stretch, z, f.errors, err)
		}
		want := map[string]string{"eliminate": "leave out 1 of 2 columns", "global": " times"}[stretch]
		if remarks, err := m.Remarks(); err != nil || len(remarks) != 1 || !strings.Contains(remarks[0].String(), want) {
			t.Errorf("%s: remarks are %v, %v; expected one that says %q", stretch, remarks, err, want)
		}
	}
}

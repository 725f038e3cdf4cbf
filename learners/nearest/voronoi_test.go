package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Every border is as far from two sites as from the nearest of all, and divides a
// square of four into quarters.
func TestBorders(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	sites := make([]site, 60)
	for i := range sites {
		sites[i] = site{corner{random.Float64(), random.Float64()}, string(rune('a' + i%2))}
	}
	sites[7].corner = sites[3].corner
	same, change := borders(sites, true)
	if len(same) == 0 || len(change) == 0 {
		t.Fatal("there are no borders")
	}
	for _, list := range [][]corner{same, change} {
		for i := 0; i < len(list); i += 3 {
			x, y := (list[i].x+list[i+1].x)/2, (list[i].y+list[i+1].y)/2
			var far []float64
			for _, s := range sites {
				far = append(far, math.Hypot(s.x-x, s.y-y))
			}
			if slices.Sort(far); far[1]-far[0] > 1e-9 {
				t.Errorf("the border at %v, %v is %v from the nearest and %v from the next", x, y, far[0], far[1])
			}
		}
	}
	four := []site{{corner{0, 0}, "a"}, {corner{1, 0}, "a"}, {corner{0, 1}, "b"}, {corner{1, 1}, "b"}}
	if same, change := borders(four, true); len(same) != 6 || len(change) != 6 {
		t.Errorf("%d and %d ends of borders of a square", len(same), len(change))
	}
}

func TestVoronoi(t *testing.T) {
	rows := plane(t, [][2]float64{{0, 0}, {1, 0}, {4, 4}, {5, 4}}, "a", "a", "b", "b")
	m := learnt(t, Name, rows, "k=1", "scale=sd").(*Model)
	chart, err := m.Ovals(0, 1, nil)
	if err != nil || len(chart.Series) != 4 {
		t.Fatalf("%+v, %v", chart, err)
	}
	if _, err := m.Ovals(0, 2, nil); err == nil || !strings.Contains(err.Error(), "no say") {
		t.Errorf("a column of names: %v", err)
	}
	many := learnt(t, Name, clusters(mostCells+1, 2, 1), "k=1", "scale=sd").(*Model)
	if _, err := many.Ovals(0, 1, nil); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("many cases: %v", err)
	}
}

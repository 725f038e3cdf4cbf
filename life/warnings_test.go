package life

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// TestWarnings has one column of each kind that is worth a look, and one that is
// not; and the page shows all of it, whatever names hold.
func TestWarnings(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,died,same,copy,gaps,when,site_id,age,chol,<b>,born,ill\n")
	for i := range 120 {
		ill, gap, died := "no", "", ""
		if i%30 == 7 {
			ill, died = "yes", "yes" // known of the ill alone, who all have
		}
		if i%3 == 0 {
			gap = []string{"x", "z"}[i%2]
		}
		if i >= 110 {
			ill = ""
		}
		chol := 180 + i*i%97
		if i == 38 {
			chol = 1564
		}
		fmt.Fprintf(&text, "%d,%s,EU,%s,%s,2024-%02d-%02d,%d,%d,%d,<script>,19%02d%02d%02d,%s\n", 1000+7*i, died, "was "+ill, gap, i/28+1, i%28+1, i/8, i*i%61, chol, i*i%97, i%12+1, i%28+1, ill)
	}
	text.WriteString(strings.Repeat("9999,,EU,was no,x,2024-05-28,14,3,200,<script>,19500101,no\n", 4))
	dir := t.TempDir()
	path := filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &Home{Store: s, Seed: 1}
	d, err := h.Find(path, Reading{Numeric: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := h.DescribeFor(t.Context(), d, "ill")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, w := range x.Warnings {
		if w.Do == "" || w.What == "" {
			t.Errorf("%+v says too little", w)
		}
		if w.Kind == "far" && (w.Row != 39 || !strings.Contains(w.What, "1564 in row 39")) {
			t.Errorf("%+v", w)
		}
		found = append(found, w.Kind+" "+w.Column)
	}
	for _, want := range []string{"constant same", "leak copy", "leak died", "missing gaps", "order when", "group site_id", "target ill", "imbalance ill", "duplicates ", "far chol", "date born"} {
		if !slices.Contains(found, want) {
			t.Errorf("no warning %q among %q", want, found)
		}
	}
	if slices.ContainsFunc(found, func(w string) bool { return strings.HasSuffix(w, " age") }) {
		t.Errorf("age is warned of: %q", found)
	}
	if text, err := json.Marshal(x); err != nil || !bytes.Contains(text, []byte(`"histogram":{"edges":[`)) {
		t.Errorf("%s %v", text, err)
	}
	var page bytes.Buffer
	if err := x.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{"<script", "http:", "https:", "src=", "@import", "NaN"} {
		if strings.Contains(page.String(), outside) {
			t.Errorf("the page has %s", outside)
		}
	}
	if !strings.Contains(page.String(), "&lt;script&gt;") || !strings.Contains(page.String(), "Missing cells") {
		t.Error("the page lacks columns")
	}
}

// TestCodes tells numbers that stand for what is not known from those that are
// rare, far or few.
func TestCodes(t *testing.T) {
	spread := func(n int, low, step float64) (x []float64) {
		for i := range n {
			x = append(x, low+step*float64(i%17))
		}
		return x
	}
	many := func(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }
	for name, c := range map[string]struct{ x, want []float64 }{
		"-999":                 {append(spread(60, -5, 2), many(-999, 4)...), []float64{-999}},
		"99 of ages":           {append(spread(60, 18, 3), many(99, 4)...), []float64{99}},
		"not asked, not known": {append(append(spread(60, 0, 1), many(88, 3)...), many(99, 3)...), []float64{88, 99}},
		"both sides":           {append(append(spread(60, 0, 1), many(-1000, 3)...), many(9999, 3)...), []float64{-1000, 9999}},
		"of few, a usual one":  {append(many(1, 30), append(many(2, 30), append(many(3, 9), many(99, 5)...)...)...), []float64{99}},
		"of few, another":      {append(many(1, 30), append(many(2, 30), append(many(3, 9), many(50, 5)...)...)...), nil},
		"far but once":         {append(spread(60, 0, 1), 4000), nil},
		"a long tail":          {append(spread(60, 0, 1), append(many(24, 3), many(31, 3)...)...), nil},
		"99 beside 98":         {append(spread(60, 82, 1), many(99, 4)...), nil},
		"one value":            {many(-999, 50), nil},
	} {
		schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}
		made, err := table.New(schema, []table.Column{{Floats: c.x}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _, _ := newProfiler(made, -1).codes(0); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
	}
}

// TestTotal finds a last row that sums up those above it.
func TestTotal(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want string
	}{
		"sums":         {[]float64{1, 2, 3, 4, 5, 15}, []float64{2.004, 2.004, 2.004, 2.004, 2.004, 10.02}, "a b"},
		"sum and mean": {[]float64{1, 2, 3, 4, 5, 15}, []float64{2, 4, 6, 8, 10, 6}, "a"},
		"one is none":  {[]float64{1, 2, 3, 4, 5, 15}, []float64{2, 4, 6, 8, 10, 9}, ""},
		"a rare mark":  {[]float64{0, 0, 1, 0, 0, 1}, []float64{1, 2, 3, 4, 5, 3}, ""},
		"too few":      {[]float64{1, 2, 3}, []float64{2, 4, 6}, ""},
	} {
		schema := &table.Schema{Attributes: []table.Attribute{{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}}}
		made, err := table.New(schema, []table.Column{{Floats: c.a}, {Floats: c.b}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(newProfiler(made, -1).total(), " "); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

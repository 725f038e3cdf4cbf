package units

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

func TestParse(t *testing.T) {
	g, err := Parse(`
		# exercise 4.2: XOR of two units and one over them
		h1 = and(a, -"b c"); h2 = and(-a, "b c")
		out = or(h1, h2)`, []string{"a", "b c"}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
		if got, want := g.Answer(x)[0], -x[0]*x[1]; got != want {
			t.Errorf("xor of %v is %v", x, got)
		}
	}
	if slices.Contains(g.Fixed, false) || !slices.Equal(g.Names, []string{"h1", "h2", "out"}) {
		t.Errorf("weights stay: %v; names %v", g.Fixed, g.Names)
	}
	g, err = Parse("h = sigmoid(a*w, b*w=0.25, 1*-2); out = linear(h, a)", []string{"a", "b"}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if u := g.Units[0]; u.Weights[0] != u.Weights[1] || g.Weights[u.Weights[0]] != 0.25 || g.Weights[u.Bias] != -2 || !g.Fixed[u.Bias] || g.Fixed[u.Weights[0]] || g.Shared[u.Weights[0]] != "w" {
		t.Errorf("unit %+v of weights %v, fixed %v", u, g.Weights, g.Fixed)
	}
	for _, wrong := range []string{"", "out", "out = sigmod(a)", "out = sigmoid(c)", "a = sigmoid(b)", "h = sigmoid(a); h = sigmoid(b)", "out = atleast(3, a, b)", "out = sigmoid(a*)", "out = sigmoid(a*w=x)", "out = sigmoid(a*Inf)", "out = softmax(a); last = tanh(out)"} {
		if _, err := Parse(wrong, []string{"a", "b"}, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%q is a graph", wrong)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("h = sigmoid(a*w, b*w=0.25, 1*-2); out = linear(h, a)")
	f.Add(`h1 = and(a, -"b"); out = atleast(1, h1, b) # none`)
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		g, err := Parse(text, []string{"a", "b"}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			return
		}
		if err := g.Check(); err != nil || len(g.Outputs) == 0 || len(g.Names) != len(g.Units) || len(g.Fixed) != len(g.Weights) {
			t.Fatalf("%d outputs, %d names of %d units, %v", len(g.Outputs), len(g.Names), len(g.Units), err)
		}
		g.Answer([]float64{1, -1})
	})
}

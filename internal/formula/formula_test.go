package formula

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
)

var xy = []string{"x", "y", "body mass (kg)"}

func parse(t testing.TB, text string) Tree {
	t.Helper()
	f, err := Parse(text, xy)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(f Tree, x ...float64) float64 {
	columns := make([][]float64, len(x))
	for i := range x {
		columns[i] = x[i : i+1]
	}
	out := make([]float64, 1)
	(&Machine{}).Eval(f, columns, out)
	return out[0]
}

func TestFormulasAreReadAndWritten(t *testing.T) {
	for _, w := range []struct{ text, want string }{
		{"sin(x)+sqrt(x^2+y)", "sin(x) + sqrt(x^2 + y)"}, {"-x**2", "-x^2"}, {"2^-x", "2^(-x)"}, {"x-(y-1)-2", "x - (y - 1) - 2"},
		{"x/(y*2)/3", "x/(y*2)/3"}, {"(x+1)*(y+1)", "(x + 1)*(y + 1)"}, {`"body mass (kg)"*9.81`, `"body mass (kg)"*9.81`}, {"x^y^2", "x^(y^2)"}, {"(-x)^2", "(-x)^2"}, {"- - x", "--x"},
	} {
		f := parse(t, w.text)
		got := f.Text(xy, -1)
		again := parse(t, got)
		if strings.ReplaceAll(got, "--", "-(-") != strings.ReplaceAll(w.want, "--", "-(-") && got != "-(-x)" || !f.Sound(3) {
			t.Errorf("%s is written %s, want %s", w.text, got, w.want)
		}
		if a, b := at(f, 1.3, .7, 60), at(again, 1.3, .7, 60); a != b {
			t.Errorf("%s is %v, read again %v", got, a, b)
		}
	}
	for _, wrong := range []string{"", "x+", "(x", "z", "sin x", "x y", "1e999", `"x`, "foo(x)", "x)", strings.Repeat("(", 600) + "x"} {
		if f, err := Parse(wrong, xy); err == nil {
			t.Errorf("%q is read as %s", wrong, f.Text(xy, -1))
		}
	}
	if n := len(parse(t, "sin(x)+sqrt(x^2+y)")); n != 9 { // figure 9.1
		t.Errorf("%d nodes, want 9", n)
	}
}

func TestSimplify(t *testing.T) {
	for text, want := range map[string]string{
		"x+x": "2*x", "x*x*x": "x^3", "x/x": "1", "x-x": "0", "2*x*3": "6*x", "x*1+0": "x", "(x+1)*2": "2*x + 2", "sqrt(x)*sqrt(x)": "x", "sqrt(x^2)": "sqrt(x^2)",
		"log(exp(x))": "x", "sin(-x)": "-sin(x)", "cos(-x)": "cos(x)", "x/y*y": "x", "1/(1/x)": "x", "x*y-y*x": "0", "0.25*x": "x/4", "3-x": "3 - x", "square(x)": "x^2", "-(x-y)": "y - x", "x^2*x^-1": "x",
	} {
		if got := Simplify(parse(t, text)).Text(xy, 6); got != want {
			t.Errorf("%s is simplified to %s, want %s", text, got, want)
		}
	}
}

// random draws a formula.
func random(r *rapid.T, depth int) Tree {
	if depth == 0 || rapid.IntRange(0, 3).Draw(r, "leaf") == 0 {
		if rapid.Bool().Draw(r, "constant") {
			return Number(float64(rapid.IntRange(-3, 3).Draw(r, "k")))
		}
		return Variable(rapid.IntRange(0, 1).Draw(r, "v"))
	}
	o := Op(rapid.IntRange(int(Add), int(ops)-1).Draw(r, "op"))
	arguments := make([]Tree, o.Arity())
	for i := range arguments {
		arguments[i] = random(r, depth-1)
	}
	return Apply(o, arguments...)
}

// Simplified, or written and read again, a formula has the same values where it
// has any.
func TestFormulasKeepTheirValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := random(r, 4)
		simple := Simplify(f)
		written, err := Parse(f.Text(xy, -1), xy)
		if err != nil || !simple.Sound(2) {
			r.Fatalf("%s: %v", f.Text(xy, -1), err)
		}
		for _, x := range []float64{.3, 1.7, -2.1} {
			want := at(f, x, 1.1)
			if math.IsNaN(want) || math.Abs(want) > 1e6 || math.Abs(want) < 1e-6 {
				continue
			}
			if got := at(written, x, 1.1); math.Abs(got-want) > 1e-9*math.Abs(want) {
				r.Errorf("%s is %v, written and read %v", f.Text(xy, -1), want, got)
			}
			// Cancellation takes digits: what is left is judged by what was there.
			if got := at(simple, x, 1.1); math.Abs(got-want) > 1e-3*math.Abs(want) {
				r.Errorf("%s is %v at %v, simplified to %s %v", f.Text(xy, -1), want, x, simple.Text(xy, -1), got)
			}
		}
	})
}

// Slopes by constants are those of small differences.
func TestSlopes(t *testing.T) {
	for _, text := range []string{"2*x+3", "sin(2*x)*exp(-0.5*y)", "x^1.5/(y+2)", "log(x+3)*sqrt(y+0.1)", "tanh(0.3*x)-cos(y*0.7)^2", "abs(x*-2)+atan(y*3)"} {
		f := parse(t, text)
		constants := f.Constants()
		columns := [][]float64{{.5, 1.5, 2.5}, {.2, .9, 1.4}}
		out, by := make([]float64, 3), make([][]float64, len(constants))
		for i := range by {
			by[i] = make([]float64, 3)
		}
		m := &Machine{}
		m.Slopes(f, columns, out, by)
		for k, i := range constants {
			const h = 1e-6
			up, down := append(Tree(nil), f...), append(Tree(nil), f...)
			up[i].Value += h
			down[i].Value -= h
			a, b := make([]float64, 3), make([]float64, 3)
			m.Eval(up, columns, a)
			m.Eval(down, columns, b)
			for r := range a {
				if want := (a[r] - b[r]) / (2 * h); math.Abs(by[k][r]-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%s by constant %d: %v, want %v", text, k, by[k][r], want)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"sin(x)+sqrt(x^2+y)", `"body mass (kg)"/2e-3`, "-x**-2", "((((x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		g, err := Parse(text, xy)
		if err != nil {
			return
		}
		if !g.Sound(3) {
			t.Fatalf("%q is not sound", text)
		}
		if again, err := Parse(g.Text(xy, -1), xy); err != nil || again.Text(xy, -1) != g.Text(xy, -1) {
			t.Errorf("%q is written %q, which is read otherwise (%v)", text, g.Text(xy, -1), err)
		}
		Simplify(g)
	})
}

func TestParseGrows(t *testing.T) {
	for name, input := range map[string]func(size int) []byte{
		"brackets": func(n int) []byte { return []byte(strings.Repeat("(", n)) },
		"signs":    func(n int) []byte { return []byte(strings.Repeat("-", n)) },
		"sums":     func(n int) []byte { return []byte(strings.Repeat("x+", n/2) + "x") },
		"powers":   func(n int) []byte { return []byte(strings.Repeat("x^", n/2) + "x") },
	} {
		t.Run(name, func(t *testing.T) {
			bounded.Worst(t, input, func(text []byte) { _, _ = Parse(string(text), xy) }) // formula.Parse
		})
	}
}

// BenchmarkEval counts nodes × rows a second.
func BenchmarkEval(b *testing.B) {
	for name, text := range map[string]string{"arithmetic": "x*y+x/(y+2)-3*x*x+(x-y)*(x+y)", "sines": "sin(x)*cos(y)+exp(0.1*x)-log(y+2)"} {
		f, err := Parse(text, xy)
		if err != nil {
			b.Fatal(err)
		}
		columns := [][]float64{make([]float64, 10_000), make([]float64, 10_000)}
		for i := range columns[0] {
			columns[0][i], columns[1][i] = float64(i)/1e4, float64(i%77)/77
		}
		out := make([]float64, 10_000)
		b.Run(name, func(b *testing.B) {
			m := &Machine{}
			for b.Loop() {
				m.Eval(f, columns, out)
			}
			b.ReportMetric(float64(b.N)*float64(len(f))*1e4/b.Elapsed().Seconds()/1e6, "Mnodes×rows/s")
		})
	}
}

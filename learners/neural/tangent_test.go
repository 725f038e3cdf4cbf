package neural

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

// TestSlopesDescend: what training takes for the slope of its error, slopes of the
// answers included, is the slope of the error, by differences in double precision.
func TestSlopesDescend(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, activation := range []units.Function{units.Tanh, units.Sigmoid} {
		for _, outputs := range []int{1, 2, 3} {
			const inputs, rows, mu = 9, 5, 0.7
			s := &sample{stride: strideOf(inputs), x: make([]float32, rows*strideOf(inputs)), aim: aim{outputs: outputs}}
			for r := range rows {
				for j := range inputs {
					s.x[r*s.stride+j] = float32(random.NormFloat64())
				}
				if outputs == 1 {
					s.number = append(s.number, float32(random.NormFloat64()))
				} else {
					s.class = append(s.class, int32(random.IntN(outputs)))
				}
			}
			s.tangents = &tangents{mu: mu, width: 3, low: -1}
			for j := range inputs {
				s.tangents.pixels = append(s.tangents.pixels, j)
				s.tangents.factor, s.tangents.offset = append(s.tangents.factor, 1+float64(j)/10), append(s.tangents.offset, float64(j)/5)
			}
			for _, name := range []string{"shift-x", "rotate"} {
				w := transformations[name]
				w.column = -1
				s.tangents.ways = append(s.tangents.ways, w)
			}
			if outputs < 3 {
				s.tangents.ways = append(s.tangents.ways, way{column: 2, want: 1}, way{column: 4, want: -1}, way{column: 5})
				if outputs == 2 {
					s.tangents.up, s.tangents.low = 1, 0
				}
			}
			net := newDense(inputs, []int{6, 4}, outputs, activation, random)
			for i := range net.last().w {
				net.last().w[i] *= 5
			}
			all := make([]shown, rows)
			for r := range all {
				all[r] = shown{int32(r), 1}
			}
			d := newDescent(net, s, &settings{Rate: 1, Batch: rows, Optimiser: "adam"}, rows)
			d.adam, d.still, d.share = false, true, 1
			gradient := make([]float64, len(net.weights()))
			d.gradient(all, 0, nil, gradient)
			exact := net.network(units.Linear)
			energy := func(w []float64) float64 {
				net.take(w)
				*exact = *net.network(units.Linear)
				return wholeError(exact, s, rows, mu)
			}
			start := net.weights()
			for i := range start {
				const h = 1.0 / 512
				w := append([]float64(nil), start...)
				w[i] = start[i] + h
				up := energy(w)
				w[i] = start[i] - h
				if want := (up - energy(w)) / (2 * h); math.Abs(gradient[i]-want) > 2e-3*max(1, math.Abs(want)) {
					t.Fatalf("%v, %d outputs, weight %d: %v, by differences %v", activation, outputs, i, gradient[i], want)
				}
			}
		}
	}
}

// wholeError is the error of rows and slopes, in double precision.
func wholeError(n *units.Network, s *sample, rows int, mu float64) float64 {
	sum := 0.0
	for r := range rows {
		x := make([]float64, n.Inputs)
		for j := range x {
			x[j] = float64(s.x[r*s.stride+j])
		}
		out := n.Answer(x)
		if s.class == nil {
			sum += (out[0] - float64(s.number[r])) * (out[0] - float64(s.number[r])) / 2
		} else {
			total := 0.0
			for _, o := range out {
				total += math.Exp(o)
			}
			sum += math.Log(total) - out[s.class[r]]
		}
		for i := range s.tangents.ways {
			w := &s.tangents.ways[i]
			along := make([]float32, s.stride)
			s.tangents.along(w, s.x[r*s.stride:(r+1)*s.stride], along)
			const h = 1e-5
			a, b := make([]float64, len(x)), make([]float64, len(x))
			for j := range x {
				a[j], b[j] = x[j]+h*float64(along[j]), x[j]-h*float64(along[j])
			}
			up, down := n.Answer(a), n.Answer(b)
			slope := make([]float64, len(up))
			mean := 0.0
			for k := range up {
				slope[k] = (up[k] - down[k]) / (2 * h)
				mean += slope[k] / float64(len(up))
			}
			if w.column >= 0 {
				rises := slope[s.tangents.up]
				if s.tangents.low >= 0 {
					rises -= slope[s.tangents.low]
				}
				if w.want == 0 || rises*w.want < 0 {
					sum += mu * rises * rises
				}
				continue
			}
			for _, x := range slope {
				if len(slope) > 1 {
					x -= mean
				}
				sum += mu * x * x
			}
		}
	}
	return sum
}

// noisy is a rising curve, seen through noise that hides it at few rows.
func noisy(seed uint64, rows int) *table.Table {
	random := rand.New(rand.NewPCG(seed, 9))
	x, z, y := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for r := range rows {
		x[r], z[r] = random.NormFloat64(), random.NormFloat64()
		y[r] = math.Tanh(x[r]) + random.NormFloat64()
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "z", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}
	t, err := table.New(schema, []table.Column{{Floats: x}, {Floats: z}, {Floats: y}}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// TestSlopesAreHeeded: with wishes a model rises where it should and does not mind
// what it should not, which it says itself, and differences between its answers
// agree.
func TestSlopesAreHeeded(t *testing.T) {
	rows := noisy(1, 25)
	m := learnWith(t, rows, map[string]string{"slope": "x:+,z:0", "mu": "10", "epochs": "400", "validation": "0", "decay": "0"})
	remarks, err := m.Remarks()
	if err != nil || len(remarks) != 2 {
		t.Fatalf("%v, %v", remarks, err)
	}
	if s := remarks[0].(Slope); s.Share < 0.95 || !strings.Contains(s.String(), "the answer rises with x at") {
		t.Errorf("%v", s)
	}
	plain := learnWith(t, rows, map[string]string{"epochs": "400", "validation": "0", "decay": "0"})
	if falls, before := fallsWith(t, m, rows), fallsWith(t, plain, rows); falls > 2 || before <= falls {
		t.Errorf("answers fall with x on %d rows, without the wish on %d", falls, before)
	}
}

// fallsWith counts the rows whose answer falls if x grows a little.
func fallsWith(t *testing.T, m learn.Model, rows *table.Table) int {
	t.Helper()
	ask := func(by float64) []float64 {
		x := make([]float64, rows.Rows())
		for r, v := range rows.Columns[0].Floats {
			x[r] = v + by
		}
		moved, err := table.New(rows.Schema, []table.Column{{Floats: x}, rows.Columns[1], rows.Columns[2]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(context.Background(), moved, out); err != nil {
			t.Fatal(err)
		}
		return out.Mean
	}
	falls := 0
	low, high := ask(-0.01), ask(0.01)
	for r := range low {
		if high[r] < low[r]-1e-6 {
			falls++
		}
	}
	return falls
}

func learnWith(t *testing.T, rows *table.Table, set map[string]string) *Model {
	t.Helper()
	l, err := learn.New(Name, set)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "y", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// TestSlopesAreChecked: wishes that cannot be meant are refused.
func TestSlopesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"slope=x":                                "expected column:+, column:- or column:0",
		"slope=x:up":                             "expected + for rising",
		"slope=xx:+":                             `"xx" is no numeric input column; did you mean "x"`,
		"slope=x:+,x:-":                          "twice",
		"transform=shift-x":                      "setting width=0: 2 numeric columns are no picture",
		"transform=shift-x width=5":              "no picture",
		"transform=twirl width=2":                "no picture",
		"augment=1":                              "without a transformation",
		"slope=x:+ optimiser=lbfgs":              "expected adam or momentum",
		"slope=x:+ mu=-1":                        "expected numbers from 0",
		"slope=x:+ mu=0.1 epochs=2 validation=0": "",
	} {
		set := map[string]string{}
		for _, word := range strings.Fields(text) {
			key, value, _ := strings.Cut(word, "=")
			set[key] = value
		}
		l, err := learn.New(Name, set)
		if err == nil {
			_, err = l.Learn(context.Background(), learn.Task{Table: noisy(1, 20), Target: "y", Seed: 1})
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, expected %q", text, err, want)
		}
	}
}

// pictures are crosses and rings at random places of a field of 8 by 8.
func pictures(seed uint64, rows int) *table.Table {
	random := rand.New(rand.NewPCG(seed, 4))
	schema := &table.Schema{}
	columns := make([]table.Column, 65)
	for j := range 64 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "p" + strconv.Itoa(j), Kind: table.Numeric})
		columns[j].Floats = make([]float64, rows)
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "y", Kind: table.Nominal, Values: []string{"cross", "ring"}})
	for r := range rows {
		class := random.IntN(2)
		cx, cy := 2.5+2*random.Float64(), 2.5+2*random.Float64()
		for j := range 64 {
			x, y := float64(j%8)-cx, float64(j/8)-cy
			shape := math.Exp(-x*x*2) + math.Exp(-y*y*2)
			if class == 1 {
				shape = math.Exp(-2 * (math.Hypot(x, y) - 2) * (math.Hypot(x, y) - 2))
			}
			columns[j].Floats[r] = shape + 0.1*random.NormFloat64()
		}
		columns[64].Codes = append(columns[64].Codes, int32(class))
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// TestShiftsDoNotMatter: with slopes along shifts the answers to shapes at random
// places are better from few rows, in the mean of seeds; and shifted rows are made
// up in their place.
func TestShiftsDoNotMatter(t *testing.T) {
	wrong := map[string]float64{}
	test := pictures(99, 400)
	for seed := range uint64(6) {
		for name, set := range map[string]map[string]string{
			"plain": {}, "slopes": {"transform": "shift-x,shift-y", "width": "8", "mu": "0.1"}, "rows": {"transform": "shift-x,shift-y", "width": "8", "mu": "0", "augment": "1"},
		} {
			set["validation"], set["epochs"], set["hidden"] = "0", "150", "20"
			m := learnWith(t, pictures(seed, 10), set)
			out := learn.NewPredictions(m, test.Rows())
			if err := m.Predict(context.Background(), test, out); err != nil {
				t.Fatal(err)
			}
			for r, class := range test.Columns[64].Codes {
				if int32(learn.Best(out.Row(r), []string{"cross", "ring"})) != class {
					wrong[name]++
				}
			}
		}
	}
	t.Log(wrong)
	if wrong["slopes"] >= wrong["plain"] {
		t.Errorf("errors %v: expected slopes to help", wrong)
	}
}

package neural

import (
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

// dense is a layered network in single precision: every unit of a layer reads
// every unit of the layer before. Hidden layers have one activation function;
// the output layer is linear, and softmax or the target's scale come after.
type dense struct {
	inputs     int
	activation units.Function
	layers     []layer
}

// layer is the weights from one layer of units to the next.
type layer struct {
	in, out int
	stride  int       // of a row of w, and the room for a row of outputs
	w       []float32 // a row for each input
	b       []float32 // biases, padded to the stride
}

// newLayer returns a layer with normal weights of a deviation of gain/√in (He
// et al. 2015, with gain √2 for rectifiers), which leaves the size of signals
// as it is.
func newLayer(in, out int, random *rand.Rand, gain float64) layer {
	l := layer{in: in, out: out, stride: strideOf(out)}
	l.w, l.b = make([]float32, in*l.stride), make([]float32, l.stride)
	deviation := gain / math.Sqrt(float64(max(in, 1)))
	for i := range in {
		for j := range out {
			l.w[i*l.stride+j] = float32(deviation * random.NormFloat64())
		}
	}
	return l
}

// newDense returns a network with random hidden layers. Its output units
// start with small weights, so that at first the biases alone speak.
func newDense(inputs int, hidden []int, outputs int, activation units.Function, random *rand.Rand) *dense {
	d := &dense{inputs: inputs, activation: activation}
	gain := 1.0
	if activation == units.Rectifier {
		gain = math.Sqrt2
	}
	in := inputs
	for _, out := range hidden {
		d.layers = append(d.layers, newLayer(in, out, random, gain))
		in = out
	}
	d.layers = append(d.layers, newLayer(in, outputs, random, 0.1))
	return d
}

// clone returns a copy that shares nothing.
func (d *dense) clone() *dense {
	to := &dense{inputs: d.inputs, activation: d.activation, layers: make([]layer, len(d.layers))}
	for i, l := range d.layers {
		l.w, l.b = append([]float32(nil), l.w...), append([]float32(nil), l.b...)
		to.layers[i] = l
	}
	return to
}

// copyFrom takes over the weights of a network of the same form.
func (d *dense) copyFrom(other *dense) {
	for i := range d.layers {
		copy(d.layers[i].w, other.layers[i].w)
		copy(d.layers[i].b, other.layers[i].b)
	}
}

// last returns the output layer.
func (d *dense) last() *layer { return &d.layers[len(d.layers)-1] }

// units counts the hidden units.
func (d *dense) units() int {
	n := 0
	for _, l := range d.layers[:len(d.layers)-1] {
		n += l.out
	}
	return n
}

// apply writes the biased sums of rows, which stand stride ld apart in x, to
// out. Both have room for whole tiles of rows.
func (l *layer) apply(x []float32, ld, rows int, out []float32) {
	var c tile
	for j := 0; j < l.out; j += side {
		bias := (*[side]float32)(l.b[j:])
		for i := 0; i < rows; i += side {
			if l.in > 0 {
				multiply(l.in, x[i*ld:], ld, 1, l.w[j:], l.stride, &c)
			}
			for r := range side {
				to, sums := (*[side]float32)(out[(i+r)*l.stride+j:]), (*[side]float32)(c[r*side:])
				for k := range side {
					to[k] = sums[k] + bias[k]
				}
			}
		}
	}
}

// activate applies the hidden layers' function to rows of a layer's sums.
func (d *dense) activate(l *layer, sums []float32, rows int) {
	for r := range rows {
		row := sums[r*l.stride:][:l.out]
		switch d.activation {
		case units.Rectifier:
			for i, x := range row {
				row[i] = max(x, 0)
			}
		case units.Tanh:
			for i, x := range row {
				row[i] = 1 - 2/(exp32(2*x)+1)
			}
		default:
			for i, x := range row {
				row[i] = 1 / (1 + exp32(-x))
			}
		}
	}
}

// slopes multiplies deltas by the derivative of the hidden layers' function,
// given its values.
func (d *dense) slopes(l *layer, values, deltas []float32, rows int) {
	for r := range rows {
		h, delta := values[r*l.stride:][:l.out], deltas[r*l.stride:][:l.out]
		switch d.activation {
		case units.Rectifier:
			// A value of 0 is all zero bits, and its slope too; a branch
			// would be guessed wrong half the time.
			for i, x := range h {
				positive := uint32(-int32(math.Float32bits(x)) >> 31)
				delta[i] = math.Float32frombits(math.Float32bits(delta[i]) & positive)
			}
		case units.Tanh:
			for i, x := range h {
				delta[i] *= 1 - float32(x*x)
			}
		default:
			for i, x := range h {
				delta[i] *= float32(x * (1 - x))
			}
		}
	}
}

// signals is room for the values of all units on some rows: the inputs first.
type signals struct {
	rows   int
	stride int // of a row of inputs
	values [][]float32
}

func (d *dense) newSignals(rows int) *signals {
	rows = padded(rows)
	s := &signals{rows: rows, stride: strideOf(d.inputs)}
	s.values = append(s.values, make([]float32, rows*s.stride))
	for i := range d.layers {
		s.values = append(s.values, make([]float32, rows*d.layers[i].stride))
	}
	return s
}

// row returns the outputs of a row.
func (s *signals) row(d *dense, r int) []float32 {
	l := d.last()
	return s.values[len(d.layers)][r*l.stride:][:l.out]
}

// forward computes the values of all units from the inputs of the rows lo to
// hi; lo is a multiple of side.
func (d *dense) forward(s *signals, lo, hi int) {
	ld := s.stride
	for i := range d.layers {
		l := &d.layers[i]
		out := s.values[i+1][lo*l.stride:]
		l.apply(s.values[i][lo*ld:], ld, hi-lo, out)
		if i < len(d.layers)-1 {
			d.activate(l, out, hi-lo)
		}
		ld = l.stride
	}
}

// exp32 is e^x in single precision, to about one unit in the last place and
// the same on every machine: 2^n times a polynomial on ±ln 2/2.
func exp32(x float32) float32 {
	x = min(max(x, -87), 88)
	scaled := float32(x * (1 / math.Ln2))
	n := int32(scaled + 0.5)
	if scaled < -0.5 {
		n = int32(scaled - 0.5)
	}
	f := float32(n)
	r := x - float32(f*0.693145752) // the leading bits of ln 2: the product is exact
	r -= float32(f * 1.42860677e-6)
	p := float32(1.0 / 720)
	for _, c := range [...]float32{1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1} {
		p = float32(p*r) + c
	}
	return p * math.Float32frombits(uint32(n+127)<<23)
}

// weights returns the weights, layer by layer: a row for each input, then the
// biases.
func (d *dense) weights() []float64 {
	room := 0
	for _, l := range d.layers {
		room += (l.in + 1) * l.out
	}
	all := make([]float64, 0, room)
	add := func(w []float32) {
		for _, x := range w {
			all = append(all, float64(x))
		}
	}
	for _, l := range d.layers {
		for i := range l.in {
			add(l.w[i*l.stride:][:l.out])
		}
		add(l.b[:l.out])
	}
	return all
}

// take sets the weights to what weights returned.
func (d *dense) take(all []float64) {
	set := func(w []float32) {
		for i := range w {
			w[i] = float32(all[i])
		}
		all = all[len(w):]
	}
	for _, l := range d.layers {
		for i := range l.in {
			set(l.w[i*l.stride:][:l.out])
		}
		set(l.b[:l.out])
	}
}

// squares returns the sum of the squared weights, biases not among them.
func (d *dense) squares() float64 {
	sum := 0.0
	for _, l := range d.layers {
		for _, w := range l.w {
			sum += float64(w) * float64(w)
		}
	}
	return sum
}

// network returns the network in double precision, with outputs of a function.
func (d *dense) network(output units.Function) *units.Network {
	sizes := []int{d.inputs}
	var weights []float64
	for _, l := range d.layers {
		sizes = append(sizes, l.out)
		for j := range l.out {
			weights = append(weights, float64(l.b[j]))
			for i := range l.in {
				weights = append(weights, float64(l.w[i*l.stride+j]))
			}
		}
	}
	n := units.Layered(d.activation, output, sizes...)
	n.Weights = weights
	return n
}

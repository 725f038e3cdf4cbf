package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/table"
)

// outputs is what actions are worth as one network whose inputs are a state: hidden
// units are shared, and each action has an output, which learns from the steps on
// which the action was taken (section 13.6, the third wiring).
type outputs struct {
	Matrix    encode.Matrix `cbor:"matrix"`
	Actions   []string      `cbor:"actions"`
	Hidden    int           `cbor:"hidden"`
	W         []float64     `cbor:"w"` // of each hidden unit, the threshold first
	V         []float64     `cbor:"v"` // of each output, the threshold first
	Mean      float64       `cbor:"mean"`
	Deviation float64       `cbor:"deviation"` // of what actions came to
}

// newOutputs is a network that knows nothing, for states like these.
func newOutputs(ctx context.Context, states *table.Table, actions []string, hidden int, seed uint64) (*outputs, error) {
	matrix, err := encode.FitMatrix(ctx, states, -1, encode.Options{})
	if err != nil {
		return nil, err
	}
	o := &outputs{Matrix: *matrix, Actions: actions, Hidden: hidden}
	inputs := matrix.Width() + 1
	o.W, o.V = make([]float64, hidden*inputs), make([]float64, len(actions)*(hidden+1))
	random := rand.New(rand.NewPCG(seed, 0x0075))
	for i := range o.W {
		o.W[i] = random.NormFloat64() / math.Sqrt(float64(inputs))
	}
	return o, nil
}

// think fills in the hidden units of a state.
func (o *outputs) think(x, h []float64) {
	for j := range h {
		w := o.W[j*(len(x)+1):][:len(x)+1]
		sum := w[0]
		for i, y := range x {
			sum += w[i+1] * y
		}
		h[j] = math.Tanh(sum)
	}
}

// say is the output of an action, in deviations from the mean.
func (o *outputs) say(action int, h []float64) float64 {
	v := o.V[action*(len(h)+1):][:len(h)+1]
	sum := v[0]
	for j, y := range h {
		sum += v[j+1] * y
	}
	return sum
}

// shownSteps is how many steps a network sees at most each time that it is trained.
const shownSteps = 20_000

// train moves the network towards what actions came to, by back-propagation whose
// rate falls.
func (o *outputs) train(ctx context.Context, states *table.Table, action []int32, y, weight []float64, seed uint64) error {
	width, n := o.Matrix.Width(), states.Rows()
	x := make([]float64, n*width)
	if err := o.Matrix.Apply(states, 0, n, x); err != nil {
		return err
	}
	if o.Deviation == 0 {
		e := stat.Mean(y)
		o.Mean, o.Deviation = e.Value, 1e-9
		for _, t := range y {
			o.Deviation += (t - o.Mean) * (t - o.Mean) / float64(n)
		}
		o.Deviation = math.Sqrt(o.Deviation)
	}
	most := slices.Max(weight)
	random := rand.New(rand.NewPCG(seed, 0x57e5))
	h := make([]float64, o.Hidden)
	for k := range shownSteps {
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := random.IntN(n)
		rate := 0.02 * (1 - float64(k)/shownSteps) * weight[row] / most
		in, a := x[row*width:][:width], int(action[row])
		o.think(in, h)
		d := (y[row]-o.Mean)/o.Deviation - o.say(a, h)
		d = rate * min(max(d, -3), 3)
		v := o.V[a*(len(h)+1):][:len(h)+1]
		v[0] += d
		for j, out := range h {
			back := d * v[j+1] * (1 - out*out)
			v[j+1] += d * out
			w := o.W[j*(width+1):][:width+1]
			w[0] += back
			for i, z := range in {
				w[i+1] += back * z
			}
		}
	}
	return nil
}

// values fills in what the named actions are worth in states, NaN of those that the
// network has no output of.
func (o *outputs) values(states *table.Table, actions []string, q []float64) error {
	width := o.Matrix.Width()
	x, h := make([]float64, states.Rows()*width), make([]float64, o.Hidden)
	if err := o.Matrix.Apply(states, 0, states.Rows(), x); err != nil {
		return err
	}
	at := make([]int, len(actions))
	for a, name := range actions {
		at[a] = slices.Index(o.Actions, name)
	}
	for row := range states.Rows() {
		o.think(x[row*width:][:width], h)
		for a, k := range at {
			if q[row*len(actions)+a] = math.NaN(); k >= 0 {
				q[row*len(actions)+a] = o.Mean + o.Deviation*o.say(k, h)
			}
		}
	}
	return nil
}

// check tells what is wrong with a network that was read, for states of a schema.
func (o *outputs) check(states *table.Schema) error {
	if err := o.Matrix.Check(states); err != nil {
		return err
	}
	if o.Hidden < 1 || o.Hidden > 1000 || len(o.Actions) == 0 || len(o.W) != o.Hidden*(o.Matrix.Width()+1) || len(o.V) != len(o.Actions)*(o.Hidden+1) {
		return errors.New("a network of values has other units")
	}
	for _, x := range slices.Concat(o.W, o.V, []float64{o.Mean, o.Deviation}) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a weight of values is %v", x)
		}
	}
	return nil
}

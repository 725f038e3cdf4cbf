package neural

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model is a trained network, or a committee of them. It is immutable.
type Model struct {
	encoded
	settings *settings
	members  []member
	also     []*Model // of further targets, whose networks share the hidden layers
}

// encoded is what a model knows of its columns: how cells become inputs, and
// outputs answers.
type encoded struct {
	seed   uint64
	schema *table.Schema
	target int
	rows   float64        // weight of the rows learnt from
	counts []float64      // their weight by class
	matrix *encode.Matrix // from cells to inputs
	scale  encode.Scale   // from the numeric target to the output
}

// member is a network and what makes its outputs answers.
type member struct {
	net         *dense
	temperature float64 // divides outputs before the softmax
	spread      float64 // deviation of a numeric target from the output
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Drawer    = (*Model)(nil)
)

// Learner returns "mlp".
func (m *encoded) Learner() string { return Name }

// Schema returns the attributes.
func (m *encoded) Schema() *table.Schema { return m.schema }

// Target returns the index of the predicted attribute.
func (m *encoded) Target() int { return m.target }

// Size counts the rows and the hidden units.
func (m *Model) Size() learn.Size {
	units := 0
	for _, member := range m.members {
		units += member.net.units()
	}
	return learn.Size{Rows: m.rows, Units: units}
}

func (m *encoded) regression() bool { return m.schema.Attributes[m.target].Kind == table.Numeric }

// outputs returns the number of answers: the classes, or one number.
func (m *encoded) outputs() int {
	if m.regression() {
		return 1
	}
	return len(m.schema.Attributes[m.target].Values)
}

// answered is how many rows are answered at a time.
const answered = 64

// Predict averages the committee's probabilities, or its numbers.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.schema, t); err != nil {
		return err
	}
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		d := m.newForwardPass(min(answered, hi-lo))
		for ; lo < hi; lo += answered {
			d.answer(t, lo, min(lo+answered, hi), out)
		}
	})
}

// forwardPass is the room in which rows are answered.
type forwardPass struct {
	model  *Model
	width  int
	inputs []float64
	states []*doubled
	p      []float64
}

func (m *Model) newForwardPass(rows int) *forwardPass {
	d := &forwardPass{model: m, width: m.matrix.Width(), p: make([]float64, m.outputs())}
	d.inputs = make([]float64, rows*d.width)
	for _, member := range m.members {
		d.states = append(d.states, member.net.newDoubled(rows))
	}
	return d
}

// answer fills in the predictions of a few rows.
func (d *forwardPass) answer(t *table.Table, lo, hi int, out *learn.Predictions) {
	if d.model.matrix.Apply(t, lo, hi, d.inputs) != nil {
		return // the table fits the schema, and the matrix was made for it
	}
	d.run(hi - lo)
	for r := lo; r < hi; r++ {
		if d.model.regression() {
			out.Mean[r], out.Low[r], out.High[r] = d.number(r - lo)
		} else {
			d.probabilities(r-lo, out.Row(r))
		}
	}
}

// run computes all outputs for the rows in inputs.
func (d *forwardPass) run(rows int) {
	for i, member := range d.model.members {
		s := d.states[i]
		for r := range rows {
			copy(s.values[0][r*s.stride:], d.inputs[r*d.width:(r+1)*d.width])
		}
		member.net.answer(s, rows)
		for r := range rows {
			for k, x := range s.row(member.net, r) {
				s.row(member.net, r)[k] = within(x)
			}
		}
	}
}

// within keeps outputs finite, whatever weights made them.
func within(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -1e30), 1e30)
}

// probabilities writes the mean of the members' softmax outputs. What the
// networks have not seen in all their rows may still happen once in the next
// few: a share of 1/(rows+classes) is spread over all classes.
func (d *forwardPass) probabilities(row int, p []float64) {
	clear(p)
	for i, member := range d.model.members {
		logsum.Softmax(d.states[i].row(member.net, row), member.temperature, d.p)
		for c, q := range d.p {
			p[c] += q
		}
	}
	members, classes := float64(len(d.model.members)), float64(len(p))
	spare := 1 / (d.model.rows + classes)
	total := 0.0
	for c := range p {
		p[c] = p[c]/members*(1-spare) + spare/classes
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
}

// normal95 is the half width of a 95 % interval in deviations.
const normal95 = 1.959963984540054

// number returns the mean of the members' outputs in the target's units, and
// the interval in which a new observation falls 95 times in 100: residuals
// and the members' disagreement together.
func (d *forwardPass) number(row int) (mean, low, high float64) {
	n := float64(len(d.model.members))
	sum, squares, spread := 0.0, 0.0, 0.0
	for i, member := range d.model.members {
		y := d.states[i].row(member.net, row)[0]
		sum += y / n
		squares += y * y / n
		spread += member.spread * member.spread / n
	}
	half := normal95 * math.Sqrt(spread+max(0, squares-sum*sum))
	unscale := d.model.unscale
	return unscale(sum), unscale(sum - half), unscale(sum + half)
}

// unscale turns an output into the target's units, however large they are.
func (m *encoded) unscale(y float64) float64 {
	s := &m.scale
	if s.Factor == 0 {
		return s.Offset
	}
	x := s.Offset + y/s.Factor
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

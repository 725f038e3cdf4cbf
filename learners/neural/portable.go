package neural

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/portable"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

var _ portable.Compiler = (*Model)(nil)

// Portable compiles the inputs, the layers and what makes answers of the outputs.
func (m *Model) Portable(b *portable.Builder) (portable.Answer, error) {
	if err := b.Texts(); err != nil {
		return portable.Answer{}, err
	}
	inputs, err := m.portableInputs(b)
	if err != nil {
		return portable.Answer{}, err
	}
	n := float64(len(m.members))
	if m.regression() {
		return m.portableNumber(b, inputs, n)
	}
	var all []portable.Ref
	for i := range m.members {
		outputs := m.members[i].net.portable(b, inputs)
		all = append(all, b.Softmax(b.Scale(outputs, 1/m.members[i].temperature, 0)))
	}
	classes := float64(m.outputs())
	spare := 1 / (m.rows + classes)
	return portable.Classes(b.Scale(b.Total(all...), (1-spare)/n, spare/classes))
}

// portableNumber compiles the mean and the interval of a number.
func (m *Model) portableNumber(b *portable.Builder, inputs portable.Ref, n float64) (portable.Answer, error) {
	var sums, squares []portable.Ref
	spread := 0.0
	for i := range m.members {
		y := m.members[i].net.portable(b, inputs)
		sums, squares = append(sums, y), append(squares, b.Zip(portable.Multiply, y, y))
		spread += m.members[i].spread * m.members[i].spread / n
	}
	mean := b.Scale(b.Total(sums...), 1/n, 0)
	variance := b.Map(portable.Rectify, b.Zip(portable.Subtract, b.Scale(b.Total(squares...), 1/n, 0), b.Zip(portable.Multiply, mean, mean)))
	half := b.Scale(b.Map(portable.Sqrt, b.Scale(variance, 1, spread)), normal95, 0)
	if m.scale.Factor == 0 {
		mean = b.Constant(m.scale.Offset)
		return portable.Interval(mean, mean, mean)
	}
	unscale := func(y portable.Ref) portable.Ref { return b.Scale(y, 1/m.scale.Factor, m.scale.Offset) }
	return portable.Interval(unscale(mean), unscale(b.Zip(portable.Subtract, mean, half)), unscale(b.Zip(portable.Add, mean, half)))
}

// portableInputs compiles how cells become inputs.
func (m *encoded) portableInputs(b *portable.Builder) (portable.Ref, error) {
	var all []portable.Ref
	for i := range m.matrix.Inputs {
		in := &m.matrix.Inputs[i]
		switch {
		case in.Scale != nil:
			s := in.Scale
			x := b.Scale(b.Scale(b.Cell(in.Column, s.Offset), 1, -s.Offset), s.Factor, 0)
			x = b.Zip(portable.Least, b.Zip(portable.Greatest, x, b.Constant(-s.Most)), b.Constant(s.Most))
			all = append(all, b.Choose(b.Known(in.Column), x, b.Constant(s.Fill)))
			if s.Indicator {
				all = append(all, b.Choose(b.Missing(in.Column), b.Constant(1), b.Constant(0)))
			}
		case in.OneHot != nil:
			o := in.OneHot
			width := o.Width()
			rows := make([]float64, (2+len(o.Values))*width)
			for code := range o.Values {
				switch {
				case !o.Single:
					rows[(2+code)*width+code] = 1
				case code == 1:
					rows[(2+code)*width] = 1
				}
			}
			if o.Single {
				rows[0], rows[width] = 0.5, 0.5
			}
			if o.Indicator {
				rows[2*width-1] = 1
			}
			all = append(all, b.Lookup(in.Column, width, rows))
		default:
			return 0, fmt.Errorf("an input is made of words, which no target can count")
		}
	}
	if len(all) == 0 {
		return b.Constant(0), nil
	}
	return b.Join(all...), nil
}

// portable compiles the layers.
func (d *dense) portable(b *portable.Builder, x portable.Ref) portable.Ref {
	activation := portable.Logistic
	switch d.activation {
	case units.Rectifier:
		activation = portable.Rectify
	case units.Tanh:
		activation = portable.Tanh
	}
	for k := range d.layers {
		l := &d.layers[k]
		in := max(l.in, 1)
		start, factors := make([]float64, l.out), make([]float64, l.out*in)
		for j := range l.out {
			start[j] = float64(l.b[j])
			for i := range l.in {
				factors[j*in+i] = float64(l.w[i*l.stride+j])
			}
		}
		if x = b.Affine(x, start, factors); k < len(d.layers)-1 {
			x = b.Map(activation, x)
		}
	}
	return x
}

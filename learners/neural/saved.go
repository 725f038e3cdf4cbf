package neural

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

const (
	headPart    = "mlp"
	weightsPart = "weights" // with the member's number
	format      = 1
)

// savedHead is all of a model but its weights, which follow in parts of their
// own as single precision numbers, little-endian: layer by layer, a row for
// each input, then the biases.
type savedHead struct {
	Format   int                 `cbor:"format"`
	Settings settings            `cbor:"settings"`
	Seed     uint64              `cbor:"seed"`
	Columns  []table.SavedColumn `cbor:"columns"`
	Target   int                 `cbor:"target"`
	Rows     float64             `cbor:"rows"`
	Counts   []float64           `cbor:"counts,omitempty"`
	Matrix   encode.Matrix       `cbor:"matrix"`
	Scale    encode.Scale        `cbor:"scale"`
	Members  []savedMember       `cbor:"members"`
	Also     []savedCompanion    `cbor:"also,omitempty"`
}

// savedCompanion is what a model of a further target has of its own; its weights
// stand behind those of the first one.
type savedCompanion struct {
	Target  int           `cbor:"target"`
	Rows    float64       `cbor:"rows"`
	Counts  []float64     `cbor:"counts,omitempty"`
	Scale   encode.Scale  `cbor:"scale"`
	Members []savedMember `cbor:"members"`
}

type savedMember struct {
	Temperature float64 `cbor:"temperature"`
	Spread      float64 `cbor:"spread"`
}

// Parts returns the model's head and the weights of each network.
func (m *Model) Parts() ([]learn.Part, error) {
	head := savedHead{Format: format, Settings: *m.settings, Seed: m.seed, Target: m.target, Rows: m.rows, Counts: m.counts, Matrix: *m.matrix, Scale: m.scale}
	head.Columns = table.SaveColumns(m.schema)
	parts := make([]learn.Part, 1)
	for i, member := range m.members {
		head.Members = append(head.Members, savedMember{member.temperature, member.spread})
		parts = append(parts, learn.Part{Name: fmt.Sprintf("%s %d", weightsPart, i+1), Data: m.whole(m.networks(i)).bytes()})
	}
	for _, other := range m.also {
		s := savedCompanion{Target: other.target, Rows: other.rows, Counts: other.counts, Scale: other.scale}
		for _, member := range other.members {
			s.Members = append(s.Members, savedMember{member.temperature, member.spread})
		}
		head.Also = append(head.Also, s)
	}
	data, err := learn.Marshal(head)
	parts[0] = learn.Part{Name: headPart, Data: data}
	return parts, err
}

// bytes returns the weights.
func (d *dense) bytes() []byte {
	var data []byte
	for _, w := range d.weights() {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(w)))
	}
	return data
}

// decodeDense reads what bytes wrote, for a network of the given form.
func decodeDense(data []byte, inputs int, hidden []int, outputs int, activation units.Function) (*dense, error) {
	want, in := 0, inputs
	for _, out := range append(slices.Clone(hidden), outputs) {
		want += 4 * (in + 1) * out
		if want > len(data) {
			break
		}
		in = out
	}
	if want != len(data) {
		return nil, fmt.Errorf("%d bytes of weights, expected %d", len(data), want)
	}
	var broken error
	take := func(to []float32) {
		for i := range to {
			to[i] = math.Float32frombits(binary.LittleEndian.Uint32(data))
			data = data[4:]
			if to[i]-to[i] != 0 {
				broken = fmt.Errorf("a weight is %v, expected finite numbers", to[i])
			}
		}
	}
	d := &dense{inputs: inputs, activation: activation}
	in = inputs
	for _, out := range append(slices.Clone(hidden), outputs) {
		l := layer{in: in, out: out, stride: strideOf(out)}
		l.w, l.b = make([]float32, in*l.stride), make([]float32, l.stride)
		for i := range in {
			take(l.w[i*l.stride:][:out])
		}
		take(l.b[:out])
		d.layers = append(d.layers, l)
		in = out
	}
	return d, broken
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	if data := learn.FindPart(parts, unitsPart); data != nil {
		return decodeUnits(data)
	}
	var head savedHead
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &head); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("the network is saved in format %d, this program reads %d", head.Format, format)
	}
	m, err := head.load()
	if err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	for i, saved := range head.Members {
		name := fmt.Sprintf("%s %d", weightsPart, i+1)
		net, err := decodeDense(learn.FindPart(parts, name), m.matrix.Width(), m.settings.Hidden, m.allOutputs(), activations[m.settings.Activation])
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", name, err)
		}
		m.members = append(m.members, member{net.part(0, m.outputs()), saved.Temperature, saved.Spread})
		from := m.outputs()
		for k, other := range m.also {
			own := head.Also[k].Members[i]
			other.members = append(other.members, member{net.part(from, other.outputs()), own.Temperature, own.Spread})
			from += other.outputs()
		}
	}
	return m, nil
}

// load checks the head and returns a model without networks.
func (head *savedHead) load() (*Model, error) {
	e, err := head.loadEncoded()
	if err != nil {
		return nil, err
	}
	m := &Model{settings: &head.Settings, encoded: *e}
	if err := m.settings.check(); err != nil {
		return nil, err
	}
	if err := checkMembers(head.Members, m.settings); err != nil {
		return nil, err
	}
	for _, saved := range head.Also {
		own := *head
		own.Target, own.Rows, own.Counts, own.Scale = saved.Target, saved.Rows, saved.Counts, saved.Scale
		other, err := own.loadEncoded()
		if err != nil {
			return nil, err
		}
		if err := checkMembers(saved.Members, m.settings); err != nil {
			return nil, err
		}
		if other.target == m.target || m.predicts(other.target) {
			return nil, fmt.Errorf("column %d is predicted twice", other.target+1)
		}
		other.schema = m.schema
		m.also = append(m.also, &Model{settings: m.settings, encoded: *other})
	}
	return m, nil
}

func checkMembers(members []savedMember, of *settings) error {
	if len(members) != of.Committee {
		return fmt.Errorf("%d networks, expected %d", len(members), of.Committee)
	}
	for _, s := range members {
		if !(s.Temperature >= 1e-3 && s.Temperature <= 1e3) || !(s.Spread >= 0 && s.Spread <= math.MaxFloat32) {
			return fmt.Errorf("temperature %v and spread %v", s.Temperature, s.Spread)
		}
	}
	return nil
}

// loadEncoded checks what a model knows of its columns.
func (head *savedHead) loadEncoded() (*encoded, error) {
	m := &encoded{seed: head.Seed, target: head.Target, rows: head.Rows, counts: head.Counts, matrix: &head.Matrix, scale: head.Scale}
	var err error
	if m.schema, err = table.LoadColumns(head.Columns); err != nil {
		return nil, err
	}
	if err := m.matrix.Check(m.schema); err != nil {
		return nil, err
	}
	if err := m.scale.Check(); !m.untouched() && err != nil {
		return nil, err
	}
	switch {
	case m.target < 0 || m.target >= len(m.schema.Attributes):
		return nil, fmt.Errorf("the target is column %d of %d", m.target+1, len(m.schema.Attributes))
	case m.outputs() == 0:
		return nil, fmt.Errorf("the target has no classes")
	case slices.ContainsFunc(m.matrix.Inputs, func(in encode.Input) bool { return in.Column == m.target }):
		return nil, fmt.Errorf("the target is an input")
	case !(m.rows >= 0 && m.rows <= math.MaxFloat64):
		return nil, fmt.Errorf("learnt from %v rows", m.rows)
	case m.regression() && len(m.counts) > 0 || !m.regression() && len(m.counts) != m.outputs():
		return nil, fmt.Errorf("rows of %d classes, expected %d", len(m.counts), m.outputs())
	case slices.ContainsFunc(m.counts, func(n float64) bool { return !(n >= 0 && n <= math.MaxFloat64) }):
		return nil, fmt.Errorf("rows by class are %v", m.counts)
	}
	return m, nil
}

// untouched reports whether the target has no scale, as classes have none.
func (m *encoded) untouched() bool { return m.scale == encode.Scale{} }

package neural

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
	"github.com/accrete-ml/accrete/table"
)

const (
	unitsPart   = "units"
	unitsFormat = 1
)

// savedUnits is a UnitModel.
type savedUnits struct {
	Format      int                 `cbor:"format"`
	Settings    unitSettings        `cbor:"settings"`
	Seed        uint64              `cbor:"seed"`
	Columns     []table.SavedColumn `cbor:"columns"`
	Target      int                 `cbor:"target"`
	Rows        float64             `cbor:"rows"`
	Counts      []float64           `cbor:"counts,omitempty"`
	Matrix      encode.Matrix       `cbor:"matrix"`
	Scale       encode.Scale        `cbor:"scale"`
	Net         *units.Network      `cbor:"net,omitempty"`
	Fixed       []bool              `cbor:"fixed,omitempty"`
	Names       []string            `cbor:"names,omitempty"`
	Shared      map[int]string      `cbor:"shared,omitempty"`
	Edges       *units.Rectangle    `cbor:"edges,omitempty"`
	Temperature float64             `cbor:"temperature"`
	Spread      float64             `cbor:"spread"`
	Epochs      []Epoch             `cbor:"epochs,omitempty"`
	Grown       []GrownUnit         `cbor:"grown,omitempty"`
	Stopped     string              `cbor:"stopped,omitempty"`
	Gaps        float64             `cbor:"gaps,omitempty"`
}

// Parts returns the model's saved form.
func (m *UnitModel) Parts() ([]learn.Part, error) {
	s := savedUnits{
		Format: unitsFormat, Settings: *m.unitSettings, Seed: m.seed, Columns: table.SaveColumns(m.schema), Target: m.target, Rows: m.rows, Counts: m.counts,
		Matrix: *m.matrix, Scale: m.scale, Net: m.net, Fixed: m.fixed, Names: m.names, Shared: m.shared, Edges: m.edges, Temperature: m.temperature,
		Spread: m.spread, Stopped: m.stopped, Gaps: m.gaps,
	}
	for _, e := range m.epochs {
		switch e := e.(type) {
		case Epoch:
			s.Epochs = append(s.Epochs, e)
		case GrownUnit:
			s.Grown = append(s.Grown, e)
		}
	}
	data, err := learn.Marshal(s)
	return []learn.Part{{Name: unitsPart, Data: data}}, err
}

// decodeUnits makes a model of its saved form.
func decodeUnits(data []byte) (learn.Model, error) {
	var s savedUnits
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("part %q: %v", unitsPart, err)
	}
	if s.Format != unitsFormat {
		return nil, fmt.Errorf("the units are saved in format %d, this program reads %d", s.Format, unitsFormat)
	}
	m, err := s.load()
	if err != nil {
		return nil, fmt.Errorf("part %q: %v", unitsPart, err)
	}
	return m, nil
}

// load checks the saved form.
func (s *savedUnits) load() (*UnitModel, error) {
	head := savedHead{Seed: s.Seed, Columns: s.Columns, Target: s.Target, Rows: s.Rows, Counts: s.Counts, Matrix: s.Matrix, Scale: s.Scale}
	e, err := head.loadEncoded()
	if err != nil {
		return nil, err
	}
	m := &UnitModel{
		encoded: *e, unitSettings: &s.Settings, net: s.Net, fixed: s.Fixed, names: s.Names, shared: s.Shared, edges: s.Edges, sequence: -1,
		temperature: s.Temperature, spread: s.Spread, stopped: s.Stopped, gaps: s.Gaps,
	}
	if err := m.unitSettings.check(); err != nil {
		return nil, err
	}
	for _, e := range s.Epochs {
		m.epochs = append(m.epochs, e)
	}
	for _, g := range s.Grown {
		m.epochs = append(m.epochs, g)
	}
	finite := func(x float64) bool { return x-x == 0 }
	if m.Sequence != "" {
		if m.sequence = m.schema.Index(m.Sequence); m.sequence < 0 || m.sequence == m.target {
			return nil, fmt.Errorf("no column is called %q, which names the sequences", m.Sequence)
		}
	}
	if !m.regression() && m.outputs() < 2 {
		return nil, fmt.Errorf("one class; expected two or more")
	}
	switch {
	case !(m.temperature >= 1e-3 && m.temperature <= 1e3) || !(m.spread >= 0 && m.spread <= math.MaxFloat32):
		return nil, fmt.Errorf("temperature %v and spread %v", m.temperature, m.spread)
	case !(m.gaps >= 0) || m.gaps > 0 && m.outputs() != 2:
		return nil, fmt.Errorf("a truth table with %v gaps and %d classes", m.gaps, m.outputs())
	case (m.net == nil) == (m.edges == nil) || (m.edges != nil) != (m.Algorithm == "rectangle"):
		return nil, fmt.Errorf("algorithm %s with a network: %t, with a rectangle: %t", m.Algorithm, m.net != nil, m.edges != nil)
	case m.edges != nil:
		if m.outputUnits() != 1 || m.regression() || m.matrix.Width() != 2 || slices.ContainsFunc(m.matrix.Inputs, func(in encode.Input) bool { return in.Scale == nil }) || len(m.matrix.Inputs) != 2 {
			return nil, fmt.Errorf("a rectangle of %d inputs", m.matrix.Width())
		}
		if r := m.edges; !finite(r.Left) || !finite(r.Low) || !finite(r.Right) || !finite(r.High) || !finite(r.Steepness) {
			return nil, fmt.Errorf("a rectangle of %v; expected finite numbers", *r)
		}
		return m, nil
	}
	return m, m.checkNetwork()
}

// checkNetwork reports what is wrong with a network that was read.
func (m *UnitModel) checkNetwork() error {
	n := m.net
	context := 0
	switch m.Algorithm {
	case "elman":
		context = m.Hidden
	case "jordan":
		context = m.outputUnits()
	}
	switch {
	case n.Inputs != m.matrix.Width()+context:
		return fmt.Errorf("a network of %d inputs, expected %d", n.Inputs, m.matrix.Width()+context)
	case len(n.Outputs) != m.outputUnits() || len(n.Outputs) == 0:
		return fmt.Errorf("%d output units, expected %d", len(n.Outputs), m.outputUnits())
	case context > len(n.Units):
		return fmt.Errorf("%d units remember %d values", len(n.Units), context)
	case m.fixed != nil && len(m.fixed) != len(n.Weights) || m.names != nil && len(m.names) != len(n.Units):
		return fmt.Errorf("names of %d units and %d weights, expected %d and %d", len(m.names), len(m.fixed), len(n.Units), len(n.Weights))
	case slices.ContainsFunc(n.Weights, func(w float64) bool { return w-w != 0 }):
		return fmt.Errorf("a weight that is not a finite number")
	}
	return n.Check()
}

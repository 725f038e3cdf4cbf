package mixture

import (
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

const (
	headPart = "mixture"
	format   = 1
)

// saved is all but the components, each of which is a part.
type saved struct {
	Format   int           `cbor:"format"`
	Settings settings      `cbor:"settings"`
	Sources  []savedSource `cbor:"sources"`
}

type savedSource struct {
	ID     string    `cbor:"id"`
	Name   string    `cbor:"name"`
	Shares []float64 `cbor:"shares"`
}

func partName(c int) string { return fmt.Sprintf("component %d", c+1) }

// Parts returns the settings and shares, and a part for each component.
func (m *Model) Parts() ([]learn.Part, error) {
	s := saved{Format: format, Settings: m.settings}
	for _, of := range m.sources {
		s.Sources = append(s.Sources, savedSource{of.of.ID, of.of.Name, of.shares})
	}
	head, err := learn.Marshal(s)
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: headPart, Data: head}}
	for c, of := range m.components {
		data, err := learn.Encode(of)
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: partName(c), Data: data})
	}
	return parts, nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var s saved
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &s); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if s.Format != format {
		return nil, fmt.Errorf("the model is saved in format %d, this program reads %d", s.Format, format)
	}
	if err := s.Settings.check(); err != nil {
		return nil, err
	}
	m := &Model{settings: s.Settings}
	for c := range s.Settings.Components {
		of, err := learn.Decode(learn.FindPart(parts, partName(c)))
		if err != nil {
			return nil, fmt.Errorf("part %q: %w", partName(c), err)
		}
		if of.Learner() != s.Settings.Of {
			return nil, fmt.Errorf("part %q is a model of %s, expected %s", partName(c), of.Learner(), s.Settings.Of)
		}
		if err := m.enlist(of); err != nil {
			return nil, err
		}
		if !table.SameCodes(m.Schema(), of.Schema()) {
			return nil, fmt.Errorf("part %q has other columns than the first component", partName(c))
		}
	}
	if len(parts) != 1+len(m.components) {
		return nil, fmt.Errorf("%d parts, expected %d", len(parts), 1+len(m.components))
	}
	known := map[string]bool{}
	for _, of := range s.Sources {
		if len(of.Shares) != len(m.components) || known[of.ID] {
			return nil, fmt.Errorf("source %q comes twice, or does not fit %d components", of.ID, len(m.components))
		}
		known[of.ID] = true
		for _, w := range of.Shares {
			if !(w >= 0 && w <= 1e15) {
				return nil, fmt.Errorf("source %q: %v is no weight of rows", of.ID, w)
			}
		}
		m.sources = append(m.sources, source{learn.Source{ID: of.ID, Name: of.Name}, of.Shares})
	}
	if err := m.weigh(); err != nil {
		return nil, err
	}
	return m, nil
}

package learn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/coding"
)

// Part is a piece of a model's saved form. A model is saved as a list of
// parts so that versions of it can share what did not change: what came from
// one source is a part of its own, which later versions repeat to the byte.
//
// A Derived part can be computed again from the others. It is there to make
// loading fast, and a store may drop it from old versions: decoders must do
// without.
//
// A part that may wait (Info.Waits) may come without its data, Held: whoever
// needs them asks Load, and an update that does not hands it on as it came.
type Part struct {
	Name    string
	Derived bool
	Data    []byte
	Held    Held `cbor:"-"`
}

// Held is where the data of a part are, which Load reads and checks.
type Held interface{ Load() ([]byte, error) }

// Load returns the data of a part.
func (p *Part) Load() ([]byte, error) {
	if p.Held == nil || p.Data != nil {
		return p.Data, nil
	}
	return p.Held.Load()
}

// Marshal encodes a value for a part: CBOR, deterministic.
func Marshal(v any) ([]byte, error) { return coding.Marshal(v) }

// Unmarshal decodes what Marshal wrote.
func Unmarshal(data []byte, v any) error { return coding.Unmarshal(data, v) }

// ErrDamaged is wrapped by errors that say that a saved model cannot be read.
var ErrDamaged = errors.New("damaged model")

// FindPart returns the data of the part with a name, nil if there is none.
func FindPart(parts []Part, name string) []byte {
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.Name == name }); i >= 0 {
		return parts[i].Data
	}
	return nil
}

// envelope is a whole model in one piece.
type envelope struct {
	Learner string `cbor:"learner"`
	Parts   []Part `cbor:"parts"`
}

// Encode returns a model in one piece, for models that are parts of others.
func Encode(m Model) ([]byte, error) {
	parts, err := m.Parts()
	if err != nil {
		return nil, err
	}
	size := 256
	for i := range parts {
		if parts[i].Data, err = parts[i].Load(); err != nil {
			return nil, err
		}
		size += len(parts[i].Name) + len(parts[i].Data) + 64
	}
	return coding.MarshalSized(envelope{m.Learner(), parts}, size)
}

// Decode reads what Encode wrote. The model's learner must be registered.
func Decode(data []byte) (Model, error) {
	var e envelope
	if err := Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return DecodeParts(e.Learner, e.Parts)
}

// DecodeParts makes a model of its learner's name and its saved parts.
func DecodeParts(learner string, parts []Part) (Model, error) {
	info, err := Lookup(learner)
	if err != nil {
		return nil, err
	}
	own, around := unwrapParts(parts)
	m, err := info.Decode(own)
	for _, w := range around {
		if err == nil {
			m, err = w.decode(m, w.parts)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return m, nil
}

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// heap is a model of the simplest kind: a heap of what its sources brought,
// a part each, and one derived part that changes with every source.
type heap struct {
	sources []pile
	derived int // size of the derived part; 0 for none
}

type pile struct {
	ID   string
	Data []byte
}

const heapName = "heap"

var heapSchema = &table.Schema{Attributes: []table.Attribute{
	{Name: "size", Kind: table.Numeric},
	{Name: "class", Kind: table.Nominal, Values: []string{"no", "yes"}},
}}

func init() {
	learn.Register(learn.Info{
		Name: heapName, Summary: "keeps what it is given",
		New:    func() learn.Learner { return heapLearner{} },
		Decode: decodeHeap,
	})
}

type heapLearner struct{}

func (heapLearner) Learn(context.Context, learn.Task) (learn.Model, error) { return &heap{}, nil }

func (h *heap) Learner() string       { return heapName }
func (h *heap) Schema() *table.Schema { return heapSchema }
func (h *heap) Target() int           { return 1 }
func (h *heap) Size() learn.Size      { return learn.Size{Rows: float64(100 * len(h.sources)), Rules: 2} }
func (h *heap) Predict(context.Context, *table.Table, *learn.Predictions) error {
	return nil
}

func (h *heap) Parts() ([]learn.Part, error) {
	parts := []learn.Part{{Name: "head", Data: binary.LittleEndian.AppendUint32(nil, uint32(h.derived))}}
	for _, s := range h.sources {
		if s.ID == "unsavable" {
			return nil, errors.New("this model cannot be written down")
		}
		parts = append(parts, learn.Part{Name: "source " + s.ID, Data: s.Data})
	}
	if h.derived > 0 {
		parts = append(parts, learn.Part{Name: "total", Derived: true, Data: h.total()})
	}
	return parts, nil
}

// total is a derived part: bytes that depend on all sources and that cannot
// be compressed.
func (h *heap) total() []byte {
	sum := sha256.New()
	for _, s := range h.sources {
		fmt.Fprintf(sum, "%q %x\n", s.ID, sha256.Sum256(s.Data))
	}
	return noise(h.derived, binary.LittleEndian.Uint64(sum.Sum(nil)))
}

// noise is bytes that cannot be compressed.
func noise(size int, seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	data := make([]byte, size)
	rand.NewChaCha8(key).Read(data)
	return data
}

func decodeHeap(parts []learn.Part) (learn.Model, error) {
	h := &heap{}
	if len(parts) == 0 || parts[0].Name != "head" || len(parts[0].Data) != 4 {
		return nil, errors.New("no head")
	}
	h.derived = int(binary.LittleEndian.Uint32(parts[0].Data) % (1 << 24))
	for _, p := range parts[1:] {
		id, isSource := strings.CutPrefix(p.Name, "source ")
		switch {
		case isSource && !p.Derived:
			h.sources = append(h.sources, pile{id, p.Data})
		case p.Name == "total" && p.Derived:
			if !bytes.Equal(p.Data, h.total()) {
				return nil, errors.New("a total of something else")
			}
		default:
			return nil, fmt.Errorf("unknown part %q", p.Name)
		}
	}
	return h, nil
}

func (h *heap) with(id string, data []byte) *heap {
	return &heap{append(slices.Clip(h.sources), pile{id, data}), h.derived}
}

func (h *heap) without(id string) *heap {
	return &heap{slices.DeleteFunc(slices.Clone(h.sources), func(s pile) bool { return s.ID == id }), h.derived}
}

// Sources and Forget make a heap one that can forget.
func (h *heap) Sources() []learn.Source {
	sources := make([]learn.Source, len(h.sources))
	for i, s := range h.sources {
		sources[i] = learn.Source{ID: s.ID}
	}
	return sources
}

func (h *heap) Forget(_ context.Context, ids ...string) (learn.Model, error) {
	for _, id := range ids {
		h = h.without(id)
	}
	return h, nil
}

// same reports whether two heaps are equal.
func same(a, b learn.Model) bool {
	x, y := a.(*heap), b.(*heap)
	return x.derived == y.derived && slices.EqualFunc(x.sources, y.sources, func(s, t pile) bool {
		return s.ID == t.ID && bytes.Equal(s.Data, t.Data)
	})
}

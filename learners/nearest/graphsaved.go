package nearest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/learn"
)

// savedGraph is a graph as it is saved, so that it need not be built again when a
// model is read: of each case how many links, and what each is above the one
// before.
type savedGraph struct {
	Format int     `cbor:"format"`
	Points uint64  `cbor:"points"` // a hash of those that it links
	Count  int     `cbor:"count"`
	Degree int     `cbor:"degree"`
	Wanted int     `cbor:"wanted"`
	Effort int     `cbor:"effort"`
	Recall float64 `cbor:"recall"`
	Held   int     `cbor:"held"`
	Links  []byte  `cbor:"links"`
}

const graphFormat = 1

// hashed returns a hash of all points (Fowler, Noll and Vo, by words).
func (s *space) hashed() uint64 {
	h := uint64(14695981039346656037)
	for _, x := range s.points {
		h = (h ^ uint64(math.Float32bits(x))) * 1099511628211
	}
	return h
}

func (g *graph) save() ([]byte, error) {
	s := savedGraph{graphFormat, g.space.hashed(), g.space.count, g.degree, g.wanted, g.effort, g.recall, g.held, make([]byte, 0, len(g.links))}
	for i := range g.space.count {
		list := g.links[i*g.degree : (i+1)*g.degree]
		n := 0
		for n < g.degree && list[n] >= 0 {
			n++
		}
		s.Links = append(s.Links, byte(n))
		before := int32(0)
		for _, j := range list[:n] {
			s.Links = binary.AppendUvarint(s.Links, uint64(j-before))
			before = j
		}
	}
	return coding.MarshalSized(s, len(s.Links)+256)
}

// readGraph reads what save wrote. It is nil, and to be built, if it is of other
// points or made for another k.
func readGraph(ctx context.Context, in *space, wanted int, data []byte) (*graph, error) {
	var s savedGraph
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Format != graphFormat || s.Count != in.count || s.Wanted != wanted || s.Degree != 2*proposed || s.Points != in.hashed() {
		return nil, nil
	}
	if s.Effort < 1 || s.Effort > 2*(s.Count+leastEffort) || !(s.Recall >= 0 && s.Recall <= 1) || s.Held < 0 || s.Held > s.Count {
		return nil, fmt.Errorf("an effort of %d, a recall of %v and %d rows held out are no graph's of %d rows", s.Effort, s.Recall, s.Held, s.Count)
	}
	g := &graph{space: in, degree: s.Degree, wanted: s.Wanted, effort: s.Effort, recall: s.Recall, held: s.Held, links: make([]int32, s.Count*s.Degree)}
	g.saved = func() ([]byte, error) { return data, nil }
	rest := s.Links
	for i := range s.Count {
		list := g.links[i*g.degree : (i+1)*g.degree]
		if len(rest) == 0 || int(rest[0]) > g.degree {
			return nil, fmt.Errorf("the links of case %d are not there", i+1)
		}
		n := int(rest[0])
		rest = rest[1:]
		at := uint64(0)
		for k := range list {
			if list[k] = -1; k >= n {
				continue
			}
			step, size := binary.Uvarint(rest)
			if size <= 0 || step >= uint64(s.Count) || at+step >= uint64(s.Count) {
				return nil, fmt.Errorf("case %d has a link to none", i+1)
			}
			at += step
			list[k], rest = int32(at), rest[size:]
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes are behind the last link", len(rest))
	}
	var err error
	g.door, err = newTree(ctx, in, false)
	return g, err
}

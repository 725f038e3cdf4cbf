package rulenet

import (
	"context"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
)

// design is the rows as the rule units see them: rows that fire the same
// units are one group.
type design struct {
	units   int
	classes int
	of      []int32 // the group of each distinct row
	start   []int32 // of each group in active, and the end
	active  []int32 // the units that fire, ascending
	class   []int32 // of each distinct row
}

// newDesign groups the rows of examples by the units that they fire.
func newDesign(ctx context.Context, s *examples, units []conjunction) (*design, error) {
	d := &design{units: len(units), classes: s.classes(), class: s.class, of: make([]int32, len(s.class))}
	fired := make([]bits.Set, len(units))
	err := learn.Each(ctx, len(units), func(u int) {
		fired[u] = make(bits.Set, len(s.valid))
		s.match(units[u], fired[u])
	})
	if err != nil {
		return nil, err
	}
	// Rows that fire the same units have the same sum of the units' keys.
	keys := make([]key, len(s.valid)*64)
	for u, set := range fired {
		h := scramble(uint64(u) + 1)
		k := key{h, scramble(h)}
		for bit := range set.All {
			keys[bit][0] += k[0]
			keys[bit][1] += k[1]
		}
	}
	index := make(map[key]int32, len(s.bit)/4)
	for row, at := range s.bit {
		g, ok := index[keys[at]]
		if !ok {
			g = int32(len(d.start))
			index[keys[at]] = g
			d.start = append(d.start, int32(len(d.active)))
			for u, set := range fired {
				if set.Get(int(at)) {
					d.active = append(d.active, int32(u))
				}
			}
		}
		d.of[row] = g
	}
	d.start = append(d.start, int32(len(d.active)))
	return d, nil
}

func (d *design) groups() int { return len(d.start) - 1 }

func (d *design) fires(group int) []int32 { return d.active[d.start[group]:d.start[group+1]] }

// weigh returns the weight of each class in each group.
func (d *design) weigh(weights []float64) []float64 {
	sums := make([]float64, d.groups()*d.classes)
	for row, g := range d.of {
		sums[int(g)*d.classes+int(d.class[row])] += weights[row]
	}
	return sums
}

package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// weighted is values as sums of weights over what a state has: tiles, that is the
// cells of several grids over the numbers, each shifted against the others (CMAC,
// Albus 1975; Sutton 1996), or the numbers themselves, scaled, with their squares
// and products (linear). Names are a column of ones and zeros each. Every action
// has weights of its own.
type weighted struct {
	tiles     bool
	tilings   int
	low, high []float64 // of each column; of names 0 and their number
	names     []bool
	sizes     []int // cells of a grid in each column
	actions   int
	plain     int // weights of an action, without those of advice
	features  int // with them
	advised   *adviser
	w         []float64
	base      []float64 // of a critic: what states are worth, by the features
	rho       float64   // average reward of R-learning
	visits    []float64 // of each weight, where one explores by them
}

const (
	tilings      = 8
	mostFeatures = 1 << 22
	outlook      = 20 // random episodes that show between which numbers states lie
)

// newWeighted lays out the features of an environment's states.
func newWeighted(ctx context.Context, s *settings, e act.Environment, seed uint64) (*weighted, error) {
	schema := e.Schema()
	f := &weighted{tiles: s.Values == "tiles", tilings: tilings, actions: len(e.Actions())}
	ranges, err := rangesOf(ctx, e, seed)
	if err != nil {
		return nil, err
	}
	for i, a := range schema.Attributes {
		f.low, f.high, f.names = append(f.low, ranges[i][0]), append(f.high, ranges[i][1]), append(f.names, a.Kind == table.Nominal)
		if a.Kind == table.Nominal {
			f.low[i], f.high[i] = 0, float64(max(1, len(a.Values)))
		}
	}
	f.sizes = make([]int, len(f.low))
	for i := range f.sizes {
		if f.sizes[i] = s.Tiles + 1; f.names[i] {
			f.sizes[i] = int(f.high[i])
		}
	}
	if f.plain, err = f.count(); err != nil {
		return nil, err
	}
	f.features = f.plain
	f.w = make([]float64, f.features*f.actions)
	if s.Explore == "ucb" {
		f.visits = make([]float64, len(f.w))
	}
	if s.Algorithm == "actorcritic" { // what begins with a value are states
		f.base = make([]float64, f.features)
		f.start(f.base, s.Start)
		return f, nil
	}
	for a := range f.actions {
		f.start(f.w[a*f.features:][:f.features], s.Start)
	}
	return f, nil
}

// start lets a sum of weights begin with a value.
func (f *weighted) start(w []float64, value float64) {
	if !f.tiles {
		w[0] = value
		return
	}
	for i := range w {
		w[i] = value / float64(f.tilings)
	}
}

// visit counts that an action was taken in a state of these features.
func (f *weighted) visit(action int, at []int32) {
	if f.visits == nil {
		return
	}
	for _, k := range at {
		f.visits[action*f.features+int(k)]++
	}
}

// hope fills in what actions may be worth: more than they are believed to be, the
// less their tiles were visited. An action that was never taken here may be worth
// anything.
func (f *weighted) hope(at []int32, q []float64, bound float64, hoped []float64) {
	total := 1.0
	for a := range hoped {
		if hoped[a] = math.NaN(); q[a] == q[a] {
			hoped[a] = 0
			for _, k := range at[:f.tilings] {
				hoped[a] += f.visits[a*f.features+int(k)] / float64(f.tilings)
			}
			total += hoped[a]
		}
	}
	for a, n := range hoped {
		if hoped[a] = q[a] + bound*math.Sqrt(math.Log(total)/n); n == 0 {
			hoped[a] = math.Inf(1)
		}
	}
}

// count returns how many features there are.
func (f *weighted) count() (int, error) {
	if f.tiles {
		cells := f.tilings
		for _, size := range f.sizes {
			if cells *= size; cells > mostFeatures {
				return 0, fmt.Errorf("tiles over %d columns are more than %d; take fewer tiles, values=linear, or a learner such as tree", len(f.sizes), mostFeatures)
			}
		}
		return cells, nil
	}
	numbers, n := 0, 1
	for i, named := range f.names {
		if named {
			n += f.sizes[i]
		} else {
			numbers++
		}
	}
	n += 2*numbers + numbers*(numbers-1)/2
	if n > mostFeatures {
		return 0, fmt.Errorf("states have %d features, more than %d", n, mostFeatures)
	}
	return n, nil
}

// rangesOf finds between which numbers states lie: the environment says so, or
// random episodes show it.
func rangesOf(ctx context.Context, e act.Environment, seed uint64) ([][2]float64, error) {
	if r, ok := e.(act.Ranged); ok {
		return r.Ranges(), nil
	}
	log, err := act.Log(ctx, e, outlook, 1000, seed, nil)
	if err != nil {
		return nil, err
	}
	ranges := make([][2]float64, len(e.Schema().Attributes))
	for i := range ranges {
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range log.Columns[i].Floats {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				low, high = min(low, x), max(high, x)
			}
		}
		if low > high {
			low, high = 0, 1
		}
		ranges[i] = [2]float64{low, max(high, low+1e-9)}
	}
	return ranges, nil
}

// of fills in the features of a state and how much there is of each; missing
// cells count as the middle.
func (f *weighted) of(cells []float64, at []int32, much []float64) ([]int32, []float64) {
	at, much = at[:0], much[:0]
	share := func(i int) float64 { // from 0 to 1
		x := (cells[i] - f.low[i]) / (f.high[i] - f.low[i])
		if x != x {
			return 0.5
		}
		return min(max(x, 0), 1)
	}
	if f.tiles {
		for t := range f.tilings {
			cell := 0
			for i, size := range f.sizes {
				k := 0
				if f.names[i] {
					if k = int(cells[i]); cells[i] != cells[i] || k < 0 || k >= size {
						k = 0
					}
				} else {
					// Grids are shifted by odd steps, 1, 3, 5 …, of a tile.
					shift := float64((t*(2*i+1))%f.tilings) / float64(f.tilings)
					k = min(int(share(i)*float64(size-1)+shift), size-1)
				}
				cell = cell*size + k
			}
			at, much = append(at, int32(t*(f.plain/f.tilings)+cell)), append(much, 1)
		}
		return f.heard(cells, at, much)
	}
	at, much = append(at, 0), append(much, 1)
	n := int32(1)
	for i, named := range f.names {
		switch {
		case named:
			if k := int(cells[i]); cells[i] == cells[i] && k >= 0 && k < f.sizes[i] {
				at, much = append(at, n+int32(k)), append(much, 1)
			}
			n += int32(f.sizes[i])
		default:
			x := 2*share(i) - 1
			for j := range i {
				if !f.names[j] {
					at, much = append(at, n), append(much, x*(2*share(j)-1))
					n++
				}
			}
			at, much = append(at, n, n+1), append(much, x, x*x)
			n += 2
		}
	}
	return f.heard(cells, at, much)
}

// heard adds the features of advice that speaks of a state.
func (f *weighted) heard(cells []float64, at []int32, much []float64) ([]int32, []float64) {
	if f.advised != nil {
		f.advised.each(cells, func(k int) { at, much = append(at, int32(f.plain+k)), append(much, 1) })
	}
	return at, much
}

// value is what an action is worth where there are these features.
func (f *weighted) value(action int, at []int32, much []float64) float64 {
	return weigh(f.w[action*f.features:][:f.features], at, much)
}

// weigh is a sum of weights.
func weigh(w []float64, at []int32, much []float64) (sum float64) {
	for i, k := range at {
		sum += w[k] * much[i]
	}
	return sum
}

func (f *weighted) worth(cells, q []float64) {
	at, much := f.of(cells, nil, nil)
	for a := range q {
		q[a] = f.value(a, at, much)
	}
}

func (f *weighted) worths(ctx context.Context, m *Model, t *table.Table, q []float64) error {
	return learn.Split(ctx, t.Rows(), func(lo, hi int) {
		cells, at, much := make([]float64, len(m.state)), make([]int32, 0, 64), make([]float64, 0, 64)
		for row := lo; row < hi; row++ {
			m.cellsOf(t, row, cells)
			at, much = f.of(cells, at, much)
			for a := range f.actions {
				q[row*f.actions+a] = f.value(a, at, much)
			}
		}
	})
}

func (f *weighted) clone() *weighted {
	c := *f
	c.w, c.base, c.visits = slices.Clone(f.w), slices.Clone(f.base), slices.Clone(f.visits)
	return &c
}

// savedWeights is its saved form.
type savedWeights struct {
	Tiles   bool      `cbor:"tiles"`
	Tilings int       `cbor:"tilings"`
	Low     []float64 `cbor:"low"`
	High    []float64 `cbor:"high"`
	Sizes   []int     `cbor:"sizes"`
	W       []float64 `cbor:"w"`
	Base    []float64 `cbor:"base,omitempty"`
	Rho     float64   `cbor:"rho,omitempty"`
	Visits  []float64 `cbor:"visits,omitempty"`
}

func (f *weighted) saved() *savedWeights {
	return &savedWeights{f.tiles, f.tilings, f.low, f.high, f.sizes, f.w, f.base, f.rho, f.visits}
}

// load checks what is read against the columns of states.
func (s *savedWeights) load(limits []int, actions int, advised *adviser) (*weighted, error) {
	f := &weighted{advised: advised, tiles: s.Tiles, tilings: s.Tilings, low: s.Low, high: s.High, sizes: s.Sizes, actions: actions, w: s.W, base: s.Base, rho: s.Rho, visits: s.Visits}
	if len(s.Low) != len(limits) || len(s.High) != len(limits) || len(s.Sizes) != len(limits) || s.Tilings < 1 || s.Tilings > 64 {
		return nil, errors.New("weights are of other columns")
	}
	for i, limit := range limits {
		f.names = append(f.names, limit > 0)
		if s.Sizes[i] < 1 || s.Sizes[i] > mostFeatures || !(s.Low[i] < s.High[i]) || math.IsInf(s.High[i]-s.Low[i], 0) {
			return nil, fmt.Errorf("column %d lies between %v and %v in %d cells", i+1, s.Low[i], s.High[i], s.Sizes[i])
		}
	}
	var err error
	if f.plain, err = f.count(); err != nil {
		return nil, err
	}
	f.features = f.plain + advised.units()
	if len(s.W) != f.features*actions {
		return nil, fmt.Errorf("%d weights, expected %d", len(s.W), f.features*actions)
	}
	if len(s.Base) != 0 && len(s.Base) != f.features || len(s.Visits) != 0 && (len(s.Visits) != len(s.W) || !s.Tiles) {
		return nil, fmt.Errorf("%d weights have %d of a critic and %d visits", len(s.W), len(s.Base), len(s.Visits))
	}
	for _, x := range slices.Concat(s.W, s.Base, []float64{s.Rho}) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("a weight is %v", x)
		}
	}
	for _, n := range s.Visits {
		if !(n >= 0) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("a weight was visited %v times", n)
		}
	}
	return f, nil
}

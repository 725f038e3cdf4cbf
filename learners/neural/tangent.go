package neural

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

// This file is TangentProp (Simard et al. 1992; Mitchell 1997, section 12.4.1):
// what is known of how answers change as inputs are moved along some way counts
// beside the answers themselves,
//
//	E = Σ_i [ error of row i + μ Σ_j (slope wanted − slope along way j)² ],
//
// slopes being those of the network's outputs before the softmax, in units of
// scaled inputs. Ways are transformations of a picture, along which answers should
// not change, and columns with which the answer should rise, fall or stay. Of
// those that should rise or fall, only slopes of the wrong sign are an error.
//
// Beside the values of a row run its derivatives along each way, forward, and
// their errors back. The weights' slopes are then sums over rows as for values:
// γ(ξ)ᵀ beside δxᵀ.

// way is one direction in which a row can be moved.
type way struct {
	name   string
	column int     // input that is moved; -1: the picture is
	want   float64 // 1: answers should rise, -1: fall, 0: stay
	dx, dy func(x, y float64) float64
}

// tangents are the ways of a sample's rows, and how they count.
type tangents struct {
	ways    []way
	mu      float32
	augment float64 // how far rows are moved along ways that change nothing, as they are shown
	seed    uint64
	width   int       // of pictures
	pixels  []int     // inputs that are pixels
	factor  []float64 // of pixels: scaled per unit of darkness
	offset  []float64
	up, low int // outputs whose difference should rise; low is -1 for a number
}

// transformations of pictures, as the speed at which a pixel at (x, y) from the
// middle moves.
var transformations = map[string]way{
	"shift-x": {dx: func(_, _ float64) float64 { return 1 }, dy: still},
	"shift-y": {dx: still, dy: func(_, _ float64) float64 { return 1 }},
	"rotate":  {dx: func(_, y float64) float64 { return -y }, dy: func(x, _ float64) float64 { return x }},
	"scale":   {dx: func(x, _ float64) float64 { return x }, dy: func(_, y float64) float64 { return y }},
}

func still(_, _ float64) float64 { return 0 }

// usualMu is how slopes count if nobody says.
const usualMu = 0.1

// tangents reads the settings about slopes; nil if there are none.
func (m *Model) tangents(s *settings) (*tangents, error) {
	if s.Slope == "" && s.Transform == "" {
		return nil, nil
	}
	t := &tangents{mu: float32(s.Mu), augment: s.Augment, seed: m.seed, low: -1}
	inputs := map[string]int{}
	var names []string
	at := 0
	for i := range m.matrix.Inputs {
		in := &m.matrix.Inputs[i]
		name := m.schema.Attributes[in.Column].Name
		if in.Scale != nil {
			inputs[name] = at
			names = append(names, name)
			t.pixels = append(t.pixels, at)
			t.factor, t.offset = append(t.factor, in.Scale.Factor), append(t.offset, in.Scale.Offset)
		}
		at += len(widthOf(in, name))
	}
	if err := m.slopes(t, s, inputs, names); err != nil {
		return nil, err
	}
	if s.Transform == "" {
		return t, nil
	}
	t.width = s.Width
	if n := len(t.pixels); s.Width < 1 || n%s.Width != 0 || n < 4 {
		return nil, fmt.Errorf("setting width=%d: %d numeric columns are no picture in rows of so many; say width=N with N a divisor of %d", s.Width, n, n)
	}
	for _, name := range strings.Split(s.Transform, ",") {
		name = strings.TrimSpace(name)
		w, ok := transformations[name]
		if !ok {
			return nil, fmt.Errorf("setting transform: unknown transformation %q%s", name, spell.Hint(name, []string{"shift-x", "shift-y", "rotate", "scale"}))
		}
		w.name, w.column = name, -1
		t.ways = append(t.ways, w)
	}
	return t, nil
}

func widthOf(in *encode.Input, name string) []string {
	switch {
	case in.OneHot != nil:
		return in.OneHot.Names(name)
	case in.Words != nil:
		return in.Words.Names(name)
	}
	return in.Scale.Names(name)
}

// slopes reads slope=, as in age:+,income:-,height:0.
func (m *Model) slopes(t *tangents, s *settings, inputs map[string]int, names []string) error {
	if s.Slope == "" {
		return nil
	}
	a := &m.schema.Attributes[m.target]
	if !m.regression() {
		if len(a.Values) != 2 {
			return fmt.Errorf("setting slope: the target %q has %d classes; slopes are of numbers, or of one of two classes", a.Name, len(a.Values))
		}
		t.up = positive(a.Values)
		t.low = 1 - t.up
	}
	for _, word := range strings.Split(s.Slope, ",") {
		i := strings.LastIndexByte(word, ':')
		if i < 0 {
			return fmt.Errorf("setting slope: %q; expected column:+, column:- or column:0", word)
		}
		name := strings.TrimSpace(word[:i])
		want, ok := map[string]float64{"+": 1, "-": -1, "0": 0}[strings.TrimSpace(word[i+1:])]
		if !ok {
			return fmt.Errorf("setting slope: %q; expected + for rising, - for falling or 0 for the same behind the colon", word)
		}
		at, found := inputs[name]
		if !found {
			return fmt.Errorf("setting slope: %q is no numeric input column%s", name, spell.Hint(name, names))
		}
		if slices.ContainsFunc(t.ways, func(w way) bool { return w.column == at }) {
			return fmt.Errorf("setting slope: column %q is there twice", name)
		}
		t.ways = append(t.ways, way{name: name, column: at, want: want})
	}
	return nil
}

// positive is the class whose probability slopes are about: that which says yes,
// else the last by name.
func positive(classes []string) int {
	for _, word := range []string{"yes", "true", "1", "+", "pos", "positive"} {
		for c, class := range classes {
			if strings.EqualFold(class, word) {
				return c
			}
		}
	}
	if classes[0] > classes[1] {
		return 0
	}
	return 1
}

// along writes the derivative of a row's inputs along a way: a one for a column; for
// a picture what flows into each pixel, by central differences.
func (t *tangents) along(w *way, x, out []float32) {
	clear(out)
	if w.column >= 0 {
		out[w.column] = 1
		return
	}
	width, height := t.width, len(t.pixels)/t.width
	raw := func(px, py int) float64 {
		if px < 0 || px >= width || py < 0 || py >= height {
			return 0
		}
		k := py*width + px
		if t.factor[k] == 0 {
			return t.offset[k]
		}
		return float64(x[t.pixels[k]])/t.factor[k] + t.offset[k]
	}
	for py := range height {
		for px := range width {
			k := py*width + px
			fx, fy := float64(px)-float64(width-1)/2, float64(py)-float64(height-1)/2
			gx, gy := (raw(px+1, py)-raw(px-1, py))/2, (raw(px, py+1)-raw(px, py-1))/2
			out[t.pixels[k]] = float32(-(gx*w.dx(fx, fy) + gy*w.dy(fx, fy)) * t.factor[k])
		}
	}
}

// moved moves a row, as it is shown, along the ways that change nothing: the
// alternative to slopes, which makes rows up instead (Mitchell 1997, section
// 12.4.3). How far depends on the row and the step alone.
func (t *tangents) moved(x []float32, step int, row int32, room []float32) {
	h := t.seed ^ uint64(step)*0x9e3779b97f4a7c15 ^ uint64(row)*0xbf58476d1ce4e5b9
	from := slices.Clone(x)
	for i := range t.ways {
		if t.ways[i].want != 0 {
			continue
		}
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
		by := float32(t.augment * (2*float64(h>>11)/(1<<53) - 1))
		t.along(&t.ways[i], from, room)
		for k, v := range room {
			x[k] += by * v
		}
	}
}

// slopePass is the room for the derivatives of a batch along one way.
type slopePass struct {
	way    *way
	sums   [][]float32 // of each layer's inputs to its units: α; and of the rows themselves first
	values [][]float32 // ξ, from the inputs on
	deltas [][]float32 // γ of each layer
}

func (d *descent) newSlopePasses(batch int) {
	t := d.sample.tangents
	if t == nil || t.mu == 0 {
		return
	}
	rows := padded(batch)
	for i := range t.ways {
		p := &slopePass{way: &t.ways[i]}
		p.values = append(p.values, make([]float32, rows*d.state.stride))
		for k := range d.net.layers {
			room := rows * d.net.layers[k].stride
			p.sums, p.values, p.deltas = append(p.sums, make([]float32, room)), append(p.values, make([]float32, room)), append(p.deltas, make([]float32, room))
		}
		d.slopes = append(d.slopes, p)
	}
}

// propagateSlopes runs the derivatives of rows of the batch forward, their errors
// back, and leaves in bend what they add to the deltas of the values. Rows begin
// at a multiple of side.
func (d *descent) propagateSlopes(p *slopePass, lo, hi int, share float32) {
	net, s := d.net, d.state
	for r := lo; r < hi; r++ {
		d.sample.tangents.along(p.way, s.values[0][r*s.stride:(r+1)*s.stride], p.values[0][r*s.stride:(r+1)*s.stride])
	}
	ld, top := s.stride, len(net.layers)-1
	for i := range net.layers {
		bare := net.layers[i]
		bare.b = d.noBias
		bare.apply(p.values[i][lo*ld:], ld, hi-lo, p.sums[i][lo*bare.stride:])
		copy(p.values[i+1][lo*bare.stride:hi*bare.stride], p.sums[i][lo*bare.stride:hi*bare.stride])
		if i < top {
			net.slopes(&net.layers[i], s.values[i+1][lo*bare.stride:], p.values[i+1][lo*bare.stride:], hi-lo)
		}
		ld = bare.stride
	}
	last := net.last()
	for r := lo; r < hi; r++ {
		d.blameSlope(p.way, p.values[top+1][r*last.stride:][:last.out], p.deltas[top][r*last.stride:][:last.out], d.batch[r].weight*share)
	}
	for i := top; i > 0; i-- {
		below := &net.layers[i-1]
		d.pullBack(i, p.deltas[i], p.deltas[i-1], lo, hi) // ψ
		for r := lo; r < hi; r++ {
			h, psi := s.values[i][r*below.stride:][:below.out], p.deltas[i-1][r*below.stride:][:below.out]
			alpha, bend := p.sums[i-1][r*below.stride:], d.bend[i-1][r*below.stride:]
			for k, x := range h {
				bend[k] += psi[k] * alpha[k] * curve(net.activation, x)
			}
		}
		net.slopes(below, s.values[i][lo*below.stride:], p.deltas[i-1][lo*below.stride:], hi-lo) // γ
	}
}

// blameSlope writes the derivative of the slopes' error by the slopes. Where
// nothing is to change, the slopes of all outputs count, in classes beside their
// mean, which no probability depends on.
func (d *descent) blameSlope(w *way, slope, delta []float32, weight float32) {
	t := d.sample.tangents
	clear(delta)
	scale := 2 * t.mu * weight
	if w.column >= 0 {
		rises := slope[t.up]
		if t.low >= 0 {
			rises -= slope[t.low]
		}
		if w.want != 0 && float64(rises)*w.want >= 0 {
			return
		}
		delta[t.up] = scale * rises
		if t.low >= 0 {
			delta[t.low] = -scale * rises
		}
		return
	}
	mean := float32(0)
	if len(slope) > 1 {
		for _, x := range slope {
			mean += x / float32(len(slope))
		}
	}
	for k, x := range slope {
		delta[k] = scale * (x - mean)
	}
}

// curve is the second derivative of a hidden unit's function, given its value.
func curve(f units.Function, h float32) float32 {
	switch f {
	case units.Tanh:
		return -2 * h * (1 - h*h)
	case units.Sigmoid:
		return h * (1 - h) * (1 - 2*h)
	}
	return 0
}

// Slope is how a wish about slopes fared on the rows.
type Slope struct {
	Of    string  `json:"of,omitempty"` // the class whose probability is meant
	Way   string  `json:"way"`
	Want  string  `json:"want"`
	Share float64 `json:"share"` // of the rows, where it holds
	Mean  float64 `json:"mean"`  // slope of the answer, in units of scaled inputs
}

// String says so in a line.
func (s Slope) String() string {
	if s.Want == "0" {
		return fmt.Sprintf("slope along %s: %s in the mean of all rows, wished to be 0", s.Way, strconv.FormatFloat(s.Mean, 'g', 3, 64))
	}
	what := "the answer"
	if s.Of != "" {
		what = "the probability of " + s.Of
	}
	return fmt.Sprintf("%s %s with %s at %.1f %% of the rows, as wished", what, map[string]string{"+": "rises", "-": "falls"}[s.Want], s.Way, 100*s.Share)
}

// measureSlopes finds how the wishes fare on rows, by the networks' own
// derivatives.
func (m *Model) measureSlopes(x *sample, rows int) []Slope {
	t := x.tangents
	if t == nil {
		return nil
	}
	var found []Slope
	const most = 2000
	rows = min(rows, most)
	for i := range t.ways {
		w := &t.ways[i]
		s := Slope{Way: w.name, Want: map[float64]string{1: "+", -1: "-", 0: "0"}[w.want]}
		if t.low >= 0 && w.column >= 0 {
			s.Of = m.schema.Attributes[m.target].Values[t.up]
		}
		for r := range rows {
			sum := 0.0
			for _, member := range m.members {
				sum += member.net.slopeAlong(t, w, x.x[r*x.stride:(r+1)*x.stride])
			}
			if w.want == 0 {
				s.Mean += math.Abs(sum) / float64(rows*len(m.members))
				continue
			}
			s.Mean += sum / float64(rows*len(m.members))
			if sum*w.want >= 0 {
				s.Share += 1 / float64(rows)
			}
		}
		found = append(found, s)
	}
	return found
}

// slopeAlong is the slope of a network's answer along a way: of the difference of
// two classes, of a number, or the largest of all outputs beside their mean.
func (d *dense) slopeAlong(t *tangents, w *way, x []float32) float64 {
	xi := make([]float32, len(x))
	t.along(w, x, xi)
	h := x
	for i := range d.layers {
		l := &d.layers[i]
		sums, tangent := slices.Clone(l.b[:l.out]), make([]float32, l.out)
		for j := range l.in {
			for k := range l.out {
				sums[k] += h[j] * l.w[j*l.stride+k]
				tangent[k] += xi[j] * l.w[j*l.stride+k]
			}
		}
		h, xi = sums, tangent
		if i < len(d.layers)-1 {
			one := layer{in: l.in, out: l.out, stride: l.out}
			d.activate(&one, h, 1)
			d.slopes(&one, h, xi, 1)
		}
	}
	if w.column >= 0 {
		if t.low >= 0 {
			return float64(xi[t.up] - xi[t.low])
		}
		return float64(xi[0])
	}
	mean, most := 0.0, 0.0
	if len(xi) > 1 {
		for _, v := range xi {
			mean += float64(v) / float64(len(xi))
		}
	}
	for _, v := range xi {
		most = max(most, math.Abs(float64(v)-mean))
	}
	return most
}

// Remarks says how wishes about slopes fared on the rows learnt last, and what else
// is predicted.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	var all []fmt.Stringer
	for _, s := range m.settings.Slopes {
		all = append(all, s)
	}
	return append(all, m.alsoPredicts()...), nil
}

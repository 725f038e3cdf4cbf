package genetic

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
)

// Circuit is edits of a seed circuit (Koza et al. 1996; Mitchell 1997, section
// 9.5.3): a source of 1 volt behind 1 kΩ feeds a load of 1 kΩ. Each edit adds a
// component between two nodes, puts one into the line to the load, or takes one
// away that was added. Not every circuit can be simulated: parts may hang in the
// air.
type Circuit []Edit

// Edit is one change of a circuit.
type Edit struct {
	Do    EditKind
	Part  byte    // 'R', 'L' or 'C'
	Value float64 // ohm, henry or farad
	A, B  int     // nodes, or in A the component to take away, counted round
}

// EditKind is what an edit does.
type EditKind uint8

// The edits.
const (
	Insert  EditKind = iota // into the line before the load
	Connect                 // between two nodes
	Remove
)

// component is a part between two nodes; 0 is the ground.
type component struct {
	part  byte
	value float64
	a, b  int
}

// build makes the circuit: its components, its nodes, and the one of the load.
func (c Circuit) build() (all []component, nodes, load int) {
	nodes, load = 2, 1 // the ground, and the end of the source's resistor
	for _, e := range c {
		switch e.Do {
		case Insert:
			all = append(all, component{e.Part, e.Value, load, nodes})
			load = nodes
			nodes++
		case Connect:
			if a, b := e.A%nodes, e.B%nodes; a != b {
				all = append(all, component{e.Part, e.Value, a, b})
			}
		case Remove:
			if len(all) > 0 {
				at := e.A % len(all)
				all = slices.Delete(all, at, at+1)
			}
		}
	}
	return all, nodes, load
}

// Response is the voltage at the load at each frequency, by nodal analysis; nil if
// the circuit cannot be simulated.
func (c Circuit) Response(frequencies []float64) []float64 {
	const seed = 1000.0 // ohm, of source and load
	all, nodes, load := c.build()
	n := nodes - 1
	out := make([]float64, len(frequencies))
	matrix := make([][]complex128, n)
	for i := range matrix {
		matrix[i] = make([]complex128, n+1)
	}
	add := func(a, b int, y complex128) {
		if a > 0 {
			matrix[a-1][a-1] += y
		}
		if b > 0 {
			matrix[b-1][b-1] += y
		}
		if a > 0 && b > 0 {
			matrix[a-1][b-1] -= y
			matrix[b-1][a-1] -= y
		}
	}
	for f, hertz := range frequencies {
		for i := range matrix {
			clear(matrix[i])
		}
		omega := 2 * math.Pi * hertz
		add(1, 0, 1/seed)
		add(load, 0, 1/seed)
		matrix[0][n] = 1 / seed // the source as a current
		for _, x := range all {
			switch x.part {
			case 'R':
				add(x.a, x.b, complex(1/x.value, 0))
			case 'L':
				add(x.a, x.b, complex(0, -1/(omega*x.value)))
			default:
				add(x.a, x.b, complex(0, omega*x.value))
			}
		}
		v, ok := solve(matrix, load-1)
		if !ok {
			return nil
		}
		out[f] = cmplx.Abs(v)
	}
	return out
}

// solve returns one unknown of linear equations, by elimination with pivots.
func solve(m [][]complex128, which int) (complex128, bool) {
	n := len(m)
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if cmplx.Abs(m[i][k]) > cmplx.Abs(m[best][k]) {
				best = i
			}
		}
		if m[k], m[best] = m[best], m[k]; cmplx.Abs(m[k][k]) < 1e-15 {
			return 0, false
		}
		for i := range n {
			if i == k {
				continue
			}
			if by := m[i][k] / m[k][k]; by != 0 {
				for j := k; j <= n; j++ {
					m[i][j] -= by * m[k][j]
				}
			}
		}
	}
	return m[which][n] / m[which][which], true
}

// LowPass is a filter that is asked for: half a volt up to 1 kHz, nothing from 2 kHz
// on, at 101 frequencies from 1 Hz to 100 kHz; what lies between counts for nothing.
func LowPass() (frequencies, want []float64) {
	for i := range 101 {
		f := math.Pow(10, float64(i)/20)
		frequencies = append(frequencies, f)
		switch {
		case f <= 1000:
			want = append(want, 0.5)
		case f < 2000:
			want = append(want, math.NaN())
		default:
			want = append(want, 0)
		}
	}
	return frequencies, want
}

// Misses is Σ |wanted − had| in volts over the frequencies, and whether the circuit
// could be simulated.
func (c Circuit) Misses(frequencies, want []float64) (sum float64, simulated bool) {
	had := c.Response(frequencies)
	if had == nil {
		return math.Inf(1), false
	}
	for i, v := range had {
		if !math.IsNaN(want[i]) {
			sum += math.Abs(want[i] - v)
		}
	}
	return sum, true
}

// mostEdits is how long a circuit's program is.
const mostEdits = 12

// CircuitSpecies are circuits judged by what is asked for.
func CircuitSpecies(frequencies, want []float64) Species[Circuit] {
	edit := func(r *rand.Rand) Edit {
		e := Edit{Do: EditKind(r.IntN(3)), Part: "RLC"[r.IntN(3)], A: r.IntN(16), B: r.IntN(16)}
		if e.Do == Remove && r.IntN(2) == 0 {
			e.Do = Connect
		}
		decades := map[byte][2]float64{'R': {1, 5}, 'L': {-3, 1}, 'C': {-9, -5}}[e.Part]
		e.Value = math.Pow(10, decades[0]+r.Float64()*(decades[1]-decades[0]))
		return e
	}
	return Species[Circuit]{
		Random: func(r *rand.Rand) Circuit {
			c := make(Circuit, 1+r.IntN(mostEdits))
			for i := range c {
				c[i] = edit(r)
			}
			return c
		},
		Fitness: func(c Circuit) float64 {
			sum, ok := c.Misses(frequencies, want)
			if !ok {
				return 0
			}
			return 1 / (sum + 0.001*float64(len(c)) + 1e-3)
		},
		Cross: func(r *rand.Rand, a, b Circuit) (Circuit, Circuit) {
			i, j := r.IntN(len(a)+1), r.IntN(len(b)+1)
			c, d := slices.Concat(a[:i], b[j:]), slices.Concat(b[:j], a[i:])
			return c[:min(len(c), mostEdits)], d[:min(len(d), mostEdits)]
		},
		Mutate: func(r *rand.Rand, c Circuit) Circuit {
			c = slices.Clone(c)
			if len(c) == 0 || len(c) < mostEdits && r.IntN(4) == 0 {
				return slices.Insert(c, r.IntN(len(c)+1), edit(r))
			}
			switch at := r.IntN(len(c)); r.IntN(4) {
			case 0:
				c[at] = edit(r)
			case 1:
				c = slices.Delete(c, at, at+1)
			default:
				c[at].Value *= math.Exp(r.NormFloat64() / 2)
			}
			return c
		},
	}
}

package neural

import (
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// calibrate turns a trained network's outputs into answers that mean what
// they say, by the rows that judged it: a temperature for the softmax (Guo et
// al. 2017), or the deviation of the target from the output. The rows trained
// on say too little of the first, but something of the second.
func calibrate(net *dense, s *sample, d division) member {
	m := member{net: net, temperature: 1}
	judging := d.judging
	if judging == nil && s.class != nil {
		return m
	}
	if judging == nil {
		judging = d.trained
	}
	j := newJudge(net, s, judging, false, 1)
	if s.class == nil {
		m.spread = math.Sqrt(j.loss(net))
		if !(m.spread <= math.MaxFloat32) {
			m.spread = math.MaxFloat32
		}
		return m
	}
	width := net.last().out
	outputs := make([]float32, len(j.rows)*width)
	j.each(net, func(i int, out []float32) { copy(outputs[i*width:], out) })
	// Few rows are a poor reason to leave temperature 1: moving its log by
	// a half costs what half a nat of surprise does.
	cost := func(log float64) float64 {
		t := math.Exp(log)
		sum := 2 * log * log
		for i, row := range j.rows {
			sum += j.weight[i] * logsum.Surprise(outputs[i*width:(i+1)*width], int(s.class[row]), t)
		}
		return sum
	}
	m.temperature = math.Exp(lowest(cost, -3, 3))
	return m
}

// lowest returns where a function with one valley is least, by golden section
// (Kiefer 1953).
func lowest(f func(float64) float64, lo, hi float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > 1e-4 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

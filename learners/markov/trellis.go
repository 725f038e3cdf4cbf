package markov

import (
	"math"

	"github.com/accrete-ml/accrete/internal/logsum"
)

// chain is the probabilities of states alone, n of them: how sequences start,
// and how states follow each other.
type chain struct {
	n                 int
	logStart, logMove []float64
	start, move       []float64
	blocked           bool // some moves cannot be: sums are taken in logarithms
}

func newChain(n int) chain {
	return chain{n: n, logStart: make([]float64, n), logMove: make([]float64, n*n), start: make([]float64, n), move: make([]float64, n*n)}
}

// trellis is the room for one sequence of some length: rows of n numbers. It is
// used again for the next one.
type trellis struct {
	logs   []float64 // ln of what states show
	shown  []float64 // the same, as shares of the largest of each row
	most   []float64 // which it was
	ahead  []float64 // forward: the probability of the rows up to this one
	behind []float64 // backward: of the rows after it
	scale  []float64 // ln of what each row adds to the probability
	back   []int32   // the best state before
	path   []int32
	sum    []float64
}

// room makes room for a sequence of so many rows.
func (r *trellis) room(rows, n int) {
	if cap(r.logs) < rows*n || cap(r.most) < rows {
		size := max(rows, 2*cap(r.most))
		r.logs, r.shown, r.ahead, r.behind = make([]float64, size*n), make([]float64, size*n), make([]float64, size*n), make([]float64, size*n)
		r.most, r.scale, r.path = make([]float64, size), make([]float64, size), make([]int32, size)
		r.back = make([]int32, size*n)
	}
	r.logs, r.shown, r.ahead, r.behind = r.logs[:rows*n], r.shown[:rows*n], r.ahead[:rows*n], r.behind[:rows*n]
	r.most, r.scale, r.path, r.back = r.most[:rows], r.scale[:rows], r.path[:rows], r.back[:rows*n]
	if len(r.sum) < n {
		r.sum = make([]float64, n)
	}
}

// spread is how far the logarithms of a row may lie apart for its states to be
// told apart as plain numbers.
const spread = 600

// plain fills in what is shown as plain numbers, and reports whether that can be
// done. What cannot be at all (-∞) is 0.
func (c *chain) plain(r *trellis) bool {
	n := c.n
	for t := range r.most {
		logs, shown := r.logs[t*n:][:n], r.shown[t*n:][:n]
		most := logsum.Most(logs)
		for s, l := range logs {
			l -= most
			if l < -spread && !math.IsInf(l, -1) {
				return false
			}
			shown[s] = math.Exp(l)
		}
		r.most[t] = most
	}
	return true
}

// forward fills ahead with the probability of each state given the rows so far,
// and scale with what each row adds to the log likelihood, which it returns.
func (c *chain) forward(r *trellis) (logLikelihood float64, plain bool) {
	if c.blocked || !c.plain(r) || !c.forwardPlain(r) {
		c.forwardLogs(r)
		return sum(r.scale), false
	}
	return sum(r.scale), true
}

// forwardPlain is the forward pass with rows that add up to 1. It gives up where
// every state is impossible.
func (c *chain) forwardPlain(r *trellis) bool {
	n := c.n
	for t := range r.scale {
		at := r.ahead[t*n:][:n]
		if t == 0 {
			copy(at, c.start)
		} else {
			clear(at)
			for i, p := range r.ahead[(t-1)*n:][:n] {
				row := c.move[i*n:][:len(at)]
				for k, q := range row {
					at[k] += p * q
				}
			}
		}
		total := 0.0
		for s, b := range r.shown[t*n:][:n] {
			at[s] *= b
			total += at[s]
		}
		if !(total > 1e-280) {
			return false
		}
		for s := range at {
			at[s] /= total
		}
		r.scale[t] = math.Log(total) + r.most[t]
	}
	return true
}

// forwardLogs is the forward pass in logarithms, of rows that add up to 1.
func (c *chain) forwardLogs(r *trellis) {
	n := c.n
	for t := range r.scale {
		at := r.ahead[t*n:][:n]
		for k := range at {
			if at[k] = c.logStart[k]; t > 0 {
				before := r.ahead[(t-1)*n:][:n]
				for i, p := range before {
					r.sum[i] = p + c.logMove[i*n+k]
				}
				at[k] = logsum.Of(r.sum[:n])
			}
			at[k] += r.logs[t*n+k]
		}
		r.scale[t] = logsum.Of(at)
		for s := range at {
			at[s] -= r.scale[t]
		}
	}
}

// posterior fills ahead with the probability of each state given all rows, and
// returns the log likelihood. The backward pass stays in behind: in logarithms
// unless plain.
func (c *chain) posterior(r *trellis) (logLikelihood float64, plain bool) {
	logLikelihood, plain = c.forward(r)
	if plain {
		c.backwardPlain(r)
	} else {
		c.backwardLogs(r)
	}
	n := c.n
	for t := range r.scale {
		at, behind := r.ahead[t*n:][:n], r.behind[t*n:][:n]
		if !plain {
			for s := range at {
				at[s] += behind[s]
			}
			logsum.Normalise(at)
			continue
		}
		total := 0.0
		for s := range at {
			at[s] *= behind[s]
			total += at[s]
		}
		for s := range at {
			at[s] /= total
		}
	}
	return logLikelihood, plain
}

// backwardPlain fills behind with the probability of the rows after each, in
// units of what they add to the likelihood.
func (c *chain) backwardPlain(r *trellis) {
	n, last := c.n, len(r.scale)-1
	for t := last; t >= 0; t-- {
		at := r.behind[t*n:][:n]
		if t == last {
			for s := range at {
				at[s] = 1
			}
			continue
		}
		next := r.sum[:n]
		unit := math.Exp(r.most[t+1] - r.scale[t+1])
		for s, b := range r.shown[(t+1)*n:][:n] {
			next[s] = b * r.behind[(t+1)*n+s] * unit
		}
		for i := range at {
			total := 0.0
			for k, q := range c.move[i*n:][:n] {
				total += q * next[k]
			}
			at[i] = total
		}
	}
}

// backwardLogs is backwardPlain in logarithms.
func (c *chain) backwardLogs(r *trellis) {
	n, last := c.n, len(r.scale)-1
	for t := last; t >= 0; t-- {
		at := r.behind[t*n:][:n]
		for i := range at {
			if at[i] = 0; t == last {
				continue
			}
			for k := range n {
				r.sum[k] = c.logMove[i*n+k] + r.logs[(t+1)*n+k] + r.behind[(t+1)*n+k]
			}
			at[i] = logsum.Of(r.sum[:n]) - r.scale[t+1]
		}
	}
}

// best fills ahead with the log probability of the best path through each state
// of each row (Viterbi's recursion from both ends), and returns that of the best
// of all.
func (c *chain) best(r *trellis) float64 {
	n, last := c.n, len(r.scale)-1
	most := c.bestAhead(r, nil)
	for t := last; t >= 0; t-- {
		at := r.behind[t*n:][:n]
		if t == last {
			clear(at)
			continue
		}
		next := r.sum[:n]
		for k := range next {
			next[k] = r.logs[(t+1)*n+k] + r.behind[(t+1)*n+k]
		}
		for i := range at {
			best := math.Inf(-1)
			for k, q := range c.logMove[i*n:][:len(next)] {
				if l := q + next[k]; l > best {
					best = l
				}
			}
			at[i] = best
		}
	}
	for i, l := range r.behind {
		r.ahead[i] += l
	}
	return most
}

// bestAhead fills ahead with the log probability of the best path that ends in
// each state, and back, if asked for, with the state before; of equal ones the
// first. It returns that of the best.
func (c *chain) bestAhead(r *trellis, back []int32) float64 {
	n := c.n
	for t := range r.scale {
		at, logs := r.ahead[t*n:][:n], r.logs[t*n:][:n]
		if t == 0 {
			for s := range at {
				at[s] = c.logStart[s] + logs[s]
			}
			continue
		}
		before := r.ahead[(t-1)*n:][:n]
		for k := range at {
			at[k] = math.Inf(-1)
		}
		for i, p := range before {
			row := c.logMove[i*n:][:len(at)]
			for k, q := range row {
				if l := p + q; l > at[k] {
					at[k] = l
					if back != nil {
						back[t*n+k] = int32(i)
					}
				}
			}
		}
		for s := range at {
			at[s] += logs[s]
		}
	}
	return logsum.Most(r.ahead[len(r.ahead)-n:])
}

// viterbi fills path with the most probable states of the rows, and returns the
// log probability of that path with what it shows.
func (c *chain) viterbi(r *trellis) float64 {
	clear(r.back)
	most := c.bestAhead(r, r.back)
	n, last := c.n, len(r.scale)-1
	at := int32(0)
	for s, l := range r.ahead[last*n:] {
		if l > r.ahead[last*n+int(at)] {
			at = int32(s)
		}
	}
	for t := last; t >= 0; t-- {
		r.path[t] = at
		at = r.back[t*n+int(at)]
	}
	return most
}

package rulenet

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
)

// What changed lately (forget=auto). Beside the long memory, which is all rows,
// there are shadows: what the last 200, 800 and 3,200 rows alone would have the
// weights be, as differences from the long memory's, most of them none. And every
// memory has a fast prior, biases that follow the classes of the last rows. What
// answers is one network all the same: weights are pooled by how well each memory
// answered the last hundred rows or so, before it learnt them.

const (
	shadowRefits   = 8    // in the time of a shadow's span
	shadowPenalty  = 0.1  // at least
	poolHalfLife   = 100  // rows
	poolShared     = 0.02 // of the pool, that all memories have alike
	priorDecay     = 0.98 // of fast biases, a row
	priorDiscount  = 0.99 // of their losses, a row
	priorDoubt     = 0.05 // weight of each that is not idle
	mostAlarmMoves = 10   // rules that an alarm names
	mostDue        = 1 << 20
	noEvidence     = -1e9  // below where any begins
	steadyRows     = 4_096 // of the reservoir, that the steady shadow is fitted to: more than any other has
)

// spans are the rows of the shadows. The last one is of the whole reservoir: what
// the labels alone would have otherwise, which is no change.
var spans = [...]int{200, 800, 3200, 0}

const (
	watched = len(spans) - 1 // shadows that may raise an alarm
	steady  = len(spans) - 1
)

// rates are how far a fast bias goes towards the class of each row.
var rates = [...]float64{0, 0.05, 0.2, 0.8, 3, 8}

// drift is the shadows and fast priors of a network, and what alarms have come to.
type drift struct {
	Long    memory   `cbor:"long"`
	Shadows []shadow `cbor:"shadows"`
	Alarm   alarm    `cbor:"alarm"`
}

// memory is how well some weights have answered lately.
type memory struct {
	Bias   []float64 `cbor:"bias"`   // fast ones, by rate and score
	Losses []float64 `cbor:"losses"` // of each rate, discounted
	Loss   float64   `cbor:"loss"`   // halved every hundred rows
	Chunk  float64   `cbor:"chunk"`  // of the rows since the alarm looked last
}

// shadow is what the last rows would have otherwise.
type shadow struct {
	memory
	Difference []float64 `cbor:"difference"` // of weights, the bias first
	Due        int       `cbor:"due"`        // rows until it is fitted again
}

func newDrift(k int) *drift {
	d := &drift{Long: newMemory(k), Shadows: make([]shadow, len(spans))}
	for i := range d.Shadows {
		d.Shadows[i] = shadow{memory: newMemory(k), Difference: make([]float64, k), Due: spans[i]/shadowRefits + 1}
	}
	d.Alarm.Evidence = slices.Repeat([]float64{noEvidence}, watched)
	return d
}

func newMemory(k int) memory {
	return memory{Bias: make([]float64, len(rates)*k), Losses: make([]float64, len(rates))}
}

func (m *memory) copy() memory {
	to := *m
	to.Bias, to.Losses = slices.Clone(m.Bias), slices.Clone(m.Losses)
	return to
}

func (d *drift) copy() *drift {
	to := &drift{Long: d.Long.copy(), Shadows: make([]shadow, len(d.Shadows)), Alarm: d.Alarm}
	for i := range d.Shadows {
		to.Shadows[i] = shadow{d.Shadows[i].memory.copy(), slices.Clip(d.Shadows[i].Difference), d.Shadows[i].Due}
	}
	to.Alarm.Evidence = slices.Clone(d.Alarm.Evidence)
	return to
}

// room spreads what is kept over more scores.
func (d *drift) room(from, to int) {
	d.Long.Bias = respread(d.Long.Bias, from, to)
	for i := range d.Shadows {
		s := &d.Shadows[i]
		s.Bias, s.Difference = respread(s.Bias, from, to), respread(s.Difference, from, to)
	}
}

// renew begins shadows anew, for rules that are others.
func (d *drift) renew(weights int) {
	if d == nil {
		return
	}
	for i := range d.Shadows {
		d.Shadows[i].Difference, d.Shadows[i].Due = make([]float64, weights), 1
	}
}

// widen gives shadows room for a rule more.
func (d *drift) widen(k int) {
	if d == nil {
		return
	}
	for i := range d.Shadows {
		d.Shadows[i].Difference = append(d.Shadows[i].Difference, make([]float64, k)...)
	}
}

// due returns the number of rows until something is to be fitted again.
func (d *drift) due() int {
	if d == nil {
		return stepRows
	}
	least := stepRows
	for i := range d.Shadows {
		least = min(least, max(1, d.Shadows[i].Due))
	}
	return least
}

// late reports whether a shadow is to be fitted again.
func (d *drift) late() bool {
	return slices.ContainsFunc(d.Shadows, func(s shadow) bool { return s.Due <= 0 })
}

// pooled returns the weights of the fast biases of a memory.
func (m *memory) pooled(into []float64) []float64 {
	best := slices.Min(m.Losses)
	total := 0.0
	into = into[:0]
	for j, loss := range m.Losses {
		p := math.Exp(best - loss)
		if j > 0 {
			p *= priorDoubt
		}
		into = append(into, p)
		total += p
	}
	for j := range into {
		into[j] /= total
	}
	return into
}

// bias adds a memory's pooled fast bias to a sum, times a share.
func (m *memory) addBias(sum []float64, share float64) {
	k := len(sum)
	for j, p := range m.pooled(make([]float64, 0, len(rates))) {
		for c := range sum {
			sum[c] += share * p * m.Bias[j*k+c]
		}
	}
}

// observe answers a row by a memory's scores, then has its fast biases follow the
// row's class. Its loss is that of the mixture.
func (m *memory) observe(scores []float64, class int, room []float64) float64 {
	k := len(scores)
	var weights [len(rates)]float64
	answered := 0.0
	pool := m.pooled(weights[:0])
	for j, rate := range rates {
		bias := m.Bias[j*k : (j+1)*k]
		var loss float64
		if k == 1 {
			s := scores[0] + bias[0]
			p := 1 / (1 + math.Exp(-s))
			y := float64(class)
			loss = softplus(s) - y*s
			bias[0] = priorDecay*bias[0] + rate*(y-p)
		} else {
			for c := range room[:k] {
				room[c] = scores[c] + bias[c]
			}
			p := room[k : 2*k]
			loss = softmaxLoss(room[:k], p, class)
			for c := range bias {
				bias[c] = priorDecay*bias[c] - rate*p[c]
			}
			bias[class] += rate
		}
		answered += pool[j] * math.Exp(-loss)
		m.Losses[j] = priorDiscount*m.Losses[j] + loss
	}
	loss := -math.Log(max(answered, 1e-300))
	m.Loss = m.Loss*halfLife + loss
	m.Chunk += loss
	return loss
}

var halfLife = math.Pow(0.5, 1.0/poolHalfLife)

// shares returns how far each memory is trusted, the long one first.
func (d *drift) shares() []float64 {
	losses := []float64{d.Long.Loss}
	for i := range d.Shadows {
		losses = append(losses, d.Shadows[i].Loss)
	}
	best, total := slices.Min(losses), 0.0
	for i, loss := range losses {
		losses[i] = math.Exp(best - loss)
		total += losses[i]
	}
	for i := range losses {
		losses[i] = (1-poolShared)*losses[i]/total + poolShared/float64(len(losses))
	}
	return losses
}

// answering returns the weights that the network answers by: those of the long
// memory, and the differences of its shadows and their fast biases as far as they
// are trusted.
func (s *living) answering() []float64 {
	if s.drift == nil {
		return s.w
	}
	w := slices.Clone(s.w)
	shares := s.drift.shares()
	s.drift.Long.addBias(w[:s.k], shares[0])
	for i := range s.drift.Shadows {
		shadow := &s.drift.Shadows[i]
		for at, x := range shadow.Difference {
			w[at] += shares[i+1] * x
		}
		shadow.addBias(w[:s.k], shares[i+1])
	}
	return w
}

// follow has all memories answer rows that have come, before they are learnt.
func (u *livingUpdate) follow(rows []int32) {
	s, k := u.living, u.k
	n := len(rows) * k
	u.shadowed = zeroed(u.shadowed, len(spans)*n)
	for i := range s.drift.Shadows {
		d, own := s.drift.Shadows[i].Difference, u.shadowed[i*n:(i+1)*n]
		copy(own, u.scores[:n])
		for at := range own {
			own[at] += d[at%k]
		}
		from := 0
		for r, to := range u.ends {
			if add := d[(r+1)*k : (r+2)*k]; some(add) {
				for _, at := range u.flat[from:to] {
					for c, x := range add {
						own[int(at)*k+c] += x
					}
				}
			}
			from = to
		}
	}
	u.row = zeroed(u.row, 2*k)
	for at, r := range rows {
		class := int(s.log.class[r])
		long, all := &s.drift.Long, &s.drift.Shadows[steady]
		share := 1 / (1 + math.Exp(long.Loss-all.Loss)) // of the long memory, beside its refit
		loss := long.observe(u.scores[at*k:(at+1)*k], class, u.row)
		for i := range s.drift.Shadows {
			other := s.drift.Shadows[i].observe(u.shadowed[i*n+at*k:i*n+(at+1)*k], class, u.row)
			if i == steady {
				s.drift.Alarm.Loss -= math.Log(share*math.Exp(-loss) + (1-share)*math.Exp(-other))
			}
		}
	}
	for i := range s.drift.Shadows {
		s.drift.Shadows[i].Due -= len(rows)
	}
}

func some(x []float64) bool { return slices.ContainsFunc(x, func(x float64) bool { return x != 0 }) }

// refit fits the shadows again whose time has come.
func (s *living) refit(ctx context.Context) error {
	for i := range s.drift.Shadows {
		if d := &s.drift.Shadows[i]; d.Due <= 0 {
			if err := s.shade(ctx, d, spans[i]); err != nil {
				return err
			}
			if d.Due = spans[i] / shadowRefits; i == steady {
				d.Due = max(stepRows, min(int(s.rows), mostDue)/shadowRefits)
			}
		}
	}
	return nil
}

// shade fits what the last rows would have otherwise.
func (s *living) shade(ctx context.Context, d *shadow, span int) error {
	var rows []int32
	if span == 0 {
		rows = s.reservoirRows()
		rows = rows[:min(len(rows), steadyRows)]
	} else {
		rows = s.lastRows(span)
	}
	f := s.fitOn(rows)
	f.offset = make([]float64, len(rows)*s.k)
	f.addScores(s.w, f.offset)
	f.w, f.scale, f.ridge, f.ghost = slices.Clone(d.Difference), 1, 0.01, 0
	f.slope, f.anchor = make([]float64, len(f.w)), make([]float64, len(f.w))
	f.lambda = slices.Repeat([]float64{max(s.s, shadowPenalty) * math.Sqrt(sum(f.weight))}, len(s.rules))
	f.begin()
	if err := f.fit(ctx, 3, 2, enoughFall); err != nil {
		return err
	}
	d.Difference = f.w
	return nil
}

// lastRows returns the last rows that came, at most so many.
func (s *living) lastRows(n int) []int32 {
	n = min(n, s.recent)
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(s.log.rows() - n + i)
	}
	return rows
}

// sound reports whether what was saved fits a network.
func (d *drift) sound(s *living) error {
	if (d == nil) != (s.settings.Forget == "never") {
		return errors.New("it forgets otherwise than it was set to")
	}
	if d == nil {
		return nil
	}
	memories := []*memory{&d.Long}
	for i := range d.Shadows {
		memories = append(memories, &d.Shadows[i].memory)
		if x := d.Shadows[i].Difference; len(x) != len(s.w) || !finite(x) || tooFar(x) || d.Shadows[i].Due > mostDue {
			return errors.New("a shadow does not fit the rules")
		}
	}
	for _, m := range memories {
		if len(m.Bias) != len(rates)*s.k || len(m.Losses) != len(rates) || !finite(m.Bias) || tooFar(m.Bias) || !amounts(m.Losses) || !amounts([]float64{m.Loss, m.Chunk}) {
			return errors.New("a memory does not fit the classes")
		}
	}
	if len(d.Shadows) != len(spans) || len(d.Alarm.Evidence) != watched || !finite(d.Alarm.Evidence) || !amounts([]float64{max(0, d.Alarm.Loss)}) || d.Alarm.Chunks < 0 || d.Alarm.Rows < 0 || d.Alarm.Rows > stepRows {
		return errors.New("its alarm makes no sense")
	}
	return nil
}

// moves returns the rules whose weights differ most.
func (s *living) moves(difference []float64) []Moved {
	k, classes := s.k, s.classes()
	names := s.schema.Attributes[s.target].Values
	c := coding{s.schema, s.target, s.cutsOf(s.rules)}
	var all []Moved
	strength := map[string]float64{}
	for r, tests := range s.rules {
		for class := range k {
			at := (r+1)*k + class
			if difference[at] == 0 {
				continue
			}
			name := names[min(class, classes-1)]
			if k == 1 {
				name = names[classes-1]
			}
			m := Moved{Rule: joined(c.tests(c.conjunction(tests))), Class: name, From: s.w[at], To: s.w[at] + difference[at]}
			strength[m.Rule+"\x00"+m.Class] = math.Abs(difference[at]) * math.Sqrt(sum(s.covers[r*classes:(r+1)*classes]))
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b Moved) int {
		return -cmp.Compare(strength[a.Rule+"\x00"+a.Class], strength[b.Rule+"\x00"+b.Class])
	})
	return all[:min(len(all), mostAlarmMoves)]
}

func expNeg(x float64) float64 { return math.Exp(-x) }

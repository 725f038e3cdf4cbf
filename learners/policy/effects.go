package policy

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/table"
)

// What an action does to numbers may be the same wherever it is taken: a step to the
// right, or a slip aside, unless a wall is in the way. Counted for each state by
// itself, that is mostly noise where a state was hardly met. Where the log is more
// probable with one law of effects for all states than with one for each, that one is
// taken (relocatable action models: Leffler, Littman and Edmunds 2007). The effect of
// a step is how far its numbers move; where it would lead to a state that nobody
// acted in, as behind a wall or at a goal, something else comes of it, and what that
// is, is found for each state by what is most probable.

// law is the effects of an action, and how probable each is.
type law struct {
	moves [][]float64
	p     []float64
	n     float64 // steps that it was found by
}

// spot is what came of an action in a state.
type spot struct {
	state    int32
	outcomes []int32   // the states that followed, or an end, or one that nobody acted in
	n        []float64 // how often
	to       []int     // of each effect the outcome that comes of it, −1 if none that was seen
	open     []int     // effects of which that has to be found
	p        []float64 // of each outcome, by the law
}

const (
	anEnd       = int32(-1)
	nowhere     = int32(-2) // a state that nobody acted in
	mostEffects = 64        // of an action, and things that come of it in a state
	lawRounds   = 60        // in which a law is found, at most
	openRounds  = 5         // of these, in which what is open is settled again
	hardly      = 1e-6      // how probable an outcome is that no effect explains
)

// pool makes the weights of steps fair: those of actions that have one law are as
// frequent in each state as the law says.
func (j *journal) pool(ctx context.Context, l *lookup, s, next []int32) error {
	j.fair = j.weight
	names := slices.ContainsFunc(j.states.Schema.Attributes, func(a table.Attribute) bool { return a.Kind != table.Numeric })
	if names || j.next == nil || l.width == 0 {
		return nil
	}
	j.fair = slices.Clone(j.weight)
	for a := range l.actions {
		if err := ctx.Err(); err != nil {
			return err
		}
		spots := j.spots(l, s, next, a)
		if w := lawOf(l, spots); w != nil && w.holds(spots) {
			j.share(spots, s, next, a)
		}
	}
	return nil
}

// outcome is what a step led to; counts reports whether it tells of an effect: an end
// that comes whatever is done does not.
func (j *journal) outcome(row int, next []int32) (o int32, counts bool) {
	switch {
	case j.ends[row]:
		return anEnd, j.ahead == nil
	case next[row] < 0:
		return nowhere, true
	}
	return next[row], true
}

// spots counts what came of an action in each state; none where that is too much for
// a law.
func (j *journal) spots(l *lookup, s, next []int32, action int) []spot {
	var spots []spot
	at := make([]int32, l.states())
	for row, w := range j.weight {
		o, counts := j.outcome(row, next)
		if int(j.action[row]) != action || !counts || w <= 0 {
			continue
		}
		if at[s[row]] == 0 {
			spots = append(spots, spot{state: s[row]})
			at[s[row]] = int32(len(spots))
		}
		p := &spots[at[s[row]]-1]
		k := slices.Index(p.outcomes, o)
		if k < 0 {
			if k = len(p.outcomes); k > mostEffects {
				return nil
			}
			p.outcomes, p.n = append(p.outcomes, o), append(p.n, 0)
		}
		p.n[k] += w
	}
	return spots
}

// lawOf begins a law with the effects that were seen; nil if there are none or many.
func lawOf(l *lookup, spots []spot) *law {
	w := &law{}
	move := make([]float64, l.width)
	for i := range spots {
		p := &spots[i]
		for k, o := range p.outcomes {
			w.n += p.n[k]
			if o < 0 {
				continue
			}
			l.between(p.state, o, move)
			e := w.effect(move)
			if e < 0 {
				if e = len(w.moves); e == mostEffects {
					return nil
				}
				w.moves, w.p = append(w.moves, slices.Clone(move)), append(w.p, 0)
			}
			w.p[e] += p.n[k]
		}
	}
	if len(w.moves) == 0 || len(spots) < 2 {
		return nil
	}
	total := 0.0
	for _, x := range w.p {
		total += x
	}
	for e := range w.p {
		w.p[e] /= total
	}
	for i := range spots {
		w.place(l, &spots[i])
	}
	return w
}

// between is how far the numbers of two states are apart, but for rounding.
func (l *lookup) between(from, to int32, move []float64) {
	for i := range move {
		d := l.cells[int(to)*l.width+i] - l.cells[int(from)*l.width+i]
		move[i] = math.Round(d*1e9) / 1e9
	}
}

// effect is which one moves so far, −1 if none does; numbers that are not known are
// the same as each other.
func (w *law) effect(move []float64) int {
	return slices.IndexFunc(w.moves, func(known []float64) bool {
		return slices.EqualFunc(known, move, func(a, b float64) bool { return a == b || a != a && b != b })
	})
}

// place finds out what effects come to in a state, as far as it is plain.
func (w *law) place(l *lookup, p *spot) {
	p.to, p.p = make([]int, len(w.moves)), make([]float64, len(p.outcomes))
	for e := range p.to {
		p.to[e] = -1
	}
	move, key := make([]float64, l.width), make([]byte, 8*l.width)
	for k, o := range p.outcomes {
		if o >= 0 {
			l.between(p.state, o, move)
			p.to[w.effect(move)] = k
		}
	}
	for e, d := range w.moves {
		if p.to[e] >= 0 {
			continue
		}
		for i := range move {
			move[i] = l.cells[int(p.state)*l.width+i] + d[i]
		}
		if writeKey(key, move); l.find(key) < 0 {
			p.open = append(p.open, e)
		}
	}
}

// holds finds the law under which what came of the action is most probable, and
// reports whether that is more probable than a law for each state. To stay where one
// is may be an effect of its own, or only what comes of others.
func (w *law) holds(spots []spot) bool {
	begun, apart := w.p, 0.0
	for i := range spots {
		apart += spots[i].alone()
	}
	together := w.fit(spots, begun)
	if stay := w.effect(make([]float64, len(w.moves[0]))); stay >= 0 && len(w.moves) > 1 {
		without := slices.Clone(begun)
		without[stay] = 0
		if x := w.fit(spots, without); x >= together {
			together = x
		} else {
			w.fit(spots, begun)
		}
	}
	return together > apart+surely
}

// fit finds a law, from one to begin with, and what comes of its effects where they
// do not lead to a state that is known (EM). It returns the logarithm of how probable
// that makes what was seen, less what it costs to have found it (BIC).
func (w *law) fit(spots []spot, begun []float64) float64 {
	w.p = begun
	for i := range spots {
		for _, e := range spots[i].open {
			spots[i].to[e] = -1
		}
	}
	for round := range lawRounds {
		p := make([]float64, len(w.p))
		for i := range spots {
			if spots[i].expect(w.p); round < openRounds {
				spots[i].settle(w.p)
			}
			spots[i].spread(w.p, p)
		}
		change, total := 0.0, 0.0
		for _, x := range p {
			total += x
		}
		for e := range p {
			p[e] /= max(total, hardly)
			change = max(change, math.Abs(p[e]-w.p[e]))
		}
		if w.p = p; change < 1e-7 {
			break
		}
	}
	together, effects := 0.0, -1
	for _, x := range w.p {
		if x > hardly {
			effects++
		}
	}
	for i := range spots {
		spots[i].settle(w.p)
		together += spots[i].likelihood() - float64(len(spots[i].open))*math.Log(float64(len(spots[i].n)))
	}
	return together - float64(effects)/2*math.Log(w.n)
}

// settle takes for each open effect the outcome with which what was seen is most
// probable, in turn until nothing changes.
func (p *spot) settle(law []float64) {
	p.expect(law)
	best := p.likelihood()
	for again := true; again; {
		again = false
		for _, e := range p.open {
			was, take := p.to[e], p.to[e]
			for k := range p.n {
				p.to[e] = k
				p.expect(law)
				if x := p.likelihood(); x > best+1e-9 {
					best, take, again = x, k, true
				}
			}
			if p.to[e] = was; take != was {
				p.to[e] = take
			}
		}
	}
	p.expect(law)
}

// expect fills in how probable outcomes are by a law.
func (p *spot) expect(law []float64) {
	clear(p.p)
	for e, k := range p.to {
		if k >= 0 {
			p.p[k] += law[e]
		}
	}
	for k := range p.p {
		p.p[k] = max(p.p[k], hardly)
	}
}

// likelihood is the logarithm of how probable it is what was seen.
func (p *spot) likelihood() (sum float64) {
	for k, n := range p.n {
		sum += n * math.Log(p.p[k])
	}
	return sum
}

// alone is the logarithm of how probable it is, before anything is known of how
// frequent the outcomes are (Dirichlet, half a step each).
func (p *spot) alone() float64 {
	all, sum := 0.0, 0.0
	for _, n := range p.n {
		x, _ := math.Lgamma(n + 0.5)
		y, _ := math.Lgamma(0.5)
		all += n
		sum += x - y
	}
	x, _ := math.Lgamma(float64(len(p.n)) / 2)
	y, _ := math.Lgamma(all + float64(len(p.n))/2)
	return sum + x - y
}

// spread shares out what was seen among the effects that it comes of.
func (p *spot) spread(law, counts []float64) {
	for e, k := range p.to {
		if k >= 0 {
			counts[e] += p.n[k] * law[e] / p.p[k]
		}
	}
}

// share makes outcomes as frequent as the law says, of those that were seen.
func (j *journal) share(spots []spot, s, next []int32, action int) {
	at := make(map[int32]*spot, len(spots))
	for i := range spots {
		at[spots[i].state] = &spots[i]
	}
	for row, w := range j.weight {
		o, counts := j.outcome(row, next)
		if int(j.action[row]) != action || !counts || w <= 0 {
			continue
		}
		p, all, likely := at[s[row]], 0.0, 0.0
		for k, n := range p.n {
			all += n
			likely += p.p[k]
		}
		k := slices.Index(p.outcomes, o)
		j.fair[row] = w * all * p.p[k] / (likely * p.n[k])
	}
}

package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Visit is a step of a logged episode as it looks to another policy.
type Visit struct {
	Reward float64
	// Ratio is how probable the action is under the policy, relative to how
	// probable it was in the log.
	Ratio float64
	// Q and V are what the policy's own values say of the action, and of the
	// state.
	Q, V float64
}

// OffPolicy is what a policy would earn, judged by a log of somebody else's acts.
type OffPolicy struct {
	Value         float64          `json:"value"` // mean discounted return of an episode
	Low           float64          `json:"low"`
	High          float64          `json:"high"`
	Method        string           `json:"method"`
	EffectiveRows float64          `json:"effective_rows"`
	Rows          int              `json:"rows"`
	Episodes      int              `json:"episodes"`
	Effective     float64          `json:"effective_episodes"`
	Estimates     []PolicyEstimate `json:"estimates"`
	Log           PolicyEstimate   `json:"log"` // what the log's own acts earned
	Tells         bool             `json:"tells"`
	Notes         []string         `json:"notes,omitempty"`
}

// PolicyEstimate is a value by one method.
type PolicyEstimate struct {
	Method string  `json:"method"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// The methods of estimating what a policy earns.
const (
	DoublyRobust       = "doubly robust"
	ImportanceSampling = "importance sampling"
	AsLogged           = "as logged"
)

// enoughEpisodes is how many episodes must speak for a policy before a log can
// tell what it earns.
const enoughEpisodes = 10

// NewOffPolicy judges a policy by the episodes of a log (Thomas and Brunskill
// 2016). Importance sampling weighs the rewards of each episode by how much more
// probable its acts so far are under the policy; weights are made to sum to one
// over episodes, step by step. The doubly robust estimate takes the policy's own
// values for granted and weighs what the log says differently: it is right where
// either the values or the log's frequencies are. Intervals come from drawing
// episodes again.
func NewOffPolicy(ctx context.Context, episodes [][]Visit, gamma, level float64, seed uint64) (*OffPolicy, error) {
	o := &OffPolicy{Method: DoublyRobust, Episodes: len(episodes)}
	if len(episodes) == 0 {
		return nil, errors.New("the log has no episodes")
	}
	e := newWeighing(episodes, gamma)
	for _, visits := range episodes {
		o.Rows += len(visits)
	}
	o.EffectiveRows, o.Effective = e.effective()
	ones := slices.Repeat([]float64{1}, len(episodes))
	value := e.estimate(ones)
	rounds := max(100, min(400, 40_000_000/max(1, o.Rows)))
	random := rand.New(rand.NewPCG(seed, 0x0ff))
	draws := make([][3]float64, 0, rounds)
	counts := make([]float64, len(episodes))
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(counts)
		for range episodes {
			counts[random.IntN(len(episodes))]++
		}
		draws = append(draws, e.estimate(counts))
	}
	for k, method := range []string{DoublyRobust, ImportanceSampling, AsLogged} {
		low, high := quantiles(draws, k, level)
		p := PolicyEstimate{method, value[k], min(low, value[k]), max(high, value[k])}
		if method == AsLogged {
			o.Log = p
			continue
		}
		o.Estimates = append(o.Estimates, p)
	}
	o.Value, o.Low, o.High = o.Estimates[0].Value, o.Estimates[0].Low, o.Estimates[0].High
	if o.Tells = o.Effective >= enoughEpisodes; !o.Tells {
		o.Notes = append(o.Notes, fmt.Sprintf("the log cannot tell: its episodes hardly ever act as the policy would, and count for %.3g of %d; %d are needed", o.Effective, len(episodes), enoughEpisodes))
	}
	return o, nil
}

func quantiles(draws [][3]float64, k int, level float64) (low, high float64) {
	xs := make([]float64, len(draws))
	for i := range draws {
		xs[i] = draws[i][k]
	}
	slices.Sort(xs)
	at := func(p float64) float64 { return xs[min(len(xs)-1, max(0, int(math.Round(p*float64(len(xs)-1)))))] }
	return at((1 - level) / 2), at((1 + level) / 2)
}

// weighing is episodes with the products of their ratios.
type weighing struct {
	episodes [][]Visit
	weights  [][]float64 // after each step
	discount []float64
	total    []float64 // scratch: of each step over episodes
}

func newWeighing(episodes [][]Visit, gamma float64) *weighing {
	e := &weighing{episodes: episodes, weights: make([][]float64, len(episodes))}
	longest := 0
	for i, visits := range episodes {
		longest = max(longest, len(visits))
		e.weights[i] = make([]float64, len(visits))
		w := 1.0
		for t, v := range visits {
			w = min(w*v.Ratio, 1e150)
			e.weights[i][t] = w
		}
	}
	e.total = make([]float64, longest)
	for t, d := 0, 1.0; t < longest; t++ {
		e.discount = append(e.discount, d)
		d *= gamma
	}
	return e
}

// last is the weight of an episode after a step; one that has ended keeps its own.
func (e *weighing) last(i, t int) float64 {
	w := e.weights[i]
	if len(w) == 0 || t < 0 {
		return 1
	}
	return w[min(t, len(w)-1)]
}

// estimate returns the three estimates, with each episode counted so often.
func (e *weighing) estimate(counts []float64) (value [3]float64) {
	clear(e.total)
	all := 0.0
	for i, n := range counts {
		if n == 0 {
			continue
		}
		all += n
		for t := range e.total {
			e.total[t] += n * e.last(i, t)
		}
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		before := 1 / all
		for t, v := range e.episodes[i] {
			share := 0.0
			if e.total[t] > 0 {
				share = e.weights[i][t] / e.total[t]
			}
			d := n * e.discount[t]
			value[0] += d * (share*(v.Reward-v.Q) + before*v.V)
			value[1] += d * share * v.Reward
			value[2] += d * v.Reward / all
			before = share
		}
	}
	return value
}

// effective is how many rows, and how many episodes, speak for the policy (Kish
// 1965).
func (e *weighing) effective() (rows, episodes float64) {
	var sum, square, sumLast, squareLast float64
	for i, ws := range e.weights {
		for _, w := range ws {
			sum += w
			square += w * w
		}
		w := e.last(i, len(ws)-1)
		sumLast += w
		squareLast += w * w
	}
	if square > 0 {
		rows = sum * sum / square
	}
	if squareLast > 0 {
		episodes = sumLast * sumLast / squareLast
	}
	return rows, episodes
}

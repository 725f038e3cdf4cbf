package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/console"
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
	// State numbers the states of the log from 1, where they are few enough to be
	// met again; Action is the action in it, and P how probable the policy
	// takes it.
	State, Action int32
	P             float64
	// Cut is of the last visit of an episode that went on out of sight.
	Cut bool
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
	Gamma         float64          `json:"gamma"`
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
	FittedValues       = "fitted values"
	AsLogged           = "as logged"
)

// enoughEpisodes is how many episodes must speak for a policy before a log can
// tell what it earns.
const enoughEpisodes = 10

// enoughRows is how many rows must speak for a policy where steps are put together,
// and mostUnseen the share of its steps that the log need not show.
const (
	enoughRows = 30
	mostUnseen = 0.01
)

// Write prints the estimates, and what speaks for them.
func (o *OffPolicy) Write(w io.Writer) {
	fmt.Fprintf(w, "%s, %s\n\n", console.Plural(o.Episodes, "episode"), console.Plural(o.Rows, "row"))
	var rows [][]string
	for _, x := range append(o.Estimates, o.Log) {
		rows = append(rows, []string{console.Number(x.Value), console.Number(x.Low), console.Number(x.High), x.Method})
	}
	console.Table(w, []string{"an episode", "low", "high", "by"}, rows)
	fmt.Fprintf(w, "\n%s rows and %s episodes speak for it (gamma %s)\n", console.Number(o.EffectiveRows), console.Number(o.Effective), console.Number(o.Gamma))
	for _, note := range o.Notes {
		fmt.Fprintln(w, note)
	}
}

// NewOffPolicy judges a policy by the episodes of a log (Thomas and Brunskill
// 2016). Importance sampling weighs the rewards of each episode by how much more
// probable its acts so far are under the policy; weights are made to sum to one
// over episodes, step by step. The doubly robust estimate takes the policy's own
// values for granted and weighs what the log says differently: it is right where
// either the values or the log's frequencies are. Where states are few, steps of
// different episodes that act as the policy would are also put together (chain): that
// is the answer where hardly an episode follows the policy to its end. Intervals come
// from drawing episodes again.
func NewOffPolicy(ctx context.Context, episodes [][]Visit, gamma, level float64, seed uint64) (*OffPolicy, error) {
	o := &OffPolicy{Method: DoublyRobust, Episodes: len(episodes), Gamma: gamma}
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
	draws := make([][4]float64, 0, rounds)
	c, settles := newChain(episodes, gamma), false
	rows, unseen := 0.0, 1.0
	if c != nil {
		if value[3], settles = c.estimate(ones, 1e-9); settles {
			rows, unseen = c.support()
		}
	}
	counts := make([]float64, len(episodes))
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(counts)
		for range episodes {
			counts[random.IntN(len(episodes))]++
		}
		drawn := e.estimate(counts)
		if settles {
			drawn[3], _ = c.estimate(counts, 1e-5)
		}
		draws = append(draws, drawn)
	}
	for k, method := range []string{DoublyRobust, ImportanceSampling, AsLogged, FittedValues} {
		if method == FittedValues && !settles {
			continue
		}
		low, high := quantiles(draws, k, level)
		p := PolicyEstimate{method, value[k], min(low, value[k]), max(high, value[k])}
		if math.Abs(p.Low) < 1e-12*math.Abs(p.High) {
			p.Low = 0 // but for rounding
		}
		if method == AsLogged {
			o.Log = p
			continue
		}
		o.Estimates = append(o.Estimates, p)
	}
	o.conclude(rows, unseen, settles)
	return o, nil
}

// conclude says which estimate holds, if any does.
func (o *OffPolicy) conclude(rows, unseen float64, settles bool) {
	said := o.Estimates[0]
	whole := o.Effective >= enoughEpisodes
	o.Tells = whole || settles && rows >= enoughRows && unseen <= mostUnseen
	episodes := fmt.Sprintf("its episodes hardly ever act as the policy would, and count for %.3g of %d; %d are needed", o.Effective, o.Episodes, enoughEpisodes)
	switch {
	case whole:
	case o.Tells:
		said, o.EffectiveRows = o.Estimates[2], rows
		o.Notes = append(o.Notes, fmt.Sprintf("hardly an episode acts as the policy would throughout (they count for %.3g of %d): steps of different ones are put together, which is right where a state shows all that counts", o.Effective, o.Episodes))
	case settles && unseen > mostUnseen:
		o.Notes = append(o.Notes, "the log cannot tell: "+episodes+fmt.Sprintf("; and it never shows what the policy would do in %.3g %% of its steps", 100*unseen))
	case settles:
		o.Notes = append(o.Notes, "the log cannot tell: "+episodes+fmt.Sprintf("; step by step %.3g rows speak for it, of %d that are needed", rows, enoughRows))
	default:
		o.Notes = append(o.Notes, "the log cannot tell: "+episodes)
	}
	o.Method, o.Value, o.Low, o.High = said.Method, said.Value, said.Low, said.High
}

func quantiles(draws [][4]float64, k int, level float64) (low, high float64) {
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

// estimate returns the first three estimates, with each episode counted so often.
func (e *weighing) estimate(counts []float64) (value [4]float64) {
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

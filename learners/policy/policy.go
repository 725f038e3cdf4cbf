// Package policy learns what to do: a policy is a model whose target is an
// action, and what it predicts is the action that is worth most in a state.
//
// What an action a in a state s is worth is the reward that it brings and,
// discounted by γ, what the best action is worth in the state that follows:
//
//	Q(s,a) = E[r(s,a)] + γ·Σ P(s'|s,a)·max Q(s',a')      (13.9)
//
// (Mitchell, Machine Learning, 1997, chapter 13; Watkins 1989). There are two
// ways to learn it.
//
// By acting (LearnIn): an environment of package act is tried out, and each step
// moves what is known of the action taken towards what came of it (equations 13.7
// and 13.10), over one step, over n, or over all of them (λ). Where the
// environment knows its own model, values and policies can be iterated instead.
// Learning goes on where it stopped (Continue): episode n draws its chance from
// the seed and n alone, so that 500 episodes and 500 more are 1,000, but where steps
// in memory are learnt again (replay; of tiles and sums also Dyna and sweeping).
//
// From a log of acts (Learn): rows of state columns, the action taken, and what it
// earned, in episodes. It is a table like any other; no rewards at all make it an
// example to follow. Values are fitted to all rows again and again (Ernst, Geurts
// and Wehenkel 2005), and actions that the log hardly tried are not trusted: see
// log.go. Transitions are kept by source, so that updates, merges and forgetting
// are exact.
//
// Values stand in a table of states, in a weighted sum of tiles or of the columns
// themselves, or with any learner of numbers that package learn knows.
//
// By acting, a step costs what its environment takes and a look at each action's
// value: an entry of a table, or as many as there are grids of tiles. From a log,
// each round costs one pass over the steps where states are few, else what the
// learner of the values costs, for each action.
package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
)

// Name is what the learner is registered as.
const Name = "q"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "what to do: Q learning and its relatives, by acting in an environment or from a log of acts",
		Source:   "Watkins 1989; Sutton 1988; Mitchell 1997, chapter 13; Ernst et al. 2005",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Sequences: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true},
		Contract: learn.Exact,
		Keeps:    "of a log its steps, counted, by source; of acting what states and actions are worth",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes policies. Its zero value is ready to use.
type Learner struct {
	Algorithm string            `set:"algorithm" default:"q" oneof:"q|sarsa|dyna|sweeping|actorcritic|rlearning|lms|td|explain|brigade|values|policy|bellmanford" doc:"Q learning, SARSA, Dyna, prioritised sweeping, an actor with a critic, R-learning (average reward), what boards of a game are worth by LMS or TD(λ), what states are worth by TD(λ) where the environment knows what follows from actions, explanations of what an episode brought, rules that bid and pay those that acted before them (a classifier system with the bucket brigade); or, where the environment knows its own model, value iteration, policy iteration, or shortest ways by Bellman and Ford (rewards in full, gamma=1)"`
	Gamma     *float64          `set:"gamma" default:"0.9" doc:"what a reward one step later is worth, 0 to 1; 0.99 unless it is given for a log whose states stand in a table"`
	Values    string            `set:"values" default:"auto" doc:"where values stand: table, tiles (grids over numbers), linear (numbers, their squares and products), or a learner of numbers, such as tree (gp searches formulas briefly unless values.generations, values.population and values.short say more); auto is a table where states are few (of a log, by the columns that rewards and what follows depend on), else tiles in an environment and tree for a log"`
	OfValues  map[string]string `set:"values.KEY" default:"the learner's own" doc:"for values by a learner: a setting of it, as in values.hidden=10, or values.theory=M where earlier models explain what actions are worth (values=ebnn)"`
	Wiring    string            `set:"wiring" default:"action" oneof:"action|input|outputs" doc:"for values by a learner: a model for each action, one model with the action as a column beside the state, or one network (values=mlp) with an output for each action"`
	Tiles     int               `set:"tiles" default:"8" doc:"for values=tiles: cells of a grid in each column of numbers"`

	Alpha    string   `set:"alpha" default:"auto" doc:"how far a step moves a value: a number, visits (1/(1+visits), equation 13.11), or auto: 1 where the environment is known to be without chance and steps are learnt one by one, else 1/(1+visits)^0.77"`
	Explore  string   `set:"explore" default:"epsilon" oneof:"epsilon|boltzmann|optimistic|ucb|random" doc:"how actions are tried: at random now and then, by k^Q, by starting with high values, by bounds of confidence, or always at random"`
	Epsilon  *float64 `set:"epsilon" default:"0.1" doc:"for explore=epsilon: share of actions taken at random"`
	K        *float64 `set:"k" default:"1.1" doc:"for explore=boltzmann: an action has the probability k^Q, shared out"`
	Bound    *float64 `set:"bound" default:"1" doc:"for explore=ucb: how much is hoped of actions that were hardly tried, in units of value"`
	Anneal   int      `set:"anneal" default:"0" most:"1000000000" doc:"episodes after which exploration is halved; 0 leaves it as it is"`
	Start    *float64 `set:"start" default:"0" doc:"what actions are worth before they are tried"`
	Episodes int      `set:"episodes" default:"1000" most:"1000000000" doc:"episodes to act in"`
	Limit    int      `set:"limit" default:"10000" most:"1000000000" doc:"steps of an episode at most"`
	Lambda   float64  `set:"lambda" default:"0" doc:"how much of what was earned later counts instead of what is believed of the next state, 0 to 1"`
	N        int      `set:"n" default:"1" doc:"steps whose rewards count before the value of a state does"`
	Order    string   `set:"order" default:"forward" oneof:"forward|reverse" doc:"learn steps as they are taken, or at the end of an episode from the last to the first"`

	Gradient string `set:"gradient" default:"direct" oneof:"direct|residual" doc:"for values=tiles and linear: move what was believed alone, or follow the whole gradient of the squared surprise, which also moves what is expected (Baird 1995)"`

	Planning int      `set:"planning" default:"10" doc:"for dyna and sweeping: steps that are learnt again from what was seen, after each one taken"`
	Replay   int      `set:"replay" default:"0" doc:"steps of the past that are learnt again after each episode, by lot"`
	Shown    string   `set:"shown" default:"none" doc:"for values=table, tiles and linear: actions of the first episodes, by somebody who knows how, as in 'right, right, down' or @FILE, a line for each episode"`
	Actor    *float64 `set:"actor" default:"0.1" doc:"for actorcritic: how far a step moves preferences, with lambda also those of the steps before"`

	Depth       int    `set:"depth" default:"1" most:"8" doc:"for lms and td: turns that are looked ahead in games to learn from"`
	Lookahead   int    `set:"lookahead" default:"0" most:"8" doc:"for lms and td: turns that the policy looks ahead afterwards; 0 is as many as depth"`
	Experiments string `set:"experiments" default:"start" oneof:"start|random|unplayed|doubtful" doc:"for lms and td: boards that games begin with: the first one, any that may come up, one of the last game with a move that was not played there, or one on which the best two moves are close"`
	Hidden      int    `set:"hidden" default:"20" most:"1000" doc:"for lms and td with values=mlp, and for wiring=outputs: hidden units"`

	Reward  string   `set:"reward" default:"none" doc:"of a log: column of rewards; without one, the log is an example to follow"`
	Cut     bool     `set:"cut" default:"false" doc:"of a log: the last row of an episode does not end it, the log was cut there"`
	Penalty *float64 `set:"penalty" default:"1" doc:"of a log: standard errors that are taken off the value of an action"`
	advice  string   // rules of somebody who knows (Advise)
	adviser learn.Source
	hasty   bool    // values are soon fitted again, to more steps
	unended *[]bool // of each episode of the log, that its last row does not end it
	on      *tries  // what follows is worth what this exploring makes of it

	Support *float64 `set:"support" default:"0.1" doc:"of a log: least frequency of an action that is considered, relative to the most frequent one in such states"`
}

// settings are a learner's parameters with the defaults filled in.
type settings struct {
	Algorithm string  `cbor:"algorithm"`
	Gamma     float64 `cbor:"gamma"`
	Values    string  `cbor:"values"`
	Tiles     int     `cbor:"tiles"`
	Alpha     string  `cbor:"alpha"`
	Explore   string  `cbor:"explore"`
	Epsilon   float64 `cbor:"epsilon"`
	K         float64 `cbor:"k"`
	Bound     float64 `cbor:"bound"`
	Anneal    int     `cbor:"anneal"`
	Start     float64 `cbor:"start"`
	Episodes  int     `cbor:"episodes"`
	Limit     int     `cbor:"limit"`
	Lambda    float64 `cbor:"lambda"`
	N         int     `cbor:"n"`
	Order     string  `cbor:"order"`
	Planning  int     `cbor:"planning"`
	Replay    int     `cbor:"replay"`
	Actor     float64 `cbor:"actor"`
	Shown     string  `cbor:"shown,omitempty"`
	Depth     int     `cbor:"depth,omitempty"`
	Lookahead int     `cbor:"lookahead,omitempty"`
	Hidden    int     `cbor:"hidden,omitempty"`
	Reward    string  `cbor:"reward"`
	Cut       bool    `cbor:"cut"`
	Penalty   float64 `cbor:"penalty"`
	Support   float64 `cbor:"support"`
	Sequence  string  `cbor:"sequence"` // column of episodes of the log
	Advice    string  `cbor:"advice"`
	Told      string  `cbor:"told,omitempty"` // advice on a log, and whose: pasts
	Open      bool    `cbor:"open,omitempty"` // gamma was left open: it is what suits where values of a log stand

	Experiments string `cbor:"experiments,omitempty"`
	Gradient    string `cbor:"gradient,omitempty"`
	Wiring      string `cbor:"wiring,omitempty"`
	OfValues    string `cbor:"of-values,omitempty"` // key="value", a line each, sorted

	adviser learn.Source // whose advice it begins with
	hasty   bool
	unended *[]bool
	on      *tries
}

func (l *Learner) settings() (settings, error) {
	s := settings{
		Algorithm: cmp.Or(l.Algorithm, "q"), Gamma: setting.Or(l.Gamma, usual), Values: cmp.Or(l.Values, "auto"), Tiles: cmp.Or(l.Tiles, 8), Alpha: cmp.Or(l.Alpha, "auto"),
		Explore: cmp.Or(l.Explore, "epsilon"), Epsilon: setting.Or(l.Epsilon, 0.1), K: setting.Or(l.K, 1.1), Bound: setting.Or(l.Bound, 1), Anneal: l.Anneal, Start: setting.Or(l.Start, 0),
		Episodes: cmp.Or(l.Episodes, 1000), Limit: cmp.Or(l.Limit, 10000), Lambda: l.Lambda, N: cmp.Or(l.N, 1), Order: cmp.Or(l.Order, "forward"),
		Planning: cmp.Or(l.Planning, 10), Replay: l.Replay, Shown: l.Shown, Actor: setting.Or(l.Actor, 0.1),
		Depth: cmp.Or(l.Depth, 1), Lookahead: cmp.Or(l.Lookahead, l.Depth, 1), Hidden: cmp.Or(l.Hidden, 20), Experiments: cmp.Or(l.Experiments, "start"), Gradient: cmp.Or(l.Gradient, "direct"), Wiring: cmp.Or(l.Wiring, "action"),
		Reward: l.Reward, Cut: l.Cut, Penalty: setting.Or(l.Penalty, 1), Support: setting.Or(l.Support, 0.1), Advice: l.advice, adviser: l.adviser, hasty: l.hasty, unended: l.unended, on: l.on,
	}
	s.Open = l.Gamma == nil && s.Algorithm == "q" && s.N <= 1
	if s.Reward == "none" {
		s.Reward = ""
	}
	if s.Shown == "none" {
		s.Shown = ""
	}
	for _, key := range slices.Sorted(maps.Keys(l.OfValues)) {
		of, own, _ := strings.Cut(key, ".")
		if of != "values" {
			return s, fmt.Errorf("unknown setting %q; settings of the learner of values are written values.%s", key, own)
		}
		s.OfValues += own + "=" + strconv.Quote(l.OfValues[key]) + "\n"
	}
	if s.Algorithm == "bellmanford" {
		if s.Gamma = setting.Or(l.Gamma, 1); s.Gamma != 1 {
			return s, fmt.Errorf("gamma=%v: algorithm=bellmanford counts all rewards of a way in full; leave gamma out", s.Gamma)
		}
	}
	if s.Explore == "optimistic" && l.Start == nil {
		return s, fmt.Errorf("explore=optimistic begins with values that are too high; give start, such as the largest sum of rewards")
	}
	return s, s.check()
}

// Check tells before learning that settings do not go together.
func (l *Learner) Check() error {
	_, err := l.settings()
	return err
}

const (
	usual = 0.9 // gamma
	huge  = 1e300
)

func (s *settings) check() error {
	for _, number := range []struct {
		name         string
		x, low, high float64
	}{
		{"gamma", s.Gamma, 0, 1}, {"epsilon", s.Epsilon, 0, 1}, {"k", s.K, 1e-9, 1e9}, {"bound", s.Bound, 0, huge}, {"start", s.Start, -huge, huge},
		{"lambda", s.Lambda, 0, 1}, {"penalty", s.Penalty, 0, huge}, {"support", s.Support, 0, 1},
		{"episodes", float64(s.Episodes), 1, 1e9}, {"limit", float64(s.Limit), 1, 1e9}, {"n", float64(s.N), 1, 1e6}, {"anneal", float64(s.Anneal), 0, 1e9},
		{"tiles", float64(s.Tiles), 0, 10000}, {"planning", float64(s.Planning), 0, 1e6}, {"replay", float64(s.Replay), 0, 1e6}, {"actor", s.Actor, 0, 1e6},
	} {
		if !(number.x >= number.low && number.x <= number.high) {
			return fmt.Errorf("%s=%v: expected a number from %v to %v", number.name, number.x, number.low, number.high)
		}
	}
	if s.Lambda > 0 && s.N > 1 {
		return fmt.Errorf("lambda=%v and n=%d are two ways to look ahead; give one of them", s.Lambda, s.N)
	}
	if s.Depth < 0 || s.Depth > 8 || s.Lookahead < 0 || s.Lookahead > 8 || s.Hidden < 0 || s.Hidden > 1000 {
		return fmt.Errorf("depth=%d lookahead=%d hidden=%d: expected up to 8 turns and up to 1000 units", s.Depth, s.Lookahead, s.Hidden)
	}
	if s.Wiring == "outputs" && s.Values != "mlp" {
		return fmt.Errorf("wiring=outputs is a network with an output for each action; take values=mlp")
	}
	if s.Wiring == "input" && slices.Contains([]string{"auto", "table", "tiles", "linear"}, s.Values) {
		return fmt.Errorf("wiring=input gives a learner of numbers the action as a column; take one as values, such as mlp or tree")
	}
	if s.OfValues != "" && (s.Wiring == "outputs" || slices.Contains([]string{"auto", "table", "tiles", "linear"}, s.Values)) {
		return fmt.Errorf("values.%s is a setting of a learner of numbers; take one as values, such as mlp or ebnn", s.ofValues()[0][0])
	}
	if learns := slices.Contains([]string{"q", "sarsa", "dyna", "sweeping"}, s.Algorithm); !learns && (s.Gradient == "residual" || s.Replay > 0) {
		return fmt.Errorf("gradient=residual and replay are for algorithm=q, sarsa, dyna and sweeping, not %s", s.Algorithm)
	}
	if s.Gradient == "residual" && (s.Lambda > 0 || s.N > 1) {
		return fmt.Errorf("gradient=residual looks one step ahead; leave lambda=%v and n=%d out", s.Lambda, s.N)
	}
	if s.Shown != "" && (s.planned() || s.Algorithm == "brigade" || s.Algorithm == "lms") {
		return fmt.Errorf("shown is for algorithms that act step by step, not for %s", s.Algorithm)
	}
	if s.Algorithm == "lms" && s.Lambda > 0 {
		return fmt.Errorf("algorithm=lms learns by the next board alone; take algorithm=td with lambda=%v", s.Lambda)
	}
	if stepwise := s.Algorithm != "q" && s.Algorithm != "sarsa"; stepwise && (s.N > 1 || s.Order == "reverse" || s.Lambda > 0 && s.Algorithm != "td" && s.Algorithm != "actorcritic") {
		return fmt.Errorf("n and order are for algorithm=q and sarsa, lambda also for td and actorcritic; %s learns step by step", s.Algorithm)
	}
	if _, err := s.rate(false); err != nil {
		return err
	}
	_, err := s.toldPasts()
	return err
}

// planned reports whether nothing is acted: the environment's own model is solved.
func (s *settings) planned() bool {
	return s.Algorithm == "values" || s.Algorithm == "policy" || s.Algorithm == "bellmanford"
}

// rate is how far a step moves a value, by how often the action was taken before.
type rate struct {
	constant float64 // 0 falls with visits
	power    float64
}

// sure reports whether what a step comes to is certain, in an environment that is
// or is not: what sarsa, sums of n steps and λ come to depends on actions that were
// taken by lot, also where nothing else is left to chance.
func (s *settings) sure(certain bool) bool {
	return certain && s.Algorithm != "sarsa" && (s.Algorithm != "q" || s.N == 1 && s.Lambda == 0)
}

// rate returns the rate of learning, in an environment that is known to be
// without chance, or another.
func (s *settings) rate(certain bool) (rate, error) {
	switch {
	case s.Alpha == "visits":
		return rate{power: 1}, nil
	case s.Alpha == "auto" && certain:
		return rate{constant: 1}, nil
	case s.Alpha == "auto":
		return rate{power: 0.77}, nil // Even-Dar and Mansour 2003
	}
	x, err := strconv.ParseFloat(s.Alpha, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return rate{}, fmt.Errorf("alpha=%s: expected auto, visits, or a number above 0 and up to 1", s.Alpha)
	}
	return rate{constant: x}, nil
}

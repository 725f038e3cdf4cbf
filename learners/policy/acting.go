package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Action is what the target of a policy is called that was learnt by acting.
const Action = "action"

// acted is what is kept of acting besides values.
type acted struct {
	World    string `cbor:"world"`
	Episodes int    `cbor:"episodes"`
	Steps    int    `cbor:"steps"`
	Examples int    `cbor:"examples,omitempty"` // that a critic made of games
	Certain  bool   `cbor:"certain,omitempty"`  // the world is known to be without chance
	Curve    curve  `cbor:"curve"`

	Matches []matches `cbor:"matches,omitempty"` // against a rival, on the way
	Past    []past    `cbor:"past,omitempty"`    // how it came about, where there was advice
}

// curve is the returns of all episodes in blocks of one size, which doubles when
// there are too many of them: a learning curve of bounded length.
type curve struct {
	Size   int       `cbor:"size"` // episodes of a block
	Count  []float64 `cbor:"count"`
	Sum    []float64 `cbor:"sum"`
	Square []float64 `cbor:"square"`
}

const mostBlocks = 200

func (c *curve) add(x float64) {
	n := len(c.Count)
	if n == 0 || c.Count[n-1] >= float64(c.Size) {
		if n == mostBlocks {
			for i := range n / 2 {
				c.Count[i] = c.Count[2*i] + c.Count[2*i+1]
				c.Sum[i] = c.Sum[2*i] + c.Sum[2*i+1]
				c.Square[i] = c.Square[2*i] + c.Square[2*i+1]
			}
			n /= 2
			c.Count, c.Sum, c.Square, c.Size = c.Count[:n], c.Sum[:n], c.Square[:n], 2*c.Size
		}
		c.Count, c.Sum, c.Square = append(c.Count, 0), append(c.Sum, 0), append(c.Square, 0)
		n++
	}
	c.Count[n-1]++
	c.Sum[n-1] += x
	c.Square[n-1] += x * x
}

// clone is a copy to go on with.
func (c curve) clone() curve {
	copied := func(x []float64) []float64 { return append([]float64(nil), x...) }
	return curve{max(1, c.Size), copied(c.Count), copied(c.Sum), copied(c.Square)}
}

// LearnIn learns by acting in an environment, which goes by a name.
func (l *Learner) LearnIn(ctx context.Context, world string, e act.Environment, seed uint64) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	m, err := s.learnIn(ctx, world, e, seed)
	if err != nil {
		return nil, err // not a model that is nil
	}
	return m, nil
}

func (s settings) learnIn(ctx context.Context, world string, e act.Environment, seed uint64) (*Model, error) {
	schema, err := schemaOf(e)
	if err != nil {
		return nil, err
	}
	m := &Model{
		lesson: lesson{Format: format, Settings: s, Seed: seed, Target: Action}, schema: schema, target: len(schema.Attributes) - 1, reward: -1,
		acted: &acted{World: world, Curve: curve{Size: 1}},
	}
	if s.Advice != "" {
		m.acted.Past = []past{{ID: s.adviser.ID, Name: s.adviser.Name, Rules: s.Advice}}
	}
	m.state = stateColumns(schema, m.target, -1)
	if m.values, err = m.begin(ctx, e); err != nil {
		return nil, err
	}
	_, game := m.values.(*judge)
	_, learner := m.values.(*fitted)
	if s.Shown != "" && (game || learner) {
		return nil, errors.New("shown is for values=table, tiles and linear, and not for games")
	}
	return m.practise(ctx, e)
}

// begin lays out the values of an environment's states.
func (m *Model) begin(ctx context.Context, e act.Environment) (valuer, error) {
	s := &m.lesson.Settings
	_, place := e.(*act.Place)
	switch game := act.GameOf(e) != nil; {
	case s.Algorithm == "lms" || s.Algorithm == "td" && game:
		return newJudge(s, e, m.lesson.Seed)
	case s.Algorithm == "td" && !place, s.Algorithm == "explain" && !place:
		return nil, fmt.Errorf("algorithm=%s asks what follows from actions, and the environment does not know; take algorithm=q or sarsa", s.Algorithm)
	}
	if s.Values == "auto" {
		s.Values = "table"
		if _, ranged := e.(act.Ranged); ranged {
			s.Values = "tiles"
		}
	}
	switch {
	case s.Advice != "" && (s.planned() || s.Algorithm == "brigade"):
		return nil, errors.New("advice begins values that are learnt by acting; take another algorithm")
	case s.planned() || s.Values == "table" && s.Gradient != "residual":
		return newLookup(len(m.state), len(e.Actions())), nil
	case slices.Contains([]string{"explain", "brigade", "td", "lms"}, s.Algorithm):
		return nil, fmt.Errorf("algorithm=%s takes values=table", s.Algorithm)
	case s.Explore == "ucb" && s.Values != "tiles":
		return nil, fmt.Errorf("explore=ucb counts visits, which values=%s has none of; take values=tiles or table", s.Values)
	case s.Gradient == "residual" && s.Values != "tiles" && s.Values != "linear":
		return nil, fmt.Errorf("gradient=residual is for values=tiles and linear")
	}
	if s.Values != "tiles" && s.Values != "linear" {
		if err := s.fittable(); err != nil {
			return nil, err
		}
	}
	if err := m.lookAround(ctx, e); err != nil {
		return nil, err
	}
	if s.Values != "tiles" && s.Values != "linear" {
		return m.newFitted()
	}
	f, err := newWeighted(ctx, s, e, m.lesson.Seed)
	if err != nil || s.Advice == "" {
		return f, err
	}
	told, err := newAdviser(s.Advice, m.schema)
	if err != nil {
		return nil, err
	}
	f.heed(told, 0)
	return f, nil
}

// lookAround acts by lot in a program, whose names and actions come up as it is acted in:
// values that are no table have room for those that are known when they begin.
func (m *Model) lookAround(ctx context.Context, e act.Environment) (err error) {
	if _, program := e.(knower); !program {
		return nil
	}
	if _, err = act.Log(ctx, e, outlook, 1000, m.lesson.Seed, nil); err == nil {
		m.schema, err = schemaOf(e)
	}
	return err
}

// knower is a program that numbers names and actions as they come, or as somebody does
// who has acted there before.
type knower interface {
	Know(states *table.Schema, actions []string) error
}

// schemaOf is the columns of a policy: those of states, and the action.
func schemaOf(e act.Environment) (*table.Schema, error) {
	schema := table.CopySchema(e.Schema())
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: Action, Kind: table.Nominal, Values: append([]string(nil), e.Actions()...)})
	if err := table.Distinct(schema); err != nil {
		return nil, err
	}
	if len(e.Actions()) == 0 {
		return nil, errors.New("the environment has no actions")
	}
	return schema, nil
}

// Continue acts in an environment for as many episodes more as the settings say.
func (m *Model) Continue(ctx context.Context, e act.Environment) (learn.Model, error) {
	if m.acted == nil {
		return nil, fmt.Errorf("the policy was learnt from a log, not by acting; update it with more of the log")
	}
	if k, ok := e.(knower); ok {
		states := &table.Schema{Attributes: m.schema.Attributes[:m.target]}
		if err := k.Know(states, m.actions()); err != nil {
			return nil, err
		}
	}
	schema, err := schemaOf(e)
	if err == nil {
		err = table.Extends(m.schema, schema)
	}
	if err != nil {
		return nil, fmt.Errorf("the environment has other states or actions than the one that the policy was learnt in (%s): %w", m.acted.World, err)
	}
	return m.practise(ctx, e)
}

// World names the environment that a policy was learnt in; "" if in none.
func (m *Model) World() string {
	if m.acted == nil {
		return ""
	}
	return m.acted.World
}

// Practice says how many episodes and steps were acted.
func (m *Model) Practice() (episodes, steps int) {
	if m.acted == nil {
		return 0, 0
	}
	return m.acted.Episodes, m.acted.Steps
}

// practise returns the model after more episodes.
func (m *Model) practise(ctx context.Context, e act.Environment) (*Model, error) {
	next := *m
	history := *m.acted
	history.Curve = m.acted.Curve.clone()
	history.Matches = slices.Clone(m.acted.Matches)
	history.Past = m.acted.since(past{Episodes: m.lesson.Settings.Episodes})
	next.acted = &history
	if m.lesson.Settings.planned() {
		return next.iterated(ctx, e)
	}
	if m.lesson.Settings.Algorithm == "brigade" {
		return next.paid(ctx, e)
	}
	switch m.values.(type) {
	case *weighted:
		return next.climbed(ctx, e)
	case *judge:
		return next.contested(ctx, e)
	case *fitted:
		return next.batched(ctx, e)
	}
	values := m.values.(*lookup).clone()
	next.values = values
	t, err := newTrainer(&m.lesson.Settings, e, values)
	if err != nil {
		return nil, err
	}
	if place, ok := e.(*act.Place); ok {
		history.Certain = place.Certain()
	}
	if t.advised, err = newAdviser(m.lesson.Settings.Advice, m.schema); err != nil {
		return nil, err
	}
	heeding, release := enough.Heed(ctx, 0)
	defer release()
	for n := range m.lesson.Settings.Episodes {
		steps, err := 0, error(nil)
		if n%64 == 0 {
			err = heeding.Err()
			learn.Report(ctx, float64(n)/float64(m.lesson.Settings.Episodes))
		}
		if err == nil {
			steps, err = t.episode(heeding, m.lesson.Seed, history.Episodes)
		}
		if err != nil && ctx.Err() == nil && n > 0 { // what was learnt before is worth keeping
			if schema, broken := schemaOf(e); broken == nil {
				next.schema = schema
				return nil, &Stopped{fmt.Errorf("episode %d, step %d: %w", history.Episodes+1, steps+1, err), &next}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("episode %d, step %d: %w", history.Episodes+1, steps+1, err)
		}
		history.Episodes++
		history.Steps += steps
		history.Curve.add(t.earned)
	}
	t.settle()
	learn.Report(ctx, 1)
	next.schema, err = schemaOf(e)
	return &next, err
}

// Stopped is the error of an environment that failed after some episodes.
type Stopped struct {
	error
	model *Model
}

// Unwrap returns what went wrong.
func (s *Stopped) Unwrap() error { return s.error }

// Partial is the policy of the episodes before.
func (s *Stopped) Partial() learn.Model { return s.model }

// iterated solves the environment's own model.
func (m *Model) iterated(ctx context.Context, e act.Environment) (*Model, error) {
	place, ok := e.(*act.Place)
	if !ok {
		return nil, fmt.Errorf("algorithm=%s: the environment does not know its own model; learn by acting in it (algorithm=q)", m.lesson.Settings.Algorithm)
	}
	solution, err := m.lesson.Settings.solve(ctx, place)
	if err != nil {
		return nil, err
	}
	values := newLookup(len(m.state), len(place.Actions()))
	cells := make([]float64, len(m.state))
	for s := range place.States() {
		if len(place.Model.Legal(s)) == 0 {
			continue // an end may look like the state before it
		}
		place.Cells(s, cells)
		q := values.of(values.add(cells))
		for a := range q {
			q[a] = solution.Value(s, a)
		}
	}
	m.values = values
	return m, nil
}

// solve computes what the states and actions of a known world are worth.
func (s *settings) solve(ctx context.Context, place *act.Place) (*act.Solution, error) {
	switch s.Algorithm {
	case "bellmanford":
		return place.ShortestPaths(ctx)
	case "policy":
		return place.PolicyIteration(ctx, s.Gamma, 1e-12)
	}
	return place.ValueIteration(ctx, s.Gamma, 1e-12)
}

// move is a step that was taken: what it led to, −1 if that was the end, and the
// action that is taken there.
type move struct {
	s, a       int32
	r          float64
	next, then int32
}

// trainer acts and learns.
type trainer struct {
	*settings
	rate
	e       act.Environment
	place   *act.Place // nil unless states have numbers of their own
	known   []int32    // of each of those, its number in the table
	v       *lookup
	pcg     rand.PCG
	random  *rand.Rand
	cells   []float64
	moves   []move // of this episode, where they are learnt at its end
	targets []float64
	hoped   []float64 // scratch of choose
	eager   bool      // moves are learnt as they are made
	on      bool      // the value of a state is that of the action taken there
	number  int       // of the episode
	earned  float64   // in it, discounted
	memory  []move    // what may be learnt again
	turn    float64   // −1 where two players take turns
	advised *adviser
	shown   *lessons
	trace   []float64 // of each state, for td and actorcritic
	traced  []int32   // those that are not 0
	leaning []float64 // traces of an actor, of each pair
}

func newTrainer(s *settings, e act.Environment, v *lookup) (*trainer, error) {
	t := &trainer{settings: s, e: e, v: v, turn: 1, cells: make([]float64, v.width), hoped: make([]float64, v.actions)}
	t.random = rand.New(&t.pcg)
	certain := false
	if place, ok := e.(*act.Place); ok {
		t.place = place
		t.known = make([]int32, place.States())
		for i := range t.known {
			t.known[i] = -1
		}
		certain = place.Certain()
		if place.Alternates() {
			t.turn = -1
		}
	}
	var err error
	if t.shown, err = s.shownTo(e.Actions()); err != nil {
		return nil, err
	}
	t.rate, err = s.rate(s.sure(certain))
	t.eager = s.Lambda == 0 && s.N == 1 && s.Order == "forward"
	t.on = s.Algorithm == "sarsa"
	if s.Algorithm == "dyna" || s.Algorithm == "sweeping" {
		if v.world == nil {
			v.world = newWorldModel()
		}
	}
	switch {
	case (s.Algorithm == "actorcritic" || s.Algorithm == "td" || s.Algorithm == "rlearning") && t.constant == 1:
		t.rate = rate{constant: 0.1} // what a critic sees depends on the actor's lot, what is more than the average on that
	case s.Algorithm == "explain" && !certain:
		return nil, errors.New("algorithm=explain explains what follows for certain, and in this environment chance has a part; take algorithm=q or sweeping")
	}
	switch s.Algorithm {
	case "actorcritic":
		t.eager = true
	case "td":
		t.eager = true
		t.recall()
	case "explain":
		t.eager = false
		t.recall()
	}
	return t, err
}

// here returns the number of the present state.
func (t *trainer) here() (int32, error) {
	if t.place != nil {
		if s := t.known[t.place.At()]; s >= 0 {
			return s, nil
		}
	}
	if failed, ok := t.e.(interface{ Err() error }); ok && failed.Err() != nil {
		return 0, failed.Err()
	}
	if n := len(t.e.Actions()); n > t.v.actions {
		t.fade(0)
		t.v.widen(n)
		t.leaning = nil
		t.hoped = make([]float64, n)
	}
	t.e.State(t.cells)
	known := t.v.states()
	s := t.v.add(t.cells)
	q := t.v.of(s)
	legal := t.e.Legal()
	if len(legal) == 0 {
		return s, errors.New("no action is legal, and the episode has not ended")
	}
	for _, a := range legal {
		if a < 0 || a >= len(q) {
			return s, fmt.Errorf("action %d of %d is said to be legal", a, len(q))
		}
		if math.IsNaN(q[a]) {
			q[a] = t.Start
		}
	}
	if int(s) == known { // it is new
		t.advised.begin(t.cells, q)
	}
	if t.place != nil {
		t.known[t.place.At()] = s
	}
	return s, nil
}

// episode acts until the end, and returns the steps taken.
// Its chance is a function of the seed and of its number.
func (t *trainer) episode(ctx context.Context, seed uint64, number int) (steps int, err error) {
	t.pcg.Seed(seed, uint64(number))
	t.e.Reset(t.pcg.Uint64())
	t.number = number
	t.shown.begin(number)
	t.moves = t.moves[:0]
	t.v.world.rest()
	t.fade(0)
	t.earned = 0
	weight := 1.0
	s, err := t.here()
	if err != nil {
		return 0, err
	}
	a := t.choose(s)
	for {
		if err := t.shown.err(); err != nil {
			return steps, err
		}
		r, end, err := t.e.Step(int(a))
		if err != nil {
			return steps, err
		}
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return steps, fmt.Errorf("the reward is %v; expected a number", r)
		}
		t.earned += weight * r
		weight *= t.Gamma
		steps++
		m := move{s, a, r, -1, -1}
		if !end {
			if m.next, err = t.here(); err != nil {
				return steps, err
			}
			if t.on {
				m.then = t.choose(m.next)
			}
		}
		switch {
		case end && t.Algorithm == "rlearning":
			if m.next, err = t.again(seed, number+1); err != nil {
				return steps, err
			}
		case end && cut(t.e):
			m.next = t.beyond(s)
		}
		t.take(&m)
		if end || steps >= t.Limit {
			break
		}
		if steps%4096 == 0 && ctx.Err() != nil {
			return steps, ctx.Err()
		}
		if s, a = m.next, m.then; !t.on {
			a = t.choose(s)
		}
	}
	t.review()
	t.replay()
	return steps, nil
}

// again is the state in which the next episode begins: to somebody who counts the
// average reward, that is what follows an end.
func (t *trainer) again(seed uint64, number int) (int32, error) {
	var pcg rand.PCG
	pcg.Seed(seed, uint64(number))
	t.e.Reset(pcg.Uint64())
	return t.here()
}

// cut reports whether an episode ended only because it was long enough.
func cut(e act.Environment) bool {
	cutter, ok := e.(act.Cutter)
	return ok && cutter.Cut()
}

// beyond is the state in which an episode was cut, from which it would have gone on;
// where that was not met before, the state from which the last step was taken stands
// for it.
func (t *trainer) beyond(from int32) int32 {
	t.e.State(t.cells)
	writeKey(t.v.key, t.cells)
	if s := t.v.find(t.v.key); s >= 0 {
		return s
	}
	return from
}

// take learns a move, or keeps it until the end of the episode.
func (t *trainer) take(m *move) {
	switch {
	case !t.eager:
		t.moves = append(t.moves, *m)
	case t.Algorithm == "actorcritic":
		t.criticise(m)
	case t.Algorithm == "rlearning":
		t.average(m)
	case t.Algorithm == "td":
		t.predict(m)
	case t.Algorithm == "sweeping":
		t.v.visits[int(m.s)*t.v.actions+int(m.a)]++
		t.plan(m)
	default:
		t.learn(m, m.r+t.Gamma*t.ahead(m))
		t.plan(m)
	}
	t.remember(m)
}

// ahead is what is believed of the state that a move led to.
func (t *trainer) ahead(m *move) float64 {
	switch {
	case m.next < 0:
		return 0
	case t.on && m.then >= 0:
		return t.turn * t.v.of(m.next)[m.then]
	}
	return t.turn * t.v.best(m.next)
}

// learn moves a value towards a target (equations 13.7 and 13.10).
func (t *trainer) learn(m *move, target float64) {
	at := int(m.s)*t.v.actions + int(m.a)
	t.v.visits[at]++
	if t.constant == 1 {
		t.v.q[at] = target
		return
	}
	t.v.q[at] += t.step(t.v.visits[at]) * (target - t.v.q[at])
}

// step is how far a value moves after so many visits, this one included.
func (r *rate) step(visits float64) float64 {
	switch {
	case r.constant > 0:
		return r.constant
	case r.power == 1:
		return 1 / (1 + visits)
	}
	return math.Pow(1+visits, -r.power)
}

// review learns the moves of an episode at its end.
func (t *trainer) review() {
	n := len(t.moves)
	if t.Algorithm == "explain" {
		for i := n - 1; i >= 0; i-- {
			t.explain(&t.moves[i])
		}
		return
	}
	if t.Order == "reverse" && t.Lambda == 0 && t.N == 1 {
		for i := n - 1; i >= 0; i-- {
			t.learn(&t.moves[i], t.moves[i].r+t.Gamma*t.ahead(&t.moves[i]))
		}
		return
	}
	t.targets = append(t.targets[:0], make([]float64, n)...)
	t.foresee()
	for i := range t.moves {
		if t.Order == "reverse" {
			i = n - 1 - i
		}
		t.learn(&t.moves[i], t.targets[i])
	}
}

// foresee fills in what the moves of an episode are worth by what is believed
// before any of them is learnt.
func (t *trainer) foresee() {
	t.returns(t.targets, t.turn, func(i int) float64 { return t.moves[i].r }, func(i int) float64 { return t.ahead(&t.moves[i]) })
}

// returns fills in what the steps of an episode are worth by the reward of each and
// what is believed of the state that it led to: the n-step sums, or their mean with
// weights that fall by λ,
//
//	Qλ(sₜ,aₜ) = rₜ + γ·[(1−λ)·max Q(sₜ₊₁,a) + λ·Qλ(sₜ₊₁,aₜ₊₁)].
func (s *settings) returns(targets []float64, turn float64, reward, ahead func(i int) float64) {
	n := len(targets)
	if s.N > 1 {
		for i := range targets {
			last := min(i+s.N, n) - 1
			g := ahead(last)
			for j := last; j >= i; j-- {
				if j < last {
					g *= turn
				}
				g = reward(j) + s.Gamma*g
			}
			targets[i] = g
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		next := ahead(i)
		if i < n-1 {
			next = (1-s.Lambda)*next + s.Lambda*turn*targets[i+1]
		}
		targets[i] = reward(i) + s.Gamma*next
	}
}

// Backup is what an action is worth by what it earned and by what the actions of
// the state that it led to are worth; none of these is an end (equation 13.7).
func Backup(reward, gamma float64, next ...float64) float64 {
	best := math.Inf(-1)
	for _, q := range next {
		best = max(best, q)
	}
	if len(next) == 0 {
		return reward
	}
	return reward + gamma*best
}

package life

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// actor is a learner that learns by acting.
type actor interface {
	learn.Learner
	LearnIn(ctx context.Context, world string, e act.Environment, seed uint64) (learn.Model, error)
}

// policy is a model that says what to do.
type policy interface {
	learn.Model
	// World names the environment that it was learnt in, "" if in none.
	World() string
	Practice() (episodes, steps int)
	Continue(ctx context.Context, e act.Environment) (learn.Model, error)
	Gamma() float64
	// Rewards is the column of rewards of a log, −1 if there is none.
	Rewards() int
	// States are the columns that it tells states apart by.
	States() []int
	// Worth fills in what actions are worth in a state, by the cells of these
	// columns; NaN if that is not known.
	Worth(cells, q []float64)
	// Advisable reports whether rules are advice on what its actions are worth.
	Advisable() bool
	// Decide is the action that is worth most in a state, where it is found
	// sooner than what all are worth; −1 elsewhere.
	Decide(cells []float64) int
	// EachState calls visit for the states of a table of values, in the order
	// of the model's rules; it reports whether there is such a table.
	EachState(visit func(tests []rule.Test, best []int, values, cells []float64)) bool
}

// defaultActor learns by acting where no learner is named.
const defaultActor = "q"

// World is an environment to act in.
type World struct {
	Name        string // with its settings, and with the map of a file in it
	Environment act.Environment
}

// isWorld reports whether an environment has that name.
func isWorld(name string) bool {
	return slices.ContainsFunc(act.Worlds(), func(w act.World) bool { return w.Name == name })
}

// NoWorld is the error of a name that no environment has.
func NoWorld(arg string) error {
	if name, near := nearestWorld(arg); near {
		return remedy.Misusef("there is no environment %s; did you mean %q?", arg, name)
	}
	return remedy.Misusef("there is no environment %s; see accrete datasets", arg)
}

// nearestWorld is the environment whose name is nearly that of an argument.
func nearestWorld(arg string) (name string, near bool) {
	var names []string
	for _, w := range act.Worlds() {
		names = append(names, w.Name)
	}
	base, _, _ := strings.Cut(arg, ":")
	return spell.Nearest(base, names)
}

// World returns the environment that an argument names; nil if it names none. A
// file of that name comes first.
func (h *Home) World(ctx context.Context, arg string) (*World, error) {
	base, rest, _ := strings.Cut(arg, ":")
	if base == "exec" {
		argv, err := act.Words(rest)
		if err != nil {
			return nil, remedy.Misuse(err)
		}
		e, err := act.Run(ctx, argv, cmp.Or(h.Wait, defaultWait))
		if err != nil {
			return nil, err
		}
		return &World{arg, e}, nil
	}
	if !isWorld(base) {
		return nil, nil
	}
	if _, err := os.Stat(arg); err == nil {
		return nil, nil
	}
	name, err := withMap(arg)
	if err != nil {
		return nil, err
	}
	e, err := act.Lookup(name)
	if err != nil {
		return nil, remedy.Misuse(err)
	}
	return &World{name, e}, nil
}

// defaultWait is how long a program may be silent.
const defaultWait = 30 * time.Second

// Close ends a world that is a program.
func (w *World) Close() error {
	if c, ok := w.Environment.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// withMap puts the lines of a file in the place of its name, where a map is one.
func withMap(arg string) (string, error) {
	before, rest, ok := strings.Cut(arg, "map=")
	if !ok {
		return arg, nil
	}
	file, after, more := strings.Cut(rest, ",")
	if file == "" || InlineMap(arg) {
		return arg, nil
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", remedy.Misusef("map=%s: there is no such file, and it is no map, which has lines of # . S G H, separated by /", file)
	}
	text, err := readSmall(file, MostText)
	if err != nil {
		return "", err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return "", remedy.Misusef("%s is empty; a map has lines of # . S G H", file)
	}
	lines := strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n", "/")
	if strings.Contains(lines, ",") {
		return "", remedy.Misusef("%s: a map has lines of # . S G H, and no commas", file)
	}
	arg = before + "map=" + lines
	if more {
		arg += "," + after
	}
	return arg, nil
}

// InlineMap reports whether the map of an environment, if it has one, is written
// there, and not in a file.
func InlineMap(env string) bool {
	_, rest, ok := strings.Cut(env, "map=")
	text, _, _ := strings.Cut(rest, ",")
	return !ok || strings.Trim(text, "#.SGH/") == ""
}

// Base is the name that a model takes from its world.
func (w *World) Base() string {
	base, rest, _ := strings.Cut(w.Name, ":")
	if words, err := act.Words(rest); base == "exec" && err == nil {
		if _, argv := act.Looks(words); len(argv) > 0 {
			d := Data{Arg: argv[0]}
			return d.Base()
		}
	}
	return base
}

// Acted is a policy that was learnt by acting, and what it earns.
type Acted struct {
	Learnt
	Returns
}

// Returns are what a policy earns in an environment, as it is: it takes the best
// action that it knows.
type Returns struct {
	Episodes int      `json:"episodes"`
	Steps    int      `json:"steps"`
	Mean     float64  `json:"mean_return"`
	Low      *float64 `json:"return_low,omitempty"`
	High     *float64 `json:"return_high,omitempty"`
	Value    float64  `json:"value"` // mean discounted return
	Judged   int      `json:"judged_episodes"`

	*Exact
	*Games
}

// Write prints what a policy earns.
func (r *Returns) Write(w io.Writer) {
	fmt.Fprintf(w, "it earns %s an episode", console.Number(r.Mean))
	if r.Low != nil {
		fmt.Fprintf(w, " (%s to %s)", console.Number(*r.Low), console.Number(*r.High))
	}
	fmt.Fprintf(w, ", %s discounted, in %s that it did not learn from\n", console.Number(r.Value), console.Plural(r.Judged, "episode"))
	if x := r.Exact; x != nil {
		fmt.Fprintf(w, "by the world's own equations it is worth %s where episodes begin (gamma %s); the best policy is worth %s\n", console.Number(x.Worth), console.Number(x.Gamma), console.Number(x.Optimum))
	}
	if r.Games == nil {
		return
	}
	against := ""
	if r.Opponent != "" {
		against = " against " + r.Opponent
	}
	fmt.Fprintf(w, "of these games it won %d, drew %d and lost %d%s\n", r.Won, r.Drawn, r.Lost, against)
}

// Exact is what a policy is worth, discounted, where episodes begin, and what the best
// one is: by the equations of a world that knows its own model.
type Exact struct {
	Worth   float64 `json:"exact_value"`
	Optimum float64 `json:"optimal_value"`
	Gamma   float64 `json:"gamma"`
}

// Games are how the games of a policy ended.
type Games struct {
	Won      int    `json:"won"`
	Drawn    int    `json:"drawn"`
	Lost     int    `json:"lost"`
	Opponent string `json:"opponent,omitempty"` // who was played, if not the world's own
}

// count adds a game by what it earned.
func (g *Games) count(reward float64) {
	switch {
	case reward > 0:
		g.Won++
	case reward < 0:
		g.Lost++
	default:
		g.Drawn++
	}
}

// judgedEpisodes is in how many episodes a policy is judged.
const judgedEpisodes = 100

// longest is how many steps an episode has at most in which a policy is judged.
const longest = 10000

// LearnActing learns a policy by acting, keeps it, and says what it earns. A model
// of the name that does something else has to be replaced expressly.
func (h *Home) LearnActing(ctx context.Context, w *World, o LearnOptions) (*Acted, error) {
	c, rules, name := o.Choice, o.Rules, cmp.Or(o.Name, w.Base())
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	settings, err := h.withModels(cmp.Or(c.Learner, defaultActor), h.suiting(w, c.Settings))
	if err != nil {
		return nil, err
	}
	info, l, err := configured(cmp.Or(c.Learner, defaultActor), settings)
	if err != nil {
		return nil, ofTheWorld(w, c.Settings, err)
	}
	c.Settings = withoutModels(info, settings)
	a, ok := l.(actor)
	if !ok {
		return nil, remedy.New(Remedy{Kind: remedy.UseLearner, Names: []string{defaultActor}}, "%s is an environment, and %s learns from tables", w.Base(), c.Learner)
	}
	if !o.Replace {
		if err := h.actsElsewhere(w, name, cmp.Or(c.Learner, defaultActor)); err != nil {
			return nil, err
		}
	}
	at := h.now()
	told, err := h.advise(ctx, w, l, rules)
	if err != nil {
		return nil, err
	}
	bar, done := h.progress("acting")
	m, err := a.LearnIn(learn.WithProgress(ctx, bar), w.Name, w.Environment, h.Seed)
	done()
	m, stopped := partial(m, err)
	if m == nil {
		return nil, err
	}
	var v store.Version
	err = h.Store.Write(ctx, name, func(tx *store.Tx) error {
		v, err = tx.Save(m, store.Version{Kind: store.Learn, Source: h.worldSource(w, m, 0), At: at, Seed: h.Seed, Settings: c.Settings, History: told, By: h.Who})
		return err
	})
	if err != nil {
		return nil, err
	}
	learnt := h.newLearnt(&Part{Model: m, Name: name, Version: v, Versions: []store.Version{v}}, store.Version{})
	if stopped != nil {
		return h.halted(learnt, stopped)
	}
	return h.judged(ctx, w, learnt)
}

// actsElsewhere returns an error if there is a model of this name that is no policy
// of this learner for this environment, whatever its settings.
func (h *Home) actsElsewhere(w *World, name, learner string) error {
	versions, err := h.Store.Log(name)
	if err != nil || len(versions) == 0 {
		return nil // there is none, or whoever writes it will hear
	}
	is := versions[len(versions)-1]
	what := does(is.Learner, is.Target)
	for i := len(versions) - 1; i >= 0 && is.Learner == learner; i-- {
		v := &versions[i]
		if v.Kind != store.Learn {
			continue
		}
		if there := (&World{Name: v.Source.Name}); v.Source.Path == v.Source.Name && there.Base() == w.Base() {
			return nil
		}
		what = fmt.Sprintf("%s in %s", is.Learner, v.Source.Name)
		break
	}
	return &remedy.Error{Err: fmt.Errorf("the model %s is %s; this would make it %s in %s", name, what, learner, w.Name), Remedy: Remedy{Kind: remedy.ReplaceModel}, Misuse: true}
}

// partial returns a policy, or what there is of one where acting stopped, and
// why.
func partial(m learn.Model, err error) (learn.Model, error) {
	var stopped interface{ Partial() learn.Model }
	if errors.As(err, &stopped) {
		return stopped.Partial(), err
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// halted is a policy that was kept though acting stopped.
func (h *Home) halted(l *Learnt, why error) (*Acted, error) {
	acted := &Acted{Learnt: *l}
	if p, ok := learn.Ability[policy](l.Part.Model); ok {
		acted.Episodes, acted.Steps = p.Practice()
	}
	return acted, fmt.Errorf("%s@%d has learnt %s and is kept; then acting stopped: %w; update it to go on", l.Model, l.Version, plural(acted.Episodes, "episode"), why)
}

// advise gives a learner the rules of somebody who knows, and records them.
func (h *Home) advise(ctx context.Context, w *World, l learn.Learner, rules *Rules) ([]store.Version, error) {
	if rules == nil {
		return nil, nil
	}
	a, ok := l.(interface {
		Advise(rules *rule.Base, by learn.Source) error
	})
	if !ok {
		return nil, remedy.Misusef("who learns by acting in %s takes no advice", w.Base())
	}
	schema := table.CopySchema(w.Environment.Schema())
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "action", Kind: table.Nominal, Values: w.Environment.Actions()})
	base, source, err := rules.read(ctx, h, schema)
	if err != nil {
		return nil, err
	}
	return []store.Version{{Kind: store.Tell, Source: source, At: h.now(), Settings: rules.settings()}}, a.Advise(base, learn.Source{ID: source.ID, Name: source.Name})
}

// hiddenLambda is how much of what was earned later counts where states are windows
// on what is hidden.
const hiddenLambda = "0.9"

// suitRanges are where values may stand if states are numbers without end.
var suitRanges = []string{"auto", "table", "tiles", "linear", "mlp"}

// suiting adds the settings that suit a world, unless they were given; with another
// algorithm or other values there is no telling which do, but what later rewards are
// worth, which belongs to the task.
func (h *Home) suiting(w *World, given map[string]string) map[string]string {
	var suits []string
	if at := slices.IndexFunc(act.Worlds(), func(known act.World) bool { return known.Name == w.Name || strings.HasPrefix(w.Name, known.Name+":") }); at >= 0 {
		suits = act.Worlds()[at].Suits
	}
	other := given["algorithm"] != "" || given["values"] != ""
	all := maps.Clone(given)
	if all == nil {
		all = map[string]string{}
	}
	var added []string
	for _, s := range suits {
		key, value, _ := strings.Cut(s, "=")
		if other && key != "gamma" || given["algorithm"] == "bellmanford" { // shortest ways count all rewards in full
			continue
		}
		if key == "algorithm" && (given["lambda"] != "" || given["n"] != "" || given["order"] != "" || given["replay"] != "") {
			continue // they are for Q learning
		}
		if all[key] == "" {
			all[key] = value
			added = append(added, s)
		}
	}
	if act.Window(w.Environment) > 1 && !other && all["algorithm"] == "" && all["lambda"] == "" && all["n"] == "" && all["order"] == "" { // states still may look alike: what came of them counts
		all["lambda"] = hiddenLambda
		added = append(added, "lambda="+hiddenLambda)
	}
	if _, ranged := w.Environment.(act.Ranged); ranged && given["values"] != "" && !slices.Contains(suitRanges, given["values"]) {
		h.note("values=" + given["values"] + " suits worlds of few states; where states are numbers without end, tiles learn more and sooner")
	}
	if added != nil {
		h.note("settings that suit " + w.Base() + ": " + strings.Join(added, " "))
	}
	return all
}

// ofTheWorld says, where a learner does not know a setting, that it is one of the
// world.
func ofTheWorld(w *World, given map[string]string, err error) error {
	known := act.Views()
	for _, world := range act.Worlds() {
		if world.Name == w.Base() {
			known = append(known, world.Settings...)
		}
	}
	for _, s := range known {
		value, there := given[s.Name]
		if !there || !strings.Contains(err.Error(), strconv.Quote(s.Name)) {
			continue
		}
		base, rest, set := strings.Cut(w.Name, ":")
		return remedy.Misusef("%s is a setting of the world: %s", s.Name, worldWith(base, rest, set, s.Name+"="+value))
	}
	return err
}

// worldWith is how a world with one setting more is written.
func worldWith(base, rest string, set bool, setting string) string {
	switch {
	case base == "exec":
		return fmt.Sprintf("'exec:%s %s'", setting, rest)
	case set:
		return base + ":" + rest + "," + setting
	}
	return base + ":" + setting
}

// worldSource records where a policy was learnt, and in how many steps beyond those before.
func (h *Home) worldSource(w *World, m learn.Model, before float64) store.Source {
	return store.Source{ID: store.SourceID(w.Name, "", h.now()), Name: w.Name, Path: w.Name, Rows: m.Size().Rows - before}
}

// judged adds what a new policy earns. It is kept whatever becomes of that.
func (h *Home) judged(ctx context.Context, w *World, l *Learnt) (*Acted, error) {
	acted := &Acted{Learnt: *l}
	opponent := ""
	if g := act.GameOf(w.Environment); g != nil && act.Turns(w.Environment) { // who plays both sides is judged against another
		w, opponent = &World{w.Name, act.Rival(g)}, "a player who counts "+act.Counted(g)
	}
	r, err := h.Returns(ctx, l.Part, w, judgedEpisodes)
	if err != nil {
		return acted, fmt.Errorf("%s@%d is kept, but what it earns was not measured: %w", l.Model, l.Version, err)
	}
	acted.Returns = *r
	if r.Games != nil {
		acted.Games.Opponent = opponent
	}
	if p, ok := learn.Ability[policy](l.Part.Model); ok {
		acted.Episodes, acted.Steps = p.Practice()
	}
	return acted, nil
}

// UpdateActing acts for more episodes.
func (h *Home) UpdateActing(ctx context.Context, name string, w *World) (*Acted, error) {
	var stopped error
	l, err := h.change(ctx, name, func(h *Home, p *Part) (*step, error) {
		m, err := policyOf(p)
		if err != nil {
			return nil, err
		}
		at := h.now()
		bar, done := h.progress("acting")
		defer done()
		next, err := m.Continue(learn.WithProgress(ctx, bar), w.Environment)
		if next, stopped = partial(next, err); next == nil {
			return nil, err
		}
		return &step{model: next, record: store.Version{Kind: store.Update, Source: h.worldSource(w, next, m.Size().Rows), At: at, Seed: p.Version.Seed, Settings: p.Version.Settings, By: h.Who}}, nil
	})
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return h.halted(l, stopped)
	}
	return h.judged(ctx, w, l)
}

// policyOf returns a model as a policy.
func policyOf(p *Part) (policy, error) {
	m, ok := learn.Ability[policy](p.Model)
	if !ok {
		return nil, remedy.New(Remedy{Kind: remedy.UseLearner, Names: []string{defaultActor}}, "%s is a model of %s, which does not act", p.Name, p.Version.Learner)
	}
	return m, nil
}

// Acts reports whether a model is a policy: it can play.
func Acts(p *Part) bool {
	_, ok := learn.Ability[policy](p.Model)
	return ok
}

// chooser takes the best legal action that a policy knows; where it knows none,
// any.
func chooser(m policy, e act.Environment, random *rand.Rand) (act.Choose, error) {
	best, err := bestKnown(m, e)
	if err != nil {
		return nil, err
	}
	return func(cells []float64, legal []int) (int, error) {
		if a := best(cells, legal); a >= 0 {
			return a, nil
		}
		return legal[random.IntN(len(legal))], nil
	}, nil
}

// bestKnown finds the best legal action that a policy knows, −1 where it knows none.
// Columns, names and actions are matched by what they are called: a policy that was
// learnt from a log numbers them in its own way.
func bestKnown(m policy, e act.Environment) (func(cells []float64, legal []int) int, error) {
	schema, states := m.Schema(), e.Schema()
	var from []int                 // of each column of the policy's states, that of the environment
	var codes [][]int32            // and of its names, those of the policy
	var columns []*table.Attribute // of the policy
	for _, j := range m.States() {
		a := &schema.Attributes[j]
		at := states.Index(a.Name)
		if at < 0 || states.Attributes[at].Kind != a.Kind {
			return nil, fmt.Errorf("the environment has other states or actions than the policy: it has no column %q of its kind, but %s", a.Name, strings.Join(states.Names(), ", "))
		}
		from, codes, columns = append(from, at), append(codes, nil), append(columns, a)
	}
	actions := schema.Attributes[m.Target()].Values
	number := make([]int, len(e.Actions()))
	known := 0
	for i, name := range e.Actions() {
		if number[i] = slices.Index(actions, name); number[i] >= 0 {
			known++
		}
	}
	if known == 0 {
		return nil, fmt.Errorf("the environment has other states or actions than the policy: %s, not %s", strings.Join(e.Actions(), ", "), strings.Join(actions, ", "))
	}
	q, own := make([]float64, len(actions)), make([]float64, len(from))
	return func(cells []float64, legal []int) int {
		for len(number) < len(e.Actions()) { // programs have names that come later
			number = append(number, slices.Index(actions, e.Actions()[len(number)]))
		}
		for i, at := range from {
			for values := states.Attributes[at].Values; len(codes[i]) < len(values); {
				codes[i] = append(codes[i], columns[i].Code(values[len(codes[i])]))
			}
			if own[i] = cells[at]; codes[i] != nil && !math.IsNaN(cells[at]) {
				own[i] = float64(codes[i][int(cells[at])])
			}
		}
		if known := m.Decide(own); known >= 0 {
			if a := slices.Index(number, known); slices.Contains(legal, a) {
				return a
			}
		}
		m.Worth(own, q)
		best := -1
		for _, a := range legal {
			if n := number[a]; n >= 0 && q[n] == q[n] && (best < 0 || q[n] > q[number[best]]) {
				best = a
			}
		}
		return best
	}, nil
}

// mostSolved is how many states a world has at most that is solved to judge a policy.
const mostSolved = 50_000

// exactly computes what a policy is worth in a world that knows its own model; nil of
// others, of very large ones, and where acting as it does never ends.
func exactly(ctx context.Context, m policy, e act.Environment) (*Exact, error) {
	place, ok := e.(*act.Place)
	if !ok || place.Alternates() || place.States() > mostSolved {
		return nil, nil
	}
	best, err := bestKnown(m, e)
	if err != nil {
		return nil, err
	}
	taken, cells := make([]int, place.States()), make([]float64, len(place.Schema().Attributes))
	for s := range taken {
		place.Cells(s, cells)
		taken[s] = best(cells, place.Model.Legal(s))
	}
	x := &Exact{Gamma: m.Gamma()}
	if x.Worth, err = place.Expected(ctx, taken, m.Gamma(), 1e-9); err != nil {
		return nil, ctx.Err()
	}
	most, err := place.ValueIteration(ctx, m.Gamma(), 1e-9)
	if err != nil {
		return nil, ctx.Err()
	}
	starts := place.Starts()
	for _, s := range starts {
		x.Optimum += most.V[s] / float64(len(starts))
	}
	return x, nil
}

// Returns judges a policy in an environment.
func (h *Home) Returns(ctx context.Context, p *Part, w *World, episodes int) (*Returns, error) {
	m, err := policyOf(p)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(h.Seed, 0x1edfe))
	choose, err := chooser(m, w.Environment, random)
	if err != nil {
		return nil, err
	}
	bar, done := h.progress("judging")
	defer done()
	r := &Returns{Episodes: episodes, Judged: episodes}
	if act.GameOf(w.Environment) != nil {
		r.Games = &Games{}
	}
	var sums, values []float64
	for i := range episodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		bar(float64(i) / float64(episodes))
		sum, discounted, err := act.Play(ctx, w.Environment, random.Uint64(), longest, m.Gamma(), choose, func(act.Step) error { r.Steps++; return nil })
		if err != nil {
			return nil, fmt.Errorf("episode %d: %w", i+1, err)
		}
		sums, values = append(sums, sum), append(values, discounted)
		if r.Games != nil {
			r.Games.count(sum)
		}
	}
	e := stat.Mean(sums)
	r.Mean, r.Value = settled(e.Value, sums), settled(stat.Mean(values).Value, values)
	if i := e.Interval(0.95, stat.TwoSided); !math.IsNaN(i.Low) {
		r.Low, r.High = &i.Low, &i.High
	}
	if r.Exact, err = exactly(ctx, m, w.Environment); err != nil {
		return nil, err
	}
	return r, nil
}

// settled is a mean, 0 where it is only the rounding of what it is of.
func settled(mean float64, of []float64) float64 {
	largest := 0.0
	for _, x := range of {
		largest = max(largest, math.Abs(x))
	}
	if math.Abs(mean) < 1e-12*largest {
		return 0
	}
	return mean
}

// DesignOf says how a policy learns that judges boards: the choices of its design
// and its modules, as pairs of what and how; nil of others.
func DesignOf(p *Part) [][2]string {
	if m, ok := learn.Ability[interface{ Design() [][2]string }](p.Model); ok {
		return m.Design()
	}
	return nil
}

// PolicyEntry is a state of a policy.
type PolicyEntry struct {
	State  map[string]any     `json:"state"`
	Action string             `json:"action"`
	Ties   []string           `json:"ties,omitempty"` // all that are worth as much, if several
	Values map[string]float64 `json:"values"`
}

// PolicyOf lists the states of a policy; nil if the model is no table of them.
func PolicyOf(p *Part) []PolicyEntry {
	m, ok := learn.Ability[policy](p.Model)
	if !ok {
		return nil
	}
	list := []PolicyEntry{}
	actions := m.Schema().Attributes[m.Target()].Values
	ok = m.EachState(func(tests []rule.Test, best []int, values, cells []float64) {
		e := PolicyEntry{State: map[string]any{}, Values: map[string]float64{}}
		for i, t := range tests {
			a := &m.Schema().Attributes[m.Schema().Index(t.Column)]
			switch {
			case t.Op == rule.IsMissing || math.IsInf(cells[i], 0):
				e.State[t.Column] = nil
			case a.Kind == table.Numeric:
				e.State[t.Column] = cells[i]
			default:
				e.State[t.Column] = t.Value
			}
		}
		for a, x := range values {
			if x == x {
				e.Values[actions[a]] = x
			}
		}
		e.Action = actions[best[0]]
		if len(best) > 1 {
			for _, a := range best {
				e.Ties = append(e.Ties, actions[a])
			}
		}
		list = append(list, e)
	})
	if !ok {
		return nil
	}
	return list
}

// WritePolicy writes a policy as rules, each with what actions are worth behind
// it; it reports whether the model is a table of states.
func WritePolicy(w io.Writer, p *Part, top *int) (bool, error) {
	list := PolicyOf(p)
	if list == nil {
		return false, nil
	}
	base, err := p.Model.(learn.Ruler).Rules()
	if err != nil {
		return true, err
	}
	fmt.Fprintf(w, "RULES %s\n", base.Kind)
	for _, note := range base.Notes {
		fmt.Fprintf(w, "# %s\n", note)
	}
	for i := range base.Rules {
		if top != nil && i >= *top {
			fmt.Fprintf(w, "# and %s more\n", plural(len(base.Rules)-i, "state"))
			return true, nil
		}
		r := base.Rules[i]
		r.Evidence = rule.Evidence{}
		fmt.Fprintf(w, "%s  # %s\n", r.String(), worths(list[i].Values))
	}
	fmt.Fprintln(w, strings.Replace(base.Else.String(), "IF ALWAYS THEN", "ELSE", 1))
	return true, nil
}

// CountsLater is what a reward counts for that comes a row later in the log which a
// policy was learnt from; ok is false of other models.
func CountsLater(p *Part) (gamma float64, ok bool) {
	m, ok := learn.Ability[policy](p.Model)
	if !ok || m.Rewards() < 0 {
		return 0, false
	}
	return m.Gamma(), true
}

// worths are values, the best first.
func worths(values map[string]float64) string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = name + " " + say.Rounded(values[name], 5)
	}
	return strings.Join(names, ", ")
}

// PathEntry is a step that a policy would take.
type PathEntry struct {
	State      map[string]any `json:"state"`
	Action     string         `json:"action"`
	Reward     float64        `json:"reward"`
	Discounted float64        `json:"discounted"` // what it counts for at the beginning

	words string // the state, for people
}

// longestPath is how many steps are shown of what follows.
const longestPath = 20

// consider adds to an explanation what all actions are worth and, where the
// policy's world knows its own model, what most probably follows.
func consider(m policy, t *table.Table, row int, x *Explained) {
	schema, cells := m.Schema(), stateOf(m, t, row)
	actions := schema.Attributes[m.Target()].Values
	x.Values = map[string]float64{}
	for _, v := range x.Explanation.Evidence {
		x.Values[actions[v.Class]] = v.Weight
	}
	place, ok := worldOf(m.World()).(*act.Place)
	if !ok {
		return
	}
	choose, err := chooser(m, place, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return
	}
	discount := 1.0
	for s := place.Find(cells); s >= 0 && len(x.Path) < longestPath; {
		legal := place.Model.Legal(s)
		if len(legal) == 0 {
			return
		}
		place.Cells(s, cells)
		a, err := choose(cells, legal)
		if err != nil {
			return
		}
		likely := slices.MaxFunc(place.Outcomes(s, a), func(a, b act.Outcome[int]) int { return cmp.Compare(a.P, b.P) })
		x.Path = append(x.Path, PathEntry{stateEntry(schema, m.Target(), cells), actions[a], likely.Reward, discount * likely.Reward, stateWords(schema, m.Target(), cells)})
		if likely.End {
			return
		}
		discount *= m.Gamma()
		s = likely.Next
	}
}

// stateEntry is a state by the names of its columns.
func stateEntry(schema *table.Schema, target int, cells []float64) map[string]any {
	state := map[string]any{}
	i := 0
	for j := range schema.Attributes {
		if j == target {
			continue
		}
		switch a := &schema.Attributes[j]; {
		case math.IsNaN(cells[i]) || math.IsInf(cells[i], 0):
			state[a.Name] = nil
		case a.Kind == table.Numeric:
			state[a.Name] = cells[i]
		case int(cells[i]) >= 0 && int(cells[i]) < len(a.Values):
			state[a.Name] = a.Values[int(cells[i])]
		}
		i++
	}
	return state
}

// writeConsidered writes what actions are worth and what follows, for people.
func (answer *Explained) writeConsidered(w io.Writer) {
	fmt.Fprintf(w, "  worth: %s\n", cmp.Or(worths(answer.Values), "nothing is known of such a state"))
	sum := 0.0
	for i, step := range answer.Path {
		if i == 0 {
			fmt.Fprintln(w, "  what most probably follows:")
		}
		sum += step.Discounted
		fmt.Fprintf(w, "    %s: %s earns %s, which counts for %s\n", step.words, step.Action, say.Rounded(step.Reward, 4), say.Rounded(step.Discounted, 4))
	}
	if len(answer.Path) > 0 {
		fmt.Fprintf(w, "    in all %s\n", say.Rounded(sum, 4))
	}
}

// stateWords is a state in a line.
func stateWords(schema *table.Schema, target int, cells []float64) string {
	state := stateEntry(schema, target, cells)
	var words []string
	for j, a := range schema.Attributes {
		if x := state[a.Name]; j != target && x != nil {
			words = append(words, fmt.Sprintf("%s %v", a.Name, x))
		}
	}
	return strings.Join(words, ", ")
}

// worldOf is the environment of a name; nil if there is none.
func worldOf(name string) act.Environment {
	if name == "" {
		return nil
	}
	e, err := act.Lookup(name)
	if err != nil {
		return nil
	}
	return e
}

// board is a policy on a map as a picture; nil if its states are not places.
func board(p *Part) *draw.Board {
	m, ok := learn.Ability[policy](p.Model)
	if !ok || len(m.Schema().Attributes) != 3 || m.Schema().Index("row") != 0 || m.Schema().Index("col") != 1 {
		return nil
	}
	const most = 200
	rows, cols := 0, 0
	b := &draw.Board{Title: p.Version.Model}
	places := map[[2]int]draw.Square{}
	whole := m.EachState(func(_ []rule.Test, best []int, values, cells []float64) {
		row, col := int(cells[0]), int(cells[1])
		if float64(row) != cells[0] || float64(col) != cells[1] || row < 0 || col < 0 || row >= most || col >= most {
			rows = -1
			return
		}
		s := draw.Square{Value: values[best[0]]}
		for _, a := range best {
			if way := slices.Index([]string{"up", "right", "down", "left"}, m.Schema().Attributes[2].Values[a]); way >= 0 {
				s.Arrows = append(s.Arrows, way)
			}
		}
		places[[2]int{row, col}] = s
		rows, cols = max(rows, row+1), max(cols, col+1)
	})
	sketch := sketchOf(m.World())
	if !whole || rows <= 0 || len(sketch) > most {
		return nil
	}
	for i, line := range sketch {
		rows, cols = max(rows, i+1), max(cols, len(line))
	}
	for row := range rows {
		line := make([]draw.Square, cols)
		for col := range line {
			s, known := places[[2]int{row, col}]
			if !known {
				s.Value = math.NaN()
			}
			if row < len(sketch) && col < len(sketch[row]) {
				switch mark := sketch[row][col]; mark {
				case '#':
					s.Solid = true
				case 'G', 'H':
					s = draw.Square{Value: math.NaN(), Text: string(mark)}
				}
			}
			line[col] = s
		}
		b.Squares = append(b.Squares, line)
	}
	return b
}

// sketchOf is the map of a world, nil if it has none.
func sketchOf(world string) []string {
	if place, ok := worldOf(world).(*act.Place); ok {
		return place.Sketch()
	}
	return nil
}

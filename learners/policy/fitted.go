package policy

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// fitted is values by learners of numbers, and a model of the log's own acts, which
// says what actions it knows. There are three ways to wire actions and values
// (section 13.6): a learner for each action; one that has the action as a column
// beside the state; a network with an output for each action.
type fitted struct {
	state     []int         // columns of the policy that are states
	schema    *table.Schema // of states
	actions   []string
	models    []learn.Model // of each action; nil where the log has too few steps; none where acts are imitated
	joint     learn.Model   // instead of these: one of states and actions
	net       *outputs      // or one with an output an action
	acts      string        // what actions are called, a column of joint
	behaviour learn.Model
	support   float64
	advised   *adviser  // who acts may be told beforehand what to try
	heard     []float64 // steps in which each rule was followed
}

const (
	worthColumn   = "worth"
	behaviourName = "tree" // the learner of what the log does
	iterations    = 60     // of fitted values at most
	fewIterations = 8      // where they are soon fitted again
	netSteps      = 10_000 // rows that a network of values is shown, each time that it is fitted
)

// learnerOf is the learner of numbers that values asks for.
func (s *settings) learnerOf() string {
	if s.Values == "auto" {
		return "tree"
	}
	return s.Values
}

// fittable says what does not go with values by a learner of numbers, which is fitted
// to all steps again and again.
func (s *settings) fittable() error {
	switch {
	case s.Algorithm != "q" && s.Algorithm != "sarsa":
		return fmt.Errorf("algorithm=%s takes values=table, tiles or linear; values=%s are learnt by q and sarsa, from all steps again and again", s.Algorithm, s.Values)
	case s.Replay > 0 || s.Order == "reverse":
		return fmt.Errorf("values=%s are fitted to all steps again and again: leave order and replay out", s.Values)
	case s.Lambda > 0:
		return fmt.Errorf("lambda takes values=table, tiles or linear; with values=%s look ahead by n", s.Values)
	}
	return nil
}

// checkLearner tells whether that learns numbers.
func (s *settings) checkLearner() error {
	if s.Wiring == "outputs" {
		return nil // the network is ours
	}
	info, err := learn.Lookup(s.learnerOf())
	if err != nil {
		return fmt.Errorf("values=%s: expected auto, table, tiles, linear or a learner of numbers: %w", s.Values, err)
	}
	if !info.Takes.Regression || info.New == nil {
		return fmt.Errorf("values=%s: %s does not learn numbers", s.Values, info.Name)
	}
	own := map[string]string{}
	for _, of := range s.ofValues() {
		own[of[0]] = of[1]
	}
	if _, err := learn.New(info.Name, own); err != nil {
		return fmt.Errorf("values=%s: %w", s.Values, err)
	}
	return nil
}

// ofValues returns the settings of that learner, by key.
func (s *settings) ofValues() [][2]string {
	var all [][2]string
	for line := range strings.Lines(s.OfValues) {
		key, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if value, err := strconv.Unquote(quoted); err == nil {
			all = append(all, [2]string{key, value})
		}
	}
	return all
}

// briefly is how far formulas are searched unless values.KEY says more.
var briefly = map[string]string{"short": "300", "generations": "1", "population": "20"}

// learned learns a column of numbers or classes beside the states, without
// keeping rows where the learner can do so.
func learned(ctx context.Context, name string, states *table.Table, a table.Attribute, c table.Column, weights []float64, seed uint64, more ...[2]string) (learn.Model, error) {
	info, err := learn.Lookup(name)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, o := range learn.Options(info.New()) {
		if o.Key == "keep" && slices.Contains(o.Choices, "nothing") {
			settings["keep"] = "nothing"
		}
		if name == "mlp" && o.Key == "epochs" {
			settings["epochs"] = strconv.Itoa(min(max(3, netSteps/max(1, states.Rows())), 300))
		}
	}
	if name == "gp" { // for each action, again and again: a search of minutes would never end
		maps.Copy(settings, briefly)
	}
	for _, s := range more {
		settings[s[0]] = s[1]
	}
	l, err := learn.New(name, settings)
	if err != nil {
		return nil, err
	}
	for states.Schema.Index(a.Name) >= 0 {
		a.Name += "'"
	}
	schema := &table.Schema{Attributes: append(slices.Clone(states.Schema.Attributes), a)}
	t, err := table.New(schema, append(slices.Clone(states.Columns), c), weights)
	if err != nil {
		return nil, err
	}
	return l.Learn(quiet(ctx), learn.Task{Table: t, Target: a.Name, Seed: seed})
}

// quiet keeps the progress of one of many models to itself.
func quiet(ctx context.Context) context.Context { return learn.WithProgress(ctx, func(float64) {}) }

// fit learns the log's own acts and, where there are rewards, what actions are
// worth: again and again by what they were worth before.
func (j *journal) fit(ctx context.Context) (err error) {
	s := &j.lesson.Settings
	if err := s.checkLearner(); err != nil {
		return err
	}
	acts := j.schema.Attributes[j.target]
	f := &fitted{state: j.state, schema: j.states.Schema, actions: j.actions(), support: s.Support, acts: acts.Name}
	j.values = f
	if f.behaviour, err = learned(ctx, behaviourName, j.states, acts, table.Column{Codes: j.action}, j.weight, j.lesson.Seed); err != nil {
		return err
	}
	if j.reward < 0 {
		return j.summarise(ctx, j.states, j.weight)
	}
	rows := make([][]int, len(acts.Values))
	for row, a := range j.action {
		rows[a] = append(rows[a], row)
	}
	y, ahead, q := slices.Clone(j.earned), make([]float64, len(j.earned)), make([]float64, len(j.earned)*len(acts.Values))
	rounds := j.rounds()
	for round := range rounds {
		learn.Report(ctx, float64(round)/float64(rounds+1))
		if err := j.regress(ctx, f, rows, y, j.lesson.Seed+uint64(round)); err != nil {
			return err
		}
		if round == rounds-1 {
			break
		}
		if err := f.fill(ctx, j.next, q); err != nil {
			return err
		}
		j.expect(q, ahead)
		change, largest := 0.0, 0.0
		for row := range y {
			target := j.earned[row]
			if !j.ends[row] {
				target += s.later() * ahead[row]
			}
			change, largest = max(change, math.Abs(target-y[row])), max(largest, math.Abs(target))
			y[row] = target
		}
		if change <= 1e-3*largest {
			break
		}
	}
	if f.advised, err = j.toldAdviser(); err != nil {
		return err
	}
	f.heard = j.followed(f.advised)
	return j.summarise(ctx, j.states, j.weight)
}

// rounds is how often values are fitted: until what is left out is worth less
// than a twentieth.
func (j *journal) rounds() int {
	g := j.lesson.Settings.later()
	switch {
	case j.next == nil || g == 0:
		return 1
	case j.lesson.Settings.hasty:
		return fewIterations
	case g >= 1:
		return iterations
	}
	return min(iterations, 1+int(math.Ceil(math.Log(0.05)/math.Log(g))))
}

// regress learns what each action came to.
func (j *journal) regress(ctx context.Context, f *fitted, rows [][]int, y []float64, seed uint64) (err error) {
	s := &j.lesson.Settings
	switch s.Wiring {
	case "input":
		beside, err := f.beside(j.states, table.Column{Codes: j.action})
		if err == nil {
			f.joint, err = learned(ctx, s.learnerOf(), beside, table.Attribute{Name: worthColumn, Kind: table.Numeric}, table.Column{Floats: slices.Clone(y)}, j.weight, seed, s.ofValues()...)
		}
		return err
	case "outputs":
		if f.net == nil {
			if f.net, err = newOutputs(ctx, j.states, f.actions, s.Hidden, j.lesson.Seed); err != nil {
				return err
			}
		}
		return f.net.train(ctx, j.states, j.action, y, j.weight, seed)
	}
	f.models = make([]learn.Model, len(rows))
	for a, mine := range rows {
		if len(mine) == 0 {
			continue
		}
		ys, weights := make([]float64, len(mine)), make([]float64, len(mine))
		for i, row := range mine {
			ys[i], weights[i] = y[row], j.weight[row]
		}
		m, err := learned(ctx, j.lesson.Settings.learnerOf(), j.states.Select(mine), table.Attribute{Name: worthColumn, Kind: table.Numeric}, table.Column{Floats: ys}, weights, seed, s.ofValues()...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("values of %s = %s: %w", j.lesson.Target, j.actions()[a], err)
		}
		f.models[a] = m
	}
	return nil
}

// beside is states with a column of actions.
func (f *fitted) beside(states *table.Table, acts table.Column) (*table.Table, error) {
	a := table.Attribute{Name: f.acts, Kind: table.Nominal, Values: f.actions}
	return table.New(&table.Schema{Attributes: append(slices.Clone(states.Schema.Attributes), a)}, append(slices.Clone(states.Columns), acts), nil)
}

// expect fills in what the best supported action of each row is worth, or what
// exploring makes of all.
func (j *journal) expect(q, ahead []float64) {
	a := len(j.actions())
	for row := range ahead {
		if on := j.lesson.Settings.on; on != nil {
			ahead[row] = on.worth(q[row*a:][:a])
		} else {
			ahead[row] = highest(q[row*a:][:a])
		}
	}
}

// fill fills in the values of states, NaN of actions that the log does not
// support there.
func (f *fitted) fill(ctx context.Context, states *table.Table, q []float64) error {
	n := states.Rows()
	if f.behaviour == nil { // nothing is known yet
		for i := range q {
			q[i] = math.NaN()
		}
		return nil
	}
	out := learn.NewPredictions(f.behaviour, n)
	if err := answered(ctx, f.behaviour, states, out); err != nil {
		return err
	}
	actions := len(f.actions)
	clear(q)
	for c, class := range f.behaviour.Schema().Attributes[f.behaviour.Target()].Values {
		if a := slices.Index(f.actions, class); a >= 0 {
			for row := range n {
				q[row*actions+a] = out.P[row*out.Classes+c]
			}
		}
	}
	if f.models == nil && f.joint == nil && f.net == nil {
		return nil // how frequent an action is, is its value
	}
	frequent := make([]bool, len(q))
	for row := range n {
		p := q[row*actions:][:actions]
		for a := range p {
			frequent[row*actions+a] = p[a] >= f.support*slices.Max(p)
		}
	}
	if err := f.number(ctx, states, q); err != nil {
		return err
	}
	for i, often := range frequent {
		if !often {
			q[i] = math.NaN()
		}
	}
	return nil
}

// number fills in what actions are worth, supported or not.
func (f *fitted) number(ctx context.Context, states *table.Table, q []float64) error {
	n, actions := states.Rows(), len(f.actions)
	if f.net != nil {
		return f.net.values(states, f.actions, q)
	}
	out := &learn.Predictions{}
	for a := range f.actions {
		m, asked := f.joint, states
		if m == nil {
			m = f.models[a]
		} else {
			acts := table.Column{Codes: make([]int32, n)}
			for row := range acts.Codes {
				acts.Codes[row] = int32(a)
			}
			var err error
			if asked, err = f.beside(states, acts); err != nil {
				return err
			}
		}
		if m == nil {
			for row := range n {
				q[row*actions+a] = math.NaN()
			}
			continue
		}
		if out.Mean == nil {
			out = learn.NewPredictions(m, n)
		}
		if err := answered(ctx, m, asked, out); err != nil {
			return err
		}
		for row := range n {
			q[row*actions+a] = out.Mean[row]
		}
	}
	return nil
}

// answered asks a model that has one column more than states.
func answered(ctx context.Context, m learn.Model, states *table.Table, out *learn.Predictions) error {
	schema := m.Schema()
	a := schema.Attributes[m.Target()]
	var blank table.Column
	if a.Kind == table.Nominal {
		blank.Codes = make([]int32, states.Rows())
		for i := range blank.Codes {
			blank.Codes[i] = table.Missing
		}
	} else {
		blank.Floats = make([]float64, states.Rows())
	}
	t, err := table.New(&table.Schema{Attributes: append(slices.Clone(states.Schema.Attributes), a)}, append(slices.Clone(states.Columns), blank), nil)
	if err != nil {
		return err
	}
	if t, _, err = table.Conform(t, schema, false); err != nil {
		return err
	}
	return m.Predict(ctx, t, out)
}

// worths projects a table of the policy's columns to states.
func (f *fitted) worths(ctx context.Context, m *Model, t *table.Table, q []float64) error {
	states := t.Project(m.state)
	if len(m.state) == 0 || t.Rows() == 0 {
		return f.fill(ctx, states, q[:0])
	}
	actions := len(m.actions())
	if err := f.fill(ctx, states, q[:t.Rows()*actions]); err != nil || f.advised == nil {
		return err
	}
	cells := make([]float64, len(m.state))
	for row := range t.Rows() {
		m.cellsOf(t, row, cells)
		f.hear(cells, q[row*actions:][:actions])
	}
	return nil
}

// worth answers one state.
func (f *fitted) worth(cells, q []float64) {
	columns := make([]table.Column, len(cells))
	for i, x := range cells {
		switch {
		case f.schema.Attributes[i].Kind == table.Numeric:
			columns[i].Floats = []float64{x}
		case x != x:
			columns[i].Codes = []int32{table.Missing}
		case int(x) >= len(f.schema.Attributes[i].Values): // it came up since
			columns[i].Codes = []int32{table.Unseen}
		default:
			columns[i].Codes = []int32{int32(x)}
		}
	}
	t, err := table.New(f.schema, columns, nil)
	if err == nil {
		err = f.fill(context.Background(), t, q)
	}
	if err != nil { // states come from the model's own columns
		for a := range q {
			q[a] = math.NaN()
		}
	}
	f.hear(cells, q)
}

// summarise learns a tree of the policy's own answers in some states, to be read.
func (m *Model) summarise(ctx context.Context, states *table.Table, weights []float64) (err error) {
	n, a := states.Rows(), len(m.actions())
	if n == 0 || len(m.state) == 0 {
		return nil
	}
	q, p, codes := make([]float64, n*a), make([]float64, a), make([]int32, n)
	own := *m // of tables that have the columns of states alone
	own.state = make([]int, len(m.state))
	for i := range own.state {
		own.state[i] = i
	}
	if err := m.values.worths(ctx, &own, states, q); err != nil {
		return err
	}
	for row := range n {
		decide(q[row*a:][:a], p)
		codes[row] = int32(learn.Best(p, m.actions()))
	}
	if m.summary, err = learned(ctx, behaviourName, states, m.schema.Attributes[m.target], table.Column{Codes: codes}, weights, m.lesson.Seed); err != nil {
		return err
	}
	out := learn.NewPredictions(m.summary, n)
	if err := answered(ctx, m.summary, states, out); err != nil {
		return err
	}
	classes := m.summary.Schema().Attributes[m.summary.Target()].Values
	same, all := 0.0, 0.0
	for row := range n {
		w := 1.0
		if weights != nil {
			w = weights[row]
		}
		if all += w; classes[learn.Best(out.Row(row), classes)] == m.actions()[codes[row]] {
			same += w
		}
	}
	m.agrees = same / all
	return nil
}

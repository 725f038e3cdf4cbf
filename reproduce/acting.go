package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/policy"
)

// acting are the figures of Mitchell 1997, chapter 13: what states and actions are
// worth to somebody who acts as well as can be, where the world's model is known
// and by trying them out.
func acting() []Experiment {
	const up, right, down, left = 0, 1, 2, 3
	figure := worth{"gridworld:map=..G/...", 0.9}
	exercise := worth{"gridworld:map=.../.G.,goal=10", 0.8}
	game := worth{"tictactoe:opponent=forced", 1}
	clockwise := tour{"gridworld:map=.../SG.,goal=10", 0.8, []int{up, right, right, down, left}}
	below := tour{"gridworld:map=..G/S..", 0.9, []int{right, right, up}}
	var experiments []Experiment
	for _, e := range []struct {
		name, where, measure string
		figure               Figure
		run                  Runner
	}{
		{"value-top-left", "figure 13.2", "V* of the top left cell, γ = .9", printed(90), figure.state(0, 0)},
		{"value-below-goal", "figure 13.2", "V* of the cell below the goal", printed(100), figure.state(1, 2)},
		{"value-bottom-left", "figure 13.2", "V* of the bottom left cell", printed(81), figure.state(1, 0)},
		{"q-down", "figure 13.2 (drawn as 72)", "Q of going down from the top left cell", reference(72.9).digits(9), figure.action(down, 0, 0)},
		{"q-right", "figure 13.2", "Q of going right from the bottom middle cell", printed(90), figure.action(right, 1, 1)},
		{"value-far", "figure 13.3 (drawn as 66)", "V* five steps from the goal", reference(65.61).digits(9), worth{"gridworld:map=.....G", 0.9}.state(0, 0)},
		{"exercise-value", "exercise 13.2", "V* of the top middle cell, γ = .8, the goal below it", reference(10).digits(9), exercise.state(0, 1)},
		{"exercise-q", "exercise 13.2", "Q of going up from the bottom left cell", reference(6.4).digits(9), exercise.action(up, 1, 0)},
		{"exercise-walk-1", "exercise 13.2", "Q of going left from the bottom right cell after one walk clockwise", reference(10).digits(9), clockwise.learnt(&policy.Learner{Episodes: 1}, left, 1, 2)},
		{"exercise-walk-2", "exercise 13.2", "Q of going down from the top right cell after two walks", reference(8).digits(9), clockwise.learnt(&policy.Learner{Episodes: 2}, down, 0, 2)},
		{"exercise-walk-3", "exercise 13.2", "Q of going right from the top middle cell after three walks", reference(6.4).digits(9), clockwise.learnt(&policy.Learner{Episodes: 3}, right, 0, 1)},
		{"exercise-walk-reverse", "exercise 13.2, section 13.3.6", "Q of going up from the bottom left cell after one walk that is learnt from its end", reference(4.096).digits(9), clockwise.learnt(&policy.Learner{Episodes: 1, Order: "reverse"}, up, 1, 0)},
		{"lambda", "section 13.5, figure 13.2", "Q^λ of going right from the bottom left cell after one walk below the goal, λ = .7: 81 λ²", reference(39.69).digits(9), below.learnt(&policy.Learner{Episodes: 1, Lambda: 0.7}, right, 1, 0)},
		{"n-step", "section 13.5, figure 13.2", "Q of going right from the bottom left cell after one walk, by sums of three steps", reference(81).digits(9), below.learnt(&policy.Learner{Episodes: 1, N: 3}, right, 1, 0)},
		{"tic-tac-toe-corner", "exercise 13.3", "worth of opening in a corner against one who wins or blocks where that is possible: 89/96", reference(89. / 96).digits(9), game.action(0, make([]float64, 9)...)},
		{"tic-tac-toe-edge", "exercise 13.3", "worth of opening at an edge: 163/192", reference(163. / 192).digits(9), game.action(1, make([]float64, 9)...)},
		{"tic-tac-toe-centre", "exercise 13.3", "worth of opening in the centre: 5/6", reference(5. / 6).digits(9), game.action(4, make([]float64, 9)...)},
		{"learnt-q-down", "table 13.1, figure 13.2", "Q of going down from the top left cell by Q learning, random actions", reference(72.9).digits(9), figure.learnt(down, 0, 0)},
		{"learnt-q-up", "table 13.1, figure 13.2", "Q of going up from the bottom left cell by Q learning", printed(81), figure.learnt(up, 1, 0)},
		{"update", "figure 13.3", "Q after one update, with γ = .9, r = 0 and 66, 81 and 100 behind it", printed(90), Computed(func() float64 { return policy.Backup(0, 0.9, 66, 81, 100) })},
		{"log-lake", "Ernst, Geurts and Wehenkel 2005, Tree-based batch mode reinforcement learning (the method; the aim is ours)", "share of the best value that a policy of 5,000 random episodes on the 4 × 4 lake earns, γ = .99", reference(.95).fraction().higher(), worth{"frozenlake", .99}.fromLog(5000)},
		{"log-shop", "Ernst, Geurts and Wehenkel 2005, Tree-based batch mode reinforcement learning (the method; the aim is ours)", "share of the best value that a policy of 3,000 random episodes in the shop earns, γ = .95", reference(.95).fraction().higher(), worth{"inventory", .95}.fromLog(3000)},
		{"gradient-direct", "section 13.6 (Baird 1995; values w and 2w)", "w after ten steps of the direct gradient, from 1, γ = .9, η = .1", reference(2.158924997).digits(9), Computed(func() float64 { return descended(false) })},
		{"gradient-residual", "section 13.6 (Baird 1995; values w and 2w)", "w after ten steps of the residual gradient", reference(math.Pow(.936, 10)).digits(9), Computed(func() float64 { return descended(true) })},
		{"walk", "Sutton 1988, Learning to predict by the methods of temporal differences, figure 5 (the method; the aim is ours)", "error of TD(.3) relative to that of TD(1) after ten random walks over five places, each with its best rate", reference(1).lower(), OverSeeds(walked(1))},
		{"walk-far", "Sutton 1988, Learning to predict by the methods of temporal differences, figure 5 (the method; the aim is ours)", "error of TD(.3) relative to that of TD(.8) after ten random walks over five places, each with its best rate", reference(1).lower(), OverSeeds(walked(0.8))},
		{"dyna", "Sutton 1991, Dyna, an integrated architecture for learning, planning and reacting (the method; the aim is ours)", "steps of twenty episodes in a maze of six rows with fifty steps of planning after each, relative to Q learning", reference(1).lower(), OverSeeds(planned)},
		{"checkers", "Mitchell 1997, Machine Learning, section 1.2, after Samuel 1959 (the method; the aim is ours)", "share of games won, draws not counting, against a player who counts pieces two turns ahead, after 12,000 games against itself", reference(.8).fraction().higher(), OverSeeds(checkers)},
		{"bound", "theorem 13.1", "largest error over γᵏ times the first error, five sweeps over the grid of figure 13.2", reference(1).lower(), Fixed(figure.bound)},
	} {
		experiments = append(experiments, Experiment{
			Name: "acting-" + e.name, Tags: chapter(13), Source: sourceOf(e.where), Measure: e.measure, Figure: e.figure, Seeds: seedsOf(e.name), Run: e.run,
		})
		last := &experiments[len(experiments)-1]
		switch e.name {
		case "walk":
			last.Picture, last.PictureName = walkPicture, last.Name
		case "dyna":
			last.Picture, last.PictureName = mazePicture, last.Name
		}
	}
	return experiments
}

// seedsOf is over how many seeds a figure is measured: one where nothing is left
// to chance.
func seedsOf(name string) int {
	switch {
	case strings.HasPrefix(name, "log-"), strings.HasPrefix(name, "walk"), name == "dyna":
		return 5
	case name == "checkers":
		return 3
	}
	return 1
}

// sourceOf names the book, unless a place says that it is elsewhere.
func sourceOf(where string) string {
	if strings.Contains(where, "(the method") {
		return where
	}
	return mitchell(where)
}

// worth is a world and a discount.
type worth struct {
	world string
	gamma float64
}

// solved returns the world's model, its best values, and the number of a state.
func (w worth) solved(ctx context.Context, cells []float64) (*act.Solution, int, error) {
	e, err := act.Lookup(w.world)
	if err != nil {
		return nil, 0, err
	}
	place, ok := e.(*act.Place)
	if !ok {
		return nil, 0, fmt.Errorf("the model of %s is not known", w.world)
	}
	s, err := place.ValueIteration(ctx, w.gamma, 1e-12)
	return s, place.Find(cells), err
}

// state measures what a state is worth.
func (w worth) state(cells ...float64) Runner {
	return OverSeeds(func(ctx context.Context, _ uint64) (float64, error) {
		s, at, err := w.solved(ctx, cells)
		if err != nil {
			return 0, err
		}
		return s.V[at], nil
	})
}

// learnt measures what Q learning finds an action worth, by random actions.
func (w worth) learnt(action int, cells ...float64) Runner {
	return OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
		e, err := act.Lookup(w.world)
		if err != nil {
			return 0, err
		}
		m, err := (&policy.Learner{Gamma: &w.gamma, Explore: "random"}).LearnIn(ctx, w.world, e, seed)
		if err != nil {
			return 0, err
		}
		q := make([]float64, len(e.Actions()))
		m.(*policy.Model).Worth(cells, q)
		return q[action], nil
	})
}

// fromLog measures what a policy earns that was learnt from a log of random acts,
// relative to the best, over the states in which episodes begin.
func (w worth) fromLog(episodes int) Runner {
	return OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
		best, _, err := w.solved(ctx, nil)
		if err != nil {
			return 0, err
		}
		e, err := act.Lookup(w.world)
		if err != nil {
			return 0, err
		}
		log, err := act.Log(ctx, e, episodes, 200, seed, nil)
		if err != nil {
			return 0, err
		}
		learnt, err := (&policy.Learner{Gamma: &w.gamma, Reward: "reward"}).Learn(ctx, learn.Task{Table: log, Target: "action", Seed: seed})
		if err != nil {
			return 0, err
		}
		place, m := e.(*act.Place), learnt.(*policy.Model)
		v, err := place.PolicyValue(ctx, acts(place, m), w.gamma, 1e-9)
		if err != nil {
			return 0, err
		}
		got, most := 0.0, 0.0
		for _, s := range place.Starts() {
			got += v[s]
			most += best.V[s]
		}
		return got / most, nil
	})
}

// acts are the actions that a policy takes in the states of a world.
func acts(place *act.Place, m *policy.Model) []int {
	names := m.Schema().Attributes[m.Target()].Values
	chosen, q, cells := make([]int, place.States()), make([]float64, len(names)), make([]float64, len(place.Schema().Attributes))
	for s := range chosen {
		place.Cells(s, cells)
		m.Worth(cells, q)
		most := math.Inf(-1)
		chosen[s] = -1
		for _, a := range place.Model.Legal(s) {
			if n := slices.Index(names, place.Actions()[a]); chosen[s] < 0 || n >= 0 && q[n] > most {
				if chosen[s] = a; n >= 0 && q[n] > most {
					most = q[n]
				}
			}
		}
	}
	return chosen
}

// bound measures the largest error after each sweep of updates from nothing,
// relative to γᵏ times the error at the beginning.
func (w worth) bound(ctx context.Context) (float64, error) {
	s, _, err := w.solved(ctx, []float64{0, 0})
	if err != nil {
		return 0, err
	}
	e, err := act.Lookup(w.world)
	if err != nil {
		return 0, err
	}
	m := e.(*act.Place).Model
	q := make([][]float64, m.States())
	for i := range q {
		q[i] = make([]float64, len(m.Legal(i)))
	}
	worst := func() (worst float64) {
		for i := range q {
			for k, a := range m.Legal(i) {
				worst = max(worst, math.Abs(q[i][k]-s.Value(i, a)))
			}
		}
		return worst
	}
	first, largest := worst(), 0.0
	for k := 1; k <= 5; k++ {
		for i := range q {
			for j, a := range m.Legal(i) {
				o := m.Outcomes(i, a)[0]
				if q[i][j] = o.Reward; !o.End {
					q[i][j] = policy.Backup(o.Reward, w.gamma, q[o.Next]...)
				}
			}
		}
		largest = max(largest, worst()/(math.Pow(w.gamma, float64(k))*first))
	}
	return largest, nil
}

// action measures what an action is worth in a state.
func (w worth) action(action int, cells ...float64) Runner {
	return OverSeeds(func(ctx context.Context, _ uint64) (float64, error) {
		s, at, err := w.solved(ctx, cells)
		if err != nil {
			return 0, err
		}
		return s.Value(at, action), nil
	})
}

// descended is the weight of two states that are worth w and 2w, the first leading to
// the second for nothing, after ten steps along a gradient.
func descended(residual bool) float64 {
	w := 1.0
	for range 10 {
		here, next := policy.Descent(0.9*2*w-w, 0.1, 0.9, residual)
		w += here + 2*next
	}
	return w
}

// checkers measures what a policy that played against itself wins.
func checkers(ctx context.Context, seed uint64) (float64, error) {
	e, err := act.Lookup("checkers")
	if err != nil {
		return 0, err
	}
	gamma := 0.99
	l := &policy.Learner{Algorithm: "td", Gamma: &gamma, Lambda: 0.7, Alpha: "0.001", Depth: 3, Lookahead: 6, Experiments: "random", Limit: 300, Episodes: 12000}
	m, err := l.LearnIn(ctx, "checkers", e, seed)
	if err != nil {
		return 0, err
	}
	rival := act.Rival(act.GameOf(e))
	const games = 100
	score := 0.0
	for i := range uint64(games) {
		won, _, err := act.Play(ctx, rival, 1000*seed+i, 10000, 1, func(cells []float64, _ []int) (int, error) {
			return m.(*policy.Model).Decide(cells), nil
		}, nil)
		if err != nil {
			return 0, err
		}
		if won > 0 {
			score++
		}
	}
	return score / games, nil
}

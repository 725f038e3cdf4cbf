package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learners/policy"
)

// walked measures the root of the mean squared error of TD(.3) after ten walks,
// relative to TD(λ), over a hundred sets of walks and with the best of six rates each.
func walked(lambda float64) func(ctx context.Context, seed uint64) (float64, error) {
	return func(ctx context.Context, seed uint64) (float64, error) {
		some, err := leastError(ctx, 0.3, seed)
		if err != nil {
			return 0, err
		}
		other, err := leastError(ctx, lambda, seed)
		return some / other, err
	}
}

// leastError is the error of TD(λ) with the best of its rates.
func leastError(ctx context.Context, lambda float64, seed uint64) (float64, error) {
	one, start, best := 1.0, 0.5, math.Inf(1)
	for _, alpha := range []string{"0.05", "0.1", "0.15", "0.2", "0.3", "0.4"} {
		sum := 0.0
		for set := range uint64(100) {
			e, err := act.Lookup("randomwalk")
			if err != nil {
				return 0, err
			}
			l := &policy.Learner{Algorithm: "td", Gamma: &one, Start: &start, Lambda: lambda, Alpha: alpha, Episodes: 10}
			m, err := l.LearnIn(ctx, "randomwalk", e, 1000*seed+set)
			if err != nil {
				return 0, err
			}
			square, q := 0.0, []float64{0}
			for place := 1.0; place <= 5; place++ {
				if m.(*policy.Model).Worth([]float64{place}, q); q[0] != q[0] {
					q[0] = start
				}
				square += (q[0] - place/6) * (q[0] - place/6)
			}
			sum += math.Sqrt(square / 5)
		}
		best = min(best, sum/100)
	}
	return best, nil
}

// maze is the one of Sutton 1990.
const maze = "gridworld:goal=1,map=.......#G/..#....#./S.#....#./..#....../.....#.../........."

// planned measures the steps that twenty episodes take with planning, relative to
// those without.
func planned(ctx context.Context, seed uint64) (float64, error) {
	with, err := mazeSteps(ctx, 50, 20, seed)
	if err != nil {
		return 0, err
	}
	without, err := mazeSteps(ctx, 0, 20, seed)
	return with / without, err
}

// mazeSteps is how many steps so many episodes in the maze take, with so many steps of
// planning after each. What is learnt moves values by a tenth.
func mazeSteps(ctx context.Context, planning, episodes int, seed uint64) (float64, error) {
	e, err := act.Lookup(maze)
	if err != nil {
		return 0, err
	}
	gamma := 0.95
	l := &policy.Learner{Gamma: &gamma, Alpha: "0.1", Episodes: episodes}
	if planning > 0 {
		l.Algorithm, l.Planning = "dyna", planning
	}
	m, err := l.LearnIn(ctx, maze, e, seed)
	if err != nil {
		return 0, err
	}
	_, steps := m.(*policy.Model).Practice()
	return float64(steps), nil
}

// mazePicture draws the steps of each episode, with planning and without.
func mazePicture(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
	chart := &draw.Chart{Title: "A maze: steps of each episode, by steps of planning after each", XLabel: "episode", YLabel: "steps to the goal"}
	for _, planning := range []int{0, 5, 50} {
		s := draw.Series{Name: fmt.Sprintf("%d steps of planning", planning)}
		for episode := 1; episode <= 20; episode++ {
			if err := measured(ctx, &s, first, seeds, float64(episode), func(ctx context.Context, seed uint64) (float64, error) {
				all, err := mazeSteps(ctx, planning, episode, seed)
				if err != nil || episode == 1 {
					return all, err
				}
				before, err := mazeSteps(ctx, planning, episode-1, seed)
				return all - before, err
			}); err != nil {
				return nil, err
			}
		}
		chart.Series = append(chart.Series, s)
	}
	return chart, nil
}

// walkPicture draws the error of TD(λ) over λ.
func walkPicture(ctx context.Context, first uint64, seeds int) (*draw.Chart, error) {
	chart := &draw.Chart{Title: "Ten random walks over five places: error of TD(λ), each with its best rate", XLabel: "λ", YLabel: "root of the mean squared error"}
	var s draw.Series
	for _, lambda := range []float64{0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1} {
		if err := measured(ctx, &s, first, seeds, lambda, func(ctx context.Context, seed uint64) (float64, error) { return leastError(ctx, lambda, seed) }); err != nil {
			return nil, err
		}
	}
	chart.Series = []draw.Series{s}
	return chart, nil
}

// measured adds a point to a series: the mean over seeds, and its interval, of what
// is never below 0.
func measured(ctx context.Context, s *draw.Series, first uint64, seeds int, x float64, of func(ctx context.Context, seed uint64) (float64, error)) error {
	r, err := OverSeeds(of)(ctx, first, seeds)
	if err != nil {
		return err
	}
	s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, r.Ours), append(s.Low, max(r.Low, 0)), append(s.High, r.High)
	return nil
}

// tour is a walk that is taken again and again: one action is legal in each of its
// states.
type tour struct {
	world string
	gamma float64
	way   []int
}

// learnt measures what an action is worth after so many walks, of which each step is
// learnt in full.
func (w tour) learnt(l *policy.Learner, action int, cells ...float64) Runner {
	return Fixed(func(ctx context.Context) (float64, error) {
		e, err := act.Lookup(w.world)
		if err != nil {
			return 0, err
		}
		l := *l
		l.Gamma, l.Alpha = &w.gamma, "1"
		m, err := l.LearnIn(ctx, w.world, &led{Place: e.(*act.Place), way: w.way}, 1)
		if err != nil {
			return 0, err
		}
		q := make([]float64, len(e.Actions()))
		m.(*policy.Model).Worth(cells, q)
		return q[action], nil
	})
}

// led is a world in which one way is taken.
type led struct {
	*act.Place
	way []int
	at  int
}

func (g *led) Reset(seed uint64) {
	g.Place.Reset(seed)
	g.at = 0
}

func (g *led) Legal() []int { return g.way[g.at : g.at+1] }

func (g *led) Step(action int) (float64, bool, error) {
	g.at++
	return g.Place.Step(action)
}

package policy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Design says how a policy that judges boards learns: the choices of its design
// (Mitchell 1997, figure 1.2) and its four modules (figure 1.1), as pairs of what
// and how; nil of others.
func (m *Model) Design() [][2]string {
	j, ok := m.values.(*judge)
	if !ok {
		return nil
	}
	s := &m.lesson.Settings
	games := "games against itself"
	if m.acted != nil && strings.Contains(m.acted.World, "opponent=") && !strings.Contains(m.acted.World, "opponent=self") {
		games = "games against an opponent"
	}
	algorithm := "LMS"
	if s.Algorithm == "td" {
		algorithm = fmt.Sprintf("TD(%v)", s.Lambda)
	}
	boards := map[string]string{
		"start": "the first board, always", "random": "any board that may come up", "unplayed": "a board of the game before, with a move that was not played there",
		"doubtful": "the board of the game before on which the best two moves were closest",
	}[s.Experiments]
	train := "the board after the player's next turn; at the end what winning, losing or a draw earns"
	if s.Lambda > 0 {
		train += fmt.Sprintf("; what comes later counts by λ = %v", s.Lambda)
	}
	return [][2]string{
		{"experience", games},
		{"target function", "V: board → number, what a board is worth to the one who moved"},
		{"representation", j.v.form(len(j.game.Measures()))},
		{"algorithm", algorithm},
		{"", ""},
		{"experiment generator", boards},
		{"performance system", fmt.Sprintf("looked %s ahead while learning, %s now; %v of the moves by lot", turns(s.Depth), turns(j.depth), s.Epsilon)},
		{"critic", fmt.Sprintf("V_train of a board is V̂ of %s (%d examples)", train, m.acted.Examples)},
		{"generaliser", "V̂ = " + j.v.say(j.game.Measures())},
	}
}

func turns(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

// boardRules are those of a tree of what V̂ says of boards: no rule names a move.
func (m *Model) boardRules() (*rule.Base, error) {
	r, ok := m.summary.(learn.Ruler)
	if !ok {
		return nil, errors.New("the policy has no boards to make rules of")
	}
	b, err := r.Rules()
	if err != nil {
		return nil, err
	}
	said := *b
	said.Notes = nil
	for _, d := range m.Design() {
		if d[0] != "" {
			said.Notes = append(said.Notes, d[0]+": "+d[1])
		}
	}
	said.Notes = append(said.Notes, "summary: a tree of what V̂ says of boards")
	return &said, nil
}

func (t *terms) form(measures int) string {
	return fmt.Sprintf("a sum of %d measures, each with a weight", measures)
}

// raw are the weights of measures as they are counted, the constant first.
func (t *terms) raw() []float64 {
	w := append([]float64(nil), t.W...)
	if t.Scale == nil {
		return w
	}
	for i := range t.Scale.Mean {
		w[i+1] = t.W[i+1] / t.Scale.Deviation[i]
		w[0] -= w[i+1] * t.Scale.Mean[i]
	}
	return w
}

func (t *terms) say(measures []string) string {
	w := t.raw()
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g", w[0])
	for i, name := range measures {
		sign := "+"
		if w[i+1] < 0 {
			sign = "−"
		}
		fmt.Fprintf(&b, " %s %.3g·%s", sign, math.Abs(w[i+1]), name)
	}
	return b.String()
}

func (n *net) form(measures int) string {
	return fmt.Sprintf("a network of %d measures, %d hidden units and one output", measures, len(n.V)-1)
}

func (n *net) say([]string) string {
	return fmt.Sprintf("100·tanh of %d hidden units, by back-propagation", len(n.V)-1)
}

// graph is a layer of measures and V̂, with the weights between them.
func (t *terms) graph(measures []string) *draw.Graph {
	g := inputs(measures)
	g.Nodes = append(g.Nodes, draw.Node{ID: "V", Lines: []string{"V"}, Layer: 1})
	for i := range measures {
		g.Edges = append(g.Edges, draw.Edge{From: measureID(i), To: "V", Weight: t.raw()[i+1]})
	}
	return g
}

func inputs(measures []string) *draw.Graph {
	g := &draw.Graph{}
	for i, name := range measures {
		g.Nodes = append(g.Nodes, draw.Node{ID: measureID(i), Lines: []string{name}})
	}
	return g
}

func measureID(i int) string { return "measure " + strconv.Itoa(i+1) }

// graph has a layer of hidden units between.
func (n *net) graph(measures []string) *draw.Graph {
	g := inputs(measures)
	g.Nodes = append(g.Nodes, draw.Node{ID: "V", Lines: []string{"V"}, Layer: 2})
	for j, v := range n.V[1:] {
		id := "unit " + strconv.Itoa(j+1)
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: []string{id}, Layer: 1})
		g.Edges = append(g.Edges, draw.Edge{From: id, To: "V", Weight: v})
		for i := range measures {
			g.Edges = append(g.Edges, draw.Edge{From: measureID(i), To: id, Weight: n.W[j*(len(measures)+1)+1+i]})
		}
	}
	return g
}

// matchChart is the share of games won against the rival while learning, and that
// of games not lost, with intervals of 95 %.
func (m *Model) matchChart() *draw.Chart {
	won, safe := draw.Series{Name: "won"}, draw.Series{Name: "won or drawn"}
	drawn := 0
	for _, r := range m.acted.Matches {
		n := float64(r.Won + r.Drawn + r.Lost)
		drawn += r.Drawn
		for _, s := range []struct {
			*draw.Series
			hits float64
		}{{&won, float64(r.Won)}, {&safe, float64(r.Won + r.Drawn)}} {
			i := stat.ErrorRate{Errors: s.hits, Cases: n}.Wilson(0.95, stat.TwoSided)
			s.X, s.Y = append(s.X, float64(r.After)), append(s.Y, 100*s.hits/n)
			s.Low, s.High = append(s.Low, 100*i.Low), append(s.High, 100*i.High)
		}
	}
	title := m.acted.World + " against a player who counts " + act.Counted(m.values.(*judge).game)
	chart := &draw.Chart{Title: title, XLabel: "games played", YLabel: "% of 40 games", Series: []draw.Series{won}}
	if drawn > 0 { // else one line would hide the other
		chart.Series = append(chart.Series, safe)
	}
	return chart
}

package act

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/table"
)

// World is a built-in environment and what can be set in it.
type World struct {
	Name     string    `json:"name"`
	What     string    `json:"what"`
	Settings []Setting `json:"settings,omitempty"`
	// Suits are settings of learners that suit the world, as key=value.
	Suits []string `json:"suits,omitempty"`
	open  func(s settings) (Environment, error)
}

// Setting is a number or a name of a world.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	What    string `json:"what"`
}

// settings are those of one environment, as texts.
type settings map[string]string

// number returns a setting within a range.
func (s settings) number(name string, low, high float64) (float64, error) {
	x, err := strconv.ParseFloat(s[name], 64)
	if err != nil || !(x >= low && x <= high) {
		return 0, fmt.Errorf("%s=%s: expected a number from %v to %v", name, s[name], low, high)
	}
	return x, nil
}

// count returns a setting that is a whole number.
func (s settings) count(name string, low, high int) (int, error) {
	x, err := s.number(name, float64(low), float64(high))
	if err != nil || x != math.Trunc(x) {
		return 0, fmt.Errorf("%s=%s: expected a whole number from %d to %d", name, s[name], low, high)
	}
	return int(x), nil
}

// Worlds lists the built-in environments by name.
func Worlds() []World { return slices.Clone(worlds) }

var worlds = []World{
	{"backgammon", "Backgammon, with three pieces a side unless more are asked for, against oneself or a player who counts pips", []Setting{
		{"opponent", "self", "self (one policy for both sides), random, or material (counts how far pieces have to go)"}, {"pieces", "3", "pieces of a side, 1 to 15"},
	}, []string{"algorithm=td", "values=mlp", "gamma=1", "lambda=0.7", "alpha=0.01", "epsilon=0", "limit=1000", "episodes=5000"}, openBackgammon},
	{"blackjack", "Cards against a dealer, as close to 21 as can be", nil, []string{"gamma=1", "episodes=200000"}, blackjack},
	{"blocks", "Blocks on a table that are to be one tower", []Setting{{"blocks", "3", "blocks, 2 to 6"}, {"goal", "100", "reward of the tower"}, {"step", "0", "reward of a move"}}, nil, blocksWorld},
	{"cartpole", "A pole on a cart, pushed left or right", nil, []string{"algorithm=sarsa", "gamma=0.99", "lambda=0.9", "alpha=0.1", "start=100", "epsilon=0", "episodes=2000"}, func(settings) (Environment, error) { return &cartPole{ended: true}, nil }},
	{"checkers", "Checkers on 8 by 8 squares, against oneself or a player who counts pieces", []Setting{
		{"opponent", "self", "self (one policy for both sides), random, or material (looks ahead and counts pieces)"}, {"depth", "2", "turns that opponent=material looks ahead"},
		{"measures", "more", "what judges a board: six (pieces, kings and threatened pieces of either side) or more (also moves, the centre, the lead and the chase)"},
	}, []string{"algorithm=td", "gamma=0.99", "lambda=0.7", "depth=3", "experiments=random", "lookahead=6", "limit=300", "alpha=0.001", "episodes=12000"}, openCheckers},
	{"elevator", "An elevator in the evening, when everybody goes down", []Setting{
		{"floors", "5", "of the house, the street among them"}, {"room", "3", "people who may ride"}, {"arrival", "0.2", "how probably somebody calls in a minute"},
		{"last", "0.01", "how probably a minute is the last"},
	}, []string{"algorithm=sweeping", "planning=2", "gamma=0.95", "episodes=6000"}, elevator},
	{"frozenlake", "A slippery lake with holes, from one corner to the other", []Setting{{"size", "4", "cells of a side, 4 or 8"}, {"slip", "0.6666666666666666", "how often one slides to either side"}}, []string{"algorithm=sweeping", "planning=5", "gamma=0.997", "start=1", "episodes=2000"}, frozenLake},
	{"gridworld", "A map on which somebody walks to a goal", []Setting{
		{"map", "", "lines of # . S G H, separated by /; without it, a square with the goal in its lower right corner"},
		{"size", "4", "cells of a side, where there is no map"}, {"goal", "100", "reward of entering a goal"}, {"step", "0", "reward of a step"},
		{"slip", "0", "how often one slides to either side"}, {"wind", "", "rows by which each column blows up, as in 0001112210"},
		{"see", "place", "what is seen of a place: its row and column, or only its walls"},
	}, nil, gridWorld},
	{"randomwalk", "Steps to the left or the right by lot, until one end or the other", []Setting{{"states", "5", "places between the ends"}}, []string{"algorithm=td", "gamma=1", "lambda=0.3", "alpha=0.05", "start=0.5"}, randomWalk},
	{"inventory", "A shop that orders each morning what it may sell", []Setting{
		{"capacity", "10", "pieces that it has room for"}, {"demand", "3", "mean of what is asked for in a day"}, {"last", "0.02", "how probably a day is the last"},
	}, []string{"gamma=0.95", "start=100", "episodes=30000"}, inventory},
	{"jobshop", "A workshop that puts jobs on its machines, to be done early", []Setting{
		{"jobs", "0:3 1:2 2:2/0:2 2:1 1:4/1:4 2:3", "machine and time of each operation, jobs separated by /"},
	}, []string{"gamma=1", "episodes=5000"}, jobShop},
	{"mountaincar", "A weak car that has to swing out of a valley", nil, []string{"algorithm=sarsa", "gamma=1", "lambda=0.9", "tiles=16", "alpha=0.1", "epsilon=0", "episodes=6000"}, func(settings) (Environment, error) { return &mountainCar{ended: true}, nil }},
	{"queue", "A counter with a slow and a fast clerk, of which the fast one costs more", []Setting{
		{"room", "10", "people who may wait"}, {"arrival", "0.5", "how probably somebody comes in a minute"}, {"slow", "0.4", "how probably the slow clerk is done in a minute"},
		{"fast", "0.8", "how probably the fast one is"}, {"price", "3", "of the fast clerk, a minute"}, {"last", "0.01", "how probably a minute is the last"},
	}, []string{"algorithm=sweeping", "planning=2", "gamma=0.95", "episodes=2000"}, queue},
	{"taxi", "A taxi that fetches a passenger from one of four stands and brings them to another", nil, []string{"algorithm=sweeping", "planning=5", "gamma=0.99", "start=20", "episodes=10000"}, taxi},
	{"tictactoe", "Three in a line, against an opponent", []Setting{
		{"opponent", "self", "self (one policy for both sides), random, forced (wins or blocks where it can) or perfect; with measures also material (weighs lines of either side)"},
		{"measures", "none", "what judges a board, for lms and td: six (lines of one, two and three marks of either side), or none: boards are few enough for a table"},
	}, []string{"gamma=1", "explore=random", "order=reverse", "episodes=150000"}, openNoughts},
}

func gridWorld(s settings) (Environment, error) {
	size, err := s.count("size", 2, 1000)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(s["map"], "/", "\n")
	if text == "" {
		text = strings.Repeat(strings.Repeat(".", size)+"\n", size-1) + strings.Repeat(".", size-1) + "G"
	}
	g, err := parseGrid(text)
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]*float64{"goal": &g.goal, "step": &g.step} {
		if *to, err = s.number(name, -1e12, 1e12); err != nil {
			return nil, err
		}
	}
	if g.slip, err = s.number("slip", 0, 1); err != nil {
		return nil, err
	}
	for _, digit := range s["wind"] {
		if digit < '0' || digit > '9' {
			return nil, fmt.Errorf("wind=%s: expected a digit for each column of the map", s["wind"])
		}
		g.wind = append(g.wind, int(digit-'0'))
	}
	if g.wind != nil && len(g.wind) != g.cols {
		return nil, fmt.Errorf("wind=%s: expected %d digits, one for each column of the map", s["wind"], g.cols)
	}
	e, err := place(g)
	switch {
	case err != nil:
		return nil, err
	case s["see"] == "walls":
		return &walls{Place: e.(*Place)}, nil
	case s["see"] != "place":
		return nil, fmt.Errorf("see=%s: expected place or walls", s["see"])
	}
	return e, nil
}

// walls is a map on which only the walls around one are seen: places that look alike
// are one state, though not the same thing is best in them.
type walls struct{ *Place }

func (w *walls) Schema() *table.Schema {
	s := &table.Schema{}
	for _, way := range moves {
		s.Attributes = append(s.Attributes, table.Attribute{Name: "wall-" + way, Kind: table.Nominal, Values: []string{"no", "yes"}})
	}
	return s
}

func (w *walls) State(cells []float64) {
	legal := w.Model.Legal(w.At())
	for i := range moves {
		if cells[i] = 1; slices.Contains(legal, i) {
			cells[i] = 0
		}
	}
}

// randomWalk is the one of Sutton 1988: from the middle, each step goes left or right
// by lot; the right end is worth 1, the left one nothing.
func randomWalk(s settings) (Environment, error) {
	n, err := s.count("states", 1, 100000)
	if err != nil {
		return nil, err
	}
	r := rules[int]{schema: numbers("place"), actions: []string{"walk"}, starts: []int{(n + 1) / 2}}
	r.cells = func(s int, cells []float64) { cells[0] = float64(s) }
	r.legal = func(s int) []int {
		if s == 0 || s == n+1 {
			return nil
		}
		return []int{0}
	}
	r.act = func(s, _ int) []Outcome[int] {
		right := Outcome[int]{P: 0.5, Next: s + 1, End: s == n}
		if right.End {
			right.Reward = 1
		}
		return []Outcome[int]{{P: 0.5, Next: s - 1, End: s == 1}, right}
	}
	m, err := r.build()
	if err != nil {
		return nil, err
	}
	return m.Environment(), nil
}

// lakes are those of the usual FrozenLake.
var lakes = map[int]string{
	4: "S...\n.H.H\n...H\nH..G",
	8: "S.......\n........\n...H....\n.....H..\n...H....\n.HH...H.\n.H..H.H.\n...H...G",
}

func frozenLake(s settings) (Environment, error) {
	size, err := s.count("size", 4, 8)
	if err != nil || lakes[size] == "" {
		return nil, fmt.Errorf("size=%s: expected 4 or 8", s["size"])
	}
	g, err := parseGrid(lakes[size])
	if err != nil {
		return nil, err
	}
	g.goal, g.bump = 1, true
	if g.slip, err = s.number("slip", 0, 1); err != nil {
		return nil, err
	}
	return place(g)
}

func place(g *grid) (Environment, error) {
	m, err := g.model()
	if err != nil {
		return nil, err
	}
	m.sketch = g.sketch()
	return m.Environment(), nil
}

// Lookup returns the environment of a name with settings, as in
// "gridworld:size=6,slip=0.1".
func Lookup(name string) (Environment, error) {
	base, text, given := strings.Cut(name, ":")
	at := slices.IndexFunc(worlds, func(w World) bool { return w.Name == base })
	if at < 0 {
		var known []string
		for _, w := range worlds {
			known = append(known, w.Name)
		}
		return nil, fmt.Errorf("there is no environment %q%s", base, spell.Hint(base, known))
	}
	w := &worlds[at]
	s := settings{}
	var known []string
	for _, o := range slices.Concat(w.Settings, views) {
		s[o.Name] = o.Default
		known = append(known, o.Name)
	}
	if given {
		for piece := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(piece, "=")
			if _, there := s[key]; !ok || !there {
				return nil, fmt.Errorf("%s: %q is not one of its settings%s; write them as name=value, separated by commas", base, piece, spell.Hint(key, known))
			}
			s[key] = value
		}
	}
	e, err := w.open(s)
	if err == nil {
		e, err = viewed(e, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	return e, nil
}

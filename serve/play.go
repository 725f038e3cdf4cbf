package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/life"
)

// ToPlay says in which environment a policy acts, and what you did so far.
type ToPlay struct {
	Env   string `json:"env,omitempty" doc:"a built-in environment; none is the one it learnt in"`
	Seed  uint64 `json:"seed,omitempty" doc:"of the episode; the same seed is the same episode"`
	You   bool   `json:"you,omitempty" doc:"you act, too: in every second turn of a game of two, else always"`
	First bool   `json:"first,omitempty" doc:"you begin"`
	// The server remembers no game: who plays sends all moves again, and the
	// same seed makes the same game of them.
	Moves []string `json:"moves,omitempty" doc:"your actions so far"`
	Limit int      `json:"limit,omitempty" doc:"steps at most; 200"`
}

// Game is an episode, as far as it went.
type Game struct {
	Model   string      `json:"model"`
	Version int         `json:"version"`
	Env     string      `json:"env"`
	Seed    uint64      `json:"seed"`
	Steps   []PlayedOne `json:"steps"`
	Return  float64     `json:"return" doc:"the sum of the rewards"`
	End     bool        `json:"end"`
	// Where it is your turn: the state, and what you may do.
	Board string   `json:"board,omitempty"`
	Legal []string `json:"legal,omitempty"`
}

// PlayedOne is one of its steps.
type PlayedOne struct {
	life.Played
	Words string `json:"words" doc:"the state, for people"`
	By    string `json:"by" doc:"the model, or you"`
}

// mostSteps is how many steps one answer has.
const mostSteps = 2000

var (
	errYourTurn = errors.New("it is your turn")
	errEnough   = errors.New("these are enough steps")
)

// play lets a policy act, or plays with who calls.
func (c *call) play() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	var in ToPlay
	if err := c.decode(&in); err != nil {
		return err
	}
	if !life.Acts(p) {
		return problemf(http.StatusUnprocessableEntity, "learn a policy: accrete learn ENVIRONMENT --learner q", "%s is a model of %s, which does not act", p.Name, p.Version.Learner)
	}
	env := cmp.Or(in.Env, p.Version.Source.Name)
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	h.Seed = cmp.Or(in.Seed, 1)
	w, err := c.world(ctx, h, env)
	if err != nil {
		return err
	}
	defer w.Close()
	g := Game{Model: p.Name, Version: p.Version.Number, Env: env, Seed: h.Seed, Steps: []PlayedOne{}}
	if err := g.play(ctx, h, p, w, &in); err != nil {
		return err
	}
	return c.answer(http.StatusOK, g)
}

// isWorld reports whether something is called as an environment is.
func isWorld(name string) bool {
	base, _, _ := strings.Cut(name, ":")
	return base == "exec" || slices.ContainsFunc(act.Worlds(), func(w act.World) bool { return w.Name == base })
}

// world is a built-in environment. Programs, and maps that are files, are for who
// sits at the machine.
func (c *call) world(ctx context.Context, h *life.Home, env string) (*life.World, error) {
	if strings.HasPrefix(env, "exec:") || !life.InlineMap(env) {
		return nil, problemf(http.StatusUnprocessableEntity, "name a built-in one, or use the command line there", "programs and files of the server are no environments here")
	}
	w, err := h.World(ctx, env)
	if err == nil && w == nil {
		err = problemf(http.StatusUnprocessableEntity, "name one: GET /v1/datasets lists them", "there is no environment %q", env)
	}
	return w, err
}

// play plays until the end, until there are enough steps, or until it is the
// turn of who calls.
func (g *Game) play(ctx context.Context, h *life.Home, p *life.Part, w *life.World, in *ToPlay) error {
	most := min(cmp.Or(in.Limit, 200), mostSteps)
	o := life.Playing{Episodes: 1, First: in.First}
	moves := in.Moves
	if in.You {
		o.Ask = func(board string, legal []string) (string, error) {
			if len(moves) == 0 {
				g.Board, g.Legal = board, legal
				return "", errYourTurn
			}
			move := moves[0]
			moves = moves[1:]
			return move, nil
		}
	}
	err := h.Play(ctx, p, w, o, func(s life.Played) error {
		g.Steps = append(g.Steps, PlayedOne{s, s.Words, s.By})
		g.Return += s.Reward
		if g.End = s.End; !s.End && len(g.Steps) >= most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errYourTurn) || errors.Is(err, errEnough) {
		return nil
	}
	return err
}

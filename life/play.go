package life

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// Played is a step of an episode that a policy acted.
type Played struct {
	Step   int            `json:"step"`
	State  map[string]any `json:"state"` // before the action
	Action string         `json:"action"`
	Reward float64        `json:"reward"`
	End    bool           `json:"end"`

	Words string `json:"-"` // the state, for people
	By    string `json:"-"` // who acted: the policy, or you
}

// Playing says how to play.
type Playing struct {
	Episodes int
	First    bool // you begin, where two take turns
	// Ask, unless nil, asks you for one of the legal actions in every turn of
	// yours: every second one where two take turns, else all of them. The
	// board is a state for people.
	Ask func(board string, legal []string) (string, error)
}

// Play lets a policy act in an environment, or play with you, and shows each step.
func (h *Home) Play(ctx context.Context, p *Part, w *World, o Playing, each func(Played) error) error {
	m, err := policyOf(p)
	if err != nil {
		return err
	}
	e := w.Environment
	random := rand.New(rand.NewPCG(h.Seed, 0x91a7))
	choose, err := chooser(m, e, random)
	if err != nil {
		return err
	}
	ok := act.Turns(e)
	if o.Ask != nil && !ok && o.First {
		return remedy.Misusef("in %s nobody takes turns; you act alone", w.Base())
	}
	for range o.Episodes {
		n := 0
		who := ""
		_, _, err := act.Play(ctx, e, random.Uint64(), longest, 1, func(cells []float64, legal []int) (int, error) {
			yours := o.Ask != nil && (!ok || (act.Mover(e, n) == 0) == o.First)
			if n++; !yours {
				who = p.Version.Model
				return choose(cells, legal)
			}
			who = "you"
			return yourAction(e, o.Ask, Words(e, cells), legal)
		}, func(s act.Step) error {
			return each(Played{s.Number, stateEntry(e.Schema(), -1, s.State), e.Actions()[s.Action], s.Reward, s.End, Words(e, s.State), who})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errNoLegal is of an answer that is no legal action, many times over.
var errNoLegal = errors.New("none of the answers was a legal action")

// yourAction asks until the answer is a legal action.
func yourAction(e act.Environment, ask func(board string, legal []string) (string, error), board string, legal []int) (int, error) {
	var names []string
	for _, a := range legal {
		names = append(names, e.Actions()[a])
	}
	shown := board
	for range 100 {
		name, err := ask(shown, names)
		if err != nil {
			return 0, err
		}
		name = strings.TrimSpace(name)
		if i := slices.Index(names, name); i >= 0 {
			return legal[i], nil
		}
		shown = fmt.Sprintf("%q is none of them\n%s", name, board)
	}
	return 0, errNoLegal
}

// Words is a state for people: a board as it looks, anything else by its columns.
func Words(e act.Environment, cells []float64) string {
	schema := e.Schema()
	if g, ok := act.GameOf(e).(interface{ Show(cells []float64) string }); ok {
		return g.Show(cells)
	}
	if len(schema.Attributes) == 9 && schema.Index("c1") == 0 && schema.Index("c9") == 8 && schema.Attributes[0].Kind == table.Nominal {
		var b strings.Builder
		for i, x := range cells {
			b.WriteString(schema.Attributes[i].Values[int(x)])
			if b.WriteByte(' '); i%3 == 2 && i < 8 {
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
	return stateWords(schema, -1, cells)
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/life"
)

// logFlags say what the columns of a log of acts are.
type logFlags struct {
	action, reward, episode string
	cut                     bool
}

func (l *logFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.action, "action", "", "of a log of acts: column of what was done")
	f.StringVar(&l.reward, "reward", "", "of a log of acts: column of what it earned")
	f.StringVar(&l.episode, "episode", "", "of a log of acts: column that says which rows belong together, in order")
	f.BoolVar(&l.cut, "cut", false, "of a log of acts: the last row of an episode does not end it")
	c.MarkFlagsMutuallyExclusive("action", "target")
	c.MarkFlagsMutuallyExclusive("episode", "sequence")
}

// apply says it as a target, a sequence and settings of the learner.
func (l *logFlags) apply(target *string, reading *life.Reading, choice *life.Choice) {
	if l.action != "" {
		*target = l.action
		if choice.Learner == "" {
			choice.Learner = "q"
		}
	}
	if l.episode != "" {
		reading.Sequence = l.episode
	}
	if l.reward != "" {
		choice.Settings["reward"] = l.reward
	}
	if l.cut {
		choice.Settings["cut"] = "true"
	}
}

// learnActing learns a policy in an environment.
func (a *app) learnActing(ctx context.Context, h *life.Home, w *life.World, o life.LearnOptions) error {
	if o.Target != "" {
		return usagef("--target: the target of a policy is its action")
	}
	l, failed := h.LearnActing(ctx, w, o)
	return a.printActed(ctx, w, l, failed, "learnt in")
}

// printActed prints what became of a policy.
func (a *app) printActed(ctx context.Context, w *life.World, l *life.Acted, failed error, how string) error {
	if l == nil {
		return failed
	}
	if a.json {
		if err := a.printJSON(l); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "model %s, version %d: %s, %s %s%s\n", l.Model, l.Version, l.Learner, how, w.Name, sizeNote(l.Part.Size()))
		if l.Episodes > 0 {
			fmt.Fprintf(a.out, "acted %s, %s in all\n", plural(l.Episodes, "episode"), plural(l.Steps, "step"))
		}
		if failed == nil {
			l.Returns.Write(a.out)
		}
		if design := life.DesignOf(l.Part); design != nil {
			fmt.Fprintln(a.out)
			for _, d := range design {
				fmt.Fprintf(a.out, "%-20s  %s\n", d[0], d[1])
			}
		} else if life.PolicyOf(l.Part) == nil {
			if err := printBest(ctx, a.out, l.Part, 5); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(a.out)
			if _, err := life.WritePolicy(a.out, l.Part, &mostStates); err != nil {
				return err
			}
		}
		a.next(l.Part, "rules", "draw")
	}
	if failed != nil { // the model is kept all the same
		return kept{failed}
	}
	return nil
}

// mostStates is how many states are printed beside what was learnt.
var mostStates = 16

// evaluatePolicy judges a policy in an environment or by a log, if that was asked
// for.
func (a *app) evaluatePolicy(ctx context.Context, h *life.Home, model string, e *evaluation) (bool, error) {
	if e.env != "" {
		return true, a.evaluateIn(ctx, h, model, e.env, e.episodes)
	}
	if e.on == "" {
		return false, nil
	}
	p, err := h.Load(model)
	if err != nil || !life.IsLogged(p) && e.acts.reward == "" {
		return false, nil // it is judged as other models are, or not found there
	}
	return true, a.evaluateLog(ctx, h, p, e)
}

// evaluateIn judges a policy in an environment.
func (a *app) evaluateIn(ctx context.Context, h *life.Home, model, env string, episodes int) error {
	p, err := h.Load(model)
	if err != nil {
		return err
	}
	w, err := h.World(ctx, env)
	if err != nil {
		return err
	}
	if w == nil {
		return life.NoWorld(env)
	}
	defer w.Close()
	r, err := h.Returns(ctx, p, w, episodes)
	if err != nil || a.json {
		return a.orJSON(r, err)
	}
	r.Write(a.out)
	return nil
}

// evaluateLog judges a policy by a log of somebody else's acts.
func (a *app) evaluateLog(ctx context.Context, h *life.Home, p *life.Part, e *evaluation) error {
	by := life.LogJudging{Reading: e.flags.Reading, Reward: e.acts.reward, Cut: e.acts.cut, Level: e.level}
	if e.acts.episode != "" {
		by.Reading.Sequence = e.acts.episode
	}
	o, err := h.OffPolicy(ctx, p, e.on, by)
	if err != nil || a.json {
		return a.orJSON(o, err)
	}
	fmt.Fprintf(a.out, "%s judged by %s: ", p.Name, e.on)
	o.Write(a.out)
	return nil
}

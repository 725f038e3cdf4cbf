package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/life"
)

// next prints what can be done with a model now: of these commands, those that
// it will not refuse. A command with arguments of its own is taken as it is.
func (a *app) next(p *life.Part, commands ...string) {
	var can []string
	for _, c := range commands {
		command := "accrete " + c
		switch {
		case !a.takes(p, c):
			continue
		case c == "predict" || c == "explain":
			command += " " + p.Name + " DATA"
		case !strings.Contains(c, " "):
			command += " " + p.Name
		}
		can = append(can, command)
	}
	if len(can) > 0 {
		fmt.Fprintln(a.out, "\nnext: "+strings.Join(can, "    "))
	}
}

// takes reports whether a model can do what a command asks of it.
func (a *app) takes(p *life.Part, command string) bool {
	switch command {
	case "predict":
		return p.Target() != learn.NoTarget
	case "explain":
		return life.CanExplain(p.Model) == nil
	case "rules":
		_, told := p.Model.(*expert.Told)
		_, ok := learn.Ability[learn.Ruler](p.Model)
		return ok || told || life.Clauses(p, nil) != nil
	case "verify":
		h, err := a.home()
		return err == nil && h.HasRows(context.Background(), p)
	}
	return true
}

// nextDiff is a comparison with the version before, if it is still there.
func nextDiff(l *life.Learnt) []string {
	for _, v := range l.Part.Versions {
		if v.Number == l.Before.Number {
			return []string{fmt.Sprintf("diff %s@%d %s@%d", l.Model, l.Before.Number, l.Model, l.Version)}
		}
	}
	return nil
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/life"
)

// learnerFlags choose a learner and its parameters.
type learnerFlags struct {
	learner string
	set     []string
}

func (l *learnerFlags) register(c *cobra.Command) {
	l.registerSet(c)
	c.Flags().StringVar(&l.learner, "learner", "", "how to learn; see accrete learners (default "+life.DefaultForClasses+")")
}

func (l *learnerFlags) registerSet(c *cobra.Command) {
	c.Flags().StringArrayVar(&l.set, "set", nil, "parameter of the learner, as key=value, or key=@FILE for a file's text; see accrete learners NAME")
}

// choice returns what was chosen.
func (l *learnerFlags) choice(ctx context.Context) (life.Choice, error) {
	settings := map[string]string{}
	for _, s := range l.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return life.Choice{}, usagef("--set %s: expected key=value", s)
		}
		if file, isFile := strings.CutPrefix(value, "@"); isFile {
			text, err := patient.File(ctx, file, life.MostText)
			if err != nil {
				return life.Choice{}, usagef("--set %s: %w", s, err)
			}
			value = string(text)
		}
		settings[key] = value
	}
	return life.Choice{Learner: l.learner, Settings: settings}, nil
}

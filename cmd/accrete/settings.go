package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/learn"
)

// learnerFlags choose a learner and its parameters.
type learnerFlags struct {
	learner string
	set     []string
}

// Learners that are used when --learner is not given, by the kind of target.
const (
	defaultForClasses = "rulenet"
	defaultForNumbers = "tree"
)

func (l *learnerFlags) register(c *cobra.Command) {
	l.registerSet(c)
	c.Flags().StringVar(&l.learner, "learner", "", "how to learn; see accrete learners (default "+defaultForClasses+" for classes, "+defaultForNumbers+" for numbers)")
	_ = c.RegisterFlagCompletionFunc("learner", completeLearners)
}

func (l *learnerFlags) registerSet(c *cobra.Command) {
	c.Flags().StringArrayVar(&l.set, "set", nil, "parameter of the learner, as key=value; see accrete learners NAME")
}

func completeLearners(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, info := range learn.All() {
		names = append(names, info.Name+"\t"+info.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// settings returns the --set flags as a map.
func (l *learnerFlags) settings() (map[string]string, error) {
	settings := map[string]string{}
	for _, s := range l.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("--set %s: expected key=value", s)
		}
		settings[key] = value
	}
	return settings, nil
}

// configured returns the learner with this name and these settings.
func configured(name string, settings map[string]string) (learn.Info, learn.Learner, error) {
	l, err := learn.New(name, settings)
	if err != nil {
		return learn.Info{}, nil, usageError{err}
	}
	info, err := learn.Lookup(name)
	return info, l, err
}

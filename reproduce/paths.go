package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// rulesOf returns the rules of a model that can be read.
func rulesOf(m learn.Model) ([]rule.Rule, error) {
	r, ok := m.(learn.Ruler)
	if !ok {
		return nil, fmt.Errorf("%s has no rules", m.Learner())
	}
	base, err := r.Rules()
	if err != nil {
		return nil, err
	}
	return base.Rules, nil
}

// pathsOf returns the rules of a model as text in which the order of tests
// does not matter: "humidity = High, outlook = Sunny: No".
func pathsOf(m learn.Model) ([]string, error) {
	rules, err := rulesOf(m)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, r := range rules {
		var tests []string
		for _, t := range r.If {
			tests = append(tests, t.String())
		}
		slices.Sort(tests)
		paths = append(paths, strings.Join(tests, ", ")+": "+answer(r.Then))
	}
	return paths, nil
}

// answer returns the class that a conclusion gives most.
func answer(c rule.Conclusion) string {
	best := rule.Share{Value: c.Value}
	for _, s := range c.Classes {
		if s.P > best.P {
			best = s
		}
	}
	return best.Value
}

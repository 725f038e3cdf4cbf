package theory

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// earlierNetwork decodes the network that a new one begins as (Pratt 1993); nil
// if there is none.
func (s *settings) earlierNetwork() (*Model, error) {
	if s.From == "" {
		return nil, nil
	}
	name, data, found := strings.Cut(s.From, "\n")
	if !found || strings.Contains(data, "\n") {
		return nil, fmt.Errorf("setting from=%s: expected the name of one model", name)
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, fmt.Errorf("setting from: %w", err)
	}
	m, err := learn.Decode(bytes)
	if err != nil {
		return nil, fmt.Errorf("setting from: %w", err)
	}
	network, ok := m.(*Model)
	if !ok {
		return nil, fmt.Errorf("setting from=%s: it is a model of %s; expected one of %s", name, m.Learner(), Name)
	}
	return network, nil
}

// inherit takes over the theory of an earlier network, about another target, unless
// there is one.
func (s *settings) inherit(from *Model, target string) error {
	if s.Theory != "" || from == nil || from.lesson.Settings.Theory == "" {
		return nil
	}
	base, err := rule.Parse("theory", []byte(from.lesson.Settings.Theory))
	if err != nil {
		return err
	}
	var rename func(tests []rule.Test)
	rename = func(tests []rule.Test) {
		for i := range tests {
			if tests[i].Column == from.lesson.Target {
				tests[i].Column = target
			}
			rename(tests[i].Of)
		}
	}
	for i := range base.Rules {
		if base.Rules[i].Then.Column == from.lesson.Target {
			base.Rules[i].Then.Column = target
		}
		rename(base.Rules[i].If)
	}
	s.Theory = base.String()
	return nil
}

// transfer sets the weights that an earlier network has too, by the names of what
// they join; the target of one is that of the other.
func (m *Model) transfer(from *Model, weights []float64) {
	inputs, units := map[string]int{}, map[string]int{}
	for i, name := range from.names() {
		inputs[name] = i
	}
	for u := range from.net.units {
		units[from.unitName(u, from.lesson.Target, m.lesson.Target)] = u
	}
	names, was := m.names(), from.net.weights
	for u := range m.net.units {
		old, ok := units[m.unitName(u, "", "")]
		if !ok {
			continue
		}
		weights[m.net.bias(u)] = was[from.net.bias(old)]
		for i, name := range names {
			if j, ok := inputs[name]; ok && m.net.linked[m.net.fromInput(i, u)] {
				weights[m.net.fromInput(i, u)] = was[from.net.fromInput(j, old)]
			}
		}
		for k, f := range m.net.units[u].from {
			if g, ok := units[m.unitName(int(f), "", "")]; ok {
				if at := from.net.fromUnit(g, old); at >= 0 {
					weights[m.net.units[u].at+k] = was[at]
				}
			}
		}
	}
}

// unitName is what a unit stands for, with another name for the target.
func (m *Model) unitName(unit int, target, as string) string {
	if unit < m.hidden {
		return fmt.Sprintf("hidden %d", unit+1)
	}
	name := m.gates[unit-m.hidden].name
	if target == as {
		return name
	}
	begins := func(column string) string {
		return strings.TrimSuffix(rule.Conclusion{Column: column, Value: "x"}.String(), "x")
	}
	return strings.ReplaceAll(name, begins(target), begins(as))
}

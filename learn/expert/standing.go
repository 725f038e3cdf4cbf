package expert

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// Standing is how an expert's rule fares against the rows.
type Standing struct {
	Rule      rule.Rule // with the rows it covers and is right on
	Expert    learn.Source
	State     State
	Frequency float64 // of its class among the rows it covers; NaN if there are none
	Low, High float64 // the 95 % interval of the frequency
	Behind    []Behind
}

// Behind is what one source says of a rule: the weight of its rows that the
// rule covers, and of those that it is right on.
type Behind struct {
	Source           learn.Source
	Covered, Correct float64
}

// Standings returns how each rule fares, in the order in which they were told.
func (m *Told) Standings() []Standing {
	all := make([]Standing, len(m.rules))
	for i := range m.rules {
		covered, of := m.covered(i)
		correct, r := 0.0, m.rules[i].Rule
		if m.classes[i] >= 0 {
			correct = of[m.classes[i]]
		}
		r.Evidence.Covered, r.Evidence.Correct = &covered, &correct
		if m.Listened() {
			r.Evidence.Weight = &m.weights[i]
		}
		s := Standing{Rule: r, Expert: m.rules[i].expert, State: Unmet, Frequency: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if covered > 0 {
			s.Frequency = min(correct/covered, 1)
			interval := stat.ErrorRate{Errors: min(correct, covered), Cases: covered}.Wilson(0.95, stat.TwoSided) // as rules have it
			s.Low, s.High = interval.Low, interval.High
			s.State = m.verdict(i, interval.Contains(*r.With), covered, of)
		}
		for _, t := range m.tallies {
			if b := t.behind(i, r.Then.Value); b.Covered > 0 {
				s.Behind = append(s.Behind, b)
			}
		}
		all[i] = s
	}
	return all
}

// verdict compares the answer of the rows that a rule covers, of the expert,
// and of both together.
func (m *Told) verdict(i int, within bool, covered float64, of []float64) State {
	if within {
		return Confirmed
	}
	class, r := m.classes[i], &m.rules[i]
	if class < 0 {
		return Disputed
	}
	rows, expert, both := make([]float64, len(of)), make([]float64, len(of)), make([]float64, len(of))
	for c, w := range of {
		rows[c] = w / covered
	}
	Say(expert, rows, class, *r.With, 1)
	share := covered / (covered + *r.Worth)
	for c := range both {
		both[c] = share*rows[c] + (1-share)*expert[c]
	}
	names := m.schema.Attributes[m.Target()].Values
	if answer := learn.Best(rows, names); answer != learn.Best(expert, names) && answer == learn.Best(both, names) {
		return Outvoted
	}
	return Disputed
}

// String says it in one line.
func (s Standing) String() string {
	r := s.Rule
	r.Evidence = rule.Evidence{}
	text := fmt.Sprintf("%s: %s: ", r.String(), s.State)
	if s.State == Unmet {
		return text + "no row learnt from satisfies it"
	}
	return text + fmt.Sprintf("the rows say %.3g (%.3g to %.3g), %.6g of %.6g", s.Frequency, s.Low, s.High, *s.Rule.Evidence.Correct, *s.Rule.Evidence.Covered)
}

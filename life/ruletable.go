package life

import (
	"fmt"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
)

// WriteRuleTable writes rules as a table: of a mixture a line for each column
// and a column for each unit, of other bases a line for each rule.
func WriteRuleTable(w io.Writer, m learn.Model, base *rule.Base, sd bool) {
	for _, n := range base.Notes {
		fmt.Fprintln(w, "# "+n)
	}
	if len(base.Units) > 0 {
		writeUnitTable(w, m, base, sd)
		return
	}
	rules := base.Rules
	var rows [][]string
	line := func(r *rule.Rule, text string) {
		rows = append(rows, []string{console.Figure(r.With, console.Percent), console.Figure(r.Evidence.Covered, console.Count), console.Figure(r.Evidence.Correct, console.Count), console.Figure(r.Evidence.Bits, console.Number), text})
	}
	bare := func(r *rule.Rule) rule.Rule {
		b := *r
		RoundRule(&b)
		b.With, b.Evidence = nil, rule.Evidence{}
		return b
	}
	for i := range rules {
		b := bare(&rules[i])
		one := rule.Base{Rules: []rule.Rule{b}, Clocks: m.Schema()} // dates as dates
		line(&rules[i], strings.TrimSpace(one.String()))
	}
	if base.Else != nil {
		b := bare(base.Else)
		line(base.Else, rule.Statement{Rule: &b, Else: true}.String())
	}
	console.Table(w, []string{"probability", "covered", "correct", "bits", "rule"}, rows)
}

// unitsAcross is how many units stand side by side.
const unitsAcross = 6

func writeUnitTable(w io.Writer, m learn.Model, base *rule.Base, sd bool) {
	overall := Overall(m)
	for first := 0; first < len(base.Units); first += unitsAcross {
		if first > 0 {
			fmt.Fprintln(w)
		}
		units := base.Units[first:min(first+unitsAcross, len(base.Units))]
		header := []string{"column"}
		if overall != nil && !sd {
			header = append(header, "NORMAL")
		}
		for i := range units {
			name := fmt.Sprintf("%s (%.3g)", units[i].Name, units[i].Prior)
			if units[i].Worth != nil {
				name = fmt.Sprintf("%s (%.3g, worth %.4g)", units[i].Name, units[i].Prior, *units[i].Worth)
			}
			header = append(header, name)
		}
		var rows [][]string
		for j := range m.Schema().Attributes {
			a := &m.Schema().Attributes[j]
			row := []string{a.Name}
			if len(header) > len(units)+1 {
				row = append(row, OverallCell(a, &overall[j]))
			}
			said := false
			for i := range units {
				cell := ""
				for k := range units[i].Expect {
					if e := &units[i].Expect[k]; e.Column == a.Name {
						cell, said = ExpectationCell(a, e), true
					}
				}
				row = append(row, cell)
			}
			if said {
				rows = append(rows, row)
			}
		}
		console.Table(w, header, rows)
	}
}

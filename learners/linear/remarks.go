package linear

import (
	"fmt"
	"slices"
	"strings"
)

// LeftOut is what a model has no use for: a column, or some terms of it.
type LeftOut struct {
	Column string   `json:"column"`
	Terms  []string `json:"terms,omitempty"` // values or powers; none: all of it
	Varies bool     `json:"varies"`          // if so, it follows from columns before it
}

// String says so in a line.
func (l LeftOut) String() string {
	what, its := fmt.Sprintf("column %q", l.Column), "it never varies"
	if len(l.Terms) > 0 {
		what = fmt.Sprintf("%s of column %q", strings.Join(l.Terms, ", "), l.Column)
	}
	if l.Varies {
		its = "a copy or a linear combination of what stands before it"
	}
	return fmt.Sprintf("%s is left out: %s", what, its)
}

// Remarks names the columns that are left out.
func (m *Model) Remarks() ([]fmt.Stringer, error) { return m.plane.leftOut(m.choice.fates), nil }

// Remarks names the columns that are left out.
func (m *Classes) Remarks() ([]fmt.Stringer, error) { return m.plane.leftOut(m.fates), nil }

func (p *plane) leftOut(fates []fate) []fmt.Stringer {
	var remarks []fmt.Stringer
	for j := range p.frames {
		first, gone := p.first[j], p.missing(j)
		if p.count(j) == 0 {
			continue
		}
		terms := fates[first : gone+1]
		if !slices.ContainsFunc(terms, func(f fate) bool { return f == used || f == reference }) {
			remarks = append(remarks, LeftOut{Column: p.schema.Attributes[j].Name, Varies: slices.Contains(terms, dependent)})
			continue
		}
		var some []string
		for i, f := range terms[:len(terms)-1] { // whether cells are missing may well follow
			switch {
			case f != dependent:
			case p.numeric(j):
				some = append(some, fmt.Sprintf("power %d", i+1))
			default:
				some = append(some, fmt.Sprintf("value %q", p.schema.Attributes[j].Values[i]))
			}
		}
		if some != nil {
			remarks = append(remarks, LeftOut{Column: p.schema.Attributes[j].Name, Terms: some, Varies: true})
		}
	}
	return remarks
}

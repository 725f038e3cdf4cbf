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
	Shares bool     `json:"shares"`          // by the ridge it has a part of their weight
}

// String says so in a line.
func (l LeftOut) String() string {
	what, its := fmt.Sprintf("column %q", l.Column), "it never varies"
	if len(l.Terms) > 0 {
		what = fmt.Sprintf("%s of column %q", strings.Join(l.Terms, ", "), l.Column)
	}
	if l.Varies {
		its = "it is a copy or a linear combination of what stands before it"
	}
	if l.Shares {
		return fmt.Sprintf("%s is a copy or a linear combination of what stands before it: the ridge shares their weight out", what)
	}
	return fmt.Sprintf("%s is left out: %s", what, its)
}

// Remarks names the columns that are left out.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	return m.plane.leftOut(m.choice.fates, m.fit.ridge > 0, m.total.weight), nil
}

// Remarks names the columns that are left out.
func (m *Classes) Remarks() ([]fmt.Stringer, error) {
	return m.plane.leftOut(m.fates, m.settings.Ridge > 0, m.Size().Rows), nil
}

// Many says that there are not rows enough to tell the terms apart.
type Many struct {
	Terms int     `json:"terms"`
	Rows  float64 `json:"rows"`
}

// String says so in a line.
func (m Many) String() string {
	return fmt.Sprintf("%d terms of %.6g rows cannot all be told apart: the ridge shares their weight out", m.Terms, m.Rows)
}

func (p *plane) leftOut(fates []fate, ridge bool, rows float64) []fmt.Stringer {
	var remarks []fmt.Stringer
	n := 0
	for _, f := range fates {
		if f != constant {
			n++
		}
	}
	if ridge && float64(n) >= rows && slices.Contains(fates, dependent) {
		remarks = append(remarks, Many{n, rows})
		fates = slices.Clone(fates)
		for i, f := range fates {
			if f == dependent {
				fates[i] = used
			}
		}
	}
	for j := range p.frames {
		first, gone := p.first[j], p.missing(j)
		if p.count(j) == 0 {
			continue
		}
		terms := fates[first : gone+1]
		if !slices.ContainsFunc(terms, func(f fate) bool { return f == used || f == reference }) {
			remarks = append(remarks, LeftOut{Column: p.schema.Attributes[j].Name, Varies: slices.Contains(terms, dependent), Shares: ridge && slices.Contains(terms, dependent)})
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
			remarks = append(remarks, LeftOut{Column: p.schema.Attributes[j].Name, Terms: some, Varies: true, Shares: ridge})
		}
	}
	return remarks
}

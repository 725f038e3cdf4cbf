package nearest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

var _ learn.Remarker = (*Model)(nil)

// Searched says how the nearest rows are found where that is not exact.
type Searched struct {
	Index  string  `json:"index"`
	Recall float64 `json:"recall"` // the share of the nearest that is found
	Effort int     `json:"effort"` // cases that a search keeps in view
	Held   int     `json:"held"`   // rows that were held out to measure it
}

func (s Searched) String() string {
	return fmt.Sprintf("the nearest rows are found by a graph: %.1f %% of them, measured with %d rows held out; index=kd finds all", 100*s.Recall, s.Held)
}

// Idle says which columns have no say because none of their cells is known, and
// whether any is left.
type Idle struct {
	Columns []string `json:"unknown_columns"`
	Alike   bool     `json:"all_rows_alike"`
}

func (i Idle) String() string {
	var parts []string
	if len(i.Columns) > 0 {
		parts = append(parts, "no cell is known of "+strings.Join(i.Columns, ", ")+", which has no say")
	}
	if i.Alike {
		parts = append(parts, "no column tells rows from each other: all are equally near, and every answer is that of all of them")
	}
	return strings.Join(parts, "; ")
}

// Stretched says how much columns count in distances that were not left as they
// are.
type Stretched struct {
	Factors map[string]float64 `json:"factors"` // of the columns that do not count once
	Out     []string           `json:"left_out"`
	Columns int                `json:"columns"`
}

func (s Stretched) String() string {
	const most = 8
	var parts []string
	if names := slices.Sorted(maps.Keys(s.Factors)); len(names) > 0 {
		for i, name := range names {
			names[i] = fmt.Sprintf("%s %.3g times", name, s.Factors[name])
		}
		parts = append(parts, "count "+remedy.List(names, most))
	}
	if len(s.Out) > 0 {
		parts = append(parts, fmt.Sprintf("leave out %d of %d columns: %s", len(s.Out), s.Columns, remedy.List(s.Out, most)))
	}
	return "distances " + strings.Join(parts, "; they ") + " (stretch=none counts each once)"
}

// stretched returns the remark on factors of columns, if there is one to make.
func (c *cases) stretched(factors []float64) []fmt.Stringer {
	s := Stretched{Factors: map[string]float64{}}
	for j, z := range factors {
		if j == c.target {
			continue
		}
		s.Columns++
		switch name := c.schema.Attributes[j].Name; z {
		case 0:
			s.Out = append(s.Out, name)
		case 1:
		default:
			s.Factors[name] = z
		}
	}
	if len(s.Factors)+len(s.Out) == 0 {
		return nil
	}
	return []fmt.Stringer{s}
}

// idle returns the remark on columns without a say, if there is one to make.
func (m *metric) idle() (remarks []fmt.Stringer) {
	i := Idle{Alike: len(m.numbers)+len(m.names) == 0}
	c := m.cases
	for j := range c.schema.Attributes {
		column := &c.table.Columns[j]
		known := func(x float64) bool { return !table.IsMissing(x) }
		if j != c.target && !slices.ContainsFunc(column.Codes, func(v int32) bool { return v >= 0 }) && !slices.ContainsFunc(column.Floats, known) {
			i.Columns = append(i.Columns, c.schema.Attributes[j].Name)
		}
	}
	if i.Alike || len(i.Columns) > 0 {
		remarks = append(remarks, i)
	}
	return remarks
}

// Remarks says what is not exact, which columns count more or less, and what was
// left out.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	remarks := slices.Concat(searched(m.index.index), m.metric.cases.stretched(m.chosen.Stretch), m.metric.idle())
	if m.chosen.Condensed != nil {
		remarks = append(remarks, *m.chosen.Condensed)
	}
	return remarks, nil
}

// Remarks says what is not exact, and which columns count more or less.
func (m *LocalModel) Remarks() ([]fmt.Stringer, error) {
	return slices.Concat(searched(m.index), m.metric.cases.stretched(m.chosen.Stretch), m.metric.idle()), nil
}

func searched(i index) (remarks []fmt.Stringer) {
	if g, ok := i.(*graph); ok {
		remarks = append(remarks, Searched{"graph", g.recall, g.effort, g.held})
	}
	return remarks
}

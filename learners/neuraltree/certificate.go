package neuraltree

import "fmt"

// Stop is why growth stopped in a region.
type Stop uint8

// The reasons.
const (
	Pure          Stop = iota // one class is left
	Contradictory             // one class is left, apart from rows that have the cells of others but not their class
	Pruned                    // held-out folds did not confirm what grew there
	TooDeep                   // max-depth is reached
	Inseparable               // the rows differ by less than numbers can tell
	stops
)

// String returns the reason in a few words.
func (s Stop) String() string {
	if s >= stops {
		return "unknown"
	}
	return [...]string{"one class", "one class but for contradictions", "pruned by held-out folds", "max-depth reached", "no plane parts the rows"}[s]
}

// MarshalText returns what String does.
func (s Stop) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Method is how the plane of a unit was found.
type Method uint8

// The methods.
const (
	ByPocket Method = iota // the pocket algorithm
	ByVertex               // one row cut off, because the pocket algorithm made no progress
	ByColumn               // across one column, because sums of the columns say nothing
	methods
)

// String returns the method in a word or two.
func (m Method) String() string {
	if m >= methods {
		return "unknown"
	}
	return [...]string{"pocket", "vertex cut", "one column"}[m]
}

// MarshalText returns what String does.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Certificate says of a unit why it is there: which rows it got, which errors
// it removed, and what became of its two sides.
type Certificate struct {
	Unit   int    `json:"unit"`             // counted from 1, level by level; 0 if the tree has no unit at all
	Parent int    `json:"parent,omitempty"` // 0 for the first
	Side   string `json:"side,omitempty"`   // of the parent: "right" or "left"
	Level  int    `json:"level,omitempty"`  // counted from 1
	Test   string `json:"test,omitempty"`   // the plane in a few words; rows that satisfy it go right

	Rows     float64  `json:"rows"`               // weight of its rows
	Patterns int      `json:"patterns"`           // of which so many differ in their inputs
	Positive []string `json:"positive,omitempty"` // the classes that it tries to have on its right
	Negative []string `json:"negative,omitempty"` // and on its left
	Value    float64  `json:"value"`              // of the criterion: for the error, E = m⁺/N⁺ + m⁻/N⁻
	Method   Method   `json:"method"`

	Before  float64 `json:"before"`  // rows that would be wrong without the unit
	After   float64 `json:"after"`   // that are wrong if growth stops with it
	Removed float64 `json:"removed"` // the difference

	Right Region `json:"right"`
	Left  Region `json:"left"`
}

// Region is one side of a unit.
type Region struct {
	Rows  float64 `json:"rows"`
	Wrong float64 `json:"wrong"`          // rows that are not of its most frequent class
	Class string  `json:"class"`          // its most frequent class
	Unit  int     `json:"unit,omitempty"` // the unit that goes on there, or 0
	Stop  Stop    `json:"stop"`           // why none does
}

// Type returns the paper's name for the unit: by how many of its sides growth
// goes on in.
func (c Certificate) Type() string {
	switch {
	case c.Right.Unit > 0 && c.Left.Unit > 0:
		return "non-terminal"
	case c.Right.Unit > 0 || c.Left.Unit > 0:
		return "semi-terminal"
	}
	return "terminal"
}

// String returns the certificate as one line.
func (c Certificate) String() string {
	if c.Unit == 0 {
		return fmt.Sprintf("no unit: all %.6g rows, %.6g wrong; %v", c.Rows, c.Before, c.Right)
	}
	from := "all rows"
	if c.Parent > 0 {
		from = fmt.Sprintf("%s of unit %d", c.Side, c.Parent)
	}
	return fmt.Sprintf("unit %d (%s): %s, %.6g rows, %.6g of %.6g errors removed by %s (%v, value %.4g); right %v; left %v",
		c.Unit, c.Type(), from, c.Rows, c.Removed, c.Before, c.Test, c.Method, c.Value, c.Right, c.Left)
}

// String says what became of a region.
func (r Region) String() string {
	if r.Unit > 0 {
		return fmt.Sprintf("goes on in unit %d", r.Unit)
	}
	return fmt.Sprintf("answers %s (%v)", r.Class, r.Stop)
}

// Grown returns the certificates of the units. Each says why growth stopped on
// either side of it.
func (m *Model) Grown() (certificates []fmt.Stringer, stopped string) {
	for _, c := range m.Growth() {
		certificates = append(certificates, c)
	}
	return certificates, ""
}

// Growth returns a certificate for each unit, level by level. A tree without a
// unit has one that says why.
func (m *Model) Growth() []Certificate {
	numbers := m.unitNumbers()
	classes := m.classes()
	region := func(i int32) Region {
		n := &m.nodes[i]
		return Region{Rows: sum(n.counts), Wrong: n.wrong(classes), Class: classes[n.label(classes)], Unit: numbers[i], Stop: n.stop}
	}
	if root := &m.nodes[0]; root.unit == nil {
		all := region(0)
		return []Certificate{{Rows: all.Rows, Patterns: root.patterns, Before: all.Wrong, After: all.Wrong, Right: all, Left: all}}
	}
	var all []Certificate
	for i := range m.nodes {
		n := &m.nodes[i]
		if n.unit == nil {
			continue
		}
		c := Certificate{
			Unit: numbers[i], Level: int(n.depth) + 1, Test: m.shortTest(n.unit),
			Rows: sum(n.counts), Patterns: n.patterns, Value: n.value, Method: n.method,
			Before: n.wrong(classes), Right: region(n.right), Left: region(n.left),
		}
		if n.parent >= 0 {
			c.Parent, c.Side = numbers[n.parent], "left"
			if m.nodes[n.parent].right == int32(i) {
				c.Side = "right"
			}
		}
		for class, w := range n.counts {
			switch {
			case w == 0:
			case n.positive[class]:
				c.Positive = append(c.Positive, classes[class])
			default:
				c.Negative = append(c.Negative, classes[class])
			}
		}
		c.After = c.Right.Wrong + c.Left.Wrong
		c.Removed = c.Before - c.After
		all = append(all, c)
	}
	return all
}

// unitNumbers returns the number of each node's unit, 0 for leaves.
func (m *Model) unitNumbers() []int {
	numbers := make([]int, len(m.nodes))
	last := 0
	for i := range m.nodes {
		if m.nodes[i].unit != nil {
			last++
			numbers[i] = last
		}
	}
	return numbers
}

package rulenet

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/table"
)

// Columns whose answer goes one way (slope=age:+,income:-). A rule that holds
// above a limit of a column grows with it, one that holds below shrinks, and one
// that holds between two does neither. So a network goes one way along a column if
// no rule tests it from both sides, and every rule that tests it adds only what
// its side allows. That is how candidates are chosen and weights are fitted:
// the answers keep it by construction, whatever the rows say. What an expert
// tells is not held to it.

// slopes reads the setting: of each column, in order, its name and way.
func (s settings) slopes() (names []string, ways []int8, err error) {
	if s.Slope == "" {
		return nil, nil, nil
	}
	for part := range strings.SplitSeq(s.Slope, ",") {
		at := strings.LastIndexByte(part, ':')
		if at < 1 || part[at+1:] != "+" && part[at+1:] != "-" {
			return nil, nil, fmt.Errorf("setting slope=%s: expected columns and their way, as in age:+,income:-", s.Slope)
		}
		way := int8(1)
		if part[at+1:] == "-" {
			way = -1
		}
		names, ways = append(names, strings.TrimSpace(part[:at])), append(ways, way)
	}
	return names, ways, nil
}

// lean lays out which way each column goes.
func (h *school) lean() error {
	names, ways, err := h.s.slopes()
	if err != nil || names == nil {
		return err
	}
	if h.x.Class != nil && len(h.present) > 2 {
		return fmt.Errorf("setting slope=%s: it is for numbers and two classes, and column %q has %d", h.s.Slope, h.schema.Attributes[h.target].Name, len(h.present))
	}
	h.ways = make([]int8, len(h.columns))
	for i, name := range names {
		col := h.schema.Index(name)
		if col < 0 || col == h.target || h.schema.Attributes[col].Kind != table.Numeric {
			return fmt.Errorf("setting slope=%s: %q is no column of numbers to predict from", h.s.Slope, name)
		}
		for at, of := range h.column {
			if of == col {
				h.ways[at] = ways[i]
			}
		}
	}
	return nil
}

// allowed returns which way a rule may move the answer: up, down, or both (0). It
// reports false if it may not at all.
func (h *school) allowed(of []boost.Test) (way int8, ok bool) {
	if h.ways == nil {
		return 0, true
	}
	for _, t := range of {
		own := h.ways[t.Column]
		if own == 0 {
			continue
		}
		c := &h.columns[t.Column]
		set := t.Set & (uint64(1)<<c.Bins - 2)
		lowest, highest := set>>1&1 != 0, set>>(c.Bins-1)&1 != 0
		switch {
		case set == 0 || lowest && highest: // it says only whether the cell is missing
			continue
		case !lowest && !highest:
			return 0, false
		case lowest:
			own = -own
		}
		if way == -own {
			return 0, false
		}
		way = own
	}
	return way, true
}

// keeps returns what is left of a weight that may go one way only.
func keeps(way int8, weight float64) float64 {
	if float64(way)*weight < 0 {
		return 0
	}
	return weight
}

// slopeNotes says in the printed rules which way columns go.
func (s settings) slopeNotes(answer string) []string {
	names, ways, _ := s.slopes() // read before
	notes := make([]string, len(names))
	for i, name := range names {
		verb := "lowers"
		if ways[i] < 0 {
			verb = "raises"
		}
		notes[i] = fmt.Sprintf("%s: a greater one never %s %s", name, verb, answer)
	}
	return notes
}

package rulenet

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/table"
)

// Columns whose answer goes one way (slope=age:+,income:-). A rule that holds
// above a limit of a column grows with it, one that holds below shrinks, and one
// that holds between two does neither. So a network goes one way along a column if
// no rule tests it from both sides, and every rule that tests it adds only what
// its side allows. That is how candidates are chosen and weights are fitted:
// the answers keep it by construction, whatever the rows say. What an expert
// tells is not held to it.

// lean lays out which way each column goes.
func (h *school) lean() error {
	names, ways, err := setting.Ways(h.s.Slope)
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

package encode

import (
	"fmt"

	"github.com/accrete-ml/accrete/table"
)

// OneHot turns a nominal cell into one float for each value: 1 for its own, 0
// for the others. A missing cell is all zeros, and so is one whose value was
// not known at fitting.
type OneHot struct {
	Values []string `cbor:"values"` // the dictionary at fitting
	// Single leaves out the first of two values: the other one's float says
	// it all. A missing cell is then halfway.
	Single bool `cbor:"single,omitempty"`
	// Indicator adds a float that is 1 where the cell is missing.
	Indicator bool `cbor:"indicator,omitempty"`
}

// FitOneHot fits a nominal column. With single, a column of two values gives
// one float; with indicator, a column in which cells are missing gives one
// more.
func FitOneHot(a *table.Attribute, codes []int32, single, indicator bool) OneHot {
	o := OneHot{Values: append([]string(nil), a.Values...), Single: single && len(a.Values) == 2}
	if indicator {
		for _, code := range codes {
			if code == table.Missing {
				o.Indicator = true
				break
			}
		}
	}
	return o
}

// Width returns the number of floats for a cell.
func (o *OneHot) Width() int {
	width := len(o.Values)
	if o.Single {
		width = 1
	}
	if o.Indicator {
		width++
	}
	return width
}

// Names returns what each float says, as a test of the rule language does.
func (o *OneHot) Names(column string) []string {
	var names []string
	for i, v := range o.Values {
		if !o.Single || i == 1 {
			names = append(names, column+" = "+v)
		}
	}
	if o.Indicator {
		names = append(names, column+" IS MISSING")
	}
	return names
}

// Check reports what is wrong with a transform that was read from somewhere.
func (o *OneHot) Check() error {
	if o.Single && len(o.Values) != 2 {
		return fmt.Errorf("encode: a single float for %d values, expected 2", len(o.Values))
	}
	return nil
}

// oneHot writes the floats of cells to every stride-th place of out, which
// holds zeros.
func oneHot[F float32 | float64](o *OneHot, codes []int32, out []F, stride int) {
	known := int32(len(o.Values))
	last := o.Width() - 1
	for i, code := range codes {
		at := i * stride
		switch {
		case code == table.Missing && o.Indicator:
			out[at+last] = 1
			if o.Single {
				out[at] = 0.5
			}
		case o.Single && code == 1:
			out[at] = 1
		case o.Single && (code < 0 || code >= known):
			out[at] = 0.5
		case !o.Single && code >= 0 && code < known:
			out[at+int(code)] = 1
		}
	}
}

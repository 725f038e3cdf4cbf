package expert

import (
	"fmt"

	"github.com/accrete-ml/accrete/learn"
)

// Stander is a model that can say how the WHEN … EXPECT rules fare that it took
// in itself.
type Stander interface {
	learn.Teller
	// UnitStandings returns how each rule fares, in the order in which they
	// were told, while learning or since.
	UnitStandings() []UnitStanding
}

// UnitStanding is how an expert's WHEN … EXPECT rule fares against the rows.
type UnitStanding struct {
	Unit   string // the name in its WHEN
	Expert learn.Source
	State  State
	Worth  float64 // cases that the rule counts as: its prior times its WORTH
	Rows   float64 // weight of the rows that are like it, rather than like the expert's other rules
	Of     float64 // weight of all rows
	// Moved is how far these rows lie from what the rule expects, in its
	// widths: the root mean square over the numeric columns of which it
	// speaks. Column is where they lie farthest, in which it expects
	// Expected, and the rows are around Found; "" if no row is like it.
	Moved           float64
	Column          string
	Expected, Found float64
}

// String says it in one line.
func (s UnitStanding) String() string {
	text := fmt.Sprintf("%s of %s: worth %.4g cases; ", s.Unit, s.Expert.Name, s.Worth)
	if s.State == Unmet || s.Rows < leastRows {
		text += fmt.Sprintf("none of %.6g rows is like it", s.Of)
	} else {
		text += fmt.Sprintf("%.4g of %.6g rows are like it", s.Rows, s.Of)
	}
	if s.Column != "" {
		text += fmt.Sprintf(", %.2g widths away, most in %s (%.4g, not %.4g)", s.Moved, s.Column, s.Found, s.Expected)
	}
	return text + ": " + string(s.State)
}

// leastRows is the weight of rows below which there are none to speak of.
const leastRows = 0.5

// State is what the rows say of an expert's rule.
type State string

// The states of a rule.
const (
	Confirmed State = "confirmed" // its probability lies in the 95 % interval of the rows' frequency
	Disputed  State = "disputed"  // it does not
	Outvoted  State = "outvoted"  // disputed, and the answer is the rows'
	Unmet     State = "unmet"     // no row satisfies its conditions
)

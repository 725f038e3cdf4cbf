package learn

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// Advice is what somebody says who knows: the one way in which rules reach
// learners (expert.Advised) and models (expert.Tell). Who takes rules by itself
// is handed them, and any other is wrapped.
type Advice struct {
	// Rules speak of the target (IF … THEN …) or of all columns together
	// (WHEN … EXPECT …), each worth the cases that it states; nil is nothing.
	Rules *rule.Base
	// Theory is a domain theory to reason with: rules that conclude any
	// column, or a concept that is no column (rule.NewTheory); nil is none.
	Theory *rule.Base
	Expert Source // who says so
}

// Check returns an error if a learner would pass over some of the advice.
func (a Advice) Check(i Info) error {
	switch {
	case a.Rules != nil && len(a.Rules.Units) > 0 && !i.Takes.Rules:
		return fmt.Errorf("%s does not learn from WHEN … EXPECT rules; %s", i.Name, who(func(t Takes) bool { return t.Rules }))
	case a.Theory != nil && !i.Takes.Theory:
		return fmt.Errorf("%s does not reason with a domain theory; %s", i.Name, who(func(t Takes) bool { return t.Theory }))
	}
	return nil
}

// who names the learners that take something.
func who(takes func(Takes) bool) string {
	var names []string
	for _, info := range All() {
		if takes(info.Takes) {
			names = append(names, info.Name)
		}
	}
	if names == nil {
		return "no learner does"
	}
	return "learners that do: " + strings.Join(names, ", ")
}

// Teller is a model that takes WHEN … EXPECT rules in by itself, as Task.Advice
// does when it is learnt.
type Teller interface {
	Model
	// Tell returns the model with an expert's advice, each rule worth the
	// cases that it states. A Forgetter forgets it by the expert's ID.
	Tell(ctx context.Context, advice Advice, learnt ...Learnt) (Model, error)
	// UnitStandings returns how each rule fares, in the order in which they
	// were told, while learning or since.
	UnitStandings() []UnitStanding
}

// UnitStanding is how an expert's WHEN … EXPECT rule fares against the rows.
type UnitStanding struct {
	Unit   string // the name in its WHEN
	Expert Source
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

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
}

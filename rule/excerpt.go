package rule

import "fmt"

// Budget says how much of a model is wanted: its Top rules, or as many as
// carry the share Bits of its information. One of the two is 0. A rule is a
// conjunction here; with more than two classes it may be printed in several
// lines.
type Budget struct {
	Top  int
	Bits float64
}

// Excerpt is a model cut to a budget: the rules that together say most.
type Excerpt struct {
	Base  *Base
	Rules int // conjunctions
	Of    int // that the model has
	// Share is the drop in log loss on the training rows that the excerpt
	// gives, over the drop that all rules give, weights fitted for both.
	Share float64
	// Refitted says that the rules that are left were weighed again, for
	// themselves: their weights are not those that they have in the model.
	Refitted bool
	// Accuracy on the training rows, of the excerpt and of the model.
	Accuracy, Whole float64
}

// String says what the excerpt is worth: "7 rules of 43, 81 % of the bits,
// accuracy 94.2 % instead of 96.1 %".
func (e *Excerpt) String() string {
	rules := "rules"
	if e.Rules == 1 {
		rules = "rule"
	}
	anew := ""
	if e.Refitted && e.Rules < e.Of {
		anew = " weighed again for themselves"
	}
	return fmt.Sprintf("%d %s of %d%s, %.0f %% of the bits, accuracy %.1f %% instead of %.1f %%", e.Rules, rules, e.Of, anew, 100*e.Share, 100*e.Accuracy, 100*e.Whole)
}

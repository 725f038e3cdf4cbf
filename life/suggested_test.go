package life

import (
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// A column of one value leaves nothing to tell, whatever it is called.
func TestSuggestedTargetHasTwoValues(t *testing.T) {
	constant := table.Summary{Name: "class", Kind: table.Nominal, Distinct: 1}
	colour := table.Summary{Name: "colour", Kind: table.Nominal, Distinct: 3}
	if got := suggestedTarget([]table.Summary{colour, constant}, 10); got != "colour" {
		t.Errorf("%q", got)
	}
	if got := suggestedTarget([]table.Summary{constant}, 10); got != "" {
		t.Errorf("%q of a table of one value", got)
	}
}

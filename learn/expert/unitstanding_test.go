package expert_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
)

func TestUnitStandingInWords(t *testing.T) {
	of := learn.Source{Name: "e"}
	for want, s := range map[string]expert.UnitStanding{
		"a of e: worth 5 cases; none of 80 rows is like it: unmet":                                          {Unit: "a", Expert: of, State: expert.Unmet, Worth: 5, Of: 80},
		"a of e: worth 5 cases; 30 of 80 rows are like it, 2.5 widths away, most in x (3, not 1): disputed": {Unit: "a", Expert: of, State: expert.Disputed, Worth: 5, Rows: 30, Of: 80, Moved: 2.5, Column: "x", Expected: 1, Found: 3},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

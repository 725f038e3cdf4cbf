package markov

import (
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// With numbers among the columns the laws hold as well.
func TestContractOfNumbers(t *testing.T) {
	info, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Numeric = true
	for _, settings := range []map[string]string{{"emission": "mixed"}, {"emission": "mixed", "decode": "posterior", "order": "2", "m": "0.5"}, {"emission": "mixed", "whole": "true", "unknown": "shape"}} {
		o := learntest.Options{Settings: settings}
		if settings["whole"] != "" { // the rows of a sequence have one class, or there is nothing to learn
			info.Takes.Density = false
			o.Laws = slices.DeleteFunc(learntest.Laws(), func(law string) bool { return strings.HasPrefix(law, "sequences ") })
		}
		if err := learntest.Check(info, o); err != nil {
			t.Errorf("%v: %v", settings, err)
		}
	}
}

// Hidden states keep the laws that hold for what promises nothing.
func TestContractOfHidden(t *testing.T) {
	info, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Numeric = true
	o := learntest.Options{Settings: map[string]string{"emission": "mixed", "states": "2", "restarts": "2", "iterations": "30", "decode": "posterior"}}
	if err := learntest.Check(info, o); err != nil {
		t.Error(err)
	}
}

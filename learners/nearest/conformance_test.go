package nearest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { contract(t, Name) }

// ofDefaults are the laws that short runs check with the defaults. lwr chooses
// among more, and learns again at each update from the rows that it keeps.
var ofDefaults = map[string][]string{
	Name:  {"predictions are sound", "save and load", "updates keep their contract", "forgetting is learning without"},
	"lwr": {"predictions are sound", "save and load"},
}

// contract checks all laws. To choose k and the axes by leaving rows out takes
// its time: short runs give both, and leave a few laws to the defaults.
func contract(t *testing.T, name string) {
	if os.Getenv("ACCRETE_LONG") != "" {
		learntest.Run(t, name)
		return
	}
	learntest.RunWith(t, name, learntest.Options{Settings: map[string]string{"k": "5", "distance": "hvdm"}})
	t.Run("defaults", func(t *testing.T) {
		learntest.RunWith(t, name, learntest.Options{Laws: ofDefaults[name]})
	})
}

// The settings that change most of what a model is keep the contract too. The
// law with many rows is left to the defaults.
func TestContractWithSettings(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("minutes of laws; ACCRETE_LONG=1 checks them")
	}
	laws := learntest.Laws()
	laws = slices.DeleteFunc(laws, func(law string) bool { return strings.HasPrefix(law, "same seed") })
	// Over all rows, each question costs as much as all of them.
	few := slices.DeleteFunc(slices.Clone(laws), func(law string) bool {
		return slices.Contains([]string{"row by row as all at once", "concurrent prediction", "no allocation per row", "cancellation", "progress rises from 0 to 1"}, law)
	})
	for name, settings := range map[string]map[string]string{
		"weighted": {"k": "7", "weight": "distance", "index": "ball"},
		"euclid":   {"k": "3", "scale": "range", "index": "kd", "m": "0.5"},
		"hamming":  {"distance": "hamming"},
		"cells":    {"k": "2", "ties": "cells"},
		"graph":    {"k": "3", "scale": "sd", "index": "graph"},
		"shepard":  {"k": "all", "weight": "distance", "scale": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			laws := laws
			if name == "shepard" {
				laws = few
			}
			learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

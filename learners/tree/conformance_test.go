package tree

import (
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, "tree") }

// The settings that change most of what a model is keep the contract too.
func TestContractWithSettings(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"id3":     {"preset": "id3"},
		"error":   {"prune": "error", "measure": "ratio"},
		"common":  {"missing": "common", "prune": "none"},
		"oblique": {"splits": "oblique"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, "tree", learntest.Options{Settings: settings}) })
	}
	// Lists of rules are for classes only.
	info, err := learn.Lookup("tree")
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Regression = false
	if err := learntest.Check(info, learntest.Options{Settings: map[string]string{"preset": "c4.5"}}); err != nil {
		t.Error(err)
	}
}

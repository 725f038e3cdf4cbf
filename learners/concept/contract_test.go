package concept

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

func TestSettings(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"find-s":      {"algorithm": "find-s"},
		"find-g":      {"algorithm": "find-g"},
		"majority":    {"answer": "majority"},
		"rote":        {"algorithm": "rote"},
		"disjunctive": {"algorithm": "disjunctive", "tests": "2"},
		"branches":    {"algorithm": "find-s", "space": "disjunctions"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, Name, learntest.Options{Settings: settings}) })
	}
}

package linear

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

func TestContractWithSettings(t *testing.T) {
	laws := []string{"updates keep their contract", "columns that begin empty come to life", "updates bring new values and classes", "merging is learning the union", "forgetting is learning without", "huge and tiny numbers", "infinite numbers", "explanations add up"}
	for name, settings := range map[string]map[string]string{
		"least squares": {"ridge": "0"},
		"ridge":         {"ridge": "3.5"},
		"cubes":         {"degree": "3", "ridge": "0"},
		"squares":       {"degree": "2"},
	} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

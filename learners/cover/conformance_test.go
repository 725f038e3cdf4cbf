package cover

import (
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// Each algorithm keeps the contract too. The law with many rows is left to the
// default.
func TestContractWithSettings(t *testing.T) {
	laws := learntest.Laws()
	laws = slices.DeleteFunc(laws, func(law string) bool { return strings.HasPrefix(law, "same seed") })
	for name, settings := range map[string]map[string]string{
		"cn2":       {"algorithm": "cn2"},
		"unordered": {"algorithm": "cn2", "ordered": "false", "measure": "m", "sets": "true"},
		"entropy":   {"algorithm": "cn2", "measure": "entropy", "sort": "true", "beam": "2", "significance": "1", "prune": "held-out"},
		"aq":        {"algorithm": "aq", "beam": "2", "min-rows": "3"},
		"prism":     {"algorithm": "prism", "m": "0"},
		"itrule":    {"algorithm": "itrule", "max-tests": "2"},
		"one class": {"class": "yes", "rounds": "1", "sets": "true"},
		"unpruned":  {"prune": "none", "max-tests": "2"},
	} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

package neuraltree

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// The settings that change most of what a model is keep the contract too. The
// law with many rows is left to the defaults.
func TestContractWithSettings(t *testing.T) {
	if os.Getenv("ACCRETE_LONG") == "" {
		t.Skip("all laws three times; ACCRETE_LONG=1 checks them")
	}
	laws := learntest.Laws()
	laws = slices.DeleteFunc(laws, func(law string) bool { return strings.HasPrefix(law, "same seed") })
	for name, settings := range map[string]map[string]string{
		"unpruned": {"prune": "none", "presentations": "100"},
		"entropy":  {"criterion": "entropy", "folds": "1", "m": "0"},
		"cluster":  {"criterion": "cluster", "max-depth": "3", "margin": "0"},
	} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
		})
	}
}

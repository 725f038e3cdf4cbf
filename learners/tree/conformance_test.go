package tree

import (
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, "tree") }

// The settings that change most of what a model is keep the contract too.
func TestContractWithSettings(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"id3":    {"preset": "id3"},
		"error":  {"prune": "error", "measure": "ratio"},
		"common": {"missing": "common", "prune": "none"},
		"count":  {"missing": "count", "prune": "cost"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, "tree", learntest.Options{Settings: settings}) })
	}
	// Planes take their time: that cores do not change them is in TestCores.
	var laws []string
	for _, law := range learntest.Laws() {
		if os.Getenv("ACCRETE_LONG") != "" || !strings.HasPrefix(law, "same seed") {
			laws = append(laws, law)
		}
	}
	t.Run("oblique", func(t *testing.T) {
		learntest.RunWith(t, "tree", learntest.Options{Settings: map[string]string{"splits": "oblique"}, Laws: laws})
	})
	// Lists of rules are for classes only.
	info, err := learn.Lookup("tree")
	if err != nil {
		t.Fatal(err)
	}
	info.Takes.Regression = false
	for _, missing := range []string{"known", "count"} {
		if err := learntest.Check(info, learntest.Options{Settings: map[string]string{"preset": "c4.5", "missing": missing}}); err != nil {
			t.Errorf("missing=%s: %v", missing, err)
		}
	}
}

package rulenet

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) {
	learntest.Run(t, Name)
	for name, settings := range map[string]map[string]string{
		"published weights": {"weights": "published"},
		"all classes":       {"weights": "all", "ties": "first", "cuts": "frequency"},
		"calibrated only":   {"grow": "none", "ties": "random", "templates": "40"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, Name, learntest.Options{Seed: 3, Settings: settings}) })
	}
}

// The published update keeps every law but those of exact updates, and of
// sources, which it does not keep apart.
func TestContractOfThePublishedUpdate(t *testing.T) {
	exact := []string{
		"updates keep their contract", "updates bring new values and classes", "merging is learning the union",
		"forgetting is learning without", "forgotten values leave the schema", "cancellation",
	}
	laws := slices.DeleteFunc(learntest.Laws(), func(law string) bool { return slices.Contains(exact, law) })
	for weights, laws := range map[string][]string{
		"published":  laws,
		"calibrated": {"updates leave the old model alone", "save and load", "damaged parts are refused", "rules predict as the model does", "explanations add up"},
	} {
		o := learntest.Options{Settings: map[string]string{"update": "published", "weights": weights}, Laws: laws}
		if err := learntest.Check(info(t), o); err != nil {
			t.Errorf("weights=%s: %v", weights, err)
		}
	}
}

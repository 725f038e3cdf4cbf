package ensemble_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/ensemble"
)

// Package all of learn checks every learner as it comes; here are other
// settings. Members that can be read as rules give the ensemble an ability
// more than it declares. Cores make no difference there, which takes long to
// show.
func TestContract(t *testing.T) {
	laws := slices.DeleteFunc(learntest.Laws(), func(law string) bool {
		return law == "abilities are those declared" || strings.Contains(law, "any number of cores")
	})
	for name, settings := range map[string]map[string]string{
		"trees":          {"base": "tree"},
		"bayes, printed": {"base": "bayes", "preset": "published"},
		"trees by Li":    {"base": "tree", "preset": "li", "kappa": "0.5", "limit": "12"},
	} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, ensemble.Name, learntest.Options{Seed: 3, Settings: settings, Laws: laws})
		})
	}
	for name, members := range map[string]string{ensemble.MajorityName: "tree,bayes,tree", ensemble.HalvingName: "tree,bayes", ensemble.CommitteeName: "tree,tree"} {
		t.Run(name, func(t *testing.T) {
			learntest.RunWith(t, name, learntest.Options{Seed: 3, Settings: map[string]string{"members": members, "tree.max-depth": "3"}, Laws: laws})
		})
	}
}

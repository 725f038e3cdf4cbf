package rulenet

import (
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

// livingInfo is the learner as it is with update=living.
func livingInfo(t *testing.T) learn.Info {
	of := ofClasses(t)
	of.Contract = learn.Bounded
	return of
}

func TestContractOfLivingNetworks(t *testing.T) {
	settings := []map[string]string{{"update": "living", "reservoir": "100"}}
	if long {
		settings = append(settings, map[string]string{"update": "living"})
	}
	for _, law := range learntest.Laws() {
		t.Run(law, func(t *testing.T) {
			for _, settings := range settings {
				if settings["reservoir"] != "" && law == "weight 2 is the row twice" {
					continue // rows are drawn, and what is there twice may be drawn twice
				}
				if err := learntest.Check(livingInfo(t), learntest.Options{Settings: settings, Laws: []string{law}}); err != nil {
					t.Errorf("%v: %v", settings, err)
				}
			}
		})
	}
}

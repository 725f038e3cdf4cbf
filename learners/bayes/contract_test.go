package bayes

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) {
	learntest.Run(t, Name)
	for name, settings := range map[string]map[string]string{
		"plain frequencies": {"m": "0"},
		"smooth priors":     {"m": "2.5", "prior-m": "3"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, Name, learntest.Options{Seed: 5, Settings: settings}) })
	}
}

package neural

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

// The settings that change most of what a model is keep the contract too.
func TestContractWithSettings(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"committee":     {"committee": "3", "restarts": "2", "hidden": "9", "epochs": "20"},
		"momentum":      {"optimiser": "momentum", "activation": "tanh", "hidden": "8,5", "epochs": "20"},
		"no hidden":     {"hidden": "0", "activation": "sigmoid", "epochs": "20"},
		"no validation": {"validation": "0", "epochs": "10"},
		"folds":         {"folds": "3", "epochs": "8", "hidden": "7", "loss": "squared", "schedule": "cosine"},
		"L-BFGS":        {"optimiser": "lbfgs", "epochs": "15", "hidden": "6", "prune": "0.4"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, Name, learntest.Options{Settings: settings}) })
	}
}

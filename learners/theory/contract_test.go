package theory

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

// Fewer epochs than by default make the laws no weaker, and cheaper to try.
func TestContract(t *testing.T) {
	learntest.RunWith(t, Name, learntest.Options{Settings: map[string]string{"epochs": "25"}})
}

func TestContractOfExplanations(t *testing.T) {
	learntest.RunWith(t, EBNNName, learntest.Options{Settings: map[string]string{"epochs": "25"}})
}

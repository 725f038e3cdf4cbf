package all

import (
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

// Every learner that is imported here keeps the contract.
func TestContract(t *testing.T) {
	if len(learn.All()) < 3 {
		t.Errorf("%d learners are registered", len(learn.All()))
	}
	for _, info := range learn.All() {
		t.Run(info.Name, func(t *testing.T) { learntest.Run(t, info.Name) })
	}
}

package belief_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/belief"
)

func TestContract(t *testing.T) { learntest.Run(t, belief.Name) }

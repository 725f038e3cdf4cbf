package theory

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
)

func TestContract(t *testing.T) { learntest.Run(t, Name) }

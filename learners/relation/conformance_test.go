package relation_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/relation"
)

func TestContract(t *testing.T) { learntest.Run(t, relation.FoilName) }

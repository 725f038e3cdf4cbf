package relation_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/relation"
)

func TestContract(t *testing.T) {
	for _, name := range []string{relation.FoilName, relation.EBGName, relation.ProgolName, relation.GolemName, relation.FoclName, relation.PlanName, relation.CigolName} {
		t.Run(name, func(t *testing.T) { learntest.Run(t, name) })
	}
}

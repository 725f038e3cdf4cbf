package belief_test

import (
	"testing"

	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/belief"
)

func TestContract(t *testing.T) { learntest.Run(t, belief.Name) }

// Every way to a graph and to its tables keeps the laws of updates.
func TestContractOfStructures(t *testing.T) {
	laws := []string{
		"same seed, same model, any number of cores", "missing cells", "save and load", "updates keep their contract",
		"updates bring new values and classes", "merging is learning the union", "forgetting is learning without", "explanations add up",
	}
	for name, set := range map[string]map[string]string{
		"k2": {"structure": "k2", "score": "bic"}, "tan": {"structure": "tan", "m": "0"}, "pc": {"structure": "pc"},
		"given": {"require": "out come->shape,shape->colour", "structure": "given"}, "em": {"structure": "tan", "missing": "em", "iterations": "5"},
		"weighting": {"inference": "weighting", "samples": "20", "structure": "tan"},
	} {
		t.Run(name, func(t *testing.T) { learntest.RunWith(t, belief.Name, learntest.Options{Settings: set, Laws: laws}) })
	}
}

// Without rows a network answers as with them.
func TestKeepNothing(t *testing.T) {
	laws := []string{"same seed, same model, any number of cores", "a table without targets is refused", "missing cells", "row by row as all at once", "explanations add up", "huge and tiny numbers"}
	learntest.RunWith(t, belief.Name, learntest.Options{Settings: map[string]string{"keep": "nothing", "structure": "tan"}, Laws: laws})
}

// Counts in place of rows keep all laws.
func TestKeepCounts(t *testing.T) {
	learntest.RunWith(t, belief.Name, learntest.Options{Settings: map[string]string{"keep": "counts", "structure": "given", "require": "out come->shape,shape->colour"}})
}

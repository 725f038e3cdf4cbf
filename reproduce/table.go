package reproduce

import (
	"cmp"
	"fmt"
	"slices"
)

// All returns every experiment, sorted by name.
func All() []Experiment {
	all := slices.Concat(
		concepts(), bounds(),
		playTennis(), instances(), probabilities(), newsgroups(), overfitting(),
		covering(), logics(), relations(), guided(), evolution(), evolvedFormulas(),
		networks(),
		leastSquares(), checkersLearner(), perceptrons(), backPropagation(), growingNetworks(), faces(),
		sequences(),
		statistics(),
		ruleNetworks(), itrule(), explanations(), planning(), ruleNetworkDivisions(), ruleNetworkGrowth(), livingStreams(),
		incrementalSessions(),
		neuralTrees(),
		gaussianUnits(), gaussianSimplified(), gaussianExperts(),
		acting(), theories(), withheld(), biases(),
	)
	slices.SortFunc(all, func(a, b Experiment) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// mitchell says where in the textbook something is.
func mitchell(where string) string { return "Mitchell 1997, Machine Learning, " + where }

// chapter is the tags of an experiment of the textbook.
func chapter(n int) []string { return []string{fmt.Sprintf("ch%02d", n), "mitchell"} }

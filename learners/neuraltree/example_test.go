package neuraltree_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neuraltree"
)

// Whether an odd number of three bits is set takes three units, no more. Each
// certificate says what its unit did, and the rules count bits.
func Example() {
	ctx := context.Background()
	t, set, err := datasets.Load(ctx, "parity:bits=3")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := (&neuraltree.Learner{}).Learn(ctx, learn.Task{Table: t, Seed: 1, Target: set.Target})
	if err != nil {
		fmt.Println(err)
		return
	}
	tree := m.(*neuraltree.Model)
	for _, c := range tree.Growth() {
		fmt.Printf("unit %d, %s: %v rows, %v errors removed\n", c.Unit, c.Type(), c.Rows, c.Removed)
	}
	net := tree.Network()
	fmt.Printf("as a network: %d inputs, %d units, %d output\n", len(net.Inputs), len(net.Units), len(net.Outputs))
	// Output:
	// unit 1, non-terminal: 8 rows, 2 errors removed
	// unit 2, terminal: 4 rows, 1 errors removed
	// unit 3, terminal: 4 rows, 1 errors removed
	// as a network: 6 inputs, 3 units, 1 output
}

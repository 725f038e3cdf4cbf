package units_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learners/neural/units"
)

// Two sigmoid layers learn XOR, which no single unit can.
func Example() {
	var examples []units.Example
	for _, x := range [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		examples = append(examples, units.Example{Input: x, Target: []float64{x[0] + x[1] - 2*x[0]*x[1]}})
	}
	n := units.Layered(units.Sigmoid, units.Sigmoid, 2, 3, 1)
	n.Randomise(1, rand.New(rand.NewPCG(1, 1)))
	d := &units.Descent{Rate: units.Constant(.5), Momentum: .9, Loss: units.CrossEntropy, Batch: 1}
	for range 2000 {
		d.Epoch(n, examples)
	}
	for _, e := range examples {
		fmt.Printf("%v xor %v = %.1f\n", e.Input[0], e.Input[1], n.Answer(e.Input)[0])
	}
	// Output:
	// 0 xor 0 = 0.0
	// 0 xor 1 = 1.0
	// 1 xor 0 = 1.0
	// 1 xor 1 = 0.0
}

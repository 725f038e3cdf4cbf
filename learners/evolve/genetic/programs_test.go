package genetic

import (
	"math"
	"testing"
)

// A machine of two states foretells a string that alternates, and loses a state
// without going astray.
func TestMachine(t *testing.T) {
	m := Machine{States: []State{{Say: [2]byte{1, 0}, Next: [2]int{1, 1}}, {Say: [2]byte{1, 0}, Next: [2]int{0, 0}}}}
	if got := m.Predicts(BitsOf("0101010101")); got != 9 {
		t.Errorf("%d of 9 symbols are foretold", got)
	}
	if got := m.without(1).Predicts(BitsOf("0101010101")); got != 9 {
		t.Errorf("%d of 9 by one state", got)
	}
}

// Exclusive or as a subroutine makes even parity of three arguments.
func TestSubroutine(t *testing.T) {
	arg := func(i int) LogicalNode { return LogicalNode{Kind: Argument, Index: i} }
	or := []LogicalNode{arg(0), arg(1), {Kind: Or}, arg(0), arg(1), {Kind: Nand}, {Kind: And}}
	program := Logical{Main: []LogicalNode{arg(0), arg(1), {Kind: Call}, arg(2), {Kind: Call}, arg(0), arg(0), {Kind: Nor}, arg(0), {Kind: Or}, {Kind: Nand}}, Subs: [][]LogicalNode{or}}
	if got := Parity(3, 1, 100).Fitness(program); got != 8 {
		t.Errorf("%v of 8 cases are right", got)
	}
}

// The seed circuit halves the voltage; a capacitor across the load is the first low
// pass of every book; what hangs in the air cannot be simulated.
func TestCircuit(t *testing.T) {
	frequencies := []float64{1, 1000, 1e5}
	for _, v := range (Circuit{}).Response(frequencies) {
		if math.Abs(v-0.5) > 1e-12 {
			t.Errorf("the seed circuit gives %v volts", v)
		}
	}
	const farad = 1e-7
	for i, v := range (Circuit{{Do: Connect, Part: 'C', Value: farad, A: 1, B: 0}}).Response(frequencies) {
		want := 0.5 / math.Hypot(1, 2*math.Pi*frequencies[i]*farad*500)
		if math.Abs(v-want) > 1e-12 {
			t.Errorf("%v Hz: %v volts, expected %v", frequencies[i], v, want)
		}
	}
	loose := Circuit{{Do: Insert, Part: 'R', Value: 1}, {Do: Insert, Part: 'R', Value: 1}, {Do: Remove}, {Do: Remove}}
	if got := loose.Response(frequencies); got != nil {
		t.Errorf("a loose node gives %v", got)
	}
}

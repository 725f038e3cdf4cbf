package logic

import (
	"math"
	"testing"
)

// TestBits reckons up clauses by hand.
func TestBits(t *testing.T) {
	for text, want := range map[string]float64{
		"": 1,
		// The end; a clause: one more, no more literals, a relation of 4, a new variable
		// or none of 2, which is 1 bit, and another one or that one or none, of 3.
		"p(X,Y).": 1 + 2 + 2 + 1 + math.Log2(3),
		// A literal: one more, denied, a relation; X is one of 1, so 3 choices; then none
		// of them, a name, of 8.
		"p(X) :- \\+ q(X, a).": 1 + (2 + 2 + 1) + (2 + 2 + math.Log2(3) + math.Log2(3) + 1 + 3),
		// A number takes as many bits as it is said to.
		"p(X) :- X > 7.": 1 + (2 + 2 + 1) + (2 + 2 + math.Log2(3) + math.Log2(3) + 1 + 5),
	} {
		p, err := Read("p.pl", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Bits(4, 8, 5); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v bits, want %v", text, got, want)
		}
	}
}

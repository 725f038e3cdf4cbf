package rulenet

import (
	"fmt"
	"math"
)

// drift follows what changed lately.
type drift struct{}

func newDrift(k int) *drift               { return &drift{} }
func (d *drift) copy() *drift             { to := *d; return &to }
func (d *drift) room(from, to int)        {}
func (d *drift) retain(stay []int, k int) {}

// answering returns the weights that the network answers by.
func (s *living) answering() []float64 { return s.w }

// Moved is a rule whose weight has moved lately.
type Moved struct{}

func expNeg(x float64) float64 { return math.Exp(-x) }

func (d *drift) sound(s *living) error { return nil }

// Remarks says what moved.
func (m *Living) Remarks() ([]fmt.Stringer, error) {
	var all []fmt.Stringer
	for _, n := range m.s.notes {
		all = append(all, note(n))
	}
	return all, nil
}

// note is a remark in words.
type note string

func (n note) String() string { return string(n) }

package policy_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/policy"
	"github.com/accrete-ml/accrete/table"
)

// stairs are an environment of one's own: five steps, a treasure at the top, and each
// step costs one.
type stairs struct{ step float64 }

func (s *stairs) Schema() *table.Schema {
	return &table.Schema{Attributes: []table.Attribute{{Name: "step", Kind: table.Numeric}}}
}
func (s *stairs) Actions() []string     { return []string{"up", "down"} }
func (s *stairs) Reset(seed uint64)     { s.step = float64(seed % 5) }
func (s *stairs) State(cells []float64) { cells[0] = s.step }

func (s *stairs) Legal() []int {
	if s.step == 0 {
		return []int{0}
	}
	return []int{0, 1}
}

func (s *stairs) Step(action int) (reward float64, end bool, err error) {
	switch {
	case action == 1 && s.step == 0:
		return 0, false, errors.New("there is nothing below")
	case action == 1:
		s.step--
	default:
		s.step++
	}
	if s.step == 5 {
		return 10, true, nil
	}
	return -1, false, nil
}

// An environment in Go is a type with six methods; a policy that acted in it is a
// model like any other.
func ExampleLearner_LearnIn() {
	l := &policy.Learner{Episodes: 500, Alpha: "1"} // chance has no part in it
	m, err := l.LearnIn(context.Background(), "stairs", &stairs{}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	q := make([]float64, 2)
	for step := range 5 {
		m.(*policy.Model).Worth([]float64{float64(step)}, q)
		fmt.Printf("step %d: up %.1f, down %.1f\n", step, q[0], q[1])
	}
	kept, err := learn.Encode(m)
	fmt.Println(len(kept) > 0, err)
	// Output:
	// step 0: up 3.1, down NaN
	// step 1: up 4.6, down 1.8
	// step 2: up 6.2, down 3.1
	// step 3: up 8.0, down 4.6
	// step 4: up 10.0, down 6.2
	// true <nil>
}

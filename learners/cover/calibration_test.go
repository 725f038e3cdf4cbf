package cover

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/evaluate"
)

// Probabilities are calibrated on unseen rows. A list whose ten answers were
// exactly right would show an expected calibration error of at most
// √(2/π)·½·√(10/n) on n rows, the mean of what chance alone makes of ten
// frequencies; twice that is allowed.
func TestCalibration(t *testing.T) {
	for _, name := range []string{"votes", "credit-a", "pima", "breast-cancer"} {
		tab, target := load(t, name)
		r, err := evaluate.CrossValidate(context.Background(), evaluate.Spec{
			Data: name, Table: tab, Target: target, Seed: 1, Learner: Name, New: evaluate.Registered(Name, nil),
		}, 10)
		if err != nil {
			t.Fatal(err)
		}
		most := 2 * math.Sqrt(2/math.Pi) * .5 * math.Sqrt(10/float64(tab.Rows()))
		if r.ECE == nil || *r.ECE > most {
			t.Errorf("%s: ECE %v, want at most %.3f", name, *r.ECE, most)
		}
	}
}

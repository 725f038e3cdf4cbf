package life

import (
	"math"
	"testing"
)

// How much farther off numbers are is said with its interval: by hand, squared
// errors of 1, 4, 9 and 16 that all become 0 are 7.5 ± 3.182·√(43/4) less, and the
// errors that divided by √7.5 + 0.
func TestErrorsAreCompared(t *testing.T) {
	var answers []changedAnswer
	for _, e := range []float64{1, 4, 9, 16} {
		answers = append(answers, changedAnswer{weight: 1, known: true, changed: true, isRight: true, error2: e})
	}
	x := EffectTable{}.judged(answers, true)
	near := func(got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-3 {
			t.Errorf("%v, expected %v", got, want)
		}
	}
	near(x.RMSEBefore, math.Sqrt(7.5))
	near(x.Difference, -math.Sqrt(7.5))
	near(x.Low, (-7.5-3.18245*math.Sqrt(43.0/4))/math.Sqrt(7.5))
	near(x.High, (-7.5+3.18245*math.Sqrt(43.0/4))/math.Sqrt(7.5))
	if x.Verdict() != Unsure || x.Fixed != 4 {
		t.Errorf("%s, %v nearer", x.Verdict(), x.Fixed)
	}
	for range 4 {
		answers = append(answers, answers...)
	}
	if x := (EffectTable{}).judged(answers, true); x.Verdict() != Better {
		t.Errorf("64 of them: %s", x.Verdict())
	}
	if x := (EffectTable{}).judged(answers[:1], true); x.Low != nil || x.Verdict() != Unsure {
		t.Errorf("one row alone: %v, %s", x.Low, x.Verdict())
	}
	score := scoreOf(answers[:1], true)
	if *score.RMSE != 1 || score.Low != nil || score.Words() != "off by 1" {
		t.Errorf("%+v", score)
	}
}

package life_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/life"
)

// Learners are weighed by what they get wrong and by where they leave a theory: the
// theory's own network leaves it nowhere, and the costs decide who is chosen.
func TestCriterionWeighsRowsAgainstATheory(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	choices, names, err := life.Choices([]string{"kbann:epochs=0", "near=0", "kbann", "focl"})
	if err != nil {
		t.Fatal(err)
	}
	rules := &life.Rules{File: "cup"}
	for i := range choices {
		choices[i].Rules = rules
	}
	specs, err := h.Specs(ctx, find(t, h, "cup"), "", choices)
	if err != nil {
		t.Fatal(err)
	}
	for i := range specs {
		specs[i].Learner = names[i]
	}
	r, err := evaluate.Compare(ctx, specs, 5)
	if err != nil {
		t.Fatal(err)
	}
	for criterion, least := range map[string]int{"0:1": 0, "1:0": 1} {
		r.Criterion = nil
		if err := h.Weigh(ctx, r, specs, rules, criterion); err != nil {
			t.Fatal(err)
		}
		if own := r.Criterion[0].ErrorTheory; own != 0 {
			t.Errorf("the theory's own network differs from it on %v", own)
		}
		for i, w := range r.Criterion {
			cost := map[string]float64{"0:1": w.ErrorTheory, "1:0": 1 - *r.Learners[i].Accuracy}[criterion]
			if math.Abs(w.Score-cost) > 1e-12 || w.Least != (i == least) {
				t.Errorf("%s: %+v; expected a cost of %v, the least of learner %d", criterion, w, cost, least)
			}
		}
	}
	for criterion, wrong := range map[string]string{"1": "expected two numbers", "0:0": "not both 0", "1:x": "expected two numbers"} {
		if err := h.Weigh(ctx, r, specs, rules, criterion); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v; expected %q in it", criterion, err, wrong)
		}
	}
	if err := h.Weigh(ctx, r, specs, &life.Rules{}, "1:1"); err == nil || !strings.Contains(err.Error(), "name the file") {
		t.Errorf("without a theory: %v", err)
	}
}

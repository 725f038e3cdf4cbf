package life_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/life"
)

// A mixture answers with its component, so it is read out as a tree of that; columns
// are made by clauses about facts, and others are told that they have none.
func TestModelsAreReadOutAsTreesAndColumns(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	learnt := func(data, learner string) *life.Part {
		if _, err := h.Learn(ctx, life.LearnOptions{Data: find(t, h, data), Choice: life.Choice{Learner: learner}, Name: learner}); err != nil {
			t.Fatal(err)
		}
		p, err := h.Load(learner)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	mixture := learnt("iris", "mixture")
	tree, fidelity, err := h.AsTree(ctx, mixture, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fidelity < .8 || tree.Schema().Attributes[tree.Target()].Name != "state" {
		t.Errorf("a tree of %s that agrees on %v", tree.Schema().Attributes[tree.Target()].Name, fidelity)
	}
	var out bytes.Buffer
	if err := h.WriteColumns(ctx, &out, learnt("../docs/coverage/kin", "foil"), nil); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); first != `a,b,ancestor,"parent(a,b)",parent(a),"ancestor(parent(a),b)"` || strings.Count(out.String(), "\n") != 37 {
		t.Errorf("columns\n%s", out.String())
	}
	if err := h.WriteColumns(ctx, &out, mixture, nil); err == nil || !strings.Contains(err.Error(), "has no clauses") {
		t.Errorf("columns of a mixture: %v", err)
	}
}

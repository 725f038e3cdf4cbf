package theory

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

// TestAfterFu: a body of several tests is a conjunction unit, even if it is the only one
// of its concept, which reads it; a single test is read by the concept itself; the network
// answers as the theory, and training moves the links of the rules alone.
func TestAfterFu(t *testing.T) {
	rows, target, clauses := builtIn(t, "cup")
	m := learnt(t, rows, target, clauses, &Learner{After: afterFu, Epochs: of(0)})
	reads := map[string][]string{}
	for i := range m.gates {
		for _, l := range m.gates[i].literals {
			name := l.test.String()
			if l.unit != none && l.test.Column == "" {
				name = "its rule"
			}
			reads[m.gates[i].name] = append(reads[m.gates[i].name], name)
		}
	}
	const liftable = "liftable = yes"
	body := liftable + " by IF graspable = yes AND light = 1 THEN liftable = yes"
	if len(m.gates) != 8 || !slices.Equal(reads[liftable], []string{"its rule"}) || !slices.Equal(reads[body], []string{"graspable = yes", "light = 1"}) ||
		!slices.Equal(reads["stable = yes"], []string{"bottom_is_flat = 1"}) {
		t.Errorf("%d units: %q", len(m.gates), reads)
	}
	if m.agreement+m.open != 10 {
		t.Errorf("the network answers as the theory on %v of 10 rows", m.agreement)
	}
	trained := learnt(t, rows, target, clauses, &Learner{After: afterFu})
	for i, linked := range trained.net.linked {
		if w := trained.net.weights[i]; !linked && w != 0 {
			t.Fatalf("a link that no rule has weighs %v", w)
		}
	}
	if links := len(trained.net.weights) - len(trained.net.linked) - len(trained.net.units); links != 7 {
		t.Errorf("%d links between units, expected 7", links)
	}
	if trained.base.Fit != 1 || len(trained.base.Rules) != 5 {
		t.Errorf("%d rules agree with the network on %v of the rows", len(trained.base.Rules), trained.base.Fit)
	}
	saved, err := learn.Encode(trained)
	if err != nil {
		t.Fatal(err)
	}
	read, err := learn.Decode(saved)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.(*Model); !slices.Equal(got.net.weights, trained.net.weights) || len(got.gates) != 8 {
		t.Error("the network that was read is another")
	}
}

// TestAfterFuIsOfRules: further links, and a network of no theory, are refused.
func TestAfterFuIsOfRules(t *testing.T) {
	rows, target, _ := builtIn(t, "cup")
	for want, l := range map[string]*Learner{
		"leave out links and near": {After: afterFu, Links: linksAll},
		"links of the rules alone": {After: afterFu, Near: of(0.1)},
		"there is no theory":       {After: afterFu},
	} {
		if _, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: target}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

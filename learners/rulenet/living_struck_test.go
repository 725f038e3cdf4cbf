package rulenet

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
)

// A network of which a rule was struck decides its rules anew as others do, and the
// picture of one that lives lights up as that of the network which is printed.
func TestStruckNetworksConsolidate(t *testing.T) {
	all := concept(1300, 0, 5)
	m := learnTo(t, all.Slice(0, 700), "first", nil).(*Living)
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	struck, err := expert.Strike(t.Context(), m, &base.Rules[len(base.Rules)-1])
	if err != nil {
		t.Fatal(err)
	}
	u, err := struck.(learn.Updater).Begin(learn.Source{ID: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), all.Slice(700, 1300)); err != nil {
		t.Fatal(err)
	}
	if err := u.(interface{ Consolidate(context.Context) error }).Consolidate(t.Context()); err != nil {
		t.Fatal(err)
	}
	grown, err := u.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole := expert.Whole(grown)
	exact := learnTo(t, all, "all", map[string]string{"update": "exact"})
	if far := furthest(answersOf(t, whole, all), answersOf(t, exact, all)); far > 1e-9 {
		t.Errorf("consolidated, answers differ by %v from those of all rows learnt at once", far)
	}
	lit, err := whole.(*Living).Lit(all, 0)
	if err != nil || len(lit) == 0 {
		t.Errorf("a row lights up %q, %v", lit, err)
	}
	if whole.(*Living).GrowthChart() == nil || whole.(*Living).Alike()["rules"] == "" {
		t.Error("nothing is said of the sizes that were tried")
	}
}

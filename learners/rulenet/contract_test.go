package rulenet

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) {
	learntest.Run(t, Name)
	for name, settings := range map[string]map[string]string{
		"published weights": {"weights": "published"},
		"all classes":       {"weights": "all", "ties": "first", "cuts": "frequency"},
		"calibrated only":   {"grow": "none", "ties": "random", "templates": "40"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := learntest.Check(ofClasses(t), learntest.Options{Seed: 3, Settings: settings}); err != nil {
				t.Error(err)
			}
		})
	}
	var laws []string // all of them
	if !long {
		laws = []string{
			"predictions are sound", "missing cells", "huge and tiny numbers", "one class only", "cancellation", "save and load", "damaged parts are refused",
			"updates keep their contract", "merging is learning the union", "forgetting is learning without", "rules predict as the model does", "explanations add up",
		}
	}
	t.Run("taught", func(t *testing.T) {
		learntest.RunWith(t, Name, learntest.Options{Settings: map[string]string{"teacher": "trees"}, Laws: laws})
	})
}

// Other losses keep the laws of numbers.
func TestContractOfLosses(t *testing.T) {
	of := info(t)
	of.Takes.Classes = false
	laws := []string{"save and load", "updates keep their contract", "rules predict as the model does", "explanations add up"}
	if long {
		laws = nil
	}
	if err := learntest.Check(of, learntest.Options{Seed: 3, Settings: map[string]string{"loss": "quantile", "quantile": "0.8"}, Laws: laws}); err != nil {
		t.Error(err)
	}
}

// ofClasses is the learner without numbers as targets, which only networks that
// are taught have.
func ofClasses(t *testing.T) learn.Info {
	of := info(t)
	of.Takes.Regression = false
	return of
}

// The published update keeps every law but those of exact updates, and of
// sources, which it does not keep apart.
func TestContractOfThePublishedUpdate(t *testing.T) {
	exact := []string{
		"updates keep their contract", "updates bring new values and classes", "merging is learning the union",
		"forgetting is learning without", "forgotten values leave the schema", "cancellation",
	}
	laws := slices.DeleteFunc(learntest.Laws(), func(law string) bool { return slices.Contains(exact, law) })
	for weights, laws := range map[string][]string{
		"published":  laws,
		"calibrated": {"updates leave the old model alone", "save and load", "damaged parts are refused", "rules predict as the model does", "explanations add up"},
	} {
		o := learntest.Options{Settings: map[string]string{"update": "published", "weights": weights}, Laws: laws}
		if err := learntest.Check(ofClasses(t), o); err != nil {
			t.Errorf("weights=%s: %v", weights, err)
		}
	}
}

// A network that keeps no rows answers as any other; what it cannot do is learn
// more.
func TestContractWithoutRows(t *testing.T) {
	laws := []string{"abilities are those declared", "missing cells", "predictions are sound", "weight 2 is the row twice", "rules predict as the model does", "explanations add up", "graphs are well formed"}
	if err := learntest.Check(info(t), learntest.Options{Settings: map[string]string{"update": "none"}, Laws: laws}); err != nil {
		t.Error(err)
	}
}

func TestSavedWithoutRows(t *testing.T) {
	l, err := learn.New(Name, map[string]string{"update": "none"})
	if err != nil {
		t.Fatal(err)
	}
	votes, set, err := datasets.Load(context.Background(), "votes")
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: votes, Seed: 1, Target: set.Target})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := m.Parts()
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	again, err := learn.DecodeParts(Name, parts)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := again.(learn.Keeper).Kept(context.Background()); again.Size() != m.Size() || rows != nil || err != nil {
		t.Errorf("read back with the size %+v, expected %+v and no rows", again.Size(), m.Size())
	}
	if _, err := again.(learn.Updater).Begin(learn.Source{}); err == nil {
		t.Error("a network without rows learns more")
	}
	if _, err := again.(learn.Excerpter).Excerpt(context.Background(), rule.Budget{Top: 3}); err == nil {
		t.Error("a network without rows is cut to a budget")
	}
	if _, err := learn.DecodeParts(Name, parts[:1]); err == nil {
		t.Error("a network without a network is read")
	}
}

// A column that was empty when a network of update=published was learnt is
// refused when its first numbers come, in words.
func TestPublishedRefusesNewColumns(t *testing.T) {
	early, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "a", Kind: table.Nominal, Values: []string{"x", "y"}}, {Name: "late", Kind: table.Nominal}, {Name: "c", Kind: table.Nominal, Values: []string{"n", "p"}},
	}}, []table.Column{{Codes: []int32{0, 1, 0, 1}}, {Codes: slices.Repeat([]int32{table.Missing}, 4)}, {Codes: []int32{0, 1, 0, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&Learner{Update: "published"}).Learn(t.Context(), learn.Task{Table: early, Target: "c", Source: learn.Source{ID: "early"}})
	if err != nil {
		t.Fatal(err)
	}
	schema := table.CopySchema(m.Schema())
	schema.Attributes[1] = table.Attribute{Name: "late", Kind: table.Numeric}
	late, err := table.New(schema, []table.Column{early.Columns[0], {Floats: []float64{1, 2, 3, 4}}, early.Columns[2]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := m.(learn.Updater).Begin(learn.Source{ID: "late"})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(t.Context(), late); err == nil || !strings.Contains(err.Error(), "takes no new columns") {
		t.Errorf("%v", err)
	}
}

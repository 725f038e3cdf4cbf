package learn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

func TestTarget(t *testing.T) {
	tab, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "fever"}, {Name: "illness"}}}, []table.Column{{Codes: []int32{}}, {Codes: []int32{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task Task
		want int
		err  string
	}{
		{Task{}, 0, "no table"},
		{Task{Table: tab}, 0, "names no target"},
		{Task{Table: tab, Target: "fever", NoTarget: true}, 0, "one of the two"},
		{Task{Table: tab, Target: "ilness"}, 0, `did you mean "illness"`},
		{Task{Table: tab, Target: "illness"}, 1, ""},
		{Task{Table: tab, NoTarget: true}, NoTarget, ""},
		{Task{Table: tab}.At(0), 0, ""},
		{Task{Table: tab}.At(NoTarget), NoTarget, ""},
		{Task{Table: tab}.At(2), 0, "names no target"},
	} {
		got, err := c.task.Column()
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: column %d, %v", c.task, got, err)
		}
	}
}

// able can learn more rows, and says what that promises.
type able struct{ echoModel }

func (*able) Begin(Source) (Update, error) { return nil, errors.ErrUnsupported }
func (*able) Promise() Promise             { return Promise{Contract: Bounded, Measure: LogLoss, Bound: 1} }

// wrap has the methods of two abilities, of which it adds one.
type wrap struct{ Model }

func (w wrap) Unwrap() Model                                  { return w.Model }
func (wrap) Adds(ability any) bool                            { _, ok := ability.(*Forgetter); return ok }
func (wrap) Sources() []Source                                { return nil }
func (wrap) Forget(context.Context, ...string) (Model, error) { return nil, errors.ErrUnsupported }
func (wrap) Merge(context.Context, ...Model) (Model, error)   { return nil, errors.ErrUnsupported }

func TestAbilities(t *testing.T) {
	for _, c := range []struct {
		m    Model
		want []string
	}{
		{&echoModel{}, []string{}},
		{&able{}, []string{"update"}},
		{wrap{&echoModel{}}, []string{"forget"}}, // it merges if the model within can
		{wrap{wrap{&able{}}}, []string{"update", "forget"}},
	} {
		if got := CanOf(c.m).Names(); !slices.Equal(got, c.want) {
			t.Errorf("%T can %q, expected %q", c.m, got, c.want)
		}
	}
	if u, ok := Ability[Updater](wrap{&able{}}); !ok || u.Learner() != "echo" {
		t.Error("the model within is not found")
	}
}

func TestPromises(t *testing.T) {
	for _, c := range []struct {
		m    Model
		want Contract
	}{{&echoModel{}, None}, {&able{}, Bounded}, {wrap{&able{}}, Bounded}, {&promising{}, Exact}} {
		if got := PromiseOf(c.m); got.Contract != c.want {
			t.Errorf("%T promises %v, expected %v", c.m, got, c.want)
		}
	}
}

// promising is a model of a learner that registers an exact contract.
type promising struct{ echoModel }

func (*promising) Learner() string              { return "promising" }
func (*promising) Begin(Source) (Update, error) { return nil, errors.ErrUnsupported }

func TestAdvice(t *testing.T) {
	units := Advice{Rules: &rule.Base{Units: []rule.Unit{{Name: "x"}}}}
	theory := Advice{Theory: &rule.Base{}}
	for _, c := range []struct {
		advice Advice
		takes  Takes
		want   string
	}{
		{Advice{}, Takes{}, ""},
		{Advice{Rules: &rule.Base{}}, Takes{}, ""}, // rules about classes are blended
		{units, Takes{}, "x does not learn from WHEN … EXPECT rules; no learner does"},
		{units, Takes{Rules: true}, ""},
		{theory, Takes{Rules: true}, "x does not reason with a domain theory; learners that do: reasoner"},
		{theory, Takes{Theory: true}, ""},
	} {
		got := ""
		if err := c.advice.Check(Info{Name: "x", Takes: c.takes}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, expected %q", c.advice, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		(&rule.Excerpt{Rules: 1, Of: 43, Share: 0.814, Accuracy: 0.942, Whole: 0.961}).String(): "1 rule of 43, 81 % of the bits, accuracy 94.2 % instead of 96.1 %",
		(&rule.Excerpt{Rules: 7, Of: 43}).String():                                              "7 rules of 43, 0 % of the bits, accuracy 0.0 % instead of 0.0 %",
	} {
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestEach(t *testing.T) {
	var sum atomic.Int64
	if err := Each(context.Background(), 100, func(i int) { sum.Add(int64(i)) }); err != nil || sum.Load() != 4950 {
		t.Errorf("%d, %v", sum.Load(), err)
	}
}

// TestWrappersAreSaved: what stands around a model is put back around it, the
// innermost first, and its parts are kept from the model within.
func TestWrappersAreSaved(t *testing.T) {
	RegisterWrapper("cover", func(within Model, parts []Part) (Model, error) {
		if len(FindPart(parts, "cover/extra")) == 0 {
			return nil, errors.New("the cover has no extra")
		}
		return wrap{within}, nil
	})
	parts := []Part{{Name: "own", Data: []byte{1}}, {Name: "cover", Data: []byte{2}}, {Name: "cover/extra", Data: []byte{3}}}
	m, err := DecodeParts("echo", parts)
	if err != nil {
		t.Fatal(err)
	}
	w, ok := m.(wrap)
	if !ok {
		t.Fatalf("a %T came back", m)
	}
	if own, _ := w.Unwrap().Parts(); len(own) != 1 || FindPart(own, "own") == nil || FindPart(own, "cover") != nil {
		t.Errorf("the model within has the parts %v", own)
	}
	if _, err := DecodeParts("echo", parts[:2]); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v", err)
	}
	if _, err := DecodeParts("nobody", parts); err == nil {
		t.Error("an unknown learner's model is read")
	}
}

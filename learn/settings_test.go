package learn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// tunable has a parameter of each kind that can be set.
type tunable struct {
	Measure string   `set:"measure" default:"gain" oneof:"gain|ratio" doc:"how splits are judged"`
	Title   string   `set:"title" doc:"any words"`
	Prune   bool     `set:"prune" default:"false" doc:"cut back"`
	Depth   int      `set:"depth" default:"0" doc:"how deep at most"`
	Rate    float64  `set:"rate" default:"0" doc:"how fast"`
	M       *float64 `set:"m" default:"1" doc:"prior rows"`
	Names   []string `set:"names" default:"none" doc:"cannot be set"`
	hidden  int
}

func (*tunable) Learn(context.Context, Task) (Model, error) { return nil, errors.ErrUnsupported }

func TestOptions(t *testing.T) {
	options := Options(&tunable{hidden: 1})
	var keys []string
	for _, o := range options {
		keys = append(keys, o.Key)
	}
	if want := []string{"measure", "title", "prune", "depth", "rate", "m", "names"}; !slices.Equal(keys, want) {
		t.Errorf("options %q, want %q", keys, want)
	}
	first := options[0]
	if first.Default != "gain" || first.Doc != "how splits are judged" || !slices.Equal(first.Choices, []string{"gain", "ratio"}) {
		t.Errorf("first option is %+v", first)
	}
	if options[1].Choices != nil {
		t.Errorf("a free text has choices %q", options[1].Choices)
	}
}

func TestSet(t *testing.T) {
	l := &tunable{}
	for key, value := range map[string]string{"measure": "ratio", "title": "a b", "prune": "true", "depth": "-3", "rate": "2.5e-3", "m": "0"} {
		if err := Set(l, key, value); err != nil {
			t.Errorf("%s=%s: %v", key, value, err)
		}
	}
	if l.Measure != "ratio" || l.Title != "a b" || !l.Prune || l.Depth != -3 || l.Rate != 0.0025 || l.M == nil || *l.M != 0 {
		t.Errorf("set to %+v", l)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ key, value, says string }{
		{"mesure", "gain", `did you mean "measure"?`},
		{"", "1", "unknown setting"},
		{"measure", "gini", "expected one of gain, ratio"},
		{"prune", "perhaps", "expected true or false"},
		{"depth", "1.5", "expected a whole number"},
		{"rate", "fast", "expected a number"},
		{"rate", "NaN", "expected a number"},
		{"rate", "+Inf", "expected a number"},
		{"m", "x", "expected a number"},
		{"names", "a", "cannot be set"},
	} {
		l := &tunable{}
		err := Set(l, c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%s: error %v, want one that says %q", c.key, c.value, err, c.says)
		}
		if l.M != nil {
			t.Errorf("%s=%s: refused, but set all the same", c.key, c.value)
		}
	}
}

// handing is a learner that hands settings on to another.
type handing struct {
	Base   string            `set:"base" default:"none" doc:"another"`
	OfBase map[string]string `set:"base.KEY" default:"none" doc:"its settings"`
}

func (*handing) Learn(context.Context, Task) (Model, error) {
	return nil, errors.New("nothing to learn")
}

func (h *handing) Check() error {
	if _, ok := h.OfBase["base.bad"]; ok {
		return errors.New("bad is bad")
	}
	return nil
}

func TestSetHandsOn(t *testing.T) {
	h := &handing{}
	for _, key := range []string{"base.a", "other.b.c"} {
		if err := Set(h, key, "1"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if len(h.OfBase) != 2 || h.OfBase["base.a"] != "1" || h.OfBase["other.b.c"] != "1" || h.Base != "" {
		t.Errorf("handed on: %+v", h)
	}
	if err := Set(h, "bse", "1"); err == nil {
		t.Error("a key without a dot is handed on")
	}
	Register(Info{Name: "handing", New: func() Learner { return &handing{} }})
	if _, err := New("handing", map[string]string{"base.bad": "1"}); err == nil || err.Error() != "handing: bad is bad" {
		t.Errorf("a learner that finds its settings wrong: %v", err)
	}
	if _, err := New("handing", map[string]string{"base.good": "1"}); err != nil {
		t.Error(err)
	}
}

package learn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// echo is a learner whose models are their parts.
type echo struct{}

func (echo) Learn(context.Context, Task) (Model, error) { return nil, errors.ErrUnsupported }

type echoModel struct {
	parts  []Part
	schema *table.Schema
	target int
}

func (*echoModel) Learner() string         { return "echo" }
func (m *echoModel) Schema() *table.Schema { return m.schema }
func (m *echoModel) Target() int           { return m.target }
func (*echoModel) Size() Size              { return Size{} }
func (*echoModel) Predict(context.Context, *table.Table, *Predictions) error {
	return errors.ErrUnsupported
}

func (m *echoModel) Parts() ([]Part, error) {
	if m.parts == nil {
		return nil, errors.New("no parts")
	}
	return m.parts, nil
}

func init() {
	Register(Info{Name: "echo", New: func() Learner { return echo{} }, Decode: func(parts []Part) (Model, error) {
		if len(parts) == 0 {
			return nil, errors.New("nothing to say")
		}
		return &echoModel{parts: parts}, nil
	}})
	Register(Info{Name: "abc", New: func() Learner { return echo{} }})
	Register(Info{Name: "zebra", New: func() Learner { return echo{} }})
	Register(Info{Name: "imported"})
	Register(Info{Name: "promising", Contract: Exact, New: func() Learner { return echo{} }})
	Register(Info{Name: "reasoner", Takes: Takes{Theory: true}, New: func() Learner { return echo{} }})
}

func TestLookup(t *testing.T) {
	if info, err := Lookup("echo"); err != nil || info.Name != "echo" {
		t.Errorf("Lookup found %q, %v", info.Name, err)
	}
	if _, err := Lookup("ecco"); err == nil || !strings.Contains(err.Error(), `unknown learner "ecco"; did you mean "echo"?`) {
		t.Errorf("error %v", err)
	}
	if _, err := Lookup(""); err == nil {
		t.Error("a learner without a name is found")
	}
}

func TestAll(t *testing.T) {
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) || len(all) < 3 {
		t.Errorf("%d learners, not sorted by name", len(all))
	}
	if slices.ContainsFunc(all, func(i Info) bool { return i.Name == "imported" }) {
		t.Error("a kind of model that cannot be learnt is listed as a learner")
	}
	if _, err := New("imported", nil); err == nil {
		t.Error("a kind of model that cannot be learnt is learnt")
	}
	all[0].Name = "changed"
	if All()[0].Name == "changed" {
		t.Error("the registry can be changed through what All returns")
	}
}

func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second learner of the same name is registered")
		}
	}()
	Register(Info{Name: "echo"})
}

func TestContractString(t *testing.T) {
	for c, want := range map[Contract]string{None: "none", Bounded: "bounded", Exact: "exact"} {
		if c.String() != want {
			t.Errorf("%d is %q, want %q", c, c, want)
		}
	}
}

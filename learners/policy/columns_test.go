package policy

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// besides adds columns to a log of random acts that have no part in what comes of them:
// a day, the warmth, and who did it.
func besides(t *testing.T, name string, rows int, seed uint64) *table.Table {
	t.Helper()
	log, err := act.LogRows(context.Background(), world(t, name), rows, 1000, seed)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 7))
	more := make([]table.Column, 3)
	for range log.Rows() {
		more[0].Floats = append(more[0].Floats, float64(1+random.IntN(31)))
		more[1].Floats = append(more[1].Floats, 15+4*random.NormFloat64())
		more[2].Codes = append(more[2].Codes, int32(random.IntN(3)))
	}
	schema := &table.Schema{Attributes: append([]table.Attribute{
		{Name: "day", Kind: table.Numeric}, {Name: "warmth", Kind: table.Numeric}, {Name: "who", Kind: table.Nominal, Values: []string{"ann", "bob", "cy"}},
	}, log.Schema.Attributes...)}
	all, err := table.New(schema, append(more, log.Columns...), nil)
	if err == nil {
		all, err = all.InSequence("episode", log.Sequence, log.SequenceNames)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func logged(t *testing.T, log *table.Table) *Model {
	t.Helper()
	m, err := (&Learner{Reward: "reward"}).Learn(context.Background(), learn.Task{Table: log, Target: "action", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func (m *Model) looksAt() (names []string) {
	for _, c := range m.States() {
		names = append(names, m.schema.Attributes[c].Name)
	}
	return names
}

// With columns that tell nothing no state is met twice; the policy looks at the others
// alone, and is as good as it is without them.
func TestColumnsThatCount(t *testing.T) {
	for name, x := range map[string]struct {
		rows  int
		looks []string
	}{"frozenlake": {10_000, []string{"row", "col"}}, "inventory": {5000, []string{"stock"}}} {
		for seed := range uint64(2) {
			m := logged(t, besides(t, name, x.rows, 310+seed))
			if !slices.Equal(m.looksAt(), x.looks) {
				t.Errorf("%s, seed %d: it looks at %v", name, 310+seed, m.looksAt())
				continue
			}
			if got := share(t, m, name, m.Gamma()); got < 0.95 {
				t.Errorf("%s, seed %d: %.3f of the best", name, 310+seed, got)
			}
		}
	}
	m := logged(t, besides(t, "frozenlake", 10_000, 310))
	data, err := learn.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := learn.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.(*Model).state, m.state) {
		t.Errorf("read back it looks at %v", again.(*Model).looksAt())
	}
	base, err := m.Rules()
	if err != nil || len(base.Notes) != 1 || len(base.Rules[0].If) != 2 {
		t.Errorf("rules %v %v", base, err)
	}
}

// Advice may speak of a column that nothing else depends on: it is looked at then.
func TestAdviceOnOtherColumns(t *testing.T) {
	m := logged(t, besides(t, "frozenlake", 10_000, 312))
	rules, err := rule.ParseFor("advice", []byte("IF who = bob THEN action = up WORTH 5\n"), m.schema)
	if err != nil {
		t.Fatal(err)
	}
	told, heard, err := m.Advised(rules, learn.Source{ID: "b", Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	if names := told.(*Model).looksAt(); !slices.Equal(names, []string{"who", "row", "col"}) {
		t.Errorf("it looks at %v", names)
	}
	if h := heard[0]; h[0] != 11 { // places of the lake that one acts in
		t.Errorf("heard in %v", h)
	}
}

// What rewards depend on stays, of whatever kind, though no table can be made of it.
func TestColumnsThatStay(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	columns := make([]table.Column, 4)
	for range 3000 {
		warmth, a := random.Float64(), random.IntN(2)
		reward := random.NormFloat64()
		if (warmth > 0.5) == (a == 1) {
			reward++
		}
		columns[0].Floats, columns[1].Floats = append(columns[0].Floats, warmth), append(columns[1].Floats, random.Float64())
		columns[2].Codes, columns[3].Floats = append(columns[2].Codes, int32(a)), append(columns[3].Floats, reward)
	}
	log, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "warmth", Kind: table.Numeric}, {Name: "noise", Kind: table.Numeric}, {Name: "action", Kind: table.Nominal, Values: []string{"a", "b"}}, {Name: "reward", Kind: table.Numeric},
	}}, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := logged(t, log)
	q := make([]float64, 2)
	for _, x := range []float64{0.1, 0.9} {
		if m.Worth([]float64{x, 0.5}, q); (q[1] > q[0]) != (x > 0.5) {
			t.Errorf("at %v actions are worth %v", x, q)
		}
	}
}

package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	_ "github.com/accrete-ml/accrete/learners/belief"
	_ "github.com/accrete-ml/accrete/learners/markov"
	"github.com/accrete-ml/accrete/table"
)

func TestContract(t *testing.T) {
	learntest.RunWith(t, Name, learntest.Options{Settings: map[string]string{"of": "belief", "of.structure": "tan", "starts": "1", "iterations": "3"}})
}

// Mixtures of mixtures keep what depends on their layers.
func TestContractOfLayers(t *testing.T) {
	settings := map[string]string{"of": "mixture", "of.of": "belief", "of.of.structure": "tan", "starts": "1", "iterations": "2", "of.starts": "1", "of.iterations": "2"}
	laws := []string{"missing cells", "unseen values", "constant and duplicate columns", "save and load", "updates bring new values and classes"}
	learntest.RunWith(t, Name, learntest.Options{Settings: settings, Laws: laws})
}

// walkers are sequences of two kinds: those that alternate, and those that stay.
func walkers(t testing.TB, each, length int) *table.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 0))
	var codes, of []int32
	var names []string
	for i := range 2 * each {
		at := random.Int32N(2)
		stays := []float64{.15, .85}[i%2]
		for range length {
			codes, of = append(codes, at), append(of, int32(i))
			if random.Float64() > stays {
				at = 1 - at
			}
		}
		names = append(names, fmt.Sprint(i))
	}
	rows, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "step", Values: []string{"a", "b"}}}}, []table.Column{{Codes: codes}}, nil)
	if err == nil {
		rows, err = rows.InSequence("walker", of, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Sequences of two kinds of the same letters are told apart by how letters follow
// each other. A sequence of 30 steps is of the wrong kind with a probability of about
// 1e-6 (15 % against 85 % in 29 steps), so that all of 40 must be right.
func TestSequencesAreClustered(t *testing.T) {
	rows := walkers(t, 20, 30)
	m, err := (&Learner{OfOf: map[string]string{"of.order": "1"}}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	kind := map[int32]int{}
	err = m.(*Model).Wholes(context.Background(), rows, func(from, _ int, log float64, path []int32, both float64) {
		if log >= 0 || both > log+1e-9 {
			t.Errorf("log likelihood %v, with the component %v", log, both)
		}
		kind[path[0]] += from / 30 % 2
	})
	if err != nil {
		t.Fatal(err)
	}
	if min(kind[0], kind[1]) != 0 || max(kind[0], kind[1]) != 20 {
		t.Errorf("of the 20 that stay, %v are in each component", kind)
	}
}

// The likelihood of two biased coins, each thrown ten times for a row, is raised to
// that of their true mixture, and a component alone is the plain density.
func TestLikelihoodRises(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	s := &table.Schema{}
	columns := make([]table.Column, 10)
	for j := range columns {
		s.Attributes = append(s.Attributes, table.Attribute{Name: fmt.Sprint("c", j), Values: []string{"h", "t"}})
		for r := range 400 {
			code := int32(0)
			if random.Float64() < []float64{.2, .8}[r%2] {
				code = 1
			}
			columns[j].Codes = append(columns[j].Codes, code)
		}
	}
	rows, err := table.New(s, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(components int) float64 {
		m, err := (&Learner{Components: components, OfOf: map[string]string{"of.structure": "given", "of.require": "c0->c1"}}).Learn(context.Background(), learn.Task{Table: rows, NoTarget: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		logs, sum := make([]float64, rows.Rows()), 0.0
		fitted, _, err := table.Conform(rows, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.(*Model).LogDensity(context.Background(), fitted, logs); err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			sum += l
		}
		return sum / float64(len(logs))
	}
	// One: ten fair coins. Two: the entropy of a coin of .2 ten times, and which it is.
	one, two := mean(1), mean(2)
	if want := -10 * math.Ln2; math.Abs(one-want) > .1 {
		t.Errorf("one component: %v a row, want about %v", one, want)
	}
	if want := 10*(.2*math.Log(.2)+.8*math.Log(.8)) - math.Ln2; math.Abs(two-want) > .2 {
		t.Errorf("two components: %v a row, want about %v", two, want)
	}
}

func TestErrors(t *testing.T) {
	for _, l := range []*Learner{{Of: "gaussian"}, {Of: "tree"}, {Of: "nobody"}, {Components: -1}, {Starts: -1}, {Tolerance: -1}, {OfOf: map[string]string{"base.x": "1"}}, {Of: "belief", OfOf: map[string]string{"of.x": "1"}}} {
		if err := l.Check(); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

func FuzzDecode(f *testing.F) {
	m, err := (&Learner{Components: 1}).Learn(context.Background(), learn.Task{Table: walkers(f, 2, 3), NoTarget: true})
	if err != nil {
		f.Fatal(err)
	}
	parts, err := m.(*Model).Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, head, component []byte) {
		defer bounded.Start(t, len(head)+len(component))()
		m, err := decode([]learn.Part{{Name: headPart, Data: head}, {Name: partName(0), Data: component}})
		if err != nil {
			return
		}
		if _, err := m.(*Model).Parts(); err != nil {
			t.Error(err)
		}
	})
}

package policy

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// forever is a place where each step earns 1 without end: it is cut after so many.
type forever struct {
	steps, most, all int
	bell             *enough.Bell // rung after some hundred steps
}

func (f *forever) Schema() *table.Schema {
	return &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}
}
func (f *forever) Actions() []string     { return []string{"stay"} }
func (f *forever) Reset(uint64)          { f.steps = 0 }
func (f *forever) State(cells []float64) { cells[0] = 0 }
func (f *forever) Cut() bool             { return f.steps == f.most }

func (f *forever) Legal() []int {
	if f.Cut() {
		return nil
	}
	return []int{0}
}

func (f *forever) Step(int) (float64, bool, error) {
	if f.Cut() {
		return 0, false, errors.New("it has ended")
	}
	f.steps++
	if f.all++; f.bell != nil && f.all == 777 {
		f.bell.Ring()
	}
	return 1, f.Cut(), nil
}

// What is cut would have gone on: a step is worth 1/(1 − γ), wherever values stand.
func TestEpisodesThatAreCut(t *testing.T) {
	for _, l := range []*Learner{
		{}, {Algorithm: "sarsa"}, {Algorithm: "dyna"}, {Algorithm: "sweeping"}, {Lambda: 0.5}, {N: 2}, {Order: "reverse"}, {Replay: 10},
		{Values: "tiles", Alpha: "0.5"}, {Values: "linear", Alpha: "0.5", Algorithm: "sarsa"}, {Values: "tree"}, {Values: "tree", N: 2},
	} {
		l.Gamma, l.Episodes = ptr(0.5), 500
		if l.Alpha == "" && l.Values == "" {
			l.Alpha = "0.5"
		}
		if l.Values == "tree" {
			l.Episodes = 20
		}
		m, err := l.LearnIn(context.Background(), "forever", &forever{most: 5}, 1)
		if err != nil {
			t.Fatal(err)
		}
		q := make([]float64, 1)
		if m.(*Model).Worth([]float64{0}, q); math.Abs(q[0]-2) > 0.05 {
			t.Errorf("algorithm=%s values=%s lambda=%v n=%d order=%s: a step is worth %v, expected 2", l.Algorithm, l.Values, l.Lambda, l.N, l.Order, q[0])
		}
	}
}

// Who has seen enough keeps the whole episodes so far.
func TestItIsEnough(t *testing.T) {
	for values, most := range map[string]int{"table": 5, "tiles": 5, "tree": 1} {
		bell := &enough.Bell{}
		_, err := (&Learner{Values: values, Alpha: "0.5", Episodes: 3000}).LearnIn(enough.With(context.Background(), bell), "forever", &forever{most: most, bell: bell}, 1)
		var stopped *Stopped
		if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) {
			t.Fatalf("values=%s: %v", values, err)
		}
		if episodes, _ := stopped.Partial().(*Model).Practice(); episodes < 100 || episodes > 1000 {
			t.Errorf("values=%s: %d episodes", values, episodes)
		}
	}
}

// Settings of the learner of values hold while acting, as they do on a log.
func TestSettingsOfValues(t *testing.T) {
	var kept [2][]byte
	for i, depth := range []string{"1", "5"} {
		m := practised(t, &Learner{Values: "tree", OfValues: map[string]string{"values.max-depth": depth}, Episodes: 20, Limit: 50}, "gridworld:size=3", 1)
		var err error
		if kept[i], err = learn.Encode(m.values.(*fitted).models[0]); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(kept[0], kept[1]) {
		t.Error("values.max-depth makes no difference")
	}
}

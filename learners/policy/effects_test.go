package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// solved is the journal of a log that was solved, its table, and which states steps
// led from and to.
func solved(t *testing.T, log *table.Table) (j *journal, l *lookup, s, next []int32) {
	t.Helper()
	made, err := (&Learner{Reward: "reward"}).Learn(context.Background(), learn.Task{Table: log, Target: "action", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := made.(*Model)
	rows, err := m.rows.Table(context.Background())
	if err == nil {
		j, err = newJournal(rows, m.rows, m.lesson)
	}
	if err == nil {
		l, err = j.number(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	s, next = j.places(l)
	j.findEnding(l, s)
	if err := j.pool(context.Background(), l, s, next); err != nil {
		t.Fatal(err)
	}
	return j, l, s, next
}

// Each of the three ways of a slippery step is a third, at walls and at holes, too:
// 10,000 rows tell it to within four standard errors of a share of 2,500 steps.
func TestEffectsOfSteps(t *testing.T) {
	for seed := range uint64(3) {
		log, err := act.LogRows(context.Background(), world(t, "frozenlake"), 10_000, 1000, 70+seed)
		if err != nil {
			t.Fatal(err)
		}
		j, l, s, next := solved(t, log)
		shares, counted := map[[3]int32]float64{}, 0.0
		for row, w := range j.fair {
			at := int(s[row])*l.actions + int(j.action[row])
			if l.visits[at] < 50 {
				continue
			}
			shares[[3]int32{s[row], j.action[row], next[row]}] += w / l.visits[at]
			counted = max(counted, math.Abs(j.weight[row]-w))
		}
		for at, share := range shares {
			if off := math.Abs(share*3 - math.Round(share*3)); off > 3*4*math.Sqrt(2./9/2500) || share < 0.2 {
				t.Errorf("seed %d: %v of the steps from state %d by action %d lead to %d, expected a third or two", seed, share, at[0], at[1], at[2])
			}
		}
		if len(shares) < 50 || counted == 0 {
			t.Errorf("seed %d: %d shares, changed by %v", seed, len(shares), counted)
		}
	}
}

// Where what an action does depends on the state, each is counted by itself; what is
// shared out is always as many steps as there were.
func TestEffectsThatDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	to := [10][2][2]float64{} // two places that each action leads to
	for i := range to {
		for a := range to[i] {
			to[i][a] = [2]float64{float64(random.IntN(10)), float64(random.IntN(10))}
		}
	}
	const steps = 4000
	columns := make([]table.Column, 3)
	for x, n := 0., 0; n < steps; n++ {
		a := random.IntN(2)
		columns[0].Floats, columns[1].Codes, columns[2].Floats = append(columns[0].Floats, x), append(columns[1].Codes, int32(a)), append(columns[2].Floats, x)
		x = to[int(x)][a][random.IntN(2)]
	}
	log, err := table.New(&table.Schema{Attributes: []table.Attribute{
		{Name: "place", Kind: table.Numeric}, {Name: "action", Kind: table.Nominal, Values: []string{"a", "b"}}, {Name: "reward", Kind: table.Numeric},
	}}, columns, nil)
	if err == nil {
		log, err = log.InSequence("episode", make([]int32, steps), []string{"1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	j, _, _, _ := solved(t, log)
	for row, w := range j.fair {
		if w != j.weight[row] {
			t.Fatalf("step %d counts for %v of %v", row, w, j.weight[row])
		}
	}
	log, err = act.LogRows(context.Background(), world(t, "inventory"), 3000, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	j, l, s, _ := solved(t, log)
	sums := make([]float64, len(l.visits))
	for row, w := range j.fair {
		sums[int(s[row])*l.actions+int(j.action[row])] += w
	}
	for at, n := range l.visits {
		if math.Abs(sums[at]-n) > 1e-9*(1+n) {
			t.Errorf("%v steps, of %v", sums[at], n)
		}
	}
}

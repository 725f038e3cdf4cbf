package stat

import (
	"math"
	"testing"
)

func costs(values ...float64) []Cost {
	all := make([]Cost, len(values))
	for i, v := range values {
		all[i] = Cost{Value: math.Abs(v), GivenUp: v < 0}
	}
	return all
}

func TestSpeedup(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []Cost
		want          Speedup
	}{
		{"nothing", nil, nil, Speedup{Sign: 1, Ranks: 1}},
		{"five faster", costs(10, 20, 30, 40, 50), costs(9, 18, 27, 36, 45), Speedup{Faster: 5, Sign: 1. / 32, Ranks: 1. / 32}},
		// Signs 4 of 5: (5+1)/32. The one slower has rank 1: sums of 14 and 15 of 15 are 2 of 32 ways.
		{"one a little slower", costs(10, 20, 30, 40, 50), costs(11, 18, 27, 36, 45), Speedup{Faster: 4, Slower: 1, Sign: 6. / 32, Ranks: 2. / 32}},
		{"equal ones", costs(10, 20), costs(10, 10), Speedup{Faster: 1, Same: 1, Sign: 1. / 2, Ranks: 1. / 2}},
		// Given up after: the highest rank against. Given up before: the least that is known for.
		{"given up after", costs(10, 20, 30), costs(9, 18, -31), Speedup{Faster: 2, Slower: 1, Sign: 4. / 8, Ranks: 5. / 8}},
		{"given up before", costs(-10, 20, 30), costs(9, 18, 27), Speedup{Faster: 3, Sign: 1. / 8, Ranks: 1. / 8}},
		{"given up twice", costs(-10, 20), costs(-10, 18), Speedup{Faster: 1, Open: 1, Sign: 1. / 2, Ranks: 1. / 2}},
		// Two equal differences share rank 1.5. The ranks for add up to 4.5; of the 8 ways 4.5, 4.5 and 6 are as much.
		{"shared ranks", costs(10, 20, 30), costs(9, 21, 20), Speedup{Faster: 2, Slower: 1, Sign: 4. / 8, Ranks: 3. / 8}},
	} {
		got := SpeedupOf(c.before, c.after)
		if math.Abs(got.Sign-c.want.Sign) > 1e-12 || math.Abs(got.Ranks-c.want.Ranks) > 1e-12 {
			t.Errorf("%s: p = %v and %v, want %v and %v", c.name, got.Sign, got.Ranks, c.want.Sign, c.want.Ranks)
		}
		got.Sign, got.Ranks = c.want.Sign, c.want.Ranks
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Where there are many pairs the normal density stands for counting. Two more pairs
// that cancel each other change the probability itself a little, so .01 is allowed.
func TestManySpeedups(t *testing.T) {
	gains := make([]float64, exactRanks)
	for i := range gains {
		gains[i] = float64(i + 1)
		if i%3 == 0 {
			gains[i] = -gains[i]
		}
	}
	exact := signedRanks(append([]float64(nil), gains...))
	many := signedRanks(append(gains, 1e9, -1e9))
	if math.Abs(exact-many) > .01 {
		t.Errorf("%v counted out, %v with two more that weigh alike", exact, many)
	}
}

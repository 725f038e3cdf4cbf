package rulenet

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// hands is rows of four cards of so many ranks: a pair or none. No card says anything
// by itself.
func hands(rows, ranks int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 52))
	s := &table.Schema{Attributes: make([]table.Attribute, 5)}
	columns := make([]table.Column, 5)
	for col := range 4 {
		s.Attributes[col].Name = fmt.Sprint("card", col+1)
		for v := range ranks {
			s.Attributes[col].Values = append(s.Attributes[col].Values, fmt.Sprint("r", v))
		}
	}
	s.Attributes[4] = table.Attribute{Name: "pair", Values: []string{"no", "yes"}}
	for range rows {
		seen, pair := map[int]bool{}, int32(0)
		for col := range 4 {
			rank := random.IntN(ranks)
			if seen[rank] {
				pair = 1
			}
			seen[rank] = true
			columns[col].Codes = append(columns[col].Codes, int32(rank))
		}
		columns[4].Codes = append(columns[4].Codes, pair)
	}
	t, err := table.New(s, columns, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// Where no column says anything by itself, rows held out are for climbs, which find
// the pairs; else for trees, which are asked alone with teacher=trees.
func TestClimbsBesideTrees(t *testing.T) {
	rows, fresh := hands(800, 4, 1), hands(1000, 4, 2)
	climbed := learnOrFail(t, rows, 4, nil)
	taught := learnOrFail(t, rows, 4, map[string]string{"teacher": "trees"})
	if !taught.taught || climbed.taught {
		t.Fatalf("by trees: %v and %v", taught.taught, climbed.taught)
	}
	a, b := accuracy(t, climbed, fresh), accuracy(t, taught, fresh)
	if t.Logf("%.3f climbed to, %.3f taught", a, b); a < b || a < 0.9 {
		t.Errorf("%.3f climbed to, %.3f taught", a, b)
	}
	if noisy := learnOrFail(t, concept(1500, 0, 1), 3, nil); !noisy.taught {
		t.Error("columns of many values are climbed from")
	}
}

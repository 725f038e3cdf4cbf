package rulenet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
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

// Beside a rival that climbs do not clearly beat they give up, early where they are far
// behind it, and what was learnt by trees answers.
func TestClimbsGiveUp(t *testing.T) {
	rows := hands(800, 4, 1)
	s, err := (&Learner{}).settings()
	if err != nil {
		t.Fatal(err)
	}
	gathered, err := kept.Gather(t.Context(), learn.Task{Table: rows, Source: learn.Source{ID: "1"}}.At(4), Name, table.Nominal)
	if err != nil {
		t.Fatal(err)
	}
	climb := func(rival *Model) (*Model, error) {
		return learnClimbed(t.Context(), gathered, rows, 4, 1, s, rival)
	}
	free, err := climb(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rival float64
		loses bool
	}{{10 * free.rehearsed, false}, {free.rehearsed, true}, {0, true}} {
		if _, err := climb(&Model{rehearsed: c.rival}); errors.Is(err, errBehind) != c.loses {
			t.Errorf("climbs come to %.4f beside %.4f: %v", free.rehearsed, c.rival, err)
		}
	}
}

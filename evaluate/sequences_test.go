package evaluate

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// TestFoldsKeepSequencesTogether: no sequence has rows in two folds, every row
// is in one, and folds differ by no more than the longest sequence.
func TestFoldsKeepSequencesTogether(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 12), 3, 30).Draw(r, "lengths")
		var number []int32
		names := make([]string, len(lengths))
		longest := 0
		for i, n := range lengths {
			longest = max(longest, n)
			for range n {
				number = append(number, int32(i))
			}
		}
		rows, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}, []table.Column{{Floats: make([]float64, len(number))}}, nil)
		if err != nil {
			r.Fatal(err)
		}
		if rows, err = rows.InSequence("who", number, names); err != nil {
			r.Fatal(err)
		}
		k := rapid.IntRange(2, min(5, len(lengths))).Draw(r, "folds")
		fold, err := Folds(rows, learn.NoTarget, k, rapid.Uint64().Draw(r, "seed"))
		if err != nil {
			r.Fatal(err)
		}
		size := make([]int, k)
		rows.Groups(func(from, to int) {
			for row := from; row < to; row++ {
				if fold[row] != fold[from] || fold[row] < 0 {
					r.Fatalf("sequence %d is in folds %d and %d", number[from], fold[from], fold[row])
				}
			}
			size[fold[from]] += to - from
		})
		for _, a := range size {
			for _, b := range size {
				if a-b > longest {
					r.Fatalf("sizes %v with sequences of at most %d rows", size, longest)
				}
			}
		}
		spec := Spec{Table: rows, Target: learn.NoTarget}
		splits, err := spec.holdOutSplits(0.4, 1)
		if err != nil {
			return // too few rows
		}
		train, test := splits[0].rows()
		inTest := map[int32]bool{}
		for _, row := range test {
			inTest[number[row]] = true
		}
		for _, row := range train {
			if inTest[number[row]] {
				r.Fatalf("sequence %d is in both parts", number[row])
			}
		}
		if len(train)+len(test) != len(number) || len(train) == 0 || len(test) == 0 {
			r.Fatalf("%d and %d of %d rows", len(train), len(test), len(number))
		}
	})
	if _, err := Folds(mustSequence(t), learn.NoTarget, 2, 1); err == nil {
		t.Error("one sequence in two folds")
	}
}

func mustSequence(t *testing.T) *table.Table {
	rows, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}}}, []table.Column{{Floats: make([]float64, 3)}}, nil)
	if err == nil {
		rows, err = rows.InSequence("who", make([]int32, 3), []string{"a"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

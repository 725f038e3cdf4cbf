package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSequence(t *testing.T) {
	const text = "who,x\nann,1\nann,2\nbob,3\ncyd,4\ncyd,5\n"
	o := Options{Sequence: "who"}
	got, _ := mustRead(t, "x.csv", text, o)
	if show(got) != "x | 1 | 2 | 3 | 4 | 5" || got.Schema.Sequence != "who" || strings.Join(got.SequenceNames, " ") != "ann bob cyd" {
		t.Fatal(show(got), got.Schema.Sequence, got.SequenceNames)
	}
	var groups []string
	got.Groups(func(from, to int) { groups = append(groups, fmt.Sprint(from, "-", to)) })
	if diff := cmp.Diff([]string{"0-2", "2-3", "3-5"}, groups); diff != "" {
		t.Error(diff)
	}
	if part := got.Slice(1, 4); fmt.Sprint(part.Sequence) != "[0 1 2]" {
		t.Error(part.Sequence)
	}
	if part := got.Select([]int{0, 4}); fmt.Sprint(part.Sequence) != "[0 2]" {
		t.Error(part.Sequence)
	}
	alone, _ := mustRead(t, "x.csv", text, Options{})
	count := 0
	alone.Groups(func(from, to int) { count += to - from })
	if count != 5 || alone.Sequence != nil {
		t.Error("rows that stand alone")
	}
	again, _ := mustRead(t, "x.csv", text, Options{Schema: got.Schema})
	if diff := cmp.Diff(got, again, same); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Conform(alone, got.Schema, false); err == nil {
		t.Error("rows without sequences conform")
	}
	for name, test := range map[string]struct{ text, want string }{
		"broken":  {"who,x\na,1\nb,2\na,3\n", `x.csv: row 3: "a" of the column "who" goes on after other rows; put the rows of a sequence together, in order`},
		"missing": {"who,x\na,1\n?,2\n", `x.csv: row 2: no value in the column "who", which says the sequence of a row; fill it in`},
		"absent":  {"wo,x\na,1\n", `x.csv: has no column "who" to take as sequences; did you mean "wo"?`},
	} {
		if _, _, err := read(t, "x.csv", test.text, o); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", name, err)
		}
		o := Options{Schema: got.Schema, tuning: tuning{block: 4, workers: 2}}
		if _, _, err := read(t, "x.csv", test.text, o); err == nil || err.Error() != test.want {
			t.Errorf("%s by a schema: %v", name, err)
		}
	}
	if _, _, err := read(t, "x.csv", text, Options{Sequence: "who", Target: "who"}); err == nil {
		t.Error("a sequence as target")
	}
}

// Sequences come out the same in one piece and in batches.
func TestSequenceInBatches(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var s strings.Builder
		s.WriteString("who,x\n")
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 9), 1, 9).Draw(r, "lengths") {
			for j := range n {
				fmt.Fprintf(&s, "p%d,%d\n", i, j)
			}
		}
		o := Options{Name: "x.csv", Sequence: "who", tuning: tuning{block: rapid.IntRange(1, 40).Draw(r, "block"), workers: 2}}
		want, _, err := Read(t.Context(), strings.NewReader(s.String()), o)
		if err != nil {
			r.Fatal(err)
		}
		source, err := NewSource(t.Context(), strings.NewReader(s.String()), o)
		if err != nil {
			r.Fatal(err)
		}
		defer source.Close()
		got, err := All(source)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			r.Fatal(diff)
		}
	})
}

// TestTimes: dates with a time of day count seconds, others days; both are
// written as they were read, and a model's kind decides.
func TestTimes(t *testing.T) {
	days, _ := mustRead(t, "x.csv", "d\n1970-01-02\n2024-02-29\n", Options{})
	times, _ := mustRead(t, "x.csv", "d\n1970-01-02\n2024-02-29T06:00:00.25\n?\n", Options{})
	if show(days) != "d:date | 1970-01-02 | 2024-02-29" || days.Columns[0].Floats[0] != 1 {
		t.Error(show(days))
	}
	if show(times) != "d:time | 1970-01-02T00:00:00 | 2024-02-29T06:00:00.25 | -" || times.Columns[0].Floats[0] != 86400 || times.Columns[0].Floats[1] != 19782*86400+6*3600+0.25 {
		t.Error(show(times), times.Columns[0].Floats)
	}
	got, _ := mustRead(t, "x.csv", "d\n1970-01-02\n", Options{Schema: times.Schema})
	if got.Columns[0].Floats[0] != 86400 {
		t.Error(got.Columns[0].Floats)
	}
	got, _ = mustRead(t, "x.csv", "d\n1970-01-02T12:00:00\n", Options{Schema: days.Schema})
	if got.Columns[0].Floats[0] != 1.5 {
		t.Error(got.Columns[0].Floats)
	}
	if got, _, err := Conform(days, times.Schema, false); err != nil || got.Columns[0].Floats[1] != 19782*86400 {
		t.Error(got, err)
	}
	if got, _, err := Conform(times, days.Schema, false); err != nil || got.Columns[0].Floats[0] != 1 {
		t.Error(got, err)
	}
	if s := Summarise(times)[0]; s.Shown() != "time" {
		t.Error(s.Shown())
	}
	source, err := NewSource(t.Context(), strings.NewReader("d\n1970-01-02\n2024-02-29T06:00:00.25\n?\n"), Options{Name: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := All(source); err != nil || show(all) != show(times) {
		t.Error(show(all), err)
	}
}

package life

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

func TestSuit(t *testing.T) {
	const text = "doc,who,x,y\nA cat,ann,1,no\nThe hat,ann,2,yes\n"
	read := func(ignore ...string) *table.Table {
		got, _, err := table.Read(t.Context(), strings.NewReader(text), table.Options{Name: "x.csv", Text: []string{"doc"}, Sequence: "who", Ignore: ignore})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := learn.Info{Name: "plain"}
	got, target, notes, err := suit(plain, read(), 2)
	if err != nil || target != 1 || strings.Join(got.Schema.Names(), " ") != "x y" || got.Schema.Sequence != "" || got.Sequence == nil || len(notes) != 2 {
		t.Error(got, target, notes, err)
	}
	all := learn.Info{Name: "all", Takes: learn.Takes{Text: true, Sequences: true}}
	if got, target, notes, err = suit(all, read(), 2); err != nil || target != 2 || len(got.Columns) != 3 || got.Schema.Sequence != "who" || notes != nil {
		t.Error(got, target, notes, err)
	}
	if _, _, _, err = suit(plain, read("x"), 1); err == nil || !strings.Contains(err.Error(), `nothing is left to learn from: plain does not learn from text ("doc")`) {
		t.Error(err)
	}
	if _, target, _, err = suit(plain, read(), learn.NoTarget); err != nil || target != learn.NoTarget {
		t.Error(target, err)
	}
}

package learn

import (
	"strings"
	"testing"

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
	plain := Info{Name: "plain"}
	got, target, notes, err := plain.Suit(read(), 2)
	if err != nil || target != 1 || strings.Join(got.Schema.Names(), " ") != "x y" || got.Schema.Sequence != "" || got.Sequence == nil || len(notes) != 2 {
		t.Error(got, target, notes, err)
	}
	all := Info{Name: "all", Takes: Takes{Text: true, Sequences: true}}
	if got, target, notes, err = all.Suit(read(), 2); err != nil || target != 2 || len(got.Columns) != 3 || got.Schema.Sequence != "who" || notes != nil {
		t.Error(got, target, notes, err)
	}
	if _, _, _, err = plain.Suit(read("x"), 1); err == nil || !strings.Contains(err.Error(), `nothing is left to learn from: plain does not learn from text ("doc")`) {
		t.Error(err)
	}
	if _, target, _, err = plain.Suit(read(), NoTarget); err != nil || target != NoTarget {
		t.Error(target, err)
	}
}

func TestSavedDate(t *testing.T) {
	for _, a := range []table.Attribute{{Kind: table.Numeric}, {Kind: table.Numeric, Date: true}, {Kind: table.Numeric, Time: true}} {
		data, err := Marshal([]SavedDate{SaveDate(&a)})
		if err != nil {
			t.Fatal(err)
		}
		var back []SavedDate
		if err := Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		b := table.Attribute{Kind: table.Numeric}
		back[0].Load(&b)
		if a.Shown() != b.Shown() {
			t.Errorf("%s is read as %s", a.Shown(), b.Shown())
		}
	}
	var date SavedDate
	for _, bad := range [][]byte{{}, {0x03}, {0xf4, 0xf4}} {
		if date.UnmarshalCBOR(bad) == nil {
			t.Errorf("%x is taken", bad)
		}
	}
	if _, err := SavedDate(3).MarshalCBOR(); err == nil {
		t.Error("3 is saved")
	}
}

func TestSavedKinds(t *testing.T) {
	s := &table.Schema{Sequence: "who", Attributes: []table.Attribute{{Name: "t", Kind: table.Numeric, Time: true}, {Name: "w", Kind: table.Text, Values: []string{"b", "a"}}}}
	again, err := LoadColumns(SaveColumns(s))
	if err != nil || again.Sequence != "who" || again.Attributes[0].Shown() != "time" || again.Attributes[1].Shown() != "text" || again.Attributes[1].Values[1] != "a" {
		t.Error(again, err)
	}
	if _, err := LoadColumns([]SavedColumn{{Name: "a", Text: true, Numeric: true}}); err == nil {
		t.Error("text and numeric")
	}
	if _, err := LoadColumns([]SavedColumn{{Name: "a", Sequence: true}, {Name: "b", Sequence: true}}); err == nil {
		t.Error("two sequences")
	}
}

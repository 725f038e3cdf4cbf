package table

import (
	"testing"

	"github.com/fxamacker/cbor/v2"
)

func TestSavedColumns(t *testing.T) {
	s := &Schema{Attributes: []Attribute{
		{Name: "day", Kind: Numeric, Date: true}, {Name: "sky", Values: []string{"clear", "grey"}},
	}}
	again, err := LoadColumns(SaveColumns(s))
	if err != nil || len(again.Attributes) != 2 || !again.Attributes[0].Date || again.Attributes[0].Kind != Numeric || again.Attributes[1].Values[1] != "grey" {
		t.Errorf("%+v, %v", again, err)
	}
	for what, bad := range map[string][]SavedColumn{
		"a number with values": {{Name: "x", Numeric: true, Values: []string{"1"}}},
		"a name twice":         {{Name: "x"}, {Name: "x"}},
		"a value twice":        {{Name: "x", Values: []string{"1", "1"}}},
	} {
		if _, err := LoadColumns(bad); err == nil {
			t.Errorf("%s is loaded", what)
		}
	}
}

func TestSavedDate(t *testing.T) {
	for _, a := range []Attribute{{Kind: Numeric}, {Kind: Numeric, Date: true}, {Kind: Numeric, Time: true}} {
		data, err := cbor.Marshal([]SavedDate{SaveDate(&a)})
		if err != nil {
			t.Fatal(err)
		}
		var back []SavedDate
		if err := cbor.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		b := Attribute{Kind: Numeric}
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
	if _, err := (SavedDate{kind: 3}).MarshalCBOR(); err == nil {
		t.Error("3 is saved")
	}
}

func TestSavedKinds(t *testing.T) {
	s := &Schema{Sequence: "who", Attributes: []Attribute{{Name: "t", Kind: Numeric, Time: true}, {Name: "w", Kind: Text, Values: []string{"b", "a"}}}}
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

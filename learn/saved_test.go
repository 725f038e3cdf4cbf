package learn

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

func TestSavedColumns(t *testing.T) {
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "day", Kind: table.Numeric, Date: true}, {Name: "sky", Values: []string{"clear", "grey"}},
	}}
	again, err := LoadColumns(SaveColumns(s))
	if err != nil || len(again.Attributes) != 2 || !again.Attributes[0].Date || again.Attributes[0].Kind != table.Numeric || again.Attributes[1].Values[1] != "grey" {
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

func TestWithout(t *testing.T) {
	sources := []Source{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	itself := func(s Source) Source { return s }
	left, err := Without(sources, itself, "a", "c")
	if err != nil || len(left) != 1 || left[0].ID != "b" || len(sources) != 3 || sources[0].ID != "a" {
		t.Errorf("left %v of %v, %v", left, sources, err)
	}
	if _, err := Without(sources, itself, "a", "d"); err == nil || !strings.Contains(err.Error(), `unknown source "d"`) {
		t.Errorf("error %v", err)
	}
}

package remedy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func say(r Remedy) string {
	if r.Kind == GiveName {
		return "" // no words of its own
	}
	return fmt.Sprintf("<%s %s %v>", r.Kind, r.What, r.Names)
}

// TestEveryKindHasWords: plain words name no flag or command.
func TestEveryKindHasWords(t *testing.T) {
	for kind, text := range words {
		if text == "" || strings.Contains(text, "--") || strings.Contains(text, "accrete ") {
			t.Errorf("%s: %q", kind, text)
		}
	}
}

func TestText(t *testing.T) {
	inner := New(Remedy{Kind: SayWhere, What: "a.csv"}, "a.csv is gone")
	wrapped := fmt.Errorf("m cannot be verified: %w", inner)
	if got, want := Text(wrapped, say), "m cannot be verified: a.csv is gone; <say-where a.csv []>"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got, want := wrapped.Error(), "m cannot be verified: a.csv is gone; say where a.csv is now"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got, want := Text(New(Remedy{Kind: GiveTarget, Names: []string{"a", "b"}}, "which?"), say), "which? <give-target  [a b]>"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got, want := Text(New(Remedy{Kind: GiveName}, "no name"), say), "no name; give it another name"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if err := errors.New("plain"); Text(err, say) != "plain" || Misuse(nil) != nil {
		t.Error("plain errors do not stay as they are")
	}
}

func TestInNote(t *testing.T) {
	for note, want := range map[string]string{
		"x ignored; " + Remedy{Kind: KeepNominal}.String():             "x ignored; <keep-nominal  []>",
		"classes; " + Remedy{Kind: ReadNumbers, What: "my y"}.String(): "classes; <read-numbers my y []>",
		"9 columns; " + Remedy{Kind: LeaveOut}.String():                "9 columns; <leave-out  []>",
		"nothing to do": "nothing to do",
	} {
		if got := InNote(note, say); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

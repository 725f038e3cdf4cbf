package stem

import (
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// The examples that Porter 1980 gives with each step, and words that go through
// several.
func TestEnglish(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "ti", "caress": "caress", "cats": "cat",
		"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan", "falling": "fall", "hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file",
		"happy": "happi", "sky": "sky",
		"relational": "relat", "conditional": "condit", "rational": "ration", "valenci": "valenc", "hesitanci": "hesit", "digitizer": "digit", "conformabli": "conform",
		"radicalli": "radic", "differentli": "differ", "vileli": "vile", "analogousli": "analog", "vietnamization": "vietnam", "predication": "predic", "operator": "oper",
		"feudalism": "feudal", "decisiveness": "decis", "hopefulness": "hope", "callousness": "callous", "formaliti": "formal", "sensitiviti": "sensit", "sensibiliti": "sensibl",
		"triplicate": "triplic", "formative": "form", "formalize": "formal", "electriciti": "electr", "electrical": "electr", "hopeful": "hope", "goodness": "good",
		"revival": "reviv", "allowance": "allow", "inference": "infer", "airliner": "airlin", "gyroscopic": "gyroscop", "adjustable": "adjust", "defensible": "defens",
		"irritant": "irrit", "replacement": "replac", "adjustment": "adjust", "dependent": "depend", "adoption": "adopt", "homologou": "homolog", "communism": "commun",
		"activate": "activ", "angulariti": "angular", "homologous": "homolog", "effective": "effect", "bowdlerize": "bowdler",
		"probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
		"connect": "connect", "connected": "connect", "connecting": "connect", "connection": "connect", "connections": "connect",
		"generalizations": "gener", "oscillators": "oscil", "is": "is", "übung": "übung", "x86s": "x86s", "yes": "ye",
	} {
		if got := English(word); got != want {
			t.Errorf("English(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzEnglish(f *testing.F) {
	for _, word := range []string{"", "yyy", "ing", "eed", "ational", "sses", "ion"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		defer bounded.Start(t, len(word))()
		if got := English(word); len(got) > len(word) {
			t.Errorf("English(%q) = %q, which is longer", word, got)
		}
	})
}

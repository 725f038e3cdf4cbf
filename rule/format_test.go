package rule

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/internal/bounded"
)

func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"empty":      {"", ""},
		"blank":      {" \n\n", ""},
		"one line":   {"IF   a=1 AND b  IN{x ,\"y z\"}THEN c=d WITH +0.90 [covered 4,correct 3]", "IF a = 1 AND b IN {x, \"y z\"} THEN c = d WITH 0.90 [covered 4, correct 3]\n"},
		"statements": {"RULES ordered IF a=1 THEN b=2 ELSE b=3", "RULES ordered\nIF a = 1 THEN b = 2\nELSE b = 3\n"},
		"breaks":     {"IF a=1\nAND b=2\n\n\n\tTHEN c=3\n\n\n\nELSE c=4\n\n", "IF a = 1\n    AND b = 2\n    THEN c = 3\n\nELSE c = 4\n"},
		"comments":   {"#who\n\n\n#why  \nIF a=1 #here\n # there\nTHEN b=2#end\r\n\n#!last\n", "# who\n\n# why\nIF a = 1 # here\n    # there\n    THEN b = 2 # end\n\n#!last\n"},
		"signs":      {"IF 2*x+3*y -4*z - 1*w<= +5 THEN p+=0.5 *( q -3 )FROM -1 TO 1e+3 +-2", "IF 2*x + 3*y -4*z - 1*w <= 5 THEN p += 0.5*(q -3) FROM -1 TO 1e+3 ± 2\n"},
		"plus minus": {"IF x = 1 THEN y ~ + -1 ± + 2", "IF x = 1 THEN y ~ -1 ± 2\n"},
		"schema":     {"\ufeffSCHEMA a nominal{x 0.5,y 0.5},b numeric~1+-2;TARGET a\nWHEN u(0.5)WORTH 3 EXPECT b~-1 sd±2 sd", "SCHEMA a nominal {x 0.5, y 0.5}, b numeric ~ 1 ± 2; TARGET a\nWHEN u (0.5) WORTH 3 EXPECT b ~ -1 sd ± 2 sd\n"},
		"nested":     {"IF AT LEAST 1 OF{a=1,b IS MISSING}THEN c BY{x 1,y -2}", "IF AT LEAST 1 OF {a = 1, b IS MISSING} THEN c BY {x 1, y -2}\n"},
	} {
		got, err := Format("file", []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		formatted(t, []byte(c.src))
	}
	if _, err := Format("f.rules", []byte("IF a = 1")); err == nil || err.Error() != "f.rules:1:9: expected AND or THEN, found the end of the file" {
		t.Error(err)
	}
}

// formatted checks the laws of Format on a text: it reads as the same base, has
// the same comments, and stays as it is when it is formatted again.
func formatted(t interface{ Fatalf(string, ...any) }, src []byte) {
	base, err := Parse("", src)
	once, failed := Format("", src)
	if (err == nil) != (failed == nil) {
		t.Fatalf("Parse says %v, Format %v", err, failed)
	}
	if err != nil {
		return
	}
	again, err := Parse("", once)
	if err != nil || !again.Equal(base) {
		t.Fatalf("%q became %q, which reads otherwise (%v)", src, once, err)
	}
	if twice, err := Format("", once); err != nil || string(twice) != string(once) {
		t.Fatalf("%q became %q and then %q (%v)", src, once, twice, err)
	}
	if a, b := remarks(src), remarks(once); !cmp.Equal(a, b) {
		t.Fatalf("the comments of %q were %q and are %q", src, a, b)
	}
}

func remarks(src []byte) (comments []string) {
	for _, p := range pieces("", src) {
		if p.comment {
			comments = append(comments, p.text)
		}
	}
	return comments
}

// What a base prints is formatted.
func TestPrintedIsFormatted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := anyBase().Draw(t, "base")
		base.Notes = nil // which may end in spaces
		text := base.String()
		if got, err := Format("", []byte(text)); err != nil || string(got) != text {
			t.Fatalf("printed %q, formatted %q (%v)", text, got, err)
		}
	})
}

func FuzzFormat(f *testing.F) {
	for _, text := range []string{"IF a=1 # x\nTHEN b=2", "IF 2*x+3*y>+1 THEN z+=1*(x - -3)+-2#", "SCHEMA a nominal {x 1};TARGET a # é\xff", "ELSE a={b +1}\r\n#\r\n", "WHEN \"a\\u0001\"(+ -0)EXPECT b NORMAL"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		defer bounded.Start(t, len(src))()
		formatted(t, src)
	})
}

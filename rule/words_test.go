package rule

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	const text = `RULES weighed
IF ALWAYS THEN class = democrat WITH 0.61 [weight -0.49]
IF fee = y THEN class = democrat WITH 0.12 [covered 177, weight -1.6, templates 14]
IF fee = n THEN class = democrat WITH 0.995 [weight 0.5]
`
	base, err := Parse("votes.rules", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	words := base.Words()
	for i, want := range []string{"", "speaks against democrat: 12 %, usually 61 %", "speaks for democrat: 99.5 %, usually 61 %"} {
		if words[i] != want {
			t.Errorf("rule %d: %q, expected %q", i+1, words[i], want)
		}
	}
	printed := strings.Split(base.String(), "\n")
	if !strings.HasSuffix(printed[2], " # speaks against democrat: 12 %, usually 61 %") || strings.Contains(printed[1]+printed[3], "#") {
		t.Errorf("printed as\n%s", base)
	}
	again, err := Parse("printed", []byte(base.String()))
	if err != nil || !base.Equal(again) {
		t.Errorf("reads back as\n%s\n%v", again, err)
	}
}

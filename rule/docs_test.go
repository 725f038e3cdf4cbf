package rule

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedLanguage: the examples of the language's page print as they
// stand, and its mistakes are reported as it says.
func TestDocumentedLanguage(t *testing.T) {
	page, err := os.ReadFile("../docs/rule-language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(rules|wrong)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 12 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, block := range blocks {
		text := block[2]
		if block[1] == "wrong" {
			src, want, _ := strings.Cut(text, "\n# ")
			if _, err := Parse("file", []byte(src)); err == nil || err.Error() != strings.TrimSpace(want) {
				t.Errorf("%s\n   got %v\n  want %s", src, err, want)
			}
			continue
		}
		b, err := Parse("file", []byte(text))
		if err != nil {
			t.Errorf("%v in\n%s", err, text)
			continue
		}
		if b.String() != text {
			t.Errorf("\n%s\nprints as\n%s", text, b)
		}
		if b.Header != nil {
			schema, target, overall, err := b.Model()
			if err == nil {
				_, err = NewPredictor(b, schema, target, overall...)
			}
			if err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
		}
	}
}

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReading asks ten questions, and looks for the answers in what commands
// print: TestDocumentation runs them.
func TestReading(t *testing.T) {
	text, err := os.ReadFile("../../docs/reading.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := ""
	for _, block := range session.FindAllStringSubmatch(string(text), -1) {
		printed += block[1]
	}
	_, questions, _ := strings.Cut(string(text), "## Ten questions")
	quoted := regexp.MustCompile("`([^`]{12,})`")
	asked := 0
	for line := range strings.Lines(questions) {
		if !regexp.MustCompile(`^\d+\. `).MatchString(line) {
			continue
		}
		asked++
		answers := quoted.FindAllStringSubmatch(line, -1)
		if len(answers) == 0 {
			t.Errorf("no answer to %s", line)
		}
		for _, a := range answers {
			if !strings.Contains(printed, a[1]) {
				t.Errorf("nothing printed says %q, the answer to %s", a[1], line)
			}
		}
	}
	if asked != 10 {
		t.Errorf("%d questions", asked)
	}
}

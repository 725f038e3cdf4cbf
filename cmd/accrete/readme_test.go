package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "put what the commands print into the README")

// TestREADME runs the README's sessions, in order and in one folder, and
// compares what they print. With -rewrite it corrects the README instead.
func TestREADME(t *testing.T) {
	const path = "../../README.md"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	session := regexp.MustCompile("(?s)```console\n(.*?)```")
	if !session.Match(readme) {
		t.Fatal("the README has no session")
	}
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	corrected := session.ReplaceAllStringFunc(string(readme), func(block string) string {
		want := session.FindStringSubmatch(block)[1]
		got := runSession(t, want)
		if got != want && !*rewrite {
			t.Errorf("the README says\n%s\nbut it is\n%s", want, got)
		}
		return "```console\n" + got + "```"
	})
	t.Chdir(here)
	if *rewrite {
		if err := os.WriteFile(path, []byte(corrected), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runSession runs the lines that begin with $ and returns them with what they
// print.
func runSession(t *testing.T, block string) string {
	var session bytes.Buffer
	for line := range strings.Lines(block) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "$ accrete ")
		if !isCommand {
			continue
		}
		session.WriteString(strings.TrimSpace(line) + "\n")
		if status := execute(context.Background(), strings.Fields(command), strings.NewReader(""), &session, &session); status != 0 {
			t.Errorf("%s: exit status %d", line, status)
		}
	}
	return session.String()
}

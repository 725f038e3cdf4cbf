package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "put what the commands print into the documentation")

// session is a block of a document that shows commands and what they print.
var session = regexp.MustCompile("(?s)```console\n(.*?)```")

// clock is what differs from run to run.
var clock = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// TestDocumentation runs the sessions of each document, in order and in one
// folder, and compares what they print. Files in a folder of the document's
// name are there for the sessions. With -rewrite it corrects the documents
// instead.
func TestDocumentation(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append([]string{"../../README.md"}, documents...) {
		t.Run(filepath.Base(path), func(t *testing.T) { runDocument(t, path) })
	}
}

func runDocument(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if files := strings.TrimSuffix(path, ".md"); isFolder(files) {
		if err := os.CopyFS(dir, os.DirFS(files)); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	corrected := session.ReplaceAllStringFunc(string(text), func(block string) string {
		want := session.FindStringSubmatch(block)[1]
		got := clock.ReplaceAllString(runSession(t, want), "2026-11-15T12:00:00Z")
		if got != want && !*rewrite {
			t.Errorf("%s says\n%s\nbut it is\n%s", filepath.Base(path), want, got)
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

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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

package main

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var rewrite = flag.Bool("rewrite", false, "put what the commands print into the documentation")

// session is a block of a document that shows commands and what they print.
var session = regexp.MustCompile("(?s)```console\n(.*?)```")

// clock is what differs from run to run.
var clock = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// TestDocumentation runs the sessions of each document, in order and in one
// folder, and compares what they print. Files in a folder of the document's
// name are there for the sessions, and those of docs/learners for its pages. With -rewrite it corrects the documents
// instead.
func TestDocumentation(t *testing.T) {
	documents := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			documents = append(documents, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range documents {
		name, _ := filepath.Rel("../..", path)
		t.Run(filepath.ToSlash(name), func(t *testing.T) { runDocument(t, path) })
	}
}

func runDocument(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := strings.TrimSuffix(path, ".md")
	if filepath.Base(filepath.Dir(path)) == "learners" { // a page of the catalogue
		files = filepath.Dir(path)
	}
	if isFolder(files) {
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
	comparePictures(t, path, string(text), dir)
	checkLinks(t, path, string(text))
	if *rewrite {
		if err := os.WriteFile(path, []byte(corrected), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// picture is one that a document shows, link a page that it points at.
var (
	picture = regexp.MustCompile(`!\[[^]]*\]\(([^)]+)\)`)
	link    = regexp.MustCompile(`[^!]\[[^]]*\]\(([^)#:]*)(#[^)]*)?\)`)
)

// comparePictures: a picture that a document shows and one of its commands wrote
// is what was written.
func comparePictures(t *testing.T, path, text, dir string) {
	for _, found := range picture.FindAllStringSubmatch(text, -1) {
		written, err := os.ReadFile(filepath.Join(dir, filepath.Base(found[1])))
		if err != nil {
			continue // a command somewhere else made it
		}
		kept := filepath.Join(filepath.Dir(path), filepath.FromSlash(found[1]))
		if *rewrite {
			if err := os.WriteFile(kept, written, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if is, err := os.ReadFile(kept); err != nil || !bytes.Equal(is, written) {
			t.Errorf("%s shows a picture that is not what its commands write (%v)", filepath.Base(path), err)
		}
	}
}

// checkLinks: what a document points at is there, down to the heading.
func checkLinks(t *testing.T, path, text string) {
	for _, found := range slices.Concat(link.FindAllStringSubmatch(text, -1), picture.FindAllStringSubmatch(text, -1)) {
		to := filepath.Join(filepath.Dir(path), filepath.FromSlash(found[1]))
		if found[1] == "" {
			to = path
		}
		page, err := os.ReadFile(to)
		if err != nil && !isFolder(to) {
			t.Errorf("%s points at %s, which is not there", filepath.Base(path), found[1])
		} else if len(found) > 2 && found[2] != "" && filepath.Ext(to) == ".md" && !slices.Contains(anchors(string(page)), found[2][1:]) {
			t.Errorf("%s points at %s%s, which is no heading there", filepath.Base(path), found[1], found[2])
		}
	}
}

// anchors are the headings of a page as links name them.
func anchors(page string) (names []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, heading[1])
		names = append(names, name)
	}
	return names
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
		var args []string
		for _, word := range quoted.FindAllString(command, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		if status := execute(context.Background(), args, strings.NewReader(""), &session, &session); status != 0 {
			t.Errorf("%s: exit status %d", line, status)
		}
	}
	return session.String()
}

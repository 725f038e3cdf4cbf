package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/reproduce"
)

// row is a line of docs/coverage.md: id, name, command or —, what comes out.
var row = regexp.MustCompile(`(?m)^\| ([P0-9]+-[0-9]+) \| (.+?) \| (?:` + "`(accrete .+?)`" + `|—) \| (.*) \|$`)

// quoted is a word of a command, or several in quotes.
var quoted = regexp.MustCompile(`'[^']*'|[^ ]+`)

// TestCoverage holds the page against the list of what the sources describe, and
// runs every command of the page. Published experiments are only looked up here,
// because the tests of package reproduce run them; the long run takes them all.
func TestCoverage(t *testing.T) {
	list, err := os.ReadFile("../../docs/systems.tsv")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := row.FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "\n| P") + len(regexp.MustCompile(`(?m)^\| \d`).FindAllString(string(page), -1)); n != len(rows) {
		t.Errorf("%d rows of the page, of which %d can be read", n, len(rows))
	}
	want := slices.Sorted(func(yield func(string) bool) {
		for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n")[1:] {
			id, _, _ := strings.Cut(line, "\t")
			if !yield(id) {
				return
			}
		}
	})
	var got []string
	for _, r := range rows {
		got = append(got, r[1])
		if strings.TrimSpace(r[4]) == "" {
			t.Errorf("%s says neither what comes out nor why it is not there", r[1])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the page has %d rows, the list %d, or others: %v", len(got), len(want), difference(got, want))
	}
	t.Chdir(coverageFolder(t))
	done := map[string]bool{}
	for _, r := range rows {
		if err := os.RemoveAll(".accrete"); err != nil { // each row stands for itself
			t.Fatal(err)
		}
		for step := range strings.SplitSeq(r[3], " && ") {
			if step != "" {
				covers(t, r[1], step, done)
			}
		}
	}
}

// coverageFolder returns a folder with the files that commands of the page read.
func coverageFolder(t *testing.T) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../docs/coverage")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// covers runs one command of a row, which steps before it may have prepared.
func covers(t *testing.T, id, step string, done map[string]bool) {
	var args []string
	for _, word := range quoted.FindAllString(step, -1)[1:] {
		args = append(args, strings.ReplaceAll(word, "'", ""))
	}
	if args[0] == "reproduce" {
		if done[step] {
			return
		}
		done[step] = true
		if _, err := reproduce.Select(args[1:]); err != nil {
			t.Errorf("%s: %s: %v", id, step, err)
		}
		if os.Getenv("ACCRETE_LONG") == "" {
			return
		}
	}
	var said bytes.Buffer
	status := execute(context.Background(), args, strings.NewReader(""), &said, &said)
	if failed := status == 1 && args[0] == "reproduce"; status != 0 && !failed { // a figure that is not met is said, and that is all that is asked here
		t.Errorf("%s: %s: exit status %d\n%s", id, step, status, said.String())
	}
	if said.Len() == 0 && !slices.Contains(args, "--out") {
		t.Errorf("%s: %s says nothing", id, step)
	}
}

// difference returns what only one of two lists has.
func difference(a, b []string) []string {
	var only []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			only = append(only, x)
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			only = append(only, x)
		}
	}
	return only
}

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

// TestReference: the pages of the reference that are made from the code say what
// the code says. With -rewrite it writes them.
func TestReference(t *testing.T) {
	for path, text := range map[string]string{
		"../../docs/reference/commands.md": commandsPage(),
		"../../docs/reference/settings.md": settingsPage(),
	} {
		if *rewrite {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if is, err := os.ReadFile(path); err != nil || string(is) != text {
			t.Errorf("%s is not what the code says (%v); to write it: go test ./cmd/accrete -run Reference -rewrite", path, err)
		}
	}
}

// commandsPage lists the commands with their flags.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\nMade from the code (`go test ./cmd/accrete -run Reference -rewrite`). DATA is a file, `-`, or the name of a built-in set; MODEL may be\nMODEL@N for an older version.\n\nFlags of every command:\n\n")
	root := (&app{}).root()
	flagTable(&b, root.PersistentFlags())
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "## %s\n\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && !c.Hidden {
				commandEntry(&b, c)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func commandEntry(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "### %s\n%s.\n\n    accrete %s\n\n", c.Name(), c.Short, c.Use)
	if c.Long != "" {
		b.WriteString(escapeHTML(c.Long) + "\n\n")
	}
	for line := range strings.Lines(c.Example) {
		b.WriteString("    " + strings.TrimSpace(line) + "\n")
	}
	b.WriteString("\n")
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		flagTable(b, c.LocalNonPersistentFlags())
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		otherwise := f.DefValue
		if otherwise == "[]" || otherwise == "false" {
			otherwise = ""
		}
		fmt.Fprintf(b, "| `--%s` | %s | %s |\n", f.Name, cell(otherwise), cell(f.Usage))
	})
	b.WriteString("\n")
}

// settingsPage lists the settings of every learner.
func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings of every learner\nMade from the code (`go test ./cmd/accrete -run Reference -rewrite`). Given as `--set key=value`, tried by\n`accrete tune DATA --learner NAME --try key=a,b`; `accrete learners NAME` prints those of one.\n")
	for _, info := range learn.All() {
		e := life.NewLearner(info)
		fmt.Fprintf(&b, "\n## %s\n%s. Update: %v. Keeps %s. Source: %s.\n", info.Name, escapeHTML(strings.ToUpper(info.Summary[:1])+info.Summary[1:]), e.Promised(), escapeHTML(info.Keeps), escapeHTML(info.Source))
		if info.New == nil {
			continue
		}
		options := learn.Options(info.New())
		if len(options) == 0 {
			continue
		}
		b.WriteString("\n")
		settingsTable(&b, options)
	}
	return b.String()
}

func settingsTable(b *strings.Builder, options []learn.Option) {
	b.WriteString("| setting | default | meaning |\n|---|---|---|\n")
	for _, o := range options {
		words := o.Doc
		if len(o.Choices) > 0 {
			words += ": " + strings.Join(o.Choices, ", ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", o.Key, cell(o.Default), cell(words))
	}
}

// cell is text that stands in a table.
func cell(text string) string {
	return strings.ReplaceAll(escapeHTML(strings.Join(strings.Fields(text), " ")), "|", "\\|")
}

func escapeHTML(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", "\\*").Replace(text)
}

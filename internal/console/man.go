package console

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManPages returns the pages of section 1 of the manual, by file name: one of
// the program, and one of each command that is not hidden. They say what --help
// says, in its own lines: texts are laid out by hand.
func ManPages(root *cobra.Command, version string) map[string]string {
	pages := map[string]string{}
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c == root || c.IsAvailableCommand() {
			name := strings.ReplaceAll(c.CommandPath(), " ", "-")
			pages[name+".1"] = manPage(c, name, version)
		}
	}
	return pages
}

func manPage(c *cobra.Command, name, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"Accrete\"\n", strings.ToUpper(name), "accrete "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	use := c.Use
	if c.HasParent() {
		use = c.Parent().Name() + " " + use
	} else {
		use += " COMMAND"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(use))
	asItStands(&b, "DESCRIPTION", c.Long)
	if !c.HasParent() {
		manCommands(&b, c)
	}
	manFlags(&b, "OPTIONS", c.LocalFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	asItStands(&b, "EXAMPLES", c.Example)
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(c.Root().Name()))
	}
	return b.String()
}

// asItStands writes a section whose lines are kept.
func asItStands(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.Lines(text) {
		b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
	}
	b.WriteString(".fi\n")
}

// manCommands lists the commands by their groups.
func manCommands(b *strings.Builder, root *cobra.Command) {
	b.WriteString(".SH COMMANDS\n")
	for _, group := range root.Groups() {
		fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimSuffix(group.Title, ":")))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && c.IsAvailableCommand() {
				fmt.Fprintf(b, ".TP\n.BR %s\\-%s (1)\n%s\n", root.Name(), roff(c.Name()), roff(c.Short))
			}
		}
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(names))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

// roff writes a line so that the typesetter takes no part of it for its own.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	var b strings.Builder
	for _, r := range line {
		if r < 128 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

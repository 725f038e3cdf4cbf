package life

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
)

// Write writes the difference for people, most important first: top lines of
// each kind, and more, the words for how many are left out.
func (d *Difference) Write(w io.Writer, top int, more func(left, all int) string) error {
	var page bytes.Buffer
	c := &d.clauses
	fmt.Fprintf(&page, "%s → %s: %d added, %d dropped, %d stronger, %d weaker, %d moved\n",
		d.From, d.To, len(d.Added)+len(c.added), len(d.Dropped)+len(c.dropped), len(d.Stronger)+len(c.stronger), len(d.Weaker)+len(c.weaker), len(d.Moved)+len(c.moved))
	if d.Empty() && c.empty() {
		page.Reset()
		fmt.Fprintf(&page, "%s and %s know the same\n", d.From, d.To)
	}
	d.writeStates(&page)
	if d.Diff.Before != d.Diff.After {
		fmt.Fprintf(&page, "rules are read as %v, before as %v\n", d.Diff.After, d.Diff.Before)
	}
	if d.Reordered {
		fmt.Fprintln(&page, "rules that stayed are in another order")
	}
	if d.On != "" {
		fmt.Fprintf(&page, "on %s %d of %d answers flip (%s)%s\n", d.On, len(d.Flips), d.Rows, console.Percent(float64(len(d.Flips))/float64(max(d.Rows, 1))),
			d.Effect.becomes())
		fmt.Fprintf(&page, "%s\n", d.Effect.Tables[0].words())
		d.Effect.writeGroups(&page)
	}
	section := func(title string, n int, line func(i int)) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&page, "\n%s\n", title)
		show := min(n, top)
		for i := range show {
			line(i)
		}
		if show < n {
			fmt.Fprintf(&page, "  %s\n", more(n-show, n))
		}
	}
	section("acts otherwise", len(d.States), func(i int) {
		c := &d.States[i]
		fmt.Fprintf(&page, "  %s: %s → %s\n", console.Shown(c.text, console.LongestLast), cmp.Or(c.Before, "not known"), cmp.Or(c.After, "not known"))
	})
	section("flips", len(d.Flips), func(i int) {
		f := &d.Flips[i]
		fmt.Fprintf(&page, "  row %d%s: %s%s → %s%s%s\n", f.Row+1, d.Effect.named(i), console.Shown(f.Before, console.LongestCell), inBrackets(f.P), console.Shown(f.After, console.LongestCell), inBrackets(f.Q), d.Effect.Flips[i].became())
		for _, r := range f.Because {
			if r.Was {
				fmt.Fprintf(&page, "    was  %s\n", d.said(r.Rule, d.before))
			} else {
				fmt.Fprintf(&page, "    now  %s\n", d.said(r.Rule, d.after))
			}
		}
	})
	statements := func(title string, list []rule.Statement, by *say.Speaker, clauses []RuleEntry) {
		section(title, len(list)+len(clauses), func(i int) {
			if i < len(list) {
				fmt.Fprintf(&page, "  %s\n", d.said(list[i], by))
				return
			}
			fmt.Fprintf(&page, "  %s\n", clauses[i-len(list)].brief())
		})
	}
	changes := func(title string, list []rule.Change, clauses []ChangeEntry) {
		section(title, len(list)+len(clauses), func(i int) {
			if i < len(list) {
				fmt.Fprintf(&page, "  %s\n    was  %s\n", d.said(list[i].After, d.after), d.said(list[i].Before, d.before))
				return
			}
			e := &clauses[i-len(list)]
			fmt.Fprintf(&page, "  %s\n    was  %s\n", e.After.brief(), e.Before.brief())
		})
	}
	statements("added", d.Added, d.after, c.added)
	statements("dropped", d.Dropped, d.before, c.dropped)
	changes("stronger", d.Stronger, c.stronger)
	changes("weaker", d.Weaker, c.weaker)
	changes("moved", d.Moved, c.moved)
	_, err := page.WriteTo(w)
	return err
}

// said is a statement as a sentence, with its id and what it weighs; in the rule
// language where nobody can say it or that was asked for.
func (d *Difference) said(s rule.Statement, by *say.Speaker) string {
	switch {
	case d.Formal || by == nil:
		return brief(s)
	case s.Unit != nil:
		return console.Shown(by.Unit(s.Unit).String(), console.LongestLast)
	case s.Else:
		return console.Shown(by.Else(s.Rule).String(), console.LongestLast)
	}
	behind := s.Rule.ID()
	if w := s.Rule.Evidence.Weight; w != nil {
		behind += "; weight " + say.Rounded(*w, 3)
	}
	if w := s.Rule.Worth; w != nil {
		behind += "; worth " + plural(int(*w), "case")
	}
	return fmt.Sprintf("%s [%s]", console.Shown(by.Rule(s.Rule).String(), console.LongestLast), behind)
}

// brief is a statement on a line that can be read; rules and JSON have all of it.
func brief(s rule.Statement) string { return console.Shown(Brief(s), console.LongestLast) }

func inBrackets(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return fmt.Sprintf(" (%s)", console.Percent(p))
}

// named is who a row is whose answer flips, behind its number, where people have
// a name for rows.
func (e *Effect) named(i int) string {
	if e.speaker.Words.Row == "" || e.Flips[i].Say == "" {
		return ""
	}
	return " (" + console.Shown(e.Flips[i].Say, console.LongestCell) + ")"
}

// writeStates writes in how many states a policy acts otherwise.
func (d *Difference) writeStates(page *bytes.Buffer) {
	switch {
	case d.met > 0:
		fmt.Fprintf(page, "in %d of %s that it met when it acted, the policy acts otherwise\n", len(d.States), plural(d.met, "state"))
	case len(d.States) > 0:
		fmt.Fprintf(page, "in %s the policy acts otherwise\n", plural(len(d.States), "state"))
	}
}

package life

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// readout is a base of rules with what the rows that a model keeps say of it.
type readout struct {
	part    *Part
	base    *rule.Base
	rows    *table.Table // nil where rows are not kept
	speaker *say.Speaker
	effect  *influence
	order   []int // of the rules
	nearest []int // the rule that each is nearly the same as, or −1
	apart   bool  // of an ordered base: no two rules can meet
}

// newReadout tries the rules of a model on the rows that it keeps. Some rules of
// a model that do not answer alone are only said.
func newReadout(ctx context.Context, p *Part, base *rule.Base, whole bool) (*readout, error) {
	kept, err := keptRows(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	r := &readout{part: p, base: base, speaker: newSpeaker(p, kept)}
	if r.speaker.Usual == nil {
		r.speaker.Usual = priorOf(p.Model)
	}
	schema := plain(p.Model).Schema()
	if r.speaker.Overall == nil && len(base.Units) > 0 {
		r.speaker.Overall = say.OverallOf(p.Schema(), base.Units)
	}
	if kept != nil {
		if r.rows, err = knowledge.Join(schema, kept); err != nil {
			return nil, err
		}
	}
	told, _ := p.Model.(*expert.Told)
	rows := r.rows
	if !whole {
		rows = nil
	}
	if r.effect, err = newInfluence(ctx, base, rows, p.Target(), told); err != nil {
		return nil, err
	}
	r.order = r.effect.order(base, schema)
	r.nearest = r.effect.near(base, r.order)
	r.apart = base.Kind == rule.Ordered && apart(base, schema)
	return r, nil
}

// cut leaves the n rules that decide most, or the n units that most cases belong
// to. What is usual is none of them.
func (r *readout) cut(n int) {
	all := len(r.base.Rules) + len(r.base.Units)
	foremost := slices.Clone(r.order)
	if r.base.Kind == rule.Ordered && !r.apart {
		slices.SortStableFunc(foremost, func(i, j int) int {
			di, si := r.effect.counts(r.base, i)
			dj, sj := r.effect.counts(r.base, j)
			return cmp.Or(cmp.Compare(dj, di), cmp.Compare(sj, si))
		})
	}
	keep := make([]bool, len(r.base.Rules))
	left, usual := n, 0
	for _, i := range foremost {
		switch {
		case isUsual(&r.base.Rules[i]) && r.base.Kind == rule.Weighed:
			keep[i] = true
			usual++
		case left > 0:
			keep[i] = true
			left--
		}
	}
	r.order = slices.DeleteFunc(r.order, func(i int) bool { return !keep[i] })
	for i, j := range r.nearest {
		if j >= 0 && !keep[j] {
			r.nearest[i] = -1
		}
	}
	top, _ := topRules(&rule.Base{Units: r.base.Units}, n)
	shown := len(r.order) - usual + len(top.Units)
	if all -= usual; shown == all {
		return
	}
	base := *r.base
	base.Units, base.Else = top.Units, nil
	what := "that decide most"
	switch {
	case len(top.Units) > 0:
		what = fmt.Sprintf("that most %s belong to", r.speaker.Cases())
	case r.rows == nil:
		what = "that say most"
	}
	if shown == 1 { // the one, of so many, that decides most
		what = strings.NewReplacer("that decide ", "that decides ", "that say ", "that says ").Replace(what)
	}
	base.Notes = append([]string{fmt.Sprintf("the %d of %d rules %s", shown, all, what)}, base.Notes...)
	r.base = &base
}

// entries are the rules that were learnt, in order.
func (r *readout) entries() []RuleEntry {
	given := ruleEntries(r.base)
	entries := make([]RuleEntry, 0, len(given))
	grown := certificates(r.part.Model)
	for _, i := range r.order {
		e := given[i]
		e.Certificate = grown[e.ID]
		e.Say = r.speaker.Rule(&r.base.Rules[i])
		e.Decides = r.effect.decides[i]
		if isUsual(&r.base.Rules[i]) && r.base.Kind == rule.Weighed {
			e.Decides = nil // what is usual is no rule
		}
		if r.nearest[i] >= 0 {
			e.Near = r.base.Rules[r.nearest[i]].ID()
		}
		r.rate(&e)
		entries = append(entries, e)
	}
	rest := given[len(r.base.Rules):]
	for i := range rest {
		switch {
		case r.base.Else != nil && i == 0:
			rest[i].Say = r.speaker.Else(r.base.Else)
			r.rate(&rest[i])
		case r.base.Else != nil:
			rest[i].Say = r.speaker.Unit(&r.base.Units[i-1])
		default:
			rest[i].Say = r.speaker.Unit(&r.base.Units[i])
		}
	}
	return append(entries, rest...)
}

// rate adds how often a rule is right, as an interval, and what is usual.
func (r *readout) rate(e *RuleEntry) {
	if e.Then == nil || r.speaker.Target < 0 {
		return
	}
	class, ok := e.Then.Value.(string)
	if !ok {
		return
	}
	if n, k := e.Covered, e.Correct; n != nil && k != nil && *n > 0 {
		i := stat.ErrorRate{Errors: min(*k, *n), Cases: *n}.Wilson(0.95, stat.TwoSided)
		e.Low, e.High = &i.Low, &i.High
	}
	if a := &r.speaker.Schema.Attributes[r.speaker.Target]; r.speaker.Usual != nil && e.Then.Column == a.Name {
		if c := a.Code(class); c >= 0 && int(c) < len(r.speaker.Usual) {
			e.Usual = &r.speaker.Usual[c]
		}
	}
}

// told are the experts' rules: who told them, how they fare, what they decide.
func (r *readout) told(ctx context.Context, told *expert.Told) ([]RuleEntry, error) {
	entries := toldEntries(told)
	decides, err := r.toldDecide(ctx, told)
	if err != nil {
		return nil, err
	}
	for i, s := range told.Standings() {
		e := &entries[i]
		e.Say = r.speaker.Rule(&s.Rule)
		e.Decides = decides[i]
		e.Told = &ToldEntry{By: s.Expert.Name}
		for _, v := range r.part.Versions {
			if v.Source.ID == s.Expert.ID && v.Kind == store.Tell {
				e.Told.By, e.Told.At, e.Told.Version, e.Told.Note = cmp.Or(v.By, s.Expert.Name), v.At, v.Number, v.Note
			}
		}
		r.rate(e)
	}
	return entries, nil
}

// toldDecide finds what each told rule decides of the rows that are kept.
func (r *readout) toldDecide(ctx context.Context, told *expert.Told) ([]*Decides, error) {
	n := len(told.Standings())
	decides := make([]*Decides, n)
	if r.rows == nil || r.rows.Rows()*(n+1) > mostWork {
		return decides, nil
	}
	out := learn.NewPredictions(told.Unwrap(), r.rows.Rows())
	if err := told.Unwrap().Predict(ctx, r.rows, out); err != nil {
		return nil, err
	}
	classes := told.Schema().Attributes[told.Target()].Values
	all := told.Reviser()
	p, q := make([]float64, len(classes)), make([]float64, len(classes))
	for i := range decides {
		d, without := &Decides{}, told.Reviser(i)
		for row := range r.rows.Rows() {
			clear(p)
			clear(q)
			copy(p, out.Row(row))
			copy(q, out.Row(row))
			all(r.rows, row, p)
			without(r.rows, row, q)
			answer := learn.Best(p, classes)
			if answer == learn.Best(q, classes) {
				continue
			}
			w := r.rows.Weight(row)
			d.Rows += w
			switch truth := r.rows.Columns[told.Target()].Codes[row]; {
			case truth < 0:
			case int(truth) == answer:
				d.Right += w
			default:
				d.Wrong += w
			}
		}
		decides[i] = d
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return decides, nil
}

// WriteSentences writes rules for people: a sentence each, with a line of
// evidence under it, those that decide most first. Of more than most, 0 for all,
// the rest is counted.
func (b *RuleBase) WriteSentences(w io.Writer, most int) (left int) {
	r := b.readout
	for _, note := range b.Notes {
		fmt.Fprintln(w, strings.TrimPrefix(note, "summary: "))
	}
	var learnt, told, usual []RuleEntry
	near := map[string][]RuleEntry{}
	for _, e := range b.Rules {
		switch {
		case e.Told != nil:
			told = append(told, e)
		case e.Near != "":
			near[e.Near] = append(near[e.Near], e)
		case strings.HasPrefix(e.Text, "ELSE") && r.base.Kind == rule.Weighed && r.base.Else != nil && r.base.Else.Then.Numeric:
		case b.Kind == rule.Weighed.String() && len(e.If) == 0 && e.Then != nil && e.Then.Times == nil && len(e.Expect) == 0 && !strings.HasPrefix(e.Text, "ELSE"):
			usual = append(usual, e)
		default:
			learnt = append(learnt, e)
		}
	}
	if line := r.usually(usual, len(learnt) > 0); line != "" {
		fmt.Fprintln(w, line)
	}
	if how := r.how(b); how != "" && len(learnt) > 1 {
		fmt.Fprintln(w, how)
	}
	several := len(learnt) > 0 && severalSources(b.Rules)
	for i := range learnt {
		if most > 0 && i == most && len(learnt) > most+1 {
			left = len(learnt) - most
			break
		}
		fmt.Fprintln(w, numbered(i, len(learnt))+learnt[i].Say.String())
		margin := strings.Repeat(" ", len(numbered(0, len(learnt))))
		if line := r.evidence(&learnt[i], several); line != "" {
			fmt.Fprintln(w, margin+line)
		}
		for _, e := range near[learnt[i].ID] {
			fmt.Fprintf(w, "%snearly the same %s: %s [%s]\n", margin, r.speaker.Cases(), r.conditions(e.ID), e.ID)
		}
	}
	if len(learnt)+len(told)+len(b.Notes) == 0 {
		fmt.Fprintf(w, "%s has no rules: it knows only what is usual.\n", cmp.Or(b.Model, "the model"))
	}
	for i := range told {
		if i == 0 && len(b.Rules) > len(told) {
			fmt.Fprintln(w)
		}
		if i == 0 {
			fmt.Fprintln(w, "Told:")
		}
		fmt.Fprintln(w, numbered(i, len(told))+told[i].Say.String())
		fmt.Fprintln(w, strings.Repeat(" ", len(numbered(0, len(told))))+r.standing(&told[i]))
	}
	return left
}

// numbered is the number of the i-th of n sentences.
func numbered(i, n int) string {
	return fmt.Sprintf("%*d. ", len(fmt.Sprint(n)), i+1)
}

// severalSources reports whether rules stand on more than one source.
func severalSources(rules []RuleEntry) bool {
	for _, e := range rules {
		if len(e.Sources) > 1 && e.Told == nil {
			return true
		}
	}
	return false
}

// conditions says when a learnt rule applies.
func (r *readout) conditions(id string) string {
	for i := range r.base.Rules {
		if r.base.Rules[i].ID() == id {
			return r.speaker.Conditions(r.base.Rules[i].If).String()
		}
	}
	return ""
}

// usually says how frequent each class is; of a number, where the sum starts,
// and whether more follows.
func (r *readout) usually(priors []RuleEntry, more bool) string {
	s := r.speaker
	if e := r.base.Else; r.base.Kind == rule.Weighed && e != nil && e.Then.Numeric {
		start := fmt.Sprintf("%s begins at %s", s.Label(e.Then.Column), say.Rounded(e.Then.Mean, 4))
		if !more {
			return start + "."
		}
		return start + "; each of these that applies adds to it or takes from it:"
	}
	if s.Usual == nil || s.Target < 0 || len(priors) == 0 && r.base.Kind != rule.Ordered {
		return ""
	}
	values := s.Schema.Attributes[s.Target].Values
	var said []string
	for c, share := range s.Usual {
		if len(said) == mostClasses && len(values) > mostClasses+1 {
			said = append(said, fmt.Sprintf("and %d more classes", len(values)-c))
			break
		}
		said = append(said, fmt.Sprintf("%s in %s", s.Class(values[c]), say.Percent(share)))
	}
	return "Usually " + strings.Join(said, ", ") + "."
}

const mostClasses = 8

// how says how rules are read together.
func (r *readout) how(b *RuleBase) string {
	switch {
	case !concludes(r.base, r.speaker):
	case r.base.Kind == rule.Ordered && r.apart:
		return fmt.Sprintf("Each %s meets one of these:", r.speaker.Case())
	case r.base.Kind == rule.Ordered:
		return "The first of these that applies answers:"
	case r.base.Kind == rule.Weighed && r.base.Else == nil && len(b.Rules) > 0:
		if !slices.ContainsFunc(r.effect.decides, func(d *Decides) bool { return d != nil }) {
			return "All that apply count together, each by its weight; those that say most stand first:"
		}
		return "All that apply count together, each by its weight; those that decide most stand first:"
	}
	return ""
}

// concludes reports whether the rules of a base are all about the target, and
// not steps of a theory towards it.
func concludes(base *rule.Base, s *say.Speaker) bool {
	return s.Target >= 0 && !slices.ContainsFunc(base.Rules, func(r rule.Rule) bool { return r.Then.Column != s.Schema.Attributes[s.Target].Name })
}

// evidence is the line under a sentence.
func (r *readout) evidence(e *RuleEntry, several bool) string {
	var said []string
	if e.Decides != nil {
		text := "decides no " + r.speaker.Rows(2)[2:] + " by itself"
		if e.Decides.Rows > 0 {
			text = "decides " + r.speaker.Rows(e.Decides.Rows)
			if e.Then != nil {
				text += rightly(e.Decides)
			}
		}
		said = append(said, text)
	}
	if e.Low != nil {
		said = append(said, "95 % interval "+say.Between(*e.Low, *e.High))
	}
	if e.Weight != nil {
		sign := "×"
		if *e.Weight < 0 {
			sign = "÷"
		}
		said = append(said, fmt.Sprintf("weight %s (%s %s)", say.Rounded(*e.Weight, 3), sign, say.Times(*e.Weight)))
	}
	switch few := 0.0001; {
	case e.Bits == nil || *e.Bits == 0: // it says what is usual, or no row stands behind it
	case *e.Bits > 0 && *e.Bits < few:
		said = append(said, "under "+say.Number(few)+" bits")
	default:
		said = append(said, say.Rounded(*e.Bits, 3)+" bits")
	}
	if e.Templates != nil {
		said = append(said, "templates "+say.Count(*e.Templates))
	}
	if several && len(e.Sources) > 0 {
		var from []string
		for _, s := range e.Sources {
			from = append(from, fmt.Sprintf("%s %s", say.Count(*s.Covered), s.Source))
		}
		said = append(said, "rows from "+strings.Join(from, ", "))
	}
	line := "[" + e.ID + "]"
	if len(said) > 0 {
		line += " " + strings.Join(said, "; ")
	}
	return line
}

// rightly says how many of the rows that a rule decides it makes right.
func rightly(d *Decides) string {
	switch {
	case d.Right == 0 && d.Wrong == 0:
		return ""
	case d.Wrong == 0 && d.Rows == 1:
		return ", rightly"
	case d.Wrong == 0:
		return ", all rightly"
	case d.Right == 0 && d.Rows == 1:
		return ", wrongly"
	case d.Right == 0:
		return ", all wrongly"
	}
	return fmt.Sprintf(", %s rightly and %s wrongly", say.Count(d.Right), say.Count(d.Wrong))
}

// standing is the line under a sentence that somebody told.
func (r *readout) standing(e *RuleEntry) string {
	line := fmt.Sprintf("[%s] %s says so", e.ID, filepath.Base(cmp.Or(e.Told.By, "an expert")))
	if e.Worth != nil {
		line += fmt.Sprintf(", worth %s %s", say.Count(*e.Worth), r.speaker.Cases())
	}
	what := map[string]string{"confirmed": "the rows agree", "disputed": "the rows disagree", "outvoted": "the rows have outvoted this", "unmet": "no row meets this"}[e.State]
	line += "; " + cmp.Or(what, e.State)
	if e.Covered != nil && *e.Covered > 0 && e.Low != nil {
		rate := *e.Correct / *e.Covered
		line += fmt.Sprintf(": %s of %s (%s, %s)", say.Count(*e.Correct), say.Count(*e.Covered), say.Percent(rate), say.Between(*e.Low, *e.High))
	}
	if e.Decides != nil && e.Decides.Rows > 0 {
		line += "; decides " + r.speaker.Rows(e.Decides.Rows) + rightly(e.Decides)
	}
	return line
}

// WriteStandings writes the rules that a model was told, and how they fare.
func WriteStandings(ctx context.Context, w io.Writer, p *Part) error {
	told, ok := p.Model.(*expert.Told)
	if !ok {
		return nil
	}
	r, err := newReadout(ctx, p, &rule.Base{}, true)
	if err != nil {
		return err
	}
	entries, err := r.told(ctx, told)
	if err != nil {
		return err
	}
	for i := range entries {
		fmt.Fprintf(w, "%s: %s\n    %s\n", entries[i].State, entries[i].Say, r.standing(&entries[i]))
	}
	return nil
}

// Sentences writes what a model knows as sentences; it reports how many rules
// are not shown of more than most, 0 for all.
func Sentences(ctx context.Context, w io.Writer, p *Part, o RulesOptions, most int) (left int, err error) {
	list, err := RuleEntries(ctx, p, o)
	if err != nil {
		return 0, err
	}
	return list.WriteSentences(w, most), nil
}

// BestSentences writes the first sentences of what a model learnt, without what
// it was told, and returns how many rules are left; nothing if it has none.
func BestSentences(ctx context.Context, w io.Writer, p *Part, most int) (left int, err error) {
	learnt := *p
	learnt.Model = plain(p.Model)
	if _, ok := learn.Ability[learn.Ruler](learnt.Model); !ok {
		return 0, nil
	}
	size := learnt.Size()
	whole := size.Rules <= mostBrief || float64(size.Rules)*size.Rows <= mostBriefWork
	var base *rule.Base
	if whole {
		base, err = readRules(ctx, &learnt, learnt.Model, RulesOptions{})
	} else {
		base, left, err = BestRules(learnt.Model, most)
	}
	if err != nil || base == nil {
		return 0, err
	}
	r, err := newReadout(ctx, &learnt, base, whole)
	if err != nil {
		return 0, err
	}
	list := &RuleBase{Model: p.Version.Model, Kind: base.Kind.String(), Rules: r.entries(), Notes: base.Notes, readout: r}
	return left + list.WriteSentences(w, most), nil
}

// mostBrief is how many rules are tried on rows to show the first of them;
// mostBriefWork is how many rows times rules are, however many rules there are.
const (
	mostBrief     = 300
	mostBriefWork = 20_000_000
)

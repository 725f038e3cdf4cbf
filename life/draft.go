package life

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Draft is a rule that somebody might want to tell, with what the rows say of
// it. Of wrong rows it would put Fixed right and Broken wrong, were it believed.
type Draft struct {
	Rule    string       `json:"rule"`
	Say     say.Sentence `json:"say"`
	Covered float64      `json:"covered"`
	Correct float64      `json:"correct"`
	Low     *float64     `json:"low,omitempty"`
	High    *float64     `json:"high,omitempty"`
	State   string       `json:"state"`
	Fixed   float64      `json:"fixed,omitempty"`
	Broken  float64      `json:"broken,omitempty"`

	words string
}

// What a draft says that nobody has changed yet.
const (
	draftWorth = 10
	draftWith  = 0.9
)

// draftOf makes a draft of tests and a class, judged on rows; nil rows judge
// nothing.
func (r *explainer) draftOf(tests []rule.Test, class string, rows *table.Table) (*Draft, error) {
	with, worth := draftWith, float64(draftWorth)
	one := rule.Rule{If: rule.Canonical(tests), Then: rule.Conclusion{Column: r.target.Name, Value: class}, Worth: &worth}
	d := &Draft{State: string(expert.Unmet)}
	if rows != nil {
		measured, err := rule.Measure(&rule.Base{Rules: []rule.Rule{one}}, rows, r.part.Target())
		if err != nil {
			return nil, err
		}
		d.Covered, d.Correct = *measured.Rules[0].Evidence.Covered, *measured.Rules[0].Evidence.Correct
	}
	if d.Covered > 0 {
		i := stat.ErrorRate{Errors: d.Correct, Cases: d.Covered}.Wilson(0.95, stat.TwoSided)
		d.Low, d.High = &i.Low, &i.High
		with = max(with, math.Floor(100*(d.Correct+1)/(d.Covered+2))/100)
		d.State = string(expert.Disputed)
		if i.Low <= with && with <= i.High {
			d.State = string(expert.Confirmed)
		}
		if usual := r.usualOf(class); d.State == string(expert.Disputed) && i.Low > usual && d.Correct/d.Covered >= 0.5 {
			with = math.Round(100*d.Correct/d.Covered) / 100 // the rows lean that way: say as much as they do
			d.State = string(expert.Confirmed)
		}
	}
	one.With = &with
	d.Rule, d.Say = strings.TrimSpace((&rule.Base{Rules: []rule.Rule{one}, Clocks: r.part.Schema()}).String()), r.speaker.Rule(&one)
	d.words = r.judged(d, class)
	return d, nil
}

func (r *explainer) usualOf(class string) float64 {
	if c := r.target.Code(class); c >= 0 && int(c) < len(r.speaker.Usual) {
		return r.speaker.Usual[c]
	}
	return 0
}

// judged says what the rows say of a draft.
func (r *explainer) judged(d *Draft, class string) string {
	switch {
	case d.Covered == 0:
		return "No row meets this."
	case d.State == string(expert.Disputed):
		return fmt.Sprintf("The rows disagree: %s of %s are %s (%s). You can still tell it; it will be marked disputed.", say.Count(d.Correct), say.Count(d.Covered), r.speaker.Class(class), say.Between(*d.Low, *d.High))
	}
	return fmt.Sprintf("The rows agree: %s of %s are %s (%s).", say.Count(d.Correct), say.Count(d.Covered), r.speaker.Class(class), say.Between(*d.Low, *d.High))
}

// String is a draft for people, and a file of rules: what it says and what the
// rows say as comments, then the rule.
func (d *Draft) String() string { return fmt.Sprintf("# %s\n# %s\n%s", d.Say, d.words, d.Rule) }

// Drafting is a row that should have been answered otherwise.
type Drafting struct {
	Should  string   // the class that is right
	Because []string // the columns that should have decided; nil is those that did most
	// Cuts are where numbers are divided, by column, on the side of the row;
	// those that are not given are where the rows divide best.
	Cuts map[string]float64
	// Words are those of texts that should have decided, by column; without them it
	// is the one that tells most of the class.
	Words map[string][]string
}

// Draft drafts a rule that would have answered a row otherwise: its cells in the
// columns that should have decided, cuts where the rows divide best.
func (h *Home) Draft(ctx context.Context, p *Part, d *Data, row int, what Drafting) (draft *Draft, err error) {
	if err := CanExplain(p.Model); err != nil && len(what.Because) == 0 {
		return nil, err
	}
	r, err := newExplainer(ctx, p)
	if err != nil {
		return nil, err
	}
	if r.target.Kind != table.Nominal {
		return nil, remedy.Misusef("an expert's rules conclude a class; the target %q is a number", r.target.Name)
	}
	if !slices.Contains(r.target.Values, what.Should) {
		return nil, remedy.Misusef("%q is not a class of %s%s", what.Should, r.target.Name, spell.Hint(what.Should, r.target.Values))
	}
	at, found := 0, false
	err = h.batches(ctx, p.Model, d, nil, func(batch *table.Table) error {
		if row > at+batch.Rows() {
			at += batch.Rows()
			return nil
		}
		found = true
		draft, err = r.draft(ctx, batch, row-at-1, what)
		if err != nil {
			return err
		}
		return errEnough
	})
	if err == nil && !found {
		return nil, remedy.Misusef("%s has %s; row %d was asked for", d.called(), plural(at, "row"), row)
	}
	return draft, err
}

// draft drafts a rule for one row of a table.
func (r *explainer) draft(ctx context.Context, t *table.Table, row int, what Drafting) (*Draft, error) {
	columns, err := r.because(ctx, t, row, what.Because)
	if err != nil {
		return nil, err
	}
	rows, err := keptTable(ctx, r.part.Model)
	if err != nil {
		return nil, err
	}
	var tests []rule.Test
	for _, j := range columns {
		a := &r.part.Schema().Attributes[j]
		switch c := &t.Columns[j]; {
		case c.Codes != nil && c.Codes[row] >= 0 && int(c.Codes[row]) < len(a.Values):
			tests = append(tests, rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[c.Codes[row]]})
		case c.Floats != nil && !table.IsMissing(c.Floats[row]):
			if cut, given := what.Cuts[a.Name]; given {
				tests = append(tests, chosenCut(a.Name, cut, c.Floats[row]))
				continue
			}
			test, err := r.bestCut(rows, tests, j, c.Floats[row], what.Should)
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
		case c.Words != nil && !c.Words.Missing(row):
			words, err := r.wordsFor(t, row, j, what)
			if err != nil {
				return nil, err
			}
			for _, word := range words {
				tests = append(tests, rule.Test{Op: rule.Contains, Column: a.Name, Value: word})
			}
		default:
			tests = append(tests, rule.Test{Op: rule.IsMissing, Column: a.Name})
		}
	}
	return r.draftOf(tests, what.Should, rows)
}

// because finds the columns that should have decided: nominal ones first, so
// that cuts are made for the rows that are left.
func (r *explainer) because(ctx context.Context, t *table.Table, row int, names []string) ([]int, error) {
	if len(names) == 0 {
		x, ok := learn.Ability[learn.Explainer](r.part.Model)
		if !ok {
			return nil, remedy.Misusef("say which columns should have decided")
		}
		out := learn.NewPredictions(r.part.Model, 1)
		one := t.Slice(row, row+1)
		if err := r.part.Model.Predict(ctx, one, out); err != nil {
			return nil, err
		}
		e, err := r.explain(ctx, x, one, 0, NewPredicted(r.part.Model, 1, one, out, 0))
		if err != nil {
			return nil, err
		}
		for i := range min(len(e.Cells), 2) {
			names = append(names, e.Cells[i].Column)
		}
		if len(names) == 0 {
			return nil, remedy.Misusef("no cell has a part in the answer: say which columns should have decided")
		}
	}
	var columns []int
	for _, name := range names {
		j := r.part.Schema().Index(name)
		if j < 0 || j == r.part.Target() {
			return nil, remedy.Misusef("%q is not a column that a rule can test%s", name, spell.Hint(name, r.part.Schema().Names()))
		}
		columns = append(columns, j)
	}
	slices.SortStableFunc(columns, func(a, b int) int {
		return cmp.Compare(rank(t.Columns[a].Floats != nil), rank(t.Columns[b].Floats != nil))
	})
	return columns, nil
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chosenCut is a test of a number that a row meets, at a cut that somebody chose.
func chosenCut(column string, cut, now float64) rule.Test {
	if now >= cut {
		return rule.Test{Op: rule.Ge, Column: column, Number: cut}
	}
	return rule.Test{Op: rule.Le, Column: column, Number: cut}
}

// mostCuts is how many cuts of a column are tried.
const mostCuts = 64

// bestCut is a test of a number that a row meets, at the cut that tells most of
// the class among the rows that meet the other tests.
func (r *explainer) bestCut(rows *table.Table, tests []rule.Test, column int, now float64, class string) (rule.Test, error) {
	name := r.part.Schema().Attributes[column].Name
	best := rule.Test{Op: rule.Ge, Column: name, Number: now}
	if rows == nil || column >= len(r.speaker.Known) || len(r.speaker.Known[column]) < 2 {
		return best, nil
	}
	known, most := r.speaker.Known[column], math.Inf(-1)
	base := &rule.Base{}
	var cuts []rule.Test
	step := max(1, len(known)/mostCuts)
	for i := step; i < len(known); i += step {
		if cut := say.Cut(known[i-1], known[i]); cut < now {
			cuts = append(cuts, rule.Test{Op: rule.Gt, Column: name, Number: cut})
		} else {
			cuts = append(cuts, rule.Test{Op: rule.Le, Column: name, Number: cut})
		}
	}
	for _, cut := range cuts {
		base.Rules = append(base.Rules, rule.Rule{If: append(slices.Clone(tests), cut), Then: rule.Conclusion{Column: r.target.Name, Value: class}})
	}
	measured, err := rule.Measure(base, rows, r.part.Target())
	if err != nil {
		return best, err
	}
	for i := range measured.Rules {
		e := &measured.Rules[i].Evidence
		if *e.Covered == 0 {
			continue
		}
		tells := *e.Bits
		if *e.Correct / *e.Covered < r.usualOf(class) {
			tells = -tells
		}
		if tells > most {
			most, best = tells, cuts[i]
		}
	}
	return best, nil
}

// Wrong are the rows of data that a model gets wrong, the most confident first,
// and a rule that would put a group of them right.
type Wrong struct {
	Rows  int          `json:"rows"` // whose truth is known
	Count int          `json:"count"`
	Wrong []*Explained `json:"wrong"`
	Draft *Draft       `json:"draft,omitempty"`
}

// mistake is a row that a model gets wrong.
type mistake struct {
	row int
	p   float64
}

// Wrong walks the rows that a model gets wrong, the most confident first, and
// explains the first of them.
func (h *Home) Wrong(ctx context.Context, p *Part, d *Data, most int) (*Wrong, error) {
	if err := CanExplain(p.Model); err != nil {
		return nil, err
	}
	if p.Schema().Attributes[p.Target()].Kind != table.Nominal {
		return nil, remedy.Misusef("numbers are not right or wrong; the target %q is one", p.Schema().Attributes[p.Target()].Name)
	}
	m, _ := learn.Ability[learn.Explainer](p.Model)
	r, err := newExplainer(ctx, p)
	if err != nil {
		return nil, err
	}
	var parts []learn.Learnt
	err = h.batches(ctx, m, d, nil, func(batch *table.Table) error {
		parts = append(parts, learn.Learnt{Table: batch})
		return nil
	})
	if err != nil {
		return nil, err
	}
	all, err := knowledge.Join(m.Schema(), parts)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, all.Rows())
	if err := m.Predict(ctx, all, out); err != nil {
		return nil, err
	}
	w := &Wrong{Wrong: []*Explained{}}
	var mistakes []mistake
	answers := make([]int, all.Rows())
	for row, truth := range all.Columns[p.Target()].Codes {
		answers[row] = learn.Best(out.Row(row), r.target.Values)
		if truth < 0 {
			continue
		}
		w.Rows++
		if answers[row] != int(truth) {
			mistakes = append(mistakes, mistake{row, out.Row(row)[answers[row]]})
		}
	}
	if w.Rows == 0 {
		return nil, fmt.Errorf("%s does not say what is true: no row has a known %s", d.called(), r.target.Name)
	}
	w.Count = len(mistakes)
	slices.SortStableFunc(mistakes, func(a, b mistake) int { return cmp.Compare(b.p, a.p) })
	for _, one := range mistakes[:min(len(mistakes), most)] {
		e, err := r.explain(ctx, m, all, one.row, NewPredicted(p.Model, one.row+1, all, out, one.row))
		if err != nil {
			return nil, err
		}
		w.Wrong = append(w.Wrong, e)
	}
	w.Draft, err = r.correct(ctx, all, answers)
	return w, err
}

// Groups of wrong rows: tests, and those that are followed further, at most.
const (
	mostTests  = 3
	mostBeam   = 12
	fewestFix  = 3
	groupCuts  = 8
	mostValues = 30
)

// correct drafts a rule for a group of rows that are answered wrongly: the
// conjunction that would put most right, less what it would put wrong.
func (r *explainer) correct(ctx context.Context, rows *table.Table, answers []int) (*Draft, error) {
	truth := rows.Columns[r.part.Target()].Codes
	tests, matched, err := r.groupTests(rows)
	if err != nil {
		return nil, err
	}
	var best *group
	for class := range r.target.Values {
		fix, ruin := bits.New(rows.Rows()), bits.New(rows.Rows())
		for row, answer := range answers {
			switch {
			case int(truth[row]) == class && answer != class:
				fix.Put(row)
			case truth[row] >= 0 && int(truth[row]) == answer && answer != class:
				ruin.Put(row)
			}
		}
		g, err := bestGroup(ctx, matched, fix, ruin, rows.Rows())
		if err != nil {
			return nil, err
		}
		if g != nil && (best == nil || g.gain() > best.gain()) {
			best, g.class = g, class
		}
	}
	if best == nil {
		return nil, nil
	}
	var chosen []rule.Test
	for _, i := range best.tests {
		chosen = append(chosen, tests[i])
	}
	d, err := r.draftOf(chosen, r.target.Values[best.class], rows)
	if err != nil {
		return nil, err
	}
	d.Fixed, d.Broken = float64(best.fixed), float64(best.broken)
	d.words = fmt.Sprintf("Were it believed, %s would become right and %s wrong. ", r.speaker.Rows(d.Fixed), say.Count(d.Broken)) + d.words
	return d, nil
}

// groupTests are tests of single columns, and the rows that meet each.
func (r *explainer) groupTests(rows *table.Table) ([]rule.Test, []bits.Set, error) {
	var tests []rule.Test
	for j := range rows.Columns {
		a := &rows.Schema.Attributes[j]
		switch {
		case j == r.part.Target():
		case a.Kind == table.Nominal && len(a.Values) <= mostValues:
			for _, v := range a.Values {
				tests = append(tests, rule.Test{Op: rule.Eq, Column: a.Name, Value: v})
			}
		case a.Kind == table.Numeric:
			known := slices.DeleteFunc(slices.Clone(rows.Columns[j].Floats), func(x float64) bool { return table.IsMissing(x) || math.IsInf(x, 0) })
			slices.Sort(known)
			known = slices.Compact(known)
			for k := 1; k < groupCuts && len(known) > 1; k++ {
				i := max(1, k*len(known)/groupCuts)
				cut := say.Cut(known[i-1], known[i])
				tests = append(tests, rule.Test{Op: rule.Gt, Column: a.Name, Number: cut}, rule.Test{Op: rule.Le, Column: a.Name, Number: cut})
			}
		}
	}
	matched := make([]bits.Set, len(tests))
	for i := range tests {
		m, err := rule.NewMatcher(tests[i:i+1], rows.Schema)
		if err != nil {
			return nil, nil, err
		}
		matched[i] = bits.New(rows.Rows())
		m.Match(rows, matched[i])
	}
	return tests, matched, nil
}

// group is rows that some tests have in common.
type group struct {
	tests         []int
	rows          bits.Set
	fixed, broken int
	class         int
}

func (g *group) gain() int { return g.fixed - g.broken }

// bestGroup searches conjunctions of a few tests, following the best of each
// length; nil if none puts enough right.
func bestGroup(ctx context.Context, matched []bits.Set, fix, ruin bits.Set, n int) (*group, error) {
	if fix.Count() < fewestFix {
		return nil, nil
	}
	var best *group
	beam := []*group{{rows: bits.Fill(n), fixed: fix.Count(), broken: ruin.Count()}}
	for range mostTests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var next []*group
		for _, g := range beam {
			from := 0
			if len(g.tests) > 0 {
				from = g.tests[len(g.tests)-1] + 1
			}
			for i := from; i < len(matched); i++ {
				rows := bits.New(n)
				bits.And(rows, g.rows, matched[i])
				one := &group{tests: append(slices.Clone(g.tests), i), rows: rows, fixed: bits.AndCount(rows, fix), broken: bits.AndCount(rows, ruin)}
				if one.fixed >= fewestFix && (one.fixed < g.fixed || one.broken < g.broken) {
					next = append(next, one)
				}
			}
		}
		slices.SortStableFunc(next, func(a, b *group) int {
			return cmp.Or(cmp.Compare(b.gain(), a.gain()), cmp.Compare(b.fixed, a.fixed))
		})
		beam = next[:min(len(next), mostBeam)]
		if len(beam) > 0 && beam[0].gain() > 0 && (best == nil || beam[0].gain() > best.gain()) {
			best = beam[0]
		}
	}
	return best, nil
}

// String is the wrong rows and the draft for people.
func (w *Wrong) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d rows are answered wrongly; the most confident first", w.Count, w.Rows)
	if left := w.Count - len(w.Wrong); left > 0 {
		fmt.Fprintf(&text, ", %d more are not shown", left)
	}
	for _, e := range w.Wrong {
		text.WriteString("\n\n")
		var one strings.Builder
		e.Write(&one)
		text.WriteString(strings.TrimSuffix(one.String(), "\n"))
	}
	switch {
	case w.Draft != nil:
		fmt.Fprintf(&text, "\n\na rule to look at, change and tell:\n%s", w.Draft)
	case w.Count > 0:
		text.WriteString("\n\nno rule of up to three tests would put a group of them right without putting as many wrong")
	}
	return text.String()
}

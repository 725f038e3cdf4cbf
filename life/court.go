package life

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Court is where people and rows, or people and people, disagree about a model,
// what decides most answers first.
type Court struct {
	Model     string         `json:"model"`
	Version   int            `json:"version"`
	Conflicts []Disagreement `json:"conflicts"`
	Together  []Agreement    `json:"together,omitempty"`

	speaker *say.Speaker
}

// Agreement is where two told rules hold and say the same: there they count as more
// than each says. Rows are how many there are, by class.
type Agreement struct {
	Where string             `json:"where"`
	Say   say.Sentence       `json:"say"`
	Rules []string           `json:"rules"` // their ids
	By    []string           `json:"by"`    // who told them
	Rows  map[string]float64 `json:"rows"`
}

// Disagreement is one of them: where, what each side says, which answers the rule
// decides, whom it is about, and how often answers would be right if the rule were
// worth more or less.
type Disagreement struct {
	Rule    string        `json:"rule"` // id of the rule that was told
	Text    string        `json:"text"`
	State   string        `json:"state"`
	Where   string        `json:"where"`
	Say     say.Sentence  `json:"say,omitempty"` // where
	Sides   []Side        `json:"sides"`
	Decides *Decides      `json:"decides,omitempty"`
	Groups  []EffectGroup `json:"groups"` // before and after striking it
	Worths  []WorthPoint  `json:"worths"`
	Narrow  []Narrowed    `json:"narrow,omitempty"`
}

// Narrowed is the rule said of fewer rows, where they agree with it more.
type Narrowed struct {
	Where string       `json:"where"` // what was added
	Say   say.Sentence `json:"say"`
	Rule  string       `json:"rule"` // in the rule language
	Rows  float64      `json:"rows"`
	Right float64      `json:"right"`
	Low   float64      `json:"low"`
	High  float64      `json:"high"`
}

// Side is what somebody says of a group of rows, or the rows themselves.
type Side struct {
	By          string   `json:"by"`
	Says        string   `json:"says"`
	Probability float64  `json:"probability"`
	Worth       *float64 `json:"worth,omitempty"`
	Low         *float64 `json:"low,omitempty"`
	High        *float64 `json:"high,omitempty"`
	Rows        *float64 `json:"rows,omitempty"`
	// Groups are the rows by the values of the column that sets them apart most.
	Groups []SideGroup `json:"groups,omitempty"`
}

// SideGroup is those of the rows that have a value: how many, and how many of them
// are as the rule says.
type SideGroup struct {
	Where string  `json:"where"`
	Say   string  `json:"say"` // the value, as people call it
	Rows  float64 `json:"rows"`
	Right float64 `json:"right"`
}

// WorthPoint is how many of the rows that a rule is about are answered rightly if
// it is worth so many cases.
type WorthPoint struct {
	Worth float64 `json:"worth"`
	Right float64 `json:"right"`
	Rows  float64 `json:"rows"`
}

// theRows is the side that the rows are on.
const theRows = "rows"

// contradicted is a rule that another one, told as well, contradicts.
const contradicted = "contradicted"

// toldBy says who told a rule: whoever the record names, else what it was read from.
func toldBy(p *Part) func(*expert.Standing) string {
	return func(s *expert.Standing) string {
		for _, v := range p.Versions {
			if v.Source.ID == s.Expert.ID && v.Kind == store.Tell {
				return cmp.Or(v.By, s.Expert.Name)
			}
		}
		return s.Expert.Name
	}
}

// Conflicts lists where a model was told what its rows, or others, do not say.
func (h *Home) Conflicts(ctx context.Context, ref string, at Elsewhere) (*Court, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	c := &Court{Model: p.Version.Model, Version: p.Version.Number, Conflicts: []Disagreement{}}
	told, ok := p.Model.(*expert.Told)
	if !ok {
		return c, nil
	}
	speaker, err := Speaker(ctx, p)
	if err != nil {
		return nil, err
	}
	c.speaker = speaker
	by := toldBy(p)
	var rows *table.Table
	for _, t := range h.learntTable(ctx, p, nil, &Edit{At: at}) {
		rows = t.table
	}
	for _, s := range told.Standings() {
		if s.State != expert.Disputed && s.State != expert.Outvoted {
			continue
		}
		d := disagreement(&s, by(&s), string(s.State))
		d.Say = regionSaid(s.Rule.If, speaker)
		side := Side{By: theRows, Says: s.Rule.Then.Value, Probability: s.Frequency, Low: &s.Low, High: &s.High, Rows: s.Rule.Evidence.Covered}
		d.Sides = append(d.Sides, side)
		if err := d.weigh(ctx, told, &s.Rule, rows, speaker); err != nil {
			return nil, err
		}
		c.Conflicts = append(c.Conflicts, d)
	}
	more, err := c.amongPeople(ctx, told, rows, speaker, by)
	if err != nil {
		return nil, err
	}
	c.Conflicts = append(c.Conflicts, more...)
	slices.SortStableFunc(c.Conflicts, func(a, b Disagreement) int {
		return cmp.Compare(b.decided(), a.decided())
	})
	c.Together = together(told, rows, speaker, by)
	return c, nil
}

// together lists the pairs of told rules that count together where rows are.
func together(told *expert.Told, rows *table.Table, s *say.Speaker, teller func(*expert.Standing) string) []Agreement {
	if rows == nil {
		return nil
	}
	var all []rule.Rule
	by := map[string]string{}
	for _, x := range told.Standings() {
		all = append(all, x.Rule)
		by[x.Rule.ID()] = teller(&x)
	}
	pairs := knowledge.Overlaps(all, told.Schema())
	knowledge.Decide(pairs, []learn.Learnt{{Table: rows}}, told.Schema(), told.Target())
	var list []Agreement
	for i := range pairs {
		x := &pairs[i]
		if len(x.Rows) == 0 {
			continue
		}
		a, b := x.A.ID(), x.B.ID()
		list = append(list, Agreement{RegionText(x.Region), regionSaid(x.Region, s), []string{a, b}, []string{by[a], by[b]}, x.Rows})
	}
	return list
}

func (d *Disagreement) decided() float64 {
	if d.Decides == nil {
		return 0
	}
	return d.Decides.Rows
}

// disagreement is one about a rule, with the side of whoever told it.
func disagreement(s *expert.Standing, by, state string) Disagreement {
	r := s.Rule
	r.Evidence = rule.Evidence{}
	return Disagreement{
		Rule: r.ID(), Text: r.String(), State: state, Where: RegionText(r.If), Groups: []EffectGroup{}, Worths: []WorthPoint{},
		Sides: []Side{{By: by, Says: r.Then.Value, Probability: *r.With, Worth: r.Worth}},
	}
}

// amongPeople lists the pairs of told rules that disagree where both hold.
func (c *Court) amongPeople(ctx context.Context, told *expert.Told, rows *table.Table, speaker *say.Speaker, by func(*expert.Standing) string) ([]Disagreement, error) {
	standings := told.Standings()
	var all []rule.Rule
	for _, s := range standings {
		all = append(all, s.Rule)
	}
	find := func(r *rule.Rule) *expert.Standing {
		return &standings[slices.IndexFunc(standings, func(s expert.Standing) bool { return s.Rule.ID() == r.ID() })]
	}
	pairs := knowledge.Among(all, told.Schema())
	if rows != nil {
		knowledge.Decide(pairs, []learn.Learnt{{Table: rows}}, told.Schema(), told.Target())
	}
	var list []Disagreement
	for i := range pairs {
		x, y := find(&pairs[i].A), find(&pairs[i].B)
		d := disagreement(x, by(x), contradicted)
		d.Where, d.Say = RegionText(pairs[i].Region), regionSaid(pairs[i].Region, speaker)
		d.Sides = append(d.Sides, Side{By: by(y), Says: y.Rule.Then.Value, Probability: *y.Rule.With, Worth: y.Rule.Worth})
		total := 0.0
		for _, w := range pairs[i].Rows {
			total += w
		}
		if right := pairs[i].Rows[x.Rule.Then.Value]; total > 0 {
			interval := stat.ErrorRate{Errors: right, Cases: total}.Wilson(0.95, stat.TwoSided)
			d.Sides = append(d.Sides, Side{By: theRows, Says: x.Rule.Then.Value, Probability: right / total, Low: &interval.Low, High: &interval.High, Rows: &total})
		}
		if err := d.weigh(ctx, told, &x.Rule, rows, speaker); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// worthSteps are the worths that are tried, in rows that the rule is about.
var worthSteps = []float64{0, .25, .5, 1, 1.5, 2, 3}

// weigh finds what a rule decides, whom it is about, and what it would be worth.
func (d *Disagreement) weigh(ctx context.Context, told *expert.Told, r *rule.Rule, rows *table.Table, speaker *say.Speaker) error {
	if rows == nil {
		return nil
	}
	without, _ := told.Drop(r.ID())
	answers, err := changedAnswers(ctx, told, without, rows)
	if err != nil {
		return err
	}
	var s tally
	for i := range answers {
		s.add(&answers[i])
	}
	d.Decides = &Decides{Rows: s.changed, Right: s.broken, Wrong: s.fixed}
	target := told.Schema().Attributes[told.Target()].Name
	if d.Groups, err = groups(rows, answers, target, "", speaker); err != nil {
		return err
	}
	matcher, err := rule.NewMatcher(r.If, rows.Schema)
	if err != nil {
		return nil // it speaks of what no row has
	}
	there := bits.New(rows.Rows())
	matcher.Match(rows, there)
	var places []int
	for row := range there.All {
		places = append(places, row)
	}
	if len(places) == 0 {
		return nil
	}
	group := rows.Select(places)
	d.Narrow = narrowed(r, group, told.Target(), speaker)
	if n := len(d.Sides) - 1; d.Sides[n].By == theRows && d.State != contradicted {
		d.Sides[n].Groups = byValue(r, group, told.Target(), speaker)
	}
	worths := []float64{*r.Worth}
	for _, share := range worthSteps {
		worths = append(worths, math.Round(share*float64(len(places))))
	}
	slices.Sort(worths)
	for _, w := range slices.Compact(worths) {
		m, _ := told.Weighing(r.ID(), w)
		answers, err := changedAnswers(ctx, m, m, group)
		if err != nil {
			return err
		}
		var s tally
		for i := range answers {
			s.add(&answers[i])
		}
		d.Worths = append(d.Worths, WorthPoint{w, s.right, s.known})
	}
	return nil
}

// fewestNarrowed and mostNarrowed are of how many rows a rule may be said after it
// was narrowed, and how many ways are shown.
const (
	fewestNarrowed = 3
	mostNarrowed   = 2
)

// narrowed finds tests to add to a rule so that the rows that it is still about
// agree with it more: a value of a column, or one half of its numbers. The rows
// are those that the rule is about; the best by the lower end of the interval
// come first.
func narrowed(r *rule.Rule, rows *table.Table, target int, s *say.Speaker) []Narrowed {
	classes := rows.Schema.Attributes[target].Values
	class := int32(slices.Index(classes, r.Then.Value))
	truth := rows.Columns[target].Codes
	if class < 0 || truth == nil {
		return nil
	}
	right := 0
	for _, c := range truth {
		if c == class {
			right++
		}
	}
	var list []Narrowed
	for col := range rows.Schema.Attributes {
		a := &rows.Schema.Attributes[col]
		if col == target || slices.ContainsFunc(r.If, func(t rule.Test) bool { return t.Column == a.Name }) {
			continue
		}
		for _, test := range halves(a, &rows.Columns[col]) {
			matcher, err := rule.NewMatcher([]rule.Test{test}, rows.Schema)
			if err != nil {
				continue
			}
			n, agree := 0.0, 0.0
			for row := range rows.Rows() {
				if matcher.MatchRow(rows, row) {
					n++
					if truth[row] == class {
						agree++
					}
				}
			}
			if n < fewestNarrowed || agree*float64(rows.Rows()) <= n*float64(right) {
				continue
			}
			said := *r
			said.If, said.Evidence = append(slices.Clone(r.If), test), rule.Evidence{}
			i := stat.ErrorRate{Errors: agree, Cases: n}.Wilson(0.95, stat.TwoSided)
			list = append(list, Narrowed{test.String(), s.Conditions([]rule.Test{test}), said.String(), n, agree, i.Low, i.High})
		}
	}
	slices.SortStableFunc(list, func(a, b Narrowed) int { return cmp.Compare(b.Low, a.Low) })
	return list[:min(len(list), mostNarrowed)]
}

// mostSides is into how many groups rows are told apart.
const mostSides = 4

// byValue counts the rows that a rule is about, and those that are as it says, by the
// values of the column of names in which they differ most (likelihood ratio).
func byValue(r *rule.Rule, rows *table.Table, target int, s *say.Speaker) []SideGroup {
	class := int32(slices.Index(rows.Schema.Attributes[target].Values, r.Then.Value))
	truth := rows.Columns[target].Codes
	if class < 0 || truth == nil {
		return nil
	}
	var best []SideGroup
	most := 0.0
	for col := range rows.Schema.Attributes {
		a := &rows.Schema.Attributes[col]
		codes := rows.Columns[col].Codes
		if col == target || codes == nil || len(a.Values) < 2 || slices.ContainsFunc(r.If, func(t rule.Test) bool { return t.Column == a.Name }) {
			continue
		}
		n, right := make([]float64, len(a.Values)), make([]float64, len(a.Values))
		for row, c := range codes {
			if c >= 0 && int(c) < len(n) && truth[row] >= 0 {
				n[c]++
				if truth[row] == class {
					right[c]++
				}
			}
		}
		var list []SideGroup
		total, agree := 0.0, 0.0
		for c, v := range a.Values {
			if n[c] > 0 {
				list = append(list, SideGroup{rule.Test{Op: rule.Eq, Column: a.Name, Value: v}.String(), s.Value(a.Name, v), n[c], right[c]})
				total, agree = total+n[c], agree+right[c]
			}
		}
		if len(list) < 2 || len(list) > mostSides {
			continue
		}
		g := -ownRate(agree, total)
		for _, x := range list {
			g += ownRate(x.Right, x.Rows)
		}
		if best == nil || g > most+1e-9 {
			best, most = list, g
		}
	}
	slices.SortStableFunc(best, func(a, b SideGroup) int { return cmp.Compare(b.Rows, a.Rows) })
	return best
}

// ownRate is the logarithm of how likely so many of n are at their own rate.
func ownRate(right, n float64) float64 {
	l := 0.0
	if right > 0 {
		l += right * math.Log(right/n)
	}
	if right < n {
		l += (n - right) * math.Log(1-right/n)
	}
	return l
}

// halves are the tests by which rows are divided: each value of a column, or what
// is below and above the middle of its numbers.
func halves(a *table.Attribute, column *table.Column) []rule.Test {
	var tests []rule.Test
	switch {
	case column.Codes != nil:
		for _, v := range a.Values {
			tests = append(tests, rule.Test{Op: rule.Eq, Column: a.Name, Value: v})
		}
	case column.Floats != nil:
		known := slices.DeleteFunc(slices.Clone(column.Floats), table.IsMissing)
		slices.Sort(known)
		if n := len(known); n > 1 && known[0] < known[n-1] {
			at := known[(n-1)/2]
			tests = append(tests, rule.Test{Op: rule.Le, Column: a.Name, Number: at}, rule.Test{Op: rule.Gt, Column: a.Name, Number: at})
		}
	}
	return tests
}

// Write says it for people.
func (c *Court) Write(w io.Writer) {
	switch n := len(c.Conflicts); n {
	case 0:
		fmt.Fprintf(w, "%s@%d: nobody disagrees\n", c.Model, c.Version)
	case 1:
		fmt.Fprintf(w, "%s@%d: one disagreement\n", c.Model, c.Version)
	default:
		fmt.Fprintf(w, "%s@%d: %d disagreements\n", c.Model, c.Version, n)
	}
	for i := range c.Conflicts {
		d := &c.Conflicts[i]
		fmt.Fprintf(w, "\n%s  where %s: %s\n", d.Rule, d.Say, d.State)
		var rows [][]string
		for _, s := range d.Sides {
			behind := ""
			switch {
			case s.Worth != nil:
				behind = "worth " + console.Number(*s.Worth) + " cases"
			case s.Rows != nil:
				behind = fmt.Sprintf("%s to %s, %s", console.Percent(*s.Low), console.Percent(*s.High), console.Plural(int(*s.Rows), "row"))
			}
			rows = append(rows, []string{"  " + s.By, c.speaker.Class(s.Says), console.Percent(s.Probability), behind})
		}
		console.Table(w, []string{"  who", "says", "how often", ""}, rows)
		if d.Decides != nil {
			fmt.Fprintf(w, "  the rule decides %s: %s rightly, %s wrongly\n", console.Plural(int(d.Decides.Rows), "row"), console.Count(d.Decides.Right), console.Count(d.Decides.Wrong))
		}
		if len(d.Worths) > 0 {
			fmt.Fprintf(w, "  right answers there, of %s, by what the rule is worth:", console.Plural(int(d.Worths[0].Rows), "row"))
			for _, p := range d.Worths {
				fmt.Fprintf(w, "  %s: %s", console.Number(p.Worth), console.Count(p.Right))
			}
			fmt.Fprintln(w)
		}
		for _, n := range d.Narrow {
			fmt.Fprintf(w, "  narrower, where %s, too: %s of %s agree\n", n.Say, console.Count(n.Right), console.Plural(int(n.Rows), "row"))
		}
	}
	for _, t := range c.Together {
		total, classes := 0.0, ""
		for _, class := range slices.Sorted(maps.Keys(t.Rows)) {
			total += t.Rows[class]
			classes += fmt.Sprintf(", %s %s", class, console.Count(t.Rows[class]))
		}
		fmt.Fprintf(w, "\n%s and %s count together where %s: %s%s\n", t.Rules[0], t.Rules[1], t.Say, console.Plural(int(total), "row"), classes)
	}
}

// Approval is a version that somebody approved.
type Approval struct {
	Model   string    `json:"model"`
	Version int       `json:"version"`
	By      string    `json:"by"`
	Note    string    `json:"note,omitempty"`
	At      time.Time `json:"at"`
}

// Approve marks a version, such as votes@3, as the one that somebody answers for.
func (h *Home) Approve(ctx context.Context, ref, by, note string) (*Approval, error) {
	name, number, err := store.ParseRef(ref)
	switch {
	case err != nil:
		return nil, err
	case number == 0:
		return nil, remedy.New(Remedy{Kind: remedy.SeeVersions, What: name}, "approve %s: say which version, as in %s@1", ref, name)
	case by == "":
		return nil, remedy.Misusef("approve %s: somebody has to answer for it; say who, by name", ref)
	}
	a := store.Approval{Version: number, By: by, Note: note, At: h.now()}
	if err := h.Store.Approve(ctx, name, a); err != nil {
		return nil, err
	}
	return &Approval{name, number, by, note, a.At}, nil
}

// Approved returns the version of a model that was approved last; nil if none was.
func (h *Home) Approved(name string) (*Approval, error) {
	list, err := h.Store.Approvals(name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	a := list[len(list)-1]
	return &Approval{name, a.Version, a.By, a.Note, a.At}, nil
}

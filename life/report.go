package life

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Report is what somebody reads before they sign for a version: its data, how
// often it is right and for whom, whether it knows how sure it may be, its rules,
// who told it what and why, and what it is not good for.
type Report struct {
	Name, Learner, Target, At, Now, Rows, Columns string
	Version                                       int
	Approved                                      *reportApproval
	Sources                                       []reportSource
	Accuracy, Interval, How, Baseline             string
	Calibrated                                    string
	Calibration                                   []reportRate
	Picture                                       template.HTML
	Groups                                        []reportRate
	GroupsNote                                    string
	Lead                                          []string
	Rules, Told                                   []reportRule
	Edits                                         []EditEntry
	Disputes, Limits                              []string
	Hash, Settings                                string
	Seed                                          uint64
}

type reportApproval struct{ By, At, Note string }

type reportSource struct {
	Version                    int
	Kind, Name, Rows, Hash, At string
}

// reportRate is how often answers are right for some rows.
type reportRate struct {
	Where, Said, Rows, Right, Interval string

	low, high, said, right float64 // of a bin of the calibration
}

type reportRule struct {
	Text  string
	Under []string
}

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// minute is a moment as people write it, to the minute.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// Write writes the report as one page that needs nothing else.
func (r *Report) Write(w io.Writer) error { return reportTemplate.Execute(w, r) }

// Report makes the report of a version. It is judged on data, if some are named,
// else on its own rows, held out.
func (h *Home) Report(ctx context.Context, ref string, e Edit) (*Report, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	v := p.Version
	r := &Report{
		Name: p.Name, Version: v.Number, Learner: v.Learner, Target: cmp.Or(v.Target, "all columns"), Rows: console.Count(v.Rows),
		At: minute(v.At), Now: minute(h.now()), Seed: v.Seed, Settings: settingsText(v),
	}
	data, err := learn.Encode(p.Model)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	r.Hash = hex.EncodeToString(sum[:])
	for _, s := range live(p.Model, p.Versions) {
		r.Sources = append(r.Sources, reportSource{s.Number, s.Kind, filepath.Base(s.Source.Name), console.Count(s.Source.Rows), short(s.Source.Hash), minute(s.At)})
	}
	approvals, err := h.Store.Approvals(p.Name)
	if err != nil {
		return nil, err
	}
	for _, a := range approvals {
		if a.Version == v.Number {
			r.Approved = &reportApproval{a.By, minute(a.At), a.Note}
		}
	}
	r.Columns = columnsText(p)
	if err := h.reportAnswers(ctx, r, p, &e); err != nil {
		return nil, err
	}
	if err := r.knows(ctx, p); err != nil {
		return nil, err
	}
	return r, h.reportPeople(ctx, r, p, &e)
}

func settingsText(v store.Version) string {
	settings := learnerSettings(v)
	if len(settings) == 0 {
		return "those that are usual"
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		all = append(all, key+"="+settings[key])
	}
	return strings.Join(all, ", ")
}

func columnsText(p *Part) string {
	var names []string
	for j, a := range p.Schema().Attributes {
		if j != p.Target() {
			names = append(names, a.Name)
		}
	}
	return fmt.Sprintf("It looks at %s: %s.", console.Plural(len(names), "column"), strings.Join(names, ", "))
}

// reportAnswers judges the model.
func (h *Home) reportAnswers(ctx context.Context, r *Report, p *Part, e *Edit) error {
	if p.Target() == learn.NoTarget {
		r.How = "It has no target: any column is asked for, and none is what one could count right answers of."
		return nil
	}
	t, answers, err := h.judgedAnswers(ctx, r, p, e)
	if err != nil || answers == nil {
		return err
	}
	numbers := p.Schema().Attributes[p.Target()].Kind == table.Numeric
	score := scoreOf(answers, numbers)
	switch {
	case score.RMSE != nil:
		r.numbers(score, answers)
		return nil
	case score.Accuracy == nil:
		r.How = "What is right is not known of any row."
		return nil
	}
	r.Accuracy, r.Interval = console.Percent(*score.Accuracy), fmt.Sprintf("(95 %% interval %s to %s)", console.Percent(*score.Low), console.Percent(*score.High))
	counts, known := map[string]float64{}, 0.0
	for i := range answers {
		if answers[i].known {
			counts[answers[i].truth] += answers[i].weight
			known += answers[i].weight
		}
	}
	usual := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	r.Baseline = fmt.Sprintf("Always saying “%s” would be right in %s.", usual, console.Percent(counts[usual]/known))
	r.calibrate(answers)
	r.group(t, answers, p.Schema().Attributes[p.Target()].Name, e.Groups, say.New(p.Schema(), p.Target(), p.Words))
	for class, n := range counts {
		if n < 30 {
			r.Limits = append(r.Limits, fmt.Sprintf("Only %s of the judged rows are “%s”: how it fares there is not known well.", console.Count(n), class))
		}
	}
	slices.Sort(r.Limits)
	return nil
}

// Judgement is how good the model is, in a few words, or nothing.
func (r *Report) Judgement() string {
	switch {
	case r.Accuracy == "":
		return ""
	case strings.HasPrefix(r.Accuracy, offBy):
		return strings.TrimSpace(": " + r.Accuracy + " " + r.Interval)
	}
	return ": right in " + r.Accuracy + " " + r.Interval
}

// offBy begins what is said of numbers.
const offBy = "off by "

// numbers says how far the answers are off, and how far the mean would be.
func (r *Report) numbers(score VersionScore, answers []changedAnswer) {
	r.Accuracy = offBy + console.Number(*score.RMSE)
	if score.Low != nil {
		r.Interval = fmt.Sprintf("(95 %% interval %s to %s)", console.Number(*score.Low), console.Number(*score.High))
	}
	var truths stat.Moments
	for i := range answers {
		if c := &answers[i]; c.known {
			truths.Add(c.is, c.weight)
		}
	}
	r.Baseline = fmt.Sprintf("Always saying the mean, %s, would be off by %s. Both are roots of the mean squared error.", console.Number(truths.Mean), console.Number(math.Sqrt(truths.M2/truths.N)))
}

// judgedAnswers answers the rows that the model is judged by, and says which they
// are.
func (h *Home) judgedAnswers(ctx context.Context, r *Report, p *Part, e *Edit) (*table.Table, []changedAnswer, error) {
	on, err := h.readOn(ctx, p, p.Model, e)
	if err != nil {
		return nil, nil, err
	}
	r.How = "Judged on the rows that it learnt, which it knows better than others: expect it to be right less often on new ones."
	if len(on) == 0 {
		held, answers, err := h.heldOut(ctx, p, p.Model, e)
		if err != nil {
			return nil, nil, err
		}
		if answers != nil {
			r.How = fmt.Sprintf("Judged on %s that it learnt, each answered by a model that was learnt without it (%s%s), corrected in the same way: the same parts as those of the estimate when it was learnt, where its files are what they were.", console.Plural(int(weightOf(answers)), "row"), console.Plural(held.Folds, "fold"), held.by.Apart())
			return held.table, answers, nil
		}
		on = h.learntTable(ctx, p, nil, e)
	} else if !on[0].Learnt {
		r.How = fmt.Sprintf("Judged on %s of %s, which it has not learnt.", console.Plural(on[0].table.Rows(), "row"), on[0].Data)
	}
	if len(on) == 0 {
		r.How = "Its rows are not there any more, and no others were named: how often it is right is not known."
		return nil, nil, nil
	}
	answers, err := changedAnswers(ctx, p.Model, p.Model, on[0].table)
	return on[0].table, answers, err
}

func weightOf(answers []changedAnswer) float64 {
	sum := 0.0
	for i := range answers {
		sum += answers[i].weight
	}
	return sum
}

// rate writes how often some rows are answered rightly.
func rate(right, known float64) reportRate {
	i, _ := stat.ErrorRate{Errors: right, Cases: known}.Interval(0.95, stat.TwoSided)
	return reportRate{Rows: console.Count(known), Right: console.Percent(right / known), Interval: fmt.Sprintf("%s to %s", console.Percent(i.Low), console.Percent(i.High)), low: i.Low, high: i.High, right: right / known}
}

// reportBins is how many parts answers are put into by how sure they are, of
// about equal size.
const reportBins = 5

// calibrate compares how sure answers were with how often they were right.
func (r *Report) calibrate(answers []changedAnswer) {
	var known []changedAnswer
	for _, a := range answers {
		if a.known {
			known = append(known, a)
		}
	}
	slices.SortStableFunc(known, func(a, b changedAnswer) int { return cmp.Compare(a.p, b.p) })
	off := 0
	for b := range reportBins {
		part := known[b*len(known)/reportBins : (b+1)*len(known)/reportBins]
		var s tally
		sure := 0.0
		for i := range part {
			s.add(&part[i])
			sure += part[i].weight * part[i].p
		}
		if s.known == 0 {
			continue
		}
		bin := rate(s.right, s.known)
		bin.said = sure / s.known
		bin.Said = fmt.Sprintf("%s to %s", console.Percent(part[0].p), console.Percent(part[len(part)-1].p))
		if bin.said < bin.low || bin.said > bin.high {
			off++
		}
		r.Calibration = append(r.Calibration, bin)
	}
	r.Calibrated = "As far as these rows tell, it is as often right as it says."
	if off > 0 {
		r.Calibrated = fmt.Sprintf("In %d of %d parts it is not as often right as it says, by more than chance.", off, len(r.Calibration))
		r.Limits = append(r.Limits, "Its probabilities are to be taken with care: "+strings.ToLower(r.Calibrated[:1])+r.Calibrated[1:])
	}
	r.Picture = calibrationPicture(r.Calibration)
}

// calibrationPicture draws how often answers were right against how sure they
// were. All of it is numbers.
func calibrationPicture(bins []reportRate) template.HTML {
	const size, edge = 280.0, 52.0
	var svg bytes.Buffer
	at := func(x float64) float64 { return edge + (size-2*edge)*x }
	up := func(y float64) float64 { return size - at(y) }
	fmt.Fprintf(&svg, `<svg role="img" aria-label="how often it was right against how sure it was" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`, size, size, size, size)
	fmt.Fprintf(&svg, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="ideal" stroke-dasharray="3 3"/>`, at(0), up(0), at(1), up(1))
	for _, b := range bins {
		fmt.Fprintf(&svg, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="range"/>`, at(b.said), up(b.low), at(b.said), up(b.high))
		fmt.Fprintf(&svg, `<circle cx="%.1f" cy="%.1f" r="4" class="dot"/>`, at(b.said), up(b.right))
	}
	for _, x := range []float64{0, .5, 1} {
		fmt.Fprintf(&svg, `<text x="%.1f" y="%.1f" text-anchor="middle">%.0f %%</text>`, at(x), size-edge+18, 100*x)
		fmt.Fprintf(&svg, `<text x="%.1f" y="%.1f" text-anchor="end">%.0f %%</text>`, edge-6, up(x)+4, 100*x)
	}
	fmt.Fprintf(&svg, `<text x="%.1f" y="%.1f" text-anchor="middle">how sure it was</text>`, size/2, size-4)
	fmt.Fprintf(&svg, `<text x="2" y="14">how often it was right</text></svg>`)
	return template.HTML(svg.String())
}

// mostReportGroups is how many groups are listed that nobody asked for.
const mostReportGroups = 12

// group says how the model fares for the values of a column, or of all columns of
// names for which it fares worst.
func (r *Report) group(t *table.Table, answers []changedAnswer, target, by string, s *say.Speaker) {
	var all []EffectGroup
	for j, a := range t.Schema.Attributes {
		if a.Kind == table.Nominal && a.Name != target && (by == "" || a.Name == by) {
			list, _ := groupsOf(t, answers, j, s)
			all = append(all, list...)
		}
	}
	r.GroupsNote = "Groups by " + by + "."
	if by == "" {
		all = slices.DeleteFunc(all, func(g EffectGroup) bool { return g.Rows < 10 })
		slices.SortStableFunc(all, func(a, b EffectGroup) int { return cmp.Compare(a.Before, b.Before) })
		r.GroupsNote = fmt.Sprintf("Of %s with ten rows or more, those for which it is right least often: by looking at so many, some are low by chance.", console.Plural(len(all), "group"))
		all = all[:min(len(all), mostReportGroups)]
	}
	for _, g := range all {
		row := rate(math.Round(g.Before*g.Rows*1e6)/1e6, g.Rows)
		row.Where = g.Say
		r.Groups = append(r.Groups, row)
	}
}

// item is the beginning of a numbered sentence.
var item = regexp.MustCompile(`^\s*\d+\. `)

// knows lists the rules as sentences.
func (r *Report) knows(ctx context.Context, p *Part) error {
	var text bytes.Buffer
	if _, err := Sentences(ctx, &text, p, RulesOptions{}, 0); err != nil {
		r.Lead = []string{"It cannot be read as rules."}
		return ctx.Err()
	}
	to := &r.Rules
	for line := range strings.Lines(text.String()) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "":
		case line == "Told:":
			to = &r.Told
		case item.MatchString(line):
			*to = append(*to, reportRule{Text: item.ReplaceAllString(line, "")})
		case len(*to) > 0:
			last := &(*to)[len(*to)-1]
			last.Under = append(last.Under, strings.TrimSpace(line))
		default:
			r.Lead = append(r.Lead, line)
		}
	}
	return nil
}

// reportPeople lists who did what, where they disagree, and what the model is not
// good for.
func (h *Home) reportPeople(ctx context.Context, r *Report, p *Part, e *Edit) error {
	edits, err := h.Edits(p.Version.String())
	if err != nil {
		return err
	}
	r.Edits = edits.Edits
	court, err := h.Conflicts(ctx, p.Version.String(), e.At)
	if err != nil {
		return err
	}
	for _, d := range court.Conflicts {
		line := fmt.Sprintf("Where %s, %s says “%s” in %s", d.Say, d.Sides[0].By, court.speaker.Class(d.Sides[0].Says), console.Percent(d.Sides[0].Probability))
		if s := d.Sides[len(d.Sides)-1]; s.By == theRows {
			line += fmt.Sprintf("; the rows say %s (%s to %s, %s)", console.Percent(s.Probability), console.Percent(*s.Low), console.Percent(*s.High), console.Plural(int(*s.Rows), "row"))
		}
		if d.Decides != nil {
			line += fmt.Sprintf("; it decides %s", console.Plural(int(d.Decides.Rows), "row"))
		}
		r.Disputes = append(r.Disputes, line+".")
	}
	if p.Version.Rows < 200 {
		r.Limits = append(r.Limits, fmt.Sprintf("It has learnt %s only.", console.Plural(int(p.Version.Rows), "row")))
	}
	r.Limits = append(r.Limits,
		"Rows that differ from those it learnt (another place, another time, other instruments) may be answered wrongly; nothing here judges that.",
		"That a rule holds does not say that one thing causes the other.")
	return nil
}

package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Log is the versions of a model, oldest first.
type Log struct {
	Model    string          `json:"model"`
	Versions []store.Version `json:"versions"`
	// Judged says how each version fares on data, where some were named.
	Judged []VersionScore `json:"-"`
}

// VersionScore is how often a version is right on data, or how far its numbers
// are off, with the 95 % interval.
type VersionScore struct {
	Accuracy *float64 `json:"accuracy,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
}

// Words say it in a few.
func (s *VersionScore) Words() string {
	switch {
	case s.RMSE != nil && s.Low == nil:
		return "off by " + console.Number(*s.RMSE)
	case s.RMSE != nil:
		return fmt.Sprintf("off by %s (%s to %s)", console.Number(*s.RMSE), console.Number(*s.Low), console.Number(*s.High))
	case s.Accuracy == nil:
		return ""
	}
	return fmt.Sprintf("%s (%s to %s)", console.Percent(*s.Accuracy), console.Percent(*s.Low), console.Percent(*s.High))
}

// MarshalJSON writes what was measured beside what the store knows of a version.
func (l *Log) MarshalJSON() ([]byte, error) {
	versions := make([]json.RawMessage, len(l.Versions))
	for i, v := range l.Versions {
		record, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if l.Judged != nil && l.Judged[i] != (VersionScore{}) {
			score, err := json.Marshal(l.Judged[i])
			if err != nil {
				return nil, err
			}
			record = append(append(record[:len(record)-1], ','), score[1:]...)
		}
		versions[i] = record
	}
	return json.Marshal(struct {
		Model    string            `json:"model"`
		Versions []json.RawMessage `json:"versions"`
	}{l.Model, versions})
}

// Log lists the versions of a model, and how often each is right on data, if
// some are named. Damage hides no version that is left; what is damaged is the
// error.
func (h *Home) Log(ctx context.Context, ref, on string) (*Log, error) {
	versions, damage := h.Store.Log(ref)
	if len(versions) == 0 {
		return nil, damage
	}
	l := &Log{Model: versions[0].Model, Versions: WithUndone(versions)}
	if on == "" {
		return l, damage
	}
	d, err := h.Find(on, Reading{})
	if err != nil {
		return nil, err
	}
	var t *table.Table
	for _, v := range versions {
		m, _, err := h.Store.Load(v.String())
		if err != nil { // a version that is not there any more is not judged
			l.Judged = append(l.Judged, VersionScore{})
			continue
		}
		if m.Target() == learn.NoTarget {
			return nil, remedy.Misusef("%v has no target that it could be right about", v)
		}
		if t == nil {
			if t, _, err = h.readJudged(ctx, d, &Part{Model: m}, m, ""); err != nil {
				return nil, err
			}
		}
		answers, err := changedAnswers(ctx, m, m, t)
		if err != nil {
			return nil, err
		}
		l.Judged = append(l.Judged, scoreOf(answers, m.Schema().Attributes[m.Target()].Kind == table.Numeric))
	}
	return l, damage
}

// scoreOf is how often answers are right, or how far numbers are off.
func scoreOf(answers []changedAnswer, numbers bool) VersionScore {
	var s tally
	var squares stat.Moments
	for i := range answers {
		s.add(&answers[i])
		if answers[i].known {
			squares.Add(answers[i].error2, answers[i].weight)
		}
	}
	switch {
	case s.known == 0:
		return VersionScore{}
	case numbers:
		score := VersionScore{RMSE: pointer(math.Sqrt(s.error2 / s.known))}
		if i := squares.Estimate().Interval(0.95, stat.TwoSided); !math.IsNaN(i.Low) && !math.IsInf(i.High, 0) {
			score.Low, score.High = pointer(math.Sqrt(max(0, i.Low))), pointer(math.Sqrt(i.High))
		}
		return score
	}
	i, _ := stat.ErrorRate{Errors: s.right, Cases: s.known}.Interval(0.95, stat.TwoSided)
	return VersionScore{Accuracy: pointer(s.right / s.known), Low: &i.Low, High: &i.High}
}

// RuleVersion is a rule as it was in one version.
type RuleVersion struct {
	Version     int       `json:"version"`
	Kind        string    `json:"kind"`
	Source      string    `json:"source,omitempty"`
	At          time.Time `json:"at"`
	Present     bool      `json:"present"`
	Probability *float64  `json:"probability,omitempty"`
	Covered     *float64  `json:"covered,omitempty"`
	Correct     *float64  `json:"correct,omitempty"`
	State       string    `json:"state,omitempty"`
}

// RuleLog is a rule through the versions of a model: when it first appeared,
// how its support grew, and which sources stand behind it.
type RuleLog struct {
	Model    string        `json:"model"`
	Rule     string        `json:"rule"`
	Text     string        `json:"text"`
	Versions []RuleVersion `json:"versions"`
	Sources  []SourceEntry `json:"sources"`
	Rows     []SourceRows  `json:"rows,omitempty"`
}

// Write prints a rule through the versions of a model.
func (l *RuleLog) Write(w io.Writer) {
	fmt.Fprintf(w, "%s  %s\n\n", l.Rule, l.Text)
	var rows [][]string
	for _, h := range l.Versions {
		row := []string{strconv.Itoa(h.Version), h.Kind, h.Source, "", "", "", "not there", Stamp(h.At)}
		if h.Present {
			row[3], row[4], row[5], row[6] = console.Figure(h.Probability, console.Number), console.Figure(h.Covered, console.Count), console.Figure(h.Correct, console.Count), h.State
		}
		rows = append(rows, row)
	}
	console.Table(w, []string{"version", "kind", "source", "probability", "covered", "correct", "", "when"}, rows)
	if len(l.Sources) > 0 {
		fmt.Fprintln(w)
		rows = nil
		for _, s := range l.Sources {
			rows = append(rows, []string{s.Source, console.Figure(s.Covered, console.Count), console.Figure(s.Correct, console.Count)})
		}
		console.Table(w, []string{"source", "covered", "correct"}, rows)
	}
	for _, r := range l.Rows {
		fmt.Fprintf(w, "\n%s, rows %s\n", r.Source, strings.Trim(fmt.Sprint(r.Rows), "[]"))
	}
}

// LogRule follows a rule, by its id or the beginning of it. With rows it lists
// the rows of the sources that the rule covers, as long as they are there.
func (h *Home) LogRule(ctx context.Context, ref, id string, rows bool, at Elsewhere) (*RuleLog, error) {
	versions, err := h.Store.Log(ref)
	if err != nil {
		return nil, err
	}
	l := &RuleLog{Model: versions[0].Model, Sources: []SourceEntry{}}
	var last RuleEntry
	var holder *Part // the last model that has the rule
	for i, v := range versions {
		if v.LetGo {
			continue
		}
		m, _, err := h.Store.Load(v.String())
		if err != nil {
			return nil, err
		}
		e, err := findRule(m, id)
		if err != nil {
			return nil, err
		}
		was := RuleVersion{Version: v.Number, Kind: v.Kind, Source: v.Source.Name, At: v.At}
		if e != nil {
			last, id, holder = *e, e.ID, &Part{Model: m, Name: v.Model, Version: v, Versions: versions[:i+1]}
			was.Present, was.Probability, was.Covered, was.Correct, was.State = true, e.Probability, e.Covered, e.Correct, e.State
		}
		l.Versions = append(l.Versions, was)
	}
	if holder == nil {
		return nil, &remedy.Error{Err: fmt.Errorf("no version of %s has a rule with the id %q", ref, id), Remedy: Remedy{Kind: remedy.SeeRules, What: ref}, Misuse: true}
	}
	l.Rule, l.Text = last.ID, last.Text
	if last.State == "" { // an expert's rule has its sources already
		behind, err := knowledge.Provenance(ctx, holder.Model)
		if err != nil {
			return nil, err
		}
		last.Sources = sourceEntries(behind[last.ID])
	}
	l.Sources = append(l.Sources, last.Sources...)
	if rows {
		holder.Versions = versions
		l.Rows, err = h.coveredRows(ctx, holder, last.Text, at)
	}
	return l, err
}

// SourceRows are the rows of a source, counted from 1, that a rule covers.
type SourceRows struct {
	Source string `json:"source"`
	Rows   []int  `json:"rows"`
}

// coveredRows reads a model's sources again and lists the rows that a rule
// covers. Lists of rows are never kept.
func (h *Home) coveredRows(ctx context.Context, p *Part, text string, at Elsewhere) ([]SourceRows, error) {
	base, err := rule.Parse("the rule", []byte(text))
	if err != nil {
		return nil, err
	}
	if len(base.Rules) != 1 {
		return nil, errors.New("only the rows of an IF rule can be listed")
	}
	matcher, err := rule.NewMatcher(base.Rules[0].If, p.Schema())
	if err != nil {
		return nil, err
	}
	var lists []SourceRows
	for _, v := range live(p.Model, p.Versions) {
		if v.Kind == store.Tell {
			continue
		}
		t, _, err := h.readAgain(ctx, p, v, at, table.Options{Schema: p.Schema()})
		if err != nil {
			return nil, err
		}
		list := SourceRows{Source: v.Source.Name, Rows: []int{}}
		for row := range t.Rows() {
			if matcher.MatchRow(t, row) {
				list.Rows = append(list.Rows, row+1)
			}
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// findRule returns the rule with this id, or the only one whose id begins with
// it; nil if there is none.
func findRule(m learn.Model, id string) (*RuleEntry, error) {
	entries, err := namedRules(m)
	if err != nil {
		return nil, err
	}
	var found *RuleEntry
	for i := range entries {
		if !strings.HasPrefix(entries[i].ID, id) {
			continue
		}
		if found != nil && found.ID != entries[i].ID {
			return nil, fmt.Errorf("the ids of several rules begin with %q: %s and %s", id, found.ID, entries[i].ID)
		}
		if found == nil {
			found = &entries[i]
		}
	}
	return found, nil
}

// namedRules returns the rules that an id may mean: those that were told, then
// those that rows brought.
func namedRules(m learn.Model) (entries []RuleEntry, err error) {
	base, _, err := knowledge.Of(m)
	if err != nil {
		return nil, err
	}
	if told, ok := m.(*expert.Told); ok {
		entries = toldEntries(told)
	}
	if base != nil {
		entries = append(entries, ruleEntries(base)...)
	}
	return entries, nil
}

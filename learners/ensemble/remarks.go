package ensemble

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Session says what one session did with its rows.
type Session struct {
	Number  int     `json:"session" cbor:"-"`
	Source  string  `json:"source" cbor:"-"`
	Rows    float64 `json:"rows" cbor:"-"`
	Members int     `json:"members" cbor:"members"` // that it trained and kept
	Tried   int     `json:"tried" cbor:"tried"`
	Weak    int     `json:"weak" cbor:"weak"`       // wrong on more than half of what they were to learn
	Alike   int     `json:"alike" cbor:"alike"`     // too much like others
	Retired int     `json:"retired" cbor:"retired"` // members of earlier sessions that had to go
	Stopped string  `json:"stopped" cbor:"stopped"`
	Hard    int     `json:"hard" cbor:"hard"`       // rows kept because they were hard
	Anchors int     `json:"anchors" cbor:"anchors"` // rows kept as anchors
	// NewClasses were not known before, OnlyClass is the class of all rows if
	// there is one alone.
	NewClasses []string `json:"new_classes,omitempty" cbor:"newClasses"`
	OnlyClass  string   `json:"only_class,omitempty" cbor:"onlyClass"`
	// Known is the weight of its rows of classes that were known before,
	// Right of those that the model got right before it learnt them.
	Known float64 `json:"known" cbor:"known"`
	Right float64 `json:"right" cbor:"right"`
	// Contradictions are rows that equal a kept row of an earlier session in
	// all but the class.
	Contradictions int `json:"contradictions" cbor:"contradictions"`
	// Against is the weight of these rows.
	Against float64 `json:"against" cbor:"against,omitempty"`
	Classes int     `json:"classes" cbor:"classes"`       // that were known before
	Again   bool    `json:"again,omitempty" cbor:"again"` // learnt again from its kept rows
}

// meet notes what the rows of a session are to a model that has not learnt
// them.
func (s *session) meet(ctx context.Context, m *Model, own *table.Table) error {
	codes := own.Columns[m.target].Codes
	names := own.Schema.Attributes[m.target].Values
	weights := make([]float64, len(names))
	for r, c := range codes {
		weights[c] += own.Weight(r)
	}
	some := 0
	for c, name := range names {
		if weights[c] > 0 {
			some++
			s.facts.OnlyClass = name
		}
	}
	if some > 1 {
		s.facts.OnlyClass = ""
	}
	if m.schema == nil {
		return nil
	}
	right, err := m.right(ctx, own)
	if err != nil {
		return err
	}
	s.facts.Right = weightOf(own, right)
	met := map[string]bool{}
	for _, before := range m.sessions {
		for _, of := range before.members {
			for _, name := range of.seen {
				met[name] = true
			}
		}
	}
	s.facts.Classes = len(met)
	for c, name := range names {
		switch {
		case weights[c] == 0:
		case met[name]:
			s.facts.Known += weights[c]
		default:
			s.facts.NewClasses = append(s.facts.NewClasses, name)
		}
	}
	s.facts.Contradictions, s.facts.Against, err = contradictions(ctx, m, own)
	return err
}

// contradictions counts the rows that equal a kept one in all but the class,
// and adds up their weight.
func contradictions(ctx context.Context, m *Model, own *table.Table) (n int, weight float64, err error) {
	blind := func(t *table.Table) ([]uint64, error) {
		columns := slices.Clone(t.Columns)
		columns[m.target].Codes = slices.Repeat([]int32{table.Missing}, t.Rows())
		b, err := table.New(t.Schema, columns, nil)
		if err != nil {
			return nil, err
		}
		return kept.HashRows(ctx, b)
	}
	classes := map[uint64][]string{}
	for _, s := range m.sessions {
		hashes, err := blind(s.rows)
		if err != nil {
			return 0, 0, err
		}
		for r, h := range hashes {
			classes[h] = append(classes[h], s.rows.Text(r, m.target))
		}
	}
	hashes, err := blind(own)
	if err != nil {
		return 0, 0, err
	}
	for r, h := range hashes {
		class := own.Text(r, m.target)
		if slices.ContainsFunc(classes[h], func(kept string) bool { return kept != class }) {
			n++
			weight += own.Weight(r)
		}
	}
	return n, weight, nil
}

// knewAll reports whether there is nothing to learn: all classes were known,
// and fewer rows than α were wrong. As published, every session is learnt.
func (f *Session) knewAll(s *settings) bool {
	return !s.Every && s.Keep != "none" && f.Known > 0 && len(f.NewClasses) == 0 && f.Known-f.Right < s.Alpha*f.Known
}

// String says it in a line.
func (f Session) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "session %d, %s: %s", f.Number, f.Source, counted(f.Rows, "row"))
	switch {
	case len(f.NewClasses) == 1:
		fmt.Fprintf(&b, ", class %s is new", f.NewClasses[0])
	case len(f.NewClasses) > 1:
		fmt.Fprintf(&b, ", classes %s are new", strings.Join(f.NewClasses, ", "))
	}
	if f.OnlyClass != "" {
		fmt.Fprintf(&b, ", all of class %s", f.OnlyClass)
	}
	if f.Again {
		b.WriteString("; learnt again from the rows kept of it")
	}
	fmt.Fprintf(&b, "; %s of %s (%s)", counted(float64(f.Members), "member"), counted(float64(f.Tried), "tried"), f.Stopped)
	for _, why := range []struct {
		n    int
		what string
	}{{f.Weak, "wrong too often"}, {f.Alike, "too much like others"}} {
		if why.n > 0 {
			fmt.Fprintf(&b, ", %d %s", why.n, why.what)
		}
	}
	if f.Retired > 0 {
		fmt.Fprintf(&b, "; %s retired", counted(float64(f.Retired), "old member"))
	}
	fmt.Fprintf(&b, "; kept %s: %d hard, %d as anchors", counted(float64(f.Hard+f.Anchors), "row"), f.Hard, f.Anchors)
	return b.String()
}

func counted(n float64, what string) string {
	if n == 1 || what == "tried" {
		return fmt.Sprintf("%.6g %s", n, what)
	}
	return fmt.Sprintf("%.6g %ss", n, what)
}

// Contradiction says that a session's rows speak against what was known.
type Contradiction struct {
	Source string  `json:"source"`
	Known  float64 `json:"known"` // weight of rows of classes that were known
	Right  float64 `json:"right"` // of those that were right before
	Rows   int     `json:"rows"`  // that equal a kept row of another class
}

// String says it in a line.
func (c Contradiction) String() string {
	text := fmt.Sprintf("%s contradicts what was known: of %s of known classes %.1f %% were right before", c.Source, counted(c.Known, "row"), 100*c.Right/c.Known)
	if c.Rows > 0 {
		text += fmt.Sprintf(", %s a kept row of another class", map[bool]string{true: "1 equals", false: fmt.Sprintf("%d equal", c.Rows)}[c.Rows == 1])
	}
	return text + "; old and new members both vote: forget the sources that no longer hold"
}

// Recall is how much is still known of a past session: the accuracy on the
// rows kept of it when it ended, and now. Kept rows are mostly the hard ones.
type Recall struct {
	Source string  `json:"source"`
	Kept   float64 `json:"kept"` // weight of the rows
	Then   float64 `json:"then"` // accuracy
	Now    float64 `json:"now"`
	Low    float64 `json:"low"` // the 95 % interval of Now
	High   float64 `json:"high"`
	// ThenLow and ThenHigh are that of Then.
	ThenLow  float64 `json:"then_low"`
	ThenHigh float64 `json:"then_high"`
}

// String says it in a line.
func (r Recall) String() string {
	return fmt.Sprintf("%s: right on %.1f %% (%.1f to %.1f) of the %s kept of it, then %.1f %% (%.1f to %.1f)", r.Source, 100*r.Now, 100*r.Low, 100*r.High, counted(r.Kept, "row"), 100*r.Then, 100*r.ThenLow, 100*r.ThenHigh)
}

// Remarks says what the last session did, whether it contradicts others, and
// what is still known of each session.
func (m *Model) Remarks() ([]fmt.Stringer, error) {
	last := m.sessions[len(m.sessions)-1]
	f := last.report()
	remarks := []fmt.Stringer{f}
	if f.contradicts() {
		remarks = append(remarks, Contradiction{f.Source, f.Known, f.Right, f.Contradictions})
	}
	for _, s := range m.sessions {
		kept := weightOf(s.rows, nil)
		if kept == 0 {
			continue
		}
		right, err := m.right(context.Background(), s.rows)
		if err != nil {
			return nil, err
		}
		now := weightOf(s.rows, right)
		r := Recall{Source: s.name(), Kept: kept, Then: s.then / kept, Now: now / kept}
		r.Low, r.High = interval(now, kept)
		r.ThenLow, r.ThenHigh = interval(s.then, kept)
		remarks = append(remarks, r)
	}
	return remarks, nil
}

// report returns what the session did.
func (s *session) report() Session {
	f := s.facts
	f.Number, f.Source, f.Rows = s.number, s.name(), s.weight
	return f
}

func (s *session) name() string {
	if s.source.Name == "" {
		return fmt.Sprintf("session %d", s.number)
	}
	return s.source.Name
}

// contradicts reports whether on rows of several classes that it knew the
// model was worse than guessing, by more than chance, or more than a quarter of
// the rows' weight equals kept ones of another class.
func (f *Session) contradicts() bool {
	if f.Known == 0 {
		return false
	}
	_, high := interval(f.Right, f.Known)
	return f.Classes > 1 && high < 1/float64(f.Classes) || f.Against > f.Rows/4
}

// interval is the 95 % interval of a share.
func interval(right, of float64) (low, high float64) {
	i, _ := stat.ErrorRate{Errors: min(right, of), Cases: of}.Interval(0.95, stat.TwoSided)
	return i.Low, i.High
}

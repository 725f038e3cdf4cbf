// Package cover learns lists of rules by sequential covering: learn one rule,
// take away the rows that it covers, learn the next from what is left.
//
// Five systems share it (setting algorithm):
//
//   - ripper (Cohen 1995, IREP*): for each class, from the rarest on, rules are
//     grown on two thirds of the rows and pruned on the rest, until the
//     description of rules and exceptions is 64 bits longer than the shortest
//     so far; then each rule is set against one grown afresh and one grown
//     further (rounds of optimisation), and rules that do not pay for
//     themselves are deleted. The most frequent class is what is left.
//   - cn2 (Clark and Niblett 1989; Clark and Boswell 1991): a beam of
//     conjunctions is made more specific, the best by entropy, Laplace or
//     m-estimate that is also significant becomes the next rule of a list
//     (ordered) or of its class's set (ordered=false).
//   - aq (Michalski 1969): the same search, but along the values of a seed: a
//     row of the class that no rule covers yet. Negative rows are never taken
//     away.
//   - prism (Cendrowska 1987): for each class, add the test with the largest
//     share of the class until no other row is covered.
//   - itrule (Smyth and Goodman 1992): all rules of up to max-tests tests are
//     looked at, those that tell most (J-measure) kept, and a list made of them.
//
// The text followed is Mitchell, Machine Learning (1997), sections 10.1 to
// 10.3: tables 10.1 (SEQUENTIAL-COVERING) and 10.2 (LEARN-ONE-RULE), numeric
// thresholds (exercise 10.2), sets of values (exercise 10.3), a class against
// the default (section 10.2.2), post-pruning on held-out rows.
//
// Whatever the algorithm, the model is one list: the first rule that matches
// answers, with the frequencies of the rows that it is the first to cover,
// m rows added in equal parts. Rules of sets (aq, prism, unordered cn2) stand
// in the order of their accuracy. A missing or unseen cell satisfies no test,
// so the printed rules answer for every row as the model does.
//
// Updates are exact because the model keeps its rows, counted (kept.Rows),
// and learns again: what is learnt depends on the multiset of rows and the
// seed alone. Cost: numbers are ranked once; a test added to a rule takes a
// pass over the cells of the rows that the rule covers so far.
package cover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "cover"

// The algorithms.
const (
	ripperName = "ripper"
	cn2Name    = "cn2"
	aqName     = "aq"
	prismName  = "prism"
	itruleName = "itrule"
)

// Learner covers rows by rules. Its zero value is ready to use.
type Learner struct {
	Algorithm    string   `set:"algorithm" default:"ripper" oneof:"ripper|cn2|aq|prism|itrule" doc:"how rules are found"`
	Class        string   `set:"class" default:"" doc:"learn rules for this class alone; all other rows are the default"`
	Measure      string   `set:"measure" default:"laplace for cn2, frequency for aq and prism" oneof:"auto|entropy|laplace|m|frequency" doc:"what the best rule is best in; ripper has its own"`
	Beam         int      `set:"beam" default:"5 for cn2, 3 for aq" doc:"for cn2 and aq: conjunctions that the search keeps at each step"`
	Search       string   `set:"search" default:"pruned" oneof:"pruned|published" doc:"for cn2, aq and prism: leave conjunctions out of the beam that tell nothing more or cannot become the best; published keeps them there"`
	Ordered      *bool    `set:"ordered" default:"true" doc:"for cn2: one list for all classes; false learns a set for each class, ordered by accuracy in the end"`
	Significance float64  `set:"significance" default:"0.05" doc:"for cn2: the chance of so large a likelihood ratio if nothing is there; 1 makes no such test"`
	Threshold    *float64 `set:"threshold" default:"none" doc:"stop at a rule that measures no more than this (for cn2, aq and prism)"`
	Sort         bool     `set:"sort" default:"false" doc:"for ordered cn2: sort the list by the measure over all rows, as table 10.1 does; it can break what was learnt in sequence"`
	Sets         bool     `set:"sets" default:"false" doc:"tests may ask for a set of a nominal column's values"`
	Prune        string   `set:"prune" default:"held-out for ripper, else none" oneof:"auto|none|held-out" doc:"drop tests of a rule by a third of the rows, on which it was not grown"`
	Rounds       *int     `set:"rounds" default:"2" doc:"for ripper: rounds of optimisation"`
	Bits         *float64 `set:"bits" default:"64" doc:"for ripper: stop when the description is so much longer than the shortest so far"`
	MinRows      *float64 `set:"min-rows" default:"2 for ripper, else 1" doc:"rows of its class that a rule must cover"`
	MaxTests     int      `set:"max-tests" default:"none" doc:"tests of a rule at most; 3 for itrule"`
	M            *float64 `set:"m" default:"2" doc:"rows of all classes in equal parts that are added to a rule's own for its probabilities; for measure=m, what the class's share of all rows is worth"`
	Keep         string   `set:"keep" default:"rows" oneof:"rows|nothing" doc:"keep the rows, for update, merge and forget"`
}

// settings are a learner's parameters with nothing left open.
type settings struct {
	Algorithm    string  `cbor:"algorithm"`
	Class        string  `cbor:"class,omitempty"`
	Measure      string  `cbor:"measure"`
	Beam         int     `cbor:"beam"`
	Published    bool    `cbor:"published,omitempty"`
	Ordered      bool    `cbor:"ordered"`
	Significance float64 `cbor:"significance"`
	Limited      bool    `cbor:"limited,omitempty"` // by the threshold
	Threshold    float64 `cbor:"threshold,omitempty"`
	Sort         bool    `cbor:"sort,omitempty"`
	Sets         bool    `cbor:"sets,omitempty"`
	Prune        bool    `cbor:"prune"`
	Rounds       int     `cbor:"rounds"`
	Bits         float64 `cbor:"bits"`
	MinRows      float64 `cbor:"min-rows"`
	MaxTests     int     `cbor:"max-tests,omitempty"`
	M            float64 `cbor:"m"`
	Keep         string  `cbor:"keep"`
}

// resolve fills in the defaults and checks what is left.
func (l *Learner) resolve() (settings, error) {
	s := settings{
		Algorithm: cmp.Or(l.Algorithm, ripperName), Class: l.Class, Measure: cmp.Or(l.Measure, "auto"),
		Beam: l.Beam, Published: l.Search == "published", Ordered: setting.Or(l.Ordered, true), Significance: l.Significance, Limited: l.Threshold != nil, Threshold: setting.Or(l.Threshold, 0),
		Sort: l.Sort, Sets: l.Sets, Rounds: setting.Or(l.Rounds, 2), Bits: setting.Or(l.Bits, 64),
		MinRows: setting.Or(l.MinRows, 1), MaxTests: l.MaxTests, M: setting.Or(l.M, 2), Keep: cmp.Or(l.Keep, "rows"),
	}
	isRipper := s.Algorithm == ripperName
	if isRipper && l.MinRows == nil {
		s.MinRows = 2
	}
	if s.Beam == 0 {
		if s.Beam = 5; s.Algorithm == aqName {
			s.Beam = 3
		}
	}
	if s.Significance == 0 {
		s.Significance = 0.05
	}
	if s.Measure == "auto" {
		if s.Measure = frequencyName; s.Algorithm == cn2Name {
			s.Measure = laplaceName
		}
	}
	if l.Search != "" && l.Search != "pruned" && l.Search != "published" {
		return s, fmt.Errorf("setting search=%s: expected pruned or published", l.Search)
	}
	switch l.Prune {
	case "", "auto":
		s.Prune = isRipper
	case "none", "held-out":
		s.Prune = l.Prune == "held-out"
	default:
		return s, fmt.Errorf("setting prune=%s: expected one of auto, none, held-out", l.Prune)
	}
	return s, s.check()
}

// The most that settings may ask for, so that a typing error does not run for
// days.
const (
	mostBeam   = 1000
	mostRounds = 100
)

// check refuses settings that make no sense.
func (s *settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		value, isChoice := map[string]string{"algorithm": s.Algorithm, "measure": s.Measure, "keep": s.Keep}[o.Key]
		if isChoice && (value == "auto" || !slices.Contains(o.Choices, value)) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	switch {
	case s.Beam < 1 || s.Beam > mostBeam:
		return fmt.Errorf("setting beam=%d: expected 1 to %d", s.Beam, mostBeam)
	case !(s.Significance > 0 && s.Significance <= 1):
		return fmt.Errorf("setting significance=%v: expected a number above 0, at most 1", s.Significance)
	case !finite(s.Threshold):
		return fmt.Errorf("setting threshold=%v: expected a number", s.Threshold)
	case s.Rounds < 0 || s.Rounds > mostRounds:
		return fmt.Errorf("setting rounds=%d: expected 0 to %d", s.Rounds, mostRounds)
	case !(s.Bits >= 0 && s.Bits <= 1e300):
		return fmt.Errorf("setting bits=%v: expected 0 or more", s.Bits)
	case !(s.MinRows > 0 && s.MinRows <= 1e300):
		return fmt.Errorf("setting min-rows=%v: expected a number above 0", s.MinRows)
	case s.MaxTests < 0:
		return fmt.Errorf("setting max-tests=%d: expected 0 (no limit) or more", s.MaxTests)
	case !(s.M >= 0 && s.M <= 1e300):
		return fmt.Errorf("setting m=%v: expected 0 or more", s.M)
	}
	return nil
}

// keeps checks the settings and reports whether rows are kept.
func (s *settings) keeps() (bool, error) { return s.Keep == "rows", s.check() }

// Learn learns rules from the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := kept.Gather(ctx, task, Name, table.Nominal)
	if err != nil {
		return nil, err
	}
	return learnRows(ctx, rows, task.Target, task.Seed, s)
}

// learnRows learns rules from rows that were gathered.
func learnRows(ctx context.Context, rows *kept.Rows, target string, seed uint64, s settings) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: seed, rows: rows, schema: t.Schema, target: t.Schema.Index(target)}
	if m.target < 0 || t.Schema.Attributes[m.target].Kind != table.Nominal {
		return nil, fmt.Errorf("no source has the target %q with classes", target)
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("target %q is missing in all rows; there is nothing to learn from", target)
	}
	if s.Class != "" && !slices.Contains(m.classes(), s.Class) {
		return nil, fmt.Errorf("setting class=%s: %q has no such class%s", s.Class, target, spell.Hint(s.Class, m.classes()))
	}
	if err := m.cover(ctx, t); err != nil {
		return nil, err
	}
	if s.Keep == "nothing" {
		m.rows = nil
	}
	learn.Report(ctx, 1)
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "lists of rules by sequential covering: ripper, cn2, aq, prism",
		Source:   "Cohen 1995; Clark & Niblett 1989; Michalski 1969; Cendrowska 1987; Mitchell 1997, chapter 10",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Keep: true, Grow: true, Strike: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source (keep=nothing: only the rules)",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Package concept is version spaces: all hypotheses of a language that agree
// with every row, and what can be said when they do not agree with each other
// (Mitchell 1977, 1982, 1997 chapter 2; Hirsh 1990, 1992).
//
// A hypothesis says of each row whether it belongs to the concept, which is
// one of the classes. Hypotheses are ordered by generality, so that the space
// of those left is known by its most specific members S and its most general
// ones G: CANDIDATE-ELIMINATION moves the two towards each other, row by row,
// and the order of the rows does not matter. A row that every member covers
// belongs to the concept, one that no member covers does not, and of any other
// the model says that it does not know (answer=unanimous), unless a vote is
// asked for. FIND-S keeps S alone and takes all else for negative, FIND-G does
// the opposite, LIST-THEN-ELIMINATE writes all members out, and ROTE assumes
// nothing and knows the rows it has seen.
//
// Disjunctive version spaces (Sebag 1996) keep, for each row, what tells it from
// the rows of other classes, and let its neighbours vote; they take any number
// of classes, and noise.
//
// Files: language.go has the hypotheses, candidate.go the boundaries, listed.go
// the spaces that are written out, clauses.go k-CNF and k-DNF, slack.go and
// disc.go those of measured numbers and of discs, count.go how many members
// there are and how they vote, query.go the question that halves them.
//
// Hypotheses are conjunctions of a constraint a column: a name, a node of the
// column's taxonomy, an interval of numbers, or any. Rows that are wrong, or a
// concept that the language cannot say, leave no hypothesis: the space has
// collapsed, and the model says which rows cannot all be true. With noise=n
// rows of a total weight up to n may be wrong (listed spaces only), with
// slack=e numbers may be off by e. FIND-S looks at the rows of the concept
// alone, and does not notice; where a language has several most specific
// hypotheses, it keeps a branch for each (branches.go).
//
// It stands on learn/kept: models keep their rows, so update, merge and forget
// are exact.
//
// A row costs one look at each column of each member of the boundaries. S is one
// conjunction; G can grow exponentially with the columns, so that it is written
// out up to a limit (most) and stands for its negative rows beyond. Listed spaces
// cost a look at every member that is left.
package concept

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "concept"

// Learner makes version spaces.
type Learner struct {
	Algorithm string  `set:"algorithm" default:"candidate" oneof:"candidate|find-s|find-g|list|rote|disjunctive" doc:"keep both boundaries, the specific one, the general one, all members, the rows, or what tells each row from those of other classes"`
	Space     string  `set:"space" default:"conjunctions" oneof:"conjunctions|rectangles|intervals|discs|disjunctions|kcnf|kdnf" doc:"hypotheses: conjunctions of a constraint a column, boxes of numbers, intervals of one number, discs around a centre, up to k conjunctions, conjunctions of clauses of up to k literals, or disjunctions of terms of up to k"`
	K         int     `set:"k" default:"2" doc:"of disjunctions, kcnf and kdnf"`
	Answer    string  `set:"answer" default:"unanimous" oneof:"unanimous|majority|map|gibbs" doc:"where members disagree: say so, count them, take the most specific, or one drawn at random for each row"`
	Concept   string  `set:"concept" default:"yes, true, 1 or +, else the rarest class" doc:"class that is the concept"`
	Domains   string  `set:"domains" default:"" doc:"values that no row may have had yet, as wind=Strong|Weak;sky=Sunny|Cloudy|Rainy"`
	Taxonomy  string  `set:"taxonomy" default:"" doc:"names above values, as sky:wet=Rainy|Cloudy,dry=Sunny"`
	Noise     float64 `set:"noise" default:"0" doc:"weight of the rows that may be labelled wrongly"`
	Slack     float64 `set:"slack" default:"0" doc:"how far off numbers may have been measured"`
	Centre    string  `set:"centre" default:"the mean of the concept's rows" doc:"of discs, a number a column, as 0,1.5"`
	Most      int     `set:"most" default:"1000" doc:"members of G; if there are more, the negative rows stand for them"`

	Exceptions float64 `set:"exceptions" default:"0" doc:"of disjunctive: share of the rows of other classes that may be let in"`
	Tests      int     `set:"tests" default:"by leaving rows out" doc:"of disjunctive: columns in which a row must side with one row against another"`
}

// settings are the parameters that were used.
type settings struct {
	Algorithm string  `cbor:"algorithm"`
	Space     string  `cbor:"space"`
	K         int     `cbor:"k"`
	Answer    string  `cbor:"answer"`
	Concept   string  `cbor:"concept,omitempty"`
	Domains   string  `cbor:"domains,omitempty"`
	Taxonomy  string  `cbor:"taxonomy,omitempty"`
	Noise     float64 `cbor:"noise,omitempty"`
	Slack     float64 `cbor:"slack,omitempty"`
	Centre    string  `cbor:"centre,omitempty"`
	Most      int     `cbor:"most"`

	Exceptions float64 `cbor:"exceptions,omitempty"`
	Tests      int     `cbor:"tests,omitempty"`
}

// resolve fills in the defaults.
func (l *Learner) resolve() (settings, error) {
	s := settings(*l)
	for field, word := range map[*string]string{&s.Algorithm: "candidate", &s.Space: "conjunctions", &s.Answer: "unanimous"} {
		if *field == "" {
			*field = word
		}
	}
	if s.K == 0 {
		s.K = 2
	}
	if s.Most == 0 {
		s.Most = 1000
	}
	return s, s.check()
}

// Check reports settings that do not go together.
func (l *Learner) Check() error {
	_, err := l.resolve()
	return err
}

const mostK = 8

// check refuses settings that make no sense.
func (s *settings) check() error {
	for _, o := range learn.Options(&Learner{}) {
		value, isChoice := map[string]string{"algorithm": s.Algorithm, "space": s.Space, "answer": s.Answer}[o.Key]
		if isChoice && !slices.Contains(o.Choices, value) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	if s.Algorithm == "disjunctive" {
		return s.checkDisjunctive()
	}
	clauses := s.Space == "kcnf" || s.Space == "kdnf"
	switch {
	case s.K < 1 || s.K > mostK:
		return fmt.Errorf("setting k=%d: expected 1 to %d", s.K, mostK)
	case s.Most < 1:
		return fmt.Errorf("setting most=%d: expected 1 or more", s.Most)
	case !(s.Noise >= 0 && s.Noise <= 1e15):
		return fmt.Errorf("setting noise=%v: expected 0 or more", s.Noise)
	case s.Noise > 0 && (clauses || s.Algorithm == "rote" || s.Algorithm == "find-s" || s.Algorithm == "find-g"):
		return fmt.Errorf("noise=%v needs all hypotheses written out; use algorithm=list with conjunctions or disjunctions", s.Noise)
	case !(s.Slack >= 0 && s.Slack <= 1e300):
		return fmt.Errorf("setting slack=%v: expected 0 or more", s.Slack)
	case s.Slack > 0 && (s.Algorithm != "candidate" || s.Noise > 0 || s.Space != "conjunctions" && s.Space != "rectangles" && s.Space != "intervals"):
		return fmt.Errorf("slack=%v is for candidate elimination over conjunctions, rectangles or intervals, without noise", s.Slack)
	case s.Space == "discs" && (s.Algorithm != "candidate" && s.Algorithm != "find-s" && s.Algorithm != "find-g" || s.Noise > 0):
		return fmt.Errorf("space=discs cannot be written out; use algorithm=candidate, without noise")
	case s.Centre != "" && s.Space != "discs":
		return fmt.Errorf("centre=%s is of space=discs, and the space is %s", s.Centre, s.Space)
	case clauses && s.Algorithm == "list":
		return fmt.Errorf("space=%s cannot be written out; use algorithm=candidate", s.Space)
	}
	return nil
}

// checkDisjunctive refuses settings that are not of disjunctive spaces.
func (s *settings) checkDisjunctive() error {
	switch {
	case !(s.Exceptions >= 0 && s.Exceptions < 1):
		return fmt.Errorf("setting exceptions=%v: expected a share from 0 to less than 1", s.Exceptions)
	case s.Tests < 0 || s.Tests > 1_000_000:
		return fmt.Errorf("setting tests=%d: expected 1 or more, or 0 to choose by leaving rows out", s.Tests)
	case s.Space != "conjunctions" || s.Noise != 0 || s.Slack != 0 || s.Taxonomy != "" || s.Answer != "unanimous":
		return fmt.Errorf("algorithm=disjunctive has a space of its own and lets classes vote; its settings are exceptions and tests")
	}
	return nil
}

// keeps checks the settings; rows are always kept.
func (s *settings) keeps() (bool, error) { return true, s.check() }

// Learn returns the version space of the task's rows.
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

// learnRows returns the version space of rows that were gathered.
func learnRows(ctx context.Context, rows *kept.Rows, target string, seed uint64, s settings) (learn.Model, error) {
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: seed, rows: rows}
	if err := m.study(ctx, t, target); err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "version spaces: every hypothesis that agrees with the rows, and what they agree on",
		Source:   "Mitchell 1982; 1997, chapter 2; Hirsh 1990, 1992",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Remark: true, Keep: true, Vote: true, List: true, Question: true},
		Contract: learn.Exact,
		Keeps:    "distinct rows, counted, per source",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Package linear predicts by sums: a number as a constant plus a weight times
// each column, a class by the softmax of such sums.
//
// Numbers (link=identity) are learnt by least squares, which under normal
// noise is the most probable hypothesis (Gauss 1809; Mitchell 1997, section
// 6.4, equation 6.6). Classes (link=logit) are learnt by the most probable
// weights of the logistic model (Cox 1958; section 6.5, equations 6.13 and
// 6.15). Both shrink the weights of standardised columns by a ridge (Hoerl and
// Kennard 1970), the constant never.
//
// The terms of a row: a numeric column gives (x − c)^k for k = 1 to degree,
// a nominal one an indicator for each value, and any column an indicator of
// missing cells; infinite cells count as missing. What a column adds is counted
// from its mean over the rows, so that the constant is the mean answer, and a
// cell that says nothing (a value never seen, a missing cell where none was
// missing before) adds 0. Columns that never vary are left out and named
// (Remarks), and so are, without a ridge, copies of others and linear
// combinations of those before them; with one they share their weight.
//
// A model of a number is the sum of its sources. What a source brought is kept
// as the means and co-moments of its terms and the target, which can be joined
// (Chan, Golub and LeVeque 1983): learning more adds to a source, merging puts
// sources side by side, forgetting drops one, and each equals learning from the
// rows themselves. Columns are counted from a shift in units that are powers
// of two, so that neither large offsets nor huge or tiny numbers cost digits;
// co-moments move from one shift to another by the binomial theorem. The ridge
// of least generalised cross-validation (Golub, Heath and Wahba 1979) follows
// from the same statistics, without a row.
//
// A model of classes keeps its distinct rows (learn/kept) and learns them
// again. Two classes are fitted by Newton's method, more by limited-memory
// BFGS (Nocedal 1980) from the curvature at the start.
//
// Learning a number costs one pass, p² products a row for p terms; memory is p²
// numbers a source, whatever the rows.
package linear

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is what the learner is registered as.
const Name = "linear"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "least squares with polynomial terms and ridge for numbers, logistic regression for classes",
		Source:   "Gauss 1809; Cox 1958; Hoerl & Kennard 1970; Mitchell 1997, sections 6.4 and 6.5",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: true, Stream: true},
		Can:      learn.Can{Update: true, Rules: true, Explain: true, Merge: true, Forget: true, Draw: true, Remark: true, Keep: true},
		Contract: learn.Exact,
		Keeps:    "for numbers statistics per source: means and co-moments of the terms; for classes distinct rows, counted, per source (keep=nothing: only the weights)",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// The links.
const (
	identityLink = "identity"
	logitLink    = "logit"
)

const (
	mostDegree = 10
	// mostTerms bounds what p² numbers a source may take: 8 MB, and the
	// seconds that p³ steps take.
	mostTerms = 1000
)

// Learner makes linear models. Its zero value is ready to use.
type Learner struct {
	Link   string `set:"link" default:"identity for numbers, logit for classes" oneof:"auto|identity|logit" doc:"what the sum is: the number itself, or the log odds of a class"`
	Degree *int   `set:"degree" default:"1" doc:"powers of each numeric column, 1 to 10"`
	Ridge  string `set:"ridge" default:"auto" doc:"penalty of squared weights of standardised columns, in rows: a number from 0 (0: plain least squares), or auto: least generalised cross-validation for numbers, 1 for classes"`
	Keep   string `set:"keep" default:"rows" oneof:"rows|nothing" doc:"for classes: keep the rows, for update, merge and forget; a number needs none"`
}

var _ learn.Starter = (*Learner)(nil)

// settings are a learner's parameters with nothing left open.
type settings struct {
	Degree int     `cbor:"degree"`
	Auto   bool    `cbor:"auto,omitempty"` // the ridge is found
	Ridge  float64 `cbor:"ridge,omitempty"`
	Keep   string  `cbor:"keep,omitempty"` // of classes
}

// resolve fills in the defaults and checks what is left.
func (l *Learner) resolve() (settings, error) {
	s := settings{Degree: 1, Keep: "rows"}
	if l.Degree != nil {
		s.Degree = *l.Degree
	}
	if l.Keep != "" {
		s.Keep = l.Keep
	}
	if s.Auto = l.Ridge == "" || l.Ridge == "auto"; !s.Auto {
		var err error
		if s.Ridge, err = strconv.ParseFloat(strings.TrimSpace(l.Ridge), 64); err != nil {
			return s, fmt.Errorf("setting ridge=%s: expected auto or a number from 0", l.Ridge)
		}
	}
	switch l.Link {
	case "", "auto", identityLink, logitLink:
	default:
		return s, fmt.Errorf("setting link=%s: expected identity or logit", l.Link)
	}
	return s, s.check()
}

// check refuses settings that make no sense.
func (s *settings) check() error {
	switch {
	case s.Degree < 1 || s.Degree > mostDegree:
		return fmt.Errorf("setting degree=%d: expected 1 to %d", s.Degree, mostDegree)
	case !(s.Ridge >= 0 && s.Ridge <= mostRidge) || s.Auto && s.Ridge != 0:
		return fmt.Errorf("setting ridge=%v: expected auto or a number from 0 to %g", s.Ridge, float64(mostRidge))
	case s.Keep != "rows" && s.Keep != "nothing":
		return fmt.Errorf("setting keep=%s: expected rows or nothing", s.Keep)
	}
	return nil
}

// mostRidge leaves nothing of any weight.
const mostRidge = 1e30

// Check refuses settings that are not what they should be.
func (l *Learner) Check() error {
	_, err := l.resolve()
	return err
}

// Learn returns the model of the task's rows.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	u, err := l.Start(task)
	if err != nil {
		return nil, err
	}
	if classes, are := u.(*classesUpdate); are {
		return classes.learn(ctx, task.Table)
	}
	if err := u.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	return u.Freeze(ctx)
}

// Start begins with no rows.
func (l *Learner) Start(task learn.Task) (learn.Update, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target == learn.NoTarget {
		return nil, fmt.Errorf("linear predicts one column and needs a target; name one of %s", strings.Join(task.Table.Schema.Names(), ", "))
	}
	if err := table.Distinct(task.Table.Schema); err != nil {
		return nil, err
	}
	switch a := &task.Table.Schema.Attributes[target]; {
	case a.Kind == table.Text:
		return nil, fmt.Errorf("target %q is a text, and linear predicts numbers and classes; choose another", a.Name)
	case a.Kind == table.Nominal && l.Link == identityLink:
		return nil, fmt.Errorf("target %q has classes, which link=identity does not predict; read it as numeric, or use link=logit", a.Name)
	case a.Kind == table.Numeric && l.Link == logitLink:
		return nil, fmt.Errorf("target %q is a number, and link=logit predicts classes; read it as nominal (a frequency: a row for each class, weighted by it), or use link=identity", a.Name)
	case a.Kind == table.Nominal:
		if s.Auto {
			s.Auto, s.Ridge = false, 1
		}
		return &classesUpdate{
			schema: table.CopySchema(task.Table.Schema), target: a.Name, settings: s,
			gathering: (&kept.Rows{}).Gather(task.Source, target, nil),
		}, nil
	}
	s.Keep = ""
	schema := table.CopySchema(task.Table.Schema)
	if err := checkTerms(schema, target, s.Degree); err != nil {
		return nil, err
	}
	return &update{
		model:      &Model{settings: s, written: &bundle.Shelf[*block]{}},
		block:      newBlock(task.Source, newLayout(schema, target, s.Degree)),
		vocabulary: table.NewVocabulary(schema, schema),
	}, nil
}

// checkTerms refuses columns whose co-moments would take too much memory.
func checkTerms(schema *table.Schema, target, degree int) error {
	l := newLayout(schema, target, degree)
	if l.terms <= mostTerms {
		return nil
	}
	widest, most := "", 0
	for j := range schema.Attributes {
		if n := l.count(j); n > most {
			widest, most = schema.Attributes[j].Name, n
		}
	}
	return fmt.Errorf("the columns give %d terms, of which %q gives %d; linear takes at most %d (it keeps their square): leave columns out, or lower the degree", l.terms, widest, most, mostTerms)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

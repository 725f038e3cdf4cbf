// Package life is what happens to a model: it learns, learns more, is told,
// merged, made to forget, asked, read, compared and verified. Here the parts
// meet that know nothing of each other: tables and where they come from, the
// learners, the store, what models know, and how well they do.
//
// A Home is where models live. Its methods take what is to be done as values
// and return what came of it as values that programs read as JSON (the types
// of this package have the command line's keys). Nothing here prints, parses
// flags or looks at the clock; progress and remarks go to whoever listens.
// Errors carry what can be done about them (Remedy), for each interface to say
// in its own words.
//
//	cmd, serve, accrete → life → store, evaluate, knowledge → learn → table
package life

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
)

// Home is where models live, and who listens.
type Home struct {
	// Store keeps the models. Functions that only work on models in memory
	// do without.
	Store *store.Store
	// In is what the data "-" reads; nil is nothing.
	In io.Reader
	// Now tells the time; nil stands still at zero.
	Now func() time.Time
	// Wait is how long a program that is an environment may be silent; 0 is 30 s.
	Wait time.Duration
	// Who makes versions, where that is known and nobody else is named.
	Who string
	// Seed is that of everything random.
	Seed uint64
	// Memory is how many bytes may be used, 0 for what inputs of their size
	// need by themselves.
	Memory int64
	// Note, if not nil, hears remarks, a line each.
	Note func(Note)
	// Progress, if not nil, is told what begins, and returns who hears how
	// far it is, from 0 to 1, and what to call when it ends.
	Progress func(what string) (report func(fraction float64), done func())
}

// Note is a remark, and what can be done about it.
type Note struct {
	Text   string
	Remedy Remedy
}

// String returns the remark in plain words.
func (n Note) String() string {
	if words := n.Remedy.String(); words != "" {
		return n.Text + "; " + words
	}
	return n.Text
}

// Remedy is what to do about an error.
type Remedy = remedy.Remedy

// RemedyOf returns the remedy of an error, if it knows one.
func RemedyOf(err error) (Remedy, bool) {
	var e *remedy.Error
	for errors.As(err, &e) {
		if e.Remedy.Kind != "" {
			return e.Remedy, true
		}
		err = e.Err
	}
	return Remedy{}, false
}

// IsMisuse reports whether an error is about what was asked for, rather than
// about doing it.
func IsMisuse(err error) bool {
	if errors.Is(err, store.ErrUnknown) { // a model or version that is not there
		return true
	}
	var e *remedy.Error
	for errors.As(err, &e) {
		if e.Misuse {
			return true
		}
		err = e.Err
	}
	return false
}

func (h *Home) now() time.Time {
	if h.Now == nil {
		return time.Time{}
	}
	return h.Now()
}

// note passes remarks on.
func (h *Home) note(notes ...string) {
	for _, n := range notes {
		h.remark(Note{Text: n})
	}
}

func (h *Home) remark(n Note) {
	if h.Note != nil {
		h.Note(n)
	}
}

// progress begins a piece of work.
func (h *Home) progress(what string) (report func(fraction float64), done func()) {
	if h.Progress == nil {
		return func(float64) {}, func() {}
	}
	return h.Progress(what)
}

// Part is a model with the record of how it came to be.
type Part struct {
	learn.Model
	Name     string
	Version  store.Version
	Versions []store.Version // up to this one, oldest first
	Words    say.Words       // what people call its columns, values and rows
}

// Load returns a model of the store, such as votes or votes@3.
func (h *Home) Load(ref string) (*Part, error) {
	p, err := newPart(h.Store.LoadWithLog(ref))
	if err != nil {
		return nil, err
	}
	return h.withWords(p), nil
}

func newPart(m learn.Model, versions []store.Version, err error) (*Part, error) {
	if err != nil {
		return nil, err
	}
	v := versions[len(versions)-1]
	return &Part{Model: m, Name: v.Model, Version: v, Versions: versions}, nil
}

// modelOf names a model by its learner: a tree model, an mlp model.
func modelOf(learner string) string {
	if strings.ContainsRune("aeiou", rune(learner[0])) || slices.Contains([]string{"lwr", "mlp", "rbf"}, learner) {
		return "an " + learner + " model"
	}
	return "a " + learner + " model"
}

// cannot says that a learner lacks an ability, and which ones have it.
func cannot(learner, what string, can func(learn.Can) bool) error {
	return remedy.New(Remedy{Kind: remedy.UseLearner, Names: able(can)}, "%s cannot %s", modelOf(learner), what)
}

// able are the learners whose models have an ability.
func able(can func(learn.Can) bool) (names []string) {
	for _, info := range learn.All() {
		if can(info.Can) {
			names = append(names, info.Name)
		}
	}
	return names
}

// notJoint says that a learner's models are not of all columns together, and
// which learners' are.
func notJoint(learner, what string) error {
	var others []string
	for _, info := range learn.All() {
		if info.Takes.Density {
			others = append(others, info.Name)
		}
	}
	return remedy.New(Remedy{Kind: remedy.UseLearner, Names: others}, "a model of learner %s cannot %s", learner, what)
}

// short is the beginning of a hash, enough to name it.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// plural returns "1 row", "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

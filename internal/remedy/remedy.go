// Package remedy is what can be done about an error or a remark, as a value:
// a kind and its arguments. Library packages say it in plain words; each
// interface (the command line, the server, a Go program) can say it in its
// own, with its own flags, routes or functions.
//
// table, store and life return them; cmd/accrete says them in flags.
package remedy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is what to do.
type Kind string

// The kinds of remedies, with what What and Names hold.
const (
	GiveTarget     Kind = "give-target"     // say which column is predicted; Names: the columns
	GiveName       Kind = "give-name"       // give the model another name
	GiveWorth      Kind = "give-worth"      // say how many cases rules are worth
	SayWhere       Kind = "say-where"       // say where a source is now; What: its name
	UseLearner     Kind = "use-learner"     // Names: learners that can
	DrawRegions    Kind = "draw-regions"    // draw what it answers over two columns; Names: learners whose models have pictures
	KeepNominal    Kind = "keep-nominal"    // read columns as names
	ReadNumbers    Kind = "read-numbers"    // read a column as numbers; What: the column
	LeaveOut       Kind = "leave-out"       // leave columns out
	ChooseColumns  Kind = "choose-columns"  // say which columns are names, and which to leave out
	ChooseStore    Kind = "choose-store"    // choose another folder for models
	ChooseData     Kind = "choose-data"     // say where the larger data sets are
	LearnFirst     Kind = "learn-first"     // learn a model
	LearnAgain     Kind = "learn-again"     // learn the model again, from all rows
	DeleteModel    Kind = "delete-model"    // What: the model
	DeleteFirst    Kind = "delete-first"    // delete a version that is in the way; What: it
	ForgetAll      Kind = "forget-all"      // delete a model instead of all that it knows; What: it
	StartOver      Kind = "start-over"      // delete a damaged model, then import or learn it again; What: it
	GetAnother     Kind = "get-another"     // export or copy a file again
	ChooseFile     Kind = "choose-file"     // name another file
	RestoreVersion Kind = "restore-version" // make an old version the newest again; What: it
	SeeVersions    Kind = "see-versions"    // look the versions up; What: the model
	SeeRules       Kind = "see-rules"       // look the ids of rules up; What: the model
	EraseThere     Kind = "erase-there"     // What: another model, Names: the source there
	NameColumns    Kind = "name-columns"    // name two columns
	NameData       Kind = "name-data"       // name data to read rows from
	SeeLearners    Kind = "see-learners"    // look up what learners there are
	AllowMemory    Kind = "allow-memory"    // allow more memory
	SayDecimal     Kind = "say-decimal"     // say what divides decimals; What: COLUMN= and the other one
	SayEncoding    Kind = "say-encoding"    // say how letters are written
	SayHeader      Kind = "say-header"      // say that the first line names the columns
	SayDate        Kind = "say-date"        // say the order of dates; What: COLUMN= and another one
	ReadDates      Kind = "read-dates"      // say that a column has dates; What: COLUMN= and their order
	SayMissing     Kind = "say-missing"     // declare texts missing; What: them, Listed; COLUMN=TEXT in one column
	ReplaceModel   Kind = "replace-model"   // say that a model is to be replaced, or give another name
	LeaveColumn    Kind = "leave-column"    // leave a column out; What: it
	SplitByTime    Kind = "split-by-time"   // judge on later rows; What: the column of time
	SplitByGroup   Kind = "split-by-group"  // keep rows of one thing on one side; What: the column that names it
)

// Remedy is one thing to do.
type Remedy struct {
	Kind  Kind     `json:"kind"`
	What  string   `json:"what,omitempty"`
	Names []string `json:"names,omitempty"`
}

// words are how a remedy is said plainly; %s is What, %n the names.
var words = map[Kind]string{
	GiveTarget:     "say which column is to be predicted: one of %n",
	GiveName:       "give it another name",
	GiveWorth:      "add WORTH and a number, or give a worth for all",
	SayWhere:       "say where %s is now",
	UseLearner:     "learners whose models can: %n",
	DrawRegions:    "what it answers over two columns can; learners whose models can: %n",
	KeepNominal:    "declared nominal it is kept, declared text its words are",
	ReadNumbers:    "declared numeric, %s is read as numbers",
	LeaveOut:       "leave out what is not needed",
	ChooseColumns:  "say which columns are nominal, and which to leave out",
	ChooseStore:    "choose another folder",
	ChooseData:     "name the folder",
	LearnFirst:     "learn one first",
	LearnAgain:     "learn the model again from all rows",
	DeleteModel:    "delete the model %s",
	DeleteFirst:    "delete %s first",
	ForgetAll:      "to forget all, delete %s",
	StartOver:      "delete the model %s, then import an export or learn it again",
	GetAnother:     "export or copy it again",
	ChooseFile:     "choose another file",
	RestoreVersion: "restore %s or import an export",
	SeeVersions:    "the log of %s lists its versions",
	SeeRules:       "the rules of %s have their ids",
	EraseThere:     "erase %n in %s too",
	NameColumns:    "name two columns",
	NameData:       "name data to read them from",
	SeeLearners:    "see which learners there are",
	AllowMemory:    "allow more memory",
	SayDecimal:     "with decimals %s it is read otherwise",
	SayEncoding:    "another encoding can be named",
	SayHeader:      "unless the first line is said to name the columns",
	SayDate:        "with dates %s it is read otherwise",
	ReadDates:      "with dates %s it is read as such",
	SayMissing:     "declared missing, %s is no value",
	ReplaceModel:   "say that it is to be replaced, or give another name",
	LeaveColumn:    "leave %s out",
	SplitByTime:    "judge on later rows than were learnt from, by %s",
	SplitByGroup:   "keep rows of one %s on one side of a split",
}

// String says the remedy in plain words, "" for none.
func (r Remedy) String() string {
	return strings.NewReplacer("%s", r.What, "%n", List(r.Names, 20)).Replace(words[r.Kind])
}

// Listed writes texts as lists are given to flags: with commas between them, in
// double quotes where a text has one.
func Listed(texts ...string) string {
	quoted := slices.Clone(texts)
	for i, text := range texts {
		if strings.ContainsAny(text, ",\"") {
			quoted[i] = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
	}
	return strings.Join(quoted, ",")
}

// List joins names for a message, the first few of many.
func List(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}

// Error is an error that knows its remedy.
type Error struct {
	Err    error
	Remedy Remedy
	Misuse bool // what was asked for makes no sense, rather than failed
}

func (e *Error) Error() string {
	if text := e.Remedy.String(); text != "" {
		return e.with(text)
	}
	return e.Err.Error()
}

// with joins what is wrong and what to do.
func (e *Error) with(words string) string {
	text := e.Err.Error()
	if strings.HasSuffix(text, "?") {
		return text + " " + words
	}
	return text + "; " + words
}

func (e *Error) Unwrap() error { return e.Err }

// New returns an error with a remedy.
func New(r Remedy, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Remedy: r}
}

// Misusef returns an error in what was asked for.
func Misusef(format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Misuse: true}
}

// Misuse marks an error as one in what was asked for; nil stays nil.
func Misuse(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Err: err, Misuse: true}
}

// inNotes are the kinds that stand in the remarks of readers of tables, which
// are text.
var inNotes = []Kind{KeepNominal, ReadNumbers, LeaveOut, SayDecimal, SayDate, SayMissing, SayEncoding, SayHeader}

// InNote returns a remark with the remedies that stand in it said in the words
// of an interface.
func InNote(note string, say func(Remedy) string) string {
	for _, kind := range inNotes {
		before, after, _ := strings.Cut(words[kind], "%s")
		at := strings.LastIndex(note, before)
		if at < 0 || !strings.HasSuffix(note, after) || len(note)-len(after) < at+len(before) {
			continue
		}
		r := Remedy{Kind: kind, What: note[at+len(before) : len(note)-len(after)]}
		if after == "" && r.What != "" {
			continue
		}
		if said := say(r); said != "" {
			note = note[:at] + said
		}
	}
	return note
}

// Text returns the text of an error with its remedies in the words of an
// interface. A remedy that it has no words for keeps the plain ones.
func Text(err error, say func(Remedy) string) string {
	text := err.Error()
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if said := say(e.Remedy); said != "" {
			text = strings.Replace(text, e.Error(), e.with(said), 1)
		}
	}
	return text
}

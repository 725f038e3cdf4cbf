package main

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// home is where the models of this command line live.
func (a *app) home() (*life.Home, error) {
	s, err := store.Open(a.store, store.Options{LockTimeout: a.wait, Now: time.Now, Warn: func(message string) { a.notes([]string{message}) }})
	if err != nil {
		return nil, err
	}
	return &life.Home{
		Store: s, In: a.in, Now: time.Now, Seed: a.seed, Memory: a.budget(), Progress: a.progress, Note: a.note,
	}, nil
}

// note tells the user what was noticed, and what can be done about it.
func (a *app) note(n life.Note) {
	text := n.Text
	if words := inFlags(n.Remedy); words != "" {
		text += "; " + words
	}
	a.notes([]string{text})
}

// inFlags says a remedy in flags and commands, "" if it has no words for it.
func inFlags(r life.Remedy) string {
	switch r.Kind {
	case remedy.GiveTarget:
		return "--target one of " + remedy.List(r.Names, 20)
	case remedy.GiveName:
		return "give another one with --name"
	case remedy.GiveWorth:
		return "add WORTH and a number, or --worth N for all"
	case remedy.SayWhere:
		return "say where it is with --source " + r.What + "=PATH"
	case remedy.KeepNominal:
		return "--nominal keeps it"
	case remedy.ReadNumbers:
		return "--numeric " + word(r.What) + " reads numbers"
	case remedy.LeaveOut:
		return "--ignore leaves out those that are not needed"
	case remedy.ChooseColumns:
		return "see --nominal and --ignore"
	case remedy.ChooseStore:
		return "choose another folder with --store DIR"
	case remedy.ChooseData:
		return "name the folder with --data DIR"
	case remedy.LearnFirst:
		return "make one with accrete learn DATA"
	case remedy.LearnAgain:
		return "accrete learn cuts again"
	case remedy.DeleteModel:
		return "to delete the model: accrete delete " + r.What
	case remedy.DeleteFirst:
		return "delete that version first (accrete delete " + r.What + ")"
	case remedy.ForgetAll:
		return "to forget all: accrete delete " + r.What
	case remedy.StartOver:
		return "delete the model (accrete delete " + r.What + "), then import an export or learn it again"
	case remedy.RestoreVersion:
		return "restore another version (accrete restore " + r.What + ") or import an export"
	case remedy.SeeVersions:
		return "accrete log " + r.What + " lists them"
	case remedy.SeeRules:
		return "accrete rules " + r.What + " --json shows ids"
	case remedy.EraseThere:
		return fmt.Sprintf("to erase it there: accrete forget %s %s --erase", r.What, remedy.List(r.Names, 1))
	case remedy.NameData:
		return "or name data with --on"
	case remedy.AllowMemory:
		return "allow more with --memory SIZE"
	case remedy.SeeLearners:
		return "see accrete learners"
	}
	return ""
}

// notes tells the user, a line each, what was noticed, remedies in flags.
func (a *app) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(a.errs, "note: "+shown(remedy.InNote(n, inFlags), console.LongestError))
	}
}

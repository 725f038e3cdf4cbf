package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		Store: s, In: a.in, Now: time.Now, Wait: a.wait, Seed: a.seed, Memory: a.budget(), Progress: a.progress, Note: a.note,
	}, nil
}

// atHome is a command that needs the home.
func (a *app) atHome(run func(c *cobra.Command, h *life.Home, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		h, err := a.home()
		if err != nil {
			return err
		}
		return run(c, h, args)
	}
}

// note tells the user what was noticed, and what can be done about it.
func (a *app) note(n life.Note) {
	text := n.Text
	if words := inFlags(n.Remedy); words != "" {
		text += "; " + words
	}
	a.notes([]string{text})
}

// flagWords are the remedies in flags and commands.
var flagWords = map[remedy.Kind]string{
	remedy.GiveTarget:     "--target one of {names}",
	remedy.GiveName:       "give another one with --name",
	remedy.GiveWorth:      "add WORTH and a number, or --worth N for all",
	remedy.SayWhere:       "say where it is with --source {what}=PATH",
	remedy.KeepNominal:    "--nominal keeps it, --text its words",
	remedy.ReadNumbers:    "--numeric {listed} reads numbers",
	remedy.LeaveOut:       "--ignore leaves out those that are not needed",
	remedy.ChooseColumns:  "see --nominal and --ignore",
	remedy.ChooseStore:    "choose another folder with --store DIR",
	remedy.ChooseData:     "name the folder with --data DIR",
	remedy.LearnFirst:     "make one with accrete learn DATA",
	remedy.LearnAgain:     "accrete learn cuts again",
	remedy.DeleteModel:    "to delete the model: accrete delete {what}",
	remedy.DeleteFirst:    "delete that version first (accrete delete {what})",
	remedy.ForgetAll:      "to forget all: accrete delete {what}",
	remedy.StartOver:      "delete the model (accrete delete {what}), then import an export or learn it again",
	remedy.RestoreVersion: "restore another version (accrete restore {what}) or import an export",
	remedy.SeeVersions:    "accrete log {what} lists them",
	remedy.SeeRules:       "accrete rules {what} shows ids",
	remedy.EraseThere:     "to erase it there: accrete forget {what} {names} --erase",
	remedy.NameData:       "or name data with --on",
	remedy.DrawRegions:    "--regions X,Y draws what it answers over two columns; learners whose models can: {names}",
	remedy.AllowMemory:    "allow more with --memory SIZE",
	remedy.SeeLearners:    "see accrete learners",
	remedy.LeaveColumn:    "--ignore {listed} leaves it out",
	remedy.SplitByTime:    "evaluate with --time {word} to learn the past and judge the future",
	remedy.SplitByGroup:   "evaluate with --group {word} to keep its rows on one side",
	remedy.SayDecimal:     "--decimal {word} reads it otherwise",
	remedy.SayEncoding:    "--encoding NAME reads it as another",
	remedy.SayHeader:      "--no-header=false takes the first line for the header",
	remedy.SayDate:        "--date {word} reads it otherwise",
	remedy.ReadDates:      "--date {word} reads them as such",
	remedy.SayMissing:     "--missing {word} reads it as missing",
	remedy.ReplaceModel:   "--replace does it (older versions stay), --name OTHER keeps both",
}

// inFlags says a remedy in flags and commands, "" if it has no words for it.
func inFlags(r life.Remedy) string {
	return strings.NewReplacer("{what}", r.What, "{word}", word(r.What), "{listed}", word(remedy.Listed(r.What)), "{names}", remedy.List(r.Names, 20)).Replace(flagWords[r.Kind])
}

// notes tells the user, a line each, what was noticed, remedies in flags.
func (a *app) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(a.errs, "note: "+shown(remedy.InNote(n, inFlags), console.LongestError))
	}
}

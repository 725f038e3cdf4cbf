package all

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
)

// ofShortRuns are the laws that short runs check where all take too long: Learn++
// with networks is ten of them a session. Its own package has all laws with trees.
var ofShortRuns = map[string][]string{
	"learnpp": {
		"same seed, same model, any number of cores", "missing cells", "unseen values", "one class only", "huge and tiny numbers", "predictions are sound",
		"cancellation", "save and load", "updates leave the old model alone", "updates keep their contract", "updates bring new values and classes",
		"columns that begin empty come to life", "concurrent prediction", "rules predict as the model does", "explanations add up",
	},
}

// inShortRuns are the settings with which short runs check learners that go through
// the rows again and again: as many times less as the laws are all the same for.
var inShortRuns = map[string]map[string]string{
	"mixture": {"starts": "2", "iterations": "6"},
	"experts": {"iterations": "4"},
	"ebnn":    {"epochs": "40"},
}

func init() {
	if os.Getenv("ACCRETE_LONG") != "" {
		ofShortRuns, inShortRuns = nil, nil
	}
}

// Every learner that is imported here keeps the contract. Most are checked by
// the tests of their own package; those that need other learners, as
// ensembles need a base, are checked here, where all are registered.
func TestContract(t *testing.T) {
	if len(learn.All()) < 3 {
		t.Errorf("%d learners are registered", len(learn.All()))
	}
	for _, info := range learn.All() {
		if checkedAtHome(t, info) {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			learntest.RunWith(t, info.Name, learntest.Options{Laws: ofShortRuns[info.Name], Settings: inShortRuns[info.Name]})
		})
	}
}

// checkedAtHome reports whether the tests of a learner's own package run the
// whole suite.
func checkedAtHome(t *testing.T, info learn.Info) bool {
	t.Helper()
	learner := reflect.TypeOf(info.New())
	for learner.Kind() == reflect.Pointer {
		learner = learner.Elem()
	}
	_, folder, ok := strings.Cut(learner.PkgPath(), "/learners/")
	if !ok {
		t.Fatalf("%s lives in %s; learners live in learners/", info.Name, learner.PkgPath())
	}
	for _, of := range []string{`Name`, filepath.Base(folder) + `.Name`, `"` + info.Name + `"`} {
		if strings.HasSuffix(of, `Name`) && !mentions(t, folder, ".go", `const Name = "`+info.Name+`"`) {
			continue
		}
		for _, run := range []string{"learntest.Run(t, ", "contract(t, "} {
			if mentions(t, folder, "_test.go", run+of+")") {
				return true
			}
		}
	}
	return false
}

// mentions reports whether one of a learner's files of such an ending has a text.
func mentions(t *testing.T, folder, ending, text string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", folder, "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte(text)) {
			return true
		}
	}
	return false
}

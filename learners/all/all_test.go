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
		t.Run(info.Name, func(t *testing.T) { learntest.Run(t, info.Name) })
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
	tests, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tests {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("learntest.Run(t, Name)")) || bytes.Contains(text, []byte(`learntest.Run(t, "`+info.Name+`")`)) {
			return true
		}
	}
	return false
}

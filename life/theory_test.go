package life_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/life"
)

// A theory is heard as clauses or as rules by who takes both; one that is of no use,
// or cannot be read, is told by its file.
func TestTheoriesAreHeardAsTheyAreWritten(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := write("cups.csv", "flat,handle,light,cup\ny,y,y,yes\ny,y,n,no\ny,n,y,no\nn,y,y,no\ny,y,y,yes\nn,n,n,no\n")
	for _, c := range []struct{ learner, theory, wrong string }{
		{"focl", write("cup.pl", "cup :- flat=y, liftable.\nliftable :- handle=y, light=y.\n"), ""},
		{"focl", write("cup.rules", "IF handle = y AND light = y THEN liftable\nIF liftable = yes AND flat = y THEN cup = yes\n"), "cup.rules:2:"},
		{"focl", write("good.rules", "IF handle = y AND light = y THEN liftable = yes\nIF liftable = yes AND flat = y THEN cup = yes\n"), ""},
		{"focl", write("bad.pl", "cup :- flat=y.\ncup :- not flat.\n"), "bad.pl:2:"},
		{"ebg", write("facts.pl", "cup(X) :- flat(X).\n"), "focl or kbann"},
	} {
		h := newHome(t)
		_, err := h.Learn(context.Background(), life.LearnOptions{Data: find(t, h, rows), Target: "cup", Rules: &life.Rules{File: c.theory}, Choice: life.Choice{Learner: c.learner}, Name: "m"})
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s with %s: %v", c.learner, c.theory, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s with %s: %v; expected %q in it", c.learner, c.theory, err, c.wrong)
		}
	}
}

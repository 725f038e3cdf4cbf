package kept

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

func TestWithout(t *testing.T) {
	sources := []learn.Source{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	itself := func(s learn.Source) learn.Source { return s }
	left, err := Without(sources, itself, "a", "c")
	if err != nil || len(left) != 1 || left[0].ID != "b" || len(sources) != 3 || sources[0].ID != "a" {
		t.Errorf("left %v of %v, %v", left, sources, err)
	}
	if _, err := Without(sources, itself, "a", "d"); err == nil || !strings.Contains(err.Error(), `unknown source "d"`) {
		t.Errorf("error %v", err)
	}
}

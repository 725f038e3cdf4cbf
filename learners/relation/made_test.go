package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
)

// TestClausesMakeColumns: what an explanation computes is a column of every row, also
// of those that it does not cover; what is not known of one is empty, and a condition
// that fails is no end of the others.
func TestClausesMakeColumns(t *testing.T) {
	const theory = `safe(X,Y) :- weight(X,W), weight(Y,V), less(W,V).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
less(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.`
	var facts, examples strings.Builder
	facts.WriteString("type(table,endtable). type(chest,box).\n")
	for i, of := range [][2]float64{{2, .3}, {8, 1}, {4, 1}} {
		fmt.Fprintf(&facts, "type(crate%d,box). volume(crate%d,%v). density(crate%d,%v).\n", i, i, of[0], i, of[1])
		fmt.Fprintf(&examples, "%s(safe(crate%d,table)).\n", map[bool]string{true: "pos", false: "neg"}[of[0]*of[1] < 5], i)
	}
	examples.WriteString("neg(safe(chest,table)).\nneg(safe(crate2,chest)).\n")
	task, err := logic.ReadTask(facts.String(), examples.String(), "head_pred(safe,2). body_pred(type,2). body_pred(volume,2). body_pred(density,2).")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := task.Table()
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&EBG{Theory: "theory\n" + theory}).Learn(context.Background(), learn.Task{Table: rows, Target: rows.Linked.Target})
	if err != nil {
		t.Fatal(err)
	}
	names, cells, err := m.(*Model).Columns(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"volume(a)", "density(a)", "times(volume(a),density(a))", "type(b,endtable)", "less(times(volume(a),density(a)),5)"}
	if !slices.Equal(names, want) {
		t.Fatalf("columns %q, expected %q", names, want)
	}
	byRow := map[string]string{}
	for r := range rows.Rows() {
		var line []string
		for c := range cells {
			line = append(line, cells[c][r])
		}
		byRow[rows.Text(r, 0)+" "+rows.Text(r, 1)] = strings.Join(line, " ")
	}
	for row, want := range map[string]string{"crate0 table": "2 0.3 0.6 yes yes", "crate1 table": "8 1 8 yes no", "crate2 chest": "4 1 4 no yes", "chest table": "   yes "} {
		if byRow[row] != want {
			t.Errorf("%s: %q, expected %q", row, byRow[row], want)
		}
	}
}

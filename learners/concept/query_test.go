package concept_test

import (
	"context"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/concept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Whichever of the six hypotheses is the truth, it is found by at most three
// questions, answered one after the other: the best that is possible (section
// 2.6.2).
func TestThreeQuestionsFindTheConcept(t *testing.T) {
	ctx := context.Background()
	first, _ := learnt(t, "enjoy-sport", &concept.Learner{})
	members := first.Members()
	if len(members) != 6 {
		t.Fatalf("%d members", len(members))
	}
	sum := 0
	for _, truth := range members {
		m, asked := first, 0
		for ; len(m.Members()) > 1; asked++ {
			questions, err := m.Questions(ctx, 1)
			if err != nil || len(questions) != 1 {
				t.Fatalf("%v, %v", questions, err)
			}
			row := questions[0].Row
			matcher, err := rule.NewMatcher(truth[0].If, row.Schema)
			if err != nil {
				t.Fatal(err)
			}
			answer := "No"
			if matcher.MatchRow(row, 0) {
				answer = "Yes"
			}
			row.Columns[m.Target()].Codes[0] = row.Schema.Attributes[m.Target()].Code(answer)
			update, err := m.Begin(learn.Source{ID: strings.Repeat("a", asked+1)})
			if err != nil {
				t.Fatal(err)
			}
			if err := update.Add(ctx, row); err != nil {
				t.Fatal(err)
			}
			next, err := update.Freeze(ctx)
			if err != nil {
				t.Fatal(err)
			}
			m = next.(*concept.Model)
		}
		found := m.Members()
		if asked > 3 || len(found) != 1 || found[0][0].String() != truth[0].String() {
			t.Errorf("after %d questions %v, the truth is %s", asked, found, truth[0].String())
		}
		sum += asked
	}
	if sum != 16 { // 2.667 on average is the best possible
		t.Errorf("%d questions for six truths", sum)
	}
}

// A space that cannot be counted says so instead of having no question: no row
// bounds the discs from above.
func TestNoQuestionsWithoutACount(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "in", Values: []string{"yes", "no"}}}}
	rows, err := table.New(schema, []table.Column{{Floats: []float64{1, 2}}, {Codes: []int32{0, 0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&concept.Learner{Space: "discs"}).Learn(context.Background(), learn.Task{Table: rows, Target: "in"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.(*concept.Model).Questions(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "rows to choose from") {
		t.Errorf("%v", err)
	}
}

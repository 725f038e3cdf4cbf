package serve

import (
	"fmt"
	"strings"
	"testing"
)

// letters are short messages and whether each is wanted.
func letters(rows int) string {
	var b strings.Builder
	b.WriteString("label,text\n")
	for i := range rows {
		if i%3 == 0 {
			fmt.Fprintf(&b, "spam,\"winner of prize %d, call now\"\n", i)
		} else {
			fmt.Fprintf(&b, "ham,\"see you at home, call %d\"\n", i)
		}
	}
	return b.String()
}

// A table of texts is read as it is written, and a draft is of the words that
// should have decided.
func TestTexts(t *testing.T) {
	s := newTrial(t)
	d := s.want(s.do("POST", "/v1/data?name=letters.csv", letters(90), "Content-Type: text/csv"), 201, "left_out")
	if fmt.Sprint(d.json["left_out"]) != "[text]" {
		t.Errorf("%v is left out", d.json["left_out"])
	}
	r := s.want(s.do("GET", "/v1/data/letters.csv/rows?limit=1", nil), 200)
	if row := r.json["rows"].([]any)[0].(map[string]any); row["text"] != "winner of prize 0, call now" {
		t.Errorf("the row is %v", row)
	}
	s.want(s.do("POST", "/v1/learn", `{"data":"letters.csv","target":"label","learner":"bayes","text":["text"],"name":"letters","folds":0}`, wait), 200)
	m := s.want(s.do("GET", "/v1/models/letters", nil), 200)
	if fmt.Sprint(m.json["judge_on"]) != "[letters.csv]" {
		t.Errorf("judged on %v", m.json["judge_on"])
	}
	row := map[string]any{"text": "winner, see you at home"}
	draft := func(status int, words ...string) string {
		t.Helper()
		body := map[string]any{"row": row, "should": "spam", "because": []string{"text"}}
		if words != nil {
			body["words"] = map[string]any{"text": words}
		}
		r := s.want(s.do("POST", "/v1/models/letters/draft", body), status)
		rule, _ := r.json["rule"].(string)
		return rule
	}
	if rule := draft(200); !strings.HasPrefix(rule, "IF text CONTAINS winner THEN") {
		t.Errorf("drafted %s", rule)
	}
	if rule := draft(200, "home", "see"); !strings.HasPrefix(rule, "IF text CONTAINS home AND text CONTAINS see THEN") {
		t.Errorf("drafted %s", rule)
	}
	draft(422, "prize") // no word of this text
}

// No screen is empty, and none shows what is wrong, whatever kind of model it is
// about: rules that say how much likelier an answer is, units, other columns,
// formulas, clauses, texts, and models that are not read as rules.
func TestPageOfEveryKind(t *testing.T) {
	s := numbers(t)
	s.want(s.do("POST", "/v1/data?name=letters.csv", letters(90), "Content-Type: text/csv"), 201)
	for _, lesson := range []string{
		`{"data":"letters.csv","target":"label","learner":"bayes","text":["text"],"name":"letters","folds":0}`,
		`{"data":"iris","learner":"bayes","name":"flowers","folds":0}`,
		`{"data":"iris","learner":"linear","name":"weights","folds":0}`,
		`{"data":"iris","learner":"belief","name":"joint","folds":0}`,
		`{"data":"iris","learner":"nearest","name":"near","folds":0}`,
		`{"data":"first.csv","target":"rent","learner":"gp","settings":{"generations":"3","population":"60"},"name":"formula","folds":0}`,
		`{"data":"gridworld","learner":"q","settings":{"episodes":"50"}}`,
	} {
		s.want(s.do("POST", "/v1/learn", lesson, wait), 200)
	}
	v := visit(t, s)
	for _, x := range [][2]string{
		{"letters/rules", "text has the word “winner”"}, {"flowers/rules", "3 rules"}, {"weights/rules", "each"}, {"joint/rules", "In words"},
		{"near/rules", "near does not come apart into rules. What it answers"}, {"near/picture", "near has no picture"}, {"formula/rules", "formula is a formula."},
		{"gridworld/rules", "When row = "}, {"letters/data?table=letters.csv", "Not read."},
	} {
		v.at("#/" + x[0])
		if x[1] == "In words" {
			v.wait("!!document.querySelector('[aria-label=\"In words\"]')", x[0])
		} else {
			v.sees(x[1])
		}
		v.wait("!document.querySelector('.grey')", x[0])
		v.says(x[0])
	}
	v.at("#/letters/case?data=letters.csv&row=1&show=wrong&should=ham")
	v.sees("text has the word “prize”")
	v.presses(".chips button")
	v.sees("Nothing is done yet.")
	v.says("a case of text")
	v.clicks("Tell letters, making version 2")
	v.sees("Version 2 is live.")
}

// says looks for what a page should not say: what is no sentence, and no number.
func (v *visitor) says(where string) {
	v.t.Helper()
	text := v.text()
	for _, bad := range []string{"undefined", "NaN", "[object", "Infinity", "in –", "fault:"} {
		if strings.Contains(text, bad) {
			v.t.Errorf("%s says %q: %s", where, bad, text)
		}
	}
}

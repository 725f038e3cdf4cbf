package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// again starts a server on a store that another had.
func again(t *testing.T, dir string, change ...func(*Options)) *trial {
	t.Helper()
	return newTrial(t, append([]func(*Options){func(o *Options) { o.Home = newHome(t, dir) }}, change...)...)
}

// A server that is started again tells of the jobs of the one before: what came of
// those that were over, and that those under way were cut off.
func TestJobsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	first := again(t, dir)
	over := first.want(first.do("POST", "/v1/learn", `{"data":"weather","learner":"bayes"}`), 202, "job").json["job"].(string)
	first.do("GET", "/v1/jobs/"+over+"/events", nil) // until it is over
	long := first.want(first.do("POST", "/v1/evaluate", `{"data":"mushroom","learner":"mlp","folds":10}`), 202, "job").json["job"].(string)
	wait := first.want(first.do("POST", "/v1/evaluate", `{"data":"mushroom","learner":"mlp","folds":10}`), 202, "job").json["job"].(string)
	killed := filepath.Join(dir, "serve", "jobs", long+".json")
	underWay, err := os.ReadFile(killed)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		second := again(t, dir)
		j := second.want(second.do("GET", "/v1/jobs/"+over, nil), 200, "state", "result")
		if j.json["state"] != "done" || j.json["result"].(map[string]any)["model"] != "weather" {
			t.Errorf("%s: %s", when, j.body)
		}
		for _, id := range []string{long, wait} {
			j := second.want(second.do("GET", "/v1/jobs/"+id, nil), 200, "state", "problem", "ended")
			if j.json["state"] != "failed" || !strings.Contains(string(j.body), "the server ended while the job (evaluate) was under way") {
				t.Errorf("%s: %s", when, j.body)
			}
			if events := second.do("GET", "/v1/jobs/"+id+"/events", nil); !strings.Contains(string(events.body), "event: problem") {
				t.Errorf("%s: %s", when, events.body)
			}
		}
		list := second.want(second.do("GET", "/v1/jobs", nil), 200, "jobs").json["jobs"].([]any)
		if len(list) != 3 || list[0].(map[string]any)["job"] != wait {
			t.Errorf("%s: %v", when, list)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check("after an orderly end")
	// After kill -9 the file says that it runs; what is no job is left alone.
	if err := os.WriteFile(killed, underWay, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"torn.json": `{"job":"torn","st`, "other.json": `{"job":"else"}`} {
		if err := os.WriteFile(filepath.Join(dir, "serve", "jobs", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("after a kill")
}

// Of jobs long over nothing is kept on the disk either.
func TestOldJobsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	d := &desk{dir: dir, all: map[string]*job{}}
	for i := range mostRecorded + 5 {
		ended := time.Now()
		j := &job{Job: Job{Job: fmt.Sprintf("j%d", i), State: done, Ended: &ended, Made: ended}}
		d.all[j.Job.Job] = j
		d.order = append(d.order, j.Job.Job)
		d.record(j.Job)
	}
	d.forgetOld()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != mostRecorded {
		t.Errorf("%d files, %v", len(files), err)
	}
	e := &desk{dir: dir}
	e.recall()
	if !slices.Equal(e.order, d.order) {
		t.Errorf("%v", e.order)
	}
}

// Who is signed in stays so when the server is started again, until the token is
// revoked or they sign out.
func TestSessionsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	secret, err := NewToken(tokens, Token{Name: "reader", Scope: "read"}, "")
	if err != nil {
		t.Fatal(err)
	}
	with := func(o *Options) { o.Tokens = tokens }
	first := again(t, dir, with)
	in := first.want(first.do("POST", "/v1/login", map[string]any{"token": secret}), 200, "name")
	cookie := "Cookie: " + strings.SplitN(in.header.Get("Set-Cookie"), ";", 2)[0]
	first.want(first.do("GET", "/v1/whoami", nil, cookie), 200, "scope")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "serve", "sessions")
	text, err := os.ReadFile(kept)
	if err != nil || strings.Contains(string(text), strings.TrimPrefix(cookie, "Cookie: accrete=")) || strings.Contains(string(text), secret) {
		t.Errorf("the file of sessions has secrets, or is not there: %v", err)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	second := again(t, dir, with)
	second.want(second.do("GET", "/v1/whoami", nil, cookie), 200, "scope")
	second.want(second.do("DELETE", "/v1/login", nil, cookie), 204)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := again(t, dir, with)
	third.problem(third.do("GET", "/v1/whoami", nil, cookie), 401, "no longer signed in")
}

// A graph shows the way of a row, what its rules decide and how they are said.
func TestGraphOfARow(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet").learn("zoo", "tree").learn("weather", "bayes")
	row := url.QueryEscape(`{"physician-fee-freeze":"y","mx-missile":"n"}`)
	g := s.want(s.do("GET", "/v1/models/votes/graph?row="+row, nil), 200, "nodes", "edges", "lit", "prediction")
	var graph Graph
	if err := json.Unmarshal(g.body, &graph); err != nil {
		t.Fatal(err)
	}
	label := map[string]*GraphNode{}
	for i := range graph.Nodes {
		label[graph.Nodes[i].ID] = &graph.Nodes[i]
	}
	rules, classes := 0, 0
	for _, id := range graph.Lit {
		n := label[id]
		if n == nil {
			t.Fatalf("%q is no node", id)
		}
		if n.Rule != "" {
			rules++
			if n.Decides == nil || len(n.Say) == 0 || !strings.Contains(n.Label, "physician-fee-freeze = y") && !strings.Contains(n.Label, "mx-missile = n") {
				t.Errorf("lit: %+v", n)
			}
		}
		if n.Kind == "leaf" {
			classes++
			if n.Class != graph.Prediction {
				t.Errorf("%s is lit, the answer is %v", n.Class, graph.Prediction)
			}
		}
	}
	if rules == 0 || classes != 1 {
		t.Errorf("%d rules and %d classes are lit: %v", rules, classes, graph.Lit)
	}
	// A tree's path begins at its root, and ends in one leaf.
	tree := s.want(s.do("GET", "/v1/models/zoo/graph?row="+url.QueryEscape(`{"milk":"true","feathers":"false","backbone":"true","legs":4}`), nil), 200, "lit")
	if lit := tree.json["lit"].([]any); lit[0] != "0" || len(lit) < 2 {
		t.Errorf("%v", lit)
	}
	s.want(s.do("GET", "/v1/models/weather/graph?row="+url.QueryEscape(`{"outlook":"sunny"}`), nil), 200, "lit")
	s.want(s.do("GET", "/v1/models/votes/graph", nil), 200, "nodes")
	s.problem(s.do("GET", "/v1/models/votes/graph?row=1", nil), 400, "row=")
}

// Beside an answer stands how often the model was right when it was as sure.
func TestExplanationIsCalibrated(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	body := map[string]any{"row": map[string]any{"physician-fee-freeze": "y"}}
	for range 50 {
		e := s.want(s.do("POST", "/v1/models/votes/explain", body), 200, "prediction")
		c, ok := e.json["calibration"].(map[string]any)
		if !ok { // it is found out beside
			time.Sleep(100 * time.Millisecond)
			continue
		}
		p := e.json["probabilities"].(map[string]any)[e.json["prediction"].(string)].(float64)
		if c["from"].(float64) > p || c["to"].(float64) < p || c["rows"].(float64) < 15 || c["low"].(float64) > c["right"].(float64)/c["rows"].(float64) {
			t.Errorf("%v beside %v", c, p)
		}
		return
	}
	t.Error("it was never calibrated")
}

// Data that was sent is called by its name, whatever its path is.
func TestDataIsCalledByItsName(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	rows := "physician-fee-freeze,class\ny,democrat\nn,republican\ny,republican\n"
	s.want(s.do("POST", "/v1/data?name=april.csv", rows, "Content-Type: text/csv"), 201)
	told := `IF "physician-fee-freeze" = y THEN class = democrat WITH 0.95 WORTH 900`
	preview := s.want(s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": told, "preview": true, "on": []string{"april.csv"}}), 200, "effect")
	s.want(s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": told}), 200, "effect")
	diff := s.want(s.do("POST", "/v1/diff", `{"before":"votes@1","after":"votes@2","on":"april.csv"}`, wait), 200, "flips")
	for _, body := range [][]byte{preview.body, diff.body} {
		if !strings.Contains(string(body), `"data":"april.csv"`) || strings.Contains(string(body), s.o.Home.Store.Dir()) {
			t.Errorf("%s", body)
		}
	}
}

// A rule that rows dispute can be said of fewer, where they dispute it less.
func TestNarrow(t *testing.T) {
	s := newTrial(t).learn("votes", "rulenet")
	s.want(s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": `IF "mx-missile" = y THEN class = republican WITH 0.9 WORTH 30`}), 200)
	court := s.want(s.do("GET", "/v1/models/votes/conflicts", nil), 200, "conflicts").json["conflicts"].([]any)
	narrow := court[0].(map[string]any)["narrow"].([]any)
	if len(narrow) != 2 {
		t.Fatalf("%v", narrow)
	}
	first := narrow[0].(map[string]any)
	rows, right := first["rows"].(float64), first["right"].(float64)
	if rows < 3 || right/rows < 0.5 || !strings.HasPrefix(first["rule"].(string), "IF mx-missile = y AND ") {
		t.Errorf("%v", first)
	}
	// What is drafted can be told instead, and the rows agree with it more.
	id := court[0].(map[string]any)["rule"]
	s.want(s.do("POST", "/v1/models/votes/tell", map[string]any{"rules": first["rule"], "replaces": id, "preview": true}), 200, "effect")
}

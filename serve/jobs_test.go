package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
)

const wait = "Prefer: wait=30"

func TestJobs(t *testing.T) {
	s := newTrial(t)
	started := s.want(s.do("POST", "/v1/learn", `{"data":"weather","learner":"bayes"}`), 202, "job", "href")
	href := started.json["href"].(string)
	events := s.do("GET", href+"/events", nil)
	if !strings.Contains(string(events.body), "event: result\ndata: {\"model\":\"weather\",\"version\":1,") {
		t.Errorf("%s", events.body)
	}
	j := s.want(s.do("GET", href, nil), 200, "job", "state", "progress", "result")
	if j.json["state"] != "done" {
		t.Errorf("%s", j.body)
	}
	s.want(s.do("GET", "/v1/jobs", nil), 200, "jobs")
	s.want(s.do("POST", "/v1/learn", `{"data":"play-tennis","learner":"bayes","name":"b","folds":0}`, wait), 200, "model", "version", "rows")
	s.want(s.do("POST", "/v1/models/weather/update", `{"data":"weather"}`, wait), 200, "model", "version", "notes")
	s.want(s.do("POST", "/v1/evaluate", `{"data":"weather","learner":"bayes","folds":3}`, wait), 200, "accuracy", "accuracy_low")
	s.want(s.do("POST", "/v1/evaluate", `{"model":"weather","on":"weather"}`, wait), 200, "accuracy")
	s.want(s.do("POST", "/v1/compare", `{"data":"weather","learners":["bayes:m=2","prior"],"folds":3}`, wait), 200, "learners", "differences")
	s.want(s.do("POST", "/v1/diff", `{"before":"weather@1","after":"weather","on":"weather"}`, wait), 200, "stronger", "flips")
	s.want(s.do("POST", "/v1/models/weather/verify", nil, wait), 200, "contract", "holds")
	s.want(s.do("POST", "/v1/merge", `{"first":"weather@1","second":"weather","name":"both"}`, wait), 200, "model", "conflicts")
	s.problem(s.do("POST", "/v1/learn", `{"data":"nothing"}`), 422, "/v1/data")
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather","target":"plai"}`, wait), 422, "did you mean")
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather","learner":"bays"}`), 422, "bayes")
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather","learner":"belief","settings":{"network":"/etc/passwd"}}`), 422, "names a file")
	s.problem(s.do("POST", "/v1/learn", `{"data":"weather","name":"../x"}`), 422, "name")
	s.problem(s.do("POST", "/v1/models/weather@1/update", `{"data":"weather"}`), 422, "old version")
	s.problem(s.do("POST", "/v1/diff", `{"before":"../x","after":"weather"}`), 422, "")
	s.problem(s.do("GET", "/v1/jobs/j0-0", nil), 404, "no job")
	s.want(s.do("DELETE", href, nil), 204)
	s.want(s.do("GET", "/v1/models/weather/draw", nil), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"weather","learner":"rulenet","name":"grown","folds":0}`, wait), 200)
	s.want(s.do("GET", "/v1/models/grown/growth", nil), 200, "certificates")
	if r := s.do("GET", "/v1/models/grown/rules", nil); !strings.Contains(string(r.body), `"certificate":{"id":`) {
		t.Errorf("no rule says why it is there: %s", r.body)
	}
	s.want(s.do("GET", "/v1/models/grown", nil), 200, "accuracy", "low", "high", "how", "usual") // who asks waits for it
	if r := s.do("GET", "/v1/models/grown/log", nil); !strings.Contains(string(r.body), `"by":"`+s.owner+`"`) {
		t.Errorf("nobody learnt: %s", r.body)
	}
}

// What was erased cannot be taken back.
func TestErasureStays(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	s.want(s.do("POST", "/v1/models/weather/update", `{"data":"weather","source":"again"}`, wait), 200)
	s.want(s.do("POST", "/v1/models/weather/forget", `{"source":"again","erase":true}`), 200, "effect")
	s.problem(s.do("POST", "/v1/models/weather/undo", `{}`), 422, "cannot be taken back")
	if r := s.do("GET", "/v1/models/weather/edits", nil); !strings.Contains(string(r.body), `"undoable":false`) {
		t.Errorf("%s", r.body)
	}
}

// Who follows all models hears of new versions.
func TestEvents(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.url+"/v1/events", nil)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // that it is there
	s.learn("weather", "bayes")
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data:") {
	}
	if !strings.Contains(lines.Text(), `{"model":"weather","version":2,"kind":"learn"`) {
		t.Errorf("%s", lines.Text())
	}
	seen("GET /v1/events", answer.StatusCode)
}

// Who cancels a job that has made a version already is told so.
func TestCancelledLate(t *testing.T) {
	d := &desk{home: &life.Home{}, workers: 1}
	began := make(chan struct{})
	err := d.start(t.Context(), &job{Job: Job{Job: "late", By: "a"}, do: func(ctx context.Context, _ *life.Home) (any, error) {
		close(began)
		<-ctx.Done()
		return "kept", fmt.Errorf("m@1 is kept, but its accuracy was not estimated: %w", ctx.Err())
	}})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	d.stop("late")
	d.close2(t)
	j, _, _ := d.look("late")
	if j.State != cancelled || j.Result == nil || j.Problem.Detail != "the job was cancelled late: m@1 is kept, but its accuracy was not estimated" {
		t.Errorf("%+v %+v", j, j.Problem)
	}
}

// A job can be cancelled, running or waiting; others have their turn.
func TestJobsInTurn(t *testing.T) {
	d := &desk{home: &life.Home{}, workers: 1}
	var order []string
	gate := make(chan struct{})
	start := func(id, by string, do work) {
		t.Helper()
		if do == nil {
			do = func(context.Context, *life.Home) (any, error) { order = append(order, id); return id, nil }
		}
		if err := d.start(t.Context(), &job{Job: Job{Job: id, By: by}, do: do}); err != nil {
			t.Fatal(err)
		}
	}
	start("first", "a", func(ctx context.Context, _ *life.Home) (any, error) { close(gate); <-ctx.Done(); return nil, ctx.Err() })
	<-gate
	for i := range 3 {
		start(fmt.Sprint("a", i), "a", nil)
	}
	start("b0", "b", nil)
	start("panics", "c", func(context.Context, *life.Home) (any, error) { panic("a fault") })
	d.stop("a1")
	d.stop("first")
	d.close2(t)
	if got := strings.Join(order, " "); got != "a0 b0 a2" {
		t.Errorf("in the order %s", got)
	}
	for id, state := range map[string]string{"first": cancelled, "a1": cancelled, "panics": failed, "b0": done} {
		if j, _, _ := d.look(id); j.State != state {
			t.Errorf("%s is %s, expected %s", id, j.State, state)
		}
	}
	for i := range mostOfCaller + 2 {
		err := d.start(t.Context(), &job{Job: Job{Job: fmt.Sprint("x", i), By: "x"}, do: func(ctx context.Context, _ *life.Home) (any, error) { <-ctx.Done(); return nil, ctx.Err() }})
		if i == mostOfCaller+1 && (err == nil || newProblem(err).Status != 429) {
			t.Errorf("job %d was taken: %v", i, err)
		}
	}
	d.close()
}

// close2 waits until nothing is left to do.
func (d *desk) close2(t *testing.T) {
	for range 1000 {
		d.mu.Lock()
		idle := d.busy == 0
		d.mu.Unlock()
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("jobs do not end")
}

func TestData(t *testing.T) {
	s := newTrial(t)
	csv := "a,b,y\n1,p,x\n2,q,z\n3,p,x\n4,<script>alert(1)</script>,z\n"
	s.want(s.do("POST", "/v1/data?name=april", strings.NewReader(csv), "Content-Type: text/csv"), 201, "rows", "columns", "suggested_target", "by")
	s.want(s.do("GET", "/v1/data", nil), 200, "data")
	s.want(s.do("GET", "/v1/data/april", nil), 200, "columns")
	rows := s.want(s.do("GET", "/v1/data/april/rows?offset=1&limit=2", nil), 200, "rows", "of")
	if n := len(rows.json["rows"].([]any)); n != 2 || rows.json["of"] != 4.0 {
		t.Errorf("%s", rows.body)
	}
	s.want(s.do("GET", "/v1/data/weather/rows", nil), 200, "rows")
	s.want(s.do("PATCH", "/v1/data/april", `{"numeric":["a"]}`), 200, "numeric")
	patched := s.want(s.do("PATCH", "/v1/data/april", `{"nominal":["a"]}`), 200, "nominal")
	if patched.json["numeric"] != nil { // it is of one kind
		t.Errorf("%s", patched.body)
	}
	if !strings.Contains(string(patched.body), `"name":"a","kind":"nominal"`) {
		t.Errorf("%s", patched.body)
	}
	learnt := s.want(s.do("POST", "/v1/learn", `{"data":"april","target":"y","learner":"bayes"}`, wait), 200, "model")
	if learnt.json["model"] != "april" {
		t.Errorf("%s", learnt.body)
	}
	log := s.want(s.do("GET", "/v1/models/april/log", nil), 200)
	if !strings.Contains(string(log.body), `"source":"april"`) {
		t.Errorf("%s", log.body)
	}
	s.want(s.do("POST", "/v1/models/april/verify", nil, wait), 200, "holds")
	s.problem(s.do("POST", "/v1/data?name=april", strings.NewReader(csv)), 409, "replace")
	s.want(s.do("POST", "/v1/data?name=april&replace=1", strings.NewReader(csv)), 201)
	s.problem(s.do("POST", "/v1/data?name=..%2Fx", strings.NewReader(csv)), 422, "name")
	s.problem(s.do("POST", "/v1/data?name=bad", strings.NewReader("a,b\n1\n1,2,3\n\x00")), 422, "")
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	part, _ := m.CreateFormFile("file", `C:\tables\may.csv`)
	io.WriteString(part, csv)
	m.Close()
	s.want(s.do("POST", "/v1/data", &form, "Content-Type: "+m.FormDataContentType()), 201)
	s.want(s.do("GET", "/v1/data/may", nil), 200)
	s.want(s.do("DELETE", "/v1/data/may", nil), 204)
	s.problem(s.do("GET", "/v1/data/may", nil), 404, "may")
	export := s.do("GET", "/v1/models/april/export", nil)
	s.want(s.do("POST", "/v1/import?name=again", bytes.NewReader(export.body)), 200, "model", "version")
	s.problem(s.do("POST", "/v1/import", strings.NewReader("no model")), 422, "export")
	if left, _ := filepath.Glob(filepath.Join(s.uploads.dir, ".coming-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// Data of this machine can only be named below the folder that was given.
func TestDataIsConfined(t *testing.T) {
	dir := t.TempDir()
	csv := []byte("a,y\n1,x\n2,z\n3,x\n")
	os.WriteFile(filepath.Join(dir, "secret.csv"), csv, 0o600)
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o700)
	os.WriteFile(filepath.Join(open, "table.csv"), csv, 0o600)
	os.Symlink(filepath.Join(dir, "secret.csv"), filepath.Join(open, "link.csv"))
	for _, folder := range []string{"parts", "linked"} {
		os.Mkdir(filepath.Join(open, folder), 0o700)
		os.WriteFile(filepath.Join(open, folder, "a.csv"), csv, 0o600)
	}
	os.WriteFile(filepath.Join(open, "parts", "b.csv"), csv, 0o600)
	os.Symlink(filepath.Join(dir, "secret.csv"), filepath.Join(open, "linked", "b.csv"))
	s := newTrial(t, func(o *Options) { o.Data = open })
	s.want(s.do("GET", "/v1/data/table.csv", nil), 200)
	if r := s.want(s.do("POST", "/v1/learn", `{"data":"parts","target":"y","learner":"bayes","folds":0}`, wait), 200, "rows"); r.json["rows"] != 6.0 {
		t.Errorf("%s", r.body)
	}
	for _, name := range []string{"../secret.csv", filepath.Join(dir, "secret.csv"), "link.csv", "linked", "file:" + filepath.Join(dir, "secret.csv"), "-", "http://127.0.0.1:1/x.csv", "sqlite:x?table=t", "exec:ls"} {
		r := s.do("POST", "/v1/learn", map[string]string{"data": name, "target": "y"}, wait)
		if r.status != 422 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

// What unpacks to far more than was sent is refused, however much memory there is.
func TestBombs(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.MostUpload = 1 << 20 })
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	io.WriteString(w, "a,b\n")
	line := []byte(strings.Repeat("1,x\n", 1<<12))
	for range (1 << 26) / len(line) {
		w.Write(line)
	}
	w.Close()
	if b.Len() > 1<<21 {
		t.Skip("the bomb is too large")
	}
	r := s.do("POST", "/v1/data?name=bomb", bytes.NewReader(b.Bytes()), "Accrete-File: bomb.csv.gz")
	s.problem(r, 413, "unpacked")
	s.learn("weather", "bayes").problem(s.do("POST", "/v1/models/weather/predict", strings.NewReader(`{"row":{"outlook":"`+strings.Repeat("x", 65<<20)+`"}}`), "Content-Type: application/json"), 413, "") // one document is held whole
	s.problem(s.do("POST", "/v1/data?name=large", strings.NewReader(strings.Repeat("x", 2<<20))), 413, "")
}

// A body that comes too slowly is not waited for.
func TestSlowBodies(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.Patience = 200 * time.Millisecond }).learn("weather", "bayes")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/models/weather/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	began := time.Now()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 408 || time.Since(began) > 3*time.Second {
		t.Errorf("%s after %v", answer.Status, time.Since(began))
	}
}

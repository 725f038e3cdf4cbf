package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// trial is a server to try.
type trial struct {
	*Server
	t   *testing.T
	url string
}

func newTrial(t *testing.T, change ...func(*Options)) *trial {
	t.Helper()
	o := Options{Home: newHome(t, t.TempDir())}
	for _, f := range change {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &trial{s, t, web.URL}
}

func newHome(t *testing.T, dir string) life.Home {
	t.Helper()
	s, err := store.Open(dir, store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return life.Home{Store: s, Now: time.Now, Seed: 1}
}

// learn makes a model of a built-in set.
func (s *trial) learn(data, learner string) *trial {
	s.t.Helper()
	h := s.o.Home
	d, err := h.Find(data, life.Reading{})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := h.Learn(s.t.Context(), life.LearnOptions{Data: d, Choice: life.Choice{Learner: learner}}); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
	json   map[string]any
}

// do sends a request; a body that is no string is sent as JSON. Headers are
// given as "Name: value".
func (s *trial) do(method, path string, body any, headers ...string) reply {
	s.t.Helper()
	var in io.Reader
	kind := ""
	switch body := body.(type) {
	case nil:
	case string:
		in, kind = strings.NewReader(body), "application/json"
	case io.Reader:
		in = body
	default:
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		in, kind = bytes.NewReader(text), "application/json"
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	got := reply{answer.StatusCode, answer.Header, text, nil}
	if strings.Contains(answer.Header.Get("Content-Type"), "json") && !strings.Contains(answer.Header.Get("Content-Type"), "ndjson") {
		if err := json.Unmarshal(text, &got.json); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	s.conform(method, path, got)
	return got
}

// want checks the status, and that keys are there.
func (s *trial) want(r reply, status int, keys ...string) reply {
	s.t.Helper()
	if r.status != status {
		s.t.Fatalf("status %d, expected %d: %s", r.status, status, r.body)
	}
	for _, key := range keys {
		if _, ok := r.json[key]; !ok {
			s.t.Errorf("no key %q in %s", key, r.body)
		}
	}
	return r
}

// problem checks that an answer is a problem with a remedy.
func (s *trial) problem(r reply, status int, says string) {
	s.t.Helper()
	s.want(r, status, "type", "title", "status", "detail", "remedy")
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		s.t.Errorf("a problem of type %s", got)
	}
	if !strings.Contains(string(r.body), says) {
		s.t.Errorf("expected %q in %s", says, r.body)
	}
}

func TestReading(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	s.want(s.do("GET", "/healthz", nil), 200, "status")
	s.want(s.do("GET", "/readyz", nil), 200, "status")
	s.want(s.do("GET", "/v1/whoami", nil), 200, "name", "scope", "models")
	s.want(s.do("GET", "/v1/models", nil), 200, "models")
	s.want(s.do("GET", "/v1/models/weather", nil), 200, "model", "version", "learner", "target", "columns", "settings", "versions", "abilities")
	s.want(s.do("GET", "/v1/models/weather@1", nil), 200, "model")
	rules := s.want(s.do("GET", "/v1/models/weather/rules?top=1", nil), 200, "rules", "kind")
	if n := len(rules.json["rules"].([]any)); n != 1 {
		t.Errorf("%d rules", n)
	}
	s.want(s.do("GET", "/v1/models/weather/log", nil), 200, "model", "versions")
	s.want(s.do("GET", "/v1/datasets", nil), 200, "datasets")
	s.want(s.do("GET", "/v1/learners", nil), 200, "learners")
	s.want(s.do("GET", "/v1/learners/tree", nil), 200, "name", "settings")
	if r := s.want(s.do("GET", "/", nil), 200); !strings.Contains(string(r.body), "<title>Accrete") || r.header.Get("Content-Security-Policy") == "" {
		t.Errorf("the page: %s", r.body)
	}
	s.problem(s.do("GET", "/v1/models/weathr", nil), 404, `did you mean \"weather\"?`)
	s.problem(s.do("GET", "/v1/models/weather/rules?tip=1", nil), 400, "tip")
	s.problem(s.do("GET", "/v1/nothing", nil), 404, "nothing at")
	s.problem(s.do("PUT", "/v1/models", nil), 405, "GET")
	s.problem(s.do("GET", "/v1/models/weather/growth", nil), 422, "did not grow")
}

func TestPredict(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	one := s.want(s.do("POST", "/v1/models/weather/predict", `{"row":{"outlook":"overcast","nothing":1}}`), 200, "prediction", "probabilities", "model", "version", "ignored")
	if one.json["prediction"] == "" {
		t.Error(string(one.body))
	}
	many := s.want(s.do("POST", "/v1/models/weather/predict", `{"rows":[{"outlook":"overcast"},{"outlook":null}]}`), 200, "predictions", "version")
	if n := len(many.json["predictions"].([]any)); n != 2 {
		t.Errorf("%d answers", n)
	}
	csv := s.do("POST", "/v1/models/weather/predict", strings.NewReader("outlook\nsunny\nrain\n"), "Content-Type: text/csv")
	if csv.status != 200 || strings.Count(string(csv.body), "\n") != 3 || !strings.HasPrefix(string(csv.body), "prediction,probability\n") {
		t.Errorf("%d %s", csv.status, csv.body)
	}
	lines := s.do("POST", "/v1/models/weather/predict", strings.NewReader("{\"outlook\":\"sunny\"}\n"), "Content-Type: application/x-ndjson")
	if lines.status != 200 || !strings.Contains(string(lines.body), `"prediction":`) {
		t.Errorf("%d %s", lines.status, lines.body)
	}
	s.want(s.do("POST", "/v1/models/weather/explain", `{"row":{"outlook":"overcast"}}`), 200, "prediction", "evidence", "prior", "version")
	for body, status := range map[string]int{`{"row":`: 400, `{"row":{}, "x":1}`: 400, `{}`: 422, `{"row":{"x":1}}`: 422, `{"row":{"humidity":"wet"}}`: 422, `{"rows":[{},{"humidity":"wet"}]}`: 422, `[]`: 400, ``: 400} {
		r := s.do("POST", "/v1/models/weather/predict", body)
		s.problem(r, status, "")
		if strings.Contains(body, "wet") && r.json["column"] != "humidity" {
			t.Errorf("no column in %s", r.body)
		}
	}
	s.problem(s.do("POST", "/v1/models/weather/predict", "a=b", "Content-Type: text/plain"), 415, "text/csv")
	s.problem(s.do("POST", "/v1/models/weather/predict", `{"row":{}}`, "Content-Encoding: gzip"), 415, "not unpacked")
	s.want(s.do("POST", "/v1/models/weather/ask", `{"question":"play=?"}`), 200, "answers")
	s.problem(s.do("POST", "/v1/models/weather/ask", `{"question":"plai=?"}`), 422, "did you mean")
	s.problem(s.do("POST", "/v1/models/weather/ask", `{"question":"outlook=?"}`), 422, "gaussian")
}

// A table is answered while it comes: the first answers are there before the
// last rows are.
func TestPredictStreams(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	in, out := io.Pipe()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/models/weather/predict", in)
	r.Header.Set("Content-Type", "text/csv")
	row := strings.Repeat("sunny\n", 1000)
	sent := make(chan int, 1)
	stop := make(chan struct{})
	go func() {
		n, _ := io.WriteString(out, "outlook\n")
		for range 4000 {
			k, err := io.WriteString(out, row)
			if n += k; err != nil {
				break
			}
			select {
			case <-stop:
				sent <- n
				out.Close()
				return
			default:
			}
		}
		sent <- n
		out.Close()
	}()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1000)
	if _, err := io.ReadFull(answer.Body, first); err != nil {
		t.Fatal(err)
	}
	close(stop)
	rest, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	n := <-sent
	if lines := bytes.Count(first, []byte("\n")) + bytes.Count(rest, []byte("\n")); n >= 4000*len(row) || lines != 1+(n-8)/6 {
		t.Errorf("%d bytes were sent before the first answer, %d lines came", n, lines)
	}
}

func TestGuards(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.MostBody = 1000; o.MostRows = 5 }).learn("weather", "bayes")
	s.problem(s.do("GET", "/v1/models", nil, "Host: evil.example"), 403, "not called")
	s.problem(s.do("GET", "/v1/models", nil, "Host: evil.example:8765"), 403, "not called")
	s.want(s.do("GET", "/v1/models", nil, "Host: localhost:1"), 200)
	s.problem(s.do("POST", "/v1/models/weather/explain", `{}`, "Origin: http://evil.example"), 403, "elsewhere")
	s.problem(s.do("GET", "/v1/models", nil, "Sec-Fetch-Site: cross-site"), 403, "elsewhere")
	s.problem(s.do("POST", "/v1/models/weather/explain", `{"row":{"outlook":"`+strings.Repeat("x", 2000)+`"}}`), 413, "too large")
	s.problem(s.do("POST", "/v1/models/weather/predict", `{"rows":[{},{},{},{},{},{}]}`), 413, "more than 5")
	for _, path := range []string{"/v1/models/..%2f..%2fx", "/v1/models/%2e%2e/rules", "/../etc/passwd", "/v1/models/%00", "/v1/models/weather@0", "/v1/models/weather@9", "/page.js/../../x"} {
		if r := s.do("GET", path, nil); r.status != 404 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	readOnly := newTrial(t, func(o *Options) { o.ReadOnly = true }).learn("weather", "bayes")
	readOnly.problem(readOnly.do("DELETE", "/v1/models/weather", nil), 403, "read-only")
	readOnly.want(readOnly.do("GET", "/v1/models/weather", nil), 200)
}

// What another process saves is answered from soon after.
func TestOthersMayWrite(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	s.want(s.do("GET", "/v1/models/weather", nil), 200)
	s.learn("weather", "bayes")
	for range 100 {
		if s.do("GET", "/v1/models/weather", nil).json["version"] == 2.0 {
			s.want(s.do("DELETE", "/v1/models/weather", nil), 204)
			s.problem404(s.do("GET", "/v1/models/weather", nil))
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the second version was not seen")
}

func (s *trial) problem404(r reply) {
	s.t.Helper()
	if r.status != 404 {
		s.t.Errorf("status %d: %s", r.status, r.body)
	}
}

func TestServeEndsGently(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	in, out := io.Pipe()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://"+l.Addr().String()+"/v1/models/weather/predict", in)
	r.Header.Set("Content-Type", "text/csv")
	go func() {
		io.WriteString(out, "outlook\nsunny\n")
		for s.busy.enter(t.Context(), s.owner, 1, 0) { // until the request is there
			s.busy.leave(s.owner)
			time.Sleep(time.Millisecond)
		}
		cancel()
		for !s.draining.Load() {
			time.Sleep(time.Millisecond)
		}
		io.WriteString(out, "rain\n")
		out.Close()
	}()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || bytes.Count(text, []byte("\n")) != 3 {
		t.Errorf("%v: %s", err, text)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestPipe(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	var out bytes.Buffer
	in := `{"id":1,"method":"GET","path":"/v1/models"}
{"id":"a","method":"POST","path":"/v1/models/weather/predict","body":{"row":{"outlook":"sunny"}}}
{"id":2,"method":"POST","path":"/v1/models/weather/predict","headers":{"Content-Type":"text/csv"},"body":"outlook\nsunny\n"}
nonsense
`
	if err := s.Pipe(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"id":1,"status":200,"body":{"models":`, `{"id":"a","status":200,"body":{"prediction":`, `{"id":2,"status":200,"body":"prediction,probability\n`, `{"id":null,"status":400,"body":{"type":`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
}

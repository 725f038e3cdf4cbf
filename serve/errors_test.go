package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
)

// old has a problem provoked for an old version.
const old = "Of: weather@1"

// wrong is a request that makes a route answer with a problem.
type wrong struct {
	path    string // of the route, after its method
	status  int
	query   string
	body    any
	headers []string
}

// wrongs are problems of certain routes; those that many have in common are
// provoked for all of them (provoke).
var wrongs = []wrong{
	{"GET /v1/models/{m}/rules", 422, "?without=nobody", nil, nil},
	{"GET /v1/models/{m}/log", 422, "?on=nothing", nil, nil},
	{"GET /v1/models/{m}/draw", 422, "?regions=a", nil, nil},
	{"GET /v1/models/{m}/report", 422, "?on=nothing", nil, nil},
	{"GET /v1/models/{m}/growth", 422, "", nil, nil},
	{"POST /v1/models/{m}/query", 422, "", `{"data":"nothing"}`, nil},
	{"POST /v1/models/{m}/predict", 422, "", `{"row":{"nothing":1}}`, nil},
	{"POST /v1/models/{m}/draft", 422, "", `{"row":{"outlook":"sunny"},"should":"never","because":["outlook"]}`, nil},
	{"POST /v1/models/{m}/explain", 422, "", `{"row":{"nothing":1}}`, nil},
	{"POST /v1/models/{m}/ask", 422, "", `{"question":"nothing=?"}`, nil},
	{"POST /v1/models/{m}/say", 422, "", `{"rules":"IF nothing = 1 THEN play = yes"}`, nil},
	{"POST /v1/models/{m}/play", 422, "", `{}`, nil},
	{"POST /v1/models/{m}/rows", 412, "", `{"row":{"outlook":"sunny"}}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/rows", 422, "", `{"row":{"humidity":"wet"}}`, nil},
	{"POST /v1/models/{m}/truth", 422, "", `{"id":"x","truth":[]}`, nil},
	{"POST /v1/models/{m}/tell", 412, "", `{"rules":"IF outlook = sunny THEN play = no WITH 0.9 WORTH 1"}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/tell", 422, "", `{"rules":"IF"}`, nil},
	{"POST /v1/models/{m}/forget", 412, "", `{"source":"weather"}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/forget", 422, "", `{"source":"nobody"}`, nil},
	{"POST /v1/models/{m}/restore", 412, "", `{"version":1}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/restore", 422, "", `{}`, nil},
	{"POST /v1/models/{m}/strike", 412, "", `{"rule":"RULE"}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/strike", 422, "", `{"rule":"nothing"}`, nil},
	{"POST /v1/models/{m}/cut", 412, "", `{"top":1}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/cut", 422, "", `{"top":-1}`, nil},
	{"POST /v1/models/{m}/undo", 412, "", `{}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/undo", 422, "", `{}`, nil},
	{"POST /v1/models/{m}/approve", 412, "", `{"version":1,"by":"A."}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/approve", 422, "", `{"version":1}`, nil},
	{"POST /v1/models/{m}/truth", 412, "", `{"id":"x","truth":"yes"}`, []string{"If-Match: 99"}},
	{"POST /v1/models/{m}/update", 412, "", `{"data":"weather"}`, []string{"If-Match: 99"}},
	{"POST /v1/learn", 412, "", `{"data":"weather","learner":"bayes"}`, []string{"If-Match: 99"}},
	{"DELETE /v1/models/{m}", 412, "", nil, []string{"If-Match: 99"}},
	{"PUT /v1/models/{m}/words", 412, "", `{"row":"day"}`, []string{"If-Match: 99"}},
	{"PUT /v1/models/{m}/words", 422, "", `{"columns":{"nothing":{"label":"x"}}}`, nil},
	{"GET /v1/models/{m}/live", 422, "", nil, []string{old}},
	{"GET /v1/models/{m}/words", 422, "", nil, []string{old}},
	{"GET /v1/models/{m}/graph", 422, "", nil, []string{"Of: near"}},
	{"GET /v1/models/{m}/budget", 422, "", nil, []string{"Of: near"}},
	{"GET /v2/models/{m}", 422, "", nil, []string{"Of: density"}},
	{"POST /v1/models/{m}/verify", 422, "", nil, []string{"Of: gone"}},
	{"POST /v1/models/{m}/predict", 413, "", `{"rows":[{},{},{},{}]}`, nil},
	{"POST /v1/models/{m}/draft", 404, "", `{"row":{"outlook":"sunny"},"should":"yes","because":["outlook"]}`, []string{"Of: nothing"}},
	{"POST /v1/models/{m}/explain", 404, "", `{"row":{"outlook":"sunny"}}`, []string{"Of: nothing"}},
	{"GET /v1/data/{d}", 422, "?target=nothing", nil, nil},
	{"POST /v2/models/{m}/infer", 422, "", `{"inputs":[]}`, nil},
	{"POST /v2/models/{m}/versions/{v}/infer", 422, "", `{"inputs":[]}`, nil},
	{"GET /v2/models/{m}/versions/{v}", 422, "", nil, []string{"Of: density"}},
	{"POST /v1/learn", 422, "", `{"data":"nothing"}`, nil},
	{"POST /v1/models/{m}/update", 422, "", `{"data":"nothing"}`, nil},
	{"POST /v1/evaluate", 422, "", `{"data":"nothing","learner":"bayes"}`, nil},
	{"POST /v1/evaluate", 404, "", `{"model":"nothing","on":"weather"}`, nil},
	{"POST /v1/compare", 422, "", `{"data":"nothing","learners":["bayes","prior"]}`, nil},
	{"POST /v1/merge", 422, "", `{"first":"weather","second":"weather","name":""}`, nil},
	{"POST /v1/merge", 404, "", `{"first":"nothing","second":"weather","name":"x"}`, nil},
	{"POST /v1/diff", 422, "", `{"before":"weather","after":"weather","on":"nothing"}`, nil},
	{"POST /v1/diff", 404, "", `{"before":"nothing","after":"weather"}`, nil},
	{"POST /v1/data", 409, "?name=table", strings.NewReader("a,b\n1,2\n"), []string{"Content-Type: text/csv"}},
	{"POST /v1/data", 413, "?name=large", strings.NewReader("a\n" + strings.Repeat("1\n", 40_000)), []string{"Content-Type: text/csv"}},
	{"POST /v1/data", 422, "?name=../x", strings.NewReader("a,b\n1,2\n"), []string{"Content-Type: text/csv"}},
	{"POST /v1/data", 400, "?name=y", strings.NewReader("no form"), []string{"Content-Type: multipart/form-data; boundary=x"}},
	{"PATCH /v1/data/{d}", 422, "", `{"nominal":["nothing"]}`, nil},
	{"POST /v1/data/{d}/say", 422, "", `{"rules":"IF nothing = 1 THEN b = 2"}`, nil},
	{"POST /v1/import", 413, "", strings.NewReader(strings.Repeat("x", 70_000)), []string{"Content-Type: application/octet-stream"}},
	{"POST /v1/import", 422, "", strings.NewReader("x"), []string{"Content-Type: application/octet-stream"}},
	{"POST /v1/import", 400, "?name=a&nothing=b", strings.NewReader("x"), []string{"Content-Type: application/octet-stream"}},
}

// provoke makes a route answer with a problem that many have.
func provoke(rt *route, status int) (w wrong, ok bool) {
	w = wrong{path: rt.method + " " + rt.path, status: status}
	switch status {
	case http.StatusBadRequest:
		if w.body = "{"; rt.in == nil {
			w.body = nil
		}
		if rt.in == nil {
			w.query = "?nothing=1"
		}
		return w, true
	case http.StatusUnsupportedMediaType:
		w.body, w.headers = strings.NewReader("x"), []string{"Content-Type: text/plain"}
		return w, rt.in != nil
	case http.StatusNotFound:
		if rt.in != nil {
			w.body = "{}"
		}
		return w, strings.Contains(rt.path, "{")
	}
	return w, false
}

// Every problem that the description declares is one that a route can have.
func TestEveryDeclaredProblem(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.MostBody, o.MostUpload, o.MostRows = 64<<10, 64<<10, 3 }).learn("weather", "bayes")
	s.want(s.do("POST", "/v1/data?name=table", strings.NewReader("a,b\n1,x\n2,y\n"), "Content-Type: text/csv"), 201)
	names := strings.NewReplacer("{m}", "weather", "{v}", "1", "{d}", "table", "{l}", "tree", "{id}", "x")
	nobody := strings.NewReplacer("{m}", "nothing", "{v}", "1", "{d}", "nothing", "{l}", "nothing", "{id}", "nothing")
	s.want(s.do("POST", "/v1/learn", `{"data":"weather","learner":"nearest","name":"near","folds":0}`, wait), 200)
	s.want(s.do("POST", "/v1/learn", `{"data":"iris","learner":"gaussian","name":"density","folds":0}`, wait), 200)
	s.want(s.do("POST", "/v1/data?name=gone", strings.NewReader("a,b\n1,x\n2,y\n3,x\n"), "Content-Type: text/csv"), 201)
	s.want(s.do("POST", "/v1/learn", `{"data":"gone","target":"b","learner":"mlp","name":"gone","folds":0}`, wait), 200)
	s.want(s.do("DELETE", "/v1/data/gone", nil), 204)
	try := func(w *wrong, path string) {
		method, path, _ := strings.Cut(path, " ")
		headers := append([]string{"Prefer: wait=20"}, w.headers...)
		for _, h := range headers {
			if of, ok := strings.CutPrefix(h, "Of: "); ok { // of another model
				path = strings.Replace(path, "weather", of, 1)
			}
		}
		if r := s.do(method, path+w.query, w.body, headers...); r.status != w.status {
			t.Errorf("%s%s %v: %d, expected %d: %.300s", w.path, w.query, w.body, r.status, w.status, r.body)
		} else if r.json["remedy"] == "" || r.json["detail"] == nil {
			t.Errorf("%s: %d has no remedy: %s", w.path, r.status, r.body)
		}
	}
	for i := range wrongs {
		try(&wrongs[i], names.Replace(wrongs[i].path))
	}
	for i := range routes {
		rt := &routes[i]
		for _, status := range rt.problems {
			if slices.ContainsFunc(wrongs, func(w wrong) bool { return w.path == rt.method+" "+rt.path && w.status == status }) {
				continue
			}
			w, ok := provoke(rt, status)
			switch {
			case !ok:
				if !elsewhereTried()[fmt.Sprint(rt.method, " ", rt.path, " ", status)] {
					t.Errorf("nothing provokes %d of %s %s", status, rt.method, rt.path)
				}
			case status == http.StatusNotFound:
				try(&w, nobody.Replace(w.path))
			default:
				try(&w, names.Replace(w.path))
			}
		}
	}
}

// elsewhereTried are problems that need a server of another kind (TestProblemsOfServers).
func elsewhereTried() map[string]bool {
	tried := map[string]bool{"GET /readyz 503": true, "POST /v1/login 401": true, "GET /v1/models/{m}/rules/{id}/rows 409": true, "GET /v1/models/{m}/rules/{id}/rows 422": true, "POST /v1/models/{m}/predict 409": true, "POST /v1/models/{m}/explain 409": true, "POST /v2/models/{m}/infer 409": true, "POST /v1/models/{m}/rows 409": true}
	for i := range routes {
		if routes[i].job {
			tried[routes[i].method+" "+routes[i].path+" 429"] = true
		}
	}
	return tried
}

// Problems that a server has when it is busy, ends, is one of two, or asks for
// tokens; each that every route may have is provoked for every route.
func TestProblemsOfServers(t *testing.T) {
	dir := t.TempDir()
	s := newTrial(t, func(o *Options) {
		o.MostBusy, o.MostQueue, o.MostUpload, o.MostBody = 1, time.Nanosecond, 1000, 1000
		o.Home = newHome(t, dir)
	}).learn("weather", "bayes")
	names := strings.NewReplacer("{m}", "weather", "{v}", "1", "{d}", "table", "{l}", "tree", "{id}", "x")
	each := func(status int, do func(rt *route, path string) reply) {
		for i := range routes {
			rt := &routes[i]
			if status == http.StatusRequestEntityTooLarge && (rt.method == http.MethodGet || rt.size == flowing) || status != http.StatusRequestEntityTooLarge && rt.scope == open {
				continue
			}
			if r := do(rt, names.Replace(rt.path)); r.status != status || r.json["remedy"] == "" {
				t.Errorf("%s %s: %d, expected %d: %s", rt.method, rt.path, r.status, status, r.body)
			}
		}
	}
	each(http.StatusRequestEntityTooLarge, func(rt *route, path string) reply {
		return s.do(rt.method, path, strings.NewReader(strings.Repeat(" ", 9000)), "Content-Type: application/json")
	})
	for _, kind := range []string{"", "\x00writes", "\x00streams"} {
		if !s.busy.enter(t.Context(), s.owner+kind, 1, 0) {
			t.Fatal("no place")
		}
	}
	each(http.StatusTooManyRequests, func(rt *route, path string) reply { return s.do(rt.method, path, nil) })
	for _, kind := range []string{"", "\x00writes", "\x00streams"} {
		s.busy.leave(s.owner + kind)
	}
	for i := range mostOfCaller + cores() {
		if err := s.jobs.start(t.Context(), &job{Job: Job{Job: fmt.Sprint("x", i), By: s.owner}, do: func(ctx context.Context, _ *life.Home) (any, error) { <-ctx.Done(); return nil, ctx.Err() }}); err != nil {
			break
		}
	}
	bodies := map[string]string{
		"/v1/learn": `{"data":"weather","learner":"bayes"}`, "/v1/models/{m}/update": `{"data":"weather"}`, "/v1/evaluate": `{"data":"weather","learner":"bayes"}`,
		"/v1/compare": `{"data":"weather","learners":["bayes","prior"]}`, "/v1/merge": `{"first":"weather","second":"weather","name":"x"}`, "/v1/diff": `{"before":"weather","after":"weather"}`, "/v1/models/{m}/verify": `{}`,
	}
	for path, body := range bodies {
		s.problem(s.do("POST", names.Replace(path), body), http.StatusTooManyRequests, "jobs wait")
	}
	// Two servers on one store: one learns its rows.
	s.want(s.do("POST", "/v1/models/weather/rows", `{"row":{"outlook":"sunny","play":"no"}}`), 200)
	second := again(t, dir, func(o *Options) { o.Approved = true })
	second.problem(second.do("POST", "/v1/models/weather/rows", `{"row":{"outlook":"sunny","play":"no"}}`), http.StatusConflict, "another server")
	for _, what := range []string{"predict", "explain"} {
		second.problem(second.do("POST", "/v1/models/weather/"+what, `{"row":{"outlook":"sunny"}}`), http.StatusConflict, "approve")
	}
	second.problem(second.do("POST", "/v2/models/weather/infer", `{"inputs":[{"name":"outlook","shape":[1],"datatype":"BYTES","data":["sunny"]}]}`), http.StatusConflict, "approve")
	second.drain()
	second.problem(second.do("GET", "/readyz", nil), http.StatusServiceUnavailable, "ending")
	each(http.StatusServiceUnavailable, func(rt *route, path string) reply {
		if rt.path == "/metrics" { // it is told to the end
			return reply{status: http.StatusServiceUnavailable}
		}
		return second.do(rt.method, path, nil)
	})
	locked, _ := guarded(t)
	locked.problem(locked.do("POST", "/v1/login", `{"token":"accrete_nothing"}`), http.StatusUnauthorized, "token")
	// Rows that nobody keeps any more cannot be listed, nor those of what is no rule.
	third := newTrial(t).learn("iris", "gaussian")
	units := third.want(third.do("GET", "/v1/models/iris/rules", nil), 200, "rules").json["rules"].([]any)
	third.problem(third.do("GET", "/v1/models/iris/rules/"+units[0].(map[string]any)["id"].(string)+"/rows", nil), http.StatusUnprocessableEntity, "IF rule")
	third.want(third.do("POST", "/v1/data?name=gone", strings.NewReader("a,b\nu,x\nv,y\nu,x\nv,y\n"), "Content-Type: text/csv"), 201)
	third.want(third.do("POST", "/v1/learn", `{"data":"gone","target":"b","learner":"bayes","folds":0}`, wait), 200)
	third.want(third.do("DELETE", "/v1/data/gone", nil), 204)
	rules := third.want(third.do("GET", "/v1/models/gone/rules", nil), 200, "rules").json["rules"].([]any)
	id := rules[len(rules)-1].(map[string]any)["id"].(string)
	third.problem(third.do("GET", "/v1/models/gone/rules/"+id+"/rows", nil), http.StatusConflict, "rows")
}

package serve

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Every answer of every test is held against the description: its status is
// declared, and its body is what the description says. When all tests have
// run, every operation has been answered rightly once, and with every problem
// that it is said to have (but faults, and bodies that come too slowly, which are
// tried once).

var (
	operations   = map[string]map[int]bool{}
	operationsMu sync.Mutex
	documented   = sync.OnceValue(func() map[string]any { return asJSON(openAPI("test")).(map[string]any) })
)

// asJSON is a value as JSON reads it back.
func asJSON(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		panic(err)
	}
	return back
}

func seen(operation string, status int) {
	operationsMu.Lock()
	defer operationsMu.Unlock()
	if operations[operation] == nil {
		operations[operation] = map[int]bool{}
	}
	operations[operation][status] = true
}

// covers says which operations no test has tried.
var covers = func() int {
	if f := flag.Lookup("test.run"); f != nil && f.Value.String() != "" || flag.Lookup("test.fuzz").Value.String() != "" {
		return 0
	}
	status := 0
	for i := range routes {
		rt := &routes[i]
		if good := operations[rt.method+" "+rt.path]; !good[200] && !good[201] && !good[204] {
			fmt.Printf("no test has %s %s answered\n", rt.method, rt.path)
			status = 1
		}
		for _, problem := range rt.statuses() {
			if seldom := problem == 500 || problem == 408 || problem == 413 && rt.size == flowing || rt.path == "/metrics" && problem == 503; !seldom && !operations[rt.method+" "+rt.path][problem] && rt.scope != open {
				fmt.Printf("no test has %s %s answer %d\n", rt.method, rt.path, problem)
				status = 1
			}
		}
	}
	return status
}

// conform holds an answer against the description.
func (s *trial) conform(method, path string, r reply) {
	s.t.Helper()
	probe, err := http.NewRequest(method, path, nil)
	if err != nil {
		return
	}
	_, pattern := s.mux.Handler(probe)
	_, route, ok := strings.Cut(pattern, " ")
	if !ok {
		return // no route
	}
	seen(pattern, r.status)
	operation := documented()["paths"].(map[string]any)[route].(map[string]any)[strings.ToLower(method)].(map[string]any)
	said, ok := operation["responses"].(map[string]any)[fmt.Sprint(r.status)].(map[string]any)
	if !ok {
		s.t.Errorf("%s answers %d, which is not declared: %s", pattern, r.status, r.body)
		return
	}
	content, _ := said["content"].(map[string]any)
	kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	if len(r.body) == 0 && content == nil {
		return
	}
	form, ok := content[kind].(map[string]any)
	if !ok {
		s.t.Errorf("%s answers %d with %q, which is not declared", pattern, r.status, kind)
		return
	}
	if r.json != nil {
		if err := fits(r.json, form["schema"].(map[string]any), "$"); err != nil {
			s.t.Errorf("%s answers %d with what is not declared: %v in %.500s", pattern, r.status, err, r.body)
		}
	}
}

// fits holds a value against a schema.
func fits(v any, schema map[string]any, at string) error {
	if ref, ok := schema["$ref"].(string); ok {
		return fits(v, documented()["components"].(map[string]any)["schemas"].(map[string]any)[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any), at)
	}
	for _, key := range []string{"anyOf", "allOf"} {
		list, ok := schema[key].([]any)
		if !ok {
			continue
		}
		var failed error
		good := 0
		for _, one := range list {
			if err := fits(v, one.(map[string]any), at); err != nil {
				failed = err
			} else {
				good++
			}
		}
		if good == 0 || key == "allOf" && good < len(list) {
			return failed
		}
	}
	if err := ofKind(v, schema["type"], at); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		return fitsObject(v, schema, at)
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, x := range v {
			if err := fits(x, items, fmt.Sprintf("%s[%d]", at, i)); items != nil && err != nil {
				return err
			}
		}
	}
	return nil
}

func fitsObject(v, schema map[string]any, at string) error {
	properties, _ := schema["properties"].(map[string]any)
	rest, _ := schema["additionalProperties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, key := range required {
		if _, ok := v[key.(string)]; !ok {
			return fmt.Errorf("%s has no %v", at, key)
		}
	}
	for key, x := range v {
		of, ok := properties[key].(map[string]any)
		if !ok {
			of = rest
		}
		if of == nil && properties != nil && key != "notes" { // which any result may have
			return fmt.Errorf("%s has %q, which is not declared", at, key)
		}
		if of != nil {
			if err := fits(x, of, at+"."+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofKind holds the kind of a value against those that a schema names.
func ofKind(v, kinds any, at string) error {
	if kinds == nil {
		return nil
	}
	list, ok := kinds.([]any)
	if !ok {
		list = []any{kinds}
	}
	is := "null"
	switch x := v.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case float64:
		is = "number"
		if x == float64(int64(x)) && slices.Contains(list, any("integer")) {
			is = "integer"
		}
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	if !slices.Contains(list, any(is)) {
		return fmt.Errorf("%s is a %s, expected %v", at, is, kinds)
	}
	return nil
}

func TestDescription(t *testing.T) {
	s := newTrial(t)
	d := s.want(s.do("GET", "/openapi.json", nil), 200, "openapi", "paths", "components")
	ids := map[string]bool{}
	for path, at := range d.json["paths"].(map[string]any) {
		for method, op := range at.(map[string]any) {
			id := op.(map[string]any)["operationId"].(string)
			if ids[id] {
				t.Errorf("%s %s: the operation %s is there twice", method, path, id)
			}
			ids[id] = true
		}
	}
	page := s.want(s.do("GET", "/docs", nil), 200)
	for _, foreign := range []string{"http://cdn", "https://", "<script", "style=", "onclick"} {
		if strings.Contains(string(page.body), foreign) {
			t.Errorf("the page of docs has %s", foreign)
		}
	}
	for _, want := range []string{"/v1/models/{m}/predict", `href="/docs.css"`, `id="problem-422"`} {
		if !strings.Contains(string(page.body), want) {
			t.Errorf("the page of docs has no %s", want)
		}
	}
	s.want(s.do("GET", "/docs.css", nil), 200)
	s.want(s.do("GET", "/page.js", nil), 200)
	if os.Getenv("ACCRETE_PRINT") != "" {
		os.WriteFile(os.Getenv("ACCRETE_PRINT"), page.body, 0o600)
	}
}

// The routes are those of other clients: the Open Inference Protocol, as its
// specification has the request.
func TestInference(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	s.want(s.do("GET", "/v2", nil), 200, "name", "version", "extensions")
	s.want(s.do("GET", "/v2/health/live", nil), 200, "live")
	s.want(s.do("GET", "/v2/health/ready", nil), 200, "ready")
	s.want(s.do("GET", "/v2/models/weather/ready", nil), 200, "ready")
	m := s.want(s.do("GET", "/v2/models/weather", nil), 200, "name", "versions", "platform", "inputs", "outputs")
	if !strings.Contains(string(m.body), `{"name":"humidity","datatype":"FP64","shape":[-1]}`) {
		t.Errorf("%s", m.body)
	}
	r := s.want(s.do("POST", "/v2/models/weather/infer", `{"id":"42","inputs":[
		{"name":"outlook","shape":[2,1],"datatype":"BYTES","data":[["sunny"],["rain"]]},
		{"name":"humidity","shape":[2],"datatype":"FP64","data":[90,null]}],"outputs":[{"name":"prediction"}]}`), 200, "model_name", "model_version", "outputs", "id")
	if !strings.Contains(string(r.body), `"outputs":[{"name":"prediction","shape":[2],"datatype":"BYTES","data":["`) {
		t.Errorf("%s", r.body)
	}
	s.problem(s.do("POST", "/v2/models/weather/infer", `{"inputs":[{"name":"outlook","shape":[1],"datatype":"BYTES","data":["a"]},{"name":"windy","shape":[2],"datatype":"BYTES","data":["a","b"]}]}`), 422, "windy")
	s.problem(s.do("POST", "/v2/models/weather/infer", `{"inputs":[]}`), 422, `"error":"there are no inputs"`)
	s.want(s.do("GET", "/v2/models/weather/versions/1", nil), 200, "inputs")
	s.want(s.do("GET", "/v2/models/weather/versions/1/ready", nil), 200, "ready")
	s.want(s.do("POST", "/v2/models/weather/versions/1/infer", `{"inputs":[{"name":"outlook","shape":[1],"datatype":"BYTES","data":["sunny"]}]}`), 200, "outputs")
	s.problem(s.do("POST", "/v2/models/weather/versions/9/infer", `{"inputs":[{"name":"outlook","shape":[1],"datatype":"BYTES","data":["sunny"]}]}`), 404, "version")
}

// What rows taught is struck, cut and brought back; rows of a rule are listed.
func TestRulesAreCorrected(t *testing.T) {
	s := newTrial(t).learn("labor", "rulenet")
	rules := s.want(s.do("GET", "/v1/models/labor/rules", nil), 200, "rules")
	id := ""
	for _, r := range rules.json["rules"].([]any) {
		if r := r.(map[string]any); len(r["if"].([]any)) > 0 {
			id = r["id"].(string)
		}
	}
	rows := s.want(s.do("GET", "/v1/models/labor/rules/"+id+"/rows?limit=2", nil), 200, "rule", "rows", "covered")
	if n := len(rows.json["rows"].([]any)); n != 2 {
		t.Errorf("%s", rows.body)
	}
	s.want(s.do("GET", "/v1/models/labor/rules/"+id+"/rows?wrong=1", nil), 200)
	s.problem(s.do("GET", "/v1/models/labor/rules/nothing/rows", nil), 404, "/v1/models/labor/rules")
	s.want(s.do("POST", "/v1/models/labor/strike", map[string]any{"rule": id, "preview": true}), 200, "effect", "rule")
	s.want(s.do("POST", "/v1/models/labor/strike", map[string]any{"rule": id, "note": "not here"}, "If-Match: 1"), 200, "effect", "rule")
	s.problem(s.do("POST", "/v1/models/labor/strike", map[string]any{"rule": id}, "If-Match: 1"), 412, "version")
	s.want(s.do("POST", "/v1/models/labor/undo", `{}`), 200, "undid")
	s.want(s.do("POST", "/v1/models/labor/cut", `{"top":2}`), 200, "effect", "version")
	edits := s.want(s.do("GET", "/v1/models/labor/edits", nil), 200, "edits")
	if n := len(edits.json["edits"].([]any)); n != 3 {
		t.Errorf("%s", edits.body)
	}
	s.want(s.do("GET", "/v1/models/labor/log?on=labor", nil), 200, "versions")
	s.want(s.do("GET", "/v1/models/labor/graph", nil), 200, "nodes", "edges")
	s.want(s.do("POST", "/v1/models/labor/tell", `{"rules":"IF pension = none THEN class = good WITH 0.99 WORTH 5"}`), 200)
	conflicts := s.want(s.do("GET", "/v1/models/labor/conflicts", nil), 200, "conflicts")
	if n := len(conflicts.json["conflicts"].([]any)); n != 1 {
		t.Errorf("%s", conflicts.body)
	}
	s.want(s.do("POST", "/v1/data?name=ask", strings.NewReader("pension,duration,class\nnone,1,?\nfull,2,?\nnone,3,good\n"), "Content-Type: text/csv"), 201, "warnings")
	s.want(s.do("POST", "/v1/models/labor/query", `{"data":"ask","n":1}`), 200, "questions")
	about := s.want(s.do("GET", "/v1/data/labor?target=class", nil), 200, "columns", "classes")
	page := s.want(s.do("GET", "/v1/models/labor/report", nil), 200)
	if strings.Contains(string(page.body), "<script") || !strings.Contains(page.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v %.300s", page.header, page.body)
	}
	s.want(s.do("POST", "/v1/models/labor/approve", `{"version":1,"by":"A. Physician"}`), 200, "version", "by")
	s.problem(s.do("POST", "/v1/models/labor/approve", `{"version":1}`), 422, "who")
	s.o.Approved = true
	said := s.want(s.do("POST", "/v1/models/labor/predict", `{"row":{"pension":"none"}}`), 200, "newest")
	if said.json["version"] != 1.0 {
		t.Errorf("%s", said.body)
	}
	// Whatever answers does so from the approved version, and says what the newest would.
	for path, want := range map[string]string{"/v1/models/labor/predict": `"newest":{`, "/v1/models/labor/explain": `"newest":{`, "/v2/models/labor/infer": `"model_version":"1"`} {
		body := map[string]string{"/v1/models/labor/predict": `{"rows":[{"pension":"none"}]}`, "/v1/models/labor/explain": `{"row":{"pension":"none"}}`,
			"/v2/models/labor/infer": `{"inputs":[{"name":"pension","shape":[1],"datatype":"BYTES","data":["none"]}]}`}[path]
		if r := s.want(s.do("POST", path, body), 200); !strings.Contains(string(r.body), want) || !strings.Contains(string(r.body), `version":1,`) && !strings.Contains(string(r.body), `version":"1"`) {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	if !strings.Contains(string(about.body), `"bits":`) || !strings.Contains(string(about.body), `"histogram":{"edges":[`) {
		t.Errorf("%.600s", about.body)
	}
}

func TestCorrections(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	rule := `{"rules":"IF outlook = overcast THEN play = yes WITH 0.95 WORTH 20","note":"every year","preview":%v}`
	preview := s.want(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, true)), 200, "effect", "preview", "told")
	if preview.json["version"] != 2.0 {
		t.Errorf("%s", preview.body)
	}
	if m := s.do("GET", "/v1/models/weather", nil); m.json["version"] != 1.0 {
		t.Errorf("a preview changed the model: %s", m.body)
	}
	s.problem(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, false), "If-Match: 7"), 412, "version")
	s.want(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, false), "If-Match: 1"), 200, "effect", "told")
	s.problem(s.do("POST", "/v1/models/weather/tell", `{"rules":"IF THEN"}`), 422, "")
	s.problem(s.do("POST", "/v1/models/weather/tell", `{"rules":"IF outlook = overcast THEN play = yes WITH 0.9"}`), 422, "worth")
	s.want(s.do("POST", "/v1/models/weather/restore", `{"version":1,"on":["weather"]}`), 200, "effect")
	s.problem(s.do("POST", "/v1/models/weather/restore", `{"version":9}`), 404, "")
	log := s.want(s.do("GET", "/v1/models/weather/log", nil), 200)
	if !strings.Contains(string(log.body), `"by":"`+s.owner+`"`) || !strings.Contains(string(log.body), `"note":"every year"`) {
		t.Errorf("%s", log.body)
	}
	audit := s.want(s.do("GET", "/v1/audit", nil), 200, "audit")
	if n := len(audit.json["audit"].([]any)); n != 2 {
		t.Errorf("%s", audit.body)
	}
	s.want(s.do("POST", "/v1/learn", `{"data":"iris","learner":"bayes","folds":0}`, wait), 200)
	for kind, body := range map[string]string{"text/csv": "petal length (cm),petal width (cm)\n1,2\n3,4\n5,wide\n", "application/x-ndjson": "{\"petal width (cm)\":1}\n\n{\"petal width (cm)\":2}\n{\"petal width (cm)\":\"wide\"}\n"} {
		if r := s.want(s.do("POST", "/v1/models/iris/predict", strings.NewReader(body), "Content-Type: "+kind), 422); r.json["row"] != 3.0 || r.json["column"] != "petal width (cm)" {
			t.Errorf("%s: where it is wrong is not said: %s", kind, r.body)
		}
	}
	for range 3 { // rows come too fast for a line each: who sends some is written down once a version
		s.want(s.do("POST", "/v1/models/weather/rows", `{"row":{"outlook":"sunny","play":"no"},"source":"station"}`), 200)
	}
	if last := s.want(s.do("GET", "/v1/audit", nil), 200).json["audit"].([]any); len(last) != 4 || !strings.Contains(fmt.Sprint(last[0]), "learn rows") || !strings.Contains(fmt.Sprint(last[0]), "station") {
		t.Errorf("rows in the audit log: %v", last)
	}
	words := `{"row":"day","columns":{"outlook":{"label":"the sky"}}}`
	s.want(s.do("PUT", "/v1/models/weather/words", words), 200, "row")
	s.want(s.do("GET", "/v1/models/weather/words", nil), 200, "row", "columns")
	if r := s.want(s.do("GET", "/v1/models/weather/rules", nil), 200); !strings.Contains(string(r.body), "the sky") {
		t.Errorf("the rules do not use the words: %.800s", r.body)
	}
	s.problem(s.do("PUT", "/v1/models/weather/words", `{"columns":{"outlok":{"label":"x"}}}`), 422, "outlook")
	s.want(s.do("POST", "/v1/data?name=june", strings.NewReader("a,y\n1,x\n2,z\n3,x\n"), "Content-Type: text/csv"), 201)
	s.want(s.do("PUT", "/v1/data/june/words", `{"row":"case"}`), 200)
	s.want(s.do("GET", "/v1/data/june/words", nil), 200, "row")
	s.want(s.do("POST", "/v1/learn", `{"data":"june","target":"y","learner":"bayes","folds":0}`, wait), 200)
	s.want(s.do("GET", "/v1/models/june/words", nil), 200, "row")
	metrics := s.want(s.do("GET", "/metrics", nil), 200)
	for _, want := range []string{"accrete_requests_total{", `accrete_request_seconds_bucket{method="GET"`, "accrete_store_bytes ", `accrete_model_version{model="weather"} 3`} {
		if !strings.Contains(string(metrics.body), want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	readOnly := newTrial(t, func(o *Options) { o.Home, o.ReadOnly = s.o.Home, true })
	readOnly.want(readOnly.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, true)), 200, "effect")
	readOnly.problem(readOnly.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, false)), 403, "read-only")
}

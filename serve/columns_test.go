package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// floatsOf reads a column of an answer.
func floatsOf(t *testing.T, r reply, key string) []float64 {
	t.Helper()
	text, _ := r.json[key].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%8 != 0 {
		t.Fatalf("%s is no column: %v in %s", key, err, r.body)
	}
	numbers := make([]float64, len(raw)/8)
	for i := range numbers {
		numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return numbers
}

// A table is answered in columns as its rows are one by one.
func TestAnswerColumns(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	columns := s.want(s.do("POST", "/v1/models/weather/predict", `{"data":"weather"}`), 200, "rows", "classes", "codes", "probabilities", "model", "version")
	p := floatsOf(t, columns, "probabilities")
	row := s.do("GET", "/v1/data/weather/rows?limit=1", nil).json["rows"].([]any)[0].(map[string]any)
	delete(row, "row")
	one := s.do("POST", "/v1/models/weather/predict", map[string]any{"row": row})
	for i, class := range columns.json["classes"].([]any) {
		if want := one.json["probabilities"].(map[string]any)[class.(string)]; want != p[i] {
			t.Errorf("%v: %v in columns, %v alone", class, p[i], want)
		}
	}
	s.problem(s.do("POST", "/v1/models/weather/predict", `{"data":"weather","row":{}}`), 422, "expected a row")
	s.problem(s.do("POST", "/v1/models/weather/predict", `{"data":"no-such"}`), 422, "no-such")
	s.problem(s.do("POST", "/v1/models/weather/predict", `{"data":"weather","density":true}`), 422, "gaussian")

	s.want(s.do("POST", "/v1/learn", `{"data":"iris","learner":"gaussian","name":"spread","folds":0}`, "Prefer: wait=20"), 200, "model")
	if logs := floatsOf(t, s.do("POST", "/v1/models/spread/predict", `{"data":"iris","density":true}`), "log_density"); len(logs) != 150 || math.IsNaN(logs[0]) {
		t.Errorf("%d densities: %v…", len(logs), logs[0])
	}
	s.want(s.do("POST", "/v1/learn", `{"data":"iris","target":"sepal length (cm)","numeric":["sepal length (cm)"],"learner":"linear","name":"number","folds":0}`, "Prefer: wait=20"), 200, "model")
	numbers := s.want(s.do("POST", "/v1/models/number/predict", `{"data":"iris"}`), 200, "mean", "low", "high")
	if low, mean := floatsOf(t, numbers, "low"), floatsOf(t, numbers, "mean"); len(mean) != 150 || low[7] > mean[7] {
		t.Errorf("%d numbers: %v > %v?", len(mean), low[7], mean[7])
	}
}

// Bytes that are no text go through a pipe both ways.
func TestPipeOfBytes(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	ask := func(line string) Reply {
		var out bytes.Buffer
		if err := s.Pipe(t.Context(), strings.NewReader(line+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		var r Reply
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	exported := ask(`{"id":1,"method":"GET","path":"/v1/models/weather/export"}`)
	if exported.Status != 200 || exported.Encoding != "base64" {
		t.Fatalf("%d, encoding %q", exported.Status, exported.Encoding)
	}
	head := `{"id":2,"method":"POST","path":"/v1/import?name=again","headers":{"Content-Type":"application/octet-stream"},"encoding":`
	if r := ask(head + `"base64","body":` + string(exported.Body) + `}`); r.Status != 200 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	for _, bad := range []string{`"base64","body":"?"}`, `"rot13","body":"YQ=="}`} {
		if r := ask(head + bad); r.Status != 400 {
			t.Errorf("%s: %d %s", bad, r.Status, r.Body)
		}
	}
}

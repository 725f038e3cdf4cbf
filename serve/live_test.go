package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
)

const sunny = `{"row":{"outlook":"sunny","temperature":70,"humidity":80,"windy":"FALSE","play":"yes"}}`

// rowsOf waits until a model has so many rows.
func (s *trial) rowsOf(name string, want float64) reply {
	s.t.Helper()
	return s.comesTo(name, "rows", want)
}

// versionOf waits until a model is at a version.
func (s *trial) versionOf(name string, want float64) {
	s.t.Helper()
	s.comesTo(name, "version", want)
}

// comesTo waits until what is said of a model is a number.
func (s *trial) comesTo(name, key string, want float64) reply {
	s.t.Helper()
	var r reply
	for range 500 {
		if r = s.want(s.do("GET", "/v1/models/"+name, nil), 200); r.json[key] == want {
			return r
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Fatalf("%s %v, expected %v", key, r.json[key], want)
	return r
}

func TestRows(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.Freeze = life.Freezing{Rows: 5} }).learn("weather", "bayes")
	got := s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200, "acknowledged", "model", "version", "since")
	if got.json["acknowledged"] != 1.0 || got.json["version"] != 1.0 || got.json["since"] != 1.0 {
		t.Errorf("%s", got.body)
	}
	s.rowsOf("weather", 15)
	one := s.want(s.do("POST", "/v1/models/weather/predict", `{"row":{"outlook":"sunny"}}`), 200)
	if one.json["since"] != 1.0 {
		t.Errorf("%s", one.body)
	}
	s.want(s.do("POST", "/v1/models/weather/rows", `{"rows":[{"outlook":"foggy","play":"maybe"},{"outlook":"sunny","play":"yes","extra":1}],"source":"clinic"}`), 200)
	s.rowsOf("weather", 17)
	for range 3 { // once
		s.want(s.do("POST", "/v1/models/weather/rows", sunny, "Idempotency-Key: k1"), 200)
	}
	s.rowsOf("weather", 18)
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	for range 200 { // the fifth row makes versions, one for each source
		if r := s.do("GET", "/v1/models/weather", nil); r.json["version"] == 3.0 && r.json["since"] == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	log := s.want(s.do("GET", "/v1/models/weather/log", nil), 200)
	if n := strings.Count(string(log.body), `"kind":"update"`); n != 2 || !strings.Contains(string(log.body), `"source":"clinic"`) {
		t.Errorf("%s", log.body)
	}
	if p := s.want(s.do("POST", "/v1/models/weather/predict", `{"row":{"outlook":"foggy"}}`), 200); !strings.Contains(string(p.body), "maybe") {
		t.Errorf("%s", p.body)
	}
	s.want(s.do("POST", "/v1/models/weather/verify", nil, wait), 200, "holds")
	s.want(s.do("POST", "/v1/models/weather/rows", sunny, "Idempotency-Key: k1"), 200)
	s.rowsOf("weather", 19)
	s.problem(s.do("POST", "/v1/models/weather/rows", sunny, "If-Match: 1"), 412, "newest version")
	s.problem(s.do("POST", "/v1/models/weather/rows", `{"rows":[{"outlook":"sunny"},{"humidity":"wet"}]}`), 422, `"row":2,"column":"humidity"`)
	s.problem(s.do("POST", "/v1/models/weather/rows", `{"row":{"x":1}}`), 422, "no cell")
	s.problem(s.do("POST", "/v1/models/weather/rows", `{"row":{"outlook":"sunny"},"source":"../x"}`), 422, "source")
	// A write is about all rows that came: they become a version first.
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	told := s.want(s.do("POST", "/v1/models/weather/forget", `{"source":"clinic","note":"a mistake"}`), 200, "version", "effect")
	if told.json["version"] != 5.0 || told.json["rows"] != 18.0 {
		t.Errorf("%s", told.body)
	}
	s.rowsOf("weather", 18)
}

// Who corrects a model that learns all the while looks without changing anything,
// and is not told that rows came: only what somebody decided comes between.
func TestCorrectingWhileRowsCome(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.Freeze = life.Freezing{Rows: 4} }).learn("weather", "bayes")
	const rule = `{"rules":"IF outlook = sunny THEN play = no WITH 0.9 WORTH 2","preview":%t}`
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	s.rowsOf("weather", 15)
	s.want(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, true), "If-Match: 1"), 200, "effect")
	if r := s.want(s.do("GET", "/v1/models/weather", nil), 200); r.json["version"] != 1.0 || r.json["since"] != 1.0 {
		t.Errorf("who looked made a version: %s", r.body)
	}
	for range 3 {
		s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	}
	s.versionOf("weather", 2) // of four rows; one more waits
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	s.rowsOf("weather", 19)
	told := s.want(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, false), "If-Match: 1"), 200, "effect")
	if told.json["version"].(float64) < 3 {
		t.Errorf("rows were not frozen first: %s", told.body)
	}
	s.problem(s.do("POST", "/v1/models/weather/tell", fmt.Sprintf(rule, false), "If-Match: 1"), 412, "look at its effect again")
	// What is taken back is what somebody said, not the rows that came after it.
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	if undone := s.want(s.do("POST", "/v1/models/weather/undo", `{}`), 200); undone.json["rows"] != 20.0 || undone.json["undid"] != told.json["version"] {
		t.Errorf("%s", undone.body)
	}
	if rules := s.want(s.do("GET", "/v1/models/weather/rules", nil), 200); strings.Contains(string(rules.body), "WORTH") {
		t.Errorf("the rule is still there: %s", rules.body)
	}
	if r := s.want(s.do("POST", "/v1/models/weather/verify", nil, wait), 200); r.json["holds"] != true || r.json["sources"].(float64) < 4 {
		t.Errorf("%s", r.body)
	}
	s.problem(s.do("POST", "/v1/models/weather/undo", `{}`), 422, "nothing to take back")
	if left := s.want(s.do("POST", "/v1/models/weather/forget", map[string]any{"source": s.owner}), 200); left.json["rows"] != 14.0 {
		t.Errorf("%s", left.body)
	}
}

// Others may change the store while rows are learnt: nothing is lost.
func TestRowsWhileOthersWrite(t *testing.T) {
	s := newTrial(t, func(o *Options) { o.Freeze = life.Freezing{Rows: 1000} }).learn("weather", "bayes")
	s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
	h := s.o.Home
	d, _ := h.Find("weather", life.Reading{})
	if _, err := h.Update(t.Context(), "weather", d, false); err != nil {
		t.Fatal(err)
	}
	s.rowsOf("weather", 29)
	if err := s.frozen(t.Context(), "weather"); err != nil {
		t.Fatal(err)
	}
	if r := s.rowsOf("weather", 29); r.json["version"] != 3.0 {
		t.Errorf("%s", r.body)
	}
	s.want(s.do("DELETE", "/v1/models/weather", nil), 204)
	s.problem404(s.do("POST", "/v1/models/weather/rows", sunny))
	s.learn("weather", "bayes")
	for range 100 {
		if s.do("POST", "/v1/models/weather/rows", sunny).status == 200 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.rowsOf("weather", 15)
}

func TestTruth(t *testing.T) {
	s := newTrial(t).learn("weather", "bayes")
	kept := s.want(s.do("POST", "/v1/models/weather/predict?keep=1", `{"row":{"outlook":"overcast"}}`), 200, "id")
	id := kept.json["id"]
	s.problem(s.do("POST", "/v1/models/weather/truth", `{"id":"no","truth":"yes"}`), 404, "keep")
	said := s.want(s.do("POST", "/v1/models/weather/truth", map[string]any{"id": id, "truth": kept.json["prediction"], "learn": true}), 200, "right", "rates", "learnt")
	if said.json["right"] != true {
		t.Errorf("%s", said.body)
	}
	s.problem(s.do("POST", "/v1/models/weather/truth", map[string]any{"id": id, "truth": "yes"}), 404, "once")
	s.rowsOf("weather", 15)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", s.url+"/v1/models/weather/live", nil)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Scan()
	event := lines.Text()
	lines.Scan()
	again := s.want(s.do("POST", "/v1/models/weather/predict?keep=1", `{"row":{"outlook":"sunny"}}`), 200, "id")
	s.want(s.do("DELETE", "/v1/models/weather", nil), 204) // with the rows that were kept
	s.learn("weather", "bayes")
	s.problem(s.do("POST", "/v1/models/weather/truth", map[string]any{"id": again.json["id"], "truth": "yes"}), 404, "keep")
	if event != "event: live" || !strings.Contains(lines.Text(), `"truth":{"rows":1,"accuracy":1,`) {
		t.Errorf("%s %s", event, lines.Text())
	}
	seen("GET /v1/models/{m}/live", 200)
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("ACCRETE_TEST_SERVE"); dir != "" {
		serveUntilKilled(dir)
	}
	status := m.Run()
	if status == 0 && covers != nil {
		status = covers()
	}
	os.Exit(status)
}

// serveUntilKilled is the process that is killed.
func serveUntilKilled(dir string) {
	var t testing.T
	s, err := New(Options{Home: newHome(&t, dir), Freeze: life.Freezing{Rows: 40, Age: 50 * time.Millisecond}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(s.Address(l))
	s.Serve(context.Background(), l)
	os.Exit(1)
}

// killable starts a server as a process of its own.
func killable(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), "ACCRETE_TEST_SERVE="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http") {
		t.Fatalf("%v: %s", err, line)
	}
	return c, strings.TrimSpace(line)
}

// A server that is killed under load has every row that it acknowledged, once,
// when it is there again; rows whose answer was lost are sent again, with their
// key, and are learnt once.
func TestKilledUnderLoad(t *testing.T) {
	times := 5
	if os.Getenv("ACCRETE_LONG") != "" {
		times = 200
	}
	dir := t.TempDir()
	s := newTrial(t, func(o *Options) { o.Home = newHome(t, dir); o.ReadOnly = true }).learn("weather", "bayes")
	sent := 0
	for k := range times {
		c, url := killable(t, dir)
		var mu sync.Mutex
		var lost []string
		var group sync.WaitGroup
		for w := range 4 {
			group.Go(func() {
				for i := 0; ; i++ {
					key := fmt.Sprintf("%d-%d-%d", k, w, i)
					err := post(url, key)
					mu.Lock()
					sent++
					if err != nil {
						lost = append(lost, key)
						mu.Unlock()
						return
					}
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(60+37*k%120) * time.Millisecond)
		c.Process.Kill()
		group.Wait()
		c.Wait()
		c, url = killable(t, dir)
		for _, key := range lost {
			if err := post(url, key); err != nil {
				t.Fatal(err)
			}
		}
		var rows float64
		for range 400 {
			if rows = rowsAt(t, url); rows == float64(14+sent) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		c.Process.Kill()
		c.Wait()
		if rows != float64(14+sent) {
			t.Fatalf("killed %d times: %v rows, expected %d", k+1, rows, 14+sent)
		}
	}
	if sent < 10*times {
		t.Errorf("only %d rows were sent", sent)
	}
	t.Logf("%d rows sent, %d kills", sent, times)
	_ = s
}

func post(url, key string) error {
	r, err := http.NewRequest("POST", url+"/v1/models/weather/rows", strings.NewReader(sunny))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != 200 || !bytes.Contains(text, []byte(`"acknowledged":1`))) {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return err
}

func rowsAt(t *testing.T, url string) float64 {
	answer, err := http.Get(url + "/v1/models/weather")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var m Model
	if err := json.NewDecoder(answer.Body).Decode(&struct {
		Rows *float64 `json:"rows"`
	}{&m.Rows}); err != nil {
		t.Fatal(err)
	}
	return m.Rows
}

// How a model did is known to a server that begins again, and nothing is judged
// twice.
func TestLiveRecordSurvivesARestart(t *testing.T) {
	home := newHome(t, t.TempDir())
	serve := func() (*Server, *trial) {
		server, err := New(Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(server)
		t.Cleanup(web.Close)
		return server, &trial{server, t, web.URL}
	}
	server, s := serve()
	s.learn("weather", "bayes")
	send := func(n int, want float64) *LiveRecord {
		t.Helper()
		for range n {
			s.want(s.do("POST", "/v1/models/weather/rows", sunny), 200)
		}
		for range 500 {
			r, err := s.recordOf("weather")
			if err == nil && r.Learning != nil && r.Learning.Rows == want {
				return r
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("not %v rows judged", want)
		return nil
	}
	send(10, 10)
	s.want(s.do("POST", "/v1/models/weather/tell", `{"rules":"IF outlook = sunny THEN play = yes WITH 0.9 WORTH 5"}`), 200)
	before := send(10, 20)
	curve := s.curveOf("weather", before)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	server, s = serve()
	after := send(0, 20)
	if !reflect.DeepEqual(after.Learning, before.Learning) || !reflect.DeepEqual(s.curveOf("weather", after), curve) || len(curve) < 2 {
		t.Errorf("before %+v %+v\nafter %+v %+v", before.Learning, curve, after.Learning, s.curveOf("weather", after))
	}
	send(5, 25)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"github.com/accrete-ml/accrete/beam/shards"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// The test binary is accrete-beam itself where it is started as one: as a prism
// of its own, and as a worker.
func TestMain(m *testing.M) {
	if _, _, ok := isProcess(os.Args[1:]); ok || isWorker(os.Args[1:]) || os.Getenv("ACCRETE_BEAM") != "" {
		if after := os.Getenv("ACCRETE_BEAM_DIES"); after != "" {
			dying(after)
		}
		main()
		return
	}
	os.Exit(m.Run())
}

// dying has this worker end at once, without a word, when it is given its first
// shard; only the first worker that finds the file does.
func dying(file string) {
	shards.Disturb = func(shards.Shard, int, int) error {
		if os.Remove(file) == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Second)
		}
		return nil
	}
}

// server starts prism as a process of its own, and returns where it is.
func server(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "prism", "--port", fmt.Sprint(port))
	c.Env = append(os.Environ(), "ACCRETE_BEAM=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // with its workers
		_ = c.Wait()
	})
	address := fmt.Sprintf("localhost:%d", port)
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("prism does not come up")
	return ""
}

// beamed runs a command, with Beam's flags as they are at the start.
func beamed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	*runners.Runner, *jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = "", "", "", "", ""
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	if code := run(ctx, args, &out, &errs); code != 0 {
		return out.String(), fmt.Errorf("status %d: %s", code, errs.String())
	}
	return out.String() + errs.String(), nil
}

// people writes shards of generated people; which shard a row is in does not
// depend on how many there are but for its number.
func people(t *testing.T, rows, parts int, seed uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	texts := make([]strings.Builder, parts)
	for i := range texts {
		texts[i].WriteString("age,city,income,smoker,id,ill\n")
	}
	deal := rand.New(rand.NewPCG(seed, 1))
	for i := range rows {
		age, city, smoker := 20+r.IntN(60), r.IntN(120), r.IntN(2)
		income := ""
		if r.IntN(10) > 0 {
			income = fmt.Sprintf("%.2f", 1000*r.ExpFloat64())
		}
		ill := "no"
		if r.Float64() < 0.1+0.3*float64(smoker)+0.004*float64(age) {
			ill = "yes"
		}
		fmt.Fprintf(&texts[deal.IntN(parts)], "%d,c%d,%s,%s,p%d,%s\n", age, city, income, []string{"n", "y"}[smoker], i*7919%1000003, ill)
	}
	for i := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%02d.csv", i)), []byte(texts[i].String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// locally learns all files as one table, as the command line does; rule networks as
// shards learn them, which keep their rows.
func locally(t *testing.T, dir, target, learner string) learn.Model {
	t.Helper()
	h := &life.Home{Now: time.Now, Seed: 1}
	d, err := h.Find(filepath.Join(dir, "*.csv"), life.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	choice := life.Choice{Learner: learner}
	if learner == "rulenet" {
		choice.Settings = map[string]string{"update": "exact"}
	}
	p, err := h.LearnInMemory(context.Background(), life.LearnOptions{Data: d, Target: target, Choice: choice})
	if err != nil {
		t.Fatal(err)
	}
	return p.Model
}

// differ returns the largest difference of two models' answers on the rows of a folder.
func differ(t *testing.T, a, b learn.Model, dir string) float64 {
	t.Helper()
	most := 0.0
	var all [2][]float64
	for i, m := range []learn.Model{a, b} {
		rows, _, err := table.ReadFrom(context.Background(), filepath.Join(dir, "*.csv"), table.Options{Schema: m.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, rows.Rows())
		if err := m.Predict(context.Background(), rows, out); err != nil {
			t.Fatal(err)
		}
		if out.Classes > 0 {
			yes := m.Schema().Attributes[m.Target()].Code("yes")
			for r := range rows.Rows() {
				all[i] = append(all[i], out.Row(r)[yes])
			}
		} else {
			all[i] = out.Mean
		}
	}
	for r := range all[0] {
		most = max(most, math.Abs(all[0][r]-all[1][r])/max(1, math.Abs(all[0][r])))
	}
	return most
}

func loaded(t *testing.T, path string) learn.Model {
	t.Helper()
	m, _, err := store.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Models of exact learners are those of one machine, whatever the number and
// order of shards, on a prism of its own with workers in the driver.
func TestAsOnOneMachine(t *testing.T) {
	endpoint := server(t)
	for _, c := range []struct {
		learner, target string
		bound           float64 // 0 is to the bit; moments of numbers are sums of floats
	}{{"prior", "ill", 0}, {"bayes", "ill", 1e-12}, {"tree", "ill", 0}, {"rulenet", "ill", 0}, {"linear", "income", 1e-9}} {
		var first learn.Model
		for k, parts := range []int{1, 3, 8} {
			if k > 0 && (c.learner == "tree" || c.learner == "rulenet") && parts != 3 {
				continue
			}
			dir := people(t, 1500, parts, uint64(parts))
			out := filepath.Join(t.TempDir(), "m.accrete")
			said, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", c.target, "--learner", c.learner, "--out", out, "--endpoint", endpoint, "--environment_type", "LOOPBACK")
			if err != nil {
				t.Fatalf("%s, %d shards: %v", c.learner, parts, err)
			}
			if !strings.Contains(said, `column "id" is left out`) {
				t.Errorf("%s: nothing is said of the ids: %s", c.learner, said)
			}
			m := loaded(t, out)
			if first == nil {
				first = locally(t, dir, c.target, c.learner)
			}
			if d := differ(t, first, m, dir); d > c.bound {
				t.Errorf("%s, %d shards: answers differ by %g from those of one machine", c.learner, parts, d)
			}
		}
	}
}

// Workers may be processes, and one of them may be lost: the pass is submitted
// again, and nothing is counted twice. Prism fails the job, or, one time in six
// or so, waits for the lost worker until the pass has run into its deadline. That
// is short at first, and twice as long each time: on a machine with much else to
// do workers may not even have started by then.
func TestWorkersThatAreProcesses(t *testing.T) {
	dir := people(t, 1000, 5, 3)
	out := filepath.Join(t.TempDir(), "m.accrete")
	die := filepath.Join(t.TempDir(), "die")
	if err := os.WriteFile(die, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ACCRETE_BEAM_DIES", die)
	endpoint := server(t)
	said, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out, "--endpoint", endpoint, "--environment_type", "PROCESS", "--deadline", "4s", "--attempts", "6")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(die); err == nil {
		t.Error("no worker died")
	}
	if !strings.Contains(said, "tried again") {
		t.Logf("the runner itself went on: %s", said)
	}
	if d := differ(t, locally(t, dir, "ill", "bayes"), loaded(t, out), dir); d > 1e-12 {
		t.Errorf("answers differ by %g", d)
	}
}

// A shard that fails in the middle is read again from its start; what fails for
// good is told with its file, and nothing is written.
func TestShardsThatFail(t *testing.T) {
	dir := people(t, 1000, 4, 1)
	failures := 0
	shards.Disturb = func(s shards.Shard, attempt, batch int) error {
		if s.Number == 2 && attempt < 3 {
			failures++
			return shards.ErrPassing
		}
		return nil
	}
	defer func() { shards.Disturb = nil }()
	out := filepath.Join(t.TempDir(), "m.accrete")
	if _, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out); err != nil {
		t.Fatal(err)
	}
	if failures != 4 { // two in each pass
		t.Errorf("%d failures", failures)
	}
	if d := differ(t, locally(t, dir, "ill", "bayes"), loaded(t, out), dir); d > 1e-12 {
		t.Errorf("answers differ by %g", d)
	}
	shards.Disturb = func(s shards.Shard, _, _ int) error {
		if s.Number == 1 {
			panic("a worker's fault")
		}
		return nil
	}
	if _, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out+"2"); err == nil || !strings.Contains(err.Error(), "survey") || strings.Count(err.Error(), "\n") > 2 {
		t.Errorf("a pass that panics: %v", err)
	}
	if _, err := os.Stat(out + "2"); err == nil {
		t.Error("a model was written")
	}
	shards.Disturb = func(shards.Shard, int, int) error { time.Sleep(5 * time.Second); return nil }
	if _, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out+"3", "--deadline", "300ms"); err == nil || !strings.Contains(err.Error(), "not done after 600ms") {
		t.Errorf("a pass that does not end: %v", err)
	}
}

// What is wrong with data is told in a line, with the file.
func TestShardsThatDisagree(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"kinds":   {"age,city,income,smoker,id,ill\nold,c1,5,n,p1,no\n", `column "age" is numbers in`},
		"columns": {"age,town,income,smoker,id,ill\n50,c1,5,n,p1,no\n", `has no column`},
		"cells":   {"age,city,income,smoker,id,ill\n50,c1,5,n\n", "part-zz.csv"},
	} {
		dir := people(t, 200, 2, 1)
		if err := os.WriteFile(filepath.Join(dir, "part-zz.csv"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "m.accrete")
		_, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(strings.TrimSpace(err.Error()), "\n") > 0 {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a model was written", what)
		}
	}
}

// Rules of a network whose rows are too many are counted over all rows.
func TestRulesAreCountedOverAllRows(t *testing.T) {
	dir := people(t, 6000, 4, 1)
	out := filepath.Join(t.TempDir(), "m.accrete")
	said, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--out", out, "--rows", "1500", "--ignore", "city")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "of all 6000 rows") || !strings.Contains(said, "3 passes") {
		t.Error(said)
	}
	m := loaded(t, out)
	if n := m.Size().Rows; n != 6000 {
		t.Errorf("the network has %v rows", n)
	}
	var j shards.Judged
	for i, path := range []string{out, ""} {
		if path == "" { // the network of all rows on one machine
			path = filepath.Join(t.TempDir(), "whole.accrete")
			if _, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--out", path, "--ignore", "city", "--local"); err != nil {
				t.Fatal(err)
			}
		}
		said, err := beamed(t, "evaluate", path, filepath.Join(dir, "*.csv"), "--json")
		if err != nil {
			t.Fatal(err)
		}
		var k shards.Judged
		if err := json.Unmarshal([]byte(said), &k); err != nil {
			t.Fatal(err)
		}
		// The rules of a quarter of the rows, weighed by all, lose little: 0.02 nats.
		if i == 1 && *j.LogLoss > *k.LogLoss+0.02 {
			t.Errorf("log loss %v from a sample, %v from all", *j.LogLoss, *k.LogLoss)
		}
		j = k
	}
}

// Units that are found in a sample are moved by all rows, however these are spread,
// and what the sample itself brought counts no second time.
func TestUnitsAreMovedByAllRows(t *testing.T) {
	var loss []float64
	for _, c := range []struct {
		parts int
		rows  string
	}{{3, "800"}, {7, "800"}, {1, "100000"}} {
		dir := people(t, 6000, c.parts, 1)
		out := filepath.Join(t.TempDir(), "m.accrete")
		said, err := beamed(t, "learn", filepath.Join(dir, "*.csv"), "--target", "ill", "--learner", "gaussian", "--out", out, "--rows", c.rows, "--ignore", "city,id")
		if err != nil {
			t.Fatal(err)
		}
		m := loaded(t, out)
		if n := m.Size().Rows; math.Abs(n-6000) > 1e-6 || strings.Contains(said, "of all 6000 rows") != (c.rows == "800") {
			t.Errorf("%d shards: %v rows; %s", c.parts, n, said)
		}
		if sources, _ := learn.Ability[learn.Forgetter](m); sources == nil || len(sources.Sources()) != 1 {
			t.Errorf("%d shards: the model is of other sources than the rows", c.parts)
		}
		if said, err = beamed(t, "evaluate", out, filepath.Join(dir, "*.csv"), "--json"); err != nil {
			t.Fatal(err)
		}
		var j shards.Judged
		if err := json.Unmarshal([]byte(said), &j); err != nil {
			t.Fatal(err)
		}
		loss = append(loss, *j.LogLoss)
	}
	// The contract of updates bounds what is lost by 0.3 nats; measured was far less.
	if max(loss[0], loss[1]) > loss[2]+0.05 {
		t.Errorf("log loss %v and %v from a sample and all rows, %v from all rows at once", loss[0], loss[1], loss[2])
	}
}

// Answers are those of one machine, file by file, and a judgement does not depend
// on how rows are spread.
func TestAnswersAndJudgement(t *testing.T) {
	one, many := people(t, 1200, 1, 1), people(t, 1200, 6, 2)
	// A shard without rows is no fault: those who write shards leave such.
	if err := os.WriteFile(filepath.Join(many, "part-99.csv"), []byte("age,city,income,smoker,id,ill\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := beamed(t, "learn", filepath.Join(many, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", filepath.Join(t.TempDir(), "m.accrete")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "m.accrete")
	if _, err := beamed(t, "learn", filepath.Join(one, "*.csv"), "--target", "ill", "--learner", "bayes", "--out", out); err != nil {
		t.Fatal(err)
	}
	answers := filepath.Join(t.TempDir(), "answers")
	said, err := beamed(t, "predict", out, filepath.Join(many, "*.csv"), "--out", answers, "--id", "id")
	if err != nil || !strings.Contains(said, "1200 answers in 7 files") {
		t.Fatal(said, err)
	}
	files, _ := filepath.Glob(filepath.Join(answers, "part-0000*-of-00007.csv"))
	first, err := os.ReadFile(files[0])
	if err != nil || len(files) != 7 || !strings.HasPrefix(string(first), "id,prediction,probability\n") {
		t.Errorf("%d files, %.60s, %v", len(files), first, err)
	}
	if rest, _ := filepath.Glob(filepath.Join(answers, "*.partial")); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	var judged [2]string
	for i, dir := range []string{one, many} {
		if judged[i], err = beamed(t, "evaluate", out, filepath.Join(dir, "*.csv"), "--json"); err != nil {
			t.Fatal(err)
		}
	}
	if judged[0] != judged[1] || !strings.Contains(judged[0], `"accuracy_low"`) {
		t.Errorf("judged %s as one file, %s as six", judged[0], judged[1])
	}
}

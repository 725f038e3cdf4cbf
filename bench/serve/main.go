// Command serve measures what answering over HTTP costs: accrete serve beside a
// bare handler that decodes and encodes the same JSON, in turns, with the load
// generator on the same machine; single rows while others are learnt, and
// tables beside accrete predict. Ratios of one run count, not seconds.
//
//	go build -o /tmp/accrete ./cmd/accrete && go run ./bench/serve -accrete /tmp/accrete
//
// It is a program of bench, and calls the command line as people do.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is what was asked for.
type load struct {
	accrete  string
	data     string
	learner  string
	turns    int
	turn     time.Duration
	callers  int
	learning int
	csvRows  int
	soak     time.Duration
	pace     int
}

func main() {
	var l load
	bare := flag.Bool("bare", false, "be the bare handler")
	flag.StringVar(&l.accrete, "accrete", "", "the program to measure")
	flag.StringVar(&l.data, "data", "votes", "a built-in set")
	flag.StringVar(&l.learner, "learner", "rulenet", "what learns it")
	flag.IntVar(&l.turns, "turns", 3, "turns of each")
	flag.DurationVar(&l.turn, "turn", 4*time.Second, "how long a turn lasts")
	flag.IntVar(&l.callers, "callers", 8, "callers at once")
	flag.IntVar(&l.learning, "learning", 200, "rows learnt a second meanwhile")
	flag.IntVar(&l.csvRows, "rows", 200_000, "rows of the table")
	flag.DurationVar(&l.soak, "soak", 0, "instead, keep up the load for so long, and look at memory and at what was learnt")
	flag.IntVar(&l.pace, "pace", 0, "predictions a second of a soak; 0 is as many as there can be")
	flag.Parse()
	err := errors.New("name the program with -accrete")
	switch {
	case *bare:
		err = serveBare()
	case l.accrete != "":
		err = l.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/serve:", err)
		os.Exit(1)
	}
}

// serveBare answers every row with the same answer, as JSON.
func serveBare() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening on http://"+listener.Addr().String())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Row map[string]any `json:"row"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(struct {
			Prediction    string             `json:"prediction"`
			Probabilities map[string]float64 `json:"probabilities"`
			Model         string             `json:"model"`
			Version       int                `json:"version"`
		}{"democrat", map[string]float64{"democrat": 0.9256295972867202, "republican": 0.07437040271327974}, "votes", 1})
	}))
}

// server is a process that listens.
type server struct {
	cmd *exec.Cmd
	url string
}

func start(name string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(name, args...)}
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			s.url = url
			go func() { _, _ = io.Copy(io.Discard, errs) }()
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s does not listen", name)
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// resident is how much memory a process holds, in MB.
func (s *server) resident() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kb float64
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1024
}

// busy is how many seconds of the processors a process has taken: on a machine that
// others use, too, what an answer costs is told by it alone.
func (s *server) busy() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before may be anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var user, system float64
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	return (user + system) / ticks
}

// ticks are those of a second, as Linux counts them for everybody (USER_HZ).
const ticks = 100

func (l *load) run() error {
	dir, err := os.MkdirTemp("", "accrete-load-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store := filepath.Join(dir, "store")
	if out, err := exec.Command(l.accrete, "learn", l.data, "--learner", l.learner, "--name", "m", "--folds", "0", "--store", store).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	ours, err := start(l.accrete, "serve", "--listen", "127.0.0.1:0", "--store", store)
	if err != nil {
		return err
	}
	defer ours.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare, err := start(self, "-bare")
	if err != nil {
		return err
	}
	defer func() { _ = bare.cmd.Process.Kill(); _ = bare.cmd.Wait() }()
	rows, err := sampleRows(ours.url, l.data)
	if err != nil {
		return err
	}
	if l.soak > 0 {
		return l.keepUp(ours, store, rows)
	}
	var a, b []turn
	before := ours.resident()
	for range l.turns {
		taken := bare.busy()
		b = append(b, measure(bare.url+"/", rows, l.callers, l.turn))
		b[len(b)-1].busy = bare.busy() - taken
		ctx, cancel := context.WithCancel(context.Background())
		learnt := l.learn(ctx, ours.url, rows)
		taken = ours.busy()
		a = append(a, measure(ours.url+"/v1/models/m/predict", rows, l.callers, l.turn))
		a[len(a)-1].busy = ours.busy() - taken
		cancel()
		<-learnt.done
		a[len(a)-1].learnt, a[len(a)-1].refused = learnt.rows.Load(), learnt.refused.Load()
	}
	report(l, a, b)
	fmt.Printf("memory of the server: %.0f MB before, %.0f MB after\n", before, ours.resident())
	return l.batches(dir, store, ours.url, rows)
}

// keepUp keeps a server under load, looks at its memory, and counts afterwards
// whether every row that was acknowledged is there.
func (l *load) keepUp(ours *server, store string, rows [][]byte) error {
	had, err := l.rowsOf(store)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.soak)
	defer cancel()
	learnt := l.learn(ctx, ours.url, rows)
	var asked, failed atomic.Int64
	var group sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.callers}}
	for k := range l.callers {
		group.Go(func() {
			tick := time.NewTicker(max(1, time.Duration(l.callers)*time.Second/time.Duration(max(l.pace, 1))))
			defer tick.Stop()
			for i := k; ctx.Err() == nil; i++ {
				if asked.Add(1); call(client, ours.url+"/v1/models/m/predict", rows[i%len(rows)]) != nil && ctx.Err() == nil {
					failed.Add(1)
				}
				if l.pace > 0 {
					<-tick.C
				}
			}
		})
	}
	var memory []float64
	for every := max(l.soak/40, time.Second); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(every):
			memory = append(memory, ours.resident())
			fmt.Printf("%.0f ", memory[len(memory)-1])
		}
	}
	group.Wait()
	<-learnt.done
	ours.stop()
	has, err := l.rowsOf(store)
	if err != nil {
		return err
	}
	n := len(memory)
	early, late := slices.Max(memory[n/8:max(n/2, n/8+1)]), slices.Max(memory[n/2:])
	fmt.Printf("MB\n%s: %d asked, %d failed; %d rows acknowledged, %d refused; %.0f rows more than before, %.0f lost\n", l.soak, asked.Load(), failed.Load(), learnt.rows.Load(), learnt.refused.Load(), has-had, float64(learnt.rows.Load())-(has-had))
	fmt.Printf("memory: at most %.0f MB in the first half, %.0f MB in the second, %.2f times\n", early, late, late/early)
	return nil
}

// rowsOf is how many rows the model has learnt.
func (l *load) rowsOf(store string) (float64, error) {
	out, err := exec.Command(l.accrete, "log", "m", "--json", "--store", store).Output()
	if err != nil {
		return 0, err
	}
	var log struct {
		Versions []struct {
			Rows float64 `json:"model_rows"`
		} `json:"versions"`
	}
	if err := json.Unmarshal(out, &log); err != nil || len(log.Versions) == 0 {
		return 0, fmt.Errorf("no versions: %w", err)
	}
	return log.Versions[len(log.Versions)-1].Rows, nil
}

// sampleRows are rows of the set, as requests.
func sampleRows(url, data string) ([][]byte, error) {
	answer, err := http.Get(url + "/v1/data/" + data + "/rows?limit=200")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var list struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		return nil, err
	}
	var rows [][]byte
	for _, row := range list.Rows {
		body, err := json.Marshal(map[string]any{"row": row})
		if err != nil {
			return nil, err
		}
		rows = append(rows, body)
	}
	if len(rows) == 0 {
		return nil, errors.New("there are no rows")
	}
	return rows, nil
}

// turn is what one turn of load came to.
type turn struct {
	rate, p50, p99  float64 // a second; milliseconds
	answered, busy  float64 // requests; seconds of the processors
	failed          int64
	learnt, refused int64
}

// measure calls as fast as the answers come.
func measure(url string, rows [][]byte, callers int, last time.Duration) turn {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var group sync.WaitGroup
	var failed atomic.Int64
	times := make([][]float64, callers)
	began := time.Now()
	for k := range callers {
		group.Go(func() {
			for i := k; time.Since(began) < last; i++ {
				at := time.Now()
				if err := call(client, url, rows[i%len(rows)]); err != nil {
					failed.Add(1)
				}
				times[k] = append(times[k], float64(time.Since(at).Microseconds())/1000)
			}
		})
	}
	group.Wait()
	all := slices.Concat(times...)
	slices.Sort(all)
	return turn{answered: float64(len(all)), rate: float64(len(all)) / time.Since(began).Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100], failed: failed.Load()}
}

func call(client *http.Client, url string, body []byte) error {
	answer, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// learning is rows that are sent at a steady pace.
type learning struct {
	rows, refused atomic.Int64
	done          chan struct{}
}

func (l *load) learn(ctx context.Context, url string, rows [][]byte) *learning {
	x := &learning{done: make(chan struct{})}
	go func() {
		defer close(x.done)
		if l.learning == 0 {
			return
		}
		began := time.Now() // rows that are late are sent at once, so that there are as many as was said
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		defer client.CloseIdleConnections()
		var group sync.WaitGroup
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				group.Wait()
				return
			case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(l.learning)))):
			}
			group.Go(func() {
				if call(client, url+"/v1/models/m/rows", rows[i%len(rows)]) == nil {
					x.rows.Add(1)
				} else {
					x.refused.Add(1)
				}
			})
		}
	}()
	return x
}

func middle(turns []turn, of func(turn) float64) float64 {
	var all []float64
	for _, t := range turns {
		all = append(all, of(t))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func report(l *load, ours, bare []turn) {
	fmt.Printf("%d callers, %d cores, %s by %s, %d rows learnt a second meanwhile\n", l.callers, runtime.NumCPU(), l.data, l.learner, l.learning)
	for i := range ours {
		fmt.Printf("turn %d: bare %.0f/s, p99 %.2f ms; accrete %.0f/s, p50 %.2f ms, p99 %.2f ms, %d failed, %d learnt, %d refused\n",
			i+1, bare[i].rate, bare[i].p99, ours[i].rate, ours[i].p50, ours[i].p99, ours[i].failed, ours[i].learnt, ours[i].refused)
	}
	rate, p99 := func(t turn) float64 { return t.rate }, func(t turn) float64 { return t.p99 }
	fmt.Printf("single rows: %.2f of the bare rate (at least 0.5), p99 %.1f times (at most 5)\n", middle(ours, rate)/middle(bare, rate), middle(ours, p99)/middle(bare, p99))
	cost := func(t turn) float64 { return 1e6 * t.busy / t.answered }
	fmt.Printf("of the processors: an answer takes %.0f µs, learning included, the bare one %.0f µs: %.2f\n", middle(ours, cost), middle(bare, cost), middle(bare, cost)/middle(ours, cost))
}

// batches sends a table, and has accrete predict read the same from a file.
func (l *load) batches(dir, store, url string, rows [][]byte) error {
	path := filepath.Join(dir, "table.csv")
	if err := writeTable(path, rows, l.csvRows); err != nil {
		return err
	}
	var served, read []float64
	for range l.turns {
		began := time.Now()
		out, err := exec.Command(l.accrete, "predict", "m", path, "--store", store, "--out", filepath.Join(dir, "answers.csv")).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		read = append(read, float64(l.csvRows)/time.Since(began).Seconds())
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		began = time.Now()
		answer, err := http.Post(url+"/v1/models/m/predict", "text/csv", f)
		if err != nil {
			return err
		}
		n := 0
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			n++
		}
		answer.Body.Close()
		if n != l.csvRows+1 {
			return fmt.Errorf("%d lines came for %d rows", n, l.csvRows)
		}
		served = append(served, float64(l.csvRows)/time.Since(began).Seconds())
	}
	slices.Sort(served)
	slices.Sort(read)
	a, b := served[len(served)/2], read[len(read)/2]
	fmt.Printf("tables: %.0f rows/s served, %.0f rows/s by accrete predict: %.2f (at least 0.7)\n", a, b, a/b)
	return nil
}

// writeTable writes the rows as CSV, again and again.
func writeTable(path string, rows [][]byte, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	var names []string
	for i := range n {
		var in struct {
			Row map[string]any `json:"row"`
		}
		if err := json.Unmarshal(rows[i%len(rows)], &in); err != nil {
			return err
		}
		if names == nil {
			for name := range in.Row {
				names = append(names, name)
			}
			slices.Sort(names)
			fmt.Fprintln(w, strings.Join(names, ","))
		}
		for k, name := range names {
			if k > 0 {
				w.WriteByte(',')
			}
			if cell := in.Row[name]; cell != nil {
				fmt.Fprint(w, cell)
			}
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

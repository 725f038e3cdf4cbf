package serve

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// meter counts what happens, for Prometheus (text format 0.0.4).
type meter struct {
	began  time.Time
	learnt counts
	routes sync.Map // *route → *timings

	mu   sync.Mutex
	size float64 // of the store, in bytes
	seen time.Time
}

// counts are numbers that only grow, by label.
type counts struct {
	mu sync.Mutex
	of map[string]float64
}

func (c *counts) add(label string, x float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]float64{}
	}
	c.of[label] += x
}

func (c *counts) all() map[string]float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

// bounds of latencies, in seconds.
var bounds = [...]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60}

// timings are how long requests of a route took, and what came of them.
type timings struct {
	buckets [len(bounds) + 1]atomic.Uint64
	micros  atomic.Uint64
	status  [6]atomic.Uint64 // by hundreds
}

// count counts a request.
func (m *meter) count(rt *route, status int, took time.Duration) {
	t, ok := m.routes.Load(rt)
	if !ok {
		t, _ = m.routes.LoadOrStore(rt, &timings{})
	}
	of := t.(*timings)
	of.micros.Add(uint64(took.Microseconds()))
	of.status[min(max(status/100, 0), 5)].Add(1)
	i, s := 0, took.Seconds()
	for i < len(bounds) && s > bounds[i] {
		i++
	}
	of.buckets[i].Add(1)
}

// exposition writes metrics.
type exposition struct{ bytes.Buffer }

func (e *exposition) head(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

var labelEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// sample writes one number; labels are names and values in turn.
func (e *exposition) sample(name string, x float64, labels ...string) {
	e.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		if i == 0 {
			e.WriteByte('{')
		} else {
			e.WriteByte(',')
		}
		fmt.Fprintf(e, `%s="%s"`, labels[i], labelEscape.Replace(labels[i+1]))
	}
	if len(labels) > 1 {
		e.WriteByte('}')
	}
	e.WriteByte(' ')
	switch {
	case math.IsInf(x, 1):
		e.WriteString("+Inf")
	default:
		e.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
	}
	e.WriteByte('\n')
}

// metrics tells what happened, for Prometheus.
func (c *call) metrics() error {
	e := &exposition{}
	c.requestMetrics(e)
	e.head("accrete_rows_learnt_total", "counter", "Rows acknowledged, by model.")
	for _, pair := range sorted(c.meter.learnt.all()) {
		e.sample("accrete_rows_learnt_total", pair.x, "model", pair.label)
	}
	c.modelMetrics(e)
	e.head("accrete_jobs", "gauge", "Jobs, by state.")
	states := map[string]float64{queued: 0, running: 0}
	c.jobs.mu.Lock()
	for _, j := range c.jobs.all {
		states[j.State]++
	}
	c.jobs.mu.Unlock()
	for _, pair := range sorted(states) {
		e.sample("accrete_jobs", pair.x, "state", pair.label)
	}
	e.head("accrete_store_bytes", "gauge", "Size of the store.")
	e.sample("accrete_store_bytes", c.storeSize())
	e.head("accrete_uptime_seconds", "gauge", "Since the server began.")
	e.sample("accrete_uptime_seconds", time.Since(c.meter.began).Seconds())
	return c.send(http.StatusOK, []string{"text/plain; version=0.0.4; charset=utf-8"}, e.Bytes())
}

func (c *call) requestMetrics(e *exposition) {
	type timed struct {
		rt *route
		t  *timings
	}
	var all []timed
	c.meter.routes.Range(func(rt, t any) bool {
		all = append(all, timed{rt.(*route), t.(*timings)})
		return true
	})
	slices.SortFunc(all, func(a, b timed) int { return strings.Compare(a.rt.method+a.rt.path, b.rt.method+b.rt.path) })
	e.head("accrete_requests_total", "counter", "Requests, by route and status.")
	for _, x := range all {
		for i := range x.t.status {
			if n := x.t.status[i].Load(); n > 0 {
				e.sample("accrete_requests_total", float64(n), "method", x.rt.method, "route", x.rt.path, "status", fmt.Sprintf("%dxx", i))
			}
		}
	}
	e.head("accrete_request_seconds", "histogram", "How long requests took.")
	for _, x := range all {
		total := 0.0
		for i := range x.t.buckets {
			total += float64(x.t.buckets[i].Load())
			upTo := "+Inf"
			if i < len(bounds) {
				upTo = strconv.FormatFloat(bounds[i], 'g', -1, 64)
			}
			e.sample("accrete_request_seconds_bucket", total, "method", x.rt.method, "route", x.rt.path, "le", upTo)
		}
		e.sample("accrete_request_seconds_sum", float64(x.t.micros.Load())/1e6, "method", x.rt.method, "route", x.rt.path)
		e.sample("accrete_request_seconds_count", total, "method", x.rt.method, "route", x.rt.path)
	}
}

// modelMetrics tells how models do that are live.
func (c *call) modelMetrics(e *exposition) {
	c.held.mu.Lock()
	names := slices.Sorted(maps.Keys(c.held.newest))
	c.held.mu.Unlock()
	var records []*LiveRecord
	for _, name := range names {
		if r, err := c.recordOf(name); err == nil {
			records = append(records, r)
		}
	}
	gauge := func(name, help string, value func(r *LiveRecord) *float64) {
		e.head(name, "gauge", help)
		for _, r := range records {
			if x := value(r); x != nil {
				e.sample(name, *x, "model", r.Model)
			}
		}
	}
	number := func(n int) *float64 { x := float64(n); return &x }
	gauge("accrete_model_version", "The newest frozen version.", func(r *LiveRecord) *float64 { return number(r.Version) })
	gauge("accrete_rows_waiting", "Rows that are durable and in no version yet.", func(r *LiveRecord) *float64 { return number(r.Waiting) })
	gauge("accrete_prequential_accuracy", "Share of rows answered right before they were learnt.", func(r *LiveRecord) *float64 { return rateOf(r.Learning, false) })
	gauge("accrete_prequential_accuracy_recent", "The same over the last rows.", func(r *LiveRecord) *float64 { return rateOf(r.Learning, true) })
	gauge("accrete_calibration_error", "Mean distance of what was said from what came true, before rows were learnt.", func(r *LiveRecord) *float64 { return calibrationError(r.Learning) })
	gauge("accrete_truth_accuracy", "Share of kept answers that turned out right.", func(r *LiveRecord) *float64 { return rateOf(r.Truth, false) })
	gauge("accrete_drift_alarms", "Rules whose truth moved.", func(r *LiveRecord) *float64 { return number(len(r.Drifts)) })
}

func rateOf(r *LiveRates, recent bool) *float64 {
	switch {
	case r == nil:
		return nil
	case recent:
		return r.Recent
	}
	return r.Accuracy
}

// calibrationError is the expected calibration error.
func calibrationError(r *LiveRates) *float64 {
	if r == nil || r.Rows == 0 {
		return nil
	}
	sum := 0.0
	for _, b := range r.Calibration {
		sum += math.Abs(b.Said*b.Rows - b.Right)
	}
	sum /= r.Rows
	return &sum
}

type pair struct {
	label string
	x     float64
}

func sorted(of map[string]float64) []pair {
	var all []pair
	for _, label := range slices.Sorted(maps.Keys(of)) {
		all = append(all, pair{label, of[label]})
	}
	return all
}

// storeSize is how large the store is, looked at now and then.
func (s *Server) storeSize() float64 {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	if time.Since(s.meter.seen) < 30*time.Second {
		return s.meter.size
	}
	s.meter.size = 0
	_ = filepath.WalkDir(s.o.Home.Store.Dir(), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what goes while we look is gone
		}
		if info, err := d.Info(); err == nil {
			s.meter.size += float64(info.Size())
		}
		return nil
	})
	s.meter.seen = time.Now()
	return s.meter.size
}

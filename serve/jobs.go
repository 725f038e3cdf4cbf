package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
)

// Job is work that takes long, as programs read it.
type Job struct {
	Job      string     `json:"job"`
	What     string     `json:"what" doc:"what is done: learn, update, evaluate, …"`
	Model    string     `json:"model,omitempty"`
	By       string     `json:"by"`
	State    string     `json:"state" doc:"queued, running, done, failed or cancelled"`
	Progress *Progress  `json:"progress"`
	Result   any        `json:"result,omitempty"`
	Problem  *Problem   `json:"problem,omitempty"`
	Made     time.Time  `json:"made"`
	Ended    *time.Time `json:"ended,omitempty"`
}

// Progress is how far a job is.
type Progress struct {
	Done        float64  `json:"done"`
	Of          float64  `json:"of"`
	What        string   `json:"what"`
	SecondsLeft *float64 `json:"seconds_left,omitempty"`
}

// Started is where to look for a job.
type Started struct {
	Job  string `json:"job"`
	Href string `json:"href"`
}

// Jobs are those that a caller may see, the newest first.
type Jobs struct {
	Jobs []Job `json:"jobs"`
}

// The states of a job.
const (
	queued    = "queued"
	running   = "running"
	done      = "done"
	failed    = "failed"
	cancelled = "cancelled"
)

// work is what a job does; its home hears how far it is.
type work func(ctx context.Context, h *life.Home) (any, error)

// job is a job under way.
type job struct {
	Job
	do      work
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time
	changed chan struct{} // closed at each change, and replaced
	notes   []string
}

// desk takes jobs in turn: callers one after the other, so that who asks for
// much keeps nobody from asking for little.
type desk struct {
	home    *life.Home
	dir     string // where jobs are written down; "" is nowhere
	log     *slog.Logger
	workers int
	mu      sync.Mutex
	all     map[string]*job
	order   []string // ids, the oldest first
	queues  map[string][]*job
	callers []string // whose turn it is, in order
	busy    int
	group   crew.Group
	ended   bool
}

const (
	mostWaiting  = 100 // jobs that wait, of all callers
	mostOfCaller = 20  // and of one
	mostRecorded = 200 // jobs that are over and still told of
)

// start takes a job in.
func (d *desk) start(parent context.Context, j *job) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting := 0
	for _, q := range d.queues {
		waiting += len(q)
	}
	switch {
	case d.ended:
		return later(http.StatusServiceUnavailable, 5, "the server is ending")
	case waiting >= mostWaiting, len(d.queues[j.By]) >= mostOfCaller:
		return later(http.StatusTooManyRequests, 5, "%d jobs wait already", waiting)
	}
	j.ctx, j.cancel = context.WithCancel(parent)
	j.State, j.changed = queued, make(chan struct{})
	j.Progress = &Progress{Of: 1, What: j.What}
	if d.all == nil {
		d.all, d.queues = map[string]*job{}, map[string][]*job{}
	}
	d.all[j.Job.Job] = j
	d.order = append(d.order, j.Job.Job)
	if len(d.queues[j.By]) == 0 {
		d.callers = append(d.callers, j.By)
	}
	d.queues[j.By] = append(d.queues[j.By], j)
	d.record(j.Job)
	d.forgetOld()
	if d.busy < d.workers {
		d.busy++
		d.group.Go(d.worker)
	}
	return nil
}

// forgetOld drops the record of jobs that are long over. The caller holds the
// lock.
func (d *desk) forgetOld() {
	for len(d.order) > mostRecorded {
		at := slices.IndexFunc(d.order, func(id string) bool { return d.all[id].Ended != nil })
		if at < 0 {
			return
		}
		d.unrecord(d.order[at])
		delete(d.all, d.order[at])
		d.order = slices.Delete(d.order, at, at+1)
	}
}

// worker does jobs until there are none.
func (d *desk) worker() {
	for {
		d.mu.Lock()
		j := d.next()
		if j == nil {
			d.busy--
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		d.run(j)
	}
}

// next takes the first job of the caller whose turn it is. The caller holds
// the lock.
func (d *desk) next() *job {
	for len(d.callers) > 0 {
		who := d.callers[0]
		d.callers = d.callers[1:]
		q := d.queues[who]
		if len(q) == 0 {
			delete(d.queues, who)
			continue
		}
		j := q[0]
		if d.queues[who] = q[1:]; len(q) > 1 {
			d.callers = append(d.callers, who)
		} else {
			delete(d.queues, who)
		}
		if j.State != queued {
			continue
		}
		j.State, j.began = running, time.Now()
		j.tell()
		return j
	}
	return nil
}

// run does one job, and records what came of it.
func (d *desk) run(j *job) {
	h := *d.home
	h.Who = j.By
	h.Note = func(n life.Note) {
		d.mu.Lock()
		defer d.mu.Unlock()
		j.notes = append(j.notes, remedy.InNote(n.String(), inRoutes))
	}
	h.Progress = func(what string) (func(float64), func()) {
		began := time.Now()
		d.progress(j, what, 0, began)
		return func(f float64) { d.progress(j, what, f, began) }, func() {}
	}
	var result any
	err := console.Guarded("", func() (err error) {
		report, _ := h.Progress(j.What)
		result, err = j.do(learn.WithProgress(j.ctx, report), &h)
		return err
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := time.Now()
	j.Ended = &ended
	switch {
	case err == nil:
		j.State, j.Result = done, noted{result, j.notes}
		j.Progress = &Progress{Done: 1, Of: 1, What: j.What}
	case d.ended && j.ctx.Err() != nil:
		j.State, j.Problem = failed, interrupted(j.What)
	case j.ctx.Err() != nil && result != nil:
		j.State, j.Result, j.Problem = cancelled, noted{result, j.notes}, problemf(http.StatusConflict, "keep it, or delete it", "the job was cancelled late: %s", strings.TrimSuffix(err.Error(), ": "+context.Canceled.Error())).complete()
	case j.ctx.Err() != nil:
		j.State, j.Problem = cancelled, problemf(http.StatusConflict, "start it again", "the job was cancelled; nothing was changed").complete()
	default:
		j.State, j.Problem = failed, newProblem(err)
	}
	j.do = nil
	j.cancel()
	d.record(j.Job)
	j.tell()
}

// tell wakes who listens. The caller holds the lock.
func (j *job) tell() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// progress notes how far a job is, a few times a second.
func (d *desk) progress(j *job, what string, fraction float64, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := j.Progress; p != nil && p.What == what && (fraction-p.Done < 0.01 || j.Ended != nil) {
		return
	}
	p := &Progress{Done: fraction, Of: 1, What: what}
	if gone := time.Since(began); fraction > 0.02 && gone > time.Second/2 {
		left := gone.Seconds() * (1 - fraction) / fraction
		p.SecondsLeft = &left
	}
	j.Progress = p
	j.tell()
}

// look returns a job as it is now, and what is closed when it changes.
func (d *desk) look(id string) (Job, <-chan struct{}, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, ok := d.all[id]
	if !ok {
		return Job{}, nil, false
	}
	return j.Job, j.changed, true
}

// stop cancels a job.
func (d *desk) stop(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, ok := d.all[id]
	if !ok || j.Ended != nil {
		return
	}
	j.cancel()
	if j.State == queued {
		ended := time.Now()
		j.State, j.Ended, j.do = cancelled, &ended, nil
		d.record(j.Job)
		j.tell()
	}
}

// close ends all jobs, and waits for them.
func (d *desk) close() {
	d.mu.Lock()
	d.ended = true
	for _, j := range d.all {
		j.cancel()
		if j.State == queued { // it will not be done
			ended := time.Now()
			j.State, j.Ended, j.Problem, j.do = failed, &ended, interrupted(j.What), nil
			d.record(j.Job)
			j.tell()
		}
	}
	d.queues, d.callers = nil, nil
	d.mu.Unlock()
	d.group.Wait()
}

// noted is a result with what was remarked on the way.
type noted struct {
	result any
	notes  []string
}

// MarshalJSON adds the remarks to the result's keys.
func (n noted) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(n.result); err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(b.Bytes())
	if len(n.notes) == 0 || !bytes.HasSuffix(text, []byte("}")) || len(text) < 3 || bytes.Contains(text, []byte(`"notes":`)) {
		return text, nil
	}
	notes, err := json.Marshal(n.notes)
	return slices.Concat(text[:len(text)-1], []byte(`,"notes":`), notes, []byte("}")), err
}

// startJob answers with a job, or, for who prefers to wait, with its result.
func (c *call) startJob(what, model string, do work) error {
	j := &job{Job: Job{Job: c.newID("j"), What: what, Model: model, By: c.who.name, Made: time.Now()}, do: do}
	if err := c.jobs.start(c.ctx, j); err != nil {
		return err
	}
	href := "/v1/jobs/" + j.Job.Job
	if wait := prefers(c.r.Header.Get("Prefer"), c.o.MostTime); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		for waiting := true; waiting; {
			now, changed, ok := c.jobs.look(j.Job.Job)
			switch {
			case !ok:
				waiting = false
			case now.Problem != nil:
				return now.Problem
			case now.Ended != nil:
				c.w.Header().Set("Preference-Applied", "wait")
				return c.answer(http.StatusOK, now.Result)
			default:
				select {
				case <-changed:
				case <-timer.C:
					waiting = false
				case <-c.ending:
					waiting = false
				case <-c.r.Context().Done():
					return errAnswered
				}
			}
		}
	}
	c.w.Header().Set("Location", href)
	return c.answer(http.StatusAccepted, Started{j.Job.Job, href})
}

// prefers reads how long a caller would wait (RFC 7240).
func prefers(header string, most time.Duration) time.Duration {
	for _, preference := range strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ';' }) {
		if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(preference)), "wait="); ok {
			if n, err := strconv.ParseFloat(strings.Trim(text, `" `), 64); err == nil && n > 0 {
				return min(time.Duration(min(n, 3600)*float64(time.Second)), most)
			}
		}
	}
	return 0
}

// job is the one that the path names, if the caller may see it.
func (c *call) job() (Job, <-chan struct{}, error) {
	id := c.r.PathValue("id")
	j, changed, ok := c.jobs.look(id)
	if !ok || c.who.models != nil && j.By != c.who.name {
		return j, nil, problemf(http.StatusNotFound, "GET /v1/jobs lists them", "there is no job %q", id)
	}
	return j, changed, nil
}

func (c *call) listJobs() error {
	list := Jobs{Jobs: []Job{}}
	c.jobs.mu.Lock()
	for _, id := range slices.Backward(c.jobs.order) {
		j := c.jobs.all[id].Job
		if c.who.models == nil || j.By == c.who.name {
			j.Result = nil // it may be large
			list.Jobs = append(list.Jobs, j)
		}
	}
	c.jobs.mu.Unlock()
	return c.answer(http.StatusOK, list)
}

func (c *call) showJob() error {
	j, _, err := c.job()
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, j)
}

func (c *call) cancelJob() error {
	j, _, err := c.job()
	if err != nil {
		return err
	}
	if j.By != c.who.name && c.who.scope < admin {
		return problemf(http.StatusForbidden, "ask "+j.By+", or an admin", "the job is %s's", j.By)
	}
	c.jobs.stop(j.Job)
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// followJob tells what becomes of a job: progress, then its result or problem.
func (c *call) followJob() error {
	j, changed, err := c.job()
	if err != nil {
		return err
	}
	sink := c.events()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		switch {
		case j.Problem != nil:
			err = sink.Event("problem", j.Problem)
		case j.State == cancelled:
			err = sink.Event("problem", problemf(http.StatusConflict, "start it again", "the job was cancelled").complete())
		case j.Ended != nil:
			err = sink.Event("result", j.Result)
		default:
			err = sink.Event("progress", j.Progress)
		}
		if err != nil || j.Ended != nil {
			return nil
		}
		select {
		case <-changed:
		case <-tick.C:
			err = alive(sink)
		case <-c.ending:
			return nil
		case <-c.r.Context().Done():
			return nil
		}
		if err != nil {
			return nil
		}
		var ok bool
		if j, changed, ok = c.jobs.look(j.Job); !ok {
			return nil
		}
	}
}

// cores is how many jobs are done at once: learners use all cores themselves.
func cores() int { return max(1, runtime.GOMAXPROCS(0)/2) }

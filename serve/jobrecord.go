package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/atomicfile"
)

// Jobs are written down, a file each, when they are taken in and when they are
// over, so that a server that is started again still tells of them. Of one that
// was under way when the server ended it says that.

// mostResult is how large a result may be that is written down.
const mostResult = 1 << 20

// interrupted is what is said of a job that a server ended with.
func interrupted(what string) *Problem {
	return problemf(http.StatusServiceUnavailable, "start it again; if it was to make a version, see first whether it is there", "the server ended while the job (%s) was under way", what).complete()
}

// record writes a job down; an error is the log's. What is written is a copy: the
// caller may hold the lock or not.
func (d *desk) record(j Job) {
	if d.dir == "" {
		return
	}
	text, err := json.Marshal(j)
	if err == nil && len(text) > mostResult {
		j.Result = json.RawMessage(`{"left_out":"the result was too large to be kept"}`)
		text, err = json.Marshal(j)
	}
	if err == nil {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Write(context.Background(), filepath.Join(d.dir, j.Job+".json"), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil && d.log != nil {
		d.log.Warn("a job is not written down", "job", j.Job, "problem", err.Error())
	}
}

// unrecord removes what was written down of a job.
func (d *desk) unrecord(id string) {
	if d.dir != "" {
		_ = os.Remove(filepath.Join(d.dir, id+".json")) // a file that stays is read again, and removed then
	}
}

// recall reads the jobs of servers before this one.
func (d *desk) recall() {
	entries, err := os.ReadDir(d.dir)
	if d.dir == "" || err != nil {
		return
	}
	var old []*job
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		info, err := e.Info()
		if !ok || err != nil || !info.Mode().IsRegular() || info.Size() > 2*mostResult {
			continue
		}
		text, err := os.ReadFile(filepath.Join(d.dir, e.Name()))
		var kept struct {
			Job
			Result json.RawMessage `json:"result"`
		}
		if err != nil || json.Unmarshal(text, &kept) != nil || kept.Job.Job != id {
			continue
		}
		j := &job{Job: kept.Job, changed: make(chan struct{}), cancel: func() {}}
		if len(kept.Result) > 0 {
			j.Result = kept.Result
		}
		if j.Ended == nil {
			ended := info.ModTime().UTC()
			if now := time.Now(); ended.After(now) {
				ended = now
			}
			j.Ended, j.State, j.Problem = &ended, failed, interrupted(j.What)
		}
		old = append(old, j)
	}
	slices.SortFunc(old, func(a, b *job) int { return cmp.Or(a.Made.Compare(b.Made), cmp.Compare(a.Job.Job, b.Job.Job)) })
	d.all, d.queues = map[string]*job{}, map[string][]*job{}
	for _, j := range old {
		d.all[j.Job.Job] = j
		d.order = append(d.order, j.Job.Job)
	}
	d.forgetOld()
}

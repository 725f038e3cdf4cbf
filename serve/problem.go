package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Problem is an error as HTTP tells it (RFC 9457), with what to do about it.
type Problem struct {
	Type   string `json:"type" doc:"which kind of problem, an anchor of the page of docs"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"what is wrong, where"`
	Remedy string `json:"remedy,omitempty" doc:"what to do about it"`
	// Row and Column say where data is wrong; rows count from 1.
	Row    int    `json:"row,omitempty"`
	Column string `json:"column,omitempty"`
	// Request is the id under which the log has it.
	Request string `json:"request,omitempty"`
	// Said is the detail again, where clients of the Open Inference Protocol look for it.
	Said string `json:"error,omitempty" doc:"of the Open Inference Protocol: the detail"`

	after int // seconds after which to try again
}

func (p *Problem) Error() string { return p.Detail }

// problemf returns a problem of a status.
func problemf(status int, do, format string, args ...any) *Problem {
	return &Problem{Status: status, Detail: fmt.Sprintf(format, args...), Remedy: do}
}

// later is a problem that passes.
func later(status, seconds int, format string, args ...any) *Problem {
	p := problemf(status, fmt.Sprintf("try again after %d s", seconds), format, args...)
	p.after = seconds
	return p
}

// routeWords are remedies in the words of this interface; others are said
// plainly.
var routeWords = map[remedy.Kind]string{
	remedy.GiveTarget:     `give "target": one of {names}`,
	remedy.GiveName:       `give another "name"`,
	remedy.GiveWorth:      `add WORTH and a number to the rule, or give "worth" for all`,
	remedy.KeepNominal:    `"nominal" keeps it, "text" its words`,
	remedy.ReadNumbers:    `"numeric": ["{what}"] reads numbers`,
	remedy.LeaveOut:       `"ignore" leaves out those that are not needed`,
	remedy.ChooseColumns:  `see "nominal" and "ignore"`,
	remedy.ChooseStore:    "start the server with another store",
	remedy.LearnFirst:     "make one with POST /v1/learn",
	remedy.DeleteModel:    "to delete the model: DELETE /v1/models/{what}",
	remedy.DeleteFirst:    "delete that version first: DELETE /v1/models/{what}",
	remedy.ForgetAll:      "to forget all: DELETE /v1/models/{what}",
	remedy.SeeVersions:    "GET /v1/models/{what}/log lists them",
	remedy.SeeRules:       "GET /v1/models/{what}/rules shows ids",
	remedy.SeeLearners:    "GET /v1/learners lists them",
	remedy.RestoreVersion: "restore {what} (POST …/restore) or import an export",
	remedy.NameData:       `name data with "on"`,
	remedy.AllowMemory:    "start the server with more memory",
}

// inRoutes says a remedy in routes and fields, "" if it has no words for it.
func inRoutes(r life.Remedy) string {
	return strings.NewReplacer("{what}", r.What, "{names}", remedy.List(r.Names, 20)).Replace(routeWords[r.Kind])
}

// newProblem tells an error as a problem.
func newProblem(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		copied := *p
		return copied.complete()
	}
	p = &Problem{Status: statusOf(err), Detail: err.Error()}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		p.Detail = fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit)
		p.Remedy = "send less at once"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		p.Detail, p.Remedy = "it took longer than a request may take", "ask when there is less to do, or the command line, which has no limit"
	}
	if cell := (*table.CellError)(nil); errors.As(err, &cell) {
		p.Row, p.Column = cell.Row, cell.Column
	}
	if place, ok := strings.CutPrefix(p.Detail, "-:"); ok { // as of a file that has no name
		p.Detail = "the body:" + place
	}
	if r, ok := life.RemedyOf(err); ok {
		p.Type = string(r.Kind)
		if p.Remedy = inRoutes(r); p.Remedy == "" {
			p.Remedy = r.String()
		}
		p.Detail = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(p.Detail, r.String()), "; "), " ")
	}
	if p.Status == http.StatusServiceUnavailable {
		p.after = 1
	}
	if p.Remedy == "" {
		p.Remedy = usual[p.Status]
	}
	return p.complete()
}

// usual is what to do about problems of a status that do not say it.
var usual = map[int]string{
	http.StatusRequestTimeout:      "send it faster, or in parts",
	http.StatusNotFound:            "GET /v1/models lists what there is",
	http.StatusPreconditionFailed:  "look at the newest version, and decide again",
	http.StatusUnprocessableEntity: "correct what the detail names; /docs says what is expected",
	http.StatusServiceUnavailable:  "try again later",
	http.StatusInternalServerError: "look into the server's log for the request",
}

// complete fills in what follows from the rest.
func (p *Problem) complete() *Problem {
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.Type == "" {
		p.Type = strconv.Itoa(p.Status)
	}
	if !strings.HasPrefix(p.Type, "/") {
		p.Type = "/docs#problem-" + p.Type
	}
	return p
}

// statusOf says whose fault an error is.
func statusOf(err error) int {
	var tooLarge *http.MaxBytesError
	var path *fs.PathError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, store.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, store.ErrConflict):
		return http.StatusPreconditionFailed
	case errors.Is(err, store.ErrLocked), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	case errors.Is(err, learn.ErrDamaged), errors.As(err, &path), errors.Is(err, fs.ErrPermission):
		return http.StatusInternalServerError
	}
	return http.StatusUnprocessableEntity
}

// write sends a problem.
func (p *Problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.after > 0 {
		h.Set("Retry-After", strconv.Itoa(p.after))
	}
	if p.Status == http.StatusRequestTimeout {
		h.Set("Connection", "close") // the rest of the body is not waited for
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // who hung up hears nothing
}

package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// call is one request: who asks what, and what came of it.
type call struct {
	*Server
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	id     string
	who    identity
	began  time.Time
	status int

	mu    sync.Mutex
	notes []string
}

// fail answers with a problem.
func (c *call) fail(err error) {
	if errors.Is(err, errAnswered) {
		return
	}
	p := newProblem(err)
	p.Request = c.id
	p.Detail = strings.ReplaceAll(p.Detail, " in the store "+c.o.Home.Store.Dir(), "") // callers need not know where it is
	if strings.HasPrefix(c.route.path, inferencePath) {
		p.Said = p.Detail
	}
	if c.status != 0 { // half an answer is out: let it be seen that it is half
		c.log.Warn("cut off", "request", c.id, "problem", p.Detail)
		c.status = p.Status
		panic(http.ErrAbortHandler)
	}
	c.status = p.Status
	c.log.Log(c.r.Context(), levelOf(p.Status), "problem", "request", c.id, "status", p.Status, "detail", p.Detail)
	p.write(c.w)
}

func levelOf(status int) slog.Level {
	if status >= 500 {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// errAnswered says that the answer is out already.
var errAnswered = errors.New("answered")

// account says what a request was and took. Reading is said to who listens
// closely.
func (c *call) account(status int) {
	took := time.Since(c.began)
	c.meter.count(c.route, status, took)
	level := slog.LevelDebug
	if c.route.scope >= write {
		level = slog.LevelInfo
	}
	if !c.log.Enabled(c.r.Context(), level) {
		return
	}
	c.log.Log(c.r.Context(), level, "request", "request", c.id, "method", c.r.Method, "path", c.r.URL.Path, "status", status,
		"by", c.who.name, "from", c.r.RemoteAddr, "ms", float64(took.Microseconds())/1000)
}

// buffers are what answers are written into, so that their length is known.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// answer writes a value as JSON.
func (c *call) answer(status int, v any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("the answer cannot be written as JSON: %w", err)
	}
	return c.send(status, jsonType, b.Bytes())
}

var jsonType = []string{"application/json"}

// send writes a whole answer.
func (c *call) send(status int, contentType []string, body []byte) error {
	h := c.w.Header()
	h["Content-Type"] = contentType
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.status = status
	c.w.WriteHeader(status)
	_, err := c.w.Write(body)
	if err != nil {
		return errAnswered
	}
	return nil
}

var noStore = []string{"no-store"}

// decode reads a JSON document into a value.
func (c *call) decode(v any) error {
	if err := c.accepts("application/json"); err != nil {
		return err
	}
	body := c.body()
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return badJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return problemf(http.StatusBadRequest, "send one JSON document", "there is more behind the JSON document")
	}
	return nil
}

// badJSON says what is wrong with a document.
func badJSON(err error) error {
	var tooLarge *http.MaxBytesError
	var of *json.UnmarshalTypeError
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.Is(err, io.EOF):
		return problemf(http.StatusBadRequest, "send a JSON document; see /docs", "the body is empty")
	case errors.As(err, &of):
		return problemf(http.StatusBadRequest, "see /docs for what each field is", "%s is a %s, expected %s", orBody(of.Field), of.Value, of.Type)
	}
	return problemf(http.StatusBadRequest, "see /docs for what is expected", "the body is no such JSON document: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func orBody(field string) string {
	if field == "" {
		return "the body"
	}
	return strconv.Quote(field)
}

// body is the request's, no longer and no slower than allowed.
func (c *call) body() io.Reader {
	return &steady{of: http.MaxBytesReader(c.w, c.r.Body, c.most()), control: http.NewResponseController(c.w), began: time.Now(), patience: c.o.Patience}
}

// steady is a body that must come at some pace: whoever sends a byte now and
// then keeps a place from others.
type steady struct {
	of       io.Reader
	control  *http.ResponseController
	began    time.Time
	patience time.Duration
	read     int64
	until    time.Time
}

// slowest is how many bytes a second may come, on the whole.
const slowest = 1 << 10

func (s *steady) Read(b []byte) (int, error) {
	until := s.began.Add(s.patience + time.Duration(s.read/slowest)*time.Second)
	if most := time.Now().Add(s.patience); until.After(most) {
		until = most
	}
	if until.Sub(s.until) > time.Second {
		s.until = until
		_ = s.control.SetReadDeadline(until) // a pipe has none
	}
	n, err := s.of.Read(b)
	s.read += int64(n)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !s.until.IsZero() {
		_ = s.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// accepts refuses bodies of another type.
func (c *call) accepts(types ...string) error {
	t := c.contentType()
	if t == "" && len(types) > 0 {
		return nil
	}
	for _, known := range types {
		if t == known {
			return nil
		}
	}
	return problemf(http.StatusUnsupportedMediaType, "say what it is with Content-Type: "+strings.Join(types, ", "), "the body is said to be %s", t)
}

func (c *call) contentType() string {
	text := c.r.Header.Get("Content-Type")
	if text == "application/json" || text == "" {
		return text
	}
	t, _, err := mime.ParseMediaType(text)
	if err != nil {
		return strings.ToLower(text)
	}
	return t
}

// home is where models live, for this request: remarks are gathered.
func (c *call) home() *life.Home {
	h := c.o.Home
	h.Who = c.who.name
	h.Note = func(n life.Note) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notes = append(c.notes, n.String())
	}
	return &h
}

// ref is the model that the path names, with its version; who asks may see it.
func (c *call) ref() (ref, name string, err error) {
	ref = c.r.PathValue("m")
	if v := c.r.PathValue("v"); v != "" { // as the Open Inference Protocol has it
		ref += "@" + v
	}
	name, _, err = store.ParseRef(ref)
	if err != nil {
		return "", "", problemf(http.StatusNotFound, "names are letters, digits, _ - and .; a version is NAME@N", "%v", err)
	}
	return ref, name, c.who.sees(name)
}

// versionAsked is the model that the path names, of the version that the query
// asks for, if it does; and the query.
func (c *call) versionAsked() (ref string, q url.Values, err error) {
	ref, name, err := c.ref()
	if err != nil {
		return "", nil, err
	}
	if q, err = c.query(); err != nil {
		return "", nil, err
	}
	if v := q.Get("version"); v != "" {
		ref = name + "@" + v
	}
	return ref, q, nil
}

// part is the model that the path names: as it is now, or a version.
func (c *call) part() (*life.Part, error) {
	ref, _, err := c.ref()
	if err != nil {
		return nil, err
	}
	st, err := c.held.get(ref)
	if err != nil {
		return nil, err
	}
	return c.worded(st.part), nil
}

// worded is a model with the words that people gave it by now.
func (c *call) worded(p *life.Part) *life.Part {
	w, err := c.o.Home.Words(p.Name)
	if err != nil {
		return p
	}
	copied := *p
	copied.Words = w
	return &copied
}

// query is the parameters of the request, of which each must be known to the
// route.
func (c *call) query() (url.Values, error) {
	if c.r.URL.RawQuery == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, problemf(http.StatusBadRequest, "encode it as in a link", "the query cannot be read: %v", err)
	}
	for key := range q {
		if !c.route.takes(key) {
			return nil, problemf(http.StatusBadRequest, "see /docs", "there is no parameter %q here", key)
		}
	}
	return q, nil
}

// number is a parameter that is a whole number from least.
func number(q url.Values, key string, otherwise, least int) (int, error) {
	text := q.Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, problemf(http.StatusBadRequest, "give a number", "%s=%s: expected a whole number from %d", key, text, least)
	}
	return n, nil
}

// yes is a parameter that is there, and not 0 or false.
func yes(q url.Values, key string) bool {
	v, ok := q[key]
	return ok && v[0] != "0" && v[0] != "false"
}

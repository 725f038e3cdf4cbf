package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Line is a request on a pipe: one JSON document a line.
type Line struct {
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	// Body is a JSON document; where the header Content-Type says that it is
	// none, a string of what it is.
	Body json.RawMessage `json:"body,omitempty"`
	// Encoding is base64 where the string stands for bytes that are no text.
	Encoding string `json:"encoding,omitempty"`
}

// Reply is the answer to a line, with its id: a status and a body, which is a
// string where it is no JSON; or an event on the way there.
type Reply struct {
	ID     json.RawMessage `json:"id"`
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Encoding is base64 where the body is bytes that are no text.
	Encoding string `json:"encoding,omitempty"`
	Event    string `json:"event,omitempty"`
	Data     any    `json:"data,omitempty"`
}

// base64Encoding is how lines hold bytes.
const base64Encoding = "base64"

// atOnce is how many lines are answered at the same time.
const atOnce = 16

// Pipe answers the lines of a pipe until there are no more, each with a line of
// its own, in the order in which they are done.
func (s *Server) Pipe(ctx context.Context, in io.Reader, out io.Writer) error {
	s.hosts.add()
	var (
		mu      sync.Mutex
		group   crew.Group
		places  = make(chan struct{}, atOnce)
		scanner = bufio.NewScanner(in)
	)
	scanner.Buffer(nil, int(s.o.MostUpload))
	say := func(r Reply) {
		mu.Lock()
		defer mu.Unlock()
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		_ = e.Encode(r) // a reader who is gone ends the lines, too
	}
	for scanner.Scan() {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		line := bytes.Clone(scanner.Bytes())
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			s.answerLine(ctx, line, say)
		})
	}
	group.Wait()
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes", s.o.MostUpload)
	}
	return scanner.Err()
}

// answerLine answers one line.
func (s *Server) answerLine(ctx context.Context, line []byte, say func(Reply)) {
	var l Line
	err := json.Unmarshal(line, &l)
	if err == nil && (l.Method == "" || !strings.HasPrefix(l.Path, "/")) {
		err = errors.New("expected a method and a path")
	}
	var r *http.Request
	if err == nil {
		r, err = l.request(ctx)
	}
	if err != nil {
		p := problemf(http.StatusBadRequest, `send a line such as {"id":1,"method":"GET","path":"/v1/models"}`, "the line is no request: %v", err).complete()
		body, _ := json.Marshal(p) // strings and numbers
		say(Reply{ID: orNull(l.ID), Status: p.Status, Body: body})
		return
	}
	w := &pipeWriter{id: orNull(l.ID), say: say, header: http.Header{}}
	func() {
		defer func() {
			if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
				panic(fault)
			}
		}()
		s.ServeHTTP(w, r)
	}()
	say(w.reply())
}

func orNull(id json.RawMessage) json.RawMessage {
	if len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}

// request makes a line a request from this machine.
func (l *Line) request(ctx context.Context) (*http.Request, error) {
	body, kind := []byte(l.Body), ""
	for key, value := range l.Headers {
		if strings.EqualFold(key, "Content-Type") {
			kind = value
		}
	}
	if kind != "" && !strings.HasPrefix(kind, "application/json") {
		var text string
		if err := json.Unmarshal(l.Body, &text); err != nil {
			return nil, errors.New("a body that is no JSON is given as a string")
		}
		body = []byte(text)
		if l.Encoding != "" {
			bytes, err := base64.StdEncoding.DecodeString(text)
			if l.Encoding != base64Encoding || err != nil {
				return nil, fmt.Errorf("the body is no %s of %s", base64Encoding, kind)
			}
			body = bytes
		}
	}
	r, err := http.NewRequestWithContext(ctx, l.Method, l.Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for key, value := range l.Headers {
		r.Header.Set(key, value)
	}
	if kind == "" && len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Host, r.RemoteAddr = "localhost", "pipe"
	return r, nil
}

// pipeWriter gathers an answer.
type pipeWriter struct {
	id     json.RawMessage
	say    func(Reply)
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *pipeWriter) Header() http.Header { return w.header }
func (w *pipeWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}
func (w *pipeWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

// Event passes an event on as a line.
func (w *pipeWriter) Event(name string, data any) error {
	w.say(Reply{ID: w.id, Event: name, Data: data})
	return nil
}

func (w *pipeWriter) reply() Reply {
	r := Reply{ID: w.id, Status: w.status}
	if w.status == 0 {
		r.Status = http.StatusOK
	}
	kind := w.header.Get("Content-Type")
	switch {
	case w.body.Len() == 0:
	case strings.Contains(kind, "json") && json.Valid(w.body.Bytes()):
		r.Body = bytes.TrimSpace(w.body.Bytes())
	case utf8.Valid(w.body.Bytes()):
		r.Body, _ = json.Marshal(w.body.String()) // a string can always be written
	default:
		r.Body, _ = json.Marshal(w.body.Bytes())
		r.Encoding = base64Encoding
	}
	return r
}

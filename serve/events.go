package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// eventSink is where events go: to a browser as server-sent events, or down a
// pipe as lines.
type eventSink interface {
	Event(name string, data any) error
}

// eventStream is the kind of answers that are events.
const eventStream = "text/event-stream"

// heartbeat is how often a silent stream says that it is alive.
const heartbeat = 15 * time.Second

// events begins a stream of events. It is done when the answer ends.
func (c *call) events() eventSink {
	c.status = http.StatusOK
	if sink, ok := c.w.(eventSink); ok {
		return sink
	}
	h := c.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusOK)
	s := &sse{w: c.w, control: http.NewResponseController(c.w)}
	_ = s.control.Flush() // who is gone will be noticed
	return s
}

// sse writes server-sent events.
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  bytes.Buffer
}

// Event sends one event.
func (s *sse) Event(name string, data any) error {
	s.buffer.Reset()
	if name == "" {
		s.buffer.WriteString(": still here\n\n")
	} else {
		s.buffer.WriteString("event: " + name + "\ndata: ")
		e := json.NewEncoder(&s.buffer) // it ends with a line feed, and has no other
		e.SetEscapeHTML(false)
		if err := e.Encode(data); err != nil {
			return err
		}
		s.buffer.WriteByte('\n')
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(heartbeat))
	if _, err := s.w.Write(s.buffer.Bytes()); err != nil {
		return err
	}
	return s.control.Flush()
}

// alive says that a stream is still there; a pipe needs no such thing.
func alive(s eventSink) error {
	if _, ok := s.(*sse); ok {
		return s.Event("", nil)
	}
	return nil
}

package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Only so many connections are open at once: who comes later waits for a place,
// gets that of who asks nothing, and is not kept waiting by those who hold theirs
// for ever.
func TestConnectionsAreBounded(t *testing.T) {
	s, err := New(Options{Home: newHome(t, t.TempDir()), MostOpen: 3})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		return conn
	}
	ask := func(conn net.Conn) {
		t.Helper()
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", l.Addr())
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d, %v", answer.StatusCode, err)
		}
	}
	for range 12 { // each stays open, and asks nothing more
		ask(dial())
	}
	held := make([]net.Conn, 3)
	for i := range held { // these are in the middle of a request
		held[i] = dial()
		fmt.Fprintf(held[i], "GET /healthz HTTP/1.1\r\nHost: %s\r\n", l.Addr())
	}
	late := dial()
	asked := make(chan bool)
	go func() { ask(late); close(asked) }()
	select {
	case <-asked:
		t.Error("a fourth connection was let in")
	case <-time.After(200 * time.Millisecond):
	}
	for _, conn := range held[:2] {
		fmt.Fprint(conn, "\r\n")
	}
	<-asked
	held[2].Close()
	cancel()
	if err := <-ended; err != nil && err != http.ErrServerClosed {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

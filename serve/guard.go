package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// hosts are the names by which this server may be called. Any other is a
// page elsewhere whose name was made to lead here (DNS rebinding).
type hosts struct {
	mu    sync.RWMutex
	names map[string]bool
	any   bool // every address, though not every name
}

func (h *hosts) add(names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names == nil {
		h.names = map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	}
	for _, n := range names {
		h.names[strings.ToLower(n)] = true
	}
}

// addListener allows the address that is listened on; for all of them, every
// address and the machine's own name.
func (h *hosts) addListener(a net.Addr) {
	h.add()
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return
	}
	if !tcp.IP.IsUnspecified() {
		h.add(tcp.IP.String())
		return
	}
	if name, err := os.Hostname(); err == nil {
		h.add(name)
	}
	h.mu.Lock()
	h.any = true
	h.mu.Unlock()
}

func (h *hosts) allow(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.names[host] || h.names[strings.ToLower(host)] || h.any && net.ParseIP(host) != nil
}

// newEpoch is a word that no other run of the server has.
func newEpoch() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// policy is what the page may do: nothing is loaded from elsewhere, and no
// script stands in a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Content-Security-Policy"] = policies
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path {
		s.serveRoute(&elsewhere).ServeHTTP(w, r) // there are no other ways to a route
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Headers that are the same for all.
var (
	nosniff    = []string{"nosniff"}
	policies   = []string{policy}
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
)

// serveRoute is a route with all that comes before and after it: who calls,
// from where, whether they may, and what is said of it afterwards.
func (s *Server) serveRoute(rt *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{Server: s, route: rt, w: w, r: r, id: s.newID("r"), began: time.Now()}
		defer c.end()
		err := c.admit()
		if err != nil {
			c.fail(err)
			return
		}
		if rt.scope != open {
			place := c.place()
			if !s.busy.enter(r.Context(), place, s.o.MostBusy, s.o.MostQueue) {
				c.fail(later(http.StatusTooManyRequests, 1, "%s has %d requests under way already, and more wait", c.who.name, s.o.MostBusy))
				return
			}
			defer s.busy.leave(place)
		}
		if err := rt.answer(c); err != nil {
			c.fail(err)
		}
	})
}

// place is whose places a request takes: each caller has some for what reads, some
// for what writes, so that who waits for rows to be durable keeps nobody from being
// answered, and some for streams, which last.
func (c *call) place() string {
	switch {
	case c.route.outType == eventStream:
		return c.who.name + "\x00streams"
	case c.route.scope > read:
		return c.who.name + "\x00writes"
	}
	return c.who.name
}

// admit says why a request may not be answered.
func (c *call) admit() error {
	if !c.hosts.allow(c.r.Host) {
		return problemf(http.StatusForbidden, "call the server by the address that it listens on, or start it with that name", "this server is not called %q", c.r.Host)
	}
	if err := c.cross.Check(c.r); err != nil {
		return problemf(http.StatusForbidden, "open the server's own page, or call it from a program", "a page from elsewhere may not change anything here: %v", err)
	}
	if site := c.r.Header.Get("Sec-Fetch-Site"); c.route.scope != open && (site == "cross-site" || site == "same-site") {
		return problemf(http.StatusForbidden, "open the server's own page, or call it from a program", "a page from elsewhere may not read anything here")
	}
	var err error
	if c.who, err = c.identify(); err != nil {
		return err
	}
	if err := c.allowed(); err != nil {
		return err
	}
	if c.draining.Load() && c.route.path != "/healthz" && c.route.path != "/metrics" {
		return later(http.StatusServiceUnavailable, 5, "the server is ending")
	}
	if c.o.ReadOnly && c.route.changes() {
		return problemf(http.StatusForbidden, "start the server without read-only", "this server changes nothing: it was started read-only")
	}
	if c.r.ContentLength > c.most() {
		return &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "the body is too large", Remedy: "send less at once"}
	}
	if packed := c.r.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return problemf(http.StatusUnsupportedMediaType, "send it as it is; tables may be files that are packed (POST /v1/data)", "bodies are not unpacked, and this is said to be %s", packed)
	}
	return nil
}

// end says what became of a request, also of one that panicked.
func (c *call) end() {
	fault := recover()
	if fault == http.ErrAbortHandler {
		c.account(499)
		panic(fault)
	}
	if fault != nil {
		c.log.Error("panic", "request", c.id, "what", fault, "stack", string(debug.Stack()))
		if c.status == 0 {
			c.fail(problemf(http.StatusInternalServerError, "report it, with the request's id; nothing was changed by it", "the program has a fault"))
		}
	}
	c.account(c.status)
}

// limited returns a context that ends when the request takes too long.
func (c *call) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.r.Context(), c.o.MostTime)
}

package serve

import (
	"net"
	"net/http"
	"sync"
)

// doors lets only so many connections in at once; the others wait where the
// system keeps those that nobody has accepted, and take no memory here. Who comes
// when all places are taken gets that of a connection on which nothing is asked.
type doors struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	idle    map[net.Conn]bool
	waiting bool
}

func newDoors(l net.Listener, most int) *doors {
	return &doors{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{}), idle: map[net.Conn]bool{}}
}

// Accept returns who comes next, once there is a place.
func (d *doors) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case d.places <- struct{}{}:
	default:
		d.wait(true)
		defer d.wait(false)
		select {
		case d.places <- struct{}{}:
		case <-d.closed:
			_ = conn.Close() // nobody is let in any more
			return nil, net.ErrClosed
		}
	}
	return &guest{Conn: conn, leave: sync.OnceFunc(func() { <-d.places })}, nil
}

// wait says whether somebody waits for a place: then a connection on which nothing
// is asked ends, one that is there or the next that there is.
func (d *doors) wait(waiting bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = waiting
	for conn := range d.idle {
		if !d.waiting {
			return
		}
		d.end(conn)
	}
}

// end ends a connection that was only kept for what might come. The caller holds
// the lock.
func (d *doors) end(conn net.Conn) {
	delete(d.idle, conn)
	d.waiting = false
	_ = conn.Close()
}

func (d *doors) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Listener.Close()
}

// watch hears what becomes of connections.
func (d *doors) watch(conn net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.idle, conn)
	if state != http.StateIdle {
		return
	}
	if d.idle[conn] = true; d.waiting {
		d.end(conn)
	}
}

// over says with each answer that the connection ends with it, while somebody waits
// for a place: who asks next then does not ask on one that is about to end.
func (d *doors) over(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		waiting := d.waiting
		d.mu.Unlock()
		if waiting {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// guest is a connection that gives its place back when it ends.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	err := g.Conn.Close()
	g.leave()
	return err
}

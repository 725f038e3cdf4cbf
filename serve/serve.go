// Package serve is the HTTP interface of a store of models, and the page on
// which people read and correct them: one table of routes (routes.go), from
// which the server answers, checks who may, and writes its own description
// (OpenAPI 3.1). What is done to models is done by life; here requests become
// its values, and what came of them becomes JSON, lines, pictures or problems
// (RFC 9457) with the same remedies that the command line names.
//
// A model that is asked is in memory (held.go): its newest version is swapped
// whole, so that readers never wait and no answer is of half an update; every
// answer names its version. The command line may work on the same store
// meanwhile: what it saves is seen at the next request.
//
//	cmd/accrete → serve → life → store, evaluate, knowledge → learn → table
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/life"
)

// Options say what is served, to whom, and how much of it. The zero value of
// each limit is its default.
type Options struct {
	// Home is where models live. It is copied for each request, with a
	// listener of its own.
	Home life.Home
	// Version is the program's, for the description.
	Version string
	// Log hears of requests, a JSON record a line, of all of them if Verbose,
	// else of those that change something or fail; nil is nobody.
	Log     io.Writer
	Verbose bool
	// Hosts are names by which the server may be called, besides localhost
	// and the addresses that it listens on.
	Hosts []string
	// Tokens is the file of tokens that let callers in; "" lets all in who
	// reach the server.
	Tokens string
	// Certificate and Key are files for https; "" is http.
	Certificate, Key string
	// ReadOnly refuses whatever changes a model.
	ReadOnly bool
	// Approved has models answer from the version that was approved last.
	Approved bool
	// Data is a folder whose files may be named as data; "" is none.
	Data string

	// Freeze says when rows that were learnt live become a version; none is
	// after 1000 rows, or a minute.
	Freeze life.Freezing

	// Limits.
	MostBody   int64         // bytes of a body that is read whole; 8 MiB
	MostUpload int64         // bytes of a table or an export; 256 MiB
	MostRows   int           // rows in one JSON document; 100,000
	MostOpen   int           // connections; 1,024
	MostBusy   int           // requests at work at once, for one caller: so many that read, write and follow; 64
	MostQueue  time.Duration // that a request waits for a place among its caller's; 5 s
	MostTime   time.Duration // for what is no job; 60 s
	Patience   time.Duration // for a body that does not come; 20 s
	Drain      time.Duration // for requests to end when the server is asked to; 10 s
}

func (o *Options) fill() {
	o.MostBody = cmp.Or(o.MostBody, 8<<20)
	o.MostUpload = cmp.Or(o.MostUpload, 256<<20)
	o.MostRows = cmp.Or(o.MostRows, 100_000)
	o.MostOpen = cmp.Or(o.MostOpen, 1024)
	o.MostBusy = cmp.Or(o.MostBusy, 64)
	o.MostQueue = cmp.Or(o.MostQueue, 5*time.Second)
	o.MostTime = cmp.Or(o.MostTime, time.Minute)
	o.Patience = cmp.Or(o.Patience, 20*time.Second)
	if o.Freeze == (life.Freezing{}) {
		o.Freeze = life.Freezing{Rows: 1000, Age: time.Minute}
	}
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
}

// logger writes records.
func (o *Options) logger() *slog.Logger {
	level := slog.LevelInfo
	if o.Verbose {
		level = slog.LevelDebug
	}
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(o.Log, &slog.HandlerOptions{Level: level}))
}

// Server answers requests about the models of one store.
type Server struct {
	o            Options
	log          *slog.Logger
	mux          *http.ServeMux
	hosts        hosts
	cross        *http.CrossOriginProtection
	owner        string // who is at work where nobody signs in
	keys         keyring
	held         shelf
	jobs         desk
	lives        crew.Group // of models that learn rows as they come
	truths       truths
	uploads      uploads
	auditor      auditor
	meter        meter
	estimates    found[evaluate.Result]
	calibrations found[life.Calibration]
	about        described
	busy         busy
	serial       atomic.Uint64
	epoch        string // of this process, for ids
	draining     atomic.Bool
	ctx          context.Context // of work that outlives its request
	stop         context.CancelFunc
	ending       chan struct{}   // closed when streams of events are to end
	leaving      context.Context // ends then, too
	leave        context.CancelFunc
	once         sync.Once
}

// New returns a server. Close it when it is done.
func New(o Options) (*Server, error) {
	o.fill()
	if o.Home.Store == nil {
		return nil, errors.New("a server needs a store")
	}
	if o.Data != "" {
		abs, err := filepath.Abs(o.Data)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder whose files could be named as data: give one that is there", o.Data)
		}
		o.Data = abs
	}
	if o.Certificate != "" {
		if _, err := tls.LoadX509KeyPair(o.Certificate, o.Key); err != nil {
			return nil, fmt.Errorf("%s and %s are no certificate and its key: %w", o.Certificate, o.Key, err)
		}
	}
	s := &Server{o: o, log: o.logger(), cross: http.NewCrossOriginProtection(), owner: whoami(), epoch: newEpoch()}
	s.keys.path = o.Tokens
	if err := s.keys.open(); err != nil {
		return nil, fmt.Errorf("the tokens cannot be read: %w", err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.hosts.add(o.Hosts...)
	s.ending = make(chan struct{})
	s.leaving, s.leave = context.WithCancel(s.ctx)
	s.held.home = &s.o.Home
	s.jobs.home, s.jobs.workers = &s.o.Home, cores()
	if s.jobs.log = s.log; !o.ReadOnly {
		s.jobs.dir = filepath.Join(o.Home.Store.Dir(), "serve", "jobs")
		s.keys.kept = filepath.Join(o.Home.Store.Dir(), "serve", "sessions")
	}
	s.jobs.recall()
	s.keys.recall(time.Now())
	s.uploads.dir = filepath.Join(o.Home.Store.Dir(), "data")
	s.truths.dir = filepath.Join(o.Home.Store.Dir(), "serve", "kept")
	s.auditor.path = filepath.Join(o.Home.Store.Dir(), "serve", "audit")
	s.meter.began = time.Now()
	s.mux = http.NewServeMux()
	for i := range routes {
		s.mux.Handle(routes[i].method+" "+routes[i].path, s.serveRoute(&routes[i]))
	}
	s.mux.Handle("/", s.serveRoute(&elsewhere))
	if !o.ReadOnly {
		s.replay()
	}
	return s, nil
}

// Close ends what outlives requests.
func (s *Server) Close() error {
	s.drain()
	s.lives.Wait() // rows that came become versions
	s.stop()
	s.jobs.close()
	s.truths.close()
	return nil
}

// drain lets nobody in any more, and ends streams that would never end.
func (s *Server) drain() {
	s.once.Do(func() {
		s.draining.Store(true)
		close(s.ending)
		s.leave()
	})
}

// whoami is the user of this process.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "somebody"
}

// Serve answers on a listener until the context ends, then lets requests that
// are under way end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.hosts.addListener(l.Addr())
	in := newDoors(l, s.o.MostOpen)
	web := &http.Server{
		Handler: in.over(s), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ConnState:   in.watch,
		BaseContext: func(net.Listener) context.Context { return s.ctx },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := crew.Go(func() error {
		if s.o.Certificate != "" {
			return web.ServeTLS(in, s.o.Certificate, s.o.Key)
		}
		return web.Serve(in)
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.drain()
	patience, cancel := context.WithTimeout(context.Background(), s.o.Drain)
	defer cancel()
	s.log.Info("draining", "for", s.o.Drain.String())
	err := web.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests were cut off")
		err = web.Close()
	}
	<-ended
	return err
}

// Listen listens on an address, or says what to do where that cannot be.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: another program listens there; end it, or give another port (port 0 is any free one)", err)
	}
	return l, err
}

// Address is where a browser finds the server.
func (s *Server) Address(l net.Listener) string {
	scheme := "http://"
	if s.o.Certificate != "" {
		scheme = "https://"
	}
	return scheme + l.Addr().String()
}

// IsLoopback reports whether only this machine can reach an address such as
// 127.0.0.1:8765.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// newID makes the id of a request or a job.
func (s *Server) newID(kind string) string {
	return fmt.Sprintf("%s%s-%d", kind, s.epoch, s.serial.Add(1))
}

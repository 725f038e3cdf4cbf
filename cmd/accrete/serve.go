package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/serve"
)

func (a *app) serveCommand() *cobra.Command {
	var (
		o       serve.Options
		listen  string
		verbose bool
		pipe    bool
	)
	c := &cobra.Command{
		Use:   "serve [--listen ADDRESS] [--read-only] [--data DIR] [--stdio]",
		Short: "Answer over HTTP, with a page to read and correct models on",
		Long: `Serve answers over HTTP what the command line does, for the models of the store,
and shows them on a page. It listens to this machine alone unless told otherwise.
What can be asked is described at /docs, and for programs at /openapi.json.`,
		Example: `  accrete serve
  accrete serve --listen 127.0.0.1:0 --read-only`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			h.Progress, h.In = nil, nil
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			o.Home, o.Version, o.Log = *h, version, slog.New(slog.NewJSONHandler(a.errs, &slog.HandlerOptions{Level: level}))
			if pipe {
				s, err := serve.New(o)
				if err != nil {
					return err
				}
				defer s.Close()
				return s.Pipe(c.Context(), a.in, a.raw)
			}
			return a.serve(c.Context(), o, listen)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8765", "address to listen on; port 0 is any free one")
	f.BoolVar(&o.ReadOnly, "read-only", false, "refuse whatever changes a model")
	f.StringVar(&o.Data, "data", "", "folder whose files may be named as data")
	f.StringSliceVar(&o.Hosts, "host", nil, "names by which the server may be called, besides its address")
	f.BoolVar(&pipe, "stdio", false, "answer lines of JSON on standard input instead: {\"id\",\"method\",\"path\",\"body\"} → {\"id\",\"status\",\"body\"}")
	f.BoolVar(&verbose, "verbose", false, "log every request, also those that only read")
	return c
}

// serve answers until it is interrupted.
func (a *app) serve(ctx context.Context, o serve.Options, listen string) error {
	if !serve.IsLoopback(listen) {
		return usagef("--listen %s can be reached from elsewhere; that needs tokens", listen)
	}
	s, err := serve.New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.errs, "listening on http://%v\n", l.Addr())
	fmt.Fprintln(a.errs, "note: every user of this machine may read and change the models of "+o.Home.Store.Dir())
	return s.Serve(ctx, l)
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/serve"
)

func (a *app) serveCommand() *cobra.Command {
	var o serve.Options
	var listen, freeze, private string
	var pipe, open bool
	c := &cobra.Command{
		Use:   "serve [--listen ADDRESS] [--tokens FILE] [--tls-cert FILE --tls-key FILE] [--read-only] [--freeze 1000rows,1m] [--data DIR] [--stdio] [--open]",
		Short: "Answer over HTTP, with a page to read and correct models on",
		Long: `Serve answers over HTTP what the command line does, for the models of the store,
and shows them on a page. It listens to this machine alone unless told otherwise;
who calls from elsewhere needs a token (accrete token new). What can be asked is
described at /docs, and for programs at /openapi.json.`,
		Example: `  accrete serve --open
  accrete serve --listen 0.0.0.0:8765 --tls-cert server.pem --tls-key server.key`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.Freeze, err = life.ParseFreezing(freeze); err != nil {
				return usagef("--freeze %v", err)
			}
			if private != "" {
				gone, err := a.keepPrivate(&o, private)
				if err != nil {
					return err
				}
				defer gone()
			}
			return a.serve(c.Context(), o, listen, pipe, open)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8765", "address to listen on; port 0 is any free one")
	f.StringVar(&o.Tokens, "tokens", "", "file of tokens (default: tokens in the store, where it is)")
	f.StringVar(&o.Certificate, "tls-cert", "", "file with the certificate, for https")
	f.StringVar(&o.Key, "tls-key", "", "file with its key")
	f.BoolVar(&o.ReadOnly, "read-only", false, "refuse whatever changes a model")
	f.StringVar(&freeze, "freeze", "1000rows,1m", "when rows that come one by one become a version: after so many, or so long")
	f.StringVar(&o.Data, "data", "", "folder whose files may be named as data")
	f.StringSliceVar(&o.Hosts, "host", nil, "names by which the server may be called, besides its address")
	f.BoolVar(&o.Approved, "approved", false, "answer from the version that was approved last (accrete approve)")
	f.BoolVar(&pipe, "stdio", false, `answer lines of JSON on standard input instead: {"id","method","path","body"} → {"id","status","body"}`)
	f.StringVar(&private, "private", "", "with --stdio: a new folder for models and data, which is removed at the end")
	f.BoolVar(&open, "open", false, "show the page in a browser")
	f.BoolVar(&o.Verbose, "verbose", false, "log every request, also those that only read")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	c.MarkFlagsMutuallyExclusive("private", "listen")
	c.MarkFlagsMutuallyExclusive("private", "data")
	return c
}

// keepPrivate has a program that drives this one keep everything in a folder,
// which goes with it, and wait as long as it likes.
func (a *app) keepPrivate(o *serve.Options, dir string) (gone func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, usagef("--private %s: expected a folder that is not there yet: %v", dir, err)
	}
	a.store, o.Data, o.MostTime = filepath.Join(dir, "store"), filepath.Join(dir, "data"), 24*time.Hour
	return func() { _ = os.RemoveAll(dir) }, os.Mkdir(o.Data, 0o700)
}

// serve answers until it is interrupted.
func (a *app) serve(ctx context.Context, o serve.Options, listen string, pipe, open bool) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	h.Progress, h.In = nil, nil
	o.Home, o.Version = *h, version
	if o.MostTime == 0 {
		o.Log = a.errs
	}
	if pipe {
		o.Tokens = ""
	} else if o.Tokens, err = serve.TokensFor(listen, o.Tokens, a.store); err != nil {
		return usagef("--listen %s %v", listen, err)
	}
	s, err := serve.New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if pipe {
		return s.Pipe(ctx, a.in, a.raw)
	}
	l, err := serve.Listen(listen)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.errs, "listening on "+s.Address(l))
	if o.Tokens == "" {
		fmt.Fprintf(a.errs, "note: every user of this machine may read and change the models of %s; accrete token new closes it\n", a.store)
	}
	if open && console.Browse(s.Address(l)) != nil {
		fmt.Fprintln(a.errs, "note: no browser was found to show the page")
	}
	return s.Serve(ctx, l)
}

package main

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/serve"
)

// serving is what serve was asked for.
type serving struct {
	serve.Options
	listen              string
	verbose, pipe, open bool
}

func (a *app) serveCommand() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "serve [--listen ADDRESS] [--tokens FILE] [--tls-cert FILE --tls-key FILE] [--read-only] [--data DIR] [--stdio] [--open]",
		Short: "Answer over HTTP, with a page to read and correct models on",
		Long: `Serve answers over HTTP what the command line does, for the models of the store,
and shows them on a page. It listens to this machine alone unless told otherwise;
who calls from elsewhere needs a token (accrete token new). What can be asked is
described at /docs, and for programs at /openapi.json.`,
		Example: `  accrete serve --open
  accrete serve --listen 0.0.0.0:8765 --tls-cert server.pem --tls-key server.key`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), &s) },
	}
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8765", "address to listen on; port 0 is any free one")
	f.StringVar(&s.Tokens, "tokens", "", "file of tokens (default: tokens in the store, where it is)")
	f.StringVar(&s.Certificate, "tls-cert", "", "file with the certificate, for https")
	f.StringVar(&s.Key, "tls-key", "", "file with its key")
	f.BoolVar(&s.ReadOnly, "read-only", false, "refuse whatever changes a model")
	f.StringVar(&s.Data, "data", "", "folder whose files may be named as data")
	f.StringSliceVar(&s.Hosts, "host", nil, "names by which the server may be called, besides its address")
	f.BoolVar(&s.pipe, "stdio", false, `answer lines of JSON on standard input instead: {"id","method","path","body"} → {"id","status","body"}`)
	f.BoolVar(&s.open, "open", false, "show the page in a browser")
	f.BoolVar(&s.verbose, "verbose", false, "log every request, also those that only read")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return c
}

// serve answers until it is interrupted.
func (a *app) serve(ctx context.Context, o *serving) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	h.Progress, h.In = nil, nil
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	o.Home, o.Version, o.Log = *h, version, slog.New(slog.NewJSONHandler(a.errs, &slog.HandlerOptions{Level: level}))
	if _, err := fs.Stat(os.DirFS(a.store), "tokens"); o.Tokens == "" && !o.pipe && err == nil {
		o.Tokens = serve.DefaultTokens(a.store)
	}
	if o.Tokens == "" && !o.pipe && !serve.IsLoopback(o.listen) {
		return usagef("--listen %s can be reached from elsewhere, and there are no tokens; make one with accrete token new --name NAME", o.listen)
	}
	s, err := serve.New(o.Options)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.pipe {
		return s.Pipe(ctx, a.in, a.raw)
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	address := "http"
	if o.Certificate != "" {
		address += "s"
	}
	address += "://" + l.Addr().String()
	fmt.Fprintln(a.errs, "listening on "+address)
	if o.Tokens == "" {
		fmt.Fprintf(a.errs, "note: every user of this machine may read and change the models of %s; accrete token new closes it\n", a.store)
	}
	if o.open {
		if err := show(address); err != nil {
			fmt.Fprintf(a.errs, "note: no browser was found to show the page: %v\n", err)
		}
	}
	return s.Serve(ctx, l)
}

// show opens an address in a browser.
func show(address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", address).Start()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address).Start()
	}
	return exec.Command("xdg-open", address).Start()
}

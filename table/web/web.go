// Package web reads tables from http:// and https:// addresses. It is apart from
// package table so that a program has it only if it imports it, for its effect
// alone. What comes is read as a file would be: its format follows from the end of
// the address or from its beginning, packed or not.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

func init() {
	for _, name := range []string{"http", "https"} {
		table.RegisterScheme(table.Scheme{Name: name, Open: open})
	}
}

// open asks for an address. Nothing is kept longer than the reading takes.
func open(ctx context.Context, address string, o table.Options) (table.Source, error) {
	shown := table.Redact(address)
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: is no address that can be asked for", shown)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		var plain *url.Error // which has the address, with its password
		if errors.As(err, &plain) {
			err = plain.Err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: the server answers %s", shown, answer.Status)
	}
	// The name tells the format, without what is asked for there.
	o.Name, _, _ = strings.Cut(shown, "?")
	s, err := table.NewSource(ctx, answer.Body, o)
	if err != nil {
		answer.Body.Close()
		return nil, err
	}
	return &source{s, answer.Body}, nil
}

// source closes the connection with the table.
type source struct {
	table.Source
	body io.Closer
}

// Close ends the reading.
func (s *source) Close() error { return errors.Join(s.Source.Close(), s.body.Close()) }

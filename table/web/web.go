// Package web reads tables from http:// and https:// addresses, and files of buckets
// (s3://) by the same means: a bucket's file is a page that is asked for with a
// signature. It is apart from package table so that a program has it only if it
// imports it, for its effect alone. What comes is read as a file would be: its format follows from the end of
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
	for _, name := range []string{"http", "https", bucketScheme} {
		table.RegisterScheme(table.Scheme{Name: name, Open: open})
	}
}

const bucketScheme = "s3"

// open asks for an address. Nothing is kept longer than the reading takes.
func open(ctx context.Context, address string, o table.Options) (table.Source, error) {
	shown := table.Redact(address)
	ask, err := question(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	if isMany(ask.URL) {
		return openMany(ctx, ask.URL, shown, o)
	}
	from, err := body(ask, shown)
	if err != nil {
		return nil, err
	}
	// The name tells the format, without what is asked for there.
	o.Name, _, _ = strings.Cut(shown, "?")
	s, err := table.NewSource(ctx, from, o)
	if err != nil {
		from.Close()
		return nil, err
	}
	return &source{s, from}, nil
}

func question(ctx context.Context, address string) (*http.Request, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || ask.URL.Host == "" {
		return nil, errors.New("is no address that can be asked for")
	}
	return ask, nil
}

// body asks, and returns what comes. Errors name what was asked for as it is
// shown.
func body(ask *http.Request, shown string) (io.ReadCloser, error) {
	send := http.DefaultClient.Do
	if ask.URL.Scheme == bucketScheme {
		send = askBucket
	}
	answer, err := send(ask)
	if err != nil {
		return nil, plain(ask.Context(), shown, err)
	}
	if err := refusal(answer); err != nil {
		answer.Body.Close()
		return nil, plain(ask.Context(), shown, err)
	}
	return answer.Body, nil
}

// plain is an error without the address, which may have a password.
func plain(ctx context.Context, shown string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// refusal is an error unless an answer is what was asked for.
func refusal(answer *http.Response) error {
	switch region := answer.Header.Get("X-Amz-Bucket-Region"); {
	case answer.StatusCode == http.StatusOK:
		return nil
	case region != "" && answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusNotFound:
		return fmt.Errorf("the bucket is in the region %s; set AWS_REGION to it", region)
	}
	return fmt.Errorf("the server answers %s", answer.Status)
}

// source closes the connection with the table.
type source struct {
	table.Source
	body io.Closer
}

// Close ends the reading.
func (s *source) Close() error { return errors.Join(s.Source.Close(), s.body.Close()) }

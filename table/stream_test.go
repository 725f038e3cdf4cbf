package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// gather puts the batches of a stream together, and checks that each schema
// extends the one before.
func gather(tb testing.TB, s *Stream) *Table {
	tb.Helper()
	var whole *Table
	for {
		t, err := s.Next()
		if err == io.EOF {
			return whole
		}
		if err != nil {
			tb.Fatal(err)
		}
		if t.Rows() == 0 {
			tb.Fatal("a batch without rows")
		}
		if whole == nil {
			whole = t
			continue
		}
		columns := make([]Column, len(t.Columns))
		for i, c := range t.Columns {
			before, now := whole.Schema.Attributes[i].Values, t.Schema.Attributes[i].Values
			if len(now) < len(before) || !slices.Equal(before, now[:len(before)]) {
				tb.Fatalf("values %q do not extend %q", now, before)
			}
			columns[i] = Column{Codes: slices.Concat(whole.Columns[i].Codes, c.Codes), Floats: slices.Concat(whole.Columns[i].Floats, c.Floats)}
		}
		if whole, err = New(t.Schema, columns, slices.Concat(whole.Weights, t.Weights)); err != nil {
			tb.Fatal(err)
		}
	}
}

// The batches of a stream make up the table that reading at once gives.
func TestStreamIsTheWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.SampledFrom([]string{"", "a", "b", "c", "d\ne", "1", "1.0"})
		number := rapid.SampledFrom([]string{"", "1", "2.5", "inf"})
		var text strings.Builder
		text.WriteString("v,w,q,n\n")
		for i := range rapid.IntRange(1, 30).Draw(r, "rows") {
			fmt.Fprintf(&text, "\"%s\",%d,7,%s\n", value.Draw(r, "value"), i%3, number.Draw(r, "number"))
		}
		o := Options{
			Name: "x.csv",
			Schema: &Schema{Attributes: []Attribute{
				{Name: "n", Kind: Numeric}, {Name: "absent", Kind: Nominal, Values: []string{"k"}}, {Name: "v", Kind: Nominal, Values: []string{"b"}}, {Name: "gone", Kind: Numeric},
			}},
			Extend: rapid.Bool().Draw(r, "extend"),
		}
		if rapid.Bool().Draw(r, "weighted") {
			o.Weight = "w"
		}
		want, wantReport, err := Read(t.Context(), strings.NewReader(text.String()), o)
		if err != nil {
			r.Fatal(err)
		}
		o.tuning = tuning{block: rapid.IntRange(1, 100).Draw(r, "block")}
		s, err := NewStream(t.Context(), strings.NewReader(text.String()), o)
		if err != nil {
			r.Fatal(err)
		}
		defer s.Close()
		got := gather(t, s)
		if diff := cmp.Diff(want, got, same); diff != "" {
			r.Fatalf("%q: %s", text.String(), diff)
		}
		if diff := cmp.Diff(wantReport, s.Report()); diff != "" {
			r.Fatal(diff)
		}
		// In memory, the same rules hold.
		if o.Weight == "" {
			loose, _, err := Read(t.Context(), strings.NewReader(text.String()), Options{Nominal: []string{"v"}})
			if err != nil {
				r.Fatal(err)
			}
			conformed, notes, err := Conform(loose, o.Schema, o.Extend)
			if err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(want, conformed, same); diff != "" && loose.Schema.Index("n") >= 0 {
				r.Fatalf("%q: %s", text.String(), diff)
			}
			if len(notes) != 2 {
				r.Fatalf("notes %q", notes)
			}
		}
	})
}

func TestStreamOfFile(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "a", Kind: Numeric}}}
	path := filepath.Join(t.TempDir(), "x.csv")
	const n = 200000
	if err := os.WriteFile(path, []byte("a\n"+strings.Repeat("7\n", n)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStream(t.Context(), path, Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for {
		batch, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if batch.Rows() > batchRows {
			t.Errorf("a batch of %d rows", batch.Rows())
		}
		got += batch.Rows()
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if report := s.Report(); got != n || report.Bytes != 2*n+2 || len(report.Hash) != 64 {
		t.Errorf("%d rows, %+v", got, report)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s.Report().Hash == "" {
		t.Error("no hash after Close")
	}
}

func TestStreamErrors(t *testing.T) {
	schema := &Schema{Attributes: []Attribute{{Name: "a", Kind: Numeric}}}
	if _, err := OpenStream(t.Context(), "x", Options{}); err == nil {
		t.Error("no schema is needed")
	}
	if _, err := NewStream(t.Context(), strings.NewReader(""), Options{}); err == nil {
		t.Error("no schema is needed")
	}
	if _, err := OpenStream(t.Context(), filepath.Join(t.TempDir(), "none"), Options{Schema: schema}); err == nil {
		t.Error("no file is needed")
	}
	if _, err := NewStream(t.Context(), strings.NewReader(""), Options{Schema: schema}); err == nil {
		t.Error("an empty input is opened")
	}
	next := func(text string, o Options) error {
		o.Name, o.Schema = "x.csv", schema
		s, err := NewStream(t.Context(), strings.NewReader(text), o)
		if err != nil {
			return err
		}
		defer s.Close()
		for err == nil {
			_, err = s.Next()
		}
		if _, again := s.Next(); again != err {
			t.Errorf("first %v, then %v", err, again)
		}
		return err
	}
	if err := next("a\n1\nx\n", Options{}); err == nil || !strings.HasPrefix(err.Error(), "x.csv:3:1: ") {
		t.Error(err)
	}
	if err := next("a\n", Options{}); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Error(err)
	}
	if err := next("a\n1\n", Options{Weight: "w"}); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Error(err)
	}
	s, err := NewStream(t.Context(), strings.NewReader("a\n1\n2\n"), Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Next(); err == nil || err == io.EOF {
		t.Errorf("a closed stream gives %v", err)
	}
	if s.Report().Hash != "" {
		t.Error("a hash of what was not read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err = NewStream(ctx, strings.NewReader("a\n"+strings.Repeat("1\n", 1<<22)), Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cancel()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

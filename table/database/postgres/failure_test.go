package postgres_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// through returns an address by which the server is reached until so many bytes
// went one way: then the line is dead, as when the server is killed.
func through(t *testing.T, address string, answers, questions int64) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	server := u.Host
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", server)
			if err != nil {
				in.Close()
				continue
			}
			var once atomic.Bool
			cut := func() {
				if once.CompareAndSwap(false, true) {
					in.Close()
					out.Close()
				}
			}
			go func() { io.Copy(in, io.LimitReader(out, answers)); cut() }()
			go func() { io.Copy(out, io.LimitReader(in, questions)); cut() }()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

// A server that dies while it is read from or written to is an error in a line,
// without the password; nothing is learnt or written by halves.
func TestServerDies(t *testing.T) {
	do(t, `CREATE TABLE long AS SELECT i AS x, 'n' || i%5 AS name, i%2=0 AS y FROM generate_series(1,60000) i`)
	h := &life.Home{Now: time.Now, Seed: 1}
	for _, answers := range []int64{30, 3000, 200_000, 1_500_000} {
		d, err := h.Find(through(t, at(t, "table=long"), answers, 1<<40), life.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.LearnInMemory(t.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: "bayes"}})
		if err == nil || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
			t.Errorf("cut off after %d bytes: %v", answers, err)
		}
	}
	var text strings.Builder
	text.WriteString("id,prediction\n")
	for i := range 50000 {
		fmt.Fprintf(&text, "%d,answer %d\n", i, i)
	}
	columns := []table.Written{{Name: "id", Whole: true, Key: true}, {Name: "prediction"}}
	_, err := table.WriteTo(t.Context(), through(t, at(t, "table=halves"), 1<<40, 300_000), columns, strings.NewReader(text.String()))
	if err == nil || !strings.Contains(err.Error(), "nothing was written") || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
		t.Errorf("cut off while writing: %v", err)
	}
	if _, _, err := table.ReadFrom(t.Context(), at(t, "table=halves"), table.Options{}); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("a table of halves is there: %v", err)
	}
}

// A table that is not what it was when a model learnt it is told with the column.
func TestChangedSchema(t *testing.T) {
	do(t, `CREATE TABLE turns AS SELECT i AS x, 'n' || i%5 AS name, CASE WHEN i%2=0 THEN 'a' ELSE 'b' END AS y FROM generate_series(1,300) i`)
	h := &life.Home{Now: time.Now, Seed: 1}
	learnt := func() (*life.Data, *life.Part) {
		d, err := h.Find(at(t, "table=turns"), life.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.LearnInMemory(t.Context(), life.LearnOptions{Data: d, Target: "y", Choice: life.Choice{Learner: "bayes"}})
		if err != nil {
			t.Fatal(err)
		}
		return d, p
	}
	d, p := learnt()
	do(t, `ALTER TABLE turns ALTER COLUMN x TYPE text USING 'x' || x`)
	if _, err := h.UpdateInMemory(t.Context(), p, d); err == nil || !strings.Contains(err.Error(), `"x"`) || strings.Contains(err.Error(), password) {
		t.Errorf("numbers that became names: %v", err)
	}
	do(t, `ALTER TABLE turns DROP COLUMN x; ALTER TABLE turns ADD COLUMN z int`)
	var notes []string
	h.Note = func(n life.Note) { notes = append(notes, n.String()) }
	if _, err := h.UpdateInMemory(t.Context(), p, d); err != nil || !strings.Contains(strings.Join(notes, " "), "x") {
		t.Errorf("a column that is gone: %v, %v", err, notes)
	}
	do(t, `DROP TABLE turns`)
	if _, err := h.UpdateInMemory(context.Background(), p, d); err == nil || !strings.Contains(err.Error(), `no table "turns"`) {
		t.Errorf("a table that is gone: %v", err)
	}
}

package postgres

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
	"github.com/accrete-ml/accrete/table/database"
)

// oids are types of which each is decoded in a way of its own.
var oids = []uint32{16, 21, 23, 20, 700, 701, 1083, 1082, 1114, 25}

// readCopy reads what a server would send, in pieces, as a table.
func readCopy(data []byte, piece int) (*table.Table, error) {
	q := &database.Query{}
	decoders := make([]decoder, len(oids))
	for i, oid := range oids {
		as := typeOf(oid)
		decoders[i] = as.decode
		q.Columns = append(q.Columns, database.Column{Name: string(rune('a' + i)), Values: as.values})
	}
	q.Run = func(_ context.Context, to *database.Rows) error {
		c := &copying{to: to, decoders: decoders}
		for at := 0; at < len(data); at += piece {
			if _, err := c.Write(data[at:min(at+piece, len(data))]); err != nil {
				return err
			}
		}
		return nil
	}
	f := q.Feed(database.Address{Shown: "x"}, "postgres", "", func() error { return nil })
	t, _, err := f.Read(context.Background(), table.Options{})
	return t, err
}

// copied is a stream of a few rows, some cells of which are null.
func copied(rows int) []byte {
	b := append([]byte{}, signature...)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	sizes := []int{1, 2, 4, 8, 4, 8, 8, 4, 8, 3}
	for r := range rows {
		b = binary.BigEndian.AppendUint16(b, uint16(len(oids)))
		for i, size := range sizes {
			if (r+i)%7 == 0 {
				b = binary.BigEndian.AppendUint32(b, 0xffffffff)
				continue
			}
			b = binary.BigEndian.AppendUint32(b, uint32(size))
			for k := range size {
				b = append(b, byte('0'+(r+i+k)%10))
			}
		}
	}
	return binary.BigEndian.AppendUint16(b, 0xffff)
}

// However a stream is cut into pieces, it is the same rows.
func TestCopyInPieces(t *testing.T) {
	want, err := readCopy(copied(40), 1<<20)
	if err != nil || want.Rows() != 40 {
		t.Fatal(want, err)
	}
	for _, piece := range []int{1, 7, 64} {
		got, err := readCopy(copied(40), piece)
		if err != nil || got.Rows() != 40 || got.Columns[2].Floats[4] != want.Columns[2].Floats[4] {
			t.Errorf("pieces of %d: %v", piece, err)
		}
	}
}

// Whatever a server sends is rows or an error of one line.
func FuzzCopy(f *testing.F) {
	f.Add(copied(3), 5)
	f.Add(copied(1)[:30], 1<<10)
	f.Add([]byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x7f\xff\xff\xff"), 3)
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		defer bounded.Start(t, len(data))()
		got, err := readCopy(data, 16+int(uint16(piece)))
		if (got == nil) != (err != nil) {
			t.Errorf("table %v with error %v", got, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %q", err)
		}
	})
}

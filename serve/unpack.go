package serve

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// What a packed file may unpack to: so many times the bytes that a plain one may
// have, and, beyond a few, so many times its own. Tables shrink to a tenth or a
// fiftieth; what shrinks to less than a two-hundredth was made to.
const (
	mostUnpacked = 4
	mostSwelling = 200
	fewUnpacked  = 32 << 20
)

// unpacksWithin refuses a file that is packed and unpacks to far more than was sent,
// before any of it is read as a table.
func unpacksWithin(ctx context.Context, path string, size, most int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	raw := bufio.NewReader(f)
	head, _ := raw.Peek(4) // shorter files are not packed
	var plain io.Reader
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		if plain, err = gzip.NewReader(raw); err != nil {
			return nil // who reads it as a table says what is wrong
		}
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil
		}
		defer z.Close()
		plain = z
	default:
		return nil
	}
	limit := min(mostUnpacked*most, max(mostSwelling*size, fewUnpacked))
	buffer := make([]byte, 1<<16)
	for n := int64(0); n <= limit; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k, err := plain.Read(buffer)
		if n += int64(k); err != nil {
			return nil
		}
	}
	return problemf(http.StatusRequestEntityTooLarge, "send it unpacked, or in parts", "%d bytes unpack to more than %d", size, limit)
}

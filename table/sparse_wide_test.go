package table_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	. "github.com/accrete-ml/accrete/table"
)

// Sparse rows of very many attributes are the same in batches as at once, and
// cost what they have, not what is declared.
func TestWideSparseSource(t *testing.T) {
	var text strings.Builder
	text.WriteString("@relation x\n")
	const attributes = 30000
	for i := range attributes {
		fmt.Fprintf(&text, "@attribute a%d numeric\n", i)
	}
	fmt.Fprintf(&text, "@attribute class {y,n}\n@data\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "{%d 1, %d %c}\n", i*7%attributes, attributes, "yn"[i%2])
	}
	want, _, err := Read(t.Context(), strings.NewReader(text.String()), Options{Target: "class"})
	if err != nil {
		t.Fatal(err)
	}
	bounded.Input(t, text.Len(), func() {
		s, err := NewSource(t.Context(), strings.NewReader(text.String()), Options{Target: "class"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		rows, got := 0, ""
		for {
			b, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rows += b.Rows(); got == "" {
				got = Show(b.Slice(0, 20))
			}
		}
		if first := Show(want.Slice(0, 20)); rows != want.Rows() || got != first {
			t.Errorf("%d rows of %d, the first:\n%.300s\nwant\n%.300s", rows, want.Rows(), got, first)
		}
	})
}

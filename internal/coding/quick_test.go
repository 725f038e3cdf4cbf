package coding

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes, reading it ends, and what was written comes back.
func TestQuick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, start := range []func([]byte) *Quick{NewQuick, NewQuickNumbers} {
			list := []any{rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "truth"), rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), nil, rapid.Float64().Draw(t, "number")}
			data, err := Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			q := start(data)
			n, text, truth, bytes, null, number := q.List(), q.Text(), q.Bool(), q.Share(), q.Null(), q.Float()
			if !q.Done() || n != 5 || text != list[0] || truth != list[1] || string(bytes) != string(list[2].([]byte)) || !null || number != list[4] {
				t.Fatalf("%v came back as %q %t %v %t %v", list, text, truth, bytes, null, number)
			}
			q = start(rapid.SliceOf(rapid.Byte()).Draw(t, "anything"))
			for range 20 {
				rapid.SampledFrom([]func(){func() { q.List() }, func() { q.Map() }, func() { q.Text() }, func() { q.Texts() }, func() { q.Bool() }, func() { q.Share() }, func() { q.Bytes() }, func() { q.Null() }, func() { q.Float() }, func() { q.Ints() }, func() { q.Int() }}).Draw(t, "method")()
			}
		}
	})
}

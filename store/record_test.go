package store

import (
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"pgregory.net/rapid"
)

// What is read quickly is what those read who know all of CBOR, be it written
// here, damaged or strange.
func TestRecordsAreReadAsCBOR(t *testing.T) {
	whole := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 300))
	rapid.Check(t, func(t *rapid.T) {
		r := record{
			Number: int(rapid.Int32Min(1).Draw(t, "number")), Kind: rapid.String().Draw(t, "kind"), SourcePath: rapid.String().Draw(t, "path"),
			Hash: rapid.SliceOf(rapid.Byte()).Draw(t, "hash"), SourceRows: rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(0, 5000), func(n int) float64 { return float64(n) / 4 })).Draw(t, "rows"),
			Seconds: whole.Draw(t, "seconds"), Nanos: whole.Draw(t, "nanos"), Seed: rapid.Uint64().Draw(t, "seed"), Learner: rapid.String().Draw(t, "learner"),
			Settings: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "settings"), Parts: rapid.SliceOf(whole).Draw(t, "parts"),
		}
		if rapid.Bool().Draw(t, "history") {
			r.History = []record{r}
		}
		e := partEntry{
			ID: rapid.Uint64().Draw(t, "id"), Flags: rapid.Byte().Draw(t, "flags"), Size: whole.Draw(t, "size"),
			Name: rapid.SliceOf(rapid.Byte()).Draw(t, "name"), Hash: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "sum"),
		}
		compare(t, r, func(b []byte) (any, error) { var r record; err := learn.Unmarshal(b, &r); return &r, err },
			func(b []byte) (any, error) { var r plain; err := learn.Unmarshal(b, &r); return (*record)(&r), err })
		compare(t, e, func(b []byte) (any, error) { var e partEntry; err := learn.Unmarshal(b, &e); return &e, err },
			func(b []byte) (any, error) {
				var e plainEntry
				err := learn.Unmarshal(b, &e)
				return (*partEntry)(&e), err
			})
		c := contents{Name: r.Kind, Next: r.Number, Versions: []record{r, r}, Parts: []partEntry{e, e}, Packed: e.Flags > 3, Newest: int(e.Flags)}
		compare(t, c, func(b []byte) (any, error) { var c contents; err := learn.Unmarshal(b, &c); return &c, err },
			func(b []byte) (any, error) {
				var c plainContents
				err := learn.Unmarshal(b, &c)
				return (*contents)(&c), err
			})
	})
}

// compare reads a value by two readers, as it is written and damaged.
func compare(t *rapid.T, value any, one, other func([]byte) (any, error)) {
	b, err := learn.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		x, errX := one(b)
		y, errY := other(b)
		if (errX == nil) != (errY == nil) {
			t.Fatalf("%x: %v here, %v there", b, errX, errY)
		}
		if errX == nil {
			again, _ := learn.Marshal(x)
			expected, _ := learn.Marshal(y)
			if string(again) != string(expected) { // as NaN is not itself
				t.Fatalf("%x:\n%+v\n%+v", b, x, y)
			}
			if reflect.DeepEqual(y, y) && !reflect.DeepEqual(x, y) {
				t.Fatalf("%x:\n%#v\n%#v", b, x, y)
			}
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	}
}

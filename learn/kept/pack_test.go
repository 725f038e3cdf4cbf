package kept

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

func TestPackCodes(t *testing.T) {
	for _, values := range []int{1, 3, 255, 256, 65535, 65536} {
		codes := []int32{table.Missing, 0, int32(values - 1)}
		p := packCodes(&cells{codes: codes}, values)
		got, err := p.unpackCodes(3, values)
		if err != nil {
			t.Fatal(err)
		}
		b := &block{columns: []cells{got}}
		for row, want := range codes {
			if have := b.code(0, int32(row)); have != want {
				t.Errorf("%d values: row %d has code %d, want %d", values, row, have, want)
			}
		}
		p = packCodes(&cells{codes: []int32{int32(values)}}, values+1)
		if _, err := p.unpackCodes(1, values); err == nil {
			t.Errorf("%d values: a code beyond them is read", values)
		}
	}
}

// Each kind of number takes the shortest form that gives it back.
func TestPackForms(t *testing.T) {
	many := func(at func(i int) float64) []float64 {
		floats := make([]float64, 1000)
		for i := range floats {
			floats[i] = at(i)
		}
		return floats
	}
	for _, c := range []struct {
		name   string
		floats []float64
		form   form
		bytes  int // at most
	}{
		{"no rows", nil, asWhole, 0},
		{"all missing", many(func(int) float64 { return table.NA }), asWhole, 200},
		{"years of age", many(func(i int) float64 { return float64(18 + scramble(uint64(i))%73) }), asWhole, 900},
		{"cents", many(func(i int) float64 { return (float64(scramble(uint64(i))%100_000) - 50_000) / 100 }), asWhole + 2, 2700},
		{"thirds", many(func(i int) float64 { return float64(i%8) / 3 }), asCode, 600},
		{"infinite", many(func(i int) float64 { return math.Inf(1 - 2*(i%2)) }), asCode, 300},
		{"beyond whole numbers", many(func(i int) float64 { return float64(i) * 1e300 }), asFloat, 8000},
		{"any", many(func(i int) float64 { return float64(scramble(uint64(i))>>11) / (1 << 53) }), asFloat, 7600},
	} {
		p := packFloats(c.floats)
		bytes := len(p.Dictionary)
		for _, plane := range p.Planes {
			bytes += len(plane)
		}
		if p.Form != c.form || bytes > c.bytes {
			t.Errorf("%s: form %d of %d bytes, want %d of at most %d", c.name, p.Form, bytes, c.form, c.bytes)
		}
		got, err := p.unpackFloats(len(c.floats))
		if err != nil || !slices.EqualFunc(got, c.floats, sameBits) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// What is packed comes back to the bit.
func TestPackFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(
			rapid.Float64(),
			rapid.Map(rapid.IntRange(-1e6, 1e6), func(i int) float64 { return float64(i) / 1000 }),
			rapid.SampledFrom([]float64{0, 1, table.NA, math.Inf(1), 1 << 53, -1 << 53, 1.0 / 3, 5e-324, math.MaxFloat64}),
		)
		floats := rapid.SliceOf(rapid.Map(number, canonical)).Draw(t, "numbers")
		for range rapid.IntRange(0, 6).Draw(t, "doublings") {
			floats = append(floats, floats...)
		}
		p := packFloats(floats)
		got, err := p.unpackFloats(len(floats))
		if err != nil || !slices.EqualFunc(got, floats, sameBits) {
			t.Fatalf("%v became %v, %v", floats, got, err)
		}
		if _, err := p.unpackFloats(len(floats) + 1); err == nil {
			t.Fatal("a row more is read")
		}
	})
}

package kept

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/table"
)

// packed is the saved form of a column: numbers ≥ 0, no wider than the largest
// of them needs, byte by byte. The first plane has the lowest byte of each
// number, and so on. A plane that Huffman's code (1952) makes shorter is in that
// code. Rows are in the order of their hashes, so that there is nothing for a
// compressor to find in the sequence of cells, and much in how frequent they
// are: of a name a few bits are left, and of a measured number all but its
// exponent.
type packed struct {
	_      struct{} `cbor:",toarray"`
	Planes [][]byte
	Form   form // of a numeric column
	// Low is the least of the whole numbers, Dictionary the numbers that
	// codes stand for.
	Low        int64
	Dictionary []byte
}

// size returns about as many bytes as the saved form takes, and not less.
func (p *packed) size() int {
	size := len(p.Dictionary) + 64
	for _, plane := range p.Planes {
		size += len(plane) + 9
	}
	return size
}

// form says what the numbers of a packed numeric column are.
type form uint8

// The forms, shortest first. In all but the last 0 is a missing cell.
const (
	asWhole    form = 0  // cell · 10^form less the least one, plus 1; up to mostDigits
	asCode     form = 32 // place in the dictionary plus 1
	asFloat    form = 33 // the bits of the float64
	mostDigits      = 15
)

// Limits of the forms.
const (
	mostPlanes = 6       // of whole numbers: with more, bits are as short
	mostCodes  = 1 << 16 // in a dictionary
	exactWhole = 1 << 53 // every whole number below is a float64
)

// packCodes packs a nominal column.
func packCodes(c *cells, values int) packed {
	numbers := make([]uint64, max(len(c.narrow), len(c.codes)))
	for i, n := range c.narrow {
		numbers[i] = uint64(n + 1) // narrowMissing becomes 0
	}
	for i, n := range c.codes {
		numbers[i] = uint64(n + 1)
	}
	return packed{Planes: packPlanes(numbers, uint64(values))}
}

// unpackCodes reads what packCodes wrote.
func (p *packed) unpackCodes(rows, values int) (cells, error) {
	numbers, err := p.unpackPlanes(rows)
	if err != nil {
		return cells{}, err
	}
	for row, n := range numbers {
		if n > uint64(values) {
			return cells{}, fmt.Errorf("row %d has value %d of %d", row+1, n, values)
		}
	}
	if values <= narrowMissing {
		narrow := make([]uint8, rows)
		for row, n := range numbers {
			narrow[row] = uint8(n - 1)
		}
		return cells{narrow: narrow}, nil
	}
	codes := make([]int32, rows)
	for row, n := range numbers {
		codes[row] = int32(n) - 1
	}
	return cells{codes: codes}, nil
}

// packFloats packs numbers that are canonical: as whole numbers if all are
// decimals of few digits, by a dictionary if they are few, else bit by bit.
func packFloats(floats []float64) packed {
	numbers := make([]uint64, len(floats))
	if p, most := packWhole(floats, numbers); most > 0 {
		p.Planes = packPlanes(numbers, most)
		return p
	}
	if dictionary := distinct(floats, min(len(floats)/2, mostCodes)); dictionary != nil {
		code := make(map[float64]uint64, len(dictionary))
		p := packed{Form: asCode}
		for i, x := range dictionary {
			code[x] = uint64(i + 1)
			p.Dictionary = binary.LittleEndian.AppendUint64(p.Dictionary, math.Float64bits(x))
		}
		for i, x := range floats {
			numbers[i] = code[x] // 0 for NaN, which no map finds
		}
		p.Planes = packPlanes(numbers, uint64(len(dictionary)))
		return p
	}
	for i, x := range floats {
		numbers[i] = math.Float64bits(x)
	}
	return packed{Form: asFloat, Planes: packPlanes(numbers, math.MaxUint64)}
}

// packWhole writes decimals as whole numbers and returns the largest; 0 if
// some number is none or has too many digits.
func packWhole(floats []float64, numbers []uint64) (p packed, most uint64) {
	digits := 0
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range floats {
		if table.IsMissing(x) {
			continue
		}
		for ; ; digits++ {
			if digits > mostDigits {
				return p, 0
			}
			// A decimal is the float64 nearest to its digits over a power of
			// ten, which is what dividing gives; so more digits do no harm.
			if math.Round(x*tens[digits])/tens[digits] == x {
				break
			}
		}
		low, high = min(low, x), max(high, x)
	}
	if low > high {
		low, high = 0, 0 // all are missing
	}
	low, high = math.Round(low*tens[digits]), math.Round(high*tens[digits])
	if !(-exactWhole < low && high < exactWhole && high-low+1 < 1<<(8*mostPlanes)) {
		return p, 0
	}
	for i, x := range floats {
		numbers[i] = 0
		if !table.IsMissing(x) {
			whole := math.Round(x * tens[digits])
			if whole/tens[digits] != x {
				return p, 0
			}
			numbers[i] = uint64(whole-low) + 1
		}
	}
	return packed{Form: asWhole + form(digits), Low: int64(low)}, uint64(high-low) + 1
}

// tens are powers of ten, exact.
var tens = func() (tens [mostDigits + 1]float64) {
	tens[0] = 1
	for i := range mostDigits {
		tens[i+1] = 10 * tens[i]
	}
	return tens
}()

// distinct returns the distinct known numbers in ascending order, nil if there
// are more than so many.
func distinct(floats []float64, most int) []float64 {
	seen := make(map[float64]bool)
	var found []float64
	for _, x := range floats {
		if !table.IsMissing(x) && !seen[x] {
			if len(found) == most {
				return nil
			}
			seen[x] = true
			found = append(found, x)
		}
	}
	slices.Sort(found)
	return found
}

// unpackFloats reads what packFloats wrote.
func (p *packed) unpackFloats(rows int) ([]float64, error) {
	numbers, err := p.unpackPlanes(rows)
	if err != nil {
		return nil, err
	}
	floats := make([]float64, rows)
	switch {
	case p.Form <= asWhole+mostDigits:
		for row, n := range numbers {
			whole := float64(p.Low) + float64(n-1)
			if floats[row] = whole / tens[p.Form-asWhole]; n == 0 {
				floats[row] = table.NA
			}
		}
	case p.Form == asCode:
		if len(p.Dictionary)%8 != 0 {
			return nil, fmt.Errorf("a dictionary of %d bytes", len(p.Dictionary))
		}
		for row, n := range numbers {
			if n > uint64(len(p.Dictionary)/8) {
				return nil, fmt.Errorf("row %d has number %d of %d", row+1, n, len(p.Dictionary)/8)
			}
			floats[row] = table.NA
			if n > 0 {
				floats[row] = math.Float64frombits(binary.LittleEndian.Uint64(p.Dictionary[8*(n-1):]))
			}
		}
	case p.Form == asFloat:
		for row, n := range numbers {
			floats[row] = math.Float64frombits(n)
		}
	default:
		return nil, fmt.Errorf("numbers of form %d", p.Form)
	}
	for row, x := range floats {
		floats[row] = canonical(x)
	}
	return floats, nil
}

// packPlanes writes numbers up to the largest plane by plane, at least one.
func packPlanes(numbers []uint64, most uint64) [][]byte {
	var planes [][]byte
	for shift := 0; shift == 0 || shift < 64 && most>>shift > 0; shift += 8 {
		plane := make([]byte, len(numbers))
		for i, n := range numbers {
			plane[i] = byte(n >> shift)
		}
		planes = append(planes, shorten(plane))
	}
	return planes
}

// unpackPlanes reads what packPlanes wrote.
func (p *packed) unpackPlanes(rows int) ([]uint64, error) {
	if len(p.Planes) < 1 || len(p.Planes) > 8 {
		return nil, fmt.Errorf("numbers of %d bytes", len(p.Planes))
	}
	// A cell takes a bit at least, so that damaged data cannot ask for much
	// more memory than they have themselves.
	for _, plane := range p.Planes {
		if len(plane) > rows || rows > 8*len(plane) {
			return nil, fmt.Errorf("%d bytes for %d cells", len(plane), rows)
		}
	}
	numbers := make([]uint64, rows)
	var room []byte
	for i, plane := range p.Planes {
		if len(plane) < rows {
			room = append(room[:0], make([]byte, rows)...)
			if err := lengthen(plane, room); err != nil {
				return nil, err
			}
			plane = room
		}
		for row, b := range plane {
			numbers[row] |= uint64(b) << (8 * i)
		}
	}
	return numbers, nil
}

// coders are kept because making one costs more than coding a small plane.
var coders = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.HuffmanOnly) // the level is valid
	return w
}}

// shorten returns a plane in Huffman's code, or as it is if that saves less
// than a sixteenth.
func shorten(plane []byte) []byte {
	var counts [256]int
	for _, b := range plane {
		counts[b]++
	}
	bits := 0.0
	n := float64(len(plane))
	for _, c := range counts {
		if c > 0 {
			bits += float64(c) * max(math.Log2(n/float64(c)), 1)
		}
	}
	most := len(plane) - len(plane)/16
	if bits/8 >= float64(most) {
		return plane
	}
	var short bytes.Buffer
	short.Grow(int(bits/8) + len(plane)/64 + 256)
	w := coders.Get().(*flate.Writer)
	defer coders.Put(w)
	w.Reset(&short)
	w.Write(plane) // a buffer takes everything
	w.Close()
	if short.Len() > most {
		return plane
	}
	return slices.Clip(short.Bytes())
}

// lengthen fills a plane from its code.
func lengthen(short, plane []byte) error {
	r := flate.NewReader(bytes.NewReader(short))
	defer r.Close()
	if _, err := io.ReadFull(r, plane); err != nil {
		return fmt.Errorf("cells end early: %v", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return fmt.Errorf("there are more cells than rows")
	}
	return nil
}

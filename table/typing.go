package table

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/spell"
)

// how says what the cells of a column of the input may be.
type how uint8

const (
	skip       how = iota // anything: they are not wanted
	auto                  // all numbers, or all dates, or else names
	asNames               // names
	asNumbers             // numbers only
	asDates               // dates only
	asQuantity            // all numbers or all dates
	asWords               // the words of texts
)

// state says what the known cells of a column have been so far.
type state uint8

const (
	unknown state = iota // there were none
	number
	date
	text
	mixed // numbers, and then something else: to be read again as text
	bag   // texts of which the words are counted
)

// field is a column of the input: its name, and what is to be done with it.
type field struct {
	name     string
	how      how
	weight   bool      // holds the weights of the rows
	group    bool      // says the sequence of the rows
	seconds  bool      // dates are counted in seconds, not in days
	bagged   bool      // its numbers are in the bag of sparse rows
	keepID   bool      // never ignored for having too many distinct values
	whole    bool      // its names are kept, however many there are
	values   []string  // names that the dictionary begins with
	grams    int       // words that follow one another are counted together up to so many
	markers  []string  // those of them that mean a missing cell elsewhere
	closed   bool      // other names than values are an error
	decimal  Style     // how its numbers are written, "" for plainly or as it turns out
	order    Style     // how its dates are written, "" likewise
	dated    bool      // the user says so of this column
	pointed  bool      // and of this one how its decimals are written
	gone     []string  // texts that mean a missing cell because the user or the model says so
	codes    []float64 // those of them that are numbers
	only     bool      // the usual ones do not
	like     namesLike
	grouped  bool // its first cells are all like 1.234
	mayGroup bool // they are like that, or less than a thousand without a point
	groups   bool // and they tell that points are between thousands
	attr     int  // the schema's attribute, or -1
	slot     int  // the column of the assembly, or -1; only the assembly looks at it

	// text is set as soon as a cell is known to be neither number nor date.
	// It spares later blocks a wrong start; what is read does not depend on it.
	text atomic.Bool
}

// cells are what a block of the input holds of one column.
type cells struct {
	field  *field
	state  state
	idle   bool // cells are passed over
	fast   bool // numbers need no check but their grammar
	known  int  // cells that are not missing
	first  int  // where the first known cell is, in the block
	floats []float64
	codes  []int32
	bag    *Bag        // nil unless texts are read
	row    words       // of the text that is being read
	tokens tokeniser   // of texts
	places []int32     // of a word, where in the bag it was last counted
	names  *dictionary // nil as long as there are none
	beyond int         // cells beyond the range of a float64, read as ±Inf
	marked int         // cells that were taken as missing and may be names
	gone   []string    // texts of some of them
}

// fault says why a cell cannot be taken.
type fault uint8

const (
	fine fault = iota
	notNumber
	notDate
	notQuantity
	dateAmongNumbers
	numberAmongDates
	badText
	badWeight
)

// reset makes the cells ready for the next block.
func (c *cells) reset() {
	c.state, c.known, c.first, c.beyond, c.marked, c.gone = unknown, 0, 0, 0, 0, nil
	c.floats, c.codes = c.floats[:0], c.codes[:0]
	if c.names != nil {
		c.names.reset()
	}
	c.idle = c.field.how == skip
	switch c.field.how {
	case asWords:
		c.state = bag
		c.bag = c.bag.emptied()
	case asNames:
		c.state = text
	case asNumbers:
		c.state = number
	case asDates:
		c.state = date
	case auto:
		if c.field.text.Load() {
			c.state = text
		}
	}
	c.fast = c.state == number && c.field.quick()
}

// quick reports whether what looks like a plain number is one.
func (f *field) quick() bool { return !f.weight && f.decimal == "" && f.gone == nil }

// restart makes the cells ready to read the same block again, as names.
func (c *cells) restart() {
	c.reset()
	c.state, c.fast = text, false
}

// rows returns the number of cells. Skipped columns have none.
func (c *cells) rows() int {
	if c.state == bag {
		return c.bag.Rows()
	}
	return max(len(c.floats), len(c.codes))
}

func (c *cells) addMissing() {
	switch c.state {
	case bag:
		c.bag.addMissing()
	case text:
		c.codes = append(c.codes, Missing)
	default:
		c.floats = append(c.floats, NA)
	}
}

// pad adds missing cells up to a number of rows.
func (c *cells) pad(rows int) {
	for c.rows() < rows {
		c.addMissing()
	}
}

// add takes the text of the next cell, which is found at a place in the
// block. A column's first known cell settles what the others must be; when
// one is not, the column is mixed and no more cells are taken.
func (c *cells) add(cell []byte, place int) fault {
	if c.absent(cell) {
		if c.field.weight {
			return badWeight
		}
		c.addMissing()
		return fine
	}
	switch c.state {
	case unknown:
		c.first = place
		if x, ok := c.field.compact(cell); ok {
			c.state = date
			c.addDate(x)
		} else if x, ok := c.field.number(cell); ok {
			c.state, c.fast = number, c.field.quick()
			c.addNumber(x, cell)
		} else if x, ok := c.field.date(cell); ok {
			c.state = date
			c.addDate(x)
		} else if c.marker(cell) {
			c.addMissing()
		} else if c.field.how != auto {
			return c.loosely(cell, notQuantity)
		} else if c.marked > 0 { // what was taken as missing may be a name
			c.state = mixed
		} else {
			c.becomeText()
			return c.addName(cell, place)
		}
	case number:
		x, ok := c.field.number(cell)
		switch {
		case ok && c.field.weight && !(x >= 0 && x <= math.MaxFloat64):
			return badWeight
		case ok:
			c.addNumber(x, cell)
		case c.marker(cell):
			c.addMissing()
		case c.field.how == auto:
			c.state, c.fast = mixed, false
		default:
			return c.refuse(cell, notNumber)
		}
	case date:
		x, ok := c.field.date(cell)
		switch {
		case ok:
			c.addDate(x)
		case c.marker(cell):
			c.addMissing()
		case c.field.how == auto:
			c.state = mixed
		default:
			return c.refuse(cell, notDate)
		}
	case text:
		return c.addName(cell, place)
	case bag:
		return c.addText(cell, place)
	}
	return fine
}

// absent reports whether a cell is missing whatever the others are. Among names
// that nobody has declared, that is decided when all are known.
func (c *cells) absent(cell []byte) bool {
	f := c.field
	for _, v := range f.gone {
		if v == string(cell) {
			return true
		}
	}
	if c.state != text && c.state != bag && f.isCode(cell) {
		c.marked++ // it may be a name
		return true
	}
	switch {
	case len(cell) == 0:
		return true
	case f.only:
		return false
	case c.state != text || f.closed:
		if !isMissing(cell) || c.named(cell) {
			return false
		}
		if len(cell) > 1 {
			c.marked++
		}
		return true
	case f.judged():
		return len(cell) == 1 && cell[0] == '?'
	}
	return f.like.isMissing(cell) && !c.named(cell)
}

// isCode reports whether a cell is a number that means a missing cell, however it
// is written: -999.0 where -999 does.
func (f *field) isCode(cell []byte) bool {
	if len(f.codes) == 0 {
		return false
	}
	x, ok := f.number(cell)
	return ok && slices.Contains(f.codes, x)
}

// marker reports whether a cell among numbers or dates means a missing one, and
// takes note of it.
func (c *cells) marker(cell []byte) bool {
	if c.field.weight || c.field.only || !isNoAmount(cell) {
		return false
	}
	c.marked++
	markIn(&c.gone, cell)
	return true
}

// number reads a number as the column writes them. In a model's column it may
// have a sign of currency or per cent.
func (f *field) number(cell []byte) (float64, bool) {
	if f.decimal != "" {
		return f.decimal.ParseNumber(string(cell))
	}
	x, ok := parseNumber(cell)
	if !ok && f.attr >= 0 {
		return Style("").ParseNumber(string(cell))
	}
	return x, ok
}

// date reads a date as the column writes them.
func (f *field) date(cell []byte) (float64, bool) {
	if f.order != "" {
		return f.order.ParseDate(string(cell))
	}
	return parseDate(cell)
}

// compact reads a date of eight digits where the user says that the column has
// dates.
func (f *field) compact(cell []byte) (float64, bool) {
	if !f.dated {
		return 0, false
	}
	return lookDigits(cell, f.order)
}

// loosely lets a column that must be quantities be read again as names if a cell
// may be one that is written in another style.
func (c *cells) loosely(cell []byte, f fault) fault {
	if c.field.how != asQuantity || !isLoose(cell) {
		return f
	}
	c.state, c.fast = mixed, false
	return fine
}

// isLoose reports whether a text is a number, a date or a time in some style.
func isLoose(cell []byte) bool {
	if w := lookNumber(cell, nil); w.asPoint || w.asComma {
		return true
	}
	if _, ok := parseClock(cell); ok {
		return true
	}
	d := lookDate(cell)
	return d.days[0] == d.days[0] || d.days[1] == d.days[1] || d.days[2] == d.days[2]
}

// addText counts the words of a text.
func (c *cells) addText(cell []byte, place int) fault {
	if !goodText(cell) {
		return badText
	}
	c.tokens.grams = c.field.grams
	from := len(c.bag.Codes)
	c.tokens.each(cell, func(token []byte) { c.occurs(c.word(token, place), from) })
	c.bag.end()
	c.known++
	return fine
}

// occurs counts a word of the text whose words begin at a place of the bag. They
// stand there as they first came.
func (c *cells) occurs(code int32, from int) {
	for len(c.places) <= int(code) {
		c.places = append(c.places, 0)
	}
	b := c.bag
	if at := int(c.places[code]); at >= from && at < len(b.Codes) && b.Codes[at] == code {
		b.Counts[at]++
		return
	}
	c.places[code] = int32(len(b.Codes))
	b.Codes = append(b.Codes, code)
	b.Counts = append(b.Counts, 1)
}

// word returns the code of a word in the block.
func (c *cells) word(token []byte, place int) int32 {
	if c.names == nil {
		c.names = &dictionary{}
	}
	hash := maphash.Bytes(hashSeed, token)
	code := c.names.find(token, hash)
	if code < 0 {
		code = c.names.add(token, hash)
		c.names.places = append(c.names.places, place)
	}
	return code
}

// refuse says what is wrong with a cell that is not what the others are.
func (c *cells) refuse(cell []byte, f fault) fault {
	if c.field.how != asQuantity {
		return f
	}
	_, isNumber := parseNumber(cell)
	_, isDate := parseDate(cell)
	switch {
	case isNumber:
		return numberAmongDates
	case isDate:
		return dateAmongNumbers
	}
	return c.loosely(cell, notQuantity)
}

// addDate takes a date in days.
func (c *cells) addDate(x float64) {
	if c.field.seconds {
		x = secondsOf(x)
	}
	c.known++
	c.floats = append(c.floats, x)
}

func (c *cells) addNumber(x float64, cell []byte) {
	if math.IsInf(x, 0) && overflows(cell) {
		c.beyond++
	}
	c.known++
	c.floats = append(c.floats, x)
}

// addFloat takes a number or a date that the input holds as such.
func (c *cells) addFloat(x float64, kind state, place int) fault {
	switch {
	case c.field.weight && !(x >= 0 && x <= math.MaxFloat64):
		return badWeight
	case IsMissing(x) || kind == number && slices.Contains(c.field.codes, x):
		c.addMissing()
		return fine
	case c.state == unknown && c.field.how == asQuantity:
		c.state, c.first = kind, place
	case c.state != kind:
		a := Attribute{Date: kind == date}
		return c.add([]byte(a.Format(x)), place)
	}
	if kind == date {
		c.addDate(x)
		return fine
	}
	c.known++
	c.floats = append(c.floats, x)
	return fine
}

// addFloats takes numbers or dates that the input holds as such, the first of
// them at a place. It returns how many were taken before one was at fault.
func (c *cells) addFloats(xs []float64, kind state, place int) (int, fault) {
	for i, x := range xs {
		if c.state == kind && !c.field.weight && !c.field.seconds && c.field.codes == nil {
			c.addAll(xs[i:])
			break
		}
		if f := c.addFloat(x, kind, place+i); f != fine {
			return i, f
		}
	}
	return len(xs), fine
}

// addAll takes numbers of which nothing needs to be checked.
func (c *cells) addAll(xs []float64) {
	n, missing := len(c.floats), 0
	c.floats = append(c.floats, xs...)
	added := c.floats[n:]
	for i, x := range added {
		if IsMissing(x) {
			added[i] = NA
			missing++
		}
	}
	c.known += len(xs) - missing
}

// addCode takes a name of the block, or a missing cell, once more.
func (c *cells) addCode(code int32) {
	if code != Missing {
		c.known++
	}
	c.codes = append(c.codes, code)
}

func (c *cells) addName(cell []byte, place int) fault {
	if c.names == nil {
		c.names = &dictionary{}
	}
	hash := maphash.Bytes(hashSeed, cell)
	code := c.names.find(cell, hash)
	if code < 0 {
		if !goodText(cell) {
			return badText
		}
		code = c.names.add(cell, hash)
		c.names.places = append(c.names.places, place)
	}
	c.known++
	c.codes = append(c.codes, code)
	return fine
}

// becomeText turns the missing cells of a column of which nothing was known
// into those of a column of names.
func (c *cells) becomeText() {
	for range c.floats {
		c.codes = append(c.codes, Missing)
	}
	c.floats = c.floats[:0]
	c.state, c.fast = text, false
}

// named reports whether a text that usually means a missing cell is a name of
// this column's dictionary: a declared value is a value.
func (c *cells) named(cell []byte) bool {
	for _, v := range c.field.markers {
		if v == string(cell) {
			return true
		}
	}
	return false
}

// startFrom makes the field's dictionary begin with given values.
func (f *field) startFrom(values []string) {
	f.values, f.markers = values, nil
	for _, v := range values {
		if v != "" && v != "?" && isStrong([]byte(v)) {
			f.markers = append(f.markers, v)
		}
	}
	f.like = likeThese(values)
}

// goodText reports whether a text can be a name: UTF-8 without NUL.
func goodText(b []byte) bool { return bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) }

// say puts a fault into words.
func (f fault) say(name string, cell []byte) string {
	column := fmt.Sprintf("column %q", name)
	switch f {
	case notNumber:
		return fmt.Sprintf("%s: %s is not a number, as the column's other cells are expected to be; correct the cell, or leave it empty if it is not known", column, quote(cell))
	case notDate:
		return fmt.Sprintf("%s: %s is not a date such as 2024-03-01; correct the cell, or leave it empty if it is not known", column, quote(cell))
	case notQuantity:
		return fmt.Sprintf("%s: %s is neither a number nor a date such as 2024-03-01; correct the cell, or leave it empty if it is not known", column, quote(cell))
	case dateAmongNumbers:
		return column + ": a date among numbers; write all of its cells the same way"
	case numberAmongDates:
		return column + ": a number among dates; write all of its cells the same way"
	case badWeight:
		return fmt.Sprintf("%s: %s is not a weight; expected a finite number ≥ 0 in every row", column, quote(cell))
	default:
		return fmt.Sprintf("%s: a cell is not UTF-8 text%s; name its encoding, or convert the file to UTF-8", column, badByte(cell))
	}
}

// badByte names the first byte of a text that is not UTF-8.
func badByte(cell []byte) string {
	for i := 0; i < len(cell); {
		r, size := utf8.DecodeRune(cell[i:])
		if r == utf8.RuneError && size == 1 || r == 0 {
			return fmt.Sprintf(" (byte %d of it is 0x%02x)", i+1, cell[i])
		}
		i += size
	}
	return ""
}

// hint returns what to add to an error about an unknown name, in one line
// even if names hold line ends.
func hint(name string, known []string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, spell.Hint(name, known))
}

// quote returns the text of a cell for an error in one line.
func quote(cell []byte) string {
	const most = 40
	if len(cell) > most {
		for cut := most; ; cut-- {
			if cut == 0 || utf8.RuneStart(cell[cut]) {
				return fmt.Sprintf("%q…", cell[:cut])
			}
		}
	}
	return fmt.Sprintf("%q", cell)
}

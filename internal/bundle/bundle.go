// Package bundle keeps the statistics of many sources in few parts.
//
// A model that is the sum of its sources keeps the numbers of each apart, so
// that forgetting one drops a term. Saved one by one, a thousand sources cost a
// thousand names of columns and values to write and to read, at every update.
// So they are saved in bundles: sources that came one after the other stand
// together, their names of columns and values once, their numbers packed.
//
// Bundles are a function of the order in which the sources came alone: as in a
// counter of base Fan, every Fan neighbours of a size become one of the next
// size (the logarithmic method of Bentley and Saxe 1980). An update therefore
// writes what is new, each source is written again a logarithmic number of
// times, and n sources have a logarithmic number of parts.
//
// It knows nothing of models: learners that count (bayes, prior) say what
// their numbers are.
package bundle

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/table"
)

// Fan is how many neighbours of one size become one of the next. Each version
// of a model is kept, with the parts it was saved with: a source is written once
// alone and once for each size of bundle it came to stand in. So the fewer sizes
// there are, the smaller is the store: up to 4,096 sources each is there twice.
const Fan = 64

// Sizes returns how many of n sources stand in each bundle, in their order. A
// size of 1 is a source by itself.
func Sizes(n int) []int {
	var sizes []int
	size := 1
	for size <= n/Fan {
		size *= Fan
	}
	for ; size > 0; size /= Fan {
		for ; n >= size; n -= size {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// Member is what one source brought: numbers that belong to a schema.
type Member struct {
	ID, Name string
	Schema   *table.Schema
	Target   int
	Numbers  []float64
}

// Packed is a bundle as it is saved.
type Packed struct {
	Columns []Column       `cbor:"columns"` // of all schemas, each once
	Schemas [][]int        `cbor:"schemas"` // see codes.schema
	Sources []PackedSource `cbor:"sources"`
	Texts   []int          `cbor:"texts,omitempty"` // which columns are texts; their values are words

	Styles map[int]table.Style `cbor:"styles,omitempty"` // how cells of some columns are written
}

// Column is a column with every value that one of the sources knows.
type Column struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Numeric bool
	Date    bool
	Time    bool
	Values  []string
}

// PackedSource is a member: its schema is one of the bundle's.
type PackedSource struct {
	_       struct{} `cbor:",toarray"`
	ID      string
	Name    string
	Schema  int
	Target  int
	Count   int
	Numbers []byte
}

// Pack returns the saved form of members.
func Pack(members []Member) *Packed {
	p := &Packed{}
	codes := newCodes()
	known := map[*table.Schema]int{}
	for _, m := range members {
		at, ok := known[m.Schema]
		if !ok {
			at = codes.schema(p, m.Schema)
			known[m.Schema] = at
		}
		p.Sources = append(p.Sources, PackedSource{ID: m.ID, Name: m.Name, Schema: at, Target: m.Target, Count: len(m.Numbers), Numbers: packNumbers(m.Numbers)})
	}
	return p
}

// codes are the places of columns, values and schemas in a bundle.
type codes struct {
	columns map[columnKey]int
	values  []map[string]int
	schemas map[string]int // by their codes
}

type columnKey struct {
	name       string
	kind       table.Kind
	date, time bool
	style      table.Style
}

func newCodes() *codes { return &codes{columns: map[columnKey]int{}, schemas: map[string]int{}} }

// schema returns the place of a schema, which it takes in if it is new. A
// schema is a list of numbers: for each column its place, the number of its
// values, and the place of each.
func (c *codes) schema(p *Packed, s *table.Schema) int {
	var list []int
	for i := range s.Attributes {
		a := &s.Attributes[i]
		key := columnKey{a.Name, a.Kind, a.Date, a.Time, a.Style}
		at, ok := c.columns[key]
		if !ok {
			at = len(p.Columns)
			c.columns[key] = at
			c.values = append(c.values, map[string]int{})
			if key.kind == table.Text {
				p.Texts = append(p.Texts, at)
			}
			if key.style != "" {
				if p.Styles == nil {
					p.Styles = map[int]table.Style{}
				}
				p.Styles[at] = key.style
			}
			p.Columns = append(p.Columns, Column{Name: key.name, Numeric: key.kind == table.Numeric, Date: key.date, Time: key.time})
		}
		list = append(list, at, len(a.Values))
		for _, v := range a.Values {
			code, ok := c.values[at][v]
			if !ok {
				code = len(p.Columns[at].Values)
				c.values[at][v] = code
				p.Columns[at].Values = append(p.Columns[at].Values, v)
			}
			list = append(list, code)
		}
	}
	key := fmt.Sprint(list)
	at, ok := c.schemas[key]
	if !ok {
		at = len(p.Schemas)
		c.schemas[key] = at
		p.Schemas = append(p.Schemas, list)
	}
	return at
}

// plainPacked is a bundle that is read field by field, whatever is in it.
type plainPacked Packed

// UnmarshalCBOR reads a bundle. Every load reads all bundles, so what Pack's
// saved form is like is read here, at a fraction of the cost; anything else is
// left to those who know all of CBOR. The numbers stay where they are in data.
func (p *Packed) UnmarshalCBOR(data []byte) error {
	q := coding.NewQuickNumbers(data)
	if p.read(q); q.Done() {
		return nil
	}
	*p = Packed{}
	return coding.Unmarshal(data, (*plainPacked)(p))
}

func (p *Packed) read(q *coding.Quick) {
	q.Strange = q.Map() != 3
	each := func(name string, add func()) {
		if q.Strange = q.Strange || q.Text() != name; q.Strange || q.Null() {
			return
		}
		for range q.List() {
			if add(); q.Strange {
				return
			}
		}
	}
	each("columns", func() {
		q.Strange = q.List() != 5 || q.Strange
		c := Column{Name: q.Text(), Numeric: q.Bool(), Date: q.Bool(), Time: q.Bool()}
		if !q.Null() {
			for range q.List() {
				if c.Values = append(c.Values, q.Text()); q.Strange {
					return
				}
			}
		}
		p.Columns = append(p.Columns, c)
	})
	each("schemas", func() {
		var list []int
		if !q.Null() {
			list = make([]int, q.List())
		}
		for i := range list {
			list[i] = int(q.Int())
		}
		p.Schemas = append(p.Schemas, list)
	})
	each("sources", func() {
		q.Strange = q.List() != 6 || q.Strange
		s := PackedSource{ID: q.Text(), Name: q.Text(), Schema: int(q.Int()), Target: int(q.Int()), Count: int(q.Int())}
		if !q.Null() {
			s.Numbers = q.Share()
		}
		p.Sources = append(p.Sources, s)
	})
}

// Unpack returns the members of a bundle, those of one schema sharing it. It
// checks what it reads but for the meaning of the numbers.
func (p *Packed) Unpack() ([]Member, error) {
	members, err := p.Outline()
	if err != nil {
		return nil, err
	}
	for i := range members {
		if members[i].Numbers, err = p.Sources[i].Unpack(nil); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// Unpack returns a source's numbers, in room if there is enough.
func (s *PackedSource) Unpack(room []float64) ([]float64, error) {
	if s.Count < 0 || s.Count > len(s.Numbers) { // a byte each at least
		return nil, fmt.Errorf("source %q: %d numbers in %d bytes", s.ID, s.Count, len(s.Numbers))
	}
	numbers := slices.Grow(room[:0], s.Count)[:s.Count]
	if err := unpackNumbers(numbers, s.Numbers); err != nil {
		return nil, fmt.Errorf("source %q: %v", s.ID, err)
	}
	return numbers, nil
}

// Outline is Unpack without the numbers.
func (p *Packed) Outline() ([]Member, error) {
	schemas := make([]*table.Schema, len(p.Schemas))
	for i, list := range p.Schemas {
		var err error
		if schemas[i], err = p.schema(list); err != nil {
			return nil, fmt.Errorf("schema %d: %v", i+1, err)
		}
	}
	members := make([]Member, len(p.Sources))
	for i := range p.Sources {
		s := &p.Sources[i]
		if s.Schema < 0 || s.Schema >= len(schemas) {
			return nil, fmt.Errorf("source %q has schema %d of %d", s.ID, s.Schema+1, len(schemas))
		}
		if s.Target < 0 || s.Target >= len(schemas[s.Schema].Attributes) {
			return nil, fmt.Errorf("source %q has target %d of %d columns", s.ID, s.Target+1, len(schemas[s.Schema].Attributes))
		}
		members[i] = Member{ID: s.ID, Name: s.Name, Schema: schemas[s.Schema], Target: s.Target}
	}
	return members, nil
}

// schema reads one of the bundle's schemas. Values that stand in the bundle in
// the same order share its list.
func (p *Packed) schema(list []int) (*table.Schema, error) {
	s := &table.Schema{}
	names := map[string]bool{}
	for len(list) > 0 {
		if len(list) < 2 || list[0] < 0 || list[0] >= len(p.Columns) || list[1] < 0 || list[1] > len(list)-2 {
			return nil, fmt.Errorf("column %d is none of %d, or its values are missing", len(s.Attributes)+1, len(p.Columns))
		}
		at, values := list[0], list[2:2+list[1]]
		column := &p.Columns[at]
		list = list[2+list[1]:]
		a := table.Attribute{Name: column.Name, Kind: table.Nominal, Date: column.Date, Time: column.Time, Style: p.Styles[at]}
		if column.Numeric {
			a.Kind = table.Numeric
			if len(values) > 0 {
				return nil, fmt.Errorf("column %q is numeric, but has names for values", a.Name)
			}
		}
		if slices.Contains(p.Texts, at) {
			if column.Numeric {
				return nil, fmt.Errorf("column %q is numeric, and a text", a.Name)
			}
			a.Kind = table.Text
		}
		if names[a.Name] {
			return nil, fmt.Errorf("two columns are named %q", a.Name)
		}
		names[a.Name] = true
		seen := make(map[string]bool, len(values))
		for _, v := range values {
			if v < 0 || v >= len(column.Values) || seen[column.Values[v]] {
				return nil, fmt.Errorf("column %q: value %d is none of %d, or comes twice", a.Name, v+1, len(column.Values))
			}
			seen[column.Values[v]] = true
			a.Values = append(a.Values, column.Values[v])
		}
		s.Attributes = append(s.Attributes, a)
	}
	return s, nil
}

// Listed is a part, and the sources that stand in it. Whoever has the list of a
// model's parts, and their sum, can do without the parts.
type Listed struct {
	_       struct{} `cbor:",toarray"`
	Part    string
	Sources []string // identifier and name of each, in turn
	Plain   bool     // for learners to say what they need to know of it
}

// Later is a part that was not read yet. The type tells whose blocks it has.
type Later[B any] struct {
	once sync.Once
	held Held
	open func(data []byte) error
	err  error
}

// NewLater returns a part that open will read into its blocks.
func NewLater[B any](held Held, open func(data []byte) error) *Later[B] {
	return &Later[B]{held: held, open: open}
}

// Load fills in the blocks, unless they are. It is safe for concurrent use.
func (l *Later[B]) Load() error {
	l.once.Do(func() {
		var data []byte
		if data, l.err = l.held.Load(); l.err == nil {
			l.err = l.open(data)
		}
	})
	return l.err
}

// packNumbers writes whole numbers in few bytes, others as they are.
func packNumbers(xs []float64) []byte {
	var data []byte
	for _, x := range xs {
		if n := uint64(max(x, 0)); x < 1<<53 && float64(n) == x && !math.Signbit(x) {
			data = binary.AppendUvarint(data, n<<1)
			continue
		}
		data = binary.LittleEndian.AppendUint64(append(data, 1), math.Float64bits(x))
	}
	return data
}

// unpackNumbers fills in numbers, and expects no others.
func unpackNumbers(xs []float64, data []byte) error {
	for i := range xs {
		if len(data) >= 9 && data[0] == 1 { // most of them
			xs[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[1:]))
			data = data[9:]
			continue
		}
		u, length := binary.Uvarint(data)
		switch {
		case length <= 0, u&1 == 1 && (u != 1 || len(data) < length+8):
			return fmt.Errorf("number %d of %d cannot be read", i+1, len(xs))
		case u == 1:
			xs[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[length:]))
			length += 8
		default:
			xs[i] = float64(u >> 1)
		}
		data = data[length:]
	}
	if len(data) > 0 {
		return fmt.Errorf("%d bytes after the last of %d numbers", len(data), len(xs))
	}
	return nil
}

// PackSparse writes numbers most of which are 0: how many of those come
// before each other one, and that one as packNumbers does.
func PackSparse(xs []float64) []byte {
	var data []byte
	gap := uint64(0)
	for i, x := range xs {
		if x == 0 {
			gap++
			continue
		}
		data = append(binary.AppendUvarint(data, gap), packNumbers(xs[i:i+1])...)
		gap = 0
	}
	return data
}

// UnpackSparse fills in numbers that are 0 so far.
func UnpackSparse(xs []float64, data []byte) error {
	for at := uint64(0); len(data) > 0; at++ {
		gap, length := binary.Uvarint(data)
		if length <= 0 || gap >= uint64(len(xs))-at {
			return fmt.Errorf("a number beyond the %d that there are, or none", len(xs))
		}
		at, data = at+gap, data[length:]
		size := 9
		if u, length := binary.Uvarint(data); u != 1 {
			size = length
		}
		if size <= 0 || size > len(data) {
			return fmt.Errorf("number %d of %d cannot be read", at+1, len(xs))
		}
		if err := unpackNumbers(xs[at:at+1], data[:size]); err != nil {
			return err
		}
		data = data[size:]
	}
	return nil
}

// Shelf remembers how blocks that are never changed were saved, for a model
// and those that come from it, so that an update writes what is new alone. It
// is safe for concurrent use; the zero value is empty.
type Shelf[B comparable] struct {
	mutex sync.Mutex
	known map[B]Run[B] // by the first block
}

// Run is blocks that stand together, and their saved form, which may be held
// elsewhere.
type Run[B comparable] struct {
	Blocks []B
	Data   []byte
	Held   Held
}

// Held is a saved form that was not read (learn.Held).
type Held interface{ Load() ([]byte, error) }

// Save returns blocks in bundles, saving those that are not as they were last
// time.
func (s *Shelf[B]) Save(blocks []B, save func(blocks []B) ([]byte, error)) ([]Run[B], error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var runs []Run[B]
	for _, size := range Sizes(len(blocks)) {
		run := Run[B]{Blocks: blocks[:size:size]}
		blocks = blocks[size:]
		if of, ok := s.known[run.Blocks[0]]; ok && slices.Equal(of.Blocks, run.Blocks) {
			run.Data, run.Held = of.Data, of.Held
		} else {
			var err error
			if run.Data, err = save(run.Blocks); err != nil {
				return nil, err
			}
		}
		runs = append(runs, run)
	}
	s.known = make(map[B]Run[B], len(runs))
	for _, run := range runs {
		s.known[run.Blocks[0]] = run
	}
	return runs, nil
}

// Put remembers what was read.
func (s *Shelf[B]) Put(run Run[B]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.known == nil {
		s.known = map[B]Run[B]{}
	}
	s.known[run.Blocks[0]] = run
}

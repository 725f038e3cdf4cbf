package gaussian

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// saved is the settings part.
type saved struct {
	Format    int      `cbor:"format"`
	HasTarget bool     `cbor:"has_target"`
	Settings  settings `cbor:"settings"`
}

// savedBlock is the part of one source.
type savedBlock struct {
	ID      string        `cbor:"id"`
	Name    string        `cbor:"name"`
	Target  int           `cbor:"target"`
	Rows    float64       `cbor:"rows"`
	Columns []savedColumn `cbor:"columns"`
	Units   []savedUnit   `cbor:"units"`
	Said    []savedUnit   `cbor:"said,omitempty"`
	Expert  [2]string     `cbor:"expert,omitempty"` // ID and name
}

// savedColumn is an attribute and what it is like over the source's rows.
type savedColumn struct {
	Name    string    `cbor:"name"`
	Numeric bool      `cbor:"numeric,omitempty"`
	Date    bool      `cbor:"date,omitempty"`
	Time    bool      `cbor:"time,omitempty"`
	Values  []string  `cbor:"values,omitempty"`
	Level   int8      `cbor:"level,omitempty"`
	Moment  []float64 `cbor:"moment,omitempty"`
	Counts  []float64 `cbor:"counts,omitempty"`

	Style table.Style `cbor:"style,omitempty"`
}

// savedUnit is a source's share of a unit: three numbers for each numeric
// column, then one for each value of each nominal one.
type savedUnit struct {
	Key     string    `cbor:"key"`
	Name    string    `cbor:"name"`
	Class   int32     `cbor:"class"`
	Normal  []bool    `cbor:"normal"`
	Expert  bool      `cbor:"expert,omitempty"`
	Begun   string    `cbor:"begun,omitempty"`
	N       float64   `cbor:"n"`
	Numbers []float64 `cbor:"numbers"`
	Cross   []float64 `cbor:"cross,omitempty"`
}

const (
	format       = 1
	settingsPart = "settings"
	sourcePart   = "source/"
	bundlePart   = "sources/" // of several; the identifier of the first follows
	sumPart      = "sum"      // derived: of all sources, where there are many
	manySources  = 32
	sourceParts  = "source" // what the names of both begin with
)

// savedSum is the sum of all sources, so that who has it needs the numbers of
// none to answer, and to add one more.
type savedSum struct {
	Of    []byte          `cbor:"of"` // see identify
	Block savedBlock      `cbor:"block"`
	Parts []bundle.Listed `cbor:"parts,omitempty"` // where the sources are
}

// identify returns a checksum of the sources and their order.
func identify(blocks []*block) []byte {
	h := sha256.New()
	for _, b := range blocks {
		fmt.Fprintf(h, "%d %s", len(b.source.ID), b.source.ID)
	}
	return h.Sum(nil)
}

// packed is where the numbers of a block are that nobody asked for yet.
type packed struct {
	once   sync.Once
	bundle *savedBundle
	at     int // among its sources
	err    error
}

// load reads the block's part and its numbers, unless they are there. Whoever
// looks at more of a model's block than its source calls it first.
func (b *block) load() error {
	if b.later != nil {
		return b.later.Load()
	}
	if b.packed == nil {
		return nil
	}
	b.packed.once.Do(func() {
		from := &b.packed.bundle.Packed.Sources[b.packed.at]
		m := bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: max(b.target, 0)}
		if m.Numbers, b.packed.err = from.Unpack(nil); b.packed.err != nil {
			return
		}
		var s *savedBlock
		if s, b.packed.err = b.packed.bundle.unpack(&m); b.packed.err != nil {
			return
		}
		var own *block
		if own, b.packed.err = s.block(); b.packed.err != nil {
			return
		}
		if own.target != b.target {
			b.packed.err = fmt.Errorf("source %q: its target is %q, expected %q", b.source.ID, own.targetName(), b.targetName())
			return
		}
		b.rows, b.columns, b.units, b.said = own.rows, own.columns, own.units, own.said
	})
	return b.packed.err
}

// rowsAlone reports whether a block is known to have no expert's units, though
// nobody asked for its numbers yet.
func (b *block) rowsAlone() bool {
	return b.later != nil && b.alone || b.packed != nil && !slices.ContainsFunc(b.packed.bundle.Units, func(u savedUnit) bool { return u.Expert })
}

// load reads the numbers of blocks.
func load(blocks []*block) error {
	for _, b := range blocks {
		if err := b.load(); err != nil {
			return err
		}
	}
	return nil
}

// savedBundle is the part of several sources, either their blocks one by one
// or, if all of them are rows alone, packed: units are written once, and each
// source has their numbers (see block.numbers).
type savedBundle struct {
	Blocks []savedBlock   `cbor:"blocks,omitempty"`
	Packed *bundle.Packed `cbor:"packed,omitempty"`
	Units  []savedUnit    `cbor:"units,omitempty"` // without numbers
}

// Parts returns the settings and a part for each source or, where there are
// many, for each bundle of them.
func (m *Model) Parts() ([]learn.Part, error) {
	data, err := learn.Marshal(saved{format, m.total.target != learn.NoTarget, m.settings})
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: settingsPart, Data: data}}
	runs, err := m.written.Save(m.blocks, save)
	if err != nil {
		return nil, err
	}
	sources, list := kept.PartsOf(runs, partName, sourceOf)
	for i, run := range runs {
		list[i].Plain = !slices.ContainsFunc(run.Blocks, func(b *block) bool { return !b.withoutExperts() })
	}
	parts = append(parts, sources...)
	if len(m.blocks) < manySources {
		return parts, nil
	}
	data, err = learn.Marshal(savedSum{identify(m.blocks), m.sum.saved(), list})
	return append(parts, learn.Part{Name: sumPart, Derived: true, Data: data}), err
}

// partName is what the name of a part begins with.
func partName(run *bundle.Run[*block]) string {
	if len(run.Blocks) > 1 || run.Blocks[0].plain() {
		return bundlePart
	}
	return sourcePart
}

// plain reports whether a block is rows alone.
func (b *block) plain() bool { return len(b.said) == 0 && b.expert == (learn.Source{}) }

// withoutExperts reports whether a block is known to be rows alone, none of
// whose units an expert told.
func (b *block) withoutExperts() bool {
	return b.rowsAlone() || b.later == nil && b.packed == nil && b.plain() && !slices.ContainsFunc(b.units, func(s share) bool { return s.expert })
}

// save returns the saved form of one block or of several.
func save(blocks []*block) ([]byte, error) {
	if err := load(blocks); err != nil {
		return nil, err
	}
	if len(blocks) == 1 && !blocks[0].plain() {
		return learn.Marshal(blocks[0].saved())
	}
	var to savedBundle
	if slices.ContainsFunc(blocks, func(b *block) bool { return !b.plain() }) {
		for _, b := range blocks {
			to.Blocks = append(to.Blocks, b.saved())
		}
		return learn.Marshal(to)
	}
	known := map[string]int{}
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		places := make([]int, len(b.units))
		for k := range b.units {
			u := &b.units[k].unit
			key := fmt.Sprintf("%q %q %d %v %t %q", u.key, u.name, u.class, u.normal, u.expert, u.begun)
			at, ok := known[key]
			if !ok {
				at = len(to.Units)
				known[key] = at
				to.Units = append(to.Units, savedUnit{Key: u.key, Name: u.name, Class: u.class, Normal: u.normal, Expert: u.expert, Begun: u.begun})
			}
			places[k] = at
		}
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: max(b.target, 0), Numbers: b.numbers(places)}
	}
	to.Packed = bundle.Pack(members)
	return learn.Marshal(to)
}

// numbers returns all that a block knows besides its schema and its units'
// names: whether it has a target, the weight of its rows; for each column its
// level and moments, or its counts; how many units it has, and for each its
// place in the bundle, its weight, its numbers, and its products of columns.
func (b *block) numbers(places []int) []float64 {
	numbers := []float64{0, b.rows}
	if b.target != learn.NoTarget {
		numbers[0] = 1
	}
	for j := range b.columns {
		c := &b.columns[j]
		if c.counts == nil {
			numbers = append(numbers, float64(c.level-moment.Tiny), c.moment.N, c.moment.Mean, c.moment.M2)
		}
		numbers = append(numbers, c.counts...)
	}
	numbers = append(numbers, float64(len(b.units)))
	for i, u := range b.savedUnits(b.units) {
		numbers = append(numbers, float64(places[i]), u.N)
		numbers = append(numbers, u.Numbers...)
		numbers = append(append(numbers, float64(len(u.Cross))), u.Cross...)
	}
	return numbers
}

// unpack returns a member of a bundle as a part of one source would be.
func (s *savedBundle) unpack(m *bundle.Member) (*savedBlock, error) {
	rest := m.Numbers
	bad := fmt.Errorf("source %q: numbers are missing, or not what they should be", m.ID)
	take := func(n int) []float64 {
		if n > len(rest) {
			return nil
		}
		some := rest[:n:n]
		rest = rest[n:]
		return some
	}
	whole := func(x float64, most int) (int, bool) {
		return int(x), x >= 0 && x <= float64(most) && x == math.Trunc(x)
	}
	head := take(2)
	if head == nil {
		return nil, bad
	}
	to := &savedBlock{ID: m.ID, Name: m.Name, Target: m.Target, Rows: head[1]}
	if head[0] == 0 {
		to.Target = learn.NoTarget
	}
	each := 0 // numbers of a unit
	for j := range m.Schema.Attributes {
		a := &m.Schema.Attributes[j]
		c := savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: a.Date, Time: a.Time, Values: a.Values, Style: a.Style}
		if c.Numeric {
			x := take(4)
			if x == nil {
				return nil, bad
			}
			level, ok := whole(x[0], int(moment.Huge-moment.Tiny))
			if !ok {
				return nil, bad
			}
			c.Level, c.Moment = int8(level)+int8(moment.Tiny), x[1:]
			each += 3
		} else {
			if c.Counts = take(len(a.Values)); c.Counts == nil && len(a.Values) > 0 {
				return nil, bad
			}
			each += len(a.Values)
		}
		to.Columns = append(to.Columns, c)
	}
	count := take(1)
	if count == nil {
		return nil, bad
	}
	units, ok := whole(count[0], len(s.Units))
	if !ok {
		return nil, bad
	}
	for range units {
		x := take(2 + each + 1)
		if x == nil {
			return nil, bad
		}
		at, isUnit := whole(x[0], len(s.Units)-1)
		cross, isCount := whole(x[2+each], len(rest))
		if !isUnit || !isCount {
			return nil, bad
		}
		u := s.Units[at]
		u.N, u.Numbers, u.Cross = x[1], x[2:2+each], take(cross)
		to.Units = append(to.Units, u)
	}
	if len(rest) > 0 {
		return nil, bad
	}
	return to, nil
}

func (b *block) saved() savedBlock {
	s := savedBlock{ID: b.source.ID, Name: b.source.Name, Target: b.target, Rows: b.rows, Columns: make([]savedColumn, len(b.columns)), Units: b.savedUnits(b.units), Said: b.savedUnits(b.said), Expert: [2]string{b.expert.ID, b.expert.Name}}
	for j, c := range b.columns {
		a := &b.schema.Attributes[j]
		s.Columns[j] = savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: a.Date, Time: a.Time, Values: a.Values, Counts: c.counts, Style: a.Style}
		if a.Kind == table.Numeric {
			s.Columns[j].Level = int8(c.level)
			s.Columns[j].Moment = []float64{c.moment.N, c.moment.Mean, c.moment.M2}
		}
	}
	return s
}

func (b *block) savedUnits(units []share) []savedUnit {
	saved := make([]savedUnit, len(units))
	for i := range units {
		u := &units[i]
		to := savedUnit{Key: u.key, Name: u.name, Class: u.class, Normal: u.normal, Expert: u.expert, Begun: u.begun, N: u.n, Cross: u.cross}
		for j := range b.columns {
			if u.counts[j] == nil {
				to.Numbers = append(to.Numbers, u.moments[j].N, u.moments[j].Mean, u.moments[j].M2)
			}
		}
		for j := range b.columns {
			to.Numbers = append(to.Numbers, u.counts[j]...)
		}
		saved[i] = to
	}
	return saved
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	data := learn.FindPart(parts, settingsPart)
	if data == nil {
		return nil, fmt.Errorf("the settings are missing")
	}
	var s saved
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("part %s: %v", settingsPart, err)
	}
	if s.Format != format {
		return nil, fmt.Errorf("part %s: format %d, this program reads format %d", settingsPart, s.Format, format)
	}
	if err := s.Settings.check(); err != nil {
		return nil, fmt.Errorf("part %s: %v", settingsPart, err)
	}
	if sum := learn.FindPart(parts, sumPart); sum != nil {
		if m := decodeSum(&s, sum, parts); m != nil {
			return m, nil
		}
	}
	blocks, written, err := decodeSources(&s, parts, nil)
	if err != nil {
		return nil, err
	}
	m, err := newModel(s.Settings, s.HasTarget, blocks)
	if err != nil {
		return nil, err
	}
	m.written = written
	return m, nil
}

// decodeSum is decode where the sum is known: the numbers of most sources are
// left as they are. It returns nil if that does not work out, as the sum can be
// done without.
func decodeSum(s *saved, data []byte, parts []learn.Part) *Model {
	var from savedSum
	if learn.Unmarshal(data, &from) != nil {
		return nil
	}
	sum, err := from.Block.block()
	if err != nil {
		return nil
	}
	blocks, written, err := decodeSources(s, parts, &from)
	if err != nil || len(blocks) < manySources || !bytes.Equal(identify(blocks), from.Of) || s.HasTarget != (sum.target != learn.NoTarget) {
		return nil
	}
	if i := slices.IndexFunc(blocks, func(b *block) bool { return b.later == nil }); i >= 0 && sum.targetName() != blocks[i].targetName() {
		return nil
	}
	m, err := newModelOf(sum, nil, s.Settings, s.HasTarget, blocks)
	if err != nil {
		return nil
	}
	m.written = written
	return m
}

// decodeSources reads the sources. If their sum is known their numbers can
// wait: those of bundles are left packed, and parts that are held unread.
func decodeSources(s *saved, parts []learn.Part, sum *savedSum) ([]*block, *bundle.Shelf[*block], error) {
	var blocks []*block
	written, known := &bundle.Shelf[*block]{}, map[string]bool{}
	settings := false
	var listed map[string]*bundle.Listed
	if sum != nil {
		listed = kept.Listed(sum.Parts, parts, func(name string) bool { return name == sumPart || name == settingsPart })
	}
	var first *block // of those that were read
	for _, p := range parts {
		if p.Name == sumPart || p.Name == settingsPart && !settings {
			settings = settings || p.Name == settingsPart
			continue
		}
		read, err := s.wait(p, listed[p.Name]), error(nil)
		if read == nil {
			read, err = s.decodeBlocks(p, sum != nil)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("part %s: %w", p.Name, err)
		}
		for _, b := range read {
			if known[b.source.ID] {
				return nil, nil, fmt.Errorf("part %s: its source %q comes twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
			if blocks = append(blocks, b); b.later != nil {
				continue
			}
			if first == nil {
				first = b
			}
			if b.targetName() != first.targetName() {
				return nil, nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.targetName(), first.targetName())
			}
		}
		written.Put(bundle.Run[*block]{Blocks: read, Data: p.Data, Held: p.Held})
	}
	if len(blocks) == 0 {
		return nil, nil, fmt.Errorf("the sources are missing")
	}
	return blocks, written, nil
}

// wait returns the blocks of a part that is held and in the list of a sum; nil
// if it is not.
func (of *saved) wait(p learn.Part, listed *bundle.Listed) []*block {
	stand := func(s learn.Source, later *bundle.Later[block]) *block {
		return &block{source: s, target: learn.NoTarget, later: later, alone: listed.Plain}
	}
	decode := func(p learn.Part) ([]*block, error) { return of.decodeBlocks(p, false) }
	return kept.Wait(p, listed, stand, decode, func(to, from *block) error {
		if from.source != to.source || (from.target != learn.NoTarget) != of.HasTarget {
			return fmt.Errorf("the source %q, expected %q", from.source.ID, to.source.ID)
		}
		to.schema, to.target, to.rows, to.columns, to.units, to.said, to.expert = from.schema, from.target, from.rows, from.columns, from.units, from.said, from.expert
		return nil
	})
}

// decodeBlocks reads the blocks of one part, at least one. If wait, those of
// bundles are left packed.
func (of *saved) decodeBlocks(p learn.Part, wait bool) (blocks []*block, err error) {
	if p.Data, err = p.Load(); err != nil {
		return nil, err
	}
	id, isSource := strings.CutPrefix(p.Name, sourcePart)
	switch first, isBundle := strings.CutPrefix(p.Name, bundlePart); {
	case isSource:
		var from savedBlock
		if err := learn.Unmarshal(p.Data, &from); err != nil {
			return nil, err
		}
		b, err := from.block()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	case isBundle:
		id = first
		s := &savedBundle{}
		if err := learn.Unmarshal(p.Data, s); err != nil {
			return nil, err
		}
		if blocks, err = s.blocks(of, wait); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("it is not one that gaussian knows")
	}
	if len(blocks) == 0 || blocks[0].source.ID != id {
		return nil, fmt.Errorf("its source is not the one it is named after")
	}
	return blocks, nil
}

// blocks returns the blocks of a bundle, packed if that is asked for and they
// are.
func (s *savedBundle) blocks(of *saved, wait bool) ([]*block, error) {
	var blocks []*block
	for i := range s.Blocks {
		b, err := s.Blocks[i].block()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if s.Packed == nil {
		return blocks, nil
	}
	members, err := s.Packed.Outline()
	if err != nil {
		return nil, err
	}
	for i := range members {
		m := &members[i]
		if wait && len(members) > 1 {
			b := &block{source: learn.Source{ID: m.ID, Name: m.Name}, schema: m.Schema, target: learn.NoTarget, packed: &packed{bundle: s, at: i}}
			if of.HasTarget {
				b.target = m.Target
			}
			blocks = append(blocks, b)
			continue
		}
		if m.Numbers, err = s.Packed.Sources[i].Unpack(nil); err != nil {
			return nil, err
		}
		from, err := s.unpack(m)
		if err != nil {
			return nil, err
		}
		b, err := from.block()
		if err != nil {
			return nil, err
		}
		b.schema = m.Schema // one for all that have the same
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// targetName returns the name of the target, "" for none.
func (b *block) targetName() string {
	if b.target == learn.NoTarget {
		return ""
	}
	return b.schema.Attributes[b.target].Name
}

// block checks what was read and returns it as a block.
func (s *savedBlock) block() (*block, error) {
	if s.Target < learn.NoTarget || s.Target >= len(s.Columns) || !isWeight(s.Rows) {
		return nil, fmt.Errorf("target %d of %d columns, or rows of the weight %v", s.Target, len(s.Columns), s.Rows)
	}
	b := &block{source: learn.Source{ID: s.ID, Name: s.Name}, schema: &table.Schema{}, target: s.Target, rows: s.Rows, expert: learn.Source{ID: s.Expert[0], Name: s.Expert[1]}}
	numbers := 0 // of each unit
	for j := range s.Columns {
		c := &s.Columns[j]
		a := table.Attribute{Name: c.Name, Kind: table.Nominal, Values: c.Values, Date: c.Date, Time: c.Time, Style: c.Style}
		o := overall{level: moment.Level(c.Level), counts: c.Counts}
		if c.Numeric {
			a.Kind = table.Numeric
			numbers += 3
			if len(c.Values)+len(c.Counts) > 0 || len(c.Moment) != 3 || o.level < moment.Tiny || o.level > moment.Huge {
				return nil, fmt.Errorf("column %q: %d counts, %d moments and level %d of a number", c.Name, len(c.Counts), len(c.Moment), c.Level)
			}
			o.moment = moment.Moment{N: c.Moment[0], Mean: c.Moment[1], M2: c.Moment[2]}
			if o.counts = nil; !o.moment.Valid() {
				return nil, fmt.Errorf("column %q: %v are not moments", c.Name, o.moment)
			}
		} else {
			numbers += len(c.Values)
			if len(c.Counts) != len(c.Values) || len(c.Moment) > 0 || c.Level != 0 || slices.ContainsFunc(c.Counts, func(n float64) bool { return !isWeight(n) }) {
				return nil, fmt.Errorf("column %q: %d weights of %d values, or not weights", c.Name, len(c.Counts), len(c.Values))
			}
			if o.counts == nil {
				o.counts = []float64{}
			}
		}
		b.schema.Attributes = append(b.schema.Attributes, a)
		b.columns = append(b.columns, o)
	}
	if err := table.Distinct(b.schema); err != nil {
		return nil, err
	}
	var err error
	if b.units, err = b.read(s.Units, numbers); err != nil {
		return nil, err
	}
	b.said, err = b.read(s.Said, numbers)
	return b, err
}

// read checks units, each of so many numbers, and returns them as shares.
func (b *block) read(units []savedUnit, numbers int) ([]share, error) {
	keys := map[string]bool{}
	shares := make([]share, len(units))
	for i := range units {
		u := &units[i]
		if len(u.Numbers) != numbers || len(u.Normal) != len(b.columns) || keys[u.Key] || !isWeight(u.N) {
			return nil, fmt.Errorf("unit %q has %d numbers, expected %d, or comes twice", u.Name, len(u.Numbers), numbers)
		}
		keys[u.Key] = true
		if u.Class != table.Missing && (b.target < 0 || u.Class < 0 || int(u.Class) >= len(b.schema.Attributes[b.target].Values)) {
			return nil, fmt.Errorf("unit %q is of class %d, which is not there", u.Name, u.Class)
		}
		var err error
		if shares[i], err = u.share(b); err != nil {
			return nil, fmt.Errorf("unit %q: %v", u.Name, err)
		}
		shares[i].place = i
	}
	return shares, nil
}

func (u *savedUnit) share(b *block) (share, error) {
	to := newShare(unit{key: u.Key, name: u.Name, class: u.Class, normal: u.Normal, expert: u.Expert, begun: u.Begun}, b.schema)
	to.n = u.N
	rest := u.Numbers
	for j := range b.columns {
		if to.counts[j] == nil {
			to.moments[j] = moment.Moment{N: rest[0], Mean: rest[1], M2: rest[2]}
			if rest = rest[3:]; !to.moments[j].Valid() {
				return share{}, fmt.Errorf("%v are not moments", to.moments[j])
			}
		}
	}
	for j := range b.columns {
		n := copy(to.counts[j], rest)
		rest = rest[n:]
		if slices.ContainsFunc(to.counts[j], func(n float64) bool { return !isWeight(n) }) {
			return share{}, fmt.Errorf("counts of column %q are not weights", b.schema.Attributes[j].Name)
		}
	}
	if len(u.Cross) > 0 {
		if len(u.Cross) != triangle(len(b.columns)) {
			return share{}, fmt.Errorf("%d products of columns, expected %d", len(u.Cross), triangle(len(b.columns)))
		}
		to.cross = u.Cross
		for j := range b.columns {
			for k := range j + 1 {
				if x := u.Cross[tri(j, k)]; !(math.Abs(x) <= math.Sqrt(to.moments[j].M2)*math.Sqrt(to.moments[k].M2)*(1+1e-6)) {
					return share{}, fmt.Errorf("the products of columns %d and %d sum up to %v, more than their squares", j+1, k+1, x)
				}
			}
		}
	}
	if u.Class >= 0 && u.N > 0 && !(to.counts[b.target][u.Class] > 0) {
		return share{}, fmt.Errorf("it has rows, but none of its class")
	}
	return to, nil
}

// isWeight reports whether a number can be the weight of rows.
func isWeight(w float64) bool { return w >= 0 && w <= moment.MaxWeight && !math.Signbit(w) }

package bayes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// saved is the settings part.
type saved struct {
	Format int     `cbor:"format"`
	M      float64 `cbor:"m"`
	PriorM float64 `cbor:"prior_m"`
	// Missing is countMissing, or "".
	Missing string `cbor:"missing,omitempty"`
	// Words are the settings of texts, of a model that has some.
	Words *savedWords `cbor:"words,omitempty"`
}

type savedWords struct {
	Event  string  `cbor:"event"`
	Alpha  float64 `cbor:"alpha"`
	Count  string  `cbor:"count"`
	M      float64 `cbor:"m"`
	Min    float64 `cbor:"min"`
	Stop   string  `cbor:"stop"`
	Stem   string  `cbor:"stem,omitempty"`
	Length float64 `cbor:"length,omitempty"`
}

// savedBlock is the part of one source. Numbers stand as in block; moments as
// three numbers a class.
type savedBlock struct {
	ID      string        `cbor:"id"`
	Name    string        `cbor:"name"`
	Target  int           `cbor:"target"`
	Classes []float64     `cbor:"classes"`
	Columns []savedColumn `cbor:"columns"`
	// Texts are the counts of columns of texts, which have none there.
	Texts []savedText `cbor:"texts,omitempty"`
	// Full is what the words of each of them count in each class before long texts
	// are cut, where they are.
	Full [][]float64 `cbor:"full,omitempty"`
}

// savedText is the counts of one column of texts: few of its words occur in
// many classes, so that only those are written that do.
type savedText struct {
	_      struct{} `cbor:",toarray"`
	Column int
	Known  []float64
	Counts []byte
}

// savedColumn is a list: the names of its fields, again for each column, would
// take as much room as the numbers.
type savedColumn struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Numeric bool
	Date    table.SavedDate
	Values  []string
	Counts  []float64
	Level   int8
	Moments []float64
}

const (
	format       = 2
	wordsFormat  = 3 // of models that have texts
	settingsPart = "settings"
	sourcePart   = "source/"
	bundlePart   = "sources/" // of several; the identifier of the first follows
	sourceParts  = "source"   // what the names of both begin with
	sumPart      = "sum"      // derived: see savedSum
	sumFrom      = 32         // sources from which on there is one
)

// Parts returns the settings and a part for each source or, where there are
// many, for each bundle of them.
func (m *Model) Parts() ([]learn.Part, error) {
	of := saved{Format: format, M: m.settings.M, PriorM: m.settings.PriorM, Missing: m.settings.Missing}
	if w := m.settings.words; w != (words{}) {
		of.Format, of.Words = wordsFormat, &savedWords{w.Event, w.Alpha, w.Count, w.M, w.Min, w.Stop, w.Stem, w.Length}
	}
	data, err := learn.Marshal(of)
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: settingsPart, Data: data}}
	runs, err := m.written.Save(m.blocks, save)
	if err != nil {
		return nil, err
	}
	sources, list := kept.PartsOf(runs, partName, sourceOf)
	parts = append(parts, sources...)
	if len(m.blocks) < sumFrom || hasText(m.schema) { // almost every text has new words
		return parts, nil
	}
	data, err = m.tally().saved(list)
	return append(parts, learn.Part{Name: sumPart, Derived: true, Data: data}), err
}

// partName is what the name of a part begins with.
func partName(run *bundle.Run[*block]) string {
	if len(run.Blocks) > 1 {
		return bundlePart
	}
	return sourcePart
}

// save returns the saved form of one block or of several.
func save(blocks []*block) ([]byte, error) {
	if err := load(blocks...); err != nil {
		return nil, err
	}
	if len(blocks) == 1 {
		return learn.Marshal(blocks[0].saved())
	}
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: b.target, Numbers: b.numbers()}
	}
	return learn.Marshal(bundle.Pack(members))
}

// saved returns a block as the part of one source.
func (b *block) saved() savedBlock {
	b = b.open()
	s := savedBlock{ID: b.source.ID, Name: b.source.Name, Target: b.target, Classes: b.classes, Columns: make([]savedColumn, len(b.columns))}
	for j, c := range b.columns {
		a := &b.schema.Attributes[j]
		to := savedColumn{Name: a.Name, Numeric: a.Kind == table.Numeric, Date: table.SaveDate(a), Values: a.Values, Counts: c.counts, Level: int8(c.level)}
		if c.text != nil {
			s.Texts, to.Counts = append(s.Texts, savedText{Column: j, Known: c.known(), Counts: bundle.PackSparse(c.counts)}), nil
			s.Full = append(s.Full, c.text.full)
		}
		for _, m := range c.moments {
			to.Moments = append(to.Moments, m.N, m.Mean, m.M2)
		}
		s.Columns[j] = to
	}
	if !b.long() {
		s.Full = nil
	}
	return s
}

// long reports whether texts are cut to a length, so that what they would count is
// known too.
func (b *block) long() bool {
	return slices.ContainsFunc(b.columns, func(c column) bool { return c.text != nil && sum(c.text.full) > 0 })
}

// numbers returns all that a block knows besides its schema: the weights of
// the classes and then, for each column, its counts, or its level and moments.
func (b *block) numbers() []float64 {
	b = b.open()
	numbers := slices.Clone(b.classes)
	for j := range b.columns {
		c := &b.columns[j]
		numbers = append(append(numbers, c.known()...), c.counts...)
		if c.moments != nil {
			numbers = append(numbers, float64(c.level-moment.Tiny))
		}
		for _, m := range c.moments {
			numbers = append(numbers, m.N, m.Mean, m.M2)
		}
	}
	for j := range b.columns {
		if c := &b.columns[j]; c.text != nil && b.long() {
			numbers = append(numbers, c.text.full...)
		}
	}
	return numbers
}

// fill checks the numbers of a block, and takes them in.
func (b *block) fill(numbers []float64) error {
	rest := numbers
	take := func(to []float64) bool {
		n := copy(to, rest)
		rest = rest[n:]
		return n == len(to) && weights(to)
	}
	bad := func(column string) error {
		return fmt.Errorf("source %q, column %q: numbers are missing, or not what they should be", b.source.ID, column)
	}
	if !take(b.classes) {
		return bad(b.className())
	}
	for j := range b.columns {
		c, name := &b.columns[j], b.schema.Attributes[j].Name
		if !take(c.known()) || !take(c.counts) {
			return bad(name)
		}
		if c.moments == nil {
			continue
		}
		if len(rest) < 1+3*len(c.moments) || !(rest[0] >= 0 && rest[0] <= float64(moment.Huge-moment.Tiny)) {
			return bad(name)
		}
		c.level, rest = moment.Tiny+moment.Level(rest[0]), rest[1:]
		for i := range c.moments {
			c.moments[i], rest = moment.Moment{N: rest[0], Mean: rest[1], M2: rest[2]}, rest[3:]
			if !c.moments[i].Valid() {
				return bad(name)
			}
		}
	}
	for j := range b.columns {
		if c := &b.columns[j]; c.text != nil && len(rest) > 0 && !take(c.text.full) {
			return bad(b.schema.Attributes[j].Name)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("source %q: %d numbers too many", b.source.ID, len(rest))
	}
	return nil
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	var s *settings
	var blocks []*block
	all, listed := decodeAll(parts)
	written, known := &bundle.Shelf[*block]{}, map[string]bool{}
	var first *block // of those that were read
	for _, p := range parts {
		if p.Name == sumPart {
			continue
		}
		if p.Name == settingsPart && s == nil {
			var err error
			if s, err = decodeSettings(p.Data); err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
			continue
		}
		read, err := decodeBlocks(p, listed)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.Name, err)
		}
		for _, b := range read {
			if known[b.source.ID] {
				return nil, fmt.Errorf("part %s: its source %q comes twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
			if blocks = append(blocks, b); b.later != nil {
				continue
			}
			if first == nil {
				first = b
			}
			if b.className() != first.className() {
				return nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.className(), first.className())
			}
		}
		written.Put(bundle.Run[*block]{Blocks: read, Data: p.Data, Held: p.Held})
	}
	if s == nil || len(blocks) == 0 {
		return nil, fmt.Errorf("the settings or the sources are missing")
	}
	if all != nil && (first == nil || first.className() == all.schema.Attributes[all.target].Name) {
		m := &Model{settings: *s, blocks: blocks, schema: all.schema, target: all.target, written: written, base: all}
		if err := checkRows(sum(m.weights())); err != nil {
			return nil, err
		}
		return m, nil
	}
	if err := load(blocks...); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(blocks, func(b *block) bool { return hasText(b.schema) }) && s.words == (words{}) {
		return nil, fmt.Errorf("a source has texts, but how they are read is missing")
	}
	return newModel(*s, blocks, nil, written)
}

// decodeAll returns what the sources add up to, and which part they are in, if
// that was saved and is of these parts. It can be done without.
func decodeAll(parts []learn.Part) (*tally, map[string]*bundle.Listed) {
	data := learn.FindPart(parts, sumPart)
	if data == nil {
		return nil, nil
	}
	t, list, err := decodeSum(data)
	if err != nil {
		return nil, nil
	}
	if listed := kept.Listed(list, parts, func(name string) bool { return name == sumPart || name == settingsPart }); listed != nil {
		return t, listed
	}
	return nil, nil
}

func decodeSettings(data []byte) (*settings, error) {
	var from saved
	if err := learn.Unmarshal(data, &from); err != nil {
		return nil, err
	}
	if from.Format != format && from.Format != wordsFormat {
		return nil, fmt.Errorf("format %d, this program reads format %d and, with texts, %d", from.Format, format, wordsFormat)
	}
	s := &settings{M: from.M, PriorM: from.PriorM, Missing: from.Missing}
	if s.Missing != "" && s.Missing != countMissing {
		return nil, fmt.Errorf("setting missing=%s, which this program does not know", s.Missing)
	}
	if w := from.Words; w != nil {
		s.words = words{w.Event, w.M, w.Alpha, w.Count, w.Min, w.Stop, w.Stem, w.Length}
		if w.Count == "" { // as models were saved at first
			s.words.Count, s.words.Alpha = countAll, 1
		}
		if err := s.words.check(); err != nil {
			return nil, err
		}
	}
	return s, s.check()
}

// wait returns the blocks of a part that is held and in the list of a sum; nil
// if it is not.
func wait(p learn.Part, listed *bundle.Listed) []*block {
	stand := func(s learn.Source, later *bundle.Later[block]) *block { return &block{source: s, later: later} }
	decode := func(p learn.Part) ([]*block, error) { return decodeBlocks(p, nil) }
	return kept.Wait(p, listed, stand, decode, func(to, from *block) error {
		if from.source != to.source {
			return fmt.Errorf("the source %q, expected %q", from.source.ID, to.source.ID)
		}
		to.schema, to.target, to.classes, to.columns, to.packed = from.schema, from.target, from.classes, from.columns, from.packed
		return nil
	})
}

// decodeBlocks reads the blocks of one part, at least one, unless they can wait.
func decodeBlocks(p learn.Part, listed map[string]*bundle.Listed) (blocks []*block, err error) {
	if blocks := wait(p, listed[p.Name]); blocks != nil {
		return blocks, nil
	}
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
		blocks = []*block{b}
	case isBundle:
		id = first
		var from bundle.Packed
		if err := learn.Unmarshal(p.Data, &from); err != nil {
			return nil, err
		}
		members, err := from.Outline()
		if err != nil {
			return nil, err
		}
		var r reader
		for i := range members {
			m := &members[i]
			if m.Schema.Attributes[m.Target].Kind != table.Nominal {
				return nil, fmt.Errorf("source %q: its target is a number", m.ID)
			}
			b := &block{source: learn.Source{ID: m.ID, Name: m.Name}, schema: m.Schema, target: m.Target, packed: &from.Sources[i]}
			if err := r.read(b); err != nil {
				return nil, err
			}
			b.classes = slices.Clone(r.room.classes)
			blocks = append(blocks, b)
		}
	default:
		return nil, fmt.Errorf("it is not one that bayes knows")
	}
	if len(blocks) == 0 || blocks[0].source.ID != id {
		return nil, fmt.Errorf("its source is not the one it is named after")
	}
	return blocks, nil
}

func (b *block) className() string { return b.schema.Attributes[b.target].Name }

// block checks what was read and returns it as a block.
func (s *savedBlock) block() (*block, error) {
	if s.Target < 0 || s.Target >= len(s.Columns) || s.Columns[s.Target].Numeric {
		return nil, fmt.Errorf("target %d is not a nominal one of %d columns", s.Target, len(s.Columns))
	}
	if len(s.Classes) != len(s.Columns[s.Target].Values) || !weights(s.Classes) {
		return nil, fmt.Errorf("%d weights of %d classes, or not weights", len(s.Classes), len(s.Columns[s.Target].Values))
	}
	schema := &table.Schema{Attributes: make([]table.Attribute, len(s.Columns))}
	texts, err := s.texts()
	if err != nil {
		return nil, err
	}
	for j := range s.Columns {
		c := &s.Columns[j]
		a := &schema.Attributes[j]
		*a = table.Attribute{Name: c.Name, Kind: table.Nominal, Values: c.Values}
		c.Date.Load(a)
		if c.Numeric {
			a.Kind = table.Numeric
		}
		if texts[j] != nil {
			a.Kind = table.Text
		}
		if err := c.check(j == s.Target || texts[j] != nil, len(s.Classes)); err != nil {
			return nil, fmt.Errorf("column %q: %v", c.Name, err)
		}
	}
	if err := checkRoom(schema, s.Target); err != nil {
		return nil, err
	}
	b := newBlock(learn.Source{ID: s.ID, Name: s.Name}, schema, s.Target)
	copy(b.classes, s.Classes)
	for j, text := range texts {
		if err := b.columns[j].load(text); err != nil {
			return nil, fmt.Errorf("column %q: %v", s.Columns[j].Name, err)
		}
	}
	if err := b.loadFull(s); err != nil {
		return nil, err
	}
	for j := range s.Columns {
		c, to := &s.Columns[j], &b.columns[j]
		copy(to.counts, c.Counts)
		if c.Numeric {
			to.level = moment.Level(c.Level)
		}
		for i := range to.moments {
			m := moment.Moment{N: c.Moments[3*i], Mean: c.Moments[3*i+1], M2: c.Moments[3*i+2]}
			if !m.Valid() {
				return nil, fmt.Errorf("column %q: %v are not moments", c.Name, m)
			}
			to.moments[i] = m
		}
	}
	return b, table.Distinct(b.schema)
}

// loadFull takes in what words count before long texts are cut.
func (b *block) loadFull(s *savedBlock) error {
	if len(s.Full) == 0 {
		return nil
	}
	if len(s.Full) != len(s.Texts) {
		return fmt.Errorf("%d of %d columns of texts say how long they are", len(s.Full), len(s.Texts))
	}
	for i, full := range s.Full {
		to := b.columns[s.Texts[i].Column].text.full
		if len(full) != len(to) || !weights(full) {
			return fmt.Errorf("%d lengths of %d classes, or not weights", len(full), len(to))
		}
		copy(to, full)
	}
	return nil
}

// texts returns the counts of texts by column.
func (s *savedBlock) texts() (map[int]*savedText, error) {
	texts := map[int]*savedText{}
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Column < 0 || t.Column >= len(s.Columns) || t.Column == s.Target || s.Columns[t.Column].Numeric || texts[t.Column] != nil {
			return nil, fmt.Errorf("column %d of %d has counts of words", t.Column, len(s.Columns))
		}
		texts[t.Column] = t
	}
	return texts, nil
}

// load takes in the counts of a text column.
func (c *column) load(from *savedText) error {
	if len(from.Known) != len(c.known()) || !weights(from.Known) {
		return fmt.Errorf("%d weights of %d classes, or not weights", len(from.Known), len(c.known()))
	}
	copy(c.known(), from.Known)
	if err := bundle.UnpackSparse(c.counts, from.Counts); err != nil {
		return err
	}
	if !weights(c.counts) {
		return fmt.Errorf("the counts of words are not weights")
	}
	return nil
}

// check refuses columns whose numbers do not agree with their kind.
func (c *savedColumn) check(target bool, classes int) error {
	counts, moments := len(c.Values)*classes, 0
	switch {
	case c.Numeric:
		counts, moments = 0, 3*classes
	case target:
		counts = 0
	}
	if len(c.Counts) != counts || len(c.Moments) != moments || c.Numeric && len(c.Values) > 0 || !weights(c.Counts) {
		return fmt.Errorf("%d counts and %d moments, expected %d and %d", len(c.Counts), len(c.Moments), counts, moments)
	}
	if level := moment.Level(c.Level); level < moment.Tiny || level > moment.Huge {
		return fmt.Errorf("level %d of moments is unknown", c.Level)
	}
	return nil
}

// weights reports whether all numbers can be weights of rows.
func weights(ws []float64) bool {
	return !slices.ContainsFunc(ws, func(w float64) bool { return !(w >= 0 && w <= moment.MaxWeight) || math.Signbit(w) })
}

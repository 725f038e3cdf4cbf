package markov

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// saved is the settings part.
type saved struct {
	Format   int      `cbor:"format"`
	Settings settings `cbor:"settings"`
	Seed     uint64   `cbor:"seed"`
	Target   string   `cbor:"target"`
	NoTarget bool     `cbor:"no_target"`
	Sequence string   `cbor:"sequence"`
}

const (
	format       = 1
	settingsPart = "settings"
	sourcesPart  = "sources/" // the identifier of the first follows
)

// Parts returns the settings, and a part for each source or, where there are
// many, for each bundle of them.
func (m *Model) Parts() ([]learn.Part, error) {
	s := saved{Format: format, Settings: m.settings, Seed: m.seed, Target: m.blocks[0].className(), NoTarget: m.target == learn.NoTarget, Sequence: m.schema.Sequence}
	data, err := learn.Marshal(s)
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: settingsPart, Data: data}}
	runs, err := m.written.Save(m.blocks, save)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		parts = append(parts, learn.Part{Name: sourcesPart + run.Blocks[0].source.ID, Data: run.Data})
	}
	return parts, nil
}

// save returns the saved form of blocks.
func save(blocks []*block) ([]byte, error) {
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: max(0, b.target), Numbers: b.numbers()}
	}
	return learn.Marshal(bundle.Pack(members))
}

// numbers returns all that a block knows besides its schema: starts, visits and
// moves and then, for each column, its counts and grams, or its level and
// moments. Of counts and moves those that are not 0 are written, with the number
// of zeros before each.
func (b *block) numbers() []float64 {
	numbers := slices.Concat(b.start, b.visits)
	numbers = appendSparse(numbers, b.moves)
	for j := range b.columns {
		c := &b.columns[j]
		if c.counts != nil {
			numbers = appendSparse(numbers, c.counts)
		}
		if c.grams != nil {
			numbers = append(numbers, float64(len(c.grams)))
			for _, g := range c.sortedGrams() {
				numbers = append(numbers, float64(g.state), float64(g.value))
				for _, code := range g.before[:b.order] {
					numbers = append(numbers, float64(code-unknown))
				}
				numbers = append(numbers, c.grams[g])
			}
		}
		if c.moments != nil {
			numbers = append(numbers, float64(c.level-moment.Tiny))
		}
		for _, m := range c.moments {
			numbers = append(numbers, m.N, m.Mean, m.M2)
		}
	}
	return numbers
}

// appendSparse appends how many numbers are not 0, and each of them with how many
// zeros there are before it.
func appendSparse(to, xs []float64) []float64 {
	at, zeros := len(to), 0.0
	to = append(to, 0)
	for _, x := range xs {
		if x == 0 {
			zeros++
			continue
		}
		to = append(to, zeros, x)
		to[at]++
		zeros = 0
	}
	return to
}

// numbersReader takes a block's numbers one after the other.
type numbersReader struct {
	rest []float64
	bad  bool
}

func (r *numbersReader) next() float64 {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	x := r.rest[0]
	r.rest = r.rest[1:]
	return x
}

// weight is the next number, which is the weight of rows.
func (r *numbersReader) weight() float64 {
	x := r.next()
	if !(x >= 0 && x <= moment.MaxWeight) || math.Signbit(x) {
		r.bad = true
		return 0
	}
	return x
}

// whole is the next number, a whole one below a bound.
func (r *numbersReader) whole(below int) int {
	x := r.next()
	if !(x >= 0 && x < float64(below)) || x != math.Trunc(x) {
		r.bad = true
		return 0
	}
	return int(x)
}

func (r *numbersReader) weights(to []float64) {
	for i := range to {
		to[i] = r.weight()
	}
}

func (r *numbersReader) sparse(to []float64) {
	at := 0
	for range r.whole(len(to) + 1) {
		at += r.whole(len(to) - at + 1)
		if r.bad = r.bad || at >= len(to); r.bad {
			return
		}
		to[at] = r.weight()
		at++
	}
}

// fill checks the numbers of a block, and takes them in.
func (b *block) fill(numbers []float64) error {
	r := &numbersReader{rest: numbers}
	r.weights(b.start)
	r.weights(b.visits)
	r.sparse(b.moves)
	for j := range b.columns {
		c := &b.columns[j]
		if c.counts != nil {
			r.sparse(c.counts)
		}
		if c.grams != nil {
			b.fillGrams(r, j)
		}
		if c.moments != nil {
			c.level = moment.Tiny + moment.Level(r.whole(int(moment.Huge-moment.Tiny)+1))
		}
		for i := range c.moments {
			c.moments[i] = moment.Moment{N: r.next(), Mean: r.next(), M2: r.next()}
			r.bad = r.bad || !c.moments[i].Valid()
		}
		if r.bad {
			return fmt.Errorf("source %q, column %q: numbers are missing, or not what they should be", b.source.ID, b.schema.Attributes[j].Name)
		}
	}
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("source %q: its numbers are not what they should be", b.source.ID)
	}
	return nil
}

func (b *block) fillGrams(r *numbersReader, j int) {
	values := len(b.schema.Attributes[j].Values)
	for range r.whole(len(r.rest) + 1) {
		g := gram{state: int32(r.whole(b.states())), value: int32(r.whole(values))}
		for i := range b.order {
			g.before[i] = int32(r.whole(values+2)) + unknown
		}
		w := r.weight()
		if r.bad {
			return
		}
		b.columns[j].grams[g] += w
	}
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	var s *saved
	var blocks []*block
	written, known := &bundle.Shelf[*block]{}, map[string]bool{}
	for _, p := range parts {
		if p.Name == settingsPart && s == nil {
			s = &saved{}
			if err := learn.Unmarshal(p.Data, s); err != nil {
				return nil, fmt.Errorf("part %s: %v", p.Name, err)
			}
			if s.Format != format {
				return nil, fmt.Errorf("format %d, this program reads format %d", s.Format, format)
			}
			if err := s.Settings.check(); err != nil {
				return nil, err
			}
			continue
		}
		if s == nil {
			return nil, fmt.Errorf("part %s stands before the settings", p.Name)
		}
		read, err := s.blocks(p)
		if err != nil {
			return nil, fmt.Errorf("part %s: %v", p.Name, err)
		}
		for _, b := range read {
			if known[b.source.ID] {
				return nil, fmt.Errorf("part %s: its source %q comes twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
		}
		blocks = append(blocks, read...)
		written.Put(bundle.Run[*block]{Blocks: read, Data: p.Data})
	}
	if s == nil || len(blocks) == 0 {
		return nil, fmt.Errorf("the settings or the sources are missing")
	}
	return newModel(s.Settings, s.Seed, blocks, nil, written)
}

// mostNumbers bounds the room that a block is given for what its schema claims.
const mostNumbers = 1 << 28

// blocks reads the blocks of one part, at least one.
func (s *saved) blocks(p learn.Part) ([]*block, error) {
	id, known := strings.CutPrefix(p.Name, sourcesPart)
	if !known {
		return nil, fmt.Errorf("it is not one that markov knows")
	}
	var from bundle.Packed
	if err := learn.Unmarshal(p.Data, &from); err != nil {
		return nil, err
	}
	members, err := from.Outline()
	if err != nil {
		return nil, err
	}
	var blocks []*block
	schemas := map[*table.Schema]bool{}
	for i := range members {
		m := &members[i]
		if !schemas[m.Schema] {
			schemas[m.Schema] = true
			m.Schema.Sequence = s.Sequence
		}
		target := learn.NoTarget
		if !s.NoTarget {
			target = m.Target
			if a := &m.Schema.Attributes[target]; a.Name != s.Target || a.Kind != table.Nominal {
				return nil, fmt.Errorf("source %q: its target is not the nominal column %q", m.ID, s.Target)
			}
		}
		if err := s.affordable(m.Schema, target, len(p.Data)); err != nil {
			return nil, fmt.Errorf("source %q: %v", m.ID, err)
		}
		if m.Numbers, err = from.Sources[i].Unpack(nil); err != nil {
			return nil, err
		}
		b := newBlock(learn.Source{ID: m.ID, Name: m.Name}, m.Schema, target, &s.Settings)
		if err := b.fill(m.Numbers); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 || blocks[0].source.ID != id {
		return nil, fmt.Errorf("its source is not the one it is named after")
	}
	return blocks, nil
}

// affordable refuses a schema that claims more room than the bytes that came with
// it can ask for: names take a byte each.
func (s *saved) affordable(schema *table.Schema, target, bytes int) error {
	states, values := s.Settings.States, 1
	if target != learn.NoTarget {
		states *= len(schema.Attributes[target].Values)
	}
	for j := range schema.Attributes {
		values += 1 + len(schema.Attributes[j].Values)
	}
	if states > 1<<14 || (values+states)*states > min(mostNumbers, 1<<16+bytes*bytes) {
		return fmt.Errorf("%d states and %d symbols in %d bytes", states, values, bytes)
	}
	return nil
}

package linear

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of parts. A model of a number has its settings and its sources, one of
// classes a lesson, its rows and its weights.
const (
	format       = 1
	settingsPart = "least-squares"
	sourcePart   = "sources/" // the identifier of the first follows
	lessonPart   = "logistic"
	weightsPart  = "weights"
)

// saved is the settings part.
type saved struct {
	Format   int      `cbor:"format"`
	Settings settings `cbor:"settings"`
}

// Parts returns the settings and the statistics of the sources.
func (m *Model) Parts() ([]learn.Part, error) {
	data, err := learn.Marshal(saved{Format: format, Settings: m.settings})
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: settingsPart, Data: data}}
	runs, err := m.written.Save(m.blocks, save)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		parts = append(parts, learn.Part{Name: sourcePart + run.Blocks[0].source.ID, Data: run.Data})
	}
	return parts, nil
}

// save returns the saved form of blocks.
func save(blocks []*block) ([]byte, error) {
	members := make([]bundle.Member, len(blocks))
	for i, b := range blocks {
		members[i] = bundle.Member{ID: b.source.ID, Name: b.source.Name, Schema: b.schema, Target: b.target, Numbers: b.numbers()}
	}
	return learn.Marshal(bundle.Pack(members))
}

// numbers lists a block: its weight, the frames of its numeric columns, the
// means and the co-moments, of those terms alone that some row has.
func (b *block) numbers() []float64 {
	list := []float64{b.weight}
	for j, f := range b.frames {
		switch {
		case !b.numeric(j):
		case !f.Set:
			list = append(list, 0)
		default:
			list = append(list, float64(f.Exp-leastExp+1), f.Shift)
		}
	}
	n := b.size()
	list = append(list, b.mean...)
	for i := range n {
		list = append(list, b.moments[i*n:i*n+i+1]...)
	}
	return list
}

// blockOf returns the block of a bundle's member, after a check.
func blockOf(m *bundle.Member, degree int) (*block, error) {
	if m.Schema.Attributes[m.Target].Kind != table.Numeric {
		return nil, fmt.Errorf("source %q: target %q is not a number", m.ID, m.Schema.Attributes[m.Target].Name)
	}
	if err := checkTerms(m.Schema, m.Target, degree); err != nil {
		return nil, fmt.Errorf("source %q: %v", m.ID, err)
	}
	l := newLayout(m.Schema, m.Target, degree)
	list := m.Numbers
	take := func() float64 {
		if len(list) == 0 {
			return math.NaN()
		}
		x := list[0]
		list = list[1:]
		return x
	}
	if need := 1 + (l.terms+1)*(l.terms+4)/2; len(list) < need { // before room is made for as many
		return nil, fmt.Errorf("source %q: %d numbers, expected %d or more", m.ID, len(list), need)
	}
	b := newBlock(learn.Source{ID: m.ID, Name: m.Name}, l)
	b.weight = take()
	for j := range b.frames {
		if !b.numeric(j) {
			continue
		}
		if e := take(); e != 0 {
			if !(e >= 1 && e <= mostExp-leastExp+1) || e != math.Trunc(e) {
				return nil, fmt.Errorf("source %q: %v is not a unit", m.ID, e)
			}
			b.frames[j] = frame{Exp: int(e) + leastExp - 1, Shift: take(), Set: true}
		}
	}
	n := b.size()
	for i := range b.mean {
		b.mean[i] = take()
	}
	for i := range n {
		for j := range i + 1 {
			b.moments[i*n+j] = take()
		}
	}
	if len(list) > 0 || !b.valid() {
		return nil, fmt.Errorf("source %q: its numbers are not the moments of rows", m.ID)
	}
	return b, nil
}

// valid reports whether the numbers can be those of rows.
func (b *block) valid() bool {
	if !(b.weight >= 0 && b.weight <= moment.MaxWeight) || b.weight > 0 && !b.frames[b.target].Set {
		return false
	}
	for _, f := range b.frames {
		if !(math.Abs(f.Shift) <= 0x1p1000) {
			return false
		}
	}
	n := b.size()
	for i := range n {
		if !(math.Abs(b.mean[i]) <= 0x1p420) || !(b.moments[i*n+i] >= 0 && b.moments[i*n+i] <= 0x1p900) || b.weight == 0 && (b.mean[i] != 0 || b.moments[i*n+i] != 0) {
			return false
		}
		for j := range i { // Cauchy and Schwarz, but for rounding
			if !(math.Abs(b.moments[i*n+j]) <= math.Sqrt(b.moments[i*n+i])*math.Sqrt(b.moments[j*n+j])*(1+1e-6)+1e-6*(b.weight+1)*0x1p20) {
				return false
			}
		}
	}
	for j := range b.frames { // indicators are means of 0 and 1
		for i := b.first[j]; i < b.first[j]+b.count(j); i++ {
			if (!b.numeric(j) || i == b.missing(j)) && !(b.mean[i] >= -1e-9 && b.mean[i] <= 1+1e-9) {
				return false
			}
		}
	}
	return true
}

// decode makes a model of the parts that Parts returned.
func decode(parts []learn.Part) (learn.Model, error) {
	if learn.FindPart(parts, lessonPart) != nil {
		return decodeClasses(parts)
	}
	var head saved
	if err := learn.Unmarshal(learn.FindPart(parts, settingsPart), &head); err != nil {
		return nil, fmt.Errorf("part %s: %v", settingsPart, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("the model is saved in format %d, this program reads %d", head.Format, format)
	}
	s := head.Settings
	if s.Keep != "" {
		return nil, fmt.Errorf("part %s: keep=%s of a model that keeps no rows", settingsPart, s.Keep)
	}
	s.Keep = "rows"
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Keep = ""
	var blocks []*block
	written, known := &bundle.Shelf[*block]{}, map[string]bool{}
	for _, p := range parts {
		first, isSource := strings.CutPrefix(p.Name, sourcePart)
		if !isSource {
			continue
		}
		read, err := decodeBlocks(p.Data, first, s.Degree)
		if err != nil {
			return nil, fmt.Errorf("part %s: %v", p.Name, err)
		}
		for _, b := range read {
			if known[b.source.ID] {
				return nil, fmt.Errorf("part %s: its source %q comes twice", p.Name, b.source.ID)
			}
			known[b.source.ID] = true
			blocks = append(blocks, b)
			if b.attribute().Name != blocks[0].attribute().Name {
				return nil, fmt.Errorf("part %s: its target is %q, expected %q", p.Name, b.attribute().Name, blocks[0].attribute().Name)
			}
		}
		written.Put(bundle.Run[*block]{Blocks: read, Data: p.Data})
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("the sources are missing")
	}
	return orNone(newModel(context.Background(), s, blocks, written))
}

// decodeBlocks reads the blocks of one part, at least one.
func decodeBlocks(data []byte, first string, degree int) ([]*block, error) {
	var from bundle.Packed
	if err := learn.Unmarshal(data, &from); err != nil {
		return nil, err
	}
	members, err := from.Unpack()
	if err != nil {
		return nil, err
	}
	var blocks []*block
	for i := range members {
		b, err := blockOf(&members[i], degree)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 || blocks[0].source.ID != first {
		return nil, fmt.Errorf("its source is not the one it is named after")
	}
	return blocks, nil
}

// savedWeights is what was learnt of classes. Where rows are kept it can be
// learnt again.
type savedWeights struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Counts  []float64           `cbor:"counts"`
	Frames  []float64           `cbor:"frames"` // as in block.numbers
	Mean    []float64           `cbor:"mean"`
	Spread  []float64           `cbor:"spread"`
	Fates   []byte              `cbor:"fates"`
	Prior   []float64           `cbor:"prior"`
	Weights []float64           `cbor:"weights"`
}

// Parts returns the lesson, the rows of each source, and the weights.
func (m *Classes) Parts() ([]learn.Part, error) {
	lesson := &kept.Lesson[settings]{Format: format, Settings: m.settings, Target: m.schema.Attributes[m.target].Name}
	body := savedWeights{Columns: table.SaveColumns(m.schema), Counts: m.counts, Mean: m.plane.mean, Spread: m.spread, Prior: m.plane.prior, Weights: m.plane.weights}
	for _, f := range m.plane.frames {
		if f.Set {
			body.Frames = append(body.Frames, float64(f.Exp-leastExp+1), f.Shift)
		} else {
			body.Frames = append(body.Frames, 0, 0)
		}
	}
	for _, f := range m.fates {
		body.Fates = append(body.Fates, byte(f))
	}
	rows, err := m.rows.Rows(context.Background())
	if err != nil {
		return nil, err
	}
	return lesson.Parts(lessonPart, rows, weightsPart, body)
}

func (s *settings) keeps() (bool, error) {
	if s.Auto {
		return false, fmt.Errorf("the ridge of classes is a number")
	}
	return s.Keep == "rows", s.check()
}

func decodeClasses(parts []learn.Part) (learn.Model, error) {
	var lesson kept.Lesson[settings]
	var body savedWeights
	rows, found, err := lesson.Load(parts, lessonPart, format, (*settings).keeps, weightsPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRows(context.Background(), rows, lesson.Target, lesson.Settings)
	}
	m := &Classes{settings: lesson.Settings, rows: kept.Now(rows)}
	if err := m.restore(&body, lesson.Target); err != nil {
		return nil, fmt.Errorf("part %s: %v", weightsPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Classes) restore(body *savedWeights, target string) error {
	var err error
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(target)
	if m.target < 0 || m.schema.Attributes[m.target].Kind != table.Nominal {
		return fmt.Errorf("the target %q is no column with classes", target)
	}
	if err := checkTerms(m.schema, m.target, m.settings.Degree); err != nil {
		return err
	}
	m.counts = body.Counts
	for c, w := range m.counts {
		if !(w >= 0 && w <= moment.MaxWeight) {
			return fmt.Errorf("%v is no weight of a class", w)
		}
		if w > 0 {
			m.seen = append(m.seen, c)
		}
	}
	l, k := newLayout(m.schema, m.target, m.settings.Degree), len(m.seen)
	if k == 0 || len(m.counts) != len(m.classes()) || len(body.Mean) != l.terms || len(body.Spread) != l.terms || len(body.Fates) != l.terms ||
		len(body.Prior) != k || len(body.Weights) != k*l.terms || len(body.Frames) != 2*len(m.schema.Attributes) {
		return fmt.Errorf("%d weights of %d terms do not fit %d classes", len(body.Weights), l.terms, k)
	}
	frames := make([]frame, len(m.schema.Attributes))
	for j := range frames {
		e, shift := body.Frames[2*j], body.Frames[2*j+1]
		if !(e >= 0 && e <= mostExp-leastExp+1) || e != math.Trunc(e) || !(math.Abs(shift) <= 0x1p1000) || e > 0 && m.schema.Attributes[j].Kind != table.Numeric {
			return fmt.Errorf("%v and %v are no unit and shift", e, shift)
		}
		if e > 0 {
			frames[j] = frame{Exp: int(e) + leastExp - 1, Shift: shift, Set: true}
		}
	}
	for _, list := range [][]float64{body.Mean, body.Spread, body.Prior, body.Weights} {
		for _, x := range list {
			if !(math.Abs(x) <= 0x1p900) {
				return fmt.Errorf("%v is not a weight, or no part of one", x)
			}
		}
	}
	for _, f := range body.Fates {
		if fate(f) > dependent {
			return fmt.Errorf("%d is not what becomes of a term", f)
		}
		m.fates = append(m.fates, fate(f))
	}
	m.spread = body.Spread
	m.plane = newPlane(l, frames, body.Mean, k)
	copy(m.plane.prior, body.Prior)
	m.plane.weigh(body.Weights)
	return nil
}

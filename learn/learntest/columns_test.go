package learntest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/markov"
	"github.com/accrete-ml/accrete/table"
)

// reader is a tiny learner of texts: the classes of the words that a text has
// vote. It also follows sequences: the class before a row's own has a vote.
type reader struct {
	Peeks bool `set:"peeks" doc:"looks at the row before, of whatever sequence"`
	Loud  bool `set:"loud" doc:"takes words that it does not know for news"`
}

type read struct {
	reader
	schema *table.Schema
	target int
	votes  []float64 // by word and class
}

func (l *reader) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	t := task.Table
	if t.Rows() == 0 {
		return nil, errors.New("there are no rows")
	}
	m := &read{reader: *l, schema: table.CopySchema(t.Schema), target: target}
	classes := len(m.schema.Attributes[target].Values)
	for i := range t.Columns {
		bag := t.Columns[i].Words
		if bag == nil {
			continue
		}
		m.votes = make([]float64, len(m.schema.Attributes[i].Values)*classes)
		for r := range t.Rows() {
			codes, counts := bag.Row(r)
			for j, word := range codes {
				if class := t.Columns[target].Codes[r]; class >= 0 {
					m.votes[int(word)*classes+int(class)] += counts[j]
				}
			}
		}
	}
	return m, ctx.Err()
}

func (*read) Learner() string         { return "reader" }
func (m *read) Schema() *table.Schema { return m.schema }
func (m *read) Target() int           { return m.target }
func (m *read) Size() learn.Size      { return learn.Size{} }

func (m *read) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	for r := range t.Rows() {
		p := out.Row(r)
		for c := range p {
			p[c] = 1
		}
		for i := range t.Columns {
			switch bag := t.Columns[i].Words; {
			case bag != nil:
				codes, _ := bag.Row(r)
				for _, word := range codes {
					for c := range p {
						p[c] += m.votes[int(word)*len(p)+c]
					}
				}
				if m.Loud && len(codes) == 0 && !bag.Missing(r) {
					p[r%len(p)]++
				}
			case i != m.target && r > 0 && (m.Peeks || t.Sequence != nil && t.Sequence[r] == t.Sequence[r-1]) && t.Columns[i].Codes != nil:
				p[max(0, int(t.Columns[i].Codes[r-1]))%len(p)]++
			}
		}
		sum := 0.0
		for _, x := range p {
			sum += x
		}
		for c := range p {
			p[c] /= sum
		}
	}
	return ctx.Err()
}

// savedRead is what a read is saved as.
type savedRead struct {
	Reader  reader
	Columns []table.SavedColumn
	Target  int
	Votes   []float64
}

func (m *read) Parts() ([]learn.Part, error) {
	data, err := learn.Marshal(savedRead{m.reader, table.SaveColumns(m.schema), m.target, m.votes})
	return []learn.Part{{Name: "votes", Data: data}}, err
}

func decodeRead(parts []learn.Part) (learn.Model, error) {
	var s savedRead
	if err := learn.Unmarshal(learn.FindPart(parts, "votes"), &s); err != nil {
		return nil, err
	}
	schema, err := table.LoadColumns(s.Columns)
	return &read{s.Reader, schema, s.Target, s.Votes}, err
}

// TestTextAndSequenceLaws: a sound learner keeps the laws, and each fault
// breaks one.
func TestTextAndSequenceLaws(t *testing.T) {
	laws := []string{"texts of any kind", "sequences stand for themselves"}
	info := func(peeks, loud bool, decode func([]learn.Part) (learn.Model, error)) learn.Info {
		return learn.Info{
			Name:   "reader",
			Takes:  learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Text: true, Sequences: true},
			New:    func() learn.Learner { return &reader{Peeks: peeks, Loud: loud} },
			Decode: decode,
		}
	}
	if err := Check(info(false, false, decodeRead), Options{Laws: laws}); err != nil {
		t.Error(err)
	}
	if err := Check(info(true, false, decodeRead), Options{Laws: laws[1:]}); err == nil {
		t.Error("a look at another sequence is not found out")
	}
	if err := Check(info(false, true, decodeRead), Options{Laws: laws[:1]}); err == nil {
		t.Error("unknown words that change the answer are not found out")
	}
	forgetful := func(parts []learn.Part) (learn.Model, error) {
		m, err := decodeRead(parts)
		clear(m.(*read).votes)
		return m, err
	}
	if err := Check(info(false, false, forgetful), Options{Laws: laws[:1]}); err == nil {
		t.Error("a loaded model without its words is not found out")
	}
}

// cutter learns as markov does, but forgets between the tables of an update which
// sequence it was in.
type cutter struct{ markov.Learner }

type cut struct{ *markov.Model }

type cutUpdate struct {
	learn.Update
	tables int
}

func (c *cutter) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	m, err := c.Learner.Learn(ctx, task)
	if err != nil {
		return nil, err
	}
	return &cut{m.(*markov.Model)}, nil
}

func (c *cut) Begin(source learn.Source) (learn.Update, error) {
	u, err := c.Model.Begin(source)
	return &cutUpdate{Update: u}, err
}

func (u *cutUpdate) Add(ctx context.Context, t *table.Table) error {
	u.tables++
	renamed := *t
	renamed.SequenceNames = slices.Clone(t.SequenceNames)
	for i := range renamed.SequenceNames {
		renamed.SequenceNames[i] += fmt.Sprint(" of table ", u.tables)
	}
	return u.Update.Add(ctx, &renamed)
}

// TestSequencesAreWhole: a learner that cuts sequences is found out.
func TestSequencesAreWhole(t *testing.T) {
	o := Options{Laws: []string{"sequences are learnt as wholes"}}
	info := lookup(t, markov.Name)
	if err := Check(info, o); err != nil {
		t.Error(err)
	}
	info.New = func() learn.Learner { return &cutter{} }
	if err := Check(info, o); err == nil {
		t.Error("a sequence that is cut is not found out")
	}
}

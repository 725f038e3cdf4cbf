package store

import (
	"math"

	"github.com/accrete-ml/accrete/internal/coding"
	"github.com/accrete-ml/accrete/learn"
)

// plain is a record that is read field by field, whatever is in it.
type plain record

// UnmarshalCBOR reads a record. Every change reads all records of its log, so
// what newRecord writes is read here, at a fraction of the cost; anything else
// is left to those who know all of CBOR.
func (r *record) UnmarshalCBOR(data []byte) error {
	q := coding.NewQuick(data)
	if r.read(q); q.Done() {
		return nil
	}
	*r = record{}
	return learn.Unmarshal(data, (*plain)(r))
}

// plainEntry is an entry that is read as plain records are.
type plainEntry partEntry

// UnmarshalCBOR reads an entry, as records are read.
func (e *partEntry) UnmarshalCBOR(data []byte) error {
	q := coding.NewQuick(data)
	if e.read(q); q.Done() {
		return nil
	}
	*e = partEntry{}
	return learn.Unmarshal(data, (*plainEntry)(e))
}

func (e *partEntry) read(q *coding.Quick) {
	n := q.List()
	e.ID = q.Uint()
	flags := q.Uint()
	e.Flags, e.Size = uint8(flags), q.Int()
	e.Name, e.Hash = q.Bytes(), q.Bytes()
	q.Strange = q.Strange || n != 5 || flags > math.MaxUint8
}

// plainContents are contents that are read as plain records are.
type plainContents contents

// UnmarshalCBOR reads contents, as records are read.
func (c *contents) UnmarshalCBOR(data []byte) error {
	q := coding.NewQuick(data)
	if c.read(q); q.Done() {
		return nil
	}
	*c = contents{}
	return learn.Unmarshal(data, (*plainContents)(c))
}

func (c *contents) read(q *coding.Quick) {
	before := -1
	for n := q.Map(); n > 0 && !q.Strange; n-- {
		key := int(q.Uint())
		q.Strange = q.Strange || key <= before // keys are sorted
		before = key
		switch key {
		case 1:
			c.Name = q.Text()
		case 2:
			c.Next = int(q.Int())
		case 3:
			c.Versions = []record{}
			for range q.List() {
				var r record
				if r.read(q); q.Strange {
					return
				}
				c.Versions = append(c.Versions, r)
			}
		case 4:
			c.Parts = []partEntry{}
			for range q.List() {
				var e partEntry
				if e.read(q); q.Strange {
					return
				}
				c.Parts = append(c.Parts, e)
			}
		case 5:
			c.Packed = q.Bool()
		case 6:
			c.Newest = int(q.Int())
		default:
			q.Strange = true
		}
	}
}

func (r *record) read(q *coding.Quick) {
	n := q.Map()
	before := -1
	for ; n > 0 && !q.Strange; n-- {
		key := int(q.Uint())
		q.Strange = q.Strange || key <= before // keys are sorted
		before = key
		r.field(q, key)
	}
}

func (r *record) field(q *coding.Quick, key int) {
	switch key {
	case 1:
		r.Number = int(q.Int())
	case 2:
		r.Kind = q.Text()
	case 3:
		r.SourceID = q.Text()
	case 4:
		r.SourceName = q.Text()
	case 5:
		r.SourcePath = q.Text()
	case 6:
		r.Hash = q.Bytes()
	case 7:
		r.HashText = q.Text()
	case 8:
		r.SourceRows = q.Float()
	case 9:
		r.Seconds = q.Int()
	case 10:
		r.Nanos = q.Int()
	case 11:
		r.Seed = q.Uint()
	case 12:
		r.Learner = q.Text()
	case 13:
		r.Target = q.Text()
	case 14:
		r.Rows = q.Float()
	case 15:
		r.Rules = int(q.Int())
	case 16:
		r.Units = int(q.Int())
	case 17:
		r.Settings = q.Texts()
	case 18:
		r.Parent = int(q.Int())
	case 20:
		r.Parts = q.Ints()
	case 21:
		r.Derived = q.Ints()
	case 22:
		r.Sum = q.Bytes()
	default:
		q.Strange = true
	}
}

package rule

import (
	"math"

	"github.com/accrete-ml/accrete/table"
)

// Bits is the length of a base when it is sent to somebody who knows the
// columns and their values, but not the target (minimum description length,
// Rissanen 1978; Mitchell 1997, section 6.6). A bit before each statement says
// that there is one more, and a bit before each test and share likewise. A test
// is the choice of a column, of how it is compared, and of a value: one of those
// of a nominal or text column, or one of the limits that the rows can tell apart
// of a numeric one. A conclusion is the choice of a class. A number that was
// estimated from the rows (a probability or a weight where the base needs it, a
// mean or a deviation) takes ½·log₂ of the rows, which is as exact as they can
// make it. Evidence is not sent: it says nothing that answers depend on.
func (b *Base) Bits(schema *table.Schema, rows float64) float64 {
	s := sender{schema: schema, rows: max(rows, 2), columns: math.Log2(float64(max(1, len(schema.Attributes))))}
	s.number = math.Log2(s.rows) / 2
	bits := 1.0 // that there are no more
	for i := range b.Rules {
		bits += 1 + s.rule(&b.Rules[i], b.Kind == Weighed)
	}
	if b.Else != nil {
		bits += s.rule(b.Else, false)
	}
	for i := range b.Units {
		bits += 1 + s.number
		for j := range b.Units[i].Expect {
			e := &b.Units[i].Expect[j]
			bits += 1 + s.columns
			if shares := len(e.Shares); shares > 0 {
				bits += float64(shares-1) * s.number
			} else if !e.Normal {
				bits += 2 * s.number
			}
		}
	}
	return bits
}

// sender knows what a receiver knows.
type sender struct {
	schema                *table.Schema
	rows, columns, number float64
}

func (s *sender) rule(r *Rule, weighed bool) float64 {
	bits := 1.0 // that there are no more tests
	for i := range r.If {
		bits += 1 + s.test(&r.If[i])
	}
	then := &r.Then
	switch {
	case then.Numeric && then.Line != nil: // what it is times of, and how far that counts
		if bits += s.columns + 2*s.number + 1; then.Line.Limited {
			bits += 2 * math.Log2(s.rows)
		}
		return bits
	case then.Numeric:
		return bits + 2*s.number
	case len(then.By) > 0:
		return bits + float64(len(then.By))*s.number
	case len(then.Classes) > 0:
		return bits + float64(len(then.Classes)-1)*s.number
	}
	bits += s.values(then.Column)
	if weighed {
		bits += s.number
	}
	return bits
}

// values is the choice of one of a column's values.
func (s *sender) values(column string) float64 {
	if i := s.schema.Index(column); i >= 0 && s.schema.Attributes[i].Kind != table.Numeric {
		return math.Log2(float64(max(1, len(s.schema.Attributes[i].Values))))
	}
	return math.Log2(s.rows)
}

// kindsOfTest is how many ways to compare there are, which a receiver must be
// told apart.
const kindsOfTest = 8

func (s *sender) test(t *Test) float64 {
	how := math.Log2(kindsOfTest)
	switch t.Op {
	case IsMissing, IsKnown:
		return s.columns + how
	case In, NotIn:
		bits := s.columns + how
		if i := s.schema.Index(t.Column); i >= 0 {
			return bits + float64(len(s.schema.Attributes[i].Values)) // a bit says of each whether it is there
		}
		return bits
	case Between:
		return s.columns + how + 2*math.Log2(s.rows)
	case HalfSpace:
		return how + float64(len(t.Terms))*(1+s.columns+s.number) + s.number
	case AtLeast:
		bits := how + math.Log2(float64(len(t.Of)+1))
		for i := range t.Of {
			bits += 1 + s.test(&t.Of[i])
		}
		return bits
	}
	return s.columns + how + s.values(t.Column)
}

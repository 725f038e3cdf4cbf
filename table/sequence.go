package table

import "fmt"

// Sequences are rows that belong together, in order: the days of a patient,
// the words of a sentence. A column says which sequence a row belongs to; it
// is taken out of the attributes, as weights are. The schema keeps its name.

// InSequence returns the table with its rows grouped: number is which sequence
// a row belongs to, an index into names. Rows of one sequence must stand
// together; what is wrong names the first row that does not.
func (t *Table) InSequence(column string, number []int32, names []string) (*Table, error) {
	if len(number) != t.Rows() {
		return nil, fmt.Errorf("table: sequences of %d rows for a table of %d", len(number), t.Rows())
	}
	var order sequenceOrder
	if row := order.add(number, len(names)); row >= 0 {
		return nil, fmt.Errorf("table: row %d: %s", row+1, order.say(column, number[row], names))
	}
	s := *t
	schema := *t.Schema
	schema.Sequence = column
	s.Schema, s.Sequence, s.SequenceNames = &schema, number, names
	return &s, nil
}

// WithoutSequence returns the table of a learner that takes rows one by one:
// the schema forgets the column. The groups stay, so that they can be kept
// together when rows are divided.
func (t *Table) WithoutSequence() *Table {
	if t.Schema.Sequence == "" {
		return t
	}
	s := *t
	schema := *t.Schema
	schema.Sequence = ""
	s.Schema = &schema
	return &s
}

// Groups calls each with the bounds of every sequence, in order: the rows
// from ≤ row < to. A table without sequences has one for each row.
func (t *Table) Groups(each func(from, to int)) {
	for from := 0; from < t.Rows(); {
		to := from + 1
		for t.Sequence != nil && to < t.Rows() && t.Sequence[to] == t.Sequence[from] {
			to++
		}
		each(from, to)
		from = to
	}
}

// sequenceOrder checks that the rows of each sequence stand together.
type sequenceOrder struct {
	ended []bool // sequences that other rows have followed
	last  int32
	any   bool
}

// add takes the next rows, and returns the first one that has no sequence or
// that comes after its sequence has ended, -1 if none.
func (s *sequenceOrder) add(number []int32, names int) int {
	for len(s.ended) < names {
		s.ended = append(s.ended, false)
	}
	for row, n := range number {
		if n < 0 || int(n) >= len(s.ended) || s.ended[n] && n != s.last {
			return row
		}
		if s.any && n != s.last {
			s.ended[s.last] = true
			if s.ended[n] {
				return row
			}
		}
		s.last, s.any = n, true
	}
	return -1
}

// say puts into words what is wrong with a row.
func (s *sequenceOrder) say(column string, n int32, names []string) string {
	if n < 0 || int(n) >= len(names) {
		return fmt.Sprintf("no value in the column %q, which says the sequence of a row; fill it in", column)
	}
	return fmt.Sprintf("%s of the column %q goes on after other rows; put the rows of a sequence together, in order", quote([]byte(names[n])), column)
}

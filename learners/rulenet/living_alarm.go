package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// alarmRate is the chance of any false alarm in a network's whole life.
const alarmRate = 0.01

// alarm adds up how much better shadows answer than the long memory. For each, e
// to the power of its evidence is a test martingale from wherever it began, if the
// long memory were true; beginnings are paid for in advance, so that the chance of
// any false alarm in a life of any length is bounded (Ville 1939).
type alarm struct {
	Evidence []float64 `cbor:"evidence"` // of each shadow
	Chunks   int       `cbor:"chunks"`   // that were looked at
	Rows     int       `cbor:"rows"`     // since
	Loss     float64   `cbor:"loss"`     // of these, by the long memory or its refit
}

// look takes in a chunk of rows that all memories have answered, and returns the
// shadow that is better beyond chance; −1 if none is. The steady one knows so many rows.
func (d *drift) look(rows float64, known int) int {
	d.Alarm.Rows = 0
	d.Alarm.Chunks++
	t := float64(d.Alarm.Chunks)
	floor := -math.Log(t * (t + 1) * float64(watched) / alarmRate)
	best := -1
	for i := range d.Shadows {
		chunk := d.Shadows[i].Chunk
		if d.Shadows[i].Chunk = 0; i == steady {
			continue
		}
		e := &d.Alarm.Evidence[i]
		*e = max(*e, floor) + d.Alarm.Loss - chunk
		if float64(spans[i]) > mostOfAll*rows || spans[i] > known {
			*e = floor // it has nothing to forget, or is better for knowing more rows
		}
		if *e >= 0 && (best < 0 || *e > d.Alarm.Evidence[best]) {
			best = i
		}
	}
	d.Long.Chunk, d.Alarm.Loss = 0, 0
	return best
}

// start forgets all but the last rows, which say something else: the network goes
// on from a shadow's weights, and learns its rules anew from these rows.
func (s *living) start(ctx context.Context, which int) error {
	s.ownRules()
	d := &s.drift.Shadows[which]
	span := min(spans[which], s.recent)
	for _, m := range s.moves(d.Difference) {
		m.Rows, m.Span = s.ever, span
		s.moved = append(s.moved, m)
	}
	s.alarms++
	s.notes = append(s.notes, fmt.Sprintf("after %.6g rows the last %d said something else than those before, which are forgotten: chance of any such false alarm in its life at most %v %%", s.ever, span, 100*alarmRate))
	s.notes = s.notes[max(0, len(s.notes)-mostNotes):]
	s.moved = s.moved[max(0, len(s.moved)-mostNotes):]
	rows := s.lastRows(span)
	s.log, s.blocks, s.saving = s.log.pick(rows, 4*windowRows), nil, nil
	s.drawn, s.n, s.rows, s.whole = nil, 0, 0, false
	for r := range rows {
		s.drawn.take(&s.log, int32(r), s.most())
		s.n += s.log.weight[r]
		s.rows++
	}
	s.recent = span
	for i, x := range d.Difference {
		s.w[i] += x
	}
	// What the shadow has followed is followed on.
	s.drift.Long = d.memory.copy()
	s.drift.Long.Chunk = 0
	for i := range s.drift.Shadows {
		s.drift.Shadows[i].memory = s.drift.Long.copy()
	}
	s.renewEvidence()
	return s.consolidate(ctx)
}

// renewEvidence begins the alarm's evidence at its floor.
func (s *living) renewEvidence() {
	a := &s.drift.Alarm
	t := float64(a.Chunks + 1)
	for i := range a.Evidence {
		a.Evidence[i] = -math.Log(t * (t + 1) * float64(watched) / alarmRate)
	}
}

const (
	mostNotes = 50
	mostOfAll = 0.8 // of the rows, that a shadow may have to be heard
)

// Moved is a rule whose weight has moved lately.
type Moved struct {
	Rule  string  `json:"rule" cbor:"rule"`
	Class string  `json:"class" cbor:"class"`
	From  float64 `json:"from" cbor:"from"`
	To    float64 `json:"to" cbor:"to"`
	Rows  float64 `json:"rows" cbor:"rows"` // that had come when it was noticed
	Span  int     `json:"span" cbor:"span"` // last rows of these that say so
}

// String says it in one line.
func (m Moved) String() string {
	return fmt.Sprintf("the weight of a rule for %s moved from %+.3g to %+.3g within the %d rows before row %.6g: IF %s", m.Class, m.From, m.To, m.Span, m.Rows, m.Rule)
}

// Remarks says which rows were forgotten in the last update and which rules moved,
// and what the last change could not undo.
func (m *Living) Remarks() ([]fmt.Stringer, error) {
	var all []fmt.Stringer
	for _, n := range m.s.notes {
		all = append(all, note(n))
	}
	for _, x := range slices.Backward(m.s.moved) {
		all = append(all, x)
	}
	return all, nil
}

// note is a remark in words.
type note string

func (n note) String() string { return string(n) }

package rulenet

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Climbs beside trees (teacher=auto). A tree begins with one column; where none says
// anything by itself, as when cards of one rank decide, it has no first step to take,
// and soft labels blur rules that have no exception. A climb begins with all tests of
// an example. Where every column has few values climbs are quick, so that both are
// rehearsed, and the network is climbed to where the rows held out are clearly for it:
// climbs are rehearsed on four fifths of the rows and trees on two thirds of few, and
// where nothing is noise the loss falls as fast as the square of the rows grows. So only
// where trees get better and better are climbs tried at all, and those that are far behind,
// or were rehearsed and do not win, are given up: they would cost more than all the rest.

const (
	fewValues    = 20      // of each column, up to which both are rehearsed
	fewColumns   = 30      // likewise
	climbedCells = 200_000 // likewise: rows times columns
	climbsWin    = 2.0 / 3 // of the loss, that climbs must bring it to
	farBehind    = 0.1     // nats a row, by which climbs that win were never behind after any round
)

// errBehind is how a climb ends that does not clearly beat its rival.
var errBehind = errors.New("the rows held out are not clearly for climbs")

// learnWell makes the network that trees teach, or the one that climbs end in if the
// rows held out are for that.
func learnWell(ctx context.Context, rows *kept.Rows, t *table.Table, target int, seed uint64, s settings) (*Model, error) {
	taught, err := learnTaught(ctx, rows, t, target, seed, s)
	if err != nil || s.Teacher != automaticTeacher || taught.noisy || !fewToClimb(t, target) {
		return taught, err
	}
	climbed, err := learnClimbed(ctx, rows, t, target, seed, s, taught)
	if errors.Is(err, errBehind) {
		return taught, nil
	}
	if err != nil {
		return nil, err
	}
	climbed.stopped += fmt.Sprintf("; with their weights fitted freely %.4f, and %.4f if trees had taught it", climbed.rehearsed, taught.rehearsed)
	return climbed, nil
}

// clearlyBeats reports whether the rows held out were clearly for a network.
func (m *Model) clearlyBeats(other *Model) bool {
	return m.rehearsed > 0 && m.rehearsed < climbsWin*other.rehearsed-withinNats
}

// fewToClimb reports whether columns have so few values that climbs are quick.
func fewToClimb(t *table.Table, target int) bool {
	columns := len(t.Schema.Attributes) - 1
	if columns > fewColumns || columns*t.Rows() > climbedCells {
		return false
	}
	for col, a := range t.Schema.Attributes {
		if col == target {
			continue
		}
		if a.Kind == table.Nominal {
			if len(a.Values) > fewValues {
				return false
			}
			continue
		}
		known := map[float64]bool{}
		for _, x := range t.Columns[col].Floats {
			if table.IsMissing(x) {
				continue
			}
			if known[x] = true; len(known) > fewValues {
				return false
			}
		}
	}
	return true
}

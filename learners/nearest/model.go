package nearest

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Model is the cases, and what was chosen by them. It is immutable.
type Model struct {
	lesson lesson
	rows   *holding
	cases  *cases
	metric *metric
	index  *forest
	chosen chosen
	rooms  *sync.Pool // of *search, for workers

	seen    *seen   // by which more rows are new; nil: any are
	settled float64 // weight of the rows by which all was chosen
}

// room returns what a worker needs for questions.
func (m *Model) room() *search {
	s := m.rooms.Get().(*search)
	s.m = m.metric
	return s
}

// chosen is what was chosen by leaving rows out.
type chosen struct {
	K      float64 `cbor:"k"`
	M      float64 `cbor:"m"`
	Spread float64 `cbor:"spread"` // of a number around what is predicted, in units of its scale
	// Settled is by how many of the rows; 0: by all.
	Settled int `cbor:"settled,omitempty"`
	// Stretch is the factor of each column, nil if all are 1.
	Stretch []float64 `cbor:"stretch,omitempty"`
	// Condensed is what prototypes cost, nil if all rows are kept.
	Condensed *Condensed `cbor:"condensed,omitempty"`

	graph []byte // as it was saved; nil: none was
}

func (c *chosen) check(cases *cases) error {
	if c.Settled < 0 || c.Settled > cases.table.Rows() || c.Settled > 0 && cases.count() < cases.table.Rows() {
		return fmt.Errorf("%d of %d rows settled what was chosen", c.Settled, cases.table.Rows())
	}
	if !(c.K > 0 && c.K <= cases.weight) || !(c.M > 0 && c.M <= mostM) || !(c.Spread >= 0 && c.Spread <= 4) {
		return fmt.Errorf("k=%v, m=%v and a spread of %v do not fit %v rows", c.K, c.M, c.Spread, cases.weight)
	}
	if len(c.Stretch) == 0 {
		c.Stretch = nil
	}
	return checkStretch(c.Stretch, cases)
}

// checkStretch refuses factors that do not fit the columns.
func checkStretch(factors []float64, cases *cases) error {
	if len(factors) != 0 && len(factors) != len(cases.schema.Attributes) {
		return fmt.Errorf("%d axes are stretched, of %d", len(factors), len(cases.schema.Attributes))
	}
	for _, z := range factors {
		if !(z == 0 || z >= 1e-6 && z <= 1e6) {
			return fmt.Errorf("an axis is stretched by %v", z)
		}
	}
	return nil
}

var (
	_ learn.Updater   = (*Model)(nil)
	_ learn.Merger    = (*Model)(nil)
	_ learn.Forgetter = (*Model)(nil)
	_ learn.Explainer = (*Model)(nil)
	_ learn.Keeper    = (*Model)(nil)
	_ learn.CaseBased = (*Model)(nil)
)

// Learner is nearest.
func (m *Model) Learner() string { return Name }

// Schema is the columns of the cases.
func (m *Model) Schema() *table.Schema { return m.cases.schema }

// Target is the column that is predicted.
func (m *Model) Target() int { return m.cases.target }

// Size counts the rows.
func (m *Model) Size() learn.Size { return learn.Size{Rows: m.cases.weight} }

// K returns how many rows answer.
func (m *Model) K() float64 { return m.chosen.K }

// classes returns the names of the classes.
func (m *Model) classes() []string { return m.cases.schema.Attributes[m.cases.target].Values }

// few is how many questions a worker answers at a time: the context is asked
// between them.
const few = 16

// Predict answers by the nearest cases.
func (m *Model) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := table.Fits(m.cases.schema, t); err != nil {
		return err
	}
	rows, classes := t.Rows(), m.cases.classCount()
	if out.Classes != classes || len(out.P) < rows*classes || classes == 0 && min(len(out.Mean), len(out.Low), len(out.High)) < rows {
		return fmt.Errorf("there is no room for the answers to %d rows", rows)
	}
	order, err := m.together(ctx, t)
	if err != nil {
		return err
	}
	work := func(chunk int) {
		s := m.room()
		defer m.rooms.Put(s)
		for at := chunk * few; at < min((chunk+1)*few, rows) && ctx.Err() == nil; at++ {
			row := at
			if order != nil {
				row = int(order[at])
			}
			s.ask(t.Columns, row, m.chosen.K)
			m.find(s)
			if near := s.found(); classes > 0 {
				m.vote(s, near, out.Row(row))
			} else {
				out.Mean[row], out.Low[row], out.High[row] = m.interval(m.mean(near))
			}
		}
	}
	if rows <= few { // a single row must cost no more than its work
		if rows > 0 && ctx.Err() == nil {
			work(0)
		}
		return ctx.Err()
	}
	return learn.Each(ctx, (rows+few-1)/few, work)
}

// manyRows is from how many rows on those at one place are answered together.
const manyRows = 4096

// together returns the rows of a table in the order of their places in the index;
// nil if they are as well as they stand.
func (m *Model) together(ctx context.Context, t *table.Table) ([]int32, error) {
	p, ok := m.index.index.(placer)
	if rows := t.Rows(); !ok || rows < manyRows {
		return nil, nil
	}
	places, order := make([]uint64, t.Rows()), make([]int32, t.Rows())
	err := learn.Split(ctx, t.Rows(), func(lo, hi int) {
		s := m.room()
		defer m.rooms.Put(s)
		for row := lo; row < hi; row++ {
			s.ask(t.Columns, row, m.chosen.K)
			s.room.ask(s, p.in())
			places[row], order[row] = uint64(p.place(s.room.asked)), int32(row)
		}
	})
	if err != nil {
		return nil, err
	}
	radix.Sort(places, order)
	return order, nil
}

// shares calls add with each of the nearest cases and its share in the answer;
// shares add up to 1. With weight=distance it is by 1/d² (equation 8.3), and
// cases at distance 0 share alone.
func (m *Model) shares(near []neighbour, add func(n *neighbour, share float64)) {
	part := func(n *neighbour) float64 {
		switch {
		case m.lesson.Settings.Weight != "distance":
			return n.used
		case near[0].sum == 0 && n.sum == 0:
			return n.used
		case near[0].sum == 0:
			return 0
		}
		return n.used * (m.metric.square(near[0].sum) / m.metric.square(n.sum))
	}
	total := 0.0
	for i := range near {
		total += part(&near[i])
	}
	for i := range near {
		add(&near[i], part(&near[i])/total)
	}
}

// edge is what the class with the smaller sum of distances gets more of, of k
// votes, where classes are equally frequent.
const edge = 1e-9

// vote writes the probabilities of the classes: the votes, smoothed by m.
func (m *Model) vote(s *search, near []neighbour, p []float64) {
	classes := len(p)
	votes, far := s.votes[:classes], s.votes[classes:2*classes]
	clear(votes)
	clear(far)
	total := 0.0
	for i := range near {
		total += near[i].used
	}
	c := m.cases
	m.shares(near, func(n *neighbour, share float64) {
		distance := m.metric.distance(n.sum)
		for r := c.starts[n.at]; r < c.starts[n.at+1]; r++ {
			w := c.table.Weights[r] / c.worth[n.at]
			votes[c.classes[r]] += share * w
			far[c.classes[r]] += distance * n.used * w
		}
	})
	m.decide(votes, far)
	for class := range p {
		p[class] = min(1, (total*votes[class]+m.chosen.M/float64(classes))/(total+m.chosen.M))
	}
}

// decide gives the edge to one of equally frequent classes, if its distances
// are smaller by more than rounding.
func (m *Model) decide(votes, far []float64) {
	tied := func(a, b int) bool { return math.Abs(votes[a]-votes[b]) <= edge/2 }
	nearer := func(a, b int) bool { return far[a] < far[b]*(1-rounding) }
	best := 0
	for class := range votes {
		if votes[class] > votes[best]+edge/2 || tied(class, best) && nearer(class, best) {
			best = class
		}
	}
	for class := range votes {
		if class != best && tied(class, best) && nearer(best, class) {
			votes[best] += edge
			votes[class] -= edge
			return
		}
	}
}

// mean is the mean of the nearest cases, in units of the target's scale.
func (m *Model) mean(near []neighbour) float64 {
	mean := 0.0
	m.shares(near, func(n *neighbour, share float64) { mean += share * m.cases.means[n.at] })
	return mean
}

// interval returns a prediction and the ends of its 95 % interval.
func (m *Model) interval(mean float64) (at, low, high float64) {
	c := m.cases
	return c.number(mean), c.number(mean - 1.96*m.chosen.Spread), c.number(mean + 1.96*m.chosen.Spread)
}

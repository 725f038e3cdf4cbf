package nearest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
)

// The choices that are tried.
var (
	triedK = []float64{1, 2, 3, 4, 5, 7, 9, 11, 15, 21, 31, 45, 63, 95}
	triedM = []float64{0.1, 0.3, 1, 3}
)

// defaultM is what smooths probabilities where no row can be left out.
const defaultM = 1

// mostLeftOut is how many rows are left out one by one; of more, those count
// whose cells have the least hashes.
const mostLeftOut = 2000

// choose finds what errs least when each row in turn is left out (Moore and Lee
// 1994): k, m and the spread of errors.
func (m *Model) choose(ctx context.Context) (chosen, error) {
	s := &m.lesson.Settings
	c := chosen{K: m.cases.weight, M: s.M}
	if k, err := strconv.Atoi(s.K); err == nil {
		c.K = float64(k)
	} else if s.K == auto {
		c.K = 1
	}
	if c.M < 0 {
		c.M = defaultM
	}
	c.K = min(c.K, m.cases.weight)
	if len(m.metric.numbers)+len(m.metric.names) == 0 {
		c.K = m.cases.weight // all rows are equally near: all answer
		return c, nil
	}
	if s.K != auto && s.M >= 0 && m.cases.classes != nil {
		return c, nil // there is nothing to choose
	}
	ks := m.trials(c.K)
	found, err := m.leaveOut(ctx, ks, mostLeftOut)
	if err != nil || found.rows == 0 {
		return c, err
	}
	best := found.best()
	c.K = min(ks[best], m.cases.weight)
	if m.cases.classes == nil {
		c.Spread = min(math.Sqrt(found.errors[best]/found.rows), 4)
	} else if s.M < 0 {
		losses := found.loss[best]
		c.M = triedM[slices.Index(losses, slices.Min(losses))]
	}
	return c, nil
}

// leftOut is how each k fares when rows are left out: the weight of wrong
// answers, or the sum of squared errors in units of the target's scale, and the
// log loss with each m.
type leftOut struct {
	rows   float64
	errors []float64
	loss   [][]float64
}

func newLeftOut(ks []float64) *leftOut {
	l := &leftOut{errors: make([]float64, len(ks)), loss: make([][]float64, len(ks))}
	for i := range ks {
		l.loss[i] = make([]float64, len(triedM))
	}
	return l
}

func (l *leftOut) add(o *leftOut) {
	l.rows += o.rows
	for i := range l.errors {
		l.errors[i] += o.errors[i]
		for j := range l.loss[i] {
			l.loss[i][j] += o.loss[i][j]
		}
	}
}

// best returns which k errs least, of equals the one with the least loss.
func (l *leftOut) best() int {
	best := 0
	for i := range l.errors {
		if cmp.Or(cmp.Compare(l.errors[i], l.errors[best]), cmp.Compare(slices.Min(l.loss[i]), slices.Min(l.loss[best]))) < 0 {
			best = i
		}
	}
	return best
}

// trials returns the k that are tried: a given one alone.
func (m *Model) trials(given float64) []float64 {
	if m.lesson.Settings.K != auto {
		return []float64{given}
	}
	var ks []float64
	for _, k := range triedK {
		if k < m.cases.weight || k == 1 {
			ks = append(ks, k)
		}
	}
	return ks
}

// leaveOut asks about each row with the others as cases.
func (m *Model) leaveOut(ctx context.Context, ks []float64, most int) (*leftOut, error) {
	asked, err := sampled(ctx, m.cases, most)
	if err != nil {
		return nil, err
	}
	parts := make([]*leftOut, (len(asked)+few-1)/few)
	err = learn.Each(ctx, len(parts), func(chunk int) {
		s := m.room()
		defer m.rooms.Put(s)
		part := newLeftOut(ks)
		for _, i := range asked[chunk*few : min((chunk+1)*few, len(asked))] {
			if ctx.Err() != nil {
				return
			}
			s.askCase(i, slices.Max(ks)+1)
			m.find(s)
			m.judge(s, i, ks, part)
		}
		parts[chunk] = part
	})
	if err != nil {
		return nil, err
	}
	all := newLeftOut(ks)
	for _, part := range parts {
		all.add(part)
	}
	return all, nil
}

// sampled returns the cases to leave out, so many at most, by their content
// alone.
func sampled(ctx context.Context, c *cases, most int) ([]int, error) {
	asked := make([]int, c.count())
	for i := range asked {
		asked[i] = i
	}
	if len(asked) <= most {
		return asked, nil
	}
	hashes, err := kept.HashRows(ctx, c.table)
	if err != nil {
		return nil, err
	}
	hash := func(i int) uint64 { return hashes[c.starts[i]] }
	slices.SortFunc(asked, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b)) })
	// Equal rows come together, so that one that counts twice is as good as two.
	distinct := 0
	for at, i := range asked {
		if at == 0 || hash(i) != hash(asked[at-1]) {
			if distinct++; distinct > most {
				asked = asked[:at]
				break
			}
		}
	}
	slices.Sort(asked)
	return asked, nil
}

// judge leaves out the rows of a case, one unit of weight of each in turn.
// Rows with one target and weight fare alike.
func (m *Model) judge(s *search, i int, ks []float64, into *leftOut) {
	c := m.cases
	near := s.found()
	self := slices.IndexFunc(near, func(n neighbour) bool { return int(n.at) == i })
	room := s.rest[:0]
	for r := c.starts[i]; r < c.starts[i+1]; {
		alike := r + 1
		for alike < c.starts[i+1] && compareCells(&c.table.Columns[c.target], int(r), int(alike)) == 0 && c.table.Weights[r] == c.table.Weights[alike] {
			alike++
		}
		w := c.table.Weights[r]
		one := min(w, 1)
		for j, k := range ks {
			if c.weight-one <= 0 {
				break // nothing else is there
			}
			// The k nearest of what is left.
			room = room[:0]
			left := min(k, c.weight-one)
			for at, n := range near {
				worth := c.worth[n.at]
				if at == self {
					worth -= one
				}
				if n.used = min(worth, left); n.used > 0 {
					room = append(room, n)
					left -= n.used
				}
			}
			if len(room) > 0 {
				m.score(s, room, i, int(r), one, w*float64(alike-r), j, into)
			}
		}
		if c.weight-one > 0 {
			into.rows += w * float64(alike-r)
		}
		r = alike
	}
	s.rest = room
}

// score adds what an answer for a row that was left out is worth.
func (m *Model) score(s *search, near []neighbour, i, row int, one, weight float64, j int, into *leftOut) {
	c := m.cases
	if c.classes == nil {
		mean := 0.0
		m.shares(near, func(n *neighbour, share float64) {
			y := c.means[n.at]
			if int(n.at) == i {
				y = (y*c.worth[i] - one*c.numbers[row]) / (c.worth[i] - one)
			}
			mean += share * y
		})
		e := mean - c.numbers[row]
		into.errors[j] += weight * e * e
		return
	}
	classes := c.classCount()
	votes, far := s.votes[:classes], s.votes[classes:2*classes]
	clear(votes)
	clear(far)
	total := 0.0
	for n := range near {
		total += near[n].used
	}
	m.shares(near, func(n *neighbour, share float64) {
		worth, distance := c.worth[n.at], m.metric.distance(n.sum)
		if int(n.at) == i {
			worth -= one
			votes[c.classes[row]] -= share * one / worth
			far[c.classes[row]] -= distance * n.used * one / worth
		}
		for r := c.starts[n.at]; r < c.starts[n.at+1]; r++ {
			votes[c.classes[r]] += share * c.table.Weights[r] / worth
			far[c.classes[r]] += distance * n.used * c.table.Weights[r] / worth
		}
	})
	m.decide(votes, far)
	truth := int(c.classes[row])
	if learn.Best(votes, m.classes()) != truth {
		into.errors[j] += weight
	}
	for t, smooth := range triedM {
		p := (total*max(votes[truth], 0) + smooth/float64(classes)) / (total + smooth)
		into.loss[j][t] -= weight * math.Log(p)
	}
}

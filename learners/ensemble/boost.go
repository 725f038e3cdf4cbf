package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// study is a session under way.
type study struct {
	settings *settings
	base     learn.Learner
	source   learn.Source
	seed     uint64
	rows     *table.Table // the session's own, and then those kept of others
	own      int
	target   int
	classes  []string
	truth    []int32

	d       *distribution // D_t
	members []member
	said    [][]int32 // what each member says of each row
	drew    [][]bool  // whether each row was in its TR_t
	votes   []float64 // of the members so far, a number for each row and class
	hard    []bool    // rows that are worth keeping

	tried, weak, alike int
	stopped            string
	best               *candidate // of those that were wrong too often
}

// candidate is a model that may become a member.
type candidate struct {
	model learn.Model
	drawn []float64
	said  []int32
	wrong []bool
	error float64
}

func newStudy(m *Model, source learn.Source, number int, own *table.Table) (*study, error) {
	base, err := m.settings.learner()
	if err != nil {
		return nil, err
	}
	tables := []*table.Table{own}
	for _, s := range m.sessions {
		tables = append(tables, s.rows)
	}
	rows, err := stack(tables...)
	if err != nil {
		return nil, err
	}
	s := &study{
		settings: m.settings, base: base, source: source, seed: mix(m.seed, uint64(number)), rows: rows, own: own.Rows(), target: m.target,
		classes: rows.Schema.Attributes[m.target].Values, truth: rows.Columns[m.target].Codes,
		d: newDistribution(rows, m.target, m.settings.Sample), hard: make([]bool, rows.Rows()),
	}
	s.votes = make([]float64, rows.Rows()*len(s.classes))
	return s, nil
}

// mix makes one seed of two numbers (the finaliser of SplitMix64, Steele, Lea
// and Flood 2014).
func mix(a, b uint64) uint64 {
	x := a ^ (b+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// boost is the session's loop. Members that are trained side by side are drawn
// from the same D_t, however many cores there are.
func (s *study) boost(ctx context.Context) error {
	most := 2 * s.settings.Members
	s.stopped = "all members found"
	for len(s.members) < s.settings.Members {
		if s.tried >= most {
			s.stopped = fmt.Sprintf("%d tries were enough", most)
			break
		}
		// 1 and 2: draw TR_t, train h_t.
		candidates, err := s.train(ctx, min(s.settings.Abreast, s.settings.Members-len(s.members), most-s.tried))
		if err != nil {
			return err
		}
		learn.Report(ctx, float64(s.tried)/float64(most))
		// 3 and 4: those that are right often enough, and differ from the
		// others, join H_t.
		joined := false
		for _, c := range candidates {
			joined = s.consider(c) || joined
		}
		if !joined {
			continue
		}
		// 5: on to D_{t+1}.
		wrong := s.hypothesis()
		if s.settings.Boost == neverBoost {
			continue
		}
		if e := s.d.error(wrong); e < s.settings.Alpha {
			s.stopped = fmt.Sprintf("together they err on %.2g %%", 100*e)
			break
		}
		s.d.update(wrong)
	}
	if len(s.members) == 0 {
		s.stopped = "none was right on half of the rows; the best one stays, with little say"
		s.join(s.best)
		s.hypothesis()
	}
	return nil
}

// train draws rows for n candidates and trains them side by side.
func (s *study) train(ctx context.Context, n int) ([]*candidate, error) {
	candidates, errs := make([]*candidate, n), make([]error, n)
	quiet := learn.WithProgress(ctx, func(float64) {})
	err := learn.Each(ctx, n, func(i int) {
		candidates[i], errs[i] = s.candidate(quiet, mix(s.seed, uint64(s.tried+i)))
	})
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	s.tried += n
	return candidates, err
}

func (s *study) candidate(ctx context.Context, seed uint64) (*candidate, error) {
	c := &candidate{drawn: s.d.draw(rand.New(rand.NewPCG(seed, 0x6c6561726e2b2b)), !s.settings.Uneven && s.settings.Boost != neverBoost)}
	var rows []int
	var times []float64
	for r, n := range c.drawn {
		if n > 0 {
			rows, times = append(rows, r), append(times, n)
		}
	}
	t := s.rows.Select(rows)
	t.Weights = times
	var err error
	if c.model, err = s.base.Learn(ctx, learn.Task{Table: t, Source: s.source, Seed: seed}.At(s.target)); err != nil {
		return nil, fmt.Errorf("%s: %w", s.settings.Base, err)
	}
	if c.said, err = say(ctx, c.model, s.rows); err != nil {
		return nil, err
	}
	c.wrong = make([]bool, len(c.said))
	for r := range c.wrong {
		c.wrong[r] = c.said[r] != s.truth[r]
	}
	c.error = s.d.error(c.wrong)
	return c, nil
}

// say returns the class that a model finds most probable for each row, in the
// codes of the table; a class that the table does not know is -1.
func say(ctx context.Context, m learn.Model, t *table.Table) ([]int32, error) {
	fitted, _, err := table.Conform(t, m.Schema(), false)
	if err != nil {
		return nil, err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, fitted, out); err != nil {
		return nil, err
	}
	of := &m.Schema().Attributes[m.Target()]
	codes := table.Recoding(of, &t.Schema.Attributes[m.Target()])
	said := make([]int32, t.Rows())
	for r := range said {
		said[r] = codes[learn.Best(out.Row(r), of.Values)]
	}
	return said, nil
}

// consider lets a candidate join, unless it is wrong on more than half of D_t
// or says what others say.
func (s *study) consider(c *candidate) bool {
	if c.error > 0.5 {
		s.weak++
		if s.best == nil || c.error < s.best.error {
			s.best = c
		}
		return false
	}
	if s.settings.Kappa != nil {
		for _, other := range s.said {
			if kappa(c.said, other, s.rows.Weight, len(s.classes)) >= *s.settings.Kappa {
				s.alike++
				return false
			}
		}
	}
	s.join(c)
	return true
}

// mostError leaves a member that is as good as a coin a little say.
const mostError = 0.49

// leastError is that of a member that is never wrong, which would have an
// infinite vote. It may have made no mistake yet: half a row is counted, were
// there one more. As published, the vote is as large as numbers allow.
func (s *settings) leastError(rows float64) float64 {
	doubt := 0.5
	if s.Plain {
		doubt = 0
	}
	return max(setting.Or(s.Doubt, doubt)/(rows+1), 1e-9)
}

// join adds a member with its vote.
func (s *study) join(c *candidate) {
	least := s.settings.leastError(weightOf(s.rows, nil))
	e := min(max(c.error, least), mostError)
	b := e / (1 - e)
	m := member{model: c.model, vote: math.Log(1 / b)}
	has, drew := make([]bool, len(s.classes)), make([]bool, len(c.drawn))
	for r, n := range c.drawn {
		drew[r] = n > 0
		has[s.truth[r]] = has[s.truth[r]] || drew[r]
	}
	for class, name := range s.classes {
		if has[class] {
			m.seen = append(m.seen, name)
		}
	}
	for r, class := range c.said {
		s.votes[r*len(s.classes)+int(class)] += m.vote
		if s.settings.Keep == "members" && c.wrong[r] {
			s.hard[r] = true
		}
	}
	s.members, s.said, s.drew = append(s.members, m), append(s.said, c.said), append(s.drew, drew)
}

// hypothesis returns the rows that the members so far, H_t, get wrong.
func (s *study) hypothesis() []bool {
	wrong := make([]bool, len(s.truth))
	for r := range wrong {
		votes := s.votes[r*len(s.classes) : (r+1)*len(s.classes)]
		wrong[r] = learn.Best(votes, s.classes) != int(s.truth[r])
		if s.settings.Keep == "hypothesis" && wrong[r] {
			s.hard[r] = true
		}
	}
	return wrong
}

package ensemble

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// A committee may hear its members as Bayes' rule says (Mitchell 1997, sections
// 6.7 and 6.8). All are equally probable at first, and the rows make them more or
// less so:
//
//	P(member | rows) ∝ P(rows | member)
//
// where a row's class is as probable as the member found it before it learnt the
// row. The Bayes optimal answer (vote=bayes) is the mean of what the members say,
// each weighed by that; no other answer of these members is right more often, if
// one of them is how the rows came about. The Gibbs algorithm (vote=gibbs) asks
// one member, drawn by these probabilities, and is wrong at most twice as often
// in the mean (Haussler, Kearns & Schapire 1994). The draw is by the cells of a row
// and the seed, so that a row is always answered alike.
//
// With draws=n each learner gives n members, learnt from rows whose weights are
// drawn anew: a Gamma variate for as many rows as are alike (the Bayesian
// bootstrap, Rubin 1981). Such members are draws from what may be, given the rows,
// and are heard alike until others come.

// How a committee hears its members.
const (
	voteMean  = "mean"
	voteBayes = "bayes"
	voteGibbs = "gibbs"
)

// mostMembers bounds the members of a learner.
const mostMembers = 1000

// drawn returns each learner's name as often as it is drawn.
func drawn(names []string, draws int) []string {
	if draws <= 1 {
		return names
	}
	var all []string
	for _, name := range names {
		all = append(all, slices.Repeat([]string{name}, draws)...)
	}
	return all
}

// redrawn returns rows with weights of a Bayesian bootstrap: by the rows' hashes,
// so that their order does not matter.
func redrawn(t *table.Table, hashes []uint64, seed uint64) *table.Table {
	to := *t
	to.Weights = make([]float64, t.Rows())
	for r, hash := range hashes {
		to.Weights[r] = gamma(t.Weight(r), rand.New(rand.NewPCG(hash, seed)))
	}
	return &to
}

// gamma returns a draw from the Gamma distribution of a shape and the scale 1
// (Marsaglia & Tsang 2000).
func gamma(shape float64, random *rand.Rand) float64 {
	if shape <= 0 {
		return 0
	}
	if shape < 1 {
		return gamma(shape+1, random) * math.Pow(random.Float64(), 1/shape)
	}
	d := shape - 1./3
	for c := 1 / math.Sqrt(9*d); ; {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(random.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// take adds what a trial says of the members: evidence where they are heard by
// it, else credit.
func (m *Pool) take(t *trial) {
	if m.vote == "" {
		m.credit = credited(m.credit, t)
		return
	}
	m.evidence = slices.Clone(m.evidence)
	n := len(m.evidence)
	// What a member thinks impossible may still happen once in the rows that
	// there were.
	spare := 1 / (m.rows + float64(len(m.classes())))
	for r, weight := range t.weights {
		for i, p := range t.given[r*n : (r+1)*n] {
			m.evidence[i] += weight * math.Log(p*(1-spare)+spare/float64(len(m.classes())))
		}
	}
}

// posterior returns P(member | rows) of members that were equally probable.
func posterior(evidence []float64) []float64 {
	p := slices.Clone(evidence)
	logsum.Normalise(p)
	return p
}

// draw returns which member answers each row.
func (m *Pool) draw(ctx context.Context, t *table.Table) ([]int, error) {
	asked := *t
	asked.Columns = slices.Clone(t.Columns)
	unsaid := make([]int32, t.Rows())
	for r := range unsaid {
		unsaid[r] = table.Missing
	}
	asked.Columns[m.target].Codes = unsaid
	hashes, err := kept.HashRows(ctx, &asked)
	if err != nil {
		return nil, err
	}
	heard := make([]int, t.Rows())
	for r, hash := range hashes {
		at := float64(mix(hash, m.seed)>>11) / (1 << 53)
		for i := range m.members {
			if heard[r] = i; at < m.members[i].share {
				break
			}
			at -= m.members[i].share
		}
	}
	return heard, nil
}

// Heard is a member's probability, given the rows.
type Heard struct {
	Name string  `json:"name"`
	Log  float64 `json:"log_likelihood"`
	P    float64 `json:"probability"`
	// Alike is how many members of the learner are heard alike, drawn from what may
	// be, given the rows; 0 where the rows tell members apart.
	Alike int `json:"alike,omitempty"`
}

// String says it in a line.
func (h Heard) String() string {
	if h.Alike > 0 {
		return fmt.Sprintf("%s: %d draws from what may be, given the rows, each with the probability %.3g", h.Name, h.Alike, h.P)
	}
	return fmt.Sprintf("%s: log likelihood %.5g, probability %.3g", h.Name, h.Log, h.P)
}

// heard returns the probability of each member, once for draws that no rows have
// told apart yet.
func (m *Pool) heard() []fmt.Stringer {
	var all []fmt.Stringer
	for i := range m.members {
		h := Heard{Name: m.names[i], Log: m.evidence[i], P: m.members[i].share}
		if !slices.ContainsFunc(m.evidence, func(log float64) bool { return log != 0 }) {
			if slices.Contains(m.names[:i], h.Name) {
				continue
			}
			for _, name := range m.names {
				if name == h.Name {
					h.Alike++
				}
			}
		}
		all = append(all, h)
	}
	return all
}

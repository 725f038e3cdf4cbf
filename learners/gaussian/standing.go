package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/internal/stat"
	told "github.com/accrete-ml/accrete/learn/expert"
	"github.com/accrete-ml/accrete/table"
)

// UnitStandings returns how each expert's rule fares. What rows made of a rule
// that EM began at is told by its units. Of other rules, the rows that are like
// one are those that the units of the rows alone expect where 95 % of its own
// would lie, shared out among the expert's rules by their densities.
//
// A rule is confirmed if the rows that are like it lie within one of its
// widths. If they do not, or there are none though three or more should be, it
// is disputed; what more rows dispute than it is worth is outvoted. With too
// few rows to tell it is unmet.
func (m *Model) UnitStandings() []told.UnitStanding {
	var all []told.UnitStanding
	var made *table.Table // rows as the rows alone have them
	for _, b := range m.blocks {
		if b.rowsAlone() || b.load() != nil {
			continue
		}
		rules := m.rulesOf(b)
		if len(rules) == 0 {
			continue
		}
		met, begun := m.begun(rules)
		if !begun {
			if made == nil {
				made = m.withoutExperts().make(mixed.Probes, rand.New(rand.NewPCG(1, 3)), func(int) bool { return true })
			}
			met = m.meet(rules, made)
		}
		worth := 0.0
		for _, r := range rules {
			worth += r.n
		}
		for i, r := range rules {
			s := told.UnitStanding{Unit: r.name, Expert: b.source, Worth: r.n, Rows: met[i].weight, Of: m.rows}
			if b.rows > 0 { // the rules were where EM began, no more
				s.Expert, s.Worth = b.expert, 0
			}
			if begun {
				s.Rows = max(0, s.Rows-s.Worth)
			}
			m.judge(&s, r, met[i].mean, m.rows*r.n/worth)
			all = append(all, s)
		}
	}
	return all
}

// rulesOf returns the rules that a block's expert told, in the schema of the
// whole; none if it has none.
func (m *Model) rulesOf(b *block) []*share {
	from, of := b.said, m.total.said
	if len(from) == 0 && b.rows == 0 {
		from, of = b.units, m.total.units
	}
	var rules []*share
	for i := range from {
		for j := range of {
			if of[j].key == from[i].key {
				rules = append(rules, &of[j])
			}
		}
	}
	return rules
}

// meeting is the rows that are like a rule: their weight, and their mean in
// each numeric column.
type meeting struct {
	weight float64
	mean   []float64
}

// begun returns the units of rules that EM began at, and false if it did not.
func (m *Model) begun(rules []*share) ([]meeting, bool) {
	met := make([]meeting, len(rules))
	any := false
	for i, r := range rules {
		mean := make([]float64, len(m.columns))
		total := 0.0
		for k := range m.total.units {
			u := &m.total.units[k]
			if u.begun != r.key {
				continue
			}
			any = true
			total += u.n
			for j := range mean {
				if m.columns[j].mean != nil {
					mean[j] += u.n * m.columns[j].mean[k]
				}
			}
		}
		for j := range mean {
			mean[j] /= total
		}
		met[i] = meeting{total, mean}
	}
	return met, any
}

// meet finds the rows that are like rules among as many probes.
func (m *Model) meet(rules []*share, made *table.Table) []meeting {
	met := make([]meeting, len(rules))
	for i := range met {
		met[i].mean = make([]float64, len(m.columns))
	}
	perRow := m.rows / mixed.Probes
	logs := make([]float64, len(rules))
	for row := range mixed.Probes {
		for i, r := range rules {
			logs[i] = m.likeness(r, made, row)
		}
		if _, total := normalise(logs); total == 0 {
			continue // it is like none of them
		}
		for i, share := range logs {
			if share == 0 {
				continue
			}
			met[i].weight += share * perRow
			for j := range m.columns {
				if x := made.Columns[j].Floats; x != nil && finite(x[row]) {
					met[i].mean[j] += share * perRow * x[row] * m.columns[j].scale
				}
			}
		}
	}
	for i := range met {
		for j := range met[i].mean {
			met[i].mean[j] /= met[i].weight
		}
	}
	return met
}

// likeness returns the log of a rule's weight and density at a row, −∞ if the
// row lies where less than 5 % of the rule's own would.
func (m *Model) likeness(rule *share, t *table.Table, row int) float64 {
	l := math.Log(rule.n)
	distance, columns := 0.0, 0.0
	for j := range m.columns {
		c, o := &m.columns[j], &m.overall[j]
		if c.share != nil {
			code := t.Columns[j].Codes[row]
			if code < 0 {
				continue
			}
			counts := rule.counts[j]
			if rule.normal[j] || weight(counts) == 0 {
				l += math.Log(o.counts[code] / weight(o.counts))
				continue
			}
			p := counts[code] / weight(counts)
			if p < 0.05 {
				return negativeInfinity
			}
			l += math.Log(p)
			continue
		}
		x := t.Columns[j].Floats[row]
		if c.precision == nil || !finite(x) {
			continue
		}
		of := &rule.moments[j]
		if rule.normal[j] || of.N == 0 {
			of = &o.moment
		}
		d := math.Sqrt(of.Variance())
		z := (c.unit(x) - of.Mean) / d
		l -= math.Log(d/o.deviation()) + 0.5*z*z
		if of != &o.moment {
			distance, columns = distance+z*z, columns+1
		}
	}
	if columns > 0 && stat.ChiSquareTail(distance, columns) < 0.05 {
		return negativeInfinity
	}
	return l
}

// fewRows is how many rows should be like a rule before it counts against it
// that none is: of cases of which there should be three, there is at least one
// 95 times in 100.
const fewRows = 3

// judge says how far the mean of the rows that are like a rule lies from it,
// and what follows. Expected is how many rows should be like it.
func (m *Model) judge(s *told.UnitStanding, rule *share, mean []float64, expected float64) {
	if s.Rows < 0.5 {
		s.Rows = 0
		switch {
		case !(expected >= fewRows):
			s.State = told.Unmet
		case expected > s.Worth:
			s.State = told.Outvoted
		default:
			s.State = told.Disputed
		}
		return
	}
	n, sum, most := 0.0, 0.0, -1.0
	for j, of := range rule.moments {
		c := &m.columns[j]
		if of.N == 0 || c.precision == nil || !(of.M2 > 0) {
			continue
		}
		d := (mean[j] - of.Mean) / math.Sqrt(of.Variance())
		n, sum = n+1, sum+d*d
		if math.Abs(d) > most {
			most, s.Column, s.Expected, s.Found = math.Abs(d), m.total.schema.Attributes[j].Name, c.number64(of.Mean), c.number64(mean[j])
		}
	}
	if n > 0 {
		s.Moved = math.Sqrt(sum / n)
	}
	switch {
	case s.Moved <= 1:
		s.State = told.Confirmed
	case s.Rows > s.Worth:
		s.State = told.Outvoted
	default:
		s.State = told.Disputed
	}
}

// withoutExperts returns the model of the rows alone.
func (m *Model) withoutExperts() *Model {
	var blocks []*block
	for _, b := range m.blocks {
		if b.load() == nil && b.rows > 0 {
			blocks = append(blocks, b)
		}
	}
	s := m.settings
	s.Default = 0
	alone, err := newModel(s, m.total.target >= 0, blocks)
	if err != nil {
		return m // rows that an expert's units have all of: the model is what is known of them
	}
	return alone
}

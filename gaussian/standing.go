package gaussian

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/table"
)

// Standing is how an expert's rule fares against the rows.
type Standing struct {
	Rule, Source string
	Worth        float64 // cases that the rule counts as
	Rows         float64 // weight of the rows that its unit explains, or of all rows
	Moved        float64 // how far the rows moved its centre, in the rule's widths (root mean square)
	State        string  // confirmed, disputed, outvoted or unmet
	moves        bool
}

// String says it in one line.
func (s Standing) String() string {
	if s.moves {
		return fmt.Sprintf("%s of %s: worth %.4g cases against %.4g rows, moved by %.2g widths: %s", s.Rule, s.Source, s.Worth, s.Rows, s.Moved, s.State)
	}
	return fmt.Sprintf("%s of %s: worth %.4g cases next to %.4g rows: %s", s.Rule, s.Source, s.Worth, s.Rows, s.State)
}

// Standing returns how each expert's rule fares. A rule with units of its own
// is confirmed if what it expects lies within the rows' experience: at most
// 99 % of rows are denser than its centre. A rule that rows can move (MAP) is
// confirmed if they moved it by at most one of its widths, and unmet if they
// hardly have any in its unit. What is disputed by more rows than the rule is
// worth is outvoted.
func (m *Model) Standing() []Standing {
	var all []Standing
	var data *Model
	for _, b := range m.blocks {
		if b.rows > 0 {
			continue
		}
		for i := range b.units {
			u := &b.units[i]
			s := Standing{Rule: u.name, Source: b.source.Name, Worth: u.n, moves: !u.expert}
			agrees := false
			if u.expert {
				if data == nil {
					var err error
					if data, err = m.withoutExperts(); err != nil {
						return nil
					}
				}
				s.Rows = m.rows
				agrees = data.experienceOf(m, u.key) > 0.01
			} else {
				s.Rows, s.Moved = m.moved(b.schema, u)
				agrees = s.Moved <= 1
			}
			switch {
			case s.Rows < 0.5:
				s.State = "unmet"
			case agrees:
				s.State = "confirmed"
			case s.Rows > s.Worth:
				s.State = "outvoted"
			default:
				s.State = "disputed"
			}
			all = append(all, s)
		}
	}
	return all
}

// withoutExperts returns the model of the rows alone.
func (m *Model) withoutExperts() (*Model, error) {
	var blocks []*block
	for _, b := range m.blocks {
		if b.rows > 0 {
			blocks = append(blocks, b)
		}
	}
	return newModel(m.settings, m.total.target >= 0, blocks)
}

// experienceOf returns the share of rows that are less dense than the centre
// of another model's unit, in the columns on which it has an opinion.
func (m *Model) experienceOf(o *Model, key string) float64 {
	columns := make([]table.Column, len(m.columns))
	at := -1
	for i := range o.total.units {
		if o.total.units[i].key == key {
			at = i
		}
	}
	if at < 0 {
		return 0
	}
	for j := range columns {
		a := &m.total.schema.Attributes[j]
		from := o.total.schema.Index(a.Name)
		normal := from < 0 || o.total.units[at].normal[from]
		if a.Kind == table.Nominal {
			columns[j].Codes = []int32{table.Missing}
			if !normal {
				best, most := table.Missing, 0.0
				for v, n := range o.total.units[at].counts[from] {
					if n > most {
						best, most = a.Code(o.total.schema.Attributes[from].Values[v]), n
					}
				}
				columns[j].Codes[0] = best
			}
			continue
		}
		columns[j].Floats = []float64{table.NA}
		if !normal {
			columns[j].Floats[0] = o.columns[from].number64(o.columns[from].mean[at])
		}
	}
	t := &table.Table{Schema: m.total.schema, Columns: columns}
	logs := make([]float64, len(m.logPrior))
	m.view(-1).explain(t, 0, 1, logs)
	return m.experience(t, 0, -1, logSum(logs))
}

// moved returns the weight of the rows in a rule's unit, and how far they
// moved it.
func (m *Model) moved(schema *table.Schema, rule *share) (rows, distance float64) {
	for i := range m.total.units {
		u := &m.total.units[i]
		if u.key != rule.key {
			continue
		}
		n, sum := 0.0, 0.0
		for j, of := range rule.moments {
			column := m.total.schema.Index(schema.Attributes[j].Name)
			if of.N == 0 || column < 0 || m.columns[column].precision == nil {
				continue
			}
			d := (m.columns[column].mean[i] - of.Mean) / math.Sqrt(of.Variance())
			sum += d * d
			n++
		}
		if n > 0 {
			distance = math.Sqrt(sum / n)
		}
		return u.n - rule.n, distance
	}
	return 0, 0
}

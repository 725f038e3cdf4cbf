package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/mixed"
	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// expert is the rules of a task, read as a mixture. All methods work on nil,
// the expert who says nothing.
type expert struct {
	source    learn.Source
	knowledge string
	copies    int
	schema    *table.Schema
	columns   []overall // over the rows: what NORMAL and sd refer to
	rules     []rule.Unit
	cases     []float64 // that each rule is worth
	taught    *examples // rows sampled from the rules
}

// examples are rows that a teacher made up.
type examples struct{ *table.Table }

func (e *examples) all() []int {
	if e == nil {
		return nil
	}
	rows := make([]int, e.Rows())
	for r := range rows {
		rows[r] = r
	}
	return rows
}

// newExpert checks and reads the task's rules. A rule
//
//	WHEN wealthy (0.3) WORTH 50 EXPECT …
//
// is the case in 0.3 of 50 cases, so it is worth 15; rules that state one
// WORTH and priors that add up to 1 are worth it together.
func newExpert(task learn.Task, columns []overall, s *settings) (*expert, error) {
	if task.Advice.Rules == nil {
		return nil, nil
	}
	e := &expert{source: task.Advice.Expert, knowledge: s.Knowledge, copies: s.Copies, schema: task.Table.Schema, columns: columns}
	if e.source.ID == "" && task.Source.ID == "" || e.source.ID == task.Source.ID {
		e.source.ID += "rules"
	}
	if err := e.read(task.Advice.Rules); err != nil {
		return nil, err
	}
	if s.Knowledge == "teacher" {
		if err := e.teach(rand.New(rand.NewPCG(task.Seed, 0x74656163686572))); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *expert) read(base *rule.Base) error {
	if len(base.Rules) > 0 || base.Else != nil {
		return fmt.Errorf("gaussian learns from WHEN … EXPECT rules; rule %q is of another kind", firstRule(base))
	}
	if len(base.Units) == 0 {
		return fmt.Errorf("the rules are empty; expected WHEN name (prior) WORTH cases EXPECT …")
	}
	if err := base.Check(e.schema); err != nil {
		return err
	}
	total := 0.0
	for _, u := range base.Units {
		if u.Worth == nil {
			return fmt.Errorf("rule %q does not say what it is WORTH; add WORTH and a number of cases", u.Name)
		}
		e.rules = append(e.rules, u)
		e.cases = append(e.cases, *u.Worth*u.Prior)
		total += *u.Worth * u.Prior
		for _, x := range u.Expect {
			if !x.Normal && len(x.Shares) == 0 && !(x.Deviation > 0) {
				return fmt.Errorf("rule %q: the width of %s is %v; expected a number above 0", u.Name, x.Column, x.Deviation)
			}
		}
	}
	if !(total > 0 && total <= moment.MaxWeight) {
		return fmt.Errorf("the rules are worth %v cases in all; expected a number above 0", total)
	}
	return nil
}

func firstRule(base *rule.Base) string {
	if len(base.Rules) > 0 {
		return base.Rules[0].String()
	}
	return rule.Statement{Rule: base.Else, Else: true}.String()
}

// guides reports whether EM begins at the rules.
func (e *expert) guides() bool {
	return e != nil && (e.knowledge == "map" || e.knowledge == "start")
}

// examples returns the teacher's rows, nil if there are none.
func (e *expert) examples() *examples {
	if e == nil {
		return nil
	}
	return e.taught
}

// nameOf returns the name of a unit that began at a rule.
func (e *expert) nameOf(unit int) string {
	name := e.rules[unit/e.copies].Name
	if c := unit % e.copies; c > 0 {
		name = fmt.Sprintf("%s %d", name, c+1)
	}
	return name
}

// keyOf returns what tells a rule from those of other experts.
func (e *expert) keyOf(rule int) string { return "rule " + e.source.ID + " " + e.rules[rule].ID() }

// mixture returns the rules as units in z-scores, each so many times. What a
// rule does not speak of is NORMAL, which begins at the overall figures.
func (e *expert) mixture(s *shape, shares []float64, copies int) *mixture {
	k, d, q := len(e.rules)*copies, len(s.numeric), len(s.nominal)
	m := newMixture(s, k)
	total := weight(e.cases)
	for i := range k {
		r := &e.rules[i/copies]
		m.prior[i] = e.cases[i/copies] / total / float64(copies)
		for j, column := range s.numeric {
			m.centre[i*d+j], m.width[i*d+j] = 0, 1
			x := expectation(r, e.schema.Attributes[column].Name)
			if x == nil || x.Normal || s.flat[j] {
				m.normal[i*(d+q)+j] = true
				continue
			}
			mean, deviation := e.normal(column, x)
			o := &e.columns[column]
			m.centre[i*d+j], m.width[i*d+j] = (mean-o.moment.Mean)/o.deviation(), deviation/o.deviation()
		}
		for c, column := range s.nominal {
			x := expectation(r, e.schema.Attributes[column].Name)
			m.normal[i*(d+q)+d+c] = x == nil || x.Normal
			for v := range s.values[c] {
				p := shares[s.offset[c]+v]
				if x != nil && !x.Normal {
					p = shareOf(x, e.schema.Attributes[column].Values[v])
				}
				m.share[(s.offset[c]+v)*k+i] = p
			}
		}
	}
	m.uncorrelated()
	return m
}

// normal returns what a rule expects of a numeric column, in the unit of the
// column's level.
func (e *expert) normal(column int, x *rule.Expectation) (mean, deviation float64) {
	o := &e.columns[column]
	mean, deviation = x.Mean*o.level.Scale(), x.Deviation*o.level.Scale()
	if x.MeanSD {
		mean = o.moment.Mean + x.Mean*o.deviation()
	}
	if x.DeviationSD {
		deviation = x.Deviation * o.deviation()
	}
	return mean, deviation
}

// expectation returns what a rule says of a column, nil if nothing.
func expectation(r *rule.Unit, column string) *rule.Expectation {
	for i := range r.Expect {
		if r.Expect[i].Column == column {
			return &r.Expect[i]
		}
	}
	return nil
}

func shareOf(x *rule.Expectation, value string) float64 {
	total, p := 0.0, 0.0
	for _, s := range x.Shares {
		total += s.P
		if s.Value == value {
			p += s.P
		}
	}
	return p / total
}

// block returns the block that the expert's rules bring: units of their own,
// or room for what EM makes of them. It is nil if nothing of them counts.
func (e *expert) block(schema *table.Schema, target int) *block {
	if e == nil || e.knowledge == "start" {
		return nil
	}
	b := newBlock(e.source, schema, target)
	for j := range b.columns {
		b.columns[j].level = e.columns[j].level
	}
	if e.knowledge == "mixture" {
		b.units = e.shares(schema)
	} else {
		b.said = e.shares(schema)
	}
	return b
}

// shares returns the rules as units that rows do not move.
func (e *expert) shares(schema *table.Schema) []share {
	shares := make([]share, len(e.rules))
	for i := range e.rules {
		r := &e.rules[i]
		u := unit{key: e.keyOf(i), name: r.Name, class: table.Missing, normal: make([]bool, len(schema.Attributes)), expert: true, place: i}
		to := newShare(u, schema)
		to.n = e.cases[i]
		for j := range schema.Attributes {
			x := expectation(r, schema.Attributes[j].Name)
			switch {
			case x == nil || x.Normal || to.counts[j] == nil && e.columns[j].deviation() == 0:
				to.normal[j] = true
			case to.counts[j] == nil:
				mean, deviation := e.normal(j, x)
				to.moments[j] = moment.Moment{N: to.n, Mean: mean, M2: to.n * deviation * deviation}
			default:
				for v, value := range schema.Attributes[j].Values {
					to.counts[j][v] = to.n * shareOf(x, value)
				}
			}
		}
		shares[i] = to
	}
	return shares
}

// teach makes up as many rows as the rules are worth.
func (e *expert) teach(random *rand.Rand) error {
	rows := int(math.Round(weight(e.cases)))
	if rows < 1 || rows > 1<<24 {
		return fmt.Errorf("the rules are worth %v cases; a teacher makes up 1 to %d rows", weight(e.cases), 1<<24)
	}
	columns := make([]table.Column, len(e.columns))
	for j := range columns {
		if e.columns[j].counts != nil {
			columns[j].Codes = make([]int32, rows)
		} else {
			columns[j].Floats = make([]float64, rows)
		}
	}
	for row := range rows {
		r := &e.rules[mixed.Draw(e.cases, random)]
		for j := range columns {
			x := expectation(r, e.schema.Attributes[j].Name)
			o := &e.columns[j]
			if o.counts != nil {
				p := o.counts
				if x != nil && !x.Normal {
					p = make([]float64, len(o.counts))
					for v, value := range e.schema.Attributes[j].Values {
						p[v] = shareOf(x, value)
					}
				}
				columns[j].Codes[row] = table.Missing
				if weight(p) > 0 {
					columns[j].Codes[row] = int32(mixed.Draw(p, random))
				}
				continue
			}
			mean, deviation := o.moment.Mean, o.deviation()
			if x != nil && !x.Normal && deviation > 0 {
				mean, deviation = e.normal(j, x)
			}
			columns[j].Floats[row] = (mean + deviation*random.NormFloat64()) / o.level.Scale()
		}
	}
	t, err := table.New(e.schema, columns, nil)
	e.taught = &examples{t}
	return err
}

// broad is the width of the default expert, in deviations.
const broad = 3

// defaultExpert returns the expert who knows nothing in particular: one broad
// unit around the mean of everything.
func defaultExpert(total *block, cases float64) share {
	u := newShare(unit{key: "default", name: "default", class: table.Missing, normal: make([]bool, len(total.columns)), expert: true}, total.schema)
	u.n = cases
	for j := range total.columns {
		o := &total.columns[j]
		if d := o.deviation(); o.counts == nil && d > 0 {
			u.moments[j] = moment.Moment{N: cases, Mean: o.moment.Mean, M2: cases * broad * broad * d * d}
		} else {
			u.normal[j] = true
		}
	}
	return u
}

// jitter is how far copies of a rule begin from it, in deviations: copies
// that begin at one place stay together for ever.
const jitter = 0.3

// guided runs EM from the rules. With knowledge=map the rules are conjugate
// priors too (section 5.2): a rule worth η cases pulls its unit as η rows
// around its centre, of its width, would:
//
//	c = (Σ r x + η μ)/(n + η), σ² = (SS + η (c − μ)² + η σ₀²)/(n + η)
func (f *fit) guided(ctx context.Context, s *sample, report func(float64)) (*mixture, *statistics, error) {
	units := len(f.expert.rules) * f.expert.copies
	e := newEM(s, units, f.Floor, f.M)
	m := f.expert.mixture(s.shape, e.overall, f.expert.copies)
	var pseudo *statistics
	if f.Knowledge == "map" {
		pseudo = m.statistics(weight(f.expert.cases))
		e.pseudo.add(pseudo)
	}
	clear(m.normal) // rows may move what the rules left open
	for at := range m.centre {
		m.width[at] = max(m.width[at], f.Floor)
		if f.expert.copies > 1 {
			m.centre[at] += jitter * f.random.NormFloat64()
		}
	}
	m.uncorrelated()
	for at, p := range m.share {
		m.share[at] = 0.9*p + 0.1*e.overall[at/units] // nothing is impossible before a row was seen
	}
	_, err := e.run(ctx, m, f.Iterations, f.Tolerance)
	report(1)
	return m, pseudo, err
}

// Tell returns the model with an expert's rules added as units of their own,
// worth the cases that they state: the incremental mixture of section 5.1,
// exact, and undone by forgetting the expert. NORMAL and sd in the rules refer
// to the rows that the model has learnt so far.
func (m *Model) Tell(ctx context.Context, advice learn.Advice, _ ...learn.Learnt) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, b := range m.blocks {
		if b.source.ID == advice.Expert.ID {
			return nil, fmt.Errorf("the model was told these rules already, as %s; forget them first", b.source.Name)
		}
	}
	e := &expert{source: advice.Expert, knowledge: "mixture", copies: 1, schema: m.total.schema, columns: m.overall}
	if err := e.read(advice.Rules); err != nil {
		return nil, err
	}
	return newModel(m.settings, m.total.target != learn.NoTarget, append(m.blocks[:len(m.blocks):len(m.blocks)], e.block(m.total.schema, m.total.target)))
}

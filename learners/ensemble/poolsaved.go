package ensemble

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// savedPool is a pool in one part; its members follow in parts of their own.
type savedPool struct {
	Name     string    `cbor:"name"`
	Names    []string  `cbor:"names"`
	Rows     float64   `cbor:"rows"`
	Beta     float64   `cbor:"beta"`
	Mistakes []float64 `cbor:"mistakes"`
	Made     float64   `cbor:"made"`
	Judged   float64   `cbor:"judged"`
	Credit   []float64 `cbor:"credit"`
	Schema   []column  `cbor:"schema"`
	Target   int       `cbor:"target"`
	// Of a committee that votes as Bayes' rule says.
	Vote     string    `cbor:"vote,omitempty"`
	Seed     uint64    `cbor:"seed,omitempty"`
	Evidence []float64 `cbor:"evidence,omitempty"`
}

type column struct {
	Name    string   `cbor:"name"`
	Numeric bool     `cbor:"numeric,omitempty"`
	Date    bool     `cbor:"date,omitempty"`
	Time    bool     `cbor:"time,omitempty"`
	Values  []string `cbor:"values,omitempty"`

	Style table.Style `cbor:"style,omitempty"`
}

const (
	poolPart   = "pool"
	memberPart = "member" // with its number
)

// Parts returns the pool and its members.
func (m *Pool) Parts() ([]learn.Part, error) {
	s := savedPool{Name: m.name, Names: m.names, Rows: m.rows, Beta: m.score.Beta, Mistakes: m.score.Mistakes, Made: m.score.Made, Judged: m.score.Rows, Credit: m.credit, Target: m.target, Vote: m.vote, Seed: m.seed, Evidence: m.evidence}
	for _, a := range m.schema.Attributes {
		s.Schema = append(s.Schema, column{a.Name, a.Kind == table.Numeric, a.Date, a.Time, a.Values, a.Style})
	}
	data, err := learn.Marshal(s)
	parts := []learn.Part{{Name: poolPart, Data: data}}
	for i := range m.members {
		data, e := learn.Encode(m.members[i].model)
		err = cmp.Or(err, e)
		parts = append(parts, learn.Part{Name: fmt.Sprintf("%s %d", memberPart, i+1), Data: data})
	}
	return parts, err
}

// Shed returns the pool of members without the rows that they hold.
func (m *Pool) Shed() (learn.Model, bool, error) {
	bare, held := *m, false
	bare.members = slices.Clone(m.members)
	for i := range bare.members {
		within, holds, err := kept.Shed(bare.members[i].model)
		if err != nil {
			return nil, true, err
		}
		bare.members[i].model, held = within, held || holds
	}
	return &bare, held, nil
}

// decodePool makes a pool of its parts.
func decodePool(parts []learn.Part) (learn.Model, error) {
	var s savedPool
	if err := learn.Unmarshal(learn.FindPart(parts, poolPart), &s); err != nil {
		return nil, fmt.Errorf("part %q: %v", poolPart, err)
	}
	amount := func(x float64) bool { return x >= 0 && x-x == 0 }
	switch {
	case len(s.Mistakes) == 0 || len(s.Mistakes) != len(s.Names) || !amount(s.Made) || !amount(s.Judged) || !amount(s.Rows):
		return nil, fmt.Errorf("part %q: %d members with %d scores", poolPart, len(s.Names), len(s.Mistakes))
	case slices.ContainsFunc(s.Mistakes, func(x float64) bool { return !amount(x) }):
		return nil, fmt.Errorf("part %q: mistakes %v", poolPart, s.Mistakes)
	case len(s.Credit) != len(s.Names) || slices.ContainsFunc(s.Credit, func(x float64) bool { return !(x >= 0 && x <= s.Judged*(1+1e-9)) }):
		return nil, fmt.Errorf("part %q: %v rows credited to %d members as %v", poolPart, s.Judged, len(s.Names), s.Credit)
	case s.Name != MajorityName && s.Name != HalvingName && s.Name != CommitteeName, !(s.Beta >= 0 && s.Beta <= 1):
		return nil, fmt.Errorf("part %q: a pool %q with the factor %v", poolPart, s.Name, s.Beta)
	case s.Target < 0 || s.Target >= len(s.Schema):
		return nil, fmt.Errorf("part %q: the target is column %d of %d", poolPart, s.Target+1, len(s.Schema))
	}
	if s.Vote != "" && (s.Name != CommitteeName || s.Vote != voteBayes && s.Vote != voteGibbs || len(s.Evidence) != len(s.Names)) ||
		slices.ContainsFunc(s.Evidence, func(x float64) bool { return !(x <= 0 && x-x == 0) }) {
		return nil, fmt.Errorf("part %q: %d members of a pool %q vote as %q by the evidence %v", poolPart, len(s.Names), s.Name, s.Vote, s.Evidence)
	}
	m := &Pool{name: s.Name, names: s.Names, rows: s.Rows, score: Majority{s.Beta, s.Mistakes, s.Made, s.Judged}, credit: s.Credit, vote: s.Vote, seed: s.Seed, evidence: s.Evidence}
	m.target = s.Target
	schema := &table.Schema{}
	for _, c := range s.Schema {
		a := table.Attribute{Name: c.Name, Values: c.Values, Date: c.Date, Time: c.Time, Style: c.Style}
		if c.Numeric {
			a.Kind, a.Values = table.Numeric, nil
		}
		schema.Attributes = append(schema.Attributes, a)
	}
	if err := table.Distinct(schema); err != nil {
		return nil, err
	}
	if a := &schema.Attributes[m.target]; a.Kind == table.Numeric && (m.name != CommitteeName || m.vote != "") || a.Kind == table.Nominal && len(a.Values) == 0 {
		return nil, fmt.Errorf("part %q: the target %q has no classes", poolPart, a.Name)
	}
	models := make([]learn.Model, len(s.Names))
	for i := range models {
		var err error
		if models[i], err = learn.Decode(learn.FindPart(parts, fmt.Sprintf("%s %d", memberPart, i+1))); err != nil {
			return nil, fmt.Errorf("part %q: %v", fmt.Sprintf("%s %d", memberPart, i+1), err)
		}
	}
	pool, err := m.with(models, schema)
	if err != nil {
		return nil, err
	}
	return pool, nil
}

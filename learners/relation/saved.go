package relation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart    = "foil"
	bodyPart    = "clauses"
	aroundPart  = "around"
	tablePrefix = "table/"
)

const format = 1

type lesson = kept.Lesson[settings]

// savedBody is what was learnt. It can be learnt again from the rows.
type savedBody struct {
	List []listed  `cbor:"list"`
	Rest []float64 `cbor:"rest"`
	All  []float64 `cbor:"all"`
	// Weighing is how clauses answer together, if they do.
	Weighing *savedWeighing `cbor:"weighing,omitempty"`
}

// savedAround is what rows point at, but for the tables' rows.
type savedAround struct {
	Of       string          `cbor:"of"`
	Target   string          `cbor:"target"`
	Tables   []savedTable    `cbor:"tables,omitempty"`
	Links    []savedLink     `cbor:"links,omitempty"`
	Programs []sourceProgram `cbor:"programs,omitempty"`
}

type savedTable struct {
	Name    string   `cbor:"name"`
	Primary []string `cbor:"primary,omitempty"`
}

type savedLink struct {
	Table     string   `cbor:"table"`
	Columns   []string `cbor:"columns"`
	To        string   `cbor:"to"`
	ToColumns []string `cbor:"to_columns"`
}

// Parts returns the settings, the rows of each source, the tables around them, and the
// clauses, which can be learnt again.
func (m *Model) Parts() ([]learn.Part, error) {
	body := savedBody{List: m.list, Rest: m.rest, All: m.all}
	if m.weighing != nil {
		network, err := learn.Encode(m.weighing.network)
		if err != nil {
			return nil, err
		}
		body.Weighing = &savedWeighing{network, m.weighing.temper}
	}
	parts, err := m.lesson.Parts(headPart, m.rows, bodyPart, body)
	if err != nil || m.around.of == "" {
		return parts, err
	}
	s := savedAround{Of: m.around.of, Target: m.around.target, Programs: m.around.programs}
	for _, l := range m.around.links {
		s.Links = append(s.Links, savedLink{l.Table, l.Columns, l.To, l.ToColumns})
	}
	for _, t := range m.around.tables {
		s.Tables = append(s.Tables, savedTable{t.name, t.primary})
		rows, err := t.rows.Parts()
		if err != nil {
			return nil, err
		}
		data, err := learn.Marshal(rows)
		if err != nil {
			return nil, err
		}
		parts = append(parts, learn.Part{Name: tablePrefix + t.name, Data: data})
	}
	data, err := learn.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append(parts, learn.Part{Name: aroundPart, Data: data}), nil
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var l lesson
	var body savedBody
	rows, ok, err := l.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	around, err := decodeAround(parts)
	if err != nil {
		return nil, err
	}
	around.target = cmp.Or(around.target, l.Target) // updates did not keep it once
	ctx := context.Background()
	if !ok {
		return learned(learnRows(ctx, rows, around, l))
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	linked, err := around.linked(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{lesson: l, rows: rows, around: around}
	if err := m.prepare(t.Schema, linked); err != nil {
		return nil, err
	}
	return learned(m, m.restore(&body))
}

// restore checks the clauses and puts them to use.
func (m *Model) restore(body *savedBody) error {
	m.list, m.rest, m.all = body.List, body.Rest, body.All
	weights := [][]float64{m.rest, m.all}
	m.arity = 1
	if m.linked != nil && len(m.linked.Tables) == 0 {
		m.arity = 0
		for i, a := range m.schema.Attributes {
			m.arity += btoi(i != m.target && a.Kind == table.Nominal)
		}
	}
	for i, c := range m.list {
		if c.Class < 0 || c.Class >= len(m.classes()) {
			return fmt.Errorf("clause %d: no class %d", i+1, c.Class)
		}
		if c.Text != "" {
			p, err := logic.Read("clause", c.Text)
			if err != nil || len(p.Clauses) != 1 || len(p.Clauses[0].Arguments()) != m.arity {
				return fmt.Errorf("clause %d is not one: %v", i+1, err)
			}
		}
		if err := check(c.Body, m.arity); err != nil {
			return fmt.Errorf("clause %d: %v", i+1, err)
		}
		if !(c.Worth >= 0 && c.Worth <= 1e12) {
			return fmt.Errorf("clause %d is worth %v rows", i+1, c.Worth)
		}
		weights = append(weights, c.First)
	}
	for _, w := range weights {
		if len(w) != len(m.classes()) || slices.ContainsFunc(w, func(x float64) bool { return !(x >= 0) || math.IsInf(x, 1) }) {
			return fmt.Errorf("the weights %v do not fit %d classes", w, len(m.classes()))
		}
	}
	if !(sum(m.all) > 0) {
		return fmt.Errorf("there are no rows")
	}
	m.writer = newWriter(nil)
	m.derive()
	return m.restoreWeighing(body.Weighing)
}

func decodeAround(parts []learn.Part) (*surroundings, error) {
	data := learn.FindPart(parts, aroundPart)
	if data == nil {
		return &surroundings{}, nil
	}
	var s savedAround
	if err := learn.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("part %q: %v", aroundPart, err)
	}
	around := &surroundings{of: s.Of, target: s.Target, programs: s.Programs}
	if s.Of == "" {
		return nil, fmt.Errorf("part %q does not say what rows are of", aroundPart)
	}
	for _, l := range s.Links {
		if len(l.Columns) == 0 || len(l.Columns) != len(l.ToColumns) {
			return nil, fmt.Errorf("part %q: a link of %d columns to %d", aroundPart, len(l.Columns), len(l.ToColumns))
		}
		around.links = append(around.links, table.Link{Table: l.Table, Columns: l.Columns, To: l.To, ToColumns: l.ToColumns})
	}
	for _, t := range s.Tables {
		var packed []learn.Part
		if err := learn.Unmarshal(learn.FindPart(parts, tablePrefix+t.Name), &packed); err != nil {
			return nil, fmt.Errorf("part %q: %v", tablePrefix+t.Name, err)
		}
		rows, err := kept.DecodeRows(packed)
		if err != nil {
			return nil, fmt.Errorf("part %q: %v", tablePrefix+t.Name, err)
		}
		around.tables = append(around.tables, tableRows{t.Name, t.Primary, rows})
	}
	for _, p := range around.programs {
		if _, err := logic.Read("background", p.Program); err != nil {
			return nil, err
		}
		if _, err := logic.ReadBias(p.Bias); err != nil {
			return nil, err
		}
	}
	return around, nil
}

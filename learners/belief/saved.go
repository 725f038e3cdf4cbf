package belief

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows. FilePart is in
// their place a network's file, its name, a line end and its text, and SettingsPart
// beside it how that is to learn and to answer, by name.
const (
	headPart     = "belief"
	bodyPart     = "network"
	FilePart     = "network file"
	SettingsPart = "network settings"
)

const format = 1

// savedBody is what was learnt, which can be learnt again from the rows.
type savedBody struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Weight  float64             `cbor:"weight"`
	Nodes   []savedNode         `cbor:"nodes"`
	Arcs    []Arc               `cbor:"arcs"`
	Lines   []savedLines        `cbor:"lines,omitempty"`
}

// savedLines are the slopes of a number that has numeric parents.
type savedLines struct {
	_     struct{} `cbor:",toarray"`
	Node  int
	Slope []float64
	At    []float64
}

type savedNode struct {
	_         struct{} `cbor:",toarray"`
	Parents   []int
	Table     []float64
	Counts    []float64
	Numeric   bool
	Unit      float64
	Mean      []float64
	Deviation []float64
}

// Parts returns the settings, the rows of each source, and the network.
func (m *Model) Parts() ([]learn.Part, error) {
	if m.kept != nil {
		head, err := learn.Marshal(&m.lesson)
		if err != nil {
			return nil, err
		}
		parts, err := m.kept.parts()
		return append([]learn.Part{{Name: headPart, Data: head}}, parts...), err
	}
	body := savedBody{Columns: table.SaveColumns(m.schema), Weight: m.weight, Arcs: m.grown}
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		if len(n.lines) > 0 {
			body.Lines = append(body.Lines, savedLines{Node: v, Slope: n.slope, At: n.at})
		}
		body.Nodes = append(body.Nodes, savedNode{Parents: slices.Concat(n.parents, n.lines), Table: n.table, Counts: m.counts[v], Numeric: n.numeric, Unit: n.unit, Mean: n.mean, Deviation: n.deviation})
	}
	return m.lesson.Parts(headPart, m.rows, bodyPart, body)
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	if text := learn.FindPart(parts, FilePart); text != nil {
		var set map[string]string
		if more := learn.FindPart(parts, SettingsPart); more != nil {
			if err := learn.Unmarshal(more, &set); err != nil {
				return nil, fmt.Errorf("part %q: %v", SettingsPart, err)
			}
		}
		return fromFile(string(text), set)
	}
	var l lesson
	if err := learn.Unmarshal(learn.FindPart(parts, headPart), &l); err != nil {
		return nil, fmt.Errorf("part %q: %v", headPart, err)
	}
	if l.Format != format {
		return nil, fmt.Errorf("the model is saved in format %d, this program reads %d", l.Format, format)
	}
	if err := l.Settings.check(); err != nil {
		return nil, err
	}
	if l.Settings.Keep == "counts" {
		c, err := decodeCounts(parts)
		if err != nil {
			return nil, err
		}
		m, err := learnCounts(context.Background(), c, l)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	rows, err := kept.DecodeRows(parts)
	if err != nil {
		return nil, err
	}
	if l.Settings.Keep == "nothing" {
		rows = nil
	}
	data := learn.FindPart(parts, bodyPart)
	if data == nil && rows == nil {
		return nil, fmt.Errorf("part %q is not there", bodyPart)
	}
	if data == nil {
		m, err := learnRows(context.Background(), rows, l)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	var body savedBody
	if err := learn.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	m := &Model{lesson: l, rows: rows}
	if err := m.restore(&body); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// fromFile makes a model of no rows, whose tables are the file's: each row of
// them is worth one case to the rows that may come, unless it is set otherwise.
func fromFile(text string, set map[string]string) (learn.Model, error) {
	l := &Learner{Worth: 1}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if err := learn.Set(l, key, set[key]); err != nil {
			return nil, err
		}
	}
	if l.Network != "" {
		return nil, fmt.Errorf("setting network: the file is the network")
	}
	l.Network = text
	s, err := l.settings()
	if err != nil {
		return nil, err
	}
	name, body, _ := strings.Cut(text, "\n")
	if net, err := netfile.Parse(name, []byte(body)); err != nil || !net.Whole() {
		return nil, fmt.Errorf("%s: the network does not give the states and the table of every variable; learn it from rows (the setting network=%s), or give them: P(a=yes | b=no) = 0.3", name, name)
	}
	m, err := learnRows(context.Background(), &kept.Rows{}, lesson{Format: format, Settings: s})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (m *Model) restore(body *savedBody) error {
	var err error
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.weight, m.grown, m.target = body.Weight, body.Arcs, learn.NoTarget
	if m.lesson.Target != "" {
		if m.target = m.schema.Index(m.lesson.Target); m.target < 0 || len(m.schema.Attributes[m.target].Values) == 0 {
			return fmt.Errorf("the target %q is no column with classes", m.lesson.Target)
		}
	}
	n := len(m.schema.Attributes)
	if len(body.Nodes) != n || !(m.weight >= 0 && m.weight <= 1e15) {
		return fmt.Errorf("%d nodes of %d columns, or a weight of %v", len(body.Nodes), n, m.weight)
	}
	parents := make([][]int, n)
	for v := range body.Nodes {
		parents[v] = body.Nodes[v].Parents
		for i, p := range parents[v] {
			if p < 0 || p >= n || p == v || slices.Contains(parents[v][:i], p) || len(m.schema.Attributes[p].Values) == 0 && !(body.Nodes[p].Numeric && body.Nodes[v].Numeric) {
				return fmt.Errorf("column %d cannot have parent %d", v+1, p+1)
			}
		}
		if k := m.schema.Attributes[v].Kind; k != table.Nominal && k != table.Numeric || len(m.schema.Attributes[v].Values) > maxStates {
			return fmt.Errorf("column %d has no table", v+1)
		}
	}
	if len(topological(parents)) < n {
		return fmt.Errorf("the arcs go in a circle")
	}
	m.net = newNetwork(m.schema, parents)
	m.counts = make([][]float64, n)
	for v := range body.Nodes {
		if err := m.restoreNode(v, &body.Nodes[v]); err != nil {
			return fmt.Errorf("column %q: %v", m.schema.Attributes[v].Name, err)
		}
	}
	return m.restoreLines(body.Lines)
}

func (m *Model) restoreLines(all []savedLines) error {
	for _, s := range all {
		if s.Node < 0 || s.Node >= len(m.net.nodes) {
			return fmt.Errorf("there is no column %d with slopes", s.Node+1)
		}
		m.net.nodes[s.Node].slope, m.net.nodes[s.Node].at = s.Slope, s.At
	}
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		if len(n.at) != len(n.lines) || len(n.slope) != len(n.lines)*len(n.mean) {
			return fmt.Errorf("column %q: %d slopes do not fit %d numeric parents", m.schema.Attributes[v].Name, len(n.slope), len(n.lines))
		}
		for _, x := range slices.Concat(n.slope, n.at) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("column %q: %v is no slope", m.schema.Attributes[v].Name, x)
			}
		}
		if len(n.lines) > 0 && !within(n.unit) || slices.ContainsFunc(n.lines, func(p int) bool { return !within(m.net.nodes[p].unit) }) {
			return fmt.Errorf("column %q has slopes along numbers that are too small or too large for them", m.schema.Attributes[v].Name)
		}
	}
	m.net.reaches()
	return nil
}

func (m *Model) restoreNode(v int, s *savedNode) error {
	n := &m.net.nodes[v]
	rows := 1
	for _, p := range n.parents {
		if rows *= m.net.nodes[p].states; rows > netfile.MaxTable {
			return fmt.Errorf("its table is too large")
		}
	}
	numbers := 0
	if s.Numeric {
		numbers = rows
	}
	if len(s.Table) != rows*n.states || len(s.Counts) != rows*n.states || len(s.Mean) != numbers || len(s.Deviation) != numbers || s.Numeric && !n.numeric {
		return fmt.Errorf("%d and %d numbers do not fit %d rows", len(s.Table), len(s.Mean), rows)
	}
	for from := 0; from < len(s.Table); from += max(n.states, 1) {
		sum := 0.0
		for _, p := range s.Table[from : from+n.states] {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("%v is no probability", p)
			}
			sum += p
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return fmt.Errorf("probabilities sum to %v", sum)
		}
	}
	for _, c := range s.Counts {
		if !(c >= 0 && c <= 1e15) {
			return fmt.Errorf("%v is no weight of rows", c)
		}
	}
	for i, mean := range s.Mean {
		if d := s.Deviation[i]; math.IsNaN(mean) || math.IsInf(mean, 0) || !(d >= 1e-300 && d <= math.MaxFloat64) || !(s.Unit > 0 && s.Unit <= math.MaxFloat64) {
			return fmt.Errorf("%v ± %v is no normal density", mean, d)
		}
	}
	n.table, m.counts[v], n.numeric = s.Table, s.Counts, s.Numeric
	n.mean, n.deviation, n.unit = s.Mean, s.Deviation, s.Unit
	return nil
}

// BIF returns the network in the text form of the interchange format.
func (m *Model) BIF() ([]byte, error) {
	file := &netfile.Network{Name: "accrete"}
	for v := range m.net.nodes {
		n, a := &m.net.nodes[v], &m.schema.Attributes[v]
		if n.states == 0 {
			return nil, fmt.Errorf("column %q is not nominal; files of this kind hold named states only", a.Name)
		}
		file.Variables = append(file.Variables, netfile.Variable{Name: a.Name, States: a.Values, Parents: n.parents, Table: n.table})
	}
	return file.BIF(), nil
}

package tree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of a model's parts, besides those of its rows.
const (
	headPart = "tree"
	bodyPart = "nodes"
)

const format = 1

// savedBody is what was learnt. Where rows are kept it can be learnt again.
type savedBody struct {
	Columns []table.SavedColumn `cbor:"columns"`
	Tree    *savedTree          `cbor:"tree,omitempty"`
	List    *savedList          `cbor:"list,omitempty"`
}

type savedTree struct {
	Center     float64   `cbor:"center"`
	Scale      float64   `cbor:"scale"`
	Columns    []int32   `cbor:"columns"` // of each node; -1 for a leaf
	Thresholds []float64 `cbor:"thresholds"`
	Kids       []int32   `cbor:"kids"` // how many
	Labels     []int32   `cbor:"labels"`
	Branches   []int32   `cbor:"branches"`
	Stat       []float64 `cbor:"stat"`
	Known      []float64 `cbor:"known"`
	// With many classes: those that each node knows, which Stat is of, and
	// where they end.
	Classes []int32      `cbor:"classes,omitempty"`
	Ends    []int32      `cbor:"ends,omitempty"`
	Grown   int          `cbor:"grown,omitempty"`  // tests before pruning
	Planes  []savedPlane `cbor:"planes,omitempty"` // in the order of their nodes
	Absent  []int32      `cbor:"absent,omitempty"` // nodes that ask whether a cell is missing, ascending
}

type savedList struct {
	Rules     []savedRule `cbor:"rules"`
	Otherwise []float64   `cbor:"otherwise"`
	Root      []float64   `cbor:"root"`
}

type savedRule struct {
	Conditions []savedCondition `cbor:"if"`
	Stat       []float64        `cbor:"stat"`
	Estimate   float64          `cbor:"estimate"`
	Class      int32            `cbor:"class"`
}

type savedCondition struct {
	Column    int32       `cbor:"column"`
	Above     bool        `cbor:"above,omitempty"`
	Threshold float64     `cbor:"threshold,omitempty"`
	In        []int32     `cbor:"in,omitempty"` // codes
	Plane     *savedPlane `cbor:"plane,omitempty"`
	Absent    bool        `cbor:"absent,omitempty"`
}

// Parts returns the settings, the rows of each source, and the tree, which can
// be learnt again from the others if rows are kept.
func (m *Model) Parts() ([]learn.Part, error) {
	lesson := &kept.Lesson[settings]{Format: format, Settings: m.settings, Seed: m.seed, Target: m.schema.Attributes[m.target].Name}
	body := savedBody{Columns: table.SaveColumns(m.schema)}
	if m.tree != nil {
		body.Tree = m.tree.save()
		body.Tree.Grown = m.grown
	} else {
		body.List = m.list.save()
	}
	return lesson.Parts(headPart, m.rows, bodyPart, body)
}

// Shed returns the tree without the rows that it was learnt from.
func (m *Model) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows, bare.settings.Keep = nil, "nothing"
	return &bare, m.rows != nil, nil
}

func (c *compact) save() *savedTree {
	s := &savedTree{Center: c.center, Scale: c.scale, Branches: c.branch, Stat: c.stat, Known: c.known}
	if c.few != nil {
		s.Classes, s.Ends = c.few.classes, c.few.from[1:]
	}
	for i := range c.nodes {
		st := &c.nodes[i]
		s.Columns = append(s.Columns, st.col)
		s.Kids = append(s.Kids, st.kids)
		s.Labels = append(s.Labels, st.label)
		s.Thresholds = append(s.Thresholds, st.threshold)
		if p := c.plane(st); p != nil {
			s.Planes = append(s.Planes, p.save(i))
		}
		if st.values == absent {
			s.Absent = append(s.Absent, int32(i))
		}
	}
	return s
}

func (l *list) save() *savedList {
	s := &savedList{Otherwise: l.otherwise, Root: l.root}
	for i := range l.rules {
		r := &l.rules[i]
		saved := savedRule{Stat: r.stat, Estimate: r.estimate, Class: r.class}
		for _, c := range r.conditions {
			sc := savedCondition{Column: c.col, Above: c.above, Threshold: c.threshold, Absent: c.absent}
			if c.plane != nil {
				plane := c.plane.save(0)
				sc.Plane = &plane
			}
			for v, in := range c.in {
				if in {
					sc.In = append(sc.In, int32(v))
				}
			}
			saved.Conditions = append(saved.Conditions, sc)
		}
		s.Rules = append(s.Rules, saved)
	}
	return s
}

// decode makes a model of its parts.
func decode(parts []learn.Part) (learn.Model, error) {
	var lesson kept.Lesson[settings]
	var body savedBody
	rows, found, err := lesson.Load(parts, headPart, format, (*settings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		return learnRows(context.Background(), rows, lesson.Target, lesson.Seed, lesson.Settings)
	}
	m := &Model{settings: lesson.Settings, seed: lesson.Seed, rows: rows}
	if err := m.restore(&body, lesson.Target); err != nil {
		return nil, fmt.Errorf("part %q: %v", bodyPart, err)
	}
	return m, nil
}

// keeps checks the settings and reports whether rows are kept.
func (s *settings) keeps() (bool, error) { return s.Keep == "rows", s.check() }

// restore checks what was saved and puts it to use.
func (m *Model) restore(body *savedBody, target string) error {
	var err error
	if m.schema, err = table.LoadColumns(body.Columns); err != nil {
		return err
	}
	m.target = m.schema.Index(target)
	if m.target < 0 {
		return fmt.Errorf("the target %q is no column", target)
	}
	classes := len(m.schema.Attributes[m.target].Values)
	if m.schema.Attributes[m.target].Kind == table.Nominal && classes == 0 {
		return fmt.Errorf("the target %q has no classes", target)
	}
	switch {
	case body.Tree != nil && body.List == nil:
		m.grown = body.Tree.Grown
		m.tree, err = body.Tree.load(m.schema, m.target)
		if err == nil {
			ways, unknown := m.settings.ways(m.schema, m.target)
			if unknown != nil {
				return unknown
			}
			m.tree.derive(&m.settings, m.schema.Attributes[m.target].Values, ways)
			if !finite(m.tree.answer) || !finite(m.tree.share) || !m.tree.inScale() {
				err = fmt.Errorf("the weights of its nodes give no answers")
			}
		}
	case body.List != nil && body.Tree == nil:
		m.list, err = body.List.load(m.schema, m.target)
		if err == nil {
			m.list.derive(m.settings.M)
		}
	default:
		err = fmt.Errorf("expected a tree or a list of rules")
	}
	return err
}

// weightsOK reports whether all numbers could be sums of rows' weights.
func weightsOK(weights []float64) bool {
	return !slices.ContainsFunc(weights, func(w float64) bool { return !(w >= 0 && w <= math.MaxFloat64) })
}

func finite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func (s *savedTree) load(schema *table.Schema, target int) (*compact, error) {
	n := len(s.Columns)
	c := &compact{size: 3, center: s.Center, scale: s.Scale, branch: s.Branches, stat: s.Stat, known: s.Known}
	if schema.Attributes[target].Kind == table.Nominal {
		c.classes = len(schema.Attributes[target].Values)
		c.size = c.classes
		if !weightsOK(s.Stat) {
			return nil, fmt.Errorf("a class has a weight below 0")
		}
	} else if !finite(s.Stat) || !finite([]float64{s.Center, s.Scale}) || s.Scale <= 0 {
		return nil, fmt.Errorf("numbers of the target are not finite")
	}
	if n == 0 || len(s.Kids) != n || len(s.Labels) != n || len(s.Thresholds) != n || len(s.Known) != n || s.Ends == nil && len(s.Stat) != n*c.size || !weightsOK(s.Known) {
		return nil, fmt.Errorf("%d nodes do not fit what is said of them", n)
	}
	if err := c.loadFew(s, n); err != nil {
		return nil, err
	}
	if c.classes == 0 {
		for i := range n {
			if s.Stat[3*i] < 0 {
				return nil, fmt.Errorf("node %d has a weight below 0", i)
			}
		}
	}
	next, first, asks := int32(1), int32(0), s.Absent
	for i := range n {
		st := step{col: s.Columns[i], kids: s.Kids[i], label: s.Labels[i], threshold: s.Thresholds[i]}
		if st.label < 0 || int(st.label) >= max(c.classes, 1) {
			return nil, fmt.Errorf("node %d has class %d", i, st.label)
		}
		if st.col == leaf {
			if st.kids != 0 {
				return nil, fmt.Errorf("leaf %d has branches", i)
			}
			c.nodes = append(c.nodes, st)
			continue
		}
		if st.col < 0 || int(st.col) >= len(schema.Attributes) || int(st.col) == target || st.kids < 1 || int64(next)+int64(st.kids) > int64(n) {
			return nil, fmt.Errorf("node %d tests column %d with %d branches", i, st.col, st.kids)
		}
		st.kid = next
		next += st.kids
		if len(asks) > 0 && int(asks[0]) == i && st.kids == 2 {
			st.values, asks = absent, asks[1:]
		} else if a := &schema.Attributes[st.col]; a.Kind == table.Nominal {
			st.first, st.values = first, int32(len(a.Values))
			if err := s.checkBranches(i, &st); err != nil {
				return nil, err
			}
			first += st.values
		} else if planes := s.Planes[len(c.planes):]; st.kids == 2 && len(planes) > 0 && int(planes[0].Node) == i {
			p, err := planes[0].load(schema, target)
			if err != nil || math.IsNaN(st.threshold) {
				return nil, fmt.Errorf("node %d compares with %v: %v", i, st.threshold, err)
			}
			st.first, st.values = int32(len(c.planes)), slanted
			c.planes = append(c.planes, p)
		} else if st.kids != 2 || math.IsNaN(st.threshold) {
			return nil, fmt.Errorf("node %d compares with %v and has %d branches", i, st.threshold, st.kids)
		}
		c.nodes = append(c.nodes, st)
	}
	if len(c.planes) != len(s.Planes) {
		return nil, fmt.Errorf("%d planes, of which %d have a node", len(s.Planes), len(c.planes))
	}
	if len(asks) > 0 {
		return nil, fmt.Errorf("node %d asks for missing cells with other than two branches", asks[0])
	}
	if int(next) != n || int(first) != len(s.Branches) {
		return nil, fmt.Errorf("%d nodes for %d branches", n, next-1)
	}
	if c.few != nil {
		if err := c.few.check(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// checkBranches checks where the values of a nominal test go.
func (s *savedTree) checkBranches(i int, st *step) error {
	if st.values == 0 || int64(st.first)+int64(st.values) > int64(len(s.Branches)) {
		return fmt.Errorf("node %d has no branches for its values", i)
	}
	for _, b := range s.Branches[st.first : st.first+st.values] {
		if b < 0 || b >= st.kids {
			return fmt.Errorf("node %d has no branch %d", i, b)
		}
	}
	return nil
}

// inScale reports whether mixtures of a numeric tree's answers can be computed
// in its scale.
func (c *compact) inScale() bool {
	if c.classes > 0 {
		return true
	}
	for i := range c.nodes {
		d, s := (c.answer[2*i]/2-c.answer[0]/2)/c.scale*2, c.answer[2*i+1]/c.scale
		if !(d*d+s*s <= 1e300) {
			return false
		}
	}
	return true
}

// loadFew reads which classes the nodes know, or finds it out.
func (c *compact) loadFew(s *savedTree, n int) error {
	if s.Ends == nil {
		if c.classes > fewClasses {
			c.few, c.stat = thinned(s.Stat, c.classes)
		}
		return nil
	}
	if c.classes <= fewClasses || len(s.Ends) != n || len(s.Classes) != len(s.Stat) || int(s.Ends[n-1]) != len(s.Stat) {
		return fmt.Errorf("%d classes of %d nodes do not fit their weights", len(s.Classes), n)
	}
	c.few = &few{from: append([]int32{0}, s.Ends...), classes: s.Classes}
	for i := range n {
		if c.few.from[i] > c.few.from[i+1] {
			return fmt.Errorf("node %d has no end", i)
		}
	}
	return nil
}

func (s *savedList) load(schema *table.Schema, target int) (*list, error) {
	C := len(schema.Attributes[target].Values)
	if len(s.Root) != C || len(s.Otherwise) != C || C == 0 || !weightsOK(s.Root) || !weightsOK(s.Otherwise) {
		return nil, fmt.Errorf("the list does not fit its %d classes", C)
	}
	l := &list{otherwise: s.Otherwise, root: s.Root}
	for i, r := range s.Rules {
		if len(r.Stat) != C || !weightsOK(r.Stat) || r.Class < 0 || int(r.Class) >= C || math.IsNaN(r.Estimate) {
			return nil, fmt.Errorf("rule %d does not fit its classes", i+1)
		}
		rule := listRule{stat: r.Stat, estimate: r.Estimate, class: r.Class}
		for _, c := range r.Conditions {
			if c.Column < 0 || int(c.Column) >= len(schema.Attributes) || int(c.Column) == target || math.IsNaN(c.Threshold) {
				return nil, fmt.Errorf("rule %d tests column %d", i+1, c.Column)
			}
			cond := condition{col: c.Column, above: c.Above, threshold: c.Threshold, absent: c.Absent}
			a := &schema.Attributes[c.Column]
			if c.Plane != nil {
				var err error
				if cond.plane, err = c.Plane.load(schema, target); err != nil || a.Kind != table.Numeric {
					return nil, fmt.Errorf("rule %d compares column %q: %v", i+1, a.Name, err)
				}
			}
			if a.Kind == table.Nominal && !c.Absent {
				cond.in = make([]bool, len(a.Values))
				for _, v := range c.In {
					if v < 0 || int(v) >= len(a.Values) {
						return nil, fmt.Errorf("rule %d tests value %d of column %q", i+1, v, a.Name)
					}
					cond.in[v] = true
				}
			}
			rule.conditions = append(rule.conditions, cond)
		}
		l.rules = append(l.rules, rule)
	}
	return l, nil
}

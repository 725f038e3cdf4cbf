package gaussian

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// fit is the making of a model from a table.
type fit struct {
	*settings
	task    learn.Task
	target  int       // the column, or learn.NoTarget
	rows    []int     // that have a weight and, if there is one, a target
	columns []overall // over these rows
	expert  *expert   // nil without rules
	random  *rand.Rand
}

func newFit(ctx context.Context, s *settings, task learn.Task, reference *table.Table) (*fit, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	task.Table, target = task.Table.WithoutText(target)
	f := &fit{settings: s, task: task, target: target, random: rand.New(rand.NewPCG(task.Seed, 0x6761757373))}
	t := task.Table
	if s.Inputs > 0 && target == learn.NoTarget {
		return nil, fmt.Errorf("setting inputs=%d: without a target all columns are alike; name the one to predict", s.Inputs)
	}
	if s.Tune > 0 && (target == learn.NoTarget || t.Schema.Attributes[target].Kind == table.Nominal) {
		return nil, fmt.Errorf("setting tune=%d: only the error of a numeric target can be tuned", s.Tune)
	}
	if len(t.Columns) == 0 {
		return nil, fmt.Errorf("the table has no columns to learn from")
	}
	if err := table.Distinct(t.Schema); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(t.Schema.Attributes, func(a table.Attribute) bool { return !a.Open() }) {
		return nil, fmt.Errorf("no cell of the table is known: there is nothing to learn from")
	}
	total := 0.0
	for r := range t.Rows() {
		if t.Weight(r) > 0 && f.hasTarget(r) {
			f.rows = append(f.rows, r)
			total += t.Weight(r)
		}
	}
	if len(f.rows) == 0 {
		if target == learn.NoTarget {
			return nil, fmt.Errorf("there is no row to learn from: all %d weigh 0", t.Rows())
		}
		return nil, fmt.Errorf("no row has a target: column %q is missing, or the weight 0, in all %d rows", task.Target, t.Rows())
	}
	if total > moment.MaxWeight {
		return nil, fmt.Errorf("the weights of the rows add up to %g; scale them to a sum below %g", total, float64(moment.MaxWeight))
	}
	if reference == nil {
		f.columns, err = measure(ctx, t, f.rows)
	} else if err = table.Fits(t.Schema, reference); err == nil {
		f.columns, err = measure(ctx, reference, (&examples{reference}).all())
	}
	if err != nil {
		return nil, err
	}
	if f.expert, err = newExpert(task, f.columns, s); err != nil {
		return nil, err
	}
	return f, nil
}

// hasTarget reports whether a row can be learnt from.
func (f *fit) hasTarget(row int) bool {
	if f.target == learn.NoTarget {
		return true
	}
	c := &f.task.Table.Columns[f.target]
	if c.Codes != nil {
		return c.Codes[row] >= 0
	}
	return finite(c.Floats[row])
}

// apart reports whether each class gets units of its own. Rules that EM
// starts from, and the choice of inputs, ask for one mixture in which the
// class is a column.
func (f *fit) apart() bool {
	if f.target == learn.NoTarget || f.task.Table.Schema.Attributes[f.target].Kind != table.Nominal {
		return false
	}
	return f.Inputs == 0 && !f.expert.guides()
}

// group is rows that share a mixture: all of them, or those of a class.
type group struct {
	class  int // -1 for all
	rows   []int
	taught []int // rows of the teacher
	units  int
}

// groups shares the units out among the classes.
func (f *fit) groups() []group {
	taught := f.expert.examples()
	if !f.apart() {
		return []group{{class: -1, rows: f.rows, taught: taught.all(), units: f.Units}}
	}
	codes := f.task.Table.Columns[f.target].Codes
	byClass := make([]group, len(f.task.Table.Schema.Attributes[f.target].Values))
	for _, r := range f.rows {
		byClass[codes[r]].rows = append(byClass[codes[r]].rows, r)
	}
	for _, r := range taught.all() {
		if c := taught.Columns[f.target].Codes[r]; c >= 0 {
			byClass[c].taught = append(byClass[c].taught, r)
		}
	}
	for c := range byClass {
		byClass[c].class = c
	}
	byClass = slices.DeleteFunc(byClass, func(g group) bool { return len(g.rows) == 0 })
	for c := range byClass {
		byClass[c].units = max(1, f.Units/len(byClass))
	}
	return byClass
}

// learn fits the units of each group and returns the block of the rows and,
// if there is an expert, the expert's.
func (f *fit) learn(ctx context.Context, report func(float64)) ([]*block, error) {
	schema := table.CopySchema(f.task.Table.Schema)
	data := &block{source: f.task.Source, schema: schema, target: f.target, columns: f.columns}
	expert := f.expert.block(schema, f.target)
	if f.expert != nil && expert == nil { // its rules are where EM begins, no more
		data.said, data.expert = f.expert.shares(schema), f.expert.source
	}
	without := -1
	if f.apart() {
		without = f.target
	}
	shape := newShape(schema, f.columns, without)
	shape.full = f.Covariance == "full"
	groups := f.groups()
	own := make([]fitted, len(groups))
	errs := make([]error, len(groups))
	var lock sync.Mutex
	done := 0.0
	learnOne := func(g int) {
		last := 0.0
		own[g], errs[g] = f.learnGroup(ctx, &groups[g], shape, data, expert, func(part float64) {
			lock.Lock()
			defer lock.Unlock()
			done += (part - last) * float64(len(groups[g].rows))
			last = part
			report(done / float64(len(f.rows)))
		})
	}
	for g := range groups { // these take all cores
		if len(groups[g].rows) > manyRows && ctx.Err() == nil {
			learnOne(g)
		}
	}
	err := learn.Each(ctx, len(groups), func(g int) {
		if len(groups[g].rows) <= manyRows {
			learnOne(g)
		}
	})
	if err != nil {
		return nil, err
	}
	for g := range groups {
		if errs[g] != nil {
			return nil, errs[g]
		}
		data.units = append(data.units, own[g].data...)
		data.rows += own[g].rows
		if expert != nil {
			expert.units = append(expert.units, own[g].expert...)
		}
	}
	report(1)
	blocks := []*block{data}
	if expert != nil {
		blocks = append(blocks, expert)
	}
	return blocks, nil
}

// manyRows is where the rows of a group keep all cores busy by themselves.
const manyRows = 16 * chunk

// fitted is the units of a group, as far as they are those of the rows, and
// of the expert.
type fitted struct {
	data, expert []share
	rows         float64 // their weight
}

// learnGroup fits the units of a group. Groups have random numbers of their
// own, so that they can be fitted in any order.
func (f *fit) learnGroup(ctx context.Context, g *group, shape *shape, data, expert *block, report func(float64)) (fitted, error) {
	own := *f
	own.random = rand.New(rand.NewPCG(f.task.Seed, 0x6761757373+uint64(g.class+1)))
	rows, err := newSample(ctx, shape, f.columns, f.task.Table, g.rows)
	if err != nil {
		return fitted{}, err
	}
	all := rows
	var taught *sample
	if len(g.taught) > 0 {
		if taught, err = newSample(ctx, shape, f.columns, f.expert.examples().Table, g.taught); err != nil {
			return fitted{}, err
		}
		all = rows.join(taught)
	}
	m, pseudo, err := own.mixture(ctx, all, g.units, report)
	if err != nil {
		return fitted{}, err
	}
	units := f.describe(m, g.class)
	s := fitted{rows: rows.weight}
	if f.Tune > 0 {
		s.data = data.take(m.shape, m.statistics(rows.weight), units, f.columns)
	} else if s.data, err = data.gather(ctx, m, rows, units, f.columns); err != nil {
		return fitted{}, err
	}
	if taught != nil {
		if s.expert, err = expert.gather(ctx, m, taught, units, f.columns); err != nil {
			return fitted{}, err
		}
	}
	if pseudo != nil {
		s.expert = expert.take(m.shape, pseudo, units, f.columns)
	}
	return s, nil
}

// mixture fits one mixture: EM, then whatever simplifying was asked for. The
// second result is what the expert's rules count as in each unit.
func (f *fit) mixture(ctx context.Context, s *sample, units int, report func(float64)) (*mixture, *statistics, error) {
	units = min(units, s.rows)
	if f.expert.guides() {
		return f.guided(ctx, s, report)
	}
	first := min(max(units, f.From), s.rows)
	var err error
	if f.Size == "validation" && s.rows >= 6 {
		if units, err = f.chooseSize(ctx, s, first); err != nil {
			return nil, nil, err
		}
	}
	e := newEM(s, first, f.Floor, f.M)
	m, err := e.best(ctx, first, f.settings, f.random, report)
	if err != nil {
		return nil, nil, err
	}
	for len(m.prior) > units {
		if m, err = e.prune(ctx, m, f.Pruning); err != nil {
			return nil, nil, err
		}
		if _, err = e.run(ctx, m, f.Iterations, f.Tolerance); err != nil {
			return nil, nil, err
		}
	}
	if f.Inputs > 0 {
		if err := e.removeInputs(ctx, m, f.Inputs, f.targetColumn(m), f.settings, nil); err != nil {
			return nil, nil, err
		}
	}
	for range f.Normal {
		if !m.simplify(e.overall, divergences[f.Divergence]) {
			break
		}
		if _, err := e.run(ctx, m, f.Iterations, f.Tolerance); err != nil {
			return nil, nil, err
		}
	}
	if f.Tune > 0 {
		if err := tune(ctx, s, m, f.targetColumn(m), f.Tune, f.Floor); err != nil {
			return nil, nil, err
		}
	}
	return m, nil, nil
}

// targetColumn returns where the target stands among the mixture's columns,
// numeric before nominal.
func (f *fit) targetColumn(m *mixture) int {
	if j := slices.Index(m.numeric, f.target); j >= 0 {
		return j
	}
	return len(m.numeric) + slices.Index(m.nominal, f.target)
}

// describe names the units of a mixture, the largest first.
func (f *fit) describe(m *mixture, class int) []unit {
	order := make([]int, len(m.prior))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.prior[b], m.prior[a]) })
	units := make([]unit, len(order))
	d, q := len(m.numeric), len(m.nominal)
	for place, i := range order {
		u := &units[i]
		u.class = table.Missing
		u.name = fmt.Sprintf("u%d", place+1)
		if class >= 0 {
			u.class = int32(class)
			u.name = f.task.Table.Schema.Attributes[f.target].Values[class]
			if place > 0 {
				u.name = fmt.Sprintf("%s %d", u.name, place+1)
			}
		}
		if f.expert.guides() {
			u.name, u.begun = f.expert.nameOf(i), f.expert.keyOf(i/f.expert.copies)
		}
		u.place = place
		u.key = m.key(f.task.Source.ID, class, i)
		u.normal = make([]bool, len(f.task.Table.Columns))
		for j, column := range m.numeric {
			u.normal[column] = m.normal[i*(d+q)+j]
		}
		for c, column := range m.nominal {
			u.normal[column] = m.normal[i*(d+q)+d+c]
		}
	}
	return units
}

// key returns what tells a unit from all others, wherever it was learnt: a
// hash of where it came from and what it was like then.
func (m *mixture) key(source string, class, i int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d %x", source, class, i, math.Float64bits(m.prior[i]))
	d := len(m.numeric)
	for j := range d {
		fmt.Fprintf(h, " %x %x", math.Float64bits(m.centre[i*d+j]), math.Float64bits(m.width[i*d+j]))
	}
	for v := range m.total {
		fmt.Fprintf(h, " %x", math.Float64bits(m.share[v*len(m.prior)+i]))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

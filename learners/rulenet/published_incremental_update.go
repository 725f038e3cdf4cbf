package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// incrementalUpdate is the incremental search. Its rows have room to spare,
// so that a row costs its bits and no more.
type incrementalUpdate struct {
	model       *Model
	vocabulary  *table.Vocabulary
	state       *incremental
	examples    *examples // rows in the order of the state
	counter     *counter
	used        []int // rows of each class
	room        []int // rows that each class has room for
	index       map[key]int32
	searches    []*search
	climbers    sync.Pool // of *climber
	generated   []*generatedRule
	byName      map[ruleName]int
	order       []*generatedRule
	attachments []attachment
	cache       countCache
	fresh       []template
	touched     []touchedRow
	touchedIn   []int // of each row: the Add in which it was touched last
	adds        int
	counted     int      // rows when the unit was chosen
	batch       []search // of each class: the new rows alone
	epoch       int      // of the unit of weight and the columns' values
	fewWords    int
	iterations  int // most that a search took
}

// newIncrementalUpdate copies what a model retains, with room for more: the
// first rows that are added shall not copy everything once more.
func newIncrementalUpdate(m *Model, v *table.Vocabulary) *incrementalUpdate {
	own := m.incremental.copy(true)
	own.recut = nil
	u := &incrementalUpdate{model: m, vocabulary: v, cache: countCache{counts: map[ruleName]*tallies{}}, fewWords: fewWords}
	u.climbers.New = func() any { return &climber{} }
	u.start(own)
	return u
}

// start begins with the rows and rules of a state.
func (u *incrementalUpdate) start(s *incremental) {
	u.state, u.index, u.touchedIn = s, make(map[key]int32, cap(s.class)), make([]int, len(s.class), cap(s.class))
	u.generated, u.byName, u.searches = nil, map[ruleName]int{}, nil
	for row := range s.class {
		u.index[s.rowKey(row)] = int32(row)
		for _, l := range s.rules[row] {
			u.addTemplate(row, l.rule)
		}
	}
	u.epoch++
	u.rebuild()
}

// cutAgain cuts all numbers anew, if some have left the cuts, and searches
// from every example again, since their tests are others.
func (u *incrementalUpdate) cutAgain(ctx context.Context) error {
	s := u.state
	if s.cells.row == nil {
		return nil
	}
	drifts := s.drifts()
	if len(drifts) == 0 && !s.uncut() {
		return nil
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	w, err := newTraining(ctx, t, s.target, u.model.seed, u.model.settings)
	if err != nil {
		return err
	}
	again, err := w.startIncremental(ctx)
	if err != nil {
		return err
	}
	for i := range drifts {
		drifts[i].Recut = true
	}
	again.recut = append(s.recut, drifts...)
	u.start(again)
	return nil
}

// rebuild lays the rows out anew, with room for as many again.
func (u *incrementalUpdate) rebuild() {
	s := u.state
	classes := s.classes()
	u.used, u.room = make([]int, classes), make([]int, classes)
	for _, c := range s.class {
		u.used[c]++
	}
	x := &examples{coding: s.coding, codes: s.codes, class: s.class, weights: s.weights, firstWord: make([]int, classes+1), bit: make([]int32, len(s.class), cap(s.class)), bitmaps: make([][]bits.Set, len(s.codes))}
	words := 0
	for c, n := range u.used {
		x.firstWord[c] = words
		words += (bits.Words(2*n+1) + laneWords - 1) / laneWords * laneWords
		u.room[c] = (words - x.firstWord[c]) * 64
	}
	x.firstWord[classes] = words
	x.valid = make(bits.Set, words)
	clear(u.used)
	for _, row := range heavyFirst(s.weights) {
		c := s.class[row]
		x.bit[row] = int32(x.firstWord[c]*64 + u.used[c])
		u.used[c]++
		x.valid.Put(int(x.bit[row]))
	}
	for col := range s.codes {
		if s.codes[col] != nil {
			x.makeBitmaps(col)
		}
	}
	u.examples = x
	u.recount()
}

// recount chooses the unit and makes the counter anew.
func (u *incrementalUpdate) recount() {
	u.counted = len(u.state.class)
	l := newCounter(u.examples, u.state.weights)
	if l.planes == nil {
		l.planes = []bits.Set{slices.Clone(u.examples.valid)}
		l.findDepths()
	}
	if u.counter != nil && u.counter.unit != l.unit {
		u.epoch++
	}
	u.counter = l
}

// fewWords is the size up to which counting all rows is quicker than laying
// out the new ones to count them alone.
const fewWords = 128

// layOutNew lays out what rows have come to weigh more, alone.
func (u *incrementalUpdate) layOutNew() error {
	s := u.state
	part := &incremental{coding: s.coding, codes: make([][]int32, len(s.codes))}
	for _, t := range u.touched {
		part.class = append(part.class, s.class[t.row])
		part.weights = append(part.weights, float64(u.counter.units(s.weights[t.row])-u.counter.units(t.before)))
	}
	for col, codes := range s.codes {
		if codes == nil {
			continue
		}
		part.codes[col] = make([]int32, len(u.touched))
		for i, t := range u.touched {
			part.codes[col][i] = codes[t.row]
		}
	}
	x, err := part.layOut(context.Background())
	if err != nil {
		return err
	}
	l := &counter{unit: 1, class: make([]int64, s.classes()), planes: []bits.Set{make(bits.Set, len(x.valid))}}
	l.findDepths()
	for i, at := range x.bit {
		l.add(int(at), int(x.class[i]), int64(x.weights[i]))
	}
	u.batch = zeroed(u.batch, s.classes())
	for c := range u.batch {
		u.batch[c].examples, u.batch[c].counter, u.batch[c].class = x, l, c
	}
	return nil
}

// touchedRow is a distinct row that came to weigh more.
type touchedRow struct {
	row    int
	before float64
}

// Add learns the table's rows: their examples climb, and the rules of older
// ones are searched again.
func (u *incrementalUpdate) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !u.vocabulary.Same(t.Schema) {
		if err := u.vocabulary.Check(t.Schema); err != nil {
			return err
		}
		for j := range t.Schema.Attributes {
			if own, new := &u.state.schema.Attributes[j], &t.Schema.Attributes[j]; own.Kind != new.Kind {
				return fmt.Errorf("column %q had no cell when the network was learnt, and the published search takes no new columns; leave it out, or learn again", own.Name)
			}
		}
		u.vocabulary.Admit(t.Schema)
		if !u.vocabulary.Same(t.Schema) {
			return fmt.Errorf("values of the table's columns are coded otherwise than the model's; conform it to the model's schema first")
		}
		u.state.schema = u.vocabulary.Schema()
		if err := u.state.check(); err != nil {
			return err
		}
		u.epoch++
		u.rebuild()
	}
	old := len(u.state.class)
	u.adds++
	u.touched, u.fresh = u.touched[:0], u.fresh[:0]
	for r := range t.Rows() {
		class, weight := t.Columns[u.state.target].Codes[r], t.Weight(r)
		if class < 0 || weight == 0 {
			continue
		}
		row := u.take(t, r, class, weight)
		if hashRow(u.model.seed, u.state.class, u.state.codes, row) <= u.state.limit {
			u.fresh = append(u.fresh, template{row, int(class), weight})
		}
	}
	if len(u.touched) == 0 {
		return nil
	}
	u.placeNew(old)
	if len(u.examples.valid) <= u.fewWords {
		u.epoch++
	} else if err := u.layOutNew(); err != nil {
		return err
	}
	return u.searchOldAndNew(ctx, u.fresh)
}

// take finds or makes the distinct row of a table's row and adds its weight.
func (u *incrementalUpdate) take(t *table.Table, r int, class int32, weight float64) int {
	s := u.state
	row := len(s.class)
	for col := range s.codes {
		if s.codes[col] != nil {
			s.codes[col] = append(s.codes[col], max(s.code(t, r, col), table.Missing))
		}
	}
	s.class = append(s.class, class)
	name := s.rowKey(row)
	known, ok := u.index[name]
	if s.cells.row != nil {
		s.cells.row, s.cells.weights = append(s.cells.row, int32(row)), append(s.cells.weights, weight)
		if ok {
			s.cells.row[len(s.cells.row)-1] = known
		}
		for col, numbers := range s.cells.numbers {
			if s.ordered(col) {
				s.cells.numbers[col] = append(numbers, t.Columns[col].Floats[r])
			}
		}
	}
	if ok {
		for col := range s.codes {
			if s.codes[col] != nil {
				s.codes[col] = s.codes[col][:row]
			}
		}
		s.class = s.class[:row]
		if u.touchedIn[known] != u.adds {
			u.touchedIn[known] = u.adds
			u.touched = append(u.touched, touchedRow{int(known), s.weights[known]})
		}
		s.weights[known] += weight
		return int(known)
	}
	u.index[name] = int32(row)
	s.weights = append(s.weights, weight)
	s.rules = append(s.rules, nil)
	u.touchedIn = append(u.touchedIn, u.adds)
	u.touched = append(u.touched, touchedRow{row, 0})
	return row
}

// placeNew gives the rows from old on their bits, and the rows that were
// touched their weights.
func (u *incrementalUpdate) placeNew(old int) {
	s, x := u.state, u.examples
	x.codes, x.class, x.weights = s.codes, s.class, s.weights
	for row := old; row < len(s.class); row++ {
		c := s.class[row]
		if u.used[c] == u.room[c] {
			u.rebuild()
			return
		}
		at := x.firstWord[c]*64 + u.used[c]
		u.used[c]++
		x.bit = append(x.bit, int32(at))
		x.valid.Put(at)
		for col, codes := range s.codes {
			if codes == nil || codes[row] < 0 {
				continue
			}
			x.bitmaps[col][codes[row]].Put(at)
			if s.ordered(col) {
				for v := int(codes[row]) + 1; v < len(x.bitmaps[col]); v++ {
					x.bitmaps[col][v].Put(at)
				}
			}
		}
	}
	if u.outgrown() {
		u.recount()
		return
	}
	for _, t := range u.touched {
		u.weigh(t.row, t.before)
	}
}

// outgrown reports whether the unit of weight must be chosen anew: a first
// fraction among whole weights, more than can be counted, or, where weights
// are fractions, as many rows again as it was chosen for.
func (u *incrementalUpdate) outgrown() bool {
	unit, more := u.counter.unit, 0.0
	for _, t := range u.touched {
		w := u.state.weights[t.row]
		if unit == 1 && w != math.Trunc(w) {
			return true
		}
		more += (w - t.before) / unit
	}
	return float64(u.counter.total)+more > mostUnits || unit != 1 && len(u.state.class) >= 2*u.counted
}

// weigh gives a row that has its bit the units that it weighs more than
// before.
func (u *incrementalUpdate) weigh(row int, before float64) {
	l, class := u.counter, int(u.state.class[row])
	n := l.units(u.state.weights[row]) - l.units(before)
	l.add(int(u.examples.bit[row]), class, n)
	for col, codes := range u.state.codes {
		if codes != nil && codes[row] >= 0 {
			l.byValue[col][int(codes[row])*len(l.class)+class] += n
		}
	}
}

// searchOldAndNew runs the searches that new rows ask for. Rules that several
// examples share are counted once.
func (u *incrementalUpdate) searchOldAndNew(ctx context.Context, fresh []template) error {
	u.prepare()
	order := u.order[:0]
	for _, g := range u.generated {
		if len(g.templates) > 0 {
			order = append(order, g)
		} else {
			g.counted = false // rows are not counted for rules without examples
		}
	}
	u.order = order
	err := u.each(ctx, len(order), func(i int, c *climber) {
		g := order[i]
		if g.counted && g.epoch == u.epoch {
			// Only the new rows need counting.
			c.search = &u.batch[g.class]
			g.tallies.add(c.countRule(g.rule))
		} else {
			c.search = u.searches[g.class]
			g.tallies.set(c.countRule(g.rule))
			g.counted, g.epoch = true, u.epoch
		}
	})
	if err != nil {
		return err
	}
	clear(u.cache.counts)
	u.cache.groups, u.cache.byName = u.generated, u.byName
	err = u.each(ctx, len(order), func(i int, c *climber) {
		g := order[i]
		c.search = u.searches[g.class]
		g.iterations = c.searchAgain(g.rule, &g.tallies, g.templates, u.cache.count, func(row int, rule conjunction) { g.moves = append(g.moves, move{row, rule}) })
	})
	if err != nil {
		return err
	}
	ends, err := climbEach(ctx, u.searches, fresh)
	if err != nil {
		return err
	}
	for _, g := range order {
		u.iterations = max(u.iterations, g.iterations)
		for _, m := range g.moves {
			lines := u.state.rules[m.row]
			i := slices.IndexFunc(lines, func(l templateRule) bool { return l.rule.equal(g.rule) })
			weight := lines[i].weight
			u.state.rules[m.row] = slices.Delete(lines, i, i+1)
			g.templates = slices.DeleteFunc(g.templates, func(row int) bool { return row == m.row })
			u.attachments = append(u.attachments, attachment{m.row, templateRule{m.rule, weight}})
		}
		g.moves = g.moves[:0]
	}
	for i, t := range fresh {
		u.attachments = append(u.attachments, attachment{t.row, templateRule{ends[i], t.weight}})
	}
	for _, a := range u.attachments {
		u.attach(a.row, a.templateRule)
	}
	u.attachments = u.attachments[:0]
	return nil
}

// each calls work for each of n rules, on all cores if that is worth while.
func (u *incrementalUpdate) each(ctx context.Context, n int, work func(i int, c *climber)) error {
	one := func(i int) {
		c := u.climbers.Get().(*climber)
		work(i, c)
		c.additions = c.additions[:0]
		u.climbers.Put(c)
	}
	if len(u.examples.valid) > u.fewWords {
		return learn.Each(ctx, n, one)
	}
	for i := range n {
		one(i)
	}
	return nil
}

// countCache is the counts of rules that examples pass on their way, which many
// have in common.
type countCache struct {
	groups []*generatedRule // those with examples are counted
	byName map[ruleName]int
	mutex  sync.Mutex
	counts map[ruleName]*tallies
}

// count counts the climber's rule, or finds that it has been counted.
func (p *countCache) count(c *climber) {
	n := ruleName{c.rule.key(), int32(c.class)}
	if i, ok := p.byName[n]; ok && p.groups[i].counted {
		c.tallies.set(&p.groups[i].tallies)
		return
	}
	p.mutex.Lock()
	known := p.counts[n]
	p.mutex.Unlock()
	if known != nil {
		c.tallies.set(known)
		return
	}
	c.count()
	known = &tallies{}
	known.set(&c.tallies)
	p.mutex.Lock()
	p.counts[n] = known
	p.mutex.Unlock()
}

// prepare makes the searches ready for the counts of now.
func (u *incrementalUpdate) prepare() {
	for len(u.searches) < u.state.classes() {
		u.searches = append(u.searches, nil)
	}
	for c := range u.searches {
		switch {
		case u.counter.class[c] == 0:
		case u.searches[c] == nil || u.searches[c].examples != u.examples:
			u.searches[c] = newSearch(u.examples, u.counter, c, u.model.settings.ties(), u.model.seed)
		default:
			u.searches[c].counter = u.counter
			u.searches[c].prepare()
		}
	}
}

// attach notes that examples of a row have got to a rule.
func (u *incrementalUpdate) attach(row int, l templateRule) {
	lines := u.state.rules[row]
	if i := slices.IndexFunc(lines, func(k templateRule) bool { return k.rule.equal(l.rule) }); i >= 0 {
		lines[i].weight += l.weight
		return
	}
	u.state.rules[row] = append(lines, l)
	u.addTemplate(row, l.rule)
}

// addTemplate puts a row among those that share a rule.
func (u *incrementalUpdate) addTemplate(row int, rule conjunction) {
	n := ruleName{rule.key(), u.state.class[row]}
	i, ok := u.byName[n]
	if !ok {
		i = len(u.generated)
		u.byName[n] = i
		u.generated = append(u.generated, &generatedRule{rule: rule, class: n.class})
	}
	u.generated[i].templates = append(u.generated[i].templates, row)
}

// generatedRule is a rule and the examples that have got to it.
type generatedRule struct {
	rule       conjunction
	class      int32
	templates  []int
	moves      []move
	iterations int
	counted    bool // tallies are of all rows, in the units of an epoch
	epoch      int
	tallies
}

type ruleName struct {
	key   key
	class int32
}

// move is an example that goes on to another rule.
type move struct {
	row  int
	rule conjunction
}

// attachment is examples of a row that have got to a rule.
type attachment struct {
	row int
	templateRule
}

// Freeze returns the network of all rows so far.
func (u *incrementalUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := u.cutAgain(ctx); err != nil {
		return nil, err
	}
	s := u.state
	m := &Model{settings: u.model.settings, seed: u.model.seed, incremental: s.copy(false)}
	m.coding = s.coding
	m.counts = s.count()
	if err := m.weighIncremental(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

package rulenet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// stream is what update=published keeps: every distinct row, coded by cuts
// that stay as they were found first, and the rules that it was the example
// of. Counts are always over all rows so far.
//
// New rows run the batch search. For every older rule the search runs again,
// with tests of its example that were removed coming back as further children:
// the order may rise by one as well as fall. Nothing is learnt anew, so the
// result is not that of batch learning: rules that some rows left behind stay
// where they are as long as no single step improves them.
type stream struct {
	coding
	codes   [][]int32 // of each column and distinct row
	class   []int32
	weights []float64
	rules   [][]lineage // of each distinct row: where its examples have got to
	limit   uint64      // rows whose hash is greater are counted, but are no examples
	origin  [][]float64 // of each numeric column: the weight in each interval when cuts were made
}

// lineage is a rule that examples of one row share.
type lineage struct {
	rule   conjunction
	weight float64
}

// stream makes the state of the batch search.
func (w *workshop) stream(ctx context.Context) (*stream, error) {
	s := &stream{coding: w.coding, codes: w.codes, class: w.class, weights: w.weights, rules: make([][]lineage, len(w.class))}
	templates, limit := w.sample(w.weights)
	s.limit = limit
	searches := w.searches(newLedger(w.sheet, w.weights, 2*planes))
	ends, err := climbEach(ctx, searches, templates)
	if err != nil {
		return nil, err
	}
	for i, t := range templates {
		s.rules[t.row] = []lineage{{ends[i], w.weights[t.row]}}
	}
	s.origin = s.occupancy()
	return s, nil
}

// found puts the rules of all examples together.
func (s *stream) found() []found {
	type name struct {
		key   key
		class int32
	}
	index := map[name]int{}
	var rules []found
	total, part := 0.0, 0.0
	for row, lines := range s.rules {
		total += s.weights[row]
		for _, l := range lines {
			part += l.weight
			if len(l.rule) == 0 {
				continue
			}
			n := name{l.rule.key(), s.class[row]}
			at, ok := index[n]
			if !ok {
				at = len(rules)
				index[n] = at
				rules = append(rules, found{class: int(n.class), rule: l.rule})
			}
			rules[at].templates += l.weight
		}
	}
	if part < total*(1-1e-9) { // a sample of the examples stands for all
		for i := range rules {
			rules[i].templates *= total / part
		}
	}
	return rules
}

// weighStream makes the units of a stream's rules.
func (m *Model) weighStream(ctx context.Context) error {
	s, err := m.stream.layOut(ctx)
	if err != nil {
		return err
	}
	w := &workshop{sheet: s, settings: m.settings, seed: m.seed}
	if err := w.network(ctx, m, m.stream.found()); err != nil {
		return err
	}
	return m.settle(ctx)
}

// layOut returns the rows of a stream in a sheet of their own.
func (s *stream) layOut(ctx context.Context) (*sheet, error) {
	order := make([]int, len(s.class))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.class[a], s.class[b]) })
	sheet := &sheet{coding: s.coding, codes: make([][]int32, len(s.codes)), sets: make([][]bits.Set, len(s.codes))}
	for _, i := range order {
		sheet.class = append(sheet.class, s.class[i])
		sheet.weights = append(sheet.weights, s.weights[i])
	}
	sheet.place()
	work := func(col int) {
		if s.codes[col] == nil {
			return
		}
		sheet.codes[col] = make([]int32, len(order))
		for to, from := range order {
			sheet.codes[col][to] = s.codes[col][from]
		}
		sheet.mark(col)
	}
	if len(order) < 1024 { // not worth a goroutine's while
		for col := range s.codes {
			work(col)
		}
		return sheet, ctx.Err()
	}
	return sheet, learn.Each(ctx, len(s.codes), work)
}

// publishedUpdate is a stream that takes in rows. Its sheet has room to spare,
// so that a row costs its bits and no more.
type publishedUpdate struct {
	model      *Model
	vocabulary *learn.Vocabulary
	stream     *stream
	sheet      *sheet // rows in the order of the stream
	ledger     *ledger
	used       []int // rows of each class
	room       []int // rows that each class has room for
	index      map[key]int32
	searches   []*search
	climbers   sync.Pool // of *climber
	groups     []*shared
	byName     map[sharedName]int
	order      []*shared
	arrivals   []arrival
	passed     passing
	fresh      []template
	batch      []search // of each class: the new rows alone
	epoch      int      // of the ledger's unit and the columns' values
	fewWords   int
	iterations int // most that a search took
}

// newPublishedUpdate copies a model's stream.
func newPublishedUpdate(m *Model, v *learn.Vocabulary) *publishedUpdate {
	s := m.stream
	own := &stream{coding: s.coding, codes: make([][]int32, len(s.codes)), class: slices.Clone(s.class), weights: slices.Clone(s.weights), rules: make([][]lineage, len(s.rules)), limit: s.limit, origin: s.origin}
	for col, codes := range s.codes {
		own.codes[col] = slices.Clone(codes)
	}
	for row, lines := range s.rules {
		own.rules[row] = slices.Clone(lines)
	}
	u := &publishedUpdate{model: m, vocabulary: v, stream: own, index: make(map[key]int32, len(s.class)), byName: map[sharedName]int{}, passed: passing{counts: map[sharedName]*tallies{}}, fewWords: fewWords}
	u.climbers.New = func() any { return &climber{} }
	for row := range own.class {
		u.index[own.name(row)] = int32(row)
		for _, l := range own.rules[row] {
			u.share(row, l.rule)
		}
	}
	u.rebuild()
	return u
}

// name identifies a distinct row with its class.
func (s *stream) name(row int) key {
	k := test{col: -1, lo: s.class[row]}.key()
	for col, codes := range s.codes {
		if codes != nil && codes[row] >= 0 {
			own := test{int32(col), codes[row], codes[row]}.key()
			k[0] += own[0]
			k[1] += own[1]
		}
	}
	return k
}

// rebuild lays the stream's rows out anew, with room for as many again.
func (u *publishedUpdate) rebuild() {
	s := u.stream
	classes := s.classes()
	u.used, u.room = make([]int, classes), make([]int, classes)
	for _, c := range s.class {
		u.used[c]++
	}
	x := &sheet{coding: s.coding, codes: s.codes, class: s.class, weights: s.weights, first: make([]int, classes+1), at: make([]int32, len(s.class)), sets: make([][]bits.Set, len(s.codes))}
	words := 0
	for c, n := range u.used {
		x.first[c] = words
		words += (bits.Words(2*n+1) + lane - 1) / lane * lane
		u.room[c] = (words - x.first[c]) * 64
	}
	x.first[classes] = words
	x.valid = make(bits.Set, words)
	clear(u.used)
	for _, row := range heavyFirst(s.weights) {
		c := s.class[row]
		x.at[row] = int32(x.first[c]*64 + u.used[c])
		u.used[c]++
		x.valid.Put(int(x.at[row]))
	}
	for col := range s.codes {
		if s.codes[col] != nil {
			x.mark(col)
		}
	}
	u.sheet = x
	u.reweigh()
}

// reweigh makes the ledger anew.
func (u *publishedUpdate) reweigh() {
	l := newLedger(u.sheet, u.stream.weights, 2*planes)
	if l.planes == nil {
		l.planes = []bits.Set{slices.Clone(u.sheet.valid)}
		l.sound()
	}
	if u.ledger != nil && u.ledger.unit != l.unit {
		u.epoch++
	}
	u.ledger = l
}

// fewWords is the size up to which counting all rows is quicker than laying
// out the new ones to count them alone.
const fewWords = 128

// gather lays out the new rows alone.
func (u *publishedUpdate) gather(rows []template) error {
	s := u.stream
	part := &stream{coding: s.coding, codes: make([][]int32, len(s.codes))}
	for _, t := range rows {
		part.class = append(part.class, s.class[t.row])
		part.weights = append(part.weights, t.weight)
	}
	for col, codes := range s.codes {
		if codes == nil {
			continue
		}
		part.codes[col] = make([]int32, len(rows))
		for i, t := range rows {
			part.codes[col][i] = codes[t.row]
		}
	}
	sheet, err := part.layOut(context.Background())
	if err != nil {
		return err
	}
	l := &ledger{unit: u.ledger.unit, class: make([]int64, s.classes()), planes: []bits.Set{make(bits.Set, len(sheet.valid))}}
	l.sound()
	for i, at := range sheet.at {
		l.add(int(at), int(sheet.class[i]), sheet.weights[i])
	}
	u.batch = zeroed(u.batch, s.classes())
	for c := range u.batch {
		u.batch[c].sheet, u.batch[c].ledger, u.batch[c].class = sheet, l, c
	}
	return nil
}

// Add learns the table's rows: their examples climb, and the rules of older
// ones are searched again.
func (u *publishedUpdate) Add(ctx context.Context, t *table.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !u.vocabulary.Same(t.Schema) {
		if err := u.vocabulary.Check(t.Schema); err != nil {
			return err
		}
		u.vocabulary.Admit(t.Schema)
		if !u.vocabulary.Same(t.Schema) {
			return fmt.Errorf("values of the table's columns are coded otherwise than the model's; conform it to the model's schema first")
		}
		u.stream.schema = u.vocabulary.Schema()
		u.epoch++
		u.rebuild()
	}
	old := len(u.stream.class)
	var taken []template
	fresh := u.fresh[:0]
	for r := range t.Rows() {
		class, weight := t.Columns[u.stream.target].Codes[r], t.Weight(r)
		if class < 0 || weight == 0 {
			continue
		}
		row := u.take(t, r, class, weight)
		taken = append(taken, template{row, int(class), weight})
		if hashRow(u.model.seed, u.stream.class, u.stream.codes, row) <= u.stream.limit {
			fresh = append(fresh, template{row, int(class), weight})
		}
	}
	u.fresh = fresh
	if len(taken) == 0 {
		return nil
	}
	u.place(old)
	if len(u.sheet.valid) <= u.fewWords {
		u.epoch++
	} else if err := u.gather(taken); err != nil {
		return err
	}
	return u.research(ctx, fresh)
}

// take finds or makes the distinct row of a table's row and adds its weight.
func (u *publishedUpdate) take(t *table.Table, r int, class int32, weight float64) int {
	s := u.stream
	row := len(s.class)
	for col := range s.codes {
		if s.codes[col] != nil {
			s.codes[col] = append(s.codes[col], max(s.code(t, r, col), table.Missing))
		}
	}
	s.class = append(s.class, class)
	name := s.name(row)
	if known, ok := u.index[name]; ok {
		for col := range s.codes {
			if s.codes[col] != nil {
				s.codes[col] = s.codes[col][:row]
			}
		}
		s.class = s.class[:row]
		s.weights[known] += weight
		if int(known) < len(u.sheet.at) {
			u.weigh(int(known), weight)
		}
		return int(known)
	}
	u.index[name] = int32(row)
	s.weights = append(s.weights, weight)
	s.rules = append(s.rules, nil)
	return row
}

// place gives the rows from old on their bits.
func (u *publishedUpdate) place(old int) {
	s, x := u.stream, u.sheet
	x.codes, x.class, x.weights = s.codes, s.class, s.weights
	for row := old; row < len(s.class); row++ {
		c := s.class[row]
		if u.used[c] == u.room[c] {
			u.rebuild()
			return
		}
		at := x.first[c]*64 + u.used[c]
		u.used[c]++
		x.at = append(x.at, int32(at))
		x.valid.Put(at)
		for col, codes := range s.codes {
			if codes == nil || codes[row] < 0 {
				continue
			}
			x.sets[col][codes[row]].Put(at)
			if s.ordered(col) {
				for v := int(codes[row]) + 1; v < len(x.sets[col]); v++ {
					x.sets[col][v].Put(at)
				}
			}
		}
		u.weigh(row, s.weights[row])
	}
	if u.ledger.rounds(s.weights[old:]) {
		u.reweigh()
		u.epoch++
	}
}

// weigh adds to the weight of a row that has its bit.
func (u *publishedUpdate) weigh(row int, weight float64) {
	l, class := u.ledger, int(u.stream.class[row])
	n := l.add(int(u.sheet.at[row]), class, weight)
	for col, codes := range u.stream.codes {
		if codes != nil && codes[row] >= 0 {
			l.census[col][int(codes[row])*len(l.class)+class] += n
		}
	}
}

// add adds to the weight of a bit, and returns how many units.
func (l *ledger) add(at, class int, weight float64) int64 {
	units := int64(math.Round(weight / l.unit))
	l.class[class] += units
	l.total += units
	n := units
	word, bit := at/64, uint64(1)<<(at%64)
	for b := 0; n>>b > 0; b++ {
		for n>>b&1 == 1 {
			for len(l.planes) <= b {
				l.planes = append(l.planes, make(bits.Set, len(l.planes[0])))
			}
			l.planes[b][word] ^= bit
			l.depth[word/lane] = max(l.depth[word/lane], uint8(b+1))
			if l.planes[b][word]&bit != 0 {
				break
			}
			n += 1 << b // carry: the bit was set, and the next is added to
		}
	}
	return units
}

// rounds reports whether a weight is no multiple of the unit.
func (l *ledger) rounds(weights []float64) bool {
	return slices.ContainsFunc(weights, func(w float64) bool { n := w / l.unit; return n != math.Trunc(n) && l.unit > 1e-6 })
}

// research runs the searches that new rows ask for. Rules that several
// examples share are counted once.
func (u *publishedUpdate) research(ctx context.Context, fresh []template) error {
	u.prepare()
	order := u.order[:0]
	for _, g := range u.groups {
		if len(g.rows) > 0 {
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
			g.tallies.add(c.tallied(g.rule))
		} else {
			c.search = u.searches[g.class]
			g.tallies.set(c.tallied(g.rule))
			g.counted, g.epoch = true, u.epoch
		}
	})
	if err != nil {
		return err
	}
	clear(u.passed.counts)
	u.passed.groups, u.passed.byName = u.groups, u.byName
	err = u.each(ctx, len(order), func(i int, c *climber) {
		g := order[i]
		c.search = u.searches[g.class]
		g.iterations = c.refine(g.rule, &g.tallies, g.rows, u.passed.count, func(row int, rule conjunction) { g.moved = append(g.moved, moved{row, rule}) })
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
		for _, m := range g.moved {
			lines := u.stream.rules[m.row]
			i := slices.IndexFunc(lines, func(l lineage) bool { return l.rule.equal(g.rule) })
			weight := lines[i].weight
			u.stream.rules[m.row] = slices.Delete(lines, i, i+1)
			g.rows = slices.DeleteFunc(g.rows, func(row int) bool { return row == m.row })
			u.arrivals = append(u.arrivals, arrival{m.row, lineage{m.rule, weight}})
		}
		g.moved = g.moved[:0]
	}
	for i, t := range fresh {
		u.arrivals = append(u.arrivals, arrival{t.row, lineage{ends[i], t.weight}})
	}
	for _, a := range u.arrivals {
		u.arrive(a.row, a.lineage)
	}
	u.arrivals = u.arrivals[:0]
	return nil
}

// each calls work for each of n rules, on all cores if that is worth while.
func (u *publishedUpdate) each(ctx context.Context, n int, work func(i int, c *climber)) error {
	one := func(i int) {
		c := u.climbers.Get().(*climber)
		work(i, c)
		c.more = c.more[:0]
		u.climbers.Put(c)
	}
	if len(u.sheet.valid) > u.fewWords {
		return learn.Each(ctx, n, one)
	}
	for i := range n {
		one(i)
	}
	return nil
}

// passing is the counts of rules that examples pass on their way, which many
// have in common.
type passing struct {
	groups []*shared // those with examples are counted
	byName map[sharedName]int
	mutex  sync.Mutex
	counts map[sharedName]*tallies
}

// count counts the climber's rule, or finds that it has been counted.
func (p *passing) count(c *climber) {
	n := sharedName{c.rule.key(), int32(c.class)}
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
func (u *publishedUpdate) prepare() {
	for len(u.searches) < u.stream.classes() {
		u.searches = append(u.searches, nil)
	}
	for c := range u.searches {
		switch {
		case u.ledger.class[c] == 0:
		case u.searches[c] == nil || u.searches[c].sheet != u.sheet:
			u.searches[c] = newSearch(u.sheet, u.ledger, c, u.model.settings.ties(), u.model.seed)
		default:
			u.searches[c].ledger = u.ledger
			u.searches[c].measure()
		}
	}
}

// arrive notes that examples of a row have got to a rule.
func (u *publishedUpdate) arrive(row int, l lineage) {
	lines := u.stream.rules[row]
	if i := slices.IndexFunc(lines, func(k lineage) bool { return k.rule.equal(l.rule) }); i >= 0 {
		lines[i].weight += l.weight
		return
	}
	u.stream.rules[row] = append(lines, l)
	u.share(row, l.rule)
}

// share puts a row among those that share a rule.
func (u *publishedUpdate) share(row int, rule conjunction) {
	n := sharedName{rule.key(), u.stream.class[row]}
	i, ok := u.byName[n]
	if !ok {
		i = len(u.groups)
		u.byName[n] = i
		u.groups = append(u.groups, &shared{rule: rule, class: n.class})
	}
	u.groups[i].rows = append(u.groups[i].rows, row)
}

// shared is a rule and the examples that have got to it.
type shared struct {
	rule       conjunction
	class      int32
	rows       []int
	moved      []moved
	iterations int
	counted    bool // tallies are of all rows, in the units of an epoch
	epoch      int
	tallies
}

type sharedName struct {
	key   key
	class int32
}

// moved is an example that goes on to another rule.
type moved struct {
	row  int
	rule conjunction
}

// arrival is examples of a row that have got to a rule.
type arrival struct {
	row int
	lineage
}

// Freeze returns the network of all rows so far.
func (u *publishedUpdate) Freeze(ctx context.Context) (learn.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := &Model{settings: u.model.settings, seed: u.model.seed}
	s := u.stream
	m.stream = &stream{coding: s.coding, codes: make([][]int32, len(s.codes)), class: slices.Clone(s.class), weights: slices.Clone(s.weights), rules: make([][]lineage, len(s.rules)), limit: s.limit, origin: s.origin}
	for col, codes := range s.codes {
		m.stream.codes[col] = slices.Clone(codes)
	}
	for row, lines := range s.rules {
		m.stream.rules[row] = slices.Clone(lines)
	}
	m.coding = s.coding
	m.counts = s.count()
	if err := m.weighStream(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

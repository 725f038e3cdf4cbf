package rulenet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Networks that are taught (teacher=trees). Boosted trees are the teacher: they
// give candidate rules and soft labels, and are thrown away. How many trees, how
// many rules and how far to stretch the weights is rehearsed on rows held out.

const (
	treesAtATime = 10
	treeGain     = 0.001 // of the loss, that counts as better
	withinLeast  = 1.01  // of the least loss, that the chosen size may have
	withinNats   = 5e-4  // of the least loss a row, likewise: of nothing, a hundredth is nothing
	sizeGain     = 0.001
	sizePatience = 3
	inTurn       = 2000   // weight of rows below which three parts are held out in turn
	learnOnce    = 10_000 // rows from which one teacher serves rehearsal and network
	mostHeldOut  = 5_000
	forwardRows  = 10_000 // that rules are picked on when learning once
	weighRows    = 40_000 // that their weights are fitted to then
	teacherRows  = 50_000 // that a teacher learns from at most
	manyClasses  = 10     // above, trees are larger
	manyRules    = 100    // above, fewer are tried once more
	cappedStart  = 4      // times the rules that are allowed, of which these are what is left
	noisyTrees   = 0.5    // of the trees that may be grown, below which labels are noise in part
	sizesWin     = 0.995  // of the loss, that larger trees must bring it to
	leafRows     = 20     // rows for each leaf of a larger tree
	clearlyWin   = 0.95   // of the loss, below which students of smaller trees are not heard where classes are many
)

// pace is how trees are grown: how far each goes, how many at most, and how many
// without a better loss on the rows held out end it. Classes were as accurate at
// twice the rate, numbers were not.
type pace struct {
	rate           float64
	most, patience int
}

func (h *school) pace() pace {
	if h.x.Class == nil {
		return pace{0.1, 300, 40}
	}
	return pace{0.2, 150, 20}
}

// sizes are the numbers of rules that are rehearsed.
var sizes = [...]int{5, 7, 10, 14, 20, 28, 40, 56, 80, 100, 140, 200, 280, 400, 560, 800, 1120, 1600}

// treeSizes are the sizes of trees that are rehearsed, each only if the one
// before it was better than its own predecessor.
var treeSizes = [...]struct{ leaves, depth int }{{16, 5}, {64, 10}, {128, 12}}

// columnShare is the share of the columns that a tree sees. For numbers all
// columns are rehearsed too: where they are few, half of them is very few.
const columnShare = 0.5

// school is a table that is being taught.
type school struct {
	*binned
	x       *boost.Rows
	table   *table.Table
	weights []float64
	present []int // classes with rows
	seed    uint64
	s       settings
	done    float64 // of the work
	ways    []int8  // that the answer goes along each column; nil: any
	tracks  []*track
	zero    float64 // of a number: its mean and deviation
	unit    float64
}

// report says how far the work is; trees of another size do not begin anew.
func (h *school) report(ctx context.Context, done float64) {
	h.done = max(h.done, done)
	learn.Report(ctx, h.done)
}

// newSchool lays out the rows of a table whose targets are all known.
func newSchool(ctx context.Context, t *table.Table, target int, seed uint64, s settings) (*school, error) {
	b, err := cutIntoBins(ctx, t, target)
	if err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	h := &school{binned: b, table: t, weights: make([]float64, t.Rows()), seed: seed, s: s}
	hashes, err := kept.HashRows(ctx, t)
	if err != nil {
		return nil, err
	}
	if t.Schema.Attributes[target].Kind == table.Numeric {
		h.x = &boost.Rows{Columns: b.columns, Hash: hashes, Scores: 1}
		for r := range h.weights {
			h.weights[r] = t.Weight(r)
		}
		return h, h.lean()
	}
	place := make([]int32, b.classes())
	counts := make([]float64, b.classes())
	for r, c := range t.Columns[target].Codes {
		h.weights[r] = t.Weight(r)
		counts[c] += h.weights[r]
	}
	for c, n := range counts {
		if n > 0 {
			place[c] = int32(len(h.present))
			h.present = append(h.present, c)
		}
	}
	h.x = &boost.Rows{Columns: b.columns, Hash: hashes, Scores: len(h.present), Class: make([]int32, t.Rows())}
	if h.x.Scores == 2 {
		h.x.Scores = 1
	}
	for r, c := range t.Columns[target].Codes {
		h.x.Class[r] = place[c]
	}
	return h, h.lean()
}

// learnTaught makes the network that a teacher's rows teach.
func learnTaught(ctx context.Context, rows *kept.Rows, t *table.Table, target int, seed uint64, s settings) (*Model, error) {
	h, err := newSchool(ctx, t, target, seed, s)
	if err != nil {
		return nil, err
	}
	m := &Model{settings: s, seed: seed, rows: rows, coding: h.coding, counts: make([]float64, h.classes()), taught: true}
	if s.Update == "none" {
		m.rows = nil
	}
	for r, c := range h.x.Class {
		m.counts[h.present[c]] += h.weights[r]
	}
	if err := h.teach(ctx, m); err != nil {
		return nil, err
	}
	if m.repeats != nil {
		if err := m.repeats.fill(ctx, t, target, h.schema.Attributes[target].Values); err != nil {
			return nil, err
		}
	}
	return m, m.compile(ctx)
}

// part is a part of the rows held out, and its teacher and student.
type part struct {
	learn, held []float64
	teacher     *boost.Teacher
	student     *student
}

// holdOut deals rows out: three parts in turn if they are few, else one.
func (h *school) holdOut() []*part {
	n, share, parts := sum(h.weights), 0.25, 1
	if n < inTurn {
		share, parts = 1.0/3, 3
	}
	if len(h.weights) >= learnOnce {
		share = min(share, mostHeldOut/float64(len(h.weights)))
	}
	taught := uint64(math.MaxUint64) // hashes of rows that a teacher learns from
	if len(h.weights) > teacherRows {
		taught = uint64(teacherRows / float64(len(h.weights)) * math.MaxUint64)
	}
	left := slices.Clone(h.weights)
	var all []*part
	for i := range parts {
		p := &part{learn: make([]float64, len(left)), held: make([]float64, len(left))}
		for r, w := range left {
			p.held[r] = w
			if i < parts-1 || parts == 1 {
				p.held[r] = kept.HoldOut(h.x.Hash[r], scramble(h.seed)+uint64(i), w, share*float64(parts)/float64(parts-i))
			}
			left[r] -= p.held[r]
			p.learn[r] = h.weights[r] - p.held[r]
			if taught < math.MaxUint64 && scramble(h.x.Hash[r]^h.seed^0x7ea) > taught {
				p.learn[r] = 0
			}
		}
		if sum(p.learn) > 0 && sum(p.held) > 0 {
			all = append(all, p)
		}
	}
	return all
}

func (h *school) options(leaves, depth int, columns float64) boost.Options {
	return boost.Options{Leaves: leaves, Depth: depth, Rate: h.pace().rate, RowShare: 0.7, ColumnShare: columns, Seed: scramble(h.seed ^ 0x7eac4e5)}
}

// some returns the rows of some weight, at most so many, by hash.
func (h *school) some(weights []float64, most int) []int32 {
	var rows []int32
	for r, w := range weights {
		if w > 0 {
			rows = append(rows, int32(r))
		}
	}
	if len(rows) <= most {
		return rows
	}
	limit := uint64(float64(most) / float64(len(rows)) * math.MaxUint64)
	return slices.DeleteFunc(rows, func(r int32) bool { return scramble(h.x.Hash[r]^h.seed) > limit })
}

// fitted returns the rows that weights are fitted to when learning once, of those
// that the teacher knows.
func (h *school) fitted(p *part) []int32 {
	known := make([]float64, len(p.learn))
	for r := range known {
		known[r] = p.learn[r] + p.held[r]
	}
	return h.some(known, weighRows)
}

// faculty is teachers, one for each part, of trees of one size.
type faculty struct {
	options  boost.Options
	teachers []*boost.Teacher
	losses   []float64 // after each ten trees
	trees    int       // after which the loss was least
	least    float64
}

// teachAll grows teachers until the rows held out say that it is enough, or
// that they are no better than others after as many trees: larger trees that
// will win are ahead early.
func (h *school) teachAll(ctx context.Context, parts []*part, o boost.Options, others *faculty) (*faculty, error) {
	f := &faculty{options: o, teachers: make([]*boost.Teacher, len(parts)), least: math.Inf(1)}
	for i, p := range parts {
		remember := h.some(p.learn, math.MaxInt)
		if len(h.weights) >= learnOnce {
			remember = h.fitted(p)
		}
		f.teachers[i] = boost.New(h.x, p.learn, p.held, remember, o)
	}
	counted, since := math.MaxFloat64, 0
	worth := 0.0 // of a better loss, of classes
	if h.x.Class != nil {
		for _, p := range parts {
			worth += withinNats / 2 * sum(p.held)
		}
	}
	pace := h.pace()
	for n := treesAtATime; n <= pace.most; n += treesAtATime {
		errs := make([]error, len(f.teachers))
		err := learn.Each(ctx, len(f.teachers), func(i int) { errs[i] = f.teachers[i].Grow(ctx, treesAtATime) })
		if err = errors.Join(append(errs, err)...); err != nil {
			return nil, err
		}
		loss := 0.0
		for _, t := range f.teachers {
			loss += t.Loss
		}
		if f.losses = append(f.losses, loss); loss < f.least {
			f.trees, f.least = n, loss
		}
		if at := len(f.losses) - 1; others != nil && n >= pace.patience && at < len(others.losses) && loss >= others.losses[at] {
			break
		}
		if loss < counted*(1-treeGain)-worth {
			counted, since = loss, 0
		} else if since += treesAtATime; since >= pace.patience {
			break
		}
		h.report(ctx, 0.3*float64(n)/float64(pace.most))
	}
	return f, nil
}

// rehearsed is what the rows held out say.
type rehearsed struct {
	options boost.Options
	trees   int
	hard    bool    // students learn the labels instead of what the teacher says
	noise   float64 // of numbers: mean square by which the teacher misses the rows held out
	size    int
	capped  bool // more rules than are allowed would have been chosen
	stretch float64
	off     float64 // of numbers: how far answers are off the rows learnt from
	shift   float64 // of quantiles, so that as many rows held out lie below
	least   float64 // loss on the rows held out
}

// rehearseTeacher tries trees of several sizes: those to begin with, and, where
// they are better on the rows held out, the best of the larger ones.
func (h *school) rehearseTeacher(ctx context.Context, parts []*part) ([]*faculty, error) {
	leaves, depth := treeSizes[0].leaves, treeSizes[0].depth
	if len(h.present) > manyClasses {
		leaves, depth = 32, 6
	}
	first, err := h.teachAll(ctx, parts, h.options(leaves, depth, columnShare), nil)
	if err != nil {
		return nil, err
	}
	if h.x.Class == nil {
		all, err := h.teachAll(ctx, parts, h.options(leaves, depth, 1), first)
		if err != nil {
			return nil, err
		}
		if all.least < first.least*sizesWin {
			first = all
		}
		if sum(h.weights) >= finerFrom {
			if first, err = h.finer(ctx, parts, first); err != nil {
				return nil, err
			}
		}
	}
	best := first
	for _, size := range treeSizes[1:] {
		if sum(h.weights) < leafRows*float64(size.leaves) {
			break
		}
		larger, err := h.teachAll(ctx, parts, h.options(size.leaves, size.depth, first.options.ColumnShare), best)
		if err != nil {
			return nil, err
		}
		if !(larger.least < best.least*sizesWin) {
			break
		}
		best = larger
	}
	if best == first || len(h.present) > manyClasses && best.least < first.least*clearlyWin {
		return []*faculty{best}, nil
	}
	return []*faculty{first, best}, nil
}

// lesson returns what a student can learn of a teacher's first trees: rows and
// their places among those that the teacher remembers.
func (h *school) lesson(ctx context.Context, t *boost.Teacher, r rehearsed, remembered, places []int32, weights []float64) (*lesson, error) {
	k, trees := h.x.Scores, r.trees
	l := &lesson{x: h.x, k: k, allowed: h.allowed, ways: h.ways, tracks: h.tracks, ridge: studentRidge, adderRidge: ridgeFor(r.noise), trees: t.Trees[:trees], seed: scramble(h.seed ^ 0x57d3)}
	l.rows, l.weight = make([]int32, len(places)), make([]float64, len(places))
	for at, place := range places {
		l.rows[at] = remembered[place]
		l.weight[at] = weights[l.rows[at]]
		l.total += l.weight[at]
	}
	said := make([]float64, len(places)*k) // row by row
	l.leafOf = make([][]uint8, trees)
	start := t.Start()
	for at := range said {
		said[at] = start[at%k]
	}
	for n := range trees {
		leaves := make([]uint8, len(places))
		values := l.trees[n].Values
		for at, place := range places {
			leaf := t.LeafOf[n][place]
			leaves[at] = leaf
			for c := range k {
				said[at*k+c] += values[int(leaf)*k+c]
			}
		}
		l.leafOf[n] = leaves
	}
	l.q = make([]float64, len(said))
	if r.hard {
		l.label()
		return l, l.candidates(ctx, h.binned)
	}
	for at := range places {
		row := said[at*k : at*k+k]
		if h.x.Class == nil {
			row[0] = (row[0] + h.x.Number[l.rows[at]]) / 2 // half and half with the numbers themselves
		} else if k == 1 {
			row[0] = 1 / (1 + math.Exp(-row[0]))
		} else {
			boost.Softmax(slices.Clone(row), row)
		}
		for c, q := range row {
			l.plane(l.q, c)[at] = q
		}
	}
	return l, l.candidates(ctx, h.binned)
}

// candidates finds the nodes that may become rules. Of nodes that cover the same
// rows, or all but these, the one that is shorter to read counts, or the first.
func (l *lesson) candidates(ctx context.Context, b *binned) error {
	type place struct{ tree, node int32 }
	known := map[uint64]place{}
	l.price, l.way = make([][]float64, len(l.trees)), make([][]int8, len(l.trees))
	hashes, all := make([]uint64, len(l.rows)), uint64(0)
	for i, r := range l.rows {
		hashes[i] = scramble(l.x.Hash[r])
		all += hashes[i]
	}
	for t := range l.trees {
		if err := ctx.Err(); err != nil {
			return err
		}
		nodes := l.trees[t].Nodes
		l.price[t], l.way[t] = make([]float64, len(nodes)), make([]int8, len(nodes))
		sums := make([]uint64, max(256, len(nodes)))
		for i, leaf := range l.leafOf[t] {
			sums[leaf] += hashes[i]
		}
		for node := len(nodes) - 1; node > 0; node-- {
			sums[nodes[node].Parent] += sums[node]
		}
		for node := 1; node < len(nodes); node++ {
			id := min(sums[node], all-sums[node])
			if sums[node] == 0 || sums[node] == all {
				continue
			}
			tests := l.trees[t].Tests(l.x.Columns, int32(node))
			way, ok := l.allowed(tests)
			if !ok {
				continue
			}
			l.way[t][node] = way
			price := b.price(tests)
			if of, ok := known[id]; ok {
				if l.price[of.tree][of.node] <= price {
					continue
				}
				l.price[of.tree][of.node] = 0
			}
			known[id] = place{int32(t), int32(node)}
			l.price[t][node] = price
		}
	}
	return nil
}

// count returns the numbers below n.
func count(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// rehearse picks students, one for each part, size by size, and returns the
// smallest size whose loss is within a hundredth of the least. Up to manyRules it is
// never content: where rows are few and classes several, twenty rules may be as good as
// fifty and much worse than two hundred (vehicle, 509 rows: a log loss of .60 and .49).
// A most that is allowed only ever cuts: larger sizes are rehearsed too, until it is plain
// that one of them would be chosen, and then all that are allowed are taken.
func (h *school) rehearse(ctx context.Context, m *Model, parts []*part, r *rehearsed) error {
	held, allowed := 0.0, 0.0 // loss with as many rules as are allowed
	least, last, stale := math.Inf(1), math.MaxFloat64, 0
	var losses []float64
	var best []int
	var stretch []float64
	for at, size := range h.sizes() {
		var sums [len(stretches)]float64
		step := Step{Round: at}
		errs := make([]error, len(parts))
		of := make([][len(stretches)]float64, len(parts))
		wrong := make([]float64, len(parts))
		err := learn.Each(ctx, len(parts), func(i int) {
			errs[i] = parts[i].student.forward(ctx, size)
			of[i], wrong[i] = parts[i].student.judge()
		})
		if err = errors.Join(append(errs, err)...); err != nil {
			return err
		}
		held = 0
		reached := false
		for i, p := range parts {
			for f := range sums {
				sums[f] += of[i][f]
			}
			held += sum(p.student.held.weight)
			step.Errors += wrong[i]
			step.Rules += float64(len(p.student.rules)) / float64(len(parts))
			reached = reached || len(p.student.rules) >= size
		}
		f := 0
		for i, loss := range sums {
			if loss < sums[f] {
				f = i
			}
		}
		step.Loss, step.Errors = sums[f]/held, step.Errors/held
		m.steps = append(m.steps, step)
		losses, best, stretch = append(losses, step.Loss), append(best, size), append(stretch, stretches[f])
		least = min(least, step.Loss)
		if step.Loss < last*(1-sizeGain)-withinNats/2 {
			last, stale = step.Loss, 0
		} else {
			stale++
		}
		if size == h.s.Rules {
			allowed, r.size, r.stretch = step.Loss, size, stretches[f]
		}
		if r.capped = allowed > tolerated(least); r.capped {
			break
		}
		h.report(ctx, 0.3+0.3*float64(at+1)/float64(len(sizes)))
		if stale >= sizePatience && size >= manyRules || !reached {
			break
		}
	}
	if r.least = least; r.capped {
		r.least = allowed
		m.stopped = fmt.Sprintf("%d rules: as many as are allowed; their log loss on rows held out is %.4f, and more would make it less", r.size, allowed)
		return nil
	}
	for i, loss := range losses {
		if loss <= tolerated(least) {
			r.size, r.stretch = best[i], stretch[i]
			break
		}
	}
	if err := h.shorten(ctx, parts, r); err != nil {
		return err
	}
	m.stopped = fmt.Sprintf("%d rules: the fewest whose log loss on rows held out is within 1 %% of the least, %.4f", r.size, least)
	return nil
}

// tolerated is the loss that the chosen size may have.
func tolerated(least float64) float64 { return withinLeast*least + withinNats }

// sizes are the numbers of rules that are rehearsed, with as many as are allowed.
func (h *school) sizes() []int {
	all := slices.Clone(sizes[:])
	if at, is := slices.BinarySearch(all, h.s.Rules); h.s.Rules > 0 && !is {
		all = slices.Insert(all, at, h.s.Rules)
	}
	return all
}

// shorten tries whether fewer rules do, where they are many: rehearsed ones were only
// picked, while those of the network will be what is left of more.
func (h *school) shorten(ctx context.Context, parts []*part, r *rehearsed) error {
	for at := slices.Index(sizes[:], r.size) - 1; h.x.Scores == 1 && at >= 0 && r.size > manyRules; at-- {
		held := 0.0
		var sums [len(stretches)]float64
		for _, p := range parts {
			s := p.student.again(startSize(sizes[at]))
			for range 4 {
				if err := s.newton(ctx, 0, 3); err != nil {
					return err
				}
			}
			if err := errors.Join(s.backward(ctx, sizes[at]), s.finish(ctx)); err != nil {
				return err
			}
			losses, _ := s.judge()
			for f, loss := range losses {
				sums[f] += loss
			}
			held += sum(s.held.weight)
		}
		loss := slices.Min(sums[:]) / held
		if loss > tolerated(r.least) {
			break
		}
		r.size, r.stretch = sizes[at], stretches[slices.Index(sums[:], slices.Min(sums[:]))]
	}
	return nil
}

// again returns a student of the first rules that one has picked, whose weights are
// to be fitted.
func (s *student) again(most int) *student {
	other := s.newStudent()
	other.held = s.held
	for _, r := range s.rules[:min(len(s.rules), most)] {
		r.weights = make([]float64, s.k)
		other.rules = append(other.rules, r)
	}
	return other
}

// rehearseAll lets students of teachers of every size that is worth it learn,
// and returns what the better ones say: what large trees know need not fit into
// few rules. Where weights want to be stretched as far as that goes, what teachers say
// may be too soft, and the labels themselves are tried.
func (h *school) rehearseAll(ctx context.Context, m *Model, parts []*part, once bool) (best rehearsed, of []*part, err error) {
	all, err := h.rehearseTeacher(ctx, parts)
	if err != nil {
		return best, nil, err
	}
	by := all[0]
	try := func(f *faculty, hard bool) error {
		r := rehearsed{options: f.options, trees: f.trees, hard: hard}
		own, taught := make([]*part, len(parts)), &Model{}
		for j, p := range parts {
			own[j] = &part{learn: p.learn, held: p.held, teacher: f.teachers[j]}
			if err := h.seat(ctx, own[j], r, once); err != nil {
				return err
			}
		}
		if err := h.rehearse(ctx, taught, own, &r); err != nil {
			return err
		}
		if of == nil || r.least < best.least {
			best, of, by, m.steps, m.stopped = r, own, f, taught.steps, taught.stopped
		}
		return nil
	}
	for _, f := range all {
		if err := try(f, false); err != nil {
			return best, nil, err
		}
	}
	if best.stretch == stretches[len(stretches)-1] {
		if err := try(by, true); err != nil {
			return best, nil, err
		}
	}
	return best, of, nil
}

// teach learns the network of the rows.
func (h *school) teach(ctx context.Context, m *Model) error {
	m.bias = logPriors(m.counts)
	parts := h.holdOut()
	if len(h.present) < 2 || len(h.columns) == 0 || len(parts) == 0 {
		m.stopped = "nothing to tell apart, or too few rows to hold any out"
		h.report(ctx, 1)
		return nil
	}
	once := len(h.weights) >= learnOnce
	r, parts, err := h.rehearseAll(ctx, m, parts, once)
	if err != nil {
		return err
	}
	m.rehearsed, m.noisy = r.least, float64(r.trees) < noisyTrees*float64(h.pace().most)
	var s *student
	if once {
		s, err = h.onAllRows(ctx, parts[0], r)
	} else {
		s, err = h.again(ctx, r)
	}
	if err != nil {
		return err
	}
	if h.s.Repeats == "auto" {
		worth, err := h.rehearseRepeats(ctx, parts, r.stretch)
		if err != nil {
			return err
		}
		if worth > 0 {
			m.repeats = &repeats{worth: worth}
		}
	}
	h.report(ctx, 0.9)
	if err := s.backward(ctx, r.size); err != nil {
		return err
	}
	if err := s.finish(ctx); err != nil {
		return err
	}
	err = h.network(ctx, m, s, r.stretch)
	h.report(ctx, 1)
	return err
}

// seat gives a part its student.
func (h *school) seat(ctx context.Context, p *part, r rehearsed, once bool) error {
	l, err := h.firstLesson(ctx, p, r, once)
	if err != nil {
		return err
	}
	p.student = l.newStudent()
	p.student.held = h.judges(p)
	return nil
}

// judges returns the rows that a part holds out.
func (h *school) judges(p *part) *heldOut {
	held := &heldOut{rows: h.some(p.held, math.MaxInt)}
	for _, i := range held.rows {
		held.weight = append(held.weight, p.held[i])
	}
	return held
}

// firstLesson is that of the rows that a part does not hold out.
func (h *school) firstLesson(ctx context.Context, p *part, r rehearsed, once bool) (*lesson, error) {
	remembered := h.some(p.learn, math.MaxInt)
	places := count(len(remembered))
	if once {
		remembered = h.fitted(p)
		learnt := slices.DeleteFunc(count(len(remembered)), func(at int32) bool { return p.learn[remembered[at]] == 0 })
		places = learnt
		if len(learnt) > forwardRows {
			limit := uint64(float64(forwardRows) / float64(len(learnt)) * math.MaxUint64)
			places = slices.DeleteFunc(learnt, func(at int32) bool { return scramble(h.x.Hash[remembered[at]]^h.seed^0xf0) > limit })
		}
	}
	return h.lesson(ctx, p.teacher, r, remembered, places, p.learn)
}

// start is the number of rules that are picked before some are dropped: more where fewer
// are allowed than would be best, as the work is small then.
func (r rehearsed) start() int {
	if r.capped {
		return cappedStart * r.size
	}
	return startSize(r.size)
}

// startSize is that number where the size is free.
func startSize(size int) int {
	if size > 2*manyRules {
		return int(math.Ceil(1.1 * float64(size)))
	}
	return int(math.Ceil(1.5 * float64(size)))
}

// again teaches all rows by a teacher of all rows.
func (h *school) again(ctx context.Context, r rehearsed) (*student, error) {
	l, err := h.lastLesson(ctx, r)
	if err != nil {
		return nil, err
	}
	s := l.newStudent()
	return s, s.forward(ctx, r.start())
}

// lastLesson is that of all rows.
func (h *school) lastLesson(ctx context.Context, r rehearsed) (*lesson, error) {
	remembered := h.some(h.weights, math.MaxInt)
	t := boost.New(h.x, h.weights, nil, remembered, r.options)
	for n := 0; n < r.trees; n += treesAtATime {
		if err := t.Grow(ctx, treesAtATime); err != nil {
			return nil, err
		}
		h.report(ctx, 0.6+0.2*float64(n)/float64(r.trees))
	}
	return h.lesson(ctx, t, r, remembered, count(len(remembered)), h.weights)
}

// onAllRows takes the first rules of the rehearsed student, and fits them to
// all rows: what the teacher says of rows held out is honest too.
func (h *school) onAllRows(ctx context.Context, p *part, r rehearsed) (*student, error) {
	if err := p.student.forward(ctx, r.start()); err != nil {
		return nil, err
	}
	rules := p.student.rules
	rules = rules[:min(len(rules), r.start())]
	remembered := h.fitted(p)
	l, err := h.lesson(ctx, p.teacher, r, remembered, count(len(remembered)), h.weights)
	if err != nil {
		return nil, err
	}
	s := l.newStudent()
	s.rules = make([]picked, len(rules))
	err = learn.Each(ctx, len(rules), func(j int) {
		s.rules[j] = picked{tests: rules[j].tests, rows: covered(h.x, rules[j].tests, l.rows), weights: make([]float64, l.k), found: rules[j].found, way: rules[j].way}
	})
	if err != nil {
		return nil, err
	}
	steps := 4
	if l.k > 1 { // many weights are dear, and those that were rehearsed are nearly right
		steps = 1
		copy(s.bias, p.student.bias)
		s.spread(s.scores, s.bias)
		for j := range s.rules {
			r := &s.rules[j]
			copy(r.weights, rules[j].weights)
			r.addTo(s.scores, r.rows, r.weights)
		}
		s.loss = s.measure(s.scores)
	}
	for range steps {
		if err := s.newton(ctx, 0, 3); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// network makes the model's units of a student.
func (h *school) network(ctx context.Context, m *Model, s *student, stretch float64) error {
	k := s.k
	norm := 1.0
	if k > 1 {
		norm = 0
		for c := range k {
			norm += math.Exp(s.bias[c] * stretch)
		}
	} else {
		norm += math.Exp(s.bias[0] * stretch)
	}
	for c, class := range h.present {
		score := 0.0
		if k > 1 {
			score = s.bias[c] * stretch
		} else if c == 1 {
			score = s.bias[0] * stretch
		}
		m.bias[class] = score - math.Log(norm)
	}
	removed := s.removed(stretch)
	m.units = make([]unit, len(s.rules))
	err := learn.Each(ctx, len(s.rules), func(j int) {
		r := &s.rules[j]
		u := unit{rule: h.conjunction(r.tests), class: everyClass, weights: make([]float64, h.classes()), counts: make([]float64, h.classes()), round: r.found, removed: removed[j] * sum(h.weights) / s.total}
		for c, class := range h.present {
			switch {
			case k > 1:
				u.weights[class] = r.weights[c] * stretch
			case c == 0 && r.weights[0] < 0:
				u.weights[class] = -r.weights[0] * stretch
			case c == 1 && r.weights[0] > 0:
				u.weights[class] = r.weights[0] * stretch
			}
		}
		for _, i := range covered(h.x, r.tests, count(len(h.weights))) {
			u.counts[h.present[h.x.Class[i]]] += h.weights[i]
		}
		m.units[j] = u
	})
	if err != nil {
		return err
	}
	m.units = slices.DeleteFunc(m.units, func(u unit) bool {
		return len(u.rule) == 0 || sum(u.counts) == 0 || !slices.ContainsFunc(u.weights, func(w float64) bool { return w != 0 })
	})
	return ctx.Err()
}

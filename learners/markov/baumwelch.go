package markov

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/moment"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Hidden states are found by Baum–Welch (Baum et al. 1970), which is EM: given
// estimates, how often each state is expected to start, follow and show what is
// seen; then estimates from these expectations, until the likelihood rises no
// more. Where rows have a class, only the states of their class can be. It begins
// several times at random, goes a little way from each beginning, and carries the
// best on (Biernacki, Celeux & Govaert 2003).
//
// What is kept of a source are its expected counts. An update goes on from what
// was found before: the expectations of earlier sources stay as they were when
// they were learnt (Neal & Hinton 1998 leave them so in each step of incremental
// EM), so that it promises nothing about learning everything at once.

// shortRun is how many passes each random beginning is given.
const shortRun = 20

// hide keeps the rows of a table until the states are to be found.
func (u *update) hide(t *table.Table, schema *table.Schema) error {
	all := make([]int, t.Rows())
	for r := range all {
		all[r] = r
	}
	own := t.Select(all)
	own.SequenceNames = slices.Clone(own.SequenceNames)
	own, _, err := table.Conform(own, schema, false)
	if err != nil {
		return err
	}
	u.hidden = append(u.hidden, own)
	return nil
}

// run is rows that follow each other: a sequence, or what a row that does not
// count left of it.
type run struct {
	from, to int
	begins   bool // with the first row of a sequence
}

// search is the rows whose states are to be found.
type search struct {
	settings *settings
	rows     *table.Table
	seen     *reading
	target   int
	labels   []int32 // class of each row, -1 if it does not count
	runs     []run
	base     *block // what other sources are expected to be; nil if there are none
	chunks   [][]run
}

// baumWelch returns the expected counts of an update's rows, on top of its block.
func (m *Model) baumWelch(ctx context.Context, u *update) (*block, error) {
	schema := u.vocabulary.Schema()
	rows, err := gather(u.hidden, schema)
	if err != nil {
		return nil, err
	}
	f := newSearch(&m.settings, rows, u.block)
	if len(f.runs) == 0 {
		return u.block, nil
	}
	if len(m.blocks) > 0 {
		f.base = u.block.empty(schema)
		for i, b := range m.blocks {
			if i != u.at {
				f.base.absorb(b)
			}
		}
		f.base.absorb(u.block)
	}
	found, err := f.find(ctx, m.seed)
	if err != nil {
		return nil, err
	}
	found.source = u.block.source
	found.absorb(u.block)
	return found, nil
}

// gather puts tables of an update behind one another, in a schema. A sequence goes
// on where the next table begins with its name.
func gather(tables []*table.Table, schema *table.Schema) (*table.Table, error) {
	columns := make([]table.Column, len(schema.Attributes))
	var weights []float64
	var number []int32
	var names []string
	weighted := slices.ContainsFunc(tables, func(t *table.Table) bool { return t.Weights != nil })
	for _, t := range tables {
		t, _, err := table.Conform(t, schema, false)
		if err != nil {
			return nil, err
		}
		for j, c := range t.Columns {
			columns[j].Codes, columns[j].Floats = append(columns[j].Codes, c.Codes...), append(columns[j].Floats, c.Floats...)
		}
		for r := range t.Rows() {
			if weighted {
				weights = append(weights, t.Weight(r))
			}
			if t.Sequence == nil {
				continue
			}
			name := t.SequenceNames[t.Sequence[r]]
			if begins := r == 0 || t.Sequence[r] != t.Sequence[r-1]; begins && (r > 0 || len(names) == 0 || names[len(names)-1] != name) {
				names = append(names, name)
			}
			number = append(number, int32(len(names)-1))
		}
	}
	rows, err := table.New(schema, columns, weights)
	if err != nil || schema.Sequence == "" {
		return rows, err
	}
	return rows.InSequence(schema.Sequence, number, names)
}

// newSearch cuts rows into runs, and these into chunks for the cores: always the
// same, so that sums are.
func newSearch(s *settings, rows *table.Table, like *block) *search {
	f := &search{settings: s, rows: rows, seen: &reading{rows, make([][]int32, len(rows.Columns))}, target: like.target, labels: make([]int32, rows.Rows())}
	rows.Groups(func(from, to int) {
		begins := true
		for row := from; row < to; row++ {
			if f.labels[row] = int32(like.label(rows, row)); f.labels[row] < 0 {
				continue
			}
			first := row
			for row+1 < to && like.label(rows, row+1) >= 0 {
				row++
				f.labels[row] = int32(like.label(rows, row))
			}
			f.runs = append(f.runs, run{first, row + 1, begins && first == from})
			begins = false
		}
	})
	least := max(1024, rows.Rows()/16)
	for at, size := 0, 0; at < len(f.runs); {
		end := at
		for size = 0; end < len(f.runs) && size < least; end++ {
			size += f.runs[end].to - f.runs[end].from
		}
		f.chunks = append(f.chunks, f.runs[at:end])
		at = end
	}
	return f
}

// find carries the best of several beginnings on until the likelihood rises no
// more, and returns the expected counts of the rows.
func (f *search) find(ctx context.Context, seed uint64) (*block, error) {
	var best *block
	most := math.Inf(-1)
	beginnings, passes := f.settings.Restarts, min(shortRun, f.settings.Iterations)
	if f.base != nil {
		beginnings, passes = 1, 0
	}
	counted := f.counted()
	for k := range beginnings {
		begun, err := f.begin(counted, rand.New(rand.NewPCG(seed, uint64(k))))
		if err != nil {
			return nil, err
		}
		found, logLikelihood, err := f.climb(ctx, begun, passes, nil)
		if err != nil {
			return nil, err
		}
		if logLikelihood > most || best == nil {
			best, most = found, logLikelihood
		}
		learn.Report(ctx, 0.5*float64(k+1)/float64(beginnings))
	}
	best, _, err := f.climb(ctx, best, f.settings.Iterations-passes, func(done float64) { learn.Report(ctx, 0.5+0.5*done) })
	if err != nil {
		return nil, err
	}
	learn.Report(ctx, 1)
	if f.base == nil {
		best.sortStates()
	}
	return best, nil
}

// climb goes from counts to expected counts for so many passes, or until the log
// likelihood a row rises by less than the tolerance. It returns the last counts,
// and the likelihood of the rows under what came before them.
func (f *search) climb(ctx context.Context, from *block, passes int, report func(done float64)) (*block, float64, error) {
	rows := 0.0
	for row, label := range f.labels {
		if label >= 0 {
			rows += f.rows.Weight(row)
		}
	}
	last := math.Inf(-1)
	for pass := range max(1, passes) {
		next, logLikelihood, err := f.expect(ctx, estimate(f.settings, f.with(from)))
		if err != nil {
			return nil, 0, err
		}
		from = next
		if gain := logLikelihood - last; gain < f.settings.Tolerance*rows && pass > 0 {
			return from, logLikelihood, nil
		}
		last = logLikelihood
		if report != nil {
			report(float64(pass) / float64(passes))
		}
	}
	return from, last, nil
}

// with adds what other sources are expected to be.
func (f *search) with(b *block) *block {
	if f.base == nil {
		return b
	}
	all := f.base.clone()
	all.absorb(b)
	return all
}

// expect returns the expected counts of the rows, and their log likelihood.
func (f *search) expect(ctx context.Context, e *estimates) (*block, float64, error) {
	parts := make([]*block, len(f.chunks))
	likelihoods := make([]float64, len(f.chunks))
	err := learn.Each(ctx, len(f.chunks), func(i int) {
		to := e.total.empty(f.rows.Schema)
		var r trellis
		for _, run := range f.chunks[i] {
			if ctx.Err() != nil {
				return
			}
			likelihoods[i] += f.expectRun(e, &r, run, to)
		}
		parts[i] = to
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, 0, err
	}
	for _, p := range parts[1:] {
		parts[0].absorb(p)
	}
	return parts[0], sum(likelihoods), nil
}

// expectRun adds the expected counts of one run, and returns its log likelihood.
func (f *search) expectRun(e *estimates, r *trellis, of run, to *block) float64 {
	n, all := e.n, to.states()
	r.room(of.to-of.from, n)
	e.show(f.seen, of.from, of.to, r.logs)
	if f.target != learn.NoTarget {
		for i := range of.to - of.from {
			for s := range n {
				if e.class[s] != f.labels[of.from+i] {
					r.logs[i*n+s] = math.Inf(-1)
				}
			}
		}
	}
	plain := e.plain(r) && e.forwardPlain(r)
	if plain {
		e.backwardPlain(r)
	} else {
		e.forwardLogs(r)
		e.backwardLogs(r)
	}
	logLikelihood := 0.0
	for t := range of.to - of.from {
		row := of.from + t
		w := f.rows.Weight(row)
		logLikelihood += w * r.scale[t]
		at, behind := r.ahead[t*n:][:n], r.behind[t*n:][:n]
		share := r.sum[:n]
		for s := range share {
			if plain {
				share[s] = at[s] * behind[s] * w
			} else {
				share[s] = math.Exp(at[s]+behind[s]) * w
			}
		}
		if t == 0 && of.begins {
			for s, p := range share {
				to.start[e.states[s]] += p
			}
		}
		f.expectCells(e, to, row, share)
		if t > 0 {
			f.expectMoves(e, r, t, w, plain, to.moves, all)
		}
	}
	return logLikelihood
}

// expectCells counts a row's cells for each state by its share.
func (f *search) expectCells(e *estimates, to *block, row int, share []float64) {
	n := to.states()
	for s, p := range share {
		to.visits[e.states[s]] += p
	}
	for j := range to.columns {
		switch c := &to.columns[j]; {
		case c.counts != nil:
			if code := f.rows.Columns[j].Codes[row]; code >= 0 {
				for s, p := range share {
					c.counts[int(code)*n+int(e.states[s])] += p
				}
			}
		case c.moments != nil:
			if x := f.rows.Columns[j].Floats[row]; x-x == 0 {
				for s, p := range share {
					c.add(int(e.states[s]), x, p)
				}
			}
		}
	}
}

// expectMoves counts the moves from a row to the next, t, by their probability.
func (f *search) expectMoves(e *estimates, r *trellis, t int, w float64, plain bool, moves []float64, all int) {
	n := e.n
	unit := 0.0
	if plain {
		unit = w * math.Exp(r.most[t]-r.scale[t])
	}
	for i, p := range r.ahead[(t-1)*n:][:n] {
		from := moves[int(e.states[i])*all:][:all]
		for k := range n {
			if plain {
				from[e.states[k]] += p * e.move[i*n+k] * r.shown[t*n+k] * r.behind[t*n+k] * unit
			} else {
				from[e.states[k]] += w * math.Exp(p+e.logMove[i*n+k]+r.logs[t*n+k]+r.behind[t*n+k]-r.scale[t])
			}
		}
	}
}

// counted returns the counts of the rows by class.
func (f *search) counted() *block {
	b := newBlock(learn.Source{}, f.rows.Schema, f.target, &settings{States: 1})
	b.count(f.rows, nil)
	return b
}

// begin returns counts to begin with. Each class shares its own out over its
// states at random; numbers get the deviation of the class around those of rows
// chosen at random. What other sources are expected to be is better than chance,
// but for classes that they do not have.
func (f *search) begin(counted *block, random *rand.Rand) (*block, error) {
	b := newBlock(learn.Source{}, f.rows.Schema, f.target, f.settings)
	n, classes, sub := b.states(), counted.states(), b.sub
	parts := make([]float64, sub)
	deal := func(w float64) []float64 {
		for h := range parts {
			parts[h] = random.ExpFloat64()
		}
		for h, total := 0, sum(parts); h < sub; h++ {
			parts[h] *= w / total
		}
		return parts
	}
	for c := range classes {
		if counted.visits[c] == 0 || f.base != nil && sum(f.base.visits[c*sub:][:sub]) > 0 {
			continue
		}
		for h := range sub {
			b.visits[c*sub+h] = counted.visits[c] / float64(sub)
		}
		copy(b.start[c*sub:], deal(counted.start[c]))
		for h := range sub {
			for next := range classes {
				copy(b.moves[(c*sub+h)*n+next*sub:], deal(counted.moves[c*classes+next]/float64(sub)))
			}
		}
		for j := range b.columns {
			for v := 0; v*classes < len(counted.columns[j].counts); v++ {
				copy(b.columns[j].counts[v*n+c*sub:], deal(counted.columns[j].counts[v*classes+c]))
			}
			if counted.columns[j].moments != nil {
				f.scatter(&b.columns[j], j, c, sub, &counted.columns[j], random)
			}
		}
	}
	return b, nil
}

// scatter puts the means of a class's states on numbers of rows of the class.
func (f *search) scatter(to *column, j, class, sub int, counted *column, random *rand.Rand) {
	of := counted.moments[class]
	if of.N == 0 {
		return
	}
	to.level = max(to.level, counted.level)
	// A row of weight 2 is chosen as the row twice would be.
	pick := func(left float64) (cell float64) {
		for row, x := range f.rows.Columns[j].Floats {
			if int(f.labels[row]) == class && x-x == 0 {
				if cell = x; left < f.rows.Weight(row) {
					break
				}
				left -= f.rows.Weight(row)
			}
		}
		return cell
	}
	for h := range sub {
		share := of.N / float64(sub)
		to.moments[class*sub+h] = moment.Moment{N: share, Mean: pick(random.Float64()*of.N) * counted.level.Scale(), M2: share * of.Variance()}
	}
}

// sortStates numbers the hidden states of each class by how many rows they are
// expected in, the most first.
func (b *block) sortStates() {
	n := b.states()
	order := make([]int, n)
	for s := range order {
		order[s] = s
	}
	for c := 0; c < n; c += b.sub {
		slices.SortStableFunc(order[c:c+b.sub], func(x, y int) int {
			switch {
			case b.visits[x] > b.visits[y]:
				return -1
			case b.visits[x] < b.visits[y]:
				return 1
			}
			return x - y
		})
	}
	b.reorder(order)
}

// reorder numbers the states anew: order has the old number of each.
func (b *block) reorder(order []int) {
	n, was := b.states(), b.clone()
	for to, from := range order {
		b.start[to], b.visits[to] = was.start[from], was.visits[from]
		for next, at := range order {
			b.moves[to*n+next] = was.moves[from*n+at]
		}
		for j := range b.columns {
			c, old := &b.columns[j], &was.columns[j]
			for v := 0; v*n < len(c.counts); v++ {
				c.counts[v*n+to] = old.counts[v*n+from]
			}
			if c.moments != nil {
				c.moments[to] = old.moments[from]
			}
		}
	}
}

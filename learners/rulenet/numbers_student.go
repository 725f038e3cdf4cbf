package rulenet

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/crew"
)

// The student for numbers: rules that add. The loss is a square, so that all
// weights are solved for exactly after every batch, from the products of the
// rules' columns (centred), which are kept as a Cholesky factor that grows by a
// row with each rule.

const (
	adderRidge  = 4.0    // numbers being in deviations
	littleNoise = 0.01   // of the variance, below which weights are held back less
	leastNoise  = 0.0001 // that is taken to be there
	luck        = 10     // times the mean square that is left: a gain that the best of many candidates has by chance
)

// ridgeFor returns the ridge for numbers of which a share of the variance is noise: it
// is there for the noise.
func ridgeFor(noise float64) float64 { return adderRidge * min(1, max(leastNoise, noise)/littleNoise) }

// addition is a rule that adds.
type addition struct {
	tests []boost.Test
	rows  []int32 // of the lesson
	set   bits.Set
	held  []int32
	found int
	// Of a line: how far each row lies along it from the mean of its rows.
	track     *track
	shift     float64 // that mean
	along     []float64
	heldAlong []float64
	n         float64 // weight of its rows; of a line, times how far they lie along it
	slope     float64 // Σ weight · label over its rows, labels centred
	way       int8    // that it may move the answer; 0: both
	adds      float64
}

// adder is rules that add, being picked.
type adder struct {
	*lesson
	plain    bool // every row weighs one
	centre   float64
	moved    float64 // what another loss moves the answers by
	zero     float64 // the number that 0 stands for, where that matters
	rules    []addition
	products [][]float64 // of each rule with those before it, and itself
	factor   [][]float64 // rows of the Cholesky factor
	rest     []float64   // label less what the rules say, of each row
	batch    int
	taken    [][]bool
	lined    map[promise]bool // lines that were taken, without their gains
	within   bool             // lines are looked for in nodes too
	done     bool
	worth    float64 // gain below which no rule is added now
	held     *heldOut
}

func (l *lesson) newAdder() *adder {
	a := &adder{lesson: l, plain: !slices.ContainsFunc(l.weight, func(w float64) bool { return w != 1 }), taken: make([][]bool, len(l.trees)), lined: map[promise]bool{}}
	for t := range a.taken {
		a.taken[t] = make([]bool, len(l.trees[t].Nodes))
	}
	for i, w := range l.weight {
		a.centre += w * l.q[i] / l.total
	}
	a.rest = make([]float64, len(l.q))
	a.resume()
	return a
}

// resume computes what the rules leave.
func (a *adder) resume() {
	bias := a.bias()
	for i, q := range a.q {
		a.rest[i] = q - bias
	}
	for j := range a.rules {
		r := &a.rules[j]
		for at, i := range r.rows {
			a.rest[i] -= r.adds * r.at(at)
		}
	}
}

// bias is what the sum begins with.
func (a *adder) bias() float64 {
	bias := a.centre + a.moved
	for j := range a.rules {
		bias -= a.rules[j].adds * a.rules[j].n / a.total
	}
	return bias
}

// at is what the rule counts for one of its rows.
func (r *addition) at(at int) float64 {
	if r.along == nil {
		return 1
	}
	return r.along[at]
}

// include adds a rule whose tests, and whose track if it is a line, are known.
func (a *adder) include(tests []boost.Test, track *track) {
	r := addition{tests: tests, track: track, rows: covered(a.x, tests, a.rows), found: a.batch}
	r.way, _ = a.allowed(tests)
	if a.held != nil {
		r.held = covered(a.x, tests, a.held.rows)
	}
	if track != nil {
		r.way = a.lineWay(track)
		weights := make([]float64, len(r.rows))
		for at, i := range r.rows {
			weights[at] = a.weight[i]
		}
		r.shift = track.middle(a.rows, r.rows, weights)
		r.along = track.along(a.rows, r.rows, r.shift)
		if a.held != nil {
			r.heldAlong = track.along(a.held.rows, r.held, r.shift)
		}
	}
	a.extend(r)
}

// extend adds a rule whose rows are known.
func (a *adder) extend(r addition) {
	for at, i := range r.rows {
		r.n += a.weight[i] * r.at(at)
		r.slope += a.weight[i] * r.at(at) * (a.q[i] - a.centre)
	}
	r.set = make(bits.Set, bits.Words(len(a.rows)))
	var dense []float64 // of a line
	if r.along != nil {
		dense = make([]float64, len(a.rows))
	}
	for at, i := range r.rows {
		r.set.Put(int(i))
		if dense != nil {
			dense[i] = r.along[at]
		}
	}
	a.rules = append(a.rules, r)
	own := make([]float64, len(a.rules))
	for j := range a.rules {
		of := &a.rules[j]
		both := 0.0
		switch {
		case dense != nil:
			for at, i := range of.rows {
				both += a.weight[i] * of.at(at) * dense[i]
			}
		case a.plain && of.along == nil:
			both = float64(bits.AndCount(of.set, r.set))
		default:
			for at, i := range of.rows {
				if r.set.Get(int(i)) {
					both += a.weight[i] * of.at(at)
				}
			}
		}
		own[j] = both - of.n*r.n/a.total
	}
	own[len(own)-1] += a.adderRidge
	a.products = append(a.products, own)
	a.factorise(own)
}

// factorise appends a row to the Cholesky factor.
func (a *adder) factorise(own []float64) {
	row := make([]float64, len(own))
	last := len(own) - 1
	for j, of := range a.factor {
		row[j] = (own[j] - dot(row[:j], of[:j])) / of[j]
	}
	row[last] = math.Sqrt(max(own[last]-dot(row[:last], row[:last]), 1e-9))
	a.factor = append(a.factor, row)
}

// dot adds up products, four sums side by side, as one would wait for itself.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i := range min(len(x), len(y)) {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// solve finds all weights.
func (a *adder) solve() {
	x := make([]float64, len(a.rules))
	for j := range x {
		x[j] = a.rules[j].slope
	}
	a.forwards(x)
	for j := len(x) - 1; j >= 0; j-- {
		x[j] /= a.factor[j][j]
		for k := range j {
			x[k] -= a.factor[j][k] * x[j]
		}
	}
	var some []int // that go the way they may
	for j := range x {
		a.rules[j].adds = x[j]
		if keeps(a.rules[j].way, x[j]) == x[j] {
			some = append(some, j)
		}
	}
	if len(some) < len(x) { // the others leave, and those that stay are solved for again
		a.keep(some)
		return
	}
	a.resume()
}

// forwards solves with the factor itself.
func (a *adder) forwards(x []float64) {
	for j := range x {
		x[j] = (x[j] - dot(a.factor[j][:j], x[:j])) / a.factor[j][j]
	}
}

// inverse returns the diagonal of the inverse of the products.
func (a *adder) inverse(ctx context.Context) ([]float64, error) {
	diagonal := make([]float64, len(a.rules))
	err := crew.Each(ctx, len(diagonal), func(j int) {
		x := make([]float64, len(diagonal))
		x[j] = 1
		for i := j; i < len(x); i++ { // above it all is 0
			row := a.factor[i]
			x[i] = (x[i] - dot(row[j:i], x[j:i])) / row[i]
			diagonal[j] += x[i] * x[i]
		}
	})
	return diagonal, err
}

// promising returns the nodes of greatest gain among those of some trees.
func (a *adder) promising(ctx context.Context, most int) ([]promise, error) {
	reach, left := a.total, 0.0
	for i, r := range a.rest {
		reach += a.weight[i] * math.Abs(r)
		left += a.weight[i] * r * r
	}
	a.worth = min(leastPromise, luck*left/a.total)
	scale := (1 << 30) / max(reach, 1)
	packed := make([]int64, len(a.rest))
	for i, r := range a.rest {
		packed[i] = boost.Pack(a.weight[i]*r*scale, a.weight[i]*scale)
	}
	trees := a.drawTrees(a.batch)
	found := make([][]promise, len(trees))
	err := crew.Each(ctx, len(trees), func(at int) { found[at] = a.gains(trees[at], packed, scale) })
	if err != nil {
		return nil, err
	}
	lines, err := a.promisingLines(ctx, trees)
	if err != nil {
		return nil, err
	}
	return best(slices.Concat(append(found, lines)...), most), nil
}

// gains returns what the nodes of a tree promise.
func (a *adder) gains(tree int, packed []int64, scale float64) []promise {
	nodes := a.trees[tree].Nodes
	sums := make([]int64, max(256, len(nodes)))
	for i, leaf := range a.leafOf[tree] {
		sums[leaf] += packed[i]
	}
	var found []promise
	for node := len(nodes) - 1; node > 0; node-- {
		sums[nodes[node].Parent] += sums[node]
		price := a.price[tree][node]
		if price == 0 || a.taken[tree][node] {
			continue
		}
		slope, n := boost.Unpack(sums[node])
		slope, n = keeps(a.way[tree][node], slope)/scale, n/scale
		gain := slope * slope / (n*(1-n/a.total) + a.adderRidge) / math.Sqrt(price)
		if gain > a.worth {
			found = append(found, promise{tree: int32(tree), node: int32(node), gain: gain})
		}
	}
	return found
}

// forward picks rules until there are so many, or nothing promises anything.
func (a *adder) forward(ctx context.Context, size int) error {
	for nothing := 0; len(a.rules) < size && !a.done; {
		most := min(max(1, int(batchShare*float64(len(a.rules)))), size-len(a.rules))
		a.batch++
		best, err := a.promising(ctx, most)
		if err != nil {
			return err
		}
		if len(best) == 0 {
			nothing++
			a.done = nothing > 1 || len(a.trees) <= treesLookedAt
			continue
		}
		nothing = 0
		for _, b := range best {
			var track *track
			if b.line > 0 {
				track = a.tracks[b.line-1]
				a.lined[promise{tree: b.tree, node: b.node, line: b.line}] = true
			} else {
				a.taken[b.tree][b.node] = true
			}
			a.include(a.testsOf(b), track)
		}
		a.solve()
	}
	return nil
}

// backward drops the tenth without which the loss is least when the others have
// moved, and so on, until so many are left. It needs no further pass over rows.
func (a *adder) backward(ctx context.Context, size int) error {
	for len(a.rules) > size {
		diagonal, err := a.inverse(ctx)
		if err != nil {
			return err
		}
		order := make([]int, len(diagonal))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(x, y int) int {
			return cmp.Compare(a.removal(x, diagonal), a.removal(y, diagonal))
		})
		drop := min(max(1, int(dropShare*float64(len(order)))), len(order)-size)
		a.keep(order[drop:])
	}
	return nil
}

// answers returns what the rules answer for their rows.
func (a *adder) answers() []float64 {
	answers := slices.Repeat([]float64{a.bias()}, len(a.rows))
	for j := range a.rules {
		for at, i := range a.rules[j].rows {
			answers[i] += a.rules[j].adds * a.rules[j].at(at)
		}
	}
	return answers
}

// off is the root of the mean square by which the rules' answers miss the rows
// themselves, which the teacher has no part in.
func (a *adder) off() float64 {
	squares, answers := 0.0, a.answers()
	for at, i := range a.rows {
		off := a.x.Number[i] - answers[at]
		squares += a.weight[at] * off * off
	}
	return math.Sqrt(squares / a.total)
}

// removal is what the loss rises by without a rule, the others moved.
func (a *adder) removal(j int, diagonal []float64) float64 {
	return a.rules[j].adds * a.rules[j].adds / diagonal[j]
}

// keep keeps some of the rules.
func (a *adder) keep(some []int) {
	slices.Sort(some)
	rules, products := make([]addition, len(some)), make([][]float64, len(some))
	for to, j := range some {
		rules[to] = a.rules[j]
		for _, k := range some[:to+1] {
			products[to] = append(products[to], a.products[j][k])
		}
	}
	a.rules, a.products, a.factor = rules, products, nil
	for _, own := range products {
		a.factorise(own)
	}
	a.solve()
}

// judge returns what the rules answer for the rows held out, and the sum of
// the squares of how far that is off.
func (a *adder) judge() (answers []float64, squares float64) {
	answers = slices.Repeat([]float64{a.bias()}, len(a.held.rows))
	for j := range a.rules {
		r := &a.rules[j]
		for at, i := range r.held {
			if r.heldAlong == nil {
				answers[i] += r.adds
			} else {
				answers[i] += r.adds * r.heldAlong[at]
			}
		}
	}
	for at, i := range a.held.rows {
		off := a.x.Number[i] - answers[at]
		squares += a.held.weight[at] * off * off
	}
	return answers, squares
}

package tree

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/radix"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Limits of the search for a plane at a node.
const (
	mostPlaneColumns = 32   // columns looked at, by the gain of their own tests
	mostPlaneRows    = 2048 // rows looked at; the threshold is found on all
	randomStarts     = 3    // besides the best column and Fisher's directions
	mostSweeps       = 6    // over the coordinates
	randomJumps      = 3    // out of a local minimum
	fewTerms         = 8    // so many that are left are perturbed again
	flat             = 1e-9 // a row that a step moves less does not move
)

// oblique looks for the plane that best classifies a node's rows, as OC1 does
// (Murthy, Kasif and Salzberg 1994): from several starts, coordinates are
// changed one by one to the best of all their values while the impurity falls,
// and random jumps lead out of local minima.
//
//	for each start (the best column, Fisher's directions, random ones):
//	  repeat: perturb each coefficient, then the threshold
//	          if nothing helped, jump in a random direction
//	  until nothing helps
//	  drop the term of least weight again and again; keep the plane that saves
//	  most bits after those it takes to state it
//
// A plane of k out of d columns through n rows takes k·log2(n) bits, as that
// many sets of rows can be cut off, and log2 of d over k for the columns. The
// node's test is a plane if that saves more bits than the test of one column.
type oblique struct {
	sample
	g         *grower
	part      *part
	columns   []int32
	mean      []float64   // of each column, over the node
	deviation []float64   // of each column
	z         [][]float64 // standardised cells of each column, 0 where missing
	scale     float64     // rows of the node for each row looked at
	before    float64     // impurity of the node, see impurity
}

// sample is rows and their classes or numbers.
type sample struct {
	measure measure // that sums over classes, or variance
	size    int     // of a statistic
	class   []int32 // of each row, its place in a statistic
	number  []float64
	weights []float64
	least   float64 // weight on each side
}

// betterPlane returns the plane that saves more bits than the node's test did,
// which is the one that its kids are from; nil if there is none, or the node is
// to be a leaf.
func (g *grower) betterPlane(p *part, k int, found []candidate, weights []float64) (*plane, float64) {
	if g.Splits != "oblique" {
		return nil, 0
	}
	o := &oblique{g: g, part: p}
	o.choose(found)
	if len(o.columns) < 2 || len(p.rows) < 4 {
		return nil, 0
	}
	o.before = g.impurity(p.node)
	have := 0.0
	if k >= 0 {
		after := make([]*node, len(p.node.kids))
		copy(after, p.node.kids)
		have = o.bits(after...) - math.Log2(float64(len(p.live)))
		if p.node.numeric {
			have -= math.Log2(max(p.node.n, 2))
		}
	}
	// No plane saves more than all that is left to be said.
	if g.classes > 0 && o.before-o.cost(2) <= have {
		return nil, 0
	}
	if !o.standardise(weights) {
		return nil, 0
	}
	starts := o.starts()
	planes := make([]direction, len(starts))
	search := func(i int) { planes[i] = o.search(starts[i], i) }
	if len(o.weights)*len(o.columns) < parallelCells/8 {
		for i := range starts {
			search(i)
		}
	} else if err := learn.Each(g.ctx, len(starts), search); err != nil {
		return nil, 0
	}
	best := 0
	for i := range planes {
		if planes[i].saves > planes[best].saves+tie {
			best = i
		}
	}
	if !(planes[best].saves > have) {
		return nil, 0
	}
	return o.settle(&planes[best], have, weights)
}

// choose picks the columns to look at.
func (o *oblique) choose(found []candidate) {
	p := o.part
	var at []int
	for k := range p.live {
		if p.sorted[k] != nil && !found[k].constant {
			at = append(at, k)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return -cmp.Compare(found[a].gain, found[b].gain) })
	for _, k := range at[:min(len(at), mostPlaneColumns)] {
		o.columns = append(o.columns, p.live[k])
	}
}

// impurity returns what is left to be said of a node's rows: in bits, or for a
// numeric target the sum of squares around the mean.
func (g *grower) impurity(nd *node) float64 {
	if g.classes == 0 {
		return variance.mass(nd.stat, nd.n)
	}
	return gain.mass(nd.stat, nd.n)
}

// bits returns how many bits a test saves, by its branches. Numbers are taken
// as normal: n/2·log2 of the factor by which their variance falls.
func (o *oblique) bits(kids ...*node) float64 {
	left := 0.0
	for _, kid := range kids {
		left += o.g.impurity(kid)
	}
	return o.saved(left)
}

func (o *oblique) saved(left float64) float64 {
	if o.g.classes > 0 {
		return o.before - left
	}
	const perfect = 1e-9 // no fit counts as better than that
	return o.part.node.n / 2 * -math.Log2(max(over(left, o.before), perfect))
}

// cost returns the bits that it takes to state a plane of k terms.
func (o *oblique) cost(k int) float64 {
	return float64(k)*math.Log2(max(o.part.node.n, 2)) + log2Choose(float64(len(o.columns)), float64(k))
}

// standardise lays out the rows to look at. Rows are in the order of their
// hashes, so that every tenth of them is a random tenth, and the same whoever
// brought them. Columns with infinite or too large cells are left out.
func (o *oblique) standardise(weights []float64) bool {
	p, g := o.part, o.g
	step := (len(p.rows) + mostPlaneRows - 1) / mostPlaneRows
	var rows []int32
	for i := 0; i < len(p.rows); i += step {
		rows = append(rows, p.rows[i])
	}
	o.sample = g.sampleOf(p, rows, weights)
	o.scale = over(p.node.n, sum(o.weights))
	o.least /= o.scale
	columns := o.columns[:0]
	for _, col := range o.columns {
		cells := make([]float64, len(rows))
		for i, r := range rows {
			cells[i] = g.view.Float(int(col), int(r))
		}
		mean, deviation, ok := moments(cells, o.weights)
		if !ok {
			continue
		}
		for i, x := range cells {
			if cells[i] = (x - mean) / deviation; table.IsMissing(x) {
				cells[i] = 0
			}
		}
		columns = append(columns, col)
		o.mean, o.deviation, o.z = append(o.mean, mean), append(o.deviation, deviation), append(o.z, cells)
	}
	o.columns = columns
	return len(columns) >= 2
}

// sampleOf gathers the classes or numbers of rows.
func (g *grower) sampleOf(p *part, rows []int32, weights []float64) sample {
	s := sample{measure: g.measure, size: len(p.node.stat), least: g.MinRows, weights: make([]float64, len(rows))}
	if s.measure == kearns {
		s.measure = gain // the like, and a sum over classes
	}
	for i, r := range rows {
		if s.weights[i] = 1; weights != nil {
			s.weights[i] = weights[r]
		}
	}
	if g.classes == 0 {
		s.number = make([]float64, len(rows))
		for i, r := range rows {
			s.number[i] = g.number[r]
		}
		return s
	}
	s.class = make([]int32, len(rows))
	for i, r := range rows {
		if s.class[i] = int32(g.class(r)); p.places != nil {
			s.class[i] = p.places[s.class[i]]
		}
	}
	return s
}

// moments returns mean and standard deviation of the known cells; false if they
// are all equal, or so large or near each other that sums would not be exact to
// a few digits.
func moments(cells, weights []float64) (mean, deviation float64, ok bool) {
	n, s := 0.0, 0.0
	for i, x := range cells {
		if !table.IsMissing(x) {
			n += weights[i]
			s += weights[i] * x
		}
	}
	mean = s / n
	squares := 0.0
	for i, x := range cells {
		if !table.IsMissing(x) {
			squares += weights[i] * (x - mean) * (x - mean)
		}
	}
	deviation = math.Sqrt(squares / n)
	ok = n > 0 && math.Abs(mean) < 1e100 && deviation > 1e-100 && deviation < 1e100 && deviation > 1e-9*math.Abs(mean)
	return mean, deviation, ok
}

// direction is a plane over standardised columns: rows lie above it where
// distance is above 0.
type direction struct {
	weights  []float64 // of each column
	distance []float64 // of each row
	mass     float64   // impurity of both sides
	saves    float64   // bits, less those of its statement
}

// starts returns the directions to begin with: the best column, Fisher's
// discriminants (1936), and random ones.
func (o *oblique) starts() [][]float64 {
	d := len(o.columns)
	axis := make([]float64, d)
	axis[0] = 1
	starts := append([][]float64{axis}, o.fisher()...)
	random := rand.New(rand.NewPCG(o.g.seed, uint64(o.part.depth)<<32|uint64(len(o.part.rows))))
	for range randomStarts {
		w := make([]float64, d)
		for i := range w {
			w[i] = random.NormFloat64()
		}
		starts = append(starts, w)
	}
	return starts
}

// mostFisher is the number of classes, the most common ones, that are each held
// against the others.
const mostFisher = 3

// fisher returns least-squares fits of the target. Of several classes each of
// the most common is held against all others, and the first against the second.
func (o *oblique) fisher() [][]float64 {
	n := len(o.weights)
	y := make([]float64, n)
	if o.class == nil {
		return o.leastSquares(o.number, nil)
	}
	byWeight := make([]int32, o.size)
	total := make([]float64, o.size)
	for c := range byWeight {
		byWeight[c] = int32(c)
	}
	for i, c := range o.class {
		total[c] += o.weights[i]
	}
	slices.SortStableFunc(byWeight, func(a, b int32) int { return -cmp.Compare(total[a], total[b]) })
	for len(byWeight) > 0 && total[byWeight[len(byWeight)-1]] == 0 {
		byWeight = byWeight[:len(byWeight)-1]
	}
	if len(byWeight) < 2 {
		return nil
	}
	var found [][]float64
	against := mostFisher
	if len(byWeight) == 2 {
		against = 1
	}
	for _, c := range byWeight[:min(against, len(byWeight))] {
		for i := range y {
			if y[i] = 0; o.class[i] == c {
				y[i] = 1
			}
		}
		found = append(found, o.leastSquares(y, nil)...)
	}
	if len(byWeight) > 2 {
		only := make([]bool, n)
		for i, c := range o.class {
			y[i] = 0
			if c == byWeight[0] {
				y[i] = 1
			}
			only[i] = c == byWeight[0] || c == byWeight[1]
		}
		found = append(found, o.leastSquares(y, only)...)
	}
	return found
}

// leastSquares returns the weights of the columns whose sum is nearest to y, of
// the rows that are asked for, or of all. A little ridge keeps columns that say
// the same from blowing up.
func (o *oblique) leastSquares(y []float64, only []bool) [][]float64 {
	d := len(o.columns)
	weights := slices.Clone(o.weights)
	for i := range only {
		if !only[i] {
			weights[i] = 0
		}
	}
	n := sum(weights)
	average := func(x []float64) float64 {
		s := 0.0
		for i, w := range weights {
			s += w * x[i]
		}
		return s / n
	}
	means := make([]float64, d)
	for a := range means {
		means[a] = average(o.z[a])
	}
	middle := average(y)
	square, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for a := range d {
		for b := range a + 1 {
			s := 0.0
			for i, w := range weights {
				s += w * (o.z[a][i] - means[a]) * (o.z[b][i] - means[b])
			}
			if a == b {
				s += 1e-3 * n
			}
			square.SetSym(a, b, s)
		}
		s := 0.0
		for i, w := range weights {
			s += w * (o.z[a][i] - means[a]) * (y[i] - middle)
		}
		right.SetVec(a, s)
	}
	var factors mat.Cholesky
	var w mat.VecDense
	if !factors.Factorize(square) || factors.SolveVecTo(&w, right) != nil || !finite(w.RawVector().Data) {
		return nil
	}
	return [][]float64{w.RawVector().Data}
}

// search perturbs a direction, and then makes it as short as is worth it.
func (o *oblique) search(start []float64, number int) direction {
	random := rand.New(rand.NewPCG(o.g.seed^uint64(number+1), uint64(o.part.depth)<<32|uint64(len(o.part.rows))))
	r := &sweepRoom{}
	d := direction{weights: slices.Clone(start), distance: make([]float64, len(o.weights)), saves: math.Inf(-1)}
	if !o.place(&d, r) {
		return d
	}
	o.perturb(&d, random, mostSweeps, r)
	best := direction{saves: math.Inf(-1)}
	for {
		terms := 0
		least := -1
		for m, w := range d.weights {
			if w != 0 {
				terms++
				if least < 0 || math.Abs(w) < math.Abs(d.weights[least]) {
					least = m
				}
			}
		}
		if terms < 2 || o.g.ctx.Err() != nil {
			return best
		}
		if d.saves = o.saved(o.left(&d)*o.scale) - o.cost(terms); d.saves > best.saves {
			best = direction{weights: slices.Clone(d.weights), saves: d.saves}
		}
		d.weights[least] = 0
		if !o.place(&d, r) {
			return best
		}
		if terms-1 <= fewTerms {
			o.perturb(&d, random, 2, r)
		}
	}
}

// left returns the impurity that a direction leaves among the rows looked at.
func (o *oblique) left(d *direction) float64 {
	var kids [2]node
	for side := range kids {
		kids[side].stat = make([]float64, o.size)
	}
	for i, x := range d.distance {
		side := 0
		if x > 0 {
			side = 1
		}
		w, stat := o.weights[i], kids[side].stat
		if o.class != nil {
			stat[o.class[i]] += w
			continue
		}
		z := o.number[i]
		stat[0] += w
		stat[1] += w * z
		stat[2] += w * z * z
	}
	left := 0.0
	for side := range kids {
		kids[side].n = o.g.measure.weight(kids[side].stat)
		left += o.g.impurity(&kids[side])
	}
	return left
}

// place computes the distances of a direction and finds its best threshold.
func (o *oblique) place(d *direction, r *sweepRoom) bool {
	clear(d.distance)
	for m, w := range d.weights {
		if w != 0 {
			for i, z := range o.z[m] {
				d.distance[i] += w * z
			}
		}
	}
	at, ok := o.along(d.distance, nil, coarse, r)
	if ok {
		d.mass = at.mass
		threshold := at.step()
		for i := range d.distance {
			d.distance[i] -= threshold
		}
	}
	return ok
}

// perturb improves a direction's terms and threshold until nothing helps.
func (o *oblique) perturb(d *direction, random *rand.Rand, sweeps int, r *sweepRoom) {
	slack := tie * sum(o.weights)
	jump := make([]float64, len(d.distance))
	by := make([]float64, len(d.weights))
	for range sweeps {
		better := false
		for m := range d.weights {
			if d.weights[m] == 0 && sweeps < mostSweeps || o.g.ctx.Err() != nil {
				continue // a term that was dropped
			}
			if at, ok := o.along(d.distance, o.z[m], coarse, r); ok && at.mass < d.mass-slack {
				d.weights[m] += at.step()
				d.walk(at, o.z[m])
				better = true
			}
		}
		if at, ok := o.along(d.distance, nil, coarse, r); ok && at.mass < d.mass-slack {
			d.mass = at.mass
			threshold := at.step()
			for i := range d.distance {
				d.distance[i] -= threshold
			}
			better = true
		}
		for n := 0; n < randomJumps && !better; n++ {
			clear(jump)
			for m := range by {
				if by[m] = 0; d.weights[m] != 0 {
					by[m] = random.NormFloat64()
					for i, z := range o.z[m] {
						jump[i] += by[m] * z
					}
				}
			}
			if at, ok := o.along(d.distance, jump, coarse, r); ok && at.mass < d.mass-slack {
				for m := range by {
					d.weights[m] += at.step() * by[m]
				}
				d.walk(at, jump)
				better = true
			}
		}
		if !better {
			return
		}
	}
}

// walk moves a direction along a line.
func (d *direction) walk(at stop, along []float64) {
	d.mass = at.mass
	step := at.step()
	for i, z := range along {
		d.distance[i] += step * z
	}
}

// stop is where the impurity along a line is least: anywhere between two
// numbers, and how much it is.
type stop struct{ from, to, mass float64 }

func (s stop) step() float64 { return s.from/2 + s.to/2 }

// sweepRoom is working memory.
type sweepRoom struct {
	keys    []uint64
	rows    []int32
	sorting radix.Room[int32]
	stat    []float64
}

// How exact steps are told apart: to the last bit, or to a millionth, which
// sorts in half the time.
const (
	exact  = math.MaxUint64
	coarse = math.MaxUint64 - math.MaxUint32
)

// along finds the step a for which the planes distance + a·line > 0 have the
// least impurity, of all that differ: a row changes sides at -distance/line.
// Without a line it is the threshold that moves: distance - a > 0.
func (s *sample) along(distance, line []float64, mask uint64, r *sweepRoom) (best stop, ok bool) {
	r.keys, r.rows = r.keys[:0], r.rows[:0]
	r.stat = resize(r.stat, 4*s.size)
	clear(r.stat)
	sides := tallies{measure: s.measure, size: s.size, stat: r.stat[:2*s.size], term: r.stat[2*s.size:]}
	for i, x := range distance {
		side := 1
		switch {
		case line == nil:
			r.keys, r.rows = append(r.keys, radix.Key(x)&mask), append(r.rows, int32(i))
		case math.Abs(line[i]) > flat:
			r.keys, r.rows = append(r.keys, radix.Key(-x/line[i])&mask), append(r.rows, int32(i))
			if line[i] > 0 {
				side = 0
			}
		case x <= 0:
			side = 0
		}
		sides.move(s, i, side, 1)
	}
	if len(r.rows) == 0 {
		return best, false
	}
	r.sorting.Sort(r.keys, r.rows)
	turn := func(i int32) float64 {
		if line == nil {
			return distance[i]
		}
		return -distance[i] / line[i]
	}
	best.mass = math.Inf(1)
	for k := 0; k < len(r.rows)-1; k++ {
		i := r.rows[k]
		to := 0
		if line != nil && line[i] > 0 {
			to = 1
		}
		sides.move(s, int(i), 1-to, -1)
		sides.move(s, int(i), to, 1)
		if r.keys[k] == r.keys[k+1] || sides.weight[0] < s.least || sides.weight[1] < s.least {
			continue
		}
		if mass := sides.mass(); mass < best.mass {
			best = stop{turn(i), turn(r.rows[k+1]), mass}
		}
	}
	return best, !math.IsInf(best.mass, 1)
}

// tallies are what lies on both sides of a plane that moves.
type tallies struct {
	measure measure
	size    int
	stat    []float64  // classes of both sides, one after the other
	term    []float64  // of the measure, of each class
	terms   [2]float64 // sums over classes, or of numbers
	weight  [2]float64
	squares float64
}

// move takes a row to a side, or with a sign of -1 away from it.
func (t *tallies) move(s *sample, row, side int, sign float64) {
	w := sign * s.weights[row]
	t.weight[side] += w
	if s.class == nil {
		z := s.number[row]
		t.terms[side] += w * z
		t.squares += w * z * z
		return
	}
	c := side*t.size + int(s.class[row])
	t.stat[c] = max(t.stat[c]+w, 0)
	term := t.measure.term(t.stat[c])
	t.terms[side] += term - t.term[c]
	t.term[c] = term
}

// mass returns the impurity of both sides.
func (t *tallies) mass() float64 {
	if t.measure == variance {
		return t.squares - over(t.terms[0]*t.terms[0], t.weight[0]) - over(t.terms[1]*t.terms[1], t.weight[1])
	}
	return t.measure.massOf(t.terms[0], t.weight[0]) + t.measure.massOf(t.terms[1], t.weight[1])
}

// settle finds the threshold of a direction on all rows, with as few digits of
// its factors as lose nothing.
func (o *oblique) settle(d *direction, have float64, weights []float64) (*plane, float64) {
	p, g := o.part, o.g
	all := g.sampleOf(p, p.rows, weights)
	r := &sweepRoom{}
	sums := make([]float64, len(p.rows))
	full := o.plane(d)
	var best *plane
	threshold := 0.0
	for _, digits := range []int{2, 3, 4, 17} {
		try := full.rounded(digits)
		for i, row := range p.rows {
			sums[i] = 0
			for k := range try.terms {
				t := &try.terms[k]
				sums[i] = t.add(sums[i], g.view.Float(int(t.col), int(row)))
			}
		}
		if !finite(sums) {
			return nil, 0
		}
		at, ok := all.along(sums, nil, exact, r)
		if !ok || g.ctx.Err() != nil {
			continue
		}
		cut := shortBetween(at.from, at.to)
		kids := g.sides(p, &all, sums, cut)
		if !g.acceptable(p, kids) {
			continue
		}
		saves := o.bits(kids...) - o.cost(len(try.terms))
		if saves > have+tie {
			have, best, threshold = saves, try, cut
			try.bits = o.cost(len(try.terms))
		}
	}
	return best, threshold
}

// shortBetween returns a number a ≤ c < b of few digits, in the middle half.
func shortBetween(a, b float64) float64 {
	middle, quarter := encode.Between(a, b), b/4-a/4
	for digits := 2; digits < 12; digits++ {
		if c := significant(middle, digits); math.Abs(c-middle) <= quarter && a <= c && c < b {
			return c
		}
	}
	return middle
}

// sides returns the statistics on both sides of a plane.
func (g *grower) sides(p *part, all *sample, sums []float64, cut float64) []*node {
	kids := []*node{{stat: make([]float64, len(p.node.stat))}, {stat: make([]float64, len(p.node.stat))}}
	for i, r := range p.rows {
		side := 0
		if sums[i] > cut {
			side = 1
		}
		g.add(kids[side].stat, p.places, r, all.weights[i])
	}
	for _, kid := range kids {
		kid.n = g.measure.weight(kid.stat)
	}
	return kids
}

// acceptable reports whether a plane's sides are what the settings ask of a
// test.
func (g *grower) acceptable(p *part, kids []*node) bool {
	if min(kids[0].n, kids[1].n) < g.MinRows {
		return false
	}
	c := candidate{}
	g.measureUp(&c, p, slices.Concat(kids[0].stat, kids[1].stat), nil)
	return c.ok && c.gain >= g.MinGain*g.unit()-tie
}

// plane returns a direction over the columns as they are, the weightiest term
// first. The largest factor is 1.
func (o *oblique) plane(d *direction) *plane {
	order := []int{}
	largest := 0.0
	for m, w := range d.weights {
		if w != 0 {
			order = append(order, m)
			largest = max(largest, math.Abs(w/o.deviation[m]))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(math.Abs(d.weights[a]), math.Abs(d.weights[b])) })
	if d.weights[order[0]] < 0 {
		largest = -largest
	}
	p := &plane{}
	for _, m := range order {
		p.terms = append(p.terms, term{o.columns[m], d.weights[m] / o.deviation[m] / largest, o.mean[m]})
	}
	return p
}

// rounded returns a plane with fewer digits.
func (p *plane) rounded(digits int) *plane {
	q := &plane{terms: slices.Clone(p.terms)}
	for i := range q.terms {
		q.terms[i].factor = significant(q.terms[i].factor, digits)
	}
	return q
}

// significant rounds to so many digits.
func significant(x float64, digits int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return short
}

// assignPlane turns a plane into the node's test, in place of another.
func (g *grower) assignPlane(p *part, pl *plane, threshold float64, weights []float64, s *scratch) *arrival {
	nd := p.node
	nd.col, nd.numeric, nd.plane, nd.threshold, nd.branch, nd.absent = pl.terms[0].col, true, pl, threshold, nil, false
	nd.choices = int32(len(p.live))
	if len(s.branch) < g.rows {
		s.branch = make([]uint16, g.rows)
	}
	for _, r := range p.rows {
		sum := 0.0
		for i := range pl.terms {
			t := &pl.terms[i]
			sum = t.add(sum, g.view.Float(int(t.col), int(r)))
		}
		if s.branch[r] = 0; sum > threshold {
			s.branch[r] = 1
		}
	}
	at := &arrival{}
	g.arrive(p, at, 2, weights, s)
	return at
}

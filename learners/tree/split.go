package tree

import (
	"cmp"
	"math"
	"slices"
)

// candidate is the best test of one column at one node.
type candidate struct {
	ok       bool
	constant bool    // all known cells are equal, here and below
	gain     float64 // how much lower the impurity is after the test
	by       float64 // what the measure divides the gain by; 0 for nothing

	left     int     // numeric: how many of the sorted rows lie below the threshold
	values   []int32 // nominal: the values that have rows
	goesLeft []bool  // nominal, binary: the values on the left
}

// Ties: gains that differ by less than rounding errors do are equal.
const tie = 1e-12

// choose returns the live column with the best test; -1 if none will do. Of
// equally good ones the first wins.
func (g *grower) choose(p *part, found []candidate) int {
	average, n := 0.0, 0
	for i := range found {
		c := &found[i]
		c.ok = c.ok && c.gain >= g.MinGain*g.unit()-tie
		if c.ok {
			average += c.gain
			n++
		}
	}
	if n == 0 {
		return -1
	}
	average /= float64(n)
	best, highest := -1, 0.0
	for i := range found {
		c := &found[i]
		if !c.ok || g.measure == ratio && c.gain < average-tie {
			continue
		}
		score := c.gain
		if g.measure == ratio || g.measure == distance {
			score = over(c.gain, c.by)
		}
		score = g.costs.score(score, int(g.source(p.live[i])))
		if best < 0 || score > highest+tie {
			best, highest = i, score
		}
	}
	return best
}

// unit is what min-gain counts in: the measure's own unit, or the variance of
// a numeric target over all rows.
func (g *grower) unit() float64 {
	if g.classes == 0 {
		return g.spread
	}
	return 1
}

// judge finds the best test of a live column.
func (g *grower) judge(p *part, k int, weights []float64, s *scratch) candidate {
	if p.sorted[k] != nil {
		return g.judgeNumeric(p, k, weights, s)
	}
	return g.judgeNominal(p, k, weights, s)
}

// judgeNumeric finds the best threshold. Only boundaries between neighbouring
// numbers whose rows are not all of one class can be best (Fayyad and Irani
// 1992).
func (g *grower) judgeNumeric(p *part, k int, weights []float64, s *scratch) candidate {
	entries := p.sorted[k]
	f := g.entry
	if len(entries) < 2 || f.rank(entries[0]) == f.rank(entries[len(entries)-1]) {
		return candidate{constant: true}
	}
	D := len(p.node.stat)
	s.stat = resize(s.stat, 4*D)
	known, missing, below, above := s.stat[:D], s.stat[D:2*D], s.stat[2*D:3*D], s.stat[3*D:4*D]
	clear(missing)
	if len(entries) == len(p.rows) {
		copy(known, p.node.stat)
		missing = nil
	} else {
		clear(known)
		g.addEntries(known, p.places, entries, weights)
		for i := range missing {
			missing[i] = p.node.stat[i] - known[i]
		}
		if g.classes > 0 {
			for i := range missing {
				missing[i] = max(missing[i], 0)
			}
		}
	}
	left := 0
	switch {
	case g.classes == 2 && weights == nil && missing == nil && g.measure <= distance:
		left = g.cutOfTwo(entries, int(known[0]), int(known[1]))
	case p.places != nil && g.measure.additive() && (missing == nil || g.Missing == missingKnown):
		left = g.cutOfMany(p, entries, weights, known, s)
	case g.classes > 0:
		left = g.cutOfClasses(p, entries, weights, known, missing, s)
	default:
		left = g.cutOfNumbers(entries, weights, known, missing)
	}
	if left == 0 {
		return candidate{}
	}
	clear(below)
	g.addEntries(below, p.places, entries[:left], weights)
	for i := range above {
		above[i] = known[i] - below[i]
	}
	if g.against(p.live[k], below, above) {
		return candidate{}
	}
	c := candidate{left: left}
	g.measureUp(&c, p, s.stat[2*D:4*D], missing)
	return c
}

// addEntries adds sorted rows to a statistic.
func (g *grower) addEntries(stat []float64, places []int32, entries []uint64, weights []float64) {
	if g.classes == 0 {
		for _, e := range entries {
			r := g.entry.row(e)
			w := 1.0
			if weights != nil {
				w = weights[r]
			}
			g.add(stat, nil, r, w)
		}
		return
	}
	for _, e := range entries {
		w := 1.0
		if weights != nil {
			w = weights[g.entry.row(e)]
		}
		c := int32(g.entry.class(e))
		if places != nil {
			c = places[c]
		}
		stat[c] += w
	}
}

// cutOfTwo returns how many rows lie below the cut of highest gain, for two
// classes and whole rows, the case worth being fast in: n times the entropy of
// both sides is a sum of x·log2(x) over whole numbers, which are looked up.
func (g *grower) cutOfTwo(entries []uint64, zeros, ones int) int {
	xlogx := g.xlogx
	f := g.entry
	least := int(math.Ceil(g.MinRows))
	rankShift := f.rowBits + f.classBits
	n := len(entries)
	best, lowest := 0, math.Inf(1)
	slack := tie * float64(n)
	left1 := 0
	// Rows with one number form a run. A cut before a run is weighed unless
	// this run and the one before it are of one and the same class.
	before := -1 // class of the run before; 2 if mixed
	for i := 0; i < n; {
		rank := entries[i] >> rankShift
		class := int(entries[i] >> f.rowBits & 1)
		run := class
		j := i + 1
		for j < n && entries[j]>>rankShift == rank {
			run += int(entries[j] >> f.rowBits & 1)
			j++
		}
		kind := 2
		if run == 0 {
			kind = 0
		} else if run == j-i {
			kind = 1
		}
		if (kind != before || kind == 2) && i >= least && n-i >= least && i > 0 {
			left0 := i - left1
			right1 := ones - left1
			right0 := zeros - left0
			mass := xlogx[i] - xlogx[left0] - xlogx[left1] + xlogx[n-i] - xlogx[right0] - xlogx[right1]
			if mass < lowest-slack {
				best, lowest = i, mass
			}
		}
		before = kind
		left1 += run
		i = j
	}
	return best
}

// cutOfClasses is the same for any measure, weights and missing cells.
func (g *grower) cutOfClasses(p *part, entries []uint64, weights, known, missing []float64, s *scratch) int {
	f := g.entry
	D := len(known)
	s.cuts = resize(s.cuts, 4*D)
	below, above, filled0, filled1 := s.cuts[:D], s.cuts[D:2*D], s.cuts[2*D:3*D], s.cuts[3*D:]
	clear(below)
	total := sum(known)
	best, lowest := 0, math.Inf(1)
	slack := tie * total
	n := 0.0
	before := -1
	for i := 0; i < len(entries); {
		rank := f.rank(entries[i])
		kind := f.class(entries[i])
		j := i + 1
		for ; j < len(entries) && f.rank(entries[j]) == rank; j++ {
			if f.class(entries[j]) != kind {
				kind = -1
			}
		}
		if (kind < 0 || kind != before) && i > 0 && n >= g.MinRows && total-n >= g.MinRows {
			for c := range above {
				above[c] = max(known[c]-below[c], 0)
			}
			var mass float64
			if missing == nil || g.Missing == missingKnown {
				mass = g.measure.mass(below, n) + g.measure.mass(above, total-n)
			} else {
				copy(filled0, below)
				copy(filled1, above)
				g.fill(s.cuts[2*D:], missing)
				mass = g.measure.mass(filled0, sum(filled0)) + g.measure.mass(filled1, sum(filled1))
			}
			if mass < lowest-slack {
				best, lowest = i, mass
			}
		}
		before = kind
		for ; i < j; i++ {
			w := 1.0
			if weights != nil {
				w = weights[f.row(entries[i])]
			}
			c := int32(f.class(entries[i]))
			if p.places != nil {
				c = p.places[c]
			}
			below[c] += w
			n += w
		}
	}
	return best
}

// cutOfMany is the same for many classes, where a measure is a sum over them:
// a row that passes from one side to the other changes one term on each.
func (g *grower) cutOfMany(p *part, entries []uint64, weights, known []float64, s *scratch) int {
	f := g.entry
	s.cuts = resize(s.cuts, len(known))
	below := s.cuts
	clear(below)
	var left, right steady
	for _, w := range known {
		right.add(g.measure.term(w))
	}
	total := sum(known)
	best, lowest := 0, math.Inf(1)
	slack := tie * total
	n := 0.0
	before := -1
	for i := 0; i < len(entries); {
		rank := f.rank(entries[i])
		kind := f.class(entries[i])
		j := i + 1
		for ; j < len(entries) && f.rank(entries[j]) == rank; j++ {
			if f.class(entries[j]) != kind {
				kind = -1
			}
		}
		if (kind < 0 || kind != before) && i > 0 && n >= g.MinRows && total-n >= g.MinRows {
			if mass := g.measure.massOf(left.value(), n) + g.measure.massOf(right.value(), total-n); mass < lowest-slack {
				best, lowest = i, mass
			}
		}
		before = kind
		for ; i < j; i++ {
			w := 1.0
			if weights != nil {
				w = weights[f.row(entries[i])]
			}
			c := p.places[f.class(entries[i])]
			was, above := below[c], max(known[c]-below[c], 0)
			below[c] += w
			left.add(g.measure.term(below[c]) - g.measure.term(was))
			right.add(g.measure.term(max(known[c]-below[c], 0)) - g.measure.term(above))
			n += w
		}
	}
	return best
}

// steady is a sum that keeps what rounding loses (Neumaier 1974).
type steady struct{ sum, lost float64 }

func (s *steady) add(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.lost += s.sum - t + x
	} else {
		s.lost += x - t + s.sum
	}
	s.sum = t
}

func (s *steady) value() float64 { return s.sum + s.lost }

// cutOfNumbers returns the cut that lowers the variance of a numeric target
// most: the one with the largest sum of S²/n over its two sides.
func (g *grower) cutOfNumbers(entries []uint64, weights, known, missing []float64) int {
	f := g.entry
	fill := missing != nil && g.Missing != missingKnown
	total, all := known[0], known[1]
	best, highest := 0, math.Inf(-1)
	n, below := 0.0, 0.0
	for i, e := range entries {
		if i > 0 && f.rank(e) != f.rank(entries[i-1]) && n >= g.MinRows && total-n >= g.MinRows {
			n0, s0, n1, s1 := n, below, total-n, all-below
			if fill {
				share := n / total
				if !g.inFractions() {
					share = 0
					if n0 >= n1 {
						share = 1
					}
				}
				n0, s0 = n0+share*missing[0], s0+share*missing[1]
				n1, s1 = n1+(1-share)*missing[0], s1+(1-share)*missing[1]
			}
			if score := s0*s0/n0 + s1*s1/n1; score > highest+tie*g.spread*total {
				best, highest = i, score
			}
		}
		r := f.row(e)
		w := 1.0
		if weights != nil {
			w = weights[r]
		}
		n += w
		below += w * g.number[r]
	}
	return best
}

// fill adds the rows whose cell is missing to the branches' statistics, as
// the strategy for missing cells says (Mitchell 1997, §3.7.4).
func (g *grower) fill(stat, missing []float64) {
	D := len(missing)
	branches := len(stat) / D
	known := 0.0
	common, most := 0, -1.0
	for b := range branches {
		n := g.measure.weight(stat[b*D : (b+1)*D])
		known += n
		if n > most {
			common, most = b, n
		}
	}
	switch {
	case g.inFractions():
		for b := range branches {
			branch := stat[b*D : (b+1)*D]
			share := g.measure.weight(branch) / known
			for i := range branch {
				branch[i] += share * missing[i]
			}
		}
	case g.Missing == missingClass && g.classes > 0:
		for c, m := range missing {
			to := common
			most := 0.0
			for b := range branches {
				if have := stat[b*D+c]; have > most {
					to, most = b, have
				}
			}
			if m > 0 {
				stat[to*D+c] += m
			}
		}
	default:
		for i, m := range missing {
			stat[common*D+i] += m
		}
	}
}

// measureUp computes a candidate's gain and what the measure divides it by,
// from the statistics of its branches, and whether stopping rules let it
// pass. The rows with missing cells are added to the branches first.
func (g *grower) measureUp(c *candidate, p *part, stat, missing []float64) {
	D := len(p.node.stat)
	n := p.node.n
	lost := 0.0 // weight of rows that count for no branch
	total := p.node.stat
	if missing != nil {
		if g.Missing == missingKnown {
			lost = g.measure.weight(missing)
			known := make([]float64, D)
			for i := range known {
				known[i] = max(total[i]-missing[i], 0)
				if g.classes == 0 {
					known[i] = total[i] - missing[i]
				}
			}
			total = known
		} else {
			g.fill(stat, missing)
		}
	}
	mass := g.measure.mass(total, n-lost)
	sizes, cells := xlogx(n), xlogx(n)
	sizes -= xlogx(lost)
	for b := 0; b < len(stat); b += D {
		branch := stat[b : b+D]
		w := g.measure.weight(branch)
		mass -= g.measure.mass(branch, w)
		sizes -= xlogx(w)
		if g.measure == distance {
			for _, x := range branch {
				cells -= xlogx(x)
			}
		}
	}
	c.ok = true
	c.gain = max(mass/n, 0)
	switch g.measure {
	case ratio:
		c.by = sizes / n
	case distance:
		c.by = cells / n
	}
	if g.Stop != "none" && g.classes > 0 {
		split := make(Split, len(stat)/D)
		for b := range split {
			split[b] = stat[b*D : (b+1)*D]
		}
		c.ok = g.passes(p.node, split, len(p.live))
	}
}

// passes reports whether a stopping rule lets a split be made: it is
// significant, or it saves bits.
func (g *grower) passes(nd *node, split Split, attributes int) bool {
	if g.Stop == "chi2" {
		_, _, p := split.ChiSquare()
		return p <= g.Significance
	}
	bits := testBits(attributes)
	for _, branch := range split {
		n := sum(branch)
		bits += leafBits(n-slices.Max(branch), n, g.classes)
	}
	return bits < leafBits(nd.errors(), nd.n, g.classes)
}

// judgeNominal judges the test with a branch for each value, or the best test
// with two branches.
func (g *grower) judgeNominal(p *part, k int, weights []float64, s *scratch) candidate {
	values, stat, missing := g.tally(p, int(p.live[k]), weights, s)
	if stat == nil {
		return candidate{}
	}
	if len(values) < 2 {
		return candidate{constant: true}
	}
	if len(values) >= mostBranch {
		return candidate{}
	}
	if g.Binary {
		return g.bestHalves(p, g.columns[p.live[k]].values, values, stat, missing, s)
	}
	c := candidate{values: slices.Clone(values)}
	heavy := 0
	for b := range values {
		if D := len(p.node.stat); g.measure.weight(stat[b*D:(b+1)*D]) >= g.MinRows {
			heavy++
		}
	}
	if heavy < 2 {
		return candidate{}
	}
	g.measureUp(&c, p, stat, missing)
	return c
}

// tally adds up a part's rows by the value of a nominal column. It returns the
// values that have rows, their statistics one after the other, and that of the
// rows whose cell is missing, nil if there are none.
func (g *grower) tally(p *part, col int, weights []float64, s *scratch) (values []int32, stat, missing []float64) {
	column := &g.columns[col]
	D := len(p.node.stat)
	if column.wide != nil {
		return g.tallyWide(p, column, weights, s)
	}
	bins := (column.values + 1) * D
	s.stat = resize(s.stat, bins)
	stat = s.stat
	if weights == nil && g.narrowClass != nil && p.places == nil {
		s.counts = resize(s.counts, bins)
		clear(s.counts)
		countClasses(s.counts, p.rows, column.narrow, g.narrowClass, D)
		for i, n := range s.counts {
			stat[i] = float64(n)
		}
	} else {
		clear(stat)
		for _, r := range p.rows {
			w := 1.0
			if weights != nil {
				w = weights[r]
			}
			at := int(column.narrow[r]) * D
			g.add(stat[at:at+D], p.places, r, w)
		}
	}
	if last := stat[column.values*D : bins]; g.measure.weight(last) > 0 {
		missing = last
	}
	values = s.values[:0]
	for v := range column.values {
		branch := stat[v*D : (v+1)*D]
		if g.measure.weight(branch) > 0 {
			copy(stat[len(values)*D:], branch)
			values = append(values, int32(v))
		}
	}
	s.values = values
	return values, stat[:len(values)*D], missing
}

// countClasses counts whole rows by value and class.
func countClasses(counts []int32, rows []int32, codes, classes []uint8, D int) {
	if D == 2 {
		for _, r := range rows {
			counts[int(codes[r])<<1|int(classes[r])]++
		}
		return
	}
	for _, r := range rows {
		counts[int(codes[r])*D+int(classes[r])]++
	}
}

// tallyWide is tally for columns of many values, most of which have no rows
// here: only those that have some get a slot. Statistics of very many values
// and classes at once are not worth their room: stat is then nil, and the
// column is looked at further down, where rows have fewer of both.
func (g *grower) tallyWide(p *part, column *codes, weights []float64, s *scratch) (values []int32, stat, missing []float64) {
	D := len(p.node.stat)
	for len(s.slots) <= column.values {
		s.slots = append(s.slots, -1)
	}
	stat, values = s.stat[:0], s.values[:0]
	none := make([]float64, D)
	lost := make([]float64, D)
	for _, r := range p.rows {
		w := 1.0
		if weights != nil {
			w = weights[r]
		}
		v := column.wide[r]
		if int(v) == column.values {
			g.add(lost, p.places, r, w)
			missing = lost
			continue
		}
		if s.slots[v] < 0 {
			s.slots[v] = int32(len(values))
			values = append(values, v)
			if len(values)*D > mostCells {
				for _, v := range values {
					s.slots[v] = -1
				}
				s.stat, s.values = stat, values
				return nil, nil, nil
			}
			stat = append(stat, none...)
		}
		at := int(s.slots[v]) * D
		g.add(stat[at:at+D], p.places, r, w)
	}
	for _, v := range values {
		s.slots[v] = -1
	}
	s.stat, s.values = stat, values
	return values, stat, missing
}

// halving is working memory of bestHalves.
type halving struct {
	known, below, sides []float64
	position            []float64 // of each value
	order, left, orders []int
}

// bestHalves finds the best way to send the values left and right. With two
// classes, or a numeric target, the best of all ways is among the cuts of the
// values sorted by the share of one class, or by mean (Breiman et al. 1984,
// theorem 4.5). With more classes it looks at the cuts for each class in turn.
func (g *grower) bestHalves(p *part, values int, present []int32, stat, missing []float64, s *scratch) candidate {
	D := len(p.node.stat)
	h := &s.halves
	h.known, h.below, h.sides = resize(h.known, D), resize(h.below, D), resize(h.sides, 2*D)
	h.position, h.order = resize(h.position, len(present)), resize(h.order, len(present))
	known, below, sides, position, order := h.known, h.below, h.sides, h.position, h.order
	clear(known)
	for i, x := range stat {
		known[i%D] += x
	}
	var best candidate
	heavyLeft := false
	for _, o := range g.orders(known, h) {
		for b := range order {
			order[b] = b
			branch := stat[b*D : (b+1)*D]
			switch {
			case g.classes == 0:
				position[b] = branch[1] / branch[0]
			case g.classes == 2:
				position[b] = branch[1] / sum(branch)
			default:
				position[b] = branch[o] / sum(branch)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(position[a], position[b]), cmp.Compare(present[a], present[b]))
		})
		clear(below)
		for cut := 1; cut < len(order); cut++ {
			b := order[cut-1]
			for i, x := range stat[b*D : (b+1)*D] {
				below[i] += x
			}
			copy(sides, below)
			for i := range below {
				sides[D+i] = known[i] - below[i]
			}
			if g.measure.weight(sides[:D]) < g.MinRows || g.measure.weight(sides[D:]) < g.MinRows {
				continue
			}
			var here candidate
			g.measureUp(&here, p, sides, missing)
			if here.ok && (!best.ok || here.gain > best.gain+tie) {
				best = here
				h.left = append(h.left[:0], order[:cut]...)
				heavyLeft = 2*g.measure.weight(below) > g.measure.weight(known)
			}
		}
	}
	if best.ok {
		best.goesLeft = halves(values, present, h.left, heavyLeft)
	}
	return best
}

// mostOrders is the number of classes, of many, whose shares values are sorted
// by, and mostCells that of weights that a column's values may have at a node.
const (
	mostOrders = 32
	mostCells  = 1 << 24
)

// orders returns the classes by whose share values are sorted: all, or of many
// the most common.
func (g *grower) orders(known []float64, h *halving) []int {
	n := 1
	if g.classes > 2 {
		n = len(known)
	}
	h.orders = resize(h.orders, n)
	orders := h.orders
	for c := range orders {
		orders[c] = c
	}
	if g.classes > fewClasses && len(orders) > mostOrders {
		slices.SortStableFunc(orders, func(a, b int) int { return -cmp.Compare(known[a], known[b]) })
		orders = orders[:mostOrders]
	}
	return orders
}

// halves says for each value of a column whether it goes left, given those of
// the present ones that do. Values without rows go where most rows go.
func halves(values int, present []int32, left []int, heavyLeft bool) []bool {
	goes := make([]bool, values)
	for v := range goes {
		goes[v] = heavyLeft
	}
	for _, v := range present {
		goes[v] = false
	}
	for _, b := range left {
		goes[present[b]] = true
	}
	return goes
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

package boost

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/crew"
)

const (
	leastRows  = 3.0 // weight of the rows of a child
	leastCurve = 1.0 // sum of the curvatures of a child
	leastGain  = 1e-6
	// together is the number of additions that are worth a second goroutine.
	together = 1 << 17
	// mostColumns is the number of columns that trees are grown from at most.
	mostColumns = 2000
	// mostStep is the most that a leaf moves a score by.
	mostStep = 20.0
	// leastActive is the share of the greatest sum of slopes and curvatures of
	// a class below which a class does not decide a split.
	leastActive = 0.02
)

// grower grows one tree. Its room is used again by the next.
type grower struct {
	teacher *Teacher
	pool    []int32 // columns that are worth a look
	columns []int32 // that the tree sees
	first   []int   // of each of them: its first cell in a histogram
	size    int     // of a histogram
	free    [][]int64
	in, out []int32 // rows that the tree sees, and the others, node by node
	room    []int32
	leaf    []uint8 // of each row
	tree    *Tree
	leaves  []growing // room for those of a tree
	open    []*growing
	gains   []float64 // of each column
	sets    []uint64
	factor  []float64
}

// growing is a leaf that may be split.
type growing struct {
	node      int32
	depth     int
	in, out   []int32
	histogram []int64
	sums      []int64 // of all lanes
	active    []int32 // classes that its histogram has, and that decide
	gain      float64
	column    int32
	set       uint64
}

// grow grows the next tree and adds what it says to the scores.
func (g *grower) grow(ctx context.Context) error {
	t := g.teacher
	number := uint64(len(t.Trees))
	if err := g.screen(ctx); err != nil {
		return err
	}
	t.rescale()
	g.drawRows(number)
	g.drawColumns(number)
	g.tree = &Tree{Nodes: make([]Node, 1, 2*t.Leaves)}
	if g.leaves == nil {
		g.leaves = make([]growing, 0, 2*t.Leaves)
	}
	g.leaves = g.leaves[:0]
	root := g.leafOf(0)
	root.in, root.out, root.histogram = g.in, g.out, g.histogram()
	for c := range t.Scores {
		root.active = append(root.active, int32(c))
	}
	g.count(ctx, root.in, root.histogram, root.active)
	g.add(root)
	g.best(ctx, root)
	g.open = append(g.open[:0], root)
	for leaves := 1; leaves < t.Leaves; leaves++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		top := -1
		for i, of := range g.open {
			if of.gain > leastGain && (top < 0 || of.gain > g.open[top].gain) {
				top = i
			}
		}
		if top < 0 {
			break
		}
		g.split(ctx, top, leaves == t.Leaves-1)
	}
	g.finish()
	return ctx.Err()
}

// leafOf returns room for a leaf.
func (g *grower) leafOf(depth int) *growing {
	n := len(g.leaves)
	if n == cap(g.leaves) {
		g.leaves = make([]growing, 0, 2*g.teacher.Leaves)
		n = 0
	}
	g.leaves = g.leaves[:n+1]
	of := &g.leaves[n]
	if of.sums == nil {
		of.sums = make([]int64, g.teacher.lanes)
	}
	clear(of.sums)
	*of = growing{depth: depth, sums: of.sums, active: of.active[:0]}
	return of
}

// drawRows draws the rows that a tree sees, and packs what they say.
func (g *grower) drawRows(number uint64) {
	t := g.teacher
	if g.leaf == nil {
		g.in, g.out = make([]int32, 0, len(t.cover)), make([]int32, 0, len(t.cover))
		g.room, g.leaf = make([]int32, len(t.cover)), make([]uint8, len(t.Hash))
	}
	in, out := g.in[:0], g.out[:0]
	salt := Scramble(t.Seed ^ Scramble(number))
	limit := uint64(t.RowShare * (1 << 53))
	for _, i := range t.cover {
		d := t.learn[i]
		switch {
		case d == 1 && t.RowShare < 1:
			if Scramble(t.Hash[i]^salt)>>11 >= limit {
				d = 0
			}
		case d > 0 && t.RowShare < 1:
			d = draw(t.Hash[i]^salt, d, t.RowShare)
		}
		if d == 0 {
			out = append(out, i)
			continue
		}
		in = append(in, i)
		t.slopes(int(i), d)
	}
	g.in, g.out = in, out
}

// screen leaves the columns whose best first split is worth most, where there are
// very many.
func (g *grower) screen(ctx context.Context) error {
	t := g.teacher
	if g.pool != nil {
		return nil
	}
	pool := make([]int32, len(t.Columns))
	for c := range pool {
		pool[c] = int32(c)
	}
	if len(pool) > mostColumns {
		t.rescale()
		root := &growing{sums: make([]int64, t.lanes)}
		for _, i := range t.cover {
			if t.learn[i] > 0 {
				t.slopes(int(i), t.learn[i])
				root.in = append(root.in, i)
			}
		}
		for c := range t.Scores {
			root.active = append(root.active, int32(c))
		}
		g.add(root)
		worth := make([]float64, len(pool))
		chunk := min(max(1<<22/(len(root.in)*t.lanes+1), 1), mostColumns)
		for from := 0; from < len(pool); from += chunk {
			g.columns = append(g.columns[:0], pool[from:min(from+chunk, len(pool))]...)
			g.layout()
			root.histogram = g.histogram()
			g.count(ctx, root.in, root.histogram, root.active)
			g.look(ctx, root)
			copy(worth[from:], g.gains)
			g.free = append(g.free, root.histogram)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		slices.SortFunc(pool, func(a, b int32) int { return cmp.Or(-cmp.Compare(worth[a], worth[b]), cmp.Compare(a, b)) })
		pool = pool[:mostColumns]
		slices.Sort(pool)
	}
	g.pool = pool
	return nil
}

// drawColumns draws the columns that a tree sees.
func (g *grower) drawColumns(number uint64) {
	t := g.teacher
	n := max(min(1, len(g.pool)), int(math.Ceil(t.ColumnShare*float64(len(g.pool)))))
	g.columns = append(g.columns[:0], g.pool[:n]...)
	if n < len(g.pool) {
		type lot struct {
			column int32
			key    uint64
		}
		lots := make([]lot, len(g.pool))
		salt := Scramble(t.Seed + number)
		for at, c := range g.pool {
			lots[at] = lot{c, Scramble(t.Columns[c].Salt ^ salt)}
		}
		slices.SortFunc(lots, func(a, b lot) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.column, b.column)) })
		for at := range g.columns {
			g.columns[at] = lots[at].column
		}
		slices.Sort(g.columns)
	}
	g.layout()
}

// layout gives the bins of the tree's columns their places in histograms.
func (g *grower) layout() {
	t := g.teacher
	g.first, g.size = g.first[:0], 0
	for _, c := range g.columns {
		g.first = append(g.first, g.size)
		g.size += t.Columns[c].Bins * t.lanes
	}
	g.free = slices.DeleteFunc(g.free, func(h []int64) bool { return cap(h) < g.size })
}

// histogram returns room for the sums of all bins of the tree's columns.
func (g *grower) histogram() []int64 {
	if n := len(g.free); n > 0 {
		h := g.free[n-1][:g.size]
		g.free = g.free[:n-1]
		clear(h)
		return h
	}
	return make([]int64, g.size, g.size+g.size/4)
}

// each does something for each of the tree's columns, on all cores if there is
// enough to do.
func (g *grower) each(ctx context.Context, cost int, work func(at int)) {
	if cost*len(g.columns) < together {
		for at := range g.columns {
			work(at)
		}
		return
	}
	const batch = 4
	_ = crew.Each(ctx, (len(g.columns)+batch-1)/batch, func(b int) {
		for at := b * batch; at < min((b+1)*batch, len(g.columns)); at++ {
			work(at)
		}
	})
}

// count adds the rows up by bin, for some classes.
func (g *grower) count(ctx context.Context, rows []int32, histogram []int64, active []int32) {
	t := g.teacher
	lanes, packed := t.lanes, t.packed
	g.each(ctx, len(rows)*(len(active)+1), func(at int) {
		c := &t.Columns[g.columns[at]]
		h, cells := histogram[g.first[at]:][:c.Bins*lanes], c.Cells
		switch {
		case lanes == 1:
			for _, i := range rows {
				h[cells[i]] += packed[i]
			}
		case 2*len(active) >= lanes: // nearly all
			for _, i := range rows {
				bin := int(cells[i]) * lanes
				to, from := h[bin:bin+lanes], packed[int(i)*lanes:int(i)*lanes+lanes]
				for l, x := range from {
					to[l] += x
				}
			}
		default:
			for _, i := range rows {
				bin := int(cells[i]) * lanes
				to, from := h[bin:bin+lanes], packed[int(i)*lanes:int(i)*lanes+lanes]
				for _, l := range active {
					to[l] += from[l]
				}
				to[lanes-1] += from[lanes-1]
			}
		}
	})
}

// add adds up all lanes of a leaf: one is in its histogram already.
func (g *grower) add(of *growing) {
	t := g.teacher
	lanes := t.lanes
	if lanes == 1 && of.histogram != nil && len(g.columns) > 0 {
		for _, x := range of.histogram[:t.Columns[g.columns[0]].Bins] {
			of.sums[0] += x
		}
		return
	}
	for _, i := range of.in {
		for l, x := range t.packed[int(i)*lanes : int(i)*lanes+lanes] {
			of.sums[l] += x
		}
	}
}

// activate keeps, of the classes that a leaf's parent looked at, those that can
// decide how to split the leaf.
func (g *grower) activate(of *growing, parent []int32) {
	most := 0.0
	for _, c := range parent {
		slope, curve := Unpack(of.sums[c])
		most = max(most, math.Abs(slope)+curve)
	}
	for _, c := range parent {
		if slope, curve := Unpack(of.sums[c]); math.Abs(slope)+curve >= leastActive*most {
			of.active = append(of.active, c)
		}
	}
}

// least returns the curvature that a child of one score must have.
func (g *grower) least() float64 {
	if g.teacher.Class == nil {
		return leastRows * g.teacher.scale * (1 - 1e-6)
	}
	return leastCurve * g.teacher.scale
}

// splittable reports whether a leaf has rows enough for two.
func (g *grower) splittable(of *growing) bool {
	t := g.teacher
	if of.depth >= t.Depth {
		return false
	}
	total := 0.0
	for _, s := range of.sums[:t.Scores] {
		_, curve := Unpack(s)
		total += curve
	}
	if t.Scores > 1 {
		if _, rows := Unpack(of.sums[t.Scores]); rows < 2*leastRows*t.scale*(1-1e-6) {
			return false
		}
	}
	return total >= 2*g.least()
}

// best finds a leaf's best split.
func (g *grower) best(ctx context.Context, of *growing) {
	t := g.teacher
	of.gain = 0
	if of.histogram == nil || !g.splittable(of) {
		return
	}
	own := 0.0
	for _, c := range of.active {
		slope, curve := Unpack(of.sums[c])
		own += slope * slope / (curve + t.scale)
	}
	g.look(ctx, of)
	for at, gain := range g.gains {
		if gain -= own; gain/t.scale > of.gain {
			of.gain, of.column, of.set = gain/t.scale, g.columns[at], g.sets[at]
		}
	}
}

// look finds the best split of each column.
func (g *grower) look(ctx context.Context, of *growing) {
	t := g.teacher
	g.gains, g.sets = append(g.gains[:0], make([]float64, len(g.columns))...), append(g.sets[:0], make([]uint64, len(g.columns))...)
	if t.Scores == 1 {
		g.each(ctx, 2*Bins, func(at int) {
			c := &t.Columns[g.columns[at]]
			g.gains[at], g.sets[at] = g.findOne(c, of.histogram[g.first[at]:][:c.Bins], of.sums[0])
		})
	} else {
		all := g.newClasses(of)
		g.each(ctx, 4*Bins*len(of.active), func(at int) {
			c := &t.Columns[g.columns[at]]
			s := splitter{classes: all, room: make([]int64, 2*(len(of.active)+1))}
			g.gains[at], g.sets[at] = s.find(c, of.histogram[g.first[at]:][:c.Bins*t.lanes])
		})
	}
}

// findOne returns what the two sides of a column's best split are worth, and the
// bins of the left one, where there is one score.
func (g *grower) findOne(c *Column, h []int64, all int64) (best float64, set uint64) {
	least, ridge := g.least(), g.teacher.scale
	slopes, curves := Unpack(all)
	try := func(left int64, bins uint64) {
		slope, curve := float64(left>>32), float64(uint32(left))
		if curve < least || curves-curve < least {
			return
		}
		other, l, r := slopes-slope, curve+ridge, curves-curve+ridge
		if worth := (slope*slope*r + other*other*l) / (l * r); worth > best {
			best, set = worth, bins
		}
	}
	missing := h[0]
	if missing != 0 {
		try(missing, 1)
	}
	if !c.Ordered {
		for bin := 1; bin < c.Bins; bin++ {
			if (c.Bins > 3 || bin == 1 || missing != 0) && !(c.Others && bin == c.Bins-1) { // of two values one is enough
				if x := h[bin]; x != 0 {
					try(x, 1<<bin)
				}
			}
		}
		return best, set
	}
	sum := int64(0)
	for bin := 1; bin < c.Bins-1; bin++ {
		x := h[bin]
		if x == 0 {
			continue
		}
		sum += x
		slope, curve := float64(sum>>32), float64(uint32(sum))
		if missing != 0 {
			try(sum+missing, uint64(1)<<(bin+1)-1)
		}
		if curve < least {
			continue
		}
		rest := curves - curve
		if rest < least {
			break
		}
		other, l, r := slopes-slope, curve+ridge, rest+ridge
		if worth := (slope*slope*r + other*other*l) / (l * r); worth > best {
			best, set = worth, uint64(1)<<(bin+1)-2
		}
	}
	return best, set
}

// classes is the sums of a leaf that is to be split, class by class.
type classes struct {
	active         []int32
	lanes          int
	slopes, curves []float64
	curve, rows    float64 // of all
	ridge          float64
}

func (g *grower) newClasses(of *growing) *classes {
	t := g.teacher
	all := &classes{active: of.active, lanes: t.lanes, ridge: t.scale}
	all.slopes, all.curves = make([]float64, len(of.active)), make([]float64, len(of.active))
	for a, c := range of.active {
		all.slopes[a], all.curves[a] = Unpack(of.sums[c])
		all.curve += all.curves[a]
	}
	_, all.rows = Unpack(of.sums[t.Scores])
	return all
}

// splitter looks for the best split of a column where there are several classes.
type splitter struct {
	*classes
	room []int64
	best float64
	set  uint64
}

// try looks at one split: the sums of its left side, class by class, and rows.
func (s *splitter) try(left []int64, set uint64) {
	n := len(s.active)
	least := leastRows * s.ridge * (1 - 1e-6)
	if _, rows := Unpack(left[n]); rows < least || s.rows-rows < least {
		return
	}
	worth, curve := 0.0, 0.0
	ridge, slopes, curves := s.ridge, s.slopes[:n], s.curves[:n]
	for a, x := range left[:n] {
		slope, c := float64(x>>32), float64(uint32(x))
		curve += c
		other, l, r := slopes[a]-slope, c+ridge, curves[a]-c+ridge
		worth += (slope*slope*r + other*other*l) / (l * r)
	}
	if worth > s.best && curve >= leastCurve*ridge && s.curve-curve >= leastCurve*ridge {
		s.best, s.set = worth, set
	}
}

// take adds the active lanes of a bin to sums, and reports whether it has rows.
func (s *splitter) take(to, bin []int64) bool {
	rows := bin[s.lanes-1]
	if rows == 0 {
		return false
	}
	for a, c := range s.active {
		to[a] += bin[c]
	}
	to[len(s.active)] += rows
	return true
}

// find returns what the two sides of the best split are worth, and the bins of
// the left one.
func (s *splitter) find(c *Column, h []int64) (float64, uint64) {
	lanes := s.lanes
	sum, other := s.room[:len(s.active)+1], s.room[len(s.active)+1:]
	some := s.take(other, h[:lanes])
	if some {
		s.try(other, 1)
	}
	for bin := 1; bin < c.Bins; bin++ {
		cell := h[bin*lanes : (bin+1)*lanes]
		if !c.Ordered {
			if (c.Bins > 3 || bin == 1 || some) && !(c.Others && bin == c.Bins-1) { // of two values one is enough
				clear(sum)
				if s.take(sum, cell) {
					s.try(sum, 1<<bin)
				}
			}
			continue
		}
		if bin == c.Bins-1 {
			break
		}
		if !s.take(sum, cell) {
			continue
		}
		s.try(sum, uint64(1)<<(bin+1)-2)
		if some {
			s.take(other, cell)
			s.try(other, uint64(1)<<(bin+1)-1)
		}
	}
	return s.best, s.set
}

// split makes two leaves of one. The last ones of a tree are not looked at.
func (g *grower) split(ctx context.Context, at int, last bool) {
	t := g.teacher
	of := g.open[at]
	left, right := g.leafOf(of.depth+1), g.leafOf(of.depth+1)
	left.node, right.node = int32(len(g.tree.Nodes)), int32(len(g.tree.Nodes)+1)
	n := &g.tree.Nodes[of.node]
	n.Left, n.Right, n.Column, n.Set = left.node, right.node, of.column, of.set
	g.tree.Nodes = append(g.tree.Nodes, Node{Parent: of.node}, Node{Parent: of.node})
	cells := t.Columns[of.column].Cells
	left.in, right.in = g.part(of.in, cells, of.set)
	left.out, right.out = g.part(of.out, cells, of.set)
	small, large := left, right
	if len(left.in) > len(right.in) {
		small, large = right, left
	}
	g.add(small)
	for l, x := range small.sums {
		large.sums[l] = of.sums[l] - x
	}
	if !last && (g.splittable(small) || g.splittable(large)) {
		small.histogram, large.histogram = g.histogram(), of.histogram
		g.count(ctx, small.in, small.histogram, of.active)
		for i, x := range small.histogram {
			large.histogram[i] -= x
		}
		for _, child := range [2]*growing{small, large} {
			g.activate(child, of.active)
			g.best(ctx, child)
		}
	} else {
		g.free = append(g.free, of.histogram)
	}
	g.open[at] = left
	g.open = append(g.open, right)
}

// part puts the rows that go left before the others, each in their order. Which
// way a row goes cannot be foreseen, so nothing branches on it.
func (g *grower) part(rows []int32, cells []uint8, set uint64) (left, right []int32) {
	at, other, others := 0, 0, g.room[:len(rows)]
	for _, i := range rows {
		goes := int(set >> (cells[i] & 63) & 1)
		rows[at], others[other] = i, i
		at += goes
		other += 1 - goes
	}
	copy(rows[at:], others[:other])
	return rows[:at:at], rows[at:]
}

// finish adds what the leaves say to the scores of their rows.
func (g *grower) finish() {
	t := g.teacher
	k := t.Scores
	values := make([]float64, len(g.tree.Nodes)*k)
	g.factor = append(g.factor[:0], make([]float64, k)...)
	for _, of := range g.open {
		own := values[int(of.node)*k : int(of.node)*k+k]
		for c := range own {
			slope, curve := Unpack(of.sums[c])
			own[c] = min(max(t.Rate*slope/(curve+t.scale), -mostStep), mostStep)
			if t.Class == nil {
				own[c] = t.Rate * slope / (curve + t.scale)
			}
			g.factor[c] = math.Exp(own[c])
		}
		g.move(of.in, own, uint8(of.node))
		g.move(of.out, own, uint8(of.node))
		if of.histogram != nil {
			g.free = append(g.free, of.histogram)
			of.histogram = nil
		}
	}
	g.tree.Values = values
	t.Trees = append(t.Trees, *g.tree)
	if t.remember != nil {
		leaves := make([]uint8, len(t.remember))
		for at, i := range t.remember {
			leaves[at] = g.leaf[i]
		}
		t.LeafOf = append(t.LeafOf, leaves)
	}
}

// move moves what is said of the rows of a leaf.
func (g *grower) move(rows []int32, own []float64, leaf uint8) {
	t := g.teacher
	k := t.Scores
	switch {
	case t.Class == nil:
		for _, i := range rows {
			g.leaf[i] = leaf
			t.state[i] += own[0]
		}
	case k == 1:
		factor := g.factor[0]
		for _, i := range rows {
			g.leaf[i] = leaf
			t.state[i] = min(max(t.state[i]*factor, 1e-300), 1e300)
		}
	default:
		for _, i := range rows {
			g.leaf[i] = leaf
			row, norm := t.state[int(i)*k:int(i)*k+k], 0.0
			for c, f := range g.factor[:len(row)] {
				x := row[c] * f
				row[c] = x
				norm += x
			}
			norm = 1 / norm
			for c := range row {
				row[c] *= norm
			}
		}
	}
}

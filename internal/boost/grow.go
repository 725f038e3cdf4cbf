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
)

// grower grows one tree. Its room is used again by the next.
type grower struct {
	teacher *Teacher
	drawn   []int64 // slopes and curvatures of the rows that the tree sees
	columns []int32 // that the tree sees
	first   []int   // of each of them: its first cell in a histogram
	size    int     // of a histogram
	free    [][]int64
	in, out []int32 // rows that the tree sees, and the others, node by node
	room    []int32
	leaf    []uint8 // of each row
	tree    *Tree
	open    []*growing
}

// growing is a leaf that may be split.
type growing struct {
	node      int32
	depth     int
	in, out   []int32
	histogram []int64
	sums      []int64 // of all lanes
	gain      float64
	column    int32
	set       uint64
}

// grow grows the next tree and adds what it says to the scores.
func (g *grower) grow(ctx context.Context) error {
	t := g.teacher
	number := uint64(len(t.Trees))
	g.drawRows(number)
	g.drawColumns(number)
	g.tree = &Tree{Nodes: []Node{{}}}
	root := &growing{in: g.in, out: g.out, histogram: g.histogram(), sums: make([]int64, t.lanes)}
	for _, i := range root.in {
		for l := range root.sums {
			root.sums[l] += g.drawn[int(i)*t.lanes+l]
		}
	}
	g.count(ctx, root.in, root.histogram)
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
		g.split(ctx, top)
	}
	g.finish()
	return ctx.Err()
}

// drawRows draws the rows that a tree sees.
func (g *grower) drawRows(number uint64) {
	t := g.teacher
	if g.drawn == nil {
		g.drawn = make([]int64, len(t.packed))
		g.in, g.out = make([]int32, 0, len(t.cover)), make([]int32, 0, len(t.cover))
		g.room, g.leaf = make([]int32, len(t.cover)), make([]uint8, len(t.Hash))
	}
	g.in, g.out = g.in[:0], g.out[:0]
	salt := Scramble(t.Seed ^ Scramble(number))
	for _, i := range t.cover {
		w := t.learn[i]
		d := 0.0
		if w > 0 {
			d = w
			if t.RowShare < 1 {
				d = draw(t.Hash[i]^salt, w, t.RowShare)
			}
		}
		if d == 0 {
			g.out = append(g.out, i)
			continue
		}
		g.in = append(g.in, i)
		from, to := t.packed[int(i)*t.lanes:(int(i)+1)*t.lanes], g.drawn[int(i)*t.lanes:(int(i)+1)*t.lanes]
		if d == w {
			copy(to, from)
			continue
		}
		for l, x := range from {
			slope, curve := Unpack(x)
			to[l] = Pack(slope*d/w, curve*d/w)
		}
	}
}

// drawColumns draws the columns that a tree sees.
func (g *grower) drawColumns(number uint64) {
	t := g.teacher
	type lot struct {
		column int32
		key    uint64
	}
	lots := make([]lot, len(t.Columns))
	for c := range lots {
		lots[c] = lot{int32(c), Scramble(t.Columns[c].Salt ^ Scramble(t.Seed+number))}
	}
	slices.SortFunc(lots, func(a, b lot) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.column, b.column)) })
	n := max(min(1, len(lots)), int(math.Ceil(t.ColumnShare*float64(len(lots)))))
	g.columns, g.first, g.size = g.columns[:0], g.first[:0], 0
	for _, l := range lots[:n] {
		g.columns = append(g.columns, l.column)
	}
	slices.Sort(g.columns)
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

// count adds the rows up by bin.
func (g *grower) count(ctx context.Context, rows []int32, histogram []int64) {
	t := g.teacher
	lanes := t.lanes
	g.each(ctx, len(rows)*lanes, func(at int) {
		c := &t.Columns[g.columns[at]]
		h := histogram[g.first[at]:][:c.Bins*lanes]
		cells, drawn := c.Cells, g.drawn
		if lanes == 1 {
			var local [256]int64
			for _, i := range rows {
				local[cells[i]] += drawn[i]
			}
			copy(h, local[:c.Bins])
			return
		}
		for _, i := range rows {
			bin := int(cells[i]) * lanes
			to := h[bin : bin+lanes]
			from := drawn[int(i)*lanes : int(i)*lanes+lanes]
			for l, x := range from {
				to[l] += x
			}
		}
	})
}

// worth returns Σ g²/(h+1) of sums, in the units of their scale.
func (g *grower) worth(sums []int64) float64 {
	ridge := g.teacher.scale
	total := 0.0
	for _, s := range sums[:g.teacher.Scores] {
		slope, curve := Unpack(s)
		total += slope * slope / (curve + ridge)
	}
	return total
}

// enough reports whether a child has rows enough.
func (g *grower) enough(sums []int64) bool {
	t := g.teacher
	if t.Scores == 1 {
		_, curve := Unpack(sums[0])
		if t.Class == nil {
			return curve >= leastRows*t.scale*(1-1e-6)
		}
		return curve >= leastCurve*t.scale
	}
	total := 0.0
	for _, s := range sums[:t.Scores] {
		_, curve := Unpack(s)
		total += curve
	}
	_, rows := Unpack(sums[t.Scores])
	return total >= leastCurve*t.scale && rows >= leastRows*t.scale*(1-1e-6)
}

// best finds a leaf's best split.
func (g *grower) best(ctx context.Context, of *growing) {
	t := g.teacher
	of.gain = 0
	if of.depth >= t.Depth || len(of.in) < 2*leastRows && t.Scores > 1 || !g.enough(of.sums) {
		return
	}
	gains, sets := make([]float64, len(g.columns)), make([]uint64, len(g.columns))
	g.each(ctx, Bins*t.lanes*4, func(at int) {
		s := splitter{grower: g, all: of.sums, room: make([]int64, 4*t.lanes)}
		c := &t.Columns[g.columns[at]]
		gains[at], sets[at] = s.find(c, of.histogram[g.first[at]:][:c.Bins*t.lanes])
	})
	own := g.worth(of.sums)
	for at, gain := range gains {
		if gain -= own; gain/t.scale > of.gain {
			of.gain, of.column, of.set = gain/t.scale, g.columns[at], sets[at]
		}
	}
}

// splitter looks for the best split of a column.
type splitter struct {
	*grower
	all  []int64
	room []int64
	gain float64
	set  uint64
}

// try looks at one split.
func (s *splitter) try(left []int64, set uint64) {
	lanes := len(left)
	right := s.room[3*lanes : 4*lanes]
	for l, x := range left {
		right[l] = s.all[l] - x
	}
	if !s.enough(left) || !s.enough(right) {
		return
	}
	if gain := s.worth(left) + s.worth(right); gain > s.gain {
		s.gain, s.set = gain, set
	}
}

// find returns what the two sides of the best split are worth, and the bins of
// the left one.
func (s *splitter) find(c *Column, h []int64) (float64, uint64) {
	lanes := len(s.all)
	missing := h[:lanes]
	some := slices.ContainsFunc(missing, func(x int64) bool { return x != 0 })
	if some {
		s.try(missing, 1)
	}
	sum, with := s.room[:lanes], s.room[lanes:2*lanes]
	for bin := 1; bin < c.Bins; bin++ {
		cell := h[bin*lanes : (bin+1)*lanes]
		if !c.Ordered {
			if (c.Bins > 3 || bin == 1 || some) && !(c.Others && bin == c.Bins-1) { // of two values one is enough
				s.try(cell, 1<<bin)
			}
			continue
		}
		if bin == c.Bins-1 {
			break
		}
		empty := true
		for l, x := range cell {
			sum[l] += x
			empty = empty && x == 0
		}
		if empty {
			continue
		}
		upTo := uint64(1)<<(bin+1) - 2
		s.try(sum, upTo)
		if some {
			for l, x := range missing {
				with[l] = sum[l] + x
			}
			s.try(with, upTo|1)
		}
	}
	return s.gain, s.set
}

// split makes two leaves of one.
func (g *grower) split(ctx context.Context, at int) {
	t := g.teacher
	of := g.open[at]
	left, right := &growing{depth: of.depth + 1}, &growing{depth: of.depth + 1}
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
	small.sums, large.sums = make([]int64, t.lanes), make([]int64, t.lanes)
	for _, i := range small.in {
		for l, x := range g.drawn[int(i)*t.lanes : (int(i)+1)*t.lanes] {
			small.sums[l] += x
		}
	}
	for l, x := range small.sums {
		large.sums[l] = of.sums[l] - x
	}
	if left.depth < t.Depth {
		small.histogram, large.histogram = g.histogram(), of.histogram
		g.count(ctx, small.in, small.histogram)
		for i, x := range small.histogram {
			large.histogram[i] -= x
		}
		g.best(ctx, small)
		g.best(ctx, large)
	} else {
		g.free = append(g.free, of.histogram)
	}
	g.open[at] = left
	g.open = append(g.open, right)
}

// part puts the rows that go left before the others, each in their order.
func (g *grower) part(rows []int32, cells []uint8, set uint64) (left, right []int32) {
	at, others := 0, g.room[:0]
	for _, i := range rows {
		if set>>(cells[i]&63)&1 != 0 {
			rows[at] = i
			at++
		} else {
			others = append(others, i)
		}
	}
	copy(rows[at:], others)
	return rows[:at:at], rows[at:]
}

// finish adds what the leaves say to the scores of their rows.
func (g *grower) finish() {
	t := g.teacher
	k := t.Scores
	values := make([]float64, len(g.tree.Nodes)*k)
	for _, of := range g.open {
		own := values[int(of.node)*k : int(of.node)*k+k]
		for c := range own {
			slope, curve := Unpack(of.sums[c])
			own[c] = t.Rate * slope / (curve + t.scale)
		}
		for _, rows := range [2][]int32{of.in, of.out} {
			for _, i := range rows {
				g.leaf[i] = uint8(of.node)
				row := t.F[int(i)*k : int(i)*k+k]
				for c, x := range own {
					row[c] += x
				}
			}
		}
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

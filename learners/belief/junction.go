package belief

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// junction is a network compiled for questions (Lauritzen & Spiegelhalter 1988;
// Jensen, Lauritzen & Olesen 1990): columns that stand together in a family are
// linked, the graph is filled in until it is triangulated, eliminating in each
// step the column that needs the fewest links, and its cliques form trees along
// which messages pass, up to the roots and down again. It is immutable; each
// question has a desk of its own.
type junction struct {
	net     *network
	cliques []clique
	home    []int // the smallest clique with the column; −1 for numbers
	numbers []reading
	size    int // numbers in all tables
	sent    int // and in all messages
	most    int // the longest message, or combinations of a group
	open    int // the most numbers of a group that are not known
}

// clique is a table over some columns, the last of which changes fastest.
// Cliques come before the one that they send their message to.
type clique struct {
	columns []int
	strides []int
	base    []float64 // product of the tables that belong here
	from    int       // where its table begins on a desk
	parent  int       // −1: a root
	// places in the message of the entries of this table and of the parent's
	up, down []int32
	message  int // length
	sent     int // where its message begins on a desk
}

// reading is a group of numeric columns: the density of those that are known
// multiplies the clique of their nominal parents.
type reading struct {
	group
	clique int     // −1: they have none
	places []int32 // combination of the nominal parents of each entry
}

// maxWidth bounds the numbers in the tables of a junction tree, if nothing else is
// said: 128 MiB on the desk of each question.
const maxWidth = 1 << 24

// errWide says that a network is too tangled for exact answers.
type errWide struct{ size, limit float64 }

func (e errWide) Error() string {
	return fmt.Sprintf("exact answers would take tables of %.3g numbers, more than %.0f; allow more (width=), ask for approximate ones (inference=weighting or gibbs), or learn with fewer parents", e.size, e.limit)
}

// compile builds the junction trees of a network, for questions that have to do
// with some groups of numbers.
func compile(net *network, groups []group) (*junction, error) {
	sets, parents, err := triangulate(net, groups)
	if err != nil {
		return nil, err
	}
	j := &junction{net: net, home: make([]int, len(net.nodes))}
	for i, set := range sets {
		c := clique{columns: set, strides: make([]int, len(set)), parent: parents[i], from: j.size}
		size := 1
		for k := len(set) - 1; k >= 0; k-- {
			c.strides[k] = size
			size *= net.nodes[set[k]].states
		}
		c.base = make([]float64, size)
		for e := range c.base {
			c.base[e] = 1
		}
		j.size += size
		j.cliques = append(j.cliques, c)
	}
	j.most = 1
	for i := range j.cliques {
		c := &j.cliques[i]
		if c.parent < 0 {
			continue
		}
		p := &j.cliques[c.parent]
		var shared []int
		for _, v := range c.columns {
			if slices.Contains(p.columns, v) {
				shared = append(shared, v)
			}
		}
		c.up, c.message = c.places(net, shared)
		c.down, _ = p.places(net, shared)
		c.sent = j.sent
		j.sent += c.message
		j.most = max(j.most, c.message)
	}
	for v := range net.nodes {
		n := &net.nodes[v]
		j.home[v] = -1
		if n.states > 0 {
			j.home[v] = j.smallest([]int{v})
			c := &j.cliques[j.smallest(append(slices.Clone(n.parents), v))]
			places, _ := c.places(net, append(slices.Clone(n.parents), v))
			for e, at := range places {
				c.base[e] *= n.table[at]
			}
		}
	}
	for _, g := range groups {
		r := reading{group: g, clique: -1}
		r.size = 1
		if len(g.columns) > 0 {
			r.clique = j.smallest(g.columns)
			r.places, r.size = j.cliques[r.clique].places(net, g.columns)
		}
		r.combine(net)
		j.numbers = append(j.numbers, r)
		j.most, j.open = max(j.most, r.size), max(j.open, r.open)
	}
	return j, nil
}

// places returns, for each entry of the table, its place in a table over some
// of the columns, the last of which changes fastest, and that table's size.
func (c *clique) places(net *network, of []int) ([]int32, int) {
	size := 1
	strides := make([]int, len(c.columns))
	for k := len(of) - 1; k >= 0; k-- {
		strides[slices.Index(c.columns, of[k])] = size
		size *= net.nodes[of[k]].states
	}
	places := make([]int32, len(c.base))
	codes := make([]int, len(c.columns))
	at := 0
	for e := range places {
		places[e] = int32(at)
		for k := len(codes) - 1; k >= 0; k-- {
			codes[k]++
			at += strides[k]
			if codes[k] < net.nodes[c.columns[k]].states {
				break
			}
			at -= strides[k] * codes[k]
			codes[k] = 0
		}
	}
	return places, size
}

// smallest returns the clique of the fewest entries that has all columns.
func (j *junction) smallest(columns []int) int {
	best := -1
	for i := range j.cliques {
		has := func(v int) bool { _, ok := slices.BinarySearch(j.cliques[i].columns, v); return ok }
		if (best < 0 || len(j.cliques[i].base) < len(j.cliques[best].base)) && !slices.ContainsFunc(columns, func(v int) bool { return !has(v) }) {
			best = i
		}
	}
	return best
}

// links are the neighbours of columns, as bitmaps.
type links [][]uint64

func (l links) join(a, b int) { l[a][b/64] |= 1 << (b % 64); l[b][a/64] |= 1 << (a % 64) }

func (l links) list(v int) []int {
	var list []int
	for w, set := range l[v] {
		for ; set != 0; set &= set - 1 {
			list = append(list, 64*w+bits.TrailingZeros64(set))
		}
	}
	return list
}

// triangulate returns the cliques of the triangulated moral graph, and which
// clique each hangs on; later ones, or −1.
func triangulate(net *network, groups []group) (sets [][]int, parents []int, err error) {
	n := len(net.nodes)
	graph := make(links, n)
	for v := range graph {
		graph[v] = make([]uint64, (n+63)/64)
	}
	link := func(family []int) {
		for i, a := range family {
			for _, b := range family[:i] {
				graph.join(a, b)
			}
		}
	}
	for v := range net.nodes {
		if net.nodes[v].states > 0 {
			link(append(slices.Clone(net.nodes[v].parents), v))
		}
	}
	for i := range groups {
		link(groups[i].columns)
	}
	gone := make([]int, n) // when a column was eliminated, 0: not yet
	fill, weight := make([]int, n), make([]float64, n)
	stale := make([]bool, n)
	var left []int
	for v := range net.nodes {
		if net.nodes[v].states > 0 {
			left, stale[v] = append(left, v), true
		}
	}
	all, when, total := make([][]int, n), 0, 0.0
	var order []int
	for len(left) > 0 {
		best := 0
		for i, v := range left {
			if stale[v] {
				fill[v], weight[v], stale[v] = missingLinks(graph, net, v)
			}
			if b := left[best]; fill[v] < fill[b] || fill[v] == fill[b] && weight[v] < weight[b] {
				best = i
			}
		}
		v := left[best]
		left = slices.Delete(left, best, best+1)
		near := graph.list(v)
		when++
		gone[v], all[v] = when, near
		order = append(order, v)
		if total += weight[v]; total > net.limit() {
			return nil, nil, errWide{total, net.limit()}
		}
		for i, a := range near {
			graph[a][v/64] &^= 1 << (v % 64)
			for _, b := range near[:i] {
				graph.join(a, b)
			}
		}
		for _, a := range near {
			stale[a] = true
			for _, b := range graph.list(a) {
				stale[b] = true
			}
		}
	}
	sets, parents = hang(order, all, gone)
	return sets, parents, nil
}

// missingLinks returns how many links eliminating a column would add, and the
// size of its clique's table.
func missingLinks(graph links, net *network, v int) (fill int, weight float64, stale bool) {
	near := graph.list(v)
	weight = float64(net.nodes[v].states)
	for i, a := range near {
		weight *= float64(net.nodes[a].states)
		for _, b := range near[:i] {
			if graph[a][b/64]>>(b%64)&1 == 0 {
				fill++
			}
		}
	}
	return fill, weight, false
}

// hang makes trees of the cliques of an elimination: that of a column hangs on
// that of the first of its neighbours to go after it. One that lies within
// another is left out.
func hang(order []int, near [][]int, gone []int) (sets [][]int, parents []int) {
	next := func(v int) int {
		first := -1
		for _, a := range near[v] {
			if first < 0 || gone[a] < gone[first] {
				first = a
			}
		}
		return first
	}
	of := make([]int, len(near)) // clique of each column
	for v := range of {
		of[v] = -1
	}
	var last []int // the column whose parent is the clique's
	for _, v := range order {
		if of[v] < 0 {
			of[v] = len(sets)
			set := append(slices.Clone(near[v]), v)
			slices.Sort(set)
			sets, last = append(sets, set), append(last, v)
		}
		if p := next(v); p >= 0 && of[p] < 0 && last[of[v]] == v && len(near[p]) == len(near[v])-1 {
			of[p] = of[v]
			last[of[v]] = p
		}
	}
	// Absorbing keeps the order: a clique's parent is that of a later column.
	parents = make([]int, len(sets))
	for i, v := range last {
		if parents[i] = -1; next(v) >= 0 {
			parents[i] = of[next(v)]
		}
	}
	return sortTrees(sets, parents)
}

// sortTrees puts cliques before their parents.
func sortTrees(sets [][]int, parents []int) ([][]int, []int) {
	depth := func(i int) int {
		d := 0
		for ; parents[i] >= 0; i = parents[i] {
			d++
		}
		return d
	}
	depths, order, place := make([]int, len(sets)), make([]int, len(sets)), make([]int, len(sets))
	for i := range sets {
		depths[i], order[i] = depth(i), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return depths[b] - depths[a] })
	for at, i := range order {
		place[i] = at
	}
	sorted, up := make([][]int, len(sets)), make([]int, len(sets))
	for at, i := range order {
		sorted[at], up[at] = sets[i], -1
		if parents[i] >= 0 {
			up[at] = place[parents[i]]
		}
	}
	return sorted, up
}

// desk is where one question is worked on.
type desk struct {
	*findings
	tree     *junction // that the room below is for
	tables   []float64
	messages []float64
	room     []float64 // of one message or density
	down     []bool    // cliques that have heard from their parents
	filter   *filter   // of one group
	pattern  []byte    // which numbers are known: see Model.collect
}

func newDesk(columns int) *desk { return &desk{findings: newFindings(columns)} }

// use makes room for a tree.
func (d *desk) use(j *junction) {
	if d.tree == j {
		return
	}
	d.tree = j
	d.tables, d.messages, d.room = make([]float64, j.size), make([]float64, j.sent), make([]float64, j.most)
	d.down, d.filter = make([]bool, len(j.cliques)), newFilter(j.open)
}

func (d *desk) table(c *clique) []float64 { return d.tables[c.from:][:len(c.base)] }

// collect takes the desk's findings in and passes messages to the roots. It
// returns the log of their probability (their density, for numbers), −Inf if
// they cannot be.
func (j *junction) collect(d *desk) float64 {
	log := 0.0
	for i := range j.cliques {
		copy(d.table(&j.cliques[i]), j.cliques[i].base)
		d.down[i] = false
	}
	for v, code := range d.codes {
		if code >= 0 && j.home[v] >= 0 {
			j.observe(d, v, int(code))
		}
	}
	for v, l := range d.likelihood {
		j.weigh(d, v, l)
	}
	for i := range j.numbers {
		log += j.density(d, &j.numbers[i])
	}
	for i := range j.cliques {
		c := &j.cliques[i]
		t := d.table(c)
		if c.parent < 0 {
			sum := 0.0
			for _, x := range t {
				sum += x
			}
			if !(sum > 0) {
				return math.Inf(-1)
			}
			log += math.Log(sum)
			for e := range t {
				t[e] /= sum
			}
			d.down[i] = true
			continue
		}
		message := d.messages[c.sent:][:c.message]
		clear(message)
		for e, x := range t {
			message[c.up[e]] += x
		}
		sum := 0.0
		for _, x := range message {
			sum += x
		}
		if !(sum > 0) {
			return math.Inf(-1)
		}
		log += math.Log(sum)
		for s := range message {
			message[s] /= sum
		}
		to := d.table(&j.cliques[c.parent])
		for e := range to {
			to[e] *= message[c.down[e]]
		}
	}
	return log
}

// observe rules out all but one value of a column.
func (j *junction) observe(d *desk, v, code int) {
	c := &j.cliques[j.home[v]]
	t := d.table(c)
	k, _ := slices.BinarySearch(c.columns, v)
	stride, block := c.strides[k], c.strides[k]*j.net.nodes[v].states
	for from := 0; from < len(t); from += block {
		clear(t[from : from+code*stride])
		clear(t[from+(code+1)*stride : from+block])
	}
}

// weigh multiplies a column by what was seen of it.
func (j *junction) weigh(d *desk, v int, likelihood []float64) {
	if j.home[v] < 0 || len(likelihood) != j.net.nodes[v].states {
		return
	}
	c := &j.cliques[j.home[v]]
	k, _ := slices.BinarySearch(c.columns, v)
	for e := range d.table(c) {
		d.table(c)[e] *= likelihood[e/c.strides[k]%len(likelihood)]
	}
}

// density multiplies the clique of a group's nominal parents by its density,
// scaled to at most 1, and returns the log of the scale.
func (j *junction) density(d *desk, r *reading) float64 {
	if r.open == len(r.members) || len(r.members) == 1 && math.IsNaN(d.floats[r.members[0]]) {
		return 0
	}
	logs, most := d.room[:r.size], math.Inf(-1)
	for row := range logs {
		if r.open == 0 { // a single number, whose parents are known
			logs[row] = j.net.nodes[r.members[0]].logNormal(row, d.floats[r.members[0]], d.floats)
		} else {
			logs[row] = d.filter.run(j.net, &r.group, row, d.floats)
		}
		most = max(most, logs[row])
	}
	if r.clique < 0 {
		return most
	}
	for row := range logs {
		logs[row] = math.Exp(logs[row] - most)
	}
	t := d.table(&j.cliques[r.clique])
	for e := range t {
		t[e] *= logs[r.places[e]]
	}
	return most
}

// distribute passes messages down to a clique from its root.
func (j *junction) distribute(d *desk, to int) {
	if d.down[to] {
		return
	}
	c := &j.cliques[to]
	j.distribute(d, c.parent)
	room, message := d.room[:c.message], d.messages[c.sent:][:c.message]
	clear(room)
	for e, x := range d.table(&j.cliques[c.parent]) {
		room[c.down[e]] += x
	}
	for s, was := range message {
		if was > 0 {
			room[s] /= was
		}
	}
	t, sum := d.table(c), 0.0
	for e := range t {
		t[e] *= room[c.up[e]]
		sum += t[e]
	}
	for e := range t { // sums to 1 but for rounding and scales
		t[e] /= sum
	}
	d.down[to] = true
}

// marginal fills in the distribution of a nominal column after collect.
func (j *junction) marginal(d *desk, v int, p []float64) {
	j.distribute(d, j.home[v])
	c := &j.cliques[j.home[v]]
	clear(p)
	k, _ := slices.BinarySearch(c.columns, v)
	stride := c.strides[k]
	for e, x := range d.table(c) {
		p[e/stride%len(p)] += x
	}
}

// shares fills in the distribution over the combinations of a group's nominal
// parents, after collect.
func (j *junction) shares(d *desk, r *reading, p []float64) {
	clear(p)
	if r.clique < 0 {
		p[0] = 1
		return
	}
	j.distribute(d, r.clique)
	for e, x := range d.table(&j.cliques[r.clique]) {
		p[r.places[e]] += x
	}
}

package belief

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/netfile"
)

// prior is what is said of a column before any row came: for each row of its
// table a distribution, and how many cases it is worth.
type prior struct {
	table []float64
	worth float64
}

// cases is how many virtual cases a cell of the table has.
func (p *prior) cases(k int) float64 { return p.worth * p.table[k] }

// fit fills in the tables of a model's network: by counting, and where rows do
// not know everything and it is asked for, by EM or gradient ascent from there.
func (d *data) fit(ctx context.Context, m *Model) error {
	priors, err := d.priors(m.net)
	if err != nil {
		return err
	}
	nodes := m.net.nodes
	counts := make([][]float64, len(nodes))
	if err := crew.Each(ctx, len(nodes), func(v int) {
		n := &nodes[v]
		switch {
		case n.states > 0:
			counts[v] = make([]float64, n.rows(nodes)*n.states)
			d.family(v).count(append(append([]int(nil), n.parents...), v), counts[v])
			n.table = estimate(counts[v], n.states, &priors[v])
		case d.numbers[v].deviation > 0:
			of := d.family(v)
			of.normals(n, v, of.moments(v, n.parents, n.lines, false))
		default:
			n.numeric = false // no number is known yet
		}
	}); err != nil {
		return err
	}
	m.counts = counts
	m.net.reaches()
	if d.rows > 0 && (d.settings.Missing != "skip" || d.hidden) && (d.gaps || d.hidden || d.numberGaps && m.net.lined) {
		if err := d.iterate(ctx, m, priors); err != nil {
			return err
		}
	}
	return d.hear(ctx, m, priors)
}

// estimate returns the m-estimates of a table.
func estimate(counts []float64, states int, p *prior) []float64 {
	t := make([]float64, len(counts))
	for from := 0; from < len(t); from += states {
		n := p.worth
		for _, c := range counts[from : from+states] {
			n += c
		}
		for k := range states {
			at := from + k
			if n > 0 {
				t[at] = (counts[at] + p.cases(at)) / n
			} else {
				t[at] = p.table[at]
			}
		}
	}
	return t
}

// normals sets the means, slopes and deviations of a number from its moments.
func (d *data) normals(n *node, v int, all moments) {
	x := &d.numbers[v]
	unit := x.deviation / x.scale
	n.unit = max(unit, math.SmallestNonzeroFloat64)
	rows := all.rows()
	n.mean, n.deviation = make([]float64, rows), make([]float64, rows)
	if len(n.lines) > 0 {
		n.slope, n.at = make([]float64, 0, rows*len(n.lines)), make([]float64, len(n.lines))
	}
	for l, p := range n.lines {
		n.at[l] = d.numbers[p].mean / d.numbers[p].scale
	}
	for row := range rows {
		line := all.regress(row, max(d.settings.M, 1e-9))
		n.mean[row] = (x.mean + line.mean*x.deviation) / x.scale
		n.deviation[row] = max(min(math.Sqrt(line.variance)*x.deviation/x.scale, math.MaxFloat64), 1e-300)
		for l, p := range n.lines {
			slope := line.slope[l] * (unit / (d.numbers[p].deviation / d.numbers[p].scale))
			n.slope = append(n.slope, slope)
		}
	}
}

// priors returns what is said of each column: the file's table where it is worth
// something, else a uniform one worth m cases.
func (d *data) priors(net *network) ([]prior, error) {
	worths, err := d.settings.worths()
	if err != nil {
		return nil, err
	}
	all := make([]prior, len(net.nodes))
	for v := range net.nodes {
		n := &net.nodes[v]
		if n.states == 0 {
			continue
		}
		p := &all[v]
		p.worth = d.settings.M
		p.table = make([]float64, n.rows(net.nodes)*n.states)
		for k := range p.table {
			p.table[k] = 1 / float64(n.states)
		}
		worth, named := worths[d.schema.Attributes[v].Name]
		if !named {
			worth = d.settings.Worth
		}
		if d.file != nil && worth > 0 && d.fileTable(net, v, p.table) {
			p.worth = worth
		}
	}
	return all, nil
}

// fileTable copies the file's table of a column into one of the network's shape.
// It returns false if the file does not have it with the same parents.
func (d *data) fileTable(net *network, v int, to []float64) bool {
	at := make(map[string]*netfile.Variable, len(d.file.Variables))
	for i := range d.file.Variables {
		at[d.file.Variables[i].Name] = &d.file.Variables[i]
	}
	from, n := at[d.schema.Attributes[v].Name], &net.nodes[v]
	if from == nil || from.Table == nil || len(from.Parents) != len(n.parents) {
		return false
	}
	// strides of the file's table by the network's parents
	strides, known := make([]int, len(n.parents)), make([]int, len(n.parents))
	stride := len(from.States)
	for k := len(from.Parents) - 1; k >= 0; k-- {
		p := &d.file.Variables[from.Parents[k]]
		found := false
		for i, q := range n.parents {
			if d.schema.Attributes[q].Name == p.Name {
				strides[i], known[i], found = stride, len(p.States), true
			}
		}
		if !found {
			return false
		}
		stride *= len(p.States)
	}
	for row := range len(to) / n.states {
		place, rest, said := 0, row, true
		for k := range n.parents {
			code := rest / n.strides[k]
			rest %= n.strides[k]
			place += code * strides[k]
			said = said && code < known[k]
		}
		if !said {
			continue // a value that the file does not have
		}
		dist := to[row*n.states:][:n.states]
		clear(dist)
		copy(dist, from.Table[place:][:len(from.States)])
	}
	return true
}

// expecting is what a step of EM or of gradient ascent works with.
type expecting struct {
	net     *network
	plans   map[string]*plan // by which numbers are known
	counts  [][]float64
	moments []moments
	log     float64 // likelihood of the rows
	z       []float64
	shares  []float64
}

// plan is a network compiled for rows that know the same numbers.
type plan struct {
	tree     *junction
	families []family // of each column
}

// family is the columns of a nominal column's table, and where their values stand
// in a clique.
type family struct {
	clique int
	places []int32
}

// newExpecting begins with nothing expected.
func newExpecting(net *network) *expecting {
	e := &expecting{net: net, plans: map[string]*plan{}, counts: make([][]float64, len(net.nodes)), moments: make([]moments, len(net.nodes))}
	for v := range net.nodes {
		n := &net.nodes[v]
		e.counts[v] = make([]float64, len(n.table))
		if n.numeric {
			e.moments[v] = newMoments(len(n.lines), len(n.mean))
		}
	}
	return e
}

// plan compiles the network as it is for the numbers that a row knows.
func (e *expecting) plan(d *desk) (*plan, error) {
	d.pattern = d.pattern[:0]
	for v := range e.net.nodes {
		if e.net.lined {
			d.pattern = strconv.AppendBool(d.pattern, d.floats[v] == d.floats[v])
		}
	}
	if p, ok := e.plans[string(d.pattern)]; ok {
		return p, nil
	}
	tree, err := compile(e.net, e.net.groups(func(v int) bool { return d.floats[v] == d.floats[v] }, -1))
	if err != nil {
		return nil, err
	}
	p := &plan{tree: tree, families: make([]family, len(e.net.nodes))}
	for v := range e.net.nodes {
		if n := &e.net.nodes[v]; n.states > 0 {
			columns := append(slices.Clone(n.parents), v)
			p.families[v].clique = tree.smallest(columns)
			p.families[v].places, _ = tree.cliques[p.families[v].clique].places(e.net, columns)
		}
	}
	e.plans[string(d.pattern)] = p
	return p, nil
}

// take adds a row's expected counts, P(child, parents | row), to the families.
func (e *expecting) take(desk *desk, weight float64, numbers []numbers) error {
	plan, err := e.plan(desk)
	if err != nil {
		return err
	}
	tree := plan.tree
	desk.use(tree)
	log := tree.collect(desk)
	if math.IsInf(log, -1) {
		return nil // a row that cannot be has nothing to say
	}
	e.log += weight * log
	for v := range plan.families {
		if e.net.nodes[v].states == 0 {
			continue
		}
		f := &plan.families[v]
		tree.distribute(desk, f.clique)
		for entry, p := range desk.table(&tree.cliques[f.clique]) {
			if p > 0 {
				e.counts[v][f.places[entry]] += weight * p
			}
		}
	}
	for i := range tree.numbers {
		e.takeGroup(desk, &tree.numbers[i], weight, numbers)
	}
	return nil
}

// takeGroup adds what is expected of the numbers of a group.
func (e *expecting) takeGroup(desk *desk, r *reading, weight float64, numbers []numbers) {
	if len(r.members) == 1 && math.IsNaN(desk.floats[r.members[0]]) {
		return
	}
	e.shares = slices.Grow(e.shares[:0], r.size)[:r.size]
	desk.tree.shares(desk, r, e.shares)
	for k, p := range e.shares {
		if p == 0 {
			continue
		}
		if r.open > 0 {
			desk.filter.run(e.net, &r.group, k, desk.floats)
		}
		for i, v := range r.members {
			e.takeMember(desk, v, r.row(i, k), weight*p, numbers)
		}
	}
}

// takeMember adds a number and its numeric parents, as far as they are known, and
// as they are expected where they are not.
func (e *expecting) takeMember(desk *desk, v, row int, w float64, numbers []numbers) {
	n, f := &e.net.nodes[v], desk.filter
	unit := func(c int) float64 { return numbers[c].deviation / numbers[c].scale }
	e.z = e.z[:0]
	family := append(slices.Clone(n.lines), v)
	for _, c := range family {
		x := desk.floats[c]
		if x != x {
			x, _ = f.of(c)
		}
		e.z = append(e.z, (x*numbers[c].scale-numbers[c].mean)/numbers[c].deviation)
	}
	e.moments[v].add(row, w, e.z)
	for i, a := range family {
		for j, b := range family[:i+1] {
			ka, kb := slices.Index(f.open, a), slices.Index(f.open, b)
			if desk.floats[a] != desk.floats[a] && desk.floats[b] != desk.floats[b] {
				e.moments[v].spread(row, i, j, w, f.cov[ka*f.size+kb]/unit(a)/unit(b))
			}
		}
	}
}

// iterate raises the probability of rows that do not know everything, and of the
// tables beforehand.
func (d *data) iterate(ctx context.Context, m *Model, priors []prior) error {
	d.start(m, priors)
	rate, last := 0.01, math.Inf(-1)
	for range d.settings.Iterations {
		e, desk := newExpecting(m.net), newDesk(len(m.net.nodes))
		for r := range d.rows {
			if r%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			d.row(desk.findings, r, m.net)
			w := 1.0
			if d.weights != nil {
				w = d.weights[r]
			}
			if err := e.take(desk, w, d.numbers); err != nil {
				return err
			}
		}
		log := e.log + logPrior(m.net, priors)
		if d.settings.Missing == "gradient" {
			if rate *= 1.1; log < last {
				rate /= 2
			}
			e.slide(rate, priors)
		} else {
			for v := range m.net.nodes {
				if n := &m.net.nodes[v]; n.states > 0 {
					n.table = estimate(e.counts[v], n.states, &priors[v])
				}
			}
		}
		for v := range m.net.nodes {
			if n := &m.net.nodes[v]; n.numeric {
				d.normals(n, v, e.moments[v])
			}
		}
		m.counts = e.counts
		if log >= last && log-last <= 1e-7*max(1, math.Abs(log)) {
			break
		}
		last = log
	}
	return nil
}

// leastShown is below what no probability is divided by, or taken the logarithm of.
const leastShown = 1e-9

// logPrior is how probable tables are beforehand, but for a constant: their virtual
// cases count as rows do.
func logPrior(net *network, priors []prior) float64 {
	log := 0.0
	for v := range net.nodes {
		for k, p := range net.nodes[v].table {
			log += priors[v].cases(k) * math.Log(max(p, leastShown))
		}
	}
	return log
}

// start lets hidden columns begin at the file's tables, or apart from uniform
// ones, from which EM would not move.
func (d *data) start(m *Model, priors []prior) {
	random := rand.New(rand.NewPCG(m.lesson.Seed, 0x41dde2))
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		if n.states == 0 {
			continue
		}
		touched := d.unseen(v)
		for _, p := range n.parents {
			touched = touched || d.unseen(p)
		}
		if !touched || d.file != nil && d.fileTable(m.net, v, n.table) {
			continue
		}
		for from := 0; from < len(n.table); from += n.states {
			sum := 0.0
			for k := range n.states {
				n.table[from+k] = 0.5 + random.Float64()
				sum += n.table[from+k]
			}
			for k := range n.states {
				n.table[from+k] /= sum
			}
		}
	}
}

// unseen reports whether no row knows a nominal column.
func (d *data) unseen(v int) bool {
	for _, c := range d.codes[v] {
		if c != unknown {
			return false
		}
	}
	return true
}

// slide is a step of gradient ascent that stays where probabilities sum to 1
// (Russell et al. 1995): along the gradient of equation 6.25, the virtual cases of
// the table among the rows, less its mean over the row of the table, for a case of
// that row.
func (e *expecting) slide(rate float64, priors []prior) {
	for v := range e.net.nodes {
		n := &e.net.nodes[v]
		t := slices.Clone(n.table)
		uphill := make([]float64, n.states)
		for from := 0; from < len(t); from += max(n.states, 1) {
			weight, mean := 0.0, 0.0
			for k := range uphill {
				cases := e.counts[v][from+k] + priors[v].cases(from+k)
				weight += cases
				uphill[k] = cases / max(t[from+k], leastShown)
				mean += uphill[k] / float64(n.states)
			}
			if weight <= 0 {
				continue
			}
			sum := 0.0
			for k := range uphill {
				step, p := rate*(uphill[k]-mean)/weight, t[from+k]
				t[from+k] = max(p+max(-p/2, min(step, 0.1)), leastShown)
				sum += t[from+k]
			}
			for k := from; k < from+n.states; k++ {
				t[k] /= sum
			}
		}
		n.table = t
	}
}

// ascend is the step as Mitchell's section 6.11.5 has it: w ← w + η Σ P(child,
// parents | row)/w, then each row is divided by its sum. It is good for a step,
// not for many: w stays where it is when its squares, not w itself, are as the
// expected counts, so that learning goes by slide.
func (e *expecting) ascend(rate float64) {
	for v := range e.net.nodes {
		n := &e.net.nodes[v]
		t := make([]float64, len(n.table))
		for from := 0; from < len(t); from += max(n.states, 1) {
			sum := 0.0
			for k := from; k < from+n.states; k++ {
				t[k] = n.table[k]
				if n.table[k] > 0 {
					t[k] += rate * e.counts[v][k] / n.table[k]
				}
				sum += t[k]
			}
			for k := from; k < from+n.states; k++ {
				t[k] /= sum
			}
		}
		n.table = t
	}
}

// row reads a row's cells.
func (d *data) row(f *findings, r int, net *network) {
	for v := range net.nodes {
		f.codes[v], f.floats[v] = -1, math.NaN()
		switch {
		case d.codes[v] != nil:
			if c := d.codes[v][r]; c != unknown {
				f.codes[v] = int32(c)
			}
		case net.nodes[v].numeric:
			x := &d.numbers[v]
			f.floats[v] = (x.mean + x.z[r]*x.deviation) / x.scale
		}
	}
}

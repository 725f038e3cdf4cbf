package belief

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/netfile"
)

// prior is what is said of a column before any row came: for each row of its
// table a distribution, and how many cases it is worth.
type prior struct {
	table []float64
	worth float64
}

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
			d.normals(n, v, d.family(v).sums(v, n.parents, false))
		default:
			n.numeric = false // no number is known yet
		}
	}); err != nil {
		return err
	}
	m.counts = counts
	if d.rows == 0 || d.settings.Missing == "skip" && !d.hidden || !d.gaps && !d.hidden {
		return nil
	}
	return d.iterate(ctx, m, priors)
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
				t[at] = (counts[at] + p.worth*p.table[at]) / n
			} else {
				t[at] = p.table[at]
			}
		}
	}
	return t
}

// normals sets the means and deviations of a number from its sums.
func (d *data) normals(n *node, v int, all []sums) {
	x := &d.numbers[v]
	n.unit = max(x.deviation/x.scale, math.SmallestNonzeroFloat64)
	n.mean, n.deviation = make([]float64, len(all)), make([]float64, len(all))
	for row := range all {
		s := &all[row]
		mean := 0.0
		if s.n > 0 {
			mean = s.x / s.n
		}
		n.mean[row] = (x.mean + mean*x.deviation) / x.scale
		n.deviation[row] = max(min(math.Sqrt(s.variance(max(d.settings.M, 1e-9)))*x.deviation/x.scale, math.MaxFloat64), 1e-300)
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
	if from == nil || len(from.Parents) != len(n.parents) {
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
	net      *network
	tree     *junction
	families []family // of each column
	counts   [][]float64
	sums     [][]sums
	log      float64 // likelihood of the rows
}

// family is the columns of a table, and where their values stand in a clique.
type family struct {
	columns []int
	clique  int
	places  []int32
}

// newExpecting compiles the network as it is.
func newExpecting(net *network) (*expecting, error) {
	tree, err := compile(net)
	if err != nil {
		return nil, err
	}
	e := &expecting{net: net, tree: tree, families: make([]family, len(net.nodes)), counts: make([][]float64, len(net.nodes)), sums: make([][]sums, len(net.nodes))}
	for v := range net.nodes {
		n := &net.nodes[v]
		f := family{columns: append([]int(nil), n.parents...), clique: -1}
		if n.states > 0 {
			f.columns = append(f.columns, v)
		}
		if len(f.columns) > 0 && n.there() {
			f.clique = tree.smallest(f.columns)
			f.places, _ = tree.cliques[f.clique].places(net, f.columns)
		}
		e.families[v] = f
		e.counts[v] = make([]float64, len(n.table))
		if n.numeric {
			e.sums[v] = make([]sums, len(n.mean))
		}
	}
	return e, nil
}

// take adds a row's expected counts, P(child, parents | row), to the families.
func (e *expecting) take(desk *desk, weight float64, z []float64) {
	log := e.tree.collect(desk)
	if math.IsInf(log, -1) {
		return // a row that cannot be has nothing to say
	}
	e.log += weight * log
	for v := range e.families {
		f, n := &e.families[v], &e.net.nodes[v]
		if f.clique < 0 {
			if n.numeric && z[v] == z[v] {
				e.sums[v][0].add(weight, z[v])
			}
			continue
		}
		if n.numeric && z[v] != z[v] {
			continue
		}
		e.tree.distribute(desk, f.clique)
		for entry, p := range desk.table(&e.tree.cliques[f.clique]) {
			switch {
			case p == 0:
			case n.numeric:
				e.sums[v][f.places[entry]].add(weight*p, z[v])
			default:
				e.counts[v][f.places[entry]] += weight * p
			}
		}
	}
}

func (s *sums) add(w, z float64) { s.n, s.x, s.xx = s.n+w, s.x+w*z, s.xx+w*z*z }

// iterate raises the likelihood of rows that do not know everything.
func (d *data) iterate(ctx context.Context, m *Model, priors []prior) error {
	d.start(m, priors)
	rate, last := 0.01, math.Inf(-1)
	for range d.settings.Iterations {
		e, err := newExpecting(m.net)
		if err != nil {
			return err
		}
		desk, z := e.tree.newDesk(), make([]float64, len(m.net.nodes))
		for r := range d.rows {
			if r%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			d.row(desk.findings, r, m.net, z)
			w := 1.0
			if d.weights != nil {
				w = d.weights[r]
			}
			e.take(desk, w, z)
		}
		if d.settings.Missing == "gradient" {
			if rate *= 1.1; e.log < last {
				rate /= 2
			}
			e.slide(rate)
		} else {
			for v := range m.net.nodes {
				if n := &m.net.nodes[v]; n.states > 0 {
					n.table = estimate(e.counts[v], n.states, &priors[v])
				}
			}
		}
		for v := range m.net.nodes {
			if n := &m.net.nodes[v]; n.numeric {
				d.normals(n, v, e.sums[v])
			}
		}
		m.counts = e.counts
		if e.log >= last && e.log-last <= 1e-7*max(1, math.Abs(e.log)) {
			break
		}
		last = e.log
	}
	return nil
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
// (Russell et al. 1995): along the gradient of equation 6.25 less its mean over
// the row of the table, for a case of that row.
func (e *expecting) slide(rate float64) {
	for v := range e.net.nodes {
		n := &e.net.nodes[v]
		t := make([]float64, len(n.table))
		for from := 0; from < len(t); from += max(n.states, 1) {
			weight, mean := 0.0, 0.0
			for k := from; k < from+n.states; k++ {
				weight += e.counts[v][k]
			}
			copy(t[from:from+n.states], n.table[from:])
			if weight <= 0 {
				continue
			}
			for k := from; k < from+n.states; k++ {
				mean += e.counts[v][k] / max(n.table[k], 1e-9) / weight / float64(n.states)
			}
			sum := 0.0
			for k := from; k < from+n.states; k++ {
				step := rate * (e.counts[v][k]/max(n.table[k], 1e-9)/weight - mean)
				t[k] = max(n.table[k]+max(-n.table[k]/2, min(step, 0.1)), 1e-9)
				sum += t[k]
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

// row reads a row's cells, and its numbers in deviations.
func (d *data) row(f *findings, r int, net *network, z []float64) {
	for v := range net.nodes {
		f.codes[v], f.floats[v], z[v] = -1, math.NaN(), math.NaN()
		switch {
		case d.codes[v] != nil:
			if c := d.codes[v][r]; c != unknown {
				f.codes[v] = int32(c)
			}
		case net.nodes[v].numeric:
			x := &d.numbers[v]
			z[v] = x.z[r]
			f.floats[v] = (x.mean + z[v]*x.deviation) / x.scale
		}
	}
}

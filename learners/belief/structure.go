package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/netfile"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Arc certifies an arc of the graph: what it added to the score when it came.
type Arc struct {
	Parent, Child string
	Gain          float64 // nats; 0 where nothing was measured
	Score         string  // which score it is, or who brought the arc
}

func (a Arc) String() string {
	if a.Gain == 0 {
		return fmt.Sprintf("%s → %s: %s", a.Parent, a.Child, a.Score)
	}
	return fmt.Sprintf("%s → %s: the rows are e^%.4g times as probable with it (%s)", a.Parent, a.Child, a.Gain, a.Score)
}

// graph is parents in the making, within what an expert allows.
type graph struct {
	*data
	parents   [][]int
	gains     []map[int]float64 // of each arc when it came
	required  map[[2]int]bool
	forbidden map[[2]int]bool
	said      string // who brought arcs without a gain
}

// structure returns the parents of each column, and a certificate of each arc.
func (d *data) structure(ctx context.Context, l *lesson) (parents [][]int, arcs []Arc, err error) {
	n := len(d.schema.Attributes)
	g := &graph{data: d, parents: make([][]int, n), gains: make([]map[int]float64, n), required: map[[2]int]bool{}, forbidden: map[[2]int]bool{}}
	if err := g.wishes(); err != nil {
		return nil, nil, err
	}
	for v := range g.parents { // of which no cell is known yet
		g.parents[v] = slices.DeleteFunc(g.parents[v], func(p int) bool { return !d.may(p, v) })
	}
	switch d.settings.Structure {
	case "given":
		err = g.given()
	case "naive":
		err = g.naive()
	case "tan":
		err = g.tan(ctx)
	case "k2":
		err = g.k2(ctx)
	case "pc":
		err = g.pc(ctx)
	default:
		err = g.climb(ctx, l.Seed)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(topological(g.parents)) < n {
		return nil, nil, fmt.Errorf("the arcs go in a circle; expected a graph without (see the settings require and order)")
	}
	for v := range g.parents {
		names, _ := d.sorts(g.parents[v])
		if _, ok := d.size(names); !ok {
			return nil, nil, fmt.Errorf("the table of column %q would be too large; give it fewer parents", d.schema.Attributes[v].Name)
		}
		for _, p := range g.parents[v] {
			a := Arc{Parent: d.schema.Attributes[p].Name, Child: d.schema.Attributes[v].Name, Gain: g.gains[v][p], Score: d.settings.Score}
			switch {
			case g.required[[2]int{p, v}]:
				a.Gain, a.Score = 0, "required"
			case a.Gain == 0:
				a.Score = g.said
			}
			arcs = append(arcs, a)
		}
	}
	slices.SortStableFunc(arcs, func(a, b Arc) int {
		switch {
		case a.Gain > b.Gain:
			return -1
		case a.Gain < b.Gain:
			return 1
		}
		return 0
	})
	return g.parents, arcs, nil
}

// wishes reads what an expert requires and forbids, and begins with it.
func (g *graph) wishes() error {
	required, err := g.arcs("require", g.settings.Require)
	if err != nil {
		return err
	}
	forbidden, err := g.arcs("forbid", g.settings.Forbid)
	if err != nil {
		return err
	}
	for _, a := range forbidden {
		g.forbidden[a] = true
	}
	for _, a := range required {
		if g.forbidden[a] {
			return fmt.Errorf("the arc %s->%s is both required and forbidden", g.schema.Attributes[a[0]].Name, g.schema.Attributes[a[1]].Name)
		}
		if !g.required[a] {
			g.required[a] = true
			g.parents[a[1]] = append(g.parents[a[1]], a[0])
		}
	}
	known := netfile.Network{Variables: make([]netfile.Variable, len(g.parents))}
	for v, parents := range g.parents {
		known.Variables[v].Parents = parents
	}
	if circle := known.Cycle(); circle != nil {
		var text strings.Builder
		for _, v := range circle {
			text.WriteString(g.schema.Attributes[v].Name + "->")
		}
		return fmt.Errorf("the arcs of require= go in a circle: %s%s; expected a graph without", text.String(), g.schema.Attributes[circle[0]].Name)
	}
	return nil
}

// add takes an arc in, unless it is there or forbidden.
func (g *graph) add(from, to int, gain float64) {
	if g.forbidden[[2]int{from, to}] || slices.Contains(g.parents[to], from) || !g.may(from, to) {
		return
	}
	g.parents[to] = append(g.parents[to], from)
	if g.gains[to] == nil {
		g.gains[to] = map[int]float64{}
	}
	g.gains[to][from] = gain
}

// given takes the file's arcs.
func (g *graph) given() error {
	g.said = "given"
	if g.file == nil {
		return nil
	}
	at := make([]int, len(g.file.Variables))
	for i := range g.file.Variables {
		at[i] = g.schema.Index(g.file.Variables[i].Name)
	}
	for i := range g.file.Variables {
		for _, p := range g.file.Variables[i].Parents {
			if err := g.fits(at[p], at[i]); err != nil {
				return fmt.Errorf("the network has the arc %s -> %s: %w", g.file.Variables[p].Name, g.file.Variables[i].Name, err)
			}
			g.add(at[p], at[i], 0)
		}
	}
	return nil
}

// naive makes the class the parent of all.
func (g *graph) naive() error {
	if g.target == learn.NoTarget {
		return fmt.Errorf("structure=naive needs a target: its class is the parent of every column")
	}
	g.said = "naive"
	for v := range g.parents {
		g.add(g.target, v, 0)
	}
	return nil
}

// tan makes the class the parent of all, if there is one, and joins the columns by
// the tree of the most information given the class (Chow & Liu 1968; Friedman,
// Geiger & Goldszmidt 1997). Names are joined first and numbers hang on that tree
// (Pérez, Larrañaga & Inza 2006), since no name depends on a number.
func (g *graph) tan(ctx context.Context) error {
	g.said = "of the class"
	if g.target != learn.NoTarget {
		_ = g.naive()
	}
	g.said = "of the class"
	var columns []int
	for v := range g.parents {
		if v != g.target && g.there(v) {
			columns = append(columns, v)
		}
	}
	names := slices.DeleteFunc(slices.Clone(columns), func(v int) bool { return !g.named(v) })
	k := len(columns)
	shared := make([]float64, k*k)
	if err := crew.Each(ctx, k, func(i int) {
		for j := range i {
			shared[i*k+j] = g.information(columns[i], columns[j])
			shared[j*k+i] = shared[i*k+j]
		}
	}); err != nil {
		return err
	}
	best, from := make([]float64, k), make([]int, k) // Prim's algorithm
	done := make([]bool, k)
	for i := range best {
		best[i], from[i] = math.Inf(-1), -1
	}
	for at := range k {
		next := -1
		for i := range k {
			if !done[i] && (at < len(names)) == g.named(columns[i]) && (next < 0 || best[i] > best[next]) {
				next = i
			}
		}
		done[next] = true
		if from[next] >= 0 && best[next] > 0 {
			g.add(columns[from[next]], columns[next], best[next])
		}
		for i := range k {
			if !done[i] && shared[next*k+i] > best[i] {
				best[i], from[i] = shared[next*k+i], next
			}
		}
	}
	return nil
}

// information returns what two columns tell of each other given the class, in
// nats over all rows.
func (g *graph) information(a, b int) float64 {
	columns := []int{a, b}
	if g.target != learn.NoTarget {
		columns = []int{g.target, a, b}
	}
	g2, _, _, ok := g.deviance(columns)
	if !ok {
		return 0
	}
	return max(g2/2, 0)
}

// normalDeviance is deviance where one of the last two columns is a number.
func (d *data) normalDeviance(columns []int) (g2, freedom, n float64, ok bool) {
	last := len(columns) - 1
	a, b, given := columns[last-1], columns[last], columns[:last-1]
	if d.isNominal(b) {
		a, b = b, a
	}
	names, lines := d.sorts(given)
	kept := len(lines)
	if d.isNominal(a) {
		names = append(names, a)
	} else {
		lines = append(lines, a)
	}
	size, ok := d.size(names)
	if !ok || size*(len(lines)+2)*(len(lines)+2) > netfile.MaxTable {
		return 0, 0, 0, false
	}
	with := d.moments(b, names, lines, false)
	var without moments
	if kept < len(lines) {
		without = with.drop(kept)
	} else {
		without = with.join(d.states(a, false), 1)
	}
	for row := range with.rows() {
		n += with.weight(row)
	}
	freedom = float64(with.rows()*(2+with.lines) - without.rows()*(2+without.lines))
	return 2 * (with.logLikelihood() - without.logLikelihood()), freedom, n, true
}

// deviance returns G² of the last two columns given those before them, its
// degrees of freedom as in the tables, and the weight of the rows that know all.
func (d *data) deviance(columns []int) (g2, freedom, n float64, ok bool) {
	if !d.isNominal(columns[len(columns)-1]) || !d.isNominal(columns[len(columns)-2]) {
		return d.normalDeviance(columns)
	}
	size, ok := d.size(columns)
	if !ok {
		return 0, 0, 0, false
	}
	counts := make([]float64, size)
	d.count(columns, counts)
	ra := len(d.schema.Attributes[columns[len(columns)-2]].Values)
	rb := len(d.schema.Attributes[columns[len(columns)-1]].Values)
	as, bs := make([]float64, ra), make([]float64, rb)
	for from := 0; from < size; from += ra * rb {
		clear(as)
		clear(bs)
		all := 0.0
		cell := counts[from : from+ra*rb]
		for k, c := range cell {
			as[k/rb] += c
			bs[k%rb] += c
			all += c
		}
		n += all
		for k, c := range cell {
			if c > 0 {
				g2 += 2 * c * math.Log(c*all/(as[k/rb]*bs[k%rb]))
			}
		}
	}
	return g2, float64((ra - 1) * (rb - 1) * (size / (ra * rb))), n, true
}

// order returns the columns as k2 goes through them.
func (g *graph) order() ([]int, error) {
	var order []int
	for _, name := range strings.Split(g.settings.Order, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		j := g.schema.Index(name)
		if j < 0 {
			return nil, fmt.Errorf("setting order: there is no column %q%s", name, spell.Hint(name, g.schema.Names()))
		}
		if slices.Contains(order, j) {
			return nil, fmt.Errorf("setting order: column %q comes twice", name)
		}
		order = append(order, j)
	}
	rest := []int{}
	if g.target != learn.NoTarget {
		rest = append(rest, g.target)
	}
	for v := range g.schema.Attributes {
		if v != g.target {
			rest = append(rest, v)
		}
	}
	for _, v := range rest {
		if !slices.Contains(order, v) {
			order = append(order, v)
		}
	}
	return order, nil
}

// k2 is the greedy search of Cooper & Herskovits (1992): each column of the
// order takes, one by one, the earlier column that raises its score the most.
// Theirs takes no parent back; ours does when that raises the score, and an arc
// has its price, unless graphs=even.
func (g *graph) k2(ctx context.Context) error {
	g.said = "k2"
	order, err := g.order()
	if err != nil {
		return err
	}
	type arc struct {
		from int
		gain float64
	}
	found := make([][]arc, len(order))
	err = crew.Each(ctx, len(order), func(i int) {
		v := order[i]
		if !g.there(v) {
			return
		}
		parents, price := slices.Clone(g.parents[v]), g.price(v, order[:i], 1)
		for len(parents) < g.settings.Parents && ctx.Err() == nil {
			best, most := -1, price+1e-9
			for _, z := range order[:i] {
				if slices.Contains(parents, z) || g.forbidden[[2]int{z, v}] || !g.may(z, v) {
					continue
				}
				if gain, ok := g.gain(v, parents, z); ok && gain > most {
					best, most = z, gain
				}
			}
			if best < 0 {
				break
			}
			parents = append(parents, best)
			found[i] = append(found[i], arc{best, most})
			// Two parents together may do what the first one stood for alone.
			for k := 0; k < len(found[i]); k++ {
				z := found[i][k].from
				rest := slices.DeleteFunc(slices.Clone(parents), func(p int) bool { return p == z })
				if gain, ok := g.gain(v, rest, z); ok && gain < price-1e-9 {
					parents, found[i] = rest, slices.Delete(found[i], k, k+1)
					k = -1
				}
			}
		}
	})
	if err != nil {
		return err
	}
	for i, arcs := range found {
		for _, a := range arcs {
			g.add(a.from, order[i], a.gain)
		}
	}
	return nil
}

// price returns what an arc into a column has to gain before it is more probable
// than not, in nats: of all that may come from some columns one is expected, so
// that each has the odds one to their number beforehand. A link that may point
// either way has two chances.
func (g *graph) price(to int, from []int, ways float64) float64 {
	if g.settings.Graphs != "sparse" {
		return 0
	}
	n := 0.0
	for _, p := range from {
		if p != to && g.may(p, to) && !g.forbidden[[2]int{p, to}] {
			n++
		}
	}
	return math.Log(max(n/ways, 1))
}

// isNominal reports whether a column has names for values.
func (d *data) isNominal(column int) bool { return d.schema.Attributes[column].Kind == table.Nominal }

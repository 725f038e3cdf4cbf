package knowledge

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// Any model can be read out as a tree (after TREPAN: Craven & Shavlik 1996): the
// model is the teacher that answers rows, those that there are and as many more
// as are wanted, drawn like them, and the tree learns its answers. It is as large
// as agreeing with the model takes, and no larger.

// Readout is a model read out as a tree.
type Readout struct {
	Tree learn.Model
	// Fidelity is the share of rows, kept out of the tree, that it answers as
	// the model does; of numbers the share of the variance of the model's
	// answers that it explains. Deviation is its standard error.
	Fidelity, Deviation float64
	Held                int // rows that it was measured on
	Asked               int // rows that the model was asked for, besides
}

const (
	leastAsked = 10_000 // rows that the model answers at least
	mostAsked  = 100_000
	resample   = .5 // share of the cells of a drawn row that come from other rows
	// small is what a smaller tree may be less faithful by even where that is
	// known exactly: one answer in a hundred.
	small = .01
)

// readoutSizes are the sizes of trees that are tried: tests on a path at most, and
// for trees that go deeper only where the model does the rows that it is asked for
// and that a branch must have at least, in thousandths; 0 is no limit.
var readoutSizes = []struct{ depth, thousandths int }{
	{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {8, 0},
	{0, 100}, {0, 50}, {0, 30}, {0, 20}, {0, 10}, {0, 5}, {0, 2}, {0, 1}, {0, 0},
}

// TreeOf makes a tree that answers as a model does, from rows like those that
// it will be asked for. A third of them only measures how far the two agree.
func TreeOf(ctx context.Context, m learn.Model, rows *table.Table, seed uint64) (*Readout, error) {
	if m.Target() == learn.NoTarget {
		return nil, fmt.Errorf("a density of all columns answers nothing that a tree could")
	}
	if rows.Rows() < 3 {
		return nil, fmt.Errorf("%d rows are too few to ask a model about; expected three or more", rows.Rows())
	}
	random := rand.New(rand.NewPCG(seed, 0x7265))
	order := random.Perm(rows.Rows())
	held, err := answered(ctx, m, rows.Select(order[:rows.Rows()/3]))
	if err != nil {
		return nil, err
	}
	known := rows.Select(order[rows.Rows()/3:])
	more, err := likeThem(known, min(max(leastAsked-known.Rows(), known.Rows()), mostAsked), random)
	if err != nil {
		return nil, err
	}
	asked, err := table.Concat(known, more)
	if err != nil {
		return nil, err
	}
	if asked, err = answered(ctx, m, asked); err != nil {
		return nil, err
	}
	var all []*Readout
	best := 0
	for i, size := range readoutSizes {
		r := &Readout{Held: held.Rows(), Asked: asked.Rows()}
		if r.Tree, err = fitted(ctx, asked, m.Target(), size.depth, size.thousandths*asked.Rows()/1000, seed); err != nil {
			return nil, err
		}
		if r.Fidelity, r.Deviation, err = fidelity(ctx, r.Tree, held, m.Target()); err != nil {
			return nil, err
		}
		if all = append(all, r); r.Fidelity > all[best].Fidelity {
			best = i
		}
	}
	near, least := all[best], all[best].Fidelity-max(all[best].Deviation, small)
	for _, r := range all { // the smallest that is nearly as faithful
		if r.Fidelity >= least && r.Tree.Size().Rules < near.Tree.Size().Rules {
			near = r
		}
	}
	return near, nil
}

// fitted learns a tree of the model's answers; depth and branch, which are its most
// tests on a path and the least rows of a branch, may be 0 for no limit.
func fitted(ctx context.Context, t *table.Table, target, depth, branch int, seed uint64) (learn.Model, error) {
	settings := map[string]string{"keep": "nothing"}
	if depth > 0 {
		settings["max-depth"] = strconv.Itoa(depth)
	}
	if branch > 0 {
		settings["min-rows"] = strconv.Itoa(branch)
	}
	l, err := learn.New("tree", settings)
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, learn.Task{Table: t, Seed: seed}.At(target))
}

// answered returns rows with the model's answers as their target.
func answered(ctx context.Context, m learn.Model, t *table.Table) (*table.Table, error) {
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return nil, err
	}
	columns, schema := append([]table.Column(nil), t.Columns...), t.Schema
	if len(columns) == m.Target() { // a mixture answers with its component, which rows do not have
		columns, schema = append(columns, table.Column{}), m.Schema()
	}
	if out.Classes == 0 {
		columns[m.Target()] = table.Column{Floats: out.Mean}
	} else {
		names, codes := m.Schema().Attributes[m.Target()].Values, make([]int32, t.Rows())
		for r := range codes {
			codes[r] = int32(learn.Best(out.Row(r), names))
		}
		columns[m.Target()] = table.Column{Codes: codes}
	}
	return table.New(schema, columns, t.Weights)
}

// likeThem draws rows: each is one of those that there are, with some of its
// cells taken from others, so that what goes together mostly does and yet
// places between the rows are asked about too.
func likeThem(t *table.Table, n int, random *rand.Rand) (*table.Table, error) {
	from := make([]int, n)
	for i := range from {
		from[i] = random.IntN(t.Rows())
	}
	drawn := t.Select(from)
	for j := range drawn.Columns {
		c, source := &drawn.Columns[j], &t.Columns[j]
		for i := range n {
			if random.Float64() >= resample {
				continue
			}
			other := random.IntN(t.Rows())
			switch {
			case c.Codes != nil:
				c.Codes[i] = source.Codes[other]
			case c.Floats != nil:
				c.Floats[i] = source.Floats[other]
			}
		}
	}
	return table.New(t.Schema, drawn.Columns, nil)
}

// fidelity is how far a tree agrees with the answers that rows have.
func fidelity(ctx context.Context, tree learn.Model, t *table.Table, target int) (share, deviation float64, err error) {
	out := learn.NewPredictions(tree, t.Rows())
	if err := tree.Predict(ctx, t, out); err != nil {
		return 0, 0, err
	}
	var rows, same, mean float64
	names := tree.Schema().Attributes[target].Values
	for r := range t.Rows() {
		w := t.Weight(r)
		rows += w
		if out.Classes == 0 {
			mean += w * t.Columns[target].Floats[r]
		} else if int32(learn.Best(out.Row(r), names)) == t.Columns[target].Codes[r] {
			same += w
		}
	}
	if rows == 0 {
		return 0, 0, fmt.Errorf("no row weighs anything")
	}
	if out.Classes > 0 {
		share = same / rows
		return share, math.Sqrt(share * (1 - share) / rows), nil
	}
	mean /= rows
	var around, left, squares float64
	for r, x := range t.Columns[target].Floats {
		w, d := t.Weight(r), (x-out.Mean[r])*(x-out.Mean[r])
		around, left, squares = around+w*(x-mean)*(x-mean), left+w*d, squares+w*d*d
	}
	if around == 0 {
		return 1, 0, nil
	}
	return 1 - left/around, math.Sqrt(max(squares-left*left/rows, 0)) / around, nil
}

// String says how far the tree agrees with the model.
func (r *Readout) String() string {
	if r.Tree.Schema().Attributes[r.Tree.Target()].Kind == table.Nominal {
		return fmt.Sprintf("a tree that answers as the model does on %.1f %% (±%.1f) of %d rows that it did not see; the model was asked %d others", 100*r.Fidelity, 196*r.Deviation, r.Held, r.Asked)
	}
	return fmt.Sprintf("a tree that explains %.1f %% (±%.1f) of how the model's answers vary over %d rows that it did not see; the model was asked %d others", 100*r.Fidelity, 196*r.Deviation, r.Held, r.Asked)
}

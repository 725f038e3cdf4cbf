package rulenet

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/learn"
)

// Finer bins, for numbers. Where the target jumps inside a bin, no tree can tell the
// rows on one side of the jump from those on the other, and of a target with little
// noise that is most of what is left. Such jumps are beside the cuts by which trees part
// their rows most: columns are cut anew, half of the bins going to where that is, and
// trees that see these are taken where rows held out say that they clearly win.

const (
	finerFrom  = 2000 // weight of rows from which finer bins are rehearsed
	finerTimes = 3    // at most
	finerWin   = 0.9  // of the loss, that they must bring it to
	nearShare  = 0.5  // of the bins, that go to where trees part their rows
)

// finer cuts columns anew as long as a teacher that sees them so clearly wins.
func (h *school) finer(ctx context.Context, parts []*part, f *faculty) (*faculty, error) {
	for range finerTimes {
		bins, rows := h.binned, h.x
		if err := h.cutFiner(ctx, f); err != nil {
			return nil, err
		}
		other, err := h.teachAll(ctx, parts, f.options, f)
		if err != nil {
			return nil, err
		}
		if !(other.least < f.least*finerWin) {
			h.binned, h.x = bins, rows
			break
		}
		f = other
	}
	return f, nil
}

// cutFiner cuts columns of numbers anew.
func (h *school) cutFiner(ctx context.Context, f *faculty) error {
	parted := h.parted(f)
	b := *h.binned
	b.columns, b.cuts = slices.Clone(h.columns), slices.Clone(h.cuts)
	err := learn.Each(ctx, len(b.columns), func(i int) {
		if c := &b.columns[i]; c.Ordered && sum(parted[i]) > 0 {
			near := nearCuts(c, h.weights, parted[i])
			b.binNumbers(h.table, i, func(r int) float64 { return near[r] })
		}
	})
	x := *h.x
	x.Columns = b.columns
	h.binned, h.x = &b, &x
	return err
}

// parted returns, for each column and bin, the sum of the squares by which trees part
// the rows that they remember at the bin's end.
func (h *school) parted(f *faculty) [][]float64 {
	parted := make([][]float64, len(h.columns))
	for i := range parted {
		parted[i] = make([]float64, h.columns[i].Bins)
	}
	for _, t := range f.teachers {
		for n := range t.Trees[:f.trees] {
			tree := &t.Trees[n]
			rows, said := make([]float64, len(tree.Nodes)), make([]float64, len(tree.Nodes))
			for _, leaf := range t.LeafOf[n] {
				rows[leaf]++
			}
			for i := len(tree.Nodes) - 1; i >= 0; i-- {
				at := &tree.Nodes[i]
				if at.Left == 0 {
					said[i] = rows[i] * tree.Values[i]
					continue
				}
				l, r := at.Left, at.Right
				rows[i], said[i] = rows[l]+rows[r], said[l]+said[r]
				if end := lastBelow(&h.columns[at.Column], at.Set); end > 0 && rows[l] > 0 && rows[r] > 0 {
					apart := said[l]/rows[l] - said[r]/rows[r]
					parted[at.Column][end] += rows[l] * rows[r] / rows[i] * apart * apart
				}
			}
		}
	}
	return parted
}

// lastBelow returns the last bin below the cut of a split; 0 if it is no cut.
func lastBelow(c *boost.Column, left uint64) int {
	known := uint64(1)<<c.Bins - 2
	if left &= known; left>>1&1 == 0 {
		left = known &^ left
	}
	if !c.Ordered || left == known {
		return 0
	}
	return log2(left)
}

// nearCuts returns what rows weigh where some are worth more bins: those of the bins
// on both sides of a cut, as much as trees part their rows there.
func nearCuts(c *boost.Column, weights, parted []float64) []float64 {
	of := make([]float64, c.Bins)
	for r, bin := range c.Cells {
		of[bin] += weights[r]
	}
	known, all := sum(of[1:]), sum(parted)
	each := make([]float64, c.Bins)
	for bin := 1; bin < c.Bins; bin++ {
		if of[bin] > 0 {
			each[bin] = (1-nearShare)/known + nearShare*(parted[bin-1]+parted[bin])/2/all/of[bin]
		}
	}
	near := make([]float64, len(weights))
	for r, bin := range c.Cells {
		near[r] = weights[r] * each[bin]
	}
	return near
}

package rulenet

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// frequencyBins is the number of intervals of equal frequency.
const frequencyBins = 16

// chosenCuts are the best of all others on rows held out.
const chosenCuts = "auto"

// learnCut climbs from cuts of every kind, and returns the network that was best on
// rows held out; of those that are alike, the first.
func learnCut(ctx context.Context, rows *kept.Rows, t *table.Table, at int, seed uint64, s settings) (*Model, error) {
	var best *Model
	chosen := ""
	for _, way := range []string{"both", "mdl", "frequency"} {
		own := s
		own.Cuts = way
		m, err := learnClimbed(ctx, rows, t, at, seed, own, nil)
		if err != nil {
			return nil, err
		}
		if best == nil || m.rehearsed > 0 && m.rehearsed < best.rehearsed*(1-leastGain) {
			best, chosen = m, way
		}
	}
	best.settings = s
	best.stopped += "; cuts=" + chosen + " was best there"
	return best, nil
}

// findCuts cuts the numeric columns where the classes change (mdl), where the
// numbers lie (frequency), or both. Supervised cuts look at one column alone
// and ask for proof: they see no interaction, and of few rows hardly anything.
// So where there are none in a column, or cuts shall be fine since there are
// few rows, those of equal frequency join them.
func findCuts(ctx context.Context, t *table.Table, target int, way string, fine bool) ([]*encode.Cuts, error) {
	cuts := make([]*encode.Cuts, len(t.Columns))
	if way != "frequency" {
		found, err := encode.FitIntervals(ctx, t, target, encode.ByMDL, 0)
		if err != nil {
			return nil, err
		}
		cuts = found.Columns
	}
	if way == "mdl" {
		return cuts, nil
	}
	found, err := encode.FitIntervals(ctx, t, target, encode.ByFrequency, frequencyBins)
	if err != nil {
		return nil, err
	}
	for col, c := range found.Columns {
		switch {
		case c == nil:
		case cuts[col] == nil || len(cuts[col].At) == 0:
			cuts[col] = c
		case fine:
			at := append(slices.Clone(cuts[col].At), c.At...)
			slices.Sort(at)
			cuts[col] = &encode.Cuts{At: slices.Compact(at)}
		}
	}
	return cuts, nil
}

package reproduce

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learners/gaussian"
)

// The Boston housing experiments of Tresp, Hollatz & Ahmad 1997. The paper
// prints most results as curves without figures; where it does, the reference is
// what an independent program found in the same experiment. Columns are z-scored
// over all rows, as in the paper; widths are at least 0.2. A seed is another
// division into ten folds and other starts. How they are measured is in
// housing.go.
const tresp = "Tresp, Hollatz & Ahmad 1997, "

// onHousing is an experiment whose measure is taken on a division of the data.
func onHousing(name, where, measure string, figure Figure, seeds int, why string, compute func(*housing, context.Context) (float64, error)) Experiment {
	return Experiment{
		Name: "gaussian-" + name, Tags: []string{"tresp"}, Source: tresp + where, Measure: measure, Figure: figure, Seeds: seeds, Why: why,
		Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
			h, err := loadHousing(ctx, seed)
			if err != nil {
				return 0, err
			}
			return compute(h, ctx)
		}),
	}
}

// gaussianUnits is how many units there are, and what three of them are.
func gaussianUnits() []Experiment {
	const nearest = "all divisions and starts come to the same units where they are nearest to the printed centres"
	var experiments []Experiment
	for _, e := range []struct {
		units int
		nll   float64
	}{{30, 7.8}, {20, 7.9}, {10, 8.5}, {8, 8.7}, {5, 9.6}, {3, 11.6}, {2, 13.5}} {
		why := ""
		if e.units >= 20 {
			why = "with so many units for half of nine folds a division of the rows moves the mean by about a nat"
		}
		at := func(points []gaussian.Point) float64 { return points[30-e.units].Held[0] }
		experiments = append(experiments,
			onHousing(fmt.Sprintf("units-%02d", e.units), "figure 6",
				fmt.Sprintf("test nats a row with %d units, pruned from 30 by procedure 1", e.units), reference(e.nll).digits(1).lower(), 6, why,
				func(h *housing, ctx context.Context) (float64, error) { return h.unitsCurve(ctx, at) }),
			onHousing(fmt.Sprintf("centres-%02d", e.units), "figure 6",
				fmt.Sprintf("test nats a row with %d units, pruned from 30 by procedure 2, as the paper did; the reference is procedure 1's", e.units), reference(e.nll).digits(1).lower(), 6, why,
				func(h *housing, ctx context.Context) (float64, error) { return h.centresCurve(ctx, at) }))
	}
	experiments = append(experiments,
		onHousing("units-01", "figure 6", "test nats a row with 1 unit", reference(20.1).digits(1).lower(), 4, "", (*housing).oneUnit),
		onHousing("needed", "section 6.2 (\"between 8 and 10 units are necessary\")", "fewest units, pruned from 30 by procedure 2, whose nats on the rows for validation are within the error bars (95 %, over ten folds) of the best",
			printed(9).within(1), 20, "from ten units on the curve is so flat that a division of the rows moves by several units where it leaves the error bars", (*housing).unitsNeeded),
		onHousing("procedures-agree", "section 6.2 (\"almost always\")", "share of steps in which both pruning procedures remove the same unit", reference(.48).fraction().digits(2), 6,
			"it hangs on the starts of 30 units, and both programs are far from \"almost always\"", (*housing).agreement),
		onHousing("table-4", "table 4", "mean difference of three units' centres, in deviations, from the printed ones; nearest of 100 starts from all rows",
			reference(.028).digits(3).lower(), 3, "", func(h *housing, ctx context.Context) (float64, error) {
				m, err := h.threeUnits(ctx)
				return m.difference, err
			}),
		onHousing("widths", "table 4", "of the 32 printed widths of three units, those that ours are within 0.05; from the same start",
			printed(32).higher(), 3, nearest, func(h *housing, ctx context.Context) (float64, error) {
				m, err := h.threeUnits(ctx)
				return m.widths, err
			}))
	for unit, prior := range printedPriors {
		experiments = append(experiments, onHousing(fmt.Sprintf("table-5-%d", unit+1), "table 5",
			fmt.Sprintf("prior of unit %d, from the same start as the centres of table 4", unit+1), printed(prior).fraction().digits(2), 3, nearest,
			func(h *housing, ctx context.Context) (float64, error) {
				m, err := h.threeUnits(ctx)
				return m.priors[unit], err
			}))
	}
	withPicture(experiments, "gaussian-units", unitsPicture("likelihood"))
	withPicture(experiments, "gaussian-centres", unitsPicture("centres"))
	return experiments
}

// gaussianSimplified is what conclusions and inputs can be done without.
func gaussianSimplified() []Experiment {
	experiments := []Experiment{
		onHousing("normal", "figure 7 (no significant loss)", "test nats a row that 10 of 42 conclusions set to NORMAL cost (the reference is ± 0.19)",
			reference(.21).digits(2).lower(), 20, "", (*housing).normalCost),
		onHousing("normal-printed", "equation 20", "the same by the divergence as it is printed, of NORMAL from the unit; the reference is the other's",
			reference(.21).digits(2).lower(), 20, "", (*housing).normalCostAsPrinted),
		onHousing("normal-free", "section 6.2.1 (\"approximately 10\")", "conclusions of 42 that can be NORMAL while test nats stay within the error bars (95 %, over ten folds) of the best",
			printed(10).within(2).higher(), 20, "", (*housing).normalFree),
		onHousing("inputs-last", "table 7", "share of folds in which lstat is the last input of medv to go; the least of what an independent program found (80 to 98 %)",
			reference(.8).fraction().higher(), 40, "", (*housing).lastInput),
		{
			Name: "gaussian-inputs-order", Tags: []string{"tresp"}, Source: tresp + "table 7",
			Measure: "how much less the printed order in which inputs of medv go is like that of a division of ours than two divisions' orders are like each other (rank correlations)",
			Figure:  reference(0).within(.05).lower(), Seeds: 10, Run: OverSeeds(lessLikely),
			Why: "table 7 is of one division, which is not printed; by chance the orders would be .7 less like",
		},
		{
			Name: "gaussian-inputs-best", Tags: []string{"tresp"}, Source: tresp + "figure 8",
			Measure: "number of inputs at which medv is predicted best on average over folds and divisions, units as they were learnt with all inputs (\"approximately three\" is read as two to four)",
			Figure:  printed(3).within(1), Seeds: 40, Run: bestInputs("still"),
		},
		{
			Name: "gaussian-inputs-retrained", Tags: []string{"tresp"}, Source: tresp + "figure 8",
			Measure: "the same with EM after each input that goes; an independent program found 2 to 4",
			Figure:  reference(3).within(1), Seeds: 40, Run: bestInputs("retrain"),
		},
	}
	withPicture(experiments, "gaussian-normal", (*housing).normalPicture)
	withPicture(experiments, "gaussian-inputs", (*housing).inputsPicture)
	return experiments
}

// gaussianExperts is what three rules of an expert are worth (figure 9): as a
// maximum a posteriori estimate, in a mixture of models, and as a teacher's
// examples.
func gaussianExperts() []Experiment {
	experiments := []Experiment{{
		// The order is one of means: a division into folds by itself moves
		// each by about 0.4 nats.
		Name: "gaussian-prior-order", Tags: []string{"tresp"}, Source: tresp + "figure 9",
		Measure: "of 10 and 25 rows, where MAP beats the mixture of models, that the teacher, and that no rules, on average over divisions",
		Figure:  printed(2).higher(), Seeds: 10, Run: orderOfMeans(10, 25),
	}}
	for _, e := range []struct {
		knowledge  string
		worth      float64
		nll, helps float64
		why        string
	}{
		{"map", 9, 16.3, 70, "an independent program found 50"},
		{"mixture", 50, 18.7, 70, "an independent program found 100"},
		{"teacher", 100, 19.1, 19, "an independent program found 50"},
	} {
		experiments = append(experiments,
			onHousing("prior-"+e.knowledge, "figure 9", fmt.Sprintf("test nats a row after 10 rows and three rules worth %v cases (%s)", e.worth, e.knowledge),
				reference(e.nll).digits(1).lower(), 10, "", func(h *housing, ctx context.Context) (float64, error) {
					return h.meanInformed(ctx, 10, e.knowledge, e.worth)
				}),
			onHousing("prior-helps-"+e.knowledge, "figure 9", "rows up to which the rules help significantly (where the curve of paired t over ten folds crosses its 95 % line)",
				printed(e.helps).higher(), 20, e.why, func(h *housing, ctx context.Context) (float64, error) {
					return h.helpsUpTo(ctx, e.knowledge, e.worth)
				}))
	}
	withPicture(experiments, "gaussian-prior", (*housing).rulesPicture)
	withPicture(experiments, "gaussian-prior-helps", (*housing).helpsPicture)
	return experiments
}

package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/evaluate/pac"
	"github.com/accrete-ml/accrete/table"
)

// bounds are the figures of Mitchell 1997, chapter 7: how many rows are enough,
// what classes shatter, how many mistakes are made at most, and what all of
// that is worth where the truth is known.
func bounds() []Experiment {
	experiments := slices.Concat(sampleBounds(), exerciseBounds(), shattering(), mistakeBounds(), pacExperiments())
	for i := range experiments {
		e := &experiments[i]
		e.Name, e.Source, e.Tags = "bounds-"+e.Name, mitchell(e.Source), chapter(7)
		if e.Seeds == 0 {
			e.Seeds = 1
		}
	}
	return experiments
}

// figure is a row whose figure is computed.
func figure(name, where, measure string, figure Figure, compute func() float64) Experiment {
	return Experiment{Name: name, Source: where, Measure: measure, Figure: figure, Run: Computed(compute)}
}

var usualDemand = pac.Demand{Error: 0.1, Confidence: 0.95}

// sampleBounds are those of sections 7.3 and 7.4.
func sampleBounds() []Experiment {
	enough := func(name, where, what string, f Figure, d pac.Demand, rows func(pac.Demand) float64) Experiment {
		measure := fmt.Sprintf("rows that are enough for an error of %v with confidence %v: %s", d.Error, d.Confidence, what)
		return figure(name, where, measure, f, func() float64 { return math.Ceil(rows(d)) })
	}
	finite := func(c pac.Class) func(pac.Demand) float64 {
		return func(d pac.Demand) float64 { return d.Rows(c.LogSize) }
	}
	dimension := func(c pac.Class) func(pac.Demand) float64 {
		return func(d pac.Demand) float64 { return d.RowsByVC(c.VC) }
	}
	ten := pac.Conjunctions(10)
	return []Experiment{
		enough("enjoy-sport", "eq. 7.2", "973 hypotheses", reference(99), usualDemand, finite(pac.Finite(973))),
		enough("enjoy-sport-05", "eq. 7.2", "973 hypotheses", reference(198), pac.Demand{Error: .05, Confidence: .95}, finite(pac.Finite(973))),
		enough("conjunctions", "section 7.3.2", "conjunctions over ten Boolean columns", printed(140), usualDemand, finite(ten)),
		enough("conjunctions-exact", "section 7.3", "the same, by (1 − ε)^m itself", reference(133), usualDemand, func(d pac.Demand) float64 { return d.RowsExactly(ten.LogSize) }),
		enough("agnostic", "section 7.3.1", "the same where the truth need not be a conjunction", reference(700), usualDemand, func(d pac.Demand) float64 { return d.RowsAgnostic(ten.LogSize) }),
		enough("unbiased-3", "eq. 7.5", "all concepts over three columns", reference(86), usualDemand, finite(pac.Unbiased(3))),
		enough("unbiased-5", "eq. 7.5", "all concepts over five columns", reference(252), usualDemand, finite(pac.Unbiased(5))),
		enough("unbiased-10", "eq. 7.5", "all concepts over ten columns", reference(7128), usualDemand, finite(pac.Unbiased(10))),
		enough("k-term-dnf", "eq. 7.6", "disjunctions of three terms over ten columns", reference(360), usualDemand, finite(pac.KTermDNF(10, 3))),
		enough("k-cnf", "section 7.3.3.2", "2-CNF over ten columns", reference(1417), usualDemand, finite(pac.KCNF(10, 2))),
		enough("perceptron", "exercise 7.1", "perceptrons of two inputs", reference(4197), pac.Demand{Error: .05, Confidence: .9}, dimension(pac.Perceptron(2))),
		enough("rectangles-whole", "exercise 7.2", "rectangles of whole numbers from 0 to 99", reference(134), pac.Demand{Error: .15, Confidence: .95}, finite(pac.Finite(25_502_500))),
		enough("rectangles", "exercise 7.2", "rectangles of any numbers", reference(1516), pac.Demand{Error: .15, Confidence: .95}, dimension(pac.Rectangles(2))),
		enough("intervals", "exercise 7.4", "intervals, by their dimension", reference(1337), usualDemand, dimension(pac.Rectangles(1))),
		enough("intervals-direct", "exercise 7.4", "intervals, directly", reference(72), usualDemand, func(d pac.Demand) float64 { return d.BoxRows(1) }),
		enough("rectangles-direct", "exercise 7.6", "rectangles, directly", reference(115), pac.Demand{Error: .15, Confidence: .95}, func(d pac.Demand) float64 { return d.BoxRows(2) }),
		enough("layered", "section 7.4.4", "networks of three perceptrons of two inputs", reference(30830), usualDemand, dimension(pac.Layered(2, 3))),
		enough("trees", "exercise 7.7", "regular trees of depth two over ten columns", reference(103), usualDemand, finite(pac.DepthTwoTrees(10))),
		enough("relative", "exercise 7.3", "a true error of .1 within half of the one on the rows, conjunctions over ten columns", reference(2517), usualDemand, func(pac.Demand) float64 { return pac.RowsRelative(ten.LogSize, .1, .5, .95) }),
	}
}

// exerciseBounds are probabilities and errors.
func exerciseBounds() []Experiment {
	ten := pac.Conjunctions(10)
	experiments := []Experiment{
		figure("exhausted-140", "theorem 7.1", "probability that a bad conjunction over ten columns is left after 140 rows, at most", reference(.049101).digits(6), func() float64 { return pac.NotExhausted(ten.LogSize, .1, 140) }),
		figure("exhausted-139", "theorem 7.1", "the same after 139 rows", reference(.054265).digits(6), func() float64 { return pac.NotExhausted(ten.LogSize, .1, 139) }),
		figure("needed", "theorem 7.3", "rows that every learner needs for some concept of dimension 3, error .05, δ .009", reference(94.21).digits(2), func() float64 {
			rows, _ := pac.Demand{Error: .05, Confidence: .991}.RowsNeeded(3)
			return rows
		}),
		figure("intervals-fail", "exercise 7.4", "probability that the tightest interval errs by more than .1 after 100 rows, at most", reference(.0118411).digits(7), func() float64 { return pac.BoxFails(1, .1, 100) }),
		figure("intervals-fail-vc", "exercise 7.4", "the same by the dimension, after 2000 rows", reference(5.07e-7).within(5e-10), func() float64 { return pac.FailsByVC(2, .1, 2000) }),
		figure("layered-vc", "theorem 7.4", "dimension of networks of three perceptrons of two inputs, at most", reference(54.4978).digits(4), func() float64 { return pac.Layered(2, 3).VC }),
		figure("trees-size", "exercise 7.7", "regular trees of depth two over ten columns", reference(1440), func() float64 { return math.Round(math.Exp(pac.DepthTwoTrees(10).LogSize)) }),
		figure("trees-mistakes", "exercise 7.7", "mistakes of Weighted-Majority over them, where the best makes five, at most", reference(37.326).digits(3), func() float64 { return pac.Mistakes(5, 1440, .5) }),
		figure("hoeffding", "section 7.3.1", "probability that the error on 100 rows is .1 too low, at most", reference(.1353353).digits(7), func() float64 { return pac.Hoeffding(100, .1) }),
	}
	for n, e := range map[int]float64{5: .0849, 10: .1398, 20: .2497, 25: .3046, 88: .9967} {
		experiments = append(experiments, figure(fmt.Sprintf("error-after-100-of-%d", n), "exercise 7.8", fmt.Sprintf("error that 100 rows promise, conjunctions over %d columns", n), reference(e).digits(4), func() float64 {
			e, _ := pac.ErrorAfter(pac.Conjunctions(n).LogSize, .95, 100)
			return e
		}))
	}
	for m, e := range map[float64]float64{50: .33564, 100: .17150, 200: .08669, 500: .03490, 1000: .01749} {
		experiments = append(experiments, figure(fmt.Sprintf("rectangle-error-%v", m), "exercise 7.6", fmt.Sprintf("error that %v rows promise the tightest rectangle", m), reference(e).digits(5), func() float64 { return pac.BoxError(2, .95, m) }))
	}
	for m, e := range map[float64]float64{500: .37096, 1000: .21144, 2000: .11899, 5000: .05476} {
		experiments = append(experiments, figure(fmt.Sprintf("rectangle-error-vc-%v", m), "exercise 7.6", fmt.Sprintf("error that %v rows promise by the dimension of rectangles", m), reference(e).digits(5), func() float64 { return pac.ErrorByVC(4, .95, m) }))
	}
	return experiments
}

// shattering shows dimensions by dividing points in every way.
func shattering() []Experiment {
	largest := func(from int, shattered func(n int) bool) func() float64 {
		return func() float64 {
			n := from
			for shattered(n + 1) {
				n++
			}
			return float64(n)
		}
	}
	sets := func(name, what string, printedFigure float64, dimensions int, by func([][]float64, uint64) bool) Experiment {
		measure := "size of the largest of 300 random sets of points that " + what + " shatter"
		return figure("vc-"+name, "section 7.4.2; exercise 7.5", measure, printed(printedFigure), largest(0, func(n int) bool {
			random := rand.New(rand.NewPCG(7, uint64(n)))
			for range 300 {
				points := make([][]float64, n)
				for i := range points {
					for range dimensions {
						points[i] = append(points[i], random.NormFloat64())
					}
				}
				if pac.Shattered(n, func(positive uint64) bool { return by(points, positive) }) {
					return true
				}
			}
			return false
		}))
	}
	byInterval := func(points [][]float64, positive uint64) bool { return pac.ByBox(points, positive) }
	return []Experiment{
		figure("shatter-intervals", "section 7.4.2", "of the four ways to divide 3.1 and 5.7, those that an interval can", printed(4), func() float64 {
			n := 0.0
			for labels := range uint64(4) {
				if pac.ByInterval([]float64{3.1, 5.7}, labels) {
					n++
				}
			}
			return n
		}),
		sets("intervals", "intervals", 2, 1, byInterval),
		sets("lines", "lines in the plane", 3, 2, pac.ByHalfSpace),
		sets("planes", "planes in space (perceptrons of three inputs)", 4, 3, pac.ByHalfSpace),
		sets("circles", "circles", 3, 2, pac.ByDisc),
		sets("rectangles", "rectangles", 4, 2, pac.ByBox),
		figure("vc-triangles", "exercise 7.5", "points on a circle that triangles shatter", printed(7), largest(2, func(n int) bool {
			points := pac.OnCircle(n)
			return pac.Shattered(n, func(positive uint64) bool { return pac.ByTriangle(points, positive) })
		})),
		figure("vc-conjunctions-4", "section 7.4.2", "dimension of the conjunctions over four columns, by search", printed(4), func() float64 {
			vc, _ := pac.ConjunctionsOf(4).VC()
			return float64(vc)
		}),
		figure("vc-grid", "exercise 7.5", "dimension of the rectangles on a grid of four by four, by search", printed(4), func() float64 {
			vc, _ := pac.RectanglesOn(4).VC()
			return float64(vc)
		}),
	}
}

// mistakeBounds are those of section 7.5.
func mistakeBounds() []Experiment {
	experiments := []Experiment{
		figure("find-s-mistakes", "section 7.5.1", "mistakes of FIND-S on the worst rows of four columns, where everything is the concept", reference(5), func() float64 {
			return float64(pac.Run(pac.NewFindS(4), []uint64{0, 1, 2, 4, 8}, func(uint64) bool { return true }))
		}),
		figure("halving-7", "section 7.5.2", "mistakes of Halving over seven thresholds, at worst", printed(2), func() float64 { return float64(pac.Thresholds(6).Halving()) }),
		figure("majority-trace", "table 7.1", "mistakes of Weighted-Majority over five predictors and six rows", reference(3), func() float64 { return float64(majorityTrace().Mistakes) }),
		figure("majority-bound", "theorem 7.5", "mistakes that are possible there at most", reference(10.4133).digits(4), func() float64 { return majorityTrace().Bound() }),
	}
	for beta, bound := range map[float64]float64{.1: 23.895, .25: 20.647, .5: 21.685, .75: 31.536, .9: 64.324} {
		experiments = append(experiments, figure(fmt.Sprintf("majority-%v", beta), "theorem 7.5", fmt.Sprintf("mistakes of Weighted-Majority over 16 predictors, the best of which makes five, with a factor of %v, at most", beta), reference(bound).digits(3), func() float64 { return pac.Mistakes(5, 16, beta) }))
	}
	for _, c := range []struct {
		name             string
		class            func() *pac.Concepts
		vc, optimal, cut float64
	}{
		{"power-set-3", func() *pac.Concepts { return pac.PowerSet(3) }, 3, 3, 3},
		{"thresholds-7", func() *pac.Concepts { return pac.Thresholds(7) }, 1, 3, 3},
		{"conjunctions-2", func() *pac.Concepts { return pac.ConjunctionsOf(2) }, 2, 3, 3},
		{"intervals-5", func() *pac.Concepts { return pac.IntervalsOn(5) }, 2, 3, 4},
	} {
		experiments = append(experiments,
			figure("game-"+c.name+"-vc", "section 7.5.3", "dimension of "+c.name, reference(c.vc), func() float64 {
				vc, _ := c.class().VC()
				return float64(vc)
			}),
			figure("game-"+c.name+"-optimal", "section 7.5.3", "mistakes of the best learner of "+c.name+" at worst, by playing the game", reference(c.optimal), func() float64 { return float64(c.class().Optimal()) }),
			figure("game-"+c.name+"-halving", "section 7.5.3", "mistakes of Halving over "+c.name+" at worst", reference(c.cut), func() float64 { return float64(c.class().Halving()) }))
	}
	return experiments
}

// majorityTrace is six rows of five predictors.
func majorityTrace() *pac.Majority {
	m := pac.NewMajority(5, .5)
	for _, row := range []struct {
		said  string
		truth bool
	}{{"11001", true}, {"10011", false}, {"01110", true}, {"10010", true}, {"00110", false}, {"11000", false}} {
		answers := make([]bool, len(row.said))
		for i := range answers {
			answers[i] = row.said[i] == '1'
		}
		m.See(answers, row.truth)
	}
	return m
}

// pacExperiments draw rows from a known truth, learn, and count how often what
// the bounds promise is not kept: by theory at most as often as their figure.
func pacExperiments() []Experiment {
	atMost := func(name, where, measure string, f Figure, measureOne func(random *rand.Rand) (bool, error)) Experiment {
		return Experiment{Name: "pac-" + name, Source: where, Measure: measure + ": share of 400 draws a seed", Figure: f.fraction().lower(), Seeds: 5,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				random := rand.New(rand.NewPCG(seed, 7))
				const draws = 400
				failures := 0.0
				for range draws {
					failed, err := measureOne(random)
					if err != nil || ctx.Err() != nil {
						return 0, cmpError(err, ctx.Err())
					}
					if failed {
						failures++
					}
				}
				return failures / draws, nil
			})}
	}
	return []Experiment{
		atMost("conjunctions", "section 7.3.2", "FIND-S has an error above .1 after 140 rows of a random conjunction over ten columns", reference(.05), findSFails),
		atMost("rectangles", "exercise 7.6", "the tightest rectangle has an error above .15 after 115 points of a random rectangle", reference(.05), rectangleFails),
		atMost("agnostic", "section 7.3.1", "the best of 101 rectangles on a grid errs by .1 more than on 381 rows with a tenth of the labels wrong", reference(.05), agnosticFails),
		atMost("hoeffding", "section 7.3.1", "an error of .5 is measured as .4 or less on 100 rows", reference(.1353), func(random *rand.Rand) (bool, error) { return below(random, 100, .5, .4), nil }),
		atMost("chernoff", "exercise 7.3", "an error of .3 is measured as .15 or less on 100 rows", reference(.0235), func(random *rand.Rand) (bool, error) { return below(random, 100, .3, .15), nil }),
		atMost("halving", "section 7.5.2", "Halving over 16 intervals makes more than four mistakes on 40 random rows", reference(0), halvingFails),
		atMost("majority", "theorem 7.5", "Weighted-Majority over ten random predictors exceeds its bound on 200 rows", reference(0), majorityFails),
		{Name: "pac-k-cnf", Source: "section 7.3.3.2", Measure: "of 16 rows, those that the k-CNF learnt from a DNF of two terms is right about", Figure: reference(16), Run: Fixed(cnfLearnsDNF)},
	}
}

func cmpError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// findSFails learns a random conjunction over ten columns from 140 rows.
func findSFails(random *rand.Rand) (bool, error) {
	const n = 10
	var set, unset uint64
	for i := range n {
		switch random.IntN(3) {
		case 0:
			set |= 1 << i
		case 1:
			unset |= 1 << i
		}
	}
	truth := func(x uint64) bool { return set&^x == 0 && unset&x == 0 }
	h := pac.NewFindS(n)
	for range 140 {
		x := random.Uint64N(1 << n)
		h.Learn(x, truth(x))
	}
	wrong := 0
	for x := range uint64(1) << n {
		if h.Answer(x) != truth(x) {
			wrong++
		}
	}
	return float64(wrong) > .1*(1<<n), nil
}

// rectangleFails learns a random rectangle of a square from 115 points. Where
// none is positive, all are said to be negative.
func rectangleFails(random *rand.Rand) (bool, error) {
	side := func() (low, high float64) {
		a, b := random.Float64(), random.Float64()
		return min(a, b), max(a, b)
	}
	x0, x1 := side()
	y0, y1 := side()
	lowX, highX, lowY, highY := 1.0, 0.0, 1.0, 0.0
	for range 115 {
		if x, y := random.Float64(), random.Float64(); x0 <= x && x <= x1 && y0 <= y && y <= y1 {
			lowX, highX, lowY, highY = min(lowX, x), max(highX, x), min(lowY, y), max(highY, y)
		}
	}
	found := max(highX-lowX, 0) * max(highY-lowY, 0)
	return (x1-x0)*(y1-y0)-found > .15, nil
}

// agnosticFails learns the best of 101 rectangles from labels a tenth of which
// are wrong. By eq. 7.3, 381 rows bring every error within .1 with confidence
// .95.
func agnosticFails(random *rand.Rand) (bool, error) {
	class := pac.RectanglesOn(4)
	sets := class.Sets()
	target := sets[random.IntN(len(sets))]
	const rows, noise = 381, .1
	points, labels := make([]int, rows), make([]bool, rows)
	for i := range points {
		points[i] = random.IntN(16)
		labels[i] = (target>>points[i]&1 == 1) != (random.Float64() < noise)
	}
	best, errors := class.Best(points, labels)
	apart := 0.0
	for p := range 16 {
		if (best^target)>>p&1 == 1 {
			apart++
		}
	}
	truth := noise + (1-2*noise)*apart/16
	return truth > float64(errors)/rows+.1, nil
}

// below measures a rate on some rows.
func below(random *rand.Rand, rows int, rate, limit float64) bool {
	errors := 0
	for range rows {
		if random.Float64() < rate {
			errors++
		}
	}
	return float64(errors) <= limit*float64(rows)
}

func halvingFails(random *rand.Rand) (bool, error) {
	class := pac.IntervalsOn(5)
	sets := class.Sets()
	truth := sets[random.IntN(len(sets))]
	rows := make([]uint64, 40)
	for i := range rows {
		rows[i] = random.Uint64N(5)
	}
	return pac.Run(pac.NewHalved(class), rows, func(x uint64) bool { return truth>>x&1 == 1 }) > 4, nil
}

func majorityFails(random *rand.Rand) (bool, error) {
	m := pac.NewMajority(10, .5)
	skill := make([]float64, 10)
	for i := range skill {
		skill[i] = .5 + random.Float64()/2
	}
	answers := make([]bool, 10)
	for range 200 {
		truth := random.IntN(2) == 0
		for i := range answers {
			answers[i] = truth == (random.Float64() < skill[i])
		}
		m.See(answers, truth)
	}
	return float64(m.Mistakes) > m.Bound(), nil
}

// cnfLearnsDNF learns (x1 and x2) or (x3 and x4) as 2-CNF from its 16 rows.
func cnfLearnsDNF(ctx context.Context) (float64, error) {
	schema := &table.Schema{}
	for i := range 4 {
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprintf("x%d", i+1), Values: []string{"0", "1"}})
	}
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"no", "yes"}})
	columns := make([]table.Column, 5)
	for x := range int32(16) {
		for i := range 4 {
			columns[i].Codes = append(columns[i].Codes, x>>i&1)
		}
		label := int32(0)
		if x&3 == 3 || x&12 == 12 {
			label = 1
		}
		columns[4].Codes = append(columns[4].Codes, label)
	}
	rows, err := table.New(schema, columns, nil)
	if err != nil {
		return 0, err
	}
	m, err := learnConcept(ctx, rows, 4, map[string]string{"space": "kcnf", "k": "2", "algorithm": "find-s"})
	if err != nil {
		return 0, err
	}
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		return 0, err
	}
	return rightOn(ctx, m, fitted)
}

package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/accrete-ml/accrete/evaluate/posterior"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/rocchio"
	"github.com/accrete-ml/accrete/table"
)

// probabilities are the figures of Mitchell 1997, chapter 6, that follow from
// the principles alone: Bayes' theorem, MAP and ML, the optimal classifier and
// Gibbs', descriptions in bits, words, and the means of two densities.
func probabilities() []Experiment {
	var experiments []Experiment
	add := func(name, where, measure string, figure Figure, compute func(context.Context) (float64, error)) {
		experiments = append(experiments, Experiment{
			Name: "probability-" + name, Tags: chapter(6), Source: mitchell(where), Measure: measure, Figure: figure, Seeds: 1, Run: Fixed(compute),
		})
	}
	add("cancer", "section 6.2.1", "P(cancer | a positive test)", printed(.21).digits(2), cancer(1))
	add("cancer-ill", "section 6.2.1", "P(a positive test | cancer) P(cancer)", printed(.0078).digits(4), cancerAndPositive(0))
	add("cancer-healthy", "section 6.2.1", "P(a positive test | no cancer) P(no cancer)", printed(.0298).digits(4), cancerAndPositive(1))
	add("cancer-negative", "section 6.2.1", "P(cancer | a negative test)", reference(.000166251).digits(9), cancer(0))
	add("cancer-twice", "exercise 6.1", "P(cancer | two positive tests)", reference(.8958955).digits(7), cancer(2))
	add("cancer-thrice", "exercise 6.1", "P(cancer | three positive tests)", reference(.9964554).digits(7), cancer(3))
	add("map-enjoy-sport", "equation 6.5", "posterior of each of the hypotheses that agree with four days, by brute force", reference(1./6).digits(9), bruteForce(4, func(p []float64, _ float64) float64 { return p[posterior.Best(p)] }))
	for i, left := range []float64{64, 32, 28} {
		add(fmt.Sprintf("map-day-%d", i+1), "figure 6.1", fmt.Sprintf("hypotheses that are left after %d days, as 1 over the posterior of each", i+1), reference(left).digits(9), bruteForce(i+1, func(p []float64, _ float64) float64 { return 1 / p[posterior.Best(p)] }))
	}
	add("map-data", "section 6.3.1", "P(D) of the four days times 973 hypotheses", reference(6).digits(9), bruteForce(4, func(_ []float64, logData float64) float64 { return 973 * math.Exp(logData) }))
	add("optimal", "section 6.7", "P(-) where hypotheses of .4, .3 and .3 say +, - and -", printed(.6).digits(9), func(context.Context) (float64, error) {
		return posterior.Optimal([]float64{.4, .3, .3}, [][]float64{{1, 0}, {0, 1}, {0, 1}})[1], nil
	})
	add("optimal-error", "section 6.7", "expected error of the Bayes optimal classifier over 96 days, after four", reference(1./6).digits(9), expectedErrors(func(p float64) float64 { return min(p, 1-p) }))
	add("gibbs-error", "section 6.8", "expected error of Gibbs' algorithm over the same days, at most twice the optimal one", reference(2./9).digits(9), expectedErrors(func(p float64) float64 { return 2 * p * (1 - p) }))
	add("mdl-tree", "section 6.6", "bits of ID3's tree for PlayTennis: a flag a node, the column it tests or the class of its leaf", reference(19).digits(9), treeBits)
	add("mdl-leaf", "section 6.6", "bits of the single leaf yes, with its exceptions", reference(26.036775).digits(6), func(context.Context) (float64, error) {
		return 2 + posterior.Exceptions(5, 14, 2), nil
	})
	add("mdl-stump", "section 6.6", "bits of a tree that asks for the outlook alone, with its exceptions", reference(28.229420).digits(6), func(context.Context) (float64, error) {
		return 9 + posterior.Exceptions(4, 14, 2), nil
	})
	add("mdl-conjunctions", "exercise 6.5", "attributes in the shortest conjunction of 16 for four rows that x1 alone explains", reference(0), shortestConjunction)
	for _, e := range []struct {
		m    string
		want float64
	}{{"1", .759002}, {"2", .725776}, {"3", .696203}, {"5", .647188}, {"14", .527279}} {
		add(strings.TrimSuffix("m-estimate-"+e.m, "-1"), "equation 6.22", "P(no | a sunny, cool, humid and windy day) with m = "+e.m, reference(e.want).digits(6), func(ctx context.Context) (float64, error) {
			t, err := loadTennis(ctx)
			if err != nil {
				return 0, err
			}
			return t.posteriorWith(ctx, map[string]string{"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}, "No", e.m)
		})
	}
	for _, e := range []struct {
		name, text, class string
		want              float64
	}{{"table-6.2", "fun movie unseenword", "like", .801566}, {"table-6.2-close", "bad fun", "like", .502453}, {"table-6.2-plot", "movie plot boring", "dislike", .707062}, {"table-6.2-empty", "", "dislike", .6}} {
		add(e.name, "table 6.2", fmt.Sprintf("P(%s | %s) after five reviews", e.class, cmp.Or(e.text, "no word")), reference(e.want).digits(6), reviews("multinomial", e.text, e.class))
	}
	add("rocchio", "section 6.10.1 (Rocchio 1971)", "cosine of \"fun movie\" and the prototype of like, after five reviews, by TFIDF", reference(.698434945).digits(8), likenessOfReview)
	add("two-means", "section 6.12.1", "the lower of two means by EM, from 1 and 2", reference(.503024494213).digits(9), func(context.Context) (float64, error) {
		means, _ := posterior.Means([]float64{0, .5, 1, 4, 4.5, 5}, []float64{1, 2}, 1, 1000)
		return means[0], nil
	})
	add("two-means-likelihood", "section 6.12.1", "log likelihood of six numbers after two steps of EM", reference(-10.1698193).digits(7), func(context.Context) (float64, error) {
		_, l := posterior.Means([]float64{0, .5, 1, 4, 4.5, 5}, []float64{1, 2}, 1, 2)
		return l, nil
	})
	return experiments
}

// cancerAndPositive is the probability of a positive test and of cancer (0) or
// not (1) together.
func cancerAndPositive(which int) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		p, logData, err := posterior.Of([]float64{.008, .992}, []float64{math.Log(.98), math.Log(.03)})
		if err != nil {
			return 0, err
		}
		return p[which] * math.Exp(logData), nil
	}
}

// cancer returns P(cancer) after some positive tests, each posterior being the
// next prior; after a negative one, if there are none.
func cancer(tests int) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		p := []float64{.008, .992}
		var err error
		if tests == 0 {
			p, _, err = posterior.Of(p, []float64{math.Log(.02), math.Log(.97)})
			return p[0], err
		}
		for range tests {
			if p, _, err = posterior.Of(p, []float64{math.Log(.98), math.Log(.03)}); err != nil {
				return 0, err
			}
		}
		return p[0], nil
	}
}

// sportHypotheses returns each conjunction over the days of EnjoySport as the
// days that it holds for, and the four days that were seen. The empty concept
// is one of them.
func sportHypotheses(ctx context.Context) (holds [][]bool, seen []int, enjoyed []bool, err error) {
	values := []int{3, 2, 2, 2, 2, 2}
	var days [][]int
	var grow func(day []int)
	grow = func(day []int) {
		if len(day) == len(values) {
			days = append(days, append([]int(nil), day...))
			return
		}
		for v := range values[len(day)] {
			grow(append(day, v))
		}
	}
	grow(nil)
	holds = append(holds, make([]bool, len(days)))
	var say func(h []int)
	say = func(h []int) {
		if len(h) < len(values) {
			for v := -1; v < values[len(h)]; v++ { // -1 is any value
				say(append(h, v))
			}
			return
		}
		of := make([]bool, len(days))
		for d, day := range days {
			of[d] = true
			for i, v := range h {
				of[d] = of[d] && (v < 0 || v == day[i])
			}
		}
		holds = append(holds, of)
	}
	say(nil)
	// Sunny 0, Rainy 1; Warm 0, Cold 1; Normal 0, High 1; Strong 0; Warm 0, Cool 1; Same 0, Change 1.
	for i, day := range [][]int{{0, 0, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 1}, {0, 0, 1, 0, 1, 1}} {
		at := 0
		for j, v := range day {
			at = at*values[j] + v
		}
		seen, enjoyed = append(seen, at), append(enjoyed, i != 2)
	}
	return holds, seen, enjoyed, ctx.Err()
}

// sportPosterior is the posterior of every hypothesis after some of the four days.
func sportPosterior(ctx context.Context, days int) (holds [][]bool, p []float64, logData float64, err error) {
	holds, seen, enjoyed, err := sportHypotheses(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	prior, logs := make([]float64, len(holds)), make([]float64, len(holds))
	for h := range holds {
		wrong := 0
		for i, day := range seen[:days] {
			if holds[h][day] != enjoyed[i] {
				wrong++
			}
		}
		prior[h], logs[h] = 1/float64(len(holds)), posterior.Consistent(wrong, days, 0)
	}
	p, logData, err = posterior.Of(prior, logs)
	return holds, p, logData, err
}

// bruteForce looks at the posteriors after some days and at P(D).
func bruteForce(days int, look func(p []float64, logData float64) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		_, p, logData, err := sportPosterior(ctx, days)
		if err != nil {
			return 0, err
		}
		return look(p, logData), nil
	}
}

// expectedErrors is the mean over all days of an error that depends on the
// share of the posterior that says yes.
func expectedErrors(wrong func(p float64) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		holds, p, _, err := sportPosterior(ctx, 4)
		if err != nil {
			return 0, err
		}
		sum, days := 0.0, len(holds[0])
		for day := range days {
			yes := 0.0
			for h := range holds {
				if holds[h][day] {
					yes += p[h]
				}
			}
			sum += wrong(yes)
		}
		return sum / float64(days), nil
	}
}

// treeBits is the length of ID3's tree for PlayTennis: one bit for each node
// says whether it is a leaf, log₂ 4 which column it tests, log₂ 2 its class.
func treeBits(ctx context.Context) (float64, error) {
	t, err := loadTennis(ctx)
	if err != nil {
		return 0, err
	}
	m, err := t.learn(ctx, "tree", map[string]string{"preset": "id3"})
	if err != nil {
		return 0, err
	}
	inner, leaves := float64(m.Size().Units), float64(m.Size().Rules)
	return inner + leaves + inner*math.Log2(4) + leaves*math.Log2(2), nil
}

// shortestConjunction returns how many attributes the shortest description of
// exercise 6.5 has: all conjunctions of 16 attributes, |h|·log₂ 16 bits, and
// log₂ 4 for each of the four rows that is wrong. Three rows are of the concept;
// the fourth is not, and differs from them in x1 alone.
func shortestConjunction(context.Context) (float64, error) {
	const attributes, all = 16, 1<<16 - 1
	rows := []struct {
		cells   uint32
		concept bool
	}{{all, true}, {all, true}, {all, true}, {all &^ 1, false}}
	best, size := math.Inf(1), 0
	for h := uint32(0); h <= all; h++ {
		wrong := 0.0
		for _, r := range rows {
			if (r.cells&h == h) != r.concept {
				wrong++
			}
		}
		n := bits.OnesCount32(h)
		if length := float64(n)*math.Log2(attributes) + wrong*math.Log2(float64(len(rows))); length < best {
			best, size = length, n
		}
	}
	return float64(size), nil
}

// likenessOfReview is the cosine of a review and the prototype of those that liked it.
func likenessOfReview(ctx context.Context) (float64, error) {
	rows, err := reviewed()
	if err != nil {
		return 0, err
	}
	m, err := (&rocchio.Learner{}).Learn(ctx, learn.Task{Table: rows}.At(1))
	if err != nil {
		return 0, err
	}
	asked := table.NewBuilder(m.Schema())
	if err := asked.String(0, "fun movie"); err != nil {
		return 0, err
	}
	asked.End()
	row, err := asked.Table()
	if err != nil {
		return 0, err
	}
	cosines := make([]float64, 2)
	m.(*rocchio.Model).Similarities(row, 0, cosines)
	return cosines[m.Schema().Attributes[1].Code("like")], nil
}

// reviewed returns five reviews: what was said, and whether it was liked.
func reviewed() (*table.Table, error) {
	b := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{{Name: "said", Kind: table.Text}, {Name: "class"}}})
	for line := range strings.Lines("like: good movie fun fun\nlike: fun plot\ndislike: bad plot bad acting\ndislike: boring bad movie\ndislike: acting boring") {
		class, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := errors.Join(b.String(0, text), b.String(1, class)); err != nil {
			return nil, err
		}
		b.End()
	}
	return b.Table()
}

// reviews returns the probability of a class of a text after five reviews.
func reviews(event, text, class string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		rows, err := reviewed()
		if err != nil {
			return 0, err
		}
		l, err := learn.New("bayes", map[string]string{"text": event})
		if err != nil {
			return 0, err
		}
		m, err := l.Learn(ctx, learn.Task{Table: rows}.At(1))
		if err != nil {
			return 0, err
		}
		asked := table.NewBuilder(m.Schema())
		asked.Closed = true
		if err := asked.String(0, text); err != nil {
			return 0, err
		}
		asked.End()
		row, err := asked.Table()
		if err != nil {
			return 0, err
		}
		out := learn.NewPredictions(m, 1)
		if err := m.Predict(ctx, row, out); err != nil {
			return 0, err
		}
		code := m.Schema().Attributes[1].Code(class)
		if code < 0 {
			return 0, fmt.Errorf("the reviews have no class %s", class)
		}
		return out.Row(0)[code], nil
	}
}

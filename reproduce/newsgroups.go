package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// newsgroupsFile has the postings of 20 Newsgroups. It is not shipped.
const newsgroupsFile = "newsgroups20.csv.gz"

// newsgroups are the experiments of Mitchell 1997, section 6.10.1, with texts:
// Joachims's newsgroups, and NewsWeeder's articles that somebody would like to
// read. Two thirds of the postings are learnt from.
func newsgroups() []Experiment {
	why := "these postings have their subject and body, but not the other lines of their headers, which name groups, sites and people"
	joachims := func(name, measure, why string, figure Figure, settings map[string]string) Experiment {
		return Experiment{
			Name: "newsgroups-" + name, Tags: append(chapter(6), "joachims"), Source: mitchell("section 6.10.1 (Joachims 1996)"),
			Measure: measure, Figure: figure, Seeds: 5, Why: why,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				c, err := loadNewsgroups(ctx, seed, nil)
				if err != nil {
					return 0, err
				}
				return c.accuracy(ctx, "bayes", settings)
			}),
		}
	}
	return append(append(newsgroupCurve(), comments()...), []Experiment{
		joachims("default", "accuracy in %, 20 newsgroups, as texts are learnt unless something else is asked for: m-estimates by evidence", why, printed(89).percent().higher(), nil),
		joachims("discount", "the same, counts discounted for the frequencies of words in all groups", why, printed(89).percent().higher(), map[string]string{"estimate": "discount"}),
		joachims("joachims", "accuracy in %, 20 newsgroups, without the 100 most frequent words and those that occur less than 3 times", why, printed(89).percent().higher(), map[string]string{"stop": "100", "min": "3", "alpha": "1", "count": "all"}),
		joachims("once", "the same, each word of a text counted once, with 0.02 cases a word, without frequent English words", why, printed(89).percent().higher(), map[string]string{"stop": "english", "min": "2", "count": "once", "alpha": "0.02"}),
		joachims("complement", "the same by the words of the other groups, 1 + log2 n for n times, with 0.1 cases a word", "", printed(89).percent().higher(), map[string]string{"text": "complement", "count": "log", "alpha": "0.1"}),
		{
			Name: "newsgroups-rocchio", Tags: append(chapter(6), "joachims"), Source: mitchell("section 6.10.1 (Rocchio 1971; Salton 1991)"),
			Measure: "accuracy in %, 20 newsgroups, by the most similar prototype of TFIDF vectors, beside scikit-learn's naive Bayes",
			Figure:  reference(80.6).percent().higher(), Seeds: 3,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				c, err := loadNewsgroups(ctx, seed, nil)
				if err != nil {
					return 0, err
				}
				return c.accuracy(ctx, "rocchio", nil)
			}),
		},
		{
			Name: "newsgroups-newsweeder", Tags: append(chapter(6), "lang"), Source: mitchell("section 6.10.1 (Lang 1995)"),
			Measure: "articles in % of the top tenth, by the probability of being interesting, that are; a reader who likes the groups about politics (15 % of all) has rated two thirds",
			Figure:  printed(59).percent().higher(), Seeds: 5, Beyond: OtherData, Why: "whose articles those were was not published; this reader is made up",
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				c, err := loadNewsgroups(ctx, seed, func(group string) bool { return strings.HasPrefix(group, "talk.politics") })
				if err != nil {
					return 0, err
				}
				return c.topTenth(ctx, "interesting")
			}),
		},
	}...)
}

// newsgroupCurve is the learning curve: few postings of each group, up to two
// thirds. The figures to compare with are of scikit-learn 1.2.1's MultinomialNB on
// the same words, the mean of five divisions.
func newsgroupCurve() []Experiment {
	var all []Experiment
	for _, at := range []struct {
		postings int
		known    float64
	}{{10, 15.5}, {33, 32.5}, {100, 54.7}, {333, 75.2}, {667, 80.6}} {
		all = append(all, Experiment{
			Name: fmt.Sprintf("newsgroups-curve-%d", at.postings), Tags: append(chapter(6), "joachims"), Source: mitchell("section 6.10.1 (Joachims 1996); scikit-learn"),
			Measure: fmt.Sprintf("accuracy in %%, 20 newsgroups, learning from %d postings of each, counts discounted", at.postings), Figure: reference(at.known).percent().higher(), Seeds: 3,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				c, err := loadNewsgroups(ctx, seed, nil)
				if err != nil {
					return 0, err
				}
				return c.few(at.postings, seed).accuracy(ctx, "bayes", map[string]string{"estimate": "discount"})
			}),
		})
	}
	return all
}

// few returns the corpus with so many postings of each group to learn from, or
// all there are.
func (c *corpus) few(postings int, seed uint64) *corpus {
	seen := make([]int, len(c.learnt.Schema.Attributes[c.target].Values))
	var rows []int
	for _, r := range rand.New(rand.NewPCG(seed, 611)).Perm(c.learnt.Rows()) {
		if group := c.learnt.Columns[c.target].Codes[r]; seen[group] < postings {
			seen[group]++
			rows = append(rows, r)
		}
	}
	slices.Sort(rows)
	return &corpus{c.learnt.Select(rows), c.asked, c.target}
}

// corpus is postings, divided.
type corpus struct {
	learnt, asked *table.Table
	target        int
}

// comments are the same experiments with texts that are shipped: which of 20
// packages a comment is of. The figures to compare with are of scikit-learn 1.2.1's
// MultinomialNB on the same words, the mean of 20 divisions.
func comments() []Experiment {
	of := func(name, measure string, figure float64, liked func(string) bool, run func(ctx context.Context, c *corpus) (float64, error)) Experiment {
		return Experiment{
			Name: "texts-" + name, Tags: chapter(6), Source: mitchell("section 6.10.1 (Joachims 1996; Lang 1995); scikit-learn"),
			Measure: measure, Figure: reference(figure).percent().higher(), Seeds: 5,
			Run: OverSeeds(func(ctx context.Context, seed uint64) (float64, error) {
				t, _, err := datasets.Load(ctx, "go-comments")
				if err != nil {
					return 0, err
				}
				c, err := corpusOf(t, t.Schema.Index("package"), seed, liked)
				if err != nil {
					return 0, err
				}
				return run(ctx, c)
			}),
		}
	}
	by := func(learner string, settings map[string]string) func(context.Context, *corpus) (float64, error) {
		return func(ctx context.Context, c *corpus) (float64, error) { return c.accuracy(ctx, learner, settings) }
	}
	network := func(group string) bool { return group == "net" || strings.HasPrefix(group, "crypto/") }
	return []Experiment{
		of("default", "accuracy in %, comments of 20 packages, learning from two thirds", 65.0, nil, by("bayes", nil)),
		of("joachims", "the same without the 100 most frequent words and those that occur less than 3 times", 64.7, nil, by("bayes", map[string]string{"stop": "100", "min": "3", "count": "all"})),
		of("discount", "the same, counts discounted for the frequencies of words in all packages", 65.0, nil, by("bayes", map[string]string{"estimate": "discount"})),
		of("rocchio", "the same by the most similar prototype of TFIDF vectors, beside scikit-learn's naive Bayes", 65.0, nil, by("rocchio", nil)),
		of("newsweeder", "comments in % of the top tenth, by the probability of being interesting, that are; a reader who likes three packages (15 % of all) has rated two thirds", 84.9, network,
			func(ctx context.Context, c *corpus) (float64, error) { return c.topTenth(ctx, "interesting") }),
	}
}

// loadNewsgroups reads the postings and learns from a random two thirds of each
// group; with liked, groups are interesting or dull.
func loadNewsgroups(ctx context.Context, seed uint64, liked func(group string) bool) (*corpus, error) {
	t, err := read(ctx, newsgroupsFile, table.Options{Text: []string{"subject", "body"}, Ignore: []string{"doc_id"}, Target: "newsgroup"})
	if err != nil {
		return nil, err
	}
	return corpusOf(t, t.Schema.Index("newsgroup"), seed, liked)
}

// corpusOf learns from a random two thirds of each class of texts.
func corpusOf(t *table.Table, target int, seed uint64, liked func(group string) bool) (*corpus, error) {
	groups := make([][]int, len(t.Schema.Attributes[target].Values))
	for r, group := range t.Columns[target].Codes {
		groups[group] = append(groups[group], r)
	}
	random := rand.New(rand.NewPCG(seed, 610))
	var in, out []int
	for _, rows := range groups {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		n := (2*len(rows) + 1) / 3
		in, out = append(in, rows[:n]...), append(out, rows[n:]...)
	}
	slices.Sort(in)
	slices.Sort(out)
	if liked != nil {
		schema := table.CopySchema(t.Schema)
		a, codes := &schema.Attributes[target], make([]int32, t.Rows())
		names := a.Values
		a.Values = nil
		for r, group := range t.Columns[target].Codes {
			name := "dull"
			if liked(names[group]) {
				name = "interesting"
			}
			if codes[r] = a.Code(name); codes[r] < 0 {
				codes[r], a.Values = int32(len(a.Values)), append(a.Values, name)
			}
		}
		columns := slices.Clone(t.Columns)
		columns[target].Codes = codes
		var err error
		if t, err = table.New(schema, columns, nil); err != nil {
			return nil, err
		}
	}
	return &corpus{t.Select(in), t.Select(out), target}, nil
}

// answers learns the one part, and asks about the other, which it returns as the
// model reads it.
func (c *corpus) answers(ctx context.Context, learner string, settings map[string]string) (asked *table.Table, target *table.Attribute, out *learn.Predictions, err error) {
	l, err := learn.New(learner, settings)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := l.Learn(ctx, learn.Task{Table: c.learnt}.At(c.target))
	if err != nil {
		return nil, nil, nil, err
	}
	if asked, _, err = table.Conform(c.asked, m.Schema(), false); err != nil {
		return nil, nil, nil, err
	}
	out = learn.NewPredictions(m, asked.Rows())
	return asked, &m.Schema().Attributes[c.target], out, m.Predict(ctx, asked, out)
}

// accuracy is in per cent.
func (c *corpus) accuracy(ctx context.Context, learner string, settings map[string]string) (float64, error) {
	asked, target, out, err := c.answers(ctx, learner, settings)
	if err != nil {
		return 0, err
	}
	right := 0
	for r, class := range asked.Columns[c.target].Codes {
		if learn.Best(out.Row(r), target.Values) == int(class) {
			right++
		}
	}
	return 100 * float64(right) / float64(asked.Rows()), nil
}

// topTenth is the share of a class, in per cent, among the tenth of the rows
// that are most probably of it.
func (c *corpus) topTenth(ctx context.Context, class string) (float64, error) {
	asked, target, out, err := c.answers(ctx, "bayes", nil)
	if err != nil {
		return 0, err
	}
	of := target.Code(class)
	order := make([]int, asked.Rows())
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(out.Row(a)[of], out.Row(b)[of]) })
	top, found := order[:len(order)/10], 0
	for _, r := range top {
		if asked.Columns[c.target].Codes[r] == of {
			found++
		}
	}
	return 100 * float64(found) / float64(len(top)), nil
}

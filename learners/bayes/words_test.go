package bayes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// reviews are documents with a class, "class: text" a line; "?" is missing.
const reviews = `like: Good movie, fun fun
like: fun plot
dislike: bad plot, bad acting
dislike: Boring! bad movie
dislike: acting boring`

// documents reads such lines. Known are the columns of a model, whose words
// come first.
func documents(t testing.TB, lines string, known *table.Schema) *table.Table {
	t.Helper()
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "said", Kind: table.Text}, {Name: "class"}}}
	if known != nil {
		schema = known
	}
	b := table.NewBuilder(schema)
	for line := range strings.Lines(lines) {
		class, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		if err := errors.Join(b.String(0, strings.TrimSpace(text)), b.String(1, class)); err != nil {
			t.Fatal(err)
		}
		b.End()
	}
	tab, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func learnDocuments(t testing.TB, lines string, l Learner) *Model {
	t.Helper()
	m, err := l.Learn(context.Background(), learn.Task{Table: documents(t, lines, nil), Source: learn.Source{ID: "a"}}.At(1))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// said returns the class probabilities of texts, by name.
func said(t testing.TB, m *Model, texts ...string) []map[string]float64 {
	t.Helper()
	b := table.NewBuilder(m.Schema())
	b.Closed = true
	for _, text := range texts {
		if err := b.String(0, text); err != nil {
			t.Fatal(err)
		}
		b.End()
	}
	tab, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, tab.Rows())
	if err := m.Predict(context.Background(), tab, out); err != nil {
		t.Fatal(err)
	}
	all := make([]map[string]float64, len(texts))
	for r := range all {
		all[r] = map[string]float64{}
		for c, p := range out.Row(r) {
			all[r][m.class().Values[c]] = p
		}
	}
	return all
}

// Table 6.2 of Mitchell 1997 on a small set: every P(w|v) = (n+1)/(n_v+|V|),
// and the posteriors that follow, to the digit.
func TestTable62(t *testing.T) {
	m := learnDocuments(t, reviews, Learner{})
	m.estimate()
	l := m.lexicon(0)
	q := make([]float64, 2)
	for word, want := range map[string]map[string]float64{
		"acting": {"like": 1. / 13, "dislike": 3. / 16}, "bad": {"like": 1. / 13, "dislike": 4. / 16},
		"boring": {"like": 1. / 13, "dislike": 3. / 16}, "fun": {"like": 4. / 13, "dislike": 1. / 16},
		"good": {"like": 2. / 13, "dislike": 1. / 16}, "movie": {"like": 2. / 13, "dislike": 2. / 16}, "plot": {"like": 2. / 13, "dislike": 2. / 16},
	} {
		l.shares(int(m.schema.Attributes[0].Code(word)), q)
		for class, want := range want {
			if got := q[m.class().Code(class)]; math.Abs(got-want) > 1e-15 {
				t.Errorf("P(%s|%s) = %v, want %v", word, class, got, want)
			}
		}
	}
	answers := said(t, m, "fun movie unseenword", "bad fun", "movie plot boring", "...", "FUN, movie", "")
	for i, want := range []float64{(16. / 845) / (16./845 + 3./640), .502453, 1 - .707062, .4, .801566, .4} {
		if got := answers[i]["like"]; math.Abs(got-want) > 5e-7 {
			t.Errorf("text %d: P(like) = %.9f, want %.6f", i+1, got, want)
		}
	}
}

// Counts can be discounted for the frequencies of words in all classes; the
// estimates are still probabilities, and the book's rule is the default however
// many texts there are.
func TestBackground(t *testing.T) {
	m := learnDocuments(t, reviews, Learner{Estimate: "discount"})
	m.estimate()
	l := m.lexicon(0)
	// Counts of 1: good, movie, plot in like, movie, plot in dislike; of 2: acting,
	// boring; of 3: fun and bad. d = 5/(5 + 4); like gives away d four times, and
	// dislike five times; there are 15 words of 7 kinds.
	q, d := make([]float64, 2), 5./9
	for word, want := range map[string][2]float64{ // like, dislike
		"fun": {(3 - d + 4*d*4/22) / 6, 5 * d * 4 / 22 / 9}, "bad": {4 * d * 4 / 22 / 6, (3 - d + 5*d*4/22) / 9}, "movie": {(1 - d + 4*d*3/22) / 6, (1 - d + 5*d*3/22) / 9},
	} {
		l.shares(int(m.schema.Attributes[0].Code(word)), q)
		for i, class := range []string{"like", "dislike"} {
			if got := q[m.class().Code(class)]; math.Abs(got-want[i]) > 1e-15 {
				t.Errorf("P(%s|%s) = %v, want %v", word, class, got, want[i])
			}
		}
	}
	total := make([]float64, 2)
	for v := range l.chosen {
		l.shares(v, q)
		total[0], total[1] = total[0]+q[0], total[1]+q[1]
	}
	if math.Abs(total[0]-1) > 1e-12 || math.Abs(total[1]-1) > 1e-12 {
		t.Errorf("P(word | class) add up to %v", total)
	}
	many := learnDocuments(t, strings.Repeat(strings.TrimSpace(reviews)+"\n", 50), Learner{})
	many.estimate()
	l = many.lexicon(0)
	l.shares(int(many.schema.Attributes[0].Code("fun")), q)
	if got, want := q[many.class().Code("like")], (50*3+1.)/(50*6+7); math.Abs(got-want) > 1e-15 {
		t.Errorf("250 texts: P(fun|like) = %v, want %v", got, want)
	}
	one := 1.0
	for _, bad := range []Learner{{Estimate: "discount", Alpha: &one}, {Estimate: "discount", M: &one}, {Estimate: "discount", Text: complement}, {Estimate: "x"}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// Forms of one word are counted together, also those that a class never had.
func TestStems(t *testing.T) {
	m := learnDocuments(t, "a: connected lines\na: connections\nb: other lines\nb: others", Learner{Stem: stemEnglish})
	answers := said(t, m, "connected", "connections", "line", "others")
	for i, want := range []float64{3. / 4, 3. / 4, 1. / 2, 1. / 4} { // (2+1)/(3+3) against (0+1)/(3+3); "line" is not known
		if got := answers[i]["a"]; math.Abs(got-want) > 1e-12 {
			t.Errorf("text %d: P(a) = %v, want %v", i+1, got, want)
		}
	}
	for _, bad := range []Learner{{Stem: "latin"}, {Stem: stemEnglish, Text: bernoulli}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// plainly is naive Bayes on texts as it is written in the literature, without
// logarithms of anything but at the end.
func plainly(lines, event string, m float64, text string) map[string]float64 {
	classes, words := map[string]float64{}, map[string]map[string]float64{} // by class
	vocabulary := map[string]bool{}
	rows := 0.0
	tokens := func(text string, once bool) map[string]float64 {
		n := map[string]float64{}
		table.Tokens([]byte(text), func(token []byte) {
			if n[string(token)]++; once {
				n[string(token)] = 1
			}
		})
		return n
	}
	for line := range strings.Lines(lines) {
		class, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		classes[class]++
		rows++
		if words[class] == nil {
			words[class] = map[string]float64{}
		}
		for word, n := range tokens(text, event == bernoulli) {
			words[class][word] += n
			vocabulary[word] = true
		}
	}
	size := float64(len(vocabulary))
	of := func(words map[string]float64) (n float64) {
		for _, k := range words {
			n += k
		}
		return n
	}
	asked, logs, most := tokens(text, event == bernoulli), map[string]float64{}, math.Inf(-1)
	for class, n := range classes {
		logs[class] = math.Log(n / rows)
		for word := range vocabulary {
			k := asked[word]
			switch event {
			case multinomial:
				logs[class] += k * math.Log((words[class][word]+m*size/size)/(of(words[class])+m*size))
			case bernoulli:
				if p := (words[class][word] + m) / (n + 2*m); k > 0 {
					logs[class] += math.Log(p)
				} else {
					logs[class] += math.Log(1 - p)
				}
			case complement:
				other, all := 0.0, 0.0
				for c := range classes {
					if c != class {
						other, all = other+words[c][word], all+of(words[c])
					}
				}
				logs[class] -= k * math.Log((other+m)/(all+m*size))
			}
		}
		most = max(most, logs[class])
	}
	total := 0.0
	for class := range logs {
		logs[class] = math.Exp(logs[class] - most)
		total += logs[class]
	}
	for class := range logs {
		logs[class] /= total
	}
	return logs
}

// linesGen draws documents, none of them missing.
var linesGen = rapid.Custom(func(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 12).Draw(t, "documents") {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "naïve", "日本", "x_1", "2024"}), 1, 6).Draw(t, "words")
		fmt.Fprintf(&b, "%s: %s\n", rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "class"), strings.Join(words, " "))
	}
	return b.String()
})

// The three event models agree with the formulas of their papers.
func TestEventModels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines, text := linesGen.Draw(rt, "lines"), "a b b "+rapid.StringMatching(`([abc] ?){0,6}`).Draw(rt, "text")
		for _, event := range []string{multinomial, bernoulli, complement} {
			got, want := said(t, learnDocuments(t, lines, Learner{Text: event, Count: countAll}), text)[0], plainly(lines, event, 1, text)
			for class, p := range want {
				if event == complement && len(want) == 1 {
					continue // there are no others to estimate from
				}
				if math.Abs(got[class]-p) > 1e-12 {
					rt.Fatalf("%s: P(%s|%q) = %v, want %v, of\n%s", event, class, text, got[class], p, lines)
				}
			}
		}
	})
}

// By default a short text is the book's, however often a word occurs in it; of more
// than 50 words, what a text says is what 50 would, repeated words less.
func TestLongTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines, text := linesGen.Draw(rt, "lines"), "a b b b "+rapid.StringMatching(`([abc] ?){0,20}`).Draw(rt, "text")
		got, want := said(t, learnDocuments(t, lines, Learner{}), text)[0], plainly(lines, multinomial, 1, text)
		for class, p := range want {
			if math.Abs(got[class]-p) > 1e-12 {
				rt.Fatalf("P(%s|%q) = %v, want %v, of\n%s", class, text, got[class], p, lines)
			}
		}
	})
	lines := "p: a a a b\nq: b b c\n"
	short, long := strings.Repeat("a b ", 25), strings.Repeat("a b ", 500)
	m := learnDocuments(t, lines, Learner{})
	if a, b := said(t, m, short)[0]["p"], said(t, m, long)[0]["p"]; math.Abs(a-b) > 1e-12 {
		t.Errorf("50 words say %v, 1000 of the same kind %v", a, b)
	}
}

// Learning in pieces, from several sources, merged or with one more that is
// forgotten, is learning everything at once.
func TestWordsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Learner{
			Text: rapid.SampledFrom([]string{multinomial, bernoulli, complement}).Draw(rt, "event"),
			Min:  rapid.SampledFrom([]float64{0, 2}).Draw(rt, "min"),
			Stop: rapid.SampledFrom([]string{"", "1", "a, b"}).Draw(rt, "stop"), Count: rapid.SampledFrom([]string{"", countAll, countOnce}).Draw(rt, "count"),
		}
		if l.Text != bernoulli {
			l.Stem = rapid.SampledFrom([]string{"", stemEnglish}).Draw(rt, "stem")
		}
		if l.Text == multinomial {
			l.Estimate = rapid.SampledFrom([]string{"", "discount"}).Draw(rt, "estimate")
		}
		one, two, three := linesGen.Draw(rt, "one"), linesGen.Draw(rt, "two"), linesGen.Draw(rt, "three")
		want := learnDocuments(t, one+two, l)
		check := func(what string, got learn.Model) {
			for i, p := range said(t, got.(*Model), "a a b 2024", "c naïve 日本", "x_1", "...") {
				for class, q := range said(t, want, "a a b 2024", "c naïve 日本", "x_1", "...")[i] {
					if math.Abs(p[class]-q) > 1e-12 {
						rt.Fatalf("%s: text %d: P(%s) = %v, want %v", what, i+1, class, p[class], q)
					}
				}
			}
		}
		add := func(m learn.Model, source, lines string) learn.Model {
			u, err := m.(*Model).Begin(learn.Source{ID: source})
			if err == nil {
				err = u.Add(context.Background(), documents(t, lines, m.Schema()))
			}
			if err != nil {
				rt.Fatal(err)
			}
			after, err := u.Freeze(context.Background())
			if err != nil {
				rt.Fatal(err)
			}
			return after
		}
		first := learnDocuments(t, one, l)
		both := add(first, "b", two)
		check("two sources", both)
		check("the same source again", add(first, "a", two))
		without, err := add(both, "c", three).(*Model).Forget(context.Background(), "c")
		if err != nil {
			rt.Fatal(err)
		}
		check("one forgotten", without)
		if !slices.Equal(slices.Sorted(slices.Values(without.Schema().Attributes[0].Values)), slices.Sorted(slices.Values(both.Schema().Attributes[0].Values))) {
			rt.Fatalf("words %q are left, want %q", without.Schema().Attributes[0].Values, both.Schema().Attributes[0].Values)
		}
		apart := learnDocuments(t, two, l)
		apart.blocks[0].source.ID = "b"
		merged, err := first.Merge(context.Background(), apart)
		if err != nil {
			rt.Fatal(err)
		}
		check("merged", merged)
		parts, err := both.Parts()
		if err != nil {
			rt.Fatal(err)
		}
		loaded, err := decode(parts)
		if err != nil {
			rt.Fatal(err)
		}
		check("loaded", loaded)
		again, err := loaded.Parts()
		if err != nil || !reflect.DeepEqual(again, parts) {
			rt.Fatalf("a loaded model is saved otherwise: %v", err)
		}
	})
}

// What is said of a text adds up to the answer, and the rules of a Bernoulli
// model, or of a multinomial one where no word comes twice, answer as it does.
func TestWordsExplained(t *testing.T) {
	for _, event := range []string{multinomial, bernoulli, complement} {
		m := learnDocuments(t, reviews, Learner{Text: event})
		tab := documents(t, "like: fun movie bad\nlike: plot\nlike: ...\nlike: ?", m.Schema())
		out := learn.NewPredictions(m, tab.Rows())
		if err := m.Predict(context.Background(), tab, out); err != nil {
			t.Fatal(err)
		}
		base, err := m.Rules()
		if err != nil {
			t.Fatal(err)
		}
		if len(base.Rules) != m.Size().Rules {
			t.Errorf("%s: %d rules, %d counted", event, len(base.Rules), m.Size().Rules)
		}
		predictor, err := rule.NewPredictor(base, m.Schema(), m.Target())
		if err != nil {
			t.Fatal(err)
		}
		ruled := learn.NewPredictions(m, tab.Rows())
		if err := predictor.Predict(tab, ruled.P, nil); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for i := range base.Rules {
			ids[base.Rules[i].ID()] = true
		}
		for r := range tab.Rows() {
			e, err := m.Explain(tab, r)
			if err != nil {
				t.Fatal(err)
			}
			sums := slices.Clone(e.Prior)
			for _, v := range e.Evidence {
				if sums[v.Class] += v.Weight; !ids[v.ID] {
					t.Errorf("%s: no rule %s of %s", event, v.ID, v.Text)
				}
			}
			for c, p := range out.Row(r) {
				if got := math.Exp(sums[c] - e.Normaliser); math.Abs(got-p) > 1e-12 || math.Abs(ruled.Row(r)[c]-p) > 1e-12 {
					t.Errorf("%s, row %d: reasons say %v, rules %v, the model %v", event, r+1, got, ruled.Row(r)[c], p)
				}
			}
		}
		top, left, err := m.TopRules(3)
		if err != nil || len(top.Rules) != 3 || left != len(base.Rules)-3 {
			t.Errorf("%s: %d rules at the top, %d left: %v", event, len(top.Rules), left, err)
		}
	}
}

// Texts stand beside names and numbers, and what cannot be learnt is refused.
func TestWordsBesideOthers(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "said", Kind: table.Text}, {Name: "class"}, {Name: "who"}, {Name: "x", Kind: table.Numeric}}}
	b := table.NewBuilder(schema)
	for _, r := range []string{"good fun,like,ann,1", "bad,dislike,bob,5", "fun,like,bob,2", "bad bad,dislike,ann,4"} {
		for j, cell := range strings.Split(r, ",") {
			if err := b.String(j, cell); err != nil {
				t.Fatal(err)
			}
		}
		b.End()
	}
	tab, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: tab}.At(1))
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, tab.Rows())
	if err := m.Predict(context.Background(), tab, out); err != nil || out.Row(0)[0] < .9 || out.Row(1)[1] < .9 {
		t.Errorf("%v: %v", out.P, err)
	}
	base, err := m.(*Model).Rules()
	if err != nil || !slices.ContainsFunc(base.Notes, func(n string) bool { return strings.Contains(n, "numbers") }) {
		t.Errorf("notes %q: %v", base.Notes, err)
	}
	if _, err := m.(*Model).Graph(); err != nil {
		t.Error(err)
	}
	vectors := &table.Table{}
	vectors, err = table.New(&table.Schema{Attributes: []table.Attribute{{Name: "v", Kind: table.Text, Values: []string{"1"}}, {Name: "class", Values: []string{"p"}}}},
		[]table.Column{{Words: &table.Bag{Starts: []int{0, 1}, Codes: []int32{0}, Counts: []float64{-.5}}}, {Codes: []int32{0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: vectors}.At(1)); err == nil || !strings.Contains(err.Error(), `column "v", row 1: -0.5 occurrences`) {
		t.Errorf("error %v", err)
	}
	for setting, want := range map[string]string{"stop": "most frequent words", "text": "expected one of"} {
		if _, err := learn.New(Name, map[string]string{setting: "qqq"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", setting, err)
		}
	}
}

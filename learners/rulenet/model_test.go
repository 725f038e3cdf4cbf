package rulenet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/encode"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

var background = context.Background()

func info(t *testing.T) learn.Info {
	t.Helper()
	i, err := learn.Lookup(Name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// First-order J on the votes, rows with the vote missing left out: figures
// worked out from the data.
func TestMeasureOnVotes(t *testing.T) {
	votes, target := load(t, "votes")
	for _, c := range []struct {
		column, value, class string
		bits                 float64
	}{
		{"physician-fee-freeze", "y", "republican", 0.380367},
		{"physician-fee-freeze", "n", "democrat", 0.377772},
		{"el-salvador-aid", "n", "democrat", 0.252004},
		{"adoption-of-the-budget-resolution", "n", "republican", 0.242326},
		{"crime", "n", "democrat", 0.238172},
		{"education-spending", "y", "republican", 0.209782},
	} {
		var covered, correct, class, total float64
		col := votes.Schema.Index(c.column)
		for r := range votes.Rows() {
			if votes.Text(r, col) == "" {
				continue
			}
			is := votes.Text(r, target) == c.class
			total++
			if is {
				class++
			}
			if votes.Text(r, col) == c.value {
				covered++
				if is {
					correct++
				}
			}
		}
		if got := rule.JMeasure(covered, correct, class, total); math.Abs(got-c.bits) > 0.5e-6 {
			t.Errorf("%s = %s: %.6f bits, expected %.6f", c.column, c.value, got, c.bits)
		}
		x := &search{counter: &counter{total: int64(total)}, logClass: math.Log2(class / total), logOther: math.Log2(1 - class/total)}
		if got := x.j(int64(covered), int64(correct)); math.Abs(got-c.bits) > 0.5e-6 {
			t.Errorf("%s = %s: the search measures %.6f bits, expected %.6f", c.column, c.value, got, c.bits)
		}
	}
}

// drawSettings draws weights, ties and growth.
func drawSettings(t *rapid.T) map[string]string {
	s := map[string]string{
		"weights": rapid.SampledFrom([]string{"published", "all", "calibrated"}).Draw(t, "weights"),
		"ties":    rapid.SampledFrom([]string{"information", "random", "first"}).Draw(t, "ties"),
	}
	if s["weights"] == "calibrated" && rapid.Bool().Draw(t, "none") {
		s["grow"] = "none"
	}
	return s
}

func learnDrawn(t *rapid.T, from *table.Table, target int, source string, settings map[string]string) *Model {
	l, err := learn.New(Name, exactly(settings))
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(background, learn.Task{Table: from, Source: learn.Source{ID: source}, Seed: 5}.At(target))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func text(t interface{ Fatal(...any) }, m learn.Model) string {
	b, err := m.(learn.Ruler).Rules()
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// However rows are ordered, spread over updates or merged, the rules are those
// of learning all at once, to the digit.
func TestExactWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, target := drawTable(t)
		settings := drawSettings(t)
		order := rapid.Permutation(rowNumbers(all.Rows())).Draw(t, "order")
		cut := rapid.IntRange(1, all.Rows()-1).Draw(t, "cut")
		first, second := all.Select(order[:cut]), all.Select(order[cut:])
		whole := learnDrawn(t, all, target, "all", settings)
		want := text(t, whole)
		if got := text(t, learnDrawn(t, all.Select(order), target, "a", settings)); got != want {
			t.Fatalf("in another order:\n%s\nexpected:\n%s", got, want)
		}
		m := learnDrawn(t, first, target, "a", settings)
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Add(background, second); err != nil {
			t.Fatal(err)
		}
		updated, err := u.Freeze(background)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, updated); got != want {
			t.Fatalf("updated:\n%s\nexpected:\n%s", got, want)
		}
		merged, err := learnDrawn(t, second, target, "b", settings).Merge(background, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, merged); got != want {
			t.Fatalf("merged:\n%s\nexpected:\n%s", got, want)
		}
		left, err := updated.(learn.Forgetter).Forget(background, "b")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, left), text(t, m); got != want {
			t.Fatalf("after forgetting:\n%s\nexpected:\n%s", got, want)
		}
	})
}

// reweighed returns the same rows with other weights.
func reweighed(t *rapid.T, all *table.Table, weights []float64) *table.Table {
	made, err := table.New(all.Schema, all.Columns, weights)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func rowNumbers(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// A published network is its formula: the log posterior of a class is its
// prior and, for each rule that fires, ln p(x|y)/p(x) once for each template.
func TestPublishedFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, target := drawTable(t)
		m := learnDrawn(t, all, target, "a", map[string]string{"weights": "published"})
		fitted, _, err := table.Conform(all, m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, all.Rows())
		if err := m.Predict(background, fitted, out); err != nil {
			t.Fatal(err)
		}
		total := sum(m.counts)
		for r := range all.Rows() {
			scores := make([]float64, out.Classes)
			for c := range scores {
				scores[c] = math.Log(m.counts[c] / total)
			}
			for _, u := range m.units {
				fires := true
				for _, test := range u.rule {
					fires = fires && test.holds(m.coding.code(fitted, r, int(test.col)))
				}
				if fires {
					scores[u.class] += u.templates * math.Log(u.counts[u.class]/sum(u.counts)/(m.counts[u.class]/total))
				}
			}
			norm := logsum.Of(scores)
			for c, p := range out.Row(r) {
				if want := math.Exp(scores[c] - norm); math.Abs(p-want) > 1e-12 {
					t.Fatalf("row %d class %d: %v, the formula says %v", r, c, p, want)
				}
			}
		}
		templates := 0.0
		for _, u := range m.units {
			templates += u.templates
		}
		if templates > total+1e-9 {
			t.Fatalf("%v templates of %v rows", templates, total)
		}
	})
}

// A fit ends where no derivative is off by more than it was asked for.
func TestFitIsAtItsMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := drawExamples(t)
		w := &training{examples: s, settings: settings{Ties: "information"}}
		rules, err := w.findRules(background, s.weights)
		if err != nil {
			t.Fatal(err)
		}
		var tests []conjunction
		for _, f := range leftSides(rules) {
			tests = append(tests, f.rule)
		}
		d, err := newDesign(background, s, tests)
		if err != nil {
			t.Fatal(err)
		}
		r := newRegression(d, d.weigh(s.weights))
		lambda := rapid.Float64Range(0.3, 5).Draw(t, "lambda")
		if err := r.fit(background, lambda, 1e-6); err != nil {
			t.Fatal(err)
		}
		if len(r.present) < 2 {
			return
		}
		r.exponentiate()
		for a, c := range r.present {
			if len(r.present) == 2 && a == 0 {
				continue
			}
			slope := make([]float64, r.units+1)
			for g := range r.groups() {
				x := r.sizes[g]*r.probability(g, a) - r.counts[g*r.classes+c]
				slope[r.units] += x
				for _, u := range r.fires(g) {
					slope[u] += x
				}
			}
			for u, x := range slope {
				weight := r.weights[a][u]
				off := math.Abs(x)
				if u < r.units {
					switch x += ridge * weight; {
					case weight == 0:
						off = max(0, math.Abs(x)-lambda)
					default:
						off = math.Abs(x + math.Copysign(lambda, weight))
					}
				}
				if off > 1e-5*r.total {
					t.Fatalf("class %d, unit %d of %d: derivative off by %v", c, u, r.units, off)
				}
			}
		}
	})
}

// accuracy returns the share of rows that a model gets right.
func accuracy(tb testing.TB, m learn.Model, test *table.Table) float64 {
	tb.Helper()
	test, _, err := table.Conform(test, m.Schema(), false)
	if err != nil {
		tb.Fatal(err)
	}
	out := learn.NewPredictions(m, test.Rows())
	if err := m.Predict(background, test, out); err != nil {
		tb.Fatal(err)
	}
	right := 0
	classes := m.Schema().Attributes[m.Target()].Values
	for r, c := range test.Columns[m.Target()].Codes {
		if int32(learn.Best(out.Row(r), classes)) == c {
			right++
		}
	}
	return float64(right) / float64(test.Rows())
}

func TestExcerpt(t *testing.T) {
	mushroom, target := load(t, "mushroom")
	m := learnOrFail(t, mushroom, target, nil)
	e, err := m.Excerpt(background, rule.Budget{Top: 10})
	if err != nil {
		t.Fatal(err)
	}
	if e.Rules > 10 || e.Accuracy < 0.985 || e.Share < 0.9 || e.Of != m.Size().Units {
		t.Errorf("the ten best rules: %+v, expected at least 98.5 %% right", e)
	}
	p, err := rule.NewPredictor(e.Base, m.Schema(), m.Target())
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := table.Conform(mushroom, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, fitted.Rows())
	if err := p.Predict(fitted, out.P, nil); err != nil {
		t.Fatal(err)
	}
	right := 0.0
	for r, c := range fitted.Columns[target].Codes {
		if int32(learn.Best(out.Row(r), m.Schema().Attributes[target].Values)) == c {
			right++
		}
	}
	if got := right / float64(fitted.Rows()); math.Abs(got-e.Accuracy) > 1e-9 {
		t.Errorf("the excerpt's rules are right on %v of the rows, it says %v", got, e.Accuracy)
	}

	votes, target := load(t, "votes")
	m = learnOrFail(t, votes, target, nil)
	share := 0.0
	for _, bits := range []float64{0.5, 0.8, 0.95, 1} {
		e, err := m.Excerpt(background, rule.Budget{Bits: bits})
		if err != nil {
			t.Fatal(err)
		}
		if e.Share < share || e.Share < bits && bits < 0.99 {
			t.Errorf("%v of the bits: %v", bits, e)
		}
		share = e.Share
	}
	for _, bad := range []rule.Budget{{}, {Top: 3, Bits: 0.5}, {Top: -1}, {Bits: 1.5}} {
		if _, err := m.Excerpt(background, bad); err == nil {
			t.Errorf("budget %+v is accepted", bad)
		}
	}
}

func TestReading(t *testing.T) {
	votes, target := load(t, "votes")
	m := learnOrFail(t, votes, target, map[string]string{"weights": "published"})
	base, err := m.Rules()
	if err != nil {
		t.Fatal(err)
	}
	against := false
	last := math.Inf(1)
	said := base.Words()
	for i := range base.Rules {
		r := &base.Rules[i]
		if len(r.If) == 0 {
			continue
		}
		if *r.Evidence.Bits > last+1e-12 {
			t.Errorf("rule %d carries more bits than the one before", i+1)
		}
		last = *r.Evidence.Bits
		usual := m.counts[m.Schema().Attributes[target].Code(r.Then.Value)] / sum(m.counts)
		words := said[i]
		if negative := *r.With < usual; negative != strings.HasPrefix(words, "speaks against ") {
			t.Errorf("%s: %s", r, words)
		} else if negative {
			against = true
		}
	}
	if !against {
		t.Error("no rule speaks against its class")
	}
	grown := learnOrFail(t, votes, target, nil)
	steps, stopped := grown.Growth()
	if len(steps) == 0 || stopped == "" || grown.GrowthChart() == nil {
		t.Errorf("growth: %v, %q", steps, stopped)
	}
	for _, c := range grown.Certificates() {
		if c.ID == "" || c.Rule == "" || math.IsNaN(c.Removed) {
			t.Errorf("certificate %+v", c)
		}
	}
	g, err := grown.Graph()
	if err != nil {
		t.Fatal(err)
	}
	var svg strings.Builder
	if err := g.SVG(&svg); err != nil || !strings.Contains(svg.String(), "physician-fee-freeze") {
		t.Errorf("the picture: %v", err)
	}
	if err := grown.GrowthChart().SVG(&svg); err != nil {
		t.Error(err)
	}
}

// Templates drawn by a hash stand for all: their weights add up to the rows.
func TestSampleOfTemplates(t *testing.T) {
	rows, target := load(t, "led:rows=3000")
	m := learnOrFail(t, rows, target, map[string]string{"weights": "published", "templates": "50"})
	templates := 0.0
	for _, u := range m.units {
		templates += u.templates
	}
	if templates > 3000+1e-6 || templates < 2500 {
		t.Errorf("templates of the weight %v stand for 3000 rows", templates)
	}
	if _, err := learn.New(Name, map[string]string{"templates": "few"}); err != nil {
		t.Fatal(err)
	}
	l, _ := learn.New(Name, map[string]string{"templates": "few"})
	if _, err := l.Learn(background, learn.Task{Table: rows}.At(target)); err == nil {
		t.Error("templates=few is accepted")
	}
}

// The published update never takes more than two iterations beyond the number
// of columns, and ends, after all rows, close to batch learning.
func TestPublishedUpdate(t *testing.T) {
	const seeds = 3
	for seed := range seeds {
		train, set, err := datasets.Load(background, fmt.Sprintf("boolean:each=10,seed=%d", seed+1))
		if err != nil {
			t.Fatal(err)
		}
		target := train.Schema.Index(set.Target)
		settings := map[string]string{"weights": "published", "update": "published"}
		m := learnOrFail(t, train.Slice(0, 30), target, settings)
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		fitted, _, err := table.Conform(train, m.Schema(), true)
		if err != nil {
			t.Fatal(err)
		}
		for r := 30; r < train.Rows(); {
			n := min(1+random.IntN(5), train.Rows()-r)
			if err := u.Add(background, fitted.Slice(r, r+n)); err != nil {
				t.Fatal(err)
			}
			r += n
		}
		if n := u.(*incrementalUpdate).iterations; n > 6+2 {
			t.Errorf("a search took %d iterations over 6 columns", n)
		}
		grown, err := u.Freeze(background)
		if err != nil {
			t.Fatal(err)
		}
		// Counts are over all rows: every unit's are what batch counting gives.
		x, err := newExamples(background, grown.(*Model).coding, fitted)
		if err != nil {
			t.Fatal(err)
		}
		w := &training{examples: x}
		for _, unit := range grown.(*Model).units {
			if got := w.cover(unit.rule); !slices.Equal(got, unit.counts) {
				t.Errorf("%v covers %v, the update counted %v", unit.rule, got, unit.counts)
			}
		}
		batch := learnOrFail(t, train, target, settings)
		if a, b := grown.Size(), batch.Size(); a.Rows != b.Rows || a.Units < b.Units/2 || a.Units > 3*b.Units {
			t.Errorf("%+v after updates, %+v at once", a, b)
		}
		if _, err := grown.(learn.Merger).Merge(background, batch); err == nil {
			t.Error("networks that keep no sources apart are merged")
		}
	}
}

// New values, classes and fractional weights reach the published update.
func TestPublishedUpdateExtends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, target := drawTable(t)
		if rapid.Bool().Draw(t, "thirds") { // that no power of two divides
			weights := make([]float64, all.Rows())
			for r := range weights {
				weights[r] = all.Weight(r) / 3
			}
			all = reweighed(t, all, weights)
		}
		cut := rapid.IntRange(1, all.Rows()-1).Draw(t, "cut")
		m := learnDrawn(t, all.Slice(0, cut), target, "a", map[string]string{"update": "published", "weights": "published"})
		u, err := m.Begin(learn.Source{ID: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "batches") {
			u.(*incrementalUpdate).fewWords = 0 // count new rows alone
		}
		for r := cut; r < all.Rows(); r++ {
			if err := u.Add(background, all.Slice(r, r+1)); err != nil {
				t.Fatal(err)
			}
		}
		grown, err := u.Freeze(background)
		if err != nil {
			t.Fatal(err)
		}
		// Counts that new rows were added to are those of counting anew.
		p := u.(*incrementalUpdate)
		for _, g := range p.generated {
			if len(g.templates) > 0 && g.counted && g.epoch == p.epoch {
				c := climber{search: p.searches[g.class]}
				if want := c.countRule(g.rule); !slices.Equal(g.without, want.without) || !slices.Equal(g.widenings, want.widenings) || !slices.Equal(g.added, want.added) || g.base != want.base {
					t.Fatalf("%v is counted as %v, expected %v", g.rule, g.tallies, want)
				}
			}
		}
		anew := &counter{unit: p.counter.unit, least: 1}
		anew.fill(p.examples, p.state.weights)
		if anew.total != p.counter.total || !slices.Equal(anew.class, p.counter.class) {
			t.Fatalf("rows of the classes weigh %v units, expected %v", p.counter.class, anew.class)
		}
		for col, want := range anew.byValue {
			if !slices.Equal(p.counter.byValue[col], want) {
				t.Fatalf("the counts of column %d are %v, expected %v", col, p.counter.byValue[col], want)
			}
		}
		total := 0.0
		for r := range all.Rows() {
			total += all.Weight(r)
		}
		if got := grown.Size().Rows; math.Abs(got-total) > 1e-9*total {
			t.Fatalf("rows of the weight %v, expected %v", got, total)
		}
		if got := p.counter.unit * float64(p.counter.total); math.Abs(got-total) > 1e-3*total {
			t.Fatalf("rows are counted with the weight %v, expected %v", got, total)
		}
		x, err := newExamples(background, grown.(*Model).coding, all)
		if err != nil {
			t.Fatal(err)
		}
		w := &training{examples: x}
		for _, unit := range grown.(*Model).units {
			if got := w.cover(unit.rule); !slices.EqualFunc(got, unit.counts, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*total }) {
				t.Fatalf("%v covers %v, the update counted %v", unit.rule, got, unit.counts)
			}
		}
	})
}

// A sample of the rows holds about as many as it should, whether a table is
// there to hash or only coded rows.
func TestSampledRows(t *testing.T) {
	rows := prototypes(3000, 1)
	s, err := newExamples(background, coding{rows.Schema, 20, make([]*encode.Cuts, 21)}, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []*table.Table{rows, nil} {
		part, err := (&training{examples: s, table: from}).sampled(background, 1000)
		if err != nil {
			t.Fatal(err)
		}
		// 1000 of 3000, give or take four deviations of √(3000·⅓·⅔) = 26.
		if n := len(part.class); n < 1000-104 || n > 1000+104 {
			t.Errorf("%d rows, expected about 1000", n)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	votes, target := load(t, "votes")
	for _, bad := range []map[string]string{
		{"weights": "published", "grow": "residual"}, {"update": "published", "grow": "residual"},
		{"penalty": "-1"}, {"rounds": "-2"}, {"templates": "0"},
	} {
		l, err := learn.New(Name, bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Learn(background, learn.Task{Table: votes}.At(target)); err == nil {
			t.Errorf("settings %v are accepted", bad)
		}
	}
}

// Whatever the bytes, decoding gives a sound model or an error.
func FuzzDecode(f *testing.F) {
	votes, set, err := datasets.Load(background, "votes")
	if err != nil {
		f.Fatal(err)
	}
	for _, settings := range []map[string]string{nil, {"update": "published", "weights": "published"}, {"update": "living"}} {
		l, err := learn.New(Name, settings)
		if err != nil {
			f.Fatal(err)
		}
		m, err := l.Learn(background, learn.Task{Table: votes.Slice(0, 60), Target: set.Target})
		if err != nil {
			f.Fatal(err)
		}
		data, err := learn.Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer bounded.Start(t, len(data))()
		m, err := learn.Decode(data)
		if err != nil || m.Learner() != Name {
			return
		}
		probe, _, err := table.Conform(votes.Slice(0, 5), m.Schema(), false)
		if err != nil {
			return
		}
		out := learn.NewPredictions(m, probe.Rows())
		if err := m.Predict(background, probe, out); err != nil {
			t.Fatal(err)
		}
		for r := range probe.Rows() {
			if s := sum(out.Row(r)); !(math.Abs(s-1) < 1e-9) {
				t.Fatalf("probabilities add up to %v", s)
			}
		}
	})
}

// Reading a network to a budget takes less than learning it: of many classes
// and rules it is chosen on a sample, and measured on all rows.
func TestExcerptOfManyRules(t *testing.T) {
	rows := prototypes(9000, 1)
	m := learnOrFail(t, rows, 20, map[string]string{"weights": "published", "templates": "400"})
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []rule.Budget{{Top: 5}, {Top: 60}, {Bits: 0.9}, {Bits: 1}} {
		e, err := m.Excerpt(background, b)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rule.NewPredictor(e.Base, m.Schema(), m.Target())
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, fitted.Rows())
		if err := p.Predict(fitted, out.P, nil); err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for r, c := range fitted.Columns[20].Codes {
			if int32(learn.Best(out.Row(r), m.Schema().Attributes[20].Values)) == c {
				right++
			}
		}
		if got := right / float64(fitted.Rows()); math.Abs(got-e.Accuracy) > 1e-9 || b.Top > 0 && e.Rules > b.Top || e.Share < b.Bits && e.Rules < e.Of {
			t.Errorf("%+v: %+v, and its rules are right on %v", b, e, got)
		}
	}
}

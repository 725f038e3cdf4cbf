package rule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/table"
)

const classColumn = 4 // of the small schema

func mustParse(t testing.TB, src string) *Base {
	t.Helper()
	b, err := Parse("test", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ExamplePredictor() {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sunny", "overcast", "rain"}},
		{Name: "humidity", Kind: table.Numeric},
		{Name: "play", Values: []string{"no", "yes"}},
	}}
	base, _ := ParseFor("play.rules", []byte(`
		RULES ordered
		IF outlook = sunny AND humidity > 75 THEN play = no WITH 0.8
		ELSE play = {no 0.3, yes 0.7}
	`), schema)
	p, _ := NewPredictor(base, schema, 2)
	t, _ := table.New(schema, []table.Column{
		{Codes: []int32{0, 1}}, {Floats: []float64{90, 90}}, {Codes: []int32{table.Missing, table.Missing}},
	}, nil)
	probabilities := make([]float64, 2*2)
	err := p.Predict(t, probabilities, nil)
	fmt.Printf("%.2f %v\n", probabilities, err)
	// Output: [0.80 0.20 0.30 0.70] <nil>
}

// matches decides a rule's IF part naively.
func matches(r *Rule, t *table.Table, row int) bool {
	return !slices.ContainsFunc(r.If, func(x Test) bool { return !naive(x, t, row) })
}

// spread returns the class probabilities that a rule states.
func spread(r *Rule, classes []string) []float64 {
	p := make([]float64, len(classes))
	for c, class := range classes {
		switch {
		case len(r.Then.Classes) > 0:
			for _, s := range r.Then.Classes {
				if s.Value == class {
					p[c] = s.P
				}
			}
		case class == r.Then.Value && r.With == nil:
			p[c] = 1
		case class == r.Then.Value:
			p[c] = *r.With
		case r.With != nil:
			p[c] = (1 - *r.With) / float64(len(classes)-1)
		}
	}
	return p
}

func smallConclusion(t *rapid.T) Rule {
	classes := smallSchema().Attributes[classColumn].Values
	r := Rule{Then: Conclusion{Column: "class"}}
	if rapid.Bool().Draw(t, "distribution") {
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		r.Then.Classes = []Share{{classes[0], p}, {classes[1], (1 - p) * q}, {classes[2], (1 - p) * (1 - q)}}
	} else {
		r.Then.Value = rapid.SampledFrom(classes).Draw(t, "class")
		r.With = maybe(t, rapid.Float64Range(0, 1), "with")
	}
	return r
}

func close(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12 })
}

func TestOrderedAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := smallTable(t, 100)
		b := &Base{Kind: Ordered}
		for range rapid.IntRange(0, 5).Draw(t, "rules") {
			r := smallConclusion(t)
			r.If = rapid.SliceOfN(wideTest(1), 0, 3).Draw(t, "if")
			b.Rules = append(b.Rules, r)
		}
		if rapid.Bool().Draw(t, "has else") {
			r := smallConclusion(t)
			b.Else = &r
		}
		p, err := NewPredictor(b, rows.Schema, classColumn)
		if err != nil {
			t.Fatal(err)
		}
		classes := rows.Schema.Attributes[classColumn].Values
		got := make([]float64, rows.Rows()*len(classes))
		if err := p.Predict(rows, got, nil); err != nil {
			t.Fatal(err)
		}
		for row := range rows.Rows() {
			want := []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}
			if b.Else != nil {
				want = spread(b.Else, classes)
			}
			for i := range b.Rules {
				if matches(&b.Rules[i], rows, row) {
					want = spread(&b.Rules[i], classes)
					break
				}
			}
			if !close(got[row*3:][:3], want) {
				t.Fatalf("row %d: %v, expected %v by\n%v", row, got[row*3:][:3], want, b)
			}
		}
	})
}

func TestWeighedAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := smallTable(t, 100)
		classes := rows.Schema.Attributes[classColumn].Values
		b := &Base{Kind: Weighed}
		weight := func() *float64 { w := rapid.Float64Range(-5, 5).Draw(t, "weight"); return &w }
		priors := rapid.Bool().Draw(t, "priors")
		if priors {
			for _, class := range classes {
				b.Rules = append(b.Rules, Rule{Then: Conclusion{Column: "class", Value: class}, Evidence: Evidence{Weight: weight()}})
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "rules") {
			r := Rule{Then: Conclusion{Column: "class", Value: rapid.SampledFrom(classes).Draw(t, "class")}, Evidence: Evidence{Weight: weight()}}
			r.If = rapid.SliceOfN(wideTest(1), 1, 3).Draw(t, "if")
			b.Rules = append(b.Rules, r)
		}
		p, err := NewPredictor(b, rows.Schema, classColumn)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, rows.Rows()*3)
		if err := p.Predict(rows, got, nil); err != nil {
			t.Fatal(err)
		}
		for row := range rows.Rows() {
			want := make([]float64, 3)
			for i := range b.Rules {
				if matches(&b.Rules[i], rows, row) {
					want[slices.Index(classes, b.Rules[i].Then.Value)] += *b.Rules[i].Evidence.Weight
				}
			}
			sum := 0.0
			for c := range want {
				want[c] = math.Exp(want[c])
				sum += want[c]
			}
			for c := range want {
				want[c] /= sum
			}
			if !close(got[row*3:][:3], want) {
				t.Fatalf("row %d: %v, expected %v by\n%v", row, got[row*3:][:3], want, b)
			}
		}
	})
}

// one returns the prediction for one row of texts over the small schema, ""
// for missing cells.
func one(t testing.TB, p *Predictor, schema *table.Schema, texts ...string) []float64 {
	t.Helper()
	columns := make([]table.Column, len(schema.Attributes))
	for i, a := range schema.Attributes {
		text := ""
		if i < len(texts) {
			text = texts[i]
		}
		if a.Kind == table.Numeric {
			x := math.NaN()
			if text != "" {
				if _, err := fmt.Sscan(text, &x); err != nil {
					t.Fatal(err)
				}
			}
			columns[i].Floats = []float64{x}
			continue
		}
		code := table.Missing
		if text != "" {
			code = a.Code(text)
		}
		columns[i].Codes = []int32{code}
	}
	row, err := table.New(schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, max(1, p.classes))
	if err := p.Predict(row, out, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWeighedPriors: rules without a weight are weighed against the prior,
// and classes without a prior are impossible where others have one.
func TestWeighedPriors(t *testing.T) {
	schema := smallSchema()
	for _, c := range []struct {
		src, u string
		want   []float64
	}{
		{"", "a", []float64{1. / 3, 1. / 3, 1. / 3}},
		{"IF ALWAYS THEN class = no WITH 0.2 IF ALWAYS THEN class = yes WITH 0.8", "a", []float64{0.2, 0.8, 0}},
		{"IF ALWAYS THEN class = {no 0.2, yes 0.3, so 0.5}", "a", []float64{0.2, 0.3, 0.5}},
		// P(x|y)/P(x) = 0.4/0.2 doubles the class that is concluded.
		{"IF ALWAYS THEN class = {no 0.2, yes 0.3, so 0.5} IF u = a THEN class = no WITH 0.4", "a", []float64{0.4 / 1.2, 0.3 / 1.2, 0.5 / 1.2}},
		{"IF ALWAYS THEN class = {no 0.2, yes 0.3, so 0.5} IF u = a THEN class = no WITH 0.4", "b", []float64{0.2, 0.3, 0.5}},
		// All classes of a distribution are weighed: one such rule answers with it.
		{"IF u = a THEN class = {no 0.1, yes 0.6, so 0.3} IF ALWAYS THEN class = {no 0.2, yes 0.3, so 0.5}", "a", []float64{0.1, 0.6, 0.3}},
		{"IF ALWAYS THEN class = {no 0.4, yes 0.6} IF u = a THEN class = {no 1}", "a", []float64{1, 0, 0}},
		// Impossible by every rule: nothing is known.
		{"IF ALWAYS THEN class = {no 0.4, yes 0.6} IF u = a THEN class = {no 1} IF v = 1 THEN class = {yes 1}", "a", []float64{1. / 3, 1. / 3, 1. / 3}},
		{"IF ALWAYS THEN class = {no 0.4, yes 0.6} IF u = a THEN class = no [weight 1] ELSE class = so", "b", []float64{0, 0, 1}},
		{"IF u = a THEN class = no [weight 0] ELSE class = so WITH 0.5", "b", []float64{0.25, 0.25, 0.5}},
	} {
		p, err := NewPredictor(mustParse(t, "RULES weighed "+c.src), schema, classColumn)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := one(t, p, schema, c.u, "1"); !close(got, c.want) {
			t.Errorf("%s, u = %s: %v, expected %v", c.src, c.u, got, c.want)
		}
	}
}

func TestPredictorRefuses(t *testing.T) {
	schema := smallSchema()
	for _, c := range []struct {
		src    string
		target int
		err    string
	}{
		{"RULES ordered", 9, "target 9 is not one of the 5 columns"},
		{"RULES ordered", -1, "target -1 is not one of the 5 columns"},
		{"IF u = a THEN class = no", 4, "the base does not say how its rules are read"},
		{"RULES ordered IF u = z THEN class = no", 4, `rule 1: unknown value "z" of "u"`},
		{"RULES ordered IF class = no THEN class = no", 4, `rule 1 tests the target "class"`},
		{"RULES ordered IF AT LEAST 1 OF {class = no} THEN class = no", 4, `rule 1 tests the target "class"`},
		{"RULES ordered IF 2*x > 1 THEN x ~ 1 ± 1", 2, `rule 1 tests the target "x"`},
		{"RULES ordered IF u = a THEN v = 1", 4, `rule 1 concludes "v", expected the target "class"`},
		{"RULES ordered ELSE v = 1", 4, `the ELSE rule concludes "v", expected the target "class"`},
		{"RULES ordered WHEN u (1) EXPECT x NORMAL", 4, "WHEN units answer in a mixture only"},
		{"RULES weighed IF u = a THEN x ~ 1 ± 1", 2, `rule 1 concludes x ~ 1 ± 1; the rules of a weighed base add to a number: x += number`},
		{"RULES weighed IF u = a THEN class = no", 4, `rule 1 states no weight, and there is no prior to weigh "no" against`},
		{"RULES weighed IF u = a THEN class = {no 1} [weight 1]", 4, "rule 1 states one weight for a distribution"},
		{"RULES weighed IF ALWAYS THEN class = yes [weight 0] IF u = a THEN class = no [weight 1]", 4, `rule 2 concludes "no", which has no prior while other classes have; add IF ALWAYS THEN class = no WITH its prior`},
		{"RULES mixture", 4, "the mixture has no units"},
		{"RULES mixture ELSE class = no", 4, "a mixture answers with WHEN units"},
		{"RULES mixture WHEN a (0) EXPECT class = {no 1}", 4, "every unit has the prior 0"},
		{"RULES mixture WHEN a (1) EXPECT x ~ 1 ± 1", 4, `unit "a": "class" is NORMAL, but its overall distribution is not known here`},
		{"RULES mixture WHEN a (1) EXPECT class = {no 1} AND x ~ 1 ± 0", 4, `unit "a": the deviation of "x" is 0, expected a number > 0`},
		{"RULES mixture WHEN a (1) EXPECT class = {no 1} AND x ~ 1 sd ± 1", 4, `unit "a": "x" is expected in terms of its overall mean and deviation`},
		{"RULES mixture WHEN a (1) EXPECT class = {no 1} AND x ~ 1 ± 1 WHEN b (1) EXPECT class = {no 1}", 4, `unit "b": "x" is expected in terms of its overall mean and deviation`},
	} {
		_, err := NewPredictor(mustParse(t, c.src), schema, c.target)
		if err == nil || !strings.HasPrefix(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n   got %v\n  want %s", c.src, err, c.err)
		}
	}
	if _, err := NewPredictor(&Base{Kind: Ordered}, &table.Schema{Attributes: []table.Attribute{{Name: "y"}}}, 0); err == nil {
		t.Error("a target without values accepted")
	}
	if _, err := NewPredictor(mustParse(t, "RULES mixture WHEN a (1) EXPECT class NORMAL"), schema, 4, Overall{}); err == nil {
		t.Error("statistics of other columns accepted")
	}
	p, err := NewPredictor(mustParse(t, "RULES ordered IF u = a THEN class = no"), schema, 4)
	if err != nil {
		t.Fatal(err)
	}
	rows := bigTable(10)
	if err := p.Predict(rows, make([]float64, 29), nil); err == nil {
		t.Error("too little room accepted")
	}
	fewer := &table.Schema{Attributes: schema.Attributes[:1]}
	short, _ := table.New(fewer, rows.Columns[:1], nil)
	if err := p.Predict(short, make([]float64, 30), nil); err == nil {
		t.Error("a table of other columns accepted")
	}
	other := &table.Schema{Attributes: slices.Clone(schema.Attributes)}
	other.Attributes[0], other.Attributes[2] = other.Attributes[2], other.Attributes[0]
	columns := slices.Clone(rows.Columns)
	columns[0], columns[2] = columns[2], columns[0]
	swapped, err := table.New(other, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Predict(swapped, make([]float64, 30), nil); err == nil {
		t.Error("a table of other kinds accepted")
	}
}

func TestOrderedNumbers(t *testing.T) {
	schema := smallSchema()
	p, err := NewPredictor(mustParse(t, "RULES ordered IF u = a THEN y ~ 1.5 ± 1 IF u = b THEN y ~ -2 ± 0"), schema, 3)
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[string]float64{"a": 1.5, "b": -2, "c": math.NaN(), "": math.NaN()} {
		if got := one(t, p, schema, u)[0]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("u = %q: %v, expected %v", u, got, want)
		}
	}
	single := &table.Schema{Attributes: []table.Attribute{{Name: "u", Values: []string{"a"}}, {Name: "class", Values: []string{"no"}}}}
	p, err = NewPredictor(mustParse(t, "RULES ordered IF u = a THEN class = no WITH 0.5"), single, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, p, single, "a"); got[0] != 1 {
		t.Errorf("the only class has probability %v", got)
	}
}

// TestRoundedShares: probabilities that were rounded are made to sum to one,
// others are taken as given.
func TestRoundedShares(t *testing.T) {
	schema := smallSchema()
	p, err := NewPredictor(mustParse(t, "RULES ordered IF u = a THEN class = {no 0.33, yes 0.33, so 0.33} ELSE class = {no 0.1, yes 0.9}"), schema, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, p, schema, "a"); !close(got, []float64{1. / 3, 1. / 3, 1. / 3}) {
		t.Errorf("rounded: %v", got)
	}
	if got := one(t, p, schema, "b"); !slices.Equal(got, []float64{0.1, 0.9, 0}) {
		t.Errorf("as given: %v", got)
	}
}

// TestPlayTennis is the worked example of naive Bayes (Mitchell 1997, §6.9.1):
// a unit a class, and a cool, sunny, humid, windy day on which 0.0206 against
// 0.0053 speak for not playing, 0.795 when normalised.
func TestPlayTennis(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "outlook", Values: []string{"sunny", "overcast", "rain"}},
		{Name: "temperature", Values: []string{"hot", "mild", "cool"}},
		{Name: "humidity", Values: []string{"high", "normal"}},
		{Name: "wind", Values: []string{"weak", "strong"}},
		{Name: "play", Values: []string{"no", "yes"}},
	}}
	b := &Base{Kind: Mixture}
	counts := map[string][][]float64{
		"yes": {{2, 4, 3}, {2, 4, 3}, {3, 6}, {6, 3}},
		"no":  {{3, 0, 2}, {2, 2, 1}, {4, 1}, {2, 3}},
	}
	total := map[string]float64{"yes": 9, "no": 5}
	for _, class := range []string{"yes", "no"} {
		u := Unit{Name: class, Prior: total[class] / 14, Expect: []Expectation{{Column: "play", Shares: []Share{{class, 1}}}}}
		for column, weights := range counts[class] {
			e := Expectation{Column: schema.Attributes[column].Name}
			for v, n := range weights {
				e.Shares = append(e.Shares, Share{schema.Attributes[column].Values[v], n / total[class]})
			}
			u.Expect = append(u.Expect, e)
		}
		b.Units = append(b.Units, u)
	}
	p, err := NewPredictor(mustParse(t, b.String()), schema, 4)
	if err != nil {
		t.Fatal(err)
	}
	yes, no := 9./14*2/9*3/9*3/9*3/9, 5./14*3/5*1/5*4/5*3/5
	got := one(t, p, schema, "sunny", "cool", "high", "strong")
	if !close(got, []float64{no / (yes + no), yes / (yes + no)}) || math.Abs(got[0]-0.795) > 0.0005 || math.Abs(no-0.0206) > 5e-5 || math.Abs(yes-0.0053) > 5e-5 {
		t.Errorf("got %v from %.4f and %.4f", got, no, yes)
	}
	// A missing cell and an unseen value are left out.
	yes, no = 9./14*2/9, 5./14*3/5
	for _, wind := range []string{"", "gale"} {
		if got := one(t, p, schema, "sunny", "", "", wind); !close(got, []float64{no / (yes + no), yes / (yes + no)}) {
			t.Errorf("only sunny known: %v", got)
		}
	}
	if got := one(t, p, schema, "overcast"); !close(got, []float64{0, 1}) {
		t.Errorf("overcast: %v", got)
	}
}

// TestMixtureAgreesWithNaive compares with products of densities, for a
// nominal and a numeric target.
func TestMixtureAgreesWithNaive(t *testing.T) {
	density := func(x, mean, deviation float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/(2*deviation*deviation)) / (deviation * math.Sqrt(2*math.Pi))
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := smallTable(t, 50)
		schema := rows.Schema
		overall := []Overall{{Shares: []float64{0.2, 0.3, 0.5}}, {Shares: []float64{0.2, 0.3, 0.5}}, {Mean: 0.5, Deviation: 2}, {Mean: -1, Deviation: 3}, {Shares: []float64{0.2, 0.3, 0.5}}}
		b := &Base{Kind: Mixture}
		for i := range rapid.IntRange(1, 4).Draw(t, "units") {
			u := Unit{Name: fmt.Sprint("unit", i), Prior: rapid.Float64Range(0.1, 1).Draw(t, "prior")}
			for _, a := range schema.Attributes {
				e := Expectation{Column: a.Name}
				switch rapid.IntRange(0, 3).Draw(t, "form") {
				case 0:
					continue
				case 1:
					e.Normal = true
				default:
					if a.Kind == table.Nominal {
						p, q := rapid.Float64Range(0.1, 0.9).Draw(t, "p"), rapid.Float64Range(0.1, 0.9).Draw(t, "q")
						e.Shares = []Share{{a.Values[2], p}, {a.Values[0], (1 - p) * q}, {a.Values[1], (1 - p) * (1 - q)}}
					} else {
						e.Mean, e.MeanSD = rapid.Float64Range(-2, 2).Draw(t, "mean"), rapid.Bool().Draw(t, "mean sd")
						e.Deviation, e.DeviationSD = rapid.Float64Range(0.5, 2).Draw(t, "deviation"), rapid.Bool().Draw(t, "deviation sd")
					}
				}
				u.Expect = append(u.Expect, e)
			}
			if len(u.Expect) == 0 {
				u.Expect = []Expectation{{Column: "x", Normal: true}}
			}
			b.Units = append(b.Units, u)
		}
		expected := func(u *Unit, column int) (e Expectation) {
			e = Expectation{Column: schema.Attributes[column].Name, Normal: true}
			for _, f := range u.Expect {
				if f.Column == e.Column {
					e = f
				}
			}
			o := overall[column]
			switch {
			case e.Normal && o.Shares == nil:
				e.Mean, e.Deviation = o.Mean, o.Deviation
			case e.Normal:
				for v, p := range o.Shares {
					e.Shares = append(e.Shares, Share{schema.Attributes[column].Values[v], p})
				}
			default:
				if e.MeanSD {
					e.Mean = o.Mean + e.Mean*o.Deviation
				}
				if e.DeviationSD {
					e.Deviation *= o.Deviation
				}
			}
			return e
		}
		share := func(e Expectation, value string) float64 {
			for _, s := range e.Shares {
				if s.Value == value {
					return s.P
				}
			}
			return 0
		}
		spoken := func(column int) bool {
			return slices.ContainsFunc(b.Units, func(u Unit) bool {
				return slices.ContainsFunc(u.Expect, func(e Expectation) bool { return e.Column == schema.Attributes[column].Name })
			})
		}
		for _, target := range []int{classColumn, 3} {
			p, err := NewPredictor(b, schema, target, overall...)
			if err != nil {
				t.Fatal(err)
			}
			probs, means := make([]float64, rows.Rows()*3), make([]float64, rows.Rows())
			if err := p.Predict(rows, probs, means); err != nil {
				t.Fatal(err)
			}
			for row := range rows.Rows() {
				total, mean, classes := 0.0, 0.0, make([]float64, 3)
				for i := range b.Units {
					u := &b.Units[i]
					w := u.Prior
					for column, a := range schema.Attributes {
						if column == target || !spoken(column) {
							continue
						}
						e := expected(u, column)
						if a.Kind == table.Numeric {
							if x := rows.Columns[column].Floats[row]; finite(x) {
								w *= density(x, e.Mean, e.Deviation)
							}
						} else if code := rows.Columns[column].Codes[row]; code >= 0 {
							w *= share(e, a.Values[code])
						}
					}
					total += w
					e := expected(u, target)
					mean += w * e.Mean
					for c := range classes {
						classes[c] += w * share(e, schema.Attributes[classColumn].Values[c])
					}
				}
				if target == classColumn {
					for c := range classes {
						if math.Abs(probs[row*3+c]-classes[c]/total) > 1e-9 {
							t.Fatalf("row %d: %v, expected %v of %v by\n%v", row, probs[row*3:][:3], classes, total, b)
						}
					}
				} else if math.Abs(means[row]-mean/total) > 1e-9*max(1, math.Abs(mean/total)) {
					t.Fatalf("row %d: %v, expected %v by\n%v", row, means[row], mean/total, b)
				}
			}
		}
	})
}

// TestMixtureFarAway: cells too far for any density still have a widest unit,
// and rows that no unit can explain are answered by the priors.
func TestMixtureFarAway(t *testing.T) {
	schema := smallSchema()
	p, err := NewPredictor(mustParse(t, `RULES mixture
		WHEN narrow (0.4) EXPECT class = {no 1} AND x ~ 0 ± 1 AND u = {a 1}
		WHEN wide (0.6) EXPECT class = {yes 1} AND x ~ 0 ± 2 AND u = {a 1}`), schema, classColumn)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		u, x string
		want []float64
	}{
		{"", "1e300", []float64{0, 1, 0}},
		{"", "-1e300", []float64{0, 1, 0}},
		{"", "+Inf", []float64{0.4, 0.6, 0}},
		{"b", "1", []float64{0.4, 0.6, 0}},
	} {
		if got := one(t, p, schema, c.u, "", c.x); !close(got, c.want) {
			t.Errorf("u = %q, x = %q: %v, expected %v", c.u, c.x, got, c.want)
		}
	}
	p, err = NewPredictor(mustParse(t, "RULES mixture WHEN point (0.4) EXPECT class = {no 1} AND x ~ 1 ± 5e-324 WHEN wide (0.6) EXPECT class = {yes 1} AND x ~ 0 ± 2"), schema, classColumn)
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, p, schema, "", "", "1"); !close(got, []float64{1, 0, 0}) {
		t.Errorf("on the point: %v", got)
	}
}

func TestOverall(t *testing.T) {
	schema := smallSchema()
	columns := []table.Column{
		{Codes: []int32{0, 0, 1, table.Missing}}, {Codes: []int32{table.Unseen, 2, 2, 2}},
		{Floats: []float64{1, 3, math.NaN(), math.Inf(1)}}, {Floats: []float64{2, 2, 2, 2}},
		{Codes: []int32{0, 0, 0, 0}},
	}
	rows, err := table.New(schema, columns, []float64{3, 1, 2, 5})
	if err != nil {
		t.Fatal(err)
	}
	o := OverallOf(rows)
	if !close(o[0].Shares, []float64{4. / 6, 2. / 6, 0}) || !close(o[1].Shares, []float64{0, 0, 1}) {
		t.Errorf("shares %v and %v", o[0].Shares, o[1].Shares)
	}
	if o[2].Mean != 1.5 || math.Abs(o[2].Deviation-math.Sqrt(0.75)) > 1e-15 || o[3].Mean != 2 || o[3].Deviation != 0 {
		t.Errorf("moments %+v and %+v", o[2], o[3])
	}
	b := mustParse(t, "WHEN a (0.5) EXPECT x ~ 1.5 ± 3 AND u = {a 1} AND y NORMAL WHEN b (0.5) EXPECT x ~ 2 sd ± 1")
	o[2].Deviation = 1.5
	sd, err := b.InDeviations(schema, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "WHEN a (0.5) EXPECT x ~ 0 sd ± 2 sd AND u = {a 1} AND y NORMAL\nWHEN b (0.5) EXPECT x ~ 2 sd ± 0.6666666666666666 sd\n"; sd.String() != want {
		t.Errorf("in deviations %s", sd)
	}
	back, err := sd.InUnits(schema, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "WHEN a (0.5) EXPECT x ~ 1.5 ± 3 AND u = {a 1} AND y NORMAL\nWHEN b (0.5) EXPECT x ~ 4.5 ± 1\n"; back.String() != want {
		t.Errorf("in units %s", back)
	}
	if again, err := sd.InDeviations(schema, o); err != nil || !again.Equal(sd) {
		t.Errorf("in deviations twice: %v, %v", again, err)
	}
	for _, src := range []string{"WHEN a (1) EXPECT y ~ 1 ± 1", "WHEN a (1) EXPECT z ~ 1 ± 1"} {
		if _, err := mustParse(t, src).InDeviations(schema, o); err == nil {
			t.Errorf("%s converted", src)
		}
	}
	if _, err := b.InUnits(schema, nil); err == nil {
		t.Error("converted without statistics")
	}
}

// TestPredictManyRows: large tables are shared between goroutines, and every
// row is answered as if it were alone, without allocation.
func TestPredictManyRows(t *testing.T) {
	rows := bigTable(3*grain + 77)
	for _, src := range []string{
		"RULES ordered IF x > 1 AND u = a THEN class = no WITH 0.9 IF y <= 0 THEN class = yes IF 1*x + 1*y > 0 THEN class = so WITH 0.4 ELSE class = no WITH 0.6",
		"RULES weighed IF ALWAYS THEN class = {no 0.2, yes 0.3, so 0.5} IF x > 1 AND u = a THEN class = no [weight 0.7] IF y <= 0 THEN class = yes WITH 0.5",
		"RULES mixture WHEN a (0.5) EXPECT x ~ 1 ± 1 AND u = {a 0.5, b 0.5} AND class = {no 1} WHEN b (0.5) EXPECT x ~ 2 ± 1 AND u = {c 0.5, b 0.5} AND class = {yes 1}",
	} {
		p, err := NewPredictor(mustParse(t, src), rows.Schema, classColumn)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]float64, rows.Rows()*3)
		if err := p.Predict(rows, all, nil); err != nil {
			t.Fatal(err)
		}
		alone := make([]float64, 3)
		for row := 0; row < rows.Rows(); row += 13 {
			if err := p.Predict(rows.Slice(row, row+1), alone, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(alone, all[row*3:][:3]) {
				t.Fatalf("row %d: %v, alone %v by %s", row, all[row*3:][:3], alone, src)
			}
		}
		first := rows.Slice(0, 2000)
		if n := testing.AllocsPerRun(20, func() { _ = p.Predict(first, all, nil) }); n > 2 {
			t.Errorf("%v allocations for 2000 rows by %s", n, src)
		}
	}
}

// tree returns the paths of a complete binary tree of cuts.
func tree(depth int) *Base {
	b := &Base{Kind: Ordered}
	var grow func(depth int, low, high float64, path []Test)
	grow = func(depth int, low, high float64, path []Test) {
		if depth == 0 {
			b.Rules = append(b.Rules, Rule{If: slices.Clone(path), Then: Conclusion{Column: "class", Classes: []Share{{"no", 0.5}, {"yes", 0.5}}}})
			return
		}
		column, cut := []string{"x", "y"}[depth%2], (low+high)/2
		grow(depth-1, low, cut, append(path, Test{Op: Le, Column: column, Number: cut}))
		grow(depth-1, cut, high, append(path, Test{Op: Gt, Column: column, Number: cut}))
	}
	grow(depth, -2, 2, nil)
	return b
}

func benchmarkPredict(b *testing.B, base *Base, t *table.Table) {
	rows := t.Rows()
	p, err := NewPredictor(base, t.Schema, classColumn)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, rows*3)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Predict(t, out, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkPredictOrdered(b *testing.B) { benchmarkPredict(b, tree(7), bigTable(1<<17)) }

// BenchmarkPredictOneRow asks for a row that only the last of 128 rules
// matches, the most costly one.
func BenchmarkPredictOneRow(b *testing.B) {
	row := bigTable(1)
	row.Columns[2].Floats[0], row.Columns[3].Floats[0] = 2, 2
	benchmarkPredict(b, tree(7), row)
}

func BenchmarkPredictWeighed(b *testing.B) {
	base := tree(6)
	base.Kind = Weighed
	for i := range base.Rules {
		w := 0.5
		base.Rules[i].Then = Conclusion{Column: "class", Value: "yes"}
		base.Rules[i].Evidence.Weight = &w
	}
	benchmarkPredict(b, base, bigTable(1<<17))
}

func BenchmarkPredictMixture(b *testing.B) {
	base := &Base{Kind: Mixture}
	for i := range 8 {
		base.Units = append(base.Units, Unit{Name: fmt.Sprint("u", i), Prior: 0.125, Expect: []Expectation{
			{Column: "x", Mean: float64(i), Deviation: 1}, {Column: "y", Mean: float64(-i), Deviation: 2},
			{Column: "u", Shares: []Share{{"a", 0.25}, {"b", 0.75}}}, {Column: "class", Shares: []Share{{"yes", 1}}},
		}})
	}
	benchmarkPredict(b, base, bigTable(1<<17))
}

// A line adds for each unit of its column as far as its limits go, and nothing
// where the cell is missing.
func TestPredictLine(t *testing.T) {
	text := "RULES weighed\nIF ALWAYS THEN y += 2*(x - 1) FROM 0 TO 3 ± 0.5\nIF x > 1 THEN y += -1*x\nELSE y ~ 10 ± 1\n"
	b, err := Parse("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != text {
		t.Errorf("printed as %s", b)
	}
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric}}}
	rows, err := table.New(schema, []table.Column{{Floats: []float64{2, -5, 7, math.NaN()}}, {Floats: make([]float64, 4)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPredictor(b, schema, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 4)
	if err := p.Predict(rows, nil, got); err != nil {
		t.Fatal(err)
	}
	if want := []float64{10 + 2 - 2, 10 - 2, 10 + 4 - 7, 10}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	for _, wrong := range []string{"y += 2*y", "y += 2*(x - )", "y += 2*x FROM 3 TO 1", "y += 2*x FROM 3", "y ~ 2*x ± 1"} {
		if b, err := ParseFor("", []byte("IF ALWAYS THEN "+wrong), schema); err == nil {
			t.Errorf("%s is read as %v", wrong, b)
		}
	}
}

// A row alone gets the answer that it gets among others.
func TestPredictOneRow(t *testing.T) {
	base := tree(6)
	base.Kind = Weighed
	for i := range base.Rules {
		base.Rules[i].Then = Conclusion{Column: "class", By: []Share{{"yes", float64(i)}, {"no", 0.25}}}
	}
	base.Rules = base.Rules[:40] // some rows match none
	base.Else = &Rule{Then: Conclusion{Column: "class", Value: "no"}}
	rows := bigTable(300)
	p, err := NewPredictor(base, rows.Schema, classColumn)
	if err != nil {
		t.Fatal(err)
	}
	all, one := make([]float64, 3*rows.Rows()), make([]float64, 3)
	if err := p.Predict(rows, all, nil); err != nil {
		t.Fatal(err)
	}
	for r := range rows.Rows() {
		if err := p.Predict(rows.Slice(r, r+1), one, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one, all[3*r:3*r+3]) {
			t.Fatalf("row %d: %v alone, %v among others", r, one, all[3*r:3*r+3])
		}
	}
}

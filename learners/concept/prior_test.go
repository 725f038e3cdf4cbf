package concept

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// A rule that is certain is a version space. Merging the boundaries with those
// of regions gives what the list is left with: of conjunctions with a taxonomy
// and of whole numbers, whatever was seen and said.
func TestMergingPriorKnowledge(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	l := flat(3, 2)
	// A taxonomy over the first column: two of its values hang together.
	l.columns[0] = column{values: 3, known: -1, root: 3, parent: []int32{4, 4, 3, -1, 3}}
	l.columns = append(l.columns, wholeNumbers(1, 0, 4).columns...)
	single, err := l.terms()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := l.instances()
	if err != nil {
		t.Fatal(err)
	}
	for trial := range 400 {
		v, err := list(context.Background(), l, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := start(l, 0)
		all := slices.Clone(v.members)
		var examples []example
		for range 1 + random.IntN(3) {
			d := example{x: rows[random.IntN(len(rows))], positive: random.IntN(2) == 0, weight: 1}
			examples = append(examples, d)
			b.eliminate(d)
			v.eliminate(d, 1)
		}
		var barred []term
		for range random.IntN(3) {
			r := region{term: single[random.IntN(len(single))], positive: random.IntN(2) == 0}
			b.merge(r)
			v.merge(r)
			if !r.positive {
				barred = append(barred, r.term)
			}
		}
		v.consistent(0)
		between := 0
		for _, h := range all {
			var one term
			if len(h) > 0 {
				one = h[0]
			}
			if !b.collapsed() && l.moreGeneral(one, b.s) && slices.ContainsFunc(b.g, func(g term) bool { return l.moreGeneral(g, one) }) {
				between++
			}
		}
		if between != len(v.members) {
			t.Fatalf("trial %d: %d between the boundaries, %d left of the list; S %s, G %s", trial, between, len(v.members), write(l, b.s), write(l, b.g...))
		}
		if b.collapsed() {
			continue
		}
		if c := newCounter(l, b.s, negatives(examples), 0, barred...); c != nil && c.total != float64(len(v.members)) {
			t.Fatalf("trial %d: counted %v, left %d", trial, c.total, len(v.members))
		}
		boxes := &bounded{boundaries: &boundaries{language: l, s: b.s, open: true, without: true}, negatives: negatives(examples), barred: barred}
		for _, x := range rows { // the same without G
			if b.s != nil && boxes.verdict(x) != v.verdict(x) {
				t.Fatalf("trial %d, %v: %d without G, %d by the list", trial, x, boxes.verdict(x), v.verdict(x))
			}
		}
	}
}

// An expert's "rainy days are not enjoyable", told before the third day is
// seen, does what a negative day does and more: no rainy day is undecided.
func TestBelieve(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Values: []string{"Sunny", "Cloudy", "Rainy"}}, {Name: "wind", Values: []string{"Strong", "Weak"}},
		{Name: "play", Values: []string{"Yes", "No"}},
	}}
	rows, err := table.New(schema, []table.Column{{Codes: []int32{0, 1}}, {Codes: []int32{0, 0}}, {Codes: []int32{0, 0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"candidate", "list"} {
		learnt, err := (&Learner{Algorithm: algorithm}).Learn(context.Background(), learn.Task{Table: rows, Target: "play"})
		if err != nil {
			t.Fatal(err)
		}
		m := learnt.(*Model)
		base, err := rule.Parse("", []byte("IF sky = Rainy THEN play = No WITH 1 WORTH 1\nIF wind = Weak AND sky IN {Sunny, Cloudy} THEN play = Yes WITH 1 WORTH 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		// Without a taxonomy nothing but any holds for both sunny and cloudy
		// days, so that the first rule alone leaves nothing.
		one, taken := m.Believe(base.Rules[:1])
		if !taken[0] || !one.(*Model).collapsed() || one.(*Model).doubted != 0 {
			t.Errorf("%s: %v, %s", algorithm, taken, one.(*Model).state())
		}
		two, taken := m.Believe(base.Rules[1:])
		if _, of := two.(*Model).votes(make([]value, 2)); !taken[0] || of != 1 {
			t.Errorf("%s: %v hypotheses are left of ALWAYS, %s", algorithm, of, two.(*Model).state())
		}
		if again, _ := two.(*Model).Believe(nil); again.(*Model).state().What != m.state().What {
			t.Errorf("%s: unbelieved, %s; before, %s", algorithm, again.(*Model).state(), m.state())
		}
	}
	if _, taken := mustLearn(t, rows, "find-s").Believe([]rule.Rule{{}}); taken[0] {
		t.Error("FIND-S believes nothing")
	}
}

func mustLearn(t *testing.T, rows *table.Table, algorithm string) *Model {
	t.Helper()
	m, err := (&Learner{Algorithm: algorithm}).Learn(context.Background(), learn.Task{Table: rows, Target: "play"})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

// Votes of sets of clauses by inclusion and exclusion are those of writing all
// sets out; one drawn by the chain is a member.
func TestVotesOfClauses(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	l := flat(2, 2, 2)
	rows, err := l.instances()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for range 200 {
		cnf := random.IntN(2) == 0
		var examples []example
		for range 2 + random.IntN(5) {
			examples = append(examples, example{x: rows[random.IntN(len(rows))], positive: random.IntN(2) == 0, weight: 1})
		}
		c, cause, err := newClauses(context.Background(), l, 1+random.IntN(2), cnf, examples)
		if err != nil {
			t.Fatal(err)
		}
		if cause >= 0 || len(c.parts) > 14 {
			continue
		}
		tried++
		yes, of := make([]float64, len(rows)), 0.0
		for set := range 1 << len(c.parts) {
			h := &clauses{cnf: cnf}
			for p := range c.parts {
				if set>>p&1 == 1 {
					h.parts = append(h.parts, c.parts[p])
				}
			}
			if slices.ContainsFunc(examples, func(d example) bool { return h.boundary(d.x) != d.positive }) {
				continue
			}
			of++
			for i, x := range rows {
				yes[i] += boolean(h.boundary(x))
			}
		}
		drawn := c.draw(random)
		if slices.ContainsFunc(examples, func(d example) bool { return drawn(d.x) != d.positive }) {
			t.Fatalf("what was drawn is no member")
		}
		for i, x := range rows {
			if y, n := c.votes(x); y != yes[i] || n != of {
				t.Fatalf("cnf %v: %v of %v, written out %v of %v", cnf, y, n, yes[i], of)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d spaces were small enough", tried)
	}
}

// A disc's votes are shares of radii: 3.5 from the centre, half of those between
// 2 and 5 cover a row.
func TestVotesOfDiscs(t *testing.T) {
	v, _ := newDisc([]float64{0, 0}, points("++-", 1, 0.5, 0, 2, 3, 4))
	for r, want := range map[float64]float64{0: 1, 2: 1, 3.5: 0.5, 4.25: 0.25, 5: 0, 8: 0} {
		if yes, of := v.votes([]value{{number: r}, {}}); math.Abs(yes-want) > 1e-12 || of != 1 {
			t.Errorf("%v from the centre: %v of %v, want %v", r, yes, of, want)
		}
	}
	covered := 0
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		if v.draw(random)([]value{{number: 3.5}, {}}) {
			covered++
		}
	}
	if covered < 890 || covered > 1110 { // five deviations of 22
		t.Errorf("half of 2000 discs should cover it, %d do", covered)
	}
}

// With slack 1 the numbers 3 and 9 leave [4, 8] at least, and a negative 15 that
// no interval may pass by 1 on both sides: six ends below and at 4 (4 and 0 to
// 3), as many as reach up to 15 above: members counted are those written out.
func TestVotesWithSlack(t *testing.T) {
	l := wholeNumbers(1, 0, 20)
	v, _, err := newLoose(context.Background(), l, 1, points("++-", 3, 9, 15))
	if err != nil {
		t.Fatal(err)
	}
	c := newCounter(l, v.s, v.negatives, 1)
	members, yes := 0.0, 0.0
	ends := l.columns[0].ends
	for _, low := range ends {
		for _, high := range ends {
			if low > 4 || high < 8 {
				continue
			}
			if low == 0 {
				low = math.Inf(-1)
			}
			h := term{{low: low, high: high}}
			if high == 20 {
				h[0].high = math.Inf(1)
			}
			if !v.swallows(h, []value{{number: 15}}) {
				members++
				yes += boolean(l.covers(h, []value{{number: 12}}))
			}
		}
	}
	if got := c.count(c.places([]value{{number: 12}})); c.total != members || got != yes {
		t.Errorf("%v of %v, written out %v of %v", got, c.total, yes, members)
	}
	for _, answer := range []string{"majority", "map", "gibbs"} {
		rows, err := table.New(&table.Schema{Attributes: []table.Attribute{{Name: "x", Kind: table.Numeric}, {Name: "in", Values: []string{"yes", "no"}}}},
			[]table.Column{{Floats: []float64{3, 9, 15}}, {Codes: []int32{0, 0, 1}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []Learner{{Slack: 1}, {Space: "discs"}, {Space: "intervals"}} {
			l.Answer = answer
			m, err := l.Learn(context.Background(), learn.Task{Table: rows, Target: "in"})
			if err != nil {
				t.Fatal(err)
			}
			if p, decided := m.(*Model).probability([]value{{number: 10.4}}); !decided || math.IsNaN(p) {
				t.Errorf("%+v: %v, %v", l, p, decided)
			}
		}
	}
}

// The learnt space of models that were learnt apart is the merged space: the
// boundaries of all rows are those of the merged boundaries (Hirsh 1990).
func TestMergeIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	rows, err := enjoySport.instances()
	if err != nil {
		t.Fatal(err)
	}
	for trial := range 200 {
		a, b, all := start(enjoySport, 0), start(enjoySport, 0), start(enjoySport, 0)
		for range 6 {
			d := example{x: rows[random.IntN(len(rows))], positive: random.IntN(3) > 0, weight: 1}
			if all.eliminate(d); random.IntN(2) == 0 {
				a.eliminate(d)
			} else {
				b.eliminate(d)
			}
		}
		m := merge(a, b)
		if all.collapsed() || a.collapsed() || b.collapsed() {
			if !all.collapsed() || !m.collapsed() && !a.collapsed() && !b.collapsed() {
				t.Fatalf("trial %d: collapsed %v, merged %v", trial, all.collapsed(), m.collapsed())
			}
			continue
		}
		if got, want := fmt.Sprint(write(enjoySport, m.s), write(enjoySport, m.g...)), fmt.Sprint(write(enjoySport, all.s), write(enjoySport, all.g...)); got != want {
			t.Fatalf("trial %d: merged %s, together %s", trial, got, want)
		}
	}
}

// Gibbs' algorithm draws a member for each row: over many draws the shares are the
// votes, 6, 0, 3 and 2 of 6 for the days of table 2.6, and a row is always answered
// alike.
func TestGibbsDrawsForEachRow(t *testing.T) {
	cells := strings.Fields("Sunny Warm Normal Strong Warm Same Yes Sunny Warm High Strong Warm Same Yes Rainy Cold High Strong Warm Change No Sunny Warm High Strong Cool Change Yes" +
		" Sunny Warm Normal Strong Cool Change ? Rainy Cold Normal Strong Warm Same ? Sunny Warm Normal Weak Warm Same ? Sunny Cold Normal Strong Warm Same ?")
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Values: []string{"Sunny", "Cloudy", "Rainy"}}, {Name: "airtemp", Values: []string{"Warm", "Cold"}}, {Name: "humidity", Values: []string{"Normal", "High"}},
		{Name: "wind", Values: []string{"Strong", "Weak"}}, {Name: "water", Values: []string{"Warm", "Cool"}}, {Name: "forecast", Values: []string{"Same", "Change"}}, {Name: "enjoysport", Values: []string{"No", "Yes"}},
	}}
	columns := make([]table.Column, 7)
	for i, cell := range cells {
		columns[i%7].Codes = append(columns[i%7].Codes, s.Attributes[i%7].Code(cell))
	}
	rows, err := table.New(s, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &Learner{Answer: "gibbs"}
	const draws = 1000
	var yes [4]float64
	for seed := range uint64(draws) {
		m, err := l.Learn(context.Background(), learn.Task{Table: rows.Slice(0, 4), Target: "enjoysport", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		asked, _, err := table.Conform(rows.Slice(4, 8), m.Schema(), false)
		if err != nil {
			t.Fatal(err)
		}
		out := learn.NewPredictions(m, 4)
		if err := m.Predict(context.Background(), asked, out); err != nil {
			t.Fatal(err)
		}
		for r := range yes {
			yes[r] += out.Row(r)[m.Schema().Attributes[6].Code("Yes")]
		}
	}
	for r, want := range [4]float64{1, 0, .5, 1. / 3} {
		if share := yes[r] / draws; math.Abs(share-want) > 4*math.Sqrt(want*(1-want)/draws)+1e-12 {
			t.Errorf("day %d: yes in %v of the draws, want %v", r+1, share, want)
		}
	}
}

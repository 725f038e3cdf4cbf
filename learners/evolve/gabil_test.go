package evolve

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/enough"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/learners/evolve/genetic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// contract checks the laws, in short runs with little evolution.
func contract(t *testing.T, name string) {
	o := learntest.Options{}
	if os.Getenv("ACCRETE_LONG") == "" {
		o.Settings = map[string]string{"population": "12", "generations": "6"}
		if name == Formulas {
			o.Settings = map[string]string{"population": "8", "generations": "2", "short": "40", "terms": "2", "length": "15"}
		}
	}
	learntest.RunWith(t, name, o)
}

func TestRulesKeepTheContract(t *testing.T) { contract(t, Name) }

// tennis is PlayTennis, values in the order of the text.
func tennis(t testing.TB) (*table.Table, *instances) {
	t.Helper()
	days := []string{"0001", "0000", "1001", "2101", "2211", "2210", "1210", "0101", "0211", "2111", "0110", "1100", "1011", "2100"}
	yes := []int32{1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1} // order Yes, No
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "Outlook", Values: []string{"Sunny", "Overcast", "Rain"}}, {Name: "Temperature", Values: []string{"Hot", "Mild", "Cool"}},
		{Name: "Humidity", Values: []string{"High", "Normal"}}, {Name: "Wind", Values: []string{"Strong", "Weak"}}, {Name: "PlayTennis", Values: []string{"Yes", "No"}},
	}}
	cells := make([]table.Column, 5)
	for r, day := range days {
		for j := range 4 {
			cells[j].Codes = append(cells[j].Codes, int32(day[j]-'0'))
		}
		cells[4].Codes = append(cells[4].Codes, yes[r])
	}
	tab, err := table.New(schema, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := newInstances(context.Background(), tab, 4, "")
	if err != nil {
		t.Fatal(err)
	}
	return tab, x
}

// Section 9.2.1: strings and the rules that they stand for; the class is one bit.
func TestBitsAreRules(t *testing.T) {
	_, x := tennis(t)
	for bits, want := range map[string]string{
		"010 111 11 11 0": "Outlook = Overcast", "011 111 11 10 0": "Outlook IN {Overcast, Rain} AND Wind = Strong", "111 111 11 10 1": "Wind = Strong", "111 111 11 11 0": "",
	} {
		var words []string
		for _, test := range x.tests(genetic.BitsOf(bits)) {
			words = append(words, test.String())
		}
		if got := strings.Join(words, " AND "); got != want {
			t.Errorf("%s is %q, want %q", bits, got, want)
		}
	}
	// An empty segment matches nothing; "Wind = Strong → Yes" is right on 5 of 14
	// where the rest is No.
	d := x.newDesk()
	d.left.Fill(x.rows)
	if x.cover(genetic.BitsOf("000 111 11 11 0"), d.left, d.of, d.room) {
		t.Error("000 matches")
	}
	strong := genetic.BitsOf("111 111 11 10 0 111 111 11 11 1")
	if right := 14 * x.correct(strong, d); math.Abs(right-5) > 1e-12 {
		t.Errorf("%v right, want 5", right)
	}
}

// Exercise 9.1: of the 2048 strings of one rule (else the other class) the best
// are right on 12 days; a genetic algorithm gets there.
func TestEvolutionFindsTheBestConjunction(t *testing.T) {
	_, x := tennis(t)
	d := x.newDesk()
	both := func(b genetic.Bits) genetic.Bits {
		rest := slices.Repeat(genetic.Bits{1}, 11)
		rest[10] = 1 - b[10]
		return slices.Concat(b, rest)
	}
	histogram := map[int]int{}
	best := []string{}
	for n := range 2048 {
		b := make(genetic.Bits, 11)
		for i := range b {
			b[i] = byte(n >> (10 - i) & 1)
		}
		b[10] = 1 - b[10] // the text counts Yes as 1
		right := int(math.Round(14 * x.correct(both(b), d)))
		if histogram[right]++; right == 12 {
			b[10] = 1 - b[10]
			best = append(best, b.String())
		}
	}
	for right, want := range map[int]int{2: 4, 3: 16, 4: 73, 5: 724, 6: 147, 7: 120, 8: 147, 9: 724, 10: 73, 11: 16, 12: 4} {
		if histogram[right] != want {
			t.Errorf("%d strings are right on %d days, want %d", histogram[right], right, want)
		}
	}
	if want := []string{"10011010110", "10011110110", "10111010110", "10111110110"}; !slices.Equal(best, want) {
		t.Errorf("the best are %v, want %v", best, want)
	}
	ga := genetic.GA[genetic.Bits]{
		Species: genetic.Species[genetic.Bits]{
			Random: func(r *rand.Rand) genetic.Bits { return genetic.RandomBits(r, 11) }, Cross: genetic.TwoPoint, Mutate: genetic.FlipOne,
			Fitness: func(b genetic.Bits) float64 { c := x.correct(both(b), x.newDesk()); return c * c },
		},
		Size: 100, Replaced: .6, Mutation: .1, Generations: 60, Threshold: 12. / 14 * 12. / 14 * .999,
	}
	r, err := ga.Evolve(context.Background(), 1)
	if err != nil || math.Round(14*math.Sqrt(r.Fitness)) != 12 {
		t.Errorf("%s is right on %v days (%v)", r.Best, 14*math.Sqrt(r.Fitness), err)
	}
}

// Section 9.3: h1 to h4 against the concept a1 ∧ ¬a2, no rule meaning negative.
func TestGabilFitness(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "a1", Values: []string{"T", "F"}}, {Name: "a2", Values: []string{"T", "F"}}, {Name: "c", Values: []string{"F", "T"}}}}
	tab, err := table.New(schema, []table.Column{{Codes: []int32{0, 0, 1, 1}}, {Codes: []int32{0, 1, 0, 1}}, {Codes: []int32{0, 1, 0, 0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := newInstances(context.Background(), tab, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	g := &breeding{instances: x, settings: &gabilSettings{MaxRules: 9}}
	for bits, want := range map[string]float64{"10 01 1 11 10 0": 10000, "01 11 0 10 01 0": 5625, "11 10 0": 5625, "00 01 1 11 11 0 10 01 0": 5625} {
		if got := g.species().Fitness(member{rules: genetic.BitsOf(bits)}); math.Abs(got-want) > 1e-9 {
			t.Errorf("fitness of %s is %v, want %v", bits, got, want)
		}
	}
	condition := genetic.BitsOf("10010")
	AddAlternative(condition, rand.New(rand.NewPCG(1, 1)))
	if genetic.Hamming(condition, genetic.BitsOf("10010")) != 1 || !strings.Contains("11010 10110 10011", condition.String()) {
		t.Errorf("an alternative more makes %s", condition)
	}
	if DropCondition(condition); condition.String() != "11111" {
		t.Errorf("dropped, it is %s", condition)
	}
}

// What an expert says is among the first, numbers and concepts included.
func TestToldRulesAreAmongTheFirst(t *testing.T) {
	tab, _ := tennis(t)
	text := "IF Outlook = Sunny AND Humidity != Normal THEN bad = yes\nIF Outlook = Rain AND Wind = Strong THEN bad = yes\nIF bad = yes THEN PlayTennis = No\n"
	x, err := newInstances(context.Background(), tab, 4, text)
	if err != nil {
		t.Fatal(err)
	}
	if x.told.String() != "10011110111"+"00111111101" {
		t.Errorf("told %s", x.told)
	}
	base, err := rule.Parse("told", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l := &Gabil{Generations: 1, Population: 10, Settle: new(int)}
	m, err := l.Learn(context.Background(), learn.Task{Table: tab, Target: "PlayTennis", Seed: 1, Advice: learn.Advice{Theory: base}})
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := m.(learn.Ruler).Rules()
	if text := rules.String(); !strings.Contains(text, "IF Outlook = Sunny AND Humidity = High THEN") || !strings.Contains(text, "IF Outlook = Rain AND Wind = Strong THEN") {
		t.Errorf("learnt\n%s", text)
	}
	wrong := strings.Replace(text, "Wind", "Winds", 1)
	if _, err := newInstances(context.Background(), tab, 4, wrong); err == nil || !strings.Contains(err.Error(), "Winds") {
		t.Errorf("a column that is not there: %v", err)
	}
}

// Evolution that has been told that it is enough keeps the best so far.
func TestEnoughIsEnough(t *testing.T) {
	tab, target := load(t, "votes")
	var bell enough.Bell
	ctx := enough.With(context.Background(), &bell)
	rung := false
	ctx = learn.WithProgress(ctx, func(f float64) {
		if f > 0 && f < .5 {
			rung = bell.Ring() || rung
		}
	})
	m, err := (&Gabil{Generations: 100000, Stall: new(int)}).Learn(ctx, learn.Task{Table: tab, Seed: 1}.At(target))
	if err != nil || !rung || m.Size().Rules < 2 {
		t.Errorf("%v (%v), rung %v", m, err, rung)
	}
	if bell.Ring() {
		t.Error("somebody listens still")
	}
}

func TestGabilSettingsAreChecked(t *testing.T) {
	for _, set := range [][2]string{{"population", "1"}, {"population", "9999999"}, {"mutation", "2"}, {"drops", "-1"}, {"islands", "1000"}, {"max-rules", "-3"}, {"elite", "200"}, {"seconds", "-1"}} {
		if _, err := learn.New(Name, map[string]string{set[0]: set[1]}); err == nil || !strings.Contains(err.Error(), set[0]) {
			t.Errorf("%s=%s: %v", set[0], set[1], err)
		}
	}
}

func FuzzDecodeRules(f *testing.F) {
	tab, target := load(f, "labor")
	m, err := (&Gabil{Population: 10, Generations: 5, Keep: "nothing"}).Learn(context.Background(), learn.Task{Table: tab, Seed: 1}.At(target))
	if err != nil {
		f.Fatal(err)
	}
	parts, err := m.Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(parts[0].Data, parts[1].Data)
	f.Fuzz(func(t *testing.T, head, body []byte) {
		defer bounded.Start(t, len(head)+len(body))()
		m, err := decodeRules([]learn.Part{{Name: gabilPart, Data: head}, {Name: rulesPart, Data: body}})
		if err != nil {
			return
		}
		probe, _, err := table.Conform(tab, m.Schema(), false)
		if err != nil {
			return
		}
		if err := m.Predict(context.Background(), probe, learn.NewPredictions(m, probe.Rows())); err != nil {
			t.Error(err)
		}
	})
}

func load(t testing.TB, name string) (*table.Table, int) {
	t.Helper()
	tab, set, err := datasets.Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return tab, tab.Schema.Index(set.Target)
}

// Every way to search, to cross and to keep members apart finds rules that get
// most days right, and depends on the seed alone.
func TestEveryWayToEvolveRules(t *testing.T) {
	days, _ := tennis(t)
	for _, setting := range []string{
		"search=genetic", "search=program", "search=michigan", "search=climb", "search=anneal", "cross=one-point", "cross=uniform",
		"niche=crowding", "niche=mating", "niche=grid", "learning=lamarck", "learning=baldwin", "islands=3", "sharing=4", "selection=rank", "selection=proportionate",
	} {
		key, value, _ := strings.Cut(setting, "=")
		var rules [2]string
		for i := range rules {
			l, err := learn.New(Name, map[string]string{key: value, "population": "40", "generations": "60"})
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Learn(context.Background(), learn.Task{Table: days, Target: "PlayTennis", Seed: 3})
			if err != nil {
				t.Fatalf("%s: %v", setting, err)
			}
			history := m.(*RuleSet).history
			if right := history[len(history)-1].Correct; right < 12./14 {
				t.Errorf("%s: %.2f of the days are right", setting, right)
			}
			rules[i] = m.(*RuleSet).base.String()
		}
		if rules[0] != rules[1] {
			t.Errorf("%s: the same seed gives\n%s\nand\n%s", setting, rules[0], rules[1])
		}
	}
}

// What a classifier says in bits of a situation, its rule says of values: both
// hold of the same rows.
func TestClassifiersAreRewritten(t *testing.T) {
	_, x := tennis(t)
	g := &breeding{instances: x, settings: &gabilSettings{MaxRules: 40}}
	situations := g.situations()
	system := genetic.NewClassifierSystem(200, len(situations[0]), 2, 5)
	d := x.newDesk()
	for i := range system.Rules {
		c := &system.Rules[i]
		c.If = "#" + c.If[1:] // the first bit is about nothing
		d.left.Fill(x.rows)
		some := x.cover(g.rewritten(c), d.left, d.of, d.room)
		for r, b := range situations {
			if c.Matches(b) != (some && d.of.Get(r)) {
				t.Fatalf("%s: row %d", c.If, r+1)
			}
		}
	}
}

// Numbers that are 0 and 1 may tell classes apart only together.
func TestFewNumbersAreAllCut(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "a", Kind: table.Numeric}, {Name: "b", Kind: table.Numeric}, {Name: "odd", Values: []string{"no", "yes"}}}}
	cells := make([]table.Column, 3)
	for i := range 40 {
		a, b := i&1, i>>1&1
		cells[0].Floats, cells[1].Floats = append(cells[0].Floats, float64(a)), append(cells[1].Floats, float64(b))
		cells[2].Codes = append(cells[2].Codes, int32(a^b))
	}
	rows, err := table.New(schema, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&Gabil{}).Learn(context.Background(), learn.Task{Table: rows, Target: "odd", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if grown, _ := m.(*RuleSet).Grown(); !strings.Contains(grown[len(grown)-1].String(), "100.0 %") {
		t.Errorf("XOR of 0 and 1: %v", grown)
	}
}

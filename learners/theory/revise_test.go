package theory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// walks are days on which somebody went for a walk, or not: when it is dry, they are
// neither too young nor too old, and it is mild or the wind is weak; two of a hundred
// are written down wrongly.
func walks(rows int, seed uint64) *table.Table {
	r := rand.New(rand.NewPCG(seed, 12))
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Values: []string{"clear", "cloudy", "dark"}}, {Name: "wind", Values: []string{"weak", "strong"}}, {Name: "rain", Values: []string{"no", "yes"}},
		{Name: "temp", Kind: table.Numeric}, {Name: "age", Kind: table.Numeric}, {Name: "go", Values: []string{"no", "yes"}},
	}}
	cells := make([]table.Column, 6)
	for range rows {
		sky, wind, rain := r.IntN(3), r.IntN(2), r.IntN(2)
		temp, age := float64(int(150+80*r.NormFloat64()))/10, float64(5+r.IntN(86))
		class := int32(0)
		if rain == 0 && sky != 2 && age >= 12 && age < 70 && (temp >= 8 && temp < 28 || wind == 0) {
			class = 1
		}
		if r.Float64() < .02 {
			class = 1 - class
		}
		for j, code := range []int32{int32(sky), int32(wind), int32(rain)} {
			cells[j].Codes = append(cells[j].Codes, code)
		}
		cells[3].Floats, cells[4].Floats, cells[5].Codes = append(cells[3].Floats, temp), append(cells[4].Floats, age), append(cells[5].Codes, class)
	}
	t, err := table.New(schema, cells, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// TestTheExpertIsCorrected: of a theory with faults those rules are changed that have
// them, limits of numbers too, to what is so, and no others; a theory that is right
// stays as it is.
func TestTheExpertIsCorrected(t *testing.T) {
	const right = `IF rain = no AND sky != dark THEN dry = yes
IF age >= 12 AND age < 70 THEN fit = yes
IF temp >= 8 AND temp < 28 THEN pleasant = yes
IF wind = weak THEN pleasant = yes
IF dry = yes AND fit = yes AND pleasant = yes THEN go = yes`
	stands := strings.Split(right, "\n")
	near := regexp.MustCompile("age >= 1[0-5]") // as near as rows of every age tell
	for _, faults := range [][]string{
		{},
		{"age < 70", "age < 50", "sky != dark", "sky = clear"},
		{"age >= 12", "age >= 30"},
		{"IF wind = weak THEN pleasant = yes", "IF wind = weak THEN pleasant = yes\nIF wind = strong AND temp > 0 THEN pleasant = yes"},
	} {
		base, err := rule.Parse("theory", []byte(strings.NewReplacer(faults...).Replace(right)))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			rows := walks(500, 31+seed)
			made, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: rows, Target: "go", Seed: seed, Advice: learn.Advice{Theory: base}})
			if err != nil {
				t.Fatal(err)
			}
			m := made.(*Model)
			var got []string
			for _, r := range m.base.Rules {
				bare := rule.Rule{If: r.If, Then: r.Then}
				got = append(got, near.ReplaceAllString(bare.String(), "age >= 12"))
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(stands)); !slices.Equal(got, want) || m.base.Fit < .98 {
				t.Errorf("%q, seed %d, agrees on %.3f:\n%s", faults, seed, m.base.Fit, strings.Join(got, "\n"))
			}
		}
	}
}

// TestAWrongTheoryIsTurnedRound: of a theory that says the contrary throughout the rules
// that are read do not stand, and agree with the network.
func TestAWrongTheoryIsTurnedRound(t *testing.T) {
	base, err := rule.Parse("theory", []byte("IF rain = yes THEN wet = yes\nIF sky = dark THEN wet = yes\nIF wet = yes THEN go = yes"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := (&Learner{}).Learn(context.Background(), learn.Task{Table: walks(400, 5), Target: "go", Advice: learn.Advice{Theory: base}})
	if err != nil {
		t.Fatal(err)
	}
	if m := made.(*Model); m.base.Fit < .85 {
		t.Errorf("the rules agree with the network on %.3f of the rows", m.base.Fit)
	}
}

// TestWhatATheoryLeavesOpen: rules of which two answer a row, or none, are said to;
// rules about classes that no row has are refused.
func TestWhatATheoryLeavesOpen(t *testing.T) {
	rows := walks(100, 1)
	learnt := func(text string) (learn.Model, error) {
		base, err := rule.Parse("theory", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return (&Learner{Epochs: of(0)}).Learn(context.Background(), learn.Task{Table: rows, Target: "go", Advice: learn.Advice{Theory: base}})
	}
	m, err := learnt("IF rain = yes THEN go = no\nIF wind = weak THEN go = yes")
	if err != nil {
		t.Fatal(err)
	}
	remarks, err := m.(*Model).Remarks()
	if err != nil || !strings.Contains(fmt.Sprint(remarks), "says nothing, or two things at once, of") {
		t.Errorf("%v, %v", remarks, err)
	}
	if _, err := learnt("IF rain = yes THEN go = perhaps"); err == nil || !strings.Contains(err.Error(), `a class of "go" that a row has: no, yes`) {
		t.Errorf("a class that no row has: %v", err)
	}
}

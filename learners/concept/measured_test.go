package concept

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	limits "github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/table"
)

func points(labels string, numbers ...float64) []example {
	columns := len(numbers) / len(labels)
	var all []example
	for i, label := range labels {
		d := example{positive: label == '+', weight: 1}
		for _, x := range numbers[i*columns : (i+1)*columns] {
			d.x = append(d.x, value{number: x})
		}
		all = append(all, d)
	}
	return all
}

// Discs around (0, 0): the farthest row of the concept is 2 off, the nearest
// other one 5; between them nothing is sure.
func TestDiscs(t *testing.T) {
	v, cause := newDisc([]float64{0, 0}, points("++-", 1, 0.5, 0, 2, 3, 4))
	if v.inner != 2 || v.outer != 5 || cause >= 0 {
		t.Fatalf("%+v, cause %d", v, cause)
	}
	for x, want := range map[float64]int{0: 1, 2: 1, 3.5: 0, 5: -1, 9: -1, math.NaN(): 0} {
		if got := v.verdict([]value{{number: x, missing: math.IsNaN(x)}, {}}); got != want {
			t.Errorf("%v from the centre: %d, want %d", x, got, want)
		}
	}
	if v, _ := newDisc(nil, points("++-", 1, 1, 3, 1, 9, 9)); !slices.Equal(v.centre, []float64{2, 1}) {
		t.Errorf("the mean of the concept's rows is %v", v.centre)
	}
	if _, cause := newDisc([]float64{0, 0}, points("+-", 2, 0, 1, 0)); cause != 1 {
		t.Errorf("a row nearer than one of the concept's leaves no disc; cause %d", cause)
	}
}

// With slack 1 an example stands for numbers up to 1 off. The concept's 3 and 9
// leave [4, 8] as the most specific interval; 8.5, measured as not the
// concept, may have been 9.5, and does not collapse the space.
func TestSlack(t *testing.T) {
	l := wholeNumbers(1, 0, 20)
	examples := points("++--", 3, 9, 8.5, 15)
	v, cause, err := newLoose(context.Background(), l, 1, examples)
	if err != nil || cause >= 0 || v.s[0].low != 4 || v.s[0].high != 8 {
		t.Fatalf("%+v, cause %d, %v", v, cause, err)
	}
	for x, want := range map[float64]int{5: 1, 4: 1, 8: 1, 3: 0, 9: 0, 9.5: -1, 18: -1, 2: 0} {
		if got := v.verdict([]value{{number: x}}); got != want {
			t.Errorf("%v: %d, want %d", x, got, want)
		}
	}
	if _, cause, _ := newLoose(context.Background(), l, 1, points("++-", 3, 9, 6)); cause != 2 {
		t.Errorf("6, at most 1 off, lies in [4, 8] whatever it was; cause %d", cause)
	}
	// Two numbers within 2 of each other may have been one: nothing is sure.
	v, cause, _ = newLoose(context.Background(), l, 1, points("++", 3, 4))
	if !empty(v.s) || cause >= 0 || v.verdict([]value{{number: 3.5}}) != 0 {
		t.Errorf("%+v, cause %d", v, cause)
	}
	// Without slack it is candidate elimination.
	random := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		var all []example
		for range 1 + random.IntN(6) {
			all = append(all, points(string("+-"[random.IntN(2)]), float64(random.IntN(9)), float64(random.IntN(9)))...)
		}
		l := wholeNumbers(2, 0, 9)
		b := start(l, 0)
		at, _ := b.eliminateAll(context.Background(), all)
		v, cause, _ := newLoose(context.Background(), l, 0, all)
		if (at >= 0) != (cause >= 0) {
			t.Fatalf("collapse at %d and at %d: %v", at, cause, all)
		}
		boxes := &bounded{boundaries: b, negatives: negatives(all)}
		for x := range 10 {
			p := []value{{number: float64(x)}, {number: 4}}
			if at < 0 && boxes.verdict(p) != v.verdict(p) {
				t.Fatalf("%v: %d and %d: %v", p, boxes.verdict(p), v.verdict(p), all)
			}
		}
	}
}

// The negative rows say all that G says (Hirsh 1992): a space whose G was given
// up answers as the whole one, for every row that there can be.
func TestVerdictsWithoutG(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	l := flat(3, 2, 3, 2)
	rows, err := l.instances()
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		var examples []example
		for range 1 + random.IntN(7) {
			examples = append(examples, example{x: rows[random.IntN(len(rows))], positive: random.IntN(3) > 0, weight: 1})
		}
		whole, part := start(l, 0), start(l, 1)
		at, _ := whole.eliminateAll(context.Background(), examples)
		other, _ := part.eliminateAll(context.Background(), examples)
		if at != other {
			t.Fatalf("collapse at %d and at %d: %v", at, other, examples)
		}
		if at >= 0 {
			continue
		}
		a, b := &bounded{boundaries: whole, negatives: negatives(examples)}, &bounded{boundaries: part, negatives: negatives(examples)}
		for _, x := range rows {
			if a.verdict(x) != b.verdict(x) {
				t.Fatalf("%v: %d with G, %d without: %v", x, a.verdict(x), b.verdict(x), examples)
			}
		}
	}
}

// Haussler's rows (1988): each pair of negative rows doubles G, 2^12 of which
// are given up at once, and the answer stays.
func TestHugeG(t *testing.T) {
	const n = 12
	l := flat(slices.Repeat([]int{2}, 2*n)...)
	positive := example{x: make([]value, 2*n), positive: true, weight: 1}
	examples := []example{positive}
	for i := range n {
		d := example{x: make([]value, 2*n), weight: 1}
		d.x[2*i].code, d.x[2*i+1].code = 1, 1
		examples = append(examples, d)
	}
	b := start(l, 1000)
	at, err := b.eliminateAll(context.Background(), examples)
	if at >= 0 || err != nil || !b.without {
		t.Fatalf("at %d, without %v, %v", at, b.without, err)
	}
	v := &bounded{boundaries: b, negatives: negatives(examples)}
	probe := make([]value, 2*n)
	probe[0].code = 1
	if v.verdict(positive.x) != 1 || v.verdict(probe) != 0 || v.verdict(examples[3].x) != -1 {
		t.Errorf("verdicts %d, %d, %d", v.verdict(positive.x), v.verdict(probe), v.verdict(examples[3].x))
	}
	// Of each pair a member asks for one column or both: 3^12 members.
	if c := newCounter(l, b.s, v.negatives, 0); c.total != math.Pow(3, n) {
		t.Errorf("%v members, want %v", c.total, math.Pow(3, n))
	}
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := start(enjoySport, 0).eliminateAll(ctx, days); !errors.Is(err, context.Canceled) {
		t.Errorf("candidate elimination: %v", err)
	}
	if _, err := list(ctx, enjoySport, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if _, _, err := newClauses(ctx, enjoySport, 2, true, days); !errors.Is(err, context.Canceled) {
		t.Errorf("clauses: %v", err)
	}
	if _, _, err := newLoose(ctx, enjoySport, 1, days); !errors.Is(err, context.Canceled) {
		t.Errorf("slack: %v", err)
	}
}

// Taxonomies, domains and centres are read without fault, whatever is written;
// a taxonomy that is accepted is a tree.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{"sky:wet=Rainy|Cloudy,dry=Sunny", "sky:a=b,b=a", "sky=Sunny|x;n=1", "0,1.5", "sky:;;=|", "n:a=1"} {
		f.Add(text)
	}
	schema := &table.Schema{Attributes: []table.Attribute{
		{Name: "sky", Kind: table.Nominal, Values: []string{"Sunny", "Cloudy", "Rainy"}}, {Name: "n", Kind: table.Numeric},
	}}
	f.Fuzz(func(t *testing.T, text string) {
		defer limits.Start(t, len(text))()
		if wider, err := readDomains(text, schema); err == nil && len(wider.Attributes[0].Values) < 3 {
			t.Error("a value is gone")
		}
		if centre, err := readCentre(text, 2); err == nil && text != "" && len(centre) != 2 {
			t.Error(centre)
		}
		trees, err := readTaxonomies(text, schema)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		c := namesColumn(&schema.Attributes[0], trees["sky"], false)
		for v := range c.values {
			if !c.above(c.root, int32(v)) {
				t.Errorf("%s does not hang from the root", schema.Attributes[0].Values[v])
			}
		}
	})
}

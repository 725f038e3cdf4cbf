package rulenet

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/learntest"
	"github.com/accrete-ml/accrete/table"
)

// livingInfo is the learner as it is with update=living.
func livingInfo(t *testing.T) learn.Info {
	of := ofClasses(t)
	of.Contract = learn.Bounded
	return of
}

func TestContractOfLivingNetworks(t *testing.T) {
	laws := learntest.Laws()
	settings := []map[string]string{{"update": "living", "reservoir": "100"}, {"update": "living"}}
	if !long {
		laws = []string{
			"abilities are those declared", "unsupported targets are refused", "missing cells", "unseen values", "one class only", "infinite numbers", "no allocation per row",
			"cancellation", "save and load", "damaged parts are refused", "updates leave the old model alone", "updates bring new values and classes",
			"columns that begin empty come to life", "forgotten values leave the schema", "rules predict as the model does", "explanations add up",
		}
		settings = settings[:1]
	}
	for _, law := range laws {
		t.Run(law, func(t *testing.T) {
			for _, settings := range settings {
				if settings["reservoir"] != "" && law == "weight 2 is the row twice" {
					continue // rows are drawn, and what is there twice may be drawn twice
				}
				if law == "forgotten values leave the schema" { // what changes may be forgotten before it is asked for
					settings = maps.Clone(settings)
					settings["forget"] = "never"
				}
				if err := learntest.Check(livingInfo(t), learntest.Options{Settings: settings, Laws: []string{law}}); err != nil {
					t.Errorf("%v: %v", settings, err)
				}
			}
		})
	}
}

// concept is rows whose class two columns decide, but for some noise; from one row
// on the other way round.
func concept(rows, turn int, seed uint64) *table.Table {
	random := rand.New(rand.NewPCG(seed, 33))
	s := &table.Schema{Attributes: []table.Attribute{
		{Name: "x", Kind: table.Numeric}, {Name: "y", Kind: table.Numeric},
		{Name: "colour", Values: []string{"blue", "green", "red"}}, {Name: "class", Values: []string{"no", "yes"}},
	}}
	c := []table.Column{{Floats: make([]float64, rows)}, {Floats: make([]float64, rows)}, {Codes: make([]int32, rows)}, {Codes: make([]int32, rows)}}
	for r := range rows {
		x, y, colour := math.Round(100*random.Float64()), math.Round(100*random.Float64()), random.IntN(3)
		is := x > 60 && colour != 2 || y > 85
		if (random.Float64() < 0.05) != (turn > 0 && r >= turn) {
			is = !is
		}
		c[0].Floats[r], c[1].Floats[r], c[2].Codes[r] = x, y, int32(colour)
		if is {
			c[3].Codes[r] = 1
		}
	}
	t, err := table.New(s, c, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func startLiving(t testing.TB, first *table.Table, settings map[string]string) *Living {
	t.Helper()
	all := map[string]string{"update": "living"}
	for k, v := range settings {
		all[k] = v
	}
	l, err := learn.New(Name, all)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(context.Background(), learn.Task{Table: first, Source: learn.Source{ID: "a"}, Seed: 3}.At(3))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Living)
}

func updateLiving(t testing.TB, m *Living, source string, consolidate bool, batches ...*table.Table) *Living {
	t.Helper()
	ctx := context.Background()
	u, err := m.Begin(learn.Source{ID: source})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := u.Add(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if consolidate {
		if err := u.(*livingUpdate).Consolidate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	n, err := u.Freeze(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return n.(*Living)
}

func answersOf(t testing.TB, m learn.Model, rows *table.Table) []float64 {
	t.Helper()
	own, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, own.Rows())
	if err := m.Predict(context.Background(), own, out); err != nil {
		t.Fatal(err)
	}
	return out.P
}

// Consolidated, a network that still has all its rows is the one that learnt them
// at once, whatever the updates were, and forgets as if it had never known.
func TestConsolidatedIsLearntAtOnce(t *testing.T) {
	all, probe := concept(260, 0, 1), concept(60, 0, 2)
	whole := startLiving(t, all, nil)
	parts := startLiving(t, all.Slice(0, 120), nil)
	parts = updateLiving(t, parts, "b", false, all.Slice(120, 125), all.Slice(125, 126))
	two := updateLiving(t, parts, "c", true, all.Slice(126, 260))
	if got, want := answersOf(t, two, probe), answersOf(t, whole, probe); !slices.EqualFunc(got, want, near) {
		t.Error("an update and a consolidation differ from learning at once")
	}
	d, err := two.Forget(context.Background(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := answersOf(t, d, probe), answersOf(t, startLiving(t, all.Slice(0, 126), nil), probe); !slices.EqualFunc(got, want, near) {
		t.Error("forgetting differs from never having known")
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Rows that the reservoir let go are still in the window: while that has at least half of
// all, they are what rules are decided from, and while it has all of them, as learning at
// once does.
func TestRowsOfTheWindowAreLearntFrom(t *testing.T) {
	set := map[string]string{"reservoir": "100", "forget": "never"}
	all := concept(900, 0, 8)
	m := startLiving(t, all.Slice(0, 50), set)
	m = updateLiving(t, m, "more", true, all.Slice(50, 900))
	if s := m.state(); s.whole || len(s.drawn) != 100 || s.stage != decided {
		t.Fatalf("%d rows are drawn", len(s.drawn))
	}
	once := startLiving(t, all, map[string]string{"forget": "never"})
	if far := furthest(answersOf(t, m, all), answersOf(t, once, all)); far > 1e-9 {
		t.Errorf("answers differ by %v from those of all rows learnt at once", far)
	}
	s := updateLiving(t, m, "last", false, concept(windowRows+500, 0, 9)).state().copy()
	rows, weight := s.nearly()
	if len(rows) <= windowRows || len(rows) >= int(s.rows) || math.Abs(sum(weight)-s.n) > 1e-6 {
		t.Errorf("%d rows count as much as %v, expected %v", len(rows), sum(weight), s.n)
	}
	for _, other := range []func(s *living){
		func(s *living) { s.rows += windowRows },    // most are gone
		func(s *living) { s.drift = newDrift(s.k) }, // the last may say something else
		func(s *living) { s.drawn = nil },           // none stands for those that are gone
	} {
		o := s.copy()
		if other(o); func() bool { rows, _ := o.nearly(); return rows != nil }() {
			t.Error("rows are nearly all where they are not")
		}
	}
}

// The reservoir is the rows of the least keys, however they came in batches; and
// the same rows in the same batches give the same network to the byte.
func TestReservoirKnowsNoBatches(t *testing.T) {
	all := concept(400, 0, 5)
	set := map[string]string{"reservoir": "100", "forget": "never"}
	first := startLiving(t, all.Slice(0, 150), set)
	one := updateLiving(t, first, "b", false, all.Slice(150, 400))
	random := rand.New(rand.NewPCG(5, 5))
	for range 5 {
		var batches []*table.Table
		for lo := 150; lo < 400; {
			hi := min(400, lo+1+random.IntN(120))
			batches = append(batches, all.Slice(lo, hi))
			lo = hi
		}
		m := updateLiving(t, first, "b", false, batches...)
		if got, want := m.state().drawnKeys(), one.state().drawnKeys(); !slices.Equal(got, want) {
			t.Fatalf("%d rows in the reservoir, not those of one batch", len(got))
		}
		x, err := m.Parts()
		y, err2 := updateLiving(t, first, "b", false, batches...).Parts()
		if err != nil || err2 != nil || !slices.Equal(x[1].Data, y[1].Data) {
			t.Fatal("the same rows give another network")
		}
	}
}

func (s *living) drawnKeys() []uint64 {
	var keys []uint64
	for _, r := range s.reservoirRows() {
		keys = append(keys, s.log.key[r])
	}
	return keys
}

// What is printed is what answers, also in the midst of a change.
func TestLivingRulesAreTheAnswers(t *testing.T) {
	all := concept(900, 500, 7)
	m := startLiving(t, all.Slice(0, 200), map[string]string{"reservoir": "200"})
	for lo := 200; lo < 900; lo += 100 {
		m = updateLiving(t, m, fmt.Sprint(lo), false, all.Slice(lo, lo+100))
		net, err := m.written()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := answersOf(t, net, all), answersOf(t, m, all); !slices.EqualFunc(got, want, near) {
			t.Fatalf("after %d rows the rules answer otherwise", lo+100)
		}
	}
}

// A change is noticed, named, and learnt; where there is none nothing is said. The
// chance of a false alarm is at most alarmRate, and these rows raise none.
func TestAlarm(t *testing.T) {
	for _, turn := range []int{0, 900} {
		all := concept(2000, turn, 11)
		m := startLiving(t, all.Slice(0, 300), map[string]string{"reservoir": "500"})
		m = updateLiving(t, m, "b", false, all.Slice(300, 2000))
		remarks, err := m.Remarks()
		if err != nil {
			t.Fatal(err)
		}
		if (m.s.alarms > 0) != (turn > 0) || (len(remarks) > 1) != (turn > 0) {
			t.Fatalf("turn at %d: %d alarms, %d remarks", turn, m.s.alarms, len(remarks))
		}
		probe := concept(400, min(turn, 1), 13)
		right, p := 0, answersOf(t, m, probe)
		for r, class := range probe.Columns[3].Codes {
			if p[2*r+int(class)] > 0.5 {
				right++
			}
		}
		// 5 % of the rows are noise; a fifth of them more is 0.06 of 400, and an
		// answer that did not follow the change would be wrong in nearly all.
		if right < 340 {
			t.Errorf("turn at %d: %d of 400 right", turn, right)
		}
	}
}

// Slopes are exact: those kept are those of all rows, as long as weights stay.
func TestSlopesAreThoseOfAllRows(t *testing.T) {
	all := concept(190, 0, 17)
	m := startLiving(t, all.Slice(0, 150), map[string]string{"forget": "never"})
	u, err := m.Begin(learn.Source{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	live := u.(*livingUpdate)
	live.stepped, live.last = 1e9, 1e9 // no step, and the same rules
	before := slices.Clone(live.slope)
	if err := u.Add(context.Background(), all.Slice(150, 180)); err != nil {
		t.Fatal(err)
	}
	var rows []int32
	for r := 150; r < 180; r++ {
		rows = append(rows, int32(r))
	}
	f := live.fitOn(rows)
	f.scale = 1
	f.begin()
	for i, g := range f.rowSlopes() {
		if !near(live.slope[i]-before[i], g) {
			t.Errorf("slope %d: %v more, expected %v", i, live.slope[i]-before[i], g)
		}
	}
}

// Every test of a rule costs the same, whichever rule it is in; where the reservoir has
// every row, weights that were taught cost nothing.
func TestShortRulesAreCheaper(t *testing.T) {
	m := startLiving(t, twenty(600, 19), nil)
	s := m.s.copy()
	f := s.fitOn(s.reservoirRows())
	if s.price(f); !slices.Equal(f.lambda, make([]float64, len(s.rules))) {
		t.Errorf("what was taught costs %v", f.lambda)
	}
	clear(s.taught)
	s.price(f)
	lengths := map[int]bool{}
	for r, tests := range s.rules {
		lengths[len(tests)] = true
		if want := f.lambda[0] / float64(len(s.rules[0])) * float64(len(tests)); !near(f.lambda[r], want) || want <= 0 {
			t.Errorf("a rule of %d tests costs %v, expected %v", len(tests), f.lambda[r], want)
		}
	}
	if len(lengths) < 2 {
		t.Errorf("all %d rules are of one length", len(s.rules))
	}
}

// Rules are decided anew when a fifth of the rows is new, sooner while they are few and all
// known; where a class is new, after ten rows.
func TestWhenRulesAreDecided(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Float64Range(1, 1e7).Draw(r, "rows")
		s, beyond := &living{k: 1, rows: 10, drawn: make(reservoir, 10)}, &living{k: 1, rows: 11, drawn: make(reservoir, 10)}
		share := s.newShare(n)
		if share < leastNew || share > mostNew || n >= manyRows && share != mostNew || s.newShare(2*n) < share || beyond.newShare(n) != mostNew {
			r.Fatalf("of %v rows %v", n, share)
		}
		due := func(last, n float64) bool { return last <= n*(1-s.newShare(n)) }
		if soon := n + newcomers; n > newcomers/leastNew && (due(soon*(1-s.newShare(soon)), n) || !due(soon*(1-s.newShare(soon)), soon)) {
			r.Fatalf("of %v rows, with a new class, not after %v", n, newcomers)
		}
	})
}

// A fit ends where no weight can be moved to advantage: its slope is none, or no
// more than the penalty where the weight is at its anchor.
func TestFitIsLeast(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		classes := rapid.IntRange(2, 4).Draw(r, "classes")
		const rows, rules = 60, 4
		f := &fitting{k: scoresOf(classes), classes: classes, scale: 1, ridge: 1, ghost: 0.5, cover: make([][]int32, rules)}
		for i := range rows {
			f.class, f.weight = append(f.class, int32(random.IntN(classes))), append(f.weight, 1)
			for j := range f.cover {
				if random.IntN(3) == 0 || f.class[i] == 0 && j == 0 {
					f.cover[j] = append(f.cover[j], int32(i))
				}
			}
		}
		n := (rules + 1) * f.k
		f.w, f.slope, f.anchor = make([]float64, n), make([]float64, n), make([]float64, n)
		if rapid.Bool().Draw(r, "anchored") {
			for i := range f.w {
				f.w[i] = random.NormFloat64()
			}
			f.anchor = slices.Clone(f.w)
		}
		f.lambda = slices.Repeat([]float64{2}, rules)
		f.begin()
		if err := f.fit(context.Background(), 250, 4, 0); err != nil {
			r.Fatal(err)
		}
		g := f.rowSlopes()
		f.ghosts(f.w[:f.k], g[:f.k], make([]float64, f.k))
		for i, x := range g {
			from := f.w[i] - f.anchor[i]
			x += f.ridge * from
			switch {
			case i < f.k || from == 0:
				if math.Abs(x) > map[bool]float64{true: 1e-2, false: 2 + 1e-2}[i < f.k] {
					r.Fatalf("weight %d is %v at a slope of %v", i, f.w[i], x)
				}
			case math.Abs(x+math.Copysign(2, from)) > 1e-2:
				r.Fatalf("weight %d is %v at a slope of %v", i, f.w[i], x)
			}
		}
	})
}

// Whatever comes in whatever order: classes are counted, the reservoir has the rows
// of the least keys, printed rules answer as the network does, and one that was
// saved and read goes on as if nothing had happened.
func TestLivingThroughAnything(t *testing.T) {
	times := 2
	if long {
		times = 8
	}
	rapid.Check(t, func(r *rapid.T) {
		all := concept(320, rapid.SampledFrom([]int{0, 150}).Draw(r, "turn"), rapid.Uint64Range(0, 50).Draw(r, "seed"))
		settings := map[string]string{"reservoir": "100", "forget": rapid.SampledFrom([]string{"auto", "never"}).Draw(r, "forget")}
		at := rapid.IntRange(20, 130).Draw(r, "first")
		m := startLiving(t, all.Slice(0, at), settings)
		keys := m.state().drawnKeys()
		for n := range times {
			if at == all.Rows() {
				break
			}
			to := min(all.Rows(), at+rapid.SampledFrom([]int{1, 7, 60, 130}).Draw(r, "rows"))
			read := m
			if rapid.Bool().Draw(r, "saved") {
				read = reread(r, m)
			}
			consolidate := rapid.IntRange(0, 4).Draw(r, "consolidate") == 0
			id := fmt.Sprint("source ", n)
			next := updateLiving(t, m, id, consolidate, all.Slice(at, to))
			other := updateLiving(t, read, id, consolidate, all.Slice(at, to))
			o := newOrigin(learn.Source{ID: id})
			for i := range to - at {
				keys = append(keys, o.key(uint64(i+1)))
			}
			m, at = next, to
			if got, want := answersOf(t, other, all), answersOf(t, m, all); !slices.Equal(got, want) {
				r.Fatal("a network that was saved and read goes on otherwise")
			}
			net, err := m.written()
			if err != nil {
				r.Fatal(err)
			}
			if got, want := answersOf(t, net, all), answersOf(t, m, all); !slices.EqualFunc(got, want, near) {
				r.Fatal("the rules answer otherwise")
			}
			if sum(m.s.counts) != float64(at) || m.s.ever != float64(at) {
				r.Fatalf("%v rows are counted, expected %d", m.s.counts, at)
			}
			slices.Sort(keys)
			if m.s.alarms == 0 && !slices.Equal(m.state().drawnKeys(), keys[:min(100, len(keys))]) {
				r.Fatalf("after %d rows the reservoir does not have the least keys", at)
			}
			if m.state().whole != (at <= 100 && m.s.alarms == 0) {
				r.Fatalf("after %d rows it is said to have all: %v", at, m.state().whole)
			}
		}
	})
}

// reread saves a network and reads it.
func reread(r *rapid.T, m *Living) *Living {
	parts, err := m.Parts()
	if err != nil {
		r.Fatal(err)
	}
	read, err := decode(parts)
	if err != nil {
		r.Fatal(err)
	}
	return read.(*Living)
}

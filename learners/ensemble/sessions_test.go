package ensemble_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	_ "github.com/accrete-ml/accrete/learners/all"
	"github.com/accrete-ml/accrete/learners/ensemble"
	"github.com/accrete-ml/accrete/table"
)

var background = context.Background()

// long reports whether all seeds are wanted.
func long() bool { return os.Getenv("ACCRETE_LONG") != "" }

func load(t testing.TB, name string) *table.Table {
	t.Helper()
	rows, _, err := datasets.Load(background, name)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// rings returns the six sessions of the published experiment, and its test.
func rings(t testing.TB, seed int) []*table.Table {
	var tables []*table.Table
	for i, what := range []string{"rows=300,classes=1,3,5", "rows=300,classes=1,3,5", "rows=200,classes=4", "rows=200,classes=4", "rows=200,classes=2", "rows=200,classes=2", "rows=250"} {
		tables = append(tables, load(t, fmt.Sprintf("circles:%s,seed=%d", what, 100*seed+i)))
	}
	return tables
}

// glass returns three sessions and a test.
func glass(t testing.TB, seed int) []*table.Table {
	all := load(t, "glass")
	byClass := map[string][]int{}
	for _, r := range rand.New(rand.NewPCG(uint64(seed), 9)).Perm(all.Rows()) {
		class := all.Text(r, 9)
		byClass[class] = append(byClass[class], r)
	}
	var rows [4][]int
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		of := byClass[class]
		n := int(math.Round(0.8 * float64(len(of))))
		rows[3] = append(rows[3], of[n:]...)
		switch class {
		case "1":
			rows[0], rows[1] = append(rows[0], of[:11]...), append(rows[1], of[11:n]...)
		case "5", "7":
			rows[2] = append(rows[2], of[:n]...)
		default:
			rows[0] = append(rows[0], of[:n]...)
		}
	}
	tables := make([]*table.Table, len(rows))
	for i := range rows {
		tables[i] = all.Select(rows[i])
	}
	return tables
}

// first learns the first session, whose target is the last column.
func first(t testing.TB, rows *table.Table, seed int, settings map[string]string) learn.Model {
	t.Helper()
	l, err := learn.New(ensemble.Name, settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Learn(background, learn.Task{Table: rows, Source: source(1), Seed: uint64(seed)}.At(len(rows.Columns)-1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func source(n int) learn.Source {
	return learn.Source{ID: fmt.Sprint(n), Name: fmt.Sprintf("s%d.csv", n)}
}

// next learns one more session.
func next(t testing.TB, m learn.Model, n int, rows *table.Table) learn.Model {
	t.Helper()
	u, err := m.(learn.Updater).Begin(source(n))
	if err != nil {
		t.Fatal(err)
	}
	grown, _, err := table.Conform(rows, m.Schema(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Add(background, grown); err != nil {
		t.Fatal(err)
	}
	if m, err = u.Freeze(background); err != nil {
		t.Fatal(err)
	}
	return m
}

// learnAll learns all tables but the last.
func learnAll(t testing.TB, tables []*table.Table, seed int, settings map[string]string) learn.Model {
	t.Helper()
	m := first(t, tables[0], seed, settings)
	for k := 1; k < len(tables)-1; k++ {
		m = next(t, m, k+1, tables[k])
	}
	return m
}

func answers(t testing.TB, m learn.Model, rows *table.Table) *learn.Predictions {
	t.Helper()
	fitted, _, err := table.Conform(rows, m.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	out := learn.NewPredictions(m, rows.Rows())
	if err := m.Predict(background, fitted, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// accuracy in percent.
func accuracy(t testing.TB, m learn.Model, rows *table.Table) float64 {
	t.Helper()
	out, names, right := answers(t, m, rows), m.Schema().Attributes[m.Target()].Values, 0
	for r := range rows.Rows() {
		if names[learn.Best(out.Row(r), names)] == rows.Text(r, m.Target()) {
			right++
		}
	}
	return 100 * float64(right) / float64(rows.Rows())
}

func remarks(t testing.TB, m learn.Model) (last ensemble.Session, recalls []ensemble.Recall, contradiction *ensemble.Contradiction) {
	t.Helper()
	all, err := m.(learn.Remarker).Remarks()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		switch r := r.(type) {
		case ensemble.Session:
			last = r
		case ensemble.Recall:
			recalls = append(recalls, r)
		case ensemble.Contradiction:
			contradiction = &r
		}
	}
	return last, recalls, contradiction
}

func mean(x []float64) (mean, sd float64) {
	var m stat.Moments
	for _, v := range x {
		m.Add(v, 1)
	}
	return m.Mean, math.Sqrt(m.Variance())
}

// The bars of the experiment with rings, on seeds that nothing was tuned on
// (tuning was done on 101 to 108). The deviation over seeds was 1 there: the
// mean of two seeds deviates by 0.7, far from the bar of 95.
func TestRings(t *testing.T) {
	seeds := 2
	if long() {
		seeds = 10
	}
	var test, s1, s2, kept []float64
	for seed := 1; seed <= seeds; seed++ {
		tables := rings(t, seed)
		m := learnAll(t, tables, seed, nil)
		test = append(test, accuracy(t, m, tables[6]))
		s1, s2 = append(s1, accuracy(t, m, tables[0])), append(s2, accuracy(t, m, tables[1]))
		_, recalls, _ := remarks(t, m)
		rows := 0.0
		for _, r := range recalls {
			rows += r.Kept
		}
		kept = append(kept, 100*rows/m.Size().Rows)
	}
	at, deviation := mean(test)
	t.Logf("TEST %.1f ± %.1f", at, deviation)
	if at < 95 || deviation > 3 {
		t.Errorf("TEST %.1f ± %.1f, expected at least 95 ± 3", at, deviation)
	}
	for name, x := range map[string][]float64{"S1": s1, "S2": s2} {
		if at, _ := mean(x); at < 96 {
			t.Errorf("%s %.1f after the last session, expected at least 96", name, at)
		}
	}
	if at, _ := mean(kept); at > 35 {
		t.Errorf("%.1f %% of the rows are kept, expected at most 35", at)
	}
}

// Learn++ as it was printed collapses in sessions of one class, with ten
// members or with three.
func TestRingsAsPublished(t *testing.T) {
	seeds, settings := 1, map[string]string{"preset": "published", "members": "3"}
	if long() {
		seeds = 10
		delete(settings, "members")
	}
	var test []float64
	for seed := 1; seed <= seeds; seed++ {
		tables := rings(t, seed)
		test = append(test, accuracy(t, learnAll(t, tables, seed, settings), tables[6]))
	}
	if at, deviation := mean(test); at > 45 {
		t.Errorf("TEST %.1f ± %.1f, expected at most 45", at, deviation)
	}
}

// Trees and rule networks serve as members without a change; a single tree
// for all rows at once gets 94 of 100.
func TestRingsOfOthers(t *testing.T) {
	for base, least := range map[string]float64{"tree": 90, "rulenet": 88} {
		seeds := 3
		settings := map[string]string{"base": base}
		if base == "rulenet" && !long() {
			seeds, settings["members"] = 1, "4"
		}
		var test []float64
		for seed := 1; seed <= seeds; seed++ {
			tables := rings(t, seed)
			test = append(test, accuracy(t, learnAll(t, tables, seed, settings), tables[6]))
		}
		if at, deviation := mean(test); at < least {
			t.Errorf("%s: TEST %.1f ± %.1f, expected at least %v", base, at, deviation, least)
		}
	}
}

// The bar of Glass, 60, on splits that nothing was tuned on. The deviation over
// splits is 7.5, that of the mean of twenty 1.7. The 70 that would be fine are
// not met: boosted trees reach 65.
func TestGlass(t *testing.T) {
	for _, c := range []struct {
		settings map[string]string
		seeds    int
		least    float64
	}{
		{map[string]string{"base": "tree", "abreast": "1"}, 20, 60},
		{map[string]string{"base": "mlp"}, 10, 60},
	} {
		if c.settings["base"] == "mlp" && !long() {
			c.seeds = 2
		}
		var test []float64
		for seed := 11; seed <= 10+c.seeds; seed++ {
			tables := glass(t, seed)
			test = append(test, accuracy(t, learnAll(t, tables, seed, c.settings), tables[3]))
		}
		at, deviation := mean(test)
		t.Logf("%v: TEST %.1f ± %.1f", c.settings, at, deviation)
		if at < c.least {
			t.Errorf("%v: TEST %.1f ± %.1f, expected at least %v", c.settings, at, deviation, c.least)
		}
	}
}

// Members that are trained side by side are those that are trained one after
// the other.
func TestCores(t *testing.T) {
	tables := rings(t, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want *learn.Predictions
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		m := learnAll(t, append(tables[1:4:4], tables[6]), 1, map[string]string{"base.epochs": "20", "abreast": "5"})
		got := answers(t, m, tables[6])
		if want == nil {
			want = got
		}
		if !slices.Equal(got.P, want.P) {
			t.Errorf("%d cores give another model", cores)
		}
	}
}

var trees = map[string]string{"base": "tree"}

// A class may be new in any session; sessions of one class, of one row, and of
// rows that are known already are learnt, and what was done is said.
func TestOddSessions(t *testing.T) {
	m := first(t, load(t, "circles:rows=100,classes=3"), 1, trees)
	if last, _, _ := remarks(t, m); last.OnlyClass != "3" || last.Members == 0 {
		t.Errorf("a first session of one class: %v", last)
	}
	m = next(t, m, 2, load(t, "circles:rows=100,classes=1,seed=2"))
	last, recalls, _ := remarks(t, m)
	if !slices.Equal(last.NewClasses, []string{"1"}) || len(recalls) != 2 || !strings.Contains(last.String(), "class 1 is new, all of class 1") {
		t.Errorf("a session of a new class: %v", last)
	}
	if at := accuracy(t, m, load(t, "circles:rows=200,classes=1,3,seed=3")); at < 90 {
		t.Errorf("right on %.1f %%", at)
	}
	one := next(t, m, 3, load(t, "circles:rows=1,classes=5,seed=4"))
	if last, _, _ := remarks(t, one); last.Rows != 1 || last.Members == 0 || last.Hard+last.Anchors != 1 {
		t.Errorf("a session of one row: %v", last)
	}
	if at := accuracy(t, one, load(t, "circles:rows=200,classes=1,3,seed=3")); at < 85 {
		t.Errorf("right on %.1f %% after a session of one row", at)
	}
	// Rows of which all is known already add no member.
	known := load(t, "circles:rows=400,classes=1,3,seed=5")
	for r := 0; r < 10; r++ {
		m = next(t, m, 10+r, known)
	}
	if last, _, _ := remarks(t, m); last.Members != 0 || !strings.Contains(last.String(), "nothing in it was new") {
		t.Errorf("the same rows once more: %v", last)
	}
}

// Rows that contradict what was known are learnt beside it, and that is said.
func TestContradiction(t *testing.T) {
	rows := load(t, "circles:rows=200,classes=1,3")
	m := first(t, rows, 1, trees)
	swapped := rows.Select(seq(rows.Rows()))
	for r, c := range swapped.Columns[2].Codes {
		swapped.Columns[2].Codes[r] = 1 - c
	}
	m = next(t, m, 2, swapped)
	last, recalls, contradiction := remarks(t, m)
	if contradiction == nil || contradiction.Rows == 0 || contradiction.Right/contradiction.Known > 0.1 {
		t.Fatalf("%v: contradiction %v", last, contradiction)
	}
	if recalls[0].Now > recalls[0].Then {
		t.Errorf("known better than before: %v", recalls[0])
	}
	for _, text := range []string{contradiction.String(), recalls[0].String()} {
		if !strings.Contains(text, ".csv") {
			t.Errorf("no source in %q", text)
		}
	}
	// What no longer holds can be forgotten.
	left, err := m.(learn.Forgetter).Forget(background, "1")
	if err != nil {
		t.Fatal(err)
	}
	if at := accuracy(t, left, swapped); at < 85 {
		t.Errorf("right on %.1f %% of the new rows when the old ones are forgotten", at)
	}
}

func seq(n int) []int {
	rows := make([]int, n)
	for r := range rows {
		rows[r] = r
	}
	return rows
}

// Forgetting the last session gives what was there before, bit for bit;
// forgetting an earlier one leaves none of its rows, in no member, and takes
// its classes away.
func TestForget(t *testing.T) {
	tables := rings(t, 1)
	probe := tables[6]
	before := learnAll(t, []*table.Table{tables[0], tables[2], nil}, 1, trees)
	m := next(t, before, 3, tables[4])
	left, err := m.(learn.Forgetter).Forget(background, "3")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(answers(t, left, probe).P, answers(t, before, probe).P) {
		t.Error("forgetting the last session does not give the model before it")
	}
	if left, err = m.(learn.Forgetter).Forget(background, "2"); err != nil {
		t.Fatal(err)
	}
	if got := left.Schema().Attributes[2].Values; !slices.Equal(got, []string{"1", "2", "3", "5"}) {
		t.Errorf("classes %q are left", got)
	}
	last, recalls, _ := remarks(t, left)
	if !last.Again || len(recalls) != 2 || !strings.Contains(last.String(), "learnt again") {
		t.Errorf("left: %v, %v", last, recalls)
	}
	if at := accuracy(t, left, tables[4]); at < 80 {
		t.Errorf("right on %.1f %% of the session that was learnt again", at)
	}
	// Other rows of the forgotten session leave no trace, if the same rows of
	// the others are kept: with all of them kept, they are.
	all := map[string]string{"base": "tree", "share": "1", "anchors": "1000"}
	var want *learn.Predictions
	for _, middle := range []*table.Table{tables[2], tables[3]} {
		m := learnAll(t, []*table.Table{tables[0], middle, tables[4], nil}, 1, all)
		left, err := m.(learn.Forgetter).Forget(background, "2")
		if err != nil {
			t.Fatal(err)
		}
		got := answers(t, left, probe)
		if want == nil {
			want = got
		}
		if !slices.Equal(got.P, want.P) {
			t.Error("what was forgotten still shows")
		}
	}
}

// What a model takes grows with the rows that it keeps, and nothing else:
// members are few, and keep no rows of their own.
func TestMemory(t *testing.T) {
	size := func(m learn.Model) (bytes, kept float64) {
		parts, err := m.Parts()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			bytes += float64(len(p.Data))
		}
		_, recalls, _ := remarks(t, m)
		for _, r := range recalls {
			kept += r.Kept
		}
		return bytes, kept
	}
	settings := map[string]string{"base": "tree", "members": "4", "limit": "40", "anchors": "2", "share": "0.1"}
	session := func(n int) *table.Table {
		return load(t, fmt.Sprintf("circles:rows=100,classes=%d,%d,seed=%d", 1+n%4, 2+n%4, n))
	}
	m := first(t, session(1), 1, settings)
	var bytes, kept [3]float64
	for n := 2; n <= 200; n++ {
		m = next(t, m, n, session(n))
		if n%100 == 0 {
			bytes[n/100], kept[n/100] = size(m)
		}
	}
	t.Logf("100 sessions: %.0f bytes, %.0f rows kept; 200 sessions: %.0f bytes, %.0f rows kept of %.0f", bytes[1], kept[1], bytes[2], kept[2], m.Size().Rows)
	if kept[2] > 0.2*m.Size().Rows {
		t.Errorf("%.0f rows of %.0f are kept, though a tenth, or ten of each of two classes, are allowed", kept[2], m.Size().Rows)
	}
	// A kept row is two numbers and a class, 17 bytes; a session's record some
	// 500. Members make up no more after 200 sessions than after 100.
	if grown, rows := bytes[2]-bytes[1], kept[2]-kept[1]; grown > 20*rows+600*100+0.25*bytes[1] {
		t.Errorf("100 sessions took %.0f bytes more for %.0f kept rows", grown, rows)
	}
	if at := accuracy(t, m, load(t, "circles:rows=500,seed=999")); at < 85 {
		t.Errorf("right on %.1f %% after 200 sessions", at)
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ key, value, says string }{
		{"base", "learnpp", "its own kind"},
		{"base", "mpl", `did you mean "mlp"`},
		{"base.hiden", "20", `did you mean "hidden"`},
		{"bse.hidden", "20", "base.hidden"},
		{"kappa", "often", "expected off, or a number"},
		{"alpha", "0.7", "less than 0.5"},
		{"members", "-1", "1 to 1000"},
		{"limit", "5", "at least the 10 members"},
		{"anchors", "-1", "0 or more"},
		{"share", "2", "at most 1"},
		{"sample", "-1", "1 or more"},
		{"most", "-1", "a row to be kept"},
	} {
		if _, err := learn.New(ensemble.Name, map[string]string{c.key: c.value}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%s: error %v, want one that says %q", c.key, c.value, err, c.says)
		}
	}
	// κ below 0 against all is more than most members can do.
	m := first(t, load(t, "circles:rows=100"), 1, map[string]string{"base": "tree", "kappa": "0", "alpha": "0"})
	if last, _, _ := remarks(t, m); last.Members != 1 || last.Alike == 0 || !strings.Contains(last.String(), "too much like others") {
		t.Errorf("with kappa=0: %v", last)
	}
	// A session keeps no more rows than it may, if that leaves ten of each class.
	for most, want := range map[string]int{"60": 60, "1": 50} {
		m = first(t, load(t, "circles:rows=300"), 1, map[string]string{"base": "tree", "most": most, "sample": "100"})
		if last, _, _ := remarks(t, m); last.Hard+last.Anchors != want {
			t.Errorf("most=%s: %v, expected %d rows", most, last, want)
		}
	}
	// Li's improvement as printed runs.
	m = first(t, load(t, "circles:rows=100"), 1, map[string]string{"base": "tree", "preset": "li", "kappa": "off"})
	if last, _, _ := remarks(t, m); last.Members == 0 || last.Anchors != 0 {
		t.Errorf("as Li printed it: %v", last)
	}
}

// A session that kept no row cannot be learnt again: its members go where they
// had learnt from rows that are forgotten, and stay where they had not.
func TestForgetWithoutKeptRows(t *testing.T) {
	noisy := load(t, "circles:rows=300,classes=1,3,seed=1")
	noisy.Columns[2].Codes = slices.Clone(noisy.Columns[2].Codes)
	for r := range 30 {
		noisy.Columns[2].Codes[r] = 1 - noisy.Columns[2].Codes[r]
	}
	one := load(t, "circles:rows=50,classes=4,seed=3") // far from all others, so that nothing of it is hard
	one.Columns[0].Floats = slices.Clone(one.Columns[0].Floats)
	for r := range one.Rows() {
		one.Columns[0].Floats[r] += 100
	}
	for name, settings := range map[string]map[string]string{
		"no anchors": {"base": "tree", "anchors": "0", "keep": "hypothesis"},
		"as printed": {"base": "tree", "preset": "li"},
	} {
		m := first(t, noisy, 1, settings)
		m = next(t, m, 2, load(t, "circles:rows=300,classes=1,3,5,seed=2"))
		m = next(t, m, 3, one)
		last, _, _ := remarks(t, m)
		if last.Hard+last.Anchors > 0 {
			t.Fatalf("%s: the last session kept rows, %v", name, last)
		}
		left, err := m.(learn.Forgetter).Forget(background, "1")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if last, _, _ = remarks(t, left); last.Members != 0 || !strings.Contains(last.String(), "forgotten since") {
			t.Errorf("%s: members that learnt from forgotten rows are left, %v", name, last)
		}
		answers(t, left, noisy)
		before, err := m.(learn.Forgetter).Forget(background, "3")
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(before.Schema().Attributes[2].Values, "4") {
			t.Errorf("%s: a class stayed that was forgotten", name)
		}
	}
}

// As it was printed, the improvement learns every session, keeps every row
// that its members together got wrong, once, and retires no member.
func TestAsPrintedByLi(t *testing.T) {
	rows := load(t, "circles:rows=300,classes=1,3,5,seed=1")
	settings := map[string]string{"preset": "li", "base": "tree", "base.max-depth": "1", "kappa": "off", "members": "3"}
	m := first(t, rows, 1, settings)
	kept, _, _ := remarks(t, m)
	if kept.Hard < 106 || kept.Anchors != 0 {
		t.Errorf("kept %v; stumps together get more wrong than a share of 0.35 would keep", kept)
	}
	members := 0
	for k := 2; k <= 4; k++ {
		m = next(t, m, k, rows)
		last, _, _ := remarks(t, m)
		members += last.Members
		if last.Members == 0 || last.Retired > 0 {
			t.Errorf("session %d: %v", k, last)
		}
	}
	_, recalls, _ := remarks(t, m)
	all := 0.0
	for _, r := range recalls {
		all += r.Kept
	}
	if all > 300 {
		t.Errorf("%v rows of 300 are kept, some of them twice", all)
	}
}

package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/accrete-ml/accrete/learn"
)

var background = context.Background()

// larger is the folder with the larger data sets, seen from here.
const larger = "../bench/data"

// Every published figure is met, and running it on one core gives the same.
func TestAllHold(t *testing.T) {
	first, err := Run(background, nil, Options{Data: larger})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range first {
		if !o.Holds {
			t.Errorf("%s: published %v, ours %v [%v, %v], bound: %s", o.Name, o.Published, o.Ours, o.Low, o.High, o.Bound)
		}
		if o.Source == "" || o.Measure == "" || o.Seeds < 1 {
			t.Errorf("%s lacks a source, measure or seeds: %+v", o.Name, o)
		}
	}
	few := Options{Data: larger, Seeds: 1}
	once, err := Run(background, nil, few)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, err := Run(background, nil, few)
	if err != nil || !slices.Equal(once, again) {
		t.Errorf("another number of cores gives other outcomes: %v", err)
	}
}

// Figures that were computed to more digits than the book prints.
func TestDigits(t *testing.T) {
	want := map[string]float64{
		"play-tennis-entropy": .940286, "play-tennis-gain-outlook": .246750, "play-tennis-gain-humidity": .151836,
		"play-tennis-gain-wind": .048127, "play-tennis-gain-temperature": .029223,
		"play-tennis-bayes-yes": .005291, "play-tennis-bayes-no": .020571, "play-tennis-bayes-posterior": .795417,
		"statistics-binomial-peak": .136574, "statistics-difference-confidence": .949911,
	}
	for name, figure := range want {
		o, err := Run(background, []string{name}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(o[0].Ours-figure) > .5e-6 {
			t.Errorf("%s: ours %.7f, worked out %.6f", name, o[0].Ours, figure)
		}
	}
}

func TestSelect(t *testing.T) {
	some, err := Select([]string{"statistics-12-of-40"})
	if err != nil || len(some) != 5 {
		t.Errorf("%d experiments begin with statistics-12-of-40, %v", len(some), err)
	}
	twice, err := Select([]string{"statistics-z-table", "statistics-z"})
	if err != nil || len(twice) != 1 {
		t.Errorf("an experiment that is named twice runs %d times, %v", len(twice), err)
	}
	if _, err := Select([]string{"statistics-z-tabel"}); err == nil || !strings.Contains(err.Error(), `"statistics-z-table"`) {
		t.Errorf("a typo: %v", err)
	}
	if _, err := Run(background, []string{""}, Options{}); err == nil {
		t.Error("an empty name is refused")
	}
	if !slices.IsSortedFunc(All(), func(a, b Experiment) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("experiments are sorted by name")
	}
}

func TestRegisterRefuses(t *testing.T) {
	for what, e := range map[string]Experiment{
		"a name twice": {Name: "statistics-z-table", Seeds: 1, Run: Fixed(nil)},
		"no name":      {Seeds: 1, Run: Fixed(nil)},
		"no run":       {Name: "x", Seeds: 1},
		"no seeds":     {Name: "x", Run: Fixed(nil)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", what)
				}
			}()
			Register(e)
		}()
	}
}

func TestBounds(t *testing.T) {
	at := func(x float64) Result { return Result{x, x, x} }
	for _, c := range []struct {
		bound     Bound
		published float64
		result    Result
		want      bool
	}{
		{Digits(2), .14, at(.1449), true},
		{Digits(2), .14, at(.1351), true},
		{Digits(2), .14, at(.146), false},
		{Bound{}, 385, at(385), true},
		{Bound{}, 385, at(386), false},
		{Within(.01), .5, Result{.6, .505, .695}, true},
		{Within(.001), .5, Result{.6, .505, .695}, false},
		{Bound{Relation: AtLeast}, .9, at(.95), true},
		{Bound{Relation: AtLeast}, .9, at(.89), false},
		{Bound{Relation: AtMost, Within: .02}, .9, at(.91), true},
		{Bound{Relation: AtMost}, .9, at(.91), false},
	} {
		if got := c.bound.Holds(c.published, c.result); got != c.want {
			t.Errorf("published %v, %v, %v: holds %v", c.published, c.bound, c.result, got)
		}
	}
	for bound, want := range map[Bound]string{
		{}: "equal", {Within: .02}: "within 0.02",
		{AtMost, 0}: "at most the published value", {AtMost, .02}: "at most the published value plus 0.02",
		{AtLeast, 0}: "at least the published value", {AtLeast, .02}: "at least the published value less 0.02",
	} {
		if bound.String() != want {
			t.Errorf("bound %q, expected %q", bound, want)
		}
	}
}

func TestOverSeeds(t *testing.T) {
	run := OverSeeds(func(_ context.Context, seed uint64) (float64, error) { return float64(seed), nil })
	r, err := run(background, 3)
	// Mean 2, s/√3 = .57735, t(.95, 2) = 4.30265.
	if err != nil || r.Ours != 2 || math.Abs(r.High-r.Ours-4.30265*.57735) > 1e-4 || math.Abs(r.Low+r.High-4) > 1e-12 {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := run(background, 1); err != nil || r != (Result{1, 1, 1}) {
		t.Errorf("one seed: %+v %v", r, err)
	}
	bad := errors.New("bad")
	failing := OverSeeds(func(_ context.Context, seed uint64) (float64, error) {
		if seed == 2 {
			return 0, bad
		}
		return 1, nil
	})
	if _, err := failing(background, 3); !errors.Is(err, bad) || !strings.Contains(err.Error(), "seed 2") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := run(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Run(ctx, nil, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRunOptions(t *testing.T) {
	o, err := Run(background, []string{"statistics-coverage-t", "statistics-z-table"}, Options{Seeds: 3})
	if err != nil || o[0].Seeds != 3 || o[1].Seeds != 1 || !(o[0].Low < o[0].Ours) {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := Run(background, nil, Options{Seeds: -1}); err == nil {
		t.Error("-1 seeds are refused")
	}
	nan := Experiment{Name: "nan", Seeds: 1, Run: Fixed(func(context.Context) (float64, error) { return math.NaN(), nil })}
	if _, err := nan.run(background, Options{}); err == nil {
		t.Error("NaN is no outcome")
	}
	failing := Experiment{Name: "failing", Seeds: 1, Run: Fixed(func(context.Context) (float64, error) { return 0, errors.New("no data") })}
	if _, err := failing.run(background, Options{}); err == nil {
		t.Error("a failure is no outcome")
	}
	doc, err := json.Marshal(o[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"name", "source", "published", "ours", "low", "high", "seeds", "holds"} {
		if !strings.Contains(string(doc), `"`+key+`":`) {
			t.Errorf("no key %q in %s", key, doc)
		}
	}
}

// Experiments whose data are not there are left out if somebody hears of it,
// and are an error that says what to do if not.
func TestMissingData(t *testing.T) {
	nowhere := t.TempDir()
	names := []string{"networks-faces", "statistics-z-table"}
	_, err := Run(background, names, Options{Data: nowhere})
	var missing *MissingData
	if !errors.As(err, &missing) || missing.File != "faces.csv.gz" || !strings.Contains(err.Error(), "--data") || !strings.Contains(err.Error(), nowhere) {
		t.Errorf("without data: %v", err)
	}
	var left []string
	outcomes, err := Run(background, names, Options{Data: nowhere, Missing: func(name string, _ *MissingData) { left = append(left, name) }})
	if err != nil || len(outcomes) != 1 || outcomes[0].Name != "statistics-z-table" || !slices.Equal(left, names[:1]) {
		t.Errorf("%d outcomes, left out %v, %v", len(outcomes), left, err)
	}
}

func TestProgress(t *testing.T) {
	var lock sync.Mutex
	last := 0.0
	ctx := learn.WithProgress(background, func(f float64) {
		lock.Lock()
		defer lock.Unlock()
		last = max(last, f)
	})
	if _, err := Run(ctx, []string{"statistics"}, Options{}); err != nil || math.Abs(last-1) > 1e-12 {
		t.Errorf("progress ends at %v, %v", last, err)
	}
}

func ExampleRun() {
	outcomes, err := Run(context.Background(), []string{"statistics-12-of-40-95"}, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range outcomes {
		fmt.Printf("%s: published %v, ours %.4f, holds %v\n", o.Measure, o.Published, o.Ours, o.Holds)
	}
	// Output: half the 95 % interval, 12 errors in 40 cases: published 0.14, ours 0.1420, holds true
}

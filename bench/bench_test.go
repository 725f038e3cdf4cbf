package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// TestMain lets the test program be the measuring process, too, and a peer
// that behaves in any way that a test asks for.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "-measure":
			if err := measureOurs(context.Background(), os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "-peer":
			peer(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

func peer(behaviour string) {
	fmt.Println("Welcome to a peer that chatters")
	say(part{Part: partLoaded})
	if behaviour == "never fits" {
		time.Sleep(time.Minute)
	}
	say(part{Part: partFit, Seconds: []float64{3, 1, 2}})
	switch behaviour {
	case "hangs":
		time.Sleep(time.Minute)
	case "crashes":
		fmt.Fprintln(os.Stderr, "Traceback\nout of luck")
		os.Exit(3)
	case "declines":
		say(part{Part: partReason, Text: "numbers only"})
	}
	os.Exit(0)
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{{[]float64{4}, 4}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.numbers); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.numbers, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values           []float64
		value, low, high float64
	}{
		{[]float64{100, 120, 80}, 100, 80, 120},
		{[]float64{100, 101, 99}, 100, 95, 105}, // closer than runs are
		{[]float64{7, 7, 7}, 7, 7, 7},           // the same every time
	} {
		if value, low, high := spread(c.values); value != c.value || low != c.low || high != c.high {
			t.Errorf("%v: %v from %v to %v", c.values, value, low, high)
		}
	}
}

func TestExponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(-3, 3).Draw(t, "e")
		factor := rapid.Float64Range(1e-6, 1e6).Draw(t, "factor")
		x := []float64{1e4, 1e5, 1e6}
		y := make([]float64, len(x))
		for i := range x {
			y[i] = factor * math.Pow(x[i], e)
		}
		if got, ok := exponent(x, y); !ok || math.Abs(got-e) > 1e-9 {
			t.Errorf("exponent %v, %v, want %v", got, ok, e)
		}
	})
	if _, ok := exponent([]float64{10}, []float64{1}); ok {
		t.Error("one point has an exponent")
	}
	if _, ok := exponent([]float64{10, 10}, []float64{1, 2}); ok {
		t.Error("two points at one size have an exponent")
	}
}

func TestRanks(t *testing.T) {
	if got := ranks([]float64{0.7, 0.9, 0.7, 0.1}); !slices.Equal(got, []float64{2.5, 1, 2.5, 4}) {
		t.Errorf("ranks %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64Range(0, 3), 1, 20).Draw(t, "numbers")
		sum := 0.0
		for _, r := range ranks(numbers) {
			sum += r
		}
		if n := float64(len(numbers)); math.Abs(sum-n*(n+1)/2) > 1e-9 {
			t.Errorf("ranks of %v sum to %v", numbers, sum)
		}
	})
}

func TestWilcoxon(t *testing.T) {
	for _, c := range []struct {
		differences []float64
		want        float64
	}{
		{nil, 1},
		{[]float64{0, 0}, 1},
		{[]float64{1, 2, 3, 4, 5}, 2.0 / 32},     // one of 32 ways each side
		{[]float64{1, 2, -3, 4, 5}, 10.0 / 32},   // sums up to 3: {}, 1, 2, 3, 1+2
		{[]float64{1, 1, 1, 1, 0}, 2.0 / 16},     // ties share ranks, zeros are left out
		{[]float64{-1, -2, -3, -4}, 2.0 / 16},    // two-sided
		{[]float64{1, -1, 2, -2, 3, -3}, 1},      // symmetric
		{[]float64{6, 5, 4, 3, 2, -1}, 4.0 / 64}, // sums up to 1: {}, 1
	} {
		if got := wilcoxon(c.differences); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("p of %v is %v, want %v", c.differences, got, c.want)
		}
	}
}

// Three rows that agree: χ² = 12·3/(3·4) · (1 + 4 + 9 − 3·4²/4) = 6 with two
// degrees of freedom, whose tail is exp(−6/2).
func TestFriedman(t *testing.T) {
	agree := [][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}
	if p := friedman(agree); math.Abs(p-math.Exp(-3)) > 1e-9 {
		t.Errorf("p = %v of rows that agree", p)
	}
	if p := friedman([][]float64{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}); math.Abs(p-1) > 1e-9 {
		t.Errorf("p = %v of rows that cancel", p)
	}
	if friedman(nil) != 1 {
		t.Error("nothing differs")
	}
}

func TestRatio(t *testing.T) {
	figureOf := func(low, value, high float64) figure { return figure{Value: value, Low: low, High: high} }
	stopped := figure{Value: 60, Stopped: true, Reason: "stopped at 60 s"}
	for _, c := range []struct {
		theirs, ours figure
		want         string
		loses        bool
	}{
		{figureOf(9, 10, 12), figureOf(2, 2, 3), "5.0× (3.0–6.0)", false},
		{figureOf(1, 1, 1), figureOf(4, 4, 4), "0.25×", true},
		{figureOf(1, 1, 9), figureOf(4, 4, 4), "0.25× (0.25–2.2)", false}, // within the spread
		{stopped, figureOf(0.05, 0.05, 0.05), "> 1,200×", false},
		{figureOf(6, 6, 6), stopped, "< 0.10×", true},
		{stopped, stopped, "–", false},
		{figure{Reason: "not installed"}, figureOf(1, 1, 1), "–", false},
	} {
		r := divide(c.theirs, c.ours)
		if r.String() != c.want || r.loses() != c.loses {
			t.Errorf("%v over %v is %v, loses %v; want %v, %v", c.theirs, c.ours, r, r.loses(), c.want, c.loses)
		}
		if r.Value == 0 && r.Reason == "" {
			t.Errorf("%v over %v: no ratio and no reason", c.theirs, c.ours)
		}
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{0.012345: "0.012", 1: "1.0", 9.96: "10.0", 12.4: "12", 123.4: "120", 98765: "99,000", 1234567: "1,200,000", 0: "0"} {
		if got := digits(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

// Four rows of two classes in two folds: three right, one of them by little,
// and one row without a sound distribution.
func TestJudge(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "c", Values: []string{"a", "b"}}}}
	data, err := table.New(schema, []table.Column{{Codes: []int32{0, 1, 1, 0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := judge(data, []int32{0, 0, 1, 1}, []float64{0.9, 0.1, 0.2, 0.8, 0.6, 0.4, math.NaN(), -1})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	near("accuracy", s.Accuracy, 0.75) // the last row is a tie, which the first class wins
	near("accuracy of fold 0", s.Folds[0], 1)
	near("accuracy of fold 1", s.Folds[1], 0.5)
	near("log loss", s.LogLoss, -(math.Log(0.9)+math.Log(0.8)+math.Log(0.4)+math.Log(0.5))/4)
	near("ECE", s.ECE, (0.1+0.2+0.6+0.5)/4) // four rows in four bins
	if _, err := judge(data, []int32{0, 0, 1, 1}, []float64{1}); err == nil {
		t.Error("too few probabilities are judged")
	}
}

// What goes out to the tools is what came in, but for names.
func TestExport(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.IntRange(1, 30).Draw(r, "rows")
		schema, columns := &table.Schema{}, []table.Column{}
		for i := range rapid.IntRange(0, 4).Draw(r, "columns") {
			if rapid.Bool().Draw(r, "numeric") {
				schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprint(i), Kind: table.Numeric})
				columns = append(columns, table.Column{Floats: rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Just(table.NA)), rows, rows).Draw(r, "cells")})
			} else {
				schema.Attributes = append(schema.Attributes, table.Attribute{Name: fmt.Sprint(i), Values: []string{"x", "y", "z"}})
				columns = append(columns, table.Column{Codes: rapid.SliceOfN(rapid.Int32Range(-1, 2), rows, rows).Draw(r, "cells")})
			}
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: "class", Values: []string{"no", "yes"}})
		columns = append(columns, table.Column{Codes: rapid.SliceOfN(rapid.Int32Range(0, 1), rows, rows).Draw(r, "classes")})
		data, err := table.New(schema, columns, nil)
		if err != nil {
			r.Fatal(err)
		}
		folder := t.TempDir()
		if err := export(folder, data); err != nil {
			r.Fatal(err)
		}
		back, err := importTable(folder)
		if err != nil {
			r.Fatal(err)
		}
		if back.Rows() != rows || len(back.Columns) != len(columns) {
			r.Fatalf("%d rows of %d columns came back", back.Rows(), len(back.Columns))
		}
		for c := range columns {
			if !slices.Equal(back.Columns[c].Codes, columns[c].Codes) {
				r.Fatalf("codes %v came back as %v", columns[c].Codes, back.Columns[c].Codes)
			}
			for i, x := range columns[c].Floats {
				if y := back.Columns[c].Floats[i]; x != y && !(table.IsMissing(x) && table.IsMissing(y)) {
					r.Fatalf("%v came back as %v", x, y)
				}
			}
		}
	})
}

func TestImportRefuses(t *testing.T) {
	for columns, cells := range map[string]string{"numeric\n": "1234567", "nominal many\n": "1234", "": "1"} {
		folder := t.TempDir()
		for name, text := range map[string]string{columnsFile: columns, cellsFile: cells} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := importTable(folder); err == nil {
			t.Errorf("columns %q with cells %q are a table", columns, cells)
		}
	}
}

// Files in every format read back to the same table.
func TestFormats(t *testing.T) {
	ctx := context.Background()
	want, err := mixed(ctx, 500)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for format, write := range map[string]func(io.Writer, *table.Table) error{"arff": writeARFF, "parquet": writeParquet} {
		path := filepath.Join(folder, "t."+format)
		if err := writeFile(path, func(w io.Writer) error { return write(w, want) }); err != nil {
			t.Fatal(err)
		}
		got, _, err := table.ReadFile(ctx, path, table.Options{Schema: want.Schema})
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		if err := got.WriteCSV(&a); err != nil {
			t.Fatal(err)
		}
		if err := want.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s reads back to another table", format)
		}
	}
}

func TestRunProcess(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	behave := func(how string, limit time.Duration) outcome {
		return run(ctx, []string{self, "-peer", how}, nil, limit, true)
	}

	if o := behave("ends", time.Minute); o.Failure != "" || o.Reason != "" || len(o.Parts[partFit].Seconds) != 3 {
		t.Errorf("a sound peer: %+v", o)
	}
	// The part that was printed is kept, the one that hangs is a bound.
	if o := behave("hangs", 4*time.Second); o.Stopped != partSize || o.Reason != "stopped at 4 s" || len(o.Parts[partFit].Seconds) != 3 || o.Failure != "" {
		t.Errorf("a peer that hangs: %+v", o)
	}
	if o := behave("crashes", time.Minute); !strings.Contains(o.Failure, "out of luck") {
		t.Errorf("a peer that crashes: %+v", o)
	}
	if o := behave("declines", time.Minute); o.Reason != "numbers only" || o.Failure != "" {
		t.Errorf("a peer that declines: %+v", o)
	}
	if o := run(ctx, []string{filepath.Join(t.TempDir(), "nobody")}, nil, time.Minute, true); o.Failure == "" {
		t.Error("a program that is not there does not fail")
	}
}

func TestJournalResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	j.put("done", outcome{Parts: map[string]part{partFit: {Part: partFit, Seconds: []float64{1}}}})
	j.put("failed", outcome{Failure: "crash"})
	j.put("late", outcome{Reason: timeSpent})
	j.put("stopped", outcome{Stopped: partFit, Reason: "stopped at 60 s"})
	j.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"key":"cut o`)
	f.Close()

	j, err = openJournal(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for key, want := range map[string]bool{"done": true, "failed": false, "late": false, "stopped": true, "cut o": false} {
		if _, ok := j.get(key); ok != want {
			t.Errorf("%s: there %v, want %v", key, ok, want)
		}
	}
	if fresh, err := openJournal(path, false); err != nil {
		t.Error(err)
	} else if _, ok := fresh.get("done"); ok {
		t.Error("a fresh journal is not empty")
	}
}

func TestPeersAreKnown(t *testing.T) {
	names := map[string]bool{}
	for _, m := range peerMethods {
		names[m.String()] = true
		if !slices.ContainsFunc(tools, func(tool *tool) bool { return tool.Name == m.Tool }) {
			t.Errorf("%v: no tool %q", m, m.Tool)
		}
	}
	for learner, peers := range nearest {
		for _, p := range peers {
			if !names[p] {
				t.Errorf("%s: no peer %q", learner, p)
			}
		}
	}
	for _, name := range strongest {
		if !names[name] {
			t.Errorf("no peer %q", name)
		}
	}
	for _, r := range readers {
		if !slices.ContainsFunc(tools, func(tool *tool) bool { return tool.Name == r.Tool }) {
			t.Errorf("%v: no tool %q", r, r.Tool)
		}
	}
	b := &bench{}
	want := 0
	for _, info := range learn.All() {
		if info.New != nil && info.Takes.Classes {
			want++
		}
	}
	if got := len(b.ours()); got != want {
		t.Errorf("%d learners of ours are measured of %d that learn classes", got, want)
	}
}

func TestSets(t *testing.T) {
	if len(accuracySets) < 20 {
		t.Errorf("%d data sets", len(accuracySets))
	}
	for i := range accuracySets {
		data, err := accuracySets[i].load(context.Background(), "data")
		if err != nil {
			t.Error(err)
		} else if class := data.Columns[len(data.Columns)-1]; slices.Min(class.Codes) < 0 {
			t.Errorf("%s: rows without a class", accuracySets[i].Name)
		}
	}
}

// small is a run of two learners in small, without any peer.
func small(t *testing.T) *bench {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		folder: ".", data: "data", work: t.TempDir(), self: self, version: "v1", learners: []string{"prior", "tree"}, out: io.Discard,
		plan:     plan{Quick: true, Limit: 5 * time.Minute, Sizes: []int{10_000, 20_000}, Read: []int{100}, Rounds: 2},
		start:    time.Now(),
		end:      time.Now().Add(time.Hour),
		tools:    map[string]*tool{},
		sections: map[string]bool{"reading": true, "speed": true, "accuracy": true},
	}
	for _, tl := range tools {
		b.tools[tl.Name] = &tool{Name: tl.Name, command: tl.command, LeftOut: "not wanted here"}
	}
	b.tools[accrete].LeftOut = ""
	if b.journal, err = openJournal(filepath.Join(b.work, "journal"), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.journal.Close() })
	return b
}

func (b *bench) measureAll(t *testing.T, deadline time.Time) *page {
	for _, measure := range []func(context.Context, time.Time) error{b.measureReading, b.measureAccuracy, b.measureSpeed} {
		if err := measure(context.Background(), deadline); err != nil {
			t.Fatal(err)
		}
	}
	p, err := b.page("2000-01-01", 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Everything of ours is measured, everything of theirs is left out with a
// reason, the page is written, nothing is missing.
func TestRunWithoutPeers(t *testing.T) {
	b := small(t)
	p := b.measureAll(t, b.end)
	if len(p.Missing) > 0 {
		t.Errorf("missing without a reason: %v", p.Missing)
	}
	if _, ok := b.growth(method{Tool: accrete, Name: "tree"}); !ok {
		t.Error("no growth of the tree")
	}
	for _, name := range []string{partFit, partUpdate, partPredict, partSingle, partSize} {
		if f := b.figure(job{method{Tool: accrete, Name: "tree"}, 10_000}, name); f.Value <= 0 || f.Low > f.Value || f.High < f.Value || f.Processes != 2 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	docs := t.TempDir()
	if err := p.write(docs); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "benchmark.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Accrete v1", "not wanted here", "| iris | 150 × 4, 3 |", "**`tree`**", "`prior` | scikit-learn DummyClassifier | – |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// A crash is no reason.
	b.journal.put(trial{&accuracySets[0], method{Tool: accrete, Name: "tree"}}.key(), outcome{Failure: "crash"})
	if p, err = b.page("2000-01-01", 1); err != nil || len(p.Missing) != 1 {
		t.Errorf("missing after a crash: %v, %v", p.Missing, err)
	}
}

// Without time nothing is measured, and everything says why.
func TestRunWithoutTime(t *testing.T) {
	b := small(t)
	p := b.measureAll(t, time.Now().Add(-time.Second))
	if len(p.Missing) > 0 || len(p.LeftOut) == 0 {
		t.Errorf("%d left out, missing without a reason: %v", len(p.LeftOut), p.Missing)
	}
	for _, l := range p.LeftOut {
		if l.Method == "tree" && l.Reason != timeSpent {
			t.Errorf("%+v", l)
		}
	}
}

// A peer that is stopped is not tried with more rows, and both are bounds.
func TestStoppedPeerIsABound(t *testing.T) {
	t.Parallel()
	b := small(t)
	b.learners, b.plan.Limit = []string{"prior"}, 4*time.Second
	b.tools["scikit-learn"] = &tool{command: func(b *bench) []string { return []string{b.self, "-peer", "never fits"} }}
	if err := b.measureSpeed(context.Background(), b.end); err != nil {
		t.Fatal(err)
	}
	prior, dummy := method{Tool: accrete, Name: "prior"}, method{Tool: "scikit-learn", Name: "DummyClassifier"}
	for rows, reason := range map[int]string{10_000: "stopped at 4 s", 20_000: "stopped at 4 s with 10,000 rows already"} {
		if r := b.ratio(prior, dummy, rows, partFit); r.Bound != ">" || r.Reason != reason {
			t.Errorf("%d rows: %+v", rows, r)
		}
	}
}

// A page made by hand, to see that all of it is rendered.
func TestPage(t *testing.T) {
	folds := func(mean float64) []float64 {
		f := make([]float64, folds)
		for i := range f {
			f[i] = mean + 0.001*float64(i%2)
		}
		return f
	}
	p := &page{
		Version: "v1", Date: "2000-01-01", Machine: "m", Limit: 60, sizes: []int{1000, 10_000},
		Speed: []speedLine{
			{"fit", "tree", "Weka J48", 1000, ratio{Value: 0.5, Low: 0.4, High: 0.6}},
			{"fit", "tree", "Weka J48", 10_000, ratio{Value: 100, Bound: ">", Reason: "stopped at 60 s"}},
			{"size", "tree", "Weka J48", 1000, ratio{Value: 2, Low: 2, High: 2}},
		},
		Growth:  []growthLine{{"tree", true, 1.1}},
		Reading: []readLine{{"csv", "pandas read_csv", 1000, partRead, ratio{Value: 0.5, Low: 0.5, High: 0.5}}},
		LeftOut: []leftOutLine{{"Weka J48", "a", "why"}, {"Weka J48", "b", "why"}, {"Weka PART", "a", "why"}, {"Weka PART", "b", "why"}},
	}
	for i := range 8 {
		p.Sets = append(p.Sets, setLine{Name: fmt.Sprintf("set%d", i), Rows: 100, Columns: 3, Classes: 2, Scores: map[string]*score{
			"tree":     {Accuracy: 0.8, LogLoss: 0.9, ECE: 0.1, Folds: folds(0.8), Rules: 5, Tests: 12},
			"Weka J48": {Accuracy: 0.9 + 0.002*float64(i), LogLoss: 0.5, ECE: 0.1, Folds: folds(0.9), Rules: 6, Tests: 14},
		}})
	}
	methods := []method{{Tool: accrete, Name: "tree"}, {Tool: "Weka", Name: "J48"}}
	p.rank(methods)
	p.pair(methods)
	p.lose()
	if p.Ranked != 8 || p.Methods[0].Method != "Weka J48" || p.Methods[0].Rank != 1 || p.Methods[1].Rank != 2 {
		t.Errorf("ranks over %d sets: %+v", p.Ranked, p.Methods)
	}
	if len(p.Pairs) != 1 || p.Pairs[0].Worse != 8 || p.Pairs[0].P != 2.0/256 {
		t.Errorf("pairs: %+v", p.Pairs)
	}
	text := p.markdown()
	for _, want := range []string{
		"- fit: `tree` against Weka J48: 0.50× at 1,000 rows\n",
		"- reading csv, time: against pandas read_csv 0.50× with 1,000 rows",
		"- accuracy: `tree` loses to Weka J48 (-10.7 points; worse on 8, better on 0 of the sets; p = 0.0078)",
		"- log loss: `tree` loses to Weka J48",
		"| `tree` | Weka J48 | 0.50× (0.40–0.60) | > 100× |",
		"| `tree` | 1.10 |",
		"| Weka J48 | 1.0 | 90.7 % | 0.500 | 0.100 | 6 | 14 | 8 |",
		"| Weka J48, Weka PART | a, b | why |",
		"**Our defaults have seen these sets.**",
		"| set0 | 100 × 3, 2 | **80.0** | 90.0 Weka J48 |",
		"![Learning with tree: their time over ours](benchmark/fit-tree.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	docs := t.TempDir()
	if err := p.write(docs); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(docs, "benchmark", "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back page
	if err := json.Unmarshal(data, &back); err != nil || len(back.Speed) != 3 || back.Speed[0].Value != 0.5 {
		t.Errorf("the JSON form: %+v, %v", back.Speed, err)
	}
	for _, name := range []string{"fit-tree", "ranks", "readability"} {
		if svg, err := os.ReadFile(filepath.Join(docs, "benchmark", name+".svg")); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
			t.Errorf("%s.svg: %v", name, err)
		}
	}
}

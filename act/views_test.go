package act

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/table"
)

// With two steps left nobody who is three away gets to the goal: what is worth
// something depends on how much time there is.
func TestHorizon(t *testing.T) {
	m := world(t, "gridworld:map=...G,goal=10,horizon=2")
	s := solve(t, m, 1)
	for cells, want := range map[[3]float64]float64{{0, 0, 2}: 0, {0, 1, 2}: 10, {0, 2, 2}: 10, {0, 1, 1}: 0, {0, 2, 1}: 10} {
		if at := m.Find(cells[:]); at < 0 || s.V[at] != want {
			t.Errorf("V%v is not %v", cells, want)
		}
	}
}

// A window shows the last states and what was done; what was before is missing.
func TestWindow(t *testing.T) {
	e, err := Lookup("gridworld:map=S..G,see=walls,window=3")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Schema().Names(); !slices.Equal(got[4:], []string{"did-1", "wall-up-1", "wall-right-1", "wall-down-1", "wall-left-1", "did-2", "wall-up-2", "wall-right-2", "wall-down-2", "wall-left-2"}) {
		t.Errorf("columns %v", got)
	}
	e.Reset(1)
	cells := make([]float64, 14)
	look := func(want ...float64) {
		t.Helper()
		e.State(cells)
		for i, x := range want {
			if cells[i] != x && !(math.IsNaN(x) && math.IsNaN(cells[i])) {
				t.Errorf("state %v, expected %v", cells, want)
				return
			}
		}
	}
	none := math.NaN()
	look(1, 0, 1, 1, none, none, none, none, none, none, none, none, none, none)
	if _, _, err := e.Step(1); err != nil {
		t.Fatal(err)
	}
	look(1, 0, 1, 0, 1, 1, 0, 1, 1, none, none, none, none, none)
	if _, _, err := e.Step(3); err != nil {
		t.Fatal(err)
	}
	look(1, 0, 1, 1, 3, 1, 0, 1, 0, 1, 1, 0, 1, 1)
}

// A macro repeats its action to the wall, and earns what is earned on the way.
func TestMacros(t *testing.T) {
	e, err := Lookup("gridworld:map=S.../####/...G,step=-1,macros=true")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Actions(); !slices.Equal(got, []string{"up", "right", "down", "left", "up...", "right...", "down...", "left..."}) {
		t.Errorf("actions %v", got)
	}
	e.Reset(1)
	reward, end, err := e.Step(5)
	cells := make([]float64, 2)
	if e.State(cells); reward != -3 || end || err != nil || cells[0] != 0 || cells[1] != 3 {
		t.Errorf("right... earns %v and leads to %v: %v", reward, cells, err)
	}
}

// States are taken for one of so many, the nearest.
func TestClusters(t *testing.T) {
	e, err := Lookup("mountaincar:clusters=20")
	if err != nil {
		t.Fatal(err)
	}
	log, err := Log(context.Background(), e, 2, 200, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int32]bool{}
	for _, code := range log.Columns[0].Codes {
		seen[code] = true
	}
	if n := len(e.Schema().Attributes[0].Values); n != 20 || len(seen) < 5 {
		t.Errorf("%d clusters, of which %d were met", n, len(seen))
	}
	if _, err := Lookup("tictactoe:clusters=3"); err == nil {
		t.Error("names have no nearest")
	}
}

// Each place of the walk is worth its share of the way (Sutton 1988).
func TestRandomWalk(t *testing.T) {
	m := world(t, "randomwalk")
	s := solve(t, m, 1)
	for place := 1.; place <= 5; place++ {
		if got := s.V[m.Find([]float64{place})]; math.Abs(got-place/6) > 1e-9 {
			t.Errorf("V(%v) is %v, expected %v", place, got, place/6)
		}
	}
}

// What a program says next shows beside what it said before, by names that came up
// later, too; who has acted there numbers them all.
func TestWindowOfProgram(t *testing.T) {
	t.Setenv("ACT_SPEAKS", `{"state":{"x":1,"light":"red"},"actions":["go"]}
{"state":{"x":2,"light":"green"},"actions":["stop"],"reward":0}
{"state":{"x":3,"light":"red"},"reward":1,"end":true}`)
	e, err := Run(context.Background(), []string{"window=2", os.Args[0]}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := e.(*recorded)
	t.Cleanup(func() { _ = r.Close() })
	if Window(e) != 2 || !slices.Equal(e.Schema().Names(), []string{"x", "light", "did-1", "x-1", "light-1"}) {
		t.Fatalf("window %d of %v", Window(e), e.Schema().Names())
	}
	known := table.CopySchema(e.Schema())
	for i, names := range map[int][]string{1: {"amber", "red"}, 2: {"stop", "go"}, 4: {"amber", "red"}} {
		known.Attributes[i].Values = names
	}
	if err := r.Know(known, []string{"stop", "go"}); err != nil {
		t.Fatal(err)
	}
	cells := make([]float64, 5)
	if e.State(cells); cells[1] != 1 || cells[2] == cells[2] {
		t.Errorf("it begins with %v", cells)
	}
	if _, _, err := e.Step(1); err != nil {
		t.Fatal(err)
	}
	if e.State(cells); !slices.Equal(cells, []float64{2, 2, 1, 1, 1}) {
		t.Errorf("a window is %v", cells)
	}
	if got := e.Schema().Attributes[4].Values; !slices.Equal(got, []string{"amber", "red", "green"}) {
		t.Errorf("names before are %v", got)
	}
	if err := r.Know(&table.Schema{Attributes: known.Attributes[:2]}, []string{"go"}); err == nil {
		t.Error("states without a window are known")
	}
}

package evaluate

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
	"pgregory.net/rapid"
)

// naive does what Prequential does, from scratch at every step.
func naive(t *table.Table, target, batch int, l *lookup) (losses []float64) {
	for at := batch; at < t.Rows(); at += batch {
		m := updatable{&lookupModel{lookup: *l, schema: t.Schema, target: target, counts: map[int32][]float64{}}}
		m.add(t.Slice(0, at))
		rows := t.Slice(at, min(at+batch, t.Rows()))
		tally := newTally(t.Schema, target, t.Schema.Attributes[target].Values, 0, 15)
		loss := make([]float64, rows.Rows())
		if err := tally.test(context.Background(), m, rows, target, loss); err != nil {
			panic(err)
		}
		losses = append(losses, loss...)
	}
	return losses
}

func TestPrequentialIsTestThenTrain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 120).Draw(t, "rows")
		batch := rapid.IntRange(1, n-1).Draw(t, "batch")
		window := rapid.IntRange(1, 40).Draw(t, "window")
		fade := rapid.Float64Range(.1, 1).Draw(t, "fade")
		rows, target := samples(n, 3, .3, rapid.Uint64().Draw(t, "seed")), 2
		if rapid.Bool().Draw(t, "numeric") {
			rows, target = measured(n, 1, 5), 1
		}
		l := &lookup{}
		r, err := Prequential(context.Background(), spec(rows, target, l), PrequentialOptions{Batch: batch, Window: window, Fade: fade})
		if err != nil {
			t.Fatal(err)
		}
		losses := naive(rows, target, batch, l)
		measure := func(mean float64) float64 {
			if target == 1 {
				return math.Sqrt(mean)
			}
			return 1 - mean
		}
		points := r.Prequential.Points
		for _, p := range points {
			sum, last, lastN, faded, fadedN := 0.0, 0.0, 0.0, 0.0, 0.0
			for i, loss := range losses[:p.Rows] {
				sum += loss
				if i >= p.Rows-window {
					last += loss
					lastN++
				}
				faded = faded*fade + loss
				fadedN = fadedN*fade + 1
			}
			for what, x := range map[string][2]float64{
				"value": {p.Value, measure(sum / float64(p.Rows))}, "window": {p.Window, measure(last / lastN)}, "faded": {p.Faded, measure(faded / fadedN)},
			} {
				if math.Abs(x[0]-x[1]) > 1e-6 {
					t.Fatalf("%s after %d rows is %v, from scratch %v", what, p.Rows, x[0], x[1])
				}
			}
			if !(p.Low <= p.Value+1e-12 && p.Value <= p.High+1e-12) {
				t.Fatalf("%+v", p)
			}
		}
		if r.TestRows != len(losses) || points[len(points)-1].Rows != len(losses) || r.Rows != n {
			t.Fatalf("%d rows tested of %d", r.TestRows, len(losses))
		}
	})
}

func TestPrequentialThinsOut(t *testing.T) {
	rows := samples(5000, 2, .1, 1)
	r, err := Prequential(context.Background(), spec(rows, 2, &lookup{}), PrequentialOptions{Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Prequential.Points
	if len(p) > mostPoints+1 || len(p) < mostPoints/2 || p[len(p)-1].Rows != 4999 || p[len(p)-1].Value != *r.Accuracy {
		t.Errorf("%d points to row %d", len(p), p[len(p)-1].Rows)
	}
	if r.Prequential.Window != 1000 || r.Prequential.Fade != .999 || r.Prequential.Batch != 1 {
		t.Errorf("defaults: %+v", r.Prequential)
	}
}

// chunks is a stream whose batches have dictionaries of their own.
type chunks struct {
	tables []*table.Table
	err    error
}

func (c *chunks) Next() (*table.Table, error) {
	if len(c.tables) == 0 {
		return nil, c.err
	}
	t := c.tables[0]
	c.tables = c.tables[1:]
	return t, nil
}

func TestPrequentialStream(t *testing.T) {
	a, b, c := samples(50, 2, 0, 1), samples(50, 4, 0, 2), samples(50, 4, 0, 3)
	c.Columns[2].Codes[0] = table.Missing
	r, err := PrequentialStream(context.Background(), spec(nil, 2, &lookup{}), &chunks{[]*table.Table{a, a.Slice(0, 0), b, c}, io.EOF}, PrequentialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Batch b brings classes that the model does not know; by c it knows
	// those that occurred.
	if len(r.Classes) != 4 || r.TestRows != 99 || r.Rows != 150 || len(r.Prequential.Points) != 2 {
		t.Errorf("%+v", r)
	}
	known := map[int32]bool{0: true, 1: true}
	right := 0.0
	for _, code := range b.Columns[2].Codes {
		if known[code] {
			right++
		}
	}
	if got := r.Prequential.Points[0].Value; got != right/50 {
		t.Errorf("accuracy %v on the first batch, expected %v of 50", got, right)
	}
	for _, code := range b.Columns[2].Codes {
		known[code] = true
	}
	for _, code := range c.Columns[2].Codes[1:] {
		if known[code] {
			right++
		}
	}
	if *r.Accuracy != right/99 {
		t.Errorf("accuracy %v on both batches, expected %v of 99", *r.Accuracy, right)
	}

	bad := errors.New("line 3 is broken")
	for what, s := range map[string]Stream{
		"empty":          &chunks{nil, io.EOF},
		"broken":         &chunks{nil, bad},
		"broken later":   &chunks{[]*table.Table{a}, bad},
		"only one batch": &chunks{[]*table.Table{a}, io.EOF},
		"other columns":  &chunks{[]*table.Table{a, measured(5, 1, 1)}, io.EOF},
	} {
		if _, err := PrequentialStream(context.Background(), spec(nil, 2, &lookup{}), s, PrequentialOptions{}); err == nil || strings.HasPrefix(what, "broken") && !errors.Is(err, bad) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPrequentialRefusals(t *testing.T) {
	rows := samples(50, 2, 0, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Prequential(ctx, spec(rows, 2, &lookup{}), PrequentialOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for what, call := range map[string]func() (*Result, error){
		"cannot update": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, 2, &lookup{stubborn: true}), PrequentialOptions{})
		},
		"cannot begin": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, 2, &lookup{broken: -1}), PrequentialOptions{})
		},
		"density": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, -1, &lookup{}), PrequentialOptions{})
		},
		"window": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, 2, &lookup{}), PrequentialOptions{Window: -1})
		},
		"fade": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, 2, &lookup{}), PrequentialOptions{Fade: 2})
		},
		"probability": func() (*Result, error) {
			return Prequential(context.Background(), spec(rows, 2, &lookup{broken: 7}), PrequentialOptions{})
		},
	} {
		if _, err := call(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func BenchmarkPrequentialRow(b *testing.B) {
	rows := samples(2000, 2, .1, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Prequential(context.Background(), spec(rows, 2, &lookup{}), PrequentialOptions{Batch: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2000), "ns/row")
}

package shards

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/accrete-ml/accrete/internal/atomicfile"
	"github.com/accrete-ml/accrete/internal/exact"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/table"
)

// answersOf is the file of a shard's answers.
func answersOf(p *Plan, s Shard) string {
	ending := ".csv"
	if p.JSON {
		ending = ".jsonl"
	}
	name := fmt.Sprintf("part-%05d-of-%05d%s", s.Number, p.Shards, ending)
	if strings.Contains(p.Out, "://") {
		return strings.TrimSuffix(p.Out, "/") + "/" + name
	}
	return filepath.Join(p.Out, name)
}

// predictShard writes the answers for a shard's rows, as one machine writes them:
// whole or not at all, so that whoever does it again leaves the same file.
func predictShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	m, err := learn.Decode(p.Model)
	if err != nil {
		return nil, err
	}
	rows := 0.0
	if err := writeTo(ctx, answersOf(p, s), func(w io.Writer) error {
		rows = 0
		path, done, err := local(ctx, s)
		if err != nil {
			return err
		}
		defer done()
		h := &life.Home{Now: time.Now, Seed: p.Seed}
		d, err := h.Find(path, life.Reading{Nominal: p.Nominal, Numeric: p.Numeric, Ignore: p.Ignore, Weight: p.Weight})
		if err != nil {
			return err
		}
		if Disturb != nil {
			attempt, _ := ctx.Value(attemptKey{}).(int)
			if err := Disturb(s, attempt, 0); err != nil {
				return err
			}
		}
		counted := &lines{to: w}
		_, err = h.WriteAnswers(ctx, &life.Part{Model: m, Name: "model"}, d, counted, &life.Answering{JSON: p.JSON, ID: p.ID})
		if errors.Is(err, table.ErrNoRows) { // nothing was written yet
			return p.noAnswers(m, w)
		}
		if err != nil {
			return err
		}
		if rows = float64(counted.n); !p.JSON {
			rows-- // the header
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return learn.Marshal(rows)
}

// noAnswers writes the answers for a shard without rows: the header alone.
func (p *Plan) noAnswers(m learn.Model, w io.Writer) error {
	if p.JSON {
		return nil
	}
	header := []string{"prediction", "probability"}
	if m.Schema().Attributes[m.Target()].Kind == table.Numeric {
		header = []string{"prediction", "low", "high"}
	}
	if p.ID != "" {
		header = append([]string{p.ID}, header...)
	}
	cw := csv.NewWriter(w)
	_ = cw.Write(header) // an error stays with the writer until it is flushed
	cw.Flush()
	return cw.Error()
}

// lines counts the lines that are written.
type lines struct {
	to io.Writer
	n  int
}

func (l *lines) Write(b []byte) (int, error) {
	for _, c := range b {
		if c == '\n' {
			l.n++
		}
	}
	return l.to.Write(b)
}

// local is a path of a shard that lies elsewhere, and what removes it again.
func local(ctx context.Context, s Shard) (path string, done func(), err error) {
	if !strings.Contains(s.Path, "://") {
		return s.Path, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "accrete-beam-*")
	if err != nil {
		return "", nil, err
	}
	data, err := readFrom(ctx, s.Path)
	if err == nil {
		path = filepath.Join(dir, filepath.Base(s.Path))
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

// writeTo writes a file whole or not at all, also one of a bucket.
func writeTo(ctx context.Context, path string, write func(w io.Writer) error) error {
	if !strings.Contains(path, "://") {
		return atomicfile.Write(ctx, path, write)
	}
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer files.Close()
	w, err := files.OpenWrite(ctx, path)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err // not closed: a bucket keeps what is closed
	}
	return w.Close()
}

func readFrom(ctx context.Context, path string) ([]byte, error) {
	if !strings.Contains(path, "://") {
		return os.ReadFile(path)
	}
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return filesystem.Read(ctx, files, path)
}

// Judged is how well a model does on rows whose answers are known.
type Judged struct {
	Rows         float64            `json:"rows"`
	Accuracy     *float64           `json:"accuracy,omitempty"`
	AccuracyLow  *float64           `json:"accuracy_low,omitempty"`
	AccuracyHigh *float64           `json:"accuracy_high,omitempty"`
	LogLoss      *float64           `json:"log_loss,omitempty"`
	Brier        *float64           `json:"brier,omitempty"`
	RMSE         *float64           `json:"rmse,omitempty"`
	MAE          *float64           `json:"mae,omitempty"`
	Confusion    map[string]weights `json:"confusion,omitempty"` // said, true
}

type weights map[string]float64

// judged are sums over rows: exact ones, so that no order of shards changes a bit.
type judged struct {
	Weight    exact.Sum          `cbor:"weight"`
	Right     exact.Sum          `cbor:"right"`
	LogLoss   exact.Sum          `cbor:"log"`
	Brier     exact.Sum          `cbor:"brier"`
	Square    exact.Sum          `cbor:"square"`
	Absolute  exact.Sum          `cbor:"absolute"`
	Confusion map[string]weights `cbor:"confusion,omitempty"`
	Numeric   bool               `cbor:"numeric,omitempty"`
}

func judgeShard(ctx context.Context, p *Plan, s Shard) ([]byte, error) {
	m, err := learn.Decode(p.Model)
	if err != nil {
		return nil, err
	}
	j := &judged{Confusion: map[string]weights{}}
	o := table.Options{Schema: m.Schema(), Weight: p.Weight, Extend: true}
	if err := each(ctx, s, o, func(t *table.Table) error {
		fitted, _, err := table.Conform(t, m.Schema(), false)
		if err != nil {
			return err
		}
		out := learn.NewPredictions(m, t.Rows())
		if err := m.Predict(ctx, fitted, out); err != nil {
			return err
		}
		j.add(m, t, out)
		return nil
	}); err != nil {
		return nil, err
	}
	return learn.Marshal(j)
}

const leastProbability = 1e-15 // as of one machine (package evaluate)

func (j *judged) add(m learn.Model, t *table.Table, out *learn.Predictions) {
	a := &m.Schema().Attributes[m.Target()]
	truth := t.Schema.Index(a.Name)
	names := t.Schema.Attributes[truth].Values
	if j.Numeric = a.Kind == table.Numeric; j.Numeric {
		for r, y := range t.Columns[truth].Floats {
			if w := t.Weight(r); !table.IsMissing(y) {
				e := out.Mean[r] - y
				j.Weight = j.Weight.Add(w)
				j.Square = j.Square.Add(w * e * e)
				j.Absolute = j.Absolute.Add(w * math.Abs(e))
			}
		}
		return
	}
	for r, c := range t.Columns[truth].Codes {
		if c < 0 {
			continue
		}
		w, probabilities := t.Weight(r), out.Row(r)
		best, p, square := learn.Best(probabilities, a.Values), 0.0, 0.0
		for k, x := range probabilities {
			if a.Values[k] == names[c] {
				p = x
				x--
			}
			square += x * x
		}
		if p == 0 && a.Code(names[c]) < 0 {
			square++ // a class that the model does not know
		}
		j.Weight = j.Weight.Add(w)
		if a.Values[best] == names[c] {
			j.Right = j.Right.Add(w)
		}
		j.LogLoss = j.LogLoss.Add(-w * math.Log(min(max(p, leastProbability), 1)))
		j.Brier = j.Brier.Add(w * square)
		if j.Confusion[a.Values[best]] == nil {
			j.Confusion[a.Values[best]] = weights{}
		}
		j.Confusion[a.Values[best]][names[c]] += w
	}
}

func mergeJudged(_ context.Context, _ *Plan, first, second []byte) ([]byte, error) {
	var a, b judged
	if err := errors.Join(learn.Unmarshal(first, &a), learn.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		to   *exact.Sum
		from exact.Sum
	}{{&a.Weight, b.Weight}, {&a.Right, b.Right}, {&a.LogLoss, b.LogLoss}, {&a.Brier, b.Brier}, {&a.Square, b.Square}, {&a.Absolute, b.Absolute}} {
		for _, x := range s.from {
			*s.to = s.to.Add(x)
		}
	}
	a.Numeric = a.Numeric || b.Numeric
	for said, truths := range b.Confusion {
		if a.Confusion == nil {
			a.Confusion = map[string]weights{}
		}
		if a.Confusion[said] == nil {
			a.Confusion[said] = weights{}
		}
		for truth, w := range truths {
			a.Confusion[said][truth] += w
		}
	}
	return learn.Marshal(&a)
}

// result turns sums into rates.
func (j *judged) result() (*Judged, error) {
	n := j.Weight.Float64()
	if n == 0 {
		return nil, errors.New("no row has a known answer")
	}
	mean := func(s exact.Sum) *float64 { x := s.Float64() / n; return &x }
	if j.Numeric {
		rmse := math.Sqrt(*mean(j.Square))
		return &Judged{Rows: n, RMSE: &rmse, MAE: mean(j.Absolute)}, nil
	}
	right := j.Right.Float64()
	i, _ := stat.ErrorRate{Errors: n - right, Cases: n}.Interval(0.95, stat.TwoSided)
	low, high := 1-i.High, 1-i.Low
	return &Judged{Rows: n, Accuracy: mean(j.Right), AccuracyLow: &low, AccuracyHigh: &high, LogLoss: mean(j.LogLoss), Brier: mean(j.Brier), Confusion: j.Confusion}, nil
}

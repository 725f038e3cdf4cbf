package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// attend prepares to learn: it reads all rows into the lesson's table; or, of
// many rows for a learner that takes them as they come (learn.Starter), the
// first ones, and returns where the others come from. The caller closes it.
func (h *Home) attend(ctx context.Context, o LearnOptions) (*Lesson, table.Source, error) {
	if o.Choice.Learner == "" || o.Rules != nil || o.Folds > 0 || o.Division != (Division{}) || o.Data.Reading.Sequence != "" || o.Data.isLinked() || o.Data.fewTexts() {
		l, err := h.Lesson(ctx, o.Data, o.Target, o.Choice)
		return l, nil, err
	}
	info, learner, err := configured(o.Choice.Learner, o.Choice.Settings)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := learner.(learn.Starter); !ok {
		l, err := h.Lesson(ctx, o.Data, o.Target, o.Choice)
		return l, nil, err
	}
	l := &Lesson{Info: info, learner: learner, Settings: o.Choice.Settings}
	rest, err := h.firstRows(ctx, o, l)
	if errors.Is(err, errHeld) {
		l, err = h.Lesson(ctx, o.Data, o.Target, o.Choice)
		return l, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	if err := h.suit(l); err != nil {
		if rest != nil {
			rest.Close()
		}
		return nil, nil, err
	}
	return l, rest, nil
}

// fewTexts reports whether the data is texts that take less to hold than to read
// twice: once for their dictionary, and once for their words.
func (d *Data) fewTexts() bool {
	const most = 64 << 20 // bytes
	if len(d.Reading.Text) == 0 || d.File() == "" {
		return false
	}
	info, err := os.Stat(d.File())
	return err == nil && info.Mode().IsRegular() && info.Size() <= most
}

// errHeld says that a learner that takes rows as they come would hold them all:
// they are better read at once, as many as there is memory for.
var errHeld = errors.New("rows that come are held")

// firstRows reads the first rows of a lesson, and returns where the others come
// from, nil if there are none.
func (h *Home) firstRows(ctx context.Context, o LearnOptions, l *Lesson) (table.Source, error) {
	reading := o.Data.learning(o.Target, l.Info.Takes.Density, l.opens())
	bar, done := h.progress("reading")
	defer done()
	reading.Progress = bar
	source, err := o.Data.source(ctx, reading)
	if err != nil {
		return nil, err
	}
	if l.Target, err = o.Data.targetIn(source.Schema(), reading.Target, l.Info.Takes.Density); err != nil {
		source.Close()
		return nil, err
	}
	first, more, err := head(source, manyRows)
	if err != nil {
		source.Close()
		return nil, err
	}
	if more && o.Data.reader() == nil && kept.Holds(l.learner.(learn.Starter), learn.Task{Table: first.Slice(0, 0), Seed: h.Seed}.At(l.Target)) {
		source.Close()
		return nil, errHeld
	}
	l.Table, l.Report = first, source.Report()
	h.note(l.Report.Notes...)
	if more {
		return source, nil
	}
	source.Close()
	if l.Target == learn.NoTarget {
		return nil, nil
	}
	return nil, h.afford(o.Data, first.Rows(), &first.Schema.Attributes[l.Target])
}

// head reads batches until there are more than so many rows. It reports whether
// there may be more.
func head(source table.Source, rows int) (t *table.Table, more bool, err error) {
	var batches []*table.Table
	for n := 0; n <= rows; n += batches[len(batches)-1].Rows() {
		t, err := source.Next()
		if errors.Is(err, io.EOF) && len(batches) > 0 {
			t, err = table.Concat(batches...)
			return t, false, err
		}
		if err != nil {
			return nil, false, err
		}
		batches = append(batches, t)
	}
	t, err = table.Concat(batches...)
	return t, true, err
}

// learnStream learns the first rows and those that follow, in memory that does
// not grow with them. Some rows are held out until the others are learnt, so
// that the model of those can be judged by them; the model has learnt all.
func (h *Home) learnStream(ctx context.Context, l *Lesson, rest table.Source, o LearnOptions) (*lectured, error) {
	source := h.newSource(o.Data, l.Report.Hash, 0)
	at := h.now()
	bar, done := h.progress("learning")
	defer done()
	ctx = learn.WithProgress(ctx, bar)
	u, err := l.learner.(learn.Starter).Start(learn.Task{
		Table: l.Table.Slice(0, 0), Source: learn.Source{ID: source.ID, Name: source.Name}, Seed: h.Seed}.At(l.Target))
	if err != nil {
		return nil, err
	}
	held, made := newSample(h.Seed, o.Folds != 0 && l.Target != learn.NoTarget), &lectured{}
	next, stop := ahead(rest.Next)
	defer stop()
	for batch := l.Table; ; {
		made.count(batch, l.Target)
		for _, t := range held.take(batch) {
			if err := u.Add(ctx, t); err != nil {
				return nil, err
			}
		}
		if batch, err = next(); errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			batch, _, _, err = suit(l.Info, batch, l.Target)
		}
		if err != nil {
			return nil, err
		}
	}
	sample, err := held.rows()
	if err != nil {
		return nil, err
	}
	if sample != nil {
		part, err := u.Freeze(ctx)
		if err != nil {
			return nil, fmt.Errorf("of all rows but those to judge by: %w", err)
		}
		if target := part.Target(); target != learn.NoTarget {
			if err := h.afford(o.Data, sample.Rows(), &part.Schema().Attributes[target]); err != nil {
				return nil, err
			}
		}
		if err := u.Add(ctx, sample); err != nil {
			return nil, err
		}
		made.estimate = func(ctx context.Context) (*evaluate.Result, Division, error) {
			r, err := evaluate.TestModel(ctx, part, sample, evaluate.Spec{Learner: l.Info.Name, Seed: h.Seed, Clock: h.now})
			if err == nil {
				r.Rows, r.TrainRows = made.rows, made.rows-r.TestRows
			}
			return r, Division{}, err
		}
	}
	source.Rows = float64(made.rows)
	made.record = store.Version{Kind: store.Learn, Source: source, At: at, Seed: h.Seed, Settings: withSnapshot(withReading(l.Settings, o.Data.Reading), l.Report), By: h.Who}
	made.model, err = u.Freeze(ctx)
	return made, err
}

// ahead reads the next rows of a source while the last ones are learnt: where one of
// them waits, the other has the cores. Nobody else may use the source until it was
// stopped, or has ended.
func ahead(read func() (*table.Table, error)) (next func() (*table.Table, error), stop func()) {
	type rows struct {
		table *table.Table
		err   error
	}
	come, stopped := make(chan rows), make(chan struct{})
	var reader crew.Group
	reader.Go(func() {
		defer close(come)
		for {
			t, err := read()
			select {
			case come <- rows{t, err}:
			case <-stopped:
				return
			}
			if err != nil {
				return
			}
		}
	})
	next = func() (*table.Table, error) {
		r, ok := <-come
		if !ok {
			reader.Wait() // panics if that is why
			return nil, io.ErrUnexpectedEOF
		}
		return r.table, r.err
	}
	return next, sync.OnceFunc(func() {
		close(stopped)
		reader.Wait()
	})
}

// sample is rows of a stream that are held out, chosen by a hash of their
// number: a third of them, and of many rows mostHeld/2 to mostHeld.
type sample struct {
	seed   uint64
	below  uint64 // hashes of rows that are held out
	row    uint64 // rows so far
	most   int    // rows that are held out
	tables []*table.Table
	hashes [][]uint64
	held   int
}

const mostHeld = manyRows

func newSample(seed uint64, wanted bool) *sample {
	s := &sample{seed: seed, most: mostHeld}
	if wanted {
		s.below = math.MaxUint64 / 3
	}
	return s
}

// take holds rows of a table out, and returns the others, with rows that are
// not held out any more.
func (s *sample) take(t *table.Table) []*table.Table {
	if s.below == 0 {
		return []*table.Table{t}
	}
	hashes := make([]uint64, t.Rows())
	for i := range hashes {
		hashes[i] = mix(s.seed ^ mix(s.row))
		s.row++
	}
	free := []*table.Table{s.hold(t, hashes)}
	for s.held > s.most {
		s.below /= 2
		tables, all := s.tables, s.hashes
		s.tables, s.hashes, s.held = nil, nil, 0
		for i := range tables {
			free = append(free, s.hold(tables[i], all[i]))
		}
	}
	return free
}

// hold holds out the rows whose hash is low enough, and returns the others.
func (s *sample) hold(t *table.Table, hashes []uint64) *table.Table {
	var in, out []int
	var low []uint64
	for i, h := range hashes {
		if h < s.below {
			in, low = append(in, i), append(low, h)
		} else {
			out = append(out, i)
		}
	}
	if len(in) == 0 {
		return t
	}
	s.tables, s.hashes, s.held = append(s.tables, t.Select(in)), append(s.hashes, low), s.held+len(in)
	return t.Select(out)
}

// rows returns what is held out, nil if nothing is.
func (s *sample) rows() (*table.Table, error) {
	if s.held == 0 {
		return nil, nil
	}
	return table.Concat(s.tables...)
}

// mix is the finaliser of splitmix64 (Steele, Lea & Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

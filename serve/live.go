package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// liveModel is a model that learns rows as they come. Two goroutines serve it:
// one commits rows to the journal, all that wait with one sync, and
// acknowledges them; the other folds them into the model in memory, swaps it
// whole, and freezes versions.
type liveModel struct {
	s    *Server
	held *heldModel
	live *life.Live
	in   chan *toCommit
	wake chan struct{}
	ask  chan chan error // asks for a version now
	gone chan struct{}   // closed when both have ended
	quit chan struct{}   // closed when the model is gone, and its journal with it
	over sync.Once

	first   atomic.Int64 // when the first row came that is in no version, in nanoseconds
	senders senders
	record  atomic.Pointer[LiveRecord]
	curve   atomic.Pointer[[]life.LivePoint]
}

// senders are who sent rows since a version, and from where: each is written down
// once for it, as rows come too fast for a line each.
type senders struct {
	mu      sync.Mutex
	version int
	known   map[string]bool
}

// isFirst reports whether one of them sends for the first time since a version.
func (s *senders) isFirst(version int, who, from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.version != version {
		s.version, s.known = version, map[string]bool{}
	}
	key := who + "\x00" + from
	if s.known[key] {
		return false
	}
	s.known[key] = true
	return true
}

// toCommit is rows that wait to be durable.
type toCommit struct {
	rows life.LiveRows
	done chan committed
}

// committed is what became of them.
type committed struct {
	version, since int
	err            error
}

const (
	mostTogether = 512    // requests that are committed together
	mostUnfrozen = 20_000 // rows that may wait for a version: a server that is too slow says so and does not grow
)

// liven makes a model live, once.
func (s *Server) liven(name string) (*liveModel, error) {
	m := s.held.model(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.live.Load(); l != nil {
		return l, nil
	}
	if s.draining.Load() {
		return nil, later(http.StatusServiceUnavailable, 5, "the server is ending")
	}
	stamp, err := s.o.Home.Store.Stamp(name)
	if err != nil {
		return nil, err
	}
	live, err := s.o.Home.OpenLive(name)
	if err != nil {
		return nil, err
	}
	l := &liveModel{s: s, held: m, live: live, in: make(chan *toCommit, mostTogether), wake: make(chan struct{}, 1), ask: make(chan chan error), gone: make(chan struct{}), quit: make(chan struct{})}
	if live.Waiting() > 0 {
		l.first.Store(time.Now().UnixNano())
		l.poke()
	}
	l.publish(stamp)
	m.live.Store(l)
	stopped := make(chan struct{})
	s.lives.Go(func() {
		defer close(stopped)
		l.commit()
	})
	s.lives.Go(func() {
		defer close(l.gone)
		l.fold(stopped)
	})
	return l, nil
}

// retire ends what served a model that was deleted.
func (l *liveModel) retire() {
	l.over.Do(func() {
		l.held.live.CompareAndSwap(l, nil)
		l.held.now.Store(nil)
		close(l.quit)
	})
}

// replay makes models live whose journals still have rows.
func (s *Server) replay() {
	models, _ := s.o.Home.Store.Models() // damaged ones are told of when they are asked for
	for _, m := range models {
		if !s.o.Home.Store.HasJournal(m.Name) {
			continue
		}
		l, err := s.liven(m.Name)
		if err != nil {
			s.log.Warn("rows wait in a journal", "model", m.Name, "problem", err.Error())
			continue
		}
		if n := l.live.Waiting(); n > 0 {
			s.log.Info("rows of the journal are learnt", "model", m.Name, "rows", n)
		}
	}
}

// commit makes rows durable, many at once, and acknowledges them.
func (l *liveModel) commit() {
	for {
		select {
		case <-l.s.ending: // nobody is let in any more; who is in is answered
			l.commitAll(l.waiting(nil))
			return
		case <-l.quit:
			l.commitAll(l.waiting(nil))
			return
		case r := <-l.in:
			l.commitAll(l.waiting([]*toCommit{r}))
		}
	}
}

// waiting adds the requests that wait already.
func (l *liveModel) waiting(together []*toCommit) []*toCommit {
	for len(together) < mostTogether {
		select {
		case r := <-l.in:
			together = append(together, r)
		default:
			return together
		}
	}
	return together
}

func (l *liveModel) commitAll(together []*toCommit) {
	if len(together) == 0 {
		return
	}
	batches := make([]life.LiveRows, len(together))
	rows := 0
	for i, r := range together {
		batches[i] = r.rows
		rows += len(r.rows.Rows)
	}
	err := l.live.Commit(batches...)
	answer := committed{version: l.live.Base().Number, since: l.live.Waiting(), err: err}
	for _, r := range together {
		r.done <- answer
	}
	if errors.Is(err, store.ErrUnknown) {
		l.retire()
	}
	if err != nil {
		return
	}
	l.s.meter.learnt.add(l.held.name, float64(rows))
	l.first.CompareAndSwap(0, time.Now().UnixNano())
	l.poke()
}

// poke wakes who folds.
func (l *liveModel) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// fold learns rows, swaps the model, and freezes versions, until the server
// ends; then it freezes what is left. Learning takes at most about a quarter
// of a core's time, so that answers are not kept waiting.
func (l *liveModel) fold(stopped <-chan struct{}) {
	ctx := l.s.ctx
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		var asked chan error
		select {
		case <-stopped:
			if err := l.freeze(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, store.ErrUnknown) {
				l.s.log.Error("rows stay in the journal", "model", l.held.name, "problem", err.Error())
			}
			if err := l.live.Close(); err != nil {
				l.s.log.Error("the journal does not close", "model", l.held.name, "problem", err.Error())
			}
			return
		case asked = <-l.ask:
		case <-l.wake:
		case <-rest.C:
		}
		began := time.Now()
		err := l.step(ctx, asked != nil)
		if asked != nil {
			asked <- err
		}
		pause := 3 * time.Since(began)
		if err != nil {
			if asked == nil {
				l.s.log.Error("rows are not learnt; they stay in the journal", "model", l.held.name, "problem", err.Error())
			}
			pause = time.Second
		}
		l.pause(min(max(pause, 2*time.Millisecond), 2*time.Second), stopped)
		rest.Reset(l.untilFreeze())
	}
}

// pause waits, but not for who asks for a version.
func (l *liveModel) pause(d time.Duration, stopped <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case asked := <-l.ask:
			asked <- l.step(l.s.ctx, true)
		case <-timer.C:
			return
		case <-stopped:
			return
		}
	}
}

// step does what there is to do.
func (l *liveModel) step(ctx context.Context, now bool) error {
	stamp, err := l.s.o.Home.Store.Stamp(l.held.name)
	if errors.Is(err, store.ErrUnknown) {
		l.retire()
	}
	if err != nil {
		return err
	}
	st := l.held.now.Load()
	if st == nil || st.stamp != stamp {
		moved, err := l.live.Moved()
		if err == nil && moved {
			err = l.live.Rebase()
		}
		if err != nil {
			return err
		}
	}
	if l.live.Unfolded() {
		if err := l.live.Fold(ctx); err != nil {
			return err
		}
	}
	l.publish(stamp)
	if n := l.live.Waiting(); n > 0 && (now || l.untilFreeze() <= 0) {
		return l.freeze(ctx)
	}
	return nil
}

// freeze makes a version of the rows that came.
func (l *liveModel) freeze(ctx context.Context) error {
	if l.live.Waiting() == 0 {
		return nil
	}
	v, made, err := l.live.Freeze(ctx)
	if err != nil {
		return err
	}
	l.first.Store(0)
	if l.live.Waiting() > 0 {
		l.first.Store(time.Now().UnixNano())
	}
	stamp, err := l.s.o.Home.Store.Stamp(l.held.name)
	if err != nil {
		return err
	}
	l.publish(stamp)
	if made > 0 {
		l.s.log.Info("frozen", "model", l.held.name, "version", v.Number, "rows", v.Source.Rows)
	}
	return nil
}

// untilFreeze is how long rows may still wait for a version.
func (l *liveModel) untilFreeze() time.Duration {
	f := l.s.o.Freeze
	n := l.live.Waiting()
	switch {
	case n == 0:
		return time.Hour
	case n >= cmp.Or(f.Rows, mostUnfrozen/2):
		return 0
	case f.Age > 0:
		return max(0, time.Until(time.Unix(0, l.first.Load()).Add(f.Age)))
	}
	return time.Hour
}

// publish swaps the model that answers.
func (l *liveModel) publish(stamp store.Stamp) {
	part, since := l.live.Now()
	if st := l.held.now.Load(); st == nil || st.part.Model != part.Model || st.stamp != stamp || st.since != since || st.part.Version.Number != part.Version.Number {
		st := newState(part, stamp)
		st.since = since
		l.held.now.Store(st)
	}
	score, drifts := l.live.Score()
	rates := newLiveRates(&score)
	points := l.live.Curve()
	l.curve.Store(&points)
	l.record.Store(&LiveRecord{
		Model: part.Name, Version: part.Version.Number, Since: since, Waiting: l.live.Waiting(), Learning: rates, Drifts: drifts, At: time.Now().UTC(),
	})
}

// learnRows makes rows durable and says so.
func (l *liveModel) learnRows(ctx context.Context, rows life.LiveRows) (committed, error) {
	if l.live.Waiting() > max(mostUnfrozen, 2*l.s.o.Freeze.Rows) {
		return committed{}, later(http.StatusTooManyRequests, 5, "%d rows wait to be learnt", l.live.Waiting())
	}
	r := &toCommit{rows, make(chan committed, 1)}
	select {
	case l.in <- r:
	case <-l.s.ending:
		return committed{}, later(http.StatusServiceUnavailable, 5, "the server is ending")
	case <-l.quit:
		return committed{}, later(http.StatusServiceUnavailable, 1, "%s was deleted", l.held.name)
	case <-ctx.Done():
		return committed{}, ctx.Err()
	}
	select {
	case c := <-r.done:
		return c, c.err
	case <-l.gone:
		return committed{}, later(http.StatusServiceUnavailable, 5, "the server is ending")
	}
}

// frozen freezes what a model has learnt, so that what is written next is about
// all of it.
func (s *Server) frozen(ctx context.Context, ref string) error {
	name, _, err := store.ParseRef(ref)
	if err != nil {
		return err
	}
	l := s.held.model(name).live.Load()
	if l == nil {
		return nil
	}
	asked := make(chan error, 1)
	select {
	case l.ask <- asked:
		return <-asked
	case <-l.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// touch has the store looked at again: who wrote sees it in the next answer.
func (s *Server) touch(ctx context.Context, name string) {
	s.held.model(name).checked.Store(0)
	if err := s.frozen(ctx, name); err != nil {
		s.log.Warn("a new version is not yet seen", "model", name, "problem", err.Error())
	}
}

// ToLearnRows is rows to learn.
type ToLearnRows struct {
	Row    map[string]any   `json:"row,omitempty" doc:"cells by column, the target's among them"`
	Rows   []map[string]any `json:"rows,omitempty"`
	Source string           `json:"source,omitempty" doc:"whose they are; none is the caller"`
}

// Acknowledged says that rows are durable.
type Acknowledged struct {
	Acknowledged int    `json:"acknowledged"`
	Model        string `json:"model"`
	Version      int    `json:"version" doc:"the last frozen one"`
	Since        int    `json:"since" doc:"rows learnt after it"`
}

// learnRows learns rows as they come; the answer comes when they are durable.
func (c *call) learnRows() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	var in ToLearnRows
	if err := c.decode(&in); err != nil {
		return err
	}
	rows := in.Rows
	switch {
	case (in.Row == nil) == (in.Rows == nil):
		return problemf(http.StatusUnprocessableEntity, `give one of "row" and "rows"`, "expected a row, or rows")
	case in.Row != nil:
		rows = []map[string]any{in.Row}
	case len(rows) > c.o.MostRows:
		return problemf(http.StatusRequestEntityTooLarge, "send fewer at once, or a table with POST …/update", "%d rows in one document are more than %d", len(rows), c.o.MostRows)
	}
	source := in.Source
	if source == "" {
		source = c.who.name
	}
	key := c.r.Header.Get("Idempotency-Key")
	if len(key) > 200 {
		return problemf(http.StatusBadRequest, "use a key of at most 200 bytes", "the Idempotency-Key is too long")
	}
	got, err := c.commitRows(name, source, key, rows)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, Acknowledged{len(rows), name, got.version, got.since})
}

// commitRows checks rows, and has them learnt; with a key, once.
func (c *call) commitRows(name, source, key string, rows []map[string]any) (got committed, err error) {
	if err := store.CheckName(source); err != nil {
		return got, problemf(http.StatusUnprocessableEntity, "call it as a model may be called", "the source: %v", err)
	}
	l, err := c.liven(name)
	if errors.Is(err, store.ErrLocked) {
		return got, problemf(http.StatusConflict, "send them to the other server", "another server learns rows of %s", name)
	}
	if err != nil {
		return got, err
	}
	st := l.held.now.Load()
	if st == nil {
		return got, later(http.StatusServiceUnavailable, 1, "%s is being read", name)
	}
	if err := c.matches(st.part.Version.Number); err != nil {
		return got, err
	}
	checked, err := l.live.Check(st.part.Schema(), rows)
	var wrong *life.CellError
	if errors.As(err, &wrong) {
		return got, &Problem{Status: http.StatusUnprocessableEntity, Detail: err.Error(), Row: wrong.Row, Column: wrong.Column, Remedy: "correct the cell, or leave it out; nothing was learnt"}
	}
	if err != nil {
		return got, err
	}
	if key != "" {
		key = c.who.name + "\x00" + key // each caller has keys of its own
	}
	if got, err = l.learnRows(c.r.Context(), life.LiveRows{Source: source, Key: key, Rows: checked}); err != nil {
		return got, err
	}
	from, _, _ := net.SplitHostPort(c.r.RemoteAddr)
	if l.senders.isFirst(got.version, c.who.name, from) {
		c.audit("learn rows", name, fmt.Sprintf("those of %s since version %d", source, got.version))
	}
	return got, nil
}

// ifMatch is the version that a write is conditional on, 0 for none.
func (c *call) ifMatch() (int, error) {
	text := strings.Trim(strings.TrimPrefix(c.r.Header.Get("If-Match"), "W/"), `" `)
	if text == "" || text == "*" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, problemf(http.StatusBadRequest, "give the number of a version", "If-Match: %s is no version", text)
	}
	return n, nil
}

// unchanged is the version that a write is conditional on; it is an error if
// somebody decided anything about the model since.
func (c *call) unchanged(name string) (int, error) {
	version, err := c.ifMatch()
	if err != nil || version == 0 {
		return 0, err
	}
	versions, _ := c.o.Home.Store.Log(name) // of a model that is not there yet there are none
	return version, life.Unchanged(versions, version)
}

// matches says that a write is about another version.
func (c *call) matches(version int) error {
	want, err := c.ifMatch()
	if err != nil || want == 0 || want == version {
		return err
	}
	return problemf(http.StatusPreconditionFailed, "look at the newest version, and decide again", "the newest version is %d, this was about %d", version, want)
}

// LiveRecord is how a model does on rows as they come.
type LiveRecord struct {
	Model    string           `json:"model"`
	Version  int              `json:"version"`
	Since    int              `json:"since"`
	Waiting  int              `json:"waiting" doc:"rows that are durable and in no version yet"`
	Learning *LiveRates       `json:"learning,omitempty" doc:"answers before the rows were learnt"`
	Truth    *LiveRates       `json:"truth,omitempty" doc:"answers that were kept, and what became of them"`
	Drifts   []evaluate.Drift `json:"drifts,omitempty"`
	Curve    []LivePoint      `json:"curve,omitempty" doc:"in the first event: how it came to this"`
	At       time.Time        `json:"at"`
}

// LiveRates are rates of answers that turned out right.
type LiveRates struct {
	Rows        float64           `json:"rows"`
	Accuracy    *float64          `json:"accuracy,omitempty"`
	Low         *float64          `json:"low,omitempty"`
	High        *float64          `json:"high,omitempty"`
	RMSE        *float64          `json:"rmse,omitempty" doc:"of a number, which is right within its interval: how far it is off"`
	Recent      *float64          `json:"recent,omitempty" doc:"the rate of the last rows"`
	RecentRows  float64           `json:"recent_rows,omitempty"`
	Calibration []LiveCalibration `json:"calibration,omitempty"`
}

// LiveCalibration is how often answers of about one probability were right.
type LiveCalibration struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Said  float64 `json:"said" doc:"how probable they were said to be"`
	Rows  float64 `json:"rows"`
	Right float64 `json:"right"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// wilson is the 95 % interval of a rate.
func wilson(right, rows float64) (low, high float64) {
	i := stat.ErrorRate{Errors: right, Cases: rows}.Wilson(0.95, stat.TwoSided)
	return i.Low, i.High
}

func newLiveRates(s *life.LiveScore) *LiveRates {
	r := &LiveRates{Rows: s.Rows}
	if s.Rows == 0 {
		return r
	}
	rate, recent := s.Right/s.Rows, s.Recent/s.RecentRows
	low, high := wilson(s.Right, s.Rows)
	r.Accuracy, r.Low, r.High, r.Recent, r.RecentRows = &rate, &low, &high, &recent, s.RecentRows
	if s.Square > 0 {
		rmse := math.Sqrt(s.Square / s.Rows)
		r.RMSE = &rmse
	}
	for i, b := range s.Sure {
		if b.Rows == 0 {
			continue
		}
		low, high := wilson(b.Right, b.Rows)
		r.Calibration = append(r.Calibration, LiveCalibration{float64(i) / 10, float64(i+1) / 10, b.P / b.Rows, b.Rows, b.Right, low, high})
	}
	return r
}

// recordOf is how a model does now.
func (s *Server) recordOf(name string) (*LiveRecord, error) {
	st, err := s.held.get(name)
	if err != nil {
		return nil, err
	}
	r := &LiveRecord{Model: name, Version: st.part.Version.Number, Since: st.since, At: time.Now().UTC()}
	if l := s.held.model(name).live.Load(); l != nil {
		if now := l.record.Load(); now != nil {
			r.Learning, r.Drifts, r.Waiting = now.Learning, now.Drifts, now.Waiting
		}
	}
	r.Truth = s.truths.rates(name)
	return r, nil
}

// followLive tells how a model does, every second.
func (c *call) followLive() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	sink := c.events()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for first := true; ; first = false {
		r, err := c.recordOf(name)
		if err == nil {
			if first {
				r.Curve = c.curveOf(name, r)
			}
			err = sink.Event("live", r)
		} else {
			err = errors.Join(sink.Event("problem", newProblem(err)), err)
		}
		if err != nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ending:
			return nil
		case <-c.r.Context().Done():
			return nil
		}
	}
}

// NewVersion says that a model has a new version.
type NewVersion struct {
	Model   string    `json:"model"`
	Version int       `json:"version"`
	Kind    string    `json:"kind"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
}

// followAll tells of new versions of all models.
func (c *call) followAll() error {
	sink := c.events()
	seen := map[string]int{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	beat := 0
	for first := true; ; first = false {
		models, _ := c.o.Home.Store.Models() // of damaged ones there is nothing new
		for _, m := range models {
			if c.who.sees(m.Name) != nil || seen[m.Name] == m.Latest.Number {
				continue
			}
			seen[m.Name] = m.Latest.Number
			if first {
				continue
			}
			if err := sink.Event("version", NewVersion{m.Name, m.Latest.Number, m.Latest.Kind, m.Latest.By, m.Latest.At}); err != nil {
				return nil
			}
		}
		if beat++; first || beat%15 == 0 {
			if alive(sink) != nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-c.ending:
			return nil
		case <-c.r.Context().Done():
			return nil
		}
	}
}

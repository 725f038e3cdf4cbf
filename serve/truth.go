package serve

import (
	"bufio"
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// truths are answers that were kept, and what became of them: how well a model
// does among people, whether it learns from it or not. They are lines of a file
// for each model, read again when the server starts.
type truths struct {
	dir    string
	mu     sync.Mutex
	models map[string]*truthOf
}

// truthOf is what is kept for one model.
type truthOf struct {
	file  *os.File
	kept  map[string]keptAnswer
	order []string
	score life.LiveScore
	curve life.LiveCurve
}

// keptAnswer is an answer that waits for its truth. As a line it may also be
// the truth.
type keptAnswer struct {
	ID      string         `json:"id"`
	Version int            `json:"version,omitempty"`
	Said    any            `json:"said,omitempty"`
	P       float64        `json:"p,omitempty"`
	Low     *float64       `json:"low,omitempty"`
	High    *float64       `json:"high,omitempty"`
	Row     map[string]any `json:"row,omitempty"`
	At      time.Time      `json:"at"`
	Truth   any            `json:"truth,omitempty"`
	Right   *bool          `json:"right,omitempty"`
}

// mostKept is how many answers of a model wait for their truth.
const mostKept = 100_000

// of returns what is kept for a model. The caller holds the lock.
func (t *truths) of(name string) (*truthOf, error) {
	if m := t.models[name]; m != nil {
		return m, nil
	}
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(t.dir, name+".jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	m := &truthOf{file: f, kept: map[string]keptAnswer{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a keptAnswer
		if json.Unmarshal(lines.Bytes(), &a) == nil && a.ID != "" { // a torn line was never acknowledged
			m.take(a)
		}
	}
	if t.models == nil {
		t.models = map[string]*truthOf{}
	}
	t.models[name] = m
	return m, nil
}

// take takes in a line.
func (m *truthOf) take(a keptAnswer) {
	if a.Right == nil {
		m.kept[a.ID] = a
		if m.order = append(m.order, a.ID); len(m.order) > mostKept {
			delete(m.kept, m.order[0])
			m.order = m.order[1:]
		}
		return
	}
	m.score.Count(*a.Right, a.P)
	m.curve.Add(&m.score, cmp.Or(a.Version, m.kept[a.ID].Version))
	delete(m.kept, a.ID)
}

// write adds a line.
func (m *truthOf) write(a keptAnswer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(line, '\n'))
	return err
}

// keep keeps an answer until its truth is told.
func (t *truths) keep(name string, a keptAnswer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, err := t.of(name)
	if err == nil {
		err = m.write(a)
	}
	if err == nil {
		m.take(a)
	}
	return err
}

// rates are how well the answers that were kept turned out.
func (t *truths) rates(name string) *LiveRates {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := os.Stat(filepath.Join(t.dir, name+".jsonl")); err != nil && t.models[name] == nil {
		return nil
	}
	m, err := t.of(name)
	if err != nil || m.score.Rows == 0 {
		return nil
	}
	return newLiveRates(&m.score)
}

// curve is how they came to that.
func (t *truths) curve(name string) []LivePoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.models[name]; m != nil {
		return newCurve(m.curve.Points)
	}
	return nil
}

// drop lets go of what was kept for a model that was deleted: the next one of
// that name begins with nothing, and the rows are gone.
func (t *truths) drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.models[name]; m != nil {
		m.file.Close()
		delete(t.models, name)
	}
	_ = os.Remove(filepath.Join(t.dir, name+".jsonl")) // there may be none
}

func (t *truths) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.models {
		m.file.Close()
	}
	t.models = nil
}

// newKept is an answer to keep.
func newKept(id string, version int, x life.Predicted, row map[string]any) keptAnswer {
	a := keptAnswer{ID: id, Version: version, Said: x.Prediction, Low: x.Low, High: x.High, Row: row, At: time.Now().UTC(), P: 0.95}
	if class, ok := x.Prediction.(string); ok {
		a.P = x.Probabilities[class]
	}
	return a
}

// ToldTruth is what became of an answer.
type ToldTruth struct {
	ID    string `json:"id" doc:"as predict?keep=1 answered"`
	Truth any    `json:"truth" doc:"the class, or the number"`
	Learn bool   `json:"learn,omitempty" doc:"learn the row with it"`
}

// TruthSaid is how the answer stands to it.
type TruthSaid struct {
	ID      string        `json:"id"`
	Said    any           `json:"said"`
	Truth   any           `json:"truth"`
	Right   bool          `json:"right" doc:"of a number: within the interval"`
	Version int           `json:"version" doc:"that answered"`
	Rates   *LiveRates    `json:"rates"`
	Learnt  *Acknowledged `json:"learnt,omitempty"`
}

// truth says what became of an answer that was kept.
func (c *call) truth() error {
	st, name, err := c.newest()
	if err != nil {
		return err
	}
	var in ToldTruth
	if err := c.decode(&in); err != nil {
		return err
	}
	if st.part.Target() == learn.NoTarget {
		return problemf(http.StatusUnprocessableEntity, "a density has no answers to be right", "%s has no target", name)
	}
	target := &st.part.Schema().Attributes[st.part.Target()]
	text, number, err := truthOfCell(in.Truth, target)
	if err != nil {
		return err
	}
	a, err := c.truths.lend(name, in.ID)
	if err != nil {
		return err
	}
	right := a.Said == text
	if target.Kind == table.Numeric {
		right = a.Low != nil && a.High != nil && *a.Low <= number && number <= *a.High
	}
	said := TruthSaid{ID: in.ID, Said: a.Said, Truth: in.Truth, Right: right, Version: a.Version}
	if in.Learn {
		row := map[string]any{target.Name: in.Truth}
		for key, cell := range a.Row {
			if key != target.Name {
				row[key] = cell
			}
		}
		got, err := c.commitRows(name, c.who.name, "truth "+in.ID, []map[string]any{row})
		if err != nil {
			c.truths.giveBack(name, a)
			return err
		}
		said.Learnt = &Acknowledged{1, name, got.version, got.since}
	}
	said.Rates, err = c.truths.tell(name, a, keptAnswer{ID: in.ID, Version: a.Version, P: a.P, At: time.Now().UTC(), Truth: in.Truth, Right: &right})
	if err != nil {
		return err
	}
	c.audit("tell truth", name, in.ID)
	return c.answer(http.StatusOK, said)
}

// lend hands an answer out to who knows its truth: nobody else is told it meanwhile,
// and while the row is learnt, which takes as long as the disk does, others keep
// answers and tell truths.
func (t *truths) lend(name, id string) (a keptAnswer, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, err := t.of(name)
	if err != nil {
		return a, err
	}
	a, ok := m.kept[id]
	if !ok {
		return a, problemf(http.StatusNotFound, "keep an answer first with predict?keep=1; each is told its truth once", "no answer of %s is kept under %q", name, id)
	}
	delete(m.kept, id)
	return a, nil
}

// giveBack takes an answer back whose truth could not be told.
func (t *truths) giveBack(name string, a keptAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, err := t.of(name); err == nil {
		m.kept[a.ID] = a
	}
}

// tell writes the truth of an answer down, and says how well all turned out.
func (t *truths) tell(name string, a, told keptAnswer) (*LiveRates, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, err := t.of(name)
	if err == nil {
		err = m.write(told)
	}
	if err != nil {
		if m != nil {
			m.kept[a.ID] = a
		}
		return nil, err
	}
	m.take(told)
	return newLiveRates(&m.score), nil
}

// truthOfCell reads the truth as a cell of the target.
func truthOfCell(truth any, target *table.Attribute) (text string, number float64, err error) {
	t, err := table.NewBuilder(&table.Schema{Attributes: []table.Attribute{*target}}).Only(map[string]any{target.Name: truth})
	if err == nil && truth == nil {
		err = problemf(http.StatusUnprocessableEntity, `give "truth"`, "what became of it?")
	}
	if err != nil {
		return "", 0, &Problem{Status: http.StatusUnprocessableEntity, Detail: err.Error(), Column: target.Name, Remedy: "give a class, or a number, as the target has them"}
	}
	if target.Kind == table.Numeric {
		return "", t.Columns[0].Floats[0], nil
	}
	if code := t.Columns[0].Codes[0]; code >= 0 {
		return target.Values[code], 0, nil
	}
	if s, ok := truth.(string); ok {
		return s, 0, nil // a class that is new
	}
	return "", 0, nil
}

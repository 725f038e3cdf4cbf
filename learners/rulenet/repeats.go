package rulenet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Memory of identical rows (repeats=auto). A row that equals learnt ones is also
// answered by how these came out: c of each class, beside which the network's
// probabilities p count as m rows, p′ = (c + m·p)/(Σc + m). How much m is, and
// whether to remember at all, is rehearsed on rows held out. Rules cannot say it, so
// the printed base says that it is a summary.

// worths are the rows that the network is tried to count for beside equal ones.
var worths = [...]float64{1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 8, 16}

// repeatsGain is the share of the loss on rows held out that memory must take off.
const repeatsGain = 0.002

// repeats is what learnt rows were, by the hash of their cells. It is immutable
// once it is filled.
type repeats struct {
	worth   float64 // rows that the network counts for
	filling sync.Once
	failed  error
	places  map[uint64]int32
	counts  []float64 // of each place and class
}

// savedRepeats is a memory; its rows are those of the model where that keeps them.
type savedRepeats struct {
	Worth  float64   `cbor:"worth"`
	Cells  []uint64  `cbor:"cells,omitempty"` // hashes, ascending
	Counts []float64 `cbor:"counts,omitempty"`
}

// cellHashes returns the hashes of the rows' cells but the target's.
func cellHashes(ctx context.Context, t *table.Table, target int) ([]uint64, error) {
	schema := &table.Schema{Attributes: slices.Delete(slices.Clone(t.Schema.Attributes), target, target+1)}
	cells, err := table.New(schema, slices.Delete(slices.Clone(t.Columns), target, target+1), nil)
	if err != nil {
		return nil, err
	}
	return kept.HashRows(ctx, cells)
}

// fill takes in rows; classes are those of a model's schema.
func (m *repeats) fill(ctx context.Context, t *table.Table, target int, classes []string) error {
	hashes, err := cellHashes(ctx, t, target)
	if err != nil {
		return err
	}
	class := make([]int, len(t.Schema.Attributes[target].Values))
	for c, name := range t.Schema.Attributes[target].Values {
		class[c] = slices.Index(classes, name)
	}
	m.places = map[uint64]int32{}
	for r, hash := range hashes {
		place, known := m.places[hash]
		if !known {
			place = int32(len(m.places))
			m.places[hash] = place
			m.counts = append(m.counts, make([]float64, len(classes))...)
		}
		m.counts[int(place)*len(classes)+class[t.Columns[target].Codes[r]]] += t.Weight(r)
	}
	return nil
}

// recall fills a memory from the rows that the model keeps, once.
func (m *Model) recall() error {
	m.repeats.filling.Do(func() {
		if m.repeats.places != nil {
			return
		}
		ctx := context.Background() // whoever waits for it next must not find it half done
		t, err := m.rows.Table(ctx)
		if err == nil {
			schema := m.coding.schema.Attributes[m.coding.target]
			err = m.repeats.fill(ctx, t, t.Schema.Index(schema.Name), schema.Values)
		}
		m.repeats.failed = err
	})
	return m.repeats.failed
}

// remembered returns for each row the counts by class of learnt rows with the same
// cells, nil if there are none.
func (m *Model) remembered(ctx context.Context, t *table.Table) (func(row int) []float64, error) {
	if err := m.recall(); err != nil {
		return nil, err
	}
	hashes, err := cellHashes(ctx, t, m.coding.target)
	if err != nil {
		return nil, err
	}
	k := m.coding.classes()
	return func(row int) []float64 {
		for i := range t.Columns {
			if codes := t.Columns[i].Codes; codes != nil && i != m.coding.target && codes[row] == table.Unseen {
				return nil
			}
		}
		place, ok := m.repeats.places[hashes[row]]
		if !ok {
			return nil
		}
		return m.repeats.counts[int(place)*k:][:k]
	}, nil
}

// remind moves the probabilities of rows that equal learnt ones.
func (m *Model) remind(ctx context.Context, t *table.Table, p []float64) error {
	equal, err := m.remembered(ctx, t)
	if err != nil {
		return err
	}
	k := m.coding.classes()
	for row := range t.Rows() {
		if counts := equal(row); counts != nil {
			m.repeats.blend(p[row*k:][:k], counts)
		}
	}
	return nil
}

// blend counts probabilities as so many rows beside equal ones.
func (m *repeats) blend(p, counts []float64) {
	all := sum(counts) + m.worth
	for c := range p {
		p[c] = (counts[c] + m.worth*p[c]) / all
	}
}

// explainRepeats adds what equal rows say to an explanation of probabilities.
func (m *Model) explainRepeats(t *table.Table, row int, p []float64, e *learn.Explanation) error {
	equal, err := m.remembered(context.Background(), t)
	if err != nil {
		return err
	}
	counts := equal(row)
	if counts == nil {
		return nil
	}
	var said []string
	for c, n := range counts {
		if n > 0 {
			said = append(said, fmt.Sprintf("%s %g", m.coding.schema.Attributes[m.coding.target].Values[c], n))
		}
	}
	text := fmt.Sprintf("%g equal rows were learnt (%s)", sum(counts), strings.Join(said, ", "))
	before := slices.Clone(p)
	m.repeats.blend(p, counts)
	for c := range p {
		if p[c] > 0 && before[c] > 0 {
			e.Evidence = append(e.Evidence, learn.Evidence{Text: text, Class: c, Weight: math.Log(p[c] / before[c])})
		}
	}
	return nil
}

// repeatsNotes say in the printed rules that they do not say all.
func (m *Model) repeatsNotes() []string {
	if m.repeats == nil {
		return nil
	}
	return []string{fmt.Sprintf("summary: rows that equal learnt ones are also answered by how these came out, the rules counting for %g of them (repeats=auto)", m.repeats.worth)}
}

// save returns what is kept of a memory.
func (m *repeats) save(withRows bool) *savedRepeats {
	if m == nil {
		return nil
	}
	to := &savedRepeats{Worth: m.worth}
	if withRows {
		return to
	}
	k := 0
	if len(m.places) > 0 {
		k = len(m.counts) / len(m.places)
	}
	for hash := range m.places {
		to.Cells = append(to.Cells, hash)
	}
	slices.Sort(to.Cells)
	for _, hash := range to.Cells {
		to.Counts = append(to.Counts, m.counts[int(m.places[hash])*k:][:k]...)
	}
	return to
}

// load checks what was saved.
func (s *savedRepeats) load(classes int, withRows bool) (*repeats, error) {
	if s == nil {
		return nil, nil
	}
	if !slices.Contains(worths[:], s.Worth) {
		return nil, fmt.Errorf("a network that counts for %v rows", s.Worth)
	}
	m := &repeats{worth: s.Worth}
	if withRows {
		return m, nil
	}
	if len(s.Counts) != len(s.Cells)*classes || !amounts(s.Counts) {
		return nil, fmt.Errorf("%d counts of %d remembered rows and %d classes", len(s.Counts), len(s.Cells), classes)
	}
	m.places, m.counts = make(map[uint64]int32, len(s.Cells)), s.Counts
	for i, hash := range s.Cells {
		if i > 0 && hash <= s.Cells[i-1] {
			return nil, fmt.Errorf("remembered rows are not in order")
		}
		m.places[hash] = int32(i)
	}
	return m, nil
}

// rehearseRepeats returns the worth of the network beside equal rows that the rows
// held out are answered best with, 0 if they are not answered better.
func (h *school) rehearseRepeats(ctx context.Context, parts []*part, stretch float64) (float64, error) {
	hashes, err := cellHashes(ctx, h.table, h.target)
	if err != nil {
		return 0, err
	}
	groups := map[uint64]int{}
	group := make([]int, len(hashes))
	for r, hash := range hashes {
		if _, known := groups[hash]; !known {
			groups[hash] = len(groups)
		}
		group[r] = groups[hash]
	}
	k := len(h.present)
	without, losses := 0.0, [len(worths)]float64{}
	for _, part := range parts {
		counts := make([]float64, len(groups)*k)
		for r, w := range h.weights {
			counts[group[r]*k+int(h.x.Class[r])] += w - part.held[r]
		}
		s := part.student
		p := make([]float64, k)
		scores := s.heldScores()
		for at, r := range s.held.rows {
			s.probabilities(scores, at, stretch, p)
			own, class, weight := counts[group[r]*k:][:k], h.x.Class[r], s.held.weight[at]
			without -= weight * math.Log(max(p[class], 1e-300))
			for i, worth := range worths {
				losses[i] -= weight * math.Log(max((own[class]+worth*p[class])/(sum(own)+worth), 1e-300))
			}
		}
	}
	best := slices.Min(losses[:])
	if !(best < without*(1-repeatsGain)) {
		return 0, nil
	}
	return worths[slices.Index(losses[:], best)], ctx.Err()
}

// probabilities fills in those of a row held out.
func (s *student) probabilities(scores []float64, at int, stretch float64, p []float64) {
	n := len(s.held.rows)
	if s.k == 1 {
		p[1] = 1 / (1 + math.Exp(-scores[at]*stretch))
		p[0] = 1 - p[1]
		return
	}
	top := math.Inf(-1)
	for c := range p {
		p[c] = scores[c*n+at] * stretch
		top = max(top, p[c])
	}
	norm := 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		norm += p[c]
	}
	for c := range p {
		p[c] /= norm
	}
}

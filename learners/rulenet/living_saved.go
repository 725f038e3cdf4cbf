package rulenet

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// livingPart names the state of a living network.
const livingPart = "living network"

// savedLiving is the state of a living network.
type savedLiving struct {
	Coding  savedCoding   `cbor:"coding"`
	Origins []savedOrigin `cbor:"origins"`
	Log     savedLog      `cbor:"log"`
	Drawn   []byte        `cbor:"drawn"` // a bit a row: it is in the reservoir
	Recent  int           `cbor:"recent"`
	Whole   bool          `cbor:"whole"`
	N       float64       `cbor:"n"`
	Rows    float64       `cbor:"rows"`
	Ever    float64       `cbor:"ever"`
	Counts  []float64     `cbor:"counts"`

	Rules   [][]savedAtom `cbor:"rules"`
	W       []float64     `cbor:"w"`
	Slope   []float64     `cbor:"slope"`
	Anchor  []float64     `cbor:"anchor"`
	Taught  []bool        `cbor:"taught"`
	Age     []float64     `cbor:"age"`
	Covers  []float64     `cbor:"covers"`
	Round   []int         `cbor:"round"`
	Removed []float64     `cbor:"removed"`

	Candidates [][]savedAtom `cbor:"candidates,omitempty"`
	Promises   []float64     `cbor:"promises,omitempty"`
	Since      []float64     `cbor:"since,omitempty"`
	Fires      []float64     `cbor:"fires,omitempty"`
	Fresh      float64       `cbor:"fresh,omitempty"`

	S       float64  `cbor:"s"`
	Last    float64  `cbor:"last"`
	Stepped float64  `cbor:"stepped"`
	Pending int      `cbor:"pending"`
	Rounds  int      `cbor:"rounds"`
	Stage   stage    `cbor:"stage,omitempty"`
	Staged  float64  `cbor:"staged,omitempty"`
	Steps   []Step   `cbor:"steps,omitempty"`
	Stopped string   `cbor:"stopped,omitempty"`
	Alarms  int      `cbor:"alarms,omitempty"`
	Moved   []Moved  `cbor:"moved,omitempty"`
	Notes   []string `cbor:"notes,omitempty"`
	Drift   *drift   `cbor:"drift,omitempty"`
}

type savedOrigin struct {
	ID     string  `cbor:"id"`
	Name   string  `cbor:"name"`
	Rows   uint64  `cbor:"rows"`
	Weight float64 `cbor:"weight"`
}

// savedLog is rows, each column packed.
type savedLog struct {
	Rows    int      `cbor:"rows"`
	Columns [][]byte `cbor:"columns"`
	Class   []byte   `cbor:"class"`
	Weight  []byte   `cbor:"weight"`
	Number  []byte   `cbor:"number"`
	Source  []byte   `cbor:"source"`
	Loss    []byte   `cbor:"loss"`
}

type savedAtom struct {
	_         struct{} `cbor:",toarray"`
	Col       int32
	Kind      atomKind
	OrMissing bool
	Low, High float64
	Values    []int32
}

func saveAtoms(rules [][]atom) [][]savedAtom {
	all := make([][]savedAtom, len(rules))
	for r, tests := range rules {
		for _, a := range tests {
			low := a.low
			if math.IsNaN(low) {
				low = math.Inf(-1)
			}
			all[r] = append(all[r], savedAtom{Col: a.col, Kind: a.kind, OrMissing: a.orMissing, Low: low, High: a.high, Values: a.values})
		}
	}
	return all
}

// asNumbers returns whole numbers as numbers, those below 0 as missing.
func asNumbers[T int32 | uint64](x []T) []float64 {
	to := make([]float64, len(x))
	for i, v := range x {
		if to[i] = float64(v); to[i] < 0 {
			to[i] = table.NA
		}
	}
	return to
}

// save packs rows.
func (l *rowLog) save() (savedLog, error) {
	to := savedLog{Rows: l.rows(), Columns: make([][]byte, len(l.codes))}
	var failed error
	pack := func(x []float64) []byte {
		data, err := kept.PackNumbers(x)
		failed = errors.Join(failed, err)
		return data
	}
	for col := range l.codes {
		switch {
		case l.floats[col] != nil:
			to.Columns[col] = pack(l.floats[col])
		case l.codes[col] != nil:
			to.Columns[col] = pack(asNumbers(l.codes[col]))
		}
	}
	to.Class, to.Source, to.Number = pack(asNumbers(l.class)), pack(asNumbers(l.source)), pack(asNumbers(l.number))
	to.Weight, to.Loss = pack(l.weight), pack(l.loss)
	return to, failed
}

// Parts returns the settings, and the state with the rows that are kept.
func (m *Living) Parts() ([]learn.Part, error) {
	s := m.s
	head, err := learn.Marshal(savedHead{Format: format, Settings: s.settings, Seed: s.seed, Target: s.schema.Attributes[s.target].Name})
	if err != nil {
		return nil, err
	}
	c := coding{s.schema, s.target, noCuts(s.schema, s.target)}
	to := savedLiving{
		Coding: c.save(), Recent: s.recent, Whole: s.whole, N: s.n, Rows: s.rows, Ever: s.ever, Counts: s.counts,
		Rules: saveAtoms(s.rules), W: s.w, Slope: s.slope, Anchor: s.anchor, Taught: s.taught, Age: s.age, Covers: s.covers, Round: s.round, Removed: s.removed,
		Candidates: saveAtoms(s.probation.tests), Promises: s.probation.slope, Since: s.probation.rules, Fires: s.probation.fires, Fresh: s.probation.weight,
		S: s.s, Last: s.last, Stepped: s.stepped, Pending: s.pending, Rounds: s.rounds, Stage: s.stage, Staged: s.staged, Steps: s.steps, Stopped: s.stopped, Alarms: s.alarms, Moved: s.moved, Notes: s.notes, Drift: s.drift,
	}
	for _, o := range s.origins {
		to.Origins = append(to.Origins, savedOrigin{o.ID, o.Name, o.rows, o.weight})
	}
	in := make([]bool, s.log.rows())
	for _, r := range s.drawn {
		in[r] = true
	}
	var stay []int32
	for r := range in {
		if in[r] || r >= len(in)-s.recent {
			if len(stay)%8 == 0 {
				to.Drawn = append(to.Drawn, 0)
			}
			if in[r] {
				to.Drawn[len(stay)/8] |= 1 << (len(stay) % 8)
			}
			stay = append(stay, int32(r))
		}
	}
	own := s.log.pick(stay, 0)
	if to.Log, err = own.save(); err != nil {
		return nil, err
	}
	data, err := learn.Marshal(to)
	return []learn.Part{{Name: headPart, Data: head}, {Name: livingPart, Data: data}}, err
}

// decodeLiving makes a living network of its parts.
func decodeLiving(head *savedHead, parts []learn.Part) (learn.Model, error) {
	var from savedLiving
	if err := learn.Unmarshal(learn.FindPart(parts, livingPart), &from); err != nil {
		return nil, fmt.Errorf("part %q: %v", livingPart, err)
	}
	s, err := from.load(head)
	if err != nil {
		return nil, fmt.Errorf("part %q: %v", livingPart, err)
	}
	m := s.frozen()
	if _, err := m.written(); err != nil {
		return nil, fmt.Errorf("part %q: %v", livingPart, err)
	}
	return m, nil
}

// load checks what was saved.
func (from *savedLiving) load(head *savedHead) (*living, error) {
	c, err := from.Coding.loadClasses(head.Target)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &living{
		settings: head.Settings, seed: head.Seed, schema: c.schema, target: c.target, recent: from.Recent, whole: from.Whole,
		n: from.N, rows: from.Rows, ever: from.Ever, counts: from.Counts,
		w: from.W, slope: from.Slope, anchor: from.Anchor, taught: from.Taught, age: from.Age, covers: from.Covers, round: from.Round, removed: from.Removed,
		s: from.S, last: from.Last, stepped: from.Stepped, pending: from.Pending, rounds: from.Rounds, stage: from.Stage, staged: from.Staged, steps: from.Steps, stopped: from.Stopped, alarms: from.Alarms, moved: from.Moved, notes: from.Notes, drift: from.Drift,
	}
	s.k = scoresOf(s.classes())
	s.probation = probation{slope: from.Promises, rules: from.Since, fires: from.Fires, weight: from.Fresh}
	if s.rules, err = s.loadAtoms(from.Rules, c); err != nil {
		return nil, err
	}
	if s.probation.tests, err = s.loadAtoms(from.Candidates, c); err != nil {
		return nil, err
	}
	for _, o := range from.Origins {
		own := newOrigin(learn.Source{ID: o.ID, Name: o.Name})
		own.rows, own.weight = o.Rows, o.Weight
		s.origins = append(s.origins, own)
	}
	if err := s.sound(); err != nil {
		return nil, err
	}
	if err := s.loadRows(from); err != nil {
		return nil, err
	}
	return s, s.drift.sound(s)
}

// sound reports whether numbers fit each other.
func (s *living) sound() error {
	k, classes, rules := s.k, s.classes(), len(s.rules)
	if len(s.counts) != classes || !amounts(s.counts) || sum(s.counts) == 0 || !amounts([]float64{s.n, s.rows, s.ever, s.last, s.stepped, s.staged}) || s.n == 0 {
		return errors.New("its rows are not counted as rows are")
	}
	if len(s.w) != (rules+1)*k || len(s.slope) != len(s.w) || len(s.anchor) != len(s.w) || !finite(s.w) || !finite(s.slope) || !finite(s.anchor) || tooFar(s.w) || tooFar(s.anchor) {
		return fmt.Errorf("%d weights do not fit %d rules, or are no weights", len(s.w), rules)
	}
	if len(s.taught) != rules || len(s.age) != rules || len(s.round) != rules || len(s.removed) != rules || len(s.covers) != rules*classes || !amounts(s.age) || !amounts(s.covers) || !finite(s.removed) {
		return errors.New("what is said of its rules does not fit them")
	}
	if slices.ContainsFunc(s.round, func(r int) bool { return r < 0 }) || s.rounds < 0 || s.stage > toSearch || s.pending < 0 || s.pending > mostStepRows || !(s.s > 0 && s.s < 1e6) {
		return errors.New("its rounds or its penalty make no sense")
	}
	p := &s.probation
	if len(p.slope) != len(p.tests)*k || len(p.fires) != len(p.tests) || len(p.rules) != len(s.w) || !finite(p.slope) || !finite(p.rules) || !amounts(p.fires) || !amounts([]float64{p.weight}) {
		return errors.New("what is said of its candidates does not fit them")
	}
	if len(s.origins) == 0 {
		return errors.New("it has no source")
	}
	return nil
}

// tooFar reports whether some weight is beyond what rows can give.
func tooFar(w []float64) bool {
	return slices.ContainsFunc(w, func(x float64) bool { return math.Abs(x) > 1e6 })
}

// loadAtoms checks tests.
func (s *living) loadAtoms(from [][]savedAtom, c coding) ([][]atom, error) {
	rules := make([][]atom, len(from))
	for r, tests := range from {
		if len(tests) == 0 {
			return nil, fmt.Errorf("rule %d has no test", r+1)
		}
		for i, a := range tests {
			if a.Col < 0 || int(a.Col) >= len(c.schema.Attributes) || int(a.Col) == c.target || a.Kind > isMissing || i > 0 && tests[i-1].Col >= a.Col {
				return nil, fmt.Errorf("rule %d, test %d: not a test of a column, or not in their order", r+1, i+1)
			}
			numeric := c.ordered(int(a.Col))
			t := atom{col: a.Col, kind: a.Kind, orMissing: a.OrMissing, high: a.High, values: a.Values}
			ok := true
			switch a.Kind {
			case between:
				if t.low = a.Low; math.IsInf(a.Low, -1) {
					t.low = math.NaN()
				}
				ok = numeric && !math.IsNaN(a.Low) && !math.IsInf(a.Low, 1) && a.High > a.Low && len(a.Values) == 0
			case isMissing:
				t.orMissing = true
				ok = len(a.Values) == 0
			case isOne:
				ok = !numeric && len(a.Values) == 1
			case isNone:
				ok = !numeric && slices.IsSorted(a.Values) && len(slices.Compact(slices.Clone(a.Values))) == len(a.Values)
			}
			for _, v := range a.Values {
				ok = ok && v >= 0 && int(v) < c.levels(int(a.Col))
			}
			if !ok {
				return nil, fmt.Errorf("rule %d, test %d: not one that its column can have", r+1, i+1)
			}
			rules[r] = append(rules[r], t)
		}
	}
	return rules, nil
}

// loadRows checks and unpacks rows.
func (s *living) loadRows(from *savedLiving) error {
	rows := from.Log.Rows
	if rows < 1 || rows > mostReservoir+windowRows || len(from.Drawn) != (rows+7)/8 || s.recent < 0 || s.recent > min(rows, windowRows) || len(from.Log.Columns) != len(s.schema.Attributes) {
		return fmt.Errorf("%d rows do not fit what is said of them", rows)
	}
	s.log = newRowLog(s.schema, s.target)
	whole := func(data []byte, below int, missing bool) ([]float64, error) {
		x, err := kept.UnpackNumbers(data, rows)
		if err != nil {
			return nil, err
		}
		for r, v := range x {
			if !(v >= 0 && v < float64(below) && v == math.Trunc(v)) && !(missing && table.IsMissing(v)) {
				return nil, fmt.Errorf("row %d has the code %v", r+1, v)
			}
		}
		return x, nil
	}
	for col := range s.log.codes {
		var err error
		switch {
		case s.log.floats[col] != nil:
			s.log.floats[col], err = kept.UnpackNumbers(from.Log.Columns[col], rows)
		case s.log.codes[col] != nil:
			var x []float64
			if x, err = whole(from.Log.Columns[col], len(s.schema.Attributes[col].Values), true); err == nil {
				s.log.codes[col] = asCodes(x)
			}
		}
		if err != nil {
			return fmt.Errorf("column %q: %v", s.schema.Attributes[col].Name, err)
		}
	}
	class, err := whole(from.Log.Class, s.classes(), false)
	if err != nil {
		return err
	}
	source, err := whole(from.Log.Source, len(s.origins), false)
	if err != nil {
		return err
	}
	number, err := whole(from.Log.Number, 1<<53, false)
	if err != nil {
		return err
	}
	if s.log.weight, err = kept.UnpackNumbers(from.Log.Weight, rows); err != nil {
		return err
	}
	if s.log.loss, err = kept.UnpackNumbers(from.Log.Loss, rows); err != nil {
		return err
	}
	if slices.ContainsFunc(s.log.loss, func(x float64) bool { return x < 0 || x > mostLoss }) {
		return errors.New("losses of its answers are none")
	}
	s.log.class, s.log.source = asCodes(class), asCodes(source)
	for r := range rows {
		o := &s.origins[s.log.source[r]]
		n := uint64(number[r])
		if w := s.log.weight[r]; n < 1 || n > o.rows || !(w > 0 && w <= 1e15) || s.counts[s.log.class[r]] == 0 {
			return fmt.Errorf("row %d is not one of its source, or of no weight or class", r+1)
		}
		s.log.number, s.log.key = append(s.log.number, n), append(s.log.key, o.key(n))
		if from.Drawn[r/8]>>(r%8)&1 != 0 {
			s.drawn.take(&s.log, int32(r), rows)
		} else if r < rows-s.recent {
			return fmt.Errorf("row %d is there for nothing", r+1)
		}
	}
	if len(s.drawn) == 0 || len(s.drawn) > s.most() || s.whole && float64(len(s.drawn)) != s.rows {
		return fmt.Errorf("%d rows are in a reservoir of %d", len(s.drawn), s.most())
	}
	return nil
}

func asCodes(x []float64) []int32 {
	to := make([]int32, len(x))
	for i, v := range x {
		if to[i] = table.Missing; v == v {
			to[i] = int32(v)
		}
	}
	return to
}

package rulenet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of the parts of a living network, besides those that are named by what they
// hold: its rules, its sources and its rows, each in several (see living_blocks.go).
const (
	livingPart  = "living network" // all of it, as older programs saved it
	statePart   = "living state"   // what every update changes
	rulesPart   = "living rules "
	sourcesPart = "living sources "
	blockPart   = "living rows "
)

// savedState is what every update changes.
type savedState struct {
	savedCommon
	Weights [][]byte `cbor:"weights"` // see packed
	Alive   []byte   `cbor:"alive"`   // a bit for each row of the blocks: it is needed
	Drawn   []byte   `cbor:"drawn"`   // a bit for each of these: it is in the reservoir
}

// savedCommon is the counts and times of a living network.
type savedCommon struct {
	Recent int       `cbor:"recent"`
	Whole  bool      `cbor:"whole"`
	N      float64   `cbor:"n"`
	Rows   float64   `cbor:"rows"`
	Ever   float64   `cbor:"ever"`
	Counts []float64 `cbor:"counts"`
	Fresh  float64   `cbor:"fresh,omitempty"`

	S       float64  `cbor:"s"`
	Last    float64  `cbor:"last"`
	Stepped float64  `cbor:"stepped"`
	Pending int      `cbor:"pending"`
	Rounds  int      `cbor:"rounds"`
	Stage   stage    `cbor:"stage,omitempty"`
	Staged  float64  `cbor:"staged,omitempty"`
	Alarms  int      `cbor:"alarms,omitempty"`
	Moved   []Moved  `cbor:"moved,omitempty"`
	Notes   []string `cbor:"notes,omitempty"`
	Drift   *drift   `cbor:"drift,omitempty"`
}

// savedRules is what stays the same until rules are decided anew.
type savedRules struct {
	Coding     savedCoding   `cbor:"coding"`
	Rules      [][]savedAtom `cbor:"rules"`
	Anchor     []float64     `cbor:"anchor"`
	Taught     []bool        `cbor:"taught"`
	Round      []int         `cbor:"round"`
	Removed    []float64     `cbor:"removed"`
	Candidates [][]savedAtom `cbor:"candidates,omitempty"`
	Steps      []Step        `cbor:"steps,omitempty"`
	Stopped    string        `cbor:"stopped,omitempty"`
}

// savedWeights is the numbers of rules and candidates that every update changes.
type savedWeights struct {
	W        []float64 `cbor:"w"`
	Slope    []float64 `cbor:"slope"`
	Age      []float64 `cbor:"age"`
	Covers   []float64 `cbor:"covers"`
	Promises []float64 `cbor:"promises,omitempty"`
	Since    []float64 `cbor:"since,omitempty"`
	Fires    []float64 `cbor:"fires,omitempty"`
}

// savedLiving is all of a living network, in one part as older programs saved it.
type savedLiving struct {
	savedCommon
	savedRules
	savedWeights
	Origins []savedOrigin `cbor:"origins"`
	Log     savedLog      `cbor:"log"`
	Drawn   []byte        `cbor:"drawn"` // a bit a row that is needed: it is in the reservoir

	blocks [][]byte // else of what the log is made
	alive  []byte   // of each of their rows
}

// packed returns all numbers that every update changes, list by list.
func (s *living) packed() ([][]byte, error) {
	lists := [][]float64{s.w, s.slope, s.age, s.covers, s.probation.slope, s.probation.rules, s.probation.fires}
	if s.drift != nil {
		for i := range s.drift.Shadows {
			lists = append(lists, s.drift.Shadows[i].Difference)
		}
	}
	all := make([][]byte, len(lists))
	for i, x := range lists {
		x = slices.Clone(x)
		for j := range x {
			x[j] += 0 // which has no sign any more
		}
		var err error
		if all[i], err = kept.PackNumbers(x); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// unpack reads what packed wrote.
func (from *savedLiving) unpack(all [][]byte, classes int) error {
	k := scoresOf(classes)
	weights, rules, candidates := (len(from.Rules)+1)*k, len(from.Rules), len(from.Candidates)
	lists := []*[]float64{&from.W, &from.Slope, &from.Age, &from.Covers, &from.Promises, &from.Since, &from.Fires}
	sizes := []int{weights, weights, rules, rules * classes, candidates * k, weights, candidates}
	if from.Drift != nil {
		for i := range from.Drift.Shadows {
			lists, sizes = append(lists, &from.Drift.Shadows[i].Difference), append(sizes, weights)
		}
	}
	if len(all) != len(lists) {
		return fmt.Errorf("%d lists of numbers, expected %d", len(all), len(lists))
	}
	for i, data := range all {
		var err error
		if *lists[i], err = kept.UnpackNumbers(data, sizes[i]); err != nil {
			return fmt.Errorf("list %d of numbers: %v", i+1, err)
		}
	}
	return nil
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

// Parts returns the settings, what every update changes, and what mostly stays: rules,
// sources, and rows in blocks.
func (m *Living) Parts() ([]learn.Part, error) {
	s := m.state()
	blocks, err := s.saveBlocks()
	if err != nil {
		return nil, err
	}
	now := savedState{savedCommon: savedCommon{
		Recent: s.recent, Whole: s.whole, N: s.n, Rows: s.rows, Ever: s.ever, Counts: s.counts, Fresh: s.probation.weight,
		S: s.s, Last: s.last, Stepped: s.stepped, Pending: s.pending, Rounds: s.rounds, Stage: s.stage, Staged: s.staged, Alarms: s.alarms, Moved: s.moved, Notes: s.notes, Drift: s.drift.bare(),
	}}
	if now.Weights, err = s.packed(); err != nil {
		return nil, err
	}
	now.Alive, now.Drawn = s.marks(blocks)
	head, err := learn.Marshal(savedHead{Format: format, Settings: s.settings, Seed: s.seed, Target: s.schema.Attributes[s.target].Name})
	if err != nil {
		return nil, err
	}
	state, err := learn.Marshal(now)
	if err != nil {
		return nil, err
	}
	rules, err := s.ruleParts()
	if err != nil {
		return nil, err
	}
	parts := append([]learn.Part{{Name: headPart, Data: head}, {Name: statePart, Data: state}}, rules...)
	for _, b := range blocks {
		parts = append(parts, named(blockPart, b.data))
	}
	return parts, nil
}

// ruleParts returns the parts of rules and sources.
func (s *living) ruleParts() ([]learn.Part, error) {
	c := coding{s.schema, s.target, noCuts(s.schema, s.target)}
	data, err := learn.Marshal(savedRules{
		Coding: c.save(), Rules: saveAtoms(s.rules), Anchor: s.anchor, Taught: s.taught, Round: s.round, Removed: s.removed,
		Candidates: saveAtoms(s.probation.tests), Steps: s.steps, Stopped: s.stopped,
	})
	parts := []learn.Part{named(rulesPart, data)}
	origins := s.origins
	for _, n := range bundle.Sizes(len(origins)) {
		var some []savedOrigin
		for _, o := range origins[:n] {
			some = append(some, savedOrigin{o.ID, o.Name, o.rows, o.weight})
		}
		data, failed := learn.Marshal(some)
		err = errors.Join(err, failed)
		parts, origins = append(parts, named(sourcesPart, data)), origins[n:]
	}
	return parts, err
}

// bare returns a copy without differences, which are saved beside it.
func (d *drift) bare() *drift {
	if d == nil {
		return nil
	}
	to := d.copy()
	for i := range to.Shadows {
		to.Shadows[i].Difference = nil
	}
	return to
}

// marks says which rows of blocks are needed, and which of these the reservoir has.
func (s *living) marks(blocks []rowBlock) (alive, drawn []byte) {
	var all []int32
	for _, b := range blocks {
		all = append(all, b.at...)
	}
	in := make([]bool, s.log.rows())
	for _, r := range s.drawn {
		in[r] = true
	}
	there := slices.DeleteFunc(slices.Clone(all), func(r int32) bool { return r < 0 })
	return bitmap(len(all), func(i int) bool { return all[i] >= 0 }), bitmap(len(there), func(i int) bool { return in[there[i]] })
}

// decodeLiving makes a living network of its parts.
func decodeLiving(head *savedHead, parts []learn.Part) (learn.Model, error) {
	from, state, err := readLiving(parts)
	if err != nil {
		return nil, err
	}
	s, err := from.load(head, state)
	if err != nil {
		return nil, fmt.Errorf("part %q: %v", statePart, err)
	}
	m := s.frozen()
	if _, err := m.written(); err != nil {
		return nil, fmt.Errorf("part %q: %v", statePart, err)
	}
	return m, nil
}

// readLiving reads the parts of a living network; weights are packed still, if any are.
func readLiving(parts []learn.Part) (from *savedLiving, weights [][]byte, err error) {
	from = &savedLiving{}
	read := func(p *learn.Part, to any) {
		if failed := learn.Unmarshal(p.Data, to); failed != nil && err == nil {
			err = fmt.Errorf("part %q: %v", p.Name, failed)
		}
	}
	if data := learn.FindPart(parts, livingPart); data != nil {
		read(&learn.Part{Name: livingPart, Data: data}, from)
		return from, nil, err
	}
	for i := range parts {
		switch p := &parts[i]; {
		case p.Name == statePart:
			var now savedState
			read(p, &now)
			from.savedCommon, from.Drawn, from.alive, weights = now.savedCommon, now.Drawn, now.Alive, now.Weights
		case strings.HasPrefix(p.Name, rulesPart):
			read(p, &from.savedRules)
		case strings.HasPrefix(p.Name, sourcesPart):
			var some []savedOrigin
			read(p, &some)
			from.Origins = append(from.Origins, some...)
		case strings.HasPrefix(p.Name, blockPart):
			from.blocks = append(from.blocks, p.Data)
		}
	}
	if weights == nil && err == nil {
		err = fmt.Errorf("part %q is not there", statePart)
	}
	return from, weights, err
}

// load checks what was saved.
func (from *savedLiving) load(head *savedHead, weights [][]byte) (*living, error) {
	c, err := from.Coding.loadClasses(head.Target)
	if err != nil {
		return nil, err
	}
	if weights != nil {
		if err := from.unpack(weights, c.classes()); err != nil {
			return nil, err
		}
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
	s.log = newRowLog(s.schema, s.target)
	logs := []*savedLog{&from.Log}
	for i, data := range from.blocks {
		if i == 0 {
			logs = logs[:0]
		}
		var l savedLog
		if err := learn.Unmarshal(data, &l); err != nil {
			return fmt.Errorf("rows %d: %v", i+1, err)
		}
		logs = append(logs, &l)
	}
	all := 0
	for i, l := range logs {
		if l.Rows < 1 || l.Rows > 2*(mostReservoir+windowRows)-all || len(l.Columns) != len(s.schema.Attributes) {
			return fmt.Errorf("%d rows of block %d do not fit what is said of them", l.Rows, i+1)
		}
		if err := s.loadLog(l); err != nil {
			return fmt.Errorf("block %d: %v", i+1, err)
		}
		all += l.Rows
	}
	if from.alive != nil {
		if err := s.loadBlocks(from, logs); err != nil {
			return err
		}
	}
	return s.loadMarks(from)
}

// loadBlocks leaves out rows that are not needed any more.
func (s *living) loadBlocks(from *savedLiving, logs []*savedLog) error {
	all := s.log.rows()
	if len(from.alive) != (all+7)/8 {
		return fmt.Errorf("%d rows, and marks of %d", all, 8*len(from.alive))
	}
	var stay []int32
	at := 0
	for i, l := range logs {
		b := rowBlock{at: make([]int32, l.Rows), data: from.blocks[i]}
		for j := range b.at {
			if b.at[j] = -1; from.alive[at/8]>>(at%8)&1 != 0 {
				b.at[j] = int32(len(stay))
				stay = append(stay, int32(at))
			}
			at++
		}
		s.blocks = append(s.blocks, b)
	}
	s.log = s.log.pick(stay, 0)
	return nil
}

// loadMarks checks the rows that are needed, and says which the reservoir has.
func (s *living) loadMarks(from *savedLiving) error {
	rows := s.log.rows()
	if rows < 1 || len(from.Drawn) != (rows+7)/8 || s.recent < 0 || s.recent > min(rows, windowRows) {
		return fmt.Errorf("%d rows do not fit what is said of them", rows)
	}
	for r := range rows {
		if w := s.log.weight[r]; !(w > 0 && w <= 1e15) || s.counts[s.log.class[r]] == 0 {
			return fmt.Errorf("row %d is of no weight or class", r+1)
		}
		if from.Drawn[r/8]>>(r%8)&1 != 0 {
			s.drawn.take(&s.log, int32(r), rows)
		} else if r < rows-s.recent {
			return fmt.Errorf("row %d is there for nothing", r+1)
		}
	}
	s.drawn.heap(&s.log)
	if len(s.drawn) == 0 || len(s.drawn) > s.most() || s.whole && float64(len(s.drawn)) != s.rows {
		return fmt.Errorf("%d rows are in a reservoir of %d", len(s.drawn), s.most())
	}
	return nil
}

// unpackWhole reads whole numbers below a bound.
func unpackWhole(data []byte, rows, below int, missing bool) ([]float64, error) {
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

// loadLog appends rows to the log.
func (s *living) loadLog(l *savedLog) error {
	for col := range s.log.codes {
		var x []float64
		var err error
		switch {
		case s.log.floats[col] != nil && l.Columns[col] == nil:
			x = slices.Repeat([]float64{table.NA}, l.Rows)
		case s.log.floats[col] != nil:
			x, err = kept.UnpackNumbers(l.Columns[col], l.Rows)
		case s.log.codes[col] != nil:
			x, err = unpackWhole(l.Columns[col], l.Rows, len(s.schema.Attributes[col].Values), true)
		}
		if err != nil {
			return fmt.Errorf("column %q: %v", s.schema.Attributes[col].Name, err)
		}
		if s.log.floats[col] != nil {
			s.log.floats[col] = append(s.log.floats[col], x...)
		} else if s.log.codes[col] != nil {
			s.log.codes[col] = append(s.log.codes[col], asCodes(x)...)
		}
	}
	class, err := unpackWhole(l.Class, l.Rows, s.classes(), false)
	if err != nil {
		return err
	}
	source, err := unpackWhole(l.Source, l.Rows, len(s.origins), false)
	if err != nil {
		return err
	}
	number, err := unpackWhole(l.Number, l.Rows, 1<<53, false)
	if err != nil {
		return err
	}
	weight, err := kept.UnpackNumbers(l.Weight, l.Rows)
	if err != nil {
		return err
	}
	loss, err := kept.UnpackNumbers(l.Loss, l.Rows)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(loss, func(x float64) bool { return x < 0 || x > mostLoss }) {
		return errors.New("losses of its answers are none")
	}
	s.log.class, s.log.source = append(s.log.class, asCodes(class)...), append(s.log.source, asCodes(source)...)
	s.log.weight, s.log.loss = append(s.log.weight, weight...), append(s.log.loss, loss...)
	for r, x := range number {
		o := &s.origins[int32(source[r])]
		n := uint64(x)
		if n < 1 || n > o.rows {
			return fmt.Errorf("row %d is not one of its source", r+1)
		}
		s.log.number, s.log.key = append(s.log.number, n), append(s.log.key, o.key(n))
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

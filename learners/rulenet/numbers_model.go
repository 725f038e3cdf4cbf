package rulenet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/boost"
	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// compile makes the rules of the units, and what predicts by them.
func (m *Numbers) compile(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text := make(map[int]string, len(m.units))
	order := make([]int, len(m.units))
	for i := range m.units {
		order[i], text[i] = i, m.said(i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-cmp.Compare(m.moves(a), m.moves(b)), strings.Compare(text[a], text[b]))
	})
	units := make([]addend, len(order))
	for to, from := range order {
		units[to] = m.units[from]
	}
	m.units = units
	name := m.coding.schema.Attributes[m.coding.target].Name
	m.base = &rule.Base{Kind: rule.Weighed, Else: &rule.Rule{Then: rule.Conclusion{Column: name, Numeric: true, Mean: m.start, Deviation: m.interval.Deviation}}, Notes: setting.WayNotes(m.settings.Slope, name)}
	if by := m.settings.Censored; by != "" {
		m.base.Notes = append(m.base.Notes, fmt.Sprintf("where %s says that %s had not ended, it was taken for the mean of those that went on for longer; errors on unseen rows are reckoned as if it had", by, name))
	}
	if note := m.settings.lossNote(name); note != "" {
		m.base.Notes = append(m.base.Notes, note)
	}
	m.base.Else.Evidence.Covered = pointer(m.weight)
	all := make([][]rule.Test, len(m.units))
	for i := range m.units {
		u := &m.units[i]
		all[i] = m.coding.tests(u.rule)
		m.base.Rules = append(m.base.Rules, rule.Rule{
			If:       all[i],
			Then:     rule.Conclusion{Column: name, Numeric: true, Adds: true, Mean: u.adds, Deviation: u.error, Line: m.lineOf(u)},
			Evidence: rule.Evidence{Covered: pointer(u.covered)},
		})
	}
	var err error
	if m.matchers, err = rule.NewMatchers(all, m.coding.schema); err != nil {
		return err
	}
	m.predictor, err = rule.NewPredictor(m.base, m.coding.schema, m.coding.target)
	return err
}

// lineOf writes the line of a unit, nil if it has none.
func (m *Numbers) lineOf(u *addend) *rule.Line {
	if u.line == nil {
		return nil
	}
	return &rule.Line{Column: m.coding.schema.Attributes[u.line.col].Name, Centre: u.line.centre, Limited: true, Low: u.line.low, High: u.line.high}
}

// said is what a unit tests, and what it adds for each unit of.
func (m *Numbers) said(i int) string {
	u := &m.units[i]
	text := joined(m.coding.tests(u.rule))
	if u.line != nil {
		if text == "" {
			text = "ALWAYS"
		}
		text += ", for each unit of " + m.coding.schema.Attributes[u.line.col].Name
	}
	return text
}

// moves is how far a rule spreads the answers.
func (m *Numbers) moves(i int) float64 {
	if l := m.units[i].line; l != nil {
		return math.Abs(m.units[i].adds) * l.spread
	}
	share := m.units[i].covered / m.weight
	return math.Abs(m.units[i].adds) * math.Sqrt(max(0, share*(1-share)))
}

// Learner returns the name of the learner.
func (m *Numbers) Learner() string { return Name }

// Schema returns the attributes, values in canonical order.
func (m *Numbers) Schema() *table.Schema { return m.coding.schema }

// Target returns the index of the predicted attribute.
func (m *Numbers) Target() int { return m.coding.target }

// Size counts rules as they are printed, and conjunctions as units.
func (m *Numbers) Size() learn.Size {
	return learn.Size{Rows: m.weight, Rules: len(m.base.Rules) + 1, Units: len(m.units)}
}

// Predict answers for the table's rows.
func (m *Numbers) Predict(ctx context.Context, t *table.Table, out *learn.Predictions) error {
	if err := m.coding.fits(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(out.Mean) < t.Rows() || len(out.Low) < t.Rows() || len(out.High) < t.Rows() {
		return fmt.Errorf("room for %d numbers, expected %d", len(out.Mean), t.Rows())
	}
	if err := m.predictor.Predict(t, nil, out.Mean[:t.Rows()]); err != nil {
		return err
	}
	for r, mean := range out.Mean[:t.Rows()] {
		out.Low[r], out.High[r] = m.interval.around(mean)
	}
	return nil
}

// Rules returns the network as a weighed base: where the sum starts, and what
// each rule adds. The base belongs to the caller.
func (m *Numbers) Rules() (*rule.Base, error) {
	base := *m.base
	base.Rules = slices.Clone(m.base.Rules)
	start := *m.base.Else
	base.Else = &start
	return &base, nil
}

// Explain returns where the sum starts, what each rule that fires adds, and how
// far the cells that are missing could move the answer.
func (m *Numbers) Explain(t *table.Table, row int) (*learn.Explanation, error) {
	if err := m.coding.fits(t); err != nil {
		return nil, err
	}
	if row < 0 || row >= t.Rows() {
		return nil, fmt.Errorf("row %d is not one of the table's %d rows", row+1, t.Rows())
	}
	e := &learn.Explanation{Prior: []float64{m.start}, Additive: true}
	for i, matcher := range m.matchers {
		if matcher.MatchRow(t, row) {
			r := &m.base.Rules[i]
			why := r.If
			if l := r.Then.Line; l != nil {
				cell := t.Columns[m.units[i].line.col].Floats[row]
				if table.IsMissing(cell) {
					continue
				}
				why = append(slices.Clone(why), l.Here(cell))
			}
			e.Evidence = append(e.Evidence, learn.Evidence{ID: r.ID(), Text: joined(why), Weight: m.adds(i, t, row)})
		}
	}
	for col := range m.coding.schema.Attributes {
		if col == m.coding.target || m.coding.schema.Attributes[col].Kind == table.Text || !missing(&t.Columns[col], row) {
			continue
		}
		most := 0.0
		for code := range int32(m.coding.levels(col)) {
			most = max(most, math.Abs(m.moved(t, row, col, code)))
		}
		e.Missing = append(e.Missing, learn.MissingCell{Column: m.coding.schema.Attributes[col].Name, CouldMove: most})
	}
	return e, nil
}

// adds is what a unit adds to a row that it holds for.
func (m *Numbers) adds(i int, t *table.Table, row int) float64 {
	if l := m.base.Rules[i].Then.Line; l != nil {
		return m.units[i].adds * l.At(t.Columns[m.units[i].line.col].Floats[row])
	}
	return m.units[i].adds
}

// moved returns how far the answer moves if a missing cell has a code; a number
// counts as the end of the code's interval that is further along lines.
func (m *Numbers) moved(t *table.Table, row, col int, code int32) float64 {
	by, low, high := 0.0, 0.0, 0.0
	for i := range m.units {
		before, after := true, true
		for _, of := range m.units[i].rule {
			if int(of.col) == col {
				before, after = before && of.holds(table.Missing), after && of.holds(code)
			} else {
				holds := of.holds(m.coding.code(t, row, int(of.col)))
				before, after = before && holds, after && holds
			}
		}
		l := m.units[i].line
		switch {
		case l == nil:
			by += change(before, after) * m.units[i].adds
		case int(l.col) != col:
			by += change(before, after) * m.adds(i, t, row)
		case after:
			from, to := m.coding.cuts[col].Interval(code)
			along := m.base.Rules[i].Then.Line
			low, high = low+m.units[i].adds*along.At(from), high+m.units[i].adds*along.At(to)
		}
	}
	if math.Abs(by+low) > math.Abs(by+high) {
		return by + low
	}
	return by + high
}

// NumberCertificate says what a rule that adds is there for.
type NumberCertificate struct {
	ID      string  `json:"id"`
	Rule    string  `json:"rule"`
	Round   int     `json:"round"`   // batch in which it was picked
	Removed float64 `json:"removed"` // share by which the squares left would grow without it
}

// Certifies returns the id of the rule.
func (c NumberCertificate) Certifies() string { return c.ID }

// String returns the certificate as one line.
func (c NumberCertificate) String() string {
	return fmt.Sprintf("%s  round %d  without it squared error %+6.1f %%  IF %s", c.ID, c.Round, 100*c.Removed, c.Rule)
}

// Grown returns the certificates, and why growth stopped.
func (m *Numbers) Grown() (certificates []fmt.Stringer, stopped string) {
	for i := range m.units {
		r := &m.base.Rules[i]
		certificates = append(certificates, NumberCertificate{r.ID(), m.said(i), m.units[i].round, m.units[i].removed})
	}
	return certificates, m.stopped
}

// Remarks has nothing to say: all rows are learnt from alike.
func (m *Numbers) Remarks() ([]fmt.Stringer, error) { return nil, nil }

// Heeds returns nothing: experts' rules conclude classes.
func (m *Numbers) Heeds() []float64 { return nil }

// Graph returns the network: columns, conjunctions, and the number.
func (m *Numbers) Graph() (*draw.Graph, error) {
	g := &draw.Graph{Adds: true, Title: fmt.Sprintf("rules that add: %d units", len(m.units))}
	target := m.coding.schema.Attributes[m.coding.target].Name
	seen := map[int32]bool{}
	column := func(col int32) string { return fmt.Sprintf("column %d", col) }
	for i := range m.units {
		id := fmt.Sprintf("unit %d", i)
		var lines []string
		for _, t := range m.base.Rules[i].If {
			lines = append(lines, t.String())
		}
		tested := m.units[i].rule
		if l := m.units[i].line; l != nil {
			lines = append(lines, m.base.Rules[i].Then.Line.Column)
			tested = append(slices.Clone(tested), test{col: l.col})
		}
		adds := draw.Signed(m.units[i].adds)
		if m.units[i].line != nil {
			adds += " for each 1"
		}
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Lines: append(lines, adds), Layer: 1, Of: m.base.Rules[i].If})
		linked := map[int32]bool{}
		for _, t := range tested {
			if !seen[t.col] {
				seen[t.col] = true
				g.Nodes = append(g.Nodes, draw.Node{ID: column(t.col), Lines: []string{m.coding.schema.Attributes[t.col].Name}, Layer: 0})
			}
			if !linked[t.col] {
				linked[t.col] = true
				g.Edges = append(g.Edges, draw.Edge{From: column(t.col), To: id})
			}
		}
		g.Edges = append(g.Edges, draw.Edge{From: id, To: "number", Weight: m.units[i].adds})
	}
	g.Nodes = append(g.Nodes, draw.Node{ID: "number", Layer: 2, Leaf: true, Lines: []string{target, "starts at " + draw.Number(m.start, 4)}})
	return g, nil
}

// Relearning says how the network is learnt again from the rows it keeps.
func (m *Numbers) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "rule network", Settings: m.settings,
		Without: "this network was learnt with update=" + m.settings.Update + ", which keeps no rows, so it cannot %s; learn it again with update=exact",
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnRows(ctx, rows, m.coding.schema.Attributes[m.coding.target].Name, m.seed, m.settings)
		},
	}
}

// Begin returns a private copy to add rows of one source to.
func (m *Numbers) Begin(source learn.Source) (learn.Update, error) { return kept.Begin(m, source) }

// Merge returns the network of all models' rows.
func (m *Numbers) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return kept.Merge(ctx, m, others...)
}

// Kept returns the rows that the network was learnt from, nil if it keeps none.
func (m *Numbers) Kept(ctx context.Context) ([]learn.Learnt, error) { return kept.Kept(ctx, m) }

// Sources lists the sources of the rows that are kept.
func (m *Numbers) Sources() []learn.Source { return kept.Sources(m) }

// Forget returns the network of the other sources' rows.
func (m *Numbers) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Without learns again: solving the same rules takes as long.
func (m *Numbers) Without(ctx context.Context, ids ...string) (learn.Model, bool, error) {
	again, err := m.Forget(ctx, ids...)
	return again, true, err
}

// Promise is exact as long as the network keeps its rows.
func (m *Numbers) Promise() learn.Promise { return kept.Promise(m) }

// Excerpt cuts the network to a budget: rules leave, those without which the
// others do best first, and those that stay are solved again. The share of the
// bits is that of the squares that the whole network explains.
func (m *Numbers) Excerpt(ctx context.Context, b rule.Budget) (*rule.Excerpt, error) {
	_, e, err := m.cut(ctx, b)
	return e, err
}

// cut is the network that an excerpt tells of.
func (m *Numbers) cut(ctx context.Context, b rule.Budget) (*Numbers, *rule.Excerpt, error) {
	if b.Top < 0 || b.Bits < 0 || b.Bits > 1 || (b.Top == 0) == (b.Bits == 0) {
		return nil, nil, fmt.Errorf("a budget is a number of rules above 0 or a share of the bits from 0 to 1, not both; got %d and %v", b.Top, b.Bits)
	}
	if m.settings.Censored != "" {
		return nil, nil, fmt.Errorf("a budget solves for numbers that are all known, and times go on where this network has censored=%s; learn it with rules=%d instead", m.settings.Censored, max(b.Top, 10))
	}
	if m.settings.Loss != "" {
		return nil, nil, fmt.Errorf("a budget solves for means, and this network has loss=%s; learn it with rules=%d instead", m.settings.Loss, max(b.Top, 10))
	}
	a, unit, err := m.startExcerpt(ctx)
	if err != nil {
		return nil, nil, err
	}
	none, all := a.squares(nil), a.squares(a.rest)
	e := &rule.Excerpt{Of: len(m.units), Whole: 1 - all/none, Share: 1}
	best := slices.Clone(a.rules)
	start := a.bias()
	for size := len(a.rules) - 1; size >= 0; size-- {
		if b.Top > 0 && len(best) <= b.Top {
			break
		}
		if err := a.backward(ctx, size); err != nil {
			return nil, nil, err
		}
		if b.Bits > 0 && none-a.squares(a.rest) < b.Bits*(none-all) {
			break
		}
		best, start = slices.Clone(a.rules), a.bias()
		e.Accuracy = 1 - a.squares(a.rest)/none
		e.Share = min(1, max(0, (none-a.squares(a.rest))/max(none-all, 1e-12)))
	}
	if len(best) == e.Of {
		e.Accuracy = e.Whole
	}
	cut := m.emptied()
	cut.start = a.zero + start*unit
	for _, r := range best {
		u := m.units[r.found]
		u.adds = r.adds * unit
		if u.line != nil {
			u.adds /= u.line.spread
		}
		cut.units = append(cut.units, u)
	}
	if err := cut.compile(ctx); err != nil {
		return nil, nil, err
	}
	e.Rules, e.Base, e.Refitted = len(best), cut.base, len(best) < e.Of
	anew := ""
	if e.Refitted {
		anew = " solved again for themselves"
	}
	e.Base.Notes = []string{fmt.Sprintf("%d rules of %d%s, R² on the rows %.3f instead of %.3f", e.Rules, e.Of, anew, e.Accuracy, e.Whole)}
	return cut, e, nil
}

// squares is the weight of the squares of what is left; of the labels
// themselves if nothing was said.
func (a *adder) squares(left []float64) float64 {
	sum := 0.0
	for i, w := range a.weight {
		x := a.q[i] - a.centre
		if left != nil {
			x = left[i]
		}
		sum += w * x * x
	}
	return sum
}

// startExcerpt lays out the rows and the rules.
func (m *Numbers) startExcerpt(ctx context.Context) (*adder, float64, error) {
	if err := m.Relearning().Need("be cut to a budget"); err != nil {
		return nil, 0, err
	}
	t, err := m.rows.Table(ctx)
	if err != nil {
		return nil, 0, err
	}
	y := t.Columns[m.coding.target].Floats
	h := &school{}
	l := &lesson{k: 1, rows: count(t.Rows()), weight: make([]float64, t.Rows())}
	most := math.SmallestNonzeroFloat64
	for r := range y {
		l.weight[r] = t.Weight(r)
		l.total += l.weight[r]
		most = max(most, math.Abs(y[r]))
	}
	h.weights, h.x = l.weight, &boost.Rows{}
	zero, unit := h.standardise(y, most)
	l.q = h.x.Number
	a := l.newAdder()
	a.zero = zero
	for i := range m.units {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		r := addition{found: i}
		for row := range y {
			if m.matchers[i].MatchRow(t, row) {
				r.rows = append(r.rows, int32(row))
				if l := m.base.Rules[i].Then.Line; l != nil {
					r.along = append(r.along, l.At(t.Columns[m.units[i].line.col].Floats[row])/m.units[i].line.spread)
				}
			}
		}
		a.extend(r)
	}
	a.solve()
	return a, unit, nil
}

// numbersPart names what was learnt of a number.
const numbersPart = "rules that add"

// savedNumbers is what was learnt. It can be learnt again from the rows.
type savedNumbers struct {
	Coding   savedCoding   `cbor:"coding"`
	Weight   float64       `cbor:"weight"`
	Start    float64       `cbor:"start"`
	Units    []savedAddend `cbor:"units"`
	Steps    []Step        `cbor:"steps,omitempty"`
	Stopped  string        `cbor:"stopped,omitempty"`
	Interval interval      `cbor:"interval"`
}

type savedAddend struct {
	Tests   [][3]int32 `cbor:"tests"`
	Forms   []form     `cbor:"forms,omitempty"`
	Line    []float64  `cbor:"line,omitempty"` // column, centre, limits, spread
	Adds    float64    `cbor:"adds"`
	Error   float64    `cbor:"error"`
	Covered float64    `cbor:"covered"`
	Removed float64    `cbor:"removed"`
	Round   int        `cbor:"round"`
}

func (l *along) save() []float64 {
	if l == nil {
		return nil
	}
	return []float64{float64(l.col), l.centre, l.low, l.high, l.spread}
}

// loadLine checks a line that was saved.
func (c *coding) loadLine(of []float64) (*along, error) {
	if len(of) == 0 {
		return nil, nil
	}
	if len(of) != 5 || !finite(of) || of[0] != math.Trunc(of[0]) || of[0] < 0 || of[0] >= float64(len(c.schema.Attributes)) {
		return nil, errors.New("its line is not sound")
	}
	l := &along{int32(of[0]), of[1], of[2], of[3], of[4]}
	if int(l.col) == c.target || c.schema.Attributes[l.col].Kind != table.Numeric || l.low > l.high || !(l.spread > 0) {
		return nil, errors.New("its line is not sound")
	}
	return l, nil
}

// Parts returns the settings, the rows of each source, and the network, which
// can be made again from them.
func (m *Numbers) Parts() ([]learn.Part, error) {
	name := m.coding.schema.Attributes[m.coding.target].Name
	head, err := learn.Marshal(savedHead{Format: format, Settings: m.settings, Seed: m.seed, Target: name, Numbers: true})
	if err != nil {
		return nil, err
	}
	parts := []learn.Part{{Name: headPart, Data: head}}
	if m.rows != nil {
		rows, err := m.rows.Parts()
		if err != nil {
			return nil, err
		}
		parts = append(parts, rows...)
	}
	net := savedNumbers{Coding: m.coding.save(), Weight: m.weight, Start: m.start, Steps: m.steps, Stopped: m.stopped, Interval: m.interval}
	for _, u := range m.units {
		net.Units = append(net.Units, savedAddend{saveTests(u.rule), saveForms(u.rule), u.line.save(), u.adds, u.error, u.covered, u.removed, u.round})
	}
	data, err := learn.Marshal(net)
	return append(parts, learn.Part{Name: numbersPart, Derived: m.settings.Update != "none", Data: data}), err
}

// Shed returns the network without the rows that it was learnt from.
func (m *Numbers) Shed() (learn.Model, bool, error) {
	bare := *m
	bare.rows = nil
	bare.settings.Update = "none"
	return &bare, m.rows != nil, nil
}

// decodeNumbers makes a model of its parts.
func decodeNumbers(head *savedHead, parts []learn.Part) (learn.Model, error) {
	m := &Numbers{settings: head.Settings, seed: head.Seed}
	if head.Settings.exact() {
		rows, err := kept.DecodeRows(parts)
		if err != nil {
			return nil, err
		}
		if len(rows.Sources()) == 0 {
			return nil, errors.New("the rows of the network are not there")
		}
		m.rows = rows
	}
	data := learn.FindPart(parts, numbersPart)
	switch {
	case data == nil && m.rows != nil:
		return learnRows(context.Background(), m.rows, head.Target, head.Seed, head.Settings)
	case data == nil:
		return nil, fmt.Errorf("part %q is not there", numbersPart)
	}
	var net savedNumbers
	if err := learn.Unmarshal(data, &net); err != nil {
		return nil, fmt.Errorf("part %q: %v", numbersPart, err)
	}
	if err := net.restore(m, head.Target); err != nil {
		return nil, fmt.Errorf("part %q: %v", numbersPart, err)
	}
	return m, nil
}

// restore checks what was saved and puts it to use.
func (n *savedNumbers) restore(m *Numbers, target string) error {
	var err error
	if m.coding, err = n.Coding.load(target); err != nil {
		return err
	}
	v := n.Interval
	if m.coding.schema.Attributes[m.coding.target].Kind != table.Numeric {
		return fmt.Errorf("the target %q is no column of numbers", target)
	}
	if !amounts([]float64{n.Weight}) || !(n.Weight > 0) || !finite([]float64{n.Start, v.Deviation, v.Off}) || v.Deviation < 0 || v.Off < 0 {
		return errors.New("where the sum starts or how far it is off is not sound")
	}
	m.weight, m.start, m.steps, m.stopped, m.interval = n.Weight, n.Start, n.Steps, n.Stopped, v
	reach := math.Abs(n.Start)
	for i, u := range n.Units {
		tests, err := m.coding.loadTests(u.Tests, u.Forms)
		if err != nil {
			return fmt.Errorf("unit %d: %v", i+1, err)
		}
		line, err := m.coding.loadLine(u.Line)
		if err != nil {
			return fmt.Errorf("unit %d: %v", i+1, err)
		}
		if len(tests) == 0 && line == nil || !finite([]float64{u.Adds, u.Error, u.Removed}) || u.Error < 0 || !(u.Covered > 0) || u.Covered > n.Weight*(1+1e-9) || u.Round < 0 {
			return fmt.Errorf("unit %d covers no rows, or its numbers are not sound", i+1)
		}
		far := 1.0
		if line != nil {
			far = max(math.Abs(line.low-line.centre), math.Abs(line.high-line.centre))
		}
		reach += math.Abs(u.Adds) * far
		m.units = append(m.units, addend{tests, u.Adds, u.Error, u.Covered, line, u.Removed, u.Round})
	}
	if !(reach <= math.MaxFloat64) {
		return errors.New("the rules add up to more than any number")
	}
	return m.compile(context.Background())
}

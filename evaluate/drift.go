package evaluate

import (
	"cmp"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/table"
)

// Watch follows how often rules are right while rows come in, and names those
// whose truth moved.
//
// A rule is right or wrong on each row that satisfies its conditions. As long
// as nothing moves these are throws of one coin, of whatever bias p. Against
// that stands, for each moment j, that the coin was exchanged at j. With
// m(s, f) the probability of s heads and f tails in a certain order under
// Jeffreys' prior for p,
//
//	E = Σ_j w · m(before j) · m(after j) / max_p p^s (1−p)^f
//
// is, for weights w that sum to one, at most a likelihood ratio against the
// true coin, whose expectation is one at every time: so E ever reaches 1/a with
// a probability of a at most, however often one looks (Ville 1939; for unknown
// p, the universal inference of Wasserman, Ramdas and Balakrishnan 2020). A
// Watch gives each moment of 100,000 rows the weight of one in 100,000, and the
// i-th rule that it follows the share 6/(πi)² of the false-alarm rate, which
// add up to one. So the rate is that of any false alarm at all, of all rules
// together, in 100,000 rows. Looking only now and then, and at some moments
// only, makes it smaller still.
//
// A row costs the matching of the rules, and a few operations for each moment
// that is kept, about a hundred a rule.
type Watch struct {
	rate   float64
	rows   int
	rules  []*watched
	known  map[string]bool
	drifts []Drift

	schema *table.Schema // that the matchers are for
	values int
	target string
}

// Drift is a rule whose truth moved.
type Drift struct {
	Rule rule.Rule `json:"-"`
	ID   string    `json:"id"`
	Text string    `json:"text"`
	From float64   `json:"from"` // share of covered rows it was right on before
	To   float64   `json:"to"`   // and since
	Low  float64   `json:"low"`  // the 95 % interval of that
	High float64   `json:"high"`
	// Since is the row, counted from 1, from which on it differs: the
	// most probable one. It was named when Seen rows had come.
	Since int `json:"since"`
	Seen  int `json:"seen"`
}

// DriftRate is the false-alarm rate for all rules of a model together, in
// 100,000 rows, unless told otherwise.
const DriftRate = 0.05

// moments is how many moments share the weight of one.
const moments = 100_000

// NewWatch returns a watch that gives a false alarm, for all rules together, in
// at most this share of stable streams of 100,000 rows; 0 means DriftRate.
func NewWatch(rate float64) *Watch {
	if rate == 0 {
		rate = DriftRate
	}
	return &Watch{rate: rate, known: map[string]bool{}}
}

// mostWatched bounds how many rules are followed: the least of them have so
// small a share of the rate that they would hardly ever be named.
const mostWatched = 2000

// watched is a rule that is followed.
type watched struct {
	rule    rule.Rule
	class   string
	match   *rule.Matcher
	limit   float64 // of log E
	total   tries   // of all rows since the last change
	marks   []mark  // moments at which it may have changed, oldest first
	pending int     // covered rows since the last look
}

// tries counts how often a rule was right and wrong.
type tries struct{ right, wrong float64 }

func (t tries) n() float64    { return t.right + t.wrong }
func (t tries) rate() float64 { return t.right / t.n() }

func (t tries) minus(o tries) tries { return tries{t.right - o.right, t.wrong - o.wrong} }

// mark is what had come before a moment.
type mark struct {
	before tries
	row    int // the first after it, from 0
}

// Follow begins to watch the rules of a model for a target that are not watched
// yet, the most informative first. With evidence, the rows that they were
// learnt from count as having come before; a rule that was chosen for what
// these rows say looks better on them than it is, by about the logarithm of the
// number of rules it was chosen from, which is what the weight of a single
// moment pays for.
func (w *Watch) Follow(base *rule.Base, target string, evidence bool) {
	if w.target == "" {
		w.target = target
	}
	for _, r := range worthWatching(base) {
		if r.Then.Column != w.target || w.known[r.ID()] || len(w.rules) == mostWatched {
			continue
		}
		w.known[r.ID()] = true
		i := float64(len(w.rules) + 1)
		f := &watched{rule: r, class: concluded(&r), limit: math.Log(moments / w.rate * math.Pi * math.Pi / 6 * i * i)}
		if e := r.Evidence; evidence && e.Covered != nil && e.Correct != nil && *e.Covered > 0 && *e.Correct >= 0 {
			f.total = tries{*e.Correct, max(*e.Covered-*e.Correct, 0)}
			f.marks = []mark{{f.total, w.rows}}
		}
		w.rules = append(w.rules, f)
	}
	w.schema = nil
}

// worthWatching returns the rules of a base, the most informative first. Of
// the rules of a weighed base with the same conditions, whose truths mirror
// each other, only the most probable one.
func worthWatching(base *rule.Base) []rule.Rule {
	rules := slices.Clone(base.Rules)
	slices.SortStableFunc(rules, func(a, b rule.Rule) int {
		return cmp.Or(cmp.Compare(information(&b), information(&a)), cmp.Compare(probable(&b), probable(&a)))
	})
	if base.Kind != rule.Weighed {
		return rules
	}
	best := map[string]float64{}
	for i := range rules {
		key := conditions(&rules[i])
		best[key] = max(best[key], probable(&rules[i]))
	}
	return slices.DeleteFunc(rules, func(r rule.Rule) bool { return probable(&r) < best[conditions(&r)] })
}

func conditions(r *rule.Rule) string { return (&rule.Rule{If: rule.Canonical(r.If)}).String() }

func information(r *rule.Rule) float64 {
	if r.Evidence.Bits == nil {
		return 0
	}
	return *r.Evidence.Bits
}

func probable(r *rule.Rule) float64 {
	if r.With == nil {
		return 1
	}
	return *r.With
}

// concluded returns the class that a rule concludes.
func concluded(r *rule.Rule) string {
	class, _ := r.Answer()
	return class
}

// Add takes in the next rows. Rows whose target is missing say nothing; weights
// are not looked at, for a row is one throw.
func (w *Watch) Add(t *table.Table) {
	target := t.Schema.Index(w.target)
	if target < 0 || len(w.rules) == 0 {
		w.rows += t.Rows()
		return
	}
	w.compile(t.Schema)
	covered := bits.New(t.Rows())
	truths := map[int32]truth{}
	for _, f := range w.rules {
		if f.match == nil {
			continue
		}
		class := t.Schema.Attributes[target].Code(f.class)
		of, ok := truths[class]
		if !ok || f.rule.Then.Numeric {
			of = truthOf(&f.rule, class, &t.Columns[target], t.Rows())
			truths[class] = of
		}
		f.match.Match(t, covered)
		bits.And(covered, covered, of.known)
		w.see(f, covered, of.right)
	}
	w.rows += t.Rows()
}

// truth is the rows whose answer is known, and those of which it is a rule's.
type truth struct{ right, known bits.Set }

func truthOf(r *rule.Rule, class int32, target *table.Column, rows int) truth {
	of := truth{bits.New(rows), bits.New(rows)}
	for row := range rows {
		right, known := false, false
		if r.Then.Numeric {
			y := target.Floats[row]
			right, known = math.Abs(y-r.Then.Mean) <= r.Then.Deviation, !table.IsMissing(y)
		} else {
			right, known = target.Codes[row] == class, target.Codes[row] != table.Missing
		}
		if right {
			of.right.Put(row)
		}
		if known {
			of.known.Put(row)
		}
	}
	return of
}

// see counts the rows that a rule covers, and looks each time that enough have passed.
func (w *Watch) see(f *watched, covered, right bits.Set) {
	for word, x := range covered {
		for x != 0 {
			some := lowest(x, f.untilLook())
			n, r := mathbits.OnesCount64(some), mathbits.OnesCount64(some&right[word])
			f.total.right += float64(r)
			f.total.wrong += float64(n - r)
			if f.pending += n; f.pending >= f.interval() {
				w.look(f, w.rows+64*word+mathbits.Len64(some))
			}
			x &^= some
		}
	}
}

// lowest returns the lowest n bits that are set, or all.
func lowest(x uint64, n int) uint64 {
	if mathbits.OnesCount64(x) <= n {
		return x
	}
	rest := x
	for range n {
		rest &= rest - 1
	}
	return x &^ rest
}

// compile makes the rules ready for tables of a schema. Rules about what it
// does not know are silent.
func (w *Watch) compile(s *table.Schema) {
	values := 0
	for i := range s.Attributes {
		values += len(s.Attributes[i].Values)
	}
	if s == w.schema && values == w.values {
		return
	}
	w.schema, w.values = s, values
	target := &s.Attributes[s.Index(w.target)]
	for _, f := range w.rules {
		f.match = nil
		if f.rule.Then.Numeric == (target.Kind == table.Numeric) {
			f.match, _ = rule.NewMatcher(f.rule.If, s) // nil on error
		}
	}
}

// interval is how many covered rows pass between looks.
func (f *watched) interval() int { return intervalAt(f.total.n()) }

func intervalAt(n float64) int { return int(min(max(n/64, 8), 32)) }

// untilLook is the number of covered rows after which the next look is due. The
// interval grows on the way.
func (f *watched) untilLook() int {
	more := max(1, f.interval()-f.pending)
	for f.pending+more < intervalAt(f.total.n()+float64(more)) {
		more++
	}
	return more
}

// look compares the rows before and after each moment, and names the rule if
// the evidence that it moved is strong enough.
func (w *Watch) look(f *watched, seen int) {
	f.pending = 0
	best, at := f.limit, -1
	for i := range f.marks {
		if e := evidence(f.marks[i].before, f.total, best); e > best {
			best, at = e, i
		}
	}
	if at >= 0 {
		m := f.marks[at]
		after := f.total.minus(m.before)
		sure := stat.ErrorRate{Errors: after.right, Cases: after.n()}.Wilson(0.95, stat.TwoSided)
		w.drifts = append(w.drifts, Drift{
			Rule: f.rule, ID: f.rule.ID(), Text: f.rule.String(),
			From: m.before.rate(), To: after.rate(), Low: sure.Low, High: sure.High, Since: m.row + 1, Seen: seen,
		})
		f.total, f.marks = after, nil
	}
	f.marks = append(thin(f.marks, f.total.n()), mark{f.total, seen})
}

// evidence returns log E of one moment, or -Inf if it surely is no more than a
// bound.
func evidence(before, total tries, bound float64) float64 {
	after := total.minus(before)
	n1, n2, n := before.n(), after.n(), total.n()
	if n1 == 0 || n2 == 0 || total.right <= 0 || total.wrong <= 0 {
		return math.Inf(-1)
	}
	// Log E is below the log likelihood ratio, and that is below Pearson's
	// statistic, which takes no logarithms.
	x := before.right*n - total.right*n1
	if x*x*n <= bound*n1*n2*total.right*total.wrong {
		return math.Inf(-1)
	}
	p := total.rate()
	most := total.right*math.Log(p) + total.wrong*math.Log1p(-p)
	return jeffreys(before) + jeffreys(after) - most
}

// jeffreys returns log B(right+½, wrong+½)/B(½, ½): the probability of throws
// in a certain order by a coin of which nothing is known.
func jeffreys(t tries) float64 {
	a, _ := math.Lgamma(t.right + 0.5)
	b, _ := math.Lgamma(t.wrong + 0.5)
	c, _ := math.Lgamma(t.n() + 1)
	return a + b - c - math.Log(math.Pi)
}

// thin drops moments that are closer to each other than a tenth of how long ago
// they are. The very first stays: it may divide learnt rows from new ones.
func thin(marks []mark, now float64) []mark {
	if len(marks) < 100 {
		return marks
	}
	kept := marks[:1]
	for i := 1; i < len(marks); i++ {
		last := kept[len(kept)-1]
		if i == len(marks)-1 || marks[i+1].before.n()-last.before.n() > 0.1*(now-marks[i].before.n()) {
			kept = append(kept, marks[i])
		}
	}
	return kept
}

// Drifts looks at all rules, and returns those whose truth moved so far, in the order
// in which they were named.
func (w *Watch) Drifts() []Drift {
	for _, f := range w.rules {
		if f.pending > 0 {
			w.look(f, w.rows)
		}
	}
	return w.drifts
}

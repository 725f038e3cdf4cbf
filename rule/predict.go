package rule

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/internal/crew"
	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/table"
)

// Predictor answers for rows as a base says.
//
// Ordered: the first rule that matches answers, the ELSE rule if none does.
// A class WITH p gets p and the other classes share 1 − p equally; without
// WITH it gets 1. A row that nothing answers gets the same probability for
// every class, or NaN, which is a missing number.
//
// Weighed: the score of a class is the sum of the weights of the matching
// rules that conclude it, and the answer is the softmax of the scores. IF
// ALWAYS rules are the priors of classes: if any class has one, a class
// without has the prior 0, and rules that conclude it are refused. A rule
// that states no weight weighs ln p if it is a prior, and ln p/prior
// otherwise; a distribution weighs so for each of its classes. The ELSE rule
// answers, as in an ordered base, for rows that no rule but the priors
// matches. BY states the weights themselves, those of priors included. Where
// the target is a number, the answer is the sum of what the matching rules add
// (+=), and the ELSE rule says where the sum starts.
//
// Mixture: units share the answer by how well they explain the known cells
// of the row; see mixture.
//
// A Predictor is immutable and safe for concurrent use.
type Predictor struct {
	schema  *table.Schema
	target  int
	classes int // of a nominal target, else 0
	kind    Kind
	tests   []condition
	spans   []between // of each test, where it is a span that shares its column's cuts
	cuts    []cuts
	bitmaps int // of all cuts
	rules   []clause
	answers []float64 // rows of classes probabilities, or numbers
	priors  []float64 // weighed: the scores before any rule
	nothing int       // the row of answers for rows that no rule matches
	mixture *mixture
	rooms   sync.Pool // of *room
}

// clause is a compiled rule. In a weighed base it adds weight to class, in an
// ordered one it answers with a row of answers.
type clause struct {
	tests  []int32 // indexes into tests; rules that share a test share its bits
	answer int
	class  int
	weight float64
	again  bool  // its tests are those of the clause before it
	line   *Line // that the weight is times of; nil: 1
	column int   // the line's
}

// adds is what the clause adds to a row that matches.
func (c *clause) adds(t *table.Table, row int) float64 {
	if c.line == nil {
		return c.weight
	}
	return c.weight * c.line.At(t.Columns[c.column].Floats[row])
}

// room is what one goroutine needs to predict.
type room struct {
	bits   []uint64  // blockWords for each test
	done   []bool    // which tests have their bits for this block
	placed []bool    // which columns have their cuts' bitmaps
	upTo   []uint64  // those, blockWords each
	holds  []bool    // of one row: which of them hold
	scores []float64 // mixture: one for each unit
}

// NewPredictor compiles a base whose rules conclude the target, a column of
// the schema. Bases with NORMAL or sd in them need the columns' overall
// statistics, one for each attribute of the schema (see OverallOf).
func NewPredictor(b *Base, schema *table.Schema, target int, overall ...Overall) (*Predictor, error) {
	if target < 0 || target >= len(schema.Attributes) {
		return nil, fmt.Errorf("target %d is not one of the %d columns", target, len(schema.Attributes))
	}
	if err := b.Check(schema); err != nil {
		return nil, err
	}
	a := &schema.Attributes[target]
	p := &Predictor{schema: schema, target: target, kind: b.Kind}
	if a.Kind == table.Nominal {
		if p.classes = len(a.Values); p.classes == 0 {
			return nil, fmt.Errorf("target %s has no values", quote(a.Name))
		}
	}
	var err error
	switch {
	case b.Kind == Unstated:
		err = fmt.Errorf("the base does not say how its rules are read; begin it with RULES ordered, RULES weighed or RULES mixture")
	case b.Kind == Mixture && (len(b.Rules) > 0 || b.Else != nil):
		err = fmt.Errorf("a mixture answers with WHEN units, but this one has IF or ELSE rules; put them in a base of their own")
	case b.Kind == Mixture:
		p.mixture, err = newMixture(b.Units, newNames(schema), target, overall)
	case len(b.Units) > 0:
		err = fmt.Errorf("WHEN units answer in a mixture only, and this base is %v; put them in a base of their own", b.Kind)
	default:
		err = p.compile(b)
	}
	if err != nil {
		return nil, err
	}
	p.rooms.New = func() any { return p.newRoom() }
	return p, nil
}

func (p *Predictor) newRoom() *room {
	r := &room{bits: make([]uint64, len(p.tests)*blockWords), done: make([]bool, len(p.tests)), holds: make([]bool, len(p.tests)),
		placed: make([]bool, len(p.cuts)), upTo: make([]uint64, p.bitmaps*blockWords)}
	if p.mixture != nil {
		r.scores = make([]float64, len(p.mixture.priors))
	}
	return r
}

// compile translates the rules of an ordered or a weighed base.
func (p *Predictor) compile(b *Base) error {
	known := newNames(p.schema)
	shared := map[string]int32{}
	for i := range b.Rules {
		r := &b.Rules[i]
		c := clause{tests: make([]int32, len(r.If))}
		for j := range r.If {
			t := &r.If[j]
			if uses(t, p.schema.Attributes[p.target].Name) {
				return fmt.Errorf("rule %d tests the target %s; a rule cannot use what it concludes", i+1, quote(p.schema.Attributes[p.target].Name))
			}
			text := t.String()
			index, ok := shared[text]
			if !ok {
				index = int32(len(p.tests))
				shared[text] = index
				p.tests = append(p.tests, known.compile(t))
			}
			c.tests[j] = index
		}
		if err := p.concludes(&r.Then); err != nil {
			return fmt.Errorf("rule %d %w", i+1, err)
		}
		if r.Then.weighs() && b.Kind != Weighed {
			return fmt.Errorf("rule %d adds to the answer (BY or +=), which only rules of a weighed base do; begin it with RULES weighed", i+1)
		}
		c.answer = p.answer(known, r)
		p.rules = append(p.rules, c)
	}
	if b.Else != nil {
		if err := p.concludes(&b.Else.Then); err != nil {
			return fmt.Errorf("the ELSE rule %w", err)
		}
		if b.Else.Then.weighs() {
			return fmt.Errorf("the ELSE rule adds to the answer (BY or +=); it says what the answer is where no rule speaks")
		}
	}
	p.shareCuts()
	p.nothing = p.answer(known, b.Else)
	if b.Kind == Weighed {
		return p.weigh(b, known)
	}
	return nil
}

// uses reports whether a test looks at a column.
func uses(t *Test, column string) bool {
	for _, term := range t.Terms {
		if term.Column == column {
			return true
		}
	}
	for i := range t.Of {
		if uses(&t.Of[i], column) {
			return true
		}
	}
	return t.Op != HalfSpace && t.Op != AtLeast && t.Column == column
}

func (p *Predictor) concludes(c *Conclusion) error {
	if name := p.schema.Attributes[p.target].Name; c.Column != name {
		return fmt.Errorf("concludes %s, expected the target %s", quote(c.Column), quote(name))
	}
	return nil
}

// answer appends what a rule answers and returns its row; nil answers
// nothing.
func (p *Predictor) answer(known *names, r *Rule) int {
	if p.classes == 0 {
		mean := math.NaN()
		if r != nil {
			mean = r.Then.Mean
		}
		p.answers = append(p.answers, mean)
		return len(p.answers) - 1
	}
	row := len(p.answers)
	p.answers = append(p.answers, make([]float64, p.classes)...)
	shares := p.answers[row:]
	switch {
	case r == nil:
		for c := range shares {
			shares[c] = 1 / float64(p.classes)
		}
	case len(r.Then.By) > 0: // its weights are not probabilities; see weigh
	case len(r.Then.Classes) > 0:
		known.distribution(p.target, r.Then.Classes, shares)
	default:
		with := probability(r)
		if p.classes == 1 {
			with = 1
		}
		for c := range shares {
			shares[c] = (1 - with) / float64(p.classes-1)
		}
		shares[known.code(p.target, r.Then.Value)] = with
	}
	return row / p.classes
}

// probability returns what a rule that concludes one class gives it.
func probability(r *Rule) float64 {
	if r.With == nil {
		return 1
	}
	return min(*r.With, 1)
}

// distribution fills p, which is zero, with the probabilities of a column's
// values. It takes them as given, unless their sum shows that they were
// rounded.
func (n *names) distribution(column int, shares []Share, p []float64) {
	sum := 0.0
	for _, s := range shares {
		sum += s.P
	}
	if math.Abs(sum-1) <= 1e-9 {
		sum = 1
	}
	for _, s := range shares {
		p[n.code(column, s.Value)] = s.P / sum
	}
}

// weigh gives the clauses of a weighed base their weights. A rule about all
// classes becomes a clause for each.
func (p *Predictor) weigh(b *Base, known *names) error {
	if p.classes == 0 {
		return p.weighNumbers(b, known)
	}
	stated := p.weighPriors(b, known)
	values := p.schema.Attributes[p.target].Values
	var clauses []clause
	for i := range b.Rules {
		r := &b.Rules[i]
		if len(r.Then.Classes) > 0 && r.Evidence.Weight != nil {
			return fmt.Errorf("rule %d states one weight for a distribution; leave it out, the probabilities are the weights", i+1)
		}
		if len(r.If) == 0 {
			continue
		}
		first := len(clauses)
		for _, s := range r.Then.By {
			class := int(known.code(p.target, s.Value))
			if stated && math.IsInf(p.priors[class], -1) {
				return p.noPrior(i, r, class)
			}
			clauses = append(clauses, clause{tests: p.rules[i].tests, again: len(clauses) > first, class: class, weight: s.P})
		}
		for c := range p.classes {
			if len(r.Then.By) > 0 || !p.speaksOf(r, c, known) {
				continue
			}
			share, prior := p.answers[p.rules[i].answer*p.classes+c], p.priors[c]
			weight := math.Log(share) - prior
			switch {
			case stated && math.IsInf(prior, -1) && share == 0:
				weight = 0 // impossible before and after
			case stated && math.IsInf(prior, -1):
				return p.noPrior(i, r, c)
			case r.Evidence.Weight != nil:
				weight = *r.Evidence.Weight
			case !stated:
				return fmt.Errorf("rule %d states no weight, and there is no prior to weigh %s against; add [weight …] or IF ALWAYS rules", i+1, quote(values[c]))
			}
			clauses = append(clauses, clause{tests: p.rules[i].tests, again: len(clauses) > first, class: c, weight: weight})
		}
	}
	p.rules = clauses
	if b.Else == nil {
		p.nothing = -1 // the priors answer
	}
	return nil
}

func (p *Predictor) noPrior(i int, r *Rule, class int) error {
	value := p.schema.Attributes[p.target].Values[class]
	return fmt.Errorf("rule %d concludes %s, which has no prior while other classes have; add IF ALWAYS THEN %v WITH its prior", i+1, quote(value), Conclusion{Column: r.Then.Column, Value: value})
}

// weighNumbers gives the clauses of a weighed base with a numeric target what
// they add.
func (p *Predictor) weighNumbers(b *Base, known *names) error {
	for i := range b.Rules {
		if !b.Rules[i].Then.Adds {
			return fmt.Errorf("rule %d concludes %v; the rules of a weighed base add to a number: %s += number", i+1, b.Rules[i].Then, b.Rules[i].Then.Column)
		}
		c := &p.rules[i]
		c.weight, c.line = b.Rules[i].Then.Mean, b.Rules[i].Then.Line
		if c.line != nil {
			c.column = known.columns[c.line.Column]
		}
	}
	p.priors = []float64{0}
	if b.Else != nil {
		p.priors[0] = b.Else.Then.Mean
	}
	return nil
}

// weighPriors sums the weights of the ALWAYS rules, and reports whether there
// are any.
func (p *Predictor) weighPriors(b *Base, known *names) (stated bool) {
	p.priors = make([]float64, p.classes)
	has := make([]bool, p.classes)
	for i := range b.Rules {
		r := &b.Rules[i]
		if len(r.If) > 0 {
			continue
		}
		for _, s := range r.Then.By {
			c := known.code(p.target, s.Value)
			stated, has[c] = true, true
			p.priors[c] += s.P
		}
		for c := range p.classes {
			if len(r.Then.By) > 0 || !p.speaksOf(r, c, known) {
				continue
			}
			stated, has[c] = true, true
			if r.Evidence.Weight != nil {
				p.priors[c] += *r.Evidence.Weight
			} else {
				p.priors[c] += math.Log(p.answers[p.rules[i].answer*p.classes+c])
			}
		}
	}
	for c := range has {
		if stated && !has[c] {
			p.priors[c] = math.Inf(-1)
		}
	}
	return stated
}

// speaksOf reports whether a rule of a weighed base adds to the score of a
// class: the class that it concludes, or any if it concludes a distribution.
func (p *Predictor) speaksOf(r *Rule, class int, known *names) bool {
	return len(r.Then.Classes) > 0 || known.code(p.target, r.Then.Value) == int32(class)
}

// grain is the number of rows that are worth a goroutine's while.
const grain = 4 * block

// Predict answers for the rows of a table with the schema's columns: the
// class probabilities into probs, a row of them for each row of the table, or
// the numbers into means. The other slice may be nil. The target's cells are
// not looked at. It uses all cores for large tables.
func (p *Predictor) Predict(t *table.Table, probs, means []float64) error {
	rows := t.Rows()
	if err := p.fits(t); err != nil {
		return err
	}
	if p.classes > 0 && len(probs) < rows*p.classes || p.classes == 0 && len(means) < rows {
		return fmt.Errorf("no room for the answers of %d rows", rows)
	}
	workers := min(runtime.GOMAXPROCS(0), (rows+grain-1)/grain)
	if workers <= 1 {
		p.predict(t, 0, rows, probs, means)
		return nil
	}
	var next atomic.Int64
	var group crew.Group
	for range workers {
		group.Go(func() {
			for {
				lo := int(next.Add(1)-1) * grain
				if lo >= rows {
					return
				}
				p.predict(t, lo, min(lo+grain, rows), probs, means)
			}
		})
	}
	group.Wait()
	return nil
}

// fits checks that a table has the columns that the predictor was made for.
func (p *Predictor) fits(t *table.Table) error {
	if len(t.Columns) != len(p.schema.Attributes) {
		return fmt.Errorf("the table has %d columns, the rules are about %d", len(t.Columns), len(p.schema.Attributes))
	}
	if t.Schema == p.schema {
		return nil
	}
	for i := range p.schema.Attributes {
		a, have := &p.schema.Attributes[i], &t.Schema.Attributes[i]
		if a.Kind != have.Kind {
			return fmt.Errorf("column %s is %v, the rules take it for %v", quote(a.Name), have.Kind, a.Kind)
		}
	}
	return nil
}

func (p *Predictor) predict(t *table.Table, lo, hi int, probs, means []float64) {
	r := p.rooms.Get().(*room)
	for ; lo < hi; lo += block {
		end := min(lo+block, hi)
		clear(r.done)
		clear(r.placed)
		switch p.kind {
		case Ordered:
			p.first(r, t, lo, end, probs, means)
		case Weighed:
			if end-lo == 1 {
				p.sumOne(r, t, lo, max(1, p.classes), probs, means)
			} else if p.classes == 0 {
				p.sum(r, t, lo, end, 1, means)
			} else {
				p.sum(r, t, lo, end, p.classes, probs)
			}
		case Mixture:
			p.mixture.predict(t, p.classes, lo, end, r.scores, probs, means)
		}
	}
	p.rooms.Put(r)
}

// satisfy keeps the rows of a block that satisfy a clause's tests.
func (p *Predictor) satisfy(r *room, c *clause, t *table.Table, lo, hi int, rows bits.Set) {
	for _, test := range c.tests {
		words := r.bits[int(test)*blockWords:][:len(rows)]
		if !r.done[test] {
			r.done[test] = true
			p.decide(r, test, t, lo, hi, words)
		}
		left := uint64(0)
		for i := range rows {
			rows[i] &= words[i]
			left |= rows[i]
		}
		if left == 0 {
			return
		}
	}
}

// decide sets the words of the rows of a block that pass a test.
func (p *Predictor) decide(r *room, test int32, t *table.Table, lo, hi int, words []uint64) {
	s := &p.spans[test]
	if s.of < 0 {
		p.tests[test].match(t, lo, hi, words)
		return
	}
	if !r.placed[s.of] {
		r.placed[s.of] = true
		p.cuts[s.of].place(t, lo, hi, r.upTo)
	}
	s.match(r.upTo, words)
}

// first answers as an ordered base.
func (p *Predictor) first(r *room, t *table.Table, lo, hi int, probs, means []float64) {
	var open, matched [blockWords]uint64
	n := bits.Words(hi - lo)
	bits.Set(open[:n]).Fill(hi - lo)
	for i := range p.rules {
		c := &p.rules[i]
		matched = open
		p.satisfy(r, c, t, lo, hi, matched[:n])
		left := uint64(0)
		for w := range n {
			p.tell(matched[w], lo+w*64, c.answer, probs, means)
			open[w] &^= matched[w]
			left |= open[w]
		}
		if left == 0 {
			return
		}
	}
	for w := range n {
		p.tell(open[w], lo+w*64, p.nothing, probs, means)
	}
}

// tell gives the rows of a word, which begins at row base, an answer.
func (p *Predictor) tell(word uint64, base, answer int, probs, means []float64) {
	for ; word != 0; word &= word - 1 {
		row := base + mathbits.TrailingZeros64(word)
		if p.classes > 0 {
			copy(probs[row*p.classes:][:p.classes], p.answers[answer*p.classes:])
		} else {
			means[row] = p.answers[answer]
		}
	}
}

// sumOne is sum of one row, of which a bit a test is known.
func (p *Predictor) sumOne(r *room, t *table.Table, row, k int, probs, means []float64) {
	scores := means
	if p.classes > 0 {
		scores = probs
	}
	scores = scores[row*k:][:k]
	copy(scores, p.priors)
	untouched, fires := true, false
	for i := range p.rules {
		c := &p.rules[i]
		if !c.again {
			fires = p.fires(r, c, t, row)
		}
		if !fires {
			continue
		}
		untouched = false
		if c.line != nil {
			scores[0] += c.adds(t, row)
		} else {
			scores[c.class] += c.weight
		}
	}
	if p.classes == 0 {
		return
	}
	logsum.Normalise(scores)
	if untouched && p.nothing >= 0 {
		copy(scores, p.answers[p.nothing*p.classes:][:p.classes])
	}
}

// fires reports whether a row satisfies a clause's tests.
func (p *Predictor) fires(r *room, c *clause, t *table.Table, row int) bool {
	for _, test := range c.tests {
		if !r.done[test] {
			r.done[test] = true
			r.holds[test] = p.tests[test].holds(t, row)
		}
		if !r.holds[test] {
			return false
		}
	}
	return true
}

// sum answers as a weighed base, with k scores a row.
func (p *Predictor) sum(r *room, t *table.Table, lo, hi, k int, probs []float64) {
	for row := lo; row < hi; row++ {
		copy(probs[row*k:][:k], p.priors)
	}
	var all, matched, untouched [blockWords]uint64
	n := bits.Words(hi - lo)
	bits.Set(all[:n]).Fill(hi - lo)
	untouched = all
	for i := range p.rules {
		c := &p.rules[i]
		if !c.again {
			matched = all
			p.satisfy(r, c, t, lo, hi, matched[:n])
		}
		for w := range n {
			untouched[w] &^= matched[w]
			if c.line != nil {
				for word := matched[w]; word != 0; word &= word - 1 {
					row := lo + w*64 + mathbits.TrailingZeros64(word)
					probs[row*k] += c.adds(t, row)
				}
				continue
			}
			for word := matched[w]; word != 0; word &= word - 1 {
				row := lo + w*64 + mathbits.TrailingZeros64(word)
				probs[row*k+c.class] += c.weight
			}
		}
	}
	if p.classes == 0 {
		return
	}
	for row := lo; row < hi; row++ {
		logsum.Normalise(probs[row*k:][:k])
	}
	if p.nothing >= 0 {
		for w := range n {
			p.tell(untouched[w], lo+w*64, p.nothing, probs, nil)
		}
	}
}

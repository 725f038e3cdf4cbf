package rule

import (
	"math"

	"github.com/accrete-ml/accrete/internal/portable"
)

// Portable compiles the rules: tests, what they answer or add, and the shares of a
// mixture's units, in the order in which Predict computes them.
func (p *Predictor) Portable(b *portable.Builder) (portable.Answer, error) {
	if err := b.Texts(); err != nil {
		return portable.Answer{}, err
	}
	answer := p.portable(b)
	if p.classes > 0 {
		return portable.Classes(answer)
	}
	return portable.Number(answer)
}

// Portable compiles a matcher: the test holds where all of its tests do.
func (m *Matcher) Portable(b *portable.Builder) portable.Test {
	all := make([]portable.Test, len(m.tests))
	for i := range m.tests {
		all[i] = m.tests[i].portable(b)
	}
	return portable.Every(all...)
}

func (p *Predictor) portable(b *portable.Builder) portable.Ref {
	switch p.kind {
	case Mixture:
		return p.mixture.portable(b, p.classes)
	case Weighed:
		return p.portableSum(b)
	}
	width := max(1, p.classes)
	var tests []portable.Test
	var rows []float64
	for i := range p.rules {
		tests = append(tests, p.portableClause(b, &p.rules[i]))
		rows = append(rows, p.answers[p.rules[i].answer*width:][:width]...)
	}
	rows = append(rows, p.answers[p.nothing*width:][:width]...)
	for i, x := range rows {
		if math.IsNaN(x) {
			b.Note("rows of which no rule speaks are answered with 0")
			rows[i] = 0
		}
	}
	return b.First(tests, width, rows)
}

func (p *Predictor) portableClause(b *portable.Builder, c *clause) portable.Test {
	all := make([]portable.Test, len(c.tests))
	for i, t := range c.tests {
		all[i] = p.tests[t].portable(b)
	}
	return portable.Every(all...)
}

// portableSum compiles a weighed base. Classes without a prior are impossible, and
// stand outside of the softmax.
func (p *Predictor) portableSum(b *portable.Builder) portable.Ref {
	width := max(1, p.classes)
	var possible []int
	at := make([]int, width)
	for c := range width {
		if at[c] = len(possible); !math.IsInf(p.priors[c], -1) {
			possible = append(possible, c)
		}
	}
	n := len(possible)
	rows := make([]float64, n)
	for i, c := range possible {
		rows[i] = p.priors[c]
	}
	var tests []portable.Test
	var lines []portable.Ref
	for i := range p.rules {
		c := &p.rules[i]
		if c.line != nil {
			lines = append(lines, c.portableLine(b, p.portableClause(b, c)))
			continue
		}
		if len(c.tests) == 0 { // it fires on every row
			rows[at[c.class]] += c.weight
			continue
		}
		if !c.again {
			tests, rows = append(tests, p.portableClause(b, c)), append(rows, make([]float64, n)...)
		}
		rows[len(rows)-n+at[c.class]] += c.weight
	}
	scores := b.Sum(tests, n, rows)
	if p.classes == 0 {
		return b.Total(append([]portable.Ref{scores}, lines...)...)
	}
	answer := b.Place(b.Softmax(scores), possible, make([]float64, p.classes))
	if p.nothing < 0 || len(tests) == 0 {
		return answer
	}
	return b.Choose(portable.Any(tests...), answer, b.Constant(p.answers[p.nothing*p.classes:][:p.classes]...))
}

// portableLine is what a rule adds for each unit of a column, where its tests hold.
func (c *clause) portableLine(b *portable.Builder, holds portable.Test) portable.Ref {
	x := b.Cell(c.column, c.line.Centre)
	if c.line.Limited {
		x = b.Zip(portable.Least, b.Zip(portable.Greatest, x, b.Constant(c.line.Low)), b.Constant(c.line.High))
	}
	x = b.Scale(b.Scale(x, 1, -c.line.Centre), c.weight, 0)
	known := b.Known(c.column)
	if len(c.tests) > 0 {
		known = portable.Every(holds, known)
	}
	return b.Choose(known, x, b.Constant(0))
}

func (c *condition) portable(b *portable.Builder) portable.Test {
	switch c.form {
	case codeForm:
		allowed := make([]bool, len(c.allowed))
		for i, yes := range c.allowed {
			allowed[i] = yes != 0
		}
		return b.Values(c.column, allowed)
	case spanForm:
		return b.Between(c.column, c.low, c.high)
	case pointForm:
		return b.Among(c.column, c.points)
	case otherForm:
		if len(c.points) == 0 {
			return b.Known(c.column)
		}
		return portable.Every(b.Known(c.column), portable.None(b.Among(c.column, c.points)))
	case missingForm:
		return b.Missing(c.column)
	case sumForm:
		var cells []portable.Ref
		var factors []float64
		var all []portable.Test
		for _, t := range c.terms {
			cells, factors, all = append(cells, b.Cell(t.column, 0)), append(factors, t.factor), append(all, b.Known(t.column))
		}
		sum := b.Affine(b.Join(cells...), []float64{0}, factors)
		if c.below {
			return portable.Every(append(all, portable.IsAtMost(sum, c.high))...)
		}
		return portable.Every(append(all, portable.IsAbove(sum, c.high))...)
	}
	of := make([]portable.Test, len(c.of))
	for i := range c.of {
		of[i] = c.of[i].portable(b)
	}
	return portable.Test{Op: portable.AtLeast, Count: c.count, Tests: of}
}

// impossible stands for the logarithm of 0, and hopeless lies between what is
// possible and what is not.
const (
	impossible = -1e9
	hopeless   = -1e8
)

func possible(log float64) float64 { return max(log, impossible) }

// portable compiles the shares of the units, and the average of what they expect.
func (m *mixture) portable(b *portable.Builder, classes int) portable.Ref {
	units, width := len(m.priors), max(1, classes)
	priors := make([]float64, units)
	for u, log := range m.priors {
		priors[u] = possible(log)
	}
	prior := b.Constant(priors...)
	scores, never := prior, false
	for _, log := range priors {
		never = never || log == impossible
	}
	for i := range m.columns {
		d := &m.columns[i]
		if d.logs != nil {
			rows := make([]float64, 2*units, len(d.logs)+2*units)
			for _, log := range d.logs {
				rows = append(rows, possible(log))
				never = never || math.IsInf(log, -1)
			}
			scores = b.Zip(portable.Add, scores, b.Lookup(d.column, units, rows))
			continue
		}
		x := b.Cell(d.column, 0)
		z := b.Zip(portable.Divide, b.Zip(portable.Subtract, x, b.Constant(d.mean...)), b.Constant(d.deviation...))
		log := b.Zip(portable.Subtract, b.Constant(d.peak...), b.Scale(b.Zip(portable.Multiply, z, z), 0.5, 0))
		scores = b.Zip(portable.Add, scores, b.Choose(b.Known(d.column), log, b.Constant(make([]float64, units)...)))
	}
	shares := b.SoftmaxWithin(scores, least)
	if never {
		top := b.Take(scores, 0)
		for u := 1; u < units; u++ {
			top = b.Zip(portable.Greatest, top, b.Take(scores, u))
		}
		shares = b.Choose(portable.IsAbove(top, hopeless), shares, b.Softmax(prior))
	}
	factors := make([]float64, units*width)
	for u := range units {
		for k := range width {
			factors[k*units+u] = m.answers[u*width+k]
		}
	}
	return b.Affine(shares, make([]float64, width), factors)
}

package theory

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/bits"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// span is a test of a number by its ends, which training may have moved.
type span struct {
	column                int
	low, high             float64 // infinite: no end
	lowClosed, highClosed bool
}

// spanOf returns a test as a span; not ok if it is none.
func (x *extraction) spanOf(t *rule.Test) (s span, ok bool) {
	s = span{column: x.schema.Index(t.Column), low: math.Inf(-1), high: math.Inf(1)}
	switch t.Op {
	case rule.Lt, rule.Le:
		s.high, s.highClosed = t.Number, t.Op == rule.Le
	case rule.Gt, rule.Ge:
		s.low, s.lowClosed = t.Number, t.Op == rule.Ge
	case rule.Between:
		s.low, s.lowClosed, s.high, s.highClosed = t.Low, t.LowClosed, t.High, !t.HighOpen
	default:
		return s, false
	}
	return s, s.column >= 0 && x.schema.Attributes[s.column].Kind == table.Numeric
}

// test says a span in the rule language.
func (s span) test(name string) rule.Test {
	switch {
	case math.IsInf(s.low, -1) && s.highClosed:
		return rule.Test{Op: rule.Le, Column: name, Number: s.high}
	case math.IsInf(s.low, -1):
		return rule.Test{Op: rule.Lt, Column: name, Number: s.high}
	case math.IsInf(s.high, 1) && s.lowClosed:
		return rule.Test{Op: rule.Ge, Column: name, Number: s.low}
	case math.IsInf(s.high, 1):
		return rule.Test{Op: rule.Gt, Column: name, Number: s.low}
	}
	return rule.Test{Op: rule.Between, Column: name, Low: s.low, LowClosed: s.lowClosed, High: s.high, HighOpen: !s.highClosed}
}

func (s span) holds(v float64) bool {
	return (v > s.low || v == s.low && s.lowClosed) && (v < s.high || v == s.high && s.highClosed)
}

// mostMoves is how often limits are moved, drawn or taken away in one rule.
const mostMoves = 12

// limited changes a reading for as long as that takes fewer bits: a limit of a
// number is moved, a literal is taken away, or, where that may be, a limit is
// drawn. Weights of numbers are read in this way: beside other literals, they are a
// limit.
func (x *extraction) limited(r reading, g int, on, cares bits.Set, draw bool) reading {
	for range mostMoves {
		next := x.changed(r, g, on, cares, draw)
		if next.bits >= r.bits {
			break
		}
		r = next
	}
	return r
}

// changed returns the best change of a reading.
func (x *extraction) changed(r reading, g int, on, cares bits.Set, draw bool) reading {
	best := r
	try := func(literals []candidate, count int) {
		if count < 1 || count > len(literals) {
			return
		}
		if next := x.priced(reading{literals: literals, count: count}, on, cares); next.bits < best.bits {
			best = next
		}
	}
	for k, c := range r.literals {
		rest := slices.Delete(slices.Clone(r.literals), k, k+1)
		try(rest, r.count)
		try(rest, r.count-1)
		s, ok := x.spanOf(&c.test)
		if !ok {
			continue
		}
		for _, above := range []bool{false, true} {
			if math.IsInf(s.end(above), 0) {
				continue
			}
			if moved, ok := x.cut(s, above, held(rest, x.size), r.count, on, cares); ok {
				drawn := x.drawn(moved, g)
				drawn.place = c.place
				try(slices.Insert(slices.Clone(rest), k, drawn), r.count)
			}
		}
	}
	if !draw {
		return best
	}
	holds := held(r.literals, x.size)
	for _, j := range x.numbers(g) {
		for _, above := range []bool{false, true} {
			for _, count := range []int{r.count, r.count + 1} {
				s := span{column: j, low: math.Inf(-1), high: math.Inf(1)}
				if drawn, ok := x.cut(s, above, holds, count, on, cares); ok {
					try(append(slices.Clip(r.literals), x.drawn(drawn, g)), count)
				}
			}
		}
	}
	return best
}

func (s span) end(above bool) float64 {
	if above {
		return s.low
	}
	return s.high
}

// drawn is a limit as a literal. It takes the bits that name the column and the
// side, unless the theory has them, and those that name the limits.
func (x *extraction) drawn(s span, g int) candidate {
	a := &x.schema.Attributes[s.column]
	c := candidate{test: s.test(a.Name), place: none, bits: 2 + math.Log2(float64(len(x.schema.Attributes))), rows: bits.New(x.size)}
	for _, above := range []bool{false, true} {
		if !math.IsInf(s.end(above), 0) {
			c.bits += math.Log2(float64(len(x.sorted(s.column)) + 1))
		}
	}
	for _, l := range x.gates[g].literals {
		if t, ok := x.spanOf(&l.test); ok && t.column == s.column && math.IsInf(t.low, 0) == math.IsInf(s.low, 0) && math.IsInf(t.high, 0) == math.IsInf(s.high, 0) {
			c.known = true
			for _, above := range []bool{false, true} { // an end that stayed is named with the literal
				if s.end(above) == t.end(above) && !math.IsInf(s.end(above), 0) {
					c.bits -= math.Log2(float64(len(x.sorted(s.column)) + 1))
				}
			}
			c.bits -= 1 + math.Log2(float64(len(x.schema.Attributes)))
			break
		}
	}
	for r := range x.size {
		if s.holds(x.numbersOf[s.column][r]) {
			c.rows.Put(r)
		}
	}
	return c
}

// sorted returns the rows in which a number is known, in its order.
func (x *extraction) sorted(column int) []int {
	if order, ok := x.orders[column]; ok {
		return order
	}
	values := x.numbersOf[column]
	var order []int
	for r := range x.size {
		if !table.IsMissing(values[r]) {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	x.orders[column] = order
	return order
}

// cut moves one end of a span to where it tells best, beside other literals of
// which so many hold in each row, the rows where a unit is on: rows in which
// count of the others hold are on whatever it says, and it decides those in
// which one less does.
func (x *extraction) cut(s span, above bool, held []int, count int, on, cares bits.Set) (span, bool) {
	if above {
		s.low, s.lowClosed = math.Inf(-1), false
	} else {
		s.high, s.highClosed = math.Inf(1), false
	}
	values := x.numbersOf[s.column]
	var decides []int
	for _, r := range x.sorted(s.column) {
		if cares.Get(r) && held[r] == count-1 && s.holds(values[r]) {
			decides = append(decides, r)
		}
	}
	// As the limit goes up, rows come on this side of it, or, above it, leave.
	least, gain, found := 0, 0, false
	for i := 0; i+1 < len(decides); i++ {
		r := decides[i]
		if on.Get(r) != above {
			gain--
		} else {
			gain++
		}
		if next := values[decides[i+1]]; values[r] < next && (gain < least || !found) {
			limit := say.Limit(values[r], next)
			least, found = gain, true
			if above {
				s.low, s.lowClosed = limit, true
			} else {
				s.high, s.highClosed = limit, false
			}
		}
	}
	return s, found
}

// mostNumbers is how many columns of numbers a unit is thought to draw limits in.
const mostNumbers = 16

// numbers returns the columns of numbers that weigh most in a gate's unit.
func (x *extraction) numbers(g int) []int {
	unit := x.unitOf(g)
	weight := func(j int) float64 {
		return math.Abs(x.net.weights[x.net.fromInput(int(x.columns[j].first), unit)])
	}
	var all []int
	for j := range x.columns {
		if j != x.target && x.schema.Attributes[j].Kind == table.Numeric && !x.columns[j].binary && weight(j) > 0 {
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	return all[:min(len(all), mostNumbers)]
}

package concept

import (
	"math"
	"math/rand/v2"
	"slices"
)

// counter counts the members of a version space of conjunctions without
// writing them out. Every member is the most specific one with some of its
// constraints loosened. How far one can be loosened is a chain: the nodes from
// a name up to the root, or the ends of an interval moved outwards. So a
// member is a place on each of several chains, and it keeps a negative example
// out if on one of them it stands below the place from which on the example
// satisfies it.
type counter struct {
	language *language
	s        term
	slack    float64 // by which a negative example must be passed on both sides
	chains   []chain
	out      [][]int // of each negative example, the place on each chain; 0: it satisfies all
	factors  []factor
	total    float64 // members; NaN: more than can be counted
	states   int     // that counting them took
}

// factor is chains that negative examples tie together: how one of them may be
// placed depends on the others, and on no chain of another factor. The space is
// the product of its factors (Subramanian & Feigenbaum 1986).
type factor struct {
	chains []int
	out    []int // the examples that they keep out
}

// chain is the ways to loosen one constraint, or one end of it.
type chain struct {
	column int
	length int
	nodes  []int32 // of a name, from the constraint up
	end    int     // of a number: −1 the lower end, +1 the upper one
	at     int     // its place among the ends of its column
}

// mostStates bounds the work of a count.
const mostStates = 50_000

// newCounter returns the counter of the space between s and the negative
// examples and the regions that are barred, or nil where it cannot tell: nothing
// positive was seen, or a number is missing somewhere.
func newCounter(l *language, s term, negatives [][]value, slack float64, barred ...term) *counter {
	if s == nil {
		return nil
	}
	c := &counter{language: l, s: s, slack: slack}
	for i := range l.columns {
		column := &l.columns[i]
		if !column.numeric {
			var nodes []int32
			for n := s[i].node; n >= 0; n = column.parent[n] {
				nodes = append(nodes, n)
			}
			c.chains = append(c.chains, chain{column: i, length: len(nodes), nodes: nodes})
			continue
		}
		if column.missing {
			return nil
		}
		low, _ := slices.BinarySearch(column.ends, s[i].low)
		high, found := slices.BinarySearch(column.ends, s[i].high)
		if !found { // s ends between two of them
			high--
		}
		c.chains = append(c.chains,
			chain{column: i, length: low + 1, end: -1, at: low},
			chain{column: i, length: len(column.ends) - high, end: 1, at: high})
	}
	for _, x := range negatives {
		c.out = append(c.out, c.placesOf(func(k *chain) int { return c.place(k, x[k.column], c.slack) }))
	}
	for _, r := range barred {
		c.out = append(c.out, c.placesOf(func(k *chain) int { return c.meeting(k, r[k.column]) }))
	}
	c.out = hardest(c.out)
	c.factors = c.factored()
	c.total, c.states = c.tallied(nil)
	return c
}

// places returns, for each chain, the first place at which a row satisfies it;
// the chain's length if none does.
func (c *counter) places(x []value) []int {
	return c.placesOf(func(k *chain) int { return c.place(k, x[k.column], 0) })
}

func (c *counter) placesOf(place func(k *chain) int) []int {
	places := make([]int, len(c.chains))
	for d := range c.chains {
		places[d] = place(&c.chains[d])
	}
	return places
}

func (c *counter) place(k *chain, v value, slack float64) int {
	column := &c.language.columns[k.column]
	if k.end == 0 {
		for p, node := range k.nodes {
			if column.holds(constraint{node: node}, v) {
				return p
			}
		}
		return k.length
	}
	if v.missing {
		return k.length
	}
	return c.reach(k, v.number+float64(k.end)*slack)
}

// meeting is the first place of a chain at which it meets a constraint.
func (c *counter) meeting(k *chain, with constraint) int {
	column := &c.language.columns[k.column]
	switch {
	case column.isTop(with):
		return 0
	case k.end < 0:
		return c.reach(k, with.high)
	case k.end > 0:
		return c.reach(k, with.low)
	}
	for p, node := range k.nodes {
		if _, ok := column.meet(constraint{node: node}, with); ok {
			return p
		}
	}
	return k.length
}

// reach is the first place at which an end of an interval has come to a number.
func (c *counter) reach(k *chain, number float64) int {
	ends, s := c.language.columns[k.column].ends, c.s[k.column]
	at, found := slices.BinarySearch(ends, number)
	if k.end < 0 {
		if number >= s.low {
			return 0
		}
		if !found {
			at--
		}
		return max(0, k.at-max(0, at))
	}
	if number <= s.high {
		return 0
	}
	return max(0, min(at, len(ends)-1)-k.at)
}

// hardest leaves the examples that, kept out, keep out the others too.
func hardest(out [][]int) [][]int {
	slices.SortFunc(out, func(a, b []int) int { return sum(a) - sum(b) })
	var left [][]int
	for _, n := range out {
		easier := slices.ContainsFunc(left, func(m []int) bool {
			for d := range m {
				if m[d] > n[d] {
					return false
				}
			}
			return true
		})
		if !easier {
			left = append(left, n)
		}
	}
	return left
}

func sum(n []int) int {
	s := 0
	for _, x := range n {
		s += x
	}
	return s
}

// count counts the members at or above these places: with the places of a row,
// those that it satisfies; nil is all. NaN is more than can be counted.
func (c *counter) count(from []int) float64 {
	n, _ := c.tallied(from)
	return n
}

// tallied is count, with the number of states that it took.
func (c *counter) tallied(from []int) (members float64, states int) {
	if from == nil {
		from = make([]int, len(c.chains))
	}
	for d := range c.chains {
		if from[d] >= c.chains[d].length {
			return 0, 0
		}
	}
	members = 1
	for i := range c.factors {
		n, took := c.counted(&c.factors[i], from)
		members, states = members*n, states+took
	}
	return members, states
}

// counted is the number of ways to place the chains of a factor.
func (c *counter) counted(f *factor, from []int) (members float64, states int) {
	t := &tally{counter: c, order: f.chains, from: from, known: map[string]float64{}}
	members = t.below(0, f.out)
	return members, len(t.known)
}

// factored finds the factors: chains on which one example can be kept out
// belong together.
func (c *counter) factored() []factor {
	group := make([]int, len(c.chains)) // the first chain of each's factor
	for d := range group {
		group[d] = d
	}
	for _, n := range c.out {
		first := -1
		for d, place := range n {
			if place == 0 {
				continue // always satisfied
			}
			if first < 0 {
				first = group[d]
				continue
			}
			for e, old := 0, group[d]; e < len(group); e++ {
				if group[e] == old {
					group[e] = first
				}
			}
		}
	}
	var all []factor
	for d := range group {
		f := factor{}
		for e := range group {
			if group[e] == d {
				f.chains = append(f.chains, e)
			}
		}
		if f.chains == nil {
			continue
		}
		for i, n := range c.out {
			if slices.ContainsFunc(f.chains, func(e int) bool { return n[e] > 0 }) {
				f.out = append(f.out, i)
			}
		}
		all = append(all, f)
	}
	for i, n := range c.out { // satisfied whatever the chains: nothing is left
		if sum(n) == 0 && len(all) > 0 {
			all[0].out = append(all[0].out, i)
		}
	}
	return all
}

// sizes are the members of each factor that has a choice.
func (c *counter) sizes() []float64 {
	var all []float64
	for i := range c.factors {
		if n, _ := c.counted(&c.factors[i], make([]int, len(c.chains))); n > 1 {
			all = append(all, n)
		}
	}
	return all
}

// tally is one count, with what it has counted so far.
type tally struct {
	*counter
	order []int // the chains that are placed
	from  []int
	known map[string]float64
}

// below counts the ways to place the chains from the at-th on so that the
// examples in are kept out.
func (c *tally) below(at int, in []int) float64 {
	if at == len(c.order) {
		if len(in) > 0 {
			return 0
		}
		return 1
	}
	key := stateOf(at, in)
	if n, ok := c.known[key]; ok {
		return n
	}
	if len(c.known) > mostStates {
		return math.NaN()
	}
	d := c.order[at]
	n := 0.0
	for place := c.from[d]; place < c.chains[d].length; {
		next, still := c.chains[d].length, make([]int, 0, len(in))
		for _, i := range in {
			if t := c.out[i][d]; t <= place {
				still = append(still, i) // satisfied here
			} else {
				next = min(next, t)
			}
		}
		n += float64(next-place) * c.below(at+1, still)
		place = next
	}
	c.known[key] = n
	return n
}

func stateOf(d int, in []int) string {
	b := []byte{byte(d), byte(d >> 8)}
	for _, i := range in {
		b = append(b, byte(i), byte(i>>8), byte(i>>16))
	}
	return string(b)
}

// draw returns a member drawn at random, each with the same chance, nil where
// they cannot be counted.
func (c *counter) draw(random *rand.Rand) term {
	if math.IsNaN(c.total) || c.total == 0 {
		return nil
	}
	places := make([]int, len(c.chains))
	for i := range c.factors {
		f := &c.factors[i]
		t := &tally{counter: c, order: f.chains, from: make([]int, len(c.chains)), known: map[string]float64{}}
		in := f.out
		for at, d := range f.chains {
			left := random.Float64() * t.below(at, in)
			for place := range c.chains[d].length {
				var still []int
				for _, i := range in {
					if c.out[i][d] <= place {
						still = append(still, i)
					}
				}
				n := t.below(at+1, still)
				places[d] = place
				if left -= n; left < 0 && n > 0 {
					in = still
					break
				}
			}
		}
	}
	return c.member(places)
}

// member returns the hypothesis at these places.
func (c *counter) member(places []int) term {
	t := slices.Clone(c.s)
	for d, k := range c.chains {
		column := &c.language.columns[k.column]
		switch {
		case places[d] == 0 && k.length > 1: // as s has it
		case k.end == 0:
			t[k.column].node = k.nodes[places[d]]
		case k.end < 0 && places[d] == k.length-1:
			t[k.column].low = math.Inf(-1)
		case k.end < 0:
			t[k.column].low = column.ends[k.at-places[d]]
		case places[d] == k.length-1:
			t[k.column].high = math.Inf(1)
		default:
			t[k.column].high = column.ends[k.at+places[d]]
		}
	}
	for i := range t {
		if c.language.columns[i].numeric && math.IsInf(t[i].low, -1) && math.IsInf(t[i].high, 1) {
			t[i] = c.language.columns[i].top()
		}
	}
	return t
}

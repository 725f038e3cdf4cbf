package concept

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// literal is a test of one column: it has a value, or another one.
type literal struct {
	column int
	code   int32
	not    bool
}

func (l literal) holds(x []value) bool {
	v := x[l.column]
	return !v.missing && (v.code == l.code) != l.not
}

// clauses is the version space of k-CNF or k-DNF (section 7.3.3.2; exercise
// 2.9 is the case of k = 1). In k-CNF a hypothesis is a set of clauses of which
// a row must satisfy every one; the most specific one has all clauses that
// every positive row satisfies. In k-DNF it is a set of terms of which a row
// must satisfy one; the most general one has all terms that no negative row
// satisfies. The other boundary would have exponentially many members: the
// rows on the other side stand for it (Hirsh 1992).
type clauses struct {
	cnf    bool
	parts  [][]literal // the clauses or terms left
	others [][]value   // negative rows of k-CNF, positive rows of k-DNF
	gone   bool        // collapsed
	hits   [][]uint64  // of the others, which parts decide each: those needing most are left out
	all    float64     // share of the sets of parts that are right about the others; NaN if not known
}

// mostClauses is how many clauses or terms are tried.
const mostClauses = 200_000

// newClauses returns the space of the examples, and the place of the one that
// left no hypothesis, or −1.
func newClauses(ctx context.Context, l *language, k int, cnf bool, examples []example) (*clauses, int, error) {
	var literals []literal
	for i := range l.columns {
		for v := range l.columns[i].values {
			literals = append(literals, literal{column: i, code: int32(v)})
			if l.columns[i].values > 2 {
				literals = append(literals, literal{column: i, code: int32(v), not: true})
			}
		}
	}
	c := &clauses{cnf: cnf}
	var extend func(part []literal, from int) error
	extend = func(part []literal, from int) error {
		for i := from; i < len(literals); i++ {
			if slices.ContainsFunc(part, func(p literal) bool { return p.column == literals[i].column }) {
				continue
			}
			longer := append(slices.Clip(part), literals[i])
			if c.parts = append(c.parts, longer); len(c.parts) > mostClauses {
				return fmt.Errorf("there are more than %d clauses of up to %d literals; ask for a smaller k, or leave columns out", mostClauses, k)
			}
			if len(longer) < k {
				if err := extend(longer, i+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := extend(nil, 0); err != nil {
		return nil, -1, err
	}
	for i, d := range examples {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, -1, ctx.Err()
		}
		if d.positive == cnf {
			c.parts = slices.DeleteFunc(c.parts, func(p []literal) bool { return c.satisfied(p, d.x) != cnf })
		} else {
			c.others = append(c.others, d.x)
		}
	}
	for i, d := range examples {
		if d.positive != cnf && c.boundary(d.x) != d.positive {
			c.gone = true
			return c, i, nil
		}
	}
	c.tally()
	return c, -1, nil
}

// satisfied reports whether a row satisfies one clause (some literal) or one
// term (every literal).
func (c *clauses) satisfied(part []literal, x []value) bool {
	for _, l := range part {
		if l.holds(x) == c.cnf {
			return c.cnf
		}
	}
	return !c.cnf
}

// boundary is what the one hypothesis says that has all clauses or terms left.
func (c *clauses) boundary(x []value) bool {
	for _, p := range c.parts {
		if c.satisfied(p, x) != c.cnf {
			return !c.cnf
		}
	}
	return c.cnf
}

// verdict is +1 if every member says yes to a row, −1 if every one says no.
func (c *clauses) verdict(x []value) int {
	sure := 1
	if !c.cnf {
		sure = -1
	}
	if c.boundary(x) == c.cnf {
		return sure
	}
	// Could a member say the other thing? Its clauses would be among those
	// that this row does not speak against; they must still be right about
	// the other rows.
	for _, other := range c.others {
		wrong := true
		for _, p := range c.parts {
			if c.satisfied(p, x) == c.cnf && c.satisfied(p, other) != c.cnf {
				wrong = false
				break
			}
		}
		if wrong {
			return -sure
		}
	}
	return 0
}

// A member is a set of the parts left. It is right about one of the other rows
// if it has a part that decides the row: a clause that it breaks, or a term that
// it satisfies. So members are the sets that hit each of some sets of parts, and
// the share of all sets that do is found by inclusion and exclusion.

// Limits of counting: sets that have to be hit, and work a row.
const (
	mostHits = 14
	mostWork = 1 << 21
	surely   = 60 // parts: a set of so many is hit but for once in 10^18
)

// decides returns which parts decide a row.
func (c *clauses) decides(x []value) []uint64 {
	set := make([]uint64, (len(c.parts)+63)/64)
	for i, p := range c.parts {
		if c.satisfied(p, x) != c.cnf {
			set[i/64] |= 1 << (i % 64)
		}
	}
	return set
}

// tally finds the sets that have to be hit.
func (c *clauses) tally() {
	c.all = math.NaN()
	var sets [][]uint64
	for _, x := range c.others {
		if set := c.decides(x); ones(set) < surely {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b []uint64) int { return ones(a) - ones(b) })
	for _, set := range sets { // one that another is within is hit with it
		if !slices.ContainsFunc(c.hits, func(h []uint64) bool { return within(h, set) }) {
			c.hits = append(c.hits, set)
		}
	}
	if len(c.hits) <= mostHits && len(c.parts)>>6+1 <= mostWork>>len(c.hits) {
		c.all = c.share(make([]uint64, (len(c.parts)+63)/64))
	}
}

func ones(set []uint64) int {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// share is that of all sets of parts which have none of some and hit what has
// to be hit.
func (c *clauses) share(none []uint64) float64 {
	var sum func(from int, out []uint64, sign float64) float64
	sum = func(from int, out []uint64, sign float64) float64 {
		total := sign * math.Exp2(-float64(ones(out)))
		for i := from; i < len(c.hits); i++ {
			wider := slices.Clone(out)
			for w := range wider {
				wider[w] |= c.hits[i][w]
			}
			total += sum(i+1, wider, -sign)
		}
		return total
	}
	return max(sum(0, none, 1), 0)
}

// votes counts the members that say yes to a row, and all; shares of 1 where
// there are more than numbers can tell, 0 of 0 where they were not counted.
func (c *clauses) votes(x []value) (yes, of float64) {
	if !(c.all > 0) {
		return 0, 0
	}
	// Those that have no part which decides the row.
	same := min(c.share(c.decides(x))/c.all, 1)
	if yes = same; !c.cnf {
		yes = 1 - same
	}
	of = 1
	if n := len(c.parts); n <= 1000 {
		of = math.Round(math.Ldexp(c.all, n))
	}
	if of < 1<<53 {
		return math.Round(yes * of), of
	}
	return yes * of, of
}

// draw returns what a member drawn at random says: a chain of members, each
// part taken or left in turn by the toss of a coin where the rest allows it.
func (c *clauses) draw(random *rand.Rand) func(x []value) bool {
	hit := make([]int, len(c.hits)) // parts taken of each
	for i := range hit {
		hit[i] = ones(c.hits[i])
	}
	taken := slices.Repeat([]bool{true}, len(c.parts))
	for range 20 {
		for p := range taken {
			take := random.IntN(2) == 0
			if take == taken[p] || !take && c.needed(p, hit) {
				continue
			}
			taken[p] = take
			for i, h := range c.hits {
				if h[p/64]>>(p%64)&1 == 1 {
					if hit[i]--; take {
						hit[i] += 2
					}
				}
			}
		}
	}
	member := &clauses{cnf: c.cnf}
	for p, is := range taken {
		if is {
			member.parts = append(member.parts, c.parts[p])
		}
	}
	return member.boundary
}

// needed reports whether a part is the last that hits some set.
func (c *clauses) needed(part int, hit []int) bool {
	for i, h := range c.hits {
		if h[part/64]>>(part%64)&1 == 1 && hit[i] == 1 {
			return true
		}
	}
	return false
}

package concept

import (
	"context"
	"fmt"
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

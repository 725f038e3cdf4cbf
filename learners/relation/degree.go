package relation

import (
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/table"
)

// degrees adds to the relations of rows how far each concept of a theory is met: the
// greatest share of conditions, of all clauses that conclude it, that hold. A theory that
// asks for a little too much everywhere, and so proves nothing, says much all the same.
// A clause that leads to other rows is one condition: there are such rows, or not.
func (m *Model) degrees(db *database, x *examples) {
	s := m.lesson.Settings
	theory, err := s.theory()
	if s.Algorithm != FoclName || db.program != nil || len(x.places) != 1 || err != nil || len(theory.Clauses) == 0 {
		return
	}
	d := &measured{db: db, examples: x, theory: theory, of: map[logic.Predicate][]float64{}}
	for _, of := range theory.Predicates() {
		if len(theory.Of(of)) == 0 || db.byName[of.Name] != nil {
			continue
		}
		share := d.concept(of)
		if share == nil || slices.Max(share) == slices.Min(share) {
			continue
		}
		name := of.Name + metSuffix
		if db.byName[name] != nil {
			continue
		}
		db.derive(name, x.places[0], x.columns[0], share, "share of "+words(of.Name)+" that is met", table.Attribute{})
	}
	db.finish()
}

// fewProved is the share of positive examples below which a theory that proves no more of
// them is asked how far it is met.
const fewProved = 0.1

// showDegrees hides how far concepts are met where the theory proves what it is about.
func (f *search) showDegrees(active []int32) {
	var covers []func(int32) bool
	for _, p := range f.proposed {
		if !p.part {
			covers = append(covers, f.coverage(p.body, len(active)))
		}
	}
	var all, proved float64
	for _, e := range active {
		if f.positive[e] {
			all += f.weight[e]
			if slices.ContainsFunc(covers, func(covers func(int32) bool) bool { return covers(e) }) {
				proved += f.weight[e]
			}
		}
	}
	for _, r := range f.db.relations {
		if r.derived != "" && strings.HasSuffix(r.name, metSuffix) {
			r.hidden = proved > fewProved*all
		}
	}
}

// metSuffix ends the names of relations that say how far a concept is met.
const metSuffix = "_met"

// measured is how far concepts are met, for each row.
type measured struct {
	db       *database
	examples *examples
	theory   *logic.Program
	of       map[logic.Predicate][]float64
}

// concept returns the shares of a concept; nil if no clause of it is about the row.
func (d *measured) concept(of logic.Predicate) []float64 {
	if known, ok := d.of[of]; ok {
		return known
	}
	d.of[of] = nil // what calls itself has none
	var best []float64
	for _, c := range d.theory.Of(of) {
		share := d.clause(c)
		if best == nil {
			best = share
			continue
		}
		for r := range share {
			best[r] = max(best[r], share[r])
		}
	}
	d.of[of] = best
	return best
}

// clause returns the share of a clause's conditions that hold.
func (d *measured) clause(c *logic.Clause) []float64 {
	rows := len(d.examples.columns[0])
	share := make([]float64, rows)
	conditions := 0.0
	whole, ok := d.db.condition(c, 1)
	if variables := 1; ok && slices.ContainsFunc(whole, func(l literal) bool { return l.news(variables) > 0 && !l.negated }) {
		d.add(share, whole)
		return share
	}
	for i, l := range c.Body {
		if _, _, isCut := comparison(l.Atom); isCut {
			continue
		}
		of, _ := l.Predicate()
		if own := d.concept(of); own != nil && len(d.theory.Of(of)) > 0 {
			for r := range share {
				if l.Negated {
					share[r] += 1 - own[r]
				} else {
					share[r] += own[r]
				}
			}
			conditions++
			continue
		}
		body, ok := d.db.condition(logic.NewClause(c.Head, append([]logic.Literal{l}, cutsBehind(c.Body[i+1:])...)), 1)
		if !ok || slices.ContainsFunc(body, func(l literal) bool { return l.news(1) > 0 && !l.negated }) {
			continue
		}
		d.add(share, body)
		conditions++
	}
	if conditions == 0 {
		return nil
	}
	for r := range share {
		share[r] /= conditions
	}
	return share
}

// cutsBehind are the comparisons that follow a literal.
func cutsBehind(body []logic.Literal) []logic.Literal {
	n := 0
	for n < len(body) {
		if _, _, isCut := comparison(body[n].Atom); !isCut {
			break
		}
		n++
	}
	return body[:n]
}

// add counts the rows of which a body holds.
func (d *measured) add(share []float64, body []literal) {
	binding := make([]int32, 0, 8)
	for r, code := range d.examples.columns[0] {
		budget := mostProofSteps
		if _, ok := prove(body, 0, append(binding[:0], code), nil, &budget); ok {
			share[r]++
		}
	}
}

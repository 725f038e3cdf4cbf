package concept

import (
	"math"

	"github.com/accrete-ml/accrete/learn"
)

// disjunctive is a disjunctive version space (Sebag 1996): for each row E the
// hypotheses that cover it and reject every row F of another class. For one F
// the most general of them ask for one of the columns in which E and F differ:
// another name than F's, or a number on E's side of F's. A row that satisfies
// enough of these tests for every F is a neighbour of E, and the neighbours'
// classes vote. Nothing is ever written out: the space is the rows themselves.
//
// Rows may be wrong: exceptions is the share of rows F that need not be
// rejected. The more tests must hold, the more specific the space is; how many
// is chosen by leaving rows out, unless it is given.
type disjunctive struct {
	language   *language
	rows       []example
	classes    int
	exceptions float64
	tests      int
	weight     float64   // of the rows
	of         []float64 // by class
}

// mostStars is how many rows of each kind are looked at: of more, every n-th.
const mostStars = 400

func newDisjunctive(l *language, examples []example, classes int, exceptions float64, tests int) *disjunctive {
	v := &disjunctive{language: l, classes: classes, exceptions: exceptions, tests: tests}
	step := float64(max(len(examples), mostStars)) / mostStars
	if len(examples) <= mostStars {
		step = 1
	}
	for at := 0.0; int(at) < len(examples); at += step {
		v.rows = append(v.rows, examples[int(at)])
	}
	for i := range v.rows {
		v.weight += v.rows[i].weight
	}
	v.of = make([]float64, classes)
	for i := range v.rows {
		v.of[v.rows[i].class] += v.rows[i].weight
	}
	if tests == 0 {
		v.tests = v.chooseTests()
	}
	return v
}

// chooseTests returns the number of tests that is right about most rows, each
// left out of the others; of equally good ones the least.
func (v *disjunctive) chooseTests() int {
	const mostLeftOut = 100
	best, right := 1, -1.0
	for _, tests := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24} {
		if tests > max(len(v.language.columns), 1) {
			break
		}
		v.tests = tests
		sum := 0.0
		votes := make([]float64, v.classes)
		step := max(1, len(v.rows)/mostLeftOut)
		for i := 0; i < len(v.rows); i += step {
			clear(votes)
			v.voteWithout(v.rows[i].x, votes, i)
			most := 0
			for c := range votes {
				if votes[c] > votes[most] {
					most = c
				}
			}
			if votes[most] > 0 && most == int(v.rows[i].class) {
				sum++
			}
		}
		if sum > right {
			best, right = tests, sum
		}
	}
	return best
}

// verdict says nothing: classes vote.
func (v *disjunctive) verdict([]value) int { return 0 }

// vote adds the weight of the neighbours of each class, and returns the sum.
func (v *disjunctive) vote(x []value, votes []float64) float64 { return v.voteWithout(x, votes, -1) }

// voteWithout leaves one of the rows out.
func (v *disjunctive) voteWithout(x []value, votes []float64, out int) float64 {
	sum := 0.0
	for i := range v.rows {
		if e := &v.rows[i]; i != out && v.neighbours(e, x, out) {
			votes[e.class] += e.weight
			sum += e.weight
		}
	}
	return sum
}

// neighbours reports whether a row satisfies a hypothesis that covers e and
// rejects the rows of other classes.
func (v *disjunctive) neighbours(e *example, x []value, out int) bool {
	allowed, let := v.exceptions*(v.weight-v.of[e.class]), 0.0
	for i := range v.rows {
		f := &v.rows[i]
		if f.class == e.class || i == out || v.rejects(e.x, f.x, x) {
			continue
		}
		if let += f.weight; let > allowed {
			return false
		}
	}
	return true
}

// rejects reports whether a row satisfies enough of the tests that tell e from
// f; where there are fewer tests than that, all of them.
func (v *disjunctive) rejects(e, f, x []value) bool {
	satisfied, all := 0, 0
	for i := range e {
		if e[i].missing || f[i].missing {
			continue
		}
		if !v.language.columns[i].numeric {
			if e[i].code == f[i].code {
				continue
			}
			if all++; !x[i].missing && x[i].code != f[i].code {
				satisfied++
			}
		} else {
			if e[i].number == f[i].number {
				continue
			}
			if all++; !x[i].missing && (x[i].number < f[i].number) == (e[i].number < f[i].number) && x[i].number != f[i].number {
				satisfied++
			}
		}
		if satisfied >= v.tests {
			return true
		}
	}
	return all > 0 && satisfied == all
}

// answer fills in the shares of the neighbours' classes, and reports whether
// one has most.
func (v *disjunctive) answer(x []value, p, share []float64) bool {
	clear(p)
	sum := v.vote(x, p)
	if sum == 0 {
		copy(p, share)
		return false
	}
	first, second := 0.0, 0.0
	for c := range p {
		p[c] /= sum
		if p[c] > first {
			first, second = p[c], first
		} else {
			second = math.Max(second, p[c])
		}
	}
	return first > second
}

// neighboursOf names the rows of e that answer for a row, the first few.
func (m *Model) neighboursOf(v *disjunctive, x []value) []learn.Evidence {
	const most = 8
	var all []learn.Evidence
	for i := range v.rows {
		if e := &v.rows[i]; len(all) < most && v.neighbours(e, x, -1) {
			all = append(all, learn.Evidence{Text: m.condition(m.language.generalise(nil, e.x)), Class: int(e.class), Weight: e.weight})
		}
	}
	return all
}

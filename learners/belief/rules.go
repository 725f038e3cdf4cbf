package belief

import (
	"math"
	"strings"

	"github.com/accrete-ml/accrete/rule"
)

// Rules returns each row of each table as a rule: IF the parents have these
// values THEN the column has this distribution, or this mean and deviation, to which
// each numeric parent adds so much for each of its units. The
// target's table comes first. Together they are the network; read one by one, as
// the language of rules does, they are a summary.
func (m *Model) Rules() (*rule.Base, error) {
	base := &rule.Base{Kind: rule.Ordered, Notes: []string{"summary: a table a column, given its parents; the network combines them to answer from any cells"}}
	if told := m.Experts(); len(told) > 0 {
		names := make([]string, len(told))
		for i, e := range told {
			names[i] = e.Name
		}
		base.Notes = append(base.Notes, "the probabilities also count the virtual cases that "+strings.Join(names, ", ")+" told; how many cases there were counts rows alone")
	}
	if m.target >= 0 {
		m.table(base, m.target)
	}
	for v := range m.net.nodes {
		if v != m.target {
			m.table(base, v)
		}
	}
	return base, nil
}

// Bits is the length of the network when it is sent: of each column how many
// parents it has and which, and the numbers of its table, each as exact as so many
// rows can make it, ½·log₂ of them (Lam & Bacchus 1994).
func (m *Model) Bits(rows float64) float64 {
	number, columns := math.Log2(max(rows, 2))/2, float64(len(m.net.nodes))
	bits := 0.0
	for v := range m.net.nodes {
		n := &m.net.nodes[v]
		bits += math.Log2(columns) * float64(1+len(n.parents)+len(n.lines))
		free := 2 + len(n.lines)
		if !n.numeric {
			free = max(0, n.states-1)
		}
		bits += number * float64(free*n.rows(m.net.nodes))
	}
	return bits
}

// table adds the rules of a column's table.
func (m *Model) table(base *rule.Base, v int) {
	n := &m.net.nodes[v]
	if !n.there() {
		return
	}
	for row := range n.rows(m.net.nodes) {
		r := rule.Rule{Then: rule.Conclusion{Column: m.schema.Attributes[v].Name}}
		rest := row
		for k, p := range n.parents {
			a := &m.schema.Attributes[p]
			r.If = append(r.If, rule.Test{Op: rule.Eq, Column: a.Name, Value: a.Values[rest/n.strides[k]]})
			rest %= n.strides[k]
		}
		if n.numeric {
			r.Then.Numeric, r.Then.Mean, r.Then.Deviation = true, n.mean[row], n.deviation[row]
			base.Rules = append(base.Rules, r)
			for l, p := range n.lines { // what a numeric parent adds, for each unit from where it usually is
				adds := rule.Rule{If: r.If, Then: rule.Conclusion{Column: r.Then.Column, Numeric: true, Adds: true, Mean: n.slope[row*len(n.lines)+l]}}
				adds.Then.Line = &rule.Line{Column: m.schema.Attributes[p].Name, Centre: n.at[l]}
				base.Rules = append(base.Rules, adds)
			}
			continue
		}
		best, covered := 0, 0.0
		for s, p := range n.table[row*n.states:][:n.states] {
			if p > n.table[row*n.states+best] {
				best = s
			}
			covered += m.counts[v][row*n.states+s]
		}
		p, correct := n.table[row*n.states+best], m.counts[v][row*n.states+best]
		if values := m.schema.Attributes[v].Values; n.states <= 2 {
			r.Then.Value, r.With = values[best], &p
		} else {
			for s, p := range n.table[row*n.states:][:n.states] {
				r.Then.Classes = append(r.Then.Classes, rule.Share{Value: values[s], P: p})
			}
		}
		bits := m.bits(v, row, covered)
		r.Evidence = rule.Evidence{Covered: &covered, Correct: &correct, Bits: &bits}
		base.Rules = append(base.Rules, r)
	}
}

// bits is the information that a row of a table has about its column (the
// J-measure): how far its distribution is from that of all rows, times how many
// rows it is of.
func (m *Model) bits(v, row int, covered float64) float64 {
	n := &m.net.nodes[v]
	if m.weight == 0 || len(n.parents) == 0 {
		return 0
	}
	all, total := make([]float64, n.states), 0.0
	for k, c := range m.counts[v] {
		all[k%n.states] += c
		total += c
	}
	sum := 0.0
	for s, p := range n.table[row*n.states:][:n.states] {
		if p > 0 && all[s] > 0 {
			sum += p * math.Log2(p*total/all[s])
		}
	}
	return max(0, covered/m.weight*sum)
}

package belief

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/netfile"
)

// gain returns what a parent adds to the score of a family: the score of the
// column given the parents and this one, less that given the others alone, both
// on the rows that know the column; a parent's not being known is a value of its
// own, so that scores of different parents are of the same rows. False if the
// table would be too large.
func (d *data) gain(column int, parents []int, more int) (float64, bool) {
	if d.numbers[column].z != nil {
		return d.numericGain(column, parents, more)
	}
	columns := make([]int, 0, len(parents)+2)
	columns = append(append(append(columns, parents...), more), column)
	size, ok := d.sizeWith(columns[:len(columns)-1], true)
	states, values := len(d.schema.Attributes[column].Values), d.states(more, true)
	if size *= states; !ok || size > netfile.MaxTable {
		return 0, false
	}
	counts := make([]float64, size)
	d.tally(columns, 1, counts)
	without := make([]float64, size/values)
	for row := range size / states {
		to := without[row/values*states:][:states]
		for k, n := range counts[row*states:][:states] {
			to[k] += n
		}
	}
	n := 0.0
	for _, c := range without {
		n += c
	}
	return d.score(counts, states, n) - d.score(without, states, n), true
}

// score returns the log score of a family whose table counts n rows.
func (d *data) score(counts []float64, states int, n float64) float64 {
	switch d.settings.Score {
	case "bic":
		return likelihood(counts, states) - 0.5*math.Log(max(n, 1))*float64(len(counts)/states*(states-1))
	case "k2":
		return dirichlet(counts, states, 1)
	}
	return dirichlet(counts, states, d.settings.Sample/float64(len(counts)))
}

// dirichlet returns the log of the probability of the rows when each row of the
// table has a Dirichlet prior of as many cases in each cell: with 1 it is the
// log of g of Cooper & Herskovits, with the sample over the cells it is BDeu.
func dirichlet(counts []float64, states int, cell float64) float64 {
	log := 0.0
	prior, all := lgamma(cell), lgamma(cell*float64(states))
	for from := 0; from < len(counts); from += states {
		sum := 0.0
		for _, n := range counts[from : from+states] {
			if n > 0 {
				log += lgamma(n+cell) - prior
				sum += n
			}
		}
		if sum > 0 {
			log += all - lgamma(sum+cell*float64(states))
		}
	}
	return log
}

// likelihood returns the log likelihood of the rows under their own frequencies.
func likelihood(counts []float64, states int) float64 {
	log := 0.0
	for from := 0; from < len(counts); from += states {
		sum := 0.0
		for _, n := range counts[from : from+states] {
			if n > 0 {
				log += n * math.Log(n)
				sum += n
			}
		}
		if sum > 0 {
			log -= sum * math.Log(sum)
		}
	}
	return log
}

func lgamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}

// numericGain is gain for a number: the likelihood of normal densities, one for
// each combination of the nominal parents' values and each a line along the
// numeric parents, less what their parameters cost.
func (d *data) numericGain(column int, parents []int, more int) (float64, bool) {
	names, lines := d.sorts(parents)
	before := len(lines)
	if d.isNominal(more) {
		names = append(names, more)
	} else {
		lines = append(lines, more)
	}
	size, ok := d.sizeWith(slices.Concat(names, lines), true)
	if !ok || size*(len(lines)+2)*(len(lines)+2) > netfile.MaxTable {
		return 0, false
	}
	with := d.moments(column, names, lines, true)
	var without moments
	if before < len(lines) {
		without = with.join(d.states(more, true), 1)
		without = without.drop(before)
	} else {
		inner, _ := d.sizeWith(lines, true)
		without = with.join(d.states(more, true), inner)
	}
	n := 0.0
	for row := range with.rows() {
		n += with.weight(row)
	}
	price := 0.5 * math.Log(max(n, 1))
	score := func(m *moments, lines []int) float64 {
		each := 2.0 // a mean and a deviation for each row of the table, and the slopes of the numbers that it knows
		for _, p := range lines {
			each += 1 / float64(d.states(p, true))
		}
		return m.logLikelihood() - price*each*float64(m.rows())
	}
	return score(&with, lines) - score(&without, lines[:before]), true
}

// sorts returns which of some columns are nominal, and which numeric.
func (d *data) sorts(columns []int) (names, lines []int) {
	for _, c := range columns {
		if d.isNominal(c) {
			names = append(names, c)
		} else {
			lines = append(lines, c)
		}
	}
	return names, lines
}

// moments adds up a numeric column and its numeric parents by the values of its
// nominal parents. With gaps, not being known is a value of these, and rows that do
// not know a numeric parent stand apart, without its slope, so that all graphs are
// compared on the same rows; without, rows that do not know the whole family are left
// out.
func (d *data) moments(column int, names, lines []int, gaps bool) moments {
	size, _ := d.sizeWith(names, gaps)
	if gaps {
		size, _ = d.sizeWith(slices.Concat(names, lines), gaps)
	}
	all := newMoments(len(lines), size)
	z := make([]float64, len(lines)+1)
rows:
	for r, own := range d.numbers[column].z {
		if own != own {
			continue
		}
		at := 0
		for _, p := range names {
			code, states := int(d.codes[p][r]), d.states(p, gaps)
			if code == unknown && !gaps {
				continue rows
			}
			at = at*states + min(code, states-1)
		}
		for l, p := range lines {
			z[l] = d.numbers[p].z[r]
			unknown := z[l] != z[l]
			if unknown && !gaps {
				continue rows
			}
			if gaps {
				at *= d.states(p, gaps)
			}
			if unknown {
				z[l] = 0
				at++
			}
		}
		w := 1.0
		if d.weights != nil {
			w = d.weights[r]
		}
		z[len(lines)] = own
		all.add(at, w, z)
	}
	return all
}

// drop returns the moments without one of the numeric parents.
func (m *moments) drop(line int) moments {
	to := newMoments(m.lines-1, m.rows())
	for row := range m.rows() {
		from, at := m.row(row), to.row(row)
		at[0] = from[0]
		sum, product := 1, 1+to.lines+1
		for i := 0; i <= m.lines; i++ {
			if i == line {
				continue
			}
			at[sum] = from[1+i]
			sum++
			for j := 0; j <= i; j++ {
				if j != line {
					at[product] = from[2+m.lines+i*(i+1)/2+j]
					product++
				}
			}
		}
	}
	return to
}

// join returns the moments without one of the columns of the table, which has so many
// values, and behind which are columns with so many combinations.
func (m *moments) join(values, behind int) moments {
	to := newMoments(m.lines, m.rows()/values)
	for row := range m.rows() {
		sum := to.row(row/(values*behind)*behind + row%behind)
		for i, x := range m.row(row) {
			sum[i] += x
		}
	}
	return to
}

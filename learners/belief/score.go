package belief

import (
	"math"

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
// each combination of the parents' values, less what their parameters cost.
func (d *data) numericGain(column int, parents []int, more int) (float64, bool) {
	columns := append(append(make([]int, 0, len(parents)+1), parents...), more)
	size, ok := d.sizeWith(columns, true)
	if !ok {
		return 0, false
	}
	with := d.sums(column, columns, true)
	values := d.states(more, true)
	without := make([]sums, size/values)
	n := 0.0
	for row, s := range with {
		to := &without[row/values]
		to.n, to.x, to.xx = to.n+s.n, to.x+s.x, to.xx+s.xx
		n += s.n
	}
	price := math.Log(max(n, 1)) // two parameters each, at half of it
	return logNormals(with) - price*float64(size) - logNormals(without) + price*float64(len(without)), true
}

// sums are the weight, the sum and the sum of squares of numbers in deviations.
type sums struct{ n, x, xx float64 }

// sums adds up a numeric column by the values of its parents, of which not being
// known may be one.
func (d *data) sums(column int, parents []int, gaps bool) []sums {
	size, _ := d.sizeWith(parents, gaps)
	all := make([]sums, size)
	for r, z := range d.numbers[column].z {
		at := 0
		for _, p := range parents {
			code, states := int(d.codes[p][r]), d.states(p, gaps)
			if code == unknown && !gaps {
				at = -1
				break
			}
			at = at*states + min(code, states-1)
		}
		if at < 0 || z != z {
			continue
		}
		w := 1.0
		if d.weights != nil {
			w = d.weights[r]
		}
		s := &all[at]
		s.n, s.x, s.xx = s.n+w, s.x+w*z, s.xx+w*z*z
	}
	return all
}

// variance is that of the numbers, with a case more that has the variance of
// the whole column, which is 1.
func (s *sums) variance(m float64) float64 {
	if s.n == 0 {
		return 1
	}
	return max((max(s.xx-s.x*s.x/s.n, 0)+m)/(s.n+m), 1e-18)
}

func logNormals(all []sums) float64 {
	log := 0.0
	for i := range all {
		log -= 0.5 * all[i].n * math.Log(all[i].variance(1))
	}
	return log
}

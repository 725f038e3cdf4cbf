package gaussian

import (
	"cmp"
	"slices"
)

// packs are nominal columns taken together by the few, each combination of
// their values being a value of the pack: a row looks up, and counts, a pack
// where it would have looked up several columns. That columns are independent
// within a unit makes a table of the packs' logs from those of the columns, and
// counts of the columns from those of the packs.
type packs struct {
	*sample // the rows, with packs for nominal columns
	// stands is what each value of the packs stands for: its columns' values
	// among all of the rows' own shape, those that are missing left out.
	stands [][]int
}

// mostPacked bounds the values of a pack, so that the tables stay in the
// nearest cache.
const mostPacked = 256

// pack returns the packs of a sample, nil if its rows are too few to make up
// for the tables.
func (s *sample) pack() *packs {
	q := len(s.nominal)
	gap := make([]int, q) // 1 for columns with missing cells: one value more
	for at, code := range s.codes {
		if code < 0 {
			gap[at%q] = 1
		}
	}
	order := make([]int, q)
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.values[b]+gap[b], s.values[a]+gap[a]) })
	var columns [][]int
	shape := *s.shape
	shape.nominal, shape.values, shape.offset, shape.total = nil, nil, nil, 0
	limit := min(mostPacked, s.rows/8)
	for _, c := range order { // each to the first pack that has room
		size := s.values[c] + gap[c]
		to := slices.IndexFunc(shape.values, func(values int) bool { return values*size <= limit })
		if to < 0 {
			to = len(columns)
			columns, shape.nominal, shape.values = append(columns, nil), append(shape.nominal, s.nominal[c]), append(shape.values, 1)
		}
		columns[to] = append(columns[to], c)
		shape.values[to] *= size
	}
	if len(columns) == q {
		return nil
	}
	p := &packs{sample: &sample{}}
	*p.sample = *s
	p.shape, p.codes = &shape, make([]int32, s.rows*len(columns))
	for to, of := range columns {
		shape.offset = append(shape.offset, shape.total)
		shape.total += shape.values[to]
		for r := range s.rows {
			code := 0
			for _, c := range of {
				digit := int(s.codes[r*q+c])
				if digit < 0 {
					digit = s.values[c]
				}
				code = code*(s.values[c]+gap[c]) + digit
			}
			p.codes[r*len(columns)+to] = int32(code)
		}
		for code := range shape.values[to] {
			var values []int
			for _, c := range slices.Backward(of) {
				size := s.values[c] + gap[c]
				if digit := code % size; digit < s.values[c] {
					values = append(values, s.offset[c]+digit)
				}
				code /= size
			}
			p.stands = append(p.stands, values)
		}
	}
	return p
}

// logs returns the logs of the packs' values, as kernel.logShare has those of
// the columns', in an old slice if it has room.
func (p *packs) logs(kernel *kernel, logs []float64) []float64 {
	k := kernel.units
	logs = slices.Grow(logs[:0], len(p.stands)*k)[:len(p.stands)*k]
	clear(logs)
	for to, values := range p.stands {
		sum := logs[to*k:][:k]
		for _, v := range values {
			for i, l := range kernel.logShare[v*k:][:k] {
				sum[i] += l
			}
		}
	}
	return logs
}

// open turns the statistics of packs into those of the columns.
func (p *packs) open(s, to *statistics) {
	k := s.units
	copy(to.all, s.all[:len(s.all)-len(s.counts)-1])
	to.likelihood[0] = s.likelihood[0]
	for from, values := range p.stands {
		counts := s.counts[from*k:][:k]
		for _, v := range values {
			sum := to.counts[v*k:][:k]
			for i, n := range counts {
				sum[i] += n
			}
		}
	}
}

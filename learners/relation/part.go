package relation

import "slices"

// mostPositive and mostNegative are among how many examples of tables a clause is looked
// for; how much it covers is counted over all.
const mostPositive, mostNegative = 4096, 8192

// part returns every so many positive and negative examples, where there are more than a
// clause needs to be found, and what they weigh: negative ones so much that they are as
// frequent as they were. It returns nil where there are few.
func (f *search) part(active []int32) ([]int32, []float64) {
	of := map[bool]int{}
	for _, e := range active {
		of[f.positive[e]]++
	}
	if f.db.program != nil || of[true] <= mostPositive && of[false] <= mostNegative {
		return nil, nil
	}
	kept := map[bool]int{true: min(of[true], mostPositive), false: min(of[false], mostNegative)}
	more := float64(of[false]) / float64(max(kept[false], 1)) * float64(kept[true]) / float64(max(of[true], 1))
	weight := slices.Clone(f.weight)
	seen := map[bool]int{}
	var part []int32
	for _, e := range active {
		is := f.positive[e]
		if at := seen[is] * kept[is] / of[is]; at < (seen[is]+1)*kept[is]/of[is] {
			part = append(part, e)
			if !is {
				weight[e] *= more
			}
		}
		seen[is]++
	}
	return part, weight
}

// oneOf learns a clause of examples, of many from a part of them. What it covers of all
// must be worth it, too.
func (f *search) oneOf(active []int32) *found {
	part, weight := f.part(active)
	if part == nil {
		return f.learnClause(active)
	}
	whole := f.weight
	f.weight = weight
	c := f.learnClause(part)
	f.weight = whole
	if c == nil || f.err != nil {
		return nil
	}
	if _, ok := f.worth(f.tallyOf(active, nil), f.tallyOf(active, c.body), c.bits); !ok {
		return nil
	}
	return c
}

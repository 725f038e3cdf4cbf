package units

import (
	"encoding/binary"
	"math"
)

// Frequencies puts examples with the same input together: the target of each
// distinct input is the mean of its targets, so that of targets of 0 and 1 it
// is how often 1 was seen. A probability can be learnt by regression on these
// (Mitchell 1997, section 6.5), where inputs repeat. Cross entropy needs no
// such table: its gradient over all examples is that over the distinct inputs,
// each counted as often as it came.
func Frequencies(examples []Example) (distinct []Example, counts []int) {
	at := map[string]int{}
	for _, e := range examples {
		var key []byte
		for _, x := range e.Input {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x+0)) // no negative zero
		}
		i, seen := at[string(key)]
		if !seen {
			i = len(distinct)
			at[string(key)] = i
			distinct = append(distinct, Example{e.Input, make([]float64, len(e.Target))})
			counts = append(counts, 0)
		}
		counts[i]++
		for k, t := range e.Target {
			distinct[i].Target[k] += t
		}
	}
	for i := range distinct {
		for k := range distinct[i].Target {
			distinct[i].Target[k] /= float64(counts[i])
		}
	}
	return distinct, counts
}

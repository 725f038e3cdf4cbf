package cover

import "math/rand/v2"

// heldOutShare is the part of the rows that rules are pruned by.
const heldOutShare = 1.0 / 3

// split deals the weight of rows to growing and to pruning, two to one for
// each label: every unit of weight is drawn on its own, as if equal rows had
// never been put together (Knuth's algorithm S).
func split(random *rand.Rand, rows []int32, label []int32, labels int, weight, grow, prune []float64) {
	const most = 1 << 12 // units drawn one by one; of more, the share itself is close enough
	left := count(rows, label, labels, weight)
	wanted := make([]float64, labels)
	for l := range wanted {
		wanted[l] = left[l] * heldOutShare
	}
	clear(grow)
	clear(prune)
	for _, r := range rows {
		l, w := label[r], weight[r]
		if w > most {
			prune[r] = w * heldOutShare
			wanted[l] -= prune[r]
			left[l] -= w
		} else {
			for rest := w; rest > 0; rest-- {
				unit := min(rest, 1)
				if random.Float64()*left[l] < wanted[l] {
					prune[r] += unit
					wanted[l] -= unit
				}
				left[l] -= unit
			}
		}
		grow[r] = w - prune[r]
	}
}

// weighing returns the rows that have weight.
func weighing(rows []int32, weight []float64) []int32 {
	kept := make([]int32, 0, len(rows))
	for _, r := range rows {
		if weight[r] > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

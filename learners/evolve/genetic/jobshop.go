package genetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Shop is a job-shop problem: each job is a row of operations that are done in
// order, each by one machine, which does one at a time.
type Shop [][]Operation

// Operation takes a machine for some time.
type Operation struct{ Machine, Time int }

// FisherThompson6 is the problem of six jobs on six machines of Fisher & Thompson
// (1963), whose shortest schedule takes 55.
func FisherThompson6() Shop {
	return Shop{
		{{2, 1}, {0, 3}, {1, 6}, {3, 7}, {5, 3}, {4, 6}},
		{{1, 8}, {2, 5}, {4, 10}, {5, 10}, {0, 10}, {3, 4}},
		{{2, 5}, {3, 4}, {5, 8}, {0, 9}, {1, 1}, {4, 7}},
		{{1, 5}, {0, 5}, {2, 5}, {3, 3}, {4, 8}, {5, 9}},
		{{2, 9}, {1, 3}, {4, 5}, {5, 4}, {0, 3}, {3, 1}},
		{{1, 3}, {3, 3}, {5, 9}, {0, 10}, {4, 4}, {2, 1}},
	}
}

// Order is which job goes on next, for every operation: a permutation in which each
// job stands as often as it has operations (Bierwirth 1995), so that every string
// is a schedule.
type Order []int

// Start is when an operation of a job begins.
type Start struct{ Job, Operation, Machine, From, To int }

// Schedule takes the operations in an order and begins each in the first gap of its
// machine that is long enough once its job is ready. It returns when the last one
// ends.
func (s Shop) Schedule(order Order) (plan []Start, makespan int) {
	busy := map[int][]Start{} // of each machine, in time
	ready, next := make([]int, len(s)), make([]int, len(s))
	for _, job := range order {
		op := s[job][next[job]]
		before, from, at := busy[op.Machine], ready[job], 0
		for ; at < len(before) && from+op.Time > before[at].From; at++ {
			from = max(from, before[at].To)
		}
		start := Start{job, next[job], op.Machine, from, from + op.Time}
		busy[op.Machine] = slices.Insert(before, at, start)
		plan = append(plan, start)
		ready[job], makespan = start.To, max(makespan, start.To)
		next[job]++
	}
	return plan, makespan
}

// JobShop breeds orders of a shop's operations: of two parents the offspring has the
// stretch between two points of one, the rest in the order of the other (order
// crossover, Davis 1985); a mutant has two places exchanged. The shorter a schedule
// the fitter: the time of all operations one by one, divided by it.
func JobShop(s Shop) (Species[Order], error) {
	var all Order
	total := 0.0
	for job, operations := range s {
		for _, op := range operations {
			if op.Time < 0 || op.Machine < 0 {
				return Species[Order]{}, fmt.Errorf("job %d: machine %d for a time of %d; expected 0 or more", job+1, op.Machine, op.Time)
			}
			all = append(all, job)
			total += float64(op.Time)
		}
	}
	if len(all) < 2 || total == 0 {
		return Species[Order]{}, fmt.Errorf("a shop of %d operations that take %v has nothing to schedule", len(all), total)
	}
	return Species[Order]{
		Random: func(r *rand.Rand) Order {
			order := slices.Clone(all)
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			return order
		},
		Fitness: func(order Order) float64 {
			_, makespan := s.Schedule(order)
			return total / float64(makespan)
		},
		Cross: func(r *rand.Rand, a, b Order) (Order, Order) {
			from, to := r.IntN(len(all)+1), r.IntN(len(all)+1)
			from, to = min(from, to), max(from, to)
			return crossOrders(a, b, from, to, len(s)), crossOrders(b, a, from, to, len(s))
		},
		Mutate: func(r *rand.Rand, g Order) Order {
			order := slices.Clone(g)
			i, j := r.IntN(len(order)), r.IntN(len(order))
			order[i], order[j] = order[j], order[i]
			return order
		},
		Distance: func(a, b Order) float64 {
			d := 0.0
			for i := range a {
				if a[i] != b[i] {
					d++
				}
			}
			return d
		},
	}, nil
}

// crossOrders keeps a's stretch where it is, and fills in what is left of b in b's
// order.
func crossOrders(a, b Order, from, to, jobs int) Order {
	taken := make([]int, jobs)
	for _, job := range a[from:to] {
		taken[job]++
	}
	var rest Order
	for _, job := range b {
		if taken[job] > 0 {
			taken[job]--
		} else {
			rest = append(rest, job)
		}
	}
	return slices.Concat(rest[:from], a[from:to], rest[from:])
}

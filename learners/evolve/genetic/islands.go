package genetic

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/internal/crew"
)

// Islands divides evolution over several populations (demes), each of the size
// of the algorithm's, between which members migrate now and then (section 9.7;
// Tanese 1989). Islands evolve on all cores; what they come to depends on the
// seed alone.
type Islands struct {
	Count    int // 0 and 1 are a single population
	Every    int // generations between migrations; 0 means 10
	Migrants int // fittest members of an island that are copied to the next; 0 means 1
}

func (i Islands) every() int {
	if i.Every <= 0 {
		return 10
	}
	return i.Every
}

// evolveIslands evolves all islands for a while, lets members migrate around the
// ring, and goes on. Watch sees the islands, one after the other, before each
// migration.
func (ga *GA[G]) evolveIslands(ctx context.Context, seed uint64) (*Result[G], error) {
	quiet := *ga
	quiet.Watch = nil
	all := make([]*evolution[G], ga.Islands.Count)
	errs := make([]error, len(all))
	err := crew.Each(ctx, len(all), func(i int) { all[i], errs[i] = quiet.begin(ctx, seed, uint64(i+1)) })
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	ga.watchAll(all)
	for err == nil && !ended(all) {
		err = crew.Each(ctx, len(all), func(i int) {
			errs[i] = nil
			for range ga.Islands.every() {
				if all[i].result.Stopped != "" || errs[i] != nil {
					return
				}
				errs[i] = all[i].step(ctx)
			}
		})
		for _, e := range errs {
			if err == nil {
				err = e
			}
		}
		if err == nil {
			ga.watchAll(all)
			migrate(all, max(1, ga.Islands.Migrants))
		}
	}
	best := all[0]
	for _, e := range all[1:] {
		if e.result.Fitness > best.result.Fitness || e.result.Fitness == best.result.Fitness && ga.Better != nil && ga.Better(e.result.Best, best.result.Best) {
			best = e
		}
	}
	r := best.result
	r.Stopped = fmt.Sprintf("%s on the best of %d islands", r.Stopped, len(all))
	return &r, err
}

// watchAll shows the islands to who watches.
func (ga *GA[G]) watchAll(all []*evolution[G]) {
	for _, e := range all {
		if ga.Watch != nil {
			ga.Watch(e.result.Generations, e.now)
		}
	}
}

// ended reports whether one island has found what was asked for, or all are at
// their end.
func ended[G any](all []*evolution[G]) bool {
	over := 0
	for _, e := range all {
		if e.settle > e.ga.Settle {
			return true
		}
		if e.result.Stopped != "" {
			over++
		}
	}
	return over == len(all)
}

// migrate copies the fittest of each island over the least fit of the next.
func migrate[G any](all []*evolution[G], migrants int) {
	type traveller struct {
		member, lived G
		fitness       float64
	}
	leaving := make([][]traveller, len(all))
	for i, e := range all {
		for _, k := range e.now.order()[:min(migrants, len(e.now.Members))] {
			leaving[i] = append(leaving[i], traveller{e.now.Members[k], e.now.lived[k], e.now.Fitness[k]})
		}
	}
	for i, e := range all {
		order := e.now.order()
		for n, t := range leaving[(i+len(all)-1)%len(all)] {
			k := order[len(order)-1-n]
			e.now.Members[k], e.now.lived[k], e.now.Fitness[k] = t.member, t.lived, t.fitness
		}
	}
}

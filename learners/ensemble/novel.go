package ensemble

import (
	"cmp"
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// keep chooses the session's own rows that later sessions will see: the hard
// ones, and for each class some anchors among the others. If these are more
// than the share of the session's rows that may be kept, hard rows get half of
// it at least. Who is chosen is decided by the rows' hashes. It returns how
// many there are of each.
func (s *study) keep(ctx context.Context, own *table.Table) (chosen *kept.Rows, hard, anchors int, err error) {
	hashes, err := kept.HashRows(ctx, own)
	if err != nil {
		return nil, 0, 0, err
	}
	order := make([]int, s.own)
	for r := range order {
		order[r] = r
		hashes[r] = mix(hashes[r], s.seed)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	known, err := s.novel(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	var tough []int
	easy := make([][]int, len(s.classes))
	before := make([]int, len(s.classes)) // rows kept of earlier sessions
	for _, c := range s.truth[s.own:] {
		before[c]++
	}
	classes := 0
	some := make([]int, len(s.classes))
	for _, r := range order {
		c := s.truth[r]
		if some[c]++; some[c] == 1 {
			classes++
		}
		switch {
		case known[r]:
		case s.hard[r]:
			tough = append(tough, r)
		default:
			easy[c] = append(easy[c], r)
		}
	}
	var rows []int
	if s.settings.Keep != "none" {
		least := 0
		for c := range some {
			least += min(some[c], max(0, fewest-before[c]))
		}
		room := max(min(int(s.settings.Share*float64(s.own)), s.settings.Most), least)
		quota := min(s.settings.Anchors, (room-min(len(tough), room/2))/classes)
		for _, of := range easy {
			rows = append(rows, of[:min(len(of), quota)]...)
		}
		anchors = len(rows)
		rows = append(rows, tough[:min(len(tough), room-anchors)]...)
	}
	g := (&kept.Rows{}).Gather(s.source, s.target, nil)
	if err := g.Add(ctx, own.Select(rows)); err != nil {
		return nil, 0, 0, err
	}
	chosen, err = g.Rows(ctx)
	return chosen, len(rows) - anchors, anchors, err
}

// novel returns which of the session's own rows D_novel has already, from
// earlier sessions. As printed they are not saved twice; where a session keeps
// anchors too, each has its own.
func (s *study) novel(ctx context.Context) (known map[int]bool, err error) {
	if s.settings.Keep != "hypothesis" {
		return nil, nil
	}
	hashes, err := kept.HashRows(ctx, s.rows)
	if err != nil {
		return nil, err
	}
	saved := map[uint64]bool{}
	for _, h := range hashes[s.own:] {
		saved[h] = true
	}
	known = map[int]bool{}
	for r, h := range hashes[:s.own] {
		known[r] = saved[h]
	}
	return known, nil
}

// fewest is how many rows of a class may be kept in all, however small the
// sessions are.
const fewest = 10

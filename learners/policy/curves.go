package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/stat"
	"github.com/accrete-ml/accrete/learn"
)

// CurveOverSeeds acts again with so many seeds, the policy's own and those that follow
// it, and returns the learning curve: means over seeds, with their intervals of 95 %.
func (m *Model) CurveOverSeeds(ctx context.Context, seeds int) (*draw.Chart, error) {
	s := m.lesson.Settings
	switch {
	case m.acted == nil || s.planned():
		return nil, errors.New("there is no learning curve of a policy that did not learn by acting")
	case seeds < 2:
		return nil, fmt.Errorf("%d seeds: expected at least 2", seeds)
	}
	s.Episodes = m.acted.Episodes
	var charts []*draw.Chart
	for i := range seeds {
		learn.Report(ctx, float64(i)/float64(seeds))
		e, err := act.Lookup(m.acted.World)
		if err != nil {
			return nil, fmt.Errorf("acting again takes a world that is built in: %w", err)
		}
		again, err := s.learnIn(quiet(ctx), m.acted.World, e, m.lesson.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		charts = append(charts, again.GrowthChart())
	}
	learn.Report(ctx, 1)
	return meanOf(charts), nil
}

// meanOf is a chart of the means over charts of the same points, with intervals.
func meanOf(charts []*draw.Chart) *draw.Chart {
	mean := *charts[0]
	mean.Title = fmt.Sprintf("%s, over %d seeds", mean.Title, len(charts))
	mean.Series = nil
	for k, first := range charts[0].Series {
		s := draw.Series{Name: first.Name}
		for i, x := range first.X {
			var ys []float64
			for _, c := range charts {
				if k < len(c.Series) && i < len(c.Series[k].Y) {
					ys = append(ys, c.Series[k].Y[i])
				}
			}
			e := stat.Mean(ys)
			between := e.Interval(0.95, stat.TwoSided)
			s.X, s.Y = append(s.X, x), append(s.Y, e.Value)
			s.Low, s.High = append(s.Low, between.Low), append(s.High, between.High)
		}
		mean.Series = append(mean.Series, s)
	}
	return &mean
}

package serve

import "github.com/accrete-ml/accrete/life"

// LivePoint is how a model did after so many rows.
type LivePoint struct {
	Rows     float64 `json:"rows"`
	Accuracy float64 `json:"accuracy"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Version  int     `json:"version"`
}

// newCurve is points with their intervals.
func newCurve(points []life.LivePoint) []LivePoint {
	var all []LivePoint
	for _, p := range points {
		low, high := wilson(p.Right, p.Rows)
		all = append(all, LivePoint{p.Rows, p.Right / p.Rows, low, high, p.Version})
	}
	return all
}

// curveOf is the curve of what a record tells: of rows that were learnt, else of
// answers whose truth was told.
func (s *Server) curveOf(name string, r *LiveRecord) []LivePoint {
	if l := s.held.model(name).live.Load(); l != nil && r.Learning != nil && r.Learning.Rows > 0 {
		if points := l.curve.Load(); points != nil {
			return newCurve(*points)
		}
	}
	return s.truths.curve(name)
}

package life

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// LiveScore is how well a model answered rows before it learnt them: how often
// it was right, and, by how sure it was, how often then.
type LiveScore struct {
	Rows   float64        `json:"rows"` // whose answer was known
	Right  float64        `json:"right"`
	Square float64        `json:"square,omitempty"` // of a number: sum of squared errors
	Sure   [10]LiveBucket `json:"calibration"`
	// Recent is the same over the last rows.
	Recent     float64 `json:"recent"`
	RecentRows float64 `json:"recent_rows"`

	Last []bool `json:"last,omitempty"` // whether the last rows were right, in a ring
	Next int    `json:"next,omitempty"`
}

// LiveBucket is rows whose answer was about as probable.
type LiveBucket struct {
	Rows  float64 `json:"rows"`
	Right float64 `json:"right"`
	P     float64 `json:"p"` // sum of the probabilities
}

// recent is how many rows lately means.
const recent = 500

// Count notes an answer: whether it was right, and how probable it was said to be.
func (s *LiveScore) Count(right bool, p float64) {
	s.Rows++
	b := &s.Sure[min(max(int(p*10), 0), 9)]
	b.Rows++
	b.P += p
	if right {
		s.Right++
		b.Right++
	}
	if len(s.Last) < recent {
		s.Last = append(s.Last, right)
	} else {
		if s.Last[s.Next] {
			s.Recent--
		}
		s.Last[s.Next] = right
		s.Next = (s.Next + 1) % recent
	}
	if right {
		s.Recent++
	}
	s.RecentRows = float64(len(s.Last))
}

// add scores a batch, whose schema may have grown beyond the model's.
func (s *LiveScore) add(ctx context.Context, m learn.Model, batch *table.Table) error {
	target := m.Target()
	if target == learn.NoTarget || batch.Rows() == 0 {
		return nil
	}
	t, err := evaluate.Fit(m, batch)
	if err != nil {
		return err
	}
	out := learn.NewPredictions(m, t.Rows())
	if err := m.Predict(ctx, t, out); err != nil {
		return err
	}
	column, classes := &t.Columns[target], m.Schema().Attributes[target].Values
	for r := range t.Rows() {
		switch {
		case column.Codes != nil && column.Codes[r] != table.Missing:
			p := out.Row(r)
			best := learn.Best(p, classes)
			s.Count(int(column.Codes[r]) == best, p[best])
		case column.Floats != nil && !table.IsMissing(column.Floats[r]):
			y := column.Floats[r]
			s.Square += (y - out.Mean[r]) * (y - out.Mean[r])
			s.Count(out.Low[r] <= y && y <= out.High[r], 0.95)
		}
	}
	return nil
}

// LivePoint is how a model did after so many rows.
type LivePoint struct {
	Rows    float64 `json:"rows"`
	Right   float64 `json:"right"`
	Version int     `json:"version"`
}

// LiveCurve is how a model came to do as it does: at most so many points, however
// many rows there were. When there are too many, every second one goes, so that
// they lie evenly.
type LiveCurve struct {
	Points []LivePoint `json:"points,omitempty"`
	Every  int         `json:"every,omitempty"` // how many comings of rows lie between two points
	Since  int         `json:"since,omitempty"` // and how many came since the last
}

// mostPoints is how many points a curve keeps.
const mostPoints = 240

// Add notes how a model does now; the last point is always of now.
func (c *LiveCurve) Add(s *LiveScore, version int) {
	n := len(c.Points)
	if s.Rows == 0 || n > 0 && c.Points[n-1].Rows == s.Rows {
		return
	}
	p := LivePoint{s.Rows, s.Right, version}
	if c.Since++; n > 1 && c.Since < c.Every {
		c.Points[n-1] = p
		return
	}
	c.Since = 0
	if c.Points = append(c.Points, p); len(c.Points) < mostPoints {
		return
	}
	kept := c.Points[:0]
	for i := range c.Points {
		if i%2 == 0 || i == len(c.Points)-1 {
			kept = append(kept, c.Points[i])
		}
	}
	c.Points, c.Every = kept, max(2, 2*c.Every)
}

// liveRecord is how a model did on the rows that came to it, as its journal keeps
// it: a server that begins again goes on from there.
type liveRecord struct {
	Next    int              `json:"next"` // number of the first entry that is not judged
	Score   LiveScore        `json:"score"`
	Curve   LiveCurve        `json:"curve"`
	Drifts  []evaluate.Drift `json:"drifts,omitempty"`
	Watched int              `json:"watched,omitempty"` // rows that rules were followed on
	Before  int              `json:"-"`                 // of these, before the watch began
}

// Score returns how well the model has done on rows before it learnt them, and
// which rules moved. It is called by who folds.
func (l *Live) Score() (LiveScore, []evaluate.Drift) {
	s := l.record.Score
	s.Last = nil
	drifts := slices.Clip(l.record.Drifts)
	for _, d := range l.watch.Drifts() {
		d.Since, d.Seen = d.Since+l.record.Before, d.Seen+l.record.Before
		drifts = append(drifts, d)
	}
	return s, drifts
}

// Curve returns how it came to that. It is called by who folds.
func (l *Live) Curve() []LivePoint { return slices.Clone(l.record.Curve.Points) }

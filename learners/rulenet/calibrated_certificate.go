package rulenet

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/logsum"
	"github.com/accrete-ml/accrete/rule"
)

// Certificate says what a rule of a calibrated network is there for.
type Certificate struct {
	ID      string  `json:"id"`      // of the rule
	Rule    string  `json:"rule"`    // its left side
	Round   int     `json:"round"`   // of growth in which it came; 0 for the published search
	Removed float64 `json:"removed"` // bits that it takes off the log loss of the training rows, the other rules as they are
}

// Certifies returns the id of the rule.
func (c Certificate) Certifies() string { return c.ID }

// String returns the certificate as one line.
func (c Certificate) String() string {
	return fmt.Sprintf("%s  round %d  removes %8.4f bits  IF %s", c.ID, c.Round, c.Removed, c.Rule)
}

// Grown returns the certificates, and why growth stopped.
func (m *Model) Grown() (certificates []fmt.Stringer, stopped string) {
	for _, c := range m.Certificates() {
		certificates = append(certificates, c)
	}
	return certificates, m.stopped
}

// Certificates returns one for each unit, the most informative first. It names
// the printed rule of the class that the unit says most of.
func (m *Model) Certificates() []Certificate {
	first := len(m.base.Rules) - len(m.lines)
	strongest, weight := make([]*rule.Rule, len(m.units)), make([]float64, len(m.units))
	for i, l := range m.lines {
		r := &m.base.Rules[first+i]
		own := math.Inf(1)
		if l.class != everyClass {
			own = math.Abs(m.units[l.unit].weights[l.class])
		}
		if strongest[l.unit] == nil || own > weight[l.unit] {
			strongest[l.unit], weight[l.unit] = r, own
		}
	}
	all := make([]Certificate, 0, len(m.units))
	for i, r := range strongest {
		if r != nil {
			all = append(all, Certificate{ID: r.ID(), Rule: joined(r.If), Round: m.units[i].round, Removed: m.units[i].removed})
		}
	}
	return all
}

// removedBits returns for each unit what it takes off the log loss of the rows, in
// bits: the loss without it, all other weights as they are, less the loss.
func (r *regression) removedBits() []float64 {
	k := len(r.present)
	bits := make([]float64, r.units)
	row := make([]float64, k)
	for g := range r.groups() {
		scores := r.scores[g*k : g*k+k]
		counts := r.counts[g*r.classes : (g+1)*r.classes]
		with := logsum.Of(scores)
		for _, u := range r.fires(g) {
			for a := range row {
				row[a] = scores[a] - r.weights[a][u]
			}
			without := logsum.Of(row)
			for a, c := range r.present {
				bits[u] += counts[c] * (without - row[a] - with + scores[a]) / math.Ln2
			}
		}
	}
	return bits
}

// Growth returns what each round of growth came to on rows held out, and why
// it stopped; nothing for networks that were not grown.
func (m *Model) Growth() (steps []Step, stopped string) { return slices.Clone(m.steps), m.stopped }

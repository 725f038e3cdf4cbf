package boost

import "math"

// farOdds keeps odds within numbers.
const farOdds = 30.0

// From has trees begin with scores of a row that others gave it: of the second of
// two classes, or of each of more.
func (t *Teacher) From(row int, scores []float64) {
	if t.Scores == 1 {
		t.state[row] = math.Exp(min(max(scores[0], -farOdds), farOdds))
		return
	}
	Softmax(scores, t.state[row*t.Scores:(row+1)*t.Scores])
}

package reproduce

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/draw"
)

// Experiments that differ in a number are a curve, rates that differ in a word are
// columns with their variants, and what stands alone, or differs in all but its name,
// is not drawn.
func TestPicturesDrawFamilies(t *testing.T) {
	known, other := 90.0, 30.0
	outcomes := []Outcome{
		{Name: "table-1-ts1", Measure: "accuracy after session 1 on rings", Published: &known, Ours: 91, Low: 80, High: 102, scale: Percent},
		{Name: "table-1-ts2", Measure: "accuracy after session 2 on rings", Published: &known, Ours: 92, Low: 84, High: 100, scale: Percent},
		{Name: "growth-200-units", Measure: "rules after 200 examples", Published: &other, Ours: 33, Low: 30, High: 36},
		{Name: "growth-640-units", Measure: "rules after 640 examples", Reference: &other, Ours: 39, Low: 38, High: 40},
		{Name: "led-bayes", Measure: "accuracy: bayes", Published: &known, Ours: 70, Low: 69, High: 71, scale: Percent},
		{Name: "led-rules", Measure: "accuracy: rules", Published: &known, Ours: 68, Low: 67, High: 69, scale: Percent},
		{Name: "led-rules-all", Measure: "accuracy: all", Published: &known, Ours: 68, Low: 67, High: 69, scale: Percent},
		{Name: "bounds-0.05", Measure: "mistakes at β = 0.05, the second time", Reference: &other, Ours: 33, Low: 30, High: 36},
		{Name: "bounds-0.25", Measure: "mistakes at β = 0.25, the first time", Reference: &other, Ours: 33, Low: 30, High: 36},
		{Name: "exercise-5.1", Measure: "seconds of talk", Published: &other, Ours: 30, Low: 30, High: 30},
		{Name: "exercise-5.2", Measure: "rows that are enough", Published: &other, Ours: 30, Low: 30, High: 30},
		{Name: "alone", Measure: "days", Published: &known, Ours: 90, Low: 90, High: 90},
	}
	var drawn []string
	err := Pictures(t.Context(), []string{"play-tennis"}, Options{}, outcomes, func(name string, c *draw.Chart) error {
		drawn = append(drawn, fmt.Sprint(name, " | ", c.Title, " | ", c.XLabel, " | ", c.Categories, " | ", len(c.Series), " | ", c.Series[0].X, c.Series[0].High))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"table-1-ts | table-1-ts: accuracy after session n on rings | n | [1 2] | 2 | [0 1] [100 100]",
		"growth-units | growth-units: rules after n examples | n | [] | 3 | [200 640] [36 40]",
		"led | led: accuracy |  | [bayes rules rules-all] | 2 | [0 1 2] [71 69 69]",
		"bounds | bounds: mistakes at β = n, the | n | [] | 2 | [0.05 0.25] [36 36]",
	}
	if fmt.Sprint(drawn) != fmt.Sprint(want) {
		t.Errorf("drawn %q, expected %q", drawn, want)
	}
}

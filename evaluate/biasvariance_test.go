package evaluate

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// Four training sets answer a row: three are right, one is wrong. The error is
// 1/4; two different sets disagree with probability 1/2, half of which is the
// variance.
func TestPartsOfOneError(t *testing.T) {
	schema := &table.Schema{Attributes: []table.Attribute{{Name: "y", Values: []string{"no", "yes"}}}}
	test, err := table.New(schema, []table.Column{{Codes: []int32{1, 0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := []saying{{classes: []int{1, 1}}, {classes: []int{1, 1}}, {classes: []int{0, 1}}, {classes: []int{1, -1}}}
	b := &BiasVariance{Measure: "error", TestRows: 2}
	b.sum(said, test, 0, .95)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s %v, expected %v", what, got, want)
		}
	}
	near("error", b.Error.Value, (.25+1)/2)
	near("variance", b.Variance.Value, .25) // an unknown class is an answer of its own
	near("bias", b.Bias.Value, (.25+1)/2-.25)

	schema = &table.Schema{Attributes: []table.Attribute{{Name: "y", Kind: table.Numeric}}}
	if test, err = table.New(schema, []table.Column{{Floats: []float64{10}}}, nil); err != nil {
		t.Fatal(err)
	}
	b = &BiasVariance{Measure: "error", TestRows: 1}
	b.sum([]saying{{numbers: []float64{11}}, {numbers: []float64{13}}}, test, 0, .95)
	near("squared error", b.Error.Value, 5) // (1 + 9)/2
	near("variance", b.Variance.Value, 2)   // of 11 and 13
	near("bias", b.Bias.Value, 3)           // (12−10)² − 2/2
}

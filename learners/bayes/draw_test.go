package bayes

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/table"
)

// Two normal densities whose means lie two deviations apart share 0.4859 bits
// with a class that is as often the one as the other: the capacity of a channel
// of two signals at a signal-to-noise ratio of 1 (Cover and Thomas 2006, §9.1).
func TestNumericInformation(t *testing.T) {
	const n = 2000
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range n {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/n-1) // quantiles of the normal density
		fmt.Fprintf(&rows, "%g,no\n%g,yes\n", z-1, z+1)
	}
	tab, _, err := table.Read(context.Background(), strings.NewReader(rows.String()), table.Options{Nominal: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := fit(t, tab, 1).Graph()
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Edges[0].Weight; math.Abs(got-0.4859) > 2e-3 {
		t.Errorf("%.4f bits, expected 0.4859", got)
	}
}

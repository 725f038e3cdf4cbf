package life

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/table"
)

// Write writes an answer for people.
func (x *Answered) Write(w io.Writer) {
	at := x.Attribute
	write := func(v float64) string {
		if at.Date {
			return at.Format(math.Round(v))
		}
		return console.Number(v)
	}
	if at.Kind == table.Numeric {
		median := ""
		if x.Median != nil {
			median = ", median " + write(*x.Median)
		}
		fmt.Fprintf(w, "%s = %s (95 %%: %s to %s%s)\n", at.Name, write(*x.Mean), write(*x.Low), write(*x.High), median)
		if len(x.Modes) > 1 {
			peaks := make([]string, len(x.Modes))
			for i, mode := range x.Modes {
				peaks[i] = write(mode)
			}
			fmt.Fprintf(w, "  it has %d peaks, the highest first: %s\n", len(peaks), strings.Join(peaks, ", "))
		}
	} else {
		values := slices.Clone(at.Values)
		slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(x.Probabilities[b], x.Probabilities[a]) })
		shares := make([]string, 0, 6)
		for i, value := range values {
			if i == 5 {
				shares = append(shares, "…")
				break
			}
			shares = append(shares, fmt.Sprintf("%s %s", value, console.Percent(x.Probabilities[value])))
		}
		fmt.Fprintf(w, "%s = %s\n", at.Name, strings.Join(shares, ", "))
	}
	if x.Samples > 0 {
		fmt.Fprintf(w, "  drawn from %s samples, not worked out: chance has a part in it\n", console.Count(float64(x.Samples)))
	}
	if x.Undecided {
		fmt.Fprintln(w, "  not known: what was learnt does not decide it")
	}
	if x.Outside {
		fmt.Fprintf(w, "  outside my experience: %s of cases are as unusual as this one\n", console.Percent(*x.Experience))
	}
}

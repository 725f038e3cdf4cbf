package logic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
)

// Texts of any kind are read in time and memory in proportion to their size.
func TestReadingGrowsInProportion(t *testing.T) {
	many := func(begin, part, end string) func(size int) []byte {
		return func(size int) []byte { return []byte(begin + strings.Repeat(part, size/len(part)) + end) }
	}
	for name, input := range map[string]func(size int) []byte{
		"facts": many("", "p(a,1).\n", ""), "arguments": many("p(a", ",b", ")."), "list": many("p([a", ",b", "])."), "brackets": many("p(", "(", ""),
		"variables": func(size int) []byte {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "q(X%d), ", i)
			}
			return []byte("p :- " + b.String() + "r.")
		},
		"body": many("p :- a", ", b", "."), "sum": many("p :- X is 1", "+1", "."), "minus": many("p(", "- ", "1)."), "quotes": many("", "'", ""), "comment": many("/*", "*", ""),
		"lines": many("", "\n", "p("), "escapes": many("p('", `\x41\`, "')."), "digits": many("p(", "1", ")."), "symbols": many("p(", "=", ")."), "stops": many("", ".", ""), "odd": many("", "\xff", ""),
		"not": many("p :- ", `\+ `, "a."), "bars": many("p([a", "|b", "])."), "operators": many("p(a", " = b", ")."),
	} {
		t.Run("logic.Read/"+name, func(t *testing.T) { bounded.Worst(t, input, func(b []byte) { _, _ = Read("r", string(b)) }) })
		if name == "facts" || name == "variables" {
			t.Run("logic.ReadBias/"+name, func(t *testing.T) { bounded.Worst(t, input, func(b []byte) { _, _ = ReadBias(string(b)) }) })
			t.Run("logic.ReadTask/"+name, func(t *testing.T) {
				bounded.Worst(t, input, func(b []byte) { _, _ = ReadTask(string(b), string(b), "") })
			})
		}
		if name == "body" || name == "variables" { // the rest is read by the same parser
			t.Run("logic.ReadGoal/"+name, func(t *testing.T) { bounded.Worst(t, input, func(b []byte) { _, _, _ = ReadGoal(string(b)) }) })
		}
	}
}

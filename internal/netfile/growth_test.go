package netfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/bounded"
	"github.com/accrete-ml/accrete/internal/netfile"
)

// Reading takes time in proportion to the text, whatever it says.
func TestParseGrows(t *testing.T) {
	for name, part := range map[string]struct {
		head string
		each func(i int) string
		tail string
	}{
		"variables": {"", func(i int) string { return fmt.Sprintf("variable v%d { type discrete [ 1 ] { a }; }\n", i) }, ""},
		"states":    {"variable v { type discrete { ", func(i int) string { return fmt.Sprintf("s%d ", i) }, "}; }"},
		"chain": {"variable v0 { type discrete { a }; } probability ( v0 ) { table 1; }\n", func(i int) string {
			return fmt.Sprintf("variable v%d { type discrete { a }; } probability ( v%d | v%d ) { (a) 1; }\n", i+1, i+1, i)
		}, ""},
		"numbers": {"variable v { type discrete { a }; } probability ( v ) { table ", func(int) string { return "0 " }, "; }"},
		"parents": {"variable v { type discrete { a }; } probability ( v | ", func(i int) string { return "v " }, ") { }"},
		"comment": {"network n { /*", func(int) string { return "*/ /*" }, "*/ }"},
		"nested":  {"net { } node a { states = (\"x\"); } potential (a) { data = ", func(int) string { return "(" }, "; }"},
		"xml": {"<BIF><NETWORK>", func(i int) string {
			return fmt.Sprintf("<VARIABLE><NAME>v%d</NAME><OUTCOME>a</OUTCOME></VARIABLE>\n", i)
		}, "</NETWORK></BIF>"},
		"word": {"variable ", func(int) string { return "vvvvvvvv" }, " { type discrete { a }; } probability ( w ) { }"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded.Worst(t, func(size int) []byte {
				var b strings.Builder
				b.WriteString(part.head)
				for i := 0; b.Len() < size; i++ {
					b.WriteString(part.each(i))
				}
				b.WriteString(part.tail)
				return []byte(b.String())
			}, func(text []byte) { _, _ = netfile.Parse("f", text) })
		})
	}
}

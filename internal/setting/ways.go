package setting

import (
	"fmt"
	"strings"
)

// Ways reads a setting that says along which columns of numbers an answer only rises
// (+) or falls (-), as in age:+,income:-. It returns nothing of an empty one.
func Ways(slope string) (columns []string, ways []int8, err error) {
	if slope == "" {
		return nil, nil, nil
	}
	for part := range strings.SplitSeq(slope, ",") {
		at := strings.LastIndexByte(part, ':')
		if at < 1 || part[at+1:] != "+" && part[at+1:] != "-" {
			return nil, nil, fmt.Errorf("setting slope=%s: expected columns and their way, as in age:+,income:-", slope)
		}
		way := int8(1)
		if part[at+1:] == "-" {
			way = -1
		}
		columns, ways = append(columns, strings.TrimSpace(part[:at])), append(ways, way)
	}
	return columns, ways, nil
}

// WayNotes says which way an answer goes along the columns of a setting that was
// read before.
func WayNotes(slope, answer string) []string {
	columns, ways, _ := Ways(slope)
	notes := make([]string, len(columns))
	for i, column := range columns {
		verb := "lowers"
		if ways[i] < 0 {
			verb = "raises"
		}
		notes[i] = fmt.Sprintf("%s: a greater one never %s %s", column, verb, answer)
	}
	return notes
}

package table

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Schema is the attributes of a table, in order. It is never changed once a
// table or a model holds it: what extends it is a new schema.
type Schema struct {
	Attributes []Attribute
}

// Index returns the position of the attribute with this name, or -1.
func (s *Schema) Index(name string) int {
	return slices.IndexFunc(s.Attributes, func(a Attribute) bool { return a.Name == name })
}

// Names returns the attributes' names, in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Attributes))
	for i := range s.Attributes {
		names[i] = s.Attributes[i].Name
	}
	return names
}

// Code returns the code of a nominal value, or Unseen.
func (a *Attribute) Code(value string) int32 {
	if i := slices.Index(a.Values, value); i >= 0 {
		return int32(i)
	}
	return Unseen
}

// Format writes a number of this attribute as files have it: the shortest
// text that reads back to the same number, an ISO date for a date, "" for a
// missing cell.
func (a *Attribute) Format(x float64) string {
	if IsMissing(x) {
		return ""
	}
	if a.Date && x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return time.Unix(int64(x)*86400, 0).UTC().Format(time.DateOnly)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

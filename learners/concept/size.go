package concept

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/table"
)

// Sizes counts what a language over some columns of names can say (section
// 2.2): the different rows, the ways to write a conjunction, and the concepts
// that disjunctions of up to terms of them stand for, which are told apart by
// the rows that they hold for.
type Sizes struct{ Rows, Written, Concepts int }

// SizesOf counts over all columns of a schema but the target.
func SizesOf(ctx context.Context, schema *table.Schema, target, terms int) (Sizes, error) {
	s := Sizes{Rows: 1, Written: 1}
	l := &language{}
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		if i == target {
			continue
		}
		if a.Kind != table.Nominal {
			return s, fmt.Errorf("%s has numbers, of which there are infinitely many; expected names", a.Name)
		}
		l.columns = append(l.columns, namesColumn(a, nil, false))
		s.Rows *= len(a.Values)
		s.Written *= len(a.Values) + 2 // a value, any, none
	}
	v, err := list(ctx, l, terms)
	if err != nil {
		return s, err
	}
	s.Concepts = len(v.members)
	return s, nil
}

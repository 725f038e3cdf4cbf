package life

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// costsOf reads costs such as "yes:no=5, no:yes=1": what was said, what is
// true, and what that costs. Wrong answers that are not named cost 1, and right
// ones nothing. "" is nil.
func costsOf(text string, m learn.Model) (*evaluate.Costs, error) {
	return CostsOf(text, m.Schema(), m.Target())
}

// CostsOf reads costs of wrong answers for a column of a schema.
func CostsOf(text string, schema *table.Schema, target int) (*evaluate.Costs, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if target == learn.NoTarget || schema.Attributes[target].Kind != table.Nominal {
		return nil, remedy.Misusef("costs are those of wrong classes, and none is predicted")
	}
	classes := schema.Attributes[target].Values
	c := evaluate.NewCosts(classes)
	for _, part := range SplitOutside(text, ',') {
		sides := SplitOutside(part, '=')
		if len(sides) != 2 || len(SplitOutside(sides[0], ':')) != 2 {
			return nil, remedy.Misusef("costs %s: expected SAID:TRUE=COST, as in %s:%s=5", strings.TrimSpace(part), classes[0], classes[len(classes)-1])
		}
		var at [2]int
		for i, name := range SplitOutside(sides[0], ':') {
			name, err := Unquote(name)
			if err != nil {
				return nil, remedy.Misuse(err)
			}
			if at[i] = slices.Index(classes, name); at[i] < 0 {
				return nil, remedy.Misusef("costs %s: %q is no class of %q%s", strings.TrimSpace(part), name, schema.Attributes[target].Name, spell.Hint(name, classes))
			}
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(sides[1]), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, remedy.Misusef("costs %s: %q is no number", strings.TrimSpace(part), strings.TrimSpace(sides[1]))
		}
		c.Of[at[0]][at[1]] = x
	}
	return c, nil
}

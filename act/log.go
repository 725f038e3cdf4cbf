package act

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// Log acts for a number of episodes and returns what was done as a table: the
// columns of states, the action and the reward, rows of an episode together. No
// choice is any legal action, by lot.
func Log(ctx context.Context, e Environment, episodes, most int, seed uint64, choose Choose) (*table.Table, error) {
	random := rand.New(rand.NewPCG(seed, 0x109))
	if choose == nil {
		choose = func(_ []float64, legal []int) (int, error) { return legal[random.IntN(len(legal))], nil }
	}
	schema := table.CopySchema(e.Schema())
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "action", Kind: table.Nominal, Values: append([]string(nil), e.Actions()...)},
		table.Attribute{Name: "reward", Kind: table.Numeric})
	columns := make([]table.Column, len(schema.Attributes))
	width := len(columns) - 2
	var number []int32
	var names []string
	for i := range episodes {
		names = append(names, strconv.Itoa(i+1))
		_, _, err := Play(ctx, e, random.Uint64(), most, 1, choose, func(s Step) error {
			for j := range width {
				if schema.Attributes[j].Kind == table.Numeric {
					columns[j].Floats = append(columns[j].Floats, s.State[j])
				} else {
					columns[j].Codes = append(columns[j].Codes, int32(s.State[j]))
				}
			}
			columns[width].Codes = append(columns[width].Codes, int32(s.Action))
			columns[width+1].Floats = append(columns[width+1].Floats, s.Reward)
			number = append(number, int32(i))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	t, err := table.New(schema, columns, nil)
	if err != nil {
		return nil, err
	}
	return t.InSequence("episode", number, names)
}

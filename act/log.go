package act

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/table"
)

// Log acts for a number of episodes and returns what was done as a table: the
// columns of states, the action and the reward, rows of an episode together. No
// choice is any legal action, by lot. Where the world fails there is the error, and
// the whole episodes before it.
func Log(ctx context.Context, e Environment, episodes, most int, seed uint64, choose Choose) (*table.Table, error) {
	t, _, err := Diary(ctx, e, episodes, most, seed, choose)
	return t, err
}

// Diary is Log that also says of each episode whether it did not end: it was cut, or
// as long as one may be.
func Diary(ctx context.Context, e Environment, episodes, most int, seed uint64, choose Choose) (t *table.Table, unended []bool, err error) {
	return record(ctx, e, func(acted, _ int) bool { return acted < episodes }, most, seed, choose)
}

// LogRows is a log of acts by lot, of so many rows: whole episodes, the last of which
// may go on for longer.
func LogRows(ctx context.Context, e Environment, rows, most int, seed uint64) (*table.Table, error) {
	t, _, err := record(ctx, e, func(_, written int) bool { return written < rows }, most, seed, nil)
	return t, err
}

func record(ctx context.Context, e Environment, more func(episodes, rows int) bool, most int, seed uint64, choose Choose) (t *table.Table, unended []bool, err error) {
	random := rand.New(rand.NewPCG(seed, 0x109))
	if choose == nil {
		choose = func(_ []float64, legal []int) (int, error) { return legal[random.IntN(len(legal))], nil }
	}
	states := e.Schema().Attributes
	width := len(states)
	columns := make([]table.Column, width+2)
	var number []int32
	var names []string
	var stopped error
	for i := 0; more(i, len(number)); i++ {
		names = append(names, strconv.Itoa(i+1))
		ended := false
		_, _, err := Play(ctx, e, random.Uint64(), most, 1, choose, func(s Step) error {
			for j := range width {
				switch x := s.State[j]; {
				case states[j].Kind == table.Numeric:
					columns[j].Floats = append(columns[j].Floats, x)
				case x != x:
					columns[j].Codes = append(columns[j].Codes, table.Missing)
				default:
					columns[j].Codes = append(columns[j].Codes, int32(x))
				}
			}
			columns[width].Codes = append(columns[width].Codes, int32(s.Action))
			columns[width+1].Floats = append(columns[width+1].Floats, s.Reward)
			number = append(number, int32(i))
			ended = s.End && !cut(e)
			return nil
		})
		unended = append(unended, !ended)
		if err != nil {
			whole := slices.Index(number, int32(i))
			if whole < 0 {
				whole = len(number)
			}
			for j := range columns {
				columns[j].Floats, columns[j].Codes = columns[j].Floats[:min(whole, len(columns[j].Floats))], columns[j].Codes[:min(whole, len(columns[j].Codes))]
			}
			number, names, stopped = number[:whole], names[:i], err
			break
		}
	}
	schema := table.CopySchema(e.Schema()) // now that all names and actions have come up
	schema.Attributes = append(schema.Attributes, table.Attribute{Name: "action", Kind: table.Nominal, Values: append([]string(nil), e.Actions()...)},
		table.Attribute{Name: "reward", Kind: table.Numeric})
	if t, err = table.New(schema, columns, nil); err == nil {
		t, err = t.InSequence("episode", number, names)
	}
	return t, unended, cmp.Or(stopped, err)
}

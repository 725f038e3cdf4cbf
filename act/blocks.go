package act

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/table"
)

// pile is what each of up to six blocks stands on; −1 is the table.
type pile [6]int8

// blockNames are the columns and actions of so many blocks: each to the table, and to
// each of the others.
func blockNames(n int) (schema *table.Schema, actions []string) {
	schema = &table.Schema{}
	names := strings.Split("abcdef", "")[:n]
	for i, name := range names {
		values := []string{"table"}
		actions = append(actions, name+"-to-table")
		for k, other := range names {
			if values = append(values, other); k != i {
				actions = append(actions, name+"-to-"+other)
			}
		}
		schema.Attributes = append(schema.Attributes, table.Attribute{Name: name, Kind: table.Nominal, Values: values})
	}
	return schema, actions
}

// blocksWorld is a table with a few blocks, which are moved one by one onto each
// other or onto the table until they stand in one tower, a on b on c and so on
// (Winograd 1972; Sussman 1975). A state says what each block stands on; episodes
// begin with any of them.
func blocksWorld(s settings) (Environment, error) {
	n, err := s.count("blocks", 2, 6)
	if err != nil {
		return nil, err
	}
	goal, err := s.number("goal", -1e12, 1e12)
	if err != nil {
		return nil, err
	}
	step, err := s.number("step", -1e12, 1e12)
	if err != nil {
		return nil, err
	}
	r := rules[pile]{}
	r.schema, r.actions = blockNames(n)
	var tower, flat pile
	for i := range n {
		flat[i], tower[i] = -1, int8(i+1)
	}
	tower[n-1] = -1
	// Actions of a block are n: to the table, and to each of the others.
	to := func(action int) (block, onto int8) {
		block = int8(action / n)
		if onto = int8(action%n) - 1; onto >= block {
			onto++
		}
		return block, onto
	}
	clear := func(p pile, block int8) bool {
		for i := range n {
			if p[i] == block {
				return false
			}
		}
		return true
	}
	r.legal = func(p pile) (legal []int) {
		if p == tower {
			return nil
		}
		for a := range r.actions {
			if block, onto := to(a); clear(p, block) && p[block] != onto && (onto < 0 || clear(p, onto)) {
				legal = append(legal, a)
			}
		}
		return legal
	}
	r.act = func(p pile, a int) []Outcome[pile] {
		block, onto := to(a)
		if p[block] = onto; p == tower {
			return []Outcome[pile]{{1, p, step + goal, true}}
		}
		return []Outcome[pile]{{1, p, step, false}}
	}
	r.cells = func(p pile, cells []float64) {
		for i := range n {
			cells[i] = float64(p[i] + 1)
		}
	}
	r.starts = []pile{flat}
	all, err := r.build() // all states can be reached from the flat one
	if err != nil {
		return nil, err
	}
	all.starts = nil
	for s := range all.States() {
		if all.first[s] < all.first[s+1] {
			all.starts = append(all.starts, int32(s))
		}
	}
	if len(all.starts) == 0 {
		return nil, fmt.Errorf("blocks=%d: there is nothing to move", n)
	}
	return all.Environment(), nil
}

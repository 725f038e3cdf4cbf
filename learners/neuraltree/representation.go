package neuraltree

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/table"
)

// AsNetwork writes the tree out as a network (the paper's figure 2): of each
// unit the weights of its inputs, those of its ancestors, v = ±(1 + Σ|w|), and
// the bias with their sizes added; of the output the weight 1 for each unit
// that it listens to, and the bias −(N − 1) where all of them are left ones.
func (m *Model) AsNetwork() (*draw.Units, error) {
	net := m.Network()
	view := &draw.Units{Title: m.schema.Attributes[m.target].Name}
	for _, in := range net.Inputs {
		view.Inputs = append(view.Inputs, in.Name)
	}
	name := func(unit int) string { return fmt.Sprintf("unit %d", unit+1) }
	for k := range net.Units {
		u := &net.Units[k]
		unit := draw.Unit{Name: name(k), Function: "sgn", Bias: &u.Bias}
		for j := range u.Weights {
			if u.Weights[j] != 0 {
				unit.From = append(unit.From, draw.UnitLink{From: net.Inputs[j].Name, Weight: &u.Weights[j]})
			}
		}
		for i := range u.From {
			unit.From = append(unit.From, draw.UnitLink{From: name(u.From[i].Unit), Weight: &u.From[i].Weight})
		}
		view.Units = append(view.Units, unit)
	}
	for k := range net.Outputs {
		o := &net.Outputs[k]
		unit := draw.Unit{Name: m.schema.Attributes[m.target].Name + " = " + net.Classes[o.Class], Function: "sgn", Bias: &o.Bias, Output: true}
		for i := range o.From {
			unit.From = append(unit.From, draw.UnitLink{From: name(o.From[i].Unit), Weight: &o.From[i].Weight})
		}
		view.Units = append(view.Units, unit)
	}
	if len(net.Outputs) == 1 && len(net.Classes) == 2 {
		view.Notes = append(view.Notes, fmt.Sprintf("the output says %s where its sum is above 0, else %s", net.Classes[net.Outputs[0].Class], net.Classes[0]))
	}
	return view, nil
}

// InternalRepresentation returns the states of all units for each row of a
// table, and whether the output units, which see nothing else, separate them:
// whether the network answers every row as the tree does.
func (m *Model) InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error) {
	if err := table.Fits(m.schema, t); err != nil {
		return nil, err
	}
	net := m.Network()
	classes := m.classes()
	s := &draw.States{}
	for k := range net.Units {
		s.Units = append(s.Units, fmt.Sprintf("unit %d", k+1))
	}
	heard := make([]bool, len(net.Units)) // by an output
	for _, o := range net.Outputs {
		for _, from := range o.From {
			heard[from.Unit] = true
		}
	}
	alike, single := 0, 0
	distinct := map[string]bool{}
	for r := range t.Rows() {
		if r%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		states, class := net.Fire(net.Read(t, r))
		silent := 0
		key := make([]byte, len(states))
		for i, v := range states {
			if v < 0 {
				key[i] = 1
				if heard[i] {
					silent++
				}
			}
		}
		distinct[string(key)] = true
		if silent <= 1 {
			single++
		}
		if class == m.nodes[m.leaf(t.Columns, r)].label(classes) {
			alike++
		}
		s.Rows = append(s.Rows, draw.StateRow{Row: r + 1, States: states, Answer: classes[class]})
	}
	s.Notes = []string{fmt.Sprintf("%d representations of %d rows; in %d rows all units that the output listens to are +1 but at most one; the output answers %d of %d rows as the tree does",
		len(distinct), t.Rows(), single, alike, t.Rows())}
	return s, nil
}

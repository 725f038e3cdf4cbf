package main

import (
	"context"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// networked is a model that is a network, to be read unit by unit.
type networked interface{ AsNetwork() (*draw.Units, error) }

// unitsOf returns the units of a model that is a network.
func unitsOf(m learn.Model, v store.Version) (*draw.Units, error) {
	n, ok := plain(m).(networked)
	if !ok {
		return nil, fmt.Errorf("models of %s are not networks of units; learn one with mlp, neuraltree or gaussian", v.Learner)
	}
	return n.AsNetwork()
}

// printNetwork prints a model's units or, with data, what they say to its
// rows.
func (a *app) printNetwork(ctx context.Context, m learn.Model, v store.Version, on string, flags *dataFlags) error {
	net, err := unitsOf(m, v)
	if err != nil {
		return err
	}
	var states *draw.States
	if on != "" {
		r, ok := plain(m).(interface {
			InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error)
		})
		if !ok {
			return fmt.Errorf("the units of %s have no states of their own to print; --on is for mlp and neuraltree", v.Learner)
		}
		d, err := a.find(on, flags)
		if err != nil {
			return err
		}
		t, err := a.readAs(ctx, d, m.Schema())
		if err != nil {
			return err
		}
		if t, _, err = table.Conform(t, m.Schema(), false); err != nil {
			return err
		}
		if states, err = r.InternalRepresentation(ctx, t); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(struct {
			Model   string       `json:"model"`
			Version int          `json:"version"`
			Network *draw.Units  `json:"network"`
			States  *draw.States `json:"states,omitempty"`
		}{v.Model, v.Number, net, states})
	}
	lines := net.Lines()
	if states != nil {
		lines = states.Lines()
	}
	for _, line := range lines {
		fmt.Fprintln(a.out, line)
	}
	return nil
}

// drawUnits draws a model as a network of units.
func drawUnits(p *part) (func(io.Writer) error, error) {
	net, err := unitsOf(p.Model, p.version)
	if err != nil {
		return nil, err
	}
	return net.Graph().SVG, nil
}

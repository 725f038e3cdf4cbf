package life

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/table"
)

// Network is a model that is a network, unit by unit, and what the units say
// to rows.
type Network struct {
	Model   string       `json:"model"`
	Version int          `json:"version"`
	Network *draw.Units  `json:"network"`
	States  *draw.States `json:"states,omitempty"`
}

// Network reads a model as a network of units; with data, also what they say to
// its rows.
func (h *Home) Network(ctx context.Context, p *Part, on *Data) (*Network, error) {
	units, err := unitsOf(p)
	if err != nil {
		return nil, err
	}
	n := &Network{Model: p.Version.Model, Version: p.Version.Number, Network: units}
	if on == nil {
		return n, nil
	}
	r, ok := plain(p.Model).(interface {
		InternalRepresentation(ctx context.Context, t *table.Table) (*draw.States, error)
	})
	if !ok {
		return nil, fmt.Errorf("the units of %s have no states of their own; those of mlp, neuraltree and gaussian have", p.Version.Learner)
	}
	t, err := h.ReadAs(ctx, on, p.Schema())
	if err != nil {
		return nil, err
	}
	if t, _, err = table.Conform(t, p.Schema(), false); err != nil {
		return nil, err
	}
	n.States, err = r.InternalRepresentation(ctx, t)
	return n, err
}

// unitsOf returns the units of a model that is a network.
func unitsOf(p *Part) (*draw.Units, error) {
	n, ok := plain(p.Model).(interface{ AsNetwork() (*draw.Units, error) })
	if !ok {
		return nil, remedy.New(Remedy{Kind: remedy.UseLearner, Names: []string{"mlp", "neuraltree", "gaussian", "rbf"}}, "models of %s are not networks of units", p.Version.Learner)
	}
	return n.AsNetwork()
}

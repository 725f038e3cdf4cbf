package life

import (
	"context"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
)

// step is the next version of a model, before it is kept.
type step struct {
	model  learn.Model
	record store.Version
	// save keeps it in another way than by saving it; nil saves it.
	save func(tx *store.Tx, m learn.Model, v store.Version) (store.Version, error)
}

// change makes the next version of a model of the store out of the newest one.
// What takes long, reading and learning, holds up nobody: only keeping the
// result does. If somebody else was quicker, it is made again, of what they
// made, and now the others wait: so it comes to an end, and nothing is lost.
// What is made again must be there to be read again. The home that make is
// given hears the remarks of the version that is kept.
func (h *Home) change(ctx context.Context, name string, make func(h *Home, p *Part) (*step, error)) (*Learnt, error) {
	return h.changeOf(ctx, name, h.Load, make)
}

// changeOf is change of a model that is loaded in a way.
func (h *Home) changeOf(ctx context.Context, name string, load func(name string) (*Part, error), make func(h *Home, p *Part) (*step, error)) (*Learnt, error) {
	if err := store.CheckName(name); err != nil {
		return nil, err
	}
	before, err := load(name)
	if err != nil {
		return nil, err
	}
	heard := &notes{}
	s, err := make(h.telling(heard), before)
	if err != nil {
		heard.pass(h)
		return nil, err
	}
	var after *Part
	err = h.Store.Write(ctx, name, func(tx *store.Tx) error {
		if !sameVersion(tx.Latest(), before.Version) {
			if before, err = load(name); err != nil {
				return err
			}
			heard = &notes{}
			if s, err = make(h.telling(heard), before); err != nil {
				return err
			}
		}
		after, err = s.keep(tx, before)
		return err
	})
	heard.pass(h)
	if err != nil {
		return nil, err
	}
	return h.newLearnt(after, before.Version), nil
}

// sameVersion reports whether two records are of one version, though a model
// may have been deleted and learnt again under its name.
func sameVersion(v, w store.Version) bool {
	return v.Number == w.Number && v.At.Equal(w.At) && v.Source.ID == w.Source.ID
}

// keep makes the step the version that follows.
func (s *step) keep(tx *store.Tx, before *Part) (*Part, error) {
	save := s.save
	if save == nil {
		save = (*store.Tx).Save
	}
	v, err := save(tx, s.model, s.record)
	if err != nil {
		return nil, err
	}
	return &Part{Model: s.model, Name: before.Name, Version: v, Versions: append(slices.Clip(before.Versions), v), Words: before.Words}, nil
}

// notes are remarks that wait until they are known to be true.
type notes struct{ list []Note }

func (n *notes) pass(h *Home) {
	for _, note := range n.list {
		h.remark(note)
	}
}

// telling is the same home, whose remarks are gathered.
func (h *Home) telling(n *notes) *Home {
	other := *h
	other.Note = func(note Note) { n.list = append(n.list, note) }
	return &other
}

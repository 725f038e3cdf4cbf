package life

import (
	"context"
	"fmt"
	"time"
)

// Models is the list of models of a store.
type Models struct {
	Models []ModelEntry `json:"models"`
}

// ModelEntry is a model in the list, as programs read it.
type ModelEntry struct {
	Model    string  `json:"model"`
	Versions int     `json:"versions"`
	Learner  string  `json:"learner"`
	Target   *string `json:"target"`
	Rows     float64 `json:"rows"`
	At       string  `json:"at"`
}

// List lists the models of the store. A model that cannot be read is left out,
// and is what the error is about.
func (h *Home) List() (*Models, error) {
	models, err := h.Store.Models()
	list := &Models{Models: []ModelEntry{}}
	for _, m := range models {
		e := ModelEntry{Model: m.Name, Versions: m.Versions, Learner: m.Latest.Learner, Rows: m.Latest.Rows, At: Stamp(m.Latest.At)}
		if m.Latest.Target != "" {
			e.Target = &m.Latest.Target
		}
		list.Models = append(list.Models, e)
	}
	return list, err
}

// Stamp writes a time for people and programs alike.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Restore makes an old version the newest again.
func (h *Home) Restore(ctx context.Context, ref string) (*Learnt, error) {
	v, err := h.Store.Restore(ctx, ref, h.now())
	if err != nil {
		return nil, err
	}
	return h.reload(fmt.Sprintf("%s@%d", v.Model, v.Number))
}

// Import adds a model that was exported, under a name or that which it had.
func (h *Home) Import(ctx context.Context, path, name string) (*Learnt, error) {
	v, err := h.Store.Import(ctx, path, name, h.now())
	if err != nil {
		return nil, err
	}
	return h.reload(fmt.Sprintf("%s@%d", v.Model, v.Number))
}

func (h *Home) reload(ref string) (*Learnt, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	return h.newLearnt(p, p.Version), nil
}

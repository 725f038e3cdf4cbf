package life

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/store"
)

// Forgotten is a model without a source.
type Forgotten struct {
	Learnt
	Source  store.Source `json:"-"` // what is gone
	WasTold bool         `json:"-"` // it was rules, not rows
	Also    []Note       `json:"-"` // other models that still hold what was erased
}

// Forget takes a source or an expert back out of a model of the store. With
// erase it is taken out of every older version and record too.
func (h *Home) Forget(ctx context.Context, name, source string, erase bool, e Edit) (*Forgotten, error) {
	f := &Forgotten{}
	var found []store.Version
	l, err := h.edit(ctx, name, e, func(h *Home, p *Part) (_ *step, err error) {
		s := &step{}
		if s.model, s.record, found, err = h.forget(ctx, p, source, erase); err != nil {
			return nil, err
		}
		if erase {
			var ids []string
			for _, v := range found {
				ids = append(ids, v.Source.ID)
			}
			s.record.Source.Name = filepath.Base(s.record.Source.Name)
			s.save = func(tx *store.Tx, m learn.Model, v store.Version) (store.Version, error) {
				return tx.Erase(m, v, ids...)
			}
		}
		f.Source, f.WasTold = s.record.Source, found[0].Kind == store.Tell
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	f.Learnt = *l
	if e.Preview {
		return f, nil
	}
	if f.Part.Versions, err = h.Store.Log(name); err != nil {
		return nil, err
	}
	if erase {
		f.Also = h.noteElsewhere(name, found)
	}
	return f, nil
}

// forget returns the model that is left, the record of what was done, and
// those of what is gone.
func (h *Home) forget(ctx context.Context, p *Part, source string, erase bool) (learn.Model, store.Version, []store.Version, error) {
	record := store.Version{Kind: store.Forget, At: h.now(), Seed: p.Version.Seed, Settings: p.Version.Settings}
	f, ok := learn.Ability[learn.Forgetter](p.Model)
	if !ok {
		return nil, record, nil, cannot(p.Version.Learner, "forget", func(c learn.Can) bool { return c.Forget })
	}
	records := live(p.Model, p.Versions)
	if erase {
		records = everKnown(p.Versions)
	}
	found, err := findSource(p.Versions, records, source)
	if err != nil {
		return nil, record, nil, err
	}
	record.Source, record.Source.Rows = found[0].Source, 0
	var ids []string
	known := f.Sources()
	for _, v := range found {
		if !slices.Contains(ids, v.Source.ID) && hasSource(known, v.Source.ID) {
			ids = append(ids, v.Source.ID)
		}
		record.Source.Rows += v.Source.Rows
	}
	rows, forgets := plain(p.Model).(learn.Forgetter)
	told := found[0].Kind == store.Tell
	m, acts := learn.Ability[policy](p.Model)
	if acts = acts && m.World() != ""; forgets && (len(rows.Sources()) == 0 || acts) && !told {
		// It keeps no sources apart, and says why.
		if _, err := rows.Forget(ctx, found[0].Source.ID); err != nil {
			return nil, record, nil, err
		}
		return nil, record, nil, fmt.Errorf("%s keeps no sources apart and cannot forget one", p.Name)
	}
	if forgets && !told && len(rows.Sources()) > 0 && !slices.ContainsFunc(rows.Sources(), func(s learn.Source) bool { return !slices.Contains(ids, s.ID) }) {
		return nil, record, nil, remedy.New(Remedy{Kind: remedy.ForgetAll, What: p.Name}, "%s has learnt nothing but %s", p.Name, filepath.Base(found[0].Source.Name))
	}
	if len(ids) == 0 {
		return p.Model, record, found, nil
	}
	bar, done := h.progress("forgetting")
	defer done()
	left, err := f.Forget(learn.WithProgress(ctx, bar), ids...)
	return left, record, found, err
}

// everKnown returns the records of everything that some version learnt or was
// told.
func everKnown(versions []store.Version) []store.Version {
	var all []store.Version
	seen := map[string]bool{}
	for i := range versions {
		for _, v := range chain(versions[:i+1]) {
			if key := fmt.Sprintf("%s %d %s", v.Model, v.Number, v.Source.ID); v.Source.ID != "" && !seen[key] {
				seen[key] = true
				all = append(all, v)
			}
		}
	}
	return all
}

// noteElsewhere says which other models still hold an erased source.
func (h *Home) noteElsewhere(name string, found []store.Version) (notes []Note) {
	models, _ := h.Store.Models() // damaged ones are said where models are listed
	for _, m := range models {
		if m.Name == name {
			continue
		}
		versions, _ := h.Store.Log(m.Name)
		for _, v := range everKnown(versions) {
			if v.Source.ID == found[0].Source.ID || v.Source.Hash != "" && v.Source.Hash == found[0].Source.Hash {
				notes = append(notes, Note{
					Text:   fmt.Sprintf("the model %s has learnt from %s too", m.Name, v.Source.Name),
					Remedy: Remedy{Kind: remedy.EraseThere, What: m.Name, Names: []string{short(v.Source.Hash)}},
				})
				break
			}
		}
	}
	return notes
}

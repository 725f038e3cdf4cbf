package kept

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/bundle"
	"github.com/accrete-ml/accrete/learn"
)

// A model that is the sum of its sources saves the sum as well, with a list of
// the parts that the sources are in. Who has both can answer, and add a source,
// without the parts: they may be held (learn.Part), and their blocks then know
// their source alone until somebody asks for more.

// PartsOf returns the parts of runs of blocks, by their names, and their list.
func PartsOf[B comparable](runs []bundle.Run[B], name func(run *bundle.Run[B]) string, source func(B) learn.Source) (parts []learn.Part, list []bundle.Listed) {
	for i := range runs {
		run := &runs[i]
		of := bundle.Listed{Part: name(run) + source(run.Blocks[0]).ID}
		for _, b := range run.Blocks {
			of.Sources = append(of.Sources, source(b).ID, source(b).Name)
		}
		list = append(list, of)
		parts = append(parts, learn.Part{Name: of.Part, Data: run.Data, Held: run.Held})
	}
	return parts, list
}

// Listed returns the entries of a list by their parts' names, if it is that of
// these parts, some besides, in their order; else nil.
func Listed(list []bundle.Listed, parts []learn.Part, besides func(name string) bool) map[string]*bundle.Listed {
	known, n := make(map[string]*bundle.Listed, len(list)), 0
	for _, p := range parts {
		if besides(p.Name) {
			continue
		}
		if n == len(list) || list[n].Part != p.Name || len(list[n].Sources) == 0 || len(list[n].Sources)%2 != 0 {
			return nil
		}
		known[p.Name] = &list[n]
		n++
	}
	if n != len(list) || len(known) != n {
		return nil
	}
	return known
}

// Wait returns blocks that stand for those of a part which is held and in the
// list; nil if it is not. Each knows its source and where to ask for the rest
// (stand); then the part is decoded, and each is filled in from its like.
func Wait[B any](p learn.Part, listed *bundle.Listed, stand func(s learn.Source, later *bundle.Later[B]) *B, decode func(p learn.Part) ([]*B, error), fill func(to, from *B) error) []*B {
	if p.Held == nil || p.Data != nil || listed == nil {
		return nil
	}
	blocks := make([]*B, len(listed.Sources)/2)
	later := bundle.NewLater[B](p.Held, func(data []byte) error {
		p.Data = data
		read, err := decode(p)
		if err == nil && len(read) != len(blocks) {
			err = fmt.Errorf("%d sources, expected %d", len(read), len(blocks))
		}
		for i := 0; err == nil && i < len(blocks); i++ {
			err = fill(blocks[i], read[i])
		}
		if err != nil {
			return fmt.Errorf("%w: part %s: %v", learn.ErrDamaged, p.Name, err)
		}
		return nil
	})
	for i := range blocks {
		blocks[i] = stand(learn.Source{ID: listed.Sources[2*i], Name: listed.Sources[2*i+1]}, later)
	}
	return blocks
}

package learntest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/table"
)

// saveAndLoad: a model made of its parts, with or without the derived ones,
// answers with the same bits and has the same parts.
func saveAndLoad(s *subject) error {
	return each(s.variants(), func(v variant) error {
		m, err := s.twoSources(v)
		if err != nil {
			return err
		}
		parts, err := m.Parts()
		if err != nil {
			return err
		}
		if again, err := m.Parts(); err != nil {
			return err
		} else if err := equalParts(again, parts); err != nil {
			return fmt.Errorf("saved twice: %w", err)
		}
		names := map[string]bool{}
		for _, p := range parts {
			if names[p.Name] {
				return fmt.Errorf("two parts are named %q", p.Name)
			}
			names[p.Name] = true
		}
		kept := slices.DeleteFunc(slices.Clone(parts), func(p learn.Part) bool { return p.Derived })
		for what, from := range map[string][]learn.Part{"all parts": parts, "no derived parts": kept} {
			loaded, err := s.info.Decode(from)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if err := s.sameLoaded(v, loaded, m, parts); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		return nil
	})
}

// twoSources returns a model that learnt from two sources if it can, so that
// saved parts have something to keep apart.
func (s *subject) twoSources(v variant) (learn.Model, error) {
	m, err := s.learn(v, s.table(v, 200, 50), "a")
	if err != nil {
		return nil, err
	}
	if u, ok := m.(learn.Updater); ok {
		return updated(u, "b", extend(s.table(v, 100, 51), m.Schema()))
	}
	return m, nil
}

func (s *subject) sameLoaded(v variant, loaded, m learn.Model, parts []learn.Part) error {
	switch {
	case loaded.Learner() != m.Learner() || loaded.Target() != m.Target() || loaded.Size() != m.Size():
		return errors.New("learner, target or size differ after loading")
	case !equalSchemas(loaded.Schema(), m.Schema()):
		return errors.New("the schema differs after loading")
	}
	if f, ok := m.(learn.Forgetter); ok && !slices.Equal(f.Sources(), loaded.(learn.Forgetter).Sources()) {
		return errors.New("the sources differ after loading")
	}
	if err := agree(loaded, m, s.table(v, 300, 52), 0); err != nil {
		return err
	}
	again, err := loaded.Parts()
	if err != nil {
		return err
	}
	return equalParts(again, parts)
}

// damagedParts: parts that were cut short, or none at all, are refused; other
// damage is refused or gives a model that still answers soundly. Nothing
// panics.
func damagedParts(s *subject) error {
	return each(s.variants(), func(v variant) error {
		m, err := s.twoSources(v)
		if err != nil {
			return err
		}
		parts, err := m.Parts()
		if err != nil {
			return err
		}
		if _, err := s.info.Decode(nil); err == nil {
			return errors.New("no parts at all are accepted")
		}
		probe := s.table(v, 20, 53)
		random := rand.New(rand.NewPCG(53, 53))
		for i, p := range parts {
			damaged := slices.Clone(parts)
			for cut := range 10 {
				damaged[i].Data = p.Data[:cut*len(p.Data)/10]
				if _, err := s.info.Decode(damaged); err == nil && !p.Derived {
					return fmt.Errorf("part %q is accepted after %d of its %d bytes", p.Name, len(damaged[i].Data), len(p.Data))
				}
			}
			for range 60 {
				data := slices.Clone(p.Data)
				for range 1 + random.IntN(3) {
					if len(data) > 0 {
						data[random.IntN(len(data))] = byte(random.IntN(256))
					}
				}
				damaged[i].Data = data
				if err := soundIfAny(s.info.Decode(damaged))(probe); err != nil {
					return fmt.Errorf("part %q with changed bytes: %w", p.Name, err)
				}
			}
			damaged[i] = learn.Part{Name: "no such part", Data: p.Data}
			if err := soundIfAny(s.info.Decode(damaged))(probe); err != nil {
				return fmt.Errorf("part %q by another name: %w", p.Name, err)
			}
		}
		return nil
	})
}

// soundIfAny checks a model's answers if there is a model. Damage may have
// changed its columns: what it cannot be asked, it is not asked.
func soundIfAny(m learn.Model, err error) func(probe *table.Table) error {
	return func(probe *table.Table) error {
		if err != nil {
			return nil
		}
		for _, a := range m.Schema().Attributes {
			if j := probe.Schema.Index(a.Name); j >= 0 && probe.Schema.Attributes[j].Kind != a.Kind {
				return nil
			}
		}
		return soundOn(m, probe)
	}
}

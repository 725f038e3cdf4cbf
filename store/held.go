package store

import (
	"fmt"
	"sync"

	"github.com/accrete-ml/accrete/learn"
)

// heldPart is a part of a version that was not read: what it is is known by its
// hash, so that a change that needs none of it costs none of it.
type heldPart struct {
	from *shelf
	key  partKey
}

var _ learn.Held = (*heldPart)(nil)

// shelf is where the parts that are held stand. It is safe for concurrent use,
// as the model is that has them.
type shelf struct {
	mutex sync.Mutex
	log   *log // as it was when it was read last; its file is closed
}

// Load reads the part and checks that it is what was saved.
func (h *heldPart) Load() ([]byte, error) {
	s := h.from
	s.mutex.Lock()
	defer s.mutex.Unlock()
	data, err := s.read(h.key)
	if err == nil {
		return data, nil
	}
	// The log may have been written anew meanwhile.
	fresh, openErr := s.log.store.openLog(s.log.path, s.log.name)
	if openErr != nil {
		return nil, openErr
	}
	fresh.close()
	s.log = fresh
	if data, err = s.read(h.key); err != nil {
		return nil, fmt.Errorf("%w: the model %q: %v", learn.ErrDamaged, s.log.name, err)
	}
	return data, nil
}

func (s *shelf) read(key partKey) ([]byte, error) {
	l := s.log
	p := l.byKey[key]
	if p == nil {
		return nil, fmt.Errorf("its part %q is not in %s any more", key.name, l.path)
	}
	if p.inFile || l.cached == p.frame {
		return l.data(p)
	}
	f, err := l.store.disk.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l.bytes = f
	return l.data(p)
}

// keyOf returns what makes a part that is given to be saved the one it is. What
// is held needs not be read for it.
func (s *Store) keyOf(p *learn.Part) (partKey, error) {
	if h, ok := p.Held.(*heldPart); ok && h.key.name == p.Name && h.key.derived == p.Derived {
		return h.key, nil
	}
	data, err := p.Load()
	return partKey{p.Name, p.Derived, s.hashes.of(data)}, err
}

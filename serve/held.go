package serve

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// shelf holds models in memory: the newest version of each that was asked for,
// and a few old ones.
type shelf struct {
	home   *life.Home
	mu     sync.Mutex
	newest map[string]*heldModel
	old    map[string]*state // by NAME@N
	order  []string          // of old ones, the oldest first
}

// mostOld is how many old versions are held.
const mostOld = 8

// heldModel is a name whose newest version is in memory.
type heldModel struct {
	name    string
	now     atomic.Pointer[state]
	checked atomic.Int64 // when the store was looked at, in nanoseconds
	mu      sync.Mutex   // of whoever reads it again
	live    atomic.Pointer[liveModel]
}

// state is a model at one moment, whole.
type state struct {
	part  *life.Part
	stamp store.Stamp // of the model when it was read
	since int         // rows learnt after the frozen version
	rows  sync.Pool   // of *answerer
}

func newState(p *life.Part, stamp store.Stamp) *state {
	s := &state{part: p, stamp: stamp}
	s.rows.New = func() any { return newAnswerer(p) }
	return s
}

// fresh is how long the store is not looked at again.
const fresh = 100 * time.Millisecond

// get returns a model as it is now, such as votes, or a version of it, votes@3.
func (s *shelf) get(ref string) (*state, error) {
	name, number, err := store.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	if number > 0 {
		return s.version(ref, name)
	}
	return s.model(name).get(s.home)
}

// model returns the place of a name.
func (s *shelf) model(name string) *heldModel {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.newest[name]
	if m == nil {
		if s.newest == nil {
			s.newest = map[string]*heldModel{}
		}
		m = &heldModel{name: name}
		s.newest[name] = m
	}
	return m
}

// drop forgets what nobody will ask for again.
func (s *shelf) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.newest[name]; m != nil {
		m.checked.Store(0)
		if m.live.Load() == nil {
			delete(s.newest, name)
		}
	}
}

// version returns an old version. It never changes, unless it is erased or
// deleted: when the store has changed, it is read again.
func (s *shelf) version(ref, name string) (*state, error) {
	stamp, err := s.home.Store.Stamp(name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	st := s.old[ref]
	s.mu.Unlock()
	if st != nil && st.stamp == stamp {
		return st, nil
	}
	p, err := s.home.Load(ref)
	if err != nil {
		return nil, err
	}
	st = newState(p, stamp)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.old == nil {
		s.old = map[string]*state{}
	}
	if s.old[ref] == nil {
		s.order = append(s.order, ref)
	}
	s.old[ref] = st
	if len(s.order) > mostOld {
		delete(s.old, s.order[0])
		s.order = s.order[1:]
	}
	return st, nil
}

// get returns the model; if the store has another version by now, that one.
func (m *heldModel) get(h *life.Home) (*state, error) {
	now := time.Now().UnixNano()
	st := m.now.Load()
	if st != nil && now-m.checked.Load() < int64(fresh) {
		return st, nil
	}
	if st != nil && !m.mu.TryLock() {
		return st, nil // somebody looks already
	}
	if st == nil {
		m.mu.Lock()
		if st = m.now.Load(); st != nil {
			m.mu.Unlock()
			return st, nil
		}
	}
	defer m.mu.Unlock()
	return m.look(h)
}

// look reads the newest version, if it is another one. It is called by one at
// a time.
func (m *heldModel) look(h *life.Home) (*state, error) {
	defer func() { m.checked.Store(time.Now().UnixNano()) }()
	stamp, err := h.Store.Stamp(m.name)
	if err != nil {
		if errors.Is(err, store.ErrUnknown) {
			m.now.Store(nil)
		}
		return nil, err
	}
	if st := m.now.Load(); st != nil && stamp == st.stamp {
		return st, nil
	}
	if l := m.live.Load(); l != nil { // it is begun anew by who learns it
		l.poke()
		if st := m.now.Load(); st != nil {
			return st, nil
		}
	}
	p, err := h.Load(m.name)
	if err != nil {
		m.now.Store(nil)
		return nil, err
	}
	st := newState(p, stamp)
	m.now.Store(st)
	return st, nil
}

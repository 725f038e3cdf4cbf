package learn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accrete-ml/accrete/internal/setting"
)

// Option describes a parameter of a learner: a struct field that carries the
// tags set (its key), default (what its zero value means), doc, and, for a
// choice, oneof (the words it takes, separated by |); for a whole number that
// may be over 100,000, most (its bound).
type Option = setting.Option

// Options returns the parameters of a learner, in the order of its fields.
func Options(l Learner) []Option { return setting.Options(l) }

// Set gives a learner's parameter a value, both as text. The learner is a
// pointer to a struct whose parameters are fields of type string, bool, int or
// float64, or pointers to these where zero is a value of its own and nil the
// default, with the tags that Option describes. A field of type
// map[string]string takes every key that has a dot in it, whole: such settings
// are handed on to other learners.
func Set(l Learner, key, value string) error { return setting.Set(l, key, value) }

// New returns the registered learner of this name with the given settings.
func New(name string, settings map[string]string) (Learner, error) {
	info, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if info.New == nil {
		return nil, fmt.Errorf("models of %s are imported, not learnt from rows", name)
	}
	l := info.New()
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if err := Set(l, key, settings[key]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if c, ok := l.(Checker); ok {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

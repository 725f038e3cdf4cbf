package learn

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Info is what the registry knows of a learner.
type Info struct {
	Name    string // by which it is asked for
	Summary string // one line: what it is
	Source  string // author, year, where
	Takes   Takes
	Can     Can
	// Contract is what updates with default settings promise; a model says its own (PromiseOf).
	Contract Contract
	Apart    string // where it is another, in words
	// Keeps says what a model keeps of the rows it learnt from.
	Keeps string
	// New returns a learner with default parameters; nil for a kind of model
	// that is not learnt from rows, but imported.
	New func() Learner
	// Decode makes a model of its saved parts. It checks what it reads:
	// any bytes give a sound model or an error.
	Decode func(parts []Part) (Model, error)
	Waits  string // what names of parts begin with that Decode may get Held; "" is none
}

// Takes says what a learner can learn from.
type Takes struct {
	Nominal, Numeric, Missing    bool // columns and cells
	Classes, Regression, Density bool // targets
	Rules                        bool // an expert's WHEN … EXPECT rules, in the learning itself
	Theory                       bool // a domain theory (Advice.Theory)
	Text                         bool // columns of words
	Sequences, Relations         bool // rows that belong together, in order (table.Table.Sequence); what rows point at (table.Table.Linked)
	Stream                       bool // rows as they come, none of which it keeps (Starter)
}

var registry struct {
	sync.RWMutex
	infos []Info // sorted by name
}

// Register makes a learner known under its name. It is called from the init
// functions of learners and panics if the name is taken.
func Register(info Info) {
	registry.Lock()
	defer registry.Unlock()
	i, taken := slices.BinarySearchFunc(registry.infos, info.Name, byName)
	if taken {
		panic("learn: two learners are named " + info.Name)
	}
	registry.infos = slices.Insert(registry.infos, i, info)
}

func byName(info Info, name string) int { return strings.Compare(info.Name, name) }

// Lookup returns the learner with this name, or an error that suggests the
// nearest one.
func Lookup(name string) (Info, error) {
	registry.RLock()
	defer registry.RUnlock()
	if i, found := slices.BinarySearchFunc(registry.infos, name, byName); found {
		return registry.infos[i], nil
	}
	var known []string
	for _, info := range registry.infos {
		if info.New != nil {
			known = append(known, info.Name)
		}
	}
	return Info{}, fmt.Errorf("unknown learner %q%s", name, spell.Hint(name, known))
}

// All returns every registered learner, sorted by name.
func All() []Info {
	registry.RLock()
	defer registry.RUnlock()
	return slices.DeleteFunc(slices.Clone(registry.infos), func(info Info) bool { return info.New == nil })
}

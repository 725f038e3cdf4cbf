package life

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/logic"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/store"
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
func (h *Home) Restore(ctx context.Context, ref string, e Edit) (*Learnt, error) {
	name, number, err := store.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	if _, err := h.Load(name); number == 0 || err != nil {
		if e.Preview && err != nil {
			return nil, err
		}
		// A version that cannot be read, or none, has no answers to compare.
		v, err := h.Store.Restore(ctx, ref, h.now())
		if err != nil {
			return nil, err
		}
		return h.reload(fmt.Sprintf("%s@%d", v.Model, v.Number))
	}
	return h.edit(ctx, name, e, func(h *Home, _ *Part) (*step, error) { return h.restore(ref, store.Restore) })
}

// restore is an old version as the next one.
func (h *Home) restore(ref, kind string) (*step, error) {
	m, old, err := h.Store.Load(ref)
	if err != nil {
		return nil, err
	}
	record := store.Version{Kind: kind, Source: store.Source{Name: ref, Rows: old.Rows}, At: h.now(), Seed: old.Seed, Settings: old.Settings}
	return &step{model: m, record: record}, nil
}

// Import adds a model that was exported, under a name or that which it had. Of a
// belief network, it can be set how it learns and answers.
func (h *Home) Import(ctx context.Context, path, name string, set map[string]string) (*Learnt, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Misusef("no such file: %s", path)
	}
	kind := filepath.Ext(strings.TrimSuffix(path, ".gz"))
	if slices.Contains(networks, kind) {
		return h.importNetwork(ctx, path, name, set)
	}
	if len(set) > 0 {
		return nil, remedy.Misusef("%s: only a file of a belief network (%s) is imported with settings; other models have theirs", path, strings.Join(networks, ", "))
	}
	switch kind {
	case ".rules":
		return h.importText(ctx, path, name, written{"rules", "base"})
	case ".cases":
		return h.importText(ctx, path, name, written{"cases", "library"})
	case ".pl":
		return h.importText(ctx, path, name, written{"program", "program"})
	case ".json":
		return h.importText(ctx, path, name, written{"portable", "program"})
	}
	v, err := h.Store.Import(ctx, path, name, h.now())
	if err != nil {
		if kind != ".accrete" && errors.Is(err, learn.ErrDamaged) {
			err = fmt.Errorf("%w; other files are told by their endings: networks (%s), rules (.rules), cases (.cases), programs (.pl, .json)", err, strings.Join(networks, ", "))
		}
		return nil, err
	}
	return h.reload(fmt.Sprintf("%s@%d", v.Model, v.Number))
}

// written is a kind of model that is a text: a base of rules with its SCHEMA
// line, as another model printed it or as somebody wrote it; a library of cases; a
// logic program.
type written struct{ learner, part string }

// summary is the note of a base that does not say all.
var summary = regexp.MustCompile(`(?m)^[ \t]*# summary:`)

// importText makes a model of a text, and of what else is said of it.
func (h *Home) importText(ctx context.Context, path, name string, kind written, more ...learn.Part) (*Learnt, error) {
	at := h.now()
	text, err := patient.Regular(path, h.mostText())
	if err != nil {
		return nil, fmt.Errorf("the %s cannot be read: %w", kind.learner, err)
	}
	switch kind.learner {
	case "rules":
		if kind.part != "base" {
			break
		}
		if _, err = rule.Parse(path, text); err == nil && summary.Match(text) {
			err = fmt.Errorf("%s: these rules are a summary of the model that they were printed from (its line # summary: says what is left out) and do not answer as it does; move the model itself (accrete export), or take that line out to import them as they are", path)
		}
	case "program":
		var program *logic.Program
		if program, err = logic.Read(path, string(text)); err == nil {
			if err = program.Redefined(); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	m, err := learn.DecodeParts(kind.learner, append(more, learn.Part{Name: kind.part, Data: text}))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l, err := h.imported(ctx, m, path, name, text, at, nil)
	if err == nil && kind.learner == "portable" {
		h.adoptWords(ctx, l, text)
	}
	return l, err
}

// adoptWords takes over the words of a program, unless the model has some here.
func (h *Home) adoptWords(ctx context.Context, l *Learnt, text []byte) {
	var program struct{ Words json.RawMessage }
	if json.Unmarshal(text, &program) != nil || len(program.Words) == 0 || l.Part.Version.Number > 1 {
		return
	}
	if _, err := h.SetWords(ctx, l.Part.Name, program.Words); err != nil {
		h.note(fmt.Sprintf("the words of %s are left out: %v", l.Part.Name, err))
	}
}

// imported keeps a model that was made of a file's text.
func (h *Home) imported(ctx context.Context, m learn.Model, path, name string, text []byte, at time.Time, settings map[string]string) (*Learnt, error) {
	if name == "" {
		name = NameOf(path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	v, err := h.Store.Save(ctx, name, m, store.Version{
		Kind: store.Import, At: at, Seed: h.Seed, Settings: settings,
		Source: store.Source{Name: filepath.Base(path), Path: absolute, Hash: hex.EncodeToString(hash[:])},
	})
	if err != nil {
		return nil, err
	}
	return h.newLearnt(&Part{Model: m, Name: name, Version: v, Versions: []store.Version{v}}, v), nil
}

func (h *Home) reload(ref string) (*Learnt, error) {
	p, err := h.Load(ref)
	if err != nil {
		return nil, err
	}
	return h.newLearnt(p, p.Version), nil
}

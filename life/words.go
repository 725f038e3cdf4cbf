package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/patient"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/knowledge"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/rule"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/table"
)

// Words returns the names that people gave to what a model speaks of.
func (h *Home) Words(ref string) (say.Words, error) {
	var w say.Words
	if h.Store == nil {
		return w, nil
	}
	text, err := h.Store.Words(ref)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return say.Words{}, fmt.Errorf("the words of %s cannot be read: %w", ref, err)
	}
	return w, nil
}

// SetWords gives names to a model's columns, values and rows, from JSON. Every
// sentence about any version of the model uses them from then on.
func (h *Home) SetWords(ctx context.Context, ref string, text []byte) (say.Words, error) {
	p, err := h.Load(ref)
	if err != nil {
		return say.Words{}, err
	}
	w, err := say.ParseWords(text, p.Schema())
	if err != nil {
		return say.Words{}, err
	}
	plain, err := json.Marshal(w)
	if err != nil {
		return say.Words{}, err
	}
	return w, h.Store.SetWords(ctx, p.Version.Model, plain)
}

// ReadText reads a small file, or what "-" stands for.
func (h *Home) ReadText(ctx context.Context, file string) ([]byte, error) {
	if file == "-" && h.In != nil {
		return patient.All(patient.Ending(ctx, h.In), "standard input", h.mostText())
	}
	text, err := patient.File(ctx, file, h.mostText())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Misusef("no such file: %s", file)
	}
	return text, err
}

// withWords gives a model of the store its words; those that cannot be read are
// remarked on, and names stand as they are.
func (h *Home) withWords(p *Part) *Part {
	w, err := h.Words(p.Version.Model)
	if err != nil {
		h.note(err.Error())
	}
	p.Words = w
	return p
}

// keptRows returns the rows that a model keeps, in the schema of what it learnt,
// nil if it keeps none.
func keptRows(ctx context.Context, m learn.Model) ([]learn.Learnt, error) {
	k, ok := learn.Ability[learn.Keeper](m)
	if !ok {
		return nil, nil
	}
	return k.Kept(ctx)
}

// keptTable is the rows that a model keeps as one table, nil if it keeps none.
func keptTable(ctx context.Context, m learn.Model) (*table.Table, error) {
	kept, err := keptRows(ctx, m)
	if err != nil || kept == nil {
		return nil, err
	}
	return knowledge.Join(plain(m).Schema(), kept)
}

// newSpeaker returns who speaks of a model: with its words, and the values that
// occur in the rows that it keeps.
func newSpeaker(p *Part, kept []learn.Learnt) *say.Speaker {
	s := say.New(p.Schema(), p.Target(), p.Words)
	s.Overall = Overall(p.Model)
	var tables []*table.Table
	for _, l := range kept {
		tables = append(tables, l.Table)
	}
	if tables != nil {
		s.Learn(tables...)
	}
	if _, bounded := learn.Ability[learn.Lister](plain(p.Model)); bounded {
		s.Known = nil // where a version space ends is what it says: no rounder number stands for it
	}
	return s
}

// Speaker returns who says the rules of a model as sentences.
func Speaker(ctx context.Context, p *Part) (*say.Speaker, error) {
	kept, err := keptRows(ctx, p.Model)
	if err != nil {
		return nil, err
	}
	s := newSpeaker(p, kept)
	if s.Usual == nil {
		s.Usual = priorOf(p.Model)
	}
	return s, nil
}

// InWords returns what says a rule of a model as its sentences do, without its
// evidence; where there is no model to speak of, as rules are written.
func InWords(ctx context.Context, p *Part) func(*rule.Rule) string {
	var s *say.Speaker
	return func(r *rule.Rule) string {
		if s == nil && p != nil {
			s, _ = Speaker(ctx, p) // only now: it may have to look at many rows
		}
		if s == nil {
			return r.String()
		}
		return strings.TrimSuffix(s.Rule(r).String(), ".")
	}
}

// fewRules returns the rules of a model, but of texts those of single words, which are
// many and take more memory than the model, only as far as they must be made.
func fewRules(m learn.Model, r learn.Ruler) (*rule.Base, error) {
	top, ok := r.(topRuler)
	if !ok || !slices.ContainsFunc(m.Schema().Attributes, func(a table.Attribute) bool { return a.Kind == table.Text }) {
		return r.Rules()
	}
	base, _, err := top.TopRules(0)
	return base, err
}

// priorOf returns how frequent classes are, as a model's rules without tests
// count it; nil if they do not.
func priorOf(m learn.Model) []float64 {
	target := plain(m).Target()
	r, ok := learn.Ability[learn.Ruler](plain(m))
	if !ok || target == learn.NoTarget || plain(m).Schema().Attributes[target].Kind != table.Nominal {
		return nil
	}
	base, err := fewRules(plain(m), r)
	if err != nil || base == nil {
		return nil
	}
	a := &plain(m).Schema().Attributes[target]
	usual := make([]float64, len(a.Values))
	for i := range base.Rules {
		r := &base.Rules[i]
		c := a.Code(r.Then.Value)
		switch {
		case len(r.If) > 0 || c < 0:
		case r.Evidence.Covered != nil && r.Evidence.Correct != nil && *r.Evidence.Covered > 0:
			usual[c] = *r.Evidence.Correct / *r.Evidence.Covered
		case r.With != nil:
			usual[c] = *r.With
		}
	}
	for i := range base.Units { // a unit for each class, as naive Bayes has
		for _, e := range base.Units[i].Expect {
			for _, share := range e.Shares {
				if c := a.Code(share.Value); e.Column == a.Name && c >= 0 {
					usual[c] += base.Units[i].Prior * share.P
				}
			}
		}
	}
	if slices.Max(append(usual, 0)) == 0 {
		return nil
	}
	return usual
}

// SaidRule is a rule in the rule language, and as it is said.
type SaidRule struct {
	Text string       `json:"text"`
	Say  say.Sentence `json:"say"`
}

// SayAbout says rules about the columns of data, before anything is learnt from it.
func (h *Home) SayAbout(ctx context.Context, d *Data, target string, text []byte, w say.Words) ([]SaidRule, error) {
	o := d.options()
	o.Target = d.Target(target)
	t, _, err := d.Read(ctx, o)
	if err != nil {
		return nil, err
	}
	s := say.New(t.Schema, t.Schema.Index(o.Target), w)
	s.Learn(t)
	return saidRules(text, t.Schema, s)
}

// SayTo says rules as they would be told to a model.
func (h *Home) SayTo(ctx context.Context, p *Part, text []byte) ([]SaidRule, error) {
	s, err := Speaker(ctx, p)
	if err != nil {
		return nil, err
	}
	return saidRules(text, p.Schema(), s)
}

func saidRules(text []byte, schema *table.Schema, s *say.Speaker) ([]SaidRule, error) {
	base, err := parseTold("the rules", text, schema)
	if err != nil {
		return nil, err
	}
	said := []SaidRule{}
	for i := range base.Rules {
		said = append(said, SaidRule{base.Rules[i].String(), s.Rule(&base.Rules[i])})
	}
	for i := range base.Units {
		said = append(said, SaidRule{base.Units[i].Name, s.Unit(&base.Units[i])})
	}
	return said, nil
}

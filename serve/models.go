package serve

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/rule/say"
	"github.com/accrete-ml/accrete/store"
	"github.com/accrete-ml/accrete/table"
)

// Status says that the server is there.
type Status struct {
	Status string `json:"status"`
}

func (c *call) healthz() error { return c.answer(http.StatusOK, Status{"ok"}) }

// readyz says whether the store can be read.
func (c *call) readyz() error {
	if _, err := os.Stat(c.o.Home.Store.Dir()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return later(http.StatusServiceUnavailable, 5, "the store cannot be read: %v", err)
	}
	return c.answer(http.StatusOK, Status{"ok"})
}

// Me is who calls.
type Me struct {
	Name     string   `json:"name"`
	Scope    string   `json:"scope"`
	Models   []string `json:"models" doc:"those that may be seen; null is all"`
	ReadOnly bool     `json:"read_only,omitempty"`
}

func (c *call) whoami() error {
	return c.answer(http.StatusOK, Me{c.who.name, c.who.scope.String(), c.who.models, c.o.ReadOnly})
}

func (c *call) models() error {
	list, err := c.o.Home.List()
	if err != nil {
		c.log.Warn("a model cannot be read", "request", c.id, "problem", err.Error())
	}
	list.Models = slices.DeleteFunc(list.Models, func(m life.ModelEntry) bool { return c.who.sees(m.Model) != nil })
	return c.answer(http.StatusOK, list)
}

// Column is a column of a model.
type Column struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind" doc:"nominal, numeric, date, time or text"`
	Values []string `json:"values,omitempty" doc:"of a nominal one"`
}

// Model is a model, and what can be done with it.
type Model struct {
	Model     string            `json:"model"`
	Version   int               `json:"version"`
	Since     int               `json:"since,omitempty" doc:"rows learnt after that version"`
	Learner   string            `json:"learner"`
	Target    *string           `json:"target"`
	Rows      float64           `json:"rows"`
	Rules     int               `json:"rules"`
	Units     int               `json:"units"`
	Columns   []Column          `json:"columns"`
	Settings  map[string]string `json:"settings"`
	Abilities []string          `json:"abilities" doc:"update, merge, forget, rules, explain, draw, …"`
	Contract  string            `json:"contract" doc:"what an update is worth: exact, bounded or none"`
	Versions  []store.Version   `json:"versions"`
	Words     say.Words         `json:"words"`
}

func (c *call) model() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	st, err := c.held.get(ref)
	if err != nil {
		return err
	}
	m := newModel(st)
	if m.Words, err = c.o.Home.Words(st.part.Name); err != nil {
		return err
	}
	return c.answer(http.StatusOK, m)
}

func newModel(st *state) *Model {
	p := st.part
	size := p.Size()
	m := &Model{
		Model: p.Name, Version: p.Version.Number, Since: st.since, Learner: p.Version.Learner,
		Rows: size.Rows, Rules: size.Rules, Units: size.Units, Columns: columnsOf(p.Schema()),
		Settings: map[string]string{}, Abilities: []string{}, Versions: public(p.Versions),
	}
	if p.Target() != learn.NoTarget {
		m.Target = &p.Schema().Attributes[p.Target()].Name
	}
	for key, value := range p.Version.Settings {
		if !strings.HasPrefix(key, "--") {
			m.Settings[key] = value
		}
	}
	if info, err := learn.Lookup(p.Version.Learner); err == nil {
		m.Contract = info.Contract.String()
		m.Abilities = append(m.Abilities, info.Can.Names()...)
	}
	return m
}

func columnsOf(schema *table.Schema) []Column {
	columns := make([]Column, len(schema.Attributes))
	for i := range schema.Attributes {
		a := &schema.Attributes[i]
		columns[i] = Column{Name: a.Name, Kind: a.Shown()}
		if a.Kind == table.Nominal {
			columns[i].Values = append([]string{}, a.Values...)
		}
	}
	return columns
}

func (c *call) deleteModel() error {
	ref, name, err := c.ref()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	if err := c.frozen(ctx, name); err != nil {
		return err
	}
	if err := c.o.Home.Store.Delete(ctx, ref); err != nil {
		return err
	}
	c.held.drop(name)
	c.audit("delete", ref, "")
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// rules reads a model as rules.
func (c *call) rules() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	top, err := number(q, "top", -1, 0)
	if err != nil {
		return err
	}
	o := life.RulesOptions{Formal: yes(q, "formal")}
	if top >= 0 && q.Get("sort") == "" {
		o.Top = &top
	}
	ctx, cancel := c.limited()
	defer cancel()
	h := c.home()
	var p *life.Part
	if without := q.Get("without"); without != "" {
		p, err = h.RulesWithout(ctx, ref, without)
	} else {
		p, err = c.part()
	}
	if err != nil {
		return err
	}
	if list := life.Clauses(p, o.Top); list != nil {
		return c.answer(http.StatusOK, list)
	}
	if f := life.FormulasOf(p); f != nil {
		return c.answer(http.StatusOK, f)
	}
	list, err := life.RuleEntries(ctx, p, o)
	if err != nil {
		return err
	}
	list.Policy = life.PolicyOf(p)
	if err := sift(list, q.Get("class"), q.Get("column"), q.Get("state"), q.Get("sort")); err != nil {
		return err
	}
	if top >= 0 && len(list.Rules) > top {
		list.Rules = list.Rules[:top]
	}
	return c.answer(http.StatusOK, list)
}

// sift keeps the rules that are asked for, in the order that is asked for.
func sift(list *life.RuleBase, class, column, state, order string) error {
	list.Rules = slices.DeleteFunc(list.Rules, func(r life.RuleEntry) bool {
		return class != "" && (r.Then == nil || r.Then.Value != any(class)) || state != "" && r.State != state ||
			column != "" && !slices.ContainsFunc(r.If, func(t life.TestEntry) bool { return t.Column == column })
	})
	by := func(f func(r *life.RuleEntry) *float64) {
		slices.SortStableFunc(list.Rules, func(a, b life.RuleEntry) int { return cmp.Compare(orZero(f(&b)), orZero(f(&a))) })
	}
	switch order {
	case "", "decides":
	case "bits":
		by(func(r *life.RuleEntry) *float64 { return r.Bits })
	case "rate":
		by(func(r *life.RuleEntry) *float64 { return r.Probability })
	case "newest":
		slices.Reverse(list.Rules)
	default:
		return problemf(http.StatusBadRequest, "sort by decides, bits, rate or newest", "there is no order %q", order)
	}
	return nil
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

func (c *call) logOf() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	versions, err := c.o.Home.Store.Log(ref)
	if len(versions) == 0 {
		return err
	}
	return c.answer(http.StatusOK, life.Log{Model: versions[0].Model, Versions: public(versions)})
}

// public is the record of versions for callers, who need not know where files
// of this machine are.
func public(versions []store.Version) []store.Version {
	all := slices.Clone(versions)
	for i := range all {
		all[i].Source.Path, all[i].History = "", public(all[i].History)
		all[i].Source.Name = plainName(all[i].Source.Name)
	}
	return all
}

func (c *call) growth() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	g, err := life.Grown(p)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, g)
}

// draw draws a model.
func (c *call) draw() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	what := life.Drawing{Columns: q.Get("columns"), Regions: q.Get("regions"), Curve: q.Get("curve"), Network: yes(q, "network")}
	if what.On, err = c.dataArg(q.Get("on")); err != nil {
		return err
	}
	picture, err := c.home().Draw(ctx, p, &what)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := picture(&b); err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	return c.send(http.StatusOK, []string{"image/svg+xml"}, b.Bytes())
}

// export sends a version as a file that any accrete imports.
func (c *call) export() error {
	ref, name, err := c.ref()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	if v := q.Get("version"); v != "" {
		ref = name + "@" + v
	}
	dir, err := os.MkdirTemp("", "accrete-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "export")
	ctx, cancel := c.limited()
	defer cancel()
	if _, err := c.o.Home.Store.ExportWith(ctx, ref, path, store.ExportOptions{WithoutPaths: true, WithoutRows: yes(q, "without_rows")}); err != nil {
		return err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '-'
		}
		return r
	}, ref)+`.accrete"`)
	return c.send(http.StatusOK, []string{"application/octet-stream"}, body)
}

// Datasets are the built-in sets.
type Datasets struct {
	Datasets     []datasets.Set `json:"datasets"`
	Environments []act.World    `json:"environments"`
}

func (c *call) datasets() error {
	return c.answer(http.StatusOK, Datasets{datasets.All(), act.Worlds()})
}

// Learners are the kinds of models that can be learnt.
type Learners struct {
	Learners []life.Learner `json:"learners"`
}

func (c *call) learners() error {
	list := Learners{Learners: []life.Learner{}}
	for _, info := range learn.All() {
		list.Learners = append(list.Learners, life.NewLearner(info))
	}
	return c.answer(http.StatusOK, list)
}

func (c *call) learner() error {
	info, err := learn.Lookup(c.r.PathValue("l"))
	if err != nil {
		return problemf(http.StatusNotFound, "GET /v1/learners lists them", "%v", err)
	}
	return c.answer(http.StatusOK, life.NewLearner(info))
}

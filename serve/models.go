package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/act"
	"github.com/accrete-ml/accrete/datasets"
	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/internal/remedy"
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
	Version  string   `json:"version" doc:"of the program"`
	SignedIn bool     `json:"signed_in,omitempty" doc:"by a cookie that stands for a token"`
}

func (c *call) whoami() error {
	cookie := c.keys.path != "" && c.r.Header.Get("Authorization") == ""
	return c.answer(http.StatusOK, Me{c.who.name, c.who.scope.String(), c.who.models, c.o.ReadOnly, c.o.Version, cookie})
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
	Abilities []string          `json:"abilities" doc:"update, merge, forget, rules, explain, draw, play, …"`
	Contract  string            `json:"contract" doc:"what an update is worth: exact, bounded or none"`
	Versions  []store.Version   `json:"versions"`
	Knows     []int             `json:"knows" doc:"the versions of which it still has what they brought"`
	Words     say.Words         `json:"words"`
	// How often it is right, where that was estimated, or how far its numbers are
	// off: with its interval, how it was, and what always the same answer comes to.
	Accuracy *float64 `json:"accuracy,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	Finds    []Found  `json:"finds,omitempty" doc:"how often each class was found then"`
	How      string   `json:"how,omitempty"`
	Usual    *float64 `json:"usual,omitempty"`
	JudgeOn  []string `json:"judge_on" doc:"tables that were sent and have the model's target and most of its columns"`
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
	q, err := c.query()
	if err != nil {
		return err
	}
	if m.JudgeOn = []string{}; !yes(q, "plain") {
		c.judge(m, st)
	}
	return c.answer(http.StatusOK, m)
}

// judge adds how often a model is right: estimated once for each version, beside
// other work; who has waited long enough asks again.
func (c *call) judge(m *Model, st *state) {
	for _, name := range c.uploads.list() {
		if up, ok := c.uploads.look(name); ok && c.maySee(up) && up.judges(m) {
			m.JudgeOn = append(m.JudgeOn, name)
		}
	}
	r := c.estimate(st)
	if r == nil {
		return
	}
	m.Accuracy, m.Low, m.High, m.RMSE = r.Accuracy, r.AccuracyLow, r.AccuracyHigh, r.RMSE
	m.How = fmt.Sprintf("%d folds of the rows that it learnt", r.Folds)
	m.Usual = r.Baseline
	if r.RMSE != nil {
		m.Low, m.High = r.RMSELow, r.RMSEHigh
	}
	m.Finds = newFound(r)
}

// Found is how a class was told from the others, among rows not learnt from.
type Found struct {
	Class  string  `json:"class"`
	Rows   float64 `json:"rows" doc:"of the class"`
	Found  float64 `json:"found" doc:"those of them that were answered so"`
	Others float64 `json:"others" doc:"rows of other classes"`
	Alarms float64 `json:"alarms" doc:"those of the others that were answered so, too"`
}

// newFound counts what is in a confusion matrix.
func newFound(r *evaluate.Result) []Found {
	var all []Found
	for i, class := range r.Classes {
		f := Found{Class: class}
		for actual, said := range r.Confusion {
			for j, n := range said {
				switch {
				case actual == i && j == i:
					f.Rows, f.Found = f.Rows+n, f.Found+n
				case actual == i:
					f.Rows += n
				case j == i:
					f.Others, f.Alarms = f.Others+n, f.Alarms+n
				default:
					f.Others += n
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// found is what is found out once for each version, beside other work: how well
// it does on rows that it has not seen, how honest its probabilities are.
type found[T any] struct {
	mu   sync.Mutex
	done map[string]*T
	busy chan struct{} // closed when what is under way is known
}

// estimateFolds and estimateTime are what finding out may cost, and patience is
// how long who asks waits for it, unless they prefer otherwise.
const (
	estimateFolds = 5
	estimateTime  = 20 * time.Second
	patience      = 2 * time.Second
)

// of returns what is known of a version, nil if nothing can be, or not yet: then
// it is under way, and whoever asks has waited until it was enough.
func (f *found[T]) of(s *Server, st *state, until <-chan time.Time, find func(ctx context.Context, h *life.Home) (*T, error)) *T {
	key := st.part.Version.String() + st.part.Version.At.String()
	f.mu.Lock()
	if x, ok := f.done[key]; ok {
		f.mu.Unlock()
		return x
	}
	ready := f.busy
	if ready == nil { // one at a time
		ready = make(chan struct{})
		f.busy = ready
		s.lives.Go(func() { f.find(s, key, st.part.Version.String(), find, ready) })
	}
	f.mu.Unlock()
	select {
	case <-ready: // this one, or another before it
		return f.of(s, st, until, find)
	case <-until:
	case <-s.ending:
	}
	return nil
}

// find finds it out, and keeps it.
func (f *found[T]) find(s *Server, key, model string, find func(ctx context.Context, h *life.Home) (*T, error), ready chan struct{}) {
	ctx, cancel := context.WithTimeout(s.leaving, estimateTime)
	defer cancel()
	h := s.o.Home
	h.Note = nil
	var x *T
	err := console.Guarded(s.o.Version, func() (err error) {
		x, err = find(ctx, &h)
		return err
	})
	if err != nil {
		x = nil
		s.log.Debug("not found out", "model", model, "problem", err.Error())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done == nil || len(f.done) > 1000 {
		f.done = map[string]*T{}
	}
	f.done[key] = x
	f.busy = nil
	close(ready)
}

// enough tells when a caller has waited long enough for what is found out.
func (c *call) enough() <-chan time.Time {
	if preference := c.r.Header.Get("Prefer"); preference != "" {
		return time.After(prefers(preference, c.o.MostTime))
	}
	return time.After(patience)
}

// estimate is how often a version is right on rows that it has not seen.
func (c *call) estimate(st *state) *evaluate.Result {
	return c.estimates.of(c.Server, st, c.enough(), func(ctx context.Context, h *life.Home) (*evaluate.Result, error) {
		return h.Estimate(ctx, st.part, estimateFolds)
	})
}

// calibration is how often a version is right when it is as sure.
func (c *call) calibration(st *state) *life.Calibration {
	return c.calibrations.of(c.Server, st, c.enough(), func(ctx context.Context, h *life.Home) (*life.Calibration, error) {
		return h.Calibration(ctx, st.part)
	})
}

func newModel(st *state) *Model {
	p := st.part
	size := p.Size()
	m := &Model{
		Model: p.Name, Version: p.Version.Number, Since: st.since, Learner: p.Version.Learner,
		Rows: size.Rows, Rules: size.Rules, Units: size.Units, Columns: columnsOf(p.Schema()),
		Settings: map[string]string{}, Abilities: []string{}, Versions: public(p.Versions), Knows: life.Known(p),
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
	if life.Acts(p) {
		m.Abilities = append(m.Abilities, "play")
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
	if _, err := c.unchanged(name); err != nil {
		return err
	}
	if err := c.frozen(ctx, name); err != nil {
		return err
	}
	if err := c.o.Home.Store.Delete(ctx, ref); err != nil {
		return err
	}
	c.held.drop(name)
	if ref == name {
		c.truths.drop(name)
	}
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
	case "":
	case "decides": // told rules among the learnt ones
		by(func(r *life.RuleEntry) *float64 {
			if r.Decides == nil {
				return nil
			}
			return &r.Decides.Rows
		})
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
	q, err := c.query()
	if err != nil {
		return err
	}
	on, err := c.dataArg(q.Get("on"))
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	l, err := c.home().Log(ctx, ref, on)
	if l == nil {
		return err
	}
	l.Versions = public(l.Versions)
	return c.answer(http.StatusOK, l)
}

// ruleRows lists rows that a rule covers.
func (c *call) ruleRows() error {
	p, err := c.part()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	offset, err := number(q, "offset", 0, 0)
	if err != nil {
		return err
	}
	limit, err := number(q, "limit", 50, 0)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited()
	defer cancel()
	list, err := c.home().RowsOfRule(ctx, p, c.r.PathValue("id"), yes(q, "wrong"), offset, min(limit, mostShown))
	if r, ok := life.RemedyOf(err); ok && r.Kind == remedy.SeeRules {
		return problemf(http.StatusNotFound, "GET /v1/models/"+p.Name+"/rules shows ids", "%s has no rule with the id %q", p.Name, c.r.PathValue("id"))
	}
	if errors.Is(err, life.ErrNoRows) {
		return problemf(http.StatusConflict, "learn with a learner that keeps rows, or keep a copy of the data", "%v, and its files are not there", err)
	}
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, list)
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
	ref, q, err := c.versionAsked()
	if err != nil {
		return err
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

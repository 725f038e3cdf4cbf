package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/accrete-ml/accrete/evaluate"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/life"
	"github.com/accrete-ml/accrete/store"
)

// ReadAs says how data is read: which columns are names, numbers or texts, and
// which are left out.
type ReadAs struct {
	Nominal  []string `json:"nominal,omitempty"`
	Numeric  []string `json:"numeric,omitempty"`
	Text     []string `json:"text,omitempty"`
	Ignore   []string `json:"ignore,omitempty"`
	Missing  []string `json:"missing,omitempty" doc:"texts that mean a missing cell; an empty one among them, that the usual ones do not"`
	Weight   string   `json:"weight,omitempty" doc:"the column of row weights"`
	Sequence string   `json:"sequence,omitempty" doc:"the column that says which rows belong together"`
}

func (r *ReadAs) reading() life.Reading {
	return life.Reading{Nominal: r.Nominal, Numeric: r.Numeric, Text: r.Text, Ignore: r.Ignore, Missing: r.Missing, Weight: r.Weight, Sequence: r.Sequence}
}

// ToLearn says what to learn, from what.
type ToLearn struct {
	Data     string            `json:"data" doc:"an uploaded table, a built-in set, or a file below the server's folder of data"`
	Target   string            `json:"target,omitempty" doc:"the column to predict"`
	Learner  string            `json:"learner,omitempty" doc:"as GET /v1/learners lists them; none is the one that fits"`
	Settings map[string]string `json:"settings,omitempty"`
	Rules    string            `json:"rules,omitempty" doc:"what an expert knows, in the rule language"`
	Worth    float64           `json:"worth,omitempty" doc:"cases that a rule counts for which does not say so itself"`
	Name     string            `json:"name,omitempty" doc:"of the model; none is the data's"`
	Seed     *uint64           `json:"seed,omitempty"`
	Folds    *int              `json:"folds,omitempty" doc:"of the estimate of accuracy; 0 for none"`
	Source   string            `json:"source,omitempty" doc:"what the rows are called when they are to be forgotten; none is the data's name"`
	ReadAs
}

// choice checks a learner and its settings. Settings that name files are for
// who sits at the machine.
func choice(learner string, settings map[string]string) (life.Choice, error) {
	if learner != "" {
		info, err := learn.Lookup(learner)
		if err != nil {
			return life.Choice{}, err
		}
		if info.New != nil {
			for _, o := range learn.Options(info.New()) {
				if o.File && settings[o.Key] != "" {
					return life.Choice{}, problemf(http.StatusUnprocessableEntity, "learn it from the command line", "the setting %q names a file, which cannot be named from here", o.Key)
				}
			}
		}
	}
	if settings == nil {
		settings = map[string]string{}
	}
	return life.Choice{Learner: learner, Settings: settings}, nil
}

// learnModel learns a model of data.
func (c *call) learnModel() error {
	var in ToLearn
	if err := c.decode(&in); err != nil {
		return err
	}
	chosen, err := choice(in.Learner, in.Settings)
	if err != nil {
		return err
	}
	if _, sent := c.uploads.look(in.Data); !sent && isWorld(in.Data) {
		return c.learnActing(&in, chosen)
	}
	find, err := c.finder(in.Data, in.ReadAs)
	if err != nil {
		return err
	}
	d, err := find(&c.o.Home)
	if err != nil {
		return err
	}
	name := cmp.Or(in.Name, d.Base())
	if err := store.CheckName(name); err != nil {
		return err
	}
	if err := c.who.sees(name); err != nil {
		return err
	}
	version, err := c.unchanged(name)
	if err != nil {
		return err
	}
	return c.startJob("learn", name, func(ctx context.Context, h *life.Home) (any, error) {
		d, err := find(h)
		if err != nil {
			return nil, err
		}
		d.As = cmp.Or(in.Source, d.As)
		o := life.LearnOptions{Data: d, Target: in.Target, Choice: chosen, Name: name, Folds: -1}
		if in.Rules != "" {
			o.Rules = &life.Rules{File: c.who.name, Text: []byte(in.Rules), Worth: in.Worth}
		}
		if in.Folds != nil {
			o.Folds = *in.Folds
		}
		if in.Seed != nil {
			h.Seed = *in.Seed
		}
		o.Version = version
		if err := c.frozen(ctx, name); err != nil {
			return nil, err
		}
		l, err := h.Learn(ctx, o)
		if up, ok := c.uploads.look(in.Data); err == nil && ok && up.Words != nil {
			if _, err := h.SetWords(ctx, name, up.Words); err != nil {
				h.Note(life.Note{Text: "the words of the table do not fit the model: " + err.Error()})
			}
		}
		if l == nil {
			return nil, err
		}
		kept, _ := written(c, "learn", name, newJustLearnt(l), nil)
		return kept, err // a model is kept whose estimate failed, or was cancelled
	})
}

// JustLearnt is a model that was just learnt, with what the estimate of its
// accuracy found of each class, and how often always the same answer is right.
type JustLearnt struct {
	*life.NewLearnt
	Folds      int      `json:"folds,omitempty"`
	Finds      []Found  `json:"finds,omitempty"`
	Usual      *float64 `json:"usual,omitempty"`
	UsualClass string   `json:"usual_class,omitempty"`
	RMSELow    *float64 `json:"rmse_low,omitempty" doc:"of numbers: the interval of how far they are off"`
	RMSEHigh   *float64 `json:"rmse_high,omitempty"`
}

func newJustLearnt(l *life.NewLearnt) JustLearnt {
	if l == nil || l.Estimate == nil {
		return JustLearnt{NewLearnt: l}
	}
	return JustLearnt{l, l.Estimate.Folds, newFound(l.Estimate), l.Estimate.Baseline, l.Estimate.BaselineClass, l.Estimate.RMSELow, l.Estimate.RMSEHigh}
}

// learnActing learns a policy in an environment.
func (c *call) learnActing(in *ToLearn, chosen life.Choice) error {
	base, _, _ := strings.Cut(in.Data, ":")
	name := cmp.Or(in.Name, base)
	if err := store.CheckName(name); err != nil {
		return err
	}
	if err := c.who.sees(name); err != nil {
		return err
	}
	w, err := c.world(c.r.Context(), &c.o.Home, in.Data) // so that what is wrong with it is said at once
	if err != nil {
		return err
	}
	w.Close()
	return c.startJob("learn", name, func(ctx context.Context, h *life.Home) (any, error) {
		w, err := c.world(ctx, h, in.Data)
		if err != nil {
			return nil, err
		}
		defer w.Close()
		o := life.LearnOptions{Choice: chosen, Name: name}
		if in.Rules != "" {
			o.Rules = &life.Rules{File: c.who.name, Text: []byte(in.Rules), Worth: in.Worth}
		}
		if in.Seed != nil {
			h.Seed = *in.Seed
		}
		l, err := h.LearnActing(ctx, w, o)
		return written(c, "learn", name, l, err)
	})
}

// written writes down what became of a model, and gives it the words of its
// table.
func written[T any](c *call, what, name string, l T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	c.audit(what, name, "")
	c.touch(c.ctx, name)
	return l, nil
}

// ToUpdate names data to learn more rows from.
type ToUpdate struct {
	Data        string `json:"data"`
	Consolidate bool   `json:"consolidate,omitempty"`
	Source      string `json:"source,omitempty" doc:"what the rows are called; none is the data's name"`
	ReadAs
}

func (c *call) update() error {
	_, name, err := c.newest()
	if err != nil {
		return err
	}
	var in ToUpdate
	if err := c.decode(&in); err != nil {
		return err
	}
	find, err := c.finder(in.Data, in.ReadAs)
	if err != nil {
		return err
	}
	version, err := c.ifMatch()
	if err != nil {
		return err
	}
	return c.startJob("update", name, func(ctx context.Context, h *life.Home) (any, error) {
		d, err := find(h)
		if err != nil {
			return nil, err
		}
		d.As = cmp.Or(in.Source, d.As)
		if err := c.frozen(ctx, name); err != nil {
			return nil, err
		}
		u, err := h.UpdateAs(ctx, name, d, life.Updating{Consolidate: in.Consolidate, Version: version})
		return written(c, "update", name, u, err)
	})
}

// newest is the model that the path names, which must be there, and is not an
// old version of it.
func (c *call) newest() (*state, string, error) {
	ref, name, err := c.ref()
	if err != nil {
		return nil, "", err
	}
	if ref != name {
		return nil, "", problemf(http.StatusUnprocessableEntity, "leave out the version, or restore it first", "%s is an old version; only the newest can be changed", ref)
	}
	st, err := c.held.get(name)
	if err == nil && c.route.changes() {
		_, err = c.unchanged(name)
	}
	return st, name, err
}

// ToEvaluate says what to judge, on what.
type ToEvaluate struct {
	Data     string            `json:"data,omitempty" doc:"to learn from and be judged on"`
	Target   string            `json:"target,omitempty"`
	Learner  string            `json:"learner,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Folds    int               `json:"folds,omitempty" doc:"10 if none are given"`
	Test     string            `json:"test,omitempty" doc:"data to be judged on instead"`
	Model    string            `json:"model,omitempty" doc:"a kept model, instead of data to learn from"`
	On       string            `json:"on,omitempty" doc:"data to judge the model on"`
	Positive string            `json:"positive,omitempty"`
	Seed     *uint64           `json:"seed,omitempty"`
	ReadAs
}

func (c *call) evaluate() error {
	var in ToEvaluate
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Model != "" {
		return c.scoreModel(&in)
	}
	chosen, err := choice(in.Learner, in.Settings)
	if err != nil {
		return err
	}
	find, err := c.finder(in.Data, in.ReadAs)
	if err != nil {
		return err
	}
	test, err := c.dataArg(in.Test)
	if err != nil {
		return err
	}
	return c.startJob("evaluate", "", func(ctx context.Context, h *life.Home) (any, error) {
		if in.Seed != nil {
			h.Seed = *in.Seed
		}
		d, err := find(h)
		if err != nil {
			return nil, err
		}
		l, err := h.Lesson(ctx, d, in.Target, chosen)
		if err != nil {
			return nil, err
		}
		spec := h.Spec(cmp.Or(in.Data, d.Arg), l)
		if in.Test != "" {
			return h.TrainTest(ctx, spec, test, in.reading())
		}
		return evaluate.CrossValidate(ctx, spec, cmp.Or(in.Folds, 10))
	})
}

// scoreModel judges a kept model on data.
func (c *call) scoreModel(in *ToEvaluate) error {
	if err := c.seesRef(in.Model); err != nil {
		return err
	}
	on, err := c.dataArg(in.On)
	if err == nil && on == "" {
		err = problemf(http.StatusUnprocessableEntity, `name data with "on"`, "what is %s to be judged on?", in.Model)
	}
	if err != nil {
		return err
	}
	return c.startJob("evaluate", in.Model, func(ctx context.Context, h *life.Home) (any, error) {
		s, err := h.Score(ctx, in.Model, on, life.Judging{Reading: in.reading(), Positive: in.Positive})
		if err == nil {
			s.Data = in.On
		}
		return s, err
	})
}

// seesRef says why a caller may not see a model that a body names. Nothing but
// models of the store can be named.
func (c *call) seesRef(ref string) error {
	name, _, err := store.ParseRef(ref)
	if err == nil {
		err = c.who.sees(name)
	}
	if err == nil {
		_, err = c.o.Home.Store.Log(ref)
	}
	return err
}

// ToCompare says which learners to set side by side.
type ToCompare struct {
	Data     string   `json:"data"`
	Target   string   `json:"target,omitempty"`
	Learners []string `json:"learners" doc:"each with its settings, as name:key=value,key=value"`
	Folds    int      `json:"folds,omitempty" doc:"10 if none are given"`
	Seed     *uint64  `json:"seed,omitempty"`
	ReadAs
}

func (c *call) compare() error {
	var in ToCompare
	if err := c.decode(&in); err != nil {
		return err
	}
	var pieces []string
	for _, l := range in.Learners {
		pieces = append(pieces, life.SplitOutside(l, ',')...)
	}
	choices, names, err := life.Choices(pieces)
	if err != nil {
		return err
	}
	if len(choices) < 2 || len(choices) > 20 {
		return problemf(http.StatusUnprocessableEntity, `give two to twenty "learners"`, "%d learners cannot be compared", len(choices))
	}
	for i := range choices {
		if choices[i], err = choice(choices[i].Learner, choices[i].Settings); err != nil {
			return err
		}
	}
	find, err := c.finder(in.Data, in.ReadAs)
	if err != nil {
		return err
	}
	return c.startJob("compare", "", func(ctx context.Context, h *life.Home) (any, error) {
		if in.Seed != nil {
			h.Seed = *in.Seed
		}
		d, err := find(h)
		if err != nil {
			return nil, err
		}
		specs, err := h.Specs(ctx, d, in.Target, choices)
		if err != nil {
			return nil, err
		}
		for i := range specs {
			specs[i].Learner = names[i]
		}
		return evaluate.Compare(ctx, specs, cmp.Or(in.Folds, 10))
	})
}

// ToMerge names two models that learnt apart.
type ToMerge struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Name   string `json:"name" doc:"of the model of both"`
}

func (c *call) merge() error {
	var in ToMerge
	if err := c.decode(&in); err != nil {
		return err
	}
	for _, ref := range []string{in.First, in.Second} {
		if err := c.seesRef(ref); err != nil {
			return err
		}
	}
	if err := store.CheckName(in.Name); err != nil {
		return err
	}
	if err := c.who.sees(in.Name); err != nil {
		return err
	}
	return c.startJob("merge", in.Name, func(ctx context.Context, h *life.Home) (any, error) {
		for _, name := range []string{in.First, in.Second, in.Name} {
			if err := c.frozen(ctx, name); err != nil {
				return nil, err
			}
		}
		m, err := h.Merge(ctx, in.First, in.Second, in.Name, nil)
		return written(c, "merge", in.Name, m, err)
	})
}

// ToDiff names two versions or models.
type ToDiff struct {
	Before string `json:"before"`
	After  string `json:"after"`
	On     string `json:"on,omitempty" doc:"data whose answers are compared"`
	By     string `json:"by,omitempty" doc:"a column whose values are judged apart"`
}

func (c *call) diff() error {
	var in ToDiff
	if err := c.decode(&in); err != nil {
		return err
	}
	for _, ref := range []string{in.Before, in.After} {
		if err := c.seesRef(ref); err != nil {
			return err
		}
	}
	find, err := c.finder(in.On, ReadAs{})
	if err != nil && in.On != "" {
		return err
	}
	return c.startJob("diff", "", func(ctx context.Context, h *life.Home) (any, error) {
		var on *life.Data
		if in.On != "" {
			if on, err = find(h); err != nil {
				return nil, err
			}
		}
		d, err := h.Diff(ctx, in.Before, in.After, on, in.By)
		if err != nil {
			return nil, err
		}
		return d.Entry(), nil
	})
}

func (c *call) verify() error {
	ref, _, err := c.ref()
	if err != nil {
		return err
	}
	if err := c.seesRef(ref); err != nil {
		return err
	}
	return c.startJob("verify", ref, func(ctx context.Context, h *life.Home) (any, error) { return h.Verify(ctx, ref, nil) })
}

// finder finds data later, in the home of a job; what cannot be named is told
// at once.
func (c *call) finder(name string, as ReadAs) (func(h *life.Home) (*life.Data, error), error) {
	if name == "" {
		return nil, problemf(http.StatusUnprocessableEntity, `give "data"; GET /v1/data and GET /v1/datasets list what there is`, "which data?")
	}
	if up, ok := c.uploads.look(name); ok && c.maySee(up) {
		as = up.merged(as)
		return func(h *life.Home) (*life.Data, error) {
			d, err := h.Find(up.path, as.reading())
			if err != nil {
				return nil, fmt.Errorf("the table %s is gone: %w", name, err)
			}
			d.As = name
			return d, nil
		}, nil
	}
	arg, err := c.dataArg(name)
	if err != nil {
		return nil, err
	}
	return func(h *life.Home) (*life.Data, error) {
		d, err := h.Find(arg, as.reading())
		if err == nil && d.Builtin == nil {
			d.As = name
		}
		return d, err
	}, nil
}

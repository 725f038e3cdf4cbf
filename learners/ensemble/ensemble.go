// Package ensemble learns new data without the old, and lets many models
// answer as one.
//
// Learn++ (Polikar, Udpa, Udpa and Honavar 2000) boosts over time. Rows come
// in sessions, each seen once. A session draws rows from a distribution D_t,
// trains a member h_t on them, and moves the distribution towards the rows
// that the session's members H_t together still get wrong. All members of all
// sessions vote, each with log(1/β_t), where β_t = ε_t/(1−ε_t) and ε_t is the
// weight of the rows that it gets wrong.
//
// As published, a session of one class trains members that know nothing else,
// are never wrong, and outvote everybody. Li (2008) keeps the rows beside the
// boundaries, those that were hard to learn, and adds them to every later
// session: there they are the negatives that the session lacks. Three things
// more make that work. A class's votes are divided by the weight of the
// members that have seen the class (as in Learn++.NC, Muhlbaier, Topalis and
// Polikar 2009), so that old members cannot outvote new ones on a class that
// they never saw. Rows to train on are drawn in equal parts from the classes.
// And besides the rows at the boundaries, a few from inside each class are
// kept as anchors.
//
// Members are models of any learner of the registry (base). The setting
// preset=published is Learn++ as it was printed, preset=li Li's improvement as
// it was printed.
//
// Weighted-Majority and Halving (Littlestone and Warmuth 1991; Mitchell 1997,
// section 7.5) weigh any set of models by the mistakes that each makes, with a
// bound on the mistakes of the whole: see Majority. The vote decides; how
// probable the classes are is a mixture of what the models find, each with the
// share that it earned on rows that it had not learnt. A Committee takes the
// mean of what its models say.
package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Name is the name of Learn++ in the registry.
const Name = "learnpp"

func init() {
	learn.Register(learn.Info{
		Name:     Name,
		Summary:  "boosting over time: each session adds members that vote, and keeps the rows that were hard",
		Source:   "Polikar, Udpa, Udpa & Honavar 2000 (Learn++); Li 2008; Muhlbaier, Topalis & Polikar 2009 (votes)",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true},
		Can:      learn.Can{Update: true, Explain: true, Forget: true, Remark: true, Disagree: true},
		Contract: learn.None,
		Keeps:    "members, and the rows of each session that were hard or anchor a class",
		New:      func() learn.Learner { return &Learner{} },
		Decode:   decode,
	})
}

// Learner makes models that learn session by session. A session costs the
// training of its members, at most Members and twice as many tries; memory
// grows with the members, of which there are at most Limit, and the kept rows.
type Learner struct {
	Preset  string            `set:"preset" default:"improved" oneof:"improved|published|li" doc:"what the other settings begin with: the best known, Learn++ as published, or Li's improvement as published"`
	Base    string            `set:"base" default:"mlp" doc:"learner of the members"`
	Members int               `set:"members" default:"10" doc:"members that a session adds at most"`
	Alpha   *float64          `set:"alpha" default:"0.01, published 0" doc:"a session ends when its members together err on less than this share"`
	Kappa   string            `set:"kappa" default:"off, li 0" doc:"a member is kept only if its agreement κ with every other of the session is below this number; off keeps all"`
	Anchors *int              `set:"anchors" default:"20, published and li 0" doc:"rows of each class that are kept besides the hard ones"`
	Vote    string            `set:"vote" default:"normalised, published and li plain" oneof:"normalised|plain" doc:"normalised divides a class's votes by the weight of the members that have seen it"`
	Doubt   *float64          `set:"doubt" default:"0.5, published and li 0" doc:"rows that a member which is never wrong is taken to have wrong, since log 1/0 is no vote; 0 makes its vote as large as numbers allow"`
	Draw    string            `set:"draw" default:"balanced, published and li plain" oneof:"balanced|plain" doc:"balanced draws as many rows of each class"`
	Boost   string            `set:"boost" default:"auto, published and li always" oneof:"auto|always|never" doc:"draw rows that members get wrong ever more often; never draws rows as they are, which is better where classes are noise; auto asks rows of the first session held out"`
	Sample  int               `set:"sample" most:"1000000000" default:"5000, and at least an eighth of the rows" doc:"rows drawn for a member at most"`
	Keep    string            `set:"keep" default:"members, published none, li hypothesis" oneof:"members|hypothesis|none" doc:"rows kept for later sessions: those that a member got wrong, or all members together, or none"`
	Share   float64           `set:"share" default:"0.35, li 1" doc:"part of a session's rows that is kept at most, until there are 10 rows of each class"`
	Most    int               `set:"most" most:"1000000000" default:"2000, li no bound" doc:"rows of a session that are kept at most, if that leaves 10 of each class"`
	Abreast int               `set:"abreast" default:"2, published and li 1" doc:"members drawn from the same distribution and trained side by side"`
	Limit   int               `set:"limit" default:"200, published and li no bound" doc:"members of all sessions at most; those that do worst on the kept rows retire"`
	Every   *bool             `set:"every" default:"false, published and li true" doc:"learn every session, also one whose rows are all known already"`
	OfBase  map[string]string `set:"base.KEY" default:"the base's own" doc:"a setting of the base, as in base.hidden=20"`
}

// settings are a Learner's choices with defaults filled in.
type settings struct {
	Base    string            `cbor:"base"`
	OfBase  map[string]string `cbor:"ofBase"`
	Members int               `cbor:"members"`
	Alpha   float64           `cbor:"alpha"`
	Kappa   *float64          `cbor:"kappa"`
	Anchors int               `cbor:"anchors"`
	Plain   bool              `cbor:"plain"`           // votes as they are
	Doubt   *float64          `cbor:"doubt,omitempty"` // nil: half a row, with plain votes none
	Uneven  bool              `cbor:"uneven"`          // draws as D_t says
	Boost   string            `cbor:"boost,omitempty"` // "": always
	Sample  int               `cbor:"sample"`          // 0: see usualSample
	Keep    string            `cbor:"keep"`
	Share   float64           `cbor:"share"`
	Most    int               `cbor:"most"`
	Abreast int               `cbor:"abreast"`
	Limit   int               `cbor:"limit"`
	Every   bool              `cbor:"every,omitempty"`
}

// unbounded is a bound that nothing reaches.
const unbounded = math.MaxInt32

func (l *Learner) settings() (*settings, error) {
	vote, draw, keep, kappa, alpha, anchors, abreast := "normalised", "balanced", "members", "off", 0.01, 20, 2
	kept, most, limit, every, boost := 0.35, 2000, 200, false, automaticBoost
	switch l.Preset {
	case "published":
		boost = ""
		vote, draw, keep, alpha, anchors, abreast = "plain", "plain", "none", 0, 0, 1
		limit, every = unbounded, true
	case "li":
		boost = ""
		vote, draw, keep, kappa, anchors, abreast = "plain", "plain", "hypothesis", "0", 0, 1
		kept, most, limit, every = 1, unbounded, unbounded, true
	}
	s := &settings{
		Base: cmp.Or(l.Base, "mlp"), OfBase: map[string]string{}, Members: cmp.Or(l.Members, 10), Alpha: setting.Or(l.Alpha, alpha), Anchors: setting.Or(l.Anchors, anchors),
		Plain: cmp.Or(l.Vote, vote) == "plain", Doubt: l.Doubt, Uneven: cmp.Or(l.Draw, draw) == "plain", Boost: cmp.Or(l.Boost, boost), Sample: l.Sample, Keep: cmp.Or(l.Keep, keep), Share: cmp.Or(l.Share, kept), Most: cmp.Or(l.Most, most), Abreast: cmp.Or(l.Abreast, abreast), Limit: cmp.Or(l.Limit, limit), Every: setting.Or(l.Every, every),
	}
	if s.Boost == "always" {
		s.Boost = ""
	}
	if text := cmp.Or(l.Kappa, kappa); text != "off" {
		k, err := strconv.ParseFloat(text, 64)
		if err != nil || !(k >= -1 && k <= 1) {
			return nil, fmt.Errorf("setting kappa=%s: expected off, or a number from -1 to 1", l.Kappa)
		}
		s.Kappa = &k
	}
	for _, key := range slices.Sorted(maps.Keys(l.OfBase)) {
		of, own, _ := strings.Cut(key, ".")
		if of != "base" {
			return nil, fmt.Errorf("unknown setting %q; settings of the base are written base.%s", key, own)
		}
		s.OfBase[own] = l.OfBase[key]
	}
	return s, s.check()
}

func (s *settings) check() error {
	switch {
	case s.Members < 1 || s.Members > 1000 || s.Abreast < 1 || s.Abreast > 1000:
		return fmt.Errorf("members=%d, abreast=%d: expected 1 to 1000", s.Members, s.Abreast)
	case s.Sample < 0:
		return fmt.Errorf("sample=%d: expected 1 or more", s.Sample)
	case s.Limit < s.Members:
		return fmt.Errorf("limit=%d: expected at least the %d members of a session", s.Limit, s.Members)
	case !(s.Alpha >= 0 && s.Alpha < 0.5):
		return fmt.Errorf("alpha=%v: expected 0 or more and less than 0.5", s.Alpha)
	case s.Doubt != nil && !(*s.Doubt >= 0 && *s.Doubt <= 1e6):
		return fmt.Errorf("doubt=%v: expected a number of rows from 0 to 1e6", *s.Doubt)
	case !(s.Share > 0 && s.Share <= 1):
		return fmt.Errorf("share=%v: expected more than 0 and at most 1", s.Share)
	case s.Anchors < 0 || s.Most < 1:
		return fmt.Errorf("anchors=%d, most=%d: expected 0 or more anchors, and a row to be kept", s.Anchors, s.Most)
	case s.Keep != "members" && s.Keep != "hypothesis" && s.Keep != "none":
		return fmt.Errorf("keep=%s: expected members, hypothesis or none", s.Keep)
	case s.Boost != "" && s.Boost != automaticBoost && s.Boost != neverBoost:
		return fmt.Errorf("boost=%s: expected auto, always or never", s.Boost)
	case s.Kappa != nil && !(*s.Kappa >= -1 && *s.Kappa <= 1):
		return fmt.Errorf("kappa=%v: expected a number from -1 to 1", *s.Kappa)
	}
	return nil
}

// learner returns a new base learner.
func (s *settings) learner() (learn.Learner, error) {
	if s.Base == Name {
		return nil, fmt.Errorf("base=%s: its members cannot be of its own kind", s.Base)
	}
	info, err := learn.Lookup(s.Base)
	if err != nil {
		return nil, fmt.Errorf("base=%s: %w", s.Base, err)
	}
	if !info.Takes.Classes {
		return nil, fmt.Errorf("base=%s does not learn classes", s.Base)
	}
	l, err := learn.New(s.Base, s.OfBase)
	if err == nil {
		err = kept.Rowless(l, s.OfBase)
	}
	return l, err
}

// Check returns what is wrong with the settings, or nil.
func (l *Learner) Check() error {
	s, err := l.settings()
	if err == nil {
		_, err = s.learner()
	}
	return err
}

// Learn is the first session.
func (l *Learner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	task.Table, target = task.Table.WithoutText(target)
	if err := checkTask(Name, task.Table, target); err != nil {
		return nil, err
	}
	g := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := g.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	own, err := gathered(ctx, g)
	if err != nil {
		return nil, err
	}
	m, err := (&Model{settings: s, seed: task.Seed, crowd: crowd{target: target}}).next(ctx, task.Source, own)
	if err != nil {
		return nil, err // not a model that is nil
	}
	return m.able(), nil
}

// checkTask refuses what cannot be learnt.
func checkTask(name string, t *table.Table, target int) error {
	switch {
	case target == learn.NoTarget:
		return fmt.Errorf("%s predicts a column; name it as the target", name)
	case t.Schema.Attributes[target].Kind == table.Numeric:
		return fmt.Errorf("%s predicts classes; the target %q is a number", name, t.Schema.Attributes[target].Name)
	}
	return table.Distinct(t.Schema)
}

// gathered returns the distinct rows that were gathered, in canonical order.
func gathered(ctx context.Context, g *kept.Gathering) (*table.Table, error) {
	rows, err := g.Rows(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := rows.Table(ctx)
	if err != nil {
		return nil, err
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("no row has a target and a weight; at least one is needed")
	}
	return t, nil
}

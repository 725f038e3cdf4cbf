package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// Names of the pools in the registry.
const (
	MajorityName  = "majority"
	HalvingName   = "halving"
	CommitteeName = "committee"
)

func init() {
	register := func(name, summary, source string, numbers bool, fresh func() learn.Learner) {
		learn.Register(learn.Info{
			Name: name, Summary: summary, Source: source,
			Takes: learn.Takes{Nominal: true, Numeric: true, Missing: true, Classes: true, Regression: numbers},
			Can:   learn.Can{Update: true, Explain: true, Remark: true, Disagree: true}, Contract: learn.None, Keeps: "what its members keep",
			New: fresh, Decode: decodePool,
		})
	}
	register(MajorityName, "Weighted-Majority: learners weighed by their mistakes, with a bound on those of the whole",
		"Littlestone & Warmuth 1991; Mitchell 1997, section 7.5.4", false, func() learn.Learner { return &MajorityLearner{} })
	register(HalvingName, "Halving: the majority of the learners that were never wrong",
		"Littlestone 1987; Mitchell 1997, section 7.5.2", false, func() learn.Learner { return &HalvingLearner{} })
	register(CommitteeName, "committee: the mean of what several learners say",
		"Hansen & Salamon 1990", true, func() learn.Learner { return &CommitteeLearner{} })
}

// usualMembers are the members of a pool that names none.
const (
	usualMembers = "bayes,tree,mlp"
	usualNumbers = "tree,mlp" // for a numeric target
)

// MajorityLearner makes pools whose members vote with weights. To judge
// members by rows that they have not learnt, it first learns them on folds.
//
// Learning costs what each member costs, once for each fold and once for all rows;
// an answer costs one of each member.
type MajorityLearner struct {
	Members   string            `set:"members" default:"bayes,tree,mlp" doc:"learners of the members, separated by commas"`
	Beta      *float64          `set:"beta" default:"0.5" doc:"factor by which a mistake lowers a member's weight, from 0 to less than 1"`
	Folds     int               `set:"folds" default:"5" doc:"parts of the first rows, each judged by members that learnt the others"`
	OfMembers map[string]string `set:"MEMBER.KEY" default:"the members' own" doc:"a setting of the members of one learner, as in mlp.hidden=20"`
}

// HalvingLearner is MajorityLearner with a factor of 0: a member that was wrong
// once has no say any more, as long as others have been right throughout.
//
// Learning costs what each member costs, once for each fold and once for all rows;
// an answer costs one of each member.
type HalvingLearner struct {
	Members   string            `set:"members" default:"bayes,tree,mlp" doc:"learners of the members, separated by commas"`
	Folds     int               `set:"folds" default:"5" doc:"parts of the first rows, each judged by members that learnt the others"`
	OfMembers map[string]string `set:"MEMBER.KEY" default:"the members' own" doc:"a setting of the members of one learner, as in mlp.hidden=20"`
}

// CommitteeLearner makes pools whose members have equal say, or are heard as
// Bayes' rule says (see posterior.go).
//
// Learning costs what each member costs, as often as it is drawn, and once more for
// each fold where Bayes' rule weighs them; an answer costs one of each member.
type CommitteeLearner struct {
	Members   string            `set:"members" default:"bayes,tree,mlp; for numbers tree,mlp" doc:"learners of the members, separated by commas"`
	Vote      string            `set:"vote" default:"mean" oneof:"mean|bayes|gibbs" doc:"members are heard alike, each by its probability given the rows (the Bayes optimal answer), or one for each row, drawn by that (Gibbs)"`
	Draws     int               `set:"draws" default:"1" doc:"times that each member is learnt; more than once is on rows weighed at random (Bayesian bootstrap)"`
	Folds     int               `set:"folds" default:"5" doc:"with vote=bayes or gibbs: parts of the first rows, each judged by members that learnt the others"`
	OfMembers map[string]string `set:"MEMBER.KEY" default:"the members' own" doc:"a setting of the members of one learner, as in mlp.hidden=20"`
}

func (l *MajorityLearner) order() order {
	return order{name: MajorityName, members: l.Members, settings: l.OfMembers, beta: setting.Or(l.Beta, 0.5), folds: cmp.Or(l.Folds, 5)}
}

func (l *HalvingLearner) order() order {
	return order{name: HalvingName, members: l.Members, settings: l.OfMembers, folds: cmp.Or(l.Folds, 5)}
}

func (l *CommitteeLearner) order() order {
	o := order{name: CommitteeName, members: l.Members, settings: l.OfMembers, beta: 1, vote: l.Vote, draws: l.Draws}
	if o.vote == voteMean {
		o.vote = ""
	}
	if o.vote != "" && o.draws <= 1 { // draws are alike before the rows are looked at again
		o.folds = cmp.Or(l.Folds, 5)
	}
	return o
}

// Check returns what is wrong with the settings, or nil.
func (l *MajorityLearner) Check() error { return l.order().check() }

// Check returns what is wrong with the settings, or nil.
func (l *HalvingLearner) Check() error { return l.order().check() }

// Check returns what is wrong with the settings, or nil.
func (l *CommitteeLearner) Check() error { return l.order().check() }

// Learn judges members on folds, and learns them on all rows.
func (l *MajorityLearner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	return l.order().learn(ctx, task)
}

// Learn judges members on folds, and learns them on all rows.
func (l *HalvingLearner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	return l.order().learn(ctx, task)
}

// Learn learns all members.
func (l *CommitteeLearner) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	return l.order().learn(ctx, task)
}

// order is what a pool is to be.
type order struct {
	name     string
	members  string
	settings map[string]string
	beta     float64
	folds    int
	vote     string // of a committee, see posterior.go
	draws    int    // of each member
}

// makers returns a maker of each member's learner.
func (o order) makers(numeric bool) ([]func() (learn.Learner, error), []string, error) {
	list := o.members
	if list == "" {
		list = usualMembers
		if numeric {
			list = usualNumbers
		}
	}
	names := drawn(strings.Split(list, ","), o.draws)
	own := map[string]map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(o.settings)) {
		of, rest, _ := strings.Cut(key, ".")
		if !slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == of }) {
			return nil, nil, fmt.Errorf("setting %s: %q is none of the members %s", key, of, list)
		}
		if own[of] == nil {
			own[of] = map[string]string{}
		}
		own[of][rest] = o.settings[key]
	}
	var makers []func() (learn.Learner, error)
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
		name, settings := names[i], own[names[i]]
		if name == MajorityName || name == HalvingName || name == CommitteeName {
			return nil, nil, fmt.Errorf("members=%s: a pool of pools is not taken", list)
		}
		info, err := learn.Lookup(name)
		if err != nil {
			return nil, nil, fmt.Errorf("members=%s: %w", list, err)
		}
		if numeric && !info.Takes.Regression || !numeric && !info.Takes.Classes && !info.Takes.Regression {
			return nil, nil, fmt.Errorf("members=%s: %s does not learn such a target", list, name)
		}
		makers = append(makers, func() (learn.Learner, error) { return learn.New(name, settings) })
	}
	return makers, names, nil
}

func (o order) check() error {
	switch {
	case !(o.beta >= 0 && (o.beta < 1 || o.name == CommitteeName)):
		return fmt.Errorf("beta=%v: expected 0 or more and less than 1", o.beta)
	case o.vote != "" && o.vote != voteBayes && o.vote != voteGibbs:
		return fmt.Errorf("vote=%s: expected %s, %s or %s", o.vote, voteMean, voteBayes, voteGibbs)
	case o.draws < 0 || o.draws > mostMembers:
		return fmt.Errorf("draws=%d: expected 1 to %d", o.draws, mostMembers)
	case o.folds < 0 || o.folds > 1000:
		return fmt.Errorf("folds=%d: expected 1 to 1000", o.folds)
	}
	makers, _, err := o.makers(false)
	for _, fresh := range makers {
		if err == nil {
			_, err = fresh()
		}
	}
	return err
}

// learn learns the members, those on folds first.
func (o order) learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	task.Table, target = task.Table.WithoutText(target)
	numeric := target != learn.NoTarget && task.Table.Schema.Attributes[target].Kind == table.Numeric
	if !numeric || o.name != CommitteeName {
		if err := checkTask(o.name, task.Table, target); err != nil {
			return nil, err
		}
	}
	if numeric && o.vote != "" {
		return nil, fmt.Errorf("%s: vote=%s is for classes; the target %q is a number", o.name, o.vote, task.Target)
	}
	makers, names, err := o.makers(numeric)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	g := (&kept.Rows{}).Gather(task.Source, target, nil)
	if err := g.Add(ctx, task.Table); err != nil {
		return nil, err
	}
	rows, err := gathered(ctx, g)
	if err != nil {
		return nil, err
	}
	m := &Pool{name: o.name, names: names, rows: weightOf(rows, nil), score: Majority{Beta: o.beta, Mistakes: make([]float64, len(names))}, credit: make([]float64, len(names))}
	m.schema, m.target = rows.Schema, target
	if o.vote != "" {
		m.vote, m.seed, m.evidence = o.vote, task.Seed, make([]float64, len(names))
	}
	parts, err := o.parts(ctx, rows, task.Seed)
	if err != nil {
		return nil, err
	}
	models, err := o.learnMembers(ctx, task, rows, target, parts, makers, names)
	if err != nil {
		return nil, err
	}
	var all trial
	for i, part := range parts[:len(parts)-1] {
		pool, err := m.with(models[i*len(names):(i+1)*len(names)], m.schema)
		if err != nil {
			return nil, err
		}
		if err := pool.judge(ctx, rows.Select(part.test), &m.score, &all); err != nil {
			return nil, err
		}
	}
	m.take(&all)
	if m, err = m.with(models[len(models)-len(names):], m.schema); err != nil {
		return nil, err
	}
	return m, nil
}

// learnMembers learns each member on each part, the last of which tests nothing:
// it is the model.
func (o order) learnMembers(ctx context.Context, task learn.Task, rows *table.Table, target int, parts []part, makers []func() (learn.Learner, error), names []string) ([]learn.Model, error) {
	var hashes []uint64
	var err error
	if o.draws > 1 {
		if hashes, err = kept.HashRows(ctx, rows); err != nil {
			return nil, err
		}
	}
	models := make([]learn.Model, len(parts)*len(names))
	errs := make([]error, len(models))
	var lock sync.Mutex
	done := 0
	err = learn.Each(ctx, len(models), func(i int) {
		member, own := i%len(names), rows
		if hashes != nil {
			own = redrawn(rows, hashes, mix(task.Seed, uint64(member)))
		}
		l, err := makers[member]()
		if part := parts[i/len(names)]; err == nil && part.test != nil {
			own = rows.Select(part.learn)
			err = kept.Rowless(l, nil) // it is judged, and learns no more
		}
		if err == nil {
			quiet := learn.WithProgress(ctx, func(float64) {})
			models[i], err = l.Learn(quiet, learn.Task{Table: own, Source: task.Source, Seed: mix(task.Seed, uint64(member))}.At(target))
		}
		if err != nil {
			errs[i] = fmt.Errorf("%s: %w", names[member], err)
		}
		lock.Lock()
		defer lock.Unlock()
		done++
		learn.Report(ctx, float64(done)/float64(len(models)))
	})
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	return models, err
}

// part is rows to learn from and rows to be judged by; none to be judged by
// means all to learn from.
type part struct{ learn, test []int }

// parts returns the folds, by the rows' hashes, and all rows at the end. Folds
// that are empty, or all there is, are left out.
func (o order) parts(ctx context.Context, rows *table.Table, seed uint64) ([]part, error) {
	var parts []part
	if o.folds > 1 {
		hashes, err := kept.HashRows(ctx, rows)
		if err != nil {
			return nil, err
		}
		for fold := range o.folds {
			var in, out []int
			for r, h := range hashes {
				if mix(h, seed)%uint64(o.folds) == uint64(fold) {
					out = append(out, r)
				} else {
					in = append(in, r)
				}
			}
			if len(in) > 0 && len(out) > 0 {
				parts = append(parts, part{in, out})
			}
		}
	}
	return append(parts, part{}), nil
}

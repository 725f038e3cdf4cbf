// Package reproduce runs published experiments again and sets the published
// value beside ours.
//
// An experiment is a row of a table: its name, its source, the figure that
// somebody printed or that an independent program found, and how it is measured
// here. What is random is measured over several seeds and comes with the 95 %
// interval of its mean; what is not has one seed. A verdict says how the two
// compare (see Verdict), and nothing is set so that it cannot fail: what is not
// met is said so, with the reason where it is known.
//
// Each file has the experiments of one source and the code that measures them.
// All lists them, Run runs those of a name, a chapter or a source. Learners come
// through the registry of package learn, data sets from package datasets. Some
// experiments read larger data sets from a folder (Options.Data), and say so
// where that is not there.
package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/internal/remedy"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learn"
)

// Experiment is a known figure and how it is measured here.
type Experiment struct {
	Name    string   // experiments that belong together begin alike
	Tags    []string // its chapter ("ch05") and the first author of its source ("mitchell")
	Source  string   // author, year, where
	Measure string   // what the figure is, and how ours is measured
	Figure  Figure   // to compare with
	Seeds   int      // that Run is called with unless told otherwise; 1 if nothing is random
	Run     Runner
	Why     string // why the figure is not met, where that is known
	Beyond  Beyond // that the printed figure cannot be compared with, for which Why gives the reason
	// Picture draws more than the figure says, where there is more; the
	// experiments that it is of begin with PictureName.
	Picture     func(ctx context.Context, first uint64, seeds int) (*draw.Chart, error)
	PictureName string
}

// Beyond says why no program can be held to a printed figure.
type Beyond string

// The reasons.
const (
	Impossible Beyond = "impossible" // it contradicts what it is the figure of, or what is printed beside it
	OtherData  Beyond = "other data" // its data were not published; ours stand for them
)

// Outcome is an experiment that was run. One of Published and Reference is
// given.
type Outcome struct {
	Name      string   `json:"name"`
	Tags      []string `json:"tags"`
	Source    string   `json:"source"`
	Measure   string   `json:"measure"`
	Published *float64 `json:"published,omitempty"` // as printed
	Reference *float64 `json:"reference,omitempty"` // what an independent program found, or what was worked out
	Ours      float64  `json:"ours"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	Seeds     int      `json:"seeds"`
	Verdict   Verdict  `json:"verdict"`
	Why       string   `json:"why"`
	Holds     bool     `json:"holds"` // the verdict is not NotMet
	Beyond    Beyond   `json:"beyond,omitempty"`
	// Explained says that it was known that the figure is not met, and why.
	Explained bool `json:"explained,omitempty"`

	scale Scale
}

// Known returns the figure that ours is compared with.
func (o *Outcome) Known() float64 {
	if o.Published != nil {
		return *o.Published
	}
	return *o.Reference
}

// Options says how experiments are run.
type Options struct {
	Seed  uint64 // the first seed; 0 means 1
	Seeds int    // of experiments that have more than one; 0 means their own number
	Data  string // the folder with the larger data sets; "" means Folder
	// Missing, if not nil, hears of the experiments whose data are not
	// there, which are then left out. Else they are an error.
	Missing func(experiment string, err *MissingData)
}

// Select returns the experiments with these names, or that begin with them, or
// that have them as a tag. No names means all.
func Select(names []string) ([]Experiment, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for _, name := range names {
		found := false
		for i := range all {
			if all[i].answers(name) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, unknown(name, all)
		}
	}
	var selected []Experiment
	for i, e := range all {
		if chosen[i] {
			selected = append(selected, e)
		}
	}
	return selected, nil
}

// answers reports whether the experiment is meant by a name.
func (e *Experiment) answers(name string) bool {
	return name != "" && (strings.HasPrefix(e.Name, name) || slices.Contains(e.Tags, tag(name)))
}

// tag returns a name as tags are written: "Ch5" is ch05.
func tag(name string) string {
	name = strings.ToLower(name)
	if digit, ok := strings.CutPrefix(name, "ch"); ok && len(digit) == 1 {
		return "ch0" + digit
	}
	return name
}

// unknown is the error for a name that no experiment answers to.
func unknown(name string, all []Experiment) error {
	var names, tags []string
	for _, e := range all {
		names, tags = append(names, e.Name), append(tags, e.Tags...)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	if near, ok := spell.Nearest(name, append(names, tags...)); ok {
		return remedy.Misusef("unknown experiment, chapter or source %q; did you mean %q?", name, near)
	}
	return remedy.Misusef("unknown experiment, chapter or source %q; expected the beginning of a name, or one of %s", name, strings.Join(tags, ", "))
}

// Pictures draws the outcomes beside what is known, and what the experiments that
// Select gives for the names have pictures of, and hands each over with its name.
func Pictures(ctx context.Context, names []string, options Options, outcomes []Outcome, picture func(name string, c *draw.Chart) error) error {
	experiments, err := Select(names)
	if err != nil {
		return err
	}
	ctx = sharing(ctx)
	whole := map[string]bool{} // what has a picture of its own need not be drawn by its figures alone
	for _, e := range experiments {
		if e.Picture == nil {
			continue
		}
		whole[e.PictureName] = true
		c, err := e.Picture(ctx, max(options.Seed, 1), cmp.Or(options.Seeds, e.Seeds))
		if err == nil {
			err = picture(e.PictureName, c)
		}
		if err != nil {
			return fmt.Errorf("the picture %s: %w", e.PictureName, err)
		}
	}
	for _, f := range familiesOf(outcomes) {
		if whole[f.name] {
			continue
		}
		if err := picture(f.name, f.chart()); err != nil {
			return err
		}
	}
	return nil
}

// Run runs the experiments that Select gives for the names, one after the
// other. A figure that is not met is no error; an experiment that cannot be run
// is.
func Run(ctx context.Context, names []string, options Options) ([]Outcome, error) {
	experiments, err := Select(names)
	if err != nil {
		return nil, err
	}
	if options.Seeds < 0 {
		return nil, fmt.Errorf("%d seeds; expected at least 1", options.Seeds)
	}
	ctx = context.WithValue(ctx, folderKey{}, options.Data)
	ctx = sharing(ctx)
	var outcomes []Outcome
	for i, e := range experiments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outcome, err := e.run(part(ctx, i, len(experiments)), options)
		var missing *MissingData
		switch {
		case err == nil:
			outcomes = append(outcomes, outcome)
		case options.Missing != nil && errors.As(err, &missing):
			options.Missing(e.Name, missing)
		default:
			return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		learn.Report(ctx, float64(i+1)/float64(len(experiments)))
	}
	return outcomes, nil
}

// part returns a context whose progress is the i-th of n parts.
func part(ctx context.Context, i, n int) context.Context {
	return learn.WithProgress(ctx, func(fraction float64) {
		learn.Report(ctx, (float64(i)+fraction)/float64(n))
	})
}

func (e Experiment) run(ctx context.Context, options Options) (Outcome, error) {
	seeds := e.Seeds
	if seeds > 1 && options.Seeds > 0 {
		seeds = options.Seeds
	}
	r, err := e.Run(ctx, max(options.Seed, 1), seeds)
	if err != nil {
		return Outcome{}, err
	}
	if math.IsNaN(r.Ours+r.Low+r.High) || math.IsInf(r.Ours, 0) || math.IsInf(r.Low, 0) || math.IsInf(r.High, 0) {
		return Outcome{}, fmt.Errorf("measured %v, from %v to %v; expected finite numbers", r.Ours, r.Low, r.High)
	}
	o := Outcome{
		Name: e.Name, Tags: e.Tags, Source: e.Source, Measure: e.Measure,
		Ours: r.Ours, Low: r.Low, High: r.High, Seeds: seeds, Beyond: e.Beyond, scale: e.Figure.Scale,
	}
	o.Verdict, o.Why = e.Figure.Judge(r)
	o.Holds = o.Verdict != NotMet
	if e.Why != "" && o.Verdict != Met {
		o.Why += ": " + e.Why
		o.Explained = !o.Holds
	}
	if e.Figure.Reference {
		o.Reference = &e.Figure.Value
	} else {
		o.Published = &e.Figure.Value
	}
	return o, nil
}

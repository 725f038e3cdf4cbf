package nearest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learn/kept"
	"github.com/accrete-ml/accrete/table"
)

// LWR is what locally weighted regression is registered as.
const LWR = "lwr"

// Local is locally weighted regression (Mitchell 1997, section 8.3; Atkeson,
// Moore and Schaal 1997). For each question a constant, a plane or a parabola is
// fitted to the cases around it, its value there is the answer, and the fit is
// thrown away. Three criteria say which cases count: e1, the k nearest alike;
// e2, all of them by a kernel of their distance; e3, the k nearest by the
// kernel. The squares are made least directly (section 8.3.1), by solving for
// the share that each case has in the answer.
//
// A name enters the fit by the mean of the target among its rows, as in HVDM, a
// missing cell by the mean. A parabola has products of columns if there are at
// most eight, else squares alone. The ridge pulls slopes, in units of the
// metric, towards 0; directions without any spread have no slope. Answers stay
// within the range of all targets, widened by half of it on either side.
//
// What is not given is what errs least when rows are left out: k, the width of
// the kernel, its shape, the ridge and the form of the fit. A width that is chosen
// is a part of the distance of the k-th nearest case. Up to three further fits come
// in if their mean with the first errs less by 2 % each. Where axes are stretched,
// intervals are by rows that had no say in any choice. Its zero value is ready to
// use.
type Local struct {
	K         string   `set:"k" default:"auto" doc:"how many of the nearest rows count: a number, auto or all"`
	Form      string   `set:"form" default:"auto" oneof:"auto|constant|linear|quadratic" doc:"what is fitted around the question"`
	Kernel    string   `set:"kernel" default:"auto" oneof:"auto|gaussian|tricube|epanechnikov|inverse|uniform" doc:"how the weight of a row falls with its distance"`
	Criterion string   `set:"criterion" default:"e3" oneof:"e1|e2|e3" doc:"which rows count: the k nearest alike, all by the kernel, or the k nearest by the kernel"`
	Width     float64  `set:"width" default:"a part of the distance of the k-th nearest row" doc:"width of the kernel, as a distance"`
	Ridge     *float64 `set:"ridge" default:"what errs least when rows are left out" doc:"how strongly slopes are pulled towards 0"`
	Distance  string   `set:"distance" default:"what errs least when rows are left out, or euclid where scale is given" oneof:"euclid|hvdm" doc:"how far rows are from each other"`
	Scale     string   `set:"scale" default:"sd" oneof:"sd|range|none" doc:"the unit of each number with distance=euclid: its standard deviation, its range, or as it stands"`
	Stretch   string   `set:"stretch" default:"none where k and distance are given or over 2000 cases are kept, else global" oneof:"none|global" doc:"stretch axes by what errs least when rows are left out: none, or a factor for each column"`
	Ties      string   `set:"ties" default:"row" oneof:"row|cells" doc:"which of equally far rows count: the first to come, or the first by its cells"`
	Index     string   `set:"index" default:"auto" oneof:"auto|brute|kd|ball|graph" doc:"how the nearest are found: exactly, or nearly so by a graph"`
}

// localSettings are a learner's parameters with the words filled in.
type localSettings struct {
	K         string  `cbor:"k"`
	Form      string  `cbor:"form"`
	Kernel    string  `cbor:"kernel"`
	Criterion string  `cbor:"criterion"`
	Width     float64 `cbor:"width"` // 0: by leave-one-out
	Ridge     float64 `cbor:"ridge"`
	Distance  string  `cbor:"distance"`
	Scale     string  `cbor:"scale"`
	Index     string  `cbor:"index"`
	Ties      string  `cbor:"ties,omitempty"`
	Stretch   string  `cbor:"stretch,omitempty"`
}

// triedRidge are tried where none is given: the least keeps fits to few cases in
// many columns from running away.
var triedRidge = []float64{1e-4, 1e-2}

// autoRidge says that none is given.
const autoRidge = -1

func (l *Local) resolve() (localSettings, error) {
	near, err := (&Learner{K: l.K, Distance: l.Distance, Scale: l.Scale, Index: l.Index, Ties: l.Ties}).resolve()
	s := localSettings{
		K: near.K, Form: l.Form, Kernel: l.Kernel, Criterion: l.Criterion, Width: l.Width, Ridge: autoRidge,
		Distance: near.Distance, Scale: near.Scale, Index: near.Index, Ties: near.Ties, Stretch: l.Stretch,
	}
	if err != nil {
		return s, err
	}
	if l.Distance == "" && l.Scale == "" {
		s.Distance = auto
	}
	if l.Ridge != nil {
		if s.Ridge = *l.Ridge; !(s.Ridge >= 0) {
			return s, fmt.Errorf("setting ridge=%v: expected 0 or more, up to 1e9", s.Ridge)
		}
	}
	if given := s.K != auto && (l.Distance != "" || l.Scale != ""); s.Stretch == "" {
		if s.Stretch = modest; given {
			s.Stretch = none
		}
	}
	for field, word := range map[*string]string{&s.Form: auto, &s.Kernel: auto, &s.Criterion: "e3"} {
		if *field == "" {
			*field = word
		}
	}
	if s.Criterion == "e1" {
		if s.Kernel != auto && s.Kernel != "uniform" || s.Width != 0 {
			return s, fmt.Errorf("setting criterion=e1: all of the k nearest rows count alike; leave kernel and width out, or choose e3")
		}
		s.Kernel = "uniform"
	}
	return s, s.check()
}

func (s *localSettings) check() error {
	near := s.near()
	if err := near.check(); err != nil {
		return err
	}
	if s.Stretch != none && s.Stretch != modest && s.Stretch != "global" {
		return fmt.Errorf("setting stretch=%s: expected none or global", s.Stretch)
	}
	words := map[string]string{"form": s.Form, "kernel": s.Kernel, "criterion": s.Criterion, "distance": near.Distance}
	for _, o := range learn.Options(&Local{}) {
		if value, isChoice := words[o.Key]; isChoice && !slices.Contains(o.Choices, value) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, value, strings.Join(o.Choices, ", "))
		}
	}
	if !(s.Width >= 0 && s.Width <= farthest) {
		return fmt.Errorf("setting width=%v: expected a distance above 0", s.Width)
	}
	if !(s.Ridge >= 0 && s.Ridge <= 1e9) && s.Ridge != autoRidge {
		return fmt.Errorf("setting ridge=%v: expected 0 or more, up to 1e9", s.Ridge)
	}
	return nil
}

// near returns the settings of the search for neighbours.
func (s *localSettings) near() settings {
	distance := s.Distance
	if distance == auto {
		distance = "hvdm"
	}
	return settings{K: s.K, Distance: distance, Weight: "uniform", Scale: s.Scale, Index: s.Index, Stretch: none, M: defaultM, Recall: defaultRecall, Ties: s.Ties, Prototypes: none}
}

func (s *localSettings) keeps() (bool, error) {
	if s.Ties == "" {
		s.Ties = byCells
	}
	if s.Stretch == "" {
		s.Stretch = none
	}
	return true, s.check()
}

// Check tells settings that do not go together.
func (l *Local) Check() error {
	_, err := l.resolve()
	return err
}

// Learn keeps the task's rows, and chooses what is to be chosen by them.
func (l *Local) Learn(ctx context.Context, task learn.Task) (learn.Model, error) {
	s, err := l.resolve()
	if err != nil {
		return nil, err
	}
	rows, err := gatherNumbers(ctx, task, LWR)
	if err != nil {
		return nil, err
	}
	return learnLocal(ctx, rows, localLesson{Format: format, Settings: s, Seed: task.Seed, Target: task.Target}, nil)
}

// gatherNumbers takes in the rows of a task with a numeric target.
func gatherNumbers(ctx context.Context, task learn.Task, name string) (*kept.Rows, error) {
	target, err := task.Column()
	if err != nil {
		return nil, err
	}
	if target >= 0 && task.Table.Schema.Attributes[target].Kind != table.Numeric {
		return nil, fmt.Errorf("target %q has classes, and %s learns numbers; use nearest, or another learner of classes", task.Target, name)
	}
	return gather(ctx, task, name)
}

type localLesson = kept.Lesson[localSettings]

// learnLocal makes a model of rows that were gathered.
func learnLocal(ctx context.Context, rows *kept.Rows, l localLesson, chosen *localChosen) (learn.Model, error) {
	cases, err := casesOf(ctx, rows, l.Target, l.Settings.Ties)
	if err != nil {
		return nil, err
	}
	if cases.classes != nil {
		return nil, fmt.Errorf("the target %q has no numbers", l.Target)
	}
	if k, err := strconv.Atoi(l.Settings.K); err == nil && float64(k) > cases.weight {
		return nil, fmt.Errorf("setting k=%d: there are %.6g rows; choose a k up to that, auto or all", k, cases.weight)
	}
	m := &LocalModel{lesson: l, rows: rows, cases: cases}
	if chosen != nil {
		m.chosen = *chosen
		if err := m.chosen.check(cases); err != nil {
			return nil, err
		}
		m.fitted()
		return m, m.measure(ctx, m.chosen.Stretch)
	}
	if m, err = m.settled(ctx); err != nil {
		return nil, err
	}
	if m.stretches() {
		if m.chosen.Spread, err = m.spread(ctx); err != nil {
			return nil, err
		}
	}
	m.fitted()
	learn.Report(ctx, 1)
	return m, nil
}

// fitted notes what answers are made by.
func (m *LocalModel) fitted() {
	m.fits = m.chosen.fits()
	for i := range m.fits {
		f := &m.fits[i]
		if m.farthest = max(m.farthest, f.K); m.lesson.Settings.Ridge >= 0 {
			f.Ridge = m.lesson.Settings.Ridge
		}
	}
}

// measure lays the cases out with their axes stretched.
func (m *LocalModel) measure(ctx context.Context, z []float64) (err error) {
	near := m.lesson.Settings.near()
	if m.chosen.Distance != "" {
		near.Distance = m.chosen.Distance
	}
	if m.metric, err = newMetric(ctx, m.cases, &near, z); err != nil {
		return err
	}
	if m.index, err = newIndex(ctx, m.metric, &near, nil); err != nil {
		return err
	}
	m.encode()
	m.rooms.New = func() any { return &localRoom{search: newSearch(m.metric), asked: make([]float64, m.width)} }
	return nil
}

// LocalModel is the cases of locally weighted regression. It is immutable.
type LocalModel struct {
	lesson localLesson
	rows   *kept.Rows
	cases  *cases
	metric *metric
	index  index
	chosen localChosen
	rooms  sync.Pool // of *localRoom

	// inputs has the cases as fits see them, width numbers each; fill is
	// what stands for a missing number, and shares what stands for names.
	least     float64 // the squared error of what was chosen, of rows that were left out
	half      int     // of the rows that are left out, which have a say; 0: all
	fits      []localFit
	farthest  float64 // the largest k of a fit
	width     int
	inputs    []float64
	fill      []float64
	shares    [][]float64
	low, high float64 // of all targets, widened
}

// localChosen is what was chosen by leaving rows out.
type localChosen struct {
	K      float64 `cbor:"k"`
	Form   string  `cbor:"form"`
	Kernel string  `cbor:"kernel"`
	Part   float64 `cbor:"part"` // width of the kernel over the distance of the k-th nearest
	Spread float64 `cbor:"spread"`
	// Stretch is the factor of each column, nil if all are 1.
	Stretch []float64 `cbor:"stretch,omitempty"`
	// Also are further fits, of which and the first the answer is the mean.
	Also []localFit `cbor:"also,omitempty"`
	// Ridge is that of the first fit, where none is given.
	Ridge float64 `cbor:"ridge,omitempty"`
	// Distance is the one that was chosen, "" if it is given.
	Distance string `cbor:"distance,omitempty"`
}

// localFit is what one of several fits is made by.
type localFit struct {
	K      float64 `cbor:"k"`
	Form   string  `cbor:"form"`
	Kernel string  `cbor:"kernel"`
	Part   float64 `cbor:"part"`
	Ridge  float64 `cbor:"ridge,omitempty"`
}

func (f *localFit) check(weight float64) error {
	form, kernel := degrees[f.Form], kernels[f.Kernel]
	if !(f.K > 0 && f.K <= weight) || form == 0 || kernel == nil || !(f.Part > 0 && f.Part <= 10) || !(f.Ridge >= 0 && f.Ridge <= 1e9) {
		return fmt.Errorf("k=%v, form=%q, kernel=%q and a width of %v do not fit %v rows", f.K, f.Form, f.Kernel, f.Part, weight)
	}
	return nil
}

// fits returns what all fits are made by.
func (c *localChosen) fits() []localFit {
	return append([]localFit{{c.K, c.Form, c.Kernel, c.Part, c.Ridge}}, c.Also...)
}

func (c *localChosen) check(cases *cases) error {
	if len(c.Stretch) == 0 {
		c.Stretch = nil
	}
	if err := checkStretch(c.Stretch, cases); err != nil {
		return err
	}
	if c.Distance != "" && c.Distance != "hvdm" && c.Distance != "euclid" {
		return fmt.Errorf("distance %q was chosen", c.Distance)
	}
	if !(c.Spread >= 0 && c.Spread <= 8) || len(c.Also) >= mostFits {
		return fmt.Errorf("a spread of %v around the mean of %d fits", c.Spread, len(c.Also)+1)
	}
	for _, f := range c.fits() {
		if err := f.check(cases.weight); err != nil {
			return err
		}
	}
	return nil
}

// degrees are the forms, by degree and 1.
var degrees = map[string]int{"constant": 1, "linear": 2, "quadratic": 3}

// kernels give the weight of a case at a distance, in widths.
var kernels = map[string]func(d float64) float64{
	"gaussian":     func(d float64) float64 { return math.Exp(-d * d / 2) },
	"tricube":      func(d float64) float64 { c := max(0, 1-d*d*d); return c * c * c },
	"epanechnikov": func(d float64) float64 { return max(0, 1-d*d) },
	"inverse":      func(d float64) float64 { return 1 / (d * d) },
	"uniform":      func(float64) float64 { return 1 },
}

// Learner is lwr.
func (m *LocalModel) Learner() string { return LWR }

// Schema is the columns of the cases.
func (m *LocalModel) Schema() *table.Schema { return m.cases.schema }

// Target is the column that is predicted.
func (m *LocalModel) Target() int { return m.cases.target }

// Size counts the rows.
func (m *LocalModel) Size() learn.Size { return learn.Size{Rows: m.cases.weight} }

// K returns how many rows count in a fit, in the first if there are several.
func (m *LocalModel) K() float64 { return m.chosen.K }

// Relearning says how the cases are learnt again from the rows.
func (m *LocalModel) Relearning() kept.Relearning {
	return kept.Relearning{
		Rows: m.rows, Noun: "case base", Settings: m.lesson.Settings,
		Learn: func(ctx context.Context, rows *kept.Rows) (learn.Model, error) {
			return learnLocal(ctx, rows, m.lesson, nil)
		},
	}
}

// Begin starts to learn more rows.
func (m *LocalModel) Begin(source learn.Source) (learn.Update, error) {
	return begin(m, m.cases, source)
}

// Ordered says that the order of rows counts.
func (m *LocalModel) Ordered() bool { return m.lesson.Settings.Ties == byRow }

// Merge returns the model of all models' rows.
func (m *LocalModel) Merge(ctx context.Context, others ...learn.Model) (learn.Model, error) {
	return merge(ctx, m, others)
}

func (m *LocalModel) caseBase() *cases { return m.cases }

// Forget returns the model of the other sources' rows.
func (m *LocalModel) Forget(ctx context.Context, ids ...string) (learn.Model, error) {
	return kept.Forget(ctx, m, ids...)
}

// Sources lists the sources of the cases.
func (m *LocalModel) Sources() []learn.Source { return kept.Sources(m) }

// Kept returns the cases of each source, in the order in which they came.
func (m *LocalModel) Kept(ctx context.Context) ([]learn.Learnt, error) {
	return keptInOrder(ctx, m.cases)
}

// Parts returns the settings, the rows of each source, and what was chosen.
func (m *LocalModel) Parts() ([]learn.Part, error) {
	return m.lesson.Parts(LWR, m.rows, bodyPart, m.chosen)
}

func decodeLocal(parts []learn.Part) (learn.Model, error) {
	var l localLesson
	var body localChosen
	rows, found, err := l.Load(parts, LWR, format, (*localSettings).keeps, bodyPart, &body)
	if err != nil {
		return nil, err
	}
	was := &body
	if !found {
		was = nil
	}
	m, err := learnLocal(context.Background(), rows, l, was)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func init() {
	learn.Register(learn.Info{
		Name:     LWR,
		Summary:  "locally weighted regression: a constant, a plane or a parabola fitted around each question",
		Source:   "Atkeson, Moore & Schaal 1997; Mitchell 1997, section 8.3",
		Takes:    learn.Takes{Nominal: true, Numeric: true, Missing: true, Regression: true},
		Can:      learn.Can{Update: true, Explain: true, Merge: true, Forget: true, Keep: true, Remark: true},
		Contract: learn.Exact,
		Keeps:    "all rows, with their places in their sources",
		New:      func() learn.Learner { return &Local{} },
		Decode:   decodeLocal,
	})
}
